"""Slopes and slippery ground that nobody tells the controller of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.felt_ground import FeltGround, level_ground
from counterpoise.control.reference import pose_sample
from counterpoise.control.stand_look import look
from counterpoise.measure import ankle_limit
from counterpoise.objectives import Surface
from counterpoise.simulate.start import standing_start

NONE_RAISED = np.zeros(12, bool)


def feel_ground(
    snapshot: cp.Snapshot, known: FeltGround | None, raised: np.ndarray, seconds: float
) -> tuple[FeltGround, np.ndarray]:
    """Returns the ground that the feet feel, and the feet, (2,), whose ground is new."""
    pose = pose_sample(snapshot.character, snapshot.character.neutral, ())
    reference = replace(pose, contact=replace(pose.contact, raised=raised))
    seen = look(snapshot, reference, None, known, True, seconds, 0.9)
    assert seen.felt is not None
    return seen.felt, np.zeros(2, bool) if seen.new is None else seen.new


def pushed(human: cp.Character, rho: float, direction: float) -> cp.Push:
    force = rho * ankle_limit(human, "thorax", direction).impulse / 0.1
    x, y = np.cos(np.radians(direction)), np.sin(np.radians(direction))
    return cp.Push("thorax", (force * x, force * y, 0.0), 0.5, 0.1)


@pytest.mark.parametrize("name", ["human", "ostrich", "child"])
@pytest.mark.parametrize("tilt", [(15.0, 0.0), (0.0, -15.0), (8.0, 8.0)])
def test_a_figure_starts_with_its_soles_on_the_slope(name: str, tilt: tuple[float, float]):
    character, world = cp.character(name), cp.World(tilt=tilt)
    state = standing_start(character, world)
    points = character.snapshot(state).contact_position
    assert max(abs(world.height_at(x, y) - z) for x, y, z in points) < 1e-4
    assert character.limits.worst(state.q)[1] <= 1e-6
    rec = cp.simulate(character, cp.HoldPose(state.q), 0.05, world=world)
    assert np.abs(rec.qvel[:, :6]).max() < 0.5  # nothing overlaps: nothing is thrown apart


@pytest.mark.parametrize("tilt, direction", [((15.0, 0.0), 270.0), ((0.0, 15.0), 180.0), ((-10.0, 10.0), 45.0)])
def test_slopes_are_felt(human: cp.Character, tilt: tuple[float, float], direction: float):
    rec = cp.simulate(human, cp.Stand(), 2.0, world=cp.World(tilt=tilt), disturbances=[pushed(human, 1.0, direction)])
    assert not cp.measure.fell(rec)
    first, last = (human.snapshot(rec.state(k)).contact_position for k in (0, -1))
    assert np.abs(last - first).max() < 0.01


def test_slippery_ground_is_felt(human: cp.Character):
    rec = cp.simulate(human, cp.Stand(), 2.5, world=cp.World(friction=0.2), disturbances=[pushed(human, 1.0, 90.0)])
    assert not cp.measure.fell(rec)
    feet = np.array([human.snapshot(rec.state(k)).contact_position for k in range(0, len(rec.time), 50)])
    assert np.abs(feet - feet[0]).max() < 0.05 and np.abs(feet[-1] - feet[-5]).max() < 1e-3


def test_level_ground_is_what_it_was(human: cp.Character):
    push = [pushed(human, 1.1, 45.0)]
    felt = cp.simulate(human, cp.Stand(), 1.0, disturbances=push)
    known = cp.simulate(human, cp.Stand(ground=Surface()), 1.0, disturbances=push)
    assert felt.qpos.tobytes() == known.qpos.tobytes()


def test_a_foot_at_rest_tells_the_plane_of_its_sole(human: cp.Character):
    world = cp.World(tilt=(6.0, -9.0))
    snapshot = human.snapshot(standing_start(human, world))
    felt, new = feel_ground(snapshot, None, NONE_RAISED, 0.0)
    assert new.all() and not felt.level and felt.friction == np.inf
    for surface in felt.surfaces.values():
        x, y, z = surface.origin
        assert z == pytest.approx(world.height_at(x, y), abs=1e-5)
        slope = -np.asarray(surface.normal)[:2] / surface.normal[2]
        assert slope == pytest.approx([world.height_at(1.0, 0.0), world.height_at(0.0, 1.0)], abs=1e-4)
    again, new = feel_ground(snapshot, felt, NONE_RAISED, 0.002)
    assert not new.any() and again.surfaces is felt.surfaces


def test_a_foot_that_moves_flies_or_is_raised_feels_nothing(human: cp.Character):
    slope = standing_start(human, cp.World(tilt=(0.0, 15.0)))
    known = level_ground(human)
    for state, raised in (
        (human.state(slope.q, np.full(human.nv, 0.1)), NONE_RAISED),
        (slope, ~NONE_RAISED),
        (slope, NONE_RAISED),  # only for a moment
    ):
        felt, new = feel_ground(human.snapshot(state), known, raised, 0.01)
        assert felt.level and not new.any()
    high = slope.q.copy()
    high[2] += 0.5
    felt, new = feel_ground(human.snapshot(human.state(high)), None, NONE_RAISED, 0.0)
    assert felt.level and not new.any()


def test_a_foot_that_bears_and_slides_tells_the_friction(human: cp.Character):
    v, force = np.zeros(human.nv), np.zeros((12, 3))
    v[0], force[:6] = 0.3, (-0.02 * human.weight, 0.0, 0.1 * human.weight)
    sliding = replace(human.snapshot(human.state(None, v)), contact_force=force)
    felt, _ = feel_ground(sliding, level_ground(human), NONE_RAISED, 0.006)
    assert felt.friction == np.inf
    felt, _ = feel_ground(sliding, felt, NONE_RAISED, 0.006)
    assert felt.friction == pytest.approx(0.8 * 0.2)
    later, _ = feel_ground(human.snapshot(), felt, NONE_RAISED, 2.0)
    assert later.friction == pytest.approx(felt.friction * np.e)
    for free in (replace(sliding, contact_force=0.0 * force), replace(human.snapshot(), contact_force=force)):
        felt, _ = feel_ground(free, level_ground(human), NONE_RAISED, 0.04)
        assert felt.friction == np.inf


@pytest.mark.parametrize("seed", [3, 9])
def test_feet_that_move_when_it_starts_do_not_make_the_ground_slippery(human: cp.Character, seed: int):
    """Small random poses and velocities: loose feet slide in the air before they bear."""
    random = np.random.default_rng(seed)
    step, v = np.zeros(human.nv), np.zeros(human.nv)
    step[6:], step[3:6] = random.normal(0.0, 0.03, human.nv - 6), random.normal(0.0, 0.01, 3)
    q = human.limits.clamp(human.integrate(human.neutral, step))
    v[:2], v[6:] = random.normal(0.0, 0.04, 2), random.normal(0.0, 0.1, human.nv - 6)
    q[2] -= human.snapshot(human.state(q)).contact_position[:, 2].min()
    rec = cp.simulate(human, cp.Stand(), 2.0, start=human.state(q, v))
    assert not cp.measure.fell(rec) and np.abs(rec.qvel[-1]).max() < 0.2
