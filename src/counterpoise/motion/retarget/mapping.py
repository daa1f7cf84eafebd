"""Which part of one skeleton leads which part of another, and how their rest poses correspond.

A mapped body B follows its source A by

    R_B(t) = D_A(t) G S R_B(rest),     D_A(t) = R_A(t) R_A(rest)^-1,

where G turns the target's rest pose to face as the source's does, and S makes the two bones parallel (limbs; carried on
from bone to bone, so that a T-pose and hanging arms correspond without twist) or is the identity (trunk, head:
there the bones' own slant means nothing). S may turn about the bone as well, so that elbows and knees bend in the
source's plane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import Anatomy, bone_of
from counterpoise.errors import BadValue, unknown_name

Mode = Literal["copy", "aim", "span", "wing"]
LIFT = 0.6  # of an arm's swing that a wing makes
_AHEAD, _UP = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
_WHOLE = ("hips", "trunk", "head")  # followed in full; of a limb the direction counts and the twist is a hint


@dataclass(frozen=True, eq=False)
class Link:
    """One body of the target and what it follows."""

    body: int
    limb: str
    sources: tuple[int, int]  # two source bodies ...
    share: float  # ... and how far from the first to the second the turn is taken
    mode: Mode
    axis: Array  # (3,) the target's bone, in its body's frame
    align: Array  # (4,) S
    weight: tuple[float, float]  # of direction and of twist [1/rad]
    span: tuple[int, int] = (0, 0)  # source bodies between whose places the direction is taken ("span")


@dataclass(frozen=True, eq=False)
class Reach:
    """A leg with another number of bones: its end is led, its inside is left to itself."""

    limb: str
    hip: int  # target bodies
    ankle: int
    source_hip: int
    source_ankle: int


@dataclass(frozen=True, eq=False)
class Pairing:
    """All links from a source's anatomy to a target's."""

    source: Anatomy
    target: Anatomy
    links: tuple[Link, ...]
    reaches: tuple[Reach, ...]
    facing: Array  # (4,) G
    idle: tuple[str, ...]  # target bodies that nothing leads
    unused: tuple[str, ...]  # source bodies that lead nothing


def pair(
    source: Anatomy, target: Anatomy, told: Mapping[str, str | None] | None, spare: Literal["rest", "follow"]
) -> Pairing:
    """Match two anatomies limb by limb; `told` (target name -> source name or None) has the last word."""
    links: dict[int, Link] = {}
    facing = spatial.multiply(rest_facing(source), spatial.conjugate(rest_facing(target)))
    if len(target.names) > 1 and len(source.names) > 1:
        links[target.hips] = _copy(target.hips, "hips", (source.hips, source.hips), 0.0, target, (1.0, 1.0))
    reaches: list[Reach] = []
    base = source.hips
    for limb in ("trunk", "head"):
        if limb in source.limbs and limb in target.limbs:
            for body, (pair_of, share) in _shared_out(target.limbs[limb], (base, *source.limbs[limb])).items():
                last = body == target.limbs[limb][-1]
                links[body] = _copy(body, limb, pair_of, share, target, (1.0, 1.0) if last else (0.3, 0.3))
        if limb in source.limbs:
            base = source.limbs[limb][-1]
    straight_chain = not any(limb.startswith("leg") for limb in (*source.limbs, *target.limbs))
    if straight_chain and "trunk" in source.limbs and "trunk" in target.limbs:
        for body in target.limbs["trunk"]:
            links.pop(body, None)
        _limb(source, target, "trunk", "trunk", facing, links)
    for limb in target.limbs:
        kind = limb.split("_")[0]
        lead = limb
        if lead not in source.limbs and kind[-1:].isdigit() and spare == "follow":
            lead = limb.replace(kind, kind.rstrip("0123456789"))
        if limb in ("trunk", "head") or lead not in source.limbs or kind.startswith(("foot", "hand")):
            continue
        if kind.startswith("leg") and len(source.limbs[lead]) != len(target.limbs[limb]):
            foot, lead_foot = limb.replace("leg", "foot"), lead.replace("leg", "foot")
            if foot in target.limbs and lead_foot in source.limbs:
                reach = Reach(
                    limb,
                    target.limbs[limb][0],
                    target.limbs[foot][0],
                    source.limbs[lead][0],
                    source.limbs[lead_foot][0],
                )
                reaches.append(reach)
                _bent_foot(source, target, reach, foot, lead_foot, facing, links)
                continue
        _limb(source, target, limb, lead, facing, links)
    _namesakes(source, target, links, reaches)
    for told_name, source_name in (told or {}).items():
        _override(source, target, str(told_name), source_name, facing, links, reaches)
    used = {s for link in links.values() for s in (*link.sources, *link.span)}
    used |= {b for reach in reaches for b in (reach.source_hip, reach.source_ankle)}
    led = set(links) | {b for reach in reaches for b in target.limbs[reach.limb]}
    return Pairing(
        source, target, tuple(links[b] for b in sorted(links)), tuple(reaches), facing,
        tuple(name for b, name in enumerate(target.names) if b > 0 and b not in led),
        tuple(name for b, name in enumerate(source.names) if b > 0 and b not in used),
    )  # fmt: skip


def wanted_turns(pairing: Pairing, places: Array, turns: Array) -> Array:
    """What every link asks for, (n, links, 4), of source frames (places (n, bodies, 3), turns (n, bodies, 4))."""
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
            if link.mode == "wing":  # at rest while the arm hangs, and flapped outward by a part of what lifts the arm
                down, ahead = (spatial.rotate(D, spatial.rotate(pairing.facing, v)) for v in (-_UP, _AHEAD))
                lift = np.arctan2(np.linalg.norm(np.cross(down, way), axis=1), np.sum(down * way, axis=1))
                side = 1.0 if link.limb.endswith("left") else -1.0
                R = spatial.multiply(spatial.from_axis_angle(ahead, side * LIFT * np.where(short, 0.0, lift)), R)
                out[:, k] = spatial.align_signs(spatial.normalize(R))
                continue
            way = np.where(short[:, None], now, way)
            R = spatial.multiply(spatial.from_two_vectors(now, way), R)
        out[:, k] = spatial.align_signs(spatial.normalize(R))
    return out


def with_hinges(pairing: Pairing, places: Array, turns: Array) -> Pairing:
    """The pairing, each upper limb turned about its bone so that the hinge below it bends in the source's own plane.

    The source's hinge is read from the clip: the mean of d_upper x d_lower in the upper body's frame, which weighs a
    bend by its sine. A limb that is hardly bent, or bent every which way, is left as its rest pose says.
    """
    links = list(pairing.links)
    target, source = pairing.target, pairing.source
    model = target.character.model
    for k, upper in enumerate(links):
        chain = target.limbs.get(upper.limb, ())
        if upper.mode != "aim" or upper.body not in chain[:-1] or upper.limb.startswith("foot"):
            continue
        lower = next((x for x in links if x.body == chain[chain.index(upper.body) + 1] and x.mode == "aim"), None)
        if lower is None or upper.share or lower.share or model.body_jntnum[lower.body] != 1:
            continue
        joint = int(model.body_jntadr[lower.body])
        if int(model.jnt_type[joint]) != 3 or target.parents[lower.body] != upper.body:
            continue
        low, high = (float(x) for x in model.jnt_range[joint]) if model.jnt_limited[joint] else (0.0, 1.0)
        sign = 1.0 if low + high >= 0.0 else -1.0
        a, b = upper.sources[0], lower.sources[0]
        d_a = spatial.rotate(spatial.conjugate(source.turns[a]), _source_bone(source, a))
        d_b = spatial.rotate(spatial.conjugate(source.turns[b]), _source_bone(source, b))
        between = spatial.multiply(spatial.conjugate(turns[:, a]), turns[:, b])
        bend = np.cross(d_a, spatial.rotate(between, d_b))  # in the upper body's frame
        sizes = np.linalg.norm(bend, axis=-1)
        mean = (bend * sizes[:, None]).mean(axis=0)
        if np.sqrt((sizes**2).mean()) < 0.15 or np.linalg.norm(mean) < 0.6 * float((sizes**2).mean()):
            continue
        bone = spatial.rotate(source.turns[a], d_a)  # all at the source's rest, in the world
        theirs = spatial.rotate(source.turns[a], mean)
        parent_turn = spatial.multiply(target.turns[upper.body], _zero_turn(target, lower.body))
        ours = sign * spatial.rotate(
            spatial.multiply(pairing.facing, spatial.multiply(upper.align, parent_turn)), model.jnt_axis[joint]
        )
        theirs, ours = theirs - (theirs @ bone) * bone, ours - (ours @ bone) * bone
        if min(np.linalg.norm(theirs), np.linalg.norm(ours)) < 1e-6:
            continue
        angle = float(np.arctan2(bone @ np.cross(ours, theirs), ours @ theirs))
        G = pairing.facing
        twist = spatial.multiply(spatial.conjugate(G), spatial.multiply(spatial.from_axis_angle(bone, angle), G))
        links[k] = replace(upper, align=spatial.multiply(twist, upper.align))
        for i, link in enumerate(links):  # it goes on down the limb, whose bones keep their directions
            if link.mode == "aim" and upper.body in target.ancestors(link.body) and not link.limb.startswith("foot"):
                axis = spatial.rotate(target.turns[link.body], link.axis)
                aimed, carried = spatial.rotate(link.align, axis), spatial.multiply(twist, link.align)
                back = spatial.from_two_vectors(spatial.rotate(carried, axis), aimed)
                links[i] = replace(link, align=spatial.multiply(back, carried))
    return replace(pairing, links=tuple(links))


# ------------------------------------------------------------------------------------------------------- private


def rest_facing(at: Anatomy) -> Array:
    """The rotation from a figure that faces x, z up, to this one's rest pose.

    A heading only, from hip to hip (or shoulder to shoulder), unless the trunk lies far from upright.
    """
    across = np.zeros(3)
    for stem in ("leg", "arm"):
        if f"{stem}_left" in at.limbs and f"{stem}_right" in at.limbs:
            across = at.places[at.limbs[f"{stem}_left"][0]] - at.places[at.limbs[f"{stem}_right"][0]]
            if np.linalg.norm(across) > 1e-3 * at.size:
                break
    else:
        return np.array([1.0, 0.0, 0.0, 0.0])
    length = float(np.linalg.norm(across))
    if length < 1e-3 * at.size:
        return np.array([1.0, 0.0, 0.0, 0.0])
    left = across / length
    up = np.array([0.0, 0.0, 1.0])
    feet = [at.places[at.limbs[f][0]] for f in ("foot_left", "foot_right") if f in at.limbs]
    if len(feet) == 2:  # a figure whose rest pose lies down is stood up: the feet are below the hips
        stands = at.places[at.hips] - np.mean(feet, axis=0)
        size = float(np.linalg.norm(stands))
        if size > 1e-3 * at.size and stands[2] / size < np.cos(np.radians(50.0)):
            up = stands / size
    forward = np.cross(left, up)
    if np.linalg.norm(forward) < 1e-6:
        return np.array([1.0, 0.0, 0.0, 0.0])
    forward /= np.linalg.norm(forward)
    return spatial.from_matrix(np.stack([forward, np.cross(up, forward), up], axis=1))


def _copy(
    body: int, limb: str, sources: tuple[int, int], share: float, target: Anatomy, weight: tuple[float, float]
) -> Link:
    chain = target.chain(limb) if limb in target.limbs else (body, *target.limbs.get("trunk", ()))
    axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone_of(target, chain, chain.index(body)))
    return Link(body, limb, sources, share, "copy", axis, spatial.IDENTITY, weight)


def _shared_out(bodies: tuple[int, ...], leads: tuple[int, ...]) -> dict[int, tuple[tuple[int, int], float]]:
    """Each of m bodies of a chain takes the turn at j / m of the way along its leads (the first is the base)."""
    out = {}
    for j, body in enumerate(bodies, start=1):
        at = (len(leads) - 1) * j / len(bodies)
        low = min(int(np.floor(at + 1e-9)), len(leads) - 1)
        high = min(low + 1, len(leads) - 1)
        share = max(at - low, 0.0)
        out[body] = ((leads[low], leads[high if share > 1e-9 else low]), share if share > 1e-9 else 0.0)
    return out


def _limb(source: Anatomy, target: Anatomy, limb: str, lead: str, facing: Array, links: dict[int, Link]) -> None:
    """Link a limb and what hangs on it bone by bone, carrying S along."""
    S = spatial.IDENTITY
    parts = [(limb, lead)]
    for first, then in (("leg", "foot"), ("arm", "hand")):
        if limb.startswith(first):
            ends = limb.replace(first, then), lead.replace(first, then)
            if ends[0] in target.limbs and ends[1] in source.limbs:
                parts.append(ends)
    chain_b, chain_a = target.chain(limb), source.chain(lead)
    for part, part_lead in parts:
        bodies, leads = target.limbs[part], source.limbs[part_lead]
        foot = part.startswith("foot")
        if foot:
            follow = {body: ((lead_body, lead_body), 0.0) for body, lead_body in zip(bodies, leads, strict=False)}
        elif len(bodies) == 1 and len(leads) > 1:
            follow = {bodies[0]: ((leads[0], leads[0]), 0.0)}
        elif len(bodies) == len(leads):
            follow = {body: ((lead_body, lead_body), 0.0) for body, lead_body in zip(bodies, leads, strict=True)}
        else:
            follow = _shared_out(bodies, (leads[0], *leads[1:]) if len(leads) > 1 else leads)
        for body, (pair_of, share) in follow.items():
            lead_body = pair_of[1] if share > 0.5 else pair_of[0]
            d_b = spatial.rotate(S, bone_of(target, chain_b, chain_b.index(body)))
            d_a = spatial.rotate(spatial.conjugate(facing), bone_of(source, chain_a, chain_a.index(lead_body)))
            span = (0, 0)
            mode: Mode = "aim"
            if len(bodies) == 1 and len(leads) > 1 and not foot:
                mode = "span"
                end = source.limbs.get(part_lead.replace("arm", "hand").replace("leg", "foot"), leads[-1:])[0]
                span = (leads[0], end)
                way = source.places[end] - source.places[leads[0]]
                if np.linalg.norm(way) > 1e-6:
                    d_a = spatial.rotate(spatial.conjugate(facing), way / np.linalg.norm(way))
            if mode == "span" and "wing" in target.names[body].lower():
                chest = source.limbs.get("trunk", (source.hips,))[-1]
                axis = spatial.rotate(spatial.conjugate(target.turns[body]), d_b)
                links[body] = Link(body, part, (chest, chest), 0.0, "wing", axis, spatial.IDENTITY, (0.3, 0.1), span)
                continue
            S = spatial.multiply(spatial.from_two_vectors(d_b, d_a), S)
            axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone_of(target, chain_b, chain_b.index(body)))
            links[body] = Link(body, part, pair_of, share, mode, axis, S, _weight(part, body == bodies[0]), span)


def _weight(limb: str, first: bool) -> tuple[float, float]:
    kind = limb.split("_")[0].rstrip("0123456789")
    if kind == "trunk":
        return (1.0, 0.5)
    if kind == "foot":
        return (0.3, 0.3) if first else (0.15, 0.0)
    if kind == "hand":
        return (0.3, 0.05)
    if kind == "clavicle":
        return (0.3, 0.05)
    return (1.0, 0.3 if kind == "leg" else 0.12) if first else (1.0, 0.02)


def _bent_foot(
    source: Anatomy, target: Anatomy, reach: Reach, foot: str, lead: str, facing: Array, links: dict[int, Link]
) -> None:
    """The foot of a leg that is led by its end: as its own rest pose has it when the source's leg hangs straight."""
    back = spatial.conjugate(facing)
    theirs = spatial.rotate(back, source.places[reach.source_ankle] - source.places[reach.source_hip])
    flat = theirs * np.array([1.0, 0.0, 1.0])
    S = spatial.from_two_vectors(flat, theirs) if np.linalg.norm(flat) > 1e-6 else spatial.IDENTITY
    for body, lead_body in zip(target.limbs[foot], source.limbs[lead], strict=False):
        chain = target.limbs[foot]
        axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone_of(target, chain, chain.index(body)))
        links[body] = Link(body, foot, (lead_body, lead_body), 0.0, "copy", axis, S, _weight(foot, body == chain[0]))


