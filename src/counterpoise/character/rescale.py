"""Other proportions: the same body with segments longer, shorter, heavier or lighter.

A segment scaled by s in length and w in mass keeps its shape: its geometry, the places of its children and its CoM
scale by s, its inertia by w s^2. The neutral pose is computed again, feet flat on the ground.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np

from counterpoise.character.ball_tendons import add_ball_limit, remove_ball_limits
from counterpoise.character.limits import limit_from_json
from counterpoise.character.mjcf import TEXT_NAME
from counterpoise.character.roles import roles_to_json, side_of
from counterpoise.errors import BadValue, unknown_name

if TYPE_CHECKING:
    from counterpoise.character.character import Character

GROUPS: dict[str, tuple[str, ...]] = {  # first words of segment names
    "arms": ("upper_arm", "forearm", "hand", "wing"),
    "legs": ("thigh", "shank", "tarsus", "foot", "toes"),
    "feet": ("foot", "toes"),
    "hands": ("hand",),
    "trunk": ("pelvis", "abdomen", "thorax", "trunk"),
    "neck": ("neck",),
    "tail": ("tail",),
}


def segment_groups(character: Character) -> dict[str, tuple[str, ...]]:
    """Every name `rescaled` takes: segments, groups, groups of one side (`arms_left`), sides, and `all`."""
    names = character.segments
    out: dict[str, tuple[str, ...]] = {name: (name,) for name in names}
    out["all"] = names
    for side in ("left", "right"):
        members = tuple(n for n in names if side_of(n, names) == side)
        if members:
            out.setdefault(side, members)
    for group, words in GROUPS.items():
        members = tuple(n for n in names if n.startswith(words))
        if not members:
            continue
        out.setdefault(group, members)
        for side in ("left", "right"):
            half = tuple(n for n in members if side_of(n, names) == side)
            if half:
                out.setdefault(f"{group}_{side}", half)
    return out


def rescaled(character: Character, lengths: Mapping[str, float], masses: Mapping[str, float]) -> Character:
    """Returns the body with its segments scaled by the given factors; behind `Character.rescaled`."""
    from counterpoise.character.finish import finish

    length, mass = _factors(character, lengths, "length"), _factors(character, masses, "mass")
    spec = character.spec()
    roles = _roles(spec, character)
    remove_ball_limits(spec)
    for body in spec.bodies:
        if body.name not in length:
            continue
        parent = body.parent.name if body.parent is not None else ""
        _place(body, length.get(parent, 1.0), length[body.name])
        _scale_body(body, length[body.name], mass[body.name])
    for geom in list(spec.geoms):
        if geom.parent is not None and length.get(geom.parent.name, 1.0) != 1.0:
            _scale_geom(spec, geom, length[geom.parent.name])
    for foot in roles["feet"]:
        for point in foot["points"]:
            point["position"] = [x * length[point["body"]] for x in point["position"]]
    for name, limit in roles.get("balls", {}).items():
        add_ball_limit(spec, spec.joint(name).parent, name, limit_from_json(limit))
    roles.pop("neutral", None)  # computed again from the same stance
    roles["parameters"] = {**roles.get("parameters", {}), "lengths": dict(lengths), "masses": dict(masses)}
    return finish(spec, roles)


def _factors(character: Character, given: Mapping[str, float], what: str) -> dict[str, float]:
    groups = segment_groups(character)
    out = {name: 1.0 for name in character.segments}
    for name, factor in given.items():
        if name not in groups:
            raise unknown_name("segment or group", name, groups, character.name)
        if not isinstance(factor, int | float) or not 0.01 <= float(factor) <= 100.0:
            raise BadValue(f"a {what} factor lies between 0.01 and 100; got {factor!r} for {name!r}")
        for member in groups[name]:
            out[member] *= float(factor)
    return out


def _roles(spec: mujoco.MjSpec, character: Character) -> dict[str, Any]:
    for text in spec.texts:
        if text.name == TEXT_NAME:
            found: dict[str, Any] = json.loads(text.data)
            return found
    return {"format": 1, "name": character.name, **roles_to_json(character.roles)}


def _place(body: Any, outer: float, own: float) -> None:
    """Keeps a body's joint where it is on the scaled parent; the offset from the joint to the body's origin scales."""
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, np.array(body.quat, float))
    joints = list(body.joints)
    offset = turn.reshape(3, 3) @ np.array(joints[0].pos if joints else (0.0, 0.0, 0.0), float)
    anchor = np.array(body.pos) + offset
    body.pos = outer * anchor - own * offset
    for site in body.sites:
        site.pos = np.array(site.pos) * own


def _scale_body(body: Any, s: float, w: float) -> None:
    body.ipos = np.array(body.ipos) * s
    body.mass = float(body.mass) * w
    body.inertia = np.array(body.inertia) * w * s * s
    if np.isfinite(body.fullinertia).all():
        body.fullinertia = np.array(body.fullinertia) * w * s * s
    for joint in body.joints:
        joint.pos = np.array(joint.pos) * s
        joint.armature = float(joint.armature) * w * s * s


def _scale_geom(spec: mujoco.MjSpec, geom: Any, s: float) -> None:
    geom.size = np.array(geom.size) * s
    if np.isfinite(np.array(geom.fromto)).all():
        geom.fromto = np.array(geom.fromto) * s
    geom.pos = np.array(geom.pos) * s
    if geom.meshname:  # meshes are shared: a scaled segment gets its own copy
        old = spec.mesh(geom.meshname)
        name = f"{old.name}@{geom.parent.name}"
        if spec.mesh(name) is None:
            copy = spec.add_mesh(name=name, scale=np.array(old.scale) * s)
            copy.uservert, copy.userface = list(old.uservert), list(old.userface)
        geom.meshname = name


__all__ = ["GROUPS", "rescaled", "segment_groups"]
