"""Checks of a stunt as a whole: keys, turns and contacts that cannot hold together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize import Key, Touch
from counterpoise.spacetime.optimize.moments import SHORTEST_PHASE, TIME_TOLERANCE, Moment, Time, seconds
from counterpoise.spacetime.stunt.reading import Table
from counterpoise.spacetime.stunt.times import TimeReader


def without_doubles(keys: list[tuple[Key, Table]], times: TimeReader) -> list[tuple[Key, Table]]:
    """Reports two exact keys of the whole pose at the same time. In a motion too short to move, the first is kept."""
    out: list[tuple[Key, Table]] = []
    for key, here in keys:
        same_time = ((k, t) for k, t in out if abs(seconds(key.time) - seconds(k.time)) <= TIME_TOLERANCE)
        twin = next((t for k, t in same_time if key.whole and k.whole), None)
        if twin is None:
            out.append((key, here))
        elif times.short:
            times.conflicts.append(
                f"[[key]] (line {here.line}) and the one in line {twin.line} are both exact at "
                f"{seconds(key.time):g} s: the first is kept"
            )
        else:
            raise here.fault(
                None,
                f"this key and the one in line {twin.line} are both exact at {seconds(key.time):g} s: "
                "keep one, or make one soft",
            )
    return out


def check_start(
    keys: Sequence[Key], tables: list[Table], reference: Motion | None, character: Character, top: Table
) -> None:
    """Reports a stunt without a key or reference to start from, and turns whose direction is not clear."""
    if not tables and reference is None:
        raise top.fault(None, "a stunt needs at least one [[key]], or a reference motion to start from")
    if reference is None and character.floating:
        _check_turns(keys, tables, character)


def _check_turns(keys: Sequence[Key], tables: list[Table], character: Character) -> None:
    """Reports keys more than half a turn apart. From key to key a body turns the shorter way."""
    rooted = [
        (key, table) for key, table in zip(keys, tables, strict=True)
        if key.root and (key.only is None or character.joints[0].name in key.only)
    ]  # fmt: skip
    rooted.sort(key=lambda pair: seconds(pair[0].time))
    for (a, there), (b, here) in pairwise(rooted):
        if float(np.dot(np.asarray(a.pose)[3:7], np.asarray(b.pose)[3:7])) < -1e-9:
            raise here.fault(
                "turn" if "turn" in here else "facing" if "facing" in here else None,
                f"this key is turned by more than 180 degrees from the one before it (line {there.line}): add a soft "
                "key between them that shows the direction of the turn",
            )


def with_unique_names(touches: list[tuple[Touch, Table]]) -> list[tuple[Touch, Table]]:
    """Returns the contacts; those of the same part and kind get their line into their names."""
    labels = [t.label for t, _ in touches]
    return [
        (replace(t, name=f"{t.label} (line {table.line})") if not t.name and labels.count(t.label) > 1 else t, table)
        for t, table in touches
    ]


def check_order(touches: list[tuple[Touch, Table]], times: TimeReader, top: Table) -> None:
    """Reports changes of contact that follow each other too quickly, and moments at the same time."""
    events: list[tuple[float, Time, Table, str]] = [(0.0, 0.0, top, "duration")]
    events.append((seconds(times.end), times.end, top, "duration"))
    for touch, table in touches:
        events += [(seconds(touch.start), touch.start, table, "from"), (seconds(touch.end), touch.end, table, "to")]
    events.sort(key=lambda e: e[0])
    for (t0, a, where, _), (t1, b, table, key) in pairwise(events):
        if TIME_TOLERANCE < t1 - t0 < SHORTEST_PHASE - TIME_TOLERANCE:
            raise table.fault(
                key,
                f"contacts change at {t0:g} s (line {where.line}) and again at {t1:g} s: leave at least "
                f"{SHORTEST_PHASE:g} s between them, or give both the same time",
            )
        if t1 - t0 <= TIME_TOLERANCE and a is not b and isinstance(a, Moment) and isinstance(b, Moment):
            raise table.fault(key, f"the moments {a.name!r} and {b.name!r} are at the same time: make them one moment")
