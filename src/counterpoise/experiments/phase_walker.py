"""PhaseWalk: de Lasa's own walk, a state machine over a table of objectives (2011, section 4.3, table 4.3).

    start -> swing -> double -> swing (other foot) -> ...

A foot is in one of four states: swing, plant (held by its heel), support (held by all points), heel-off (held by its
front). Levels are those of table 4.3: contact; CoM over the ground and neck; swinging foot, angular momentum, pose,
arms, head. The CoM follows eq. 4.3, the swinging foot eq. 4.2. What the table lacks is in `additions`, one by one.

The ground is the plane z = 0; it walks along x. The thesis does not say how a walk begins: ours shifts the weight over
the left foot first.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.standing_body import com_above_lowest_part, limp_torque
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, WalkingLeg, walking_body
from counterpoise.control.whole_body import WholeBodyMemory, solve_whole_body
from counterpoise.errors import BadValue, unknown_name
from counterpoise.features import BodyOrientation, ComPosition, PointPosition
from counterpoise.features.com import PositionFromCom
from counterpoise.objectives import (
    Contact,
    Footing,
    JointStops,
    Momentum,
    Objective,
    RelaxedJoints,
    Setpoint,
    Target,
    TrackPose,
    make_stance,
)
from counterpoise.solve.polygon import hull_edges, nearest_inside

Phase = Literal["start", "swing", "double", "fallen"]
ADDITIONS = {  # in the order in which the experiment adds them
    "soft pose": "a tenth of the pose's gains, legs follow the rest pose weakly: the swinging foot can leave it",
    "height": "the CoM's height is held",
    "pressure": "what is asked of the CoM keeps the centre of pressure inside the soles",
    "centred path": "the sine runs over the middle of the soles, not the heels, and between the feet, as wide as a "
    "pendulum swings there: w (1 - 1 / cosh(omega T / 2))",
    "capture steps": "a foot lands where the capture point will be then, not one step length ahead",
    "pendulum": "the CoM follows the capture point of a pendulum instead of the sine",
    "ramps": "the force of a foot rises after landing and falls before it leaves",
}
LIMP_DAMPING = 0.02  # [torque limits per rad/s] after a fall
_COM = ComPosition()


@dataclass(frozen=True)
class PhaseWalkTuning:
    """The parameters of the machine, for a person. The thesis gives ranges of the first seven, and the pose's gains."""

    swing_time: float = 0.45  # [s] T, 0.3-0.7
    step: float = 0.4  # [m] l_step, 0-0.7
    height: float = 0.06  # [m] h, 0-0.1
    spread: float = 0.02  # [m] l_foot, 0-0.03
    delay: float = 0.12  # [s] swing delay, 0-0.3: from landing to the other foot's leaving
    hip_shift: float = 0.07  # [m] l_hip, 0-0.3
    trunk: float = 0.0  # [m] l_trunk, -0.3 to 0.3: neck ahead of the CoM
    pose_stiffness: float = 2000.0  # "other" of table 4.2
    ankle_stiffness: float = 500.0
    shoulder_stiffness: float = 250.0
    elbow_stiffness: float = 50.0
    toe_delay: float = 0.05  # [s] of the toe behind the heel: "a small amount"
    knee_bend: float = 0.2  # [rad] of the rest pose: "slightly"
    # not in the thesis
    shift_time: float = 0.7  # [s] of the weight before the first step
    first_step: float = 0.25  # [m]
    longer: float = 0.1  # [m] by which each step may be longer than the one before
    com_stiffness: float = 40.0  # [1/s^2]
    trunk_stiffness: float = 80.0  # [1/s^2]
    head_stiffness: float = 100.0  # [1/s^2]
    contact_stiffness: float = 800.0  # [1/s^2]
    momentum_gain: float = 10.0  # [1/s]
    swing_limit: float = 60.0  # [m/s^2]
    landing_speed: float = 0.4  # [m/s] of a foot that is late, down
    touching: float = 0.004  # [m] a point lower than this has landed
    near: float = 0.015  # [m] a point lower than this may push
    soft_share: float = 0.1  # "soft pose": of the gains above
    soft_leg_weight: float = 0.01
    stand: float = 0.97  # "height": of the CoM's height in the neutral pose
    height_stiffness: float = 60.0  # [1/s^2]
    height_weight: float = 0.3
    rise: float = 0.04  # [s] "ramps"
    fall: float = 0.06  # [s]
    capture_gain: float = 2.0  # "pendulum": of the centre of pressure on the capture point's error
    pressure_ahead: float = 0.02  # [m] of the middle of the sole
    fallen: float = 0.55  # [standing CoM heights] a CoM less than this above the lowest part means a fall


