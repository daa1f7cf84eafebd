"""Live in the browser: a push taken, forces that carry the weight, a pull, tuning, and what was live baked."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterpoise.motion import Motion
from counterpoise.scene import read_scene


def go_live(page: Any, controller: str = "stand") -> None:
    page.tab("live")
    page.page.select_option("#controller", controller)
    page.page.click("#live")
    page.until("studio.state.live.running")
    page.until("studio.stats.live", "a picture of the simulation", 280.0)


def test_a_push_is_taken_and_the_forces_carry_the_weight(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page)
    weight = page.scene["figure"]["weight"]
    page.until("studio.stats.live.time > 2", "two seconds of standing", 120.0)
    total = page.ask("studio.overlays.total")
    assert abs(total - weight) < 0.05 * weight
    page.ask("studio.select(null)")
    page.page.locator("#live_speed").fill("0.1")
    page.until("studio.state.live.speed === 0.1")
    page.page.click("#push_forward")
    at = page.ask("studio.stats.live.time")
    page.until(f"studio.stats.live.time > {at + 0.12}", seconds=120.0)
    page.picture("studio_live")
    page.page.locator("#live_speed").fill("1")
    page.until(f"studio.stats.live.time > {at + 3.0}", "three seconds after the push", 200.0)
    assert page.ask("studio.stats.live.com[2]") > 0.8  # [m]: it stands
    page.page.click("#live")
    page.until("!studio.state.live.running")


def test_a_body_is_pulled_with_the_mouse(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page)
    page.until("studio.stats.live.time > 0.5", seconds=120.0)
    before = page.ask("studio.placeOf('hand_left')")
    page.drag("hand_left", 70, -40, release=False)
    now = page.ask("studio.stats.live.time")
    page.until(f"studio.stats.live.time > {now + 1.0}", seconds=120.0)
    after = page.ask("studio.placeOf('hand_left')")
    assert np.linalg.norm(np.subtract(after, before)) > 0.05  # [m]
    page.page.mouse.up()
    assert not page.scene["keys"]  # pulling is no posing


def test_tuning_tilt_and_slow_motion(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page)
    page.page.fill("#tuning_search", "compliance")
    row = page.page.locator("#tuning [data-name=compliance] input[type=number]")
    row.fill("0.1")
    row.press("Enter")
    page.until("studio.state.live.sliders.find(s => s.name === 'compliance').value === 0.1")
    page.page.locator("#pitch").fill("4")
    page.until("studio.state.live.tilt[1] === 4")
    page.page.locator("#live_speed").fill("0.25")
    page.until("studio.state.live.speed === 0.25")
    page.page.click("#live_pause")
    page.until("studio.state.live.paused")
    held = page.ask("studio.stats.live.time")
    page.drawn(60)
    assert page.ask("studio.stats.live.time") - held < 0.05


def test_what_was_live_is_baked(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)
    go_live(page)
    page.page.click("#push_left")
    page.until("studio.stats.live.time > 1.5", seconds=120.0)
    page.page.click("#live")
    page.until("!studio.state.live.running && studio.state.live.recorded > 1")
    page.page.click("#bake")
    page.until("studio.state.scene.motion === 'baked 1'")
    assert page.scene["kind"] == "clip" and page.scene["duration"] > 1.0
    page.page.fill("#bake_keys", "10")
    page.page.click("#bake")
    page.until("studio.state.scene.motion === 'baked keys 1'")
    assert page.scene["kind"] == "keys" and len(page.scene["keys"]) > 8
    page.send({"type": "save_scene", "name": "baked.toml"})
    page.until("!studio.state.scene.unsaved")
    scene = read_scene(studio.folder / "baked.toml")
    take = Motion.load(studio.folder / "takes" / "baked_1.npz")
    for key in scene.motion("baked keys 1").keys:
        row = int(np.abs(take.times - key.time).argmin())
        assert np.abs(take.poses[row] - key.pose).max() < 1e-9


def test_a_walker_goes_where_the_ground_is_clicked(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page, "walk")
    spot = page.ask("studio.stage.spot({ clone: () => new studio.THREE.Vector3(1.2, 0, -0.6) })")
    page.page.mouse.click(*spot)
    page.until("studio.overlays.goal.visible")
    page.until("studio.stats.live.time > 2.5", seconds=200.0)
    page.picture("studio_walk")
    page.until("studio.stats.live.time > 7", seconds=300.0)
    there = page.ask("studio.placeOf('pelvis')")
    assert np.hypot(there[0] - 1.2, there[1] - 0.6) < 0.4 and there[2] > 0.8  # [m]: it stands near the place


def test_a_locomotion_follows_keys_and_wishes(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page, "locomotion")
    row = page.page.locator("#wishes [data-name=hip_height] input[type=number]")
    assert row.input_value() == "" and row.get_attribute("placeholder") == "usual"
    page.page.select_option("#wishes [data-name=style] select", "proud")
    page.until("studio.state.live.sliders.find(s => s.name === 'style').value === 'proud'")
    page.page.locator("#canvas").focus()
    page.page.keyboard.down("w")
    page.until("studio.state.live.sliders.find(s => s.name === 'speed').value > 0.7")
    page.page.keyboard.down("a")
    page.until("studio.stats.live.time > 2.5", seconds=200.0)
    page.page.keyboard.up("a")
    page.picture("studio_locomotion")
    page.page.keyboard.up("w")
    page.until("studio.state.live.sliders.find(s => s.name === 'speed').value === 0")
    there = page.ask("studio.placeOf('pelvis')")
    assert np.hypot(there[0], there[1]) > 0.3 and there[2] > 0.8  # [m]: it has walked
    assert page.ask("studio.state.tool") == "move"  # W walked and did not choose a tool


def test_a_locomotion_walks_on_while_its_jump_is_planned_and_jumps(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    go_live(page, "locomotion")
    page.page.select_option("#jump_wishes [data-name=style] select", "tuck")
    page.until("studio.state.live.sliders.some(s => s.table === 'jump' && s.value === 'tuck')")
    page.page.select_option("#jump_wishes [data-name=style] select", "plain")
    page.until("studio.state.live.sliders.some(s => s.table === 'jump' && s.value === 'plain')")
    page.page.locator("#canvas").focus()
    page.page.keyboard.press("j")
    page.until("['is planned', 'jumps'].includes(studio.state.live.stage)")
    page.until("studio.state.live.stage === 'jumps'", "a plan", 1200.0)
    page.until("studio.stats.live.com[2] > 1.12", "a flight", 200.0)
    page.until("studio.state.live.stage === 'goes'", "the end of the jump", 200.0)
    assert page.ask("studio.stats.live.com[2]") > 0.8  # [m]: it stands
