"""What the spacetime experiments share: key poses by a few angles, knots where they are needed, scenery, strobes."""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike, NDArray

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import unknown_name
from counterpoise.experiments.base import Claim
from counterpoise.measure.outsider import JudgedStrain, Judgement, judge_overlap
from counterpoise.motion.motion import Motion
from counterpoise.render.take import Take
from counterpoise.spacetime.optimize.asks import Apart, Key, Taste, TorqueLimit, Touch, Wish
from counterpoise.spacetime.optimize.problem import MotionProblem, build_motion_problem
from counterpoise.spacetime.optimize.solve import Result, solve_motion

G = 9.81  # [m/s^2]
OVERLAP = 0.015  # [m] two bodies may be in each other, as flesh gives way
BAR = (0.45, 0.40, 0.36, 1.0)  # colour of bars and boxes
TRUNK: Mapping[str, float] = {  # shares of smoothness: a trunk that would rather not bend, arms that do not flail
    "waist": 10.0, "spine": 10.0, "neck": 5.0, "elbow_left": 3.0, "elbow_right": 3.0, "shoulder_left": 3.0,
    "shoulder_right": 3.0, "wrist_left": 1.0, "wrist_right": 1.0,
}  # fmt: skip


# ------------------------------------------------------------------------------------------------------------- poses


def bent(character: Character, start: ArrayLike | None = None, **angles: float | tuple[float, float, float]) -> Array:
    """The neutral (or `start`) pose with joints set to angles [rad]: `hip=-1.5` both sides, `hip_left=-1.5` one.

    A number turns a ball joint about the body's y axis (forward is positive for the trunk, negative for limbs); three
    numbers are a rotation vector, mirrored for the right side when the joint is named without a side.
    """
    q = np.array(character.neutral if start is None else start, float)
    known = {j.name for j in character.joints} | {j.name.rsplit("_", 1)[0] for j in character.joints}
    for name, value in angles.items():
        if name not in known:
            raise unknown_name("joint", name, sorted(known), character.name)
        for joint in character.joints:
            plain, _, side = joint.name.rpartition("_")
            if joint.name != name and plain != name:
                continue
            v = np.array([0.0, value, 0.0]) if np.ndim(value) == 0 else np.array(value, float)
            if joint.name != name and side == "right":
                v = v * (-1.0, 1.0, -1.0)
            if joint.kind == "ball":
                q[joint.qpos] = spatial.exp(v)
            else:
                n = joint.qpos.stop - joint.qpos.start
                q[joint.qpos] = [v[1], 0.0, 0.0][:n]
    return q


def moved(
    character: Character, pose: Array, about: ArrayLike, to: ArrayLike, turn: ArrayLike = (0.0, 0.0, 0.0)
) -> Array:
    """The pose turned by a rotation vector about a point, and that point put at `to`."""
    q, R = np.array(pose, float), spatial.exp(np.asarray(turn, float))
    q[:3] = np.asarray(to, float) + spatial.rotate(R, q[:3] - np.asarray(about, float))
    q[3:7] = spatial.multiply(R, q[3:7])
    return q


def com_of(character: Character, pose: Array) -> Array:
    return np.array(character.snapshot(character.state(pose)).com)


def middle(character: Character, pose: Array, bodies: Sequence[str]) -> Array:
    """The mean place of some bodies in a pose."""
    s = character.snapshot(character.state(pose))
    return np.asarray(np.mean([s.position(b) for b in bodies], axis=0))


def standing_at(character: Character, pose: Array, x: float, y: float = 0.0, yaw: float = 0.0) -> Array:
    """The pose with its feet on the ground about (x, y), facing `yaw`."""
    feet = [f.body for f in character.feet]
    ground = middle(character, np.asarray(character.neutral), feet)[2]
    return moved(character, pose, middle(character, pose, feet), (x, y, ground), (0.0, 0.0, yaw))


def flat_footed(character: Character, x: float, **angles: Any) -> Array:
    """A pose on flat feet at x: the trunk leans as hip, knee and ankle angles say."""
    lean = -sum(float(angles.get(joint, 0.0)) for joint in ("hip", "knee", "ankle"))
    return standing_at(
        character, moved(character, bent(character, None, **angles), (0, 0, 0), (0, 0, 0), (0.0, lean, 0.0)), x
    )


