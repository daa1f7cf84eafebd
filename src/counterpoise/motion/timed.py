"""What everything with a sequence of times has: a start, an end and a duration."""

from __future__ import annotations

from counterpoise.arrays import Array


class Timed:
    """A base for classes with `times` (n,) [s] that increase."""

    times: Array

    @property
    def start(self) -> float:
        """Time of the first frame or point [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time of the last frame or point [s]."""
        return float(self.times[-1])

    @property
    def duration(self) -> float:
        """Time from the first to the last [s]."""
        return self.end - self.start
