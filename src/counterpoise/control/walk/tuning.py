"""WalkTuning: every gain, weight and time of `Walk`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from counterpoise.errors import BadValue


@dataclass(frozen=True)
class WalkTuning:
    """Gains, weights and times. Lengths are in leg lengths (hips above the soles), times in sqrt(leg length / g).

    For a person of 1.77 m these units are 0.93 m and 0.31 s. Weights are relative to 1 of a joint.
    """

    # the gait
    usual_speed: float = 0.4  # [sqrt(leg x g)] 1.2 m/s for a person
    brisk: float = 0.53  # [sqrt(leg x g)] 1.6 m/s: no captured walk is faster unless a speed is asked for
    fastest: float = 0.6  # [sqrt(leg x g)] 1.8 m/s for a person
    step_time: float = 0.914  # of a step at a speed of 1: it is step_time x speed^step_power
    step_power: float = -0.7
    shortest_step: float = 1.3  # of the usual step's time
    longest_step: float = 2.33
    least_step: float = 1.0  # of any step's time, whatever is asked
    most_step: float = 4.0
    quick_step: float = 1.4  # at most, of bodies whose ankles correct little within a step
    catch_step: float = 1.1  # of a step's time that catches a fall
    calmer_step: float = 1.5  # [times of the last step] at most, of steps after one that has caught a fall
    double_time: float = 0.357  # of double support in a usual step
    double_power: float = 1.5  # double support grows with the step's time to this power
    width: float = 0.82  # [distances of the ankles in the neutral pose] between the feet
    narrowest: float = 0.5  # [width] feet never come closer
    feet_apart: float = 1.45  # [widths of a sole] feet never come closer either
    widest: float = 7.0  # [width]
    longest_reach: float = 0.85  # of a step, ahead of the stance foot
    backward_reach: float = 0.85
    ramp: float = 0.05  # [g] by which the speed rises
    bent_ramp: float = 0.044  # [g] the same for bodies whose legs stand bent
    brake: float = 0.05  # [g] and falls
    calm_brake: float = 0.02  # [g] by which it falls in a `Walk` over level ground: over several steps
    stop_brake: float = 0.3  # [g] by which it falls where the body is to stand
    first_speed: float = 0.5  # of the speed asked for, with which it starts ...
    fastest_first: float = 0.15  # [sqrt(leg x g)] ... but not faster
    shift_gain: float = 1.0  # of the capture point on its way to the foot that will stand
    shift_near: float = 0.3  # [width] capture point this near to that foot: the other one leaves
    shift_behind: float = 0.06  # but not while the capture point is farther than this behind its place
    longest_shift: float = 4.0  # time after which it leaves in any case
    stand_gain: float = 3.0  # of the capture point while it stands
    calm_speed: float = 0.02  # [sqrt(leg x g)] of the CoM below which it may start
    calm_time: float = 0.3  # it stands for at least this long before it starts, and shifts its weight as long
    longest_calm: float = 3.0  # and starts after this in any case
    tipping: float = 0.02  # outside the edge of the support: a capture point beyond this makes a standing body step
    lean_out: float = 0.02  # inside that edge: `Locomotion` steps sooner, before `Stand` bends its trunk far
    foresight: float = 0.16  # by which the capture point is foreseen when a standing body chooses the foot to step with
    stop_speed: float = 0.03  # [sqrt(leg x g)] below this it may stop stepping
    stop_stagger: float = 0.3  # it may stand with its feet this far apart along the heading
    stop_wide: float = 0.6  # and this far across it ...
    stop_inside: float = 0.04  # ... where the capture point is this far inside their support
    trim: float = 0.3  # share of the speed's error that the next step corrects
    lift_trim: float = 0.4  # share of the error of the foot's height that the next step corrects
    trim_limit: float = 0.06  # [sqrt(leg x g)]
    turn_rate: float = 0.28  # [rad per leg time] of the heading: 52 degrees a second for a person
    turn_ramp: float = 0.16  # [rad per leg time^2] by which its rate grows and falls
    curve: float = 0.07  # [g] speed times rate of a turn, at most: 0.75 m/s at the full rate
    alone_turn: float = 0.6  # pace of a turn of bodies whose ankles do not roll
    least_turn: float = 0.2  # [rad] a body that stands turns by steps if it is to face elsewhere by more than this
    fastest_back: float = 0.25  # [sqrt(leg x g)] of a walk backwards
    fastest_aside: float = 0.15  # [sqrt(leg x g)] of a walk sideways
    line_gain: float = 0.25  # share of the way back to the line that a step takes
    line_limit: float = 0.03
    # the centre of pressure, in shares of the sole from heel to front
    first_pressure: float = 0.44  # when the other foot leaves
    last_pressure: float = 0.85  # when the other foot lands
    roll_step: float = 0.32  # [leg lengths] shorter steps roll less
    pressure_gain: float = 2.0  # of the capture point's error
    pressure_along: float = 0.5  # [soles] largest correction along the foot
    pressure_across: float = 0.9  # [half widths] largest correction across it
    spin_time: float = 0.03  # in which the rate of the angular momentum is smoothed
    alarm: float = 0.15  # [leg lengths] a larger correction may go beyond the foot: trunk and arms turn for it
    beyond: float = 0.1  # [leg lengths] by this at most
    # choosing the step
    time_weight: float = 6.0
    along_weight: float = 0.6
    across_weight: float = 2.0
    capture_weight: float = 30.0
    cross_cost: float = 8.0  # of a step to the other side of the stance foot
    cross_clear: float = 1.15  # [soles] ahead of the stance ankle, or behind it, where a foot may cross
    crossed: float = 0.35  # largest distance on the other side
    hurry_weight: float = 1000.0
    swing_speed: float = 1.6  # [sqrt(leg x g)] highest mean speed of a swinging foot
    catch_effort: float = 0.9  # [catch_limit] acceleration that the plan of a step that catches a fall counts on
    catch_cost: float = 0.3  # a plan of a usual step that costs more than this is one to catch a fall
    turn_catch: float = 3.0  # times that cost, at the full rate of a turn: its plans cost more, and quick steps cross
    alone_catch: float = 3.0  # times that cost, for bodies whose ankles do not roll: their usual steps correct much
    preview_cost: float = (
        1e6  # a walk whose plan of one step costs more than this looks three steps ahead: never; 1: often
    )
    least_swing: float = 0.7  # time of a swing
    least_left: float = 0.02
    longest_left: float = 0.8  # later than usual
    # the hips
    hips_bend: float = 0.004  # below standing height in mid-stance
    bent_hips_bend: float = 0.05  # the same for bodies whose legs stand bent
    catch_bend: float = 0.0097  # at least, in a step that catches a fall
    hips_dip: float = 0.0086  # at least, from mid-stance to landing
    step_dip: float = 0.08  # the same, for a step of one leg length; it grows with the square of the length
    deepest_dip: float = 0.06  # at most; steps that would need more are shorter
    catch_dip: float = 0.14  # at most, in a step that catches a fall
    hips_speed: float = 0.12  # [sqrt(leg x g)] largest speed up
    hips_fall: float = 0.55  # [g] largest acceleration down
    hips_rise: float = 0.7  # [g] and up
    # the feet
    strike: float = 0.36  # [rad] toe-up pitch at heel strike, at steps of `strike_step`
    strike_step: float = 0.70
    flat_time: float = 0.29  # from heel strike to a flat foot
    stance_length: float = 0.998  # [longest leg] of the stance leg until the heel pushes; its heel rises for it
    catch_length: float = 0.9856  # [longest leg] of the stance leg in a step that catches a fall
    push_pitch: float = 0.42  # [rad] of the rear foot when the other one lands, at the usual speed
    push_from: float = 0.7  # share of a swing after which the heel of the stance foot rises
    rear_length: float = 0.955  # [longest leg] of the rear leg at the end of single support
    leave_length: float = 0.9477  # [longest leg] and when it leaves
    release: float = 0.58  # [soles] centre of pressure beyond which the heel is let go
    roll_ahead: float = 0.12  # [rad] by which the wish of a rolling foot runs ahead of it
    clearance: float = 0.027  # of the swinging sole in mid-swing, beyond `late_clearance`
    late_clearance: float = 0.0215  # of the swinging sole until shortly before it lands
    foot_limit: float = 4.8  # [g] largest acceleration of a swinging foot
    catch_limit: float = 5.8  # [g] the same in a step that catches a fall
    catch_land: float = 0.4  # before the landing, from when a foot that catches a fall is put down
    catch_hurry: float = 8.0  # [1/time] by its height, beyond `land_speed`
    land_speed: float = 0.116  # [sqrt(leg x g)] downwards, of a foot that is late
    # weights and gains
    com_weight: float = 860.0  # of accelerations of places in leg lengths: CoM, hips, swinging foot
    hips_weight: float = 517.0
    momentum_weight: float = 6.0
    momentum_gain: float = 3.1  # [1/time]
    hips_turn_weight: float = 100.0
    chest_turn_weight: float = 36.0
    head_turn_weight: float = 9.0
    hips_turn_stiffness: float = 14.2  # [1/time^2], as all stiffnesses here
    chest_turn_stiffness: float = 9.5
    swing_weight: float = 345.0
    catch_swing_weight: float = 6000.0  # the same in a step that catches a fall: it lands before CoM and trunk count
    swing_turn_weight: float = 60.0
    swing_turn_stiffness: float = 38.0
    roll_weight: float = 10.0
    roll_stiffness: float = 38.0
    toe_weight: float = 3.0
    toe_stiffness: float = 57.0
    stop_weight: float = 3.0
    knee_weight: float = 100.0  # of a knee that is nearly straight
    top_speed: float = 5.5  # [rad/time]
    hand_weight: float = 600.0  # of the height of a hand that rises too high in a step that catches a fall
    hand_ceiling: float = 0.0  # of a hand above its shoulder
    hand_brake: float = 4.0  # [g] with which it brakes below that
    hand_free: float = 4.0  # a plan that costs more than this needs all that arms can give
    hand_speed: float = 1.2  # [sqrt(leg x g)] with which it rises, at most
    hand_settle: float = 0.1  # in which it does
    contact_stiffness: float = 85.0
    trunk_joint_weight: float = 4.0
    arm_joint_weight: float = 2.0
    leg_joint_weight: float = 0.01
    bent_leg_joint_weight: float = 0.3  # of legs that stand bent: with a hock they may fold in many ways
    trunk_joint_stiffness: float = 14.2
    arm_joint_stiffness: float = 5.7
    leg_joint_stiffness: float = 4.7
    force_weight: float = 1.0
    friction: float = 0.8
    force_limit: float = 2.0  # [body weights] along one edge of a friction cone
    rank: float = 1e-4
    torque_time: float = 0.013  # in which torques follow those of the program, to 1/e
    force_rise: float = 0.16  # from no force to full force after a landing
    force_fall: float = 0.195  # and back before a foot leaves
    fallen: float = 0.65  # [standing heights of the hips] below this it has fallen

    def bend(self, bent: bool) -> float:
        """Returns how far below standing height the hips are in mid-stance."""
        return self.bent_hips_bend if bent else self.hips_bend

    @cached_property
    def _hash(self) -> int:
        return hash(tuple(vars(self).values()))

    def __hash__(self) -> int:
        """The hash of all values, computed once: the tuning is part of the key of a table that every tick reads."""
        return self._hash

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not np.isfinite(value) or (value < 0.0 and name != "step_power"):
                raise BadValue(f"WalkTuning.{name} is a number >= 0; got {value!r}")