@dataclass(frozen=True, eq=False)
class PhaseWalkMemory:
    """What one tick leaves for the next."""

    phase: Phase = "start"
    since: float = 0.0  # [s] when the phase began
    foot: int = 1  # that swings, or will swing next; the other one is the stance foot
    steps: int = 0
    step: float = 0.0  # [m] length of the present step
    path_since: float = 0.0  # [s] when the CoM's path began
    path_time: float = 1.0  # [s] T_com
    path_from: Array = field(default_factory=lambda: np.zeros(2))  # p_0
    path_to: Array = field(default_factory=lambda: np.zeros(2))  # p_1
    foothold: Array = field(default_factory=lambda: np.zeros(2))  # of the heel
    landed: tuple[float, float] = (-9.0, -9.0)  # [s]
    flat: tuple[bool, bool] = (True, True)  # a planted foot that has come down
    begun: bool = False
    cause: str = ""
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)


@dataclass(frozen=True, eq=False)
class PhaseWalk:
    """Walks along x by the table of the thesis, with some of `ADDITIONS`."""

    additions: frozenset[str] = frozenset()
    rate: float = 500.0  # [Hz]
    tuning: PhaseWalkTuning = field(default_factory=PhaseWalkTuning)

    def __post_init__(self) -> None:
        if isinstance(self.additions, str):
            raise BadValue(f"additions are a set of names; got {self.additions!r}")
        object.__setattr__(self, "additions", frozenset(self.additions))
        for name in sorted(self.additions):
            if name not in ADDITIONS:
                raise unknown_name("addition to the table of the walk", name, ADDITIONS)

    def begin(self, character: Character) -> PhaseWalkMemory:
        walking_body(character)
        return PhaseWalkMemory()

    def act(self, snapshot: Snapshot, memory: PhaseWalkMemory) -> Action:
        body = walking_body(snapshot.character)
        now = self._advance(snapshot, memory, body)
        if now.phase == "fallen":
            notes: dict[str, float | str] = {"status": "fallen", "phase": "fallen", "cause": now.cause}
            return Action(limp_torque(snapshot, LIMP_DAMPING), now, notes)
        held, share = self._contacts(snapshot, now, body)
        stance = make_stance(snapshot, held, share, footing=_FOOTING)
        own = _objectives(snapshot.character, self.tuning, "soft pose" in self.additions)
        pressure = self._pressure(snapshot, now, body, share)
        levels: tuple[tuple[Objective, ...], ...] = (
            (own.contact,),
            (*self._com(snapshot, body, pressure), own.trunk),
            (*self._swing(snapshot, now, body, pressure), *own.last),
        )
        solution = solve_whole_body(snapshot, levels, None, None, now.solver, stance)
        found = {**solution.notes(), "phase": now.phase, "steps": float(now.steps), "cause": ""}
        return Action(solution.torque, replace(now, solver=solution.memory), found)

    # -- the machine -------------------------------------------------------------------------------------------------

    def _advance(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody) -> PhaseWalkMemory:
        """Returns the memory with the phase of this tick (figure 4.6)."""
        t, now = self.tuning, s.time - m.since
        if m.phase == "fallen":
            return m
        if com_above_lowest_part(s) < t.fallen * body.com_height:
            return replace(m, phase="fallen", cause=f"its hips came down after {m.steps} steps")
        heights = s.contact_position[:, 2]
        if m.phase == "start":
            if not m.begun:
                m = replace(
                    m, begun=True, since=s.time, path_from=s.com[:2].copy(), path_to=self._over_foot(s, body, 0)
                )
            elif now > t.shift_time:
                m = self._new_path(s, replace(m, step=t.first_step), body, t.swing_time)
                m = self._leave(s, m, body)
        elif m.phase == "swing":
            if now > 0.5 * t.swing_time and heights[body.legs[m.foot].points].min() < t.touching:
                m = self._land(s, m, body)
        elif now > t.delay:
            m = self._leave(s, m, body)
        flat = tuple(
            f or bool(heights[[*leg.heel, *leg.ball]].max() < 2.0 * t.touching)
            for f, leg in zip(m.flat, body.legs, strict=True)
        )
        return replace(m, flat=(flat[0], flat[1]))

    def _leave(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody) -> PhaseWalkMemory:
        """The rear foot begins to swing; its foothold is that of eq. 4.2."""
        stance = _heel(s, body.legs[1 - m.foot])
        foothold = stance + np.array([m.step, 2.0 * SIGN[m.foot] * self.tuning.hip_shift])
        return replace(m, phase="swing", since=s.time, foothold=foothold)

    def _land(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody) -> PhaseWalkMemory:
        """The swinging foot is planted; the CoM's path is made anew, for as long as this swing took."""
        t, took = self.tuning, min(max(s.time - m.since, 0.15), 1.5 * self.tuning.swing_time)
        landed = (s.time, m.landed[1]) if m.foot == 0 else (m.landed[0], s.time)
        flat = (False, m.flat[1]) if m.foot == 0 else (m.flat[0], False)
        step = min(t.step, m.step + t.longer)
        m = replace(
            m, phase="double", since=s.time, foot=1 - m.foot, steps=m.steps + 1, step=step, landed=landed, flat=flat
        )
        return self._new_path(s, m, body, took + t.delay)

    def _new_path(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody, time: float) -> PhaseWalkMemory:
        """Returns the memory with the path of eq. 4.3 and 4.4 from here over the stance foot to half a step ahead."""
        stance = 1 - m.foot
        if "centred path" in self.additions:
            end = self._sole(s, body, stance) + np.array([0.5 * m.step, -SIGN[stance] * self.tuning.hip_shift])
        else:
            end = _heel(s, body.legs[stance]) + np.array([0.5 * m.step, -SIGN[stance] * self.tuning.spread])
        return replace(m, path_since=s.time, path_time=time, path_from=s.com[:2].copy(), path_to=end)

    def _over_foot(self, s: Snapshot, body: WalkingBody, foot: int) -> Array:
        """Returns where the CoM waits for the first step: near the inner edge of the stance foot."""
        middle: Array = s.contact_position[body.legs[foot].points, :2].mean(axis=0)
        return middle - np.array([0.0, 0.35 * SIGN[foot] * self.tuning.hip_shift])

    def _contacts(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody) -> tuple[Flags, Array]:
        """Returns which points are held, (p,), and which share of its force each may use, (p,)."""
        t, p = self.tuning, len(s.contact_position)
        held, share = np.zeros(p, bool), np.zeros(p)
        ramps = "ramps" in self.additions
        for i, leg in enumerate(body.legs):
            if m.phase == "swing" and i == m.foot:
                continue
            part = min(1.0, 0.15 + (s.time - m.landed[i]) / t.rise) if ramps else 1.0
            if m.phase == "double" and i == m.foot:
                front = leg.toes if len(leg.toes) else leg.ball
                held[front] = True
                pushing = np.union1d(front, leg.ball)
                if ramps:
                    part = min(part, max(0.02, (t.delay - (s.time - m.since)) / t.fall))
            else:
                held[leg.points if m.flat[i] else leg.heel] = True
                pushing = leg.points
            share[pushing] = np.where(s.contact_position[pushing, 2] < t.near, part, 0.0)
        return held, share

    # -- objectives --------------------------------------------------------------------------------------------------

    def _pressure(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody, share: Array) -> Array:
        """Returns the centre of pressure that moves the CoM as wanted, c - c'' / omega^2: E_com asks for this c''."""
        t = self.tuning
        if "pendulum" in self.additions and m.phase != "start":
            wanted = self._pendulum(s, m, body)
        else:
            place, rate, bend = self._path(s, m, body)
            k, v = t.com_stiffness, s.momentum[3:5] / s.character.mass
            wanted = s.com[:2] - (k * (place - s.com[:2]) + 2.0 * math.sqrt(k) * (rate - v) + bend) / _omega2(s)
        if "pressure" in self.additions and (share > 0.0).any():
            return _nearest_inside(s.contact_position[share > 0.0, :2], wanted)
        return np.asarray(wanted)

    def _com(self, s: Snapshot, body: WalkingBody, pressure: Array) -> tuple[Objective, ...]:
        """Returns E_com over the ground, and with "height" its height."""
        t = self.tuning
        still = {"stiffness": 0.0, "damping": 0.0}
        acceleration = _omega2(s) * (s.com[:2] - pressure)
        over = Setpoint(_COM, [0.0, 0.0], acceleration=acceleration, **still, axes="xy", name="com")
        if "height" not in self.additions:
            return (over,)
        height, k, weight = [t.stand * body.com_height], t.height_stiffness, t.height_weight
        return over, Setpoint(_COM, height, stiffness=k, weight=weight, axes="z", name="height")

    def _path(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody) -> tuple[Array, Array, Array]:
        """Returns place, velocity and acceleration of the CoM's path (eq. 4.3)."""
        t, way = self.tuning, m.path_to - m.path_from
        if m.phase == "start":
            x = min((s.time - m.since) / t.shift_time, 1.0)
            return (
                m.path_from + (3.0 - 2.0 * x) * x * x * way,
                (6.0 - 6.0 * x) * x / t.shift_time * way,
                (6.0 - 12.0 * x) / t.shift_time**2 * way * (x < 1.0),
            )
        phi = min((s.time - m.path_since) / m.path_time, 1.3)
        turn = math.pi / m.path_time
        swings = 1.0 - 1.0 / math.cosh(0.5 * body.omega * m.path_time) if "centred path" in self.additions else 1.0
        aside = SIGN[1 - m.foot] * t.hip_shift * swings * np.array([0.0, 1.0])
        return (
            m.path_from + phi * way + math.sin(math.pi * phi) * aside,
            way / m.path_time + turn * math.cos(math.pi * phi) * aside,
            -turn * turn * math.sin(math.pi * phi) * aside,
        )

    def _pendulum(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody) -> Array:
        """Returns the centre of pressure that brings the capture point to its path."""
        t, stance = self.tuning, 1 - m.foot
        sole, xi = self._sole(s, body, stance), self._capture_point(s, body)
        following = sole + np.array([m.step, -2.0 * SIGN[stance] * t.hip_shift])
        end = following + self._offset(m, body, stance)
        left = max(t.swing_time + t.delay - (s.time - m.path_since), 0.0)
        wanted = sole + (end - sole) * math.exp(-body.omega * left)
        pressure: Array = sole + t.capture_gain * (xi - wanted)
        return pressure

    def _offset(self, m: PhaseWalkMemory, body: WalkingBody, stance: int) -> Array:
        """Returns where the capture point is, seen from the new foot, when it lands in a steady walk."""
        grown = math.exp(body.omega * (self.tuning.swing_time + self.tuning.delay))
        return np.array([m.step / (grown - 1.0), SIGN[stance] * 2.0 * self.tuning.hip_shift / (grown + 1.0)])

    def _capture_point(self, s: Snapshot, body: WalkingBody) -> Array:
        return np.asarray(s.com[:2] + s.momentum[3:5] / (s.character.mass * body.omega))

    def _sole(self, s: Snapshot, body: WalkingBody, foot: int) -> Array:
        leg = body.legs[foot]
        middle: Array = s.contact_position[[*leg.heel, *leg.ball], :2].mean(axis=0)
        return middle + np.array([self.tuning.pressure_ahead, 0.0])

    def _swing(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody, pressure: Array) -> tuple[Objective, ...]:
        """Returns E_swing: targets of heel and toe, up to the step's height in the first half, then down."""
        if m.phase != "swing":
            return ()
        t, leg = self.tuning, body.legs[m.foot]
        goal = self._captured(s, m, body, pressure) if "capture steps" in self.additions else m.foothold
        out: list[Objective] = []
        for name, points, ahead, delay in (
            ("heel", leg.heel, 0.0, 0.0),
            ("toe", leg.ball, leg.ball_at - leg.heel_at, t.toe_delay),
        ):
            feature = _middle_of(s.character, leg.body, tuple(points.tolist()))
            land = m.since + t.swing_time
            place = [float(goal[0]) + ahead, float(goal[1])]
            out.append(
                Target(feature, place, max(land, s.time + 0.09), limit=t.swing_limit, axes="xy", name=f"{name} over")
            )
            top = m.since + 0.5 * t.swing_time + delay
            if s.time < top:
                time = max(top, s.time + 0.06)
                out.append(Target(feature, [t.height], time, limit=t.swing_limit, axes="z", name=f"{name} up"))
            elif s.time < land:
                time = max(land, s.time + 0.06)
                out.append(Target(feature, [0.0], time, limit=t.swing_limit, axes="z", name=f"{name} up"))
            else:
                v = [-t.landing_speed]
                out.append(Setpoint(feature, [0.0], v, stiffness=0.0, damping=8.0, axes="z", name=f"{name} up"))
        return tuple(out)

    def _captured(self, s: Snapshot, m: PhaseWalkMemory, body: WalkingBody, pressure: Array) -> Array:
        """Returns the foothold of the heel from where the capture point will be at landing."""
        t, stance = self.tuning, 1 - m.foot
        leg = body.legs[m.foot]
        left = max(t.swing_time - (s.time - m.since), 0.0)
        pressure = _nearest_inside(s.contact_position[body.legs[stance].points, :2], pressure)
        xi = pressure + (self._capture_point(s, body) - pressure) * math.exp(body.omega * left)
        middle = 0.5 * (leg.ball_at - leg.heel_at) + t.pressure_ahead
        wanted = xi - self._offset(m, body, stance) - np.array([middle, 0.0])
        here = _heel(s, body.legs[stance])
        away = (wanted - here) * np.array([1.0, SIGN[m.foot]])
        away = np.array([min(max(away[0], -0.3), 0.75), min(max(away[1], 0.1), 0.45)])
        return np.asarray(here + away * np.array([1.0, SIGN[m.foot]]))


