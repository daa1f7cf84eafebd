"""Times of a stunt: seconds, or the names of moments that the optimiser may move."""

from __future__ import annotations

from counterpoise.errors import unknown_name
from counterpoise.spacetime.moments import LEAST, SAME, Moment, Time, seconds
from counterpoise.spacetime.stunt_reading import Table, is_number

WANTED = "seconds, or the name of a moment"


class Times:
    """Reads times of a file against its [moments] and its duration."""

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
        self.duration: Time = duration
        if not seconds(duration) >= LEAST:
            raise top.fault(
                "duration", f"a motion lasts at least {LEAST:g} s; got a duration of {seconds(duration):g} s"
            )
        for name, moment in self.moments.items():
            if not 0.0 <= moment.at <= seconds(duration) + SAME:
                raise self.tables[name].fault(
                    name, f"the motion runs from 0 to {seconds(duration):g} s; {name} at {moment.at:g} s lies outside"
                )

    def _moment(self, table: Table, name: str) -> Moment:
        """`takeoff = 0.6`, free between its neighbours, or `{ at = 0.6, between = [0.5, 0.75] }`."""
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
        """A time, if said."""
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
        if key != "duration" and not -SAME <= value <= seconds(self.duration) + SAME:
            raise table.fault(
                key, f"the motion runs from 0 to {seconds(self.duration):g} s; {key} = {value:g} lies outside"
            )
        return float(value)

    def need(self, table: Table, key: str) -> Time:
        """A time that must be said."""
        time = self.read(table, key, required=True)
        assert time is not None
        return time

    def is_event(self, moment: Moment) -> bool:
        """Whether a contact begins or ends then, or the motion."""
        if moment is self.duration:
            return True
        contacts = self.top.data.get("contact", [])
        return isinstance(contacts, list) and any(
            isinstance(c, dict) and moment.name in (c.get("from"), c.get("to")) for c in contacts
        )

    def done(self) -> None:
        """Moments that nothing begins or ends at are a mistake."""
        for name in self.moments:
            if name not in self.used:
                raise self.tables[name].fault(
                    name, f"no contact begins or ends at the moment {name!r}: use it, or drop it"
                )
