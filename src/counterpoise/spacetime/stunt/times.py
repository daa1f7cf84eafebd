"""Times of a stunt: seconds, or names of moments that the optimiser may move; stretches with their own rate."""

from __future__ import annotations

from typing import Any

from counterpoise.errors import unknown_name
from counterpoise.spacetime.optimize.moments import TIME_TOLERANCE, Moment, Time, seconds
from counterpoise.spacetime.optimize.starting_point import SHORTEST_MOTION
from counterpoise.spacetime.stunt.reading import Table, is_number

WANTED = "seconds, or the name of a moment"
MAX_DURATION = 120.0  # [s]: an optimised motion of a minute takes minutes; more is most likely a typing error
MAX_RATE = 1000.0  # [1/s] of knots; more is most likely a typing error


class TimeReader:
    """Reads the times of a file, given its [moments] and its duration."""

    def __init__(self, top: Table) -> None:
        self.moments: dict[str, Moment] = {}
        self.tables: dict[str, Table] = {}
        self.used: set[str] = set()
        self.top = top
        table = top.table("moments", "[moments]")
        for name in table.data if table is not None else ():
            assert table is not None
            self.moments[name] = self._moment(table, name)
            self.tables[name] = table
        duration = self.read(top, "duration", required=True)
        assert duration is not None
        if seconds(duration) > MAX_DURATION:
            raise top.fault(
                "duration", f"duration = {seconds(duration):g} s is too long for one stunt: at most {MAX_DURATION:g} s"
            )
        self.duration: Time = duration
        self.short = seconds(duration) < SHORTEST_MOTION
        self.end: Time = SHORTEST_MOTION if self.short else duration  # of the motion that is optimised
        self.conflicts: list[str] = []
        for name, moment in self.moments.items():
            if not self.short and not 0.0 <= moment.at <= seconds(duration) + TIME_TOLERANCE:
                raise self.tables[name].fault(
                    name,
                    f"the motion runs from 0 to {seconds(duration):g} s; {name} at {moment.at:g} s lies outside",
                )

    def _moment(self, table: Table, name: str) -> Moment:
        """Reads `takeoff = 0.6`, free between its neighbours, or `{ at = 0.6, between = [0.5, 0.75] }`."""
        wanted = "seconds, or { at = 0.6, between = [0.5, 0.75] }"
        if not isinstance(table.data[name], dict):
            at = table.number(name, wanted)
            assert at is not None
            return Moment(at, name=name)
        inner = table.table(name, f"the moment {name!r}")
        assert inner is not None
        start = inner.number("at", "seconds", required=True)
        between = inner.numbers("between", "[earliest, latest] in seconds", (2,))
        inner.done()
        assert start is not None
        low, high = between if between is not None else (None, None)
        with inner.at("between" if between is not None else "at"):
            return Moment(start, low, high, name)

    def read(self, table: Table, key: str, required: bool = False) -> Time | None:
        """Returns a time, or None."""
        value = table.value(key, WANTED, required)
        if value is None:
            return None
        if isinstance(value, str):
            with table.at(key):
                if value not in self.moments:
                    raise unknown_name("moment", value, self.moments)
            self.used.add(value)
            return self.moments[value]
        if not is_number(value):
            raise table.fault(key, f"{key} is {WANTED}; got {value!r}")
        if key != "duration" and not -TIME_TOLERANCE <= value <= seconds(self.end) + TIME_TOLERANCE:
            raise table.fault(key, f"the motion runs from 0 to {seconds(self.end):g} s; {key} = {value:g} lies outside")
        return float(value)

    def need(self, table: Table, key: str) -> Time:
        """Returns a time that must be given."""
        time = self.read(table, key, required=True)
        assert time is not None
        return time

    def fitting(self, tables: list[Table], one: bool = False) -> list[Table]:
        """Returns the tables whose times are inside the motion: all, unless the duration is too short to move at all.

        Then tables after the end are left out, those that go on after it are cut, and `conflicts` says so. If at least
        `one` is needed and none would be left, the first is moved to the end.
        """
        if not self.short:
            return tables
        out, end = [], seconds(self.end)
        if one and tables and all((self._seconds(t, "time") or 0.0) > end + TIME_TOLERANCE for t in tables):
            first = min(tables, key=lambda t: self._seconds(t, "time") or 0.0)
            self.conflicts.append(
                f"{first.label.removeprefix('this ')} (line {first.line}) at {self._seconds(first, 'time'):g} s is "
                "after the end: it is moved there"
            )
            first.data["time"] = end
        for table in tables:
            head = table.label.removeprefix("this ")
            began = [self._seconds(table, key) for key in ("time", "from")]
            start = max((t for t in began if t is not None), default=0.0)
            if start > (end + TIME_TOLERANCE if began[0] is not None else end - TIME_TOLERANCE):
                self.conflicts.append(f"{head} (line {table.line}) at {start:g} s is after the end: it is left out")
                continue
            stop = self._seconds(table, "to")
            if stop is not None and stop >= seconds(self.duration) - TIME_TOLERANCE:
                if stop > end + TIME_TOLERANCE:
                    self.conflicts.append(f"{head} (line {table.line}) goes on to {stop:g} s, after the end: it is cut")
                table.data["to"] = end
            out.append(table)
        return out

    def _seconds(self, table: Table, key: str) -> float | None:
        """Returns the seconds of an entry, given by number or by the name of a moment; otherwise None."""
        value: Any = table.data.get(key)
        if isinstance(value, str) and value in self.moments:
            self.used.add(value)
            return self.moments[value].at
        return float(value) if is_number(value) else None

    def is_event(self, moment: Moment) -> bool:
        """Returns whether a contact begins or ends then, or the motion ends."""
        if moment is self.duration:
            return True
        contacts = self.top.data.get("contact", [])
        return isinstance(contacts, list) and any(
            isinstance(c, dict) and moment.name in (c.get("from"), c.get("to")) for c in contacts
        )

    def done(self) -> None:
        """Reports moments at which nothing begins or ends."""
        for name in self.moments:
            if name not in self.used:
                raise self.tables[name].fault(
                    name, f"no contact begins or ends at the moment {name!r}: use it, or remove it"
                )


