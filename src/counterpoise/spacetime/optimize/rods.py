"""Pairs of rods that stand for bodies' shapes, and the distance of two rods."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import mujoco
import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.shapes import Rod, whole_rods

TINY = 1e-12  # [m^2] squared lengths below this are zero
NEIGHBOURS = 2  # bodies along the tree that may touch


def rod_pairs(
    character: Character, bodies: Sequence[str] | None = None, others: Sequence[str] | None = None
) -> list[tuple[Rod, Rod]]:
    """Pairs of bodies' rods: those named, or all that are more than two joints apart and do not meet at rest."""
    m, rest = character.model, character.snapshot()
    names = [str(m.body(b).name) for b in range(1, m.nbody)]
    links = _links(m)

    def place(rod: Rod, local: tuple[float, float, float]) -> Array:
        b = character.body_id(rod.body)
        return np.asarray(rest.body_position[b] + rest.body_rotation[b] @ local)[None]

    rods = {name: whole_rods(character, name) for name in {*(bodies or names), *(others or names)}}
    out = []
    for i, one in enumerate(names if bodies is None else bodies):
        for two in names[i + 1 :] if bodies is None and others is None else names if others is None else others:
            if links[character.body_id(one), character.body_id(two)] <= NEIGHBOURS:
                continue
            for a, b in product(rods[one], rods[two]):
                gap = gap_of_lines(*(place(r, p) for r in (a, b) for p in (r.start, r.end)))
                if float(np.linalg.norm(gap)) > a.radius + b.radius:
                    out.append((a, b))
    return out


def _links(m: mujoco.MjModel) -> Ints:
    """(nbody, nbody): how many bodies further along the tree."""
    out = np.full((m.nbody, m.nbody), m.nbody, np.int64)
    out[0, 0] = 0
    for b in range(1, m.nbody):
        out[b, :b] = out[:b, b] = out[int(m.body_parentid[b]), :b] + 1
        out[b, b] = 0
    return out


def gap_of_lines(a: Array, b: Array, c: Array, d: Array) -> Array:
    """The way (..., 3) to the nearest point of a-b from that of c-d."""
    s, t = nearest_on_lines(a, b, c, d)
    return np.asarray(a + s[..., None] * (b - a) - c - t[..., None] * (d - c))


def nearest_on_lines(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array]:
    """Shares s, t in [0, 1] of the nearest points of lines a-b and c-d (n, 3); Ericson 2005, section 5.1.9."""
    u, v, w = b - a, d - c, a - c
    uu, vv, uv = (u * u).sum(-1), (v * v).sum(-1), (u * v).sum(-1)
    uw, vw = (u * w).sum(-1), (v * w).sum(-1)
    denominator = uu * vv - uv * uv
    s = np.where(denominator > TINY, (uv * vw - uw * vv) / np.maximum(denominator, TINY), 0.5)
    s = np.where(vv > TINY, s, -uw / np.maximum(uu, TINY))  # the other is a point
    s = np.clip(np.where(uu > TINY, s, 0.0), 0.0, 1.0)
    t = np.where(vv > TINY, (uv * s + vw) / np.maximum(vv, TINY), 0.0)
    clipped = np.clip(t, 0.0, 1.0)
    again = np.where(uu > TINY, (uv * clipped - uw) / np.maximum(uu, TINY), 0.0)
    return np.where(t == clipped, s, np.clip(again, 0.0, 1.0)), clipped
