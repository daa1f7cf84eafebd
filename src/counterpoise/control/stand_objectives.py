"""The objectives of `Stand` in their two levels: planted feet, then everything else by weight."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.limbs import arm_detour, limbs_of
from counterpoise.control.reference import ReferenceSample
from counterpoise.control.rehearsal import LEAST_PUSH
from counterpoise.control.stand_tuning import StandTuning
from counterpoise.control.standing_body import lowest, lowest_of, standing_body
from counterpoise.control.support import Support, capture_shares
from counterpoise.control.swing import SwingFeet
from counterpoise.features import ComPosition
from counterpoise.objectives import Clearance, Contact, JointStops, Momentum, Objective, Setpoint, TrackPose
from counterpoise.objectives.clearance import corners_off_feet
from counterpoise.objectives.obstacles import Obstacles

CALM_STEPS = 16  # joint gains are rounded to this many steps between slack and stiff, so that objectives are reused
LEAST_FIRMNESS = 1e-3  # of a limp character, so that its joints have some stiffness
ASKED_HEIGHT_LIMIT = 0.5  # [g] of the acceleration towards a height that is asked for: it may be out of reach
LEAST_COM_LIMIT = 1e-3  # [g] of the acceleration asked of the CoM on ground without friction
ROOT_WEIGHT = 1e-3  # of the root's orientation, against 1 of every joint


@dataclass(frozen=True, eq=False)
class StandAim:
    """Where the CoM and the angular momentum should be now."""

    com: Array  # (3,) [m], moved with the feet
    velocity: Array  # (3,)
    acceleration: Array  # (3,)
    momentum: Array  # (3,) angular
    momentum_rate: Array  # (3,)
    pivot: Array  # (3,) [m] the centre of pressure that the reference has, kept over the support
    support: Support
    offset: Array  # (3,) [m] of the planted feet from the reference's


class StandObjectives(NamedTuple):
    """The objectives of `Stand` without their references."""

    contact: Contact
    balance: Setpoint  # the CoM over the ground
    height: Setpoint  # the CoM's height
    momentum: Momentum
    turning: Momentum
    track: TrackPose
    stops: JointStops
    clear: Clearance


def stand_levels(
    snapshot: Snapshot, reference: ReferenceSample, aim: StandAim, tuning: StandTuning, alarm: float, danger: float,
    firmness: float, friction: float, height_asked: bool, moving: bool, extra: Sequence[Objective],
    obstacles: Obstacles | None = None,
) -> tuple[tuple[Objective, ...], ...]:  # fmt: skip
    """Returns the levels of one tick: planted feet; then CoM, momentum, pose, stops, lifted feet and `extra`.

    `firmness` is 0 for a limp character, 1 for the usual one and 2 for a stiff one. `moving`: a motion or a height is
    followed. Limbs keep off `obstacles`, or off the ground where there are none.
    """
    t, character = tuning, snapshot.character
    omega = standing_body(character).omega
    calm = round((t.slack + (1.0 - t.slack) * (1.0 - alarm)) * CALM_STEPS) / CALM_STEPS
    own = stand_objectives(character, t, calm, firmness, friction, height_asked, moving)
    com_stiffness = t.com_stiffness + (t.com_urgent - t.com_stiffness) * alarm
    com_weight = t.com_weight * (t.com_weight_urgent / t.com_weight) ** danger if t.com_weight > 0.0 else 0.0
    goal = {"value": aim.com, "velocity": aim.velocity, "acceleration": aim.acceleration}
    detour = arm_detour(limbs_of(character), snapshot.q, reference.q, t.arm_near, t.arm_far)
    if detour is None:
        track = own.track.aimed(reference=reference.q, velocity=reference.v, acceleration=reference.a)
    else:
        track = own.track.aimed(reference=detour)
    objectives: tuple[Objective, ...] = (
        own.balance.aimed(**goal, stiffness=com_stiffness * omega**2, weight=com_weight * own.balance.weight),
        own.height.aimed(**goal),
        own.momentum.aimed(value=aim.momentum, rate=aim.momentum_rate),
        own.turning.aimed(value=aim.momentum[2:], rate=aim.momentum_rate[2:]),
        track,
        own.stops,
        own.clear.aimed(
            reference=_low_reference(snapshot, reference, t.low_part), moved=aim.offset, obstacles=obstacles
        ),
    )
    if reference.snapshot is not None and reference.contact.raises:
        weight = t.swing_weight * min(firmness, 1.0)
        objectives = (*objectives, SwingFeet(reference, aim.offset, aim.support, t.swing_stiffness, weight))
    return (own.contact,), (*objectives, *extra)


@kept_with_character
def stand_objectives(
    character: Character,
    tuning: StandTuning,
    calm: float,
    firmness: float,
    friction: float,
    height_asked: bool,
    moving: bool,
) -> StandObjectives:
    """Returns the objectives of a standing character; `calm` is the share of the joints' stiffness in use."""
    t, body, limbs = tuning, standing_body(character), limbs_of(character)
    hold = min(firmness, 1.0)
    firm = max(firmness, LEAST_FIRMNESS) * t.stiffness
    k = firm * calm
    stiffness = {"": k, **dict.fromkeys(limbs.others, firm), **dict.fromkeys(limbs.arms, k * t.free_limbs)}
    height_weight = t.asked_height_weight if height_asked else t.height_weight
    height_limit = ASKED_HEIGHT_LIMIT if height_asked else 1.0
    alarm = min((1.0 - calm) / max(1.0 - t.slack, 1e-6), 1.0)
    com_limit = max(t.com_limit * friction, LEAST_COM_LIMIT) * body.gravity
    calm_contact = t.moving_contact_stiffness if moving else t.contact_stiffness
    contact = calm_contact + (t.contact_stiffness - calm_contact) * alarm
    return StandObjectives(
        Contact(stiffness=contact),
        Setpoint(_COM, _ZERO, limit=com_limit, axes="xy", weight=hold, name="balance"),
        Setpoint(
            _COM, _ZERO, stiffness=t.height_stiffness * body.omega**2, limit=height_limit * body.gravity, axes="z",
            weight=height_weight * hold, name="height",
        ),
        Momentum("angular", gain=t.momentum_gain, weight=t.momentum_weight * hold),
        Momentum("angular", gain=t.momentum_gain, axes="z", weight=t.turn_weight * hold, name="turning"),
        TrackPose(None, stiffness, root_weight=ROOT_WEIGHT),
        JointStops(top_speed=t.top_speed, weight=t.stop_weight),
        Clearance(margin=t.clear_margin * body.height, weight=t.clear_weight / body.height**2),
    )  # fmt: skip