def read_rate(table: Table, required: bool = False) -> float | None:
    """Returns the number of knots a second, or None."""
    rate = table.number("rate", f"knots a second, such as 30, from 1 to {MAX_RATE:g}", required, low=1.0)
    if rate is not None and rate > MAX_RATE:
        raise table.fault("rate", f"rate is knots a second, such as 30, from 1 to {MAX_RATE:g}; got {rate:g}")
    return rate


def read_fine(tables: list[Table], times: TimeReader) -> tuple[tuple[float, float, float], ...]:
    """Returns stretches (start, end, knots a second) with a rate of their own, from the tables [[fine]]."""
    out: list[tuple[float, float, float]] = []
    for i, table in enumerate(tables):
        ends = []
        for key, usual in (("from", 0.0), ("to", times.end)):
            time = times.read(table, key)
            if isinstance(time, Moment) and not times.is_event(time):
                raise table.fault(
                    key, f"the moments of a stretch begin or end a contact; {time.name!r} does not: give seconds"
                )
            ends.append(seconds(usual if time is None else time))
        rate = read_rate(table, required=True)
        table.done()
        start, stop = ends
        assert rate is not None
        if not stop - start > TIME_TOLERANCE:
            raise table.fault(
                "to" if "to" in table else "from",
                f"a fine stretch ends after it begins; got from {start:g} s to {stop:g} s",
            )
        for (a, b, _), other in zip(out, tables[:i], strict=True):
            if min(b, stop) - max(a, start) > TIME_TOLERANCE:
                raise table.fault(
                    "from" if "from" in table else None,
                    f"this stretch and the one in line {other.line} overlap from {max(a, start):g} s to "
                    f"{min(b, stop):g} s: only one rate may hold at a time",
                )
        out.append((start, stop, rate))
    return tuple(out)
