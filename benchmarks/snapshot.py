"""Snapshot beside raw MuJoCo and beside Pinocchio, in one run on one thread.

    OMP_NUM_THREADS=1 uv run python benchmarks/snapshot.py [--rounds 3000] [--json]

Every round gives each contender the same state in turn, so that whatever else the machine does hits all alike.
The budget: a Snapshot (all of it, with contact points) costs at most 60 microseconds on top of mj_forward.
Pinocchio is asked for the same quantities through its Python bindings: computeAllTerms, ccrba, dccrba, and Jacobian and
classical acceleration drift of each contact point's frame.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np

from counterpoise.character.library import character
from counterpoise.character.snapshot import take_snapshot

BUDGET = 60.0  # [us] on top of mj_forward
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "laws"))


def contenders(name: str) -> tuple[list[tuple[np.ndarray, np.ndarray]], dict[str, Callable[[int], object]]]:
    """States to visit, and what to time at each."""
    who = character(name)
    rng = np.random.default_rng(0)
    poses = [who.integrate(who.neutral, 0.1 * rng.normal(size=who.nv)) for _ in range(64)]
    states = [who.state(q, rng.normal(size=who.nv)) for q in poses]
    m, d = who.model, mujoco.MjData(who.model)

    def forward(i: int) -> object:
        d.qpos[:], d.qvel[:] = states[i].q, states[i].v
        mujoco.mj_forward(m, d)
        return d

    tested: dict[str, Callable[[int], object]] = {
        "mj_forward": forward,
        "Snapshot": lambda i: take_snapshot(who, states[i]),
    }
    try:
        tested["Pinocchio"] = _pinocchio(who, states)
    except ImportError:
        print("Pinocchio is not installed: its column is left out", file=sys.stderr)
    return [(s.q, s.v) for s in states], tested


def _pinocchio(who: object, states: list) -> Callable[[int], object]:
    import pinocchio as pin
    from pinocchio_twin import WORLD_AXES, Twin

    twin = Twin(who.model)  # type: ignore[attr-defined]
    points = [
        twin.add_point(who.body_id(p.body), np.array(p.position))  # type: ignore[attr-defined]
        for p in who.contact_points  # type: ignore[attr-defined]
    ]
    twin.ready()
    inputs = [(twin.q(s.q), twin.T(s.q) @ s.v) for s in states]
    rest = np.zeros(twin.model.nv)
    model, data = twin.model, twin.data

    def ask(i: int) -> object:
        q, v = inputs[i]
        pin.computeAllTerms(model, data, q, v)
        pin.ccrba(model, data, q, v)
        pin.dccrba(model, data, q, v)
        pin.forwardKinematics(model, data, q, v, rest)
        pin.updateFramePlacements(model, data)
        return [
            (
                pin.getFrameJacobian(model, data, f, WORLD_AXES),
                pin.getFrameClassicalAcceleration(model, data, f, WORLD_AXES),
            )
            for f in points
        ]

    return ask


def measure(tested: dict[str, Callable[[int], object]], count: int, rounds: int) -> dict[str, np.ndarray]:
    """Seconds of every call, (rounds * count,) each; contenders take turns within a round."""
    taken: dict[str, list[float]] = {name: [] for name in tested}
    for _ in range(3):  # compile, fill caches
        for ask in tested.values():
            for i in range(count):
                ask(i)
    names = list(tested)
    for r in range(rounds):
        for name in names[r % len(names) :] + names[: r % len(names)]:
            ask, i = tested[name], r % count
            ask((i + 1) % count)  # warm after the other's turn
            began = time.perf_counter()
            ask(i)
            taken[name].append(time.perf_counter() - began)
    return {name: np.array(values) for name, values in taken.items()}


def summary(taken: dict[str, np.ndarray]) -> dict[str, dict[str, float]]:
    base = float(np.median(taken["mj_forward"]))
    out = {}
    for name, values in taken.items():
        median = float(np.median(values))
        out[name] = {
            "median_us": 1e6 * median,
            "p90_us": 1e6 * float(np.percentile(values, 90)),
            "of_mj_forward": median / base,
        }
    return out


def show(result: dict[str, dict[str, float]], figure: str, points: int, nv: int) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(title=f"{figure}: {nv} DOF, {points} contact points, one thread")
    for column in ("", "median [us]", "p90 [us]", "x mj_forward"):
        table.add_column(column, justify="left" if not column else "right")
    for name, row in result.items():
        table.add_row(name, f"{row['median_us']:.1f}", f"{row['p90_us']:.1f}", f"{row['of_mj_forward']:.2f}")
    console = Console()
    console.print(table)
    extra = result["Snapshot"]["median_us"]
    verdict = "within" if extra <= BUDGET else "over"
    console.print(f"Snapshot adds {extra:.1f} us to a step's mj_forward; budget {BUDGET:.0f} us: {verdict}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--figure", default="human")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    options = parser.parse_args()
    who = character(options.figure)
    states, tested = contenders(options.figure)
    result = summary(measure(tested, len(states), options.rounds))
    if options.json:
        head = {"figure": who.name, "nv": who.nv, "points": len(who.contact_points), "rounds": options.rounds}
        print(json.dumps({**head, "budget_us": BUDGET, "results": result}, indent=2))
    else:
        show(result, who.name, len(who.contact_points), who.nv)


if __name__ == "__main__":
    main()
