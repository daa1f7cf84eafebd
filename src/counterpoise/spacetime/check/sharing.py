"""Contact forces shared out within a body's strength, where any sharing is.

Many contact forces add up to the same wrench. Those with the smallest squared torques may still overload one weak
joint, such as the toes, while another sharing overloads none. For a frame where they do, with l >= 0 the shares of the
edges of friction cones, s >= 0 the forces of joint stops and o >= 0 the overload,

    minimise   1/2 eps^2 |tau|^2 + 1/2 sum_i ridge_i l_i^2 + 1/2 rho o^2
    subject to |G l - w| <= tolerance,   -1 - o <= tau_j <= 1 + o,

where tau_j are torques as shares of strength, and w is the wrench that contacts can supply. o = 0 means: possible.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.solve.quadratic import solve_quadratic

WRENCH_TOLERANCE = 0.01  # [body weights; body weights x height] as well as masses and soles are known
TORQUE_WEIGHT = 3e-3  # eps
OVERLOAD_WEIGHT = 1.0  # rho
STOP_WEIGHT = 1e-6  # of a stop's force, squared


@dataclass(frozen=True, eq=False)
class Sharing:
    """What a frame needs, and who may supply it. Torques are shares of strength, forces in body weights."""

    wrench: Array  # (6,) that the contacts supply
    wrenches: Array  # (6, c) of one unit along each edge
    torque: Array  # (k,) of the joints with a limit, without contacts
    torques: Array  # (k, c) that one unit along each edge takes from them
    stops: Array  # (s, k) that one unit of each joint stop adds
    ridge: Array  # (c,)


def share_within_strength(task: Sharing) -> tuple[Array, Array] | None:
    """Returns the shares of the edges (c,) and the torques (k,) with the least overload; None if the solver fails."""
    c, s, k = task.wrenches.shape[1], len(task.stops), len(task.torque)
    B = np.hstack([-task.torques, task.stops.T, np.zeros((k, 1))])  # torques = torque + B x
    H = TORQUE_WEIGHT**2 * (B.T @ B)
    H[np.diag_indices(len(H))] += np.concatenate([task.ridge, np.full(s, STOP_WEIGHT), [OVERLOAD_WEIGHT]])
    G = np.hstack([task.wrenches, np.zeros((6, s + 1))])
    over = np.zeros(c + s + 1)
    over[-1] = 1.0
    most = np.full(k, np.inf)
    found = solve_quadratic(
        H, TORQUE_WEIGHT**2 * (B.T @ task.torque), np.zeros(c + s + 1), np.full(c + s + 1, np.inf),
        np.vstack([G, B - over, B + over]),
        np.concatenate([task.wrench - WRENCH_TOLERANCE, -most, -1.0 - task.torque]),
        np.concatenate([task.wrench + WRENCH_TOLERANCE, 1.0 - task.torque, most]),
    )  # fmt: skip
    if not found.solved:
        return None
    return np.maximum(found.x[:c], 0.0), task.torque + B @ found.x


def edges_of(places: Array, held: Ints, com: Array, edges: Array) -> tuple[Array, Ints, Array]:
    """Returns directions (c, 3), the points they act at (c,), and torques about the CoM (c, 3) of unit forces [m].

    A point that is held may push and pull along all axes; another presses along the edges of its friction cone.
    """
    both = np.vstack([np.eye(3), -np.eye(3)])
    directions = np.vstack([both if one else edges for one in held])
    points = np.repeat(np.arange(len(places)), [len(both) if one else len(edges) for one in held])
    return directions, points, np.cross(places[points] - com, directions)
