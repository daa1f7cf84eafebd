"""The neutral pose: of all poses with every contact point on the ground and the weight over the feet, the one
nearest to the stance the figure's author wanted. Damped Gauss-Newton on the manifold, limits kept by clipping."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.off_ground import with_limbs_off_ground
from counterpoise.character.snapshot import Snapshot, take_contact_places, take_kinematics

if TYPE_CHECKING:
    from counterpoise.character.character import Character

GROUND_WEIGHT = 3000.0  # [1/m] of contact points on the ground
BALANCE_WEIGHT = 12.0  # [1/m] of the CoM over the middle of the support
ABREAST_WEIGHT = 12.0  # [1/m] of no foot ahead of the others
POSTURE_WEIGHT = 1.0  # [1/rad] of joints as in the stance
ROOT_TURN_WEIGHT = 3.0  # [1/rad] of the root turned as in the stance
ROOT_PLACE_WEIGHT = 0.01  # [1/m, 1/rad] of the root where the stance has it
DAMPING = 1e-6
LONGEST_STEP = 0.3  # [rad, m]
ITERATIONS = 80
FLAT = 1e-3  # [m] contact points whose heights differ by less are on the ground
PROBE = 1e-4  # [rad, m] how far a step is followed to see which joints their limits stop
CONVERGED = 1e-10  # [rad, m] a shorter step ends the search


def standing_pose(character: Character) -> Array:
    """The standing pose (nq,) nearest to `character.neutral`; that pose itself without feet or a floating root.

    Clipping alone can end early: a step that counts on a joint at its limit is cut short again and again. If the soles
    are not on the ground then, the search is repeated with such joints held. Limbs that would be in the ground, such as
    very long arms, are bent first.
    """
    stance = character.neutral
    if not character.feet or not character.floating:
        return stance.copy()
    root_free = character.joints[0].kind == "free"
    q = _centred(character, _flattest(character, root_free), root_free)
    lifted = with_limbs_off_ground(character, q)
    if lifted is None:
        return q
    character = replace(character, neutral=lifted)
    return _centred(character, _flattest(character, root_free), root_free)


def _flattest(character: Character, root_free: bool) -> Array:
    """The pose found by clipping, or with stopped joints held, where that brings the soles nearer to the ground."""
    q = _search(character, root_free, hold_stopped=False)
    if _unevenness(character, q) > FLAT:
        other = _search(character, root_free, hold_stopped=True)
        q = min((q, other), key=lambda pose: _unevenness(character, pose))
    return q


def _search(character: Character, root_free: bool, hold_stopped: bool) -> Array:
    """Damped Gauss-Newton from the stance; with `hold_stopped` no step uses a joint that its limit would stop."""
    stance = character.neutral
    weight = np.full(character.nv, POSTURE_WEIGHT)
    weight[character.root_dofs] = ROOT_PLACE_WEIGHT
    if root_free:
        weight[3:6] = ROOT_TURN_WEIGHT
    q = stance.copy()
    for _ in range(ITERATIONS):
        J, r = _standing_rows(take_kinematics(character, q), planar=not root_free)
        J = np.vstack([J, np.diag(weight)])
        r = np.concatenate([r, weight * character.difference(stance, q)])
        A, b = J.T @ J + DAMPING * np.eye(character.nv), J.T @ r
        step = np.asarray(-np.linalg.solve(A, b), np.float64)
        if hold_stopped:
            step = _with_stopped_held(character, q, A, b, step)
        size = float(np.abs(step).max())
        q = character.limits.clamp(character.integrate(q, min(1.0, LONGEST_STEP / max(size, 1e-12)) * step))
        if size < CONVERGED:
            break
    return q


def _with_stopped_held(character: Character, q: Array, A: Array, b: Array, step: Array) -> Array:
    """The step of the dofs that are free to take it: those whose limits would cut it off at once are held."""
    held = np.zeros(character.nv, bool)
    for _ in range(character.nv):
        probe = step * min(1.0, PROBE / max(float(np.abs(step).max()), 1e-12))
        there = character.integrate(q, probe)
        lost = np.abs(character.difference(there, character.limits.clamp(there))) > 0.5 * np.abs(probe)
        lost &= (np.abs(probe) > 1e-9 * PROBE) & ~held
        if not lost.any():
            break
        held |= lost
        free = ~held
        step = np.zeros(character.nv)
        step[free] = -np.linalg.solve(A[np.ix_(free, free)], b[free])
    return step


def _unevenness(character: Character, q: Array) -> float:
    """The difference in height [m] of the highest and the lowest contact point."""
    return float(np.ptp(take_contact_places(character, q)[:, 2]))


def _standing_rows(at: Snapshot, planar: bool) -> tuple[Array, Array]:
    """Jacobian and residual, both weighted: soles on the ground, CoM over their middle, feet side by side."""
    places, J = at.contact_position, at.contact_jacobian
    flat = slice(0, 1) if planar else slice(0, 2)
    feet = [foot.body for foot in at.character.feet]
    ahead, ahead_J = (
        np.array([at.position(foot)[0] for foot in feet]),
        np.array([at.jacobian(foot)[0] for foot in feet]),
    )
    rows = [
        GROUND_WEIGHT * J[:, 2],
        BALANCE_WEIGHT * (at.com_jacobian - J.mean(axis=0))[flat],
        ABREAST_WEIGHT * (ahead_J - ahead_J.mean(axis=0)),
    ]
    residuals = [
        GROUND_WEIGHT * places[:, 2],
        BALANCE_WEIGHT * (at.com - places.mean(axis=0))[flat],
        ABREAST_WEIGHT * (ahead - ahead.mean()),
    ]
    return np.vstack(rows), np.concatenate(residuals)


def _centred(character: Character, q: Array, root_free: bool) -> Array:
    """The pose moved as a whole, so that the middle of its support is the origin and its soles are at height zero."""
    shift = -take_contact_places(character, q).mean(axis=0)
    out, model = q.copy(), character.model
    if root_free:
        out[:3] += shift
        return out
    for j in range(model.njnt):  # planar roots: slides carry the figure along their axes
        if int(model.jnt_type[j]) == int(mujoco.mjtJoint.mjJNT_SLIDE) and int(model.jnt_bodyid[j]) == 1:
            out[model.jnt_qposadr[j]] += float(model.jnt_axis[j] @ shift)
    return out
