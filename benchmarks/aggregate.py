"""Aggregate force and its derivatives: growth with size, beside Pinocchio, and the paper's table measured again.

    OMP_NUM_THREADS=1 uv run --no-sync python benchmarks/aggregate.py [--rounds 30] [--json]

One run on one thread; CPU time, the quickest of several rounds, contenders in turn so that whatever else the machine
does hits all alike.

1. Growth: chains and binary trees of hinges on a free root, D = 10 ... 640, time per frame in batches of 64. The
   exponent is the slope of log time over log D for D >= 80; linear is 1.
2. The human of the library (41 degrees of freedom: free root, balls and hinges) beside Pinocchio's
   computeCentroidalDynamicsDerivatives, called from Python frame by frame with inputs ready in its own coordinates and
   its four matrices returned. What the call itself costs is estimated by the same function on a single hinge, and the
   ratio is given with and without it. Ours: a batch of 64 frames into arrays made before, and one frame at a time.
   "Same answers" is force and momentum derivatives about the centre of mass, all that Pinocchio's function returns.
3. The table of Fang & Pollard 2004 (figure 5): all first derivatives of 64 frames of the human by ours, by direct
   differentiation of the recursion (every joint's effect carried through its whole subtree, O(D^2), compiled and
   vectorised the same way), and by forward, central and sixth-order Richardson differences of the compiled force.
   Errors are against complex steps: mean |error| / mean |derivative|.
4. Torques at K joints and their derivatives, against K; Pinocchio's computeRNEADerivatives for all of them.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.kernels import kernel
from counterpoise.spacetime import aggregate_force_derivatives
from counterpoise.spacetime.aggregate.kernels import (
    aggregate_batch,
    aggregate_com_batch,
    aggregate_force_batch,
    momentum_batch,
    outward,
    working_space,
)
from counterpoise.spacetime.aggregate.lanes import (
    ANGULAR,
    FIRST_MOMENT,
    INERTIA,
    LANES,
    LINEAR,
    SPEED,
    SPEED_RATE,
    SPIN,
    SPIN_RATE,
    TORQUE,
    cross,
    lanes_from,
    plus,
    put,
    scaled,
    six,
    sym_times,
    three,
)
from counterpoise.spacetime.aggregate.link_kernels import inward, own_sums
from counterpoise.spacetime.aggregate.tables import build_link_tables, link_tables
from counterpoise.spacetime.aggregate.torques_kernels import torques_batch

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "spacetime"))
from aggregate_plain import plain_force, step_pose

FRAMES = 64
SIZES = (10, 20, 40, 80, 160, 320, 640)
TINY = 1e-40


def quickest(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """CPU seconds of each, the least of `rounds`, in turn."""
    best = dict.fromkeys(contenders, np.inf)
    for work in contenders.values():
        work()
    for _ in range(rounds):
        for name, work in contenders.items():
            start = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - start)
    return best


def repeated(work: Callable[[], object], times: int) -> Callable[[], object]:
    def many() -> None:
        for _ in range(times):
            work()

    return many


# -- 1. growth ------------------------------------------------------------------------------------------------------
def hinges(D: int, tree: bool, seed: int = 0) -> mujoco.MjModel:
    """A free root with D - 6 hinges after it, one a body: each on the last, or two on each."""
    rng = np.random.default_rng(seed)
    spec = mujoco.MjSpec()
    bodies = [spec.worldbody.add_body(name="b0")]
    bodies[0].add_freejoint()
    for k in range(1, D - 5):
        host = bodies[(k - 1) // 2] if tree else bodies[-1]
        body = host.add_body(name=f"b{k}", pos=0.1 * rng.normal(size=3), quat=rng.normal(size=4))
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=rng.normal(size=3))
        bodies.append(body)
    for body in bodies:
        body.mass, body.ipos, body.inertia = rng.uniform(0.5, 2.0), 0.05 * rng.normal(size=3), (0.02, 0.03, 0.025)
        body.explicitinertial = True
    return spec.compile()


def growth(rounds: int) -> dict[str, Any]:
    """Seconds per frame against D, and the exponent of a straight line through D >= 80."""
    out: dict[str, Any] = {}
    work = {}
    for kind in ("chain", "tree"):
        for D in SIZES:
            m = hinges(D, kind == "tree")
            rng = np.random.default_rng(1)
            q = np.tile(m.qpos0, (FRAMES, 1))
            q[:, 7:] += rng.normal(size=(FRAMES, D - 6))
            v, a = 0.3 * rng.normal(size=(FRAMES, D)), rng.normal(size=(FRAMES, D))
            F, *slopes = np.empty((FRAMES, 6)), *(np.empty((FRAMES, 6, D)) for _ in range(3))
            args = (build_link_tables(m), q, v, a, np.zeros((1, 3)), F, *slopes)
            work[f"{kind} {D}"] = lambda args=args: aggregate_batch(*args)
    best = quickest(work, rounds)
    for kind in ("chain", "tree"):
        times = np.array([best[f"{kind} {D}"] / FRAMES for D in SIZES])
        far = np.array(SIZES) >= 80
        slope = np.polyfit(np.log(np.array(SIZES)[far]), np.log(times[far]), 1)[0]
        out[kind] = {"us": {D: round(1e6 * t, 3) for D, t in zip(SIZES, times, strict=True)}, "exponent": float(slope)}
    return out


# -- 2. beside Pinocchio --------------------------------------------------------------------------------------------
def motion(body: Character) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    q = body.integrate(body.neutral, 0.5 * rng.normal(size=(FRAMES, body.nv)))
    return q, rng.normal(size=(FRAMES, body.nv)), 4.0 * rng.normal(size=(FRAMES, body.nv))


def beside_pinocchio(body: Character, rounds: int) -> dict[str, Any]:
    """Microseconds per frame of ours and Pinocchio's, and their ratios."""
    import pinocchio as pin
    from pinocchio_twin import Twin

    q, v, a = motion(body)
    twin = Twin(body.model)
    theirs = [(twin.q(q[t]), twin.T(q[t]) @ v[t], a[t].copy()) for t in range(FRAMES)]
    single = pin.Model()
    single.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "one")
    single.appendBodyToJoint(1, pin.Inertia.Random(), pin.SE3.Identity())
    single_data, one = single.createData(), np.ones(1)
    T, near = link_tables(body), np.ascontiguousarray(q[:, :3])
    F, com, zero = np.empty((FRAMES, 6)), np.empty((FRAMES, 3)), np.zeros((1, 3))
    D = [np.empty((FRAMES, 6, body.nv)) for _ in range(5)]
    first = [np.ascontiguousarray(x[:1]) for x in (q, v, a, near, com, F, *D)]

    def pinocchio() -> None:
        for frame in theirs:
            pin.computeCentroidalDynamicsDerivatives(twin.model, twin.data, *frame)

    def call() -> None:
        for _ in range(FRAMES):
            pin.computeCentroidalDynamicsDerivatives(single, single_data, one, one, one)

    def same() -> None:
        aggregate_com_batch(T, q, v, a, near, com, F, D[0], D[1], D[2])
        momentum_batch(T, q, v, near, com, F, D[3], D[4])

    best = quickest(
        {
            "pinocchio": pinocchio,
            "call": call,
            "ours, origin": lambda: aggregate_batch(T, q, v, a, zero, F, D[0], D[1], D[2]),
            "ours, com": lambda: aggregate_com_batch(T, q, v, a, near, com, F, D[0], D[1], D[2]),
            "ours, same answers": same,
            "ours, one frame": repeated(
                lambda: aggregate_batch(T, first[0], first[1], first[2], zero, first[5], first[6], first[7], first[8]),
                FRAMES,
            ),
            "ours, one frame, checked": repeated(
                lambda: aggregate_force_derivatives(body, q[0], v[0], a[0], "com"), FRAMES
            ),
        },
        10 * rounds,
    )
    us = {name: 1e6 * seconds / FRAMES for name, seconds in best.items()}
    inside = us["pinocchio"] - us["call"]
    ratios = {name: us[name] / us["pinocchio"] for name in us if name.startswith("ours")}
    return {"dof": body.nv, "us": us, "ratio": ratios, "ratio without the call": us["ours, same answers"] / inside}


