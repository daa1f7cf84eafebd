"""Arms that are longer than the body is high: their hinges bend until nothing but the feet is near the ground."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise.arrays import Array

if TYPE_CHECKING:
    from counterpoise.character.character import Character

CLEAR = 0.01  # [m] a part that is lower than this over the soles is near the ground
STEP = math.radians(5.0)  # by which a hinge is bent at a time
LEAST_RANGE = math.radians(60.0)  # of a hinge that can bend a limb


def with_limbs_off_ground(character: Character, q: Array) -> Array | None:
    """Returns a standing pose with limbs bent that would be in the ground; None where there are none.

    The hinge with the widest range between the limb and the trunk bends towards its farther limit. A limb that has no
    such hinge, or is in the ground whatever it does, stays as it is.
    """
    model = character.model
    bearing = _with_parents(model, [model.body(foot.body).id for foot in character.feet])
    out, found = q.copy(), False
    for body in range(1, model.nbody):
        if body in bearing or _lowest(character, out, body) > CLEAR:
            continue
        hinge = _widest_hinge(model, body, bearing)
        if hinge < 0:
            continue
        low, high = model.jnt_range[hinge]
        end = float(high if high > -low else low)
        at, tried = int(model.jnt_qposadr[hinge]), out.copy()
        for _ in range(math.ceil(abs(end - out[at]) / STEP)):
            tried[at] += math.copysign(min(STEP, abs(end - tried[at])), end - tried[at])
            if _lowest(character, tried, body) > CLEAR:
                out, found = tried, True
                break
    return out if found else None


def _with_parents(model: mujoco.MjModel, bodies: list[int]) -> set[int]:
    """Returns these bodies, all on the way from them to the root, and all that hang from these bodies."""
    out = set(bodies)
    for child in range(1, model.nbody):
        if int(model.body_parentid[child]) in out:
            out.add(child)
    for body in bodies:
        while body > 0:
            out.add(body)
            body = int(model.body_parentid[body])
    return out


def _widest_hinge(model: mujoco.MjModel, body: int, bearing: set[int]) -> int:
    """Returns the hinge with the widest range between a body and the parts that bear; -1 where there is none."""
    best, widest = -1, LEAST_RANGE
    while body > 0 and body not in bearing:
        for joint in range(int(model.body_jntadr[body]), int(model.body_jntadr[body] + model.body_jntnum[body])):
            width = float(np.ptp(model.jnt_range[joint]))
            if model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_HINGE and model.jnt_limited[joint] and width > widest:
                best, widest = joint, width
        body = int(model.body_parentid[body])
    return best


def _lowest(character: Character, q: Array, body: int) -> float:
    """Returns the height of the lowest point of a body's shapes over z = 0 [m]: of the boxes around them."""
    model = character.model
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    heights = [math.inf]
    for geom in range(int(model.body_geomadr[body]), int(model.body_geomadr[body] + model.body_geomnum[body])):
        turn = data.geom_xmat[geom].reshape(3, 3)
        middle, half = model.geom_aabb[geom, :3], model.geom_aabb[geom, 3:]
        heights.append(float(data.geom_xpos[geom, 2] + turn[2] @ middle - np.abs(turn[2]) @ half))
    return min(heights)
