"""Stand: laws of the controller and its rehearsal, and stories of pushes, kicks and trouble."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.reference_shaping import STEP, leant, smoothed
from counterpoise.control.rehearsal import RehearsedReference, rehearse
from counterpoise.control.stand import Stand
from counterpoise.control.stand_tuning import StandTuning
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.objectives import Surface
from counterpoise.simulate.replay import replay
from counterpoise.solve.polygon import hull_edges

MOCAP = Path(__file__).parents[3] / "shared" / "mocap"
HUMAN = cp.character("human")


def zero_moment_points(motion: cp.Motion, times: np.ndarray) -> np.ndarray:
    """How far inside the support the zero-moment point is [m], by the motion's own accelerations."""
    out = []
    for t in times:
        s = motion.sample(t)
        body = HUMAN.snapshot(HUMAN.state(s.q, s.v))
        rate = body.momentum_matrix @ s.a + body.momentum_drift
        force = rate[3:] + [0.0, 0.0, HUMAN.weight]
        z = body.com[2]
        p = body.com[:2] + np.array([-(rate[1] + z * force[0]) / force[2], (rate[0] - z * force[1]) / force[2]])
        feet = body.contact_position[body.contact_position[:, 2] < 0.005][:, :2]
        edges = hull_edges(np.ascontiguousarray(feet))
        out.append(float((edges[:, 2] - edges[:, :2] @ p).min()))
    return np.array(out)


# -- rehearsal --------------------------------------------------------------------------------------------------------
def sway(width: float, period: float) -> cp.Motion:
    """Standing, the whole body carried sideways by `width` [m] and back in every period [s], feet in place."""
    moved = cp.Motion(HUMAN, np.linspace(0.0, 2.0, 81), np.tile(HUMAN.neutral, (81, 1)))
    times = np.arange(0.0, 2.0 + 1e-9, STEP)
    lean = np.zeros((len(times), 2))
    lean[:, 1] = width * 0.5 * (1.0 - np.cos(2.0 * np.pi * times / period))
    for _ in range(4):  # a step at a time: each is exact only for small leans
        moved = leant(moved, times, 0.25 * lean)
    return moved


def rehearsed(motion: cp.Motion) -> RehearsedReference:
    return rehearse(HUMAN, motion, 0.005, 0.08, 0.1, 0.0, (None, None))


def test_a_motion_that_can_be_stood_comes_back_as_it_was():
    motion = sway(0.03, 2.0)
    seen = rehearsed(motion)
    assert seen.motion is motion
    com = np.array([HUMAN.snapshot(HUMAN.state(motion.sample(t).q)).com for t in np.arange(0.0, 2.0, 0.1)])
    np.testing.assert_allclose(seen.path[:200:10, 0], com, atol=1.5e-3)


def test_a_motion_that_cannot_be_stood_is_leant_until_it_can():
    motion = sway(0.06, 0.8)  # hurled to and fro at 1.9 m/s^2
    times = np.arange(0.2, 1.8, 0.05)
    before = zero_moment_points(motion, times)
    assert before.min() < -0.02
    seen = rehearsed(motion)
    after = zero_moment_points(seen.motion, times)
    assert after.min() > -0.005
    feet = [HUMAN.snapshot(HUMAN.state(seen.motion.sample(t).q)).contact_position for t in times]
    assert np.ptp(feet, axis=0).max() < 5e-3


def test_a_rehearsal_does_not_depend_on_where_the_motion_is():
    """A margin that is a share of the support's depth is the same 3 m away."""
    motion = cp.reference_motion("side_kick", HUMAN)
    moved = motion.poses.copy()
    moved[:, :2] += 3.0
    here, there = rehearsed(motion), rehearsed(replace(motion, poses=moved))
    assert np.abs(there.path[:, 0] - [3.0, 3.0, 0.0] - here.path[:, 0]).max() < 1e-5


def test_smoothing_keeps_ends_and_slow_motions():
    motion = cp.reference_motion("squat", HUMAN)
    soft = smoothed(motion, 0.02)
    times = np.linspace(motion.start, motion.end, 50)
    away = HUMAN.difference(motion.sample(times).q, soft.sample(times).q)
    assert np.abs(away).max() < 0.01
    assert np.abs(HUMAN.difference(motion.poses[[0, -1]], soft.poses[[0, -1]])).max() < 1e-9


