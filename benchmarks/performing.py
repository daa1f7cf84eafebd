"""How long a performed stunt takes to simulate on one core, beside the physics alone, in one run; planning apart.

1 kHz physics, 500 Hz control. Processor time; the quicker of several runs. The measure is MuJoCo's bare `mj_step` with
the recorded torques, which passes through the same states (benchmarks/locomotion.py).

    uv run python benchmarks/performing.py [--runs 3]
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import time
from pathlib import Path

from locomotion import bare_seconds

import counterpoise as cp
from counterpoise.control.perform import plan_of_result

STUNTS = Path(__file__).resolve().parents[1] / "examples" / "stunts"
NAMES = ("standing_jump", "back_flip")
AFTER = 1.0  # [s] simulated after the plan


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    human = cp.character("human")
    print(f"{'':16}  x real time: bare   performed   time / bare mj_step")
    for name in NAMES:
        plan = plan_of_result(cp.with_reserve(cp.read_stunt(STUNTS / f"{name}.toml")).optimize())
        seconds = 0.3 + plan.duration + AFTER
        bare, whole = [], []
        for _ in range(given.runs):
            began = time.process_time()
            recording = cp.simulate(human, cp.Perform(plan), seconds)
            whole.append(time.process_time() - began)
            bare.append(bare_seconds(recording))
        assert recording.notes["stage"][-1] == "stand", f"{name} does not stand"
        best, least = min(whole), min(bare)
        print(f"{name:16} {seconds / least:18.2f} {seconds / best:11.2f} {best / least:21.2f}", flush=True)


if __name__ == "__main__":
    main()
