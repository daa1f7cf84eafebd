"""Clearance on a terrain: the rows are right, level ground is the same as before, and limbs keep off walls."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.features import PointPosition
from counterpoise.objectives import Clearance
from counterpoise.objectives.clearance import corners_off_feet
from counterpoise.objectives.obstacle_rows import _distance

BOXES = [cp.Box((0.5, 0.1), (0.3, 1.0), 0.9, yaw=20.0), cp.Ramp((-0.4, 0.6), 1.0, 0.4, 0.8, yaw=-30.0)]


def moved(character: cp.Character, seed: int, size: float = 0.2) -> cp.Snapshot:
    random = np.random.default_rng(seed)
    q = character.integrate(character.neutral, size * random.standard_normal(character.nv))
    return character.snapshot(character.state(q, 0.5 * random.standard_normal(character.nv)))


@pytest.mark.parametrize("seed", range(4))
def test_level_ground_as_terrain_gives_the_same_rows(human: cp.Character, seed: int):
    snapshot, reference = moved(human, seed), human.snapshot() if seed % 2 else None
    plain = Clearance(margin=0.5, reference=reference)
    on_terrain = Clearance(margin=0.5, reference=reference, obstacles=cp.Terrain().obstacles)
    one, other = plain.rows(snapshot), on_terrain.rows(snapshot)
    assert len(one) > 0 and np.allclose(one.A, other.A, atol=1e-12) and np.allclose(one.b, other.b, atol=1e-9)


def distances(snapshot: cp.Snapshot, terrain: cp.Terrain) -> np.ndarray:
    """How far every part is from every solid, as the rows see it."""
    corners, scratch = corners_off_feet(snapshot.character), [np.empty(3) for _ in range(3)]
    count = len(terrain.boxes) + len(terrain.fields) + 1
    return np.array(
        [
            [
                _distance(
                    k, snapshot.body_position[b], snapshot.body_rotation[b], corners.place[i], corners.axes[i],
                    float(corners.radius[i]), terrain.obstacles, *scratch,
                )
                for k in range(count)
            ]
            for i, b in enumerate(corners.body)
        ]
    )  # fmt: skip


def test_rows_are_the_rates_of_the_distances(human: cp.Character):
    """A row is minus the gradient of a distance, and its right side has the drift: compared with differences."""
    terrain, step = cp.Terrain(BOXES), 1e-6
    snapshot = moved(human, 3)
    objective = Clearance(margin=0.02, obstacles=terrain.obstacles, deceleration=1e6)  # so that all are near
    rows, here = objective.rows(snapshot), distances(snapshot, terrain)
    chosen = np.isfinite(here)
    assert len(rows) == chosen.sum() > 100
    random = np.random.default_rng(0)
    for _ in range(3):
        way = random.standard_normal(human.nv)
        ends = [human.snapshot(human.state(human.integrate(snapshot.q, s * step * way))) for s in (-1.0, 1.0)]
        before, after = (distances(end, terrain) for end in ends)
        rate = (after[chosen] - before[chosen]) / (2.0 * step)
        smooth = np.abs(after[chosen] + before[chosen] - 2.0 * here[chosen]) < 1e-9  # the nearest face stays
        assert smooth.mean() > 0.95
        assert np.allclose((rows.A @ way)[smooth], -rate[smooth], atol=1e-5)


def test_distance_to_a_box_is_that_of_a_ball_to_its_faces():
    terrain = cp.Terrain(cp.Box((1.0, 0.0), (1.0, 2.0), 0.5))
    spot, R, none, scratch = np.zeros(3), np.eye(3), np.zeros((3, 3)), [np.empty(3) for _ in range(3)]

    def away(x: float, y: float, z: float) -> tuple[float, list[float]]:
        found = _distance(0, np.array([x, y, z]), R, spot, none, 0.1, terrain.obstacles, *scratch)
        return round(found, 9), scratch[0].tolist()

    assert away(1.0, 0.0, 0.9) == (0.3, [0.0, 0.0, 1.0])  # above
    assert away(0.2, 0.3, 0.2) == (0.2, [-1.0, 0.0, 0.0])  # in front of it
    assert away(1.2, 1.5, 0.4) == (0.4, [0.0, 1.0, 0.0])  # to its left
    assert away(0.55, 0.0, 0.2) == (-0.15, [-1.0, 0.0, 0.0])  # inside: the shortest way out
    assert away(5.0, 0.0, 0.2)[0] == np.inf


def hand_force(human: cp.Character, terrain: cp.Terrain, controller: cp.Stand) -> float:
    """The largest force between the left hand or forearm and the box in front of it [N]."""
    recording = cp.simulate(human, controller, 1.5, world=cp.World(terrain=terrain))
    assert not cp.measure.fell(recording) or "hand" in cp.measure.fell(recording).reason
    contacts = cp.measure.ground_contacts(recording)
    arm = np.isin(contacts.body, [human.body_id("hand_left"), human.body_id("forearm_left")])
    return float(np.linalg.norm(contacts.force[arm], axis=1).max(initial=0.0))


def test_a_hand_asked_into_a_box_stays_outside(human: cp.Character):
    terrain = cp.Terrain(cp.Box((0.75, 0.3), (0.6, 0.6), 1.4))
    hand = cp.Setpoint(PointPosition("hand_left"), (0.7, 0.25, 1.1), stiffness=30.0, weight=20.0)
    knowing = cp.Stand(extra=[hand])
    ignorant = cp.Stand(extra=[hand], ground=cp.objectives.LEVEL)  # `ground` keeps the terrain from it
    assert hand_force(human, terrain, ignorant) > 20.0
    assert hand_force(human, terrain, knowing) == 0.0
