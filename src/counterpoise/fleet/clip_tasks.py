"""Tasks that sweeps know by name: check and fix a clip, optimise a stunt or run a scene with other numbers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterpoise.errors import BadValue

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion

TASKS = {
    "check": f"{__name__}:check_clip",
    "fix": f"{__name__}:fix_clip",
    "optimize": f"{__name__}:optimize_stunt",
    "scene": "counterpoise.scene.sweep_task:scene_row",
}


def check_clip(
    file: str,
    character: str | None = None,
    reading: Mapping[str, Any] | None = None,
    tuning: Mapping[str, Any] | None = None,
    home: str = "",
) -> dict[str, Any]:
    """Checks a motion file. Returns whether it is possible and clean, and the value of every finding.

    `reading` are options of `read_motion` (units, up, rate), `tuning` those of `CheckTuning`. Paths begin at `home`.
    """
    from counterpoise.spacetime.check import CheckTuning, check_motion

    report = check_motion(_clip(Path(home) / file, character, reading), tuning=CheckTuning(**(tuning or {})))
    values = {finding.name: float(finding.value) for finding in report.findings}
    return {"possible": bool(report.possible), "clean": bool(report.clean), **values, "verdict": report.verdict}


def fix_clip(
    file: str,
    folder: str,
    to: str = "",
    character: str | None = None,
    root: str = "",
    reading: Mapping[str, Any] | None = None,
    tuning: Mapping[str, Any] | None = None,
    home: str = "",
) -> dict[str, Any]:
    """Fixes a motion file and writes the result into a folder. Returns whether it is possible before and after.

    With `root` the file keeps the folders that it has below that one. `reading` are options of `read_motion`, `tuning`
    those of `FixTuning`. Paths begin at `home`.
    """
    from counterpoise.spacetime.fix import FixTuning, fix_motion

    source = Path(file)
    below = source.relative_to(root) if root and source.is_relative_to(root) else Path(source.name)
    named = Path(folder) / (below.with_suffix(f".{to.lstrip('.')}") if to else below)
    source, target = Path(home) / source, Path(home) / named
    if target.resolve() == source.resolve():
        raise BadValue(f"{file!r} would be written over itself: give another folder")
    result = fix_motion(_clip(source, character, reading), tuning=FixTuning(**(tuning or {})))
    target.parent.mkdir(parents=True, exist_ok=True)
    result.motion.write(target)
    return {
        "possible_before": bool(result.before.possible), "possible_after": bool(result.after.possible),
        "output": str(named),
    }  # fmt: skip


def _clip(file: Path, character: str | None, reading: Mapping[str, Any] | None) -> Motion:
    """Returns the motion of a file or a recording, without a pose that was put before the movement."""
    from counterpoise.motion.files.hub import read_motion

    return read_motion(file, character, skip_rest_frame=True, **(reading or {}))


def optimize_stunt(stunt: str, seed: int | None = None, **changes: Any) -> dict[str, Any]:
    """Optimises a stunt in which entries are replaced: {"duration": 1.8, "key.2.feet": [0.7, 0.0]}.

    Nothing is drawn at random, so `seed` changes nothing.
    """
    from counterpoise.spacetime.stunt.stunt import read_stunt

    result = read_stunt(Path(stunt), changes=changes).optimize()
    worst = max((float(v.amount) for v in result.violations), default=0.0)
    return {
        "ok": bool(result.ok), "status": str(result.status), "iterations": int(result.iterations),
        "objective": float(result.objective), "violation": worst, "seconds": float(result.motion.duration),
    }  # fmt: skip
