"""How long whole motions take to optimise, on one core, beside the same problem given to IPOPT as it stands.

Processor time. The peers solve the same rows with the same exact first derivatives: IPOPT with the objective's
Gauss-Newton Hessian, and IPOPT with its own limited-memory Hessian; both with a limit on iterations.

    uv run python benchmarks/spacetime.py
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable
from functools import cache

import numpy as np

import counterpoise as cp
from counterpoise.spacetime import solving

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
    solve = solving.Solve(problem, None, 0.0, 0)
    solve._good_enough = lambda: False  # type: ignore[method-assign]
    options = {"max_iter": MOST, "mu_strategy": "adaptive"}
    if memory:
        options["hessian_approximation"] = "limited-memory"
    careful, solving.CAREFUL = solving.CAREFUL, 1.0
    try:
        x, _ = solve.run(problem.start.copy(), options)
    finally:
        solving.CAREFUL = careful
    return solve.iterations, float(solve.violation(x).max())


def timed(work: Callable[[], object]) -> tuple[object, float]:
    began = time.process_time()
    out = work()
    return out, time.process_time() - began


def main() -> None:
    cp.solve_motion(jump(0.3))  # compile
    first, build_and_solve = timed(lambda: cp.solve_motion(jump(0.6)))
    again, warm = timed(lambda: cp.solve_motion(jump(0.65), warm=first))
    exact, at_once = timed(lambda: cp.solve_motion(jump(0.6), strides=0))
    print(f"{'standing jump, 41 DOF, 1.6 s':44} {'seconds':>8} {'of ours':>8} {'iterations':>11} {'violation':>10}")
    rows = [
        ("ours", build_and_solve, first.iterations, first.worst),
        ("ours, the first exact motion", at_once, exact.iterations, exact.worst),
        ("ours, one key moved", warm, again.iterations, again.worst),
    ]
    for name, memory in (("IPOPT, Gauss-Newton Hessian", False), ("IPOPT, limited-memory Hessian", True)):
        (iterations, violation), seconds = timed(lambda memory=memory: plain(jump(0.6), memory))
        rows.append((f"{name}, at most {MOST}", seconds, iterations, violation))
    for name, seconds, iterations, violation in rows:
        print(f"{name:44} {seconds:8.2f} {seconds / build_and_solve:8.2f} {iterations:11d} {violation:10.1e}")
    from counterpoise.experiments.dismount import Settings, dismount_stunt
    from counterpoise.experiments.staging import solve

    stunt = dismount_stunt(figure()[0], Settings(), 0.6)
    for strides in (0, 1):
        result, seconds = timed(lambda strides=strides: solve(stunt, strides=strides))
        name = f"dismount, flight 0.6 s, strides {strides}"
        print(f"{name:44} {seconds:8.2f} {'':8} {result.iterations:11d} {result.worst:10.1e}")
    at = first.between
    print("between the knots: " + ", ".join(f"{k} {v:.2%}" for k, v in at.items()))
    assert first.ok and again.ok and np.isfinite(first.objective)


if __name__ == "__main__":
    main()
