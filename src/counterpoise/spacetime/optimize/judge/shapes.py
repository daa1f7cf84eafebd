"""What is inside what: the ground, the terrain, other parts of the body; contacts that drift, joints past limits."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.spacetime.optimize.judge.faults import DEPTH_ALLOWED, LIMIT_ALLOWED, Measure
from counterpoise.spacetime.optimize.judge.samples import Samples
from counterpoise.spacetime.optimize.near import held_bodies
from counterpoise.spacetime.optimize.near_terrain import depths_in_boxes
from counterpoise.spacetime.optimize.requirements.apart import Apart
from counterpoise.spacetime.optimize.requirements.base import RowContext
from counterpoise.spacetime.optimize.requirements.torque import Effort, TorqueLimit
from counterpoise.spacetime.optimize.rods import gap_of_lines, rod_pairs
from counterpoise.spacetime.optimize.rows.contact import ContactRows
from counterpoise.spacetime.optimize.spheres import BodySphere, spheres_off_feet, spheres_on


def ground_measures(s: Samples) -> list[Measure]:
    """Returns how deep bodies are in the ground and in the terrain's solids.

    A body that a contact holds is in it where the middle of its shape is below the ground and below the contact's own
    surface: round shapes roll over the point that is held, flesh gives way, and a chair ends somewhere.
    """
    problem, character = s.problem, s.start.character
    if not character.floating:
        return []
    kinematics = s.evaluation.kinematics(np.arange(s.count))
    depth: dict[tuple[str, str], Array] = {}

    def saw(kind: str, sphere: BodySphere, deep: Array) -> None:
        old = depth.get((kind, sphere.body), np.zeros(s.count))
        depth[kind, sphere.body] = np.maximum(old, deep)

    for sphere in (*problem.clear, *problem.unwatched, *problem.drawn):
        saw("ground", sphere, _depth(s, sphere))
    if problem.request.terrain is not None:
        for sphere in (*spheres_on(character, [f.name for f in character.feet]), *spheres_off_feet(character)):
            places = kinematics.position(sphere.body, sphere.position)
            free = ~_held(s, character.body_id(sphere.body))
            saw("terrain", sphere, np.where(free, depths_in_boxes(problem.request.terrain, places, sphere.radius), 0.0))
    return [
        Measure(kind, f"{body} is {{size}} in the {kind}", deep, DEPTH_ALLOWED, "m")
        for (kind, body), deep in depth.items()
    ]


def sunk_spheres(s: Samples) -> tuple[BodySphere, ...]:
    """Returns the spheres that are only drawn and are in the ground."""
    if not s.start.character.floating:
        return ()
    return tuple(b for b in s.problem.drawn if _depth(s, b).max(initial=0.0) > DEPTH_ALLOWED)


def _depth(s: Samples, sphere: BodySphere) -> Array:
    """How deep a sphere is in the ground (samples,), or its middle below that of a contact that holds it [m]."""
    body = s.start.character.body_id(sphere.body)
    places = s.evaluation.kinematics(np.arange(s.count)).position(sphere.body, sphere.position)
    free = ~_held(s, body)
    deep = np.where(free, sphere.radius - places[:, 2], np.inf)
    for h in s.holds:
        if body not in h.hold.bodies or h.hold.touch.how == "bar":
            continue
        surfaces = [h.hold.surface(float(t)) for t in s.times[h.on]]
        off = places[h.on] - np.array([surface.origin for surface in surfaces])
        above = np.einsum("ni,ni->n", off, np.array([surface.normal for surface in surfaces]))
        deep[h.on] = np.minimum(deep[h.on], np.minimum(-above, -places[h.on, 2]))
    return np.where(np.isfinite(deep), deep, 0.0)


def _held(s: Samples, body: int) -> Flags:
    """Samples at which a contact holds a body, with the seams to phases in which one does."""
    held, f = held_bodies(s.problem), s.start.frames
    phase, at = f.phase[: s.count], f.s[: s.count]
    own = np.array([body in held.get(p, ()) for p in range(-1, len(s.start.timeline.phases) + 1)])
    return own[phase + 1] | ((at == 0.0) & own[phase]) | ((at == 1.0) & own[phase + 2])


def overlap_measures(s: Samples) -> list[Measure]:
    """Returns how deep parts of the body, as rods, are in each other; neighbours may touch."""
    character, asked = s.start.character, [r for r in s.start.request.requirements if isinstance(r, Apart)]
    kinematics = s.evaluation.kinematics(np.arange(s.count))
    every = any(r.bodies is None and r.others is None for r in asked)
    named = {frozenset((a.body, b.body)) for r in asked for a, b in rod_pairs(character, r.bodies, r.others)}
    dropped = s.problem.without_apart() is s.problem
    depths: dict[tuple[str, str], Array] = {}
    for a, b in rod_pairs(character):
        ends = [kinematics.position(r.body, p) for r in (a, b) for p in (r.start, r.end)]
        deep = a.radius + b.radius - np.linalg.norm(gap_of_lines(*ends), axis=-1)
        if deep.max() > DEPTH_ALLOWED:
            depths[a.body, b.body] = np.maximum(deep, depths.get((a.body, b.body), deep))
    out = []
    for (one, two), deep in depths.items():
        own = every or frozenset((one, two)) in named
        note = ", which were asked to stay apart," if own and dropped else ""
        text = f"{one} and {two}{note} are {{size}} inside each other"
        out.append(Measure("overlap", text, deep, DEPTH_ALLOWED, "m", own and not dropped))
    return out


def limit_measures(s: Samples) -> list[Measure]:
    """Returns how far joints are beyond their limits."""
    limits = s.start.character.limits
    values = np.array([limits.values(q) for q in s.evaluation.q[: s.count]])
    by_joint: dict[str, list[int]] = {}
    for k, name in enumerate(limits.names):
        by_joint.setdefault(name.rsplit(".", 1)[0], []).append(k)
    return [
        Measure(
            "joint limit", f"{joint} is {{size}} beyond its limit", values[:, own].max(axis=1), LIMIT_ALLOWED, "rad"
        )
        for joint, own in by_joint.items()
    ]


def contact_measures(s: Samples) -> list[Measure]:
    """Returns how far held parts are from where they are held; turns count at the contact's outermost point."""
    out = []
    for i, h in enumerate(s.holds):
        hold = h.hold
        rows = ContactRows(s.evaluation, s.layout, hold, s.layout.places[i], h.on, s.times[h.on])
        values = np.abs(rows.values(s.evaluation, s.x)).reshape(len(h.on), hold.rows)
        k = 3 + len(hold.level)
        own = [m for m, b in enumerate(hold.force_bodies) if b == hold.body]
        reach = max((float(np.linalg.norm(hold.force_points[m] - hold.point)) for m in own), default=0.0)
        off = np.concatenate(
            [np.linalg.norm(values[:, :3], axis=1)[:, None], values[:, 3:k], reach * values[:, k:]], axis=1
        )
        size = np.zeros(s.count)
        size[h.on] = off.max(axis=1)
        out.append(Measure("contact", f"{hold.label} drifts by {{size}}", size, DEPTH_ALLOWED, "m"))
    return out


def wish_measures(s: Samples) -> list[Measure]:
    """Returns by how much constraints over stretches of time are missed between the knots."""
    context, out = RowContext(s.start, s.evaluation, s.layout), []
    for r in s.start.request.requirements:
        if isinstance(r, (Apart, TorqueLimit, Effort)) or r.closes_cycle or r.slack_price is not None:
            continue
        for block in r.rows(context):
            on = block.frame < s.count
            if not on.any():
                continue
            values = block.values(s.evaluation, s.x)
            off = np.maximum(np.maximum(block.low - values, values - block.high), 0.0)
            size = np.zeros(s.count)
            np.maximum.at(size, block.frame[on], off[on])
            out.append(Measure("wish", f"{block.name} is missed by {{size}}", size, DEPTH_ALLOWED, "m"))
    return out