def test_feet_are_withdrawn_before_they_leave():
    motion = cp.reference_motion("side_kick", HUMAN)
    seen = rehearsed(motion)
    up = np.array(["foot_right" in seen.patterns[k].lifted for k in seen.pattern])
    first = np.flatnonzero(up)[0] * STEP
    heights = [
        HUMAN.snapshot(HUMAN.state(motion.sample(t).q)).contact_position[6:, 2].min()
        for t in np.arange(first, first + 0.3, STEP)
    ]
    assert heights[0] < 0.005 < heights[-1]


# -- the law ----------------------------------------------------------------------------------------------------------
def test_at_rest_it_stays_at_rest_and_asking_touches_nothing():
    stand = Stand()
    memory, snapshot = stand.begin(HUMAN), HUMAN.snapshot()
    first, second = stand.act(snapshot, memory), stand.act(snapshot, memory)
    assert np.array_equal(first.torque, second.torque)
    rec = cp.simulate(HUMAN, stand, 1.0)
    assert np.abs(rec.velocities()[-1]).max() < 1e-3
    assert np.abs(HUMAN.difference(HUMAN.neutral, rec.positions()[-1])[6:]).max() < 0.03


def test_a_push_is_taken_and_the_pose_comes_back():
    push = cp.Push("thorax", (-180.0, 120.0, 0.0), 0.2, 0.1)
    rec = cp.simulate(HUMAN, Stand(), 3.2, disturbances=[push])
    assert not cp.measure.fell(rec)
    assert set(rec.notes["status"]) == {"solved"}
    start, end = (HUMAN.snapshot(rec.state(k)) for k in (0, -1))
    assert np.abs(end.contact_position - start.contact_position)[:, :2].max() < 0.01
    assert np.abs(HUMAN.difference(HUMAN.neutral, rec.positions()[-1])[6:]).max() < 0.05
    assert (np.abs(rec.torques()) <= HUMAN.torque_limit * (1.0 + 1e-9)).all()
    assert not rec.torques()[:, :6].any()
    assert replay(rec).exact


@pytest.mark.parametrize("name", ["child", "asymmetric", "insectoid", "chicken", "ostrich", "dinosaur"])
def test_the_cast_stands_and_takes_a_push(name: str):
    character = cp.character(name)
    thorax = "thorax" if "thorax" in character.segments else character.root
    force = 1.2 * character.mass  # 0.12 m/s
    rec = cp.simulate(character, Stand(), 2.5, disturbances=[cp.Push(thorax, (force, 0.3 * force, 0.0), 0.3, 0.1)])
    assert not cp.measure.fell(rec)
    assert np.abs(rec.velocities()[-1]).max() < 0.2


@pytest.mark.parametrize("name", ["squat", "side_kick"])
def test_references_are_followed(name: str):
    motion = cp.reference_motion(name, HUMAN)
    stand = Stand(reference=motion)
    rec = cp.simulate(HUMAN, stand, motion.duration + 0.3, start=stand.ready(HUMAN))
    assert "fallen" not in set(rec.notes["status"])
    rows = np.arange(0, len(rec.ticks), 25)
    poses = rec.positions()[np.round(rec.ticks[rows] / rec.timestep).astype(int)]
    error = np.abs(HUMAN.difference(poses, motion.sample(rec.notes["clock"][rows]).q)[:, 6:])
    assert np.degrees(np.median(error)) < 1.0
    assert sum(cp.measure.foot_slip(rec).values()) < 0.02


def test_the_reference_waits_in_trouble_and_catches_up():
    motion = cp.reference_motion("butterfly", HUMAN)
    stand = Stand(reference=motion)
    push = cp.Push("thorax", (260.0, 0.0, 0.0), 0.5, 0.1)
    rec = cp.simulate(HUMAN, stand, 6.0, start=stand.ready(HUMAN), disturbances=[push])
    behind = rec.ticks - rec.notes["clock"]
    assert behind.max() > 0.1
    assert behind[-1] < 0.6 * behind.max()
    assert not cp.measure.fell(rec)


