"""The plan of three steps: how good its optimum is beside a covariance-adapting search, and how long it takes.

200 random states of a human, pushed and not. The judge is a plain CMA-ES (Hansen 2016) that knows nothing of
derivatives and seeds: three runs of up to 6,000 evaluations each. The quality is the cost that it finds below ours, by
states. Times are by the wall clock: of a plan anew with all seeds, of a plan that goes on from the last one 10 ms
later, and beside them of scipy's `least_squares` (trust region, the same residuals and derivatives) from one seed.

    uv run python benchmarks/planner.py [states]
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import math
import sys
import time
from collections.abc import Callable

import numpy as np
from scipy.optimize import least_squares

import counterpoise as cp
from counterpoise.control.walk.steps_ahead import leg_frame
from counterpoise.plan.preview_residuals import LEAST, MOST
from counterpoise.plan.preview_search import seed_steps

EVALUATIONS, RUNS = 6000, 3
REPEATS = 5  # of a call; the quickest counts
WORSE = 1.05  # of the judge's cost: more than this is a failure


def random_problem(rng: np.random.Generator, frame: cp.plan.LegFrame) -> cp.plan.PlanProblem:
    """Returns the plan of a body that walks or stands and may have been pushed, at any moment of a step."""
    stance = int(rng.integers(2))
    side = -1.0 if stance == 0 else 1.0  # of the foot that swings
    speed = float(rng.choice([0.0, rng.uniform(-0.4, 1.6)]))
    whole = 0.34 if speed == 0.0 else float(rng.uniform(0.4, 0.7))
    double, width = 0.2 * whole, float(rng.uniform(0.1, 0.2))
    wish = cp.plan.PlanWish(speed * whole, whole, double, width, 0.0, float(rng.uniform(-3, 3)), rng.uniform(-0.2, 0.2))
    c, s = math.cos(wish.heading), math.sin(wish.heading)
    turn = np.array([[c, s], [-s, c]])  # seen along the heading, times this: world
    com = np.array([rng.uniform(-0.2, 0.2), side * rng.uniform(-0.05, 0.15)])
    velocity = np.array([speed, 0.0]) + rng.normal(0.0, rng.choice([0.1, 0.5, 0.9]), 2)
    swings = bool(rng.integers(2))
    gone = float(rng.uniform(0.0, double)) if not swings else double + float(rng.uniform(0.0, whole - double))
    foot = np.array([rng.uniform(-0.5, 0.5), side * rng.uniform(0.1, 0.3)])
    start = cp.plan.PlanStart(
        stance, com @ turn, (com + velocity / frame.omega) @ turn, np.zeros(2), wish.heading + rng.normal(0.0, 0.1),
        foot @ turn, (rng.normal(0.0, 1.0, 2) if swings else np.zeros(2)) @ turn,
        np.array([rng.uniform(-0.03, 0.12), rng.uniform(-0.02, 0.02)]) @ turn,
        gone, gone - double if swings else None, 0.0 if swings else double - gone,
    )  # fmt: skip
    return cp.plan.build_plan(frame, start, wish)


def adapt_covariance(
    price: Callable[[np.ndarray], float], x: np.ndarray, sigma: float, rng: np.random.Generator
) -> float:
    """Returns the least cost that a CMA-ES finds (weighted recombination, rank-one and rank-mu updates)."""
    n = len(x)
    size = 4 + int(3 * math.log(n)) * 2
    mu = size // 2
    w = math.log(mu + 0.5) - np.log(np.arange(1, mu + 1))
    w /= w.sum()
    eff = 1.0 / float(w @ w)
    cc, cs = (4 + eff / n) / (n + 4 + 2 * eff / n), (eff + 2) / (n + eff + 5)
    c1 = 2 / ((n + 1.3) ** 2 + eff)
    cmu = min(1 - c1, 2 * (eff - 2 + 1 / eff) / ((n + 2) ** 2 + eff))
    damp = 1 + 2 * max(0.0, math.sqrt((eff - 1) / (n + 1)) - 1) + cs
    usual = math.sqrt(n) * (1 - 1 / (4 * n) + 1 / (21 * n * n))
    pc, ps, C, best = np.zeros(n), np.zeros(n), np.eye(n), math.inf
    for generation in range(EVALUATIONS // size):
        d, B = np.linalg.eigh(C)
        d = np.sqrt(np.maximum(d, 1e-20))
        z = rng.standard_normal((size, n))
        steps = (z * d) @ B.T
        costs = np.array([price(x + sigma * step) for step in steps])
        order = np.argsort(costs)[:mu]
        best = min(best, float(costs[order[0]]))
        step = w @ steps[order]
        x = x + sigma * step
        ps = (1 - cs) * ps + math.sqrt(cs * (2 - cs) * eff) * (B @ (w @ z[order]))
        length = float(np.linalg.norm(ps))
        on = length / math.sqrt(1 - (1 - cs) ** (2 * (generation + 1))) < (1.4 + 2 / (n + 1)) * usual
        pc = (1 - cc) * pc + on * math.sqrt(cc * (2 - cc) * eff) * step
        C = (1 - c1 - cmu) * C + c1 * (np.outer(pc, pc) + (1 - on) * cc * (2 - cc) * C)
        C += cmu * (steps[order].T * w) @ steps[order]
        sigma *= math.exp((cs / damp) * (length / usual - 1))
        if sigma * d.max() < 1e-7:
            break
    return best


def quickest(call: Callable[[], object]) -> float:
    """Returns the time of the quickest of several calls [s]: machines are noisy."""
    found = []
    for _ in range(REPEATS):
        began = time.perf_counter()
        call()
        found.append(time.perf_counter() - began)
    return min(found)


def by_scipy(problem: cp.plan.PlanProblem, x: np.ndarray, ways: np.ndarray, bounds: object) -> None:
    """Solves the same problem by scipy, from one seed."""
    least_squares(
        lambda v: problem.residuals(v, ways)[0], x, lambda v: problem.residuals(v, ways)[1], bounds, x_scale="jac",
        max_nfev=60,
    )  # fmt: skip


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rng = np.random.default_rng(5)
    frame = leg_frame(cp.character("human"), cp.WalkTuning())
    problems = [random_problem(rng, frame) for _ in range(count)]
    plans = [cp.plan.solve_plan(problem) for problem in problems]
    spent: dict[str, list[float]] = {"all seeds": [], "from the last plan": [], "scipy, one seed": []}
    for problem, plan in zip(problems, plans, strict=True):
        spent["all seeds"].append(quickest(lambda q=problem: cp.plan.solve_plan(q)))
        nudged = cp.plan.FootstepPlan(
            problem, plan.x + rng.normal(0.0, 0.01, len(plan.x)), plan.ways, plan.cost, 0, plan.landed
        )
        spent["from the last plan"].append(quickest(lambda q=problem, p=nudged: cp.plan.solve_plan(q, p, anew=False)))
        x, ways = np.empty(3 * problem.count), np.zeros(problem.count, np.int64)
        seed_steps(1.0, ways, problem.start, problem.steps, problem.body, x)
        low, high = np.full(len(x), -np.inf), np.full(len(x), np.inf)
        low[::3], high[::3] = problem.steps[:, LEAST] - 1e-9, problem.steps[:, MOST] + 1e-9
        spent["scipy, one seed"].append(quickest(lambda q=problem, x=x, w=ways, b=(low, high): by_scipy(q, x, w, b)))
    least = float(np.median(spent["from the last plan"]))
    for name, times in spent.items():
        p50, p99, most = 1e3 * np.percentile(times, [50, 99, 100])
        print(f"{name:20} median {p50:6.3f} ms, p99 {p99:6.3f}, worst {most:6.3f}; x {p50 / (1e3 * least):6.1f}")
    ratios = []
    for number, (problem, plan) in enumerate(zip(problems, plans, strict=True)):
        best = math.inf
        for run in range(RUNS):
            x, ways = np.empty(3 * problem.count), np.zeros(problem.count, np.int64)
            seed_steps((1.0, 0.35, 0.7)[run], ways, problem.start, problem.steps, problem.body, x)
            best = min(best, adapt_covariance(problem.cost, x, (0.1, 0.3, 0.2)[run], rng))
        ratios.append(plan.cost / best)
        if ratios[-1] > WORSE:
            print(f"state {number}: ours {plan.cost:.4f}, the judge's {best:.4f}, ways {plan.ways}")
    good = sum(ratio <= WORSE for ratio in ratios)
    print(f"within 5 % of the judge: {good} of {count}; worst {max(ratios):.3f}, best {min(ratios):.3f}")


if __name__ == "__main__":
    main()
