"""Feet and hands found by name and shape: which bodies they are, and the corners of what a foot stands on.

A foot is a body with all that is welded to it and all that hangs from it: an ankle without toes is no whole foot. Its
sole is where it would rest on a plane. In the pose given a foot may hang at an angle, so the plane is found first: of
all planes that touch three points of the foot from below, that with the largest area of contact.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import mujoco
import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.roles import ContactPoint, Foot, side_of
from counterpoise.character.shapes.solid import Solid, drawn_in
from counterpoise.character.shapes.spheres import undersides
from counterpoise.solve.geometry import convex_hull

_FOOT_WORDS = ("foot", "ankle", "sole", "paw", "hoof", "toe")
_TOE_WORD = "toe"
_HAND_WORDS = ("hand", "wrist", "gripper", "palm")
TOUCHING = 0.003  # [m] what lies within this of the sole's plane touches the ground when the foot stands on it
IN_REACH = 0.01  # [m] the same for parts that move by themselves, such as toes: they can be lowered
TIP_LENGTH = 0.015  # [m] at the far end of such a part: its contact points are there
STEEPEST_SOLE = 0.5  # least cosine of the angle between the sole's normal and the vertical
FLAT_ENOUGH = 0.8  # share of the largest area of contact from which the pose's own horizontal plane is kept
REFINEMENTS = 4  # of the sole's plane: which points touch depends on the plane where shapes are round
HEAVIEST_FOOT = 0.1  # of the body's mass, with all that hangs from it
MOST_FACES = 12  # of a foot's hull, the largest, that are tried as its sole
_DOWN = np.array([0.0, 0.0, -1.0])


def guess_feet(model: mujoco.MjModel, data: mujoco.MjData, wanted: tuple[str, ...] | None) -> tuple[list[Foot], str]:
    """Returns feet and, in words, how they were found: by name, else as the lowest leaves of the tree."""
    names, drawn = [model.body(b).name for b in range(1, model.nbody)], drawn_in(model)
    if wanted is not None:
        chosen, how = list(wanted), "feet as given"
    else:
        named = [n for n in names if any(w in n.lower() for w in _FOOT_WORDS)]
        feet = last_of_each_limb(model, [n for n in named if _TOE_WORD not in n.lower()])
        chosen = _with_shapes(model, feet or last_of_each_limb(model, named))
        how = f"feet by name: {', '.join(chosen)}"
        if not chosen:
            chosen = _lowest_leaves(model, data, drawn)
            how = f"feet as the lowest leaves of the tree: {', '.join(chosen) or 'none'}"
    found = []
    for name in chosen:
        points = sole_points(model, data, drawn, name)
        if points:
            found.append(Foot(name, name, side_of(name, names), tuple(points)))
    return found, how


def _with_shapes(model: mujoco.MjModel, names: Sequence[str]) -> list[str]:
    """Returns for each body itself, or, if it has no shape of its own, the body with a joint that it is fixed to.

    The frame of a sole and a sensor are no feet themselves.
    """
    found = []
    for name in names:
        b = model.body(name).id
        host = int(model.body_weldid[b])
        bare = not (model.geom_bodyid == b).any() and host not in (0, int(model.body_weldid[1]))
        found.append(model.body(host).name if bare else name)
    return list(dict.fromkeys(found))


def guess_hands(model: mujoco.MjModel) -> tuple[str, ...]:
    names = [model.body(b).name for b in range(1, model.nbody)]
    return tuple(last_of_each_limb(model, [n for n in names if any(w in n.lower() for w in _HAND_WORDS)]))


# -------------------------------------------------------------------------------------------------------------- soles


def sole_points(
    model: mujoco.MjModel, data: mujoco.MjData, drawn: Sequence[Solid], body: str
) -> list[ContactPoint]:  # fmt: skip
    """Returns the corners of a foot's sole: up to four of each part that moves by itself, posed as in `data`."""
    foot = model.body(body).id
    solids = _shapes_of(drawn, _with_all_below(model, foot))
    if not solids:
        return []
    down = _sole_direction(data, solids)
    places, owners = _lowest(data, solids, down)
    depth = places @ down
    own = int(model.body_weldid[foot])
    welds = np.array([int(model.body_weldid[b]) for b in owners])
    low = depth >= depth.max() - np.where(welds == own, TOUCHING, IN_REACH)
    out = []
    for weld in dict.fromkeys([own, *welds[low].tolist()]):
        target = foot if weld == own else weld
        R, name = data.xmat[target].reshape(3, 3), model.body(target).name
        mine = places[low & (welds == weld)]
        if weld != own:
            mine = _tip(mine, data.xpos[foot], down)
        for i, corner in enumerate(_corners(mine, down)):
            p = (R.T @ (corner - data.xpos[target])).tolist()
            out.append(ContactPoint(f"{name}_{i}", name, (p[0], p[1], p[2])))
    return out


