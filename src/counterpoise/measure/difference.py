"""How far two motions are apart: joints in space and angle, and the centre of mass, over the time that both have."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.track import follow
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion

SAMPLE_RATE = 120.0  # [1/s] at which motions are compared, at least


@dataclass(frozen=True, eq=False)
class MotionDifference:
    """The distance of two motions over time. Bodies with the same name are compared."""

    times: Array  # (n,) [s] from the start of each motion
    bodies: tuple[str, ...]  # that both have
    place: Array  # (n, bodies) distance of their origins [m]
    turn: Array  # (n, bodies) angle between their orientations [rad]
    com: Array  # (n,) distance of the centres of mass [m]
    durations: tuple[float, float]  # [s]

    @property
    def rms_place(self) -> float:
        """Root mean square of the distances [m]; nan where no body is in both."""
        return float(np.sqrt(np.mean(self.place**2))) if self.place.size else float("nan")

    @property
    def rms_turn(self) -> float:
        """Root mean square of the angles [rad]; nan where no body is in both."""
        return float(np.sqrt(np.mean(self.turn**2))) if self.turn.size else float("nan")

    def worst_place(self) -> tuple[float, str, float]:
        """Returns the largest distance [m], the body and the time [s]."""
        return self._worst(self.place)

    def worst_turn(self) -> tuple[float, str, float]:
        """Returns the largest angle [rad], the body and the time [s]."""
        return self._worst(self.turn)

    def _worst(self, values: Array) -> tuple[float, str, float]:
        if not values.size:
            return float("nan"), "", float("nan")
        row, column = np.unravel_index(int(np.argmax(values)), values.shape)
        return float(values[row, column]), self.bodies[column], float(self.times[row])


def compare_motions(first: Motion, second: Motion) -> MotionDifference:
    """Returns how far two motions are apart while both last; each begins at its own start.

    Bodies are compared by name. Motions of different skeletons share few or none; retarget one of them first.
    """
    end = min(first.duration, second.duration)
    if not end >= 0.0:
        raise BadValue("a motion without a duration cannot be compared")
    rate = max(first.rate, second.rate, SAMPLE_RATE)
    times = np.linspace(0.0, end, max(2, round(end * rate) + 1)) if end > 0.0 else np.zeros(1)
    tracks = [follow(one.character, one.sample(one.start + times).q) for one in (first, second)]
    bodies = tuple(name for name in first.character.segments if name in second.character.segments)
    columns = [[one.character.body_id(name) for name in bodies] for one in (first, second)]
    place = np.linalg.norm(tracks[1].bodies[:, columns[1]] - tracks[0].bodies[:, columns[0]], axis=-1)
    between = tracks[0].rotations[:, columns[0]].swapaxes(-1, -2) @ tracks[1].rotations[:, columns[1]]
    turn = np.linalg.norm(spatial.log(spatial.from_matrix(between)), axis=-1) if bodies else np.zeros((len(times), 0))
    com = np.linalg.norm(tracks[1].com - tracks[0].com, axis=-1)
    return MotionDifference(times, bodies, place, turn, com, (first.duration, second.duration))
