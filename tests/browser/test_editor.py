"""Gizmos, mouse maps, ranges, layers, limits, paths, constraints, goals, terrain, the tour and the keyboard."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from counterpoise.motion import Motion
from counterpoise.scene import read_scene

ARROW_TIP = """axis => {
  const g = studio.gizmo.group, way = { x: [1, 0, 0], y: [0, 0, -1], z: [0, 1, 0] }[axis];
  return studio.stage.spot(g.position.clone().addScaledVector(new studio.THREE.Vector3(...way), 0.8 * g.scale.x));
}"""
CAMERA = "(s => [s.camera.position.toArray(), s.orbit.target.toArray(), s.orbit.getDistance()])(studio.stage)"
GRIP = "k => studio.stage.spot(studio.grips.ends[k].clone().applyMatrix4(studio.limits.group.matrix))"


def make_keys(page: Any, *times: float) -> None:
    for time in times:
        page.change(lambda time=time: page.send({"type": "add_pose_key", "time": time}))


def timeline_spot(page: Any, time: float, y: float = 10.0) -> tuple[float, float]:
    box = page.page.locator("#timeline").bounding_box()
    return box["x"] + page.ask(f"studio.timeline.x({time})"), box["y"] + y


def choose_range(page: Any, start: float, end: float) -> None:
    page.page.keyboard.down("Shift")
    page.page.mouse.move(*timeline_spot(page, start))
    page.page.mouse.down()
    page.page.mouse.move(*timeline_spot(page, end), steps=5)
    page.page.mouse.up()
    page.page.keyboard.up("Shift")
    page.until("studio.state.range")


def test_an_arrow_moves_along_one_axis_and_a_ring_turns_about_one(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.ask("studio.select('hand_left')")
    page.until("studio.gizmo.group.visible")
    before = page.ask("studio.placeOf('hand_left')")
    x, y = page.page.evaluate(ARROW_TIP, "z")
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x + 30, y - 60, steps=10)
    page.settle()
    page.change(lambda: page.page.mouse.up())
    after = page.ask("studio.placeOf('hand_left')")
    assert after[2] - before[2] > 0.1 and math.dist(after[:2], before[:2]) < 2e-3  # [m]
    page.page.keyboard.press("e")
    page.ask("studio.select('head')")
    page.until("studio.gizmo.rings.visible")
    head = page.ask("studio.placeOf('head')")
    spot = page.ask(
        "(g => studio.stage.spot(g.position.clone().add(new studio.THREE.Vector3(0.8 * g.scale.x, 0, 0))))"
        "(studio.gizmo.group)"
    )
    page.page.mouse.move(*spot)
    page.page.mouse.down()
    page.page.mouse.move(spot[0] + 25, spot[1] + 12, steps=8)
    page.settle()
    page.change(lambda: page.page.mouse.up())
    assert math.dist(page.ask("studio.placeOf('head')"), head) < 0.05  # it turns about its joint
    assert max(abs(v) for v in page.ask("studio.lastJoints")["neck"]) > 0.02  # [rad]


def test_both_mouse_maps_orbit_pan_and_zoom(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())

    def stroke(button: str, *held: str) -> tuple[float, float, float]:
        """Returns how far the camera, its target and its distance have moved."""
        before = page.ask(CAMERA)
        for key in held:
            page.page.keyboard.down(key)
        page.page.mouse.move(330, 150)
        page.page.mouse.down(button=button)
        page.page.mouse.move(380, 190, steps=5)
        page.page.mouse.up(button=button)
        for key in held:
            page.page.keyboard.up(key)
        after = page.still(CAMERA)
        return math.dist(before[0], after[0]), math.dist(before[1], after[1]), abs(before[2] - after[2])

    def orbits(moved: tuple[float, float, float]) -> bool:
        return moved[0] > 0.1 and moved[1] < 1e-6 and moved[2] < 1e-6

    page.page.select_option("#mouse_map", "maya")
    assert max(stroke("left")) < 1e-9 and max(stroke("middle")) < 1e-9
    assert orbits(stroke("left", "Alt")) and stroke("middle", "Alt")[1] > 0.02 and stroke("right", "Alt")[2] > 0.02
    page.page.select_option("#mouse_map", "blender")
    assert max(stroke("left")) < 1e-9
    assert orbits(stroke("middle")) and stroke("middle", "Shift")[1] > 0.02 and stroke("middle", "Control")[2] > 0.02
    page.page.select_option("#mouse_map", "simple")
    assert orbits(stroke("left")) and stroke("right")[1] > 0.02


def test_a_range_is_chosen_copied_retimed_and_looped(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)
    page.send({"type": "open_starter", "name": "squat"})
    page.until("studio.state.scene.name === 'squat'")
    times = [key["time"] for key in page.scene["keys"]]
    text = page.scene["script"]
    choose_range(page, 0.0, times[1] + 0.05)
    end = page.ask("studio.state.range[1]")
    page.ask(f"studio.setTime({page.scene['duration']})")
    page.page.locator("#canvas").focus()
    scene = page.change(lambda: page.page.keyboard.press("Control+v"))
    assert len(scene["keys"]) > len(times) and scene["duration"] > times[-1] + 0.3 and scene["undo"] == "copy range"
    page.picture("studio_range")
    page.page.mouse.click(*timeline_spot(page, 0.5 * end, 90.0), button="right")
    page.change(lambda: page.page.click(".menu >> text=Twice as slow"))
    assert abs(page.scene["keys"][1]["time"] - 2.0 * times[1]) < 1e-6
    page.ask("studio.timeline.range.set([0.1, 0.3])")
    page.page.keyboard.press("Space")
    page.until("studio.state.playing")
    seen = page.ask(
        "new Promise(done => { const seen = []; const look = () => { seen.push(studio.state.time);"
        " if (seen.length < 60) requestAnimationFrame(look); else done(seen); }; look(); })"
    )
    assert min(seen) >= 0.1 - 1e-6 and max(seen) <= 0.3 + 1e-6
    page.page.keyboard.press("Space")
    for _ in range(2):
        page.change(lambda: page.page.keyboard.press("Control+z"))
    assert page.scene["script"] == text


def test_a_contact_is_dragged_by_its_end_and_as_a_whole(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.send({"type": "open_starter", "name": "jump"})
    page.until("studio.state.scene.name === 'jump' && studio.track.frames > 0")
    first = page.scene["contacts"][0]
    height = page.ask("(t => 22 + t.row * (t.lane(studio.state.scene.contacts[0]) + 1.5))(studio.timeline)")

    def contact(part: str) -> dict[str, Any]:
        values = {"part": part, "start": 0.2, "end": 0.4}
        return {"type": "edit_scene", "edit": "AddContact", "values": values}

    def stroke(start: float, end: float, which: int = 0) -> Any:
        page.page.mouse.move(*timeline_spot(page, start, height))
        page.page.mouse.down()
        page.page.mouse.move(*timeline_spot(page, end, height), steps=5)
        return page.change(lambda: page.page.mouse.up())["contacts"][which]

    shorter = stroke(first["end"], first["end"] - 0.1)
    assert abs(shorter["end"] - first["end"] + 0.1) < 0.02 and abs(shorter["start"] - first["start"]) < 1e-6
    middle = 0.5 * (shorter["start"] + shorter["end"])
    moved = stroke(middle, middle + 0.05)
    assert abs(moved["start"] - shorter["start"] - 0.05) < 0.02 and abs(moved["end"] - shorter["end"] - 0.05) < 0.02
    for _ in range(2):
        page.change(lambda: page.page.keyboard.press("Control+z"))
    assert page.scene["contacts"][0] == first and not page.scene["undo"]
    for part in ("hand_left", "hand_right", "head"):  # every part that touches has a row of its own, and is grasped
        page.change(lambda part=part: page.send(contact(part)))
    lanes = page.ask("studio.timeline.lanes().length")
    rows = page.ask("(t => studio.state.scene.contacts.map(one => 22 + t.row * (t.lane(one) + 1.5)))(studio.timeline)")
    assert lanes == 4 and max(rows) < page.page.locator("#timeline").bounding_box()["height"] - 10
    page.picture("studio_lanes")
    height = rows[-1]
    assert stroke(0.4, 0.3, -1)["end"] < 0.35


def test_layers_are_baked_seen_and_laid_over_each_other(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)
    page.tab("live")
    page.page.select_option("#controller", "passive")
    page.page.click("#live")
    page.until("studio.stats.live && studio.stats.live.time > 0.7", seconds=280.0)
    page.page.click("#live")
    page.until("!studio.state.live.running")
    page.page.fill("#bake_from", "0.1")
    page.page.fill("#bake_to", "0.6")
    page.page.click("#bake")
    page.until("studio.state.scene.motion === 'baked 1'")
    assert abs(page.scene["duration"] - 0.5) < 0.02
    page.page.select_option("#bake_joints", "upper")
    page.page.click("#bake")
    page.until("studio.state.scene.motion === 'baked 2'")
    first, second = (Motion.load(studio.folder / "takes" / f"baked_{k}.npz") for k in (1, 2))
    figure = first.character
    arm, leg = figure.joint("shoulder_left").qpos, figure.joint("knee_left").qpos
    assert np.abs(first.poses[:, arm] - second.poses[:, arm]).max() < 1e-9
    assert np.ptp(second.poses[:, leg]) < np.ptp(first.poses[:, leg]) + 1e-12 and np.ptp(first.poses[:, leg]) > 1e-3
    page.page.click("#layers button[title='Put keys on the timeline']")
    page.until("studio.state.scene.motion === 'main'")
    page.page.click("#layers button[title^='Show baked 1']")
    page.until("studio.figure.ghosts.has('layer baked 1')")
    page.ask("studio.setTime(0.38)")
    page.picture("studio_layers")
    page.page.select_option("#layer_over", "baked 1")
    page.page.select_option("#layer_joints", "legs")
    page.page.click("#lay_over")
    page.until("studio.state.scene.motion === 'layered 1'")
    assert (studio.folder / "takes" / "layered_1.npz").exists()


def test_a_limit_is_dragged(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.ask("studio.select('shank_left'); studio.stage.look('side')")
    page.until("studio.grips.dots.visible && studio.grips.ends.length === 2")
    page.still(CAMERA)
    joint = next(one for one in page.scene["figure"]["joints"] if one["name"] == "knee_left")
    x, y = page.page.evaluate(GRIP, 1)
    cx, cy = page.ask("studio.spotOf('shank_left')")
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    turned = math.radians(25)
    for k in range(1, 9):  # towards the other limit, round the joint
        for sign in (1.0, -1.0):
            a = sign * turned * k / 8
            spot = (
                cx + math.cos(a) * (x - cx) - math.sin(a) * (y - cy),
                cy + math.sin(a) * (x - cx) + math.cos(a) * (y - cy),
            )
            ends = page.page.evaluate(GRIP, 0)
            if math.dist(spot, ends) < math.dist((x, y), ends):
                page.page.mouse.move(*spot)
    page.until("!studio.grips.asking", "the limits as they would be")
    page.picture("studio_limit_drag")
    scene = page.change(lambda: page.page.mouse.up())
    after = next(one for one in scene["figure"]["joints"] if one["name"] == "knee_left")
    assert abs(after["low"][0] - joint["low"][0]) < 1e-3
    assert 10 < math.degrees(joint["high"][0] - after["high"][0]) < 40 and scene["undo"] == "set limit side"
    page.change(lambda: page.page.keyboard.press("Control+z"))


def test_limits_of_ball_and_universal_joints_are_dragged(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    for body, name, sides in (("thigh_left", "hip_left", 5), ("hand_left", "wrist_left", 4)):
        page.ask(f"studio.select('{body}')")
        page.page.keyboard.press("f")
        page.until(f"studio.grips.dots.visible && studio.grips.ends.length === {sides}")
        page.still(CAMERA)
        before = next(one for one in page.scene["figure"]["joints"] if one["name"] == name)["limits"]["grips"]
        spots = [page.page.evaluate(GRIP, k) for k in range(sides)]
        middle = [sum(spot[axis] for spot in spots) / sides for axis in (0, 1)]
        free = [
            k
            for k in range(sides)
            if page.page.evaluate("([x, y]) => studio.grips.under({ clientX: x, clientY: y })", spots[k]) == k
        ]
        chosen = max(free, key=lambda k: math.dist(spots[k], middle))
        x, y = spots[chosen]
        page.page.mouse.move(x, y)
        page.page.mouse.down()
        page.page.mouse.move(x + 0.3 * (middle[0] - x), y + 0.3 * (middle[1] - y), steps=8)
        page.until("!studio.grips.asking", "the limits as they would be")
        drawn = page.ask(f"studio.limits.drawn.grips.filter(one => one.place.length)[{chosen}].angle")
        page.picture(f"studio_limit_{name}")
        scene = page.change(lambda: page.page.mouse.up())
        after = next(one for one in scene["figure"]["joints"] if one["name"] == name)["limits"]["grips"]
        now = {one["side"]: one["angle"] for one in after}
        was = {one["side"]: one["angle"] for one in before}
        side = [one["side"] for one in before if one["place"]][chosen]
        assert abs(now.pop(side) - was.pop(side)) > 2.0 and scene["undo"] == "set limit side"
        assert all(abs(now[other] - was[other]) < 1e-6 for other in was)
        assert abs({one["side"]: one["angle"] for one in after}[side] - drawn) < 1.5  # what was drawn is what was made
        page.change(lambda: page.page.keyboard.press("Control+z"))


def test_the_smooth_body_is_a_switch(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    assert not page.ask("studio.state.shows.smooth")  # drawn by software: shapes first
    page.page.click("#show_smooth")
    page.until("studio.figure.skin?.visible && !studio.figure.root.visible", "the smooth body", 120.0)
    share = "(bone, i) => studio.figure.skin.getObjectByName(studio.figure.names[i]).matrixWorld === bone.matrixWorld"
    assert page.ask(f"studio.figure.bones.every({share})")  # one pose for both
    page.drag("hand_left", 60, -80, release=False)  # it follows, and the pointer hits the shapes below it
    page.picture("studio_smooth")
    page.change(lambda: page.page.mouse.up())
    page.page.click("#show_smooth")
    page.until("!studio.figure.skin.visible && studio.figure.root.visible")


def test_a_path_is_recorded_and_animated(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)
    feet = [page.ask(f"studio.placeOf('{foot}')") for foot in ("foot_left", "foot_right")]
    page.page.click("#record_path")
    page.until("studio.state.recording")
    page.drag("hand_left", 50, -90, steps=30)
    page.until("studio.state.rules.paths.length === 1", "the path")
    assert not page.scene["keys"] and not page.ask("studio.state.recording")
    page.picture("studio_path")
    path = page.ask("studio.state.rules.paths[0]")
    page.page.click("#animate")
    page.until("studio.state.scene.motion === 'animated 1'", "the animation", 280.0)
    take = Motion.load(studio.folder / "takes" / "animated_1.npz")
    assert abs(take.duration - path["duration"]) < 0.05
    page.until("studio.track.frames > 2 && Number(document.body.dataset.revision) >= studio.state.scene.revision")
    page.ask("studio.setTime(99)")
    page.answered()
    assert math.dist(page.ask("studio.placeOf('hand_left')"), path["places"][-1]) < 5e-3
    for foot, before in zip(("foot_left", "foot_right"), feet, strict=True):
        assert math.dist(page.ask(f"studio.placeOf('{foot}')"), before) < 1e-4
    page.page.click("#paths button")
    page.until("studio.state.rules.paths.length === 0")


def test_locks_goals_and_sets_of_constraints_come_by_menu_and_library(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)

    def choose(body: str, words: str) -> None:
        page.page.mouse.click(*page.ask(f"studio.spotOf('{body}')"), button="right")
        page.page.click(f".menu >> text={words}")

    page.change(lambda: choose("forearm_right", "Fix its joint"))
    assert [one["joint"] for one in page.scene["constraints"]] == ["elbow_right"]
    elbow = page.ask("studio.lastJoints")["elbow_right"][0]
    page.drag("hand_right", 20, -60)
    page.until("studio.state.scene.keys.length === 1")
    page.answered()
    assert abs(page.ask("studio.lastJoints")["elbow_right"][0] - elbow) < 1e-6
    page.change(lambda: choose("forearm_right", "✓ Fix its joint"))
    assert not page.scene["constraints"]
    choose("hand_left", "Try to stay here")
    page.until("studio.state.rules.goals.length === 1")
    choose("head", "Look at a place")
    page.page.mouse.click(400, 480)
    page.until("studio.state.rules.goals.length === 2")
    place = page.ask("studio.state.rules.goals[1].place")
    assert abs(place[2]) < 1e-6  # on the ground
    page.page.select_option("#constraint_sets", "left as right")
    page.change(lambda: page.page.click("#take_set"))
    count = len(page.scene["constraints"])
    assert count > 1 and page.scene["undo"] == "take left as right"
    page.page.fill("#set_name", "mine")
    page.page.click("#keep_set")
    page.until("studio.state.scene.constraint_sets.includes('mine')")
    page.picture("studio_constraints")
    page.change(lambda: page.page.keyboard.press("Control+z"))
    page.page.select_option("#constraint_sets", "mine")
    page.change(lambda: page.page.click("#take_set"))
    assert len(page.scene["constraints"]) == count


def test_terrain_is_added_and_drawn(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)
    page.tab("scene")
    for kind in ("box", "rough_ground"):
        page.page.select_option("#terrain_kind", kind)
        page.change(lambda: page.page.click("#add_terrain"))
    page.until("studio.state.scene.fields.length === 1 && studio.world.group.children.length >= 2", "drawn terrain")
    page.ask("studio.stage.zoom(2.2)")
    page.picture("studio_terrain")
    page.send({"type": "save_scene", "name": "rough.toml"})
    page.until("!studio.state.scene.unsaved")
    terrain = read_scene(studio.folder / "rough.toml").world.terrain
    assert terrain is not None and len(terrain.fields) == 1
    page.change(lambda: page.page.click("#terrain button"))
    page.change(lambda: page.page.click("#terrain button"))
    page.until("studio.world.group.children.length === 0")


def test_the_tour_goes_on_when_a_step_is_done(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio(), new=True)
    page.page.click("#tour_start")
    assert page.page.inner_text("#tour b") == "Pose"
    page.picture("studio_tour")
    page.drag("hand_left", 40, -50)
    page.until("document.querySelector('#tour b').textContent === 'A second key'")
    for _ in range(7):
        page.page.click("#tour_next")
    assert page.ask("document.getElementById('tour').hidden && localStorage.getItem('toured') === 'yes'")


def test_the_keyboard_reaches_everything(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    unreachable = (
        "[...document.querySelectorAll('button, input, select, canvas, [role=treeitem]')]"
        ".filter(e => e.offsetParent && !e.disabled && e.tabIndex < 0).map(e => e.outerHTML)"
    )
    for tab in ("pose", "live", "physics", "figure", "scene"):
        page.tab(tab)
        assert not page.ask(unreachable), tab
    page.tab("pose")
    page.page.locator("[role=treeitem] >> text=upper arm left").focus()
    page.page.keyboard.press("Enter")
    assert page.ask("studio.state.selected") == "upper_arm_left"
    before = page.ask("studio.placeOf('hand_left')")
    slider = page.page.locator("#joint_sliders input[type=range]").nth(1)
    slider.focus()
    for _ in range(12):
        page.page.keyboard.press("ArrowLeft")
    page.until("studio.state.scene.keys.length === 1")
    moved = f"Math.hypot(...studio.placeOf('hand_left').map((x, i) => x - {before}[i])) > 0.02"
    page.until(moved, "a hand that all twelve presses have moved")
    page.page.locator("#canvas").focus()
    page.ask("studio.select('pelvis')")
    height = page.ask("studio.placeOf('pelvis')")[2]
    for _ in range(4):
        page.change(lambda: page.page.keyboard.press("Alt+ArrowDown"))
    page.answered()
    assert abs(height - page.ask("studio.placeOf('pelvis')")[2] - 0.04) < 0.003
    page.page.keyboard.press("Shift+F10")
    assert "Pin place" in page.page.inner_text(".menu")
    page.page.keyboard.press("Escape")
    make_keys(page, 1.0)
    page.ask("studio.setTime(1.0)")
    page.page.locator("#timeline").focus()
    page.change(lambda: page.page.keyboard.press("Alt+ArrowRight"))
    assert abs(page.scene["keys"][-1]["time"] - 1.0 - 1 / 60) < 1e-6


def test_any_measured_quantity_is_drawn(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.send({"type": "open_starter", "name": "squat"})
    page.until("studio.state.scene.name === 'squat'")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("g")
    page.page.wait_for_selector("#graph .uplot")
    page.page.fill("#curve_search", "ground force z")
    page.page.get_by_label("ground force z", exact=True).check()
    page.page.fill("#curve_search", "speed hand_left")
    page.page.get_by_label("speed of hand_left", exact=True).check()
    page.until("studio.graph.data.curves.length === 3")
    names = [one["name"] for one in page.ask("studio.graph.data.curves")]
    assert names == ["com height", "ground force z", "speed of hand_left"]
    weight = page.scene["figure"]["weight"]
    force = np.array(page.ask("studio.graph.data.curves[1].values"), float)
    assert abs(np.mean(force) - weight) < 0.2 * weight
