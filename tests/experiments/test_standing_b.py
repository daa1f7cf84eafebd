"""Standing after Macchietto: impacts, exercises, kicks, a dragged head and a cup; short here, whole ones slow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.experiments import captured, run_experiment, tracking
from counterpoise.experiments.cup import HAND, UP, CupSettings, cup_axis, kick_with_cup, tilt_of, with_cup
from counterpoise.experiments.exercise import jab
from counterpoise.experiments.kicks import leg_swing
from counterpoise.simulate import Recording


def soles(who: cp.Character, q: np.ndarray) -> np.ndarray:
    return who.snapshot(who.state(q)).contact_position


def test_the_jab_stays_on_its_feet_within_limits_and_reaches_out(human):
    motion = jab(human)
    first = soles(human, motion.poses[0])
    reach = []
    for q in motion.poses:
        assert np.abs(soles(human, q) - first).max() < 1e-9
        assert human.limits.worst(q)[1] < 1e-6
        reach.append(human.snapshot(human.state(q)).position("hand_left")[0])
    assert max(reach) - reach[0] > 0.35  # [m] forward
    fastest = np.abs(motion.sample(np.linspace(motion.start, motion.end, 400)).v[:, 6:]).max()
    assert 5.0 < fastest < 30.0  # [rad/s] a fast punch, but a human one


def test_the_leg_swing_stands_on_the_left_foot_and_swings_the_right(human):
    motion = leg_swing(human)
    points = np.array([soles(human, q) for q in motion.poses])
    left = [i for i, p in enumerate(human.contact_points) if "left" in p.body]
    right = [i for i in range(points.shape[1]) if i not in left]
    assert np.abs(points[:, left] - points[0, left]).max() < 2e-3
    swinging = (motion.times > 1.9) & (motion.times < motion.end - 1.9)
    assert points[swinging][:, right, 2].min() > 0.005
    forward = points[swinging][:, right, 0].mean(axis=1)
    assert np.ptp(forward) > 0.4 and np.sum(np.diff(np.sign(forward - forward.mean())) != 0) >= 5


def test_worth_tells_a_fall_from_a_deep_squat(human):
    """A recording that is the reference itself has no error and has not fallen, however low it goes."""
    squat = cp.reference_motion("squat", human)
    rec = cp.simulate(human, cp.Passive(), 1.2)
    times = np.minimum(rec.time * squat.duration / 1.2, squat.end)
    poses = squat.sample(times).q
    followed = replace(rec, qpos=poses)
    clock = replace(squat, times=squat.times * 1.2 / squat.duration)
    one = tracking.track_report(followed, clock)
    assert one.median < 0.05 and tracking.joint_angles(followed, clock).max() < 0.01
    limp = tracking.track_report(cp.simulate(human, cp.Passive(), 1.6), None)
    assert limp.fell is not None and 0.3 < limp.fell < 1.6 and not limp.stood


def test_joint_angles_are_the_angles_between_frames(human):
    """Turn one ball joint by a known angle: that joint is off by it, the others by nothing."""
    rec = cp.simulate(human, cp.Passive(), 0.059)
    q = np.tile(human.neutral, (len(rec), 1))
    shoulder = human.joint("shoulder_left")
    q[20:, shoulder.qpos] = spatial.multiply(q[20:, shoulder.qpos], spatial.exp(np.array([0.2, -0.1, 0.2])))
    angles = tracking.joint_angles(replace(rec, qpos=q))
    names = [j.name for j in human.joints if j.name != "root"]
    assert angles.shape == (60, len(names)) and angles[:20].max() < 1e-9
    assert angles[20:, names.index("shoulder_left")] == pytest.approx(np.full(40, 0.3), abs=1e-9)
    assert np.delete(angles, names.index("shoulder_left"), axis=1).max() < 1e-9


def test_a_cup_is_seen_and_stands_upright_in_the_hand(human):
    who = with_cup(human)
    assert who.mass == pytest.approx(human.mass, abs=1e-9) and who.joint_names == human.joint_names
    assert who.model.ngeom == human.model.ngeom + 1 and who.model.geom("cup").contype == 0
    kick = kick_with_cup(who, CupSettings())
    first = who.snapshot(who.state(kick.poses[0]))
    assert first.rotation(HAND) @ cup_axis(who, kick) == pytest.approx(UP, abs=1e-12)
    rec = cp.simulate(who, cp.Passive(), 0.01, start=who.state(kick.poses[0]))
    assert np.degrees(tilt_of(rec, HAND, cup_axis(who, kick))).max() < 1.0


def test_a_short_impact_has_its_claims_plots_and_film(tmp_path):
    report = run_experiment(
        "impact-head", tmp_path / "out", {"seconds": 0.3, "search": False, "force": 60.0}, video=False
    )
    assert [c.text for c in report.outcome.claims][2] == "with all objectives the figure balances"
    assert set(report.recordings) == {"tracking", "linear", "angular", "stand"}
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"impact.png", "compared.png", "filmstrip.png", "claims.json", "stand.npz"} <= names
    pushed = report.recordings["stand"].external[:, :, :3]
    head = 1 + list(report.recordings["stand"].character.segments).index("head")
    assert np.linalg.norm(pushed[450, head]) == pytest.approx(60.0)
    assert report.recordings["angular"].character.mass == pytest.approx(65.0, rel=1e-6)


def test_clips_elsewhere_or_nowhere(tmp_path):
    assert captured.clip_folder(str(tmp_path)) == tmp_path
    with pytest.raises(cp.CounterpoiseError, match="no folder"):
        captured.clip_folder(str(tmp_path / "nothing"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["impact-series", "impact-head", "exercise", "kicks", "head-drag", "cup"])
def test_stand_holds_what_it_claims(name):
    """The papers' claims may or may not hold; ours about Stand must, wherever the experiment ran it."""
    report = run_experiment(name)
    for recording in report.recordings.values():
        assert isinstance(recording, Recording) and recording.status == "finished"
    ours = {
        "impact-series": ["stand"],
        "impact-head": ["stand"],
        "head-drag": ["drag", "spring"],
        "cup": ["plain", "upright"],
    }
    if name in ours:
        assert all(report.outcome.facts[run]["fell"] is None for run in ours[name])
        assert all(report.outcome.facts[run]["slip"] < 0.015 for run in ours[name])
        return
    limit = 5.0 if name == "exercise" else 8.0
    for motion, facts in report.outcome.facts.items():
        if isinstance(facts, dict) and isinstance(facts.get("stand"), dict):
            assert facts["stand"]["fell"] is None, motion
            assert facts["stand"]["median"] < limit, motion
