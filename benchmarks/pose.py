"""Posing beside mink, pink and placo: the same body of 40 hinges, the same targets, one core, interleaved in one run.

uv run --no-dev --group peers python benchmarks/pose.py [--quick] [--json FILE] [--only abcd]

Every time is CPU time of this process. A peer's time counts its steps alone (not our check whether it has arrived);
ours counts the whole public call. Peers run as their users run them and tuned on other targets; ratios are to the best.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
if hasattr(os, "sched_setaffinity"):  # one core, whatever the machine has
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})

import argparse
import itertools
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from pose_exact import Exact
from pose_humanoid import EFFECTORS, FEET, HANDS, Judge, mjcf
from pose_peers import Mink, Pink, Placo, Target, check_kinematics
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import counterpoise as cp

REACHED, TURNED = 1e-3, 1e-2  # [m], [rad]
STRIDE = 0.005  # [m] of a stroke's target in a frame
STEPS = 50
clock = time.process_time
console = Console(width=150)
FOLDER = Path(tempfile.mkdtemp(prefix="pose_benchmark_"))
Maker = Callable[..., Any]


# ------------------------------------------------------------------------------------------------------- ours


AS_PEERS = cp.PoseTuning(tolerance=9e-4, settle=0)  # stop where the peers stop: below a millimetre


class Ours:
    """Through the public API alone."""

    def __init__(self, judge: Judge) -> None:
        path = FOLDER / f"hinged_{'free' if judge.free else 'fixed'}.xml"
        path.write_text(mjcf(judge.free), encoding="utf-8")
        self.judge, self.character = judge, cp.load_character(path, root="pelvis")

    def goals(self, target: Target, names: Sequence[str] = tuple(EFFECTORS)) -> list[Any]:
        places, turns = target if isinstance(target, tuple) else (target, None)
        goals: list[Any] = []
        for k, (name, (body, point)) in enumerate(EFFECTORS.items()):
            if name in names:
                goals.append(cp.Reach(body, places[k], point=point))
                if turns is not None:
                    goals.append(cp.Orient(body, turns[k]))
        return goals

    def solve(self, target: Target) -> tuple[np.ndarray, float, str]:
        """Pose, CPU seconds and status."""
        goals = self.goals(target)  # the peers, too, get their targets before the clock starts
        begin = clock()
        pose = cp.solve_pose(self.character, goals=goals, start=self.judge.rest, tuning=AS_PEERS)
        return np.array(pose.q), clock() - begin, str(pose.status)

    def pins(self) -> list[Any]:
        feet = zip(FEET, self.judge.places(self.judge.rest)[2:], strict=True)
        return [cp.Pin(EFFECTORS[name][0], point=EFFECTORS[name][1], at=place) for name, place in feet]

    def drag(self, q: np.ndarray) -> Any:
        return cp.PoseDrag(self.character, constraints=self.pins(), start=q)

    def settle(self, target: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Not a frame of a drag but a pose of its own: the same goals and pins, from `q`."""
        pose = cp.solve_pose(self.character, goals=self.goals(target, HANDS), constraints=self.pins(), start=q)
        return np.array(pose.q)


# ------------------------------------------------------------------------------------------------------- helpers


@dataclass
class Score:
    """What one method did on all targets."""

    solved: list[bool] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    beyond: float = 0.0  # [rad] past a limit
    errors: int = 0  # exceptions

    def add(self, solved: bool, seconds: float, steps: int, beyond: float, error: bool) -> None:
        self.solved.append(solved)
        self.seconds.append(seconds)
        self.steps.append(steps)
        self.beyond = max(self.beyond, beyond)
        self.errors += error

    def summary(self) -> dict[str, float]:
        good = [s for s, ok in zip(self.seconds, self.solved, strict=True) if ok] or [np.nan]
        return {
            "solved_percent": 100.0 * float(np.mean(self.solved)),
            "median_ms": 1e3 * float(np.median(good)),
            "p95_ms": 1e3 * float(np.percentile(self.seconds, 95)),
            "median_steps": float(np.median(self.steps)),
            "beyond_limits_rad": self.beyond,
            "exceptions": self.errors,
        }


