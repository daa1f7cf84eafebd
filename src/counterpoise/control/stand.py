"""Stand: a figure that follows a motion, takes blows and keeps its feet (after Macchietto 2009 and de Lasa 2011).

Two levels. First the planted feet do not move. Then, weighed against each other, the CoM goes back over the support, as
hard as the ground and the joints can give; the angular momentum follows the reference's; the joints follow the
reference's. With the capture point xi = c + c'/omega inside the support the ankles answer; as it nears the edge the
centre of pressure has nowhere left to go, and what brings the CoM back is H', spent by hips and arms, which the weights
make cheap. `alarm`, how far xi has come towards the edge, slackens the posture at once and is forgotten slowly, so that
momentum spent is given back gently and the figure returns to its pose without a second wobble. `danger`, the same with
less of the momentum, makes the CoM count for more than all else: asked for more than the ground can give, a CoM that
always did would turn the feet to gain a little. Momentum about the vertical is kept small for the same reason.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, take_contact_places, take_snapshot
from counterpoise.character.state import State
from counterpoise.character.tables import tables_of
from counterpoise.control.basic import Action
from counterpoise.control.crouch import crouched
from counterpoise.control.footprint import capture_share, draw_inside, find_support, lowest, mean_error
from counterpoise.control.rehearsal import Rehearsal, clearance, rehearse
from counterpoise.control.whole_body import WholeBodyMemory, WholeBodyTuning, solve_whole_body
from counterpoise.errors import BadValue
from counterpoise.features import ComPosition
from counterpoise.motion.motion import Motion
from counterpoise.objectives import (
    Clearance,
    Contact,
    Footing,
    JointStops,
    Momentum,
    Objective,
    Rows,
    Setpoint,
    Surface,
    TrackPose,
)
from counterpoise.objectives.clearance import corners_off_feet

_Standing = tuple[Contact, Setpoint, Setpoint, Momentum, Momentum, TrackPose, JointStops, Clearance]
_LOW = 0.35  # of the CoM height: a part lower than this may be about to touch the ground
NEAR, FAR = 1.0, 1.6  # [rad] an arm this far from home goes there straight, or by the middle of its range
_NEAR_COSINE = math.cos(0.5 * NEAR)
NEARLY_DEPENDENT = 1e-4  # contact rows nearer to dependence are let go: feet without hip yaw cannot all obey
CROUCH_STEP = 0.005  # of the standing height: crouches this far apart are kept
STEADY_STATES = 16  # posture gains are rounded to this many steps between slack and stiff, so that tables are shared


@dataclass(frozen=True)
class StandTuning:
    """Gains, weights and timings; all scale with the body. omega^2 = g / (height of the CoM in the neutral pose)."""

    com_stiffness: float = 4.0  # k_p of the CoM over the ground, in omega^2, when all is calm
    com_urgent: float = 4.0  # and when the alarm is full
    height_stiffness: float = 10.0  # k_p of the CoM's height, in omega^2
    com_limit: float = 0.8  # largest acceleration asked of the CoM over the ground, of what friction can give
    com_weight: float = 1e3  # against 1 for every joint, when all is calm
    com_weight_urgent: float = 3e4  # and when the danger is full
    height_weight: float = 1e3
    asked_height_weight: float = 1e4  # when a height is asked for
    lowest: float = 0.6  # of its standing height: a figure asked to go lower goes to this
    momentum_weight: float = 0.5  # of the angular momentum, its rate divided by m (h/4)^2
    momentum_gain: float = 20.0  # [1/s]
    turn_weight: float = 100.0  # of the part about the vertical, which turns the feet and holds nobody up
    stiffness: float = 200.0  # k_p of the joints when all is calm [1/s^2]
    slack: float = 0.5  # of it when the alarm is full
    free_limbs: float = 0.2  # of it for arms: limbs that end in a hand and carry little
    contact_stiffness: float = 1600.0  # of planted feet [1/s^2]
    stop_weight: float = 30.0  # of joint limits
    clear_weight: float = 300.0  # of keeping all but the feet off the ground, in CoM heights
    clear_margin: float = 0.02  # of the CoM height: how far off
    swing_stiffness: float = 400.0  # of feet in the air [1/s^2]
    swing_weight: float = 20.0  # of each of their contact points
    top_speed: float = 18.0  # [rad/s] of any joint
    alarm_from: float = 0.6  # share of the way to the edge at which the alarm begins
    alarm_full: float = 1.2  # and at which it is full
    danger_full: float = 1.1  # and at which nothing counts but the CoM: `com_weight_urgent`
    danger_spin: float = 0.5  # of the angular momentum that counts for this
    calm_time: float = 0.4  # [s] in which the alarm fades by 1/e
    margin: float = 0.1  # of the way from the edge of the support to its middle: the CoM's goal stays inside
    follow_time: float = 0.3  # [s] in which the reference is moved to where the feet really are
    lookahead: float = 0.08  # [s] before the reference lifts a foot, its force is withdrawn
    smooth_time: float = 0.01  # [s] standard deviation of the window a reference is smoothed with; 0: not at all
    lift_height: float = 0.005  # [m] a foot of the reference this far off its ground is lifted
    slow_down: float = 0.5  # share of the reference's speed given up at full alarm
    catch_up: float = 0.25  # faster than the reference at most, while behind it
    error_slow: float = 0.6  # [rad] tracking error (root of mean square) at which the reference's clock stands still
    fallen: float = 0.6  # of the height its CoM should have: below this a figure has fallen and goes limp
    limp_damping: float = 0.02  # [s] of a fallen figure's joints, in torque limits per rad/s

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"StandTuning.{name} is a number >= 0; got {value!r}")
        if not self.alarm_from < min(self.alarm_full, self.danger_full):
            raise BadValue(
                f"alarm_from lies below alarm_full and danger_full; got {self.alarm_from}, {self.alarm_full} and "
                f"{self.danger_full}"
            )


@dataclass(frozen=True, eq=False)
class StandMemory:
    """What one tick leaves for the next."""

    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    time: float = 0.0  # [s]
    clock: float = 0.0  # [s] where in the reference we are
    speed: float = 1.0  # of that clock
    alarm: float = 0.0  # 0 calm, 1 full
    danger: float = 0.0  # the same, of falling: less of it for momentum that must be taken back
    moved: Array | None = None  # (3,) [m] the feet's places less the reference's, followed slowly
    rehearsal: Rehearsal | None = None
    fallen: bool = False


@dataclass(frozen=True, eq=False)
class Aim:
    """Where the reference wants the body now."""

    com: Array  # (3,) [m], moved with the feet and kept over the support
    velocity: Array  # (3,)
    acceleration: Array  # (3,)
    momentum: Array  # (3,) angular
    momentum_rate: Array  # (3,)
    moved: _Moved


@dataclass(frozen=True, eq=False)
class Stand:
    """Stand, follow a reference, take pushes, and come back.

    `reference` is a pose, a Motion (feet it lifts are lifted) or None for the neutral pose. `compliance` goes from 0,
    stiff, to 1, limp. `height` asks for another CoM height [m], a number or a function of time. `extra` are further
    objectives, weighed against the joints' 1: a hand dragged along, a head held upright. `ground` is what the feet
    stand on where that is not level and still, for all feet or by foot. `friction` is that of the cones forces are
    planned in. Any of it may be changed between ticks (`dataclasses.replace`): the memory goes on.
    """

    reference: ArrayLike | Motion | None = None
    compliance: float = 0.5  # 0 stiff, 1 limp
    height: float | Callable[[float], float] | None = None  # [m]
    extra: Sequence[Objective] = ()
    ground: Any = None  # Surface, a function of time, or either by foot
    friction: float = 0.8
    rate: float = 500.0  # [Hz]
    playback: bool = True  # the reference's clock slows in trouble and catches up after
    tuning: StandTuning = StandTuning()

    def __post_init__(self) -> None:
        if not 0.0 <= self.compliance <= 1.0:
            raise BadValue(f"compliance goes from 0 (stiff) to 1 (limp); got {self.compliance!r}")
        if not (self.rate > 0.0 and self.friction >= 0.0):
            raise BadValue(f"rate is positive and friction not negative; got {self.rate!r}, {self.friction!r}")
        if isinstance(self.height, (int, float)) and not 0.0 < self.height < np.inf:
            raise BadValue(f"height is that of the centre of mass [m], positive; got {self.height!r}")
        for one in self.extra:
            if not isinstance(one, Objective):
                raise BadValue(f"extra holds objectives such as Setpoint(...) or Drag(...); got {one!r}")

    # ---------------------------------------------------------------------------------------------- the house's verbs

    def begin(self, character: Character) -> StandMemory:
        character.need_feet("Stand")
        if not character.floating:
            raise BadValue(f"Stand is for figures that can fall; the root of {character.name!r} is fixed to the world")
        if isinstance(self.reference, Motion):
            if self.reference.character.joint_names != character.joint_names:
                raise BadValue(
                    f"this reference is for {self.reference.character.name!r}, whose joints differ from "
                    f"{character.name!r}'s: retarget(motion, character) makes one that fits"
                )
            return StandMemory(clock=self.reference.start, rehearsal=self._rehearse(character))
        if self.reference is not None:
            character.check_pose(self.reference, "reference")
        return StandMemory()

    def carry(self, memory: StandMemory, character: Character) -> StandMemory:
        """What to remember when the body itself has changed: where in the reference it was, and how alarmed."""
        return replace(memory, solver=WholeBodyMemory(), rehearsal=self.begin(character).rehearsal)

    def ready(self, character: Character) -> State:
        """The state to start in: the reference's first pose, moving as it does, but with a CoM that can be stood.

        Of all velocities with still planted feet and the rehearsed velocity of the CoM, the one nearest to the
        reference's own.
        """
        memory = self.begin(character)
        if memory.rehearsal is None:
            return character.state(None if isinstance(self.reference, Motion) else self.reference)
        _, velocity, _, _, _, lifted = memory.rehearsal.at(memory.clock)
        first = memory.rehearsal.motion.sample(memory.clock)
        s = character.snapshot(character.state(first.q, first.v))
        planted = ~_points_of(character, lifted)
        J = np.vstack([s.contact_jacobian[planted].reshape(-1, character.nv), s.com_jacobian])
        wanted = np.concatenate([np.zeros(3 * int(planted.sum())), velocity])
        change = np.linalg.lstsq(J, wanted - J @ first.v, rcond=1e-6)[0]
        return character.state(first.q, first.v + change)

    def act(self, snapshot: Snapshot, memory: StandMemory) -> Action:
        body, t = _body_of(snapshot.character), self.tuning
        clock, speed = self._advance(snapshot.time, memory)
        wish = self._wish(snapshot, memory, clock, speed)
        if memory.fallen or self._has_fallen(snapshot, wish):
            return self._limp(snapshot, memory)
        support, moved = _support(snapshot, memory, wish, self.ground, t.follow_time)
        aim = self._aim(snapshot, wish, support, moved)
        urgency = _urgency(snapshot, aim, support, body.omega)
        near, fade = _urgency(snapshot, aim, support, body.omega, t.danger_spin), self._fading(snapshot, memory)
        alarm = max(_eased((urgency - t.alarm_from) / (t.alarm_full - t.alarm_from)), memory.alarm * fade)
        danger = max(_eased((near - t.alarm_from) / (t.danger_full - t.alarm_from)), memory.danger * fade)
        levels = self._wants(snapshot, body, wish, aim, alarm, danger)
        solution = solve_whole_body(snapshot, levels, self._footing(wish), self._strength(), memory.solver)
        error = _tracking_error(snapshot, wish.q)
        pace = self._pace(clock, speed, alarm, error, snapshot.time, memory)
        after = StandMemory(solution.memory, snapshot.time, clock, pace, alarm, danger, moved.place, wish.rehearsal)
        notes = {**solution.notes(), "alarm": alarm, "urgency": urgency, "clock": clock, "tracking": error}
        return Action(solution.torque, after, notes)

    # --------------------------------------------------------------------------------------------------- the reference

    def _advance(self, time: float, memory: StandMemory) -> tuple[float, float]:
        if not isinstance(self.reference, Motion):
            return 0.0, 0.0
        dt = max(time - memory.time, 0.0)
        return memory.clock + dt * memory.speed, memory.speed

    def _wish(self, snapshot: Snapshot, memory: StandMemory, clock: float, speed: float) -> _Wish:
        """The reference's state now, and which feet it lifts now or soon."""
        who = snapshot.character
        if not isinstance(self.reference, Motion):
            return _still_wish(who, self._still_pose(who, snapshot.time), self.ground)
        seen = memory.rehearsal
        if seen is None or seen.given is not self.reference:
            seen = self._rehearse(who)
        s = seen.motion.sample(clock)
        v, a = s.v * speed, s.a * speed**2
        com, velocity, acceleration, spin, spin_rate, lifted = seen.at(clock)
        goal = (com, velocity * speed, acceleration * speed**2, spin * speed, spin_rate * speed**2)
        state = take_snapshot(who, State(s.q, v, snapshot.time)) if lifted else None
        points = take_contact_places(who, s.q) if state is None else state.contact_position
        return _Wish(s.q, v, a, points, lifted, goal, state, seen)

    def _still_pose(self, who: Character, time: float) -> ArrayLike | None:
        """The pose to keep: as given; where only a height is asked for, the crouch of that height."""
        if self.height is None or self.reference is not None or who.joints[0].kind != "free":
            return None if isinstance(self.reference, Motion) else self.reference
        standing = _body_of(who).height
        asked = _height_at(self.height, time, self.tuning.lowest * standing, standing)
        steps = round((standing - asked) / (CROUCH_STEP * standing))
        return None if steps <= 0 else crouched(who, standing * (1.0 - CROUCH_STEP * steps))

    def _rehearse(self, character: Character) -> Rehearsal:
        assert isinstance(self.reference, Motion)
        t = self.tuning
        how = (t.lift_height, t.lookahead, t.margin, t.smooth_time)
        if isinstance(self.ground, Hashable):
            return _rehearsed(self.reference, character, *how, self.ground)
        return _rehearsed.__wrapped__(self.reference, character, *how, self.ground)

    def _aim(self, snapshot: Snapshot, wish: _Wish, support: Array, moved: _Moved) -> Aim:
        """The reference's CoM and momentum, carried along with the feet and kept over the support."""
        com, velocity, acceleration, spin, spin_rate = wish.goal
        com = com + moved.place
        draw_inside(support, com, self.tuning.margin)
        if self.height is not None:
            body = _body_of(snapshot.character)
            least, most = self.tuning.lowest * body.height, 1.3 * body.height
            before, now, after = (_height_at(self.height, snapshot.time + k, least, most) for k in (-1e-3, 0.0, 1e-3))
            com[2] = now + moved.place[2]
            velocity, acceleration = velocity.copy(), acceleration.copy()
            velocity[2], acceleration[2] = (after - before) / 2e-3, 0.0
        return Aim(com, velocity + moved.velocity, acceleration + moved.acceleration, spin, spin_rate, moved)

    # ------------------------------------------------------------------------------------------------------ the wishes

    def _wants(
        self, snapshot: Snapshot, body: _Body, wish: _Wish, aim: Aim, alarm: float, danger: float
    ) -> tuple[tuple[Objective, ...], ...]:
        """The levels: planted feet; then CoM, momentum, pose, stops, feet in the air, and what else was asked for."""
        t = self.tuning
        calm = round((t.slack + (1.0 - t.slack) * (1.0 - alarm)) * STEADY_STATES) / STEADY_STATES
        contact, balance, height, momentum, turning, track, stops, clear = self._standing(body, calm)
        com_stiffness = t.com_stiffness + (t.com_urgent - t.com_stiffness) * alarm
        com_weight = t.com_weight * (t.com_weight_urgent / t.com_weight) ** danger if t.com_weight > 0.0 else 0.0
        goal = {"value": aim.com, "velocity": aim.velocity, "acceleration": aim.acceleration}
        detour = _detour(snapshot, wish.q, body)
        if detour is not None:
            track = track.aimed(reference=detour)
        else:
            track = track.aimed(reference=wish.q, velocity=wish.v, acceleration=wish.a)
        wants: tuple[Objective, ...] = (
            balance.aimed(**goal, stiffness=com_stiffness * body.omega**2, weight=com_weight * balance.weight),
            height.aimed(**goal),
            momentum.aimed(value=aim.momentum, rate=aim.momentum_rate),
            turning.aimed(value=aim.momentum[2:], rate=aim.momentum_rate[2:]),
            track,
            stops,
            clear.aimed(reference=self._laid_down(snapshot, body, wish), moved=aim.moved.place),
        )
        if wish.lifted:
            hold = min(2.0 * (1.0 - self.compliance), 1.0)
            wants = (*wants, SwingFeet(wish, aim.moved, t.swing_stiffness, t.swing_weight * hold))
        return (contact,), (*wants, *self.extra)

    def _laid_down(self, snapshot: Snapshot, body: _Body, wish: _Wish) -> Snapshot | None:
        """The reference, where it matters how low it goes: once a part that is no foot has come near the ground."""
        if wish.state is not None or len(body.parts) == 0:
            return wish.state
        lowest_part = float(snapshot.body_position[body.parts, 2].min()) - lowest(snapshot.contact_position)
        if lowest_part > _LOW * body.height:
            return None
        return take_snapshot(snapshot.character, State(wish.q, np.zeros(snapshot.character.nv), snapshot.time))

    def _standing(self, body: _Body, calm: float) -> _Standing:
        """The objectives of a standing figure before they are aimed, made once for each state of calm."""
        t, firm = self.tuning, 2.0 * (1.0 - self.compliance)
        key = (calm, firm, self.friction, self.height is None, id(t))
        found = body.standing.get(key)
        if found is not None and found[0] is t:
            return found[1]
        hold, omega2 = min(firm, 1.0), body.omega**2
        firm_k = max(firm, 1e-3) * t.stiffness
        k = firm_k * calm
        stiffness = {"": k, **dict.fromkeys(body.steady, firm_k), **dict.fromkeys(body.arms, k * t.free_limbs)}
        height_weight = t.height_weight if self.height is None else t.asked_height_weight
        objectives = (
            Contact(stiffness=t.contact_stiffness),
            Setpoint(
                _COM, _ZERO, limit=max(t.com_limit * self.friction, 1e-3) * 9.81, axes="xy", weight=hold,
                name="balance",
            ),
            Setpoint(
                _COM, _ZERO, stiffness=t.height_stiffness * omega2, limit=9.81, axes="z", weight=height_weight * hold,
                name="height",
            ),
            Momentum("angular", gain=t.momentum_gain, weight=t.momentum_weight * hold),
            Momentum("angular", gain=t.momentum_gain, axes="z", weight=t.turn_weight * hold, name="turning"),
            TrackPose(None, stiffness, root_weight=1e-3),
            JointStops(top_speed=t.top_speed, weight=t.stop_weight),
            Clearance(margin=t.clear_margin * body.height, weight=t.clear_weight / body.height**2),
        )  # fmt: skip
        if len(body.standing) > 8 * STEADY_STATES:
            body.standing.clear()
        body.standing[key] = (t, objectives)
        return objectives

    def _footing(self, wish: _Wish) -> Footing:
        if self.ground is not None:
            return Footing(surface=self.ground, lifted=wish.lifted, friction=self.friction)
        return _level_footing(wish.lifted, self.friction)

    def _strength(self) -> WholeBodyTuning:
        """A limp figure has no strength; half-way there it still has nearly all of it."""
        share = 1.0 if self.compliance <= 0.5 else max(1.0 - self.compliance**6, 1e-3)
        return _FULL if share == 1.0 else WholeBodyTuning(torque_share=share, rank=NEARLY_DEPENDENT)

    # ------------------------------------------------------------------------------------------------------- the clock

    def _fading(self, snapshot: Snapshot, memory: StandMemory) -> float:
        dt = max(snapshot.time - memory.time, 0.0)
        return math.exp(-dt / max(self.tuning.calm_time, 1e-6))

    def _pace(self, clock: float, speed: float, alarm: float, error: float, time: float, memory: StandMemory) -> float:
        """How fast the reference goes on: slower in trouble, a little faster while behind."""
        if not (isinstance(self.reference, Motion) and self.playback):
            return 1.0
        t, dt = self.tuning, max(time - memory.time, 0.0)
        behind = time - (clock - self.reference.start)
        trouble = max(t.slow_down * alarm, _eased(error / t.error_slow))
        wanted = max(0.0, 1.0 - trouble) + (t.catch_up * min(max(behind, 0.0), 1.0) if trouble < 0.1 else 0.0)
        return speed + (wanted - speed) * (1.0 - math.exp(-dt / 0.1))

    def _has_fallen(self, snapshot: Snapshot, wish: _Wish) -> bool:
        wanted = float(wish.goal[0][2]) - lowest(wish.points)
        if self.height is not None:
            wanted = min(wanted, self.tuning.lowest * _body_of(snapshot.character).height)  # it may be on its way up
        return bool(snapshot.com[2] - lowest(snapshot.contact_position) < self.tuning.fallen * wanted)

    def _limp(self, snapshot: Snapshot, memory: StandMemory) -> Action:
        """A figure that has fallen gives way: only a little damping."""
        torque = -self.tuning.limp_damping * snapshot.character.torque_limit * snapshot.v
        after = replace(memory, fallen=True, time=snapshot.time)
        return Action(torque, after, {"status": "fallen", "alarm": 1.0, "clock": memory.clock})


