"""Motion from labelled markers: size and marker places are found first, then every frame by the pose solver.

markers = read_markers("trial.c3d")
fit = cp.fit_markers(markers, cp.character("human"))
fit.motion.write("trial.bvh")
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion.files.markers import Markers, gaps
from counterpoise.motion.motion import Motion
from counterpoise.pose.marker_labels import placements
from counterpoise.pose.marker_size import Calibration
from counterpoise.pose.marker_tracking import MarkerSet, track_markers
from counterpoise.pose.solver import compile_once

FADE_TIME = 0.1  # [s] over which a marker's weight falls to zero before a gap that is left open, and rises after it
CALIBRATION_FRAMES = 30  # from which size and places are found
TRIAL_RATE = 20.0  # [frames/s] of the poses before the calibration ...
MAX_TRIAL_FRAMES = 600  # ... and how many of them at most
MIN_SIZE_CHANGE = 0.02  # a rough size nearer to 1 than this leaves the figure as it is
RIGID_VARIATION = 0.03  # pairs of markers whose distance varies by less than this share of it are on one rigid part
MIN_ROD_LENGTH = 0.1  # [m] of such pairs on the figure
MIN_SMOOTHED_FRAMES = 12  # runs with no more frames than this are not smoothed


@dataclass(frozen=True, eq=False)
class MarkerFit:
    """A motion fitted to markers, and the report on it."""

    motion: Motion
    placement: dict[str, tuple[str, tuple[float, float, float]]]  # segment and place [m] of each used marker
    errors: Array  # (f, m) [m] from each used marker to its place on the body; NaN where it was not seen
    factors: dict[str, float]  # length factor of each segment
    ignored: tuple[str, ...]  # labels without a place
    remarks: tuple[str, ...]  # what was guessed about the file, which gaps were bridged or left open

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
    """Returns the motion of a figure that brings its markers to where they were seen, within its joint limits.

    `placement` gives the markers' places, {label: (body, point)}; without it the usual labels of human figures are
    known (Plug-in Gait, Vicon, CMU). With `size` the segments' lengths are found from the data (left and right alike),
    unless a `height` [m] is given; with `refine` the markers' places too. Gaps of up to `bridge` seconds are bridged;
    in longer ones a marker has no weight. Marker paths are first smoothed without lag below `cutoff` [Hz] (None: not
    at all).
    """
    if cutoff is not None and not (np.isfinite(cutoff) and cutoff > 0.0):
        raise BadValue(f"a cutoff is a positive frequency [Hz] or None, not {cutoff!r}", cutoff=cutoff)
    if height is not None:
        if not (np.isfinite(height) and 0.05 <= height <= 50.0):
            raise BadValue(f"a height is a number of metres, not {height!r}", height=height)
        character = character.rescaled(lengths={"all": float(height) / character.height})
    compile_once()
    places, ignored = placements(markers.labels, character, placement)
    labels, missing = _seen_labels(markers, list(places))
    column = [markers.labels.index(label) for label in labels]
    bridged = markers.bridged(bridge)
    targets = bridged.places[:, column]
    seen = np.isfinite(targets[..., 0])
    if cutoff is not None:
        targets = smoothed(targets, seen, markers.rate, cutoff)
    weights = marker_weights(seen, round(FADE_TIME * markers.rate))
    placed = MarkerSet(
        character, tuple(places[label][0] for label in labels), np.array([places[label][1] for label in labels])
    )
    factors = {segment: 1.0 for segment in character.segments}
    if size or refine:
        placed, factors = _calibrated(placed, targets, weights, markers.rate, size and height is None, refine)
    poses = track_markers(placed, targets, weights)
    motion = Motion(placed.character, np.arange(len(poses)) / markers.rate, poses, name=name or markers.name)
    errors = np.linalg.norm(placed.positions(poses) - bridged.places[:, column], axis=2)
    errors[~markers.seen[:, column]] = np.nan
    sits = {
        label: (body, (float(p[0]), float(p[1]), float(p[2])))
        for label, body, p in zip(labels, placed.bodies, placed.points, strict=True)
    }
    return MarkerFit(motion, sits, errors, factors, (*ignored, *missing), tuple(bridged.notes.get("remarks", ())))


def _seen_labels(markers: Markers, labels: list[str]) -> tuple[list[str], list[str]]:
    """Returns the labels that were seen at some time, and those that never were."""
    missing = [label for label in labels if not markers.seen[:, markers.labels.index(label)].any()]
    found = [label for label in labels if label not in missing]
    if missing and len(found) < 3:
        raise BadValue(f"fewer than 3 of the known markers were ever seen; missing: {', '.join(missing[:8])}")
    return found, missing


# --------------------------------------------------------------------------------------------------- the data


def smoothed(targets: Array, seen: Flags, rate: float, cutoff: float) -> Array:
    """Returns marker paths (f, m, 3) without frequencies above `cutoff` [Hz]: Butterworth, forward and back, no lag."""
    if cutoff >= 0.45 * rate:
        return targets
    from scipy.signal import butter, sosfiltfilt  # imported here: it takes 0.4 s, and most verbs do without

    sos = butter(2, cutoff, fs=rate, output="sos")
    out = targets.copy()
    for m in range(targets.shape[1]):
        for start, end in gaps(~seen[:, m]):  # the runs in which it was seen
            if end - start > MIN_SMOOTHED_FRAMES:
                pad = min(end - start - 1, max(MIN_SMOOTHED_FRAMES, round(rate / cutoff)))
                out[start:end, m] = sosfiltfilt(sos, targets[start:end, m], axis=0, padtype="odd", padlen=pad)
    return out


def marker_weights(seen: Flags, fade: int) -> Array:
    """Returns the weight of each marker in each frame (f, m): 1, less within `fade` frames of a gap, 0 in it."""
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
    markers: MarkerSet, targets: Array, weights: Array, rate: float, size: bool, refine: bool
) -> tuple[MarkerSet, dict[str, float]]:
    """Returns figure and markers in the person's size: a rough size, poses of some frames, then all together."""
    character, points = markers.character, markers.points
    start = _rough_size(markers, targets) if size else 1.0
    rough = markers
    if abs(start - 1.0) > MIN_SIZE_CHANGE:
        rough = replace(markers, character=character.rescaled(lengths={"all": start}), points=start * points)
    else:
        start = 1.0
    step = max(1, round(rate / TRIAL_RATE), -(-len(targets) // MAX_TRIAL_FRAMES))
    every = np.arange(0, len(targets), step)
    poses = track_markers(rough, targets[every], weights[every])
    few = np.unique(np.linspace(0, len(every) - 1, CALIBRATION_FRAMES).astype(np.int64))
    ids = np.array([character.body_id(body) for body in markers.bodies], dtype=np.int64)
    calibration = Calibration(character, ids, points)
    _, shape = calibration.solve(poses[few], targets[every][few], weights[every][few], start, size, refine)
    factors = {name: float(shape.factors[character.body_id(name)]) for name in character.segments}
    places = shape.factors[ids, None] * points + shape.offsets
    scaled = character.rescaled(lengths=factors) if size else character
    return replace(markers, character=scaled, points=places), factors


def _rough_size(markers: MarkerSet, targets: Array) -> float:
    """Returns the median ratio, data to figure, of distances between markers that keep their distance."""
    here = markers.positions(markers.character.neutral[None])[0]
    ratios, lengths = [], []
    for i in range(len(here)):
        for j in range(i):
            length = float(np.linalg.norm(here[i] - here[j]))
            apart = np.linalg.norm(targets[:, i] - targets[:, j], axis=1)
            apart = apart[np.isfinite(apart)]
            if length > MIN_ROD_LENGTH and len(apart) > 1 and apart.std() < RIGID_VARIATION * apart.mean():
                ratios.append(float(apart.mean()) / length)
                lengths.append(length)
    if not ratios:
        return 1.0
    order = np.argsort(ratios)
    share = np.cumsum(np.array(lengths)[order])
    return float(np.clip(np.array(ratios)[order][np.searchsorted(share, 0.5 * share[-1])], 0.1, 10.0))


__all__ = ["MarkerFit", "fit_markers"]