def arrived(judge: Judge, q: np.ndarray, target: Target) -> bool:
    if not isinstance(target, tuple):
        return bool(np.linalg.norm(judge.places(q) - target, axis=1).max() < REACHED)
    places, turns = judge.frames(q)
    cosines = (np.einsum("kij,kij->k", turns, target[1]) - 1.0) / 2.0
    off = np.linalg.norm(turns - target[1], axis=(1, 2)) / np.sqrt(2.0)  # 2 sin(angle / 2): exact for small angles
    angles = np.where(cosines > 0.9, off, np.arccos(np.clip(cosines, -1.0, 1.0)))
    return bool(np.linalg.norm(places - target[0], axis=1).max() < REACHED and angles.max() < TURNED)


def converge(
    judge: Judge, peer: Any, target: Target, starts: list[np.ndarray], steps: int = STEPS
) -> tuple[bool, float, int, float, bool]:
    """Step until there, from one start after the other: (arrived, CPU seconds, steps, past limits, exception)."""
    spent, count, failed, beyond = 0.0, 0, False, 0.0
    for start in starts:
        peer.start(start)
        peer.aim(target)
        for k in range(steps + 1):
            q = peer.q()
            beyond = max(beyond, judge.beyond_limits(q))
            if arrived(judge, q, target):
                return True, spent, count, beyond, failed
            if k == steps:
                break
            begin = clock()
            try:
                peer.step()
            except Exception:
                failed = True
                break
            finally:
                spent += clock() - begin
                count += 1
    return False, spent, count, beyond, failed


def tuned(
    judge: Judge, maker: Maker, grid: dict[str, Sequence[Any]], targets: list[Target], starts: list[np.ndarray],
    steps: Sequence[int] = (STEPS,),
) -> tuple[dict[str, Any], int]:  # fmt: skip
    """The setting of the grid (and the steps a start) that arrives most often, then fastest, on targets of its own."""
    best: tuple[tuple[int, float], dict[str, Any], int] | None = None
    for values in itertools.product(*grid.values()):
        setting = dict(zip(grid, values, strict=True))
        peer = maker(**setting)
        for limit in steps:
            runs = [converge(judge, peer, target, starts, limit) for target in targets]
            score = (sum(run[0] for run in runs), -sum(run[1] for run in runs))
            if best is None or score > best[0]:
                best = score, setting, limit
    assert best is not None
    return best[1], best[2]


def named(name: str, setting: dict[str, Any]) -> str:
    return f"{name} tuned (" + ", ".join(f"{k} {v}" for k, v in setting.items()) + ")"


def best_of(scores: dict[str, Score], family: str, what: str) -> tuple[str, float]:
    """The family's fastest among those that solve nearly as many as its best."""
    rows = {name: score.summary() for name, score in scores.items() if name.startswith(family)}
    most = max(row["solved_percent"] for row in rows.values())
    near = {name: row[what] for name, row in rows.items() if row["solved_percent"] >= most - 1.0}
    name = min(near, key=lambda key: near[key])
    return name, near[name]


def show(title: str, scores: dict[str, Score]) -> dict[str, Any]:
    table = Table(title=title, title_justify="left")
    for column in ("method", "solved %", "median ms", "p95 ms (all)", "steps", "past limits, rad", "exceptions"):
        table.add_column(column, justify="left" if column == "method" else "right")
    out = {}
    for name, score in scores.items():
        row = out[name] = score.summary()
        table.add_row(
            name, f"{row['solved_percent']:.1f}", f"{row['median_ms']:.3f}", f"{row['p95_ms']:.2f}",
            f"{row['median_steps']:.0f}", f"{row['beyond_limits_rad']:.1e}", f"{row['exceptions']:.0f}",
        )  # fmt: skip
    console.print(table)
    return out


def verdict(text: str, value: float, bound: float) -> dict[str, Any]:
    good = bool(value <= bound)
    word = "[green]meets [/]" if good else "[red]MISSES[/]"
    console.print(f"  {word} {escape(text)}: {value:.4g} (at most {bound:g})")
    return {"what": text, "value": value, "at_most": bound, "met": good}


# ------------------------------------------------------------------------------------------------------- (a), (b)

DAMPING = {"damping": (1e-12, 1e-4, 1e-3, 1e-2), "lm": (0.0, 1e-2, 1e-1, 1.0)}