@dataclass(frozen=True, eq=False)
class SwingFeet(Objective):
    """Feet in the air follow the reference's, point by point, so that they come down where it puts them."""

    wish: _Wish
    moved: _Moved
    stiffness: float  # [1/s^2]
    weight: float = 1.0
    name: str = "swing feet"

    def rows(self, snapshot: Snapshot, stance: Any = None) -> Rows:
        """J a = k (p_r - p) + 2 sqrt(k) (v_r - v) + a_r - drift for each point of each lifted foot."""
        at, ref, k = _points_of(snapshot.character, self.wish.lifted), self.wish.state, self.stiffness
        assert ref is not None
        wanted = k * (ref.contact_position[at] + self.moved.place - snapshot.contact_position[at])
        wanted += 2.0 * math.sqrt(k) * (ref.contact_velocity[at] + self.moved.velocity - snapshot.contact_velocity[at])
        wanted += self.moved.acceleration - snapshot.contact_drift[at]
        if self.wish.a is not None:
            wanted += ref.contact_jacobian[at] @ self.wish.a + ref.contact_drift[at]
        return Rows(snapshot.contact_jacobian[at].reshape(-1, snapshot.character.nv), wanted.reshape(-1))


# -------------------------------------------------------------------------------------------------------------- parts

_COM, _ZERO, _FULL = ComPosition(), np.zeros(3), WholeBodyTuning(rank=NEARLY_DEPENDENT)