def hanging(character: Character, bar: ArrayLike, swing: float, **angles: Any) -> Array:
    """A pose that hangs with both hands at a bar, swung forward by an angle [rad]."""
    q = bent(character, None, **({"shoulder": -2.9, "elbow": 0.15} | angles))
    return moved(character, q, middle(character, q, character.hands), bar, (0.0, -swing, 0.0))


def ballistic(start: Array, end: Array, duration: float, time: float) -> Array:
    """Where a thrown point is at `time` that gets from start to end in `duration`."""
    out = start + (end - start) * (time / duration)
    out[2] += 0.5 * G * time * (duration - time)
    return np.asarray(out)


# ----------------------------------------------------------------------------------------------------------- solving


@dataclass(frozen=True, eq=False)
class Stunt:
    """Everything `optimize_motion` is told, and what stands around."""

    who: Character
    keys: tuple[Key, ...]
    touches: tuple[Touch, ...]
    duration: float
    wishes: tuple[Wish, ...] = ()
    joints: Mapping[str, float] | None = None  # Taste.joints; None: TRUNK
    smooth: float = 0.1
    near: float = 0.0  # Taste.near: how much to stay near the keys interpolated
    rate: float = 20.0  # knots a second where `fine` says nothing
    fine: tuple[tuple[float, float, float], ...] = ()  # (from, to, knots a second)
    clear: tuple[str, ...] = ("foot_left", "foot_right", "hand_left", "hand_right")
    apart: bool = False  # whether the body keeps off itself
    strength: float | None = None  # share of each joint's strength that may be used; None: any torque will do
    scenery: tuple[Mapping[str, Any], ...] = ()  # shapes as `with_scenery` takes them


def problem_of(stunt: Stunt) -> MotionProblem:
    """What is to be solved."""
    taste = Taste(smooth=stunt.smooth, near=stunt.near, joints=dict(TRUNK if stunt.joints is None else stunt.joints))
    limits: list[Wish] = [] if stunt.strength is None else [TorqueLimit(share=stunt.strength)]
    if stunt.apart:
        limits.append(Apart())
    return build_motion_problem(
        stunt.who, stunt.keys, stunt.touches, stunt.duration, wishes=(*stunt.wishes, *limits), taste=taste,
        rate=stunt.rate, fine=stunt.fine, clear=stunt.clear,
    )  # fmt: skip


def solve(stunt: Stunt, callback: Any = None, warm: Result | None = None, strides: int = 1) -> Result:
    """Build and solve; `cpu_seconds` of it are counted by the caller."""
    return solve_motion(problem_of(stunt), strides=strides, callback=callback, warm=warm)


def first_guess_of(stunt: Stunt) -> Motion:
    """The keys interpolated: what the optimiser starts from."""
    return build_motion_problem(stunt.who, stunt.keys, stunt.touches, stunt.duration).guess


def timed(stunt: Stunt) -> tuple[Result, float]:
    """The solution and the processor time it took [s]: what a core of its own would have needed."""
    began = clock.process_time()
    result = solve(stunt)
    return result, clock.process_time() - began


def valid_claim(text: str, result: Result, seconds: float, judged: Judgement) -> Claim:
    """Solved, and an outsider agrees: within 1 % of body weight in flight and in contact."""
    found = (
        f"{result.iterations} iterations, {seconds:.1f} s of one core, largest violation {result.worst:.0e}; "
        f"MuJoCo: {judged.report()}"
    )
    good = max(judged.flight_force, judged.contact_gap) < 0.01 and judged.momentum_change < 0.01
    return Claim(text, found, bool(result.ok and good))


def strength_claim(strain: JudgedStrain, share: float) -> Claim:
    """No joint works harder than it may, by MuJoCo's inverse dynamics with the contact forces applied."""
    name, most = strain.worst
    return Claim(
        "no joint works harder than a person's can" + ("" if share == 1.0 else f", times {share:g}"),
        f"{name} at {most:.0%} of its strength; left at the root {strain.root:.0e} of body weight",
        most < share + 1e-3 and strain.root < 1e-5,
    )


