"""A first pose for the fit: every body as its link asks, as far as its joints allow."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import Anatomy
from counterpoise.character.kinematics import BALL, FREE, body_frames
from counterpoise.motion.retarget.links import HINGE


def first_guess(target: Anatomy, asked: Mapping[int, Array], hips: Array) -> Array:
    """Returns a pose (nq,) with the hips at a place (3,) and bodies turned as `asked` (world rotations by body).

    Ball joints are turned exactly as asked, hinges as near as they can be.
    """
    character, model = target.character, target.character.model
    q = character.neutral.copy()
    turns = np.zeros((model.nbody, 4))
    turns[0, 0] = 1.0
    for body in range(1, model.nbody):
        now = spatial.multiply(turns[model.body_parentid[body]], model.body_quat[body])
        for j in range(int(model.body_jntadr[body]), int(model.body_jntadr[body]) + int(model.body_jntnum[body])):
            kind, at = int(model.jnt_type[j]), int(model.jnt_qposadr[j])
            left = spatial.multiply(spatial.conjugate(now), asked[body]) if body in asked else None
            if kind == FREE:
                q[at : at + 3] = hips
                if left is not None:
                    q[at + 3 : at + 7] = asked[body]
                now = q[at + 3 : at + 7]
            elif kind == BALL:
                if left is not None:
                    q[at : at + 4] = left
                now = spatial.multiply(now, q[at : at + 4])
            elif kind == HINGE:
                axis = model.jnt_axis[j]
                if left is not None:
                    _, twist = spatial.swing_twist(left, axis)
                    q[at] = model.qpos0[at] + 2.0 * np.arctan2(twist[1:] @ axis, twist[0])
                now = spatial.multiply(now, spatial.from_axis_angle(axis, q[at] - model.qpos0[at]))
        turns[body] = now
    if target.hips != 1 and model.nbody > 1:  # the root is not the hips: move it so that the hips are at their place
        places, _ = body_frames(character, q[None])
        if character.joints[0].kind == "free":
            q[:3] += hips - places[0, target.hips]
    return character.limits.clamp(q)