@lru_cache(maxsize=8)
def _rehearsed(
    motion: Motion, character: Character, height: float, lookahead: float, margin: float, smooth: float, ground: Any
) -> Rehearsal:
    """The rehearsal of a reference; the same reference again needs none."""
    return rehearse(motion, character, height=height, lookahead=lookahead, margin=margin, smooth=smooth, ground=ground)


@lru_cache(maxsize=64)
def _level_footing(lifted: tuple[str, ...], friction: float) -> Footing:
    return Footing(lifted=lifted, friction=friction)


@dataclass(frozen=True, eq=False)
class _Body:
    """What of a body the law needs to know, found once."""

    omega: float  # [1/s] sqrt(g / z)
    height: float  # [m] of the CoM above the soles, standing
    arms: tuple[str, ...]  # joints of limbs that end in a hand and carry little
    steady: tuple[str, ...]  # joints that lead to neither hand nor foot: necks and tails
    balls: tuple[tuple[slice, Array], ...]  # of the arms' ball joints: where in q, and the middle of the range
    parts: Ints  # bodies that are no feet
    standing: dict[Any, tuple[StandTuning, _Standing]] = field(default_factory=dict)  # objectives made so far


@dataclass(frozen=True, eq=False)
class _Wish:
    """The reference now."""

    q: Array
    v: Array | None  # None: at rest
    a: Array | None  # None: at rest
    points: Array  # (p, 3) its contact points
    lifted: tuple[str, ...]
    goal: tuple[Array, Array, Array, Array, Array]  # CoM, velocity, acceleration, angular momentum, its rate
    state: Snapshot | None  # where a foot is lifted
    rehearsal: Rehearsal | None = None


