"""Whether every shipped stunt is graded `solved`, by an outsider too, and how legs move when feet touch down.

    uv run python benchmarks/stunts.py                          # about ten minutes on one core
    uv run python benchmarks/stunts.py values.json hops landing # some of them; keeps what was measured, and reads it
    LANDING=still uv run python benchmarks/stunts.py            # with another landing than the default

A touch-down is the end of a flight. Around it (50 ms before and after) the fastest knee is reported, and the speed that
the lowest point of a foot still has 20 ms before it.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.kinematics import body_frames
from counterpoise.measure.outsider import judge_motion
from counterpoise.spacetime.optimize.result import Result
from counterpoise.spacetime.stunt import read_stunt

STUNTS = Path(__file__).resolve().parents[1] / "examples" / "stunts"
AROUND, BEFORE, STEP = 0.05, 0.02, 0.002  # [s]


def main() -> None:
    kept = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    values: dict[str, dict[str, Any]] = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    names = sys.argv[2:] or [path.stem for path in sorted(STUNTS.glob("*.toml"))]
    if any(name not in values for name in names):
        read_stunt(STUNTS / "landing.toml").optimize()  # compile
    for name in names:
        if name not in values:
            values[name] = measured(STUNTS / f"{name}.toml", kept.parent if kept is not None else None)
            print(f"{name}: {values[name]}", file=sys.stderr, flush=True)
            if kept is not None:
                kept.write_text(json.dumps(values))
    print("| stunt | grade | iterations, time | error between the knots | in flight, in contact | knee, foot |")
    print("|---|---|---|---|---|---|")
    for name in names:
        v = values[name]
        landing = f"{v['knee']:.0f} rad/s, {v['foot']:.1f} m/s" if v["landings"] else "no landing"
        print(
            f"| `{name}` | {v['grade']} | {v['iterations']}, {v['seconds']:.1f} s | {100 * v['between']:.2f} % "
            f"| {100 * v['flight']:.2f} %, {100 * v['contact']:.2f} % | {landing} |"
        )
    print(f"\n{sum(values[n]['grade'] == 'solved' for n in names)} of {len(names)} solved")


def measured(path: Path, folder: Path | None) -> dict[str, Any]:
    """The grade of a stunt, what an outsider finds, and its fastest knee about a touch-down."""
    began = time.process_time()
    result = read_stunt(path, {"landing": os.environ["LANDING"]} if "LANDING" in os.environ else None).optimize()
    seconds = time.process_time() - began
    if folder is not None:
        result.motion.write(folder / f"{path.stem}.npz")
    judged = judge_motion(result)
    landings = touch_downs(result)
    return {
        "grade": result.grade, "iterations": result.iterations, "seconds": seconds,
        "between": max(result.between.values(), default=0.0), "flight": judged.flight_force,
        "contact": judged.contact_gap, "slip": judged.slip, "sink": judged.sink,
        "exceptions": [str(e) for e in result.exceptions][:3], "notes": list(result.notes), "landings": landings,
        "impacts": [str(impact) for impact in result.impacts()], "objective": result.objective,
        "knee": max((knee_speed(result, t) for t in landings), default=0.0),
        "foot": max((foot_speed(result, t) for t in landings), default=0.0),
    }  # fmt: skip


def touch_downs(result: Result) -> list[float]:
    """When flights end [s]."""
    holds, times = result.problem.holds, result.curve.times
    held = [any(h.first <= p < h.last for h in holds) for p in range(len(result.problem.timeline.phases))]
    return [float(times[k + 1]) for k, (now, after) in enumerate(pairwise(held)) if not now and after]


def knee_speed(result: Result, at: float) -> float:
    """The fastest knee about a moment [rad/s]."""
    character = result.problem.character
    knees = [d for j in character.joints if "knee" in j.name for d in range(j.dofs.start, j.dofs.stop)]
    t = np.clip(np.arange(at - AROUND, at + AROUND, STEP), 0.0, result.end)
    return float(np.abs(result.sample(t).v[:, knees]).max()) if knees else 0.0


def foot_speed(result: Result, at: float) -> float:
    """The speed of the lowest point of a foot shortly before a moment [m/s]."""
    character: cp.Character = result.problem.character
    points = [(character.body_id(p.body), np.array(p.position)) for foot in character.feet for p in foot.points]
    if not points:
        return 0.0
    t = np.array([at - BEFORE - STEP, at - BEFORE])
    places, turns = body_frames(character, result.sample(np.maximum(t, 0.0)).q)
    bodies, local = np.array([b for b, _ in points]), np.array([p for _, p in points])
    paths = places[:, bodies] + spatial.rotate(turns[:, bodies], local)
    lowest = int(paths[1, :, 2].argmin())
    return float(np.linalg.norm(paths[1, lowest] - paths[0, lowest]) / STEP)


if __name__ == "__main__":
    main()
