"""GaitCycle: posture over the phase of a stride as a Fourier series, captured from a motion or made from a style.

Phase 0 is the landing of the left foot, phase 0.5 that of the right one. Rows are the joints, as the difference from
the neutral pose, then roll, pitch and yaw of the hips and of the chest, seen from the heading.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.anatomy import Anatomy, anatomy_of
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.walk.styles import WalkStyle
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel
from counterpoise.motion.motion import Motion

ORDER = 4  # waves of a captured stride
SAMPLE_RATE = 120.0  # [Hz]
LEAST_LEAD = 0.16  # [leg lengths] a foot that lands is at least this far ahead of the hips
SMOOTH = 9  # samples of the window that smooths the way of a foot
LEAST_STRIDES = 1.0
LOOPS = 3  # strides of a loop that are looked at
LOWEST_HAND = 0.4  # [leg lengths] arms that hang lower than this above the ground are bent ...
LOWEST_SWUNG = 0.2  # [leg lengths] ... and those that come lower than this as they swing
ELBOW_STEP, ELBOW_STEPS = math.radians(10.0), 11  # by which they are bent, and how often


@dataclass(frozen=True, eq=False)
class GaitCycle:
    """Posture by phase. `waves` holds the means, then cosines and sines of rising order."""

    character: Character
    waves: Array  # (1 + 2 order, nv - root + 6)
    speed: float  # [m/s] at which it was captured; waves grow and shrink with the speed
    stride: float  # [s] duration of two steps; 0: that of the walk
    style: WalkStyle  # everything else
    captured: bool = True

    def at(self, phase: float, rate: float, share: float) -> tuple[Array, Array]:
        """Returns the rows and their rates at a phase that moves at `rate` [1/s]; `share` scales the waves."""
        value, change = np.empty(self.waves.shape[1]), np.empty(self.waves.shape[1])
        fill_cycle(self.waves, phase, rate, share, value, change)
        return value, change


@kernel
def fill_cycle(waves: Array, phase: float, rate: float, share: float, value: Array, change: Array) -> None:
    """Fills the rows of a GaitCycle and their rates at a phase."""
    n = (len(waves) - 1) // 2
    for j in range(waves.shape[1]):
        value[j] = change[j] = 0.0
    for k in range(1, n + 1):
        w = 2.0 * math.pi * k
        c, s = math.cos(w * phase), math.sin(w * phase)
        for j in range(waves.shape[1]):
            value[j] += c * waves[k, j] + s * waves[n + k, j]
            change[j] += (c * w) * waves[n + k, j] - (s * w) * waves[k, j]
    for j in range(waves.shape[1]):
        value[j] = waves[0, j] + share * value[j]
        change[j] *= share * rate


def gait_from(motion: Motion, style: WalkStyle | None = None) -> GaitCycle:
    """Returns the gait of a captured or planned walk, for `Walk(style=...)`: its posture by phase.

    The motion holds at least one whole stride, two steps, of a walk straight ahead, or is a loop that travels, such as
    one stride optimised with `Cycle`: `motion.as_loop(travel=True)`. Balance and feet stay the controller's; what is
    not in the posture, such as the height of the swinging foot, comes from `style`.
    """
    if not isinstance(motion, Motion):
        raise BadValue(f"gait_from takes a Motion; got {type(motion).__name__}")
    if motion.loop:
        motion = motion.looped(LOOPS)
    character = motion.character
    body = walking_body(character)
    times = np.arange(0.0, motion.duration, 1.0 / SAMPLE_RATE)
    poses = [motion.sample(float(t)).q for t in times]
    way = poses[-1][:2] - poses[0][:2]
    distance = float(np.hypot(*way))
    if len(times) < SAMPLE_RATE * body.leg_time or distance < body.hips_height:
        raise BadValue(
            f"gait_from needs a walk of two steps or more; this motion goes {distance:.2f} m in {motion.duration:.2f} s"
        )
    heading = math.atan2(way[1], way[0])
    ahead, rows = np.empty((2, len(times))), []
    for k, q in enumerate(poses):
        s = character.snapshot(character.state(q))
        hips = s.position(body.hips_body, body.hips)
        for i, leg in enumerate(body.legs):
            ahead[i, k] = (s.position(leg.body, leg.ankle) - hips)[:2] @ (way / distance)
        turns = [
            _angles(s.rotation(part) @ spatial.to_matrix(rest).T, heading)
            for part, rest in ((body.hips_body, body.hips_turn), (body.chest or body.hips_body, body.chest_turn))
        ]
        rows.append(np.concatenate([character.difference(character.neutral, q)[character.root_dofs.stop :], *turns]))
    phase, inside, stride = _phases(times, ahead, LEAST_LEAD * body.hips_height)
    table = np.array(rows)[inside]
    mirrored = np.array([_mirror(character, row) for row in table])
    waves = np.linalg.lstsq(
        _basis(np.concatenate([phase, phase + 0.5])), np.concatenate([table, mirrored]), rcond=None
    )[0]
    return GaitCycle(character, waves, distance / float(times[-1] - times[0]), stride, style or WalkStyle("captured"))


@kept_with_character
def made_cycle(character: Character, style: WalkStyle) -> GaitCycle:
    """Returns the posture of a style for any body: arms that have a known shoulder swing, hips and chest turn."""
    body, at = walking_body(character), anatomy_of(character)
    root = character.root_dofs.stop
    waves = np.zeros((3, character.nv - root + 6))
    angle = {k: math.radians(v) for k, v in vars(style).items() if k != "name"}
    for limb, bodies in at.limbs.items():
        if not limb.startswith("arm") or at.how == "shape":
            continue
        side = 1.0 if limb.endswith("left") else -1.0
        out = spatial.exp(np.array([side * angle["arm_out"], 0.0, 0.0]))
        mean = spatial.log(spatial.multiply(spatial.exp(np.array([0.0, -angle["arm_forward"], 0.0])), out))
        _add_turn(character, at, bodies[0], mean, waves[0])
        _add_turn(character, at, bodies[0], np.array([0.0, side * angle["arm_swing"], 0.0]), waves[1])
        if len(bodies) > 1:
            sign = _bend_sign(character, at.names[bodies[1]])
            if sign:
                row = _hinge_row(character, at.names[bodies[1]]) - root
                waves[0, row] += sign * angle["elbow"]
                waves[1, row] -= side * sign * angle["elbow_swing"]
    _bend_long_arms(character, waves)
    hips, chest = slice(-6, -3), slice(-3, None)
    waves[0, hips] += 0.0, angle["lean"], 0.0
    waves[0, chest] += 0.0, angle["lean"] + angle["chest"], 0.0
    waves[1, hips] += 0.0, 0.0, -angle["hips_yaw"]
    waves[1, chest] += 0.0, 0.0, angle["chest_yaw"]
    waves[2, hips] += angle["hips_list"], 0.0, 0.0
    return GaitCycle(character, waves, 0.4 * body.leg_speed, 0.0, style, captured=False)


# -- captured strides ------------------------------------------------------------------------------------------------


def _phases(times: Array, ahead: Array, least: float) -> tuple[Array, Array, float]:
    """Returns the phase of the samples between the first and the last landing, which these are, and a stride [s].

    A foot lands where it is farthest ahead of the hips.
    """
    marks = sorted((t, 0.5 * i) for i in range(2) for t in _peaks(times, ahead[i], least))
    marks = [mark for k, mark in enumerate(marks) if k == 0 or mark[1] != marks[k - 1][1]]
    strides = 0.5 * (len(marks) - 1)
    if strides < LEAST_STRIDES:
        raise BadValue(f"gait_from needs a walk of two steps or more; {len(marks)} landings were found in this motion")
    at = np.array([t for t, _ in marks])
    phases = marks[0][1] + 0.5 * np.arange(len(marks))
    inside = (times >= at[0]) & (times <= at[-1])
    return np.interp(times[inside], at, phases), inside, float((at[-1] - at[0]) / strides)


def _peaks(times: Array, way: Array, least: float) -> list[float]:
    """Returns when a foot is farthest ahead."""
    window = np.hanning(SMOOTH)
    smooth = np.convolve(way, window / window.sum(), "same")
    reach = SMOOTH - 1
    return [
        float(times[i])
        for i in range(SMOOTH, len(smooth) - SMOOTH)
        if smooth[i] > least and smooth[i] == smooth[i - reach : i + reach + 1].max()
    ]


def _mirror(character: Character, row: Array) -> Array:
    """Returns a row of the mirrored pose."""
    v = np.zeros(character.nv)
    v[character.root_dofs.stop :] = row[:-6]
    q = character.mirror_pose(character.integrate(character.neutral, v))
    turned = row[-6:] * np.array([-1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
    return np.concatenate([character.difference(character.neutral, q)[character.root_dofs.stop :], turned])


def _basis(phase: Array) -> Array:
    w = 2.0 * np.pi * np.outer(phase, np.arange(1, ORDER + 1))
    return np.concatenate([np.ones((len(w), 1)), np.cos(w), np.sin(w)], axis=1)


def _angles(R: Array, heading: float) -> Array:
    """Returns roll, pitch and yaw of R = Rz Ry Rx, the yaw from the heading."""
    yaw = math.remainder(math.atan2(R[1, 0], R[0, 0]) - heading, 2.0 * math.pi)
    return np.array([math.atan2(R[2, 1], R[2, 2]), math.asin(min(max(-R[2, 0], -1.0), 1.0)), yaw])


# -- made strides ----------------------------------------------------------------------------------------------------


def _add_turn(character: Character, at: Anatomy, body: int, turn: Array, row: Array) -> None:
    """Adds to a row of joints what turns a body at rest by a rotation vector (3,), world axes."""
    root = character.root_dofs.stop
    frame = spatial.to_matrix(at.turns[body])
    model = character.model
    for joint in character.joints:
        if joint.body != at.names[body]:
            continue
        if joint.kind == "ball":
            row[joint.dofs.start - root : joint.dofs.stop - root] += frame.T @ turn
        elif joint.kind in ("hinge", "universal"):
            for dof in range(joint.dofs.start, joint.dofs.stop):
                row[dof - root] += float(frame @ model.jnt_axis[int(model.dof_jntid[dof])] @ turn)


def _bend_long_arms(character: Character, waves: Array) -> None:
    """Bends the elbows of arms whose hands would come near the ground, until they do not."""
    body, at = walking_body(character), anatomy_of(character)
    root = character.root_dofs.stop
    for limb, bodies in at.limbs.items():
        if not limb.startswith("arm") or at.how == "shape" or len(bodies) < 2:
            continue
        sign = _bend_sign(character, at.names[bodies[1]])
        if not sign:
            continue
        row = _hinge_row(character, at.names[bodies[1]]) - root
        parts = [character.body_id(at.names[b]) for b in at.chain(limb)]
        for _ in range(ELBOW_STEPS):
            heights = [_lowest_end(character, parts, waves[0, :-6] + k * waves[1, :-6]) for k in (0.0, 1.0, -1.0)]
            if heights[0] > LOWEST_HAND * body.hips_height and min(heights) > LOWEST_SWUNG * body.hips_height:
                break
            waves[0, row] += sign * ELBOW_STEP


def _lowest_end(character: Character, parts: list[int], row: Array) -> float:
    """Returns how high the far end of these bodies is above the soles, with the joints off neutral by a row [m]."""
    away = np.zeros(character.nv)
    away[character.root_dofs.stop :] = row
    pose = character.snapshot(character.state(character.integrate(character.neutral, away)))
    ends = pose.body_com[parts] + (pose.body_com[parts] - pose.body_position[parts])
    return float(ends[:, 2].min() - pose.contact_position[:, 2].min())


def _hinge_row(character: Character, body: str) -> int:
    """Returns the row of v of a body's hinge; -1 where it has none."""
    for joint in character.joints:
        if joint.body == body and joint.kind == "hinge":
            return int(joint.dofs.start)
    return -1


def _bend_sign(character: Character, body: str) -> float:
    """Returns the direction in which a body's hinge bends: to the farther of its limits; 0 where it has no hinge."""
    row = _hinge_row(character, body)
    if row < 0:
        return 0.0
    low, high = character.model.jnt_range[int(character.model.dof_jntid[row])]
    return 1.0 if high > -low else -1.0
