"""How long a standing human takes to simulate on one core, beside the physics alone, in one run.

1 kHz physics, 500 Hz control. Processor time; the quickest of several runs that take turns, because machines are
noisy. The measure is MuJoCo's bare `mj_step` on the same model with the same torques, so that it passes through the
same states: ratios to it carry over from machine to machine. A reference is rehearsed before it is followed, once: that
(about 0.07 s for this squat) is not counted.

    uv run python benchmarks/standing.py
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable

import mujoco
import numpy as np

import counterpoise as cp

SECONDS, RUNS = 2.0, 8


def bare_steps(recording: cp.Recording) -> Callable[[], None]:
    """Returns a function that makes the steps of a recording again: `mj_step` with its torques and pushes, no more."""
    model, data = recording.model, mujoco.MjData(recording.model)
    torques, pushes = list(recording.torque[:-1]), list(recording.external[:-1])
    start = recording.qpos[0].copy(), recording.qvel[0].copy()
    pushed = bool(recording.external.any())

    def run() -> None:
        mujoco.mj_resetData(model, data)
        data.qpos[:], data.qvel[:] = start
        applied, external = data.qfrc_applied, data.xfrc_applied
        for torque, push in zip(torques, pushes, strict=True):
            applied[:] = torque
            if pushed:
                external[:] = push
            mujoco.mj_step(model, data)

    run()
    assert np.allclose(data.qpos, recording.qpos[-1], atol=1e-3), "the bare steps end in another pose"
    return run


def seconds_of(work: Callable[[], object]) -> float:
    """Returns the processor time of one call [s]."""
    began = time.process_time()
    work()
    return time.process_time() - began


def main() -> None:
    human = cp.character("human")
    squat = cp.reference_motion("squat", human)
    push = [cp.Push("thorax", (250.0, 0.0, 0.0), 0.2, 0.1)]
    follow = cp.Stand(reference=squat)
    cases: list[tuple[str, cp.Controller, list[cp.Push], cp.State | None]] = [
        ("HoldPose", cp.HoldPose(), [], None),
        ("Stand, still", cp.Stand(), [], None),
        ("Stand, pushed 250 N x 0.1 s", cp.Stand(), push, None),
        ("Stand, a squat", follow, [], follow.ready(human)),
        ("MomentumBalance, pushed", cp.MomentumBalance(), push, None),
        ("Balance, pushed", cp.Balance(), push, None),
    ]
    print(f"{'':30}  x real time: bare   simulated   time / bare mj_step")
    for name, controller, pushes, start in cases:

        def whole(
            controller: cp.Controller = controller, pushes: list[cp.Push] = pushes, start: cp.State | None = start
        ) -> cp.Recording:
            return cp.simulate(human, controller, SECONDS, disturbances=pushes, start=start)

        bare = bare_steps(whole())
        best_bare = best = np.inf
        for _ in range(RUNS):
            best_bare, best = min(best_bare, seconds_of(bare)), min(best, seconds_of(whole))
        print(f"{name:30} {SECONDS / best_bare:18.2f} {SECONDS / best:11.2f} {best / best_bare:21.2f}")


if __name__ == "__main__":
    main()
