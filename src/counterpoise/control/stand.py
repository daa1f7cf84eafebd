"""Stand: a character that follows a reference, takes pushes and keeps its feet (after Macchietto 2009, de Lasa 2011).

Two levels. First, planted feet do not move. Then, weighed against each other: the CoM returns over the support, within
what the ground and the joints can give; angular momentum and joints follow the reference's.

While the capture point xi = c + c'/omega is inside the support, the ankles are enough. Near the edge the centre of
pressure can move no further, and H', made by hips and arms, brings the CoM back; the weights allow this. `alarm` is how
far xi has come towards the edge. It makes the joints slack at once and fades slowly, so that the momentum is given back
gently and the character returns to its pose without a second wobble. `danger` is the same with a smaller part of the
angular momentum; it raises the CoM's weight above all others. That weight is not always so large: a CoM asked for more
than the ground can give would turn the feet to gain a little. For the same reason momentum about the vertical is kept
small.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.state import State
from counterpoise.control.basic import Action
from counterpoise.control.crouch import crouched
from counterpoise.control.feet import Grounds, foot_heights, ground_motion, grounds_of_feet, names_of_feet
from counterpoise.control.felt_ground import FeltGround, planted_anew
from counterpoise.control.liveliness import enliven
from counterpoise.control.reference import ContactPattern, ReferenceSample, check_reference, next_speed, pose_sample
from counterpoise.control.rehearsal import RehearsedReference, rehearse
from counterpoise.control.stand_look import StandAim, StandSight, look, take_aim
from counterpoise.control.stand_objectives import stand_levels
from counterpoise.control.stand_tuning import StandTuning
from counterpoise.control.standing_body import limp_torque, standing_body
from counterpoise.control.uneven_ground import feet_off_ground, foot_steps, pose_on_heights, terrain_ground
from counterpoise.control.whole_body import WholeBodyMemory, solve_whole_body
from counterpoise.control.whole_body_problem import WholeBodyTuning
from counterpoise.defaults import PLANNED_FRICTION
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Footing, Objective
from counterpoise.objectives.base import smooth_step
from counterpoise.objectives.footing import Ground
from counterpoise.quick import altered, quick
from counterpoise.terrain import Terrain

if TYPE_CHECKING:
    from counterpoise.control.getting_up import GetUp

NEARLY_DEPENDENT = 1e-4  # contact rows nearer to dependence than this are dropped: feet without hip yaw need it
CROUCH_STEP = 0.005  # [standing CoM heights] between the crouches that are used
HEIGHT_STEP = 1e-3  # [s] of the difference that gives the rate of a requested height


@dataclass(frozen=True, eq=False)
class StandMemory:
    """What one tick leaves for the next."""

    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    time: float = 0.0  # [s]
    clock: float = 0.0  # [s] time in the reference
    speed: float = 1.0  # of that clock
    alarm: float = 0.0  # 0 calm, 1 full
    danger: float = 0.0  # 0 calm, 1 full
    offset: Array | None = None  # (3,) [m] of the planted feet from the reference's, followed slowly
    rehearsal: RehearsedReference | None = None
    torque: Array | None = None  # (nv,) [N m]
    felt: FeltGround | None = None  # where nobody says what the feet stand on
    fallen: bool = False
    recovery: Any = None  # memory of getting up, after a fall
    taken: Any = None  # steps that have caught a fall, and where the reference is laid since (stand_steps.py)


@dataclass(frozen=True, eq=False)
class Stand:
    """Stands, follows a reference, takes pushes and returns to the reference.

    `reference` is a pose, a Motion (feet that it lifts are lifted) or None for the neutral pose. `compliance` goes from
    0, stiff, to 1, limp. `height` asks for another height of the CoM [m], a number or a function of time. `extra` are
    further objectives, with weights relative to 1 of every joint: a hand that is dragged, a head held upright.

    `ground` is what the feet stand on, for all feet or by foot. Without it the feet feel slopes and slippery ground by
    themselves, as long as the ground does not move. `terrain` says where it is at the start and under feet in the air,
    and what the limbs keep off; `simulate` and `Session` fill it in from their world. `friction` is that of the cones
    in which forces are planned, where nothing slides. `liveliness` adds breathing, slow sway and a wandering gaze, by
    `seed`. With `step` it steps where it cannot stay in place, and goes on with the reference where its feet are then.
    With `recover` it braces itself in a fall, gets up (`GetUp`) and stands again in the neutral pose.

    All of it may change between ticks (`dataclasses.replace`); the memory stays valid.
    """

    reference: ArrayLike | Motion | None = None
    compliance: float = 0.5  # 0 stiff, 1 limp
    height: float | Callable[[float], float] | None = None  # [m]
    extra: Sequence[Objective] = ()
    ground: Ground | Mapping[str, Ground] | None = None  # Surface, a function of time, or either by foot
    friction: float = PLANNED_FRICTION
    rate: float = 500.0  # [Hz]
    playback: bool = True  # the reference's clock slows down in trouble and catches up later
    liveliness: float = 0.0  # of breathing, sway and gaze: 0 none, 1 a person's
    seed: int = 0  # of liveliness
    tuning: StandTuning = field(default_factory=StandTuning)
    terrain: Terrain | None = None
    recover: bool = False  # get up after a fall; for humanoids on level ground
    step: bool = False  # step where it cannot stay in place; for bodies on two legs, where `ground` is not given

    def __post_init__(self) -> None:
        if not 0.0 <= self.compliance <= 1.0:
            raise BadValue(f"compliance goes from 0 (stiff) to 1 (limp); got {self.compliance!r}")
        if not (self.rate > 0.0 and self.friction >= 0.0):
            raise BadValue(f"rate must be positive and friction not negative; got {self.rate!r}, {self.friction!r}")
        if not 0.0 <= self.liveliness <= 3.0:
            raise BadValue(f"liveliness goes from 0 (a statue) over 1 (a person) to 3; got {self.liveliness!r}")
        if isinstance(self.height, (int, float)) and not 0.0 < self.height < np.inf:
            raise BadValue(f"height is that of the centre of mass [m], positive; got {self.height!r}")
        for one in self.extra:
            if not isinstance(one, Objective):
                raise BadValue(f"extra holds objectives such as Setpoint(...) or Drag(...); got {one!r}")

    # -- the controller's protocol -----------------------------------------------------------------------------------

    def begin(self, character: Character) -> StandMemory:
        check_reference(character, self.reference, "Stand")
        if self.recover:
            self._getting_up().begin(character)  # plans now, and raises where the body cannot get up
        if self.step:
            self._stepping().check_legs(character)
        if isinstance(self.reference, Motion):
            return StandMemory(clock=self.reference.start, rehearsal=self.rehearsed(character))
        return StandMemory()

    def carry(self, memory: StandMemory, character: Character) -> StandMemory:
        """Returns the memory after the body has changed: its time in the reference and its alarm are kept."""
        return replace(memory, solver=WholeBodyMemory(), rehearsal=self.begin(character).rehearsal, taken=None)

    def ready(self, character: Character) -> State:
        """Returns the state to start in: the reference's first pose and velocity, with the rehearsed CoM velocity.

        Of all velocities with planted feet at rest and that velocity of the CoM, it is the one nearest to the
        reference's own.
        """
        memory = self.begin(character)
        if memory.rehearsal is None:
            return character.state(None if isinstance(self.reference, Motion) else self.reference)
        first = memory.rehearsal.at(memory.clock)
        s = character.snapshot(character.state(first.q, first.v))
        planted = ~(first.contact.raised | first.contact.loose)
        J = np.vstack([s.contact_jacobian[planted].reshape(-1, character.nv), s.com_jacobian])
        wanted = np.concatenate([np.zeros(3 * int(planted.sum())), first.com_velocity])
        change = np.linalg.lstsq(J, wanted - J @ first.v, rcond=1e-6)[0]
        return character.state(first.q, first.v + change)

    def on_terrain(self, terrain: Terrain) -> Stand:
        """Returns the same controller with knowledge of a terrain, unless it already has some or a `ground`."""
        return self if self.terrain is not None or self.ground is not None else replace(self, terrain=terrain)

    def act(self, snapshot: Snapshot, memory: StandMemory) -> Action:
        if memory.recovery is not None:
            return self._get_up(snapshot, memory)
        if self.step and not memory.fallen:
            return self._stepping().act_with_steps(self, snapshot, memory)
        t = self.tuning
        memory = self._looked_down(snapshot, memory)
        clock, rehearsal = self._advance(snapshot, memory)
        reference = self._sample(snapshot, memory, clock, rehearsal)
        if self.liveliness > 0.0:
            reference = enliven(snapshot.character, reference, snapshot.time, self.liveliness, self.seed)
        seen, solver = self._look(snapshot, reference, memory)
        if memory.fallen or self._has_fallen(snapshot, seen):
            return self._get_up(snapshot, memory) if self.recover else self._limp(snapshot, memory)
        aim = self._aim(snapshot, reference, seen, memory)
        fade = self._fading(snapshot, memory)
        alarm = max(smooth_step((aim.urgency - t.alarm_from) / (t.alarm_full - t.alarm_from)), memory.alarm * fade)
        danger = max(smooth_step((aim.near - t.alarm_from) / (t.danger_full - t.alarm_from)), memory.danger * fade)
        levels = stand_levels(
            snapshot, reference, seen, aim, t, alarm, danger, 2.0 * (1.0 - self.compliance), self.friction,
            self.height is not None, self.height is not None or isinstance(self.reference, Motion), self.extra,
            None if self.terrain is None else self.terrain.obstacles,
        )  # fmt: skip
        solution = solve_whole_body(snapshot, levels, self._footing(reference, seen.felt), self._strength(), solver)
        speed = self._next_speed(snapshot.time, clock, alarm, seen.error, reference, memory)
        torque = self._smoothed(solution.torque, alarm, snapshot, memory)
        after = altered(
            memory, solver=solution.memory, time=snapshot.time, clock=clock, speed=speed, alarm=alarm, danger=danger,
            offset=aim.offset, rehearsal=rehearsal, torque=torque, felt=seen.felt,
        )  # fmt: skip
        notes = solution.notes() | {"alarm": alarm, "urgency": aim.urgency, "clock": clock, "tracking": seen.error}
        return quick(Action, torque=torque, memory=after, notes=notes)

    # -- the reference -----------------------------------------------------------------------------------------------

    def _advance(self, snapshot: Snapshot, memory: StandMemory) -> tuple[float, RehearsedReference | None]:
        """Returns the time in the reference [s] and the rehearsed motion; 0 and None for a pose."""
        if not isinstance(self.reference, Motion):
            return 0.0, None
        clock = memory.clock + max(snapshot.time - memory.time, 0.0) * memory.speed
        known = memory.rehearsal
        if known is not None and known.given is self.reference:
            return clock, known
        return clock, self.rehearsed(snapshot.character)

    def rehearsed(self, character: Character) -> RehearsedReference:
        """Returns the reference, a motion, as it is followed."""
        assert isinstance(self.reference, Motion)
        t, grounds = self.tuning, grounds_of_feet(character, self.ground)
        return rehearse(character, self.reference, t.lift_height, t.lookahead, t.margin, t.smooth_time, grounds)

    def _sample(
        self, snapshot: Snapshot, memory: StandMemory, clock: float, rehearsal: RehearsedReference | None
    ) -> ReferenceSample:
        if rehearsal is not None:
            return rehearsal.at(clock, memory.speed)
        pose = self._pose(snapshot.character, snapshot.time)
        if pose is None:
            return self._standing_sample(snapshot, memory)
        character = snapshot.character
        grounds = grounds_of_feet(character, self.ground)
        return _pose_sample(character, np.asarray(pose, float).tobytes(), self.tuning.pose_lift_height, grounds)

    def _standing_sample(self, snapshot: Snapshot, memory: StandMemory) -> ReferenceSample:
        """Returns the neutral pose as a reference; where terrain has feet at different heights, its nearest there."""
        character = snapshot.character
        if self.terrain is not None and memory.felt is not None and character.joints[0].kind == "free":
            steps = foot_steps(character, memory.felt, snapshot.contact_position)
            if steps is not None:
                return _uneven_sample(character, steps)
        return _neutral_sample(character)

    def _pose(self, character: Character, time: float) -> ArrayLike | None:
        """Returns the pose to keep; where only a height is asked for, the crouch of that height. None: the neutral."""
        if self.height is None or self.reference is not None or character.joints[0].kind != "free":
            return None if isinstance(self.reference, Motion) else self.reference
        standing = standing_body(character).height
        asked = self._asked_height(time, self.tuning.lowest * standing, standing)
        steps = round((standing - asked) / (CROUCH_STEP * standing))
        return None if steps <= 0 else crouched(character, standing * (1.0 - CROUCH_STEP * steps))

    def kept_pose(self, character: Character, time: float) -> Array:
        """Returns the pose to keep at a time, where the reference is no motion."""
        pose = self._pose(character, time)
        return character.neutral if pose is None else np.asarray(pose, float)

    def _next_speed(
        self, time: float, clock: float, alarm: float, error: float, reference: ReferenceSample, memory: StandMemory
    ) -> float:
        """Returns the speed of the reference's clock: slower in trouble, a little faster while behind."""
        if not (isinstance(self.reference, Motion) and self.playback):
            return 1.0
        t, dt = self.tuning, max(time - memory.time, 0.0)
        behind = time - (clock - self.reference.start)
        steady = not reference.contact.raises  # while a foot is in the air, a slower clock would tip the body over
        trouble = max(t.slow_down * alarm * steady, smooth_step(error / t.error_slow))
        return next_speed(memory.speed, trouble, behind, t.catch_up, t.pace_time, dt)

    # -- the goals ---------------------------------------------------------------------------------------------------

    def _look(
        self, snapshot: Snapshot, reference: ReferenceSample, memory: StandMemory
    ) -> tuple[StandSight, WholeBodyMemory]:
        """Returns what there is to see, and the solver's memory, in which feet on new ground are planted anew.

        Where no ground was given the feet feel it.
        """
        footing, solver, feels = memory.solver.footing, memory.solver, self.ground is None
        seconds, cosine = max(snapshot.time - memory.time, 0.0), math.cos(0.5 * self.tuning.arm_near)
        held = None if footing is None else footing.held
        seen = look(snapshot, reference, held, memory.felt, feels, seconds, cosine)
        if seen.new is not None and footing is not None and seen.new.any():
            footing = planted_anew(snapshot.character, footing, seen.new)
            solver = altered(solver, footing=footing)
            felt, seen = seen.felt, look(snapshot, reference, footing.held, None, False, seconds, cosine)
            seen = altered(seen, felt=felt)
        return seen, solver

    def _aim(self, snapshot: Snapshot, reference: ReferenceSample, seen: StandSight, memory: StandMemory) -> StandAim:
        """Returns where the CoM should be, over the support with its ground as it moves."""
        t, support, seconds = self.tuning, seen.support, max(snapshot.time - memory.time, 0.0)
        if self.ground is not None:
            grounds = grounds_of_feet(snapshot.character, self.ground)
            if any(map(callable, grounds)):
                velocity, acceleration = ground_motion(grounds, snapshot.time, support.centre)
                support = altered(support, velocity=velocity, acceleration=acceleration)
        share = 1.0 - math.exp(-seconds / max(t.follow_time, 1e-6))
        return take_aim(
            snapshot, reference, seen, support, memory.offset, seconds, share, isinstance(self.reference, Motion),
            self._asked(snapshot), t.margin, t.danger_spin,
        )  # fmt: skip

    def _asked(self, snapshot: Snapshot) -> tuple[float, float] | None:
        """Returns the height that is asked for [m] and its rate [m/s]; None where none is."""
        if self.height is None:
            return None
        standing, step, now = standing_body(snapshot.character).height, HEIGHT_STEP, snapshot.time
        bounds = self.tuning.lowest * standing, self.tuning.highest * standing
        change = self._asked_height(now + step, *bounds) - self._asked_height(now - step, *bounds)
        return self._asked_height(now, *bounds), change / (2.0 * step)

    def _asked_height(self, time: float, least: float, most: float) -> float:
        assert self.height is not None
        return min(max(float(self.height(time)) if callable(self.height) else self.height, least), most)

    def _fading(self, snapshot: Snapshot, memory: StandMemory) -> float:
        """Returns the share of alarm and danger that is left since the last tick."""
        dt = max(snapshot.time - memory.time, 0.0)
        return math.exp(-dt / max(self.tuning.calm_time, 1e-6))

    # -- the program -------------------------------------------------------------------------------------------------

    def _looked_down(self, snapshot: Snapshot, memory: StandMemory) -> StandMemory:
        """Returns the memory with the terrain's ground under feet in the air, and at the first tick under all feet."""
        if self.terrain is None or self.ground is not None:
            return memory
        footing = memory.solver.footing
        if memory.felt is not None and footing is None:
            return memory
        free = np.zeros(0, bool) if footing is None else feet_off_ground(snapshot.character, footing.held)
        if memory.felt is not None and not free.any():
            return memory
        return replace(memory, felt=terrain_ground(snapshot, self.terrain, memory.felt, free))

    def _footing(self, reference: ReferenceSample, felt: FeltGround | None) -> Footing:
        used = reference.contact
        if felt is not None and not (felt.level and felt.friction >= self.friction):
            friction = min(self.friction, felt.friction)
            return Footing(surface=felt.surfaces, raised=used.raised, loose=used.loose, friction=friction)
        if self.ground is not None:
            return Footing(surface=self.ground, raised=used.raised, loose=used.loose, friction=self.friction)
        return _level_footing(reference.contact, self.friction)

    def _smoothed(self, torque: Array, alarm: float, snapshot: Snapshot, memory: StandMemory) -> Array:
        """Returns the torques, which follow those of the program to 1/e in `torque_time`; at full alarm, at once."""
        dt, time = snapshot.time - memory.time, self.tuning.torque_time * (1.0 - alarm)
        if memory.torque is None or dt <= 0.0 or time < 1e-6:
            return torque
        smoothed = np.empty(len(torque))
        _blend(memory.torque, torque, 1.0 - math.exp(-dt / time), smoothed)
        return smoothed

    def _strength(self) -> WholeBodyTuning:
        """Returns the solver's tuning: a limp character has no strength, one with compliance 0.5 has all of it."""
        share = 1.0 if self.compliance <= 0.5 else max(1.0 - self.compliance**6, 1e-3)
        return _FULL_STRENGTH if share == 1.0 else WholeBodyTuning(torque_share=share, rank=NEARLY_DEPENDENT)

    # -- falls -------------------------------------------------------------------------------------------------------

    def _has_fallen(self, snapshot: Snapshot, seen: StandSight) -> bool:
        wanted = seen.wanted_height
        if self.height is not None:  # the character may be on its way up
            wanted = min(wanted, self.tuning.lowest * standing_body(snapshot.character).height)
        if self.recover and self._is_lost(snapshot):
            return True
        return seen.height < self.tuning.fallen * wanted

    def _is_lost(self, snapshot: Snapshot) -> bool:
        """Returns whether the CoM is so far beside the feet that only a brace helps."""
        beside = snapshot.com[:2] - snapshot.contact_position[:, :2].mean(axis=0)
        return math.hypot(*beside) > self.tuning.lost * standing_body(snapshot.character).height

    def _limp(self, snapshot: Snapshot, memory: StandMemory) -> Action:
        torque = limp_torque(snapshot, self.tuning.limp_damping)
        after = replace(memory, fallen=True, time=snapshot.time)
        return Action(torque, after, {"status": "fallen", "alarm": 1.0, "clock": memory.clock})

    def _get_up(self, snapshot: Snapshot, memory: StandMemory) -> Action:
        """Braces, gets up and stands again, all by `GetUp`."""
        up = self._getting_up()
        known = up.begin(snapshot.character) if memory.recovery is None else memory.recovery
        done = up.act(snapshot, known)
        after = replace(memory, fallen=True, time=snapshot.time, recovery=done.memory)
        return Action(done.torque, after, {"status": "fallen", **done.notes})

    def _stepping(self) -> ModuleType:
        from counterpoise.control import stand_steps  # it stands on this module

        return stand_steps

    def _getting_up(self) -> GetUp:
        from counterpoise.control.getting_up import GetUp  # it stands on this module

        return GetUp(self.rate)