def apart_claim(result: Result) -> Claim:
    """No part of the body is in another, by MuJoCo's distances."""
    depth, which = judge_overlap(result)
    found = f"{1e3 * depth:.0f} mm ({which})" if depth > 1e-3 else "nothing is"
    return Claim("no part of the body is inside another by more than 15 mm", found, depth < OVERLAP)


def figures_of(result: Result, seconds: float, judged: Judgement) -> dict[str, Any]:
    """The numbers behind such a claim."""
    return {
        "iterations": result.iterations, "seconds": seconds, "worst": result.worst, "between": dict(result.between),
        "outsider": vars(judged),
    }  # fmt: skip


# --------------------------------------------------------------------------------------------------------- mechanics


@dataclass(frozen=True, eq=False)
class Course:
    """CoM, angular momentum about it and inertia about an axis through it, over time."""

    times: Array
    com: Array  # (n, 3)
    momentum: Array  # (n, 3) [kg m^2/s]
    inertia: Array  # (n,) [kg m^2]


def course_of(character: Character, times: Array, poses: Array, axis: ArrayLike = (0.0, 1.0, 0.0)) -> Course:
    """By MuJoCo, from poses (velocities are differences of them)."""
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


# ---------------------------------------------------------------------------------------------------------- pictures


def with_scenery(character: Character, shapes: Iterable[Mapping[str, Any]]) -> mujoco.MjModel:
    """The body's model among fixed shapes: `{"bar": (place, axis, half length)}` or `{"box": (place, half sizes)}`."""
    spec = character.spec()
    for number, shape in enumerate(shapes):
        if "bar" in shape:
            place, axis, half = shape["bar"]
            a = np.asarray(axis, float) / np.linalg.norm(axis) * half
            ends = np.concatenate([np.asarray(place) - a, np.asarray(place) + a])
            spec.worldbody.add_geom(
                name=f"bar {number}", type=mujoco.mjtGeom.mjGEOM_CAPSULE, fromto=ends, size=[0.014, 0, 0], rgba=BAR
            )
        else:
            place, half = shape["box"]
            spec.worldbody.add_geom(
                name=f"box {number}", type=mujoco.mjtGeom.mjGEOM_BOX, pos=place, size=half, rgba=BAR
            )
    return spec.compile()


def take_with(
    character: Character, motion: Motion, shapes: Iterable[Mapping[str, Any]] = (), com: bool = False
) -> Take:
    """A motion among its scenery."""
    path = np.array([com_of(character, q) for q in motion.poses]) if com else None
    return Take(with_scenery(character, shapes), motion.times, motion.poses, com=path)


def rows_of(
    takes: Mapping[str, tuple[Take, Sequence[float]]], size: tuple[int, int], azimuth: float, spread: float = 0.0,
    after: float = 0.0,
) -> NDArray[Any]:  # fmt: skip
    """Strobes below each other, all seen alike, each with its name.

    Figures later than `after` [s] stand `spread` [m] further apart each, so that they can be told apart.
    """
    from counterpoise.render.camera import frame_points
    from counterpoise.render.draw import draw
    from counterpoise.render.pictures import STROBE_FIELD_OF_VIEW, labelled
    from counterpoise.render.scene import joined
    from counterpoise.render.stage import DrawnStage

    right = np.array([-np.sin(np.radians(azimuth)), np.cos(np.radians(azimuth)), 0.0])
    stages = {name: (DrawnStage(take), times) for name, (take, times) in takes.items()}

    def shift(times: Sequence[float], k: int) -> Array:
        return np.asarray(spread * sum(after < t for t in times[: k + 1]) * right)

    cloud = np.concatenate(
        [stage.corners(t) + shift(times, k) for stage, times in stages.values() for k, t in enumerate(times)]
    )
    view = frame_points(cloud, azimuth, 6.0, size[0] / size[1], margin=0.06, field_of_view=STROBE_FIELD_OF_VIEW)
    rows = []
    for name, (stage, times) in stages.items():
        parts = [stage.solids(times[-1], "scenery")]
        for k, t in enumerate(times):
            fade = 0.45 * (1.0 - k / max(len(times) - 1, 1))
            parts.append(stage.solids(t, "moving").moved(shift(times, k)).faded(fade))
        rows.append(labelled(draw(joined(parts).with_default_ground(), view, size, 8), name))
    return np.concatenate(rows)
