"""Every constraint's derivatives against differences of its values, and the objective's too."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import counterpoise as cp
from counterpoise import spatial
from counterpoise.spacetime.optimize import MotionProblem
from counterpoise.spacetime.optimize.chart import rotation_blocks
from counterpoise.spacetime.optimize.merit import CostMerit
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.request import Landing


def everything(free: bool, landing: Landing = "still") -> MotionProblem:
    """A jump that uses all there is: contacts of all kinds, free moments, keys, wishes, torques, a cycle."""
    who = cp.character("human")
    q = who.neutral
    up = q.copy()
    up[2] += 0.3
    leave = cp.Moment(0.5, 0.4, 0.6, name="leave") if free else 0.5
    land = cp.Moment(0.8, 0.7, 0.9, name="land") if free else 0.8
    end = cp.Moment(1.2, 1.0, 1.4, name="end") if free else 1.2
    slope = cp.Surface.tilted((0.1, 0.05, 1.0))
    contacts = [
        cp.Touch("foot_left", 0.0, leave),
        cp.Touch("foot_right", 0.0, 0.3, "toe"),
        cp.Touch("foot_left", land, end, "heel", surface=slope),
        cp.Touch("foot_right", land, end, "toe", facing=0.1),
        cp.Touch("hand_left", land, end, "bar", place=(0.2, 0.3, 1.2), torque=15.0),
        cp.Touch("hand_right", 0.3, leave, "point", point=[[0.0, 0.0, -0.1], [0.02, 0.0, -0.12]]),
    ]
    keys = [
        cp.Key(0.0, q, rest=True),
        cp.Key(0.25, up, soft=3.0),
        cp.Key(0.65, up, only=["knee_left", "hip_left"]),
        cp.Key(end, q, root=False, only=["neck", "waist"], rest=True),
    ]
    wishes = [
        cp.Apex(0.65, 1.3), cp.Facing(0.7, 0.3), cp.Place("com", 0.6, (0.2, None, None)),
        cp.Place("head", 0.7, (None, None, 1.9), within=0.1), cp.Clear(["foot_left"], 0.2, 0.6, 0.7),
        cp.TorqueLimit(["knee_left", "hip_right"], share=0.8), cp.Effort(["waist"], 2.0), cp.Cycle((0.4, None)),
    ]  # fmt: skip
    return cp.build_motion_problem(
        who, keys, contacts, end, wishes=wishes, rate=14.0, taste=cp.Taste(near=0.3), landing=landing
    )


@pytest.mark.parametrize("landing", ["still", "impact"])
@pytest.mark.parametrize("free", [False, True])
def test_derivatives_agree_with_differences(free: bool, landing: Landing):
    problem = everything(free, landing)
    assert len(problem.basis.impacts) == (2 if landing == "impact" else 0)
    program = MotionProgram(problem)
    rng = np.random.default_rng(1)
    x = problem.start + 1e-2 * rng.normal(size=problem.variables)
    J = sp.csr_matrix((program.jacobian(x), program.jacobian_pattern), (len(program.used), problem.variables))
    step = 1e-6
    for _ in range(2):
        d = rng.normal(size=problem.variables)
        ahead, behind = (program.values(x + e * d)[program.used] for e in (step, -step))
        numeric, exact = (ahead - behind) / (2.0 * step), J @ d
        for block, start in zip(problem.blocks, program.starts, strict=False):
            own = (program.used >= start) & (program.used < start + len(block))
            scale = 1.0 + np.abs(exact[own]).max(initial=0.0)
            assert np.abs(numeric[own] - exact[own]).max(initial=0.0) < 2e-7 * scale, block.name
    merit = CostMerit(program, 1.0)
    slope = merit.gradient(x)
    d = rng.normal(size=problem.variables)
    numeric = (merit.value(x + step * d) - merit.value(x - step * d)) / (2.0 * step)
    assert numeric == pytest.approx(slope @ d, rel=1e-6)


def test_hessian_is_the_objectives_where_it_is_quadratic():
    """Without rotations' curvature (small x, no base motion) Gauss-Newton is exact: compare with differences."""
    who = cp.character("human")
    problem = cp.build_motion_problem(
        who, [cp.Key(0.0, who.neutral), cp.Key(0.6, who.neutral)], [], 0.6, rate=15.0, taste=cp.Taste(near=0.5)
    )
    program = MotionProgram(problem)
    x = np.zeros(problem.variables)
    x[:] = problem.start
    merit, cost = CostMerit(program, 1.0), problem.cost
    H = sp.coo_matrix((merit.hessian(x), (cost.rows, cost.cols)), (len(x), len(x))).tocsr()
    H = H + sp.tril(H, -1).T
    d = np.random.default_rng(2).normal(size=len(x))
    ahead, behind = merit.gradient(x + 1e-5 * d), merit.gradient(x - 1e-5 * d)
    numeric = (ahead - behind) / 2e-5
    assert np.abs(numeric - H @ d).max() < 1e-4 * np.abs(numeric).max()


@pytest.mark.parametrize("size", [1e-5, 0.4, 2.5, 4.0])
def test_rotation_chart_is_a_curve_of_rotations(size: float):
    """Velocity and acceleration of R0(t) exp(x(t)) by differences of the rotations themselves."""
    rng = np.random.default_rng(3)
    x, y, z, w0, g0 = rng.normal(size=(5, 3))
    x *= size / np.linalg.norm(x)
    q0 = spatial.normalize(rng.normal(size=4))
    q, w, g, blocks = np.empty(4), np.empty(3), np.empty(3), np.empty((4, 3, 3))
    rotation_blocks(x, y, z, q0, w0, g0, q, w, g, blocks)

    def at(t: float) -> np.ndarray:
        base = spatial.multiply(q0, spatial.exp(w0 * t + 0.5 * g0 * t * t))
        return spatial.multiply(base, spatial.exp(x + y * t + 0.5 * z * t * t))

    h = 1e-4
    rate = lambda t: spatial.log(spatial.multiply(spatial.conjugate(at(t - h)), at(t + h))) / (2.0 * h)  # noqa: E731
    assert abs(abs(q @ at(0.0)) - 1.0) < 1e-12
    assert np.allclose(rate(0.0), w, atol=1e-6)
    assert np.allclose((rate(h) - rate(-h)) / (2.0 * h), g, atol=1e-5 * (1.0 + size**3))
