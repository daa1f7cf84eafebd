"""Numbers of a scene that change with time, written as a table of times and values.

speed = { times = [0, 1.4, 4.4], values = [0, 1.2, 2.6], steps = true }
heading = { times = [5.6, 8.0], values = [0, 45] }
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from counterpoise.spacetime.stunt.reading import Table, is_number


@dataclass(frozen=True)
class TimedValue:
    """A function of time: lines through values, or steps, each from its time on; before and after, the ends."""

    times: tuple[float, ...]  # [s], rising
    values: tuple[float, ...]
    steps: bool = False

    def __call__(self, time: float) -> float:
        if self.steps:
            return self.values[max(0, bisect_right(self.times, time) - 1)]
        return float(np.interp(time, self.times, self.values))

    def scaled(self, by: float) -> TimedValue:
        """The same times with all values times a number."""
        return replace(self, values=tuple(by * value for value in self.values))


def read_timed_value(table: Table, name: str) -> TimedValue:
    """Reads a number that changes with time; errors name the line."""
    inner = table.table(name, f"the table {name!r}")
    assert inner is not None
    columns = []
    for column in ("times", "values"):
        wanted = "a list of two numbers or more"
        given = inner.value(column, wanted, required=True)
        if not (isinstance(given, list) and len(given) >= 2 and all(is_number(one) for one in given)):
            raise inner.fault(column, f"{column} is {wanted}; got {given!r}")
        columns.append(tuple(float(one) for one in given))
    times, values = columns
    if len(times) != len(values):
        raise inner.fault("values", f"there are {len(times)} times and {len(values)} values: give one value for each")
    if any(b <= a for a, b in pairwise(times)):
        raise inner.fault("times", f"times rise from one to the next; got {list(times)!r}")
    steps = inner.flag("steps", False)
    inner.done()
    return TimedValue(times, values, steps)