# -- 3. the paper's table -------------------------------------------------------------------------------------------
@kernel
def direct(tables, q, v, a, about, F, Fq, Fv, Fa):  # type: ignore[no-untyped-def]
    """Differentiate the recursion itself: each joint's effect on velocity, acceleration, force of all that it carries.

    v_i = v_up + P_i, a_i = a_up + Q_i + v_up x P_i, f_i = I a_i + v_i x* I v_i, where P and Q are the joint's own
    velocity and acceleration; turning joint j turns P, Q and I of everything below by s_j.
    """
    n, links, dofs = len(q), len(tables.links), len(tables.dof_link)
    S, X, _ = working_space(tables)
    own = np.empty((links + 1, 12 * LANES))  # P, Q
    change = np.empty((links + 1, 24 * LANES))  # dv/dq, da/dq, dv/dv_j, da/dv_j
    below = np.zeros(links + 1, np.int64)
    y = np.empty(18 * LANES)
    for block in range(0, n, LANES):
        first, width = lanes_from(block, n)
        outward(tables, q, v, a, about, first, width, S, X)
        inward(tables, S)
        for k in range(6):
            for t in range(width):
                F[first + t, k] = S[links + 1, LANES * (TORQUE + k) + t]
        own[:] = 0.0
        for j in range(dofs):
            i = tables.dof_link[j]
            for t in range(width):
                for k in range(6):
                    own[i, LANES * k + t] += X[j, LANES * k + t] * v[first + t, j]
                    own[i, LANES * (6 + k) + t] += X[j, LANES * k + t] * a[first + t, j]
        for i in range(links):  # each body's own inertia and momentum again: the sums above are the subtrees'
            if tables.links[i, 4] == i:
                own_sums(S[i + 1], tables.numbers[i], width)
        for j in range(dofs):
            here = tables.dof_link[j]
            below[:] = 0
            y[:] = 0.0
            for i in range(here, links):
                up = tables.links[i, 0]
                if i != here and (up < 0 or below[up] == 0):
                    continue
                below[i] = 1
                still = change[links]
                still[:] = 0.0
                held = change[up] if i != here else still
                _carry_on(S[up + 1], own[i], X[j], held, change[i], 1.0 if i == here else 0.0, width)
                if tables.links[i, 4] == i:
                    _add_force(S[i + 1], X[j], change[i], tables.numbers[i, 13], y, width)
            for k in range(6):
                for t in range(width):
                    Fq[first + t, k, j] = y[LANES * k + t]
                    Fv[first + t, k, j] = y[LANES * (6 + k) + t]
                    Fa[first + t, k, j] = y[LANES * (12 + k) + t]


