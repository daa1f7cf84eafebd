"""Rerooting: another segment becomes the root; parents and children change places along the chain, the shape stays.

Where B hung from P by T_P_B = T0 E1(q1) E2(q2) ..., P now hangs from B by ... E2^-1 E1^-1 T0^-1, and T0 E^-1 T0^-1 is
the same joint drawn in P's frame. So the joints of a body come in reverse order, and

    hinge, slide    E(axis, q)^-1 = E(-axis, q): the axis is negated, the coordinate and its range stay;
    ball            q becomes q^-1, seen in P's frame.

The frame of each reversed body moves its origin to its new joint; nothing else in it changes.

Ball limits, q rest^-1 = swing twist (see `limits`): the inverse has rest^-1 as its middle and a0 = rest a as its bone;
its twist is the negative of the old one, exactly; its swing is the old one mirrored through the bone's rest and then
turned about the bone by the twist. A cone that does not turn cannot follow that: the new cone is exact at the middle of
the twist range and, for a round cone, everywhere; elsewhere it is turned about the bone by the twist's distance from
there. Rerooting back gives the old limit again.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from xml.etree.ElementTree import Element

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.editing.draft import Draft
from counterpoise.character.editing.text import IDENTITY, UP, Frame, local_frame, numbers, place_frame, put, reach
from counterpoise.character.limits import BallLimit, limit_from_json
from counterpoise.spatial import compose, conjugate, from_axis_angle, inverse, log, multiply, rotate, to_matrix


def reroot(draft: Draft, name: str, at: Array | None) -> list[str]:
    """Makes a segment the root. Returns the names of the ball joints that are now reversed."""
    draft.body(name)
    if name == draft.roles["root"] and at is None:
        return []
    path = [name]
    while draft.parent[path[-1]]:
        path.append(draft.parent[path[-1]])
    old = path[-1]
    order = draft.roles.setdefault("order", list(draft.bodies))
    frames = {b: draft.frame(b) for b in path}
    joints = {b: draft.bodies[b].findall("joint") for b in path}
    links = [local_frame(draft.bodies[b]) for b in path[:-1]]  # of each body in the next one
    for segment in path:
        for joint in joints[segment]:
            draft.bodies[segment].remove(joint)
    draft.world.remove(draft.bodies[old])
    for child, host in pairwise(path):
        draft.bodies[host].remove(draft.bodies[child])
    draft.world.append(draft.bodies[name])
    place_frame(draft.bodies[name], (np.zeros(3), IDENTITY), frames[name])
    draft.parent[name] = ""
    reversed_balls: list[str] = []
    for child, host, link in zip(path, path[1:], links, strict=False):
        body = draft.bodies[host]
        draft.bodies[child].append(body)
        draft.parent[host] = child
        place_frame(body, frames[child], frames[host])
        for number, joint in enumerate(reversed(joints[child])):
            _reverse_joint(draft, joint, link, reversed_balls)
            body.insert(number + 1, joint)
        _reverse_torques(draft, joints[child])
    for number, joint in enumerate(joints[old]):
        if joint.get("type") not in ("free", "ball"):
            put(joint, "axis", rotate(multiply(conjugate(frames[name][1]), frames[old][1]), numbers(joint, "axis", UP)))
        joint.attrib.pop("pos", None)
        draft.bodies[name].insert(number + 1, joint)
    draft.roles["root"] = name
    rank = {label: number for number, label in enumerate(order)}
    for segment in path:
        _sort_children(draft.bodies[segment], rank)
    draft.moved()
    if name != old:
        draft.roles["origins"][old] = [0.0, 0.0, 0.0]
    for child, host, link in zip(path, path[1:], links, strict=False):
        first = draft.bodies[host].find("joint")
        _recentre_bone(draft, host, numbers(first, "pos", link[0]) if first is not None and joints[child] else link[0])
    home = draft.roles["origins"].pop(name, None)
    if at is not None or home is not None:
        carried = draft.bodies[name].findall("joint")
        _recentre_bone(draft, name, np.array(home, float) if at is None else at)
        for joint in carried:
            joint.attrib.pop("pos", None)
    return reversed_balls


def _sort_children(body: Element, rank: dict[str, int]) -> None:
    """Puts children in the order the figure first had, so that rerooting back gives the same coordinates."""
    children = body.findall("body")
    for child in children:
        body.remove(child)
    body.extend(sorted(children, key=lambda child: rank.get(child.get("name", ""), len(rank))))


def _recentre_bone(draft: Draft, name: str, place: Array) -> None:
    """Moves a body's origin to its new joint; the bone then points to its farther end."""
    if name in draft.roles["drawn"]:
        direction, length = draft.bone(name)
        behind = reach(draft.bodies[name], -direction)
        if float(place @ direction) > 0.5 * (length - behind) + 1e-9:
            draft.roles["drawn"][name] = (-direction).tolist()
    draft.recentre(name, place)


def _reverse_joint(draft: Draft, joint: Element, link: Frame, reversed_balls: list[str]) -> None:
    """Writes a joint in the frame of its former parent, which is now its child."""
    put(joint, "pos", compose(link, (numbers(joint, "pos", np.zeros(3)), IDENTITY))[0])
    name = joint.get("name", "")
    if joint.get("type", "hinge") != "ball":
        put(joint, "axis", -rotate(link[1], numbers(joint, "axis", UP)))
        return
    reversed_balls.append(name)
    if name in draft.stance:
        draft.stance[name] = reverse_rotation(draft.stance[name], link[1])
    stored = draft.roles["balls"].get(name)
    if stored is not None:
        draft.set_ball(name, reverse_limit(limit_from_json(stored), link[1]))


