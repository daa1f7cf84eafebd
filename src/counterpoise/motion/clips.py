"""Between clips and motions: a file's skeleton becomes a character with a motion, and any motion becomes a clip.

Places of joints are exact both ways: a character built from a skeleton has its joints where the file has them, and a
clip has its joints at the frames of the character's bodies.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.kinematics import local_frames
from counterpoise.character.shapes import body_solids
from counterpoise.character.skeletal.build import character_from_skeleton
from counterpoise.character.skeletal.parts import read_parts
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.files.names import unique_names
from counterpoise.motion.motion import Motion
from counterpoise.motion.skeleton import MAX_DEPTH, MAX_JOINTS, Clip, Skeleton, Source

MIN_MOVEMENT = 1e-6  # [m] a joint whose place changes by more can slide
UPRIGHT_SHARE = 0.75  # of the largest height of the head above the feet: a rest pose with more stands
MAX_PROBES = 48  # frames that are enough to find out how a figure stands
Frames = tuple[int, int] | slice | range


# ------------------------------------------------------------------------------------------- from clip to motion


def motion_of_clip(clip: Clip, character_name: str = "", whole: Clip | None = None) -> Motion:
    """Returns the clip as the motion of a character built from its skeleton; `motion.source` keeps the file's notes.

    If the clip is a part of a `whole` one, the character is built from the whole one.
    """
    bones = clip.skeleton
    whole = whole if whole is not None else clip
    check_tree(bones.parents)
    names = body_names(bones.names)
    away = np.abs(whole.translations - bones.offsets).max(axis=(0, 2))
    moving = [i for i in range(1, len(bones)) if away[i] > MIN_MOVEMENT]
    stance = standing_frame(whole)
    character = character_from_skeleton(
        character_name or clip.name or "figure",
        names,
        bones.parents,
        bones.offsets,
        bones.rest,
        bones.ends,
        stance=None if stance is None else level(clip, stance),
        moving=moving,
        remarks=tuple(clip.notes.get("remarks", ())),
    )
    poses = np.tile(np.asarray(character.model.qpos0, dtype=np.float64), (len(clip), 1))
    poses[:, 0:3], poses[:, 3:7] = clip.translations[:, 0], clip.rotations[:, 0]
    at = np.array([_address(character.model, name) for name in names[1:]], dtype=np.int64)
    resting = np.array_equal(bones.rest, np.broadcast_to(spatial.IDENTITY, bones.rest.shape))
    back = spatial.conjugate(bones.rest)
    turns = clip.rotations[:, 1:] if resting else spatial.multiply(back[1:], clip.rotations[:, 1:])
    poses[:, at[:, None] + np.arange(4)] = turns
    for i in moving:
        shift = spatial.rotate(back[i], clip.translations[:, i] - bones.offsets[i])
        poses[:, at[i - 1] - 3 : at[i - 1]] = shift
    times = np.arange(len(clip)) / clip.rate
    source = Source(str(clip.notes.get("format", "")), names, bones, clip.notes, clip.meshes)
    return Motion(character, times, poses, name=clip.name, source=source)


def check_tree(parents: Sequence[int]) -> None:
    """Raises BadValue unless there is one root, and neither too many joints nor too many one below the other."""
    if len(parents) > MAX_JOINTS:
        raise BadValue(f"{len(parents)} joints are more than the {MAX_JOINTS} a figure may have", joints=len(parents))
    roots = [i for i, parent in enumerate(parents) if parent < 0]
    if roots != [0]:
        raise BadValue(f"a figure is one tree with its root first; this skeleton has {len(roots)} roots", roots=roots)
    depth = [0] * len(parents)
    for i, parent in enumerate(parents):
        depth[i] = depth[parent] + 1 if parent >= 0 else 0
    if max(depth) >= MAX_DEPTH:
        raise BadValue(f"a figure may be {MAX_DEPTH} joints deep; this one has {max(depth) + 1}", depth=max(depth) + 1)


def body_names(names: Sequence[str]) -> tuple[str, ...]:
    """Returns names that segments can have: unique, printable, without spaces."""
    clean = [re.sub(r"[^\w.:\-]+", "_", name).strip("_") or "joint" for name in names]
    return unique_names([name if name != "world" else "world_" for name in clean])


def _address(model: mujoco.MjModel, body: str) -> int:
    """Returns where the ball joint of a body, its last joint, stands in q."""
    found = model.body(body)
    return int(model.jnt_qposadr[int(found.jntadr[0]) + int(found.jntnum[0]) - 1])


# --------------------------------------------------------------------------------------------- standing upright


def probes(clip: Clip, most: int = MAX_PROBES) -> Clip:
    """Returns a few frames of a clip, evenly spread."""
    chosen = np.unique(np.linspace(0, len(clip) - 1, most).astype(np.int64))
    return replace(clip, rotations=clip.rotations[chosen], translations=clip.translations[chosen])


def upright(clip: Clip) -> tuple[Array, Array]:
    """Returns the vectors from the feet to the head, at rest (3,) and in each frame (f, 3); zero if unknown."""
    bones = clip.skeleton
    found = read_parts(bones.names, bones.parents, bones.offsets)
    rest, _ = bones.world()
    places, _ = clip.world()
    if found.head is not None and found.feet:
        feet = list(found.feet)
        return rest[found.head] - rest[feet].mean(axis=0), places[:, found.head] - places[:, feet].mean(axis=1)
    return np.zeros(3), np.zeros((len(clip), 3))


def standing_frame(clip: Clip) -> Array | None:
    """Returns rotations (n, 4) of the most upright frame; None if the rest pose stands, or if upright is unknown.

    Many BVH figures rest with all bones along one axis, which does not show how they stand.
    """
    few = probes(clip)
    at_rest, moving = upright(few)
    size = float(np.linalg.norm(moving, axis=1).max(initial=0.0))
    if size == 0.0 or at_rest[2] > UPRIGHT_SHARE * size:
        return None
    best = int(np.argmax(moving[:, 2]))
    return None if moving[best, 2] <= at_rest[2] else np.array(few.rotations[best])


def level(clip: Clip, stance: Array) -> Array:
    """Returns the stance turned about the vertical so that its left is +y."""
    bones = clip.skeleton
    turned = replace(clip, rotations=stance[None], translations=bones.offsets[None])
    left = left_of(turned)
    if left is None:
        return stance
    out = stance.copy()
    out[0] = spatial.multiply(spatial.from_yaw(float(np.arctan2(left[0], left[1]))), stance[0])
    return out


def left_of(clip: Clip) -> Array | None:
    """Returns the direction (3,) to the figure's left, by joints with left and right names; None without such names."""
    bones = clip.skeleton
    found = read_parts(bones.names, bones.parents, bones.offsets)
    left = [i for i, side in enumerate(found.sides) if side == "left"]
    right = [i for i, side in enumerate(found.sides) if side == "right"]
    if not left or not right:
        return None
    places, _ = clip.world()
    way: Array = (places[:, left].mean(axis=1) - places[:, right].mean(axis=1)).mean(axis=0)
    return way if np.linalg.norm(way) > 1e-9 else None