@kernel
def _carry_on(up, own, x, held, out, mine, width):  # type: ignore[no-untyped-def]
    for t in range(width):
        sw, su = three(x, 0, t), three(x, 3, t)
        Pw, Pu, Qw, Qu = three(own, 0, t), three(own, 3, t), three(own, 6, t), three(own, 9, t)
        w, u = three(up, SPIN, t), three(up, SPEED, t)
        dPw, dPu = cross(sw, Pw), plus(cross(sw, Pu), cross(su, Pw))
        dQw, dQu = cross(sw, Qw), plus(cross(sw, Qu), cross(su, Qw))
        vw, vu, aw, au = three(held, 0, t), three(held, 3, t), three(held, 6, t), three(held, 9, t)
        put(out, 0, t, plus(vw, dPw))
        put(out, 3, t, plus(vu, dPu))
        put(out, 6, t, plus(plus(aw, dQw), plus(cross(vw, Pw), cross(w, dPw))))
        low = plus(plus(cross(vw, Pu), cross(vu, Pw)), plus(cross(w, dPu), cross(u, dPw)))
        put(out, 9, t, plus(plus(au, dQu), low))
        vw, vu, aw, au = three(held, 12, t), three(held, 15, t), three(held, 18, t), three(held, 21, t)
        dPw, dPu = scaled(mine, sw), scaled(mine, su)
        put(out, 12, t, plus(vw, dPw))
        put(out, 15, t, plus(vu, dPu))
        put(out, 18, t, plus(aw, plus(cross(vw, Pw), cross(w, dPw))))
        low = plus(plus(cross(vw, Pu), cross(vu, Pw)), plus(cross(w, dPu), cross(u, dPw)))
        put(out, 21, t, plus(au, low))