def test_height_is_kept_and_out_of_reach_is_borne():
    z = HUMAN.snapshot().com[2]
    rec = cp.simulate(HUMAN, Stand(height=0.75 * z), 3.0)
    assert HUMAN.snapshot(rec.state(-1)).com[2] == pytest.approx(0.75 * z, abs=0.01)
    high = cp.simulate(HUMAN, Stand(height=2.0 * z), 2.0)
    assert not cp.measure.fell(high)
    assert HUMAN.snapshot(high.state(-1)).com[2] > z


@pytest.mark.parametrize("tilt", [(0.0, 8.0), (6.0, 0.0), (-4.0, -6.0)])
def test_it_stands_on_a_slope(tilt: tuple[float, float]):
    world = cp.World(tilt=tilt)
    corners = np.array([[x, y, world.height_at(x, y)] for x, y in ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))])
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    rec = cp.simulate(HUMAN, Stand(ground=Surface.tilted(normal)), 2.5, world=world)
    assert not cp.measure.fell(rec)
    end = HUMAN.snapshot(rec.state(-1))
    above = [z - world.height_at(x, y) for x, y, z in end.contact_position]
    assert np.abs(above).max() < 0.004
    assert np.abs(rec.velocities()[-1]).max() < 0.02


def test_compliance_goes_from_stiff_to_limp():
    push = cp.Push("thorax", (100.0, 0.0, 0.0), 0.1, 0.1)
    bend = []
    for compliance in (0.0, 0.5, 0.8):
        rec = cp.simulate(HUMAN, Stand(compliance=compliance), 1.5, disturbances=[push])
        assert not cp.measure.fell(rec), compliance
        bend.append(np.abs(HUMAN.difference(HUMAN.neutral, rec.positions()[::20])[:, 6:]).max())
    assert bend[0] < bend[1] < bend[2]
    limp = cp.simulate(HUMAN, Stand(compliance=1.0), 2.0)
    assert HUMAN.snapshot(limp.state(-1)).com[2] < 0.6 * HUMAN.snapshot().com[2]


def test_anything_may_change_between_ticks():
    stand, memory, t = Stand(), None, 0.0
    state = HUMAN.state()
    memory = stand.begin(HUMAN)
    for changed in (
        replace(stand, compliance=0.2),
        replace(stand, reference=cp.reference_motion("squat", HUMAN)),
        replace(stand, tuning=StandTuning(com_weight=1e3)),
        replace(stand, height=0.9),
        stand,
    ):
        action = changed.act(HUMAN.snapshot(HUMAN.state(state.q, state.v, t)), memory)
        memory, t = action.memory, t + 0.002
        assert np.isfinite(action.torque).all()


# -- trouble ----------------------------------------------------------------------------------------------------------
def test_what_is_kept_between_runs_does_not_show():
    """Objectives and rehearsals are kept: after other tunings, figures and references a run is the same to the bit."""
    squat = cp.reference_motion("squat", HUMAN)
    mine = Stand(reference=squat, compliance=0.6)
    first = cp.simulate(HUMAN, mine, 0.1, start=mine.ready(HUMAN))
    for other in (
        Stand(reference=squat, compliance=0.2),
        Stand(reference=squat, tuning=StandTuning(stiffness=90.0, lookahead=0.2), compliance=0.6),
        Stand(height=0.8, compliance=0.6),
        Stand(reference=squat, compliance=0.6, ground={"foot_left": Surface(), "foot_right": Surface()}),
    ):
        rec = cp.simulate(HUMAN, other, 0.1, start=mine.ready(HUMAN))
        differs = other.compliance != 0.6 or other.tuning != mine.tuning or other.height is not None
        assert (rec.torque[0] != first.torque[0]).any() == differs
    fresh = cp.character("human")
    again = Stand(reference=cp.reference_motion("squat", fresh), compliance=0.6)
    for character, controller in ((HUMAN, mine), (fresh, again)):
        repeat = cp.simulate(character, controller, 0.1, start=controller.ready(character))
        assert repeat.qpos.tobytes() == first.qpos.tobytes() and repeat.torque.tobytes() == first.torque.tobytes()


