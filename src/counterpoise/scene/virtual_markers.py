"""A motion as a camera system would see it, and found again: markers on the body, with noise, fitted.

markers = { rate = 100, noise = 0.001, seed = 0 }
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.motion import Motion
from counterpoise.motion.files.markers import Markers
from counterpoise.pose.marker_labels import placements
from counterpoise.pose.markers import fit_markers
from counterpoise.spacetime.stunt.reading import Table

_SIDES = (
    "SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN", "ASI", "PSI", "THI", "KNE", "TIB", "ANK", "HEE", "TOE", "MT5",
)  # fmt: skip
LABELS = (
    "LFHD", "RFHD", "LBHD", "RBHD", "C7", "T10", "CLAV", "STRN", *(side + at for side in "LR" for at in _SIDES),
)  # fmt: skip


@dataclass(frozen=True)
class VirtualMarkers:
    """How a motion is seen: how often, and how exactly."""

    rate: float = 100.0  # [1/s]
    noise: float = 0.0  # [m] standard deviation of every coordinate
    seed: int = 0


def read_virtual_markers(table: Table) -> VirtualMarkers | None:
    """Reads the table `markers` of a motion; None where there is none."""
    inner = table.table("markers", "markers")
    if inner is None:
        return None
    rate = inner.number("rate", "pictures a second, above 0", low=1e-3)
    noise = inner.number("noise", "metres, 0 or more", low=0.0)
    seed = inner.value("seed", "a whole number, 0 or more")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise inner.fault("seed", f"seed is a whole number, 0 or more; got {seed!r}")
    inner.done()
    return VirtualMarkers(rate or 100.0, noise or 0.0, seed or 0)


def seen_and_found(motion: Motion, how: VirtualMarkers) -> Motion:
    """Returns the motion that is fitted to the markers of another one, on the same body."""
    person, rows = motion.character, motion.resampled(how.rate)
    places, _ = placements(list(LABELS), person, None)
    shots = [person.snapshot(person.state(q)) for q in rows.poses]
    seen = np.array([[shot.position(body, point) for body, point in places.values()] for shot in shots])
    seen += how.noise * np.random.default_rng(how.seed).normal(size=seen.shape)
    fit = fit_markers(Markers(tuple(places), how.rate, seen, name=motion.name), person, size=False, refine=False)
    return fit.motion
