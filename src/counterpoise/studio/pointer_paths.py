"""Paths: strokes of the pointer that bodies follow, after Bawa's recorded trajectories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.pose.paths import Path
from counterpoise.scene import RecordPath
from counterpoise.studio.events import PathFacts
from counterpoise.studio.messages import Four, Three
from counterpoise.studio.posing import Rules, constraints_of, goals_of

DRAWN = 120  # places along a path that is drawn
LONGEST = 120.0  # [s]
MOST_SAMPLES = 20_000


def path_of_stroke(body: str, samples: Sequence[Four], point: Three) -> Path:
    """Returns the path of a stroke, which begins at its own time zero."""
    if not 2 <= len(samples) <= MOST_SAMPLES:
        raise BadValue(f"a stroke has 2 to {MOST_SAMPLES} samples; got {len(samples)}")
    rows = np.array(samples, float)
    rows[:, 0] -= rows[0, 0]
    if rows[-1, 0] > LONGEST:
        raise BadValue(f"a stroke lasts at most {LONGEST:g} s; got {rows[-1, 0]:g} s")
    return Path.from_stroke(body, rows, point=point)


def record_path(path: Path, character: str) -> RecordPath:
    """Returns the edit that keeps a path; it holds tenths of a millimetre and milliseconds."""
    point = None if not any(path.point) else [round(float(x), 5) for x in path.point]
    times = np.round(path.times, 3).tolist()
    return RecordPath(path.body, times, np.round(path.points, 4).tolist(), point, character)


def path_facts(path: Path) -> PathFacts:
    """Returns what a page draws of a path."""
    along = np.asarray(path.at(np.linspace(path.start, path.end, DRAWN)))
    return PathFacts(path.body, float(path.end - path.start), _threes(along), _threes(np.asarray(path.points)))


def animation_values(
    character: Any, q: Array, paths: Sequence[Path], rules: Rules, always: Sequence[PoseConstraint]
) -> dict[str, Any]:
    """Returns what the worker needs to animate: paths, what is held from the pose q on, and goals."""
    if not paths:
        raise BadValue("no body has a path yet: choose Record a path, then draw with a body")
    first = paths[0].body
    moving = {path.body for path in paths}
    held = [*constraints_of(character, q, first, Rules(
        {body: hold for body, hold in rules.pins.items() if body not in moving}, rules.balanced, rules.above_ground,
    )), *always]  # fmt: skip
    return {
        "character": character, "paths": list(paths), "constraints": held, "start": q,
        "goals": goals_of(character, first, rules),
    }  # fmt: skip


def _threes(rows: Array) -> tuple[Three, ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in np.round(rows, 4))
