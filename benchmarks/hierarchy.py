"""The whole-body problem beside its peers: the same ticks of one pushed body, one core, one run, ratios to ours.

    uv run python benchmarks/hierarchy.py [--seconds 4] [--force 200] [--points 8] [--tsid PYTHON] [--json]

A character of the library stands and is pushed twice; its snapshots are kept. Every contender then replays them in
order, warm from tick to tick, `--replays` times. Each tick counts with its quickest replay, so that other work of the
machine does not count. Times are CPU time of this process.

- ours, strict: contact / CoM / spin and posture; assembly and solve.
- ours, weighted: contact strict, CoM (1e4) and spin (1) beside posture: one strict level, six extra rows.
- daqp: the same levels in one weighted program (1e6 : 1e3 : 1), built with NumPy, warm.
- general, cascade: `solve_hierarchy` strict and as a cascade of equalities (section 6.3.4), every twentieth tick.
- TSID (C++, contacts hard, the rest weighted) on a body of 40 hinges, in the interpreter given by --tsid, its own tick
  alone: tsid==1.7.1 with pin==3.4.0, cmeel-urdfdom<5 and cmeel-tinyxml2<11 in an environment of their own.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import counterpoise as cp
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.simulate.disturbances import Push
from counterpoise.solve import Level, solve_hierarchy
from counterpoise.solve.body.program import BodyProblem, BodySolution, build_body_problem, solve_body
from counterpoise.solve.quadratic import solve_quadratic

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "tests" / "solve")]
from body_problems import EIGHT, TWELVE, Stand, upright  # noqa: E402

clock = time.process_time_ns
Ask = Callable[[int, Any], Any]  # tick number and memory -> memory


def record(points: tuple[int, ...], force: float, seconds: float, torque: float) -> tuple[Stand, list[Snapshot]]:
    """Returns the snapshots of a pushed character, and the controller that drove it."""
    character = cp.character("human")
    kept: list[tuple[Snapshot, BodyProblem]] = []
    stand = Stand(points=points, torque=torque)
    pushes = [Push("thorax", (force, 0.0, 0.0), 0.5, 0.1), Push("thorax", (0.0, 0.6 * force, 0.0), 2.5, 0.1)]
    cp.simulate(character, replace(stand, keep=kept), seconds, disturbances=pushes, start=upright(character))
    return stand, [s for s, _ in kept]


def replay(ask: Ask, ticks: Sequence[int], replays: int) -> np.ndarray:
    """Returns the time of every tick [us], the quickest of all replays. Memory passes from tick to tick."""
    best = np.full(len(ticks), np.inf)
    for _ in range(replays):
        memory = None
        for at, i in enumerate(ticks):
            began = clock()
            memory = ask(i, memory)
            best[at] = min(best[at], (clock() - began) * 1e-3)
    return best[5:]


def dense(p: BodyProblem) -> tuple[list[tuple[np.ndarray, np.ndarray]], tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """Returns levels, rows and bounds in x = [a, lambda / unit], for solvers that do not use the structure."""
    n, k = p.G.shape
    size = np.concatenate([np.full(p.root, p.force_unit), p.torque_high])
    rows = np.hstack([p.M, -p.G * p.force_unit]) / size[:, None]
    low = (np.concatenate([np.zeros(p.root), p.torque_low]) - p.h) / size
    high = (np.concatenate([np.zeros(p.root), p.torque_high]) - p.h) / size
    root = np.concatenate([np.sqrt(p.weight), np.full(k, np.sqrt(p.force_weight))])
    wide = [(np.hstack([A, np.zeros((len(A), k))]), b) for A, b in [*p.levels, (p.extra_rows, p.extra_targets)]]
    last = np.vstack([wide[-1][0], np.diag(root)])
    aim = np.concatenate([wide[-1][1], np.sqrt(p.weight) * p.posture, np.zeros(k)])
    bounds = np.concatenate([np.full(n, -1e30), np.zeros(k)]), np.concatenate([np.full(n, 1e30), p.force_limit])
    return [*wide[:-1], (last, aim)], (rows, low, high), bounds


def by_daqp(p: BodyProblem, warm: Any) -> Any:
    levels, (rows, low, high), (lower, upper) = dense(p)
    alpha = [1e6, 1e3, 1.0]
    H = sum(w * (A.T @ A) for w, (A, _) in zip(alpha, levels, strict=True))
    g = -sum(w * (A.T @ b) for w, (A, b) in zip(alpha, levels, strict=True))
    return solve_quadratic(H, g, lower, upper, rows, low, high, None if warm is None else warm.multipliers)


def by_general(p: BodyProblem, warm: Any, method: str) -> Any:
    levels, rows, (lower, upper) = dense(p)
    named = [Level(A, b, name=str(i)) for i, (A, b) in enumerate(levels)]
    lower, upper = np.where(lower < -1e29, -np.inf, lower), np.where(upper > 1e29, np.inf, upper)
    return solve_hierarchy(named, rows=rows, bounds=(lower, upper), warm=warm, method=method)


def extra_rows(p: BodyProblem, count: int) -> BodyProblem:
    """Returns the same problem with `count` rows in the last level besides posture; rows still missing are random."""
    rng = np.random.default_rng(0)
    A = np.vstack([p.extra_rows, 0.3 * rng.standard_normal((30, len(p.h)))])[:count]
    b = np.concatenate([p.extra_targets, rng.standard_normal(30)])[:count]
    return build_body_problem(
        p.M, p.h, root=p.root, G=p.G, force_limit=p.force_limit, torque_low=p.torque_low, torque_high=p.torque_high,
        levels=p.levels[:1], weight=p.weight, posture=p.posture, extra=(A, b),
        force_weight=p.force_weight, force_unit=p.force_unit,
    )  # fmt: skip


def tsid(python: str) -> dict[str, float]:
    """Returns the times of TSID's tick on the hinged humanoid, measured in its own interpreter."""
    from pose_humanoid import REST, urdf

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hinged.urdf"
        path.write_text(urdf(True), encoding="utf-8")
        np.savetxt(Path(folder) / "rest.txt", REST)
        script = str(HERE / "hierarchy_tsid.py")
        done = subprocess.run([python, script, folder], capture_output=True, text=True, timeout=300, check=False)
    if done.returncode != 0:
        raise SystemExit(f"TSID did not run:\n{done.stderr[-1500:]}")
    return dict(json.loads(done.stdout.splitlines()[-1]))


