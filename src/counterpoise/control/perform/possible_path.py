"""The nearest path of CoM and angular momentum that the contacts of a motion can give.

Between times t_k forces are constant: sums of edges of the friction cones at the points that bear, f = sum_e v_e l_e
with 0 <= l_e <= limit. With c_m the middle of the CoM's last path between t_k and t_(k+1),

    m v' = m v + h (sum f + m g),   c' = c + h v + h^2 / 2 (sum f / m + g),   L' = L + h sum (p - c_m) x f.

The path minimises the squares of its distances from the motion's own c, v and L, and of changes of the forces. This is
a convex program; as c_m depends on the path, it is solved a few times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.solve.nonlinear import NonlinearProgram, solve_nonlinear

EDGES = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]]) / np.sqrt(2.0)
LARGE = 1e6  # bound of what has none
LEAST_LEVER = 0.012  # [body heights] a point nearer to its joint than this counts as this far from it
SAME_LEVER = 1e-4  # [body heights] points that differ by less share the joint's torque
OPTIONS = {
    "print_level": 0, "sb": "yes", "max_iter": 100, "tol": 1e-6, "jac_c_constant": "yes", "hessian_constant": "yes",
    "mu_strategy": "adaptive",
}  # fmt: skip


@dataclass(frozen=True)
class PathTuning:
    """What the path may do, and what a distance from the motion costs. Costs are for each 0.02 s."""

    step: float = 0.02  # [s] longest time with constant forces
    friction: float = 0.6
    strength: float = 0.85  # share of the torque of ankles and toes that forces may use
    most_force: float = 2.0  # [body weights] at one point
    place: float = 0.01  # [m] distance of the CoM that costs 1
    speed: float = 0.1  # [m/s] its velocity's
    spin: float = 0.014  # [m^2/s] angular momentum's, for each kilogram
    force_change: float = 3.0  # [m/s^2] change of the CoM's acceleration that costs 1
    torque_change: float = 0.43  # [m^2/s^2] the same of the rate of angular momentum, for each kilogram
    force: float = 1e-3  # cost of forces, in body weights squared
    rounds: int = 3


class PossiblePath(NamedTuple):
    """A path in stretches with constant forces."""

    times: Array  # (K,) [s]
    states: Array  # (K, 9) place and velocity of the CoM, angular momentum
    acceleration: Array  # (K - 1, 3) of the CoM
    torque: Array  # (K - 1, 3) rate of the angular momentum

    def at(self, times: Array) -> tuple[Array, Array]:
        """Returns place, velocity, acceleration of the CoM (n, 3, 3), angular momentum and its rate (n, 2, 3)."""
        k = np.clip(np.searchsorted(self.times, times, side="right") - 1, 0, len(self.times) - 2)
        u, s, a = (times - self.times[k])[:, None], self.states[k], self.acceleration[k]
        com = np.stack([s[:, :3] + u * s[:, 3:6] + 0.5 * u * u * a, s[:, 3:6] + u * a, a], axis=1)
        return com, np.stack([s[:, 6:] + u * self.torque[k], self.torque[k]], axis=1)


def find_possible_path(
    body: Character, times: Array, bearing: Sequence[Ints], places: Array, wanted: Array, tuning: PathTuning
) -> PossiblePath:
    """Returns the possible path nearest to `wanted` (K, 9): place and velocity of the CoM, and angular momentum.

    `bearing` are the points that bear in each of the K - 1 stretches, `places` (K - 1, p, 3) where they are.
    """
    states, x = wanted, None
    limit = tuning.strength * point_strength(body) / body.weight
    limit = np.minimum(limit, tuning.most_force)
    for _ in range(tuning.rounds):
        middle = 0.5 * (states[:-1, :3] + states[1:, :3])
        program = _program(body, times, bearing, places, middle, wanted, limit, tuning)
        start = np.concatenate([wanted.ravel(), np.zeros(len(program.low) - wanted.size)]) if x is None else x
        x, _ = solve_nonlinear(program, start, OPTIONS, lambda objective, violation: True)
        states = x[: wanted.size].reshape(-1, 9)
    span = np.diff(times)[:, None]
    return PossiblePath(times, states, np.diff(states[:, 3:6], axis=0) / span, np.diff(states[:, 6:], axis=0) / span)


@kept_with_character
def point_strength(character: Character) -> Array:
    """Returns the upward force at each contact point that the joint above it can bear, (p,) [N].

    Points of one body that are equally far from the joint share it.
    """
    number = np.array([character.body_id(point.body) for point in character.contact_points])
    lever = np.abs([point.position[0] for point in character.contact_points])
    out = np.full(len(number), np.inf)
    for p in range(len(number)):
        own = [
            j for j in character.joints if number[p] == character.model.dof_bodyid[j.dofs.start] and j.kind != "free"
        ]
        torque = max((float(character.torque_limit[joint.dofs].max()) for joint in own), default=0.0)
        if torque > 0.0:
            sharing = (number == number[p]) & (np.abs(lever - lever[p]) < SAME_LEVER * character.height)
            out[p] = torque / max(lever[p], LEAST_LEVER * character.height) / int(sharing.sum())
    return out


# ------------------------------------------------------------------------------------------------- the program


def _program(
    body: Character, times: Array, bearing: Sequence[Ints], places: Array, middle: Array, wanted: Array, limit: Array,
    t: PathTuning,
) -> NonlinearProgram:  # fmt: skip
    count = 9 * len(times)
    first = count + np.concatenate([[0], np.cumsum([4 * len(points) for points in bearing])])
    J, right = _dynamics(body, times, bearing, places, middle, first, t.friction)
    A, b = _cost(body, times, [len(points) > 0 for points in bearing], wanted, int(first[-1]), t)
    small = np.concatenate([np.zeros(count), np.full(int(first[-1]) - count, t.force)])
    H = sparse.tril(2.0 * (A.T @ A + sparse.diags(small))).tocoo()
    top = [np.repeat(0.5 * limit[points], 4) for points in bearing]
    return NonlinearProgram(
        np.concatenate([np.full(count, -LARGE), np.zeros(len(small) - count)]),
        np.concatenate([np.full(count, LARGE), *top]), right, right,
        (J.row.astype(np.int64), J.col.astype(np.int64)), (H.row.astype(np.int64), H.col.astype(np.int64)),
        lambda x: float(np.sum((A @ x - b) ** 2) + small @ (x * x)),
        lambda x: np.asarray(2.0 * (A.T @ (A @ x - b)) + 2.0 * small * x),
        lambda x: np.asarray(J @ x), lambda x: J.data, lambda x, factor: factor * H.data,
    )  # fmt: skip


def _dynamics(
    body: Character, times: Array, bearing: Sequence[Ints], places: Array, middle: Array, first: Ints, friction: float
) -> tuple[sparse.coo_matrix, Array]:
    """Returns the equations of motion, rows J x = right."""
    K, mass, gravity = len(times), body.mass, body.gravity
    edge = body.weight * np.concatenate([friction * EDGES, np.ones((4, 1))], axis=1)  # (4, 3) [N]
    rows, columns, values = [], [], []
    right = np.zeros((K - 1, 9))
    for k in range(K - 1):
        h, points = times[k + 1] - times[k], bearing[k]
        force = np.tile(edge, (len(points), 1))  # (4 points, 3)
        torque = np.cross(np.repeat(places[k, points] - middle[k], 4, axis=0), force)
        block = np.concatenate([0.5 * h * h / mass * force, h / mass * force, h * torque], axis=1).T
        own, state = 9 * k + np.arange(9), 9 * k + np.arange(18)
        step = np.concatenate([-np.eye(9), np.eye(9)], axis=1)
        step[:3, 3:6] = -h * np.eye(3)
        dense = np.concatenate([step, -block], axis=1)
        where = np.concatenate([state, np.arange(first[k], first[k + 1])])
        i, j = np.nonzero(dense)
        rows.append(own[i])
        columns.append(where[j])
        values.append(dense[i, j])
        right[k, 2], right[k, 5] = -0.5 * h * h * gravity, -h * gravity
    made = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    return sparse.coo_matrix(made, shape=(9 * (K - 1), int(first[-1]))), right.ravel()


def _cost(
    body: Character, times: Array, touching: list[bool], wanted: Array, size: int, t: PathTuning
) -> tuple[sparse.csr_matrix, Array]:
    """Returns rows A and b of the cost |A x - b|^2."""
    K, h = len(times), np.diff(times)
    share = 0.5 * (np.concatenate([[0.0], h]) + np.concatenate([h, [0.0]])) / 0.02
    unit = np.repeat([t.place, t.speed, t.spin * body.mass], 3)
    weight = (np.sqrt(share)[:, None] / unit).ravel()
    near = sparse.diags(weight, shape=(9 * K, size))
    on: Flags = np.array(touching)
    inner = np.flatnonzero(on[1:] & on[:-1]) + 1
    change_unit = np.repeat([t.force_change, t.torque_change * body.mass], 3)
    rows, columns, values = [], [], []
    for number, k in enumerate(inner):
        factors = (1.0 / h[k - 1], -1.0 / h[k - 1] - 1.0 / h[k], 1.0 / h[k])
        for offset, factor in zip((k - 1, k, k + 1), factors, strict=True):
            rows.append(6 * number + np.arange(6))
            columns.append(9 * offset + 3 + np.arange(6))
            values.append(factor / change_unit)
    if not rows:
        return sparse.csr_matrix(near), weight * wanted.ravel()
    made = (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))
    change = sparse.coo_matrix(made, shape=(6 * len(inner), size))
    return sparse.csr_matrix(sparse.vstack([near, change])), np.concatenate(
        [weight * wanted.ravel(), np.zeros(6 * len(inner))]
    )