# ------------------------------------------------------------------------------------------- from motion to clip


def clip_of_motion(
    motion: Motion,
    rate: float | None = None,
    frames: Frames | None = None,
    bodies: Sequence[str] | None = None,
) -> Clip:
    """Returns the motion as a clip whose joints are the character's body frames.

    `rate` [1/s] is kept exactly; without it the motion's own is used (of uneven keys the mean rate). `frames` picks
    frames of the result: (first, last), both included, or a slice or range. `bodies` keeps only these segments; a
    segment whose parent is left out gets the nearest ancestor that is kept as its parent.
    """
    times, poses, rate = frames_of_motion(motion, rate, frames)
    character = motion.character
    translations, rotations = (frames[:, 1:] for frames in local_frames(character, poses))
    offsets, rest = (frames[:, 1:] for frames in local_frames(character, character.model.qpos0[None]))
    kept, parents, moves, stands = _collapse(character, bodies, (rotations, translations), (rest, offsets))
    names = tuple(character.segments[b] for b in kept)
    ends = _ends(motion, kept, parents)
    skeleton = Skeleton(names, parents, stands[1][0], spatial.normalize(stands[0][0]), ends)
    notes: dict[str, Any] = {"character": character.name, "start": float(times[0])}
    return Clip(skeleton, rate, moves[0], moves[1], name=motion.name, notes=notes)