@kept_with_character
def _neutral_sample(character: Character) -> ReferenceSample:
    """Returns the neutral pose as a reference: it stands on all its feet, whatever the slope of the ground."""
    return pose_sample(character, character.neutral, ())


@kept_with_character
def _uneven_sample(character: Character, steps: tuple[int, ...]) -> ReferenceSample:
    """Returns the neutral pose on feet of different heights as a reference; on level ground where it cannot."""
    q = pose_on_heights(character, steps)
    return _neutral_sample(character) if q is None else pose_sample(character, q, ())


@kept_with_character
def _pose_sample(character: Character, pose: bytes, lift_height: float, grounds: Grounds) -> ReferenceSample:
    """Returns a pose as a reference; a foot `lift_height` [m] above its ground is lifted, unless every foot is."""
    q = np.frombuffer(pose).copy()
    points = character.snapshot(character.state(q)).contact_position
    up = foot_heights(character, points[None], grounds)[0] > lift_height
    return pose_sample(character, q, () if up.all() else names_of_feet(character, up))


@lru_cache(maxsize=64)
def _level_footing(contact: ContactPattern, friction: float) -> Footing:
    return Footing(raised=contact.raised, loose=contact.loose, friction=friction)


@kernel
def _blend(before: Array, now: Array, share: float, out: Array) -> None:
    """Fills `out` with what lies between two arrays, at a share of the way."""
    for j in range(len(now)):
        out[j] = before[j] + (now[j] - before[j]) * share


_FULL_STRENGTH = WholeBodyTuning(rank=NEARLY_DEPENDENT, force_weight=300.0)