@dataclass(frozen=True, eq=False)
class _Objectives:
    """The objectives that do not depend on the state."""

    contact: Contact
    trunk: Setpoint
    last: tuple[Objective, ...]


@kept_with_character
def _objectives(character: Character, t: PhaseWalkTuning, soft: bool) -> _Objectives:
    body = walking_body(character)
    q = np.array(character.neutral)
    for leg in body.legs:
        q[leg.knee_at] = leg.knee_straight + leg.knee_sign * t.knee_bend
    gains, weights = {"": t.pose_stiffness}, {"": 1.0}
    shoulders = [name for name in body.limbs.arms if "shoulder" in name]
    gains |= dict.fromkeys(body.limbs.arms, t.elbow_stiffness) | dict.fromkeys(shoulders, t.shoulder_stiffness)
    feet = {leg.body for leg in body.legs}
    gains |= {joint.name: t.ankle_stiffness for joint in character.joints if joint.body in feet}
    if soft:
        gains = {name: t.soft_share * gain for name, gain in gains.items()}
        weights |= dict.fromkeys(body.limbs.legs, t.soft_leg_weight)
    neck = body.head or body.chest or body.hips_body
    trunk = Setpoint(
        PositionFromCom(neck), [t.trunk, 0.0], stiffness=t.trunk_stiffness, axes="xy", name="neck over the CoM"
    )
    last: list[Objective] = [
        Momentum("angular", gain=t.momentum_gain),
        TrackPose(q, gains, weights=weights, root_weight=1.0),
        JointStops(weight=10.0),
    ]
    if body.limbs.arms:
        last.append(RelaxedJoints(body.limbs.arms, name="arms"))
    if body.head:
        last.append(Setpoint(BodyOrientation(body.head), body.head_turn, stiffness=t.head_stiffness, name="head"))
    return _Objectives(Contact(stiffness=t.contact_stiffness), trunk, tuple(last))


@kept_with_character
def _middle_of(character: Character, body: str, points: tuple[int, ...]) -> PointPosition:
    """Returns the feature of the middle of some contact points."""
    x, y, z = np.mean([character.contact_points[i].position for i in points], axis=0).tolist()
    return PointPosition(body, (x, y, z))


def _omega2(s: Snapshot) -> float:
    """Returns omega^2 of the pendulum as high as the CoM is now [1/s^2]."""
    return s.character.gravity / max(float(s.com[2]), 0.3)


def _heel(s: Snapshot, leg: WalkingLeg) -> Array:
    heel: Array = s.contact_position[leg.heel, :2].mean(axis=0)
    return heel


def _nearest_inside(corners: Array, place: Array) -> Array:
    """Returns the place of the corners' convex hull that is nearest to a place, (2,)."""
    edges = hull_edges(np.ascontiguousarray(corners))
    return np.array(nearest_inside(edges, float(place[0]), float(place[1]), 0.0))


_FOOTING = Footing(strength=2.0)