def section_a(free: bool, count: int, trials: int) -> dict[str, Any]:
    """Four positions from the resting pose."""
    judge = Judge(free)
    rng, other = np.random.default_rng(11), np.random.default_rng(12)
    targets: list[Target] = [judge.places(judge.random_pose(rng)) for _ in range(count)]
    tuning: list[Target] = [judge.places(judge.random_pose(other)) for _ in range(trials)]
    rest = [judge.rest]
    methods: dict[str, Any] = {"mink as used": Mink(judge, "frame"), "pink as used": Pink(judge, "frame")}
    for task in ("frame", "point"):
        for family, kind in (("mink", Mink), ("pink", Pink)):
            grid = {**DAMPING, "solver": ("daqp", "quadprog")}
            setting, _ = tuned(judge, lambda k=kind, t=task, **s: k(judge, t, gain=1.0, **s), grid, tuning, rest)
            methods[named(f"{family} {task}", setting)] = kind(judge, task, gain=1.0, **setting)
    grid_placo = {"damping": (0.0, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2), "hard": (False, True)}
    setting, _ = tuned(judge, lambda **s: Placo(judge, "point", FOLDER, **s), grid_placo, tuning, rest)
    methods["placo as used"] = Placo(judge, "point", FOLDER)
    methods[named("placo", setting)] = Placo(judge, "point", FOLDER, **setting)
    scores = against_ours(judge, methods, targets, {name: (rest, STEPS) for name in methods})
    title = f"(a) four positions, < 1 mm, {count} targets, root {'free' if free else 'fixed'}, <= {STEPS} steps"
    out: dict[str, Any] = {"methods": show(title, scores), "verdicts": []}
    for family in ("mink", "pink", "placo"):
        name, value = best_of(scores, family, "median_ms")
        console.print(f"  best of {family}: {name}, median {value:.3f} ms")
        out[f"best_{family}"] = {"name": name, "median_ms": value}
    if "ours" in scores:
        mine = scores["ours"].summary()
        out["verdicts"] = [
            verdict("failures [%]", 100.0 - mine["solved_percent"], 0.0),
            verdict("past limits [rad]", mine["beyond_limits_rad"], 1e-9),
            verdict("median, ours / mink", mine["median_ms"] / out["best_mink"]["median_ms"], 0.35),
        ]
        console.print(f"  median, ours / placo: {mine['median_ms'] / out['best_placo']['median_ms']:.2f}")
    return out