def _low_reference(snapshot: Snapshot, reference: ReferenceSample, low: float) -> Snapshot | None:
    """Returns the reference's snapshot where it is known, or where a part that is no foot has come near the ground.

    A part may go as low as the reference has it.
    """
    character = snapshot.character
    parts = _parts_off_ground(character)
    if reference.snapshot is not None or len(parts) == 0:
        return reference.snapshot
    height = lowest_of(snapshot.body_position, parts) - lowest(snapshot.contact_position)
    if height > low * standing_body(character).height:
        return None
    return take_snapshot(character, State(reference.q, np.zeros(character.nv), snapshot.time))


def reference_pressure(character: Character, reference: ReferenceSample) -> Array:
    """Returns the centre of pressure (x, y) that a reference has, and the height of its CoM, (3,) [m]."""
    com, a, H = reference.com, reference.com_acceleration, reference.momentum_rate
    push = max(standing_body(character).gravity + float(a[2]), LEAST_PUSH)
    height = float(com[2]) - lowest(reference.points)
    x = float(com[0]) - (height * float(a[0]) + float(H[1]) / character.mass) / push
    y = float(com[1]) - (height * float(a[1]) - float(H[0]) / character.mass) / push
    return np.array([x, y, com[2]])


def urgencies(snapshot: Snapshot, aim: StandAim, first: float, second: float) -> tuple[float, float]:
    """Returns how far the capture point has come from where it should be towards the edge of the support: 1 on it.

    For two shares of the angular momentum.
    """
    character = snapshot.character
    body = standing_body(character)
    return capture_shares(
        aim.support.edges, snapshot.com, snapshot.momentum, aim.com, aim.velocity, aim.momentum, aim.pivot, body.omega,
        character.mass, body.gravity * character.mass, first, second,
    )  # fmt: skip


@kept_with_character
def _parts_off_ground(character: Character) -> Ints:
    """Returns the bodies that can touch the ground and are no feet."""
    return np.unique(corners_off_feet(character).body)


_COM, _ZERO = ComPosition(), np.zeros(3)
