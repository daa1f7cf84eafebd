"""A recording is all there is to know: plain MuJoCo repeats it to the last bit. Platforms carry what stands on them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.character.track import follow
from counterpoise.control import Action, HoldPose, Passive
from counterpoise.progress import Progress
from counterpoise.simulate import Platform, Push, Recording, Sine, World, random_pushes, replay, simulate
from counterpoise.simulate.loop import Run
from counterpoise.simulate.run_log import RunLog

SIX_AXES = Platform(
    x=(Sine(0.05, 0.7),), y=(Sine(0.03, 0.5, 1.0),), z=(Sine(0.02, 0.9, 2.0),),
    roll=(Sine(0.02, 0.6),), pitch=(Sine(0.03, 0.4, 0.5), Sine(0.01, 1.1)), yaw=(Sine(0.05, 0.3),),
)  # fmt: skip


@cache
def pushed() -> Recording:
    pushes = [
        Push("thorax", (80.0, 30.0, 0.0), 0.2, 0.1),
        Push("head", (0.0, 40.0, -10.0), 0.25, 0.2, (0.05, 0, 0.1)),
    ]
    return simulate(character("human"), HoldPose(), 1.0, disturbances=pushes)


@cache
def tumbling() -> Recording:
    who = character("human")
    q = who.neutral.copy()
    q[2] += 0.5
    v = np.random.default_rng(4).normal(size=who.nv)
    return simulate(who, Passive(), 1.2, start=who.state(q, v, time=3.0))


@cache
def carried() -> Recording:
    return simulate(character("human"), HoldPose(), 1.2, world=World(platform=SIX_AXES))


@cache
def on_a_slope() -> Recording:
    return simulate(character("human"), HoldPose(), 0.8, world=World(tilt=(4.0, -6.0), friction=0.7))


@cache
def crowd() -> Recording:
    figures = [character("human"), character("chicken"), character("human")]
    starts = []
    for i, who in enumerate(figures):
        q = who.neutral.copy()
        q[0] += 0.3 * i  # close enough to bump into each other
        v = np.zeros(who.nv)
        v[0] = -0.5 * i
        starts.append(who.state(q, v))
    pushes = [
        Push("thorax", (60.0, 0.0, 0.0), 0.1, 0.1, figure=2),
        Push("pelvis", (2.0, 0.0, 0.0), 0.1, 0.2, figure=1),
    ]
    return simulate(figures, [HoldPose(), Passive(), HoldPose(stiffness=3.0)], 0.8, start=starts, disturbances=pushes)


@cache
def runge_kutta() -> Recording:
    return simulate(character("human"), HoldPose(), 0.5, world=World(integrator="rk4"))


@cache
def planar() -> Recording:
    pushes = random_pushes("trunk", 100.0, 1.0, every=(0.2, 0.3), start=0.1, seed=3)
    return simulate(character("planar_biped"), HoldPose(), 1.0, disturbances=pushes)


STORIES: list[Callable[[], Recording]] = [pushed, tumbling, carried, on_a_slope, crowd, runge_kutta, planar]


@pytest.mark.parametrize("story", STORIES, ids=lambda f: f.__name__)
def test_replay_is_exact(story: Callable[[], Recording]):
    recording = story()
    assert recording.status == "finished" and recording.contacts.start[-1] > 0
    report = replay(recording)
    assert report.exact and report.steps == len(recording) - 1
    assert report.worst_error == 0.0 and report.final_error == 0.0


def test_a_replay_that_strays_is_noticed():
    recording = pushed()
    torque = recording.torque.copy()
    torque[100, 20] += 1e-3
    changed = Recording(**{**{f: getattr(recording, f) for f in recording.__dataclass_fields__}, "torque": torque})
    report = replay(changed)
    assert not report.exact and report.worst_error > 1e-9 and report.worst_time > 0.1


PLAIN = """
import sys
import mujoco, numpy
with numpy.load(sys.argv[1], allow_pickle=False) as f:
    time, qpos, qvel, torque, external = (f[k] for k in ("time", "qpos", "qvel", "torque", "external"))
    model = mujoco.MjModel.from_binary_path("m.mjb", {"m.mjb": f["model_mjb"].tobytes()})
    assert float(f["timestep"]) == model.opt.timestep
    assert "counterpoise-recording" in str(f["meta"])
