"""Liveliness: breathing, slow sway and a wandering gaze on top of a reference, so that quiet standing is no statue.

Each is a sum of a few slow sinusoids with phases drawn from a seed: their rates are known, and the same seed gives the
same motion. People sway by a few millimetres, mostly below 1 Hz (Winter 1995), and breathe
about fifteen times a minute.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.joints import Joint
from counterpoise.character.kept import kept_with_character
from counterpoise.control.limbs import limbs_of
from counterpoise.control.reference import ReferenceSample
from counterpoise.control.standing_body import standing_body

SWAY_RATES = (0.06, 0.13, 0.24, 0.41, 0.67)  # [Hz] of the CoM over the ground
SWAY = (0.004, 0.0025)  # [CoM heights] root of the mean square, forward and aside
BREATH_RATES = (0.23, 0.26)  # [Hz]; two, so that no breath is quite like the last
BREATH = 0.012  # [rad] of every joint of the trunk
GAZE_RATES = (0.05, 0.11, 0.17)  # [Hz]
GAZE = (0.12, 0.05)  # [rad] root of the mean square, of turning and nodding the head


@dataclass(frozen=True, eq=False)
class Waves:
    """Sums of sinusoids, one for each channel."""

    rate: Array  # (channels, k) [rad/s]
    size: Array  # (channels, k)
    phase: Array  # (channels, k) [rad]

    def at(self, time: float) -> tuple[Array, Array, Array]:
        """Returns value, first and second derivative of every channel, (channels,) each."""
        angle = self.rate * time + self.phase
        sine, cosine = self.size * np.sin(angle), self.size * np.cos(angle)
        return sine.sum(axis=1), (self.rate * cosine).sum(axis=1), -(self.rate**2 * sine).sum(axis=1)


@dataclass(frozen=True, eq=False)
class LivelyJoints:
    """The degrees of freedom that breathe and look around, and which way each turns."""

    breathing: Ints  # (b,)
    turning: Ints  # (t,) of neck and head, about the vertical
    nodding: Ints  # (n,) the same, about the axis from side to side


def enliven(
    character: Character, reference: ReferenceSample, time: float, liveliness: float, seed: int
) -> ReferenceSample:
    """Returns the reference with breathing, sway and gaze added, `liveliness` times a person's."""
    waves, joints = _waves(seed), _lively_joints(character)
    value, rate, second = (liveliness * part for part in waves.at(time))
    change, velocity, acceleration = (np.zeros(character.nv) for _ in range(3))
    for dofs, channel in ((joints.breathing, 2), (joints.turning, 3), (joints.nodding, 4)):
        share = 1.0 if channel == 2 else 1.0 / max(len(dofs), 1)  # a long neck shares the turn among its joints
        change[dofs] += share * value[channel]
        velocity[dofs] += share * rate[channel]
        acceleration[dofs] += share * second[channel]
    height = standing_body(character).height
    com, com_velocity, com_acceleration = (
        given + height * np.array([part[0], part[1], 0.0])
        for given, part in (
            (reference.com, value), (reference.com_velocity, rate), (reference.com_acceleration, second)
        )
    )  # fmt: skip
    return replace(
        reference, q=character.integrate(reference.q, change), v=reference.v + velocity,
        a=reference.a + acceleration, com=com, com_velocity=com_velocity, com_acceleration=com_acceleration,
    )  # fmt: skip


@lru_cache(maxsize=64)
def _waves(seed: int) -> Waves:
    """Returns the waves of a seed: sway forward and aside, breath, turning and nodding of the head."""
    rng = np.random.default_rng(seed)
    most = len(SWAY_RATES)
    channels = (
        (SWAY_RATES, SWAY[0]), (SWAY_RATES, SWAY[1]), (BREATH_RATES, BREATH), (GAZE_RATES, GAZE[0]),
        (GAZE_RATES, GAZE[1]),
    )  # fmt: skip
    rate, size = np.zeros((len(channels), most)), np.zeros((len(channels), most))
    for i, (rates, root_mean_square) in enumerate(channels):
        k = len(rates)
        rate[i, :k] = 2.0 * np.pi * np.array(rates) * rng.uniform(0.9, 1.1, k)
        parts = 1.0 / np.sqrt(np.array(rates))  # slow waves are larger
        size[i, :k] = root_mean_square * np.sqrt(2.0) * parts / np.linalg.norm(parts)
    return Waves(rate, size, rng.uniform(0.0, 2.0 * np.pi, rate.shape))


@kept_with_character
def _lively_joints(character: Character) -> LivelyJoints:
    limbs, here = limbs_of(character), character.snapshot()
    still = {*limbs.arms, *limbs.legs}
    trunk: list[Joint] = []
    head: list[Joint] = []
    for joint in character.joints:
        if joint.kind == "free" or joint.name in still:
            continue
        (head if joint.name in limbs.others else trunk).append(joint)
    axes = {joint.name: here.angular_jacobian(joint.body)[:, joint.dofs] for joint in (*trunk, *head)}

    def about(joints: list[Joint], axis: int) -> Ints:
        found = []
        for joint in joints:
            most = int(np.argmax(np.abs(axes[joint.name][axis])))
            if abs(axes[joint.name][axis, most]) > 0.9:
                found.append(joint.dofs.start + most)
        return np.array(found, np.int64)

    return LivelyJoints(about(trunk, 1), about(head, 2), about(head, 1))
