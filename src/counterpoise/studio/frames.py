"""Binary frames: one pose as bytes, about half a kilobyte, and a whole motion for scrubbing without the server.

A frame is little-endian: kind, status, arrows, corners (u8 each); bodies, efforts, figure, props (u16 each); seq,
revision (u32); time [s], milliseconds of computing, CoM (f32 x 5); then places (bodies, 3), quaternions x y z w
(bodies, 4), arrows (n, 6: place [m], force [N]), corners of the support (m, 2), efforts (0 or one a body: share of the
strength of the joint that moves it) and props (p, 7: place, quaternion x y z w), all f32, z up.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import put_in_pose
from counterpoise.solve.geometry import convex_hull

POSED, LIVE, GHOST = 1, 2, 3  # kinds of frames: the pose under the hand, the simulation, what a job has found so far
STATUSES = ("solved", "unreachable", "infeasible", "out_of_time")
HEAD = struct.Struct("<BBBBHHHHIIfffff")
TRACK_MAGIC = b"CPT1"
MAX_ARROWS = 64
SUPPORT_HEIGHT = 0.02  # [m] contact points lower than this carry


@dataclass(frozen=True, eq=False)
class PoseFrame:
    """One pose to draw, with what is drawn over it."""

    kind: int
    character: Character
    q: Array  # (nq,)
    seq: int = 0  # of the pointer message it answers; 0: none
    revision: int = 0  # of the scene
    status: int = 0  # index in STATUSES
    time: float = 0.0  # [s]
    cost: float = 0.0  # [ms] of computing
    arrows: Array = field(default_factory=lambda: np.empty((0, 6)))  # place [m], force [N]
    efforts: Array = field(default_factory=lambda: np.empty(0))  # of the joint of each body, 1: all its strength
    figure: int = 0  # of a live run; 0: the one on the timeline
    props: Array = field(default_factory=lambda: np.empty((0, 7)))  # place [m], quaternion w x y z


def pack_frame(frame: PoseFrame) -> bytes:
    """Returns the frame as bytes."""
    data = put_in_pose(frame.character, frame.q)
    places, turns, com = data.xpos[1:], np.roll(data.xquat[1:], -1, axis=1), data.subtree_com[0].copy()
    corners = support_corners(frame.character, data.xpos, data.xmat)
    arrows = frame.arrows[:MAX_ARROWS]
    head = HEAD.pack(
        frame.kind, frame.status, len(arrows), len(corners), len(places), len(frame.efforts),
        frame.figure, len(frame.props), frame.seq, frame.revision, frame.time, frame.cost, *com,
    )  # fmt: skip
    props = np.hstack([frame.props[:, :3], np.roll(frame.props[:, 3:], -1, axis=1)])
    parts = [np.ascontiguousarray(a, "<f4").tobytes() for a in (places, turns, arrows, corners, frame.efforts, props)]
    return b"".join([head, *parts])


def support_corners(character: Character, positions: Array, matrices: Array, floor: float = SUPPORT_HEIGHT) -> Array:
    """Returns the hull of the contact points near the ground, (m, 2); empty where fewer than three carry."""
    points = [
        positions[b] + matrices[b].reshape(3, 3) @ np.asarray(point.position)
        for foot in character.feet
        for point in foot.points
        for b in (character.body_id(point.body),)
    ]
    low = [p[:2] for p in points if p[2] < floor]
    if len(low) < 3:
        return np.empty((0, 2))
    hull = np.asarray(convex_hull(np.array(low)))
    return hull[:255] if len(hull) >= 3 else np.empty((0, 2))


def pack_track(character: Character, times: Array, poses: Array | Sequence[Array]) -> bytes:
    """Returns a motion for the page: magic, frames, bodies (u32), then times, CoM, places and quaternions (f32)."""
    n, bodies = len(times), len(character.segments)
    places, turns, coms = np.empty((n, bodies, 3)), np.empty((n, bodies, 4)), np.empty((n, 3))
    for k, q in enumerate(poses):
        data = put_in_pose(character, np.asarray(q))
        places[k], turns[k], coms[k] = data.xpos[1:], np.roll(data.xquat[1:], -1, axis=1), data.subtree_com[0]
    return pack_rows(np.asarray(times), coms, places, turns)


def pack_rows(times: Array, coms: Array, places: Array, turns: Array) -> bytes:
    """Returns places (n, bodies, 3) and quaternions x y z w (n, bodies, 4) over time as bytes; see `pack_track`."""
    head = TRACK_MAGIC + struct.pack("<II", *places.shape[:2])
    return head + b"".join(np.ascontiguousarray(a, "<f4").tobytes() for a in (times, coms, places, turns))