@dataclass(frozen=True, eq=False)
class _Moved:
    """How far the planted feet are from where the reference has them, and how their ground moves."""

    place: Array  # (3,)
    velocity: Array  # (3,)
    acceleration: Array  # (3,)


def _body_of(character: Character) -> _Body:
    found = character.__dict__.get("_standing_body")
    if found is None:
        rest = character.snapshot()
        z = max(float(rest.com[2] - rest.contact_position[:, 2].mean()), 1e-2)
        arms, steady = _limbs(character)
        balls = tuple(
            (joint.qpos, character.limits.balls[joint.name].rest)
            for joint in character.joints
            if joint.name in arms and joint.name in character.limits.balls
        )
        parts = np.unique(corners_off_feet(character).body)
        found = _Body(math.sqrt(9.81 / z), z, arms, steady, balls, parts)
        character.__dict__["_standing_body"] = found
    assert isinstance(found, _Body)
    return found


def _limbs(character: Character) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Joints of arms, and joints that lead to neither hand nor foot."""
    moves, masses = tables_of(character).moves, character.model.body_mass
    hands = [character.body_id(h) for h in character.hands]
    feet = [character.body_id(f.body) for f in character.feet]
    arms, steady = [], []
    for joint in character.joints:
        moved = moves[:, joint.dofs.start]
        if joint.kind == "free" or moved[feet].any():
            continue
        if not moved[hands].any():
            steady.append(joint.name)
        elif masses[moved].sum() < 0.15 * character.mass:
            arms.append(joint.name)
    return tuple(arms), tuple(steady)


def _height_at(height: float | Callable[[float], float], time: float, least: float, most: float) -> float:
    return min(max(float(height(time)) if callable(height) else height, least), most)


def _still_wish(who: Character, pose: ArrayLike | None, ground: Any) -> _Wish:
    key = (None if pose is None else np.asarray(pose, float).tobytes(), id(ground))
    known: dict[Any, _Wish] = who.__dict__.setdefault("_still_wishes", {})
    found = known.get(key)
    if found is None:
        if len(known) > 256:
            known.clear()
        q = who.neutral if pose is None else np.asarray(pose, float)
        state = who.snapshot(who.state(q))
        up = clearance(state, ground) > 0.02  # the neutral pose stands on all its feet, whatever the ground's slope
        lifted = () if up.all() or pose is None else tuple(f.name for f, flag in zip(who.feet, up, strict=True) if flag)
        goal = (state.com, _ZERO, _ZERO, _ZERO, _ZERO)
        found = known[key] = _Wish(q, None, None, state.contact_position, lifted, goal, state)
    return found


def _support(snapshot: Snapshot, memory: StandMemory, wish: _Wish, ground: Any, settle: float) -> tuple[Array, _Moved]:
    """Half-planes of the support, and how it has moved from the reference's."""
    lifted, footing = _points_of(snapshot.character, wish.lifted), memory.solver.footing
    held, place = ~lifted if footing is None else footing.held, np.empty(3)
    support = find_support(snapshot.contact_position, wish.points, held, lifted, place)
    velocity = acceleration = _ZERO
    if ground is not None and not isinstance(ground, Surface):
        standing = held & ~lifted
        points = snapshot.contact_position[standing if standing.any() else ~lifted]
        velocity, acceleration = _ground_motion(ground, snapshot.time, points.mean(axis=0))
    if memory.moved is not None:
        dt = max(snapshot.time - memory.time, 0.0)
        carried = memory.moved + dt * velocity
        place = carried + (place - carried) * (1.0 - math.exp(-dt / max(settle, 1e-6)))
    return support, _Moved(place, velocity, acceleration)