data = mujoco.MjData(model)
data.qpos[:], data.qvel[:] = qpos[0], qvel[0]
worst = 0.0
for k in range(len(time) - 1):
    data.qfrc_applied[:] = torque[k]
    data.xfrc_applied[:] = external[k]
    mujoco.mj_step(model, data)
    worst = max(worst, abs(data.qpos - qpos[k + 1]).max())
assert not [m for m in sys.modules if m.startswith("counterpoise")]
print(repr(float(worst)))
"""


@pytest.mark.parametrize("story", [carried, crowd], ids=lambda f: f.__name__)
def test_numpy_and_mujoco_alone_repeat_a_saved_file(story: Callable[[], Recording], tmp_path: Path):
    story().save(tmp_path / "r.npz")
    done = subprocess.run(
        [sys.executable, "-c", PLAIN, str(tmp_path / "r.npz")],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) <= 1e-9


@pytest.mark.parametrize("story", [pushed, on_a_slope], ids=lambda f: f.__name__)
def test_the_same_run_gives_the_same_bytes(story: Callable[[], Recording], tmp_path: Path):
    first, second = story(), story.__wrapped__()
    assert first is not second
    first.save(tmp_path / "a.npz")
    second.save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    assert first.fingerprint() == second.fingerprint()


def test_random_pushes_are_the_same_for_the_same_seed():
    a, b, c = (random_pushes(["head", "thorax"], (10.0, 50.0), 20.0, seed=s, vertical=0.2) for s in (1, 1, 2))
    assert a == b and a != c and len(a) > 3
    for push in a:
        assert 10.0 <= np.linalg.norm(push.force) <= 50.0 + 1e-9
        assert abs(push.force[2]) <= 50.0 * np.sin(0.2)
        assert 1.0 <= push.start < 20.0


# -- stopping early -------------------------------------------------------------------------------------------------
class Stopper:
    """Ctrl-C, or a torque that breaks the physics, after a while."""

    rate = 1000.0

    def __init__(self, how: str, when: float) -> None:
        self.how, self.when = how, when

    def begin(self, who: Character) -> None:
        return None

    def act(self, snapshot: Any, memory: Any) -> Action:
        if snapshot.time >= self.when - 1e-9 and self.how == "interrupt":
            raise KeyboardInterrupt
        return Action(np.zeros(snapshot.character.nv))


def test_ctrl_c_keeps_what_was_done(tmp_path: Path):
    recording = simulate(character("human"), Stopper("interrupt", 0.05), 1.0)
    assert recording.status == "interrupted" and len(recording) == 51
    assert replay(recording).worst_error == 0.0
    recording.save(tmp_path / "r.npz")
    assert Recording.load(tmp_path / "r.npz").status == "interrupted"


@pytest.mark.parametrize(("part", "when"), [(Run, "_disturb"), (RunLog, "finish_row")])
def test_ctrl_c_at_an_awkward_moment_still_replays(part: type, when: str, monkeypatch: pytest.MonkeyPatch):
    original, calls = getattr(part, when), []

    def interrupted(self: Any, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) == 30:
            raise KeyboardInterrupt
        return original(self, *arguments)

    monkeypatch.setattr(part, when, interrupted)
    push = Push("thorax", (10.0, 0.0, 0.0), 0.0, 1.0)
    recording = simulate(character("human"), Passive(), 0.2, disturbances=[push])
    assert recording.status == "interrupted"
    assert len(recording) in (30, 31)
    assert replay(recording).worst_error == 0.0


def test_progress_is_told_and_may_stop_the_run():
    told: list[float] = []

    def progress(now: Progress) -> bool:
        told.append(now.share)
        return now.share <= 0.1

    recording = simulate(character("chain"), None, 1.0, world=World(ground=False), progress=progress)
    assert recording.status == "interrupted" and told == sorted(told)
    assert recording.duration == pytest.approx(told[-1]) and told[-1] < 0.2
    assert replay(recording).worst_error == 0.0


def test_a_run_that_diverges_says_so_and_keeps_finite_rows(tmp_path: Path):
    class Breaker:
        rate = 1000.0

        def begin(self, who: Character) -> None:
            return None

        def act(self, snapshot: Any, memory: Any) -> Action:
            return Action(np.zeros(snapshot.character.nv))

    push = Push("link1", (1e18, 0.0, 0.0), 0.05, 0.5)
    recording = simulate(
        character("chain", floating=True), Breaker(), 1.0, world=World(ground=False), disturbances=[push]
    )
    assert recording.status == "diverged"
    assert 50 <= len(recording) < 1000
    assert np.isfinite(recording.qpos).all() and np.isfinite(recording.qvel).all()
    assert replay(recording).worst_error == 0.0
    recording.save(tmp_path / "r.npz")
    assert Recording.load(tmp_path / "r.npz").status == "diverged"


# -- the platform ---------------------------------------------------------------------------------------------------
def platform_path(recording: Recording) -> np.ndarray:
    """(n, 6) x, y, z, roll, pitch, yaw."""
    nq = recording.character.nq
    return recording.qpos[:, nq : nq + 6][:, [0, 1, 2, 5, 4, 3]]


@pytest.mark.parametrize("friction", [0.0, 1.0])
def test_the_platform_follows_its_sines(friction: float):
    recording = simulate(character("human"), HoldPose(), 1.5, world=World(platform=SIX_AXES, friction=friction))
    wanted = np.array([SIX_AXES.pose(t) for t in recording.time])
    assert np.abs(platform_path(recording) - wanted).max() < 1e-6
    full = recording.time > SIX_AXES.ease
    t = recording.time[full]
    assert np.abs(wanted[full, 0] - 0.05 * np.sin(2 * np.pi * 0.7 * t)).max() < 1e-12
    two = 0.03 * np.sin(2 * np.pi * 0.4 * t + 0.5) + 0.01 * np.sin(2 * np.pi * 1.1 * t)
    assert np.abs(wanted[full, 4] - two).max() < 1e-12
    assert np.ptp(wanted, axis=0).min() > 0.01


def test_a_platform_carries_by_friction_and_only_by_friction():
    who, shake, seconds = character("human"), Platform(x=(Sine(0.1, 0.15),), ease=1.0), 1.2
    speed = {}
    for friction in (1.0, 0.0):
        recording = simulate(who, HoldPose(), seconds, world=World(platform=shake, friction=friction))
        first, last = (who.snapshot(recording.state(k)).contact_position.mean(axis=0) for k in (0, -1))
        speed[friction] = (last[0] - first[0]) / seconds
    belt = shake.pose(seconds)[0] / seconds
    assert belt > 0.05
    assert speed[1.0] == pytest.approx(belt, rel=0.03)
    assert abs(speed[0.0]) < 0.05 * belt


def test_nothing_pushes_the_figure_but_the_ground():
    """The platform's drive acts on the platform alone: the figure's own rows hold joint torques only."""
    recording = carried()
    who = recording.character
    assert not recording.torques()[:, who.root_dofs].any()
    assert np.abs(recording.torques()).max() <= who.torque_limit.max()
    assert recording.torque[:, who.nv :].any() and not recording.external.any()


def test_on_a_slope_the_feet_touch_and_friction_decides(standing: Character):
    if standing.name in ("planar_biped",):
        return
    slide = {}
    for friction in (1.0, 0.05):
        world = World(tilt=(0.0, 8.0), friction=friction)
        recording = simulate(standing, HoldPose(), 0.5, world=world)
        com = follow(standing, recording.positions()[[0, -1]]).com
        slide[friction] = com[1, 0] - com[0, 0]
        first = standing.snapshot(recording.state(0)).contact_position
        gaps = [p[2] - world.height_at(p[0], p[1]) for p in first]
        assert min(gaps) > -1e-6
    assert slide[0.05] > 0.05 and slide[0.05] > slide[1.0]  # pitch > 0 falls away ahead


def test_the_ground_tilts_the_way_it_says():
    assert World(tilt=(0.0, 10.0)).height_at(1.0, 0.0) == pytest.approx(-np.tan(np.radians(10.0)))
    assert World(tilt=(10.0, 0.0)).height_at(0.0, 1.0) == pytest.approx(np.tan(np.radians(10.0)))
    assert World().height_at(3.0, -2.0) == 0.0
