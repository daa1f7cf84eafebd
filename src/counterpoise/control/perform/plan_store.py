"""Plans of jumps: made once, then kept with the body and in a folder on disk."""

from __future__ import annotations

import hashlib
import os
import sys
from dataclasses import astuple, dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.perform.jump_plan import JumpPlanTuning, JumpWish, jump_stunt
from counterpoise.control.perform.planned_motion import PlannedMotion, fill_plan, plan_of_result
from counterpoise.errors import CounterpoiseError, NotFound, Stopped
from counterpoise.files import open_archive, write_archive
from counterpoise.objectives.surface import Surface
from counterpoise.progress import Progress, Reporter, Watch, watching
from counterpoise.spacetime.optimize.result import Result
from counterpoise.spacetime.optimize.run import OptimizeProgress
from counterpoise.spacetime.optimize.tuning import MotionTuning

PLANNER = (
    "spacetime/optimize",
    "spacetime/stunt",
    "control/perform",
    "control/bracing",
    "control/getting_up",
)  # what makes plans
LOWER = 0.8  # a jump that is too high is tried again at this share of its height ...
TRIES = 6  # ... so often
# errors between the knots are small beside what feedback corrects; plans were tuned with half of the way followed
AS_PLANNED = MotionTuning(refinements=0, follow_iterations=2, follow_curvature=2.0)
MOST_PLANS = 64  # kept with one body; when there are more, all are dropped
FOLDER = "COUNTERPOISE_PLANS"  # environment variable: the folder of kept plans; empty: none are kept on disk


class JumpNotPlanned(NotFound):
    """No motion was found for a jump."""


@dataclass(frozen=True, eq=False)
class JumpPlan:
    """A planned jump, and a note where it is not quite what was asked for."""

    motion: PlannedMotion
    wish: JumpWish  # as it was planned
    note: str = ""


def plan_jump(
    character: Character, wish: JumpWish, tuning: JumpPlanTuning | None = None, watch: Watch | None = None
) -> JumpPlan:
    """Returns the plan of a jump: kept, read from disk, or optimised now (some seconds; `watch` sees the progress)."""
    table, plans = tuning or JumpPlanTuning(), _plans(character)
    if (wish, table) not in plans:
        path = _path(character, wish, table)
        known = None if path is None else _read(path, character, wish)
        made = known or _optimised(character, wish, table, watch)
        if known is None and path is not None:
            _write(path, made)
        keep_plan(character, wish, made, table)
    return plans[wish, table]


def is_planned(character: Character, wish: JumpWish, tuning: JumpPlanTuning | None = None) -> bool:
    """Returns whether the plan of a jump is kept with its body; the disk is not looked at."""
    return (wish, tuning or JumpPlanTuning()) in _plans(character)


def keep_plan(character: Character, wish: JumpWish, plan: JumpPlan, tuning: JumpPlanTuning | None = None) -> None:
    """Keeps a plan that was made elsewhere, such as in another process, with its body."""
    plans = _plans(character)
    if len(plans) >= MOST_PLANS:
        plans.clear()
    plans[wish, tuning or JumpPlanTuning()] = plan


@kept_with_character
def _plans(character: Character) -> dict[tuple[JumpWish, JumpPlanTuning], JumpPlan]:
    """Returns the plans that are kept with a body, to be filled."""
    return {}


def _optimised(character: Character, wish: JumpWish, tuning: JumpPlanTuning, watch: Watch | None) -> JumpPlan:
    """Returns the jump as asked, or lower where its strength does not allow it.

    It is planned flat-footed first, which always converges quickly, and then, from there, with feet that roll over
    their toes. Where that does not converge within `toe_iterations`, or costs much more, it stays flat-footed.
    """
    asked, flat = wish, replace(tuning, toes=0.0)
    with watching(watch) as reporter:
        for _ in range(TRIES):
            result = jump_stunt(character, wish, flat).optimize(callback=reporter, tuning=AS_PLANNED)
            rolled = _on_toes(character, wish, tuning, result, reporter) if result.exact and tuning.toes > 0.0 else None
            if reporter.stopped:
                raise Stopped(f"the search for a plan of {asked!r} was stopped")
            if result.exact:
                return JumpPlan(plan_of_result(rolled or result), wish, _note(asked, wish))
            wish = replace(wish, height=LOWER * wish.height)
    raise JumpNotPlanned(
        f"no motion was found for {asked!r} of {character.name!r}: {_reason(result)}. Ask for less height, distance "
        "or twist, or for a stronger body"
    )


