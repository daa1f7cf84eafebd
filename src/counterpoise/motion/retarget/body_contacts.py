"""Parts of the body besides the soles: none of them sinks into the ground, and hands and knees that rest on it stay.

A hand or knee of the source is in contact while it is low and slow for some time. The target's then keeps one place on
the ground, where it is on average in the first fit.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.anatomy import Anatomy
from counterpoise.character.shapes import spheres_of
from counterpoise.motion.contacts import leg_length, runs
from counterpoise.motion.curves import ease
from counterpoise.motion.retarget.links import Pairing

LOW = {"hand": 0.10, "knee": 0.13}  # shares of the leg's length below which a wrist or a knee may rest on the ground
SLOW = 0.25  # [leg lengths/s] below which it does ...
SLOWED_OVER = 0.05  # [s] ... on average over this
SHORTEST_CONTACT = 0.12  # [s]
LONGEST_GAP = 0.08  # [s] contacts of one part nearer than this are one
EASE_TIME = 0.10  # [s] in which the hold of a part comes and goes
BELOW_AT_REST = 0.01  # [m] shapes that are deeper in the ground at rest do not count


@dataclass(frozen=True, eq=False)
class BodyBalls:
    """Spheres of the target's bodies that are kept above the ground."""

    bodies: Ints  # (k,)
    locals: Array  # (k, 3) [m]
    radii: Array  # (k,) [m]


@dataclass(frozen=True, eq=False)
class BodyContact:
    """A hand or knee of the target that rests on the ground from frame `first` to before frame `last`."""

    part: str  # "hand_left"
    body: int
    first: int
    last: int


def balls_off_soles(target: Anatomy, soles: Sequence[int]) -> BodyBalls:
    """Returns the spheres of all bodies but those of soles; none for a figure that is fixed to the world."""
    character = target.character
    spheres = spheres_of(character)
    rest = target.places[spheres.bodies] + spatial.rotate(target.turns[spheres.bodies], spheres.places)
    used = ~np.isin(spheres.bodies, np.asarray(soles, np.int64))
    used &= rest[:, 2] - spheres.radii - rest[:, 2].min(initial=0.0) > -BELOW_AT_REST
    if not character.floating:
        used[:] = False
    return BodyBalls(spheres.bodies[used], spheres.places[used], spheres.radii[used])


def find_body_contacts(pairing: Pairing, places: Array, times: Array, cuts: Ints, ground: float) -> list[BodyContact]:
    """Returns when hands and knees of the target rest on the ground, by the source's; `places` are the source's."""
    out: list[BodyContact] = []
    if len(times) < 3:
        return out
    leg = leg_length(pairing.source)
    for side, kind in itertools.product(("left", "right"), ("hand", "knee")):
        theirs, ours = _body(pairing.source, kind, side), _body(pairing.target, kind, side)
        if theirs is None or ours is None:
            continue
        low = places[:, theirs, 2] - ground < LOW[kind] * leg
        for first, last in itertools.pairwise(cuts):
            own = low[first:last] & (_speed(places[first:last, theirs], times[first:last]) < SLOW * leg)
            for a, b in _lasting(own, times[first:last]):
                out.append(BodyContact(f"{kind}_{side}", ours, int(first) + a, int(first) + b))
    return out


def _body(at: Anatomy, kind: str, side: str) -> int | None:
    """The hand, or the shank, which begins at the knee."""
    chain = at.limbs.get(f"{'hand' if kind == 'hand' else 'leg'}_{side}", ())
    if kind == "hand":
        return chain[0] if chain else None
    return chain[1] if len(chain) == 2 else None


def _speed(path: Array, times: Array) -> Array:
    """Speed (n,) of a path (n, 3), over SLOWED_OVER."""
    n, dt = len(path), float(np.median(np.diff(times))) if len(times) > 1 else 1.0
    k = max(1, round(0.5 * SLOWED_OVER / dt))
    before, after = np.maximum(np.arange(n) - k, 0), np.minimum(np.arange(n) + k, n - 1)
    span = np.maximum(times[after] - times[before], 1e-9)
    return np.asarray(np.linalg.norm(path[after] - path[before], axis=1) / span)


def _lasting(flags: Flags, times: Array) -> list[tuple[int, int]]:
    """Runs of True, short gaps closed, short runs left out."""
    joined: list[list[int]] = []
    for a, b in runs(flags):
        if joined and times[a] - times[joined[-1][1] - 1] < LONGEST_GAP:
            joined[-1][1] = b
        else:
            joined.append([a, b])
    return [(a, b) for a, b in joined if times[b - 1] - times[a] >= SHORTEST_CONTACT]


def hold_places(
    contacts: Sequence[BodyContact], balls: BodyBalls, times: Array, places: Array, turns: Array, shift: Array
) -> list[tuple[int, slice, Array, Array]]:
    """Returns for each contact: which ball is held, frames, its place (3,), and how firmly (frames,), from 0 to 1.

    `places` and `turns` are the target's frames in the first fit, `shift` (n, 3) that of the hips after it. The ball is
    the part's lowest one; of a shank the lowest near the knee.
    """
    out = []
    for c in contacts:
        own = np.flatnonzero(balls.bodies == c.body)
        if c.part.startswith("knee") and len(own):
            far = np.linalg.norm(balls.locals[own], axis=1) - balls.radii[own]
            own = own[far <= far.min() + 1e-6]
        if not len(own):
            continue
        on = slice(c.first, c.last)
        at = places[on, None, c.body] + spatial.rotate(turns[on, None, c.body], balls.locals[own]) + shift[on, None]
        ball = int((at[:, :, 2] - balls.radii[own]).mean(axis=0).argmin())
        place = np.array([*at[:, ball, :2].mean(axis=0), balls.radii[own[ball]]])
        t = times[on]
        firm = ease((t - t[0]) / EASE_TIME) if c.first > 0 else np.ones(len(t))
        firm = np.minimum(firm, ease((t[-1] - t) / EASE_TIME) if c.last < len(times) else 1.0)
        out.append((int(own[ball]), on, place, np.asarray(firm)))
    return out
