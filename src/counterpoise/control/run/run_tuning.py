"""RunTuning: every gain, weight and time of `Running`."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from counterpoise.control.walk.styles import WalkStyle
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.errors import BadValue

RUN_STYLE = WalkStyle(
    "running", lean=0.0, chest=0.0, arm_swing=20.0, arm_forward=-8.0, arm_out=6.0, elbow=85.0, elbow_swing=7.0,
    hips_yaw=3.0, chest_yaw=4.5, hips_list=0.0,
)  # fmt: skip
WHOLE_BODY = WalkTuning(
    com_weight=2000.0, momentum_weight=6.0, swing_weight=150.0, arm_joint_weight=2.0, arm_joint_stiffness=9.0,
    hips_turn_stiffness=25.0, chest_turn_stiffness=20.0, force_limit=2.5, top_speed=7.0,
)  # fmt: skip


@dataclass(frozen=True)
class RunTuning:
    """Gains, weights and times. Lengths are in leg lengths (hips above the soles), times in sqrt(leg length / g).

    For a person of 1.77 m these units are 0.93 m and 0.31 s, and a speed of 1 is 3.0 m/s.
    """

    # the gait
    slowest: float = 0.5  # [sqrt(leg x g)] 1.5 m/s for a person
    fastest: float = 1.4  # [sqrt(leg x g)] 4.2 m/s for a person
    step_time: float = 1.11  # of a step at a speed of 1
    step_time_slope: float = -0.12  # change of it with the speed
    flight: float = 0.31  # share of a step, at a speed of 1
    flight_slope: float = 0.2  # change of it with the speed
    least_flight: float = 0.15
    most_flight: float = 0.45
    highest: float = 1.03  # of the CoM at landing, at slow runs
    landing_length: float = 0.965  # [longest leg] at landing; long leads land lower
    reach_length: float = 0.975  # [longest leg] at landing, at most; feet that land far ahead land later
    rise: float = 0.01  # from landing to take-off
    com_above_hips: float = 0.085  # at landing
    hips_behind: float = 0.03  # the CoM then
    width: float = 0.07  # between footprints
    first_pressure: float = 0.30  # [soles from the heel] centre of pressure at landing ...
    last_pressure: float = 0.78  # ... and at take-off
    ramp: float = 0.07  # [g] by which the speed rises
    brake: float = 0.10  # [g] and falls
    catch_up: float = 0.15  # [sqrt(leg x g)] by which the speed of a step may differ from the present one
    stop_brake: float = 0.8  # [g] by which the speed falls where the body is to stand, ...
    stop_catch_up: float = 0.8  # [sqrt(leg x g)] ... and by which it may then differ
    turn_rate: float = 0.27  # [rad per leg time] of the heading: 50 degrees a second for a person
    turn_ramp: float = 0.08  # [rad per leg time^2] by which it grows
    curve: float = 0.20  # [g] speed times rate of a turn, at most: 2.25 m/s at the full rate
    learning: float = 0.3  # share of what a stance adds to the CoM's acceleration beyond the model, learnt in one step
    late_limit: float = 0.2  # by which landings are taken to be late or early, at most
    added_limit: float = 0.5  # [g] of it, at most
    trim: float = 0.15  # share of the speed's error that the next step corrects
    trim_limit: float = 0.05  # [sqrt(leg x g)]
    line_gain: float = 0.15  # [1/leg time] speed back to the line that is run
    line_limit: float = 0.05  # [sqrt(leg x g)]
    # choosing the steps: weights of speeds in sqrt(leg x g) and of places in leg lengths
    now_weight: float = 0.3  # of the speed at this take-off
    next_weight: float = 1.0
    later_weight: float = 0.5
    place_weight: float = 0.04  # of the lead of a steady run
    shift_weight: float = 3.0  # of a shift of the centre of pressure
    least_lead: float = -0.35  # of a foot that lands, ahead of the CoM
    most_lead: float = 0.5
    across_lead: float = 0.3
    crossing: float = 0.06  # of a foot that lands on the other side of the CoM
    # the bounce
    height_weight: float = 4.0  # of the height at take-off [leg lengths]
    speed_weight: float = 1.0  # of the vertical speed at take-off [sqrt(leg x g)]
    size_weight: float = 0.0006  # of the difference from the usual force [g]
    skew_weight: float = 0.0012
    stance_weight: float = 0.1  # of the difference of a stance's time from the usual one [usual times]
    strong_weight: float = 0.1  # of force beyond the strongest [g]
    shortest_stance: float = 0.8  # [usual times]
    longest_stance: float = 1.25
    strongest: float = 2.8  # [g] largest specific force
    # the feet
    release: float = 0.55  # share of the stance after which the heel is let go
    leave_length: float = 0.93  # [longest leg] at take-off
    lift: float = 0.2  # of the swinging ankle
    lift_pitch: float = 0.9  # [rad] of the swinging foot, heel up
    gap: float = 0.13  # across, between the ankle of a foot that passes and that of the stance foot
    swing_ramp: float = 0.28  # share of a swing in which the foot gains its speed, and in which it loses it
    aside: float = 0.06  # by which the swinging foot passes the other leg farther out
    land_pitch: float = 0.0  # [rad] of a foot that lands
    swing_length: float = 0.985  # [longest leg] of a leg in the air, at most
    late_clearance: float = 0.03  # of the sole until shortly before it lands
    foot_limit: float = 9.0  # [g] largest acceleration of a swinging foot
    force_rise: float = 0.08  # time from no force to full force after a landing
    hops: bool = False  # on one leg, instead of from foot to foot
    idle_length: float = 0.56  # [longest leg] of the other leg in a hop: its ankle below the hip ...
    idle_behind: float = 0.28  # ... and behind it
    idle_pitch: float = 0.8  # [rad] of that foot, toes down
    first_stance: float = 1.7  # [usual stances] in which a hop begins: the body goes down first
    arm_lead: float = 0.06  # [strides] by which arms are ahead of the feet
    whole_body: WalkTuning = field(default_factory=lambda: WHOLE_BODY)
    style: WalkStyle = field(default_factory=lambda: RUN_STYLE)

    @cached_property
    def stopping(self) -> RunTuning:
        """The same for a run that shall end in standing."""
        return replace(self, brake=self.stop_brake, catch_up=self.stop_catch_up)

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(getattr(self, one.name) for one in fields(self)))

    def __hash__(self) -> int:
        """The hash of all values, computed once: the tuning is part of the key of a table that every tick reads."""
        return self._hash

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if isinstance(value, float) and not np.isfinite(value):
                raise BadValue(f"RunTuning.{name} is a number; got {value!r}")


HOP_STYLE = WalkStyle(
    "hopping", lean=0.0, chest=0.0, arm_swing=0.0, arm_forward=8.0, arm_out=28.0, elbow=40.0, elbow_swing=0.0,
    hips_yaw=0.0, chest_yaw=0.0, hips_list=0.0,
)  # fmt: skip
HOPPING = RunTuning(
    hops=True, slowest=0.0, fastest=0.35, step_time=1.5, step_time_slope=0.0, flight=0.38, flight_slope=0.0, width=0.0,
    crossing=0.3, lift=0.13, lift_pitch=0.35, aside=0.0, ramp=0.04, brake=0.05, trim=0.3, style=HOP_STYLE,
)  # fmt: skip
