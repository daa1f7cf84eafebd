"""A session goes on where it was, in stretches of any length, whatever is changed between them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue

FRAME = 1.0 / 60.0  # [s]
SHAKE = cp.World(platform=cp.Platform(x=(cp.Sine(0.04, 0.7),), pitch=(cp.Sine(0.02, 0.9),), ease=0.2))


@pytest.mark.parametrize(
    ("controller", "world"),
    [
        (cp.Stand(), cp.World()),
        (cp.HoldPose(), SHAKE),
        (cp.HoldPose(rate=300.0), cp.World(integrator="rk4", timestep=0.0015)),
    ],
    ids=["stand", "platform", "rk4"],
)
@pytest.mark.parametrize("frame", [FRAME, 0.0004, 0.13], ids=["frame", "tiny", "long"])
def test_stretches_are_the_same_bytes_as_one_run(controller: cp.Controller, world: cp.World, frame: float):
    """Whether the stretches are frames of a game, shorter than a physics step, or longer than a block of the log."""
    human, count = cp.character("human"), max(1, round(0.52 / frame) if frame > 0.001 else 200)
    push = cp.Push("thorax", (120.0, 0.0, 0.0), 0.03, 0.1)
    session = cp.Session(human, controller, world=world, disturbances=[push])
    for _ in range(count):
        session.advance(frame)
    whole = cp.simulate(human, controller, count * frame, world=world, disturbances=[push])
    assert session.time == whole.time[-1]
    (recording,) = session.recordings
    assert recording.fingerprint() == whole.fingerprint()


def test_the_clock_is_exact_for_any_duration():
    session = cp.Session(cp.character("chain"), world=cp.World(ground=False))
    for _ in range(600):
        session.advance(FRAME)
        assert abs(session.remainder) <= 0.0005
    assert session.time == 10.0 and abs(session.remainder) < 1e-12
    rows = [len(session.advance(0.0003)) for _ in range(10)]
    assert session.time == pytest.approx(10.003) and set(rows) == {1, 2}
    assert session.advance(np.float32(0.25)).duration == pytest.approx(0.25)
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(BadValue, match="positive"):
            session.advance(wrong)


def test_every_stretch_and_all_that_is_kept_replays_exactly(tmp_path: Path):
    human = cp.character("human")
    session = cp.Session(human, cp.Stand(), keep=0.3)
    for k in range(60):
        if k == 20:
            session.disturbances = [cp.Push("thorax", (150.0, 40.0, 0.0), session.time + 0.01, 0.1)]
        if k == 50:
            session.disturbances = []
        stretch = session.advance(FRAME)
        assert cp.replay(stretch).worst_error == 0.0
        assert k < 50 or not stretch.external.any()
    (kept,) = session.recordings
    assert kept.time[0] > 0.2 and kept.warm_start is not None  # the beginning is gone
    kept.save(tmp_path / "kept.npz")
    again = cp.Recording.load(tmp_path / "kept.npz")
    assert again.fingerprint() == kept.fingerprint()
    assert cp.replay(again).worst_error == 0.0
    assert cp.replay(replace(again, warm_start=None)).worst_error > 0.0  # it is needed


# -- what is kept ----------------------------------------------------------------------------------------------------
def test_memory_stays_the_same_however_long_it_runs():
    session = cp.Session(cp.character("human"), cp.HoldPose(), keep=0.5)

    def size() -> tuple[int, int]:
        for _ in range(90):
            session.advance(FRAME)
        run = session._run
        return run.log.nbytes, len(run.drivers[0].ticks)

    sizes = [size() for _ in range(4)]
    assert max(b for b, _ in sizes[1:]) <= sizes[0][0]
    assert max(t for _, t in sizes) <= 0.5 * 500 + 130
    kept = session.recordings[0]
    assert 0.5 <= kept.duration < 0.5 + 0.256 + 0.01
    assert kept.time[-1] == session.time and kept.ticks[0] >= kept.time[0]


def test_a_stretch_is_returned_whole_and_everything_is_kept_on_request():
    chain, world = cp.character("chain"), cp.World(ground=False)
    short = cp.Session(chain, world=world, keep=0.1)
    assert short.advance(2.0).duration == pytest.approx(2.0)
    short.advance(1.0)
    assert short.recordings[0].duration == pytest.approx(1.0, abs=0.26)
    everything = cp.Session(chain, world=world, keep=None)
    for _ in range(30):
        everything.advance(0.1)
    assert everything.recordings[0].duration == pytest.approx(3.0)
    with pytest.raises(BadValue, match="keep"):
        cp.Session(chain, keep=-1.0)


@pytest.mark.slow
def test_memory_is_flat_over_an_hour():
    resource = pytest.importorskip("resource")
    stand, world = cp.Stand(rate=100.0), cp.World(timestep=0.005)
    session = cp.Session(cp.character("human"), stand, world=world, keep=5.0)
    unit = 1 if sys.platform == "darwin" else 1024  # of ru_maxrss [bytes]
    peaks = []
    for minute in range(60):
        session.disturbances = [cp.Push("thorax", (60.0, 0.0, 0.0), session.time + 1.0, 0.1)]
        for _ in range(3600):
            session.advance(FRAME)
        peaks.append(unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        assert session.time == pytest.approx(60.0 * (minute + 1), abs=1e-9)
    assert not cp.measure.fell(session.recordings[-1])
    assert peaks[-1] - peaks[1] < 4e6, peaks


# -- for games -------------------------------------------------------------------------------------------------------
def test_poses_of_all_bodies_in_one_call():
    human = cp.character("human")
    session = cp.Session(human, cp.HoldPose())
    session.advance(0.1)
    q = session.state.q.copy()
    poses, matrices, snapshot = session.poses(), session.matrices(), human.snapshot(session.state)
    assert poses.shape == (len(session.body_names), 7) and matrices.shape == (len(session.body_names), 4, 4)
    for name, pose, matrix in zip(session.body_names, poses, matrices, strict=True):
        assert np.allclose(pose[:3], snapshot.position(name), atol=1e-12)
        assert np.allclose(cp.spatial.to_matrix(pose[3:]), snapshot.rotation(name), atol=1e-12)
        assert np.allclose(matrix @ [0.1, 0.2, 0.3, 1.0], [*snapshot.position(name, (0.1, 0.2, 0.3)), 1.0])
    assert np.array_equal(session.state.q, q)
    same = cp.Session(human, cp.HoldPose())
    same.advance(0.1)
    same.advance(0.1)
    assert np.array_equal(session.advance(0.1).qpos[-1], same.state.q)  # reading them changed nothing


# -- changes between stretches ---------------------------------------------------------------------------------------
@dataclass(frozen=True)
class Counting:
    """Counts its ticks, and those of a controller before it."""

    rate: float = 100.0

    def begin(self, character: cp.Character) -> int:
        return 0

    def act(self, snapshot: cp.Snapshot, memory: int) -> cp.Action:
        return cp.Action(np.zeros(snapshot.character.nv), memory + 1, {"count": float(memory)})


@dataclass(frozen=True)
class CountingOn(Counting):
    def take_over(self, character: cp.Character, snapshot: cp.Snapshot, previous: Any, memory: Any) -> int:
        assert snapshot.character is character
        return 100 + memory if isinstance(previous, Counting) else -100


def test_controllers_hand_their_memory_over():
    session = cp.Session(cp.character("chain"), Counting(), world=cp.World(ground=False))
    session.advance(0.105)
    session.controller = CountingOn()
    stretch = session.advance(0.1)
    assert stretch.ticks[0] == pytest.approx(0.105)  # a new controller acts at once
    assert stretch.notes["count"][0] == 111.0
    session.controller = CountingOn(rate=200.0)  # same type: the memory stays
    assert session.advance(0.1).notes["count"][0] == 121.0
    session.controller = cp.Passive()
    session.advance(0.1)
    session.controller = CountingOn()
    assert session.advance(0.1).notes["count"][0] == -100.0
    session.controller = Counting()  # has no take_over
    assert session.advance(0.1).notes["count"][0] == 0.0
    session.controller = 3  # type: ignore[assignment]
    with pytest.raises(BadValue, match="a controller has"):
        session.advance(0.1)


@dataclass(frozen=True)
class Faulty(Counting):
    error: type[BaseException] = BadValue

    def act(self, snapshot: cp.Snapshot, memory: int) -> cp.Action:
        if snapshot.time > 0.05:
            raise self.error("stop")
        return super().act(snapshot, memory)


@pytest.mark.parametrize("error", [BadValue, KeyboardInterrupt])
def test_a_session_goes_on_after_an_error(error: type[BaseException]):
    session = cp.Session(cp.character("chain"), Faulty(error=error), world=cp.World(ground=False))
    if error is KeyboardInterrupt:
        assert session.advance(1.0).status == "interrupted"
    else:
        with pytest.raises(error):
            session.advance(1.0)
    stopped = session.state
    assert stopped.time == session.time == pytest.approx(0.06) and session.remainder == 0.0
    session.controller = Counting()
    assert np.array_equal(session.advance(0.1).qpos[0], stopped.q)
    assert session.time == pytest.approx(0.16)
    assert [one.duration for one in session.recordings] == pytest.approx([0.06, 0.1])
    assert all(cp.replay(one).worst_error == 0.0 for one in session.recordings)


def test_a_platform_moves_on_when_the_body_changes():
    human = cp.character("human")
    session = cp.Session(human, cp.HoldPose(), world=SHAKE)
    session.advance(0.3)
    session.character = human.rescaled({"arms": 1.2})
    after = session.advance(0.3)
    wanted = np.array([SHAKE.platform.pose(t) for t in after.time])
    assert np.abs(after.qpos[:, human.nq] - wanted[:, 0]).max() < 1e-6
    assert len(session.recordings) == 2
    session.world = cp.World()
    session.advance(0.1)
    assert len(session.recordings) == 3 and len(session.recordings[-1]) == 101


def test_pushes_references_and_wishes_change_on_the_fly():
    who = cp.character("human")
    session = cp.Session(who, cp.Stand())
    session.advance(0.2)
    height = who.snapshot(session.state).com[2]
    session.controller = replace(session.controller, height=height - 0.12)
    session.advance(1.5)
    assert who.snapshot(session.state).com[2] == pytest.approx(height - 0.12, abs=0.02)
    session.disturbances = [cp.Push("pelvis", (0.0, 120.0, 0.0), session.time + 0.05, 0.1)]
    pushed = session.advance(0.2)
    assert np.abs(pushed.external).max() == pytest.approx(120.0)
    session.disturbances = []
    session.controller = cp.HoldPose()
    assert session.advance(0.1).meta["controllers"] == ["HoldPose"]


def test_proportions_change_while_it_stands():
    """Arms grow by half in the middle of a squat; it stands on, and follows on."""
    who = cp.character("human")
    squat = cp.reference_motion("squat", who)
    stand = cp.Stand(reference=squat)
    session = cp.Session(who, stand, start=stand.ready(who))
    session.advance(0.6)
    clock = session.recordings[-1].notes["clock"][-1]
    session.character = who.rescaled({"arms": 1.5})
    after = session.advance(1.2)
    assert not cp.measure.fell(after)
    assert after.notes["clock"][0] == pytest.approx(clock, abs=0.01)
    assert set(after.notes["status"]) <= {"solved"}
    assert np.abs(after.qvel[:40]).max() < 6.0  # no leap where the body changed


def test_another_figure_is_refused():
    session = cp.Session(cp.character("human"), cp.Stand())
    with pytest.raises(BadValue, match="only proportions may change"):
        session.character = cp.character("ostrich")
    with pytest.raises(BadValue, match="positive"):
        session.advance(0.0)


def test_several_characters_in_one_session_are_the_same_as_in_one_run():
    human, small = cp.character("human"), cp.character("human", height=1.4)
    starts = [human.state(), small.state(_moved_aside(small))]
    controllers = [cp.Stand(), cp.Stand()]
    push = cp.Push("thorax", (40.0, 0.0, 0.0), 0.05, 0.1, figure=1)
    session = cp.Session([human, small], controllers, start=starts, disturbances=[push])
    for _ in range(12):
        session.advance(FRAME)
    whole = cp.simulate([human, small], controllers, 0.2, start=starts, disturbances=[push])
    assert session.recordings[0].fingerprint() == whole.fingerprint()
    assert np.array_equal(session.states[1].q, whole.positions(1)[-1]) and session.states[0].q is not None
    session.controllers[1] = cp.Passive()
    session.advance(0.4)
    assert session.states[1].q[2] < 0.95 * whole.positions(1)[-1, 2]  # the rag doll falls, the other one stands
    assert abs(session.state.q[2] - whole.positions(0)[-1, 2]) < 0.02
    with pytest.raises(BadValue, match="no figure"):
        cp.Session([])
    with pytest.raises(BadValue, match="2 controllers"):
        cp.Session([human, small], [cp.Stand()])


def _moved_aside(character: cp.Character) -> np.ndarray:
    q = np.array(character.neutral)
    q[1] += 1.5
    return q
