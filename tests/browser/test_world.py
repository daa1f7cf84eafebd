"""Props, thrown balls, several figures, jumps, curves and limits in the browser."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.scene import read_scene

DOT = """(() => {
  const g = studio.graph, c = g.data.curves[0], k = g.keys[1], r = g.chart.over.getBoundingClientRect();
  return [r.left + g.chart.valToPos(k.time, 'x'), r.top + g.chart.valToPos(g.at(c, k.time), c.unit)];
})()"""


def go_live(page: Any, controller: str = "stand") -> None:
    page.tab("live")
    page.page.select_option("#controller", controller)
    page.page.click("#live")
    page.until("studio.state.live.running")
    page.until("studio.stats.live", "a picture of the simulation", 280.0)


def slow_down(page: Any, speed: str = "0.1") -> None:
    page.page.locator("#live_speed").fill(speed)
    page.until(f"studio.state.live.speed === {speed}")


def test_balls_are_thrown_at_the_pointer_and_at_the_chosen_body(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page)
    page.until("studio.stats.live.time > 0.5", seconds=120.0)
    slow_down(page)
    head = page.ask("studio.spotOf('head')")
    page.page.mouse.move(*head)
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("t")
    page.until("studio.state.live.props.length === 1")
    page.page.fill("#throw_size", "0.4")
    page.page.click("#throw")
    page.until("studio.state.live.props.length === 2 && studio.stats.live.props === 2")
    assert page.ask("studio.state.live.props[1].size[0]") == 0.4
    at = page.ask("studio.stats.live.time")
    start = page.ask("studio.placeOf('head')")
    page.until(f"studio.stats.live.time > {at + 0.3}", seconds=120.0)
    page.picture("studio_throw")
    page.until(f"studio.stats.live.time > {at + 0.5}", seconds=120.0)
    assert np.linalg.norm(np.subtract(page.ask("studio.placeOf('head')"), start)) > 0.02  # [m]: it was hit
    page.page.click("#clear_thrown")
    page.until("studio.state.live.props.length === 0 && studio.props.meshes.length === 0")
    page.page.click("#live")
    page.until("!studio.state.live.running")
    page.page.click("#bake")
    page.until("studio.state.scene.motion === 'baked 1' && studio.state.scene.track_props.length === 2")
    page.ask(f"studio.setTime({at + 0.3})")
    page.until("studio.props.meshes.length === 2 && studio.props.meshes[1].visible")  # the take shows what flew


def test_props_are_added_dragged_and_undone(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)
    page.tab("scene")
    page.change(lambda: page.page.click("#add_box"))
    page.change(lambda: page.page.click("#add_ball"))
    page.until("studio.props.meshes.length === 2")
    x, y = page.ask("studio.stage.spot(studio.props.meshes[0].position)")
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x - 60, y + 20, steps=6)
    scene = page.change(lambda: page.page.mouse.up())
    assert scene["undo"] == "set prop" and abs(scene["props"][0]["place"][2] - 0.2) < 1e-6
    page.page.fill("#prop_mass", "3.5")
    page.change(lambda: page.page.press("#prop_mass", "Enter"))
    page.send({"type": "save_scene", "name": "props.toml"})
    page.until("!studio.state.scene.unsaved")
    saved = read_scene(studio.folder / "props.toml").world.props
    assert saved[0].mass == 3.5 and list(saved[0].place) == page.scene["props"][0]["place"] and len(saved) == 2
    page.page.locator("#canvas").focus()
    for _ in range(4):
        page.change(lambda: page.page.keyboard.press("Control+z"))
    page.until("studio.props.meshes.length === 0")


def test_a_live_prop_is_pulled_with_the_mouse(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.tab("scene")
    page.change(lambda: page.page.click("#add_box"))
    page.until("studio.props.meshes.length === 1")
    go_live(page)
    page.until("studio.stats.live.time > 0.2", seconds=200.0)
    low = page.ask("studio.props.meshes[0].position.y")
    x, y = page.ask("studio.stage.spot(studio.props.meshes[0].position)")
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x, y - 90, steps=12)
    page.until(f"studio.props.meshes[0].position.y > {low + 0.2}", "a box that is lifted", 200.0)
    assert page.ask("studio.overlays.pull.visible")
    page.picture("studio_pull")
    page.page.mouse.up()
    page.until(f"studio.props.meshes[0].position.y < {low + 0.02}", "a box that has fallen", 200.0)


def test_several_figures_are_posed_and_live_together(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.tab("scene")
    page.page.select_option("#cast_figure", "child")
    page.change(lambda: page.page.click("#add_character"))
    page.until("studio.cast.members.length === 1 && studio.cast.members[0].view.bones.length > 0")
    go_live(page)
    page.until("studio.stats.live.time > 0.7", seconds=200.0)
    page.page.click("#push_forward")
    page.picture("studio_figures")
    other = page.ask("studio.cast.members[0].view.pose.n[2]")
    assert 0.3 < other < 0.9  # [m] of the child's root: it stands
    page.page.click("#live")
    page.until("!studio.state.live.running")
    page.tab("scene")
    page.page.click("#characters button >> text=child")
    page.until("studio.state.scene.owner === 'child' && studio.figure.names.length > 0")
    assert page.scene["figure"]["name"] == "child"


def test_it_jumps_on_demand(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page, "jump")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("j")
    page.until("['is planned', 'performs'].includes(studio.state.live.stage)")
    page.until("studio.state.live.stage === 'performs'", "a plan", 1200.0)
    slow_down(page)
    page.until("studio.stats.live.com[2] > 1.12", "a flight", 120.0)
    page.picture("studio_jump")
    page.page.locator("#live_speed").fill("1")
    page.until("studio.state.live.stage === 'stands'", "standing again", 120.0)
    assert page.ask("studio.stats.live.com[2]") > 0.8  # [m]


def test_a_curve_is_dragged_at_a_key(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.send({"type": "open_starter", "name": "squat"})
    page.until("studio.state.scene.name === 'squat'")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("g")
    page.page.get_by_label("com height", exact=True).uncheck()
    for name in ("knee_left", "hip_left turn y", "root z"):
        page.page.get_by_label(name, exact=True).check()
    page.until("studio.graph.data.curves.length === 3 && studio.track.frames > 0")
    page.until("studio.state.scene.refined", "feet that are held between the keys", 280.0)
    before = page.ask("studio.graph.data.curves[0].values")
    x, y = page.ask(DOT)
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x, y + 12, steps=5)
    page.drawn()
    page.picture("studio_curves")
    page.page.mouse.up()
    page.until("studio.state.scene.undo === 'set pose'")
    page.until(f"studio.graph.data.curves[0].values[42] < {before[42] - 2.0}", "a smaller angle at the key")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("Control+z")
    page.until("!studio.state.scene.undo")
    page.until(f"Math.abs(studio.graph.data.curves[0].values[42] - {before[42]}) < 0.01", "the angle as it was")


def test_limits_of_the_chosen_joint_are_drawn(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.ask("studio.select('upper_arm_left')")
    page.until("studio.limits.group.visible")
    page.picture("studio_limits")
    page.ask("studio.select('pelvis')")  # a free root has none
    page.until("!studio.limits.group.visible")
    page.ask("studio.select('shank_left')")
    page.until("studio.limits.group.visible")
    page.page.click("#show_limits")
    page.until("!studio.limits.group.visible")