def test_a_figure_in_the_air_or_upside_down_falls_without_a_fuss():
    up = HUMAN.neutral.copy()
    up[2] += 0.5
    over = HUMAN.neutral.copy()
    over[3:7] = [0.0, 1.0, 0.0, 0.0]
    over[2] = 1.2
    for q in (up, over):
        rec = cp.simulate(HUMAN, Stand(), 1.0, start=HUMAN.state(q))
        assert np.isfinite(rec.qpos).all()
    assert "fallen" in set(rec.notes["status"])


def test_bad_input_is_refused_with_the_cure():
    child = cp.character("ostrich")
    with pytest.raises(BadValue, match="retarget"):
        Stand(reference=cp.reference_motion("squat", HUMAN)).begin(child)
    with pytest.raises(CounterpoiseError, match="feet"):
        Stand().begin(cp.character("chain"))
    with pytest.raises(BadValue, match="compliance"):
        Stand(compliance=1.5)
    with pytest.raises(BadValue, match="height"):
        Stand(height=-1.0)
    with pytest.raises(BadValue, match="extra"):
        Stand(extra=("head up",))  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="com_weight"):
        StandTuning(com_weight=-1.0)
    poses = np.tile(HUMAN.neutral, (50, 1))
    poses[20:40, 2] += 0.3
    jump = cp.Motion(HUMAN, np.linspace(0.0, 1.0, 50), poses, name="hop")
    with pytest.raises(BadValue, match="leaves the ground"):
        Stand(reference=jump).begin(HUMAN)


# -- captured clips ---------------------------------------------------------------------------------------------------
CLIPS = {
    "squats": ("13_29", 3793, 4584, 5.0), "punches": ("02_05", 1, 1854, 5.0), "one leg": ("49_19", 270, 957, 8.0),
    "right circle": ("42_01", 584, 710, 8.0), "left circles": ("42_01", 747, 1042, 8.0),
    "kick 3": ("144_09", 592, 705, 8.0), "kick 7": ("144_09", 1645, 1768, 8.0),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", CLIPS)
@pytest.mark.parametrize("force", [0.0, 150.0])
def test_captured_clips_are_stood_from_start_to_end(name: str, force: float):
    if not MOCAP.is_dir():
        pytest.skip("the captured clips are not here (../shared/mocap)")
    stem, first, last, allowed = CLIPS[name]
    if force and name not in ("squats", "punches"):
        pytest.skip("only clips with both feet down are pushed")
    motion = cp.retarget(cp.read_motion(MOCAP / f"{stem}.bvh", frames=(first, last)), HUMAN)
    stand = Stand(reference=motion)
    pushes = [cp.Push("thorax", (force, 0.0, 0.0), motion.duration / 2, 0.1)] if force else []
    rec = cp.simulate(HUMAN, stand, motion.duration + 0.5, start=stand.ready(HUMAN), disturbances=pushes)
    assert set(rec.notes["status"]) == {"solved"}
    rows = np.arange(0, len(rec.ticks), 10)
    poses = rec.positions()[np.round(rec.ticks[rows] / rec.timestep).astype(int)]
    error = np.abs(HUMAN.difference(poses, motion.sample(rec.notes["clock"][rows]).q)[:, 6:])
    assert np.degrees(np.median(error)) < allowed
    assert rec.ticks[-1] - (rec.notes["clock"][-1] - motion.start) < 1.0  # never far behind


@pytest.mark.parametrize("share", [0.7, 0.35])
def test_a_height_alone_makes_a_crouch_and_one_out_of_reach_is_borne(share: float):
    """Asked for at once, for two seconds; 0.35 of the standing height is more than joints allow."""
    character = cp.character("human")
    here = character.snapshot()
    standing = float(here.com[2] - here.contact_position[:, 2].min())
    rec = cp.simulate(character, cp.Stand(height=lambda t: share * standing if 0.2 < t < 2.2 else standing), 5.2)
    assert not cp.measure.fell(rec)
    low = min(character.snapshot(rec.state(k)).com[2] for k in range(0, len(rec.time), 100))
    assert low / standing == pytest.approx(max(share, 0.6), abs=0.03)
    end = character.snapshot(rec.state(-1))
    assert end.com[2] / standing == pytest.approx(1.0, abs=0.02)
    assert np.abs(end.contact_position - here.contact_position).max() < 0.01
