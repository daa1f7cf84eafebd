"""How far ankles and toes are strong enough to move the centre of pressure.

The hull of the contact points is the support of a body with strong feet. A weak toe cannot press with the whole weight
of the body. A place is in reach if there are forces f_i >= 0 [body weights] with sum f_i = 1 at the contact points p_i
that ask no ankle or toe for more torque than it has:

    max s  subject to  sum f_i p_i = c + s u,  |m g sum f_i dz_i/dq_j| <= limit_j  for all joints j of the feet,

with c the CoM, u the direction and dz_i/dq_j how fast a joint raises a point: a linear program (quasi-static).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linprog

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.measure.push_survival import edge_distance, standing_snapshot, unit_vector


def strength_limit(character: Character, direction: float, pose: ArrayLike | None = None) -> float:
    """Returns the rho that ankles alone can take in a direction [deg] with the strength that the feet have: 0 to 1.

    1: ankles and toes can bring the centre of pressure to the edge of the support. The character stands on all its
    feet in `pose`, or in its neutral pose. See `ankle_limit` for rho.
    """
    here = standing_snapshot(character, direction, pose)
    places, way = here.contact_position[:, :2], np.array(unit_vector(direction))
    edge = edge_distance(places, here.com[:2], direction)
    torque, limit = _foot_torques(character, here.contact_jacobian)
    count = len(places)
    answer = linprog(
        np.concatenate([np.zeros(count), [-1.0]]),
        A_ub=np.hstack([np.concatenate([torque, -torque]), np.zeros((2 * len(limit), 1))]),
        b_ub=np.concatenate([limit, limit]),
        A_eq=np.vstack([np.hstack([places.T, -way[:, None]]), [*np.ones(count), 0.0]]),
        b_eq=np.array([*here.com[:2], 1.0]),
        method="highs",
    )
    if answer.status != 0 or answer.x is None:  # not even the weight can be borne
        return 0.0
    return float(min(answer.x[-1] / edge, 1.0))


def _foot_torques(character: Character, jacobian: Array) -> tuple[Array, Array]:
    """Returns A (t, p) and limits (t,): the torques of ankles and toes are A f for forces f (p,) [body weights]."""
    feet = {foot.body for foot in character.feet} | {point.body for point in character.contact_points}
    rows = [
        dof
        for joint in character.joints
        if joint.body in feet and joint.kind != "free"
        for dof in range(joint.dofs.start, joint.dofs.stop)
    ]
    return character.mass * character.gravity * jacobian[:, 2, rows].T, character.torque_limit[rows]
