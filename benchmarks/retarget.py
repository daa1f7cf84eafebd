"""Retargeting beside plain kinematics, in one run on one thread.

    OMP_NUM_THREADS=1 uv run python benchmarks/retarget.py [--clips ../shared/mocap] [--rounds 3]

The peer is MuJoCo's own mj_kinematics on the same frames of the same human, called once a frame from Python: what it
costs merely to look at a motion. A clip is retargeted whole (mapping, contacts, three fits, report). The budget is 300
frames a second of processor time on the 41-DOF human.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import mujoco

import counterpoise as cp

BUDGET = 300.0  # [frames/s]
CLIPS = ("13_29", "02_05", "144_09", "02_01")


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The best processor time of some rounds [s]."""
    best = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best


def looked_at(motion: cp.Motion) -> None:
    """mj_kinematics of every frame."""
    data = mujoco.MjData(motion.character.model)
    for q in motion.poses:
        data.qpos[:] = q
        mujoco.mj_kinematics(motion.character.model, data)


def sources(folder: Path) -> dict[str, cp.Motion]:
    """Captured clips where they are, and always a motion of the library's."""
    out = {"squat (library)": cp.reference_motion("squat", cp.character("human"), rate=120.0)}
    for name in CLIPS:
        if (folder / f"{name}.bvh").is_file():
            out[name] = cp.read_motion(folder / f"{name}.bvh")
    return out


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--clips", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "mocap")
    asked.add_argument("--rounds", type=int, default=3)
    given = asked.parse_args()
    print(f"{'clip':16s} {'to':10s} {'frames':>6s} {'frames/s':>9s} {'of mj_kinematics':>17s}")
    for name, motion in sources(given.clips).items():
        for to in ("human", "chicken"):
            who = cp.character(to)
            made = cp.retarget(motion, who)  # compiled, and every table made
            took = seconds(partial(cp.retarget, motion, who), given.rounds)
            peer = seconds(partial(looked_at, made), given.rounds)
            pace = len(motion) / took
            verdict = "" if to != "human" else ("  within budget" if pace >= BUDGET else "  OVER BUDGET")
            print(f"{name:16s} {to:10s} {len(motion):6d} {pace:9.0f} {took / peer:16.0f}x{verdict}")


if __name__ == "__main__":
    main()