def frames_of_motion(motion: Motion, rate: float | None, frames: Frames | None) -> tuple[Array, Array, float]:
    """Returns times, poses and rate of the frames to write."""
    if rate is not None and not (np.isfinite(rate) and rate > 0.0):
        raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
    own = own_rate(motion)
    steps = np.diff(motion.times)
    even = len(steps) == 0 or float(np.abs(steps - steps.mean()).max()) < 1e-6 * float(steps.mean())
    wanted = own if rate is None else float(rate)
    if rate is None and not even and motion.source is not None:
        wanted = float(motion.source.notes.get("rate", own))
    if even and (len(motion) == 1 or abs(wanted - own) <= 1e-9 * own):
        times, poses = motion.times, motion.poses
    else:
        count = int(np.floor(motion.duration * wanted + 1e-6)) + 1
        times = np.minimum(motion.start + np.arange(count) / wanted, motion.end)
        poses = motion.sample(times).q
    if frames is not None:
        chosen = chosen_frames(frames, len(times))
        times, poses = times[chosen], poses[chosen]
    return times, poses, wanted


def own_rate(motion: Motion) -> float:
    """Returns the motion's rate without rounding errors; 30 frames a second for a single pose."""
    if len(motion) < 2:
        return 30.0
    rate = motion.rate
    given = float(motion.source.notes.get("rate", 0.0)) if motion.source is not None else 0.0
    if abs(rate - given) <= 1e-7 * rate:
        return given
    return float(round(rate)) if abs(rate - round(rate)) <= 1e-7 * rate else rate


def chosen_frames(frames: Frames, count: int) -> range:
    """Returns the frames as a range: of (first, last), both included, a slice, or a range."""
    if isinstance(frames, slice):
        chosen = range(*frames.indices(count))
    elif isinstance(frames, range):
        chosen = frames
    else:
        first, last = (int(k) for k in frames)
        chosen = range(first, last + 1)
    if len(chosen) == 0 or min(chosen) < 0 or max(chosen) >= count or chosen.step <= 0:
        raise BadValue(f"frames {frames} are not within the {count} there are: 0 to {count - 1}", frames=count)
    return chosen


def _collapse(
    character: Character, bodies: Sequence[str] | None, moves: tuple[Array, Array], stands: tuple[Array, Array]
) -> tuple[list[int], tuple[int, ...], tuple[Array, Array], tuple[Array, Array]]:
    """Returns kept bodies, their parents, and their frames: those of bodies left out between are composed into them."""
    above = [int(p) - 1 for p in character.model.body_parentid[1:]]
    segments = character.segments
    if bodies is None:
        kept = list(range(len(segments)))
    else:
        wanted = [bodies] if isinstance(bodies, str) else list(bodies)
        for name in wanted:
            if name not in segments:
                raise unknown_name("body", name, segments, character.name)
        if not wanted:
            raise BadValue("bodies to write: at least one, or None for all")
        kept = [b for b, name in enumerate(segments) if name in set(wanted)]
    place = {b: k for k, b in enumerate(kept)}
    parents: list[int] = []
    out: list[tuple[list[Array], list[Array]]] = [([], []), ([], [])]
    for b in kept:
        frames = [(turns[:, b], places[:, b]) for turns, places in (moves, stands)]
        at = above[b]
        while at >= 0 and at not in place:
            for which, (turns, places) in enumerate((moves, stands)):
                q, p = frames[which]
                frames[which] = (
                    spatial.multiply(turns[:, at], q),
                    places[:, at] + spatial.rotate(turns[:, at], p),
                )
            at = above[at]
        parents.append(place[at] if at >= 0 else -1)
        for which, (q, p) in enumerate(frames):
            out[which][0].append(q)
            out[which][1].append(p)
    moved, stood = ((np.stack(q, axis=1), np.stack(p, axis=1)) for q, p in out)
    return kept, tuple(parents), moved, stood


def _ends(
    motion: Motion, kept: Sequence[int], parents: Sequence[int]
) -> tuple[tuple[int, tuple[float, float, float]], ...]:
    """Returns where limbs end: as the file has it, otherwise at the far side of a leaf's shapes."""
    character = motion.character
    names = [character.segments[b] for b in kept]
    source = motion.source
    if source is not None and source.fits(character.segments):
        place = {name: k for k, name in enumerate(names)}
        given = [(place.get(source.bodies[joint]), end) for joint, end in source.skeleton.ends]
        return tuple((k, end) for k, end in given if k is not None)
    model = character.model
    ends = []
    for k in sorted(set(range(len(kept))) - set(parents)):
        b = kept[k] + 1
        way = np.array(model.body_ipos[b])  # a leaf lies about its centre of mass
        length = float(np.linalg.norm(way))
        if length < 1e-6:
            continue
        way /= length
        far = max((float(solid.reach(way)) for solid in body_solids(character, b)), default=0.0)
        x, y, z = (float(v) for v in max(far, length) * way)
        ends.append((k, (x, y, z)))
    return tuple(ends)