def reverse_rotation(q: ArrayLike, turn: ArrayLike) -> Array:
    """The coordinate of a reversed ball joint: the inverse, in the frame that `turn` takes the joint's to."""
    back = conjugate(q)
    return np.concatenate((back[:1], rotate(turn, back[1:])))


def reverse_limit(limit: BallLimit, turn: ArrayLike) -> BallLimit:
    """The limit of a ball joint whose child and parent change places (see the top of this file)."""
    a0 = rotate(limit.rest, limit.axis)
    low, high = limit.twist
    middle = from_axis_angle(a0, -0.5 * (low + high))
    through = 2.0 * np.outer(limit.normals @ a0, a0) - limit.normals  # mirrored through the bone's rest
    normals = rotate(conjugate(limit.rest), rotate(middle, through))
    return BallLimit(
        rotate(turn, a0),
        reverse_rotation(limit.rest, turn),
        rotate(turn, normals),
        limit.offsets,
        (-high, -low),
    )


def _reverse_torques(draft: Draft, joints: list[Element]) -> None:
    """Swaps the two torques of a universal joint, as its rows are swapped."""
    names = [j.get("name", "") for j in joints]
    for name, value in draft.roles["torque"].items():
        if isinstance(value, list) and name not in names and all(n.startswith(f"{name}_") for n in names) and names:
            draft.roles["torque"][name] = value[::-1]


def carried_pose(before: mujoco.MjModel, after: mujoco.MjModel, q: ArrayLike) -> Array:
    """The pose of a rerooted model that looks like pose q of the model it came from."""
    old, zero, new = mujoco.MjData(before), mujoco.MjData(before), mujoco.MjData(after)
    old.qpos[:] = q
    for model, data in ((before, old), (before, zero), (after, new)):
        mujoco.mj_kinematics(model, data)
    out = np.array(after.qpos0, float)
    name = after.body(1).name
    b = before.body(name).id
    shift = inverse((zero.xpos[b], zero.xquat[b]))
    place = compose((old.xpos[b], old.xquat[b]), compose(shift, (new.xpos[1], new.xquat[1])))
    known = {before.joint(j).name: j for j in range(before.njnt)}
    for j in range(after.njnt):
        kind, at, body = int(after.jnt_type[j]), int(after.jnt_qposadr[j]), int(after.jnt_bodyid[j])
        if body == 1:
            _root_coordinate(after, new, j, place, out)
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
            host, child = (before.body(after.body(i).name).id for i in (int(after.body_parentid[body]), body))
            between = multiply(conjugate(old.xquat[host]), old.xquat[child])
            out[at : at + 4] = multiply(conjugate(after.body_quat[body]), between)
        else:
            out[at] = old.qpos[before.jnt_qposadr[known[after.joint(j).name]]]
    return out


def _root_coordinate(model: mujoco.MjModel, zero: mujoco.MjData, j: int, place: Frame, out: Array) -> None:
    """The coordinate of a joint that carries the root, for the root at `place`."""
    at, kinds = int(model.jnt_qposadr[j]), mujoco.mjtJoint
    kind = int(model.jnt_type[j])
    turn = multiply(place[1], conjugate(zero.xquat[1]))  # world
    axis = to_matrix(zero.xquat[1]) @ model.jnt_axis[j]
    if kind == int(kinds.mjJNT_FREE):
        out[at : at + 7] = np.concatenate(place)
    elif kind == int(kinds.mjJNT_BALL):
        out[at : at + 4] = multiply(conjugate(model.body_quat[1]), place[1])
    elif kind == int(kinds.mjJNT_SLIDE):
        out[at] = float(axis @ (place[0] - zero.xpos[1]))
    else:
        out[at] += float(axis @ log(turn))


def pin_where_it_is(draft: Draft, before: mujoco.MjModel, q: ArrayLike) -> None:
    """Pins a figure without a floating root, after a reroot, where its new root was in pose q."""
    root = draft.roles["root"]
    carriers = draft.bodies[root].findall("joint")
    if any(j.get("type") == "free" or j.get("name", "").startswith("root") for j in carriers):
        return
    model = draft.compiled()
    data, zero = mujoco.MjData(before), mujoco.MjData(before)
    data.qpos[:] = q
    mujoco.mj_kinematics(before, data)
    mujoco.mj_kinematics(before, zero)
    b = before.body(root).id
    local = compose(inverse((zero.xpos[b], zero.xquat[b])), (model.body_pos[1], model.body_quat[1]))
    put(draft.bodies[root], "pos", compose((data.xpos[b], data.xquat[b]), local)[0])
    draft.moved()


def widen(draft: Draft, names: list[str], model: mujoco.MjModel, q: Array) -> None:
    """Opens reversed cones just enough that pose q lies inside."""
    for name in names:
        stored: Any = draft.roles["balls"].get(name)
        if stored is None:
            continue
        limit = limit_from_json(stored)
        at = int(model.jnt_qposadr[model.joint(name).id])
        bone = rotate(q[at : at + 4], limit.axis)
        offsets = np.maximum(limit.offsets, limit.normals @ bone + 1e-9)
        draft.set_ball(name, BallLimit(limit.axis, limit.rest, limit.normals, offsets, limit.twist))


__all__ = ["carried_pose", "reroot", "reverse_limit"]
