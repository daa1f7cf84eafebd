"""Support, feet and limbs: what the standing controllers share."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character import Character
from counterpoise.control.feet import (
    bearing_points,
    check_on_ground,
    foot_heights,
    ground_motion,
    grounds_of_feet,
    lifted_soon,
    points_of_feet,
    remove_low_lifts,
    remove_short_spells,
)
from counterpoise.control.limbs import arm_detour, limbs_of
from counterpoise.control.reference import ReferenceSample, pose_sample
from counterpoise.control.stand_look import StandSight, look
from counterpoise.control.standing_body import standing_body
from counterpoise.control.support import capture_share, planted_support, support_of
from counterpoise.errors import BadValue
from counterpoise.objectives import Footing, Surface, take_stance
from counterpoise.solve.polygon import hull_edges

LEVEL = (None, None)


# -- support ---------------------------------------------------------------------------------------------------------
def test_any_set_of_points_can_be_a_support() -> None:
    places = np.array([[0.0, 0.0, 0.1], [2.0, 0.0, 0.1], [2.0, 1.0, 0.1], [0.0, 1.0, 0.1], [9.0, 9.0, 9.0]])
    whole = support_of(places, np.array([True, True, True, True, False]))
    assert np.array_equal(whole.points, places[:4]) and np.allclose(whole.centre, [1.0, 0.5, 0.1])
    assert whole.depth == pytest.approx(0.5, abs=1e-3) and whole.half_width == pytest.approx(0.5)
    assert np.allclose(whole.inside(np.array([3.0, 0.5, 7.0]), 0.2), [1.8, 0.5, 7.0])
    assert np.allclose(whole.inside(np.array([1.0, 0.4, 7.0]), 0.2), [1.0, 0.4, 7.0])
    one = support_of(places, np.array([False, False, False, False, True]))
    assert np.allclose(one.centre, 9.0) and one.depth > 0.0 and one.half_width > 0.0


def seen_from(snapshot: cp.Snapshot, reference: ReferenceSample) -> StandSight:
    """Returns what there is to see where nothing was held before and feet feel nothing."""
    return look(snapshot, reference, None, None, False, 0.0, 0.9)


def test_planted_and_measured_support_agree_where_the_feet_are_planted(human: Character) -> None:
    s = human.snapshot()
    planted = planted_support(take_stance(s, Footing()))
    seen = seen_from(s, pose_sample(human, human.neutral, ()))
    measured, offset = seen.support, seen.offset
    assert planted is not None
    assert np.allclose(planted.points[:, :2], measured.points[:, :2]) and np.allclose(planted.normal, [0.0, 0.0, 1.0])
    assert np.allclose(planted.edges, measured.edges) and not offset.any()
    up = human.neutral.copy()
    up[2] += 1.0
    assert planted_support(take_stance(human.snapshot(human.state(up)), Footing())) is None


def test_a_lifted_foot_carries_nothing(human: Character) -> None:
    s, right = human.snapshot(), points_of_feet(human, ("foot_right",))
    lower = replace(pose_sample(human, human.neutral, ("foot_right",)), points=s.contact_position - [0.0, 0.0, 0.5])
    seen = seen_from(s, lower)
    support, offset = seen.support, seen.offset
    assert np.array_equal(support.points, s.contact_position[~right]) and np.allclose(offset, [0.0, 0.0, 0.5])
    assert np.array_equal(bearing_points(human, ("foot_right",)), ~right)
    assert bearing_points(human, ("foot_left", "foot_right")).all()


def test_the_capture_point_is_on_the_edge_at_one(human: Character) -> None:
    edges = hull_edges(np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]]))
    com, rest, omega = np.array([0.0, 0.0, 1.0]), np.zeros(3), 3.0
    momentum = np.array([0.0, 0.0, 0.0, 3.0 * human.mass, 0.0, 0.0])  # c'/omega = 1
    at_edge = capture_share(edges, com, momentum, com, rest, rest, com, omega, human.mass, human.weight, 1.0)
    assert at_edge == pytest.approx(1.0)
    tipping = np.array([0.0, human.weight / omega, 0.0, 0.0, 0.0, 0.0])
    for share in (0.0, 0.5, 1.0):
        found = capture_share(edges, com, tipping, com, rest, rest, com, omega, human.mass, human.weight, share)
        assert found == pytest.approx(share)


# -- feet ------------------------------------------------------------------------------------------------------------
def test_heights_are_above_the_ground_of_each_foot(human: Character) -> None:
    points = human.snapshot().contact_position[None]
    step = Surface(origin=(0.0, 0.0, 0.2))
    level = foot_heights(human, points, grounds_of_feet(human, None))
    assert np.allclose(level, 0.0, atol=1e-6)
    by_foot = foot_heights(human, points, grounds_of_feet(human, {"foot_left": step}))
    left = [foot.name for foot in human.feet].index("foot_left")
    assert np.allclose(by_foot[0, left], -0.2, atol=1e-6) and np.allclose(by_foot[0, 1 - left], 0.0, atol=1e-6)
    assert np.allclose(foot_heights(human, points, grounds_of_feet(human, lambda t: step)), level)


def test_moving_grounds_move_the_support_by_their_mean(human: Character) -> None:
    still, moving = Surface(), Surface(velocity=(1.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 2.0))
    place = np.array([0.0, 0.5, 0.0])
    velocity, acceleration = ground_motion((lambda t: moving,) * 2, 0.0, place)
    assert np.allclose(velocity, [0.0, 0.0, 0.0]) and np.allclose(acceleration, [0.0, -2.0, 0.0])
    both, _ = ground_motion((still, lambda t: moving), 0.0, np.zeros(3))
    assert np.allclose(both, [0.5, 0.0, 0.0])


def test_a_ground_may_be_any_callable_object(human: Character) -> None:
    @dataclass
    class Rising:  # not hashable
        speed: float

        def __call__(self, time: float) -> Surface:
            return Surface(origin=(0.0, 0.0, self.speed * time), velocity=(0.0, 0.0, self.speed))

    ground = Rising(0.3)
    grounds = grounds_of_feet(human, ground)
    assert hash(grounds) == hash(grounds_of_feet(human, ground)) and grounds == grounds_of_feet(human, ground)
    assert np.allclose(ground_motion(grounds, 0.0, np.zeros(3))[0], [0.0, 0.0, 0.3])
    stand = cp.Stand(reference=cp.reference_motion("squat", human), ground=ground)
    assert np.isfinite(stand.act(human.snapshot(), stand.begin(human)).torque).all()


def test_lifts_that_are_short_or_low_do_not_count() -> None:
    lifted = np.array([0, 0, 1, 0, 0, 0, 1, 1, 1, 0, 1, 1, 1, 0, 0], bool)[:, None]
    remove_short_spells(lifted, 2)
    assert lifted[:, 0].tolist() == [False] * 6 + [True] * 7 + [False] * 2
    heights = np.array([0.0, 0.1, 0.1, 0.0, 0.1, 0.5, 0.1, 0.0])[:, None]
    lifted = heights > 0.05
    remove_low_lifts(lifted, heights, 0.3)
    assert np.flatnonzero(lifted).tolist() == [4, 5, 6]
    soon = lifted_soon(np.concatenate([lifted, np.zeros_like(lifted)], axis=1), 2)
    assert np.flatnonzero(soon[:, 0]).tolist() == [2, 3, 4, 5, 6]


def test_a_reference_in_the_air_is_refused_with_its_times(human: Character) -> None:
    motion = cp.Motion(human, [0.0, 1.0], np.tile(human.neutral, (2, 1)), name="hop")
    times, lifted = np.linspace(0.0, 0.9, 10), np.zeros((10, 2), bool)
    lifted[3:7] = True
    check_on_ground(motion, times, lifted, 4, "Stand")
    with pytest.raises(BadValue, match=r"'hop' leaves the ground with every foot from 0\.30 to 0\.60 s"):
        check_on_ground(motion, times, lifted, 3, "Stand")


def test_what_a_pose_lifts_depends_on_the_ground_of_each_foot(human: Character) -> None:
    """Answers that are kept for one ground are not given for another."""
    raised = cp.reference_motion("side_kick", human).sample(1.5).q
    points = human.snapshot(human.state(raised)).contact_position
    height = float(points[points_of_feet(human, ("foot_right",)), 2].min())
    assert height > 0.1
    snapshot = human.snapshot(human.state(raised))
    for ground, lifted in (({}, True), ({"foot_right": Surface(origin=(0.0, 0.0, height))}, False), ({}, True)):
        stand = cp.Stand(reference=raised, ground=ground)
        assert ("residual swing feet" in stand.act(snapshot, stand.begin(human)).notes) is lifted


# -- limbs -----------------------------------------------------------------------------------------------------------
def test_limbs_are_the_parts_their_names_say(human: Character) -> None:
    limbs = limbs_of(human)
    assert {"shoulder_left", "elbow_right"} <= set(limbs.arms)
    assert {"hip_left", "knee_right", "ankle_left", "toe_right"} <= set(limbs.legs)
    assert not set(limbs.arms) & set(limbs.legs) and not set(limbs.arms) & set(limbs.others)
    assert "neck" in limbs.others
    assert limbs_of(cp.character("chicken")).arms == ()


def test_an_arm_far_from_home_goes_by_the_middle_of_its_range(human: Character) -> None:
    shoulder, limbs = human.joint("shoulder_left"), limbs_of(human)
    q = human.neutral.copy()
    assert arm_detour(limbs, q, human.neutral, 1.0, 1.6) is None
    q[shoulder.qpos] = cp.spatial.multiply(human.neutral[shoulder.qpos], cp.spatial.exp(np.array([0.0, 2.0, 0.0])))
    detour = arm_detour(limbs, q, human.neutral, 1.0, 1.6)
    assert detour is not None
    assert abs(float(detour[shoulder.qpos] @ human.limits.balls["shoulder_left"].rest)) == pytest.approx(1.0)
    rest = np.delete(np.arange(human.nq), np.arange(human.nq)[shoulder.qpos])
    assert np.array_equal(detour[rest], human.neutral[rest])


def test_a_standing_body_is_a_pendulum(human: Character) -> None:
    body, s = standing_body(human), human.snapshot()
    assert body.height == pytest.approx(float(s.com[2]), abs=1e-3) and body.gravity == human.gravity
    assert body.omega**2 == pytest.approx(body.omega_squared) == pytest.approx(human.gravity / body.height)
