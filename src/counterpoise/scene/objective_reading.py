"""Objectives in strict levels as a controller of a scene: what is wanted, at which level, and from when to when.

[controller]
kind = "objectives"
[[controller.objective]]
kind = "contact"
[[controller.objective]]
kind = "target"
level = 2
feature = "place of hand_left"
by = [0.3, 0.1, 0.4]   # from where it is at the start; or value = [x, y, z]
time = 1.4
from = 0.8
"""

from __future__ import annotations

import math
from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.features import BodyOrientation, ComPosition, PointPosition
from counterpoise.features.base import Feature
from counterpoise.objectives import Contact, JointStops, Momentum, Objective, Setpoint, Target, TrackPose
from counterpoise.spacetime.stunt.reading import Table

OBJECTIVES: dict[str, type[Any]] = {
    "contact": Contact, "joint_stops": JointStops, "setpoint": Setpoint, "target": Target, "momentum": Momentum,
    "posture": TrackPose,
}  # fmt: skip
FEATURES = '"com", "place of BODY" or "turn of BODY"'
RENAMED = {"momentum": {"kind": "of"}}  # fields whose names are taken: how they are written


@dataclass(frozen=True, eq=False)
class TimedObjective:
    """One objective, the level that it stands on, and when it counts."""

    kind: str
    level: int
    start: float  # [s]
    end: float  # [s]
    entries: dict[str, Any]  # of the objective, by the names of its fields
    feature: Feature | None = None
    by: tuple[float, ...] | None = None  # added to what the feature is at the start

    def made(self, start: Snapshot) -> Objective:
        """Returns the objective for a run that begins in a snapshot."""
        given = dict(self.entries)
        if self.feature is not None:
            given["feature"] = self.feature
            if "value" not in given:
                here = np.asarray(self.feature.value(start), float)
                given["value"] = here if self.by is None else here + np.asarray(self.by)
        made: Objective = OBJECTIVES[self.kind](**given)
        return made


@dataclass(frozen=True, eq=False)
class TimedLevels:
    """Levels of objectives as a function of time, for `WholeBody`. Its memory is the objectives of this run."""

    objectives: tuple[TimedObjective, ...]

    def __call__(self, snapshot: Snapshot, time: float, memory: Any) -> tuple[list[list[Objective]], Any]:
        made = memory if memory is not None else tuple(one.made(snapshot) for one in self.objectives)
        levels: dict[int, list[Objective]] = {}
        for one, objective in zip(self.objectives, made, strict=True):
            if one.start <= time < one.end:
                levels.setdefault(one.level, []).append(objective)
        return [levels[level] for level in sorted(levels)], made


def read_levels(table: Table) -> TimedLevels:
    """Reads the tables [[controller.objective]]."""
    tables = table.tables("objective")
    if not tables:
        raise table.fault(None, 'objectives need at least one [[controller.objective]], such as kind = "contact"')
    return TimedLevels(tuple(_read_objective(one) for one in tables))


def _read_objective(table: Table) -> TimedObjective:
    kind = table.text("kind", f"one of {', '.join(OBJECTIVES)}", required=True, choices=tuple(OBJECTIVES))
    assert kind is not None
    level = table.value("level", "a whole number: 1 is before 2")
    if level is not None and (isinstance(level, bool) or not isinstance(level, int)):
        raise table.fault("level", f"level is a whole number: 1 is before 2; got {level!r}")
    start, end = (table.number(key, "seconds") for key in ("from", "to"))
    wanted = [one for one in fields(OBJECTIVES[kind]) if one.init]
    entries: dict[str, Any] = {}
    feature, by = None, None
    for one in wanted:
        if one.name == "feature":
            feature = _read_feature(table)
            by = table.value("by", "numbers that are added to what it is at the start")
            continue
        written = RENAMED.get(kind, {}).get(one.name, one.name)
        value = table.value(written, "")
        if value is not None:
            entries[one.name] = value
    table.label = f"this objective of kind {kind!r}"
    table.done()
    if by is not None and "value" in entries:
        raise table.fault("by", "value says where, by says how far from the start: keep one of them")
    missing = [one.name for one in wanted if _needed(one) and one.name not in (*entries, "feature", "value")]
    if missing:
        raise table.fault(None, f"an objective of kind {kind!r} needs {missing[0]}")
    made = TimedObjective(
        kind, level or 1, 0.0 if start is None else start, math.inf if end is None else end, entries, feature,
        None if by is None else tuple(by),
    )  # fmt: skip
    if feature is None or "value" in entries:
        with table.at(None):
            try:
                OBJECTIVES[kind](**entries, **({} if feature is None else {"feature": feature}))
            except (TypeError, ValueError) as error:
                raise BadValue(f"this objective cannot be read: {error}") from None
    return made


def _needed(one: Any) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


def _read_feature(table: Table) -> Feature:
    text = table.text("feature", FEATURES, required=True)
    assert text is not None
    what, _, body = text.partition(" of ")
    if text == "com":
        return ComPosition()
    if what == "place" and body:
        return PointPosition(body)
    if what == "turn" and body:
        return BodyOrientation(body)
    raise table.fault("feature", f"feature is {FEATURES}; got {text!r}")
