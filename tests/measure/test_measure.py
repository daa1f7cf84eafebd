"""Measures against what is known: weight, places, simple stories."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import measure
from counterpoise.errors import MissingRole
from counterpoise.measure import convex_hull


@pytest.fixture(scope="module")
def standing() -> cp.Recording:
    return cp.simulate(cp.character("human"), cp.HoldPose(), 1.5)


@pytest.fixture(scope="module")
def falling() -> cp.Recording:
    return cp.simulate(cp.character("human"), cp.Passive(), 1.2)


def test_the_ground_carries_the_weight(standing: cp.Recording):
    weight = standing.character.mass * 9.81
    force = measure.ground_force(standing)[-300:-1]
    assert np.allclose(force.mean(axis=0), (0.0, 0.0, weight), atol=0.01 * weight)
    feet = measure.foot_forces(standing)
    assert np.allclose(sum(feet.values())[-2], force[-1], atol=1e-6)
    assert np.all(measure.ground_force(standing)[-1] == 0.0)  # the last row has no step, so no forces


def test_the_centre_of_pressure_lies_under_the_centre_of_mass_and_inside_the_support(standing: cp.Recording):
    cop, com = measure.cop(standing)[-2], measure.com(standing)[-2]
    assert np.allclose(cop[:2], com[:2], atol=2e-3)
    corners = measure.support_polygon(standing, standing.time[-2])
    assert len(corners) >= 4
    edges = np.roll(corners, -1, axis=0) - corners
    arms = cop[:2] - corners
    inward = edges[:, 0] * arms[:, 1] - edges[:, 1] * arms[:, 0]
    assert np.all(inward > 0.0)


def test_standing_is_not_falling_and_falling_is(standing: cp.Recording, falling: cp.Recording):
    assert not measure.fell(standing)
    fall = measure.fell(falling)
    assert fall and fall.time is not None and 0.2 < fall.time < 0.9 and fall.reason


def test_a_kneeling_touch_counts_as_a_fall():
    human = cp.character("human")
    legs = {
        f"{joint}_{side}": bend for side in ("left", "right") for joint, bend in (("knee", 1.95), ("ankle", (0.8, 0.0)))
    }
    q = cp.pose_from_joints(human, {**legs, "hip_left": (0, 0, 0), "hip_right": (0, 0, 0)})
    q[2] -= human.snapshot(human.state(q)).position("shank_left")[2] - 0.06
    rec = cp.simulate(human, cp.HoldPose(q), 0.2, start=human.state(q))
    assert "shank" in measure.fell(rec).reason or "thigh" in measure.fell(rec).reason


def test_no_contact_has_no_centre_of_pressure():
    human = cp.character("human")
    q = human.neutral.copy()
    q[2] += 1.0
    rec = cp.simulate(human, cp.Passive(), 0.1, start=human.state(q))
    assert np.isnan(measure.cop(rec)).all()
    assert measure.support_polygon(rec, 0.05).shape == (0, 2)
    assert max(lift.max() for lift in measure.foot_lift(rec).values()) <= 1e-9
    assert sum(measure.foot_slip(rec).values()) == 0.0


def test_momentum_and_energy_agree_with_the_snapshot(falling: cp.Recording):
    row = 400
    snap = falling.character.snapshot(falling.state(row))
    assert np.allclose(measure.momentum(falling)[row], snap.momentum, atol=1e-9)
    assert np.allclose(measure.com(falling)[row], snap.com, atol=1e-12)
    energy = measure.energy(falling)
    assert np.isclose(energy.kinetic[row], snap.kinetic_energy) and np.isclose(
        energy.potential[row], snap.potential_energy
    )
    assert np.all(measure.power(falling) == 0.0)


def test_ice_slips_and_rubber_does_not():
    human = cp.character("human")
    push = [cp.Push("pelvis", (80, 0, 0), 0.2, 0.2)]
    slip = {
        mu: sum(
            measure.foot_slip(
                cp.simulate(human, cp.HoldPose(), 0.6, world=cp.World(friction=mu), disturbances=push)
            ).values()
        )
        for mu in (0.02, 1.0)
    }
    assert slip[0.02] > 0.02 > 0.004 > slip[1.0]


def test_slip_is_measured_against_the_moving_floor():
    human = cp.character("human")
    floor = cp.Platform(x=(cp.Sine(0.05, 0.5),))
    rec = cp.simulate(human, cp.HoldPose(), 2.0, world=cp.World(platform=floor))
    foot = [human.snapshot(rec.state(row)).position("foot_left")[0] for row in range(0, 2001, 100)]
    assert np.ptp(foot) > 0.09  # carried along
    assert max(measure.foot_slip(rec).values()) < 0.01


def test_summary_tells_the_story(standing: cp.Recording):
    told = measure.summary(standing)
    assert told.figure == "human" and told.status == "finished" and not told.fall and told.clamped == 0
    assert 0.05 < told.peak_torque_share < 0.9 and 0.9 < told.lowest_com < 1.1


def test_a_figure_without_feet_neither_stands_nor_falls():
    rec = cp.simulate(cp.character("chain"), cp.Passive(), 0.05, world=cp.World(ground=False))
    with pytest.raises(MissingRole, match="no feet"):
        measure.fell(rec)
    assert measure.summary(rec).fall is None


def test_hull_of_a_square_with_points_inside():
    points = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5), (0.5, 0.0)])
    hull = convex_hull(points)
    assert len(hull) == 4 and {tuple(p) for p in hull} == {(0, 0), (1, 0), (1, 1), (0, 1)}
    assert len(convex_hull(points[:2])) == 2
