"""Markers of optical capture: labelled points in time, with gaps where a marker was not seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.errors import BadValue

BRIDGE_FRAMES = 8  # on each side of a gap, to which its cubic is fitted
LISTED = 8  # markers that a remark names at most


@dataclass(frozen=True, eq=False)
class Markers:
    """Labelled points in time; the place of a point that was not seen is NaN."""

    labels: tuple[str, ...]
    rate: float  # [frames/s]
    places: Array  # (f, m, 3) [m], z up
    name: str = ""
    notes: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        places = np.array(self.places, dtype=np.float64)
        if places.ndim != 3 or 0 in places.shape or places.shape[1:] != (len(self.labels), 3):
            raise BadValue(f"places of {len(self.labels)} markers have shape (f, {len(self.labels)}, 3)")
        if not (np.isfinite(self.rate) and self.rate > 0.0):
            raise BadValue(f"markers come at a positive number of frames a second, not {self.rate}")
        places[~np.isfinite(places).all(axis=2)] = np.nan
        places.flags.writeable = False
        object.__setattr__(self, "places", places)

    def __len__(self) -> int:
        return len(self.places)

    @property
    def seen(self) -> Flags:
        """Whether each marker was seen in each frame (f, m)."""
        return np.isfinite(self.places[..., 0])

    def bridged(self, longest: float = 0.2) -> Markers:
        """Returns the markers with gaps of up to `longest` seconds filled by cubics; `notes["remarks"]` say how many.

        A cubic is fitted by least squares to up to eight frames on each side, then moved to meet both ends of the gap.
        """
        places, seen = self.places.copy(), self.seen
        filled: dict[str, int] = {}
        left: dict[str, int] = {}
        for m, label in enumerate(self.labels):
            for start, end in gaps(seen[:, m]):
                inside = start > 0 and end < len(self) and (end - start) <= longest * self.rate
                if inside:
                    places[start:end, m] = _bridge(places[:, m], seen[:, m], start, end)
                count = filled if inside else left
                count[label] = count.get(label, 0) + end - start
        remarks = [*self.notes.get("remarks", ())]
        for count, what in ((filled, "bridged"), (left, "left open")):
            if count:
                listed = ", ".join(f"{label} {n}" for label, n in sorted(count.items(), key=lambda kv: -kv[1])[:LISTED])
                more = ", ..." if len(count) > LISTED else ""
                remarks.append(f"{sum(count.values())} unseen marker frames {what} ({listed}{more})")
        return replace(self, places=places, notes={**self.notes, "remarks": tuple(remarks)})


def gaps(seen: Flags) -> list[tuple[int, int]]:
    """Returns the runs of frames [start, end) in which a marker was not seen."""
    edges = np.flatnonzero(np.diff(np.concatenate([[True], seen, [True]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _bridge(places: Array, seen: Flags, start: int, end: int) -> Array:
    """Returns places (end - start, 3) for a gap of one marker."""
    around = np.concatenate(
        [np.arange(max(0, start - BRIDGE_FRAMES), start), np.arange(end, min(len(seen), end + BRIDGE_FRAMES))]
    )
    around = around[seen[around]]
    half = 0.5 * (around[-1] - around[0])
    middle = 0.5 * (around[-1] + around[0])
    degree = min(3, len(around) - 1)
    fit = np.polynomial.polynomial.polyfit((around - middle) / half, places[around], degree)

    def curve(frames: Ints) -> Array:
        return np.polynomial.polynomial.polyval((frames - middle) / half, fit).T

    ends = np.array([start - 1, end])
    miss = places[ends] - curve(ends)
    share = (np.arange(start, end) - ends[0]) / (ends[1] - ends[0])
    return curve(np.arange(start, end)) + (1.0 - share)[:, None] * miss[0] + share[:, None] * miss[1]
