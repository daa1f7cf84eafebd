"""Which body of one skeleton follows which body of another: matched limb by limb, or as the caller says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import Anatomy, bone_of
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.retarget.links import Link, Mode, Pairing, ReachedPoint, bone_at, rest_facing

_WHOLE = ("hips", "trunk", "head")  # copied in full; of any other limb the direction counts more than the twist


def pair(
    source: Anatomy, target: Anatomy, mapping: Mapping[str, str | None] | None, spare: Literal["rest", "follow"]
) -> Pairing:
    """Matches two anatomies limb by limb; a `mapping` (target name -> source name or None) overrides the match."""
    links: dict[int, Link] = {}
    facing = spatial.multiply(rest_facing(source), spatial.conjugate(rest_facing(target)))
    if len(target.names) > 1 and len(source.names) > 1:
        links[target.hips] = _copy(target.hips, "hips", (source.hips, source.hips), 0.0, target, (1.0, 1.0))
    reached: list[ReachedPoint] = []
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
                hip, ankle = target.limbs[limb][0], target.limbs[foot][0]
                point = ReachedPoint(limb, hip, ankle, source.limbs[lead][0], source.limbs[lead_foot][0])
                reached.append(point)
                _foot_of_reached(source, target, point, foot, lead_foot, facing, links)
                continue
        _limb(source, target, limb, lead, facing, links)
    _namesakes(source, target, links, reached)
    for name, source_name in (mapping or {}).items():
        _override(source, target, str(name), source_name, facing, links, reached)
    used = {s for link in links.values() for s in (*link.sources, *link.span)}
    used |= {b for point in reached for b in (point.source_hip, point.source_ankle)}
    led = set(links) | {b for point in reached for b in target.limbs[point.limb]}
    return Pairing(
        source, target, tuple(links[b] for b in sorted(links)), tuple(reached), facing,
        tuple(name for b, name in enumerate(target.names) if b > 0 and b not in led),
        tuple(name for b, name in enumerate(source.names) if b > 0 and b not in used),
    )  # fmt: skip


def _copy(
    body: int, limb: str, sources: tuple[int, int], share: float, target: Anatomy, weight: tuple[float, float]
) -> Link:
    """Returns a link that copies the source's rotation in full."""
    chain = target.chain(limb) if limb in target.limbs else (body, *target.limbs.get("trunk", ()))
    axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone_of(target, chain, chain.index(body)))
    return Link(body, limb, sources, share, "copy", axis, spatial.IDENTITY, weight)


def _shared_out(bodies: tuple[int, ...], leads: tuple[int, ...]) -> dict[int, tuple[tuple[int, int], float]]:
    """Returns for each of m bodies of a chain the two leads and the share at j / m of the way along all leads."""
    out = {}
    for j, body in enumerate(bodies, start=1):
        at = (len(leads) - 1) * j / len(bodies)
        low = min(int(np.floor(at + 1e-9)), len(leads) - 1)
        high = min(low + 1, len(leads) - 1)
        share = max(at - low, 0.0)
        out[body] = ((leads[low], leads[high if share > 1e-9 else low]), share if share > 1e-9 else 0.0)
    return out


def _limb(source: Anatomy, target: Anatomy, limb: str, lead: str, facing: Array, links: dict[int, Link]) -> None:
    """Links a limb and the limb that it carries bone by bone, and carries S on from bone to bone."""
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
    """Returns the weights of direction and twist [1/rad] of a body that is the `first` of its limb or not."""
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


def _foot_of_reached(
    source: Anatomy, target: Anatomy, point: ReachedPoint, foot: str, lead: str, facing: Array, links: dict[int, Link]
) -> None:
    """Links the foot below a reached point: as in its own rest pose when the source's leg hangs straight down."""
    back = spatial.conjugate(facing)
    theirs = spatial.rotate(back, source.places[point.source_ankle] - source.places[point.source_hip])
    flat = theirs * np.array([1.0, 0.0, 1.0])
    S = spatial.from_two_vectors(flat, theirs) if np.linalg.norm(flat) > 1e-6 else spatial.IDENTITY
    for body, lead_body in zip(target.limbs[foot], source.limbs[lead], strict=False):
        chain = target.limbs[foot]
        axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone_of(target, chain, chain.index(body)))
        links[body] = Link(body, foot, (lead_body, lead_body), 0.0, "copy", axis, S, _weight(foot, body == chain[0]))


def _namesakes(source: Anatomy, target: Anatomy, links: dict[int, Link], reached: list[ReachedPoint]) -> None:
    """Links bodies of no limb that have the same name in both characters (a tail, fingers, a hat)."""
    led = set(links) | {b for point in reached for b in target.limbs[point.limb]}
    used = {s for link in links.values() for s in link.sources}
    used |= {b for point in reached for b in source.limbs.get(point.limb, ())}
    theirs = {name.lower(): b for b, name in enumerate(source.names) if b > 0 and b not in used}
    for body, name in enumerate(target.names):
        if body > 0 and body not in led and name.lower() in theirs:
            lead = theirs[name.lower()]
            axis = spatial.rotate(spatial.conjugate(target.turns[body]), bone_of(target, (body,), 0))
            links[body] = Link(body, "namesake", (lead, lead), 0.0, "copy", axis, spatial.IDENTITY, (0.5, 0.5))


def _override(
    source: Anatomy,
    target: Anatomy,
    name: str,
    lead: str | None,
    facing: Array,
    links: dict[int, Link],
    reached: list[ReachedPoint],
) -> None:
    """Links the body `name` of the target to the body `lead` of the source; None unlinks it."""
    body = _body_named(target, name)
    limb = next((key for key, bodies in target.limbs.items() if body in bodies), "hips" if body == target.hips else "")
    reached[:] = [r for r in reached if body not in target.limbs[r.limb]]
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
        align = spatial.from_two_vectors(bone, spatial.rotate(spatial.conjugate(facing), bone_at(source, lead_body)))
    weight = _weight(limb, True) if aims else (1.0, 1.0)
    links[body] = Link(
        body, limb or "mapped", (lead_body, lead_body), 0.0, "aim" if aims else "copy", axis, align, weight
    )


def _body_named(at: Anatomy, name: str) -> int:
    """Returns the body of this name, or the body that the joint of this name moves."""
    if not isinstance(name, str):
        raise BadValue(f"a mapping goes from names to names (or None); got {name!r}")
    if name in at.names[1:]:
        return at.names.index(name)
    for joint in at.character.joints:
        if joint.name == name:
            return at.names.index(joint.body)
    raise unknown_name("body or joint", name, (*at.names[1:], *at.character.joint_names), at.character.name)
