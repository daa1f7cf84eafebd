"""Physics in the browser: optimise, check, fix, stop."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise.character.library import character
from counterpoise.motion import Motion, reference_motion

STUNTS = Path(__file__).parents[2] / "examples" / "stunts"


def watch_jobs(page: Any) -> None:
    """Keeps every event about jobs."""
    page.ask("studio.jobs = []; studio.on('job', event => studio.jobs.push(event))")


def processor_of_worker(studio: Any) -> float:
    """Returns the seconds of the processor that the newest process of a studio has used: the worker of its jobs."""
    newest, ticks = -1, 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            if int(fields[1]) == studio.process.pid and int(fields[19]) > newest:
                newest, ticks = int(fields[19]), int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def test_a_jump_is_optimised_with_a_ghost(start_studio: Any, open_page: Any, tmp_path: Path) -> None:
    shutil.copy(STUNTS / "standing_jump.toml", tmp_path / "jump.toml")
    studio = start_studio("jump.toml")
    page = open_page(studio)
    watch_jobs(page)
    assert len(page.scene["keys"]) == 3 and len(page.scene["contacts"]) == 2
    page.ask("studio.setTime(0.8)")
    page.tab("physics")
    page.page.click("#optimize")
    page.until("studio.figure.ghosts.has('job')", "a ghost", 280.0)
    running = "studio.jobs.filter(event => event.state === 'running').length"
    events, used = page.ask(running), processor_of_worker(studio)
    page.picture("studio_optimise")
    page.until("studio.jobs.some(event => event.state !== 'running')", "the end of the job", 280.0)
    events, used = page.ask(running) - events, processor_of_worker(studio) - used
    assert events >= 5 and events >= 2.0 * used  # two a second, by the processor's clock: other work does not count
    page.until("studio.state.scene.motion === 'optimised 1'")
    assert page.scene["kind"] == "clip" and page.ask("studio.jobs.at(-1).message").startswith("solved")
    take = Motion.load(tmp_path / "takes" / "optimised_1.npz")
    assert take.duration > 1.5
    page.ask("studio.setTime(0.6)")  # heat on the joints of what was optimised
    page.until("studio.handles.efforts?.some(share => share > 0.3)", "the efforts of the jump")
    page.picture("studio_heat")


def test_a_job_is_stopped(start_studio: Any, open_page: Any, tmp_path: Path) -> None:
    shutil.copy(STUNTS / "back_flip.toml", tmp_path / "flip.toml")
    studio = start_studio("flip.toml")
    page = open_page(studio)
    watch_jobs(page)
    page.tab("physics")
    page.page.click("#optimize")
    page.until("studio.jobs.some(event => event.stage === 'optimising')", "progress", 280.0)
    used = processor_of_worker(studio)
    page.page.click("#stop_job")
    page.until("studio.jobs.some(event => event.state !== 'running')", "the end of the job")
    ended = page.ask("studio.jobs.find(event => event.state !== 'running')")
    assert ended["state"] == "stopped", ended
    assert processor_of_worker(studio) - used < 1.0  # [s] by the processor's clock: other work does not count
    page.until("studio.state.scene.motion === 'optimised 1'", "the best so far")


def test_what_cannot_be_is_named_with_its_time(start_studio: Any, open_page: Any, tmp_path: Path) -> None:
    text = (STUNTS / "standing_jump.toml").read_text()
    text += '\n[[wish]]\nkind = "apex"\ntime = 0.8\nheight = 4.0\n'
    (tmp_path / "high.toml").write_text(text)
    page = open_page(start_studio("high.toml"))
    watch_jobs(page)
    page.tab("physics")
    page.page.click("#optimize")
    page.until("studio.jobs.some(event => event.state !== 'running')", "the end of the job", 500.0)
    page.until("studio.state.scene.violations.length > 0", "violations")
    found = page.scene["violations"]
    assert any("apex" in one["name"] and abs(one["time"] - 0.8) < 0.1 for one in found), found
    page.page.click("#violations button")
    assert abs(page.ask("studio.state.time") - found[0]["time"]) < 0.02
    page.picture("studio_violations")


def test_a_dropped_clip_is_checked_and_fixed_as_on_the_command_line(
    start_studio: Any, open_page: Any, tmp_path: Path
) -> None:
    squat = reference_motion("squat", character("human")).slice(0.0, 1.2)
    lifted = np.array(squat.poses)
    lifted[:, 0] += 0.06 * np.sin(9.0 * squat.times)  # feet that skate
    Motion(squat.character, squat.times, lifted, name="skating").write(tmp_path / "skating.bvh")
    data = (tmp_path / "skating.bvh").read_bytes()
    (tmp_path / "skating.bvh").unlink()
    page = open_page(start_studio())
    watch_jobs(page)
    page.drop(("skating.bvh", data))
    page.until("studio.state.scene.motion === 'skating'", "the dropped clip")
    assert (tmp_path / "skating.bvh").read_bytes() == data
    page.tab("physics")
    page.page.click("#check")
    page.until("studio.state.scene.violations.length > 0", "what the check finds", 280.0)
    assert any(one["name"] == "skate" for one in page.scene["violations"])
    page.picture("studio_check")
    page.page.click("#fix")
    page.until("studio.state.scene.motion === 'fixed 1'", "the fixed clip", 400.0)
    ours = Motion.load(tmp_path / "takes" / "fixed_1.npz")
    command = [sys.executable, "-m", "counterpoise.cli", "fix", "skating.bvh", "-o", "theirs.npz"]
    assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == 0
    theirs = Motion.load(tmp_path / "theirs.npz")
    assert np.abs(ours.poses - theirs.poses).max() < 1e-9