def _tip(places: Array, ankle: Array, down: Array) -> Array:
    """Returns the points (k, 3) at the far end of a part: by turning, a part can lower its end, but not all of it."""
    away = places.mean(axis=0) - ankle
    away = away - (away @ down) * down
    along = places @ (away / max(float(np.linalg.norm(away)), 1e-9))
    return np.asarray(places[along >= along.max() - TIP_LENGTH])


def _with_all_below(model: mujoco.MjModel, foot: int) -> list[int]:
    """Returns a foot's body, those welded to it, and those that hang from it."""
    weld, inside = int(model.body_weldid[foot]), {foot}
    for b in range(1, model.nbody):
        if int(model.body_weldid[b]) == weld or int(model.body_parentid[b]) in inside:
            inside.add(b)
    return sorted(inside)


def _shapes_of(drawn: Sequence[Solid], bodies: Collection[int]) -> list[Solid]:
    """Returns the solids of bodies, or what is drawn of them if none collides."""
    mine = [s for s in drawn if s.body in bodies]
    return [s for s in mine if s.collides] or mine


def _lowest(data: mujoco.MjData, solids: Sequence[Solid], down: Array) -> tuple[Array, Ints]:
    """Returns points (n, 3) of solids that would touch a plane below them, world, and their bodies (n,)."""
    places, owners = [np.empty((0, 3))], [np.empty(0, np.int64)]
    for solid in solids:
        R = data.xmat[solid.body].reshape(3, 3)
        found = data.xpos[solid.body] + undersides(solid, R.T @ down) @ R.T
        places.append(found)
        owners.append(np.full(len(found), solid.body, np.int64))
    return np.concatenate(places), np.concatenate(owners)


def _sole_direction(data: mujoco.MjData, solids: Sequence[Solid]) -> Array:
    """Returns the unit vector (3,), world, that points out of the sole: straight down if the foot is posed flat."""
    best, area = _DOWN, _touching_area(data, solids, _DOWN) / FLAT_ENOUGH
    for way in _ways_to_rest(_lowest(data, solids, _DOWN)[0]):
        for _ in range(REFINEMENTS):
            if (found := _touching_area(data, solids, way) * -way[2]) > area * 1.001:
                best, area = way, found
            way = _refined(data, solids, way)
    return best


