"""Steps of a `Stand` that may step: when they begin, and how it comes back to its reference.

Where the danger is full (stand.py), arms and trunk may not suffice, and steps catch the fall (walk/catching_steps.py).
Then the reference is laid where the feet are. A way back leads into it: a motion from the pose in which the steps
ended, whose feet step, one after the other, to where the reference has them. `Stand` follows it as it follows any
motion. A motion that was left goes on at the next moment at which it stands on all feet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, take_contact_places
from counterpoise.control.basic import Action
from counterpoise.control.reference_shaping import STEP, feet_put
from counterpoise.control.rehearsal import RehearsedReference
from counterpoise.control.stand import Stand, StandMemory
from counterpoise.control.standing_body import standing_body
from counterpoise.control.walk.catching_steps import begin_steps, can_begin, facing, have_caught, step_on
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.errors import CounterpoiseError
from counterpoise.motion.motion import Motion
from counterpoise.quick import altered

FOOT_STAYS = 0.012  # [standing CoM heights] a foot that is this near to its place makes no step there
FOOT_LIFT = 0.05  # [standing CoM heights] of a foot on its way back
SETTLE_TIME = 0.6  # [s] for which both feet stand before the first one goes back
SHIFT_TIME = 0.5  # [s] and after each
SWING_TIME = 0.5  # [s] of a foot on its way back
SHORTEST_WAY = 0.7  # [s]
RUN_IN = 0.3  # [s] before the end of a way, from when it takes up the velocity of the reference
STANDS_ON = 0.1  # [s] for which a motion stands on all feet where it goes on
AHEAD = 2.0  # [s] of the motion that the way back ends with, so that its CoM knows what comes ...
JOINS = 0.5  # [s] ... after so much of it the way is left; where the motion ends sooner than AHEAD, at its end


class Laid(NamedTuple):
    """A reference where the feet are: a pose or a motion, the motion rehearsed."""

    given: Any  # as the user gave it
    reference: Any
    rehearsal: RehearsedReference | None


@dataclass(frozen=True, eq=False)
class StepsTaken:
    """What a `Stand` that steps remembers of its steps."""

    walk: WalkMemory | None = None  # of steps that it takes now
    steps: int = 0  # that it has taken
    place: tuple[float, float] = (0.0, 0.0)  # [m] by which the reference is moved, ...
    yaw: float = 0.0  # [rad] ... after it was turned about the vertical
    laid: Laid | None = None  # None: as it was given
    way: Motion | None = None  # back into the reference
    left: float = 0.0  # [s] time of the reference to which that leads ...
    joins: float = 0.0  # [s] ... and at which the way is left for the reference


def check_legs(character: Character) -> None:
    """Raises an error where a body cannot step."""
    walking_body(character)


def act_with_steps(stand: Stand, snapshot: Snapshot, memory: StandMemory) -> Action:
    """Returns the action of a `Stand` that may step."""
    taken: StepsTaken = memory.taken or StepsTaken()
    if taken.walk is not None:
        return _step(stand, snapshot, memory, taken)
    inner, memory = _standing(stand, snapshot.character, memory, taken)
    taken = memory.taken or taken
    action = inner.act(snapshot, memory)
    notes = {**action.notes, "stage": "stand" if taken.way is None else "return", "steps": float(taken.steps)}
    after: StandMemory = action.memory
    if after.danger >= 1.0 and not after.fallen and _can_step(stand, snapshot):
        walk = begin_steps(snapshot, memory.torque, stand.terrain)
        if taken.way is not None:
            memory = replace(memory, clock=max(memory.clock, taken.left))
        return _step(stand, snapshot, memory, replace(taken, walk=walk, way=None))
    return Action(action.torque, after, notes)


def _can_step(stand: Stand, snapshot: Snapshot) -> bool:
    """Returns whether it knows the ground on which it would step, and is not too low for it."""
    return stand.ground is None and (stand.terrain is not None or can_begin(snapshot))


def _step(stand: Stand, snapshot: Snapshot, memory: StandMemory, taken: StepsTaken) -> Action:
    """Steps; where the fall is caught, the way back begins at the next tick."""
    assert taken.walk is not None
    action = step_on(snapshot, taken.walk, stand.terrain)
    walk: WalkMemory = action.memory
    steps = taken.steps + walk.steps - taken.walk.steps
    taken = replace(taken, walk=walk, steps=steps)
    notes = {**action.notes, "alarm": 1.0, "clock": memory.clock, "stage": "step", "steps": float(steps)}
    notes.pop("phase")
    if walk.phase == "fallen":
        return Action(action.torque, replace(memory, fallen=True, time=snapshot.time, taken=taken), notes)
    if have_caught(snapshot, walk):
        after = _come_back(stand, snapshot, replace(memory, torque=action.torque), taken)
    else:
        after = replace(memory, time=snapshot.time, taken=taken)
    return Action(action.torque, after, notes)


# -- the reference, laid where the feet are ---------------------------------------------------------------------------


def _standing(stand: Stand, character: Character, memory: StandMemory, taken: StepsTaken) -> tuple[Stand, StandMemory]:
    """Returns the law that stands now, without steps, and its memory: on the way back, or in the laid reference."""
    laid = taken.laid
    if laid is None:
        return altered(stand, step=False), memory
    if laid.given is not stand.reference:  # another reference was given meanwhile
        laid = _lay(stand, character, taken)
        taken = replace(taken, laid=laid, way=None)
        memory = replace(memory, taken=taken, rehearsal=laid.rehearsal)
    elif taken.way is not None and memory.clock >= taken.joins:
        taken = replace(taken, way=None)
        memory = replace(memory, taken=taken, rehearsal=laid.rehearsal)
    return altered(stand, step=False, reference=laid.reference if taken.way is None else taken.way), memory


def _lay(stand: Stand, character: Character, taken: StepsTaken, time: float = 0.0) -> Laid:
    """Returns the reference turned and moved to where the steps have brought the body."""
    given = stand.reference
    if isinstance(given, Motion):
        rehearsal = stand.rehearsed(character).placed(taken.place, taken.yaw)
        return Laid(given, rehearsal.given, rehearsal)
    return Laid(given, _placed_pose(character, stand.kept_pose(character, time), taken.place, taken.yaw), None)


def _placed_pose(character: Character, q: Array, place: tuple[float, float], yaw: float) -> Array:
    return Motion(character, np.zeros(1), q[None]).placed(place, yaw).poses[0]


def _come_back(stand: Stand, snapshot: Snapshot, memory: StandMemory, taken: StepsTaken) -> StandMemory:
    """Returns the memory of a body that has caught its fall and goes back into the reference."""
    character = snapshot.character
    assert taken.walk is not None
    solver = taken.walk.solver
    fresh = StandMemory(solver=solver, time=snapshot.time, clock=memory.clock, torque=memory.torque, felt=memory.felt)
    taken = replace(taken, walk=None)
    if stand.terrain is not None or character.joints[0].kind != "free":
        return replace(fresh, taken=taken, rehearsal=memory.rehearsal)
    clock, q, v = memory.clock, None, np.zeros(character.nv)
    if isinstance(stand.reference, Motion):
        rehearsal = stand.rehearsed(character)
        clock = next_stance(rehearsal, memory.clock)
        sample = rehearsal.motion.sample(clock)
        q, v = sample.q, sample.v
    else:
        q = stand.kept_pose(character, snapshot.time)
    x, y, yaw = _where_feet_are(snapshot, q)
    taken = replace(taken, place=(x, y), yaw=yaw)
    taken = replace(taken, laid=_lay(stand, character, taken, snapshot.time))
    way = _way_back(snapshot, _placed_pose(character, q, (x, y), yaw), v, yaw, taken, clock)
    following = altered(stand, step=False, reference=way)
    try:
        rehearsal = following.rehearsed(character)
    except CounterpoiseError:  # a way that cannot be stood is left out
        assert taken.laid is not None
        return replace(fresh, clock=clock, taken=taken, rehearsal=taken.laid.rehearsal)
    goes_on = isinstance(stand.reference, Motion) and way.end > clock + AHEAD - STEP
    joins = clock + JOINS if goes_on else way.end
    return replace(fresh, clock=way.start, rehearsal=rehearsal, taken=replace(taken, way=way, left=clock, joins=joins))


def _where_feet_are(snapshot: Snapshot, q: Array) -> tuple[float, float, float]:
    """Returns by how much a pose is moved [m], after it was turned [rad], so that its feet are where the body's are.

    Feet that the pose has in the air do not count.
    """
    character = snapshot.character
    lifted, legs = _in_air(character, take_contact_places(character, q)), walking_body(character).legs
    yaw = facing(snapshot, lifted) - facing(character.snapshot(character.state(q)), lifted)
    turned = take_contact_places(character, _placed_pose(character, q, (0.0, 0.0), yaw))
    stands = np.concatenate([leg.points for leg, up in zip(legs, lifted, strict=True) if not up])
    x, y = (snapshot.contact_position - turned)[stands, :2].mean(axis=0).tolist()
    return x, y, yaw


def _in_air(character: Character, places: Array) -> list[bool]:
    """Returns whether the left and the right foot are in the air, from the places (p, 3) of all contact points."""
    least = places[:, 2].min() + FOOT_STAYS * standing_body(character).height
    return [bool(places[leg.points, 2].min() > least) for leg in walking_body(character).legs]


def next_stance(rehearsal: RehearsedReference, clock: float) -> float:
    """Returns the next time [s] from which a motion stands on all feet for a while.

    Where there is none, the last one before; where that is missing as well, the time at which its feet are nearest to
    standing: low and slow.
    """
    stands = np.array([not pattern.lifted for pattern in rehearsal.patterns])[rehearsal.pattern]
    n, need, now = len(stands), round(STANDS_ON / STEP), rehearsal.row_of(clock)
    motion = rehearsal.motion
    ahead = [*range(n if motion.loop else n - now), *(() if motion.loop else range(-1, -now - 1, -1))]
    for k in ahead:
        rows = np.arange(now + k, now + k + need)
        if stands[rows % n if motion.loop else np.minimum(rows, n - 1)].all():
            return clock + k * STEP
    times = motion.start + STEP * np.arange(round(motion.duration / STEP))
    places = np.stack([take_contact_places(rehearsal.character, q) for q in motion.sample(times).q])
    speed = np.linalg.norm(np.gradient(places, STEP, axis=0), axis=2).max(axis=1)
    away = speed / standing_body(rehearsal.character).omega + places[:, :, 2].max(axis=1)
    return float(times[int(away.argmin())])


def _way_back(snapshot: Snapshot, q: Array, v: Array, yaw: float, taken: StepsTaken, clock: float) -> Motion:
    """Returns a motion from the present pose to the pose q with the velocity v (turned by `yaw`), at time `clock`.

    Feet that are not where they belong step there, one after the other. A motion that is to go on follows.
    """
    character = snapshot.character
    height = standing_body(character).height
    here, there = snapshot.contact_position, take_contact_places(character, q)
    times, feet = _steps_back(character, here, there, height)
    u = times / times[-1]
    v = v.copy()
    c, s = np.cos(yaw), np.sin(yaw)
    v[0], v[1] = c * v[0] - s * v[1], s * v[0] + c * v[1]
    share = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
    late = np.clip((times - times[-1]) / RUN_IN + 1.0, 0.0, 1.0)
    slope = RUN_IN * late**3 * (-4.0 + 7.0 * late - 3.0 * late**2)  # its rate is 1 at the end; all else is 0 there
    change = character.difference(snapshot.q, q)
    poses = character.integrate(
        np.repeat(snapshot.q[None], len(u), axis=0), share[:, None] * change + slope[:, None] * v
    )
    poses[-1] = q
    poses = feet_put(character, poses, feet)
    times = times - times[-1] + clock
    assert taken.laid is not None
    if taken.laid.rehearsal is not None:
        motion = taken.laid.rehearsal.motion
        end = clock + AHEAD if motion.loop else min(clock + AHEAD, motion.end)
        more = clock + STEP * np.arange(1, round((end - clock) / STEP) + 1)
        if len(more):
            times, poses = np.concatenate([times, more]), np.concatenate([poses, motion.sample(more).q])
    return Motion(character, times, poses)


def _steps_back(character: Character, here: Array, there: Array, height: float) -> tuple[Array, Array]:
    """Returns times from 0 [s] and the places of all contact points then, (n, p, 3), from here to there (p, 3)."""
    feet = [leg.points for leg in walking_body(character).legs]
    far = [float(np.linalg.norm((there - here)[own, :2], axis=1).max()) for own in feet]
    tilted = [float(there[own, 2].max() - there[:, 2].min()) > FOOT_STAYS * height for own in feet]
    goes = [i for i in range(len(feet)) if far[i] > FOOT_STAYS * height or tilted[i]]
    order = sorted(goes, key=lambda i: (tilted[i], -far[i]))  # one that will be on its toes or in the air goes last
    lasts = max(SHORTEST_WAY, SETTLE_TIME + len(order) * (SWING_TIME + SHIFT_TIME))
    times: Array = STEP * np.arange(round(lasts / STEP) + 1, dtype=float)
    places = np.empty((len(times), *here.shape))
    for i, own in enumerate(feet):
        first, swing = 0.0, float(times[-1])
        if i in order:
            first, swing = SETTLE_TIME + order.index(i) * (SWING_TIME + SHIFT_TIME), SWING_TIME
        u = np.clip((times - first) / swing, 0.0, 1.0)
        share = u**3 * (10.0 - 15.0 * u + 6.0 * u**2)
        places[:, own] = here[own] + share[:, None, None] * (there - here)[own]
        if i in order:
            places[:, own, 2] += (FOOT_LIFT * height * 16.0 * (u * (1.0 - u)) ** 2)[:, None]
    return times, places
