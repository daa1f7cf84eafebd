"""Finishing a body: a MuJoCo specification and its roles become a Character."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.joints import Joint, read_joints, root_width
from counterpoise.character.limits import JointLimits, limit_from_json
from counterpoise.character.mjcf import TEXT_NAME, attach_roles, exact_xml
from counterpoise.character.physics import DEFAULT_TORQUE_LIMIT
from counterpoise.character.roles import roles_from_json, roles_to_json
from counterpoise.character.standing import standing_pose
from counterpoise.errors import BadFile, BadValue, MissingRole
from counterpoise.files import one_line

FORMAT = 1  # of the roles in a text
OVERLAP = 0.003  # [m] shapes nearer than this in the zero or neutral pose count as overlapping
NEAR_RELATIVES = 3  # joints between two segments whose overlap is built in
_OTHER_FILE = re.compile(
    r"<include\b|<plugin\b|<extension\b|\b(?:content_)?(?:file|meshdir|texturedir|assetdir)\w*\s*=\s*[\"'][^\"']+"
)


def character_from_mjcf(text: str) -> Character:
    """Reads a model text that stands alone; behind `Character.from_mjcf`."""
    if (other := _OTHER_FILE.search(text)) is not None:
        raise BadFile(f"a model text must stand alone; this one asks for another file: {other.group(0)!r}")
    try:
        spec = mujoco.MjSpec.from_string(text)
    except (ValueError, RuntimeError) as error:
        raise BadFile(f"not a model MuJoCo can read: {one_line(error)}") from None
    for entry in spec.texts:
        if entry.name == TEXT_NAME:
            try:
                roles = json.loads(entry.data)
                if roles["format"] != FORMAT:
                    raise BadFile(f"roles of format {roles['format']}; this version reads format {FORMAT}")
                return finish(spec, roles, text=text if "neutral" in roles else None)
            except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
                if isinstance(error, BadFile | BadValue | MissingRole):
                    raise
                raise BadFile(f"the roles written in this model are damaged: {error!r}") from None
    from counterpoise.character.loading import character_from_spec

    return character_from_spec(spec, spec.modelname)


def finish(
    spec: mujoco.MjSpec, roles: dict[str, Any], nominal: Mapping[str, Any] | None = None, text: str | None = None
) -> Character:
    """Compiles a specification into a Character: limits, overlaps, the neutral pose, and its text.

    `nominal` is the wanted stance: joint name -> angle(s) or rotation vector. `text` is given when the specification
    was just read from a finished character's text, which is then kept as it is.
    """
    model = _compile(spec)
    if (trees := len(set(model.body_rootid[1:].tolist()))) > 1:
        raise BadValue(f"a character is one tree of bodies; this model has {trees}")
    joints = read_joints(model)
    balls, stance = roles.get("balls", {}), roles.get("stance")
    limits = _read_limits(model, balls)
    if "neutral" in roles:
        neutral = np.array(roles["neutral"], float)
        if neutral.shape != (model.nq,) or not np.isfinite(neutral).all():
            raise BadFile(f"the neutral pose written in this model has {neutral.size} numbers, not {model.nq}")
    else:
        if stance is None:
            stance = _stance(model, joints, nominal or {}).tolist()
        neutral = limits.clamp(stance)
    made = Character(
        name=str(roles["name"]),
        model=model,
        joints=joints,
        roles=roles_from_json(roles),
        limits=limits,
        neutral=neutral,
        torque_limit=_torque_limits(joints, roles.get("torque", {}), model.nv),
        parameters=dict(roles.get("parameters", {})),
        mjcf=text or "",
    )
    if "neutral" not in roles:
        neutral = standing_pose(made)
        _exclude_overlaps(spec, model, neutral)
    neutral.flags.writeable = False
    if text is None:
        attach_roles(spec, {**roles, **roles_to_json(made.roles), "neutral": neutral.tolist(), "stance": stance})
        _compile(spec)
        text = exact_xml(spec)  # the text is the body: what is simulated, saved and exported agree
        model = _compile(_parsed(text))
    return replace(made, model=model, limits=_read_limits(model, balls), neutral=neutral, mjcf=text)


def _compile(spec: mujoco.MjSpec) -> mujoco.MjModel:
    try:
        return spec.compile()
    except (ValueError, RuntimeError) as error:
        raise BadValue(f"MuJoCo cannot build this body: {one_line(error)}") from None


def _parsed(text: str) -> mujoco.MjSpec:
    try:
        return mujoco.MjSpec.from_string(text)
    except (ValueError, RuntimeError) as error:
        raise BadValue(f"MuJoCo cannot read this body back: {one_line(error)}") from None


def _read_limits(model: mujoco.MjModel, balls: Mapping[str, Any]) -> JointLimits:
    ranges, cones = [], []
    for j in range(model.njnt):
        name = model.joint(j).name
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        kind = int(model.jnt_type[j])
        scalar = kind in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        if scalar and model.jnt_limited[j]:
            low, high = (float(x) for x in model.jnt_range[j])
            ranges.append((name or f"joint{j}", q, v, low, high))
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL) and name in balls:
            cones.append((name, q, v, limit_from_json(balls[name])))
    return JointLimits(model.nq, model.nv, ranges, cones)


def _torque_limits(joints: tuple[Joint, ...], given: Mapping[str, Any], nv: int) -> Array:
    """(nv,) [N m]: as given by joint; zero on the dofs that carry the root."""
    limit = np.full(nv, DEFAULT_TORQUE_LIMIT)
    for joint in joints:
        if joint.name in given:
            limit[joint.dofs] = given[joint.name]
    limit[: root_width(joints)] = 0.0
    limit.flags.writeable = False
    return limit


def _stance(model: mujoco.MjModel, joints: tuple[Joint, ...], nominal: Mapping[str, Any]) -> Array:
    """The pose (nq,) that has the named joints at their values and all others at zero."""
    q = np.array(model.qpos0, float)
    for joint in joints:
        if joint.name not in nominal:
            continue
        value = np.atleast_1d(np.asarray(nominal[joint.name], float))
        if joint.kind in ("ball", "free"):
            q[joint.qpos.stop - 4 : joint.qpos.stop] = _quaternion(value)
        else:
            q[joint.qpos] = value
    return q


def _quaternion(rotation_vector: Array) -> Array:
    angle, out = float(np.linalg.norm(rotation_vector)), np.zeros(4)
    mujoco.mju_axisAngle2Quat(out, rotation_vector / max(angle, 1e-300), angle)
    return out


def _exclude_overlaps(spec: mujoco.MjSpec, model: mujoco.MjModel, neutral: Array) -> None:
    """Switches off collisions of shapes that overlap in the neutral pose, and of near relatives also in the zero pose.

    Shapes that overlap at the start of a simulation would push the body over.
    """
    already = {tuple(sorted((e.bodyname1, e.bodyname2))) for e in spec.excludes}
    data = mujoco.MjData(model)
    found: set[tuple[str, str]] = set()
    for pose in (model.qpos0, neutral):
        data.qpos[:] = pose
        mujoco.mj_fwdPosition(model, data)
        for contact in data.contact:
            b1, b2 = (int(model.geom_bodyid[g]) for g in contact.geom)
            near = _joints_between(model, b1, b2) <= NEAR_RELATIVES
            if b1 and b2 and (contact.dist < OVERLAP if near else contact.dist < 0.0 and pose is neutral):
                first, second = sorted((model.body(b1).name, model.body(b2).name))
                found.add((first, second))
    for first, second in sorted(found - already):
        spec.add_exclude(bodyname1=first, bodyname2=second)


def _joints_between(model: mujoco.MjModel, b1: int, b2: int) -> int:
    """Number of joints between two bodies along the tree."""

    def line(body: int) -> list[int]:
        out = [body]
        while body > 0:
            body = int(model.body_parentid[body])
            out.append(body)
        return out

    first, second = line(b1), line(b2)
    shared = next(b for b in first if b in second)
    return first.index(shared) + second.index(shared)
