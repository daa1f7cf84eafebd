"""Mechanics of a recording: centre of mass, momentum, energy, effort."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array
from counterpoise.measure.balance import Fall, fell, foot_slip, ground_force
from counterpoise.simulate.recording import Recording


@dataclass(frozen=True, eq=False)
class Energy:
    """Mechanical energy along a recording [J]; potential is zero at z = 0."""

    kinetic: Array  # (n,)
    potential: Array  # (n,)

    @property
    def total(self) -> Array:
        return self.kinetic + self.potential


@dataclass(frozen=True)
class Summary:
    """The main numbers of a recording."""

    figure: str
    seconds: float
    fall: Fall | None  # None for a figure without feet
    peak_force: float  # [N], of the ground
    peak_torque_share: float  # of the torque limits, 0 to 1
    clamped: int  # joint torques cut to their limits, summed over ticks
    slip: dict[str, float]  # [m] by foot
    lowest_com: float  # [m]
    status: str


def com(recording: Recording, figure: int = 0) -> Array:
    """Returns the centre of mass, (n, 3) [m]."""
    return recording.track(figure).com


def momentum(recording: Recording, figure: int = 0) -> Array:
    """Returns the centroidal momentum, (n, 6): angular about the CoM [kg m^2/s], then linear [kg m/s]."""
    return recording.track(figure).momentum


def energy(recording: Recording, figure: int = 0) -> Energy:
    """Returns the mechanical energy of a figure in every row."""
    track = recording.track(figure)
    return Energy(track.kinetic, track.potential)


def power(recording: Recording, figure: int = 0) -> Array:
    """Returns the mechanical power of all joints together, (n,) [W]."""
    return np.einsum("nj,nj->n", recording.torques(figure), recording.velocities(figure))


def summary(recording: Recording, figure: int = 0) -> Summary:
    """Returns the main numbers of a recording."""
    character = recording.figures[figure]
    limit = character.torque_limit
    driven = limit > 0.0
    share = np.abs(recording.torques(figure)[:, driven]) / limit[driven]
    clamped = recording.meta.get("clamped", [])
    return Summary(
        figure=character.name,
        seconds=recording.duration,
        fall=fell(recording, figure) if character.feet else None,
        peak_force=float(np.linalg.norm(ground_force(recording, figure), axis=1).max(initial=0.0)),
        peak_torque_share=float(share.max(initial=0.0)),
        clamped=int(clamped[figure]) if figure < len(clamped) else 0,
        slip=foot_slip(recording, figure) if character.feet else {},
        lowest_com=float(com(recording, figure)[:, 2].min()),
        status=recording.status,
    )
