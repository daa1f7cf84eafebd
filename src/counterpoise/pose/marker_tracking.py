"""Poses from markers: a first pose, then frame after frame by the compiled descent, each from the one before it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_kinematics
from counterpoise.character.track import follow
from counterpoise.pose.build import build_pose_problem
from counterpoise.pose.descent import descend
from counterpoise.pose.goals import Posture, Reach
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.solver import solve_pose
from counterpoise.pose.tuning import PoseTuning

UNSEEN_WEIGHT = 1e-5  # of a marker that is not seen
POSTURE_WEIGHT = 1e-3  # of staying near the frame before
MAX_FIRST_ERROR = 0.08  # [m]: a first pose whose markers are further off than this is tried again from other starts
FRAME_TUNING = PoseTuning(iterations=16, restarts=0, damping=1e-3, flat=1e-6, settle=0)
FIRST_TUNING = PoseTuning(iterations=120, restarts=0, damping=1e-2, flat=1e-7, settle=0)
RESTART_TUNING = PoseTuning(restarts=8)
TRUNK = ("thorax", "abdomen", "trunk")  # segments whose markers give the first position of the root
NO_TURNS = np.empty((0, 4))


@dataclass(frozen=True, eq=False)
class MarkerSet:
    """Markers on a figure: the body and the place of each."""

    character: Character
    bodies: tuple[str, ...]  # (m,)
    points: Array  # (m, 3) in the bodies' frames [m]

    def positions(self, poses: Array) -> Array:
        """Returns where the figure's markers are in poses (f, nq): (f, m, 3) [m]."""
        ids = [self.character.body_id(body) for body in self.bodies]
        if len(poses) == 1:
            snapshot = take_kinematics(self.character, poses[0])
            turned = np.einsum("mij,mj->mi", snapshot.body_rotation[ids], self.points)
            return (snapshot.body_position[ids] + turned)[None]
        track = follow(self.character, poses)
        out: Array = track.bodies[:, ids] + np.einsum("fmij,mj->fmi", track.rotations[:, ids], self.points)
        return out

    def rms_error(self, q: Array, target: Array) -> float:
        """Returns the root mean square distance of the markers in a pose from their targets (m, 3) [m]."""
        far = np.linalg.norm(self.positions(q[None])[0] - target, axis=1)
        return float(np.sqrt(np.nanmean(np.square(far))))


def track_markers(markers: MarkerSet, targets: Array, weights: Array) -> Array:
    """Returns the pose of every frame (f, nq) that brings the markers to their targets (f, m, 3)."""
    first = int(np.argmax(weights.sum(axis=1) > 0.9 * weights.sum(axis=1).max()))
    character = markers.character
    goals = _reaches(markers, np.nan_to_num(targets[first]), np.ones(len(markers.bodies), bool))
    problem = build_pose_problem(character, [*goals, Posture(weight=POSTURE_WEIGHT)], (), character.neutral)
    out = np.empty((len(targets), character.nq))
    start = _first_pose(problem, markers, targets[first], weights[first])
    for frames in (range(first, len(targets)), range(first - 1, -1, -1)):
        q, aim = start, np.nan_to_num(targets[first])
        warm: dict[str, Any] = {}
        last: Array | None = None
        for k in frames:
            aim = np.where(np.isfinite(targets[k]), targets[k], aim)
            if last is None or not np.array_equal(weights[k], last):
                problem, last = problem.weighing(np.maximum(weights[k], UNSEEN_WEIGHT)), weights[k]
            here = problem.aimed(aim, NO_TURNS, q, q)
            q = descend(here, q, FRAME_TUNING, FRAME_TUNING.iterations, time.perf_counter(), None, warm, polish=False).q
            out[k] = q
    return out


def _reaches(markers: MarkerSet, target: Array, seen: Flags) -> list[Reach]:
    """Returns a goal for every marker that is seen."""
    return [Reach(body, target[i], markers.points[i]) for i, body in enumerate(markers.bodies) if seen[i]]


def _first_pose(problem: PoseProblem, markers: MarkerSet, target: Array, weight: Array) -> Array:
    """Returns a pose to begin with: from the neutral pose at the markers, or from other starts if that is not near."""
    seen = np.isfinite(target[:, 0])
    q = _neutral_at(markers, target, seen)
    here = problem.weighing(np.maximum(weight, UNSEEN_WEIGHT)).aimed(np.nan_to_num(target), NO_TURNS, q, q)
    found = descend(here, q, FIRST_TUNING, FIRST_TUNING.iterations, time.perf_counter(), None, None, polish=False).q
    if markers.rms_error(found, target) < MAX_FIRST_ERROR:
        return found
    goals: Sequence[Reach] = _reaches(markers, target, seen)
    other = np.array(solve_pose(problem.character, goals, (), q, RESTART_TUNING).q)
    return found if markers.rms_error(other, target) > markers.rms_error(found, target) else other


def _neutral_at(markers: MarkerSet, target: Array, seen: Flags) -> Array:
    """Returns the neutral pose, its root moved and turned so that trunk markers come to theirs (Kabsch 1976)."""
    character = markers.character
    q = character.neutral.copy()
    if not character.joints or character.joints[0].kind != "free":
        return q
    here = markers.positions(q[None])[0]
    trunk = np.array([body == character.root or body in TRUNK for body in markers.bodies]) & seen
    use = trunk if trunk.sum() >= 3 else seen
    a, b = here[use], target[use]
    U, _, Vt = np.linalg.svd((b - b.mean(axis=0)).T @ (a - a.mean(axis=0)))
    R = U @ np.diag([1.0, 1.0, float(np.sign(np.linalg.det(U @ Vt)))]) @ Vt
    root = character.joints[0].qpos
    q[root.start : root.start + 3] = b.mean(axis=0) + R @ (q[root.start : root.start + 3] - a.mean(axis=0))
    turn = slice(root.start + 3, root.start + 7)
    q[turn] = spatial.multiply(spatial.from_matrix(R), q[turn])
    return q