def measure(options: argparse.Namespace) -> dict[str, Any]:
    points = EIGHT if options.points == 8 else TWELVE
    stand, snapshots = record(points, options.force, options.seconds, options.torque)
    loose = replace(stand, gains=replace(stand.gains, com_weight=1e4))
    character = snapshots[0].character
    _, rest, height = stand.begin(character)
    problems = [stand.problem(s, rest, height) for s in snapshots]
    found: list[BodySolution] = []

    def solve(i: int, memory: Any) -> Any:
        return solve_body(problems[i], memory).memory

    def ours(i: int, memory: Any) -> Any:
        return solve_body(stand.problem(snapshots[i], rest, height), memory).memory

    def weighted(i: int, memory: Any) -> Any:
        return solve_body(loose.problem(snapshots[i], rest, height), memory).memory

    def full(i: int, memory: Any) -> Any:
        return solve_body(stand.problem(take_snapshot(character, snapshots[i].state), rest, height), memory).memory

    ticks, few = range(len(snapshots)), range(0, len(snapshots), 20)
    memory = None
    for i in ticks:
        found.append(solve_body(problems[i], memory))
        memory = found[-1].memory
    contenders: list[tuple[str, Ask, range, int]] = [
        ("ours, strict: solve alone", solve, ticks, options.replays),
        ("ours, strict: assembly and solve", ours, ticks, options.replays),
        ("ours, strict: with snapshot", full, ticks, options.replays),
        ("ours, weighted: assembly and solve", weighted, ticks, options.replays),
        ("daqp, one weighted program", lambda i, m: by_daqp(problems[i], m), ticks, 2),
        ("general, strict", lambda i, m: by_general(problems[i], m, "strict"), few, 2),
        ("general, cascade of equalities", lambda i, m: by_general(problems[i], m, "cascade"), few, 1),
    ]
    times: dict[str, np.ndarray] = {}
    for name, ask, which, replays in contenders:
        try:
            times[name] = replay(ask, which, replays)
        except ValueError as error:
            print(f"{name}: left out, {error}", file=sys.stderr)
    extra: dict[str, float] = {}
    for count in (0, 3, 6, 12, 30):
        set_of = [extra_rows(p, count) for p in problems[::10]]
        taken = replay(lambda i, m, q=set_of: solve_body(q[i], m).memory, range(len(set_of)), options.replays)  # type: ignore[misc]
        extra[str(count)] = float(np.median(taken))
    base = float(np.median(times["ours, strict: assembly and solve"]))
    result: dict[str, Any] = {
        "character": character.name, "nv": character.nv, "multipliers": len(problems[0].force_limit),
        "ticks": len(ticks),
        "not solved": sum(s.status != 0 for s in found),
        "steps": {
            "median": float(np.median([s.iterations for s in found])),
            "p99": float(np.percentile([s.iterations for s in found], 99)),
            "max": max(s.iterations for s in found),
        },
        "ticks with torques at their limits": sum(bool(s.active_torques[6:].any()) for s in found),
        "times": {
            name: {
                "median_us": float(np.median(t)), "p99_us": float(np.percentile(t, 99)), "max_us": float(t.max()),
                "ratio": float(np.median(t)) / base,
            }
            for name, t in times.items()
        },
        "one strict level, extra rows (solve alone, median us)": extra,
    }  # fmt: skip
    if options.tsid:
        peer = tsid(options.tsid)
        result["times"]["TSID, 46 dofs, weighted"] = {**peer, "ratio": peer["median_us"] / base}
    return result


def show(result: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    title = f"{result['character']}: {result['nv']} dofs, {result['multipliers']} multipliers, {result['ticks']} ticks"
    table = Table(title=title)
    for column in ("", "median [us]", "p99 [us]", "max [us]", "x ours"):
        table.add_column(column, justify="left" if not column else "right")
    for name, row in result["times"].items():
        numbers = (f"{row[c]:.1f}" for c in ("median_us", "p99_us", "max_us", "ratio"))
        table.add_row(name, *numbers)
    console = Console(width=120)
    console.print(table)
    for name in ("not solved", "steps", "ticks with torques at their limits"):
        console.print(f"{name}: {result[name]}")
    name = "one strict level, extra rows (solve alone, median us)"
    console.print(name, {k: round(v, 1) for k, v in result[name].items()})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--force", type=float, default=200.0, help="[N] for 0.1 s at the thorax")
    parser.add_argument("--torque", type=float, default=1.0, help="part of the torque limits")
    parser.add_argument("--points", type=int, default=8, choices=(8, 12))
    parser.add_argument("--replays", type=int, default=5)
    parser.add_argument("--tsid", default="", help="an interpreter that can import tsid")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)


if __name__ == "__main__":
    main()
