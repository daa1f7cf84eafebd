"""Points that a target should reach besides its soles: ends of legs with other bones than the source's, and hands."""

from __future__ import annotations

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.anatomy import Anatomy
from counterpoise.motion.retarget.links import Pairing, ReachedPoint, rest_facing


def from_hips(pairing: Pairing, point: ReachedPoint, places: Array, turns: Array) -> Array:
    """Returns the vectors (n, 3) from the target's hips to a reached ankle.

    The vector of the source's leg, as a share of its length at rest, is transferred to the target's leg. `places` and
    `turns` are the source's frames.
    """
    source, target, G = pairing.source, pairing.target, pairing.facing
    theirs = places[:, point.source_ankle] - places[:, point.source_hip]
    pelvis = spatial.multiply(turns[:, source.hips], spatial.conjugate(source.turns[source.hips]))
    rest = source.places[point.source_ankle] - source.places[point.source_hip]
    straight = spatial.rotate(spatial.conjugate(rest_facing(source)), rest)
    length = float(np.linalg.norm(straight))
    straight = spatial.rotate(rest_facing(source), straight * np.array([1.0, 0.0, 1.0]))
    local = spatial.rotate(spatial.conjugate(pelvis), theirs)
    swing = spatial.from_two_vectors(straight, np.where(np.abs(local).max(axis=1, keepdims=True) > 0, local, straight))
    ours = spatial.rotate(G, target.places[point.ankle] - target.places[point.hip])
    share = np.linalg.norm(theirs, axis=1) / max(length, 1e-9)
    way = spatial.rotate(pelvis, spatial.rotate(swing, ours)) * share[:, None]
    hip = spatial.rotate(G, target.places[point.hip] - target.places[target.hips])
    return np.asarray(spatial.rotate(pelvis, hip) + way)


def hands_from_shoulders(pairing: Pairing, places: Array) -> list[tuple[int, Ints, Array]]:
    """Returns for each hand of the target its body, both shoulders, and the vector (n, 3) to it from between these.

    Vectors are the source's, scaled by the length of the arms. Empty if one of the two lacks an arm or a hand.
    """
    source, target = pairing.source, pairing.target
    whole = {"arm_left", "arm_right", "hand_left", "hand_right"}
    if not (whole <= set(source.limbs) and whole <= set(target.limbs)):
        return []
    (theirs, far), (ours, near) = _arms(source), _arms(target)
    between = places[:, theirs].mean(axis=1)
    found: list[tuple[int, Ints, Array]] = []
    for limb in ("hand_left", "hand_right"):
        way = (places[:, source.limbs[limb][0]] - between) * (near / max(far, 1e-9))
        found.append((target.limbs[limb][0], ours, way))
    return found


def _arms(at: Anatomy) -> tuple[Ints, float]:
    """Returns the first bodies of both arms and the mean length of the arms [m]."""
    tops = np.array([at.limbs[f"arm_{side}"][0] for side in ("left", "right")], dtype=np.int64)
    chains = [(*at.limbs[f"arm_{side}"], at.limbs[f"hand_{side}"][0]) for side in ("left", "right")]
    steps = [np.linalg.norm(np.diff(at.places[list(chain)], axis=0), axis=1).sum() for chain in chains]
    return tops, float(np.mean(steps))