def _ground_motion(ground: Any, time: float, place: Array) -> tuple[Array, Array]:
    """Velocity and acceleration of a moving ground at a place, of the several that feet may stand on their mean."""
    if isinstance(ground, Mapping):
        each = [_ground_motion(one, time, place) for one in ground.values()]
        return np.mean([v for v, _ in each], axis=0), np.mean([a for _, a in each], axis=0)
    if not callable(ground):
        return _ZERO, _ZERO
    s = ground(time)
    r, w = place - np.asarray(s.origin), np.asarray(s.angular_velocity)
    turning = np.cross(w, r)
    return s.velocity + turning, s.acceleration + np.cross(s.angular_acceleration, r) + np.cross(w, turning)


def _points_of(character: Character, feet: Sequence[str]) -> Flags:
    known: dict[Any, Flags] = character.__dict__.setdefault("_points_of_feet", {})
    key = tuple(feet)
    if key not in known:
        known[key] = np.array([f.name in key for f in character.feet for _ in f.points], bool)
    return known[key]


def _urgency(snapshot: Snapshot, aim: Aim, support: Array, omega: float, spin: float = 1.0) -> float:
    """How far the capture point, seen from where the CoM belongs, has come towards the edge of the support.

    Angular momentum that must be taken back counts with it, or a share `spin` of it: x + omega H_y / m g,
    y - omega H_x / m g.
    """
    return capture_share(
        support, snapshot.com, snapshot.momentum, aim.com, aim.velocity, aim.momentum, omega, snapshot.character.mass,
        spin,
    )  # fmt: skip


def _detour(snapshot: Snapshot, q: Array, body: _Body) -> Array | None:
    """The pose to go to where an arm is so far from home that its shortest way leads out of its swing cone; else None.

    A cone is star-shaped about its middle: the way there, and from there home, is free. The goal slides from the middle
    to the pose as the error falls from `FAR` to `NEAR` [rad].
    """
    out = None
    for place, middle in body.balls:
        here, home = snapshot.q[place], q[place]
        cosine = abs(float(here @ home))
        if cosine > _NEAR_COSINE:
            continue
        angle = 2.0 * math.acos(min(cosine, 1.0))
        out = q.copy() if out is None else out
        out[place] = spatial.slerp(home, middle, _eased((angle - NEAR) / (FAR - NEAR)))
    return out


def _tracking_error(snapshot: Snapshot, q: Array) -> float:
    """Root of the mean square of the joints' errors [rad]."""
    who = snapshot.character
    return mean_error(who.layout, who.root_dofs.stop, who.nv, snapshot.q, q)


def _eased(x: float) -> float:
    s = min(max(x, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)