def _on_toes(
    character: Character, wish: JumpWish, tuning: JumpPlanTuning, flat: Result, reporter: Reporter
) -> Result | None:
    """Returns the jump with feet that roll over their toes before take-off; None where that is not found soon."""
    first: list[int] = []

    def within(progress: Progress) -> bool:
        reporter(progress)
        if not isinstance(progress, OptimizeProgress):
            return True
        first.append(progress.iteration)
        return progress.iteration - first[0] < tuning.toe_iterations

    result = jump_stunt(character, wish, tuning).optimize(callback=within, warm=flat, tuning=AS_PLANNED)
    if not (result.exact and result.objective < tuning.toe_cost * flat.objective):
        return None
    return result if is_pushed_before_toes(plan_of_result(result), tuning.toe_speed) else None


def is_pushed_before_toes(plan: PlannedMotion, share: float) -> bool:
    """Returns whether the body rises as it comes onto its toes, with at least a share of its take-off speed.

    One that still sinks then must get all its speed in the tenth of a second on its toes, which are weak.
    """
    air = next((k for k in range(plan.phases) if plan.flies(k)), 0)
    if air == 0:
        return True
    on_toes, up = plan.com[plan.first[air - 1], 1, 2], plan.com[plan.first[air], 1, 2]
    return bool(on_toes > share * up)


def _note(asked: JumpWish, planned: JumpWish) -> str:
    if asked == planned:
        return ""
    return f"{asked.height:.2f} m is higher than was found possible for this body; planned: {planned.height:.2f} m"


def _reason(result: Result) -> str:
    return "; ".join(map(str, result.violations[:2])) or result.status


# -- on disk ---------------------------------------------------------------------------------------------------------


def plan_folder() -> Path | None:
    """Returns the folder of kept plans; None where none are kept."""
    given = os.environ.get(FOLDER)
    if given is not None:
        return Path(given) if given else None
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
    return base / "counterpoise" / "plans"


@cache
def planner_version() -> str:
    """Returns a name for the planner as it is installed: after a change of its sources older files are unused."""
    root, found = Path(__file__).resolve().parents[2], hashlib.sha256()
    for folder in PLANNER:
        for path in sorted((root / folder).rglob("*.py")):
            found.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def _path(character: Character, wish: JumpWish, tuning: JumpPlanTuning) -> Path | None:
    """Returns the file of a plan: named after everything that it depends on."""
    folder = plan_folder()
    if folder is None:
        return None
    key = repr((planner_version(), astuple(wish), astuple(tuning), character.mjcf))
    return folder / f"jump-{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"


def _write(path: Path, plan: JumpPlan) -> None:
    """Writes a plan; where the folder cannot be written, it is only kept in memory."""
    m = plan.motion
    heights = np.array([[float(np.asarray(s.origin)[2]) for s in row] for row in m.surfaces])
    arrays: dict[str, Any] = {
        "ends": m.ends, "pushing": m.pushing.astype(np.int64), "heights": heights, "first": m.first, "q": m.q,
        "v": m.v, "a": m.a, "height": np.array([plan.wish.height]),
    }  # fmt: skip
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(path, arrays)
    except (CounterpoiseError, OSError):
        return


def _read(path: Path, character: Character, wish: JumpWish) -> JumpPlan | None:
    """Returns the plan in a file; None where there is none, or one that cannot be read."""
    if not path.exists():
        return None
    try:
        with open_archive(path, "jump plan") as archive:
            q, v, a = (archive.read(name, "f", 2) for name in ("q", "v", "a"))
            first, pushing = archive.read("first", "i", 1), archive.read("pushing", "i", 2)
            ends, height = archive.read("ends", "f", 1), archive.read("height", "f", 1)
            heights = archive.read("heights", "f", 2)
    except CounterpoiseError:
        return None
    surfaces = tuple(tuple(Surface((0.0, 0.0, float(h))) for h in row) for row in heights)
    samples = [(q[i:j], v[i:j], a[i:j]) for i, j in pairwise(first)]
    grips = np.zeros(len(character.feet), bool)
    motion = fill_plan(character, ends, pushing.astype(bool), surfaces, grips, samples)
    planned = replace(wish, height=float(height[0]))
    return JumpPlan(motion, planned, _note(wish, planned))
