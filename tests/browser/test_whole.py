"""The studio as a whole: figures, files, exports, several pages, recovery after a crash, tooltips, both themes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterpoise.character.editing import add_segment, mirror_limb, set_length
from counterpoise.character.library import character
from counterpoise.motion import reference_motion
from counterpoise.scene import read_scene

CONTROLS = "[...document.querySelectorAll('button, input, select')].filter(e => e.offsetParent"
NO_TOOLTIP = CONTROLS + " && !e.title && !e.closest('label[title]') && e.type !== 'text').map(e => e.outerHTML)"
NO_NAME = CONTROLS + " && !e.textContent.trim() && !e.ariaLabel && !e.closest('label')).map(e => e.outerHTML)"
TOO_WIDE = (
    "[...document.querySelectorAll('#right *')].filter(e => e.getBoundingClientRect().right > innerWidth + 1)"
    ".map(e => e.outerHTML)"
)
CUT = (
    "[...document.querySelectorAll('label, button, h2, .note, .unit, option:checked')].filter(e => e.offsetParent"
    " && e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline').map(e => e.outerHTML)"
)  # text that does not fit
KNOCK = """address => new Promise(done => {
  const socket = new WebSocket(address);
  socket.onclose = () => done('closed');
  socket.onopen = () => done('open');
})"""
STUNTS = Path(__file__).parents[2] / "examples" / "stunts"
LINK = """<link name="{}"><inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>
</inertial><visual><geometry><box size="0.1 0.1 0.4"/></geometry></visual></link>"""
ARM = f"""<robot name="arm">{LINK.format("upper")}{LINK.format("lower")}<joint name="elbow" type="revolute">
<parent link="upper"/><child link="lower"/><origin xyz="0 0 -0.4"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="50" velocity="5"/></joint></robot>"""
BROKEN = """<mujoco><asset><mesh name="a" file="meshes/a.stl"/></asset>
<worldbody><body name="b"><freejoint/><geom type="mesh" mesh="a"/></body></worldbody></mujoco>"""
HOUR = 3600  # [s]
SETTLED = 600  # [s] after which nothing grows any more, as in tests/studio/test_hour.py


def test_a_figure_is_edited_as_by_the_library(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.tab("figure")
    page.page.click("[role=treeitem] >> text=forearm left")
    page.page.fill("#length", "0.32")
    page.change(lambda: page.page.press("#length", "Enter"))
    page.page.fill("#segment_name", "claw_left")
    page.page.fill("#segment_length", "0.12")
    page.page.fill("#segment_angle", "20")
    page.page.click("[role=treeitem] >> text=hand left")
    page.change(lambda: page.page.click("#add_segment"))
    page.until("studio.figure.names.includes('claw_left')", "the new segment in the view")
    page.picture("studio_figure")
    page.page.click("[role=treeitem] >> text=upper arm left")
    page.change(lambda: page.page.click("#mirror_limb"))
    with page.page.expect_download() as arrived:
        page.tab("scene")
        page.page.click("#export_xml")
    text = Path(arrived.value.path()).read_text()
    wanted = set_length(character("human"), "forearm_left", 0.32)
    wanted = add_segment(wanted, "claw_left", "hand_left", length=0.12, angle=0.3490658503988659, joint="hinge")
    wanted = mirror_limb(wanted, "upper_arm_left", replace=True)
    assert text == wanted.to_mjcf()
    for _ in range(3):
        page.change(lambda: page.page.keyboard.press("Control+z"))
    assert not page.scene["undo"]
    page.tab("figure")
    page.page.select_option("#library", "ostrich")
    page.change(lambda: page.page.click("#take_figure"))
    page.until("studio.figure.names.length === studio.state.scene.figure.bodies.length")
    assert page.scene["figure"]["name"] == "ostrich"


def test_the_root_is_another_segment_and_one_is_removed(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.tab("figure")
    page.page.click("[role=treeitem] >> text=thorax")
    page.change(lambda: page.page.click("#make_root"))
    parents = {one["name"]: one["parent"] for one in page.scene["figure"]["bodies"]}
    assert parents["thorax"] == -1 and page.scene["undo"] == "set root"
    page.page.click("[role=treeitem] >> text=hand right")
    page.change(lambda: page.page.click("#remove_segment"))
    page.until("!studio.figure.names.includes('hand_right')")
    for _ in range(2):
        page.change(lambda: page.page.keyboard.press("Control+z"))
    page.until("studio.figure.names.includes('hand_right')")
    assert not page.scene["undo"]


def test_joints_are_coupled(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    page.tab("figure")
    page.page.click("[role=treeitem] >> text=shank left")
    page.page.select_option("#couple_with", "knee_right")
    page.change(lambda: page.page.click("#couple"))
    assert "knee_right" in page.page.inner_text("#couplings")
    page.ask("studio.select(null)")
    page.drag("pelvis", 0, 50)
    page.until("studio.state.scene.keys.length === 1")
    coordinates = page.ask("studio.lastJoints")
    assert abs(coordinates["knee_left"][0] - coordinates["knee_right"][0]) < 1e-6 and coordinates["knee_left"][0] > 0.2
    page.change(lambda: page.page.click("#couplings button"))
    assert not page.page.inner_text("#couplings")


def test_figures_and_clips_are_dropped(start_studio: Any, open_page: Any, tmp_path: Path) -> None:
    page = open_page(start_studio())
    page.drag("hand_left", 40, -60)
    page.until("studio.state.scene.keys.length === 1")
    ostrich = character("ostrich")
    page.change(lambda: page.drop(("bird.xml", ostrich.to_mjcf().encode())))
    page.until("studio.figure.names.length === studio.state.scene.figure.bodies.length")
    assert set(page.ask("studio.figure.names")) == set(ostrich.segments) and len(page.scene["keys"]) == 1
    page.change(lambda: page.drop(("arm.urdf", ARM.encode())))
    page.until("studio.figure.names.length === 2")
    page.change(lambda: page.page.keyboard.press("Control+z"))
    reference_motion("squat", character("human")).slice(0.0, 0.4).write(tmp_path / "squat.glb")
    data = (tmp_path / "squat.glb").read_bytes()
    (tmp_path / "squat.glb").unlink()
    page.drop(("squat.glb", data))
    page.until("studio.state.scene.motion === 'squat' && studio.track.frames > 10", "the dropped clip")
    page.drop(("broken.xml", BROKEN.encode()), ("photo.jpg", b"no figure"))
    page.toast("copy the files that the body names beside it")
    page.toast("is no kind of file that the studio opens; it opens .toml, .bvh")
    assert page.scene["motion"] == "squat" and not (tmp_path / "broken.xml").exists()
    page.errors[:] = [one for one in page.errors if "400 (Bad Request)" not in one]  # refused, as they should be


def test_two_pages_look_at_one_scene(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    first, second = open_page(studio), open_page(studio, {"width": 1600, "height": 900})
    first.drag("hand_left", 40, -60)
    second.until("studio.state.scene.keys.length === 1")
    first.answered()
    second.answered()
    places = [page.ask("studio.placeOf('hand_left')") for page in (first, second)]
    assert max(abs(a - b) for a, b in zip(*places, strict=True)) < 1e-5
    second.page.keyboard.press("Control+z")
    first.until("studio.state.scene.keys.length === 0")
    first.page.context.set_offline(True)
    second.change(lambda: second.page.click("#add_key"))
    first.page.context.set_offline(False)
    first.until("studio.state.scene.keys.length === 1", "what it missed while it was asleep")


def test_after_kill_9_nothing_is_lost(start_studio: Any, open_page: Any, tmp_path: Path) -> None:
    shutil.copy(STUNTS / "standing_jump.toml", tmp_path / "jump.toml")
    studio = start_studio("jump.toml")
    page = open_page(studio)
    page.change(lambda: page.send({"type": "edit_scene", "edit": "MoveKey", "values": {"key": 1, "time": 0.41}}))
    page.errors.clear()
    studio.kill()
    assert (tmp_path / "jump.toml").read_bytes() == (STUNTS / "standing_jump.toml").read_bytes()
    page.page.context.close()
    again = open_page(start_studio("jump.toml"))
    assert abs(again.scene["keys"][1]["time"] - 0.41) < 1e-9 and again.scene["unsaved"]
    again.toast("Changes that were not saved are here again")
    again.page.keyboard.press("Control+s")
    again.until("!studio.state.scene.unsaved")
    assert abs(read_scene(tmp_path / "jump.toml").motion().keys[1].time - 0.41) < 1e-9


def test_the_live_run_stands_still_without_a_page(start_studio: Any, open_page: Any) -> None:
    studio = start_studio()
    page = open_page(studio)
    page.tab("live")
    page.page.select_option("#controller", "passive")
    page.page.click("#live")
    page.until("studio.stats.live && studio.stats.live.time > 0.3", seconds=120.0)
    page.page.context.close()
    late = open_page(studio)
    assert late.ask("studio.state.live.running")
    first = late.until("studio.stats.live && studio.stats.live.time")
    assert first < 6.0  # [s]: opening a page takes longer than that; the clock stood still


def test_exports_and_the_graph(start_studio: Any, open_page: Any, tmp_path: Path) -> None:
    shutil.copy(STUNTS / "standing_jump.toml", tmp_path / "jump.toml")
    page = open_page(start_studio("jump.toml"))
    page.tab("scene")
    for kind, start in (("bvh", b"HIERARCHY"), ("glb", b"glTF"), ("png", b"\x89PNG")):
        with page.page.expect_download(timeout=280_000) as arrived:
            page.page.click(f"#export_{kind}")
        assert Path(arrived.value.path()).read_bytes().startswith(start)
    assert "read_scene" in page.page.inner_text("#script")
    page.page.click("#graph_button")
    page.page.wait_for_selector("#graph .uplot")
    page.page.get_by_label("knee_left", exact=True).check()
    page.page.click("#show_ghosts")
    page.page.click("[role=treeitem] >> text=hand left")
    page.page.click("#show_trail")
    page.ask("studio.setTime(0.5)")
    page.until("studio.overlays.trail.visible && studio.figure.ghosts.size === 2")
    page.picture("studio_graph")


def test_everything_can_be_reached_and_says_what_it_does(start_studio: Any, open_page: Any) -> None:
    page = open_page(start_studio())
    for tab in ("pose", "live", "physics", "figure", "scene"):
        page.tab(tab)
        for rule in (NO_TOOLTIP, NO_NAME, TOO_WIDE, CUT):
            assert not page.ask(rule), (tab, rule, page.ask(rule))
    page.page.keyboard.press("?")
    page.page.wait_for_selector("#help_dialog[open]")
    assert "play or pause" in page.page.inner_text("#help_dialog")
    page.picture("studio_help")
    page.page.keyboard.press("Escape")
    page.page.click("#theme")
    assert page.ask("document.documentElement.dataset.theme") == "light"
    page.tab("pose")
    page.picture("studio_light")
    assert page.ask(
        "document.documentElement.scrollWidth <= innerWidth && document.documentElement.scrollHeight <= innerHeight"
    )


@pytest.mark.parametrize("path", ["/?token=wrong", "/", "/export/bvh", "/client/../server.py"])
def test_strangers_are_refused(start_studio: Any, browser: Any, path: str) -> None:
    studio = start_studio()
    context = browser.new_context()
    base = studio.address.split("/?")[0]
    assert context.request.get(base + path).status in (403, 404)
    page = context.new_page()
    page.goto("about:blank")
    closed = page.evaluate(KNOCK, studio.address.replace("http://", "ws://").replace("/?", "/ws?"))
    assert closed == "closed"  # the right token, from a page that is not ours
    context.close()


@pytest.mark.slow
def test_an_hour_live_keeps_memory_flat(start_studio: Any, open_page: Any) -> None:
    """Of the server's process, and of the page's own script after its garbage was collected; pushed and thrown at."""
    studio = start_studio()
    page = open_page(studio)
    page.tab("live")
    page.page.select_option("#controller", "get up")
    page.page.click("#live")
    page.until("studio.stats.live", "a picture of the simulation")
    page.page.set_viewport_size({"width": 480, "height": 270})  # drawn by software: fewer points, more time to simulate
    script = page.page.context.new_cdp_session(page.page)
    random = np.random.default_rng(0)

    def memory() -> tuple[int, int]:
        """Returns what the server's process holds, and what the page's script holds [bytes]."""
        script.send("HeapProfiler.collectGarbage")
        pages = int(Path(f"/proc/{studio.process.pid}/statm").read_text().split()[1])
        return 4096 * pages, int(script.send("Runtime.getHeapUsage")["usedSize"])

    def disturb() -> None:
        way = random.normal(0.0, 1.0, 2)
        force = [*(60.0 * way / np.linalg.norm(way)).tolist(), 0.0]
        page.send({"type": "push_body", "body": "thorax", "force": force})
        page.send({"type": "throw_prop", "place": [2.0, 1.0, 1.2], "target": [0.0, 0.0, 1.1], "mass": 0.5})

    sizes: list[tuple[int, int]] = []
    for moment in range(0, HOUR + 1, 20):  # [s]
        while page.ask("studio.stats.live.time") < moment:
            page.page.wait_for_timeout(500)  # [ms]
            assert page.ask("studio.state.live.running"), page.ask("studio.said")
        disturb()
        if moment % 60 == 0:
            sizes.append(memory())
            print(
                f"minute {moment // 60}: server {sizes[-1][0] / 1e6:.1f} MB, page {sizes[-1][1] / 1e6:.2f} MB",
                flush=True,
            )
    settled, later = sizes[SETTLED // 60], sizes[SETTLED // 60 :]
    assert max(server for server, _ in later) < 1.05 * settled[0], sizes
    assert max(script for _, script in later) < 1.05 * settled[1], sizes
    assert page.ask("studio.stats.live.com[2]") > 0.7  # [m]: it stands
