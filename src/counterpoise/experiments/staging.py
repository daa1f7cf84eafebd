"""What the spacetime experiments share: stunts and their solutions, claims about them, and mechanics over time."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.experiments.base import Claim, Lab
from counterpoise.measure.outsider import JudgedStrain, Judgement, judge_motion, judge_overlap
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize import (
    Apart,
    Key,
    MotionProblem,
    Requirement,
    Result,
    Taste,
    TorqueLimit,
    Touch,
    build_motion_problem,
    solve_motion,
)

SOFT_KEY_WEIGHT = 10.0  # of keys that are only approximate
MAX_OVERLAP = 0.015  # [m] depth of one body in another that still counts as apart: flesh is soft
SMOOTH_JOINTS: Mapping[str, float] = {  # weights of smoothness: the trunk bends little, the arms do not flail
    "waist": 10.0, "spine": 10.0, "neck": 5.0, "elbow_left": 3.0, "elbow_right": 3.0, "shoulder_left": 3.0,
    "shoulder_right": 3.0, "wrist_left": 1.0, "wrist_right": 1.0,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class StagedStunt:
    """A stunt as an experiment sets it up: the arguments of `optimize_motion`, and the scenery."""

    character: Character
    keys: tuple[Key, ...]
    touches: tuple[Touch, ...]
    duration: float
    wishes: tuple[Requirement, ...] = ()
    joints: Mapping[str, float] | None = None  # Taste.joints; None: SMOOTH_JOINTS
    smooth: float = 0.1
    near: float = 0.0  # Taste.near: how much to stay near the interpolated keys
    rate: float = 20.0  # knots a second, outside the spans of `fine`
    fine: tuple[tuple[float, float, float], ...] = ()  # (from, to, knots a second)
    clear: tuple[str, ...] = ("foot_left", "foot_right", "hand_left", "hand_right")
    apart: bool = False  # whether parts of the body keep apart
    strength: float | None = None  # share of each joint's strength that may be used; None: no limit
    scenery: tuple[Mapping[str, Any], ...] = ()  # shapes as `with_scenery` takes them


def problem_of(stunt: StagedStunt) -> MotionProblem:
    """Returns the problem of a stunt."""
    taste = Taste(
        smooth=stunt.smooth,
        near=stunt.near,
        posture=0.0,
        joints=dict(SMOOTH_JOINTS if stunt.joints is None else stunt.joints),
    )
    limits: list[Requirement] = [] if stunt.strength is None else [TorqueLimit(share=stunt.strength)]
    if stunt.apart:
        limits.append(Apart())
    return build_motion_problem(
        stunt.character, stunt.keys, stunt.touches, stunt.duration, wishes=(*stunt.wishes, *limits), taste=taste,
        rate=stunt.rate, fine=stunt.fine, clear=stunt.clear,
    )  # fmt: skip


def solve(stunt: StagedStunt, callback: Any = None, warm: Result | None = None, strides: int = 1) -> Result:
    """Builds and solves the problem of a stunt."""
    return solve_motion(problem_of(stunt), strides=strides, callback=callback, warm=warm)


def first_guess_of(stunt: StagedStunt) -> Motion:
    """Returns the interpolated keys, from which the optimiser starts."""
    return build_motion_problem(stunt.character, stunt.keys, stunt.touches, stunt.duration).guess


def timed(stunt: StagedStunt) -> tuple[Result, float]:
    """Returns the solution and the processor time it took [s]."""
    began = clock.process_time()
    result = solve(stunt)
    return result, clock.process_time() - began


def solve_and_judge(lab: Lab, stage: str, stunt: StagedStunt) -> tuple[Result, float, Judgement]:
    """Returns the solution of a stunt, its processor time [s], and what MuJoCo's inverse dynamics finds."""
    lab.report(stage, 0.0)
    result, seconds = timed(stunt)
    judged = judge_motion(result)
    lab.report(stage, 1.0)
    return result, seconds, judged


def valid_claim(text: str, result: Result, seconds: float, judged: Judgement) -> Claim:
    """Claims that a motion is solved, and by MuJoCo valid within 1 % of body weight in flight and in contact."""
    found = (
        f"{result.iterations} iterations, {seconds:.1f} s of one core, largest violation {result.worst:.0e}; "
        f"MuJoCo: {judged.report()}"
    )
    good = max(judged.flight_force, judged.contact_gap) < 0.01 and judged.momentum_change < 0.01
    return Claim(text, found, bool(result.exact and good))


def strength_claim(strain: JudgedStrain, share: float) -> Claim:
    """Claims that no joint exceeds its strength, by MuJoCo's inverse dynamics with the contact forces applied."""
    name, most = strain.worst
    return Claim(
        "no joint works harder than a person's can" + ("" if share == 1.0 else f", times {share:g}"),
        f"{name} at {most:.0%} of its strength; left at the root {strain.root:.0e} of body weight",
        most < share + 1e-3 and strain.root < 1e-5,
    )


def apart_claim(result: Result) -> Claim:
    """Claims that no part of the body is inside another, by MuJoCo's distances."""
    depth, which = judge_overlap(result)
    found = f"{1e3 * depth:.0f} mm ({which})" if depth > 1e-3 else "nothing is"
    return Claim("no part of the body is inside another by more than 15 mm", found, depth < MAX_OVERLAP)


def figures_of(result: Result, seconds: float, judged: Judgement) -> dict[str, Any]:
    """Returns the numbers behind the claim that a motion is valid, for JSON."""
    return {
        "iterations": result.iterations, "seconds": seconds, "worst": result.worst, "between": dict(result.between),
        "outsider": vars(judged),
    }  # fmt: skip


@dataclass(frozen=True, eq=False)
class Course:
    """CoM, angular momentum about it, and inertia about an axis through it, over time."""

    times: Array
    com: Array  # (n, 3)
    momentum: Array  # (n, 3) [kg m^2/s]
    inertia: Array  # (n,) [kg m^2]


def course_of(character: Character, times: Array, poses: Array, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Course:
    """Computes the course of a motion by MuJoCo, from its poses (velocities are their differences)."""
    m, d = character.model, mujoco.MjData(character.model)
    u = np.asarray(axis, float)
    com, momentum, inertia = [], [], []
    last = len(times) - 1
    for k in range(len(times)):
        a, b = max(k - 1, 0), min(k + 1, last)
        d.qpos[:] = poses[k]
        mujoco.mj_differentiatePos(m, d.qvel, float(times[b] - times[a]), poses[a], poses[b])
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        mujoco.mj_comVel(m, d)
        mujoco.mj_subtreeVel(m, d)
        c = d.subtree_com[1].copy()
        total = 0.0
        for body in range(1, m.nbody):
            r = d.xipos[body] - c
            R = d.ximat[body].reshape(3, 3)
            total += float(m.body_mass[body] * (r @ r - (r @ u) ** 2) + m.body_inertia[body] @ (R.T @ u) ** 2)
        com.append(c)
        momentum.append(d.subtree_angmom[1].copy())
        inertia.append(total)
    return Course(np.asarray(times), np.array(com), np.array(momentum), np.array(inertia))
