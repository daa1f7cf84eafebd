"""Whether a change of the code left every bit of a simulation as it was: hashes of runs of several controllers.

Run it before the change and after it. Kernels are compiled for the processor at hand, so the hashes of two machines may
differ; those of two runs on one machine do not.

    uv run python benchmarks/same_bytes.py > before.txt
    uv run python benchmarks/same_bytes.py | diff before.txt -
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import hashlib
from collections.abc import Callable

import numpy as np

import counterpoise as cp


def digest(recording: cp.Recording) -> str:
    """Returns a hash of states, torques, contact forces and notes."""
    found = hashlib.sha256()
    for values in (recording.qpos, recording.qvel, recording.torque, recording.contacts.force):
        found.update(np.ascontiguousarray(values).tobytes())
    for name in sorted(recording.notes):
        values = recording.notes[name]
        found.update(name.encode() + b"".join(repr(one).encode() for one in values.tolist()))
    return found.hexdigest()[:16]


def runs() -> dict[str, Callable[[], cp.Recording]]:
    """Returns the runs by name."""
    human, chicken = cp.character("human"), cp.character("chicken")
    squat = cp.reference_motion("squat", human)
    kick = cp.reference_motion("front_kick", human)
    follow = cp.Stand(reference=squat, compliance=0.3)
    step = cp.World(terrain=cp.Terrain([cp.Box((0.0, 0.3), (1.0, 0.6), 0.05)]))

    def push(body: str, x: float, y: float, start: float = 0.2) -> list[cp.Push]:
        return [cp.Push(body, (x, y, 0.0), start, 0.1)]

    def run(
        controller: cp.Controller, seconds: float, body: cp.Character | list[cp.Character] = human, **more: object
    ) -> cp.Recording:
        return cp.simulate(body, controller, seconds, **more)  # type: ignore[arg-type]

    return {
        "stand, still": lambda: run(cp.Stand(), 1.0),
        "stand, pushed forward": lambda: run(cp.Stand(), 1.5, disturbances=push("thorax", 330, 0)),
        "stand, pushed aside": lambda: run(cp.Stand(), 1.5, disturbances=push("pelvis", 50, 300)),
        "stand, falls": lambda: run(cp.Stand(), 1.5, disturbances=push("thorax", -700, 100)),
        "stand, recovers": lambda: run(cp.Stand(recover=True), 2.0, disturbances=push("thorax", -700, 100)),
        "stand, steps": lambda: run(cp.Stand(step=True), 2.0, disturbances=push("thorax", 500, 200)),
        "stand, lively": lambda: run(cp.Stand(liveliness=1.0, seed=3), 1.0),
        "stand, crouches": lambda: run(cp.Stand(height=lambda t: 0.95 - 0.1 * t), 1.0),
        "stand, limp": lambda: run(cp.Stand(compliance=0.9), 1.0),
        "stand, squat": lambda: run(follow, 2.0, start=follow.ready(human), disturbances=push("thorax", 150, 50)),
        "stand, kick": lambda: run(cp.Stand(reference=kick), 2.0, start=cp.Stand(reference=kick).ready(human)),
        "stand, slope": lambda: run(cp.Stand(), 1.0, world=cp.World(tilt=(6.0, 8.0))),
        "stand, ice": lambda: run(cp.Stand(), 1.0, world=cp.World(friction=0.2), disturbances=push("thorax", 150, 0)),
        "stand, terrain": lambda: run(cp.Stand(), 1.0, world=step),
        "stand, chicken": lambda: run(cp.Stand(), 1.0, chicken),
        "stand, two": lambda: run(cp.Stand(), 0.3, [human, chicken]),
        "hold pose": lambda: run(cp.HoldPose(), 1.0),
        "momentum balance": lambda: run(cp.MomentumBalance(), 1.0, disturbances=push("thorax", 200, 0)),
        "balance": lambda: run(cp.Balance(), 1.0, disturbances=push("thorax", 200, 0)),
        "walk": lambda: run(cp.Walk(), 2.0),
        "locomotion": lambda: run(cp.Locomotion(), 2.0),
    }


def main() -> None:
    for name, make in runs().items():
        print(f"{name:24} {digest(make())}", flush=True)


if __name__ == "__main__":
    main()
