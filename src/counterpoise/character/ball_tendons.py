"""Ball limits as MuJoCo constraints, so that an exported model keeps them.

Each face n . a' <= k of a swing cone is a spatial tendon between the bone's tip (distance r along a', from the joint)
and a point R n of the parent,

    |r a' - R n|^2 = r^2 + R^2 - 2 r R (n . a'),

whose length has a lower limit. Each end of the twist range is linear in the rotation matrix about the bone,

    (R_zy - R_yz) cos(phi) - (R_yy + R_zz) sin(phi) <= 0,

and is a tendon of two such branches with r << R, where length is linear in the dot product.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.limits import BallLimit
from counterpoise.character.physics import LIMIT_SOLIMP, LIMIT_SOLREF

SWING_ARMS = (0.1, 1.0)  # r, R of the swing tendons [m]
TWIST_ARMS = (0.02, 4.0)  # r, R of the twist tendons [m]
LIMIT_GROUP = 5  # group of the sites and tendons that hold ball limits: never drawn


def add_ball_limit(spec: mujoco.MjSpec, body: Any, name: str, limit: BallLimit) -> None:
    """Adds tendons of a shortest length that hold a ball joint inside its cone and twist range."""
    parent = body.parent
    anchor = np.array(body.pos, float)
    frame = np.zeros(9)
    mujoco.mju_quat2Mat(frame, np.array(body.quat, float))
    J = frame.reshape(3, 3)  # joint frame in the parent's

    def site(host: Any, label: str, place: Array) -> str:
        host.add_site(name=f"{name}.{label}", pos=place, group=LIMIT_GROUP, size=[0.005, 0.005, 0.005])
        return f"{name}.{label}"

    def tendon(label: str, branches: list[tuple[str, str]], shortest: float) -> None:
        added = spec.add_tendon(name=f"{name}.{label}", limited=1, range=[shortest, 1e3], group=LIMIT_GROUP)
        added.solref_limit, added.solimp_limit = list(LIMIT_SOLREF), list(LIMIT_SOLIMP)
        added.rgba = [0, 0, 0, 0]
        for number, (inner, outer) in enumerate(branches):
            if number:
                added.wrap_pulley(1.0)
            added.wrap_site(inner)
            added.wrap_site(outer)

    r, R = SWING_ARMS
    tip = site(body, "tip", r * limit.axis)
    for i, (normal, offset) in enumerate(zip(limit.normals, limit.offsets, strict=True)):
        pole = site(parent, f"swing{i}", anchor + J @ (R * normal))
        tendon(f"swing{i}", [(tip, pole)], float(np.sqrt(r * r + R * R - 2 * r * R * offset)))

    low, high = limit.twist
    if high - low >= np.pi:  # two half planes cannot bound such a range
        return
    r, R = TWIST_ARMS
    rest = np.zeros(9)
    mujoco.mju_quat2Mat(rest, np.array(limit.rest))
    Q = rest.reshape(3, 3)
    x = Q @ limit.axis
    y = np.cross(x, np.eye(3)[int(np.argmin(np.abs(x)))])
    y /= np.linalg.norm(y)
    z = np.cross(x, y)
    inner = [site(body, label, r * (Q.T @ way)) for label, way in (("across_y", y), ("across_z", z))]
    for label, sign, angle in (("twist_high", 1.0, high), ("twist_low", -1.0, low)):
        c, s = np.cos(angle), np.sin(angle)
        ways = [sign * (c * z - s * y), sign * (-c * y - s * z)]
        poles = [site(parent, f"{label}_{n}", anchor + J @ (R * way)) for n, way in enumerate(ways)]
        tendon(label, list(zip(inner, poles, strict=True)), 2.0 * float(np.hypot(r, R)))


def remove_ball_limits(spec: mujoco.MjSpec) -> None:
    """Removes the tendons and sites of all ball limits."""
    for tendon in list(spec.tendons):
        if tendon.group == LIMIT_GROUP:
            spec.delete(tendon)
    for site in list(spec.sites):
        if site.group == LIMIT_GROUP:
            spec.delete(site)