def _namesakes(source: Anatomy, target: Anatomy, links: dict[int, Link], reaches: list[Reach]) -> None:
    """What no limb claims, but both figures have under one name (a tail, fingers, a hat), follows too."""
    led = set(links) | {b for reach in reaches for b in target.limbs[reach.limb]}
    used = {s for link in links.values() for s in link.sources}
    used |= {b for reach in reaches for b in source.limbs.get(reach.limb, ())}
    theirs = {name.lower(): b for b, name in enumerate(source.names) if b > 0 and b not in used}
    for body, name in enumerate(target.names):
        if body > 0 and body not in led and name.lower() in theirs:
            lead = theirs[name.lower()]
            axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone_of(target, (body,), 0))
            links[body] = Link(body, "namesake", (lead, lead), 0.0, "copy", axis, spatial.IDENTITY, (0.5, 0.5))


def _override(
    source: Anatomy,
    target: Anatomy,
    told: str,
    lead: str | None,
    facing: Array,
    links: dict[int, Link],
    reaches: list[Reach],
) -> None:
    body = _body_named(target, told)
    limb = next(
        (name for name, bodies in target.limbs.items() if body in bodies), "hips" if body == target.hips else ""
    )
    reaches[:] = [r for r in reaches if body not in target.limbs[r.limb]]
    if lead is None:
        links.pop(body, None)
        return
    lead_body = _body_named(source, lead)
    aims = bool(limb) and limb not in _WHOLE
    chain = target.chain(limb) if limb in target.limbs else (body,)
    bone = bone_of(target, chain, chain.index(body))
    axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone)
    align = spatial.IDENTITY
    if aims:
        align = spatial.from_two_vectors(
            bone, spatial.rotate(spatial.conjugate(facing), _source_bone(source, lead_body))
        )
    weight = _weight(limb, True) if aims else (1.0, 1.0)
    links[body] = Link(
        body, limb or "told", (lead_body, lead_body), 0.0, "aim" if aims else "copy", axis, align, weight
    )


def _body_named(at: Anatomy, name: str) -> int:
    if not isinstance(name, str):
        raise BadValue(f"a mapping goes from names to names (or None); got {name!r}")
    if name in at.names[1:]:
        return at.names.index(name)
    for joint in at.character.joints:
        if joint.name == name:
            return at.names.index(joint.body)
    raise unknown_name("body or joint", name, (*at.names[1:], *at.character.joint_names), at.character.name)


def _source_bone(at: Anatomy, body: int) -> Array:
    for limb, bodies in at.limbs.items():
        if body in bodies:
            chain = at.chain(limb)
            return bone_of(at, chain, chain.index(body))
    children = [b for b in range(1, len(at.names)) if at.parents[b] == body]
    return bone_of(at, (body, *children[:1]), 0)


def _zero_turn(target: Anatomy, body: int) -> Array:
    """From the parent's frame to the frame in which a body's joint axis is given, at rest: its fixed turn."""
    return np.array(target.character.model.body_quat[body], dtype=np.float64)
