"""StandTuning: every gain, weight and time of `Stand`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterpoise.errors import BadValue


@dataclass(frozen=True)
class StandTuning:
    """Gains, weights and times; they scale with the body. omega^2 = g / (height of the CoM in the neutral pose).

    Weights are relative to 1 of every joint. `alarm` and `danger` go from 0, calm, to 1, full (see stand.py).
    """

    com_stiffness: float = 4.0  # [omega^2] k_p of the CoM over the ground, when calm
    com_urgent: float = 4.0  # [omega^2] the same at full alarm
    height_stiffness: float = 10.0  # [omega^2] k_p of the CoM's height
    com_limit: float = 0.8  # largest acceleration asked of the CoM over the ground, in shares of friction x g
    com_weight: float = 1e3  # of the CoM over the ground, when calm
    com_weight_urgent: float = 3e4  # the same at full danger
    height_weight: float = 1e3  # of the CoM's height
    asked_height_weight: float = 1e4  # the same where the user asks for a height
    lowest: float = 0.6  # [standing CoM heights] lower requests for a height count as this
    momentum_weight: float = 0.5  # of the angular momentum, whose rate is divided by m (h/4)^2
    momentum_gain: float = 20.0  # [1/s]
    turn_weight: float = 100.0  # of its vertical part, which turns the feet and does not help the balance
    stiffness: float = 200.0  # [1/s^2] k_p of the joints when calm
    slack: float = 0.5  # share of it at full alarm
    free_limbs: float = 0.2  # share of it for arms: light limbs that end in a hand
    contact_stiffness: float = 1600.0  # [1/s^2] of planted feet
    moving_contact_stiffness: float = 900.0  # [1/s^2] the same while a motion, or a height, is followed calmly
    stop_weight: float = 30.0  # of joint limits
    clear_weight: float = 300.0  # of keeping all parts but the feet off the ground, with lengths in CoM heights
    clear_margin: float = 0.02  # [standing CoM heights] how far off the ground
    swing_stiffness: float = 400.0  # [1/s^2] of feet in the air
    swing_weight: float = 20.0  # of each of their contact points
    top_speed: float = 18.0  # [rad/s] of any joint
    alarm_from: float = 0.6  # share of the way to the edge of the support at which alarm and danger begin
    alarm_full: float = 1.2  # and at which the alarm is full
    danger_full: float = 1.1  # and at which the danger is full: a body that may step does
    danger_spin: float = 0.5  # share of the angular momentum that counts for the danger
    calm_time: float = 0.4  # [s] in which alarm and danger fall to 1/e
    margin: float = 0.35  # of the support's depth that the CoM's goal keeps from its edge
    follow_time: float = 0.3  # [s] in which the reference is moved to where the feet really are, to 1/e
    lookahead: float = 0.08  # [s] before the reference lifts a foot, the foot stops bearing
    smooth_time: float = 0.025  # [s] standard deviation of the window that smooths a motion; 0: no smoothing
    torque_time: float = 0.003  # [s] in which torques follow those of the program, to 1/e; 0: at once
    lift_height: float = 0.005  # [m] a foot of a reference motion this far off its ground is lifted
    slow_down: float = 0.5  # share of the reference's speed that is lost at full alarm
    catch_up: float = 0.25  # share of the reference's speed that is added at most, while behind it
    error_slow: float = 0.6  # [rad] tracking error (root of mean square) at which the reference's clock stands still
    fallen: float = 0.6  # [wanted CoM heights] below this the character has fallen and goes limp
    lost: float = 0.35  # [standing CoM heights] a CoM this far beside the feet makes a body brace that can get up
    limp_damping: float = 0.02  # [s] of the joints after a fall, in torque limits per rad/s
    highest: float = 1.3  # [standing CoM heights] higher requests for a height count as this
    pace_time: float = 0.1  # [s] in which the speed of the reference's clock follows the wanted speed, to 1/e
    arm_near: float = 1.0  # [rad] an arm nearer to its goal than this goes there directly
    arm_far: float = 1.6  # [rad] an arm farther from its goal than this goes to the middle of its range first
    low_part: float = 0.35  # [standing CoM heights] a part lower than this may soon touch the ground
    pose_lift_height: float = 0.02  # [m] a foot of a reference pose this far off its ground is lifted

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(vars(self).values()))

    def __hash__(self) -> int:
        """The hash of all values, computed once: the tuning is part of the key of a table that every tick reads."""
        return self._hash

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"StandTuning.{name} is a number >= 0; got {value!r}")
        if not self.alarm_from < min(self.alarm_full, self.danger_full):
            raise BadValue(
                f"alarm_from must be below alarm_full and danger_full; got {self.alarm_from}, {self.alarm_full} and "
                f"{self.danger_full}"
            )
        if not self.arm_near < self.arm_far:
            raise BadValue(f"arm_near must be below arm_far; got {self.arm_near} and {self.arm_far}")
