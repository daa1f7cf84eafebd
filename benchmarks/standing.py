"""How much faster than real time a standing human is simulated, on one core, beside the physics alone.

1 kHz physics, 500 Hz control; processor time, the quickest of several runs, because machines are noisy. The peers are
the same body under `HoldPose` (springs at the joints, no balance) and MuJoCo's step with nobody in control: ratios
carry over. A reference is rehearsed before it is followed, once: that (about 0.07 s for this squat) is not counted.

    uv run python benchmarks/standing.py
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import numpy as np

import counterpoise as cp

SECONDS, RUNS = 2.0, 4


def factor(who: cp.Character, controller: cp.Controller, pushes: list[cp.Push], start: cp.State | None = None) -> float:
    """Simulated seconds a second of processor time, at best."""
    best = np.inf
    for _ in range(RUNS):
        began = time.process_time()
        cp.simulate(who, controller, SECONDS, disturbances=pushes, start=start)
        best = min(best, time.process_time() - began)
    return SECONDS / best


def main() -> None:
    human = cp.character("human")
    squat = cp.reference_motion("squat", human)
    push = [cp.Push("thorax", (250.0, 0.0, 0.0), 0.2, 0.1)]
    follow = cp.Stand(reference=squat)
    cases = [
        ("nobody in control (physics and recording)", cp.Passive(), [], None),
        ("HoldPose", cp.HoldPose(), [], None),
        ("Stand, still", cp.Stand(), [], None),
        ("Stand, pushed 250 N x 0.1 s", cp.Stand(), push, None),
        ("Stand, a squat", follow, [], follow.ready(human)),
        ("MomentumBalance, pushed", cp.MomentumBalance(), push, None),
        ("Balance, pushed", cp.Balance(), push, None),
    ]
    for _, controller, pushes, start in cases:  # compile
        cp.simulate(human, controller, 0.02, disturbances=pushes, start=start)
    found = [(name, factor(human, controller, pushes, start)) for name, controller, pushes, start in cases]
    print(f"{'':44} x real time   share of the physics' speed")
    for name, value in found:
        print(f"{name:44} {value:8.2f} {value / found[0][1]:16.2f}")


if __name__ == "__main__":
    main()
