"""How long whole motions take to optimise, on one core, beside the same problem given to IPOPT as it stands.

Processor time. The peers solve the same rows with the same exact first derivatives: IPOPT with the objective's
Gauss-Newton Hessian, and IPOPT with its own limited-memory Hessian; both with a limit on iterations.

    uv run python benchmarks/spacetime.py
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np

import counterpoise as cp
from counterpoise.experiments.dismount import DismountSettings, dismount_stunt
from counterpoise.experiments.key_poses import bent
from counterpoise.experiments.monkey_bars import MonkeyBarsSettings, monkey_stunt
from counterpoise.experiments.staging import solve
from counterpoise.spacetime.optimize.merit import CostMerit
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.run import Monitor, run_solver

FEET = ("foot_left", "foot_right")
MOST = 200  # iterations of the peers


@cache
def figure() -> tuple[cp.Character, np.ndarray]:
    who = cp.character("human")
    squat = cp.reference_motion("squat", who)
    return who, squat.sample(0.5 * squat.duration).q


def jump(distance: float) -> cp.MotionProblem:
    who, crouch = figure()
    end = who.neutral.copy()
    end[0] += distance
    keys = [
        cp.Key(0.0, who.neutral, rest=True), cp.Key(0.35, crouch, soft=10.0),
        cp.Key(1.6, end, rest=True),
    ]  # fmt: skip
    contacts = [cp.Touch(f, 0.0, 0.6) for f in FEET] + [cp.Touch(f, 1.0, 1.6) for f in FEET]
    return cp.build_motion_problem(who, keys, contacts, 1.6)


def plain(problem: cp.MotionProblem, memory: bool) -> tuple[int, float]:
    """IPOPT left alone: iterations and the violation it ends with."""
    options = {"max_iter": MOST, "mu_strategy": "adaptive"}
    if memory:
        options["hessian_approximation"] = "limited-memory"
    program, monitor = MotionProgram(problem), Monitor()
    found = run_solver(
        program, CostMerit(program, 1.0), monitor, problem.start.copy(), options, lambda violations: False, 0.0
    )
    return monitor.iterations, float(program.violation(found.x).max())


def timed(work: Callable[[], object]) -> tuple[object, float]:
    began = time.process_time()
    out = work()
    return out, time.process_time() - began


def line(name: str, seconds: float, result: object, of: float = 0.0) -> None:
    share = f"{seconds / of:8.2f}" if of else " " * 8
    print(f"{name:48} {seconds:8.2f} {share} {result.iterations:11d} {result.worst:10.1e}")


def jumps() -> None:
    """A standing jump: ours and the peers."""
    cp.solve_motion(jump(0.3))  # compile
    first, whole = timed(lambda: cp.solve_motion(jump(0.6)))
    again, warm = timed(lambda: cp.solve_motion(jump(0.65), warm=first))
    exact, at_once = timed(lambda: cp.solve_motion(jump(0.6), strides=0))
    full, both_sides = timed(lambda: cp.solve_motion(jump(0.6), symmetric=False))
    print(f"{'standing jump, 41 DOF, 1.6 s':48} {'seconds':>8} {'of ours':>8} {'iterations':>11} {'violation':>10}")
    line("ours", whole, first, whole)
    line("ours, the first exact motion", at_once, exact, whole)
    line("ours, one key moved", warm, again, whole)
    line("ours, symmetry not used", both_sides, full, whole)
    for name, memory in (("IPOPT, Gauss-Newton Hessian", False), ("IPOPT, limited-memory Hessian", True)):
        (iterations, violation), seconds = timed(lambda memory=memory: plain(jump(0.6), memory))
        name = f"{name}, at most {MOST}"
        print(f"{name:48} {seconds:8.2f} {seconds / whole:8.2f} {iterations:11d} {violation:10.1e}")
    print("between the knots: " + ", ".join(f"{k} {v:.2%}" for k, v in first.between.items()))
    assert first.ok and again.ok and full.ok


def stunts() -> None:
    """The paper's: the whole way from keys to an exact motion, and after a key has moved."""
    who = figure()[0]
    settings = DismountSettings()
    for flight, above in ((settings.short, None), (settings.long, settings.bar + settings.above)):
        name = f"dismount, flight {flight:g} s"
        stunt = dismount_stunt(who, settings, flight, above)
        exact, seconds = timed(lambda stunt=stunt: solve(stunt, strides=0))
        line(f"{name}, the first exact motion", seconds, exact)
        result, seconds = timed(lambda stunt=stunt: solve(stunt))
        line(f"{name}, a stride on", seconds, result)
        further = dismount_stunt(who, replace(settings, landing=settings.landing + 0.1), flight, above)
        moved, seconds = timed(lambda further=further, result=result: solve(further, warm=result))
        line("  its landing moved by 10 cm", seconds, moved)
        keys = [
            replace(k, pose=bent(who, k.pose, elbow_left=1.2)) if k.name == "crouch" else k for k in stunt.keys
        ]  # fmt: skip
        lopsided = replace(stunt, keys=tuple(keys))
        moved, seconds = timed(lambda lopsided=lopsided, result=result: solve(lopsided, warm=result))
        line("  one elbow of a soft key moved", seconds, moved)
    strong = dismount_stunt(who, settings, settings.long, settings.bar + settings.above, 1.0)
    result, seconds = timed(lambda: solve(strong))
    line("dismount within a person's strength", seconds, result)
    for strength in (None, 1.0):
        stunt = replace(monkey_stunt(who, MonkeyBarsSettings()), strength=strength)
        result, seconds = timed(lambda stunt=stunt: solve(stunt))
        line("monkey bars" + (" within a person's strength" if strength else ""), seconds, result)


def main() -> None:
    jumps()
    stunts()


if __name__ == "__main__":
    main()
