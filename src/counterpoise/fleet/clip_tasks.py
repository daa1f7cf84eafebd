"""Tasks that sweeps know by name: check and fix a clip, optimise a stunt or run a scene with other numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterpoise.errors import BadValue

TASKS = {
    "check": f"{__name__}:check_clip",
    "fix": f"{__name__}:fix_clip",
    "optimize": f"{__name__}:optimize_stunt",
    "scene": "counterpoise.scene.sweep_task:scene_row",
}


def check_clip(file: str, character: str | None = None) -> dict[str, Any]:
    """Checks a motion file. Returns whether it is possible and clean, and the value of every finding."""
    from counterpoise.motion.files.hub import read_motion
    from counterpoise.spacetime.check import check_motion

    report = check_motion(read_motion(file, character, skip_rest_frame=True))
    values = {finding.name: float(finding.value) for finding in report.findings}
    return {"possible": bool(report.possible), "clean": bool(report.clean), **values}


def fix_clip(file: str, folder: str, to: str = "", character: str | None = None) -> dict[str, Any]:
    """Fixes a motion file and writes the result into a folder. Returns whether it is possible before and after."""
    from counterpoise.motion.files.hub import read_motion
    from counterpoise.spacetime.fix import fix_motion

    source = Path(file)
    target = Path(folder) / (source.stem + (f".{to.lstrip('.')}" if to else source.suffix))
    if target.resolve() == source.resolve():
        raise BadValue(f"{file!r} would be written over itself: give another folder")
    result = fix_motion(read_motion(file, character, skip_rest_frame=True))
    target.parent.mkdir(parents=True, exist_ok=True)
    result.motion.write(target)
    return {
        "possible_before": bool(result.before.possible), "possible_after": bool(result.after.possible),
        "output": str(target),
    }  # fmt: skip


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
