"""How fast `Walk` runs beside bare `mj_step` of the same recording, on one core, in one run.

uv run python benchmarks/walking.py
"""

from __future__ import annotations

import time

import mujoco

import counterpoise as cp

SECONDS = 4.0  # [s] of walking that are timed
REPEATS = 3  # of which the best counts


def main() -> None:
    """Prints real-time factors and their ratio."""
    human = cp.character("human")
    session = cp.Session(human, cp.Walk(speed=1.2), keep=None)
    session.advance(4.0)
    walking = bare = float("inf")
    for _ in range(REPEATS):
        begin = time.process_time()
        recording = session.advance(SECONDS)
        walking = min(walking, time.process_time() - begin)
        model, data = recording.model, mujoco.MjData(recording.model)
        data.qpos[:], data.qvel[:] = recording.qpos[0], recording.qvel[0]
        begin = time.process_time()
        for torque in recording.torque[:-1]:
            data.qfrc_applied[:] = torque
            mujoco.mj_step(model, data)
        bare = min(bare, time.process_time() - begin)
    print(
        f"Walk: {SECONDS / walking:.2f} x real time; bare mj_step: {SECONDS / bare:.1f} x; ratio {walking / bare:.1f}"
    )


if __name__ == "__main__":
    main()