def _ways_to_rest(places: Array) -> list[Array]:
    """Returns the normals of the largest faces of the convex hull that look down."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        hull = ConvexHull(places)
    except (QhullError, ValueError):  # fewer than four points, or all in one plane
        if len(places) < 3:
            return []
        normal = np.linalg.svd(places - places.mean(axis=0))[2][-1]
        return [normal * (-1.0 if normal[2] > 0.0 else 1.0)] if abs(normal[2]) > STEEPEST_SOLE else []
    a, b, c = (places[hull.simplices[:, k]] for k in range(3))
    areas, normals = np.linalg.norm(np.cross(b - a, c - a), axis=1), hull.equations[:, :3]
    below = -normals[:, 2] > STEEPEST_SOLE
    sizes: dict[tuple[float, ...], tuple[float, Array]] = {}  # triangles of one face have one normal
    for normal, area in zip(normals[below], areas[below], strict=True):
        key = tuple(np.round(normal, 2).tolist())
        sizes[key] = (sizes.get(key, (0.0, normal))[0] + float(area), normal)
    return [normal for _, normal in sorted(sizes.values(), key=lambda found: -found[0])[:MOST_FACES]]


def _refined(data: mujoco.MjData, solids: Sequence[Solid], down: Array) -> Array:
    """Returns the normal of the plane fitted to what touches a plane with the normal `down`."""
    places = _lowest(data, solids, down)[0]
    depth = places @ down
    touching = places[depth >= depth.max() - TOUCHING]
    if len(touching) < 3:
        return down
    _, size, axes = np.linalg.svd(touching - touching.mean(axis=0))
    if len(size) < 3 or size[1] < TOUCHING:
        return down
    return np.asarray(axes[2] if axes[2] @ down > 0.0 else -axes[2])


def _touching_area(data: mujoco.MjData, solids: Sequence[Solid], down: Array) -> float:
    """Returns the area [m^2] of the hull of what touches a plane with the normal `down`."""
    places = _lowest(data, solids, down)[0]
    depth = places @ down
    hull = convex_hull(places[depth >= depth.max() - TOUCHING] @ np.array(_plane_axes(down)).T)
    x, y = hull.T
    return float(abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2.0) if len(hull) > 2 else 0.0


def _plane_axes(down: Array) -> tuple[Array, Array]:
    """Returns the unit vectors nearest to x and y in the plane with the normal `down`."""
    x = np.array([1.0, 0.0, 0.0]) - down[0] * down
    x = x / np.linalg.norm(x)
    return x, np.cross(x, down)


def _corners(places: Array, down: Array) -> list[Array]:
    """Returns up to four corners of points: the farthest along the diagonals of the rectangle about them."""
    if not len(places):
        return []
    x, y = (places @ axis for axis in _plane_axes(down))
    x, y = x / max(float(np.ptp(x)), TOUCHING), y / max(float(np.ptp(y)), TOUCHING)
    corners: list[Array] = []
    for sx, sy in ((-1, 1), (-1, -1), (1, 1), (1, -1)):
        pick = places[int(np.argmax(sx * (x - x.mean()) + sy * (y - y.mean())))]
        if all(np.linalg.norm(pick - c) > TOUCHING for c in corners):
            corners.append(pick)
    return corners


# -------------------------------------------------------------------------------------------------------------- limbs


def last_of_each_limb(model: mujoco.MjModel, names: list[str]) -> list[str]:
    """Of bodies in one chain (ankle_pitch, ankle_roll) the outermost that has a shape."""
    ids = {model.body(n).id: n for n in names if _has_shape(model, model.body(n).id)}
    covered = set()
    for b in ids:
        parent = int(model.body_parentid[b])
        while parent > 0:
            covered.add(parent)
            parent = int(model.body_parentid[parent])
    return [n for b, n in ids.items() if b not in covered]


def _has_shape(model: mujoco.MjModel, body: int) -> bool:
    return any(
        int(model.body_weldid[int(model.geom_bodyid[g])]) == int(model.body_weldid[body]) for g in range(model.ngeom)
    )


def _whole_foot(model: mujoco.MjModel, data: mujoco.MjData, drawn: Sequence[Solid], leaf: int, bottom: float) -> int:
    """Returns the body of the foot that a leaf belongs to: toes hang from a part that stands on the same ground."""
    foot = leaf
    while (parent := int(model.body_parentid[foot])) > 0:
        solids = _shapes_of(drawn, [parent])
        if not solids or model.body_subtreemass[parent] > HEAVIEST_FOOT * model.body_subtreemass[0]:
            break
        if float(_lowest(data, solids, _DOWN)[0][:, 2].min()) > bottom + IN_REACH:
            break
        foot = parent
    return foot


def _lowest_leaves(model: mujoco.MjModel, data: mujoco.MjData, drawn: Sequence[Solid]) -> list[str]:
    """Returns the leaves that end as low as the lowest; of several that are welded together, one body."""
    parents = {int(model.body_parentid[b]) for b in range(1, model.nbody)}
    leaves = [b for b in range(1, model.nbody) if b not in parents]
    bottoms = {}
    for b in leaves:
        solids = _shapes_of(drawn, [b])
        if solids:
            bottoms[b] = float(_lowest(data, solids, _DOWN)[0][:, 2].min())
    if not bottoms:
        return []
    lowest = min(bottoms.values())
    spread = max(float(data.xpos[1:, 2].max()) - lowest, 1e-6)
    low = [_whole_foot(model, data, drawn, b, z) for b, z in bottoms.items() if z - lowest < 0.05 * spread]
    alike = [sum(model.body_weldid[b] == model.body_weldid[c] for c in low) for b in low]
    chosen = [b if count == 1 else int(model.body_weldid[b]) for b, count in zip(low, alike, strict=True)]
    return [model.body(b).name for b in dict.fromkeys(chosen)]
