"""The gains, weights and times of `Perform`, in one table."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PerformTuning:
    """How a planned motion is followed. Weights are relative to 1 of every joint."""

    com_weight: float = 1000.0  # of the CoM over the ground
    landed_com_weight: float = 1e4  # the same after the last landing, where posture must not cost the balance
    height_weight: float = 1000.0  # of the CoM's height
    momentum_weight: float = 30.0  # of the angular momentum
    root_weight: float = 10.0  # of the root's orientation, with contact
    flight_root_weight: float = 1e-6  # of its orientation in the air
    flight_feet_weight: float = 30.0  # of contact points in the air before they land
    swing_weight: float = 30.0  # of contact points in the air while others are planted
    com_stiffness: float = 60.0  # [1/s^2]
    height_stiffness: float = 100.0  # [1/s^2]
    momentum_gain: float = 8.0  # [1/s]
    joint_stiffness: float = 150.0  # [1/s^2] with contact
    flight_stiffness: float = 200.0  # [1/s^2] in the air
    feet_stiffness: float = 300.0  # [1/s^2] of contact points in the air
    feet_limit: float = 80.0  # [m/s^2] largest correction of contact points in the air
    contact_stiffness: float = 900.0  # [1/s^2] of planted points
    stop_weight: float = 10.0  # of joint limits
    stop_deceleration: float = 1500.0  # [rad/s^2] with which a joint brakes before its limit
    stop_settle: float = 0.01  # [s] in which its speed settles there
    clear_weight: float = 300.0  # of keeping parts that the plan does not use off the ground, in standing CoM heights
    clear_margin: float = 0.02  # [standing CoM heights] how far off the ground
    lead: float = 1.0  # share of the capture point's error by which landing feet are moved
    lead_limit: float = 0.25  # [standing CoM heights] largest such move
    lead_from: float = 0.5  # share of the flight after which the feet are led
    lead_least: float = 0.25  # [s] before the landing they are led at the latest
    lead_time: float = 0.4  # share of the flight over which the move is made
    swing_lead_from: float = 0.4  # [s] before it lands a swinging foot is led, while the other one bears ...
    swing_lead_time: float = 0.3  # [s] ... and over which the move is made
    soon: float = 0.25  # [s] parts that land within this time after the first one are led as well
    tuck_limit: float = 0.8  # largest share by which a flight is tucked or opened anew; 0: never
    tuck_rate: float = 8.0  # [1/s] in which that share changes
    replan_time: float = 0.03  # [s] after which the rest of a flight is planned again
    replan_turn: float = 4.0  # [rad] a planned flight that turns the body by less is not planned again
    replan_error: float = 0.1  # [rad] of the orientation at landing, below which it stays as it is
    slowest: float = 0.6  # clock in flight, so that the planned landing falls on the real one
    fastest: float = 1.6
    force_rise: float = 0.01  # [s] from no force to full force after touch-down
    force_limit: float = 2.0  # [body weights] at one edge of a contact point's friction cone
    friction: float = 0.8  # of the cones in which forces are planned
    follow_time: float = 0.05  # [s] in which the plan's place follows that of the planted feet
    yaw_spread: float = 0.05  # [standing CoM heights] planted points farther apart than this tell the heading
    felt_load: float = 0.03  # [body weights] on a part that tells where its ground is
    ground_error: float = 0.03  # [standing CoM heights] by which that ground may differ from the planned one
    felt: float = 0.4  # [g] of upward acceleration that tells a landing
    touch_height: float = 0.003  # [standing CoM heights] a point nearer to its surface than this has landed
    late_height: float = 0.012  # the same at the planned time
    early: float = 0.75  # share of a flight before which low feet are not a landing yet
    felt_height: float = 0.25  # [standing CoM heights] feet higher than this above the planned ground feel no landing
    felt_from: float = 0.3  # share of a flight before which no landing is felt
    early_time: float = 0.15  # [s] a swinging part may land this much before its time
    fallen: float = 0.35  # [standing CoM heights] a CoM this far below the plan has fallen
    step_margin: float = (
        0.02  # [standing CoM heights] a capture point this far outside the feet makes it step; 1: never
    )
    lost_margin: float = 0.12  # the same, from the plan's capture point, while further contacts are planned
    committed: float = 0.25  # [s] before a flight from when it takes off in any case
    quiet_speed: float = 0.2  # [m/s] of the CoM of a plan that stands quietly: after steps it goes on there ...
    quiet_time: float = 0.3  # [s] ... where it does for so long
    hardly_begun: float = 1.0  # [s] a plan that must step before this, and before a contact changes, begins again ...
    begin_again: int = 2  # ... so often at most
    step_height: float = 0.7  # [standing CoM heights] a CoM lower than this does not step ...
    step_sinking: float = 0.1  # [sqrt(g CoM height)] ... nor one that sinks faster than this
    late_landing: float = 0.5  # [s] without a landing after its time is a fall
    standing_speed: float = 0.1  # [m/s] of the CoM at the start of a motion that begins in movement
    calm_speed: float = 0.06  # [m/s] of the CoM of a body that stands calmly
    calm_alarm: float = 0.05  # and its alarm, see `Stand`
    calm_time: float = 0.3  # [s] of calm after which a motion is done
    longest_wait: float = 1.5  # [s] after `wait`; then the plan begins anyway
    settle_error: float = 0.02  # [standing CoM heights] of the CoM over the ground, below which the clock starts
    settle_speed: float = 0.03  # [m/s] and its speed
    settle_time: float = 0.8  # [s] after which the clock starts anyway; 0: it never waits
    base_height: float = 0.02  # [m] a start that is higher or lower than this moves the whole plan
    force_weight: float = 0.01  # of contact forces, in body weights
    rank: float = 1e-4  # contact rows nearer to dependence than this are dropped
