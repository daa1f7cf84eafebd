"""Motion from labelled markers: size and marker places found first, then every frame by the pose solver.

markers = read_markers("trial.c3d")
fit = cp.fit_markers(markers, cp.character("human"))
fit.motion.write("trial.bvh")
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.signal import butter, sosfiltfilt

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_kinematics
from counterpoise.character.track import follow
from counterpoise.errors import BadValue
from counterpoise.motion.files.markers import Markers, gaps
from counterpoise.motion.motion import Motion
from counterpoise.pose.build import build_pose_problem
from counterpoise.pose.descent import descend
from counterpoise.pose.goals import Posture, Reach
from counterpoise.pose.marker_labels import placements
from counterpoise.pose.marker_size import Calibration
from counterpoise.pose.problem import PoseProblem
from counterpoise.pose.solver import compile_once, solve_pose
from counterpoise.pose.tuning import PoseTuning

FADE = 0.1  # [s]: a marker loses its say over this time before a gap that is left open, and wins it back after
NOTHING = 1e-5  # weight of a marker that is not seen
LOST = 0.08  # [m]: a first pose whose markers are further off than this is tried again from elsewhere
CALIBRATION = 30  # frames from which size and places are found
RIGID = 0.03  # pairs of markers whose distance varies by less than this share of it count as rods
EACH_FRAME = PoseTuning(iterations=16, restarts=0, damping=1e-3, flat=1e-6, settle=0)
FIRST = PoseTuning(iterations=120, restarts=0, damping=1e-2, flat=1e-7, settle=0)


@dataclass(frozen=True, eq=False)
class MarkerFit:
    """A motion fitted to markers, and the account of it."""

    motion: Motion
    placement: dict[str, tuple[str, tuple[float, float, float]]]  # where each used marker sits: segment, place [m]
    errors: Array  # (f, m) [m] from each used marker to its place on the body; NaN where it was not seen
    factors: dict[str, float]  # length factor of each segment
    ignored: tuple[str, ...]  # labels without a place
    told: tuple[str, ...]  # what was guessed, bridged, left open

    @property
    def character(self) -> Character:
        """The figure in the size of the person."""
        return self.motion.character

    @property
    def rms(self) -> float:
        """Root mean square of all errors [m]."""
        return float(np.sqrt(np.nanmean(np.square(self.errors))))

    def __repr__(self) -> str:
        by_label = dict(zip(self.placement, np.sqrt(np.nanmean(np.square(self.errors), axis=0)), strict=True))
        label, worst = max(by_label.items(), key=lambda kv: kv[1])
        return (
            f"MarkerFit({len(self.motion)} frames, {len(self.placement)} markers, rms {1e3 * self.rms:.1f} mm; "
            f"worst: {label} {1e3 * worst:.1f} mm; {len(self.ignored)} labels ignored)"
        )


def fit_markers(
    markers: Markers,
    character: Character,
    placement: Mapping[str, Any] | None = None,
    *,
    height: float | None = None,
    size: bool = True,
    refine: bool = True,
    cutoff: float | None = 12.0,
    bridge: float = 0.2,
    name: str = "",
) -> MarkerFit:
    """The motion of a figure that brings its markers to where they were seen, within its joint limits.

    `placement` says where markers sit, {label: (body, point)}; without it the usual labels of human figures are known
    (Plug-in Gait, Vicon, CMU). With `size` the segments' lengths are found from the data (left and right alike), unless
    a `height` [m] is asked for; with `refine` the markers' places too. Gaps of up to `bridge` seconds are bridged; over
    longer ones a marker has no say. Marker paths are first smoothed without lag below `cutoff` [Hz] (None: not at all).
    """
    if cutoff is not None and not (np.isfinite(cutoff) and cutoff > 0.0):
        raise BadValue(f"a cutoff is a positive frequency [Hz] or None, not {cutoff!r}", cutoff=cutoff)
    if height is not None:
        if not (np.isfinite(height) and 0.05 <= height <= 50.0):
            raise BadValue(f"a height is a number of metres, not {height!r}", height=height)
        character = character.rescaled(lengths={"all": float(height) / character.height})
    compile_once()
    places, ignored = placements(markers.labels, character, placement)
    labels = list(places)
    bodies = [places[label][0] for label in labels]
    points = np.array([places[label][1] for label in labels])
    whole = markers.bridged(bridge)
    column = [markers.labels.index(label) for label in labels]
    targets = whole.places[:, column]
    seen = np.isfinite(targets[..., 0])
    if gone := [label for i, label in enumerate(labels) if not seen[:, i].any()]:
        keep = [i for i in range(len(labels)) if labels[i] not in gone]
        labels, bodies = [labels[i] for i in keep], [bodies[i] for i in keep]
        points, targets, seen = points[keep], targets[:, keep], seen[:, keep]
        ignored = (*ignored, *gone)
        if len(labels) < 3:
            raise BadValue(f"fewer than 3 of the known markers were ever seen; missing: {', '.join(gone[:8])}")
    if cutoff is not None:
        targets = smoothed(targets, seen, markers.rate, cutoff)
    weights = say(seen, round(FADE * markers.rate))
    factors = {segment: 1.0 for segment in character.segments}
    if size or refine:
        fit_size = size and height is None
        character, points, factors = _calibrated(
            character, bodies, points, targets, weights, markers.rate, fit_size, refine
        )
    poses = _tracked(character, bodies, points, targets, weights)
    motion = Motion(character, np.arange(len(poses)) / markers.rate, poses, name=name or markers.name)
    where = _marker_paths(character, bodies, points, poses)
    errors = np.linalg.norm(where - whole.places[:, [markers.labels.index(label) for label in labels]], axis=2)
    errors[~markers.seen[:, [markers.labels.index(label) for label in labels]]] = np.nan
    sits = {
        label: (body, (float(p[0]), float(p[1]), float(p[2])))
        for label, body, p in zip(labels, bodies, points, strict=True)
    }
    return MarkerFit(motion, sits, errors, factors, ignored, tuple(whole.notes.get("remarks", ())))


# --------------------------------------------------------------------------------------------------- the data


def smoothed(targets: Array, seen: Flags, rate: float, cutoff: float) -> Array:
    """Marker paths (f, m, 3) without what is quicker than `cutoff` [Hz]: Butterworth, forward and back, no lag."""
    if cutoff >= 0.45 * rate:
        return targets
    sos = butter(2, cutoff, fs=rate, output="sos")
    out = targets.copy()
    for m in range(targets.shape[1]):
        for start, end in gaps(~seen[:, m]):  # the runs in which it was seen
            if end - start > 12:
                pad = min(end - start - 1, max(12, round(rate / cutoff)))
                out[start:end, m] = sosfiltfilt(sos, targets[start:end, m], axis=0, padtype="odd", padlen=pad)
    return out


def say(seen: Flags, fade: int) -> Array:
    """How much each marker counts in each frame (f, m): 1, or less near a gap, so that nothing jumps; 0 in it."""
    out = seen.astype(np.float64)
    for m in range(seen.shape[1]):
        for start, end in gaps(seen[:, m]):
            for k in range(1, fade + 1):
                share = k / (fade + 1)
                if start - k >= 0:
                    out[start - k, m] = min(out[start - k, m], share)
                if end + k - 1 < len(seen):
                    out[end + k - 1, m] = min(out[end + k - 1, m], share)
    return out


# --------------------------------------------------------------------------------------------------------- size


def _calibrated(
    character: Character,
    bodies: list[str],
    points: Array,
    targets: Array,
    weights: Array,
    rate: float,
    size: bool,
    refine: bool,
) -> tuple[Character, Array, dict[str, float]]:
    """The figure and its markers in the person's size: a rough size, poses of some frames, then all together."""
    start = _rough_size(character, bodies, points, targets) if size else 1.0
    rough = character.rescaled(lengths={"all": start}) if abs(start - 1.0) > 0.02 else character
    start = start if rough is not character else 1.0
    step = max(1, round(rate / 20.0), -(-len(targets) // 600))
    every = np.arange(0, len(targets), step)
    poses = _tracked(rough, bodies, start * points, targets[every], weights[every])
    few = np.unique(np.linspace(0, len(every) - 1, CALIBRATION).astype(np.int64))
    ids = np.array([character.body_id(body) for body in bodies], dtype=np.int64)
    calibration = Calibration(character, ids, points)
    _, shape = calibration.solve(poses[few], targets[every][few], weights[every][few], start, size, refine)
    factors = {name: float(shape.factors[character.body_id(name)]) for name in character.segments}
    places = shape.factors[ids, None] * points + shape.slips
    if not size:
        return character, places, factors
    return character.rescaled(lengths=factors), places, factors


def _rough_size(character: Character, bodies: list[str], points: Array, targets: Array) -> float:
    """The median ratio of distances between markers that keep their distance, data to figure."""
    here = _marker_paths(character, bodies, points, character.neutral[None])[0]
    ratios, sizes = [], []
    for i in range(len(bodies)):
        for j in range(i):
            model = float(np.linalg.norm(here[i] - here[j]))
            apart = np.linalg.norm(targets[:, i] - targets[:, j], axis=1)
            apart = apart[np.isfinite(apart)]
            if model > 0.1 and len(apart) > 1 and apart.std() < RIGID * apart.mean():
                ratios.append(float(apart.mean()) / model)
                sizes.append(model)
    if not ratios:
        return 1.0
    order = np.argsort(ratios)
    share = np.cumsum(np.array(sizes)[order])
    return float(np.clip(np.array(ratios)[order][np.searchsorted(share, 0.5 * share[-1])], 0.1, 10.0))


# ------------------------------------------------------------------------------------------------- frame by frame


def _tracked(character: Character, bodies: list[str], points: Array, targets: Array, weights: Array) -> Array:
    """The pose of every frame (f, nq): each starts from the one before it and leans to it."""
    first = int(np.argmax(weights.sum(axis=1) > 0.9 * weights.sum(axis=1).max()))
    wishes = [Reach(b, np.nan_to_num(targets[first, i]), points[i]) for i, b in enumerate(bodies)]
    problem = build_pose_problem(character, [*wishes, Posture(weight=1e-3)], (), character.neutral)
    out = np.empty((len(targets), character.nq))
    start = _first_pose(problem, bodies, points, targets[first], weights[first])
    for frames in (range(first, len(targets)), range(first - 1, -1, -1)):
        q, aim = start, np.nan_to_num(targets[first])
        warm: dict[str, Any] = {}
        last: Array | None = None
        for k in frames:
            aim = np.where(np.isfinite(targets[k]), targets[k], aim)
            here = problem.aimed(aim, np.empty((0, 4)), q, q)
            if last is None or not np.array_equal(weights[k], last):
                problem = problem.weighing(np.maximum(weights[k], NOTHING))
                here, last = problem.aimed(aim, np.empty((0, 4)), q, q), weights[k]
            q = descend(here, q, EACH_FRAME, EACH_FRAME.iterations, time.perf_counter(), None, warm, polish=False).q
            out[k] = q
    return out


def _first_pose(problem: PoseProblem, bodies: Sequence[str], points: Array, target: Array, weight: Array) -> Array:
    """A pose to begin with: the neutral one carried to the markers, then downhill; other starts if that is not near."""
    character = problem.character
    seen = np.isfinite(target[:, 0])
    q = _carried(character, bodies, points, target, seen)
    here = problem.weighing(np.maximum(weight, NOTHING)).aimed(np.nan_to_num(target), np.empty((0, 4)), q, q)
    found = descend(here, q, FIRST, FIRST.iterations, time.perf_counter(), None, None, polish=False).q
    if _miss(character, bodies, points, found, target) < LOST:
        return found
    wishes = [Reach(body, target[i], points[i]) for i, body in enumerate(bodies) if seen[i]]
    other = np.array(solve_pose(character, wishes, (), q, PoseTuning(restarts=8, seconds=5.0)).q)
    worse = _miss(character, bodies, points, other, target) > _miss(character, bodies, points, found, target)
    return found if worse else other


def _carried(character: Character, bodies: Sequence[str], points: Array, target: Array, seen: Flags) -> Array:
    """The neutral pose, its root moved and turned so that trunk markers come to theirs (Kabsch 1976)."""
    q = character.neutral.copy()
    if not character.joints or character.joints[0].kind != "free":
        return q
    here = _marker_paths(character, bodies, points, q[None])[0]
    trunk = np.array([body in (character.root, "thorax", "abdomen", "trunk") for body in bodies]) & seen
    use = trunk if trunk.sum() >= 3 else seen
    a, b = here[use], target[use]
    U, _, Vt = np.linalg.svd((b - b.mean(axis=0)).T @ (a - a.mean(axis=0)))
    R = U @ np.diag([1.0, 1.0, float(np.sign(np.linalg.det(U @ Vt)))]) @ Vt
    root = character.joints[0].qpos
    q[root.start : root.start + 3] = b.mean(axis=0) + R @ (q[root.start : root.start + 3] - a.mean(axis=0))
    turn = slice(root.start + 3, root.start + 7)
    q[turn] = spatial.multiply(spatial.from_matrix(R), q[turn])
    return q


def _miss(character: Character, bodies: Sequence[str], points: Array, q: Array, target: Array) -> float:
    far = np.linalg.norm(_marker_paths(character, bodies, points, q[None])[0] - target, axis=1)
    return float(np.sqrt(np.nanmean(np.square(far))))


def _marker_paths(character: Character, bodies: Sequence[str], points: Array, poses: Array) -> Array:
    """Where the figure's own markers are, (f, m, 3)."""
    ids = [character.body_id(body) for body in bodies]
    if len(poses) == 1:
        snapshot = take_kinematics(character, poses[0])
        turned = np.einsum("mij,mj->mi", snapshot.body_rotation[ids], points)
        return (snapshot.body_position[ids] + turned)[None]
    track = follow(character, poses)
    out: Array = track.bodies[:, ids] + np.einsum("fmij,mj->fmi", track.rotations[:, ids], points)
    return out


__all__ = ["MarkerFit", "fit_markers"]