@kernel
def _add_force(s, x, d, m, y, width):  # type: ignore[no-untyped-def]
    """df = s x* I a - I (s x a) + I da + dv x* p + v x* (s x* p - I (s x v) + I dv), and the same by v and by a."""
    for t in range(width):
        h, J, N, l = three(s, FIRST_MOMENT, t), six(s, INERTIA, t), three(s, ANGULAR, t), three(s, LINEAR, t)
        w, u, al, b = three(s, SPIN, t), three(s, SPEED, t), three(s, SPIN_RATE, t), three(s, SPEED_RATE, t)
        sw, su = three(x, 0, t), three(x, 3, t)
        Nf, Ff = plus(sym_times(J, al), cross(h, b)), plus(scaled(m, b), cross(al, h))  # I a
        # by q
        vw, vu = three(d, 0, t), three(d, 3, t)
        rw = plus(vw, cross(w, sw))
        ru = plus(vu, plus(cross(w, su), cross(u, sw)))
        gw = plus(three(d, 6, t), cross(al, sw))
        gu = plus(three(d, 9, t), plus(cross(al, su), cross(b, sw)))
        Np = plus(plus(cross(sw, N), cross(su, l)), plus(sym_times(J, rw), cross(h, ru)))
        Lp = plus(cross(sw, l), plus(scaled(m, ru), cross(rw, h)))
        top = plus(plus(cross(sw, Nf), cross(su, Ff)), plus(sym_times(J, gw), cross(h, gu)))
        top = plus(top, plus(plus(cross(vw, N), cross(vu, l)), plus(cross(w, Np), cross(u, Lp))))
        low = plus(plus(cross(sw, Ff), plus(scaled(m, gu), cross(gw, h))), plus(cross(vw, l), cross(w, Lp)))
        put(y, 0, t, plus(three(y, 0, t), top))
        put(y, 3, t, plus(three(y, 3, t), low))
        # by v
        vw, vu, gw, gu = three(d, 12, t), three(d, 15, t), three(d, 18, t), three(d, 21, t)
        Np, Lp = plus(sym_times(J, vw), cross(h, vu)), plus(scaled(m, vu), cross(vw, h))
        top = plus(plus(cross(vw, N), cross(vu, l)), plus(cross(w, Np), cross(u, Lp)))
        top = plus(top, plus(sym_times(J, gw), cross(h, gu)))
        low = plus(plus(cross(vw, l), cross(w, Lp)), plus(scaled(m, gu), cross(gw, h)))
        put(y, 6, t, plus(three(y, 6, t), top))
        put(y, 9, t, plus(three(y, 9, t), low))
        # by a
        put(y, 12, t, plus(three(y, 12, t), plus(sym_times(J, sw), cross(h, su))))
        put(y, 15, t, plus(three(y, 15, t), plus(scaled(m, su), cross(sw, h))))


def differences(
    body: Character, frame: tuple[np.ndarray, ...], steps: tuple[tuple[float, float], ...]
) -> list[np.ndarray]:
    """Weighted differences: sum over (h, weight) of weight f(x + h e_j), plus what makes the weights sum to zero."""
    T, zero = link_tables(body), np.zeros((1, 3))
    out = [np.zeros((FRAMES, 6, body.nv)) for _ in range(3)]
    F = np.empty((FRAMES, 6))
    rest = -sum(weight for _, weight in steps)
    if abs(rest) > 1e-9:
        aggregate_force_batch(T, *frame, zero, F)
        for slopes in out:
            slopes += rest * F[:, :, None]
    for j in range(body.nv):
        unit = np.eye(body.nv)[j]
        for k, slopes in enumerate(out):
            for h, weight in steps:
                moved = list(frame)
                moved[k] = body.integrate(frame[0], np.tile(h * unit, (FRAMES, 1))) if k == 0 else frame[k] + h * unit
                aggregate_force_batch(T, *moved, zero, F)
                slopes[:, :, j] += weight * F
    return out


def central(h: float, share: float = 1.0) -> tuple[tuple[float, float], ...]:
    return (h, share / (2 * h)), (-h, -share / (2 * h))


def table(body: Character, rounds: int) -> dict[str, Any]:
    """The paper's figure 5: time per frame and mean error of five ways to differentiate."""
    frame = motion(body)
    T, zero, F = link_tables(body), np.zeros((1, 3)), np.empty((FRAMES, 6))
    D = [np.empty((FRAMES, 6, body.nv)) for _ in range(3)]

    def ours() -> list[np.ndarray]:
        aggregate_batch(T, *frame, zero, F, *D)
        return D

    def directly() -> list[np.ndarray]:
        direct(T, *frame, zero, F, *D)
        return D

    h = 0.02  # Richardson: three central differences, errors of order 2 and 4 cancelled
    ways: dict[str, Callable[[], list[np.ndarray]]] = {
        "ours": ours,
        "direct": directly,
        "forward": lambda: differences(body, frame, ((1e-7, 1e7),)),
        "central": lambda: differences(body, frame, central(1e-5)),
        "Richardson": lambda: differences(
            body, frame, (*central(h, 1 / 45), *central(h / 2, -20 / 45), *central(h / 4, 64 / 45))
        ),
    }
    m, some = body.model, (0, 1)
    exact = [np.empty((len(some), 6, body.nv)) for _ in range(3)]
    for t in some:
        q, v, a = (x[t] for x in frame)
        for j, d in enumerate(1j * TINY * np.eye(body.nv)):
            exact[0][t, :, j] = plain_force(m, step_pose(m, q, d), v, a).imag / TINY
            exact[1][t, :, j] = plain_force(m, q, v + d, a).imag / TINY
            exact[2][t, :, j] = plain_force(m, q, v, a + d).imag / TINY
    out = {}
    for name, way in ways.items():
        got = way()
        wrong = sum(np.abs(mine[: len(some)] - true).sum() for mine, true in zip(got, exact, strict=True))
        out[name] = {"percent error": float(100.0 * wrong / sum(np.abs(true).sum() for true in exact))}
    best = quickest({"ours": ways["ours"], "direct": ways["direct"]}, 10 * rounds)
    best |= quickest({name: ways[name] for name in ("forward", "central", "Richardson")}, 3)
    for name, seconds in best.items():
        out[name] |= {"us": 1e6 * seconds / FRAMES, "times ours": seconds / best["ours"]}
    return out


