"""A stunt: keys, contacts and wishes written in a readable TOML file, and the motion they ask for.

    character = "human"
    duration = 1.6
    [[key]]
    time = 0.0
    rest = true
    [[key]]
    time = 1.6
    feet = [0.6, 0.0]
    rest = true
    [[contact]]
    part = "feet"
    to = 0.6
    [[contact]]
    part = "feet"
    from = 1.0

Times are seconds, angles degrees, lengths metres. Every mistake is told with its line.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize import (
    Key,
    MotionProblem,
    Progress,
    Requirement,
    Result,
    Taste,
    Touch,
    build_motion_problem,
    solve_motion,
)
from counterpoise.spacetime.optimize.moments import RATE, SHORTEST_PHASE, TIME_TOLERANCE, Moment, Time, seconds
from counterpoise.spacetime.stunt.contacts import read_contact
from counterpoise.spacetime.stunt.figure import Poses, read_character
from counterpoise.spacetime.stunt.reading import Table, open_toml
from counterpoise.spacetime.stunt.times import Times, read_fine, read_rate
from counterpoise.spacetime.stunt.wishes import joints_of, read_taste, read_wish


@dataclass(frozen=True, eq=False)
class Stunt:
    """What a motion should be: whose, through which keys, held by what and when, how long, and what is preferred."""

    name: str
    character: Character
    keys: tuple[Key, ...]
    contacts: tuple[Touch, ...]
    duration: Time  # [s]
    wishes: tuple[Requirement, ...] = ()
    taste: Taste = field(default_factory=Taste)
    rate: float = RATE  # knots a second
    fine: tuple[tuple[float, float, float], ...] = ()  # stretches (start, end, rate) with a rate of their own
    reference: Motion | None = None
    clear: tuple[str, ...] | None = None  # bodies that stay above the ground; None: all
    conflicts: tuple[str, ...] = ()  # what lies outside a motion too short for it, and was left out

    def problem(self) -> MotionProblem:
        """The optimisation problem, to be looked at or solved."""
        return build_motion_problem(
            self.character, self.keys, self.contacts, self.duration, wishes=self.wishes, reference=self.reference,
            taste=self.taste, rate=self.rate, fine=self.fine, clear=self.clear,
        )  # fmt: skip

    def optimize(
        self,
        callback: Callable[[Progress], bool | None] | None = None,
        warm: Result | None = None,
        problem: MotionProblem | None = None,
    ) -> Result:
        """The motion; see `optimize_motion`. `problem` is what `problem()` gave, if it was asked for before."""
        found = solve_motion(self.problem() if problem is None else problem, callback=callback, warm=warm)
        return replace(found, conflicts=(*found.conflicts, *self.conflicts)) if self.conflicts else found


def read_stunt(source: str | os.PathLike[str]) -> Stunt:
    """Read a stunt from a TOML file, or from its text."""
    top = open_toml(source, "stunt")
    character = read_character(top)
    poses = Poses(character, top)
    times = Times(top)
    tables = {kind: times.fitting(top.tables(kind), kind == "key") for kind in ("key", "contact", "wish", "fine")}
    keys = _one_at_a_time([_key(table, poses, times) for table in tables["key"]], times)
    touches = _told_apart([t for table in tables["contact"] for t in read_contact(table, character, times)])
    wishes = [read_wish(table, character, times) for table in tables["wish"]]
    _check_order(touches, times, top)
    taste = read_taste(top, character)
    rate = read_rate(top)
    stunt = Stunt(
        name=top.text("name", "the stunt's name in quotes") or Path(top.source.name).stem,
        character=character,
        keys=tuple(k for k, _ in keys),
        contacts=tuple(t for t, _ in touches),
        duration=times.duration,
        wishes=tuple(wishes),
        taste=taste,
        rate=RATE if rate is None else rate,
        fine=read_fine(tables["fine"], times),
        reference=_reference(top, poses),
        clear=_clear(top, character),
        conflicts=tuple(times.conflicts),
    )
    times.done()
    top.done()
    _check_start(stunt, [t for _, t in keys], top)
    return stunt


def _key(table: Table, poses: Poses, times: Times) -> tuple[Key, Table]:
    time = times.need(table, "time")
    pose = poses.read(table, "pose")
    only = joints_of(table, "only", poses.who) if "only" in table else None
    table.known.append("only")
    soft = table.number("soft", "the weight of a wish, above 0 (10 pulls firmly); leave it out for an exact key")
    root, rest = table.flag("root", True), table.flag("rest", False)
    name = table.text("name", "a name in quotes") or ""
    if name:
        name = f"{name} ({seconds(time):g} s)"  # what is in conflict is told with its time
    table.done()
    if isinstance(time, Moment) and not times.is_event(time):
        raise table.fault("time", f"a key's moment begins or ends a contact; {time.name!r} does not: give seconds")
    with table.at("soft" if "soft" in table else None):
        return Key(time, pose, only, root, soft, rest, name), table


def _reference(top: Table, poses: Poses) -> Motion | None:
    name = top.text("reference", "a reference motion, or a motion file, to start from and (taste.near) stay near")
    if name is None:
        return None
    with top.at("reference"):
        return poses.motion(name)


def _clear(top: Table, character: Character) -> tuple[str, ...] | None:
    """Bodies that stay above the ground: what is named there; None, the whole figure, where nothing is."""
    value = top.data.get("clear")
    if value == []:
        top.known.append("clear")
        return ()
    names = top.names("clear", 'bodies that stay above the ground, such as ["foot_left", "hand_left"]')
    feet = [f.name for f in character.feet]
    if names is None:
        return None
    out: list[str] = []
    with top.at("clear"):
        for name in names:
            if name in ("feet", "hands"):
                out += feet if name == "feet" else list(character.hands)
                continue
            if name not in feet:
                character.body_id(name)
            out.append(name)
    return tuple(out)


def _one_at_a_time(keys: list[tuple[Key, Table]], times: Times) -> list[tuple[Key, Table]]:
    """Two exact keys of the whole pose at one time cannot both hold: a mistake, unless there is no time for more."""
    out: list[tuple[Key, Table]] = []
    for key, here in keys:
        twin = next(
            (t for k, t in out if key.whole and k.whole and abs(seconds(key.time) - seconds(k.time)) <= TIME_TOLERANCE),
            None,
        )
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


def _check_start(stunt: Stunt, tables: list[Table], top: Table) -> None:
    """Something has to say where to begin, and which way round."""
    if not tables and stunt.reference is None:
        raise top.fault(None, "a stunt needs at least one [[key]], or a reference motion to start from")
    if stunt.reference is None and stunt.character.floating:
        _check_turns(stunt, tables)


def _check_turns(stunt: Stunt, tables: list[Table]) -> None:
    """From key to key a body takes the shorter way round: more than half a turn needs a key between."""
    said = [
        (key, table) for key, table in zip(stunt.keys, tables, strict=True)
        if key.root and (key.only is None or stunt.character.joints[0].name in key.only)
    ]  # fmt: skip
    said.sort(key=lambda pair: seconds(pair[0].time))
    for (a, there), (b, here) in pairwise(said):
        if float(np.dot(np.asarray(a.pose)[3:7], np.asarray(b.pose)[3:7])) < -1e-9:
            raise here.fault(
                "turn" if "turn" in here else "facing" if "facing" in here else None,
                f"this key is turned by more than 180 degrees from the one before it (line {there.line}): put a soft "
                "key between that says which way round",
            )


def _told_apart(touches: list[tuple[Touch, Table]]) -> list[tuple[Touch, Table]]:
    """Contacts of the same part in the same way get their line into their names."""
    labels = [t.label for t, _ in touches]
    return [
        (replace(t, name=f"{t.label} (line {table.line})") if not t.name and labels.count(t.label) > 1 else t, table)
        for t, table in touches
    ]


def _check_order(touches: list[tuple[Touch, Table]], times: Times, top: Table) -> None:
    """No stretch between contact changes is too short to hold a curve."""
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
                f"{SHORTEST_PHASE:g} s between, or give both the same time",
            )
        if t1 - t0 <= TIME_TOLERANCE and a is not b and isinstance(a, Moment) and isinstance(b, Moment):
            raise table.fault(key, f"the moments {a.name!r} and {b.name!r} begin at the same time: make them one")
