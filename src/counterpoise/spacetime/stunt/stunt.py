"""A stunt: keys, contacts and wishes of a motion, written in a TOML file.

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

Times are seconds, angles degrees, lengths metres. Every mistake is reported with its line.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.motion.skeleton import Source
from counterpoise.progress import Watch, watching
from counterpoise.spacetime.optimize import (
    Apart,
    Key,
    MotionProblem,
    MotionTuning,
    Requirement,
    Result,
    Taste,
    TorqueLimit,
    Touch,
    build_motion_problem,
    solve_motion,
)
from counterpoise.spacetime.optimize.moments import RATE, Moment, Time, seconds
from counterpoise.spacetime.optimize.request import LANDINGS, Landing
from counterpoise.spacetime.stunt.changes import change_entries
from counterpoise.spacetime.stunt.characters import file_source, read_character
from counterpoise.spacetime.stunt.checks import check_order, check_start, with_unique_names, without_doubles
from counterpoise.spacetime.stunt.contacts import read_contact
from counterpoise.spacetime.stunt.pose_reading import PoseReader
from counterpoise.spacetime.stunt.reading import Table, open_toml
from counterpoise.spacetime.stunt.terrain import read_pieces
from counterpoise.spacetime.stunt.times import TimeReader, read_fine, read_rate
from counterpoise.spacetime.stunt.wishes import joints_of, read_taste, read_wish
from counterpoise.terrain import Terrain

SCENE_ENTRIES = (  # what a scene says besides a motion (see counterpoise.scene)
    "scene", "physics", "characters", "edit", "motions", "world", "controller", "controllers", "simulation", "push",
    "random_pushes", "constraint", "camera", "note", "output", "prop", "experiment", "change", "steps_ahead",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Stunt:
    """The description of a motion to optimise: its character, keys, contacts, duration, wishes and weights."""

    name: str
    character: Character
    keys: tuple[Key, ...]
    contacts: tuple[Touch, ...]
    duration: Time  # [s]
    wishes: tuple[Requirement, ...] = ()
    taste: Taste = field(default_factory=Taste)
    rate: float = RATE  # [1/s] of knots
    fine: tuple[tuple[float, float, float], ...] = ()  # (start, end, rate) of stretches with a rate of their own
    reference: Motion | None = None
    clear: tuple[str, ...] | None = None  # bodies that must stay above the ground; None: all
    terrain: Terrain | None = None  # its boxes, ramps, stairs and stones are kept off
    landing: Landing = "still"  # whether what begins to touch is at rest, or meets the ground moving
    conflicts: tuple[str, ...] = ()  # what was left out because the motion is too short
    source: Source | None = None  # of the motion file that the character is of: results are written as it is

    def problem(self) -> MotionProblem:
        """Returns the optimisation problem, to inspect or solve it."""
        return build_motion_problem(
            self.character, self.keys, self.contacts, self.duration, wishes=self.wishes, reference=self.reference,
            taste=self.taste, rate=self.rate, fine=self.fine, clear=self.clear,
            terrain=self.terrain, landing=self.landing,
        )  # fmt: skip

    def optimize(
        self,
        callback: Watch | None = None,
        warm: Result | None = None,
        problem: MotionProblem | None = None,
        tuning: MotionTuning | None = None,
    ) -> Result:
        """Returns the optimised motion; see `optimize_motion`. `problem` is the result of `problem()`, if known."""
        asked = self.problem() if problem is None else problem
        with watching(callback) as reporter:
            found = solve_motion(asked, callback=reporter, warm=warm, tuning=tuning)
        if self.source is not None and self.source.fits(self.character.segments):
            found = replace(found, motion=replace(found.motion, source=self.source))
        return replace(found, conflicts=(*found.conflicts, *self.conflicts)) if self.conflicts else found


def read_stunt(source: str | os.PathLike[str], changes: Mapping[str, Any] | None = None) -> Stunt:
    """Reads a stunt from a TOML file, or from its text. What a scene says besides its motion is not read here.

    `changes` replace entries: {"duration": 1.8, "key.2.feet": [0.7, 0.0]}; tables are counted from 0.
    """
    top = open_toml(source, "stunt")
    change_entries(top.data, changes or {})
    stunt = replace(stunt_from(top, read_character(top)), source=file_source(top))
    top.known += SCENE_ENTRIES
    top.done()
    return stunt


def stunt_from(
    top: Table, character: Character, poses: PoseReader | None = None, terrain: Terrain | None = None
) -> Stunt:
    """Returns the stunt that a table describes, for a character. Entries that are none of a stunt's are not looked at.

    `poses` reads poses, by default those of the table; `terrain` is there besides the pieces in the table.
    """
    poses = PoseReader(character, top) if poses is None else poses
    times = TimeReader(top)
    tables = {kind: times.fitting(top.tables(kind), kind == "key") for kind in ("key", "contact", "wish", "fine")}
    keys = without_doubles([read_key(table, poses, times) for table in tables["key"]], times)
    touches = with_unique_names([t for table in tables["contact"] for t in read_contact(table, character, times)])
    wishes = _with_usual_wishes(top, [read_wish(table, character, times) for table in tables["wish"]])
    check_order(touches, times, top)
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
        terrain=_terrain(top) or terrain,
        landing=_landing(top),
        conflicts=tuple(times.conflicts),
    )
    times.done()
    if not keys and stunt.reference is None:
        top.known += SCENE_ENTRIES
        top.done()  # a misspelt entry is the likeliest reason
    check_start(stunt.keys, [t for _, t in keys], stunt.reference, character, top)
    return stunt


def read_key(table: Table, poses: PoseReader, times: TimeReader) -> tuple[Key, Table]:
    """Returns the key of one table [[key]]."""
    time = times.need(table, "time")
    pose, velocity = poses.read_moving(table, "pose")
    only = joints_of(table, "only", poses.character) if "only" in table else None
    table.known.append("only")
    soft = table.number("soft", "a weight above 0 (10 is a strong one); leave it out for an exact key")
    root, rest = table.flag("root", True), table.flag("rest", False)
    name = table.text("name", "a name in quotes") or ""
    if name:
        name = f"{name} ({seconds(time):g} s)"  # messages about conflicts then name the time
    table.done()
    if isinstance(time, Moment) and not times.is_event(time):
        raise table.fault("time", f"the moment of a key begins or ends a contact; {time.name!r} does not: give seconds")
    with table.at("soft" if "soft" in table else "moving" if "moving" in table else None):
        return Key(time, pose, only, root, soft, rest, name, velocity), table


def _with_usual_wishes(top: Table, wishes: list[Requirement]) -> list[Requirement]:
    """Returns the wishes with two that are usual: joints within their strength, parts of the body out of each other.

    `strength = false` and `apart = false` leave them out. A wish of the file about the whole body replaces one.
    """
    usual: list[Requirement] = []
    if top.flag("strength", True) and not any(isinstance(w, TorqueLimit) and w.joints is None for w in wishes):
        usual.append(TorqueLimit(optional=True))
    if top.flag("apart", True) and not any(isinstance(w, Apart) and w.bodies is w.others is None for w in wishes):
        usual.append(Apart())
    return [*wishes, *usual]


def _terrain(top: Table) -> Terrain | None:
    """Returns the terrain of the tables [[box]], [[stairs]], ..., if there are any."""
    pieces = read_pieces(top)
    with top.at(None):
        return Terrain(pieces) if pieces else None


def _landing(top: Table) -> Landing:
    """Returns how parts begin to touch."""
    value = top.text("landing", " or ".join(repr(w) for w in LANDINGS), choices=LANDINGS)
    return "impact" if value == "impact" else "still"


def _reference(top: Table, poses: PoseReader) -> Motion | None:
    name = top.text(
        "reference",
        "a reference motion or a motion file, where the search starts, and which taste.near refers to",
    )
    if name is None:
        return None
    with top.at("reference"):
        return poses.motion(name)


def _clear(top: Table, character: Character) -> tuple[str, ...] | None:
    """Returns the bodies that must stay above the ground; None means the whole character."""
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
