"""How long a frame of a drag takes with a limit by the clock, and how far joints turn in it.

    uv run python benchmarks/drag.py [--within 0.008] [--frames 600] [--processor]

With --processor the limit and the times are those of the processor alone, as on a machine that does nothing else.
"""

from __future__ import annotations

import argparse
import gc
import time
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import counterpoise as cp
from counterpoise.pose import descent, drag, tuning

RATE = 60.0  # [1/s] of frames
WARM = 5  # frames that are not counted

human = cp.character("human")
here = human.snapshot()
feet: list[Any] = [c for f in human.feet for c in (cp.Pin(f.body), cp.Lock(f.body))]
balanced = [*feet, cp.Balanced()]
above = [*balanced, cp.AboveGround()]
elbows = cp.Couple({"elbow_left": 1.0, "elbow_right": -1.0}, equals=0.0)


def near(t: float, body: str = "hand_right") -> Any:
    way = (0.15 + 0.25 * np.sin(t), 0.2 * np.sin(1.7 * t), 0.3 + 0.3 * np.sin(0.7 * t))
    return cp.Reach(body, here.position(body) + np.array(way))


def far(t: float) -> Any:
    way = (1.15 + 0.75 * np.sin(t), 0.2 * np.sin(1.7 * t), 0.3 + 0.9 * np.sin(0.7 * t))
    return cp.Reach("hand_right", here.position("hand_right") + np.array(way))


def lower(t: float) -> Any:
    return cp.Reach("pelvis", here.position("pelvis") - np.array([0.0, 0.0, 0.3 * (1.0 - np.cos(t))]))


MIXES: dict[str, tuple[list[Any], Callable[[float], list[Any]]]] = {
    "reach, pinned": (feet, lambda t: [near(t)]),
    "reach, balanced": (balanced, lambda t: [near(t)]),
    "reach, balanced, above ground": (above, lambda t: [near(t)]),
    "out of reach, pinned": (feet, lambda t: [far(t)]),
    "out of reach, balanced": (balanced, lambda t: [far(t)]),
    "out of reach, balanced, above ground": (above, lambda t: [far(t)]),
    "two hands, balanced": (balanced, lambda t: [near(t), near(t + 1.0, "hand_left")]),
    "reach and orient, balanced": (
        balanced, lambda t: [near(t), cp.Orient("hand_right", (np.cos(t / 4), np.sin(t / 4), 0, 0))]
    ),
    "CoM and reach": (feet, lambda t: [cp.CenterOfMass((0.05 * np.sin(t), 0.05 * np.sin(2 * t), None)), near(t)]),
    "pelvis down, balanced, above ground": (above, lambda t: [lower(t)]),
    "aim, balanced": (balanced, lambda t: [cp.Aim("head", (1, 0, 0), at=(3 * np.cos(t), 3 * np.sin(t), 1.5))]),
    "coupled elbows, balanced": ([*balanced, elbows], lambda t: [near(t)]),
}  # fmt: skip


def largest_turn(a: Any, b: Any) -> float:
    """Returns how far the joint that turned most has turned [deg]."""
    step = human.difference(a, b)
    parts = [step[j.dofs][3:] if j.kind == "free" else step[j.dofs] for j in human.joints]
    return float(np.degrees(max(np.linalg.norm(part) for part in parts)))


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    reader.add_argument("--within", type=float, default=0.008)
    reader.add_argument("--frames", type=int, default=600)
    reader.add_argument("--processor", action="store_true")
    asked = reader.parse_args()
    clock = time.thread_time if asked.processor else time.perf_counter
    if asked.processor:
        for module in (drag, descent, tuning):
            module.time = types.SimpleNamespace(perf_counter=time.thread_time)  # type: ignore[attr-defined]
    print(f"{'':38} p50 [ms]  p99 [ms]  max [ms]  turn [deg]  violation")
    for name, (held, goals) in MIXES.items():
        session = cp.PoseDrag(human, held)
        before, seconds, turns, off = session.pose, [], [], []
        gc.disable()
        for k in range(asked.frames):
            wanted = goals(k / RATE)
            began = clock()
            pose = session.to(wanted, within=asked.within)
            seconds.append(clock() - began)
            turns.append(largest_turn(before, pose.q))
            off.append(max(pose.violations.values(), default=0.0))
            before = pose.q
        gc.enable()
        ms = 1e3 * np.array(seconds[WARM:])
        print(
            f"{name:38} {np.median(ms):8.2f}  {np.percentile(ms, 99):8.2f}  {ms.max():8.2f}  {max(turns):10.2f}  "
            f"{max(off):.1e}"
        )


if __name__ == "__main__":
    main()