def section_b(free: bool, count: int, trials: int) -> dict[str, Any]:
    """Four full poses from the resting pose; peers with and without random restarts."""
    judge = Judge(free)
    rng, other = np.random.default_rng(21), np.random.default_rng(22)
    targets: list[Target] = [judge.frames(judge.random_pose(rng)) for _ in range(count)]
    tuning: list[Target] = [judge.frames(judge.random_pose(other)) for _ in range(trials)]
    chance = np.random.default_rng(23)
    rest, many = [judge.rest], [judge.rest, *(judge.random_pose(chance) for _ in range(20))]
    methods: dict[str, Any] = {}
    plans: dict[str, tuple[list[np.ndarray], int]] = {}
    families: tuple[tuple[str, Maker, dict[str, Sequence[Any]]], ...] = (
        ("mink", lambda **s: Mink(judge, "pose", gain=1.0, **s), DAMPING),
        ("pink", lambda **s: Pink(judge, "pose", gain=1.0, **s), DAMPING),
        ("placo", lambda **s: Placo(judge, "pose", FOLDER, **s), {"damping": (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 3e-2)}),
    )
    plain = {
        "mink as used": Mink(judge, "pose"),
        "pink as used": Pink(judge, "pose"),
        "placo as used": Placo(judge, "pose", FOLDER),
    }
    for name, peer in plain.items():
        methods[name], plans[name] = peer, (rest, STEPS)
    for family, maker, grid in families:
        setting, _ = tuned(judge, maker, grid, tuning, rest)
        name = named(family, setting)
        methods[name], plans[name] = maker(**setting), (rest, STEPS)
        short = {key: values[1:] if len(values) > 3 else values for key, values in grid.items()}
        setting, steps = tuned(judge, maker, short, tuning[: max(4, trials // 2)], many, (15, 30, 50))
        name = f"{family} + restarts of {steps} steps ({', '.join(f'{k} {v}' for k, v in setting.items())})"
        methods[name], plans[name] = maker(**setting), (many, steps)
    scores = against_ours(judge, methods, targets, plans)
    title = f"(b) four poses, < 1 mm and < 10 mrad, {count} targets, root {'free' if free else 'fixed'}, <= 20 restarts"
    out: dict[str, Any] = {"methods": show(title, scores), "verdicts": []}
    name, value = best_of({k: v for k, v in scores.items() if "restarts" in k}, "placo", "p95_ms")
    console.print(f"  placo with restarts: p95 {value:.2f} ms, {name}")
    out["best_placo"] = {"name": name, "p95_ms": value}
    if "ours" in scores:
        mine = scores["ours"].summary()
        out["verdicts"] = [
            verdict("failures [%]", 100.0 - mine["solved_percent"], 0.0),
            verdict("past limits [rad]", mine["beyond_limits_rad"], 1e-9),
            verdict("p95, ours / placo with restarts", mine["p95_ms"] / value, 1.0),
        ]
    return out


def against_ours(
    judge: Judge, methods: dict[str, Any], targets: list[Target], plans: dict[str, tuple[list[np.ndarray], int]]
) -> dict[str, Score]:
    """Every method on every target in turn, so that noise hits all alike; ours first, where it is there."""
    ours = Ours(judge) if hasattr(cp, "solve_pose") else None
    scores = {name: Score() for name in ((["ours"] if ours else []) + list(methods))}
    if ours:
        ours.solve(targets[-1])  # compiled
        ours.solve(targets[0])
    for target in targets:
        if ours:
            try:
                q, seconds, _ = ours.solve(target)
                scores["ours"].add(arrived(judge, q, target), seconds, 0, judge.beyond_limits(q), False)
            except Exception:
                scores["ours"].add(False, 0.0, 0, 0.0, True)
        for name, peer in methods.items():
            scores[name].add(*converge(judge, peer, target, *plans[name]))
    return scores


# ------------------------------------------------------------------------------------------------------- (c)


def swing(rest: np.ndarray, frame: int, reach: float) -> np.ndarray:
    """Both hands on loops of `reach` [m], two seconds a loop at 60 frames a second; the feet where they are."""
    target, phase = rest.copy(), 2.0 * np.pi * frame / 120.0
    for k, side in ((0, 1.0), (1, -1.0)):
        target[k] += reach * np.array([1.0 - np.cos(phase), 0.4 * side * np.sin(phase), 0.8 * np.sin(2.0 * phase)])
    return target


@dataclass
class Take:
    """What one method did along one trajectory."""

    seconds: list[float] = field(default_factory=list)
    pins: list[float] = field(default_factory=list)
    hands: list[float] = field(default_factory=list)  # the worse hand
    poses: list[np.ndarray] = field(default_factory=list)
    beyond: float = 0.0
    errors: int = 0

    def add(self, judge: Judge, q: np.ndarray, target: np.ndarray, seconds: float) -> None:
        away = np.linalg.norm(judge.places(q) - target, axis=1)
        self.seconds.append(seconds)
        self.hands.append(float(away[:2].max()))
        self.pins.append(float(away[2:].max()))
        self.poses.append(q)
        self.beyond = max(self.beyond, judge.beyond_limits(q))

    def turn(self, judge: Judge) -> float:
        """The most a joint turned in a frame [deg]."""
        joints = np.array(self.poses)[:, judge.head :]
        return float(np.degrees(np.abs(np.diff(joints, axis=0)).max()))

    def summary(self, judge: Judge) -> dict[str, float]:
        return {
            "median_ms": 1e3 * float(np.median(self.seconds)),
            "p95_ms": 1e3 * float(np.percentile(self.seconds, 95)),
            "pin_max_mm": 1e3 * max(self.pins),
            "hand_median_mm": 1e3 * float(np.median(self.hands)),
            "hand_max_mm": 1e3 * max(self.hands),
            "turn_max_deg": self.turn(judge),
            "beyond_limits_rad": self.beyond,
            "exceptions": self.errors,
        }


def follow(judge: Judge, peer: Any, target: np.ndarray, steps: int, take: Take) -> None:
    """One frame of a peer: one step as used live, or up to `steps` until nothing changes."""
    begin, last = clock(), np.inf
    spent = 0.0
    try:
        peer.aim(target)
        for _ in range(steps):
            peer.step()
            if steps > 1:
                spent += clock() - begin
                away = np.linalg.norm(judge.places(peer.q()) - target, axis=1)
                begin, worst = clock(), float(away[:2].max())
                if away[2:].max() < 1e-5 and (worst < 1e-4 or abs(last - worst) < 1e-4):
                    break
                last = worst
    except Exception:
        take.errors += 1
    spent += clock() - begin
    take.add(judge, peer.q(), target, spent)


def pinned_peers(judge: Judge) -> dict[str, tuple[Any, int]]:
    out: dict[str, tuple[Any, int]] = {}
    for steps in (1, 20):
        how = "one step" if steps == 1 else "converged"
        for damping, lm in ((1e-12, 0.0), (1e-4, 0.0), (1e-2, 1.0)):
            mark = f"damping {damping:g}" + (f" lm {lm:g}" if lm else "")
            out[f"mink {mark}, {how}"] = Mink(judge, "point", damping=damping, lm=lm, gain=1.0, pins=FEET), steps
        out[f"pink damping 0.0001, {how}"] = Pink(judge, "point", damping=1e-4, gain=1.0, pins=FEET), steps
        for damping in (1e-4, 1e-1):
            out[f"placo damping {damping:g}, {how}"] = Placo(judge, "point", FOLDER, damping, pins=FEET), steps
    return out


def section_c(frames: int, every: int) -> dict[str, Any]:
    """Feet pinned, hands on moving targets at three reaches; the exact answer on every `every`-th frame."""
    judge = Judge(True)
    rest = judge.places(judge.rest)
    exact = Exact(judge, rest[2:])
    out: dict[str, Any] = {"verdicts": []}
    ours = Ours(judge) if hasattr(cp, "PoseDrag") else None
    for reach in (0.12, 0.6, 1.5):
        peers = pinned_peers(judge)
        takes = {name: Take() for name in ((["ours"] if ours else []) + list(peers))}
        for peer, _ in peers.values():
            peer.start(judge.rest)
        if ours:
            ours.drag(judge.rest).to(goals=ours.goals(swing(rest, 1, reach), HANDS))  # compiled
        drag = ours.drag(judge.rest) if ours else None
        last = judge.rest
        for frame in range(frames):
            target = swing(rest, frame, reach)
            if ours and drag is not None:
                begin = clock()
                try:
                    last = np.array(drag.to(goals=ours.goals(target, HANDS)).q)
                except Exception:
                    takes["ours"].errors += 1
                takes["ours"].add(judge, last, target, clock() - begin)
            for name, (peer, steps) in peers.items():
                follow(judge, peer, target, steps, takes[name])
        part = out[f"reach_{reach}"] = {name: take.summary(judge) for name, take in takes.items()}
        table = Table(title=f"(c) feet pinned, hands on loops of {reach} m, {frames} frames", title_justify="left")
        for column in (
            "method",
            "median ms",
            "p95 ms",
            "pin max mm",
            "hand med mm",
            "hand max mm",
            "turn max deg",
            "exc.",
        ):
            table.add_column(column, justify="left" if column == "method" else "right")
        for name, row in part.items():
            table.add_row(
                name, f"{row['median_ms']:.3f}", f"{row['p95_ms']:.2f}", f"{row['pin_max_mm']:.4f}",
                f"{row['hand_median_mm']:.3f}", f"{row['hand_max_mm']:.1f}", f"{row['turn_max_deg']:.1f}",
                f"{row['exceptions']:.0f}",
            )  # fmt: skip
        console.print(table)
        if not ours:
            continue
        mine = part["ours"]
        out["verdicts"] += [
            verdict(f"reach {reach}: pin error [mm]", mine["pin_max_mm"], 0.01),
            verdict(f"reach {reach}: exceptions", mine["exceptions"], 0.0),
        ]
        part["exact"] = beside_exact(ours, exact, takes, rest, reach, every)
        for name in ("drag", "alone"):
            what = f"reach {reach}: squared hand error over the exact, {name} [%]"
            out["verdicts"].append(verdict(what, part["exact"][f"{name}_percent"], 0.1))
        if reach == 0.12:
            for how in ("one step", "converged"):
                value = min(row["median_ms"] for name, row in part.items() if name.startswith("mink") and how in name)
                out["verdicts"].append(verdict(f"a frame in reach, ours / mink {how}", mine["median_ms"] / value, 0.6))
    return out


def beside_exact(
    ours: Ours, exact: Exact, takes: dict[str, Take], rest: np.ndarray, reach: float, every: int
) -> dict[str, float]:
    """How far our hands are from the best we know of: frames of the drag, and poses solved for on their own."""
    judge = ours.judge
    out = dict.fromkeys(("drag", "drag_near", "drag_worse_hand", "alone", "alone_worse_hand"), 0.0)
    absolute, count, away_frames, known = 0.0, 0, 0, judge.rest
    for frame in range(0, len(takes["ours"].poses), every):
        target, q = swing(rest, frame, reach), takes["ours"].poses[frame]
        alone = ours.settle(target, q)
        nearest, _ = exact.from_start(q, target[:2])
        starts = [q, alone, known, judge.rest, *(t.poses[frame] for name, t in takes.items() if "converged" in name)]
        lowest, known = exact.best(starts, target[:2])
        far = np.linalg.norm(judge.places(known) - target, axis=1)[:2].max()
        count += 1
        for name, pose in (("drag", q), ("alone", alone)):
            away = np.linalg.norm(judge.places(pose) - target, axis=1)[:2]
            if lowest < 1e-6:  # [m^2]: in reach
                absolute = max(absolute, float(away.max()))
                continue
            away_frames += name == "drag"
            squares = float((away**2).sum())
            out[name] = max(out[name], 100.0 * (squares / lowest - 1.0))
            out[f"{name}_worse_hand"] = max(out[f"{name}_worse_hand"], 100.0 * float(away.max() / far - 1.0))
            if name == "drag":
                out["drag_near"] = max(out["drag_near"], 100.0 * (squares / nearest - 1.0))
    console.print(
        f"  exact on {count} frames, {away_frames} of them out of reach. Squared hand error over the exact: "
        f"drag {out['drag']:.3f} % (over the optimum nearest to it {out['drag_near']:.3f} %), "
        f"solve_pose {out['alone']:.3f} %; the worse hand: "
        f"{out['drag_worse_hand']:.3f} %, {out['alone_worse_hand']:.3f} %. "
        f"In reach, within {1e3 * absolute:.4f} mm"
    )
    return {
        **{f"{name}_percent": value for name, value in out.items()},
        "frames": count,
        "in_reach_max_mm": 1e3 * absolute,
    }


# ------------------------------------------------------------------------------------------------------- (d)


def stroke(rest: np.ndarray, rng: np.random.Generator, frames: int) -> np.ndarray:
    """A smooth random path of one hand from where it is, 5 mm a frame, in and out of reach; (frames, 4, 3)."""
    t = np.linspace(0.0, 60.0, 60001)
    curve = np.repeat(rest[:1], len(t), axis=0)
    for axis in range(3):
        for harmonic in (1.0, 2.0, 3.0):
            size, phase = rng.normal() * 0.22 / harmonic, rng.uniform(0.0, 2.0 * np.pi)
            curve[:, axis] += size * (np.sin(harmonic * 0.7 * t + phase) - np.sin(phase))
    length = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])
    path = np.repeat(rest[None], frames, axis=0)
    for axis in range(3):
        path[:, 0, axis] = np.interp(STRIDE * np.arange(frames), length, curve[:, axis])
    return path


def section_d(strokes: int, frames: int) -> dict[str, Any]:
    """Strokes of one hand, feet pinned, the other hand held where it is: limits kept, no leaps."""
    judge = Judge(True)
    rest, rng = judge.places(judge.rest), np.random.default_rng(41)
    ours = Ours(judge) if hasattr(cp, "PoseDrag") else None
    all_takes: dict[str, list[Take]] = {}
    for _ in range(strokes):
        path = stroke(rest, rng, frames)
        peers = {
            "mink damping 0.0001, one step": Mink(judge, "point", damping=1e-4, gain=1.0, pins=FEET),
            "mink damping 0.01 lm 1, one step": Mink(judge, "point", damping=1e-2, lm=1.0, gain=1.0, pins=FEET),
            "placo damping 0.0001, one step": Placo(judge, "point", FOLDER, 1e-4, pins=FEET),
        }
        takes = {name: Take() for name in ((["ours"] if ours else []) + list(peers))}
        for peer in peers.values():
            peer.start(judge.rest)
        drag, last = (ours.drag(judge.rest) if ours else None), judge.rest
        for target in path:
            if ours and drag is not None:
                begin = clock()
                try:
                    last = np.array(drag.to(goals=ours.goals(target, HANDS)).q)
                except Exception:
                    takes["ours"].errors += 1
                takes["ours"].add(judge, last, target, clock() - begin)
            for name, peer in peers.items():
                follow(judge, peer, target, 1, takes[name])
        for name, take in takes.items():
            all_takes.setdefault(name, []).append(take)
    title = f"(d) {strokes} random strokes of {frames} frames, the target moving {1e3 * STRIDE:.0f} mm a frame"
    table = Table(title=title, title_justify="left")
    columns = (
        "method",
        "median ms",
        "turn max deg",
        "turns > 5 deg",
        "hand med mm",
        "pin max mm",
        "past limits, rad",
        "exc.",
    )
    for column in columns:
        table.add_column(column, justify="left" if column == "method" else "right")
    out: dict[str, Any] = {"verdicts": []}
    for name, group in all_takes.items():
        joints = [np.array(take.poses)[:, judge.head :] for take in group]
        leaps = sum(int((np.abs(np.diff(x, axis=0)).max(axis=1) > np.radians(5.0)).sum()) for x in joints)
        row = out[name] = {
            "median_ms": 1e3 * float(np.median([s for take in group for s in take.seconds])),
            "turn_max_deg": max(take.turn(judge) for take in group),
            "leaps": leaps,
            "hand_median_mm": 1e3 * float(np.median([h for take in group for h in take.hands])),
            "pin_max_mm": 1e3 * max(max(take.pins) for take in group),
            "beyond_limits_rad": max(take.beyond for take in group),
            "exceptions": sum(take.errors for take in group),
        }
        table.add_row(
            name, f"{row['median_ms']:.3f}", f"{row['turn_max_deg']:.1f}", f"{leaps}",
            f"{row['hand_median_mm']:.3f}", f"{row['pin_max_mm']:.4f}", f"{row['beyond_limits_rad']:.1e}",
            f"{row['exceptions']}",
        )  # fmt: skip
    console.print(table)
    if ours:
        out["verdicts"] = [
            verdict("strokes: the most a joint turns in a frame [deg]", out["ours"]["turn_max_deg"], 5.0),
            verdict("strokes: exceptions", out["ours"]["exceptions"], 0.0),
            verdict("strokes: past limits [rad]", out["ours"]["beyond_limits_rad"], 1e-9),
            verdict("strokes: pin error [mm]", out["ours"]["pin_max_mm"], 0.01),
        ]
    return out


# ------------------------------------------------------------------------------------------------------- main


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="fewer targets and frames")
    arguments.add_argument("--json", type=Path, help="write all figures to a file")
    arguments.add_argument("--only", default="abcd", help="sections to run")
    arguments.add_argument("--root", choices=("fixed", "free", "both"), default="both", help="of sections a and b")
    asked = arguments.parse_args()
    count, trials, frames, every = (40, 8, 120, 20) if asked.quick else (200, 20, 240, 10)
    versions = {name: version(name) for name in ("mink", "mujoco", "pin-pink", "pin", "placo", "daqp", "numpy")}
    console.print(" ".join(f"{name} {number}" for name, number in versions.items()))
    apart = max(check_kinematics(Judge(free), FOLDER) for free in (False, True))
    assert apart < 1e-9, f"the models differ by {apart} m"
    if not hasattr(cp, "solve_pose"):
        console.print("[yellow]counterpoise has no solve_pose here: the peers alone[/]")
    out: dict[str, Any] = {"versions": versions}
    roots = {"fixed": (False,), "free": (True,), "both": (False, True)}[asked.root]
    for free in roots:
        mark = "free" if free else "fixed"
        if "a" in asked.only:
            out[f"a_{mark}"] = section_a(free, count, trials)
        if "b" in asked.only:
            out[f"b_{mark}"] = section_b(free, count, trials)
    if "c" in asked.only:
        out["c"] = section_c(frames, every)
    if "d" in asked.only:
        out["d"] = section_d(*((6, 240) if asked.quick else (10, 240)))
    verdicts = [v for part in out.values() if isinstance(part, dict) for v in part.get("verdicts", ())]
    if verdicts:
        console.print(f"{sum(v['met'] for v in verdicts)} of {len(verdicts)} targets met")
    if asked.json:
        asked.json.write_text(json.dumps(out, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
