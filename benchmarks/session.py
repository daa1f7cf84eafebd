"""What a frame of a game costs: `Session.advance(1/60)` beside the same time within one `simulate`.

1 kHz physics on one core; processor time. Session and simulate take turns, two seconds each, because machines are
noisy; the ratio is that of the quickest turns of each. Frames include reading all body poses.

    uv run python benchmarks/session.py
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time

import counterpoise as cp

FRAME, FRAMES, TURNS = 1.0 / 60.0, 120, 8  # [s], frames in a turn, turns
MAX_RATIO = 1.1


def in_frames(human: cp.Character, controller: cp.Controller) -> float:
    """Processor time of one frame in a session that has been running for a while [s]."""
    session = cp.Session(human, controller, keep=1.0)
    session.advance(FRAME)  # builds the stage
    began = time.process_time()
    for _ in range(FRAMES):
        session.advance(FRAME)
        session.poses()
    return (time.process_time() - began) / FRAMES


def in_one_run(human: cp.Character, controller: cp.Controller) -> float:
    """Processor time of as much simulation within one `simulate` [s]."""
    began = time.process_time()
    cp.simulate(human, controller, FRAMES * FRAME)
    return (time.process_time() - began) / FRAMES


def main() -> None:
    human = cp.character("human")
    print(f"{'one frame of 1/60 s':22} session [ms]  simulate [ms]   ratio (at most {MAX_RATIO})")
    for controller in (cp.Passive(), cp.HoldPose(), cp.Stand()):
        in_frames(human, controller), in_one_run(human, controller)  # compile
        turns = [(in_frames(human, controller), in_one_run(human, controller)) for _ in range(TURNS)]
        session, whole = (min(column) for column in zip(*turns, strict=True))
        name = type(controller).__name__
        print(f"{name:22} {1e3 * session:12.3f} {1e3 * whole:14.3f} {session / whole:7.3f}")


if __name__ == "__main__":
    main()
