"""The objectives of `Stand` in their two levels: planted feet, then everything else by weight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.limbs import arm_detour, limbs_of
from counterpoise.control.reference import ReferenceSample
from counterpoise.control.stand_look import StandAim, StandSight
from counterpoise.control.stand_tuning import StandTuning
from counterpoise.control.standing_body import standing_body
from counterpoise.control.swing import SwingFeet
from counterpoise.features import ComPosition
from counterpoise.kernels import kernel
from counterpoise.objectives import (
    Clearance,
    Contact,
    Footing,
    JointStops,
    Momentum,
    Objective,
    Setpoint,
    TrackPose,
    take_stance,
)
from counterpoise.objectives.obstacles import Obstacles
from counterpoise.objectives.posture import no_velocity
from counterpoise.objectives.tick_rows import SortedLevels, SortedTick, sort_tick
from counterpoise.objectives.writing import HELD_POINTS_SIZE, THREE_AXES_SIZE

CALM_STEPS = 16  # joint gains are rounded to this many steps between slack and stiff, so that objectives are reused
LEAST_FIRMNESS = 1e-3  # of a limp character, so that its joints have some stiffness
ASKED_HEIGHT_LIMIT = 0.5  # [g] of the acceleration towards a height that is asked for: it may be out of reach
LEAST_COM_LIMIT = 1e-3  # [g] of the acceleration asked of the CoM on ground without friction
ROOT_WEIGHT = 1e-3  # of the root's orientation, against 1 of every joint


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
    snapshot: Snapshot, reference: ReferenceSample, seen: StandSight, aim: StandAim, tuning: StandTuning, alarm: float,
    danger: float, firmness: float, friction: float, height_asked: bool, moving: bool, extra: Sequence[Objective],
    obstacles: Obstacles | None = None,
) -> tuple[tuple[Objective, ...], ...] | SortedLevels:  # fmt: skip
    """Returns the levels of one tick: planted feet; then CoM, momentum, pose, stops, lifted feet and `extra`.

    Where only their references change from tick to tick, they are sorted once (`stand_objectives`).

    `firmness` is 0 for a limp character, 1 for the usual one and 2 for a stiff one. `moving`: a motion or a height is
    followed. Limbs keep off `obstacles`, or off the ground where there are none.
    """
    t, character = tuning, snapshot.character
    calm = round((t.slack + (1.0 - t.slack) * (1.0 - alarm)) * CALM_STEPS) / CALM_STEPS
    own, tick = stand_objectives(character, t, calm, firmness, friction, height_asked, moving)
    com_stiffness = (t.com_stiffness + (t.com_urgent - t.com_stiffness) * alarm) * standing_body(character).omega ** 2
    com_weight = t.com_weight * (t.com_weight_urgent / t.com_weight) ** danger if t.com_weight > 0.0 else 0.0
    com_weight *= own.balance.weight
    detour = None
    if not seen.arms_near:
        detour = arm_detour(limbs_of(character), snapshot.q, reference.q, t.arm_near, t.arm_far)
    low = _low_reference(snapshot, reference, seen.part_height, t.low_part)
    clear = own.clear.aimed(reference=low, moved=aim.offset, obstacles=obstacles)
    swing: tuple[Objective, ...] = ()
    if reference.snapshot is not None and reference.contact.raises:
        weight = t.swing_weight * min(firmness, 1.0)
        swing = (SwingFeet(reference, aim.offset, aim.support, t.swing_stiffness, weight),)

    made = partial(_objectives, own, reference, aim, com_stiffness, com_weight, detour, (clear, *swing, *extra))
    if tick is None or com_weight == 0.0 or extra or any([one.weight == 0.0 for one in swing]):
        return made()
    numbers = tick.numbers.copy()
    fill_references(
        numbers, aim.com, aim.velocity, aim.acceleration, aim.momentum, aim.momentum_rate, com_stiffness, com_weight
    )
    rest = no_velocity(character)
    followed = (reference.q, reference.v, reference.a) if detour is None else (detour, rest, rest)
    return SortedLevels(
        SortedTick(
            _named(tick, swing), numbers, tick.count, tick.most, tick.starts, swing, tick.posture_weight,
            (*followed, *tick.followed[3:]), tick.stops, clear,
        ),
        made,
    )  # fmt: skip


def _objectives(
    own: StandObjectives, reference: ReferenceSample, aim: StandAim, com_stiffness: float, com_weight: float,
    detour: Array | None, others: tuple[Objective, ...],
) -> tuple[tuple[Objective, ...], ...]:  # fmt: skip
    """Returns the levels with the references of now; `others` come after the stops."""
    goal = {"value": aim.com, "velocity": aim.velocity, "acceleration": aim.acceleration}
    rates = {} if detour is not None else {"velocity": reference.v, "acceleration": reference.a}
    return (own.contact,), (
        own.balance.aimed(**goal, stiffness=com_stiffness, weight=com_weight),
        own.height.aimed(**goal),
        own.momentum.aimed(value=aim.momentum, rate=aim.momentum_rate),
        own.turning.aimed(value=aim.momentum[2:], rate=aim.momentum_rate[2:]),
        own.track.aimed(reference=reference.q if detour is None else detour, **rates),
        own.stops,
        *others,
    )


@kept_with_character
def stand_objectives(
    character: Character,
    tuning: StandTuning,
    calm: float,
    firmness: float,
    friction: float,
    height_asked: bool,
    moving: bool,
) -> tuple[StandObjectives, SortedTick | None]:
    """Returns the objectives of a standing character; `calm` is the share of the joints' stiffness in use.

    And, where all of them count, the same as they are written by compiled rows, at references of zero.
    """
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
    own = StandObjectives(
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
    if any([one.weight == 0.0 for one in own]):
        return own, None
    here = character.snapshot()
    return own, sort_tick(((own.contact,), own[1:]), here, take_stance(here, Footing()))


@kernel
def fill_references(
    numbers: Array, com: Array, velocity: Array, acceleration: Array, momentum: Array, momentum_rate: Array,
    stiffness: float, weight: float,
) -> None:  # fmt: skip
    """Fills the references into the records (`objectives.writing`) of contact, balance, height, momentum and turning.

    And the stiffness and the weight of the balance.
    """
    balance = numbers[HELD_POINTS_SIZE:]
    height, turn = balance[THREE_AXES_SIZE:], balance[2 * THREE_AXES_SIZE :]
    about = turn[THREE_AXES_SIZE:]
    balance[1], balance[17], balance[18] = np.sqrt(weight), stiffness, 2.0 * np.sqrt(stiffness)
    for k in range(3):
        balance[5 + k] = height[5 + k] = com[k]
        balance[8 + k] = height[8 + k] = velocity[k]
        balance[11 + k] = height[11 + k] = acceleration[k]
        turn[5 + k], turn[11 + k] = momentum[k], momentum_rate[k] / turn[4]
    about[7], about[13] = momentum[2], momentum_rate[2] / about[4]


def _named(tick: SortedTick, others: tuple[Objective, ...]) -> tuple[str, ...]:
    """Returns the names of the objectives of a tick with others between the records and the posture."""
    if not others:
        return tick.names
    return (*tick.names[: tick.count], *[one.name for one in others], *tick.names[tick.count :])


def _low_reference(snapshot: Snapshot, reference: ReferenceSample, height: float, low: float) -> Snapshot | None:
    """Returns the reference's snapshot where it is known, or where a part that is no foot has come near the ground.

    `height` is that of the lowest part [m]. A part may go as low as the reference has it.
    """
    character = snapshot.character
    if reference.snapshot is not None or height > low * standing_body(character).height:
        return reference.snapshot
    return take_snapshot(character, State(reference.q, np.zeros(character.nv), snapshot.time))


_COM, _ZERO = ComPosition(), np.zeros(3)
