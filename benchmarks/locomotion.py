"""How long a human that stands, walks and runs takes to simulate on one core, beside the physics alone, in one run.

1 kHz physics, 500 Hz control. Processor time; the quickest of several stretches that take turns, because machines are
noisy. The measure is MuJoCo's bare `mj_step` on the same model with the same torques, so that it passes through the
same states: ratios to it carry over from machine to machine. The time of a tick is that of the controller and of
the snapshot it reads, by the wall clock.

    uv run python benchmarks/locomotion.py
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import mujoco
import numpy as np

import counterpoise as cp

SECONDS, RUNS = 2.0, 8  # of each stretch; how many
CASES: list[tuple[str, cp.Controller, float]] = [  # and the time [s] after which it goes steadily
    ("Stand", cp.Stand(), 1.0),
    ("Walk, 1.2 m/s", cp.Walk(speed=1.2), 4.0),
    ("Locomotion, 1.2 m/s", cp.Locomotion(speed=1.2), 4.0),
    ("Locomotion, 3 m/s", cp.Locomotion(speed=3.0), 8.0),
]


def bare_seconds(recording: cp.Recording) -> float:
    """Returns the processor time of the steps of a recording: `mj_step` with its torques, no more [s]."""
    model, data = recording.model, mujoco.MjData(recording.model)
    data.qpos[:], data.qvel[:] = recording.qpos[0], recording.qvel[0]
    if recording.warm_start is not None:
        data.qacc_warmstart[:] = recording.warm_start
    applied, torques = data.qfrc_applied, list(recording.torque[:-1])
    began = time.process_time()
    for torque in torques:
        applied[:] = torque
        mujoco.mj_step(model, data)
    spent = time.process_time() - began
    assert np.allclose(data.qpos, recording.qpos[-1], atol=1e-3), "the bare steps end in another pose"
    return spent


def main() -> None:
    human = cp.character("human")
    print(f"{'':22}  x real time: bare   simulated   time / bare mj_step   tick p50, p99 [ms]")
    for name, controller, before in CASES:
        session = cp.Session(human, controller, keep=None)
        session.advance(before)
        bare, whole, ticks = [], [], []
        for _ in range(RUNS):
            began = time.process_time()
            recording = session.advance(SECONDS)
            whole.append(time.process_time() - began)
            bare.append(bare_seconds(recording))
            ticks.append(recording.tick_seconds)
        assert not cp.measure.fell(session.advance(0.1)).fell, f"{name} has fallen"
        p50, p99 = 1e3 * np.percentile(np.concatenate(ticks), [50, 99])
        best, least = min(whole), min(bare)
        times = f"{SECONDS / least:18.2f} {SECONDS / best:11.2f} {best / least:21.2f}"
        print(f"{name:22} {times}          {p50:5.2f}, {p99:4.2f}")


if __name__ == "__main__":
    main()
