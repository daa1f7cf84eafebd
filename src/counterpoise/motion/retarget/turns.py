"""The rotations that a source's motion asks of a target's bodies, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import Anatomy
from counterpoise.motion.retarget.links import HINGE, Link, Pairing, bone_at

WING_LIFT = 0.6  # share of an arm's lift that a wing makes
MIN_BEND = 0.15  # mean sine of the angle between two bones below which their hinge is not estimated
MIN_AGREEMENT = 0.6  # how well the bends of a clip must agree on one axis, from 0 to 1
_AHEAD, _UP = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])


def wanted_turns(pairing: Pairing, places: Array, turns: Array) -> Array:
    """Returns the rotations (n, links, 4) that the links ask for, by the source's frames in the world.

    `places` are (n, bodies, 3), `turns` (n, bodies, 4).
    """
    out = np.empty((len(turns), len(pairing.links), 4))
    known: dict[int, Array] = {}

    def turned(body: int) -> Array:
        if body not in known:
            known[body] = spatial.multiply(turns[:, body], spatial.conjugate(pairing.source.turns[body]))
        return known[body]

    for k, link in enumerate(pairing.links):
        first, second = link.sources
        D = turned(first)
        if link.share > 0.0 and second != first:
            D = spatial.slerp(D, turned(second), np.full(len(D), link.share))
        rest = spatial.multiply(pairing.facing, spatial.multiply(link.align, pairing.target.turns[link.body]))
        R = spatial.multiply(D, rest)
        if link.mode in ("span", "wing"):
            way = places[:, link.span[1]] - places[:, link.span[0]]
            short = np.linalg.norm(way, axis=-1) < 1e-6 * pairing.source.size
            now = spatial.rotate(R, link.axis)
            if link.mode == "wing":  # at rest while the arm hangs; lifted outwards by a share of the arm's lift
                down, ahead = (spatial.rotate(D, spatial.rotate(pairing.facing, v)) for v in (-_UP, _AHEAD))
                lift = np.arctan2(np.linalg.norm(np.cross(down, way), axis=1), np.sum(down * way, axis=1))
                side = 1.0 if link.limb.endswith("left") else -1.0
                R = spatial.multiply(spatial.from_axis_angle(ahead, side * WING_LIFT * np.where(short, 0.0, lift)), R)
                out[:, k] = spatial.align_signs(spatial.normalize(R))
                continue
            way = np.where(short[:, None], now, way)
            R = spatial.multiply(spatial.from_two_vectors(now, way), R)
        out[:, k] = spatial.align_signs(spatial.normalize(R))
    return out


def with_hinges(pairing: Pairing, places: Array, turns: Array) -> Pairing:
    """Returns the pairing with each upper limb turned about its bone, so that the hinge below bends as in the source.

    The source's hinge axis is estimated from the clip: the mean of d_upper x d_lower in the upper body's frame, which
    weighs a bend by its sine. A limb that is hardly bent, or bent in many directions, is left as its rest pose has it.
    """
    links = list(pairing.links)
    target = pairing.target
    for k, upper in enumerate(links):
        lower = _hinged_below(target, links, upper)
        turn = None if lower is None else _hinge_twist(pairing, upper, lower, turns)
        if turn is None:
            continue
        G = pairing.facing
        twist = spatial.multiply(spatial.conjugate(G), spatial.multiply(turn, G))
        links[k] = replace(upper, align=spatial.multiply(twist, upper.align))
        for i, link in enumerate(links):  # the bodies below take the same twist and keep the directions of their bones
            if link.mode == "aim" and upper.body in target.ancestors(link.body) and not link.limb.startswith("foot"):
                axis = spatial.rotate(target.turns[link.body], link.axis)
                aimed, carried = spatial.rotate(link.align, axis), spatial.multiply(twist, link.align)
                back = spatial.from_two_vectors(spatial.rotate(carried, axis), aimed)
                links[i] = replace(link, align=spatial.multiply(back, carried))
    return replace(pairing, links=tuple(links))


def _hinged_below(target: Anatomy, links: Sequence[Link], upper: Link) -> Link | None:
    """Returns the link of the body below `upper` in its limb, if a single hinge joins the two."""
    model = target.character.model
    chain = target.limbs.get(upper.limb, ())
    if upper.mode != "aim" or upper.body not in chain[:-1] or upper.limb.startswith("foot"):
        return None
    lower = next((x for x in links if x.body == chain[chain.index(upper.body) + 1] and x.mode == "aim"), None)
    if lower is None or upper.share or lower.share or model.body_jntnum[lower.body] != 1:
        return None
    hinge = int(model.jnt_type[int(model.body_jntadr[lower.body])]) == HINGE
    return lower if hinge and target.parents[lower.body] == upper.body else None


def _hinge_twist(pairing: Pairing, upper: Link, lower: Link, turns: Array) -> Array | None:
    """Returns the rotation (4,) about the source's upper bone from our hinge to the source's; None if unknown."""
    target, source = pairing.target, pairing.source
    model = target.character.model
    joint = int(model.body_jntadr[lower.body])
    low, high = (float(x) for x in model.jnt_range[joint]) if model.jnt_limited[joint] else (0.0, 1.0)
    sign = 1.0 if low + high >= 0.0 else -1.0
    a, b = upper.sources[0], lower.sources[0]
    d_a = spatial.rotate(spatial.conjugate(source.turns[a]), bone_at(source, a))
    d_b = spatial.rotate(spatial.conjugate(source.turns[b]), bone_at(source, b))
    between = spatial.multiply(spatial.conjugate(turns[:, a]), turns[:, b])
    bend = np.cross(d_a, spatial.rotate(between, d_b))  # in the upper body's frame
    sizes = np.linalg.norm(bend, axis=-1)
    mean = (bend * sizes[:, None]).mean(axis=0)
    power = float((sizes**2).mean())
    if np.sqrt(power) < MIN_BEND or np.linalg.norm(mean) < MIN_AGREEMENT * power:
        return None
    bone = spatial.rotate(source.turns[a], d_a)  # all at the source's rest, in the world
    theirs = spatial.rotate(source.turns[a], mean)
    parent_turn = spatial.multiply(target.turns[upper.body], model.body_quat[lower.body])
    ours = sign * spatial.rotate(
        spatial.multiply(pairing.facing, spatial.multiply(upper.align, parent_turn)), model.jnt_axis[joint]
    )
    theirs, ours = theirs - (theirs @ bone) * bone, ours - (ours @ bone) * bone
    if min(np.linalg.norm(theirs), np.linalg.norm(ours)) < 1e-6:
        return None
    return spatial.from_axis_angle(bone, float(np.arctan2(bone @ np.cross(ours, theirs), ours @ theirs)))
