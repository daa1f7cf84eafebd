"""Stunts planned by `optimize_motion` and performed by `Perform` from many small random starts.

Each stunt of `examples/stunts` is planned once with a reserve (`with_reserve`) and performed from seeded starts
(`disturbed_start`). A start succeeds where the body stands at the end, calm. Prints the table of docs/perform.md. With
--pushed, the thorax is pushed by 60 N for 0.1 s in a random direction at a random moment of each performance.

    uv run python benchmarks/stunts_performed.py [--starts 20] [--pushed] [NAME ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import counterpoise as cp
from counterpoise.control.perform import PlannedMotion, plan_of_result

STUNTS = Path(__file__).resolve().parents[1] / "examples" / "stunts"
NAMES = ("standing_jump", "long_jump", "back_flip", "vault", "cartwheel")
VAULT = cp.World(terrain=cp.Terrain([cp.Box((0.8, 0.0), (0.3, 0.9), 0.8)]))
PUSH, PUSH_TIME = 60.0, 0.1  # [N], [s]
AFTER = 3.0  # [s] simulated after the plan
STILL = 0.15  # [m/s] of the CoM at the end


def performed(character: cp.Character, name: str, plan: PlannedMotion, seed: int, pushed: bool) -> cp.Recording:
    """Returns one performance. A cartwheel starts in its own pose, legs apart; the others wait in the neutral pose."""
    own = name == "cartwheel"
    world = VAULT if name == "vault" else cp.World()
    controller = cp.Perform(plan, wait=0.0 if own else 0.3)
    start = cp.disturbed_start(character, seed, world, controller.ready(character) if own else None)
    random = np.random.default_rng(1000 + seed)
    angle, moment = 2.0 * np.pi * random.random(), controller.wait + plan.duration * random.random()
    force = PUSH * np.array([np.cos(angle), np.sin(angle), 0.0])
    pushes = [cp.Push("thorax", tuple(force), moment, PUSH_TIME)] if pushed else []
    seconds = controller.wait + plan.duration + AFTER
    return cp.simulate(character, controller, seconds, world=world, disturbances=pushes, start=start, seed=seed)


def stands(character: cp.Character, recording: cp.Recording) -> bool:
    """Returns whether it stands at the end, calm."""
    last = character.snapshot(recording.state(-1))
    return bool(recording.notes["stage"][-1] == "stand" and np.linalg.norm(last.com_velocity) < STILL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=NAMES)
    parser.add_argument("--starts", type=int, default=20)
    parser.add_argument("--pushed", action="store_true")
    given = parser.parse_args()
    human = cp.character("human")
    print("| stunt | stands | tracking rms [deg], median | worst | peak torque / strength | exact replay | falls at |")
    print("|---|---|---|---|---|---|---|")
    for name in given.names:
        result = cp.with_reserve(cp.read_stunt(STUNTS / f"{name}.toml")).optimize()
        plan = plan_of_result(result)
        good, errors, peaks, exact, falls = 0, [], [], True, []
        for seed in range(1, given.starts + 1):
            recording = performed(human, name, plan, seed, given.pushed)
            on = recording.notes["stage"] == "perform"
            errors.append(np.degrees(np.sqrt(np.mean(recording.notes["tracking"][on] ** 2))))
            peaks.append(cp.measure.summary(recording).peak_torque_share)
            exact &= cp.replay(recording).exact
            if stands(human, recording):
                good += 1
            else:
                falls.append(f"{seed}")
        print(
            f"| {name.replace('_', ' ')} | {good} of {given.starts} | {np.median(errors):.1f} | {max(errors):.1f} | "
            f"{max(peaks):.2f} | {'yes' if exact else 'no'} | {', '.join(falls) or 'none'} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