# -- 4. torques at K joints -----------------------------------------------------------------------------------------
def torques(body: Character, rounds: int) -> dict[str, Any]:
    """Microseconds per frame for K degrees of freedom, beside Pinocchio's derivatives of all of them."""
    import pinocchio as pin
    from pinocchio_twin import Twin

    q, v, a = motion(body)
    T, near = link_tables(body), np.ascontiguousarray(q[:, :3])
    twin = Twin(body.model)
    theirs = [(twin.q(q[t]), twin.T(q[t]) @ v[t], a[t].copy()) for t in range(FRAMES)]
    none, no_wrench = np.zeros(0, np.int64), np.zeros((FRAMES, 0, 6))
    work: dict[str, Callable[[], object]] = {}
    for K in (1, 3, 10, 20, body.nv):
        chosen = np.linspace(0, body.nv - 1, K).astype(np.int64)
        out = (np.empty((FRAMES, K)), np.empty((FRAMES, K, 6)), *(np.empty((FRAMES, K, body.nv)) for _ in range(3)))
        work[f"K = {K}"] = lambda chosen=chosen, out=out: torques_batch(  # type: ignore[misc]
            T, q, v, a, near, chosen, none, no_wrench, *out, True
        )

    def pinocchio() -> None:
        for frame in theirs:
            pin.computeRNEADerivatives(twin.model, twin.data, *frame)

    work["Pinocchio, all"] = pinocchio
    return {name: 1e6 * seconds / FRAMES for name, seconds in quickest(work, 5 * rounds).items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # type: ignore[union-attr]
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    body = character("human")
    found: dict[str, Any] = {"growth": growth(options.rounds), "table": table(body, options.rounds)}
    try:
        found["pinocchio"] = beside_pinocchio(body, options.rounds)
        found["torques"] = torques(body, options.rounds)
    except ImportError:
        print("Pinocchio is not installed: its columns are left out", file=sys.stderr)
    if options.json:
        print(json.dumps(found, indent=1))
    else:
        show(found)
    fine = all(0.9 <= found["growth"][kind]["exponent"] <= 1.1 for kind in ("chain", "tree"))
    fine &= "pinocchio" not in found or found["pinocchio"]["ratio"]["ours, same answers"] <= 0.35
    return 0 if fine else 1


def show(found: dict[str, Any]) -> None:
    """All figures as plain tables."""
    print("microseconds per frame, all derivatives")
    print("D         " + "".join(f"{D:>9}" for D in SIZES) + "   exponent for D >= 80 (1.0 +- 0.1)")
    for kind, row in found["growth"].items():
        print(f"{kind:10}" + "".join(f"{us:9.2f}" for us in row["us"].values()) + f"   {row['exponent']:.3f}")
    if "pinocchio" in found:
        beside = found["pinocchio"]
        print(f"\nhuman, {beside['dof']} degrees of freedom           us/frame   x Pinocchio (at most 0.35)")
        for name, us in beside["us"].items():
            ratio = f"{beside['ratio'][name]:10.3f}" if name in beside["ratio"] else ""
            print(f"{name:36}{us:10.2f}{ratio}")
        print(f"same answers, Pinocchio's call not counted    {beside['ratio without the call']:10.3f}")
    print("\ntechnique            us/frame   x ours     % error")
    for name, row in found["table"].items():
        print(f"{name:18}{row['us']:11.2f}{row['times ours']:9.1f}{row['percent error']:12.1e}")
    if "torques" in found:
        print("\ntorques of K degrees of freedom and derivatives, us/frame")
        for name, us in found["torques"].items():
            print(f"{name:18}{us:11.2f}")


if __name__ == "__main__":
    sys.exit(main())
