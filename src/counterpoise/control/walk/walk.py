"""Walk: a simulated body walks, at a speed, in a direction and in a style (de Lasa 2011, section 4.3, and beyond).

A pendulum in closed form decides when and where the feet land (stepping.py). The hips' height, heel strike and heel-off
follow from the geometry of the legs, the posture of trunk and arms from a style or a captured stride, played at the
walk's own phase. Planted points are strict; below them CoM, hips, angular momentum, trunk and swinging foot count by
weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.standing_body import limp_torque
from counterpoise.control.walk.bent_knees import bent_knees
from counterpoise.control.walk.foot_goals import swing_goal
from counterpoise.control.walk.gait_cycle import GaitCycle, made_cycle
from counterpoise.control.walk.hips_height import hips_acceleration, leg_stop
from counterpoise.control.walk.planted_foot import planted_foot
from counterpoise.control.walk.schedule import next_phase
from counterpoise.control.walk.seen import SeenBody, see
from counterpoise.control.walk.step_plan import StepPlan, first_capture, plan_step
from counterpoise.control.walk.styles import WalkStyle, style_of
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import foot_turn, trunk_turn
from counterpoise.control.walk.walk_objectives import WalkObjectives, walk_objectives
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import SIGN, WalkingBody, walking_body
from counterpoise.control.walk.wishes import StepShape, step_shape
from counterpoise.control.whole_body import solve_whole_body
from counterpoise.control.whole_body_problem import WholeBodyTuning
from counterpoise.errors import BadValue
from counterpoise.objectives import Footing, Objective, make_stance
from counterpoise.quick import altered

Live = float | Callable[[float], float]  # a number, or a function of time [s]
LIMP_DAMPING = 0.02  # [torque limits per rad/s] after a fall
TOUCHING = 0.011  # [leg lengths] a point that is higher than this cannot push
NOT_FLAT = 0.004  # [leg lengths] a standing foot with a point higher than this is not flat yet
STAND_STIFFNESS = 9.5  # [1/leg time^2] of the hips' height while it stands
STAND_DAMPING = 6.2  # [1/leg time]
PHASE_GAIN = 2.5  # [1/leg time] with which the stride's phase follows the feet


@dataclass(frozen=True, eq=False)
class Walk:
    """Walks. Every number may be a function of time [s], and may be changed in a `Session` while it walks.

    Without a speed it walks at the usual speed of its style: 1.2 m/s for a person. Speed 0: it stops and stands.
    `step` and `time` are length and duration of one step; what is not given follows from the speed, as people do it.
    Two of the three decide the third.
    """

    speed: Live | None = None  # [m/s]
    step: Live | None = None  # [m] length of a step
    time: Live | None = None  # [s] of a step
    height: Live | None = None  # [m] by which the sole of the swinging foot rises
    style: str | WalkStyle | GaitCycle = "normal"
    heading: Live = 0.0  # [rad] direction of the walk, from x towards y
    lean: Live = 0.0  # [rad] of the trunk forward, beyond the style's
    rate: float = 500.0  # [Hz]
    tuning: WalkTuning = field(default_factory=WalkTuning)

    def __post_init__(self) -> None:
        for name in ("speed", "step", "time", "height", "heading", "lean"):
            value = getattr(self, name)
            if value is None or callable(value):
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise BadValue(f"Walk.{name} is a number or a function of time; got {value!r}")
            if value < 0.0 and name not in ("heading", "lean"):
                raise BadValue(f"Walk.{name} is not negative; got {value!r}")
            if value == 0.0 and name in ("step", "time"):
                raise BadValue(f"Walk.{name} is above 0: speed=0 makes it stand; got {value!r}")
        if not self.rate > 0.0:
            raise BadValue(f"a controller's rate is positive [Hz]; got {self.rate!r}")
        if self.speed is not None and self.step is not None and self.time is not None:
            raise BadValue("Walk takes two of speed, step and time: they decide the third")
        if not isinstance(self.style, GaitCycle):
            style_of(self.style)

    # -- the controller's protocol -----------------------------------------------------------------------------------

    def begin(self, character: Character) -> WalkMemory:
        body = walking_body(character)
        if isinstance(self.style, GaitCycle) and self.style.character.joint_names != character.joint_names:
            raise BadValue(
                f"this gait is of {self.style.character.name!r}, whose joints differ from {character.name!r}'s: "
                "gait_from(retarget(motion, character)) makes one that fits"
            )
        fastest = self.tuning.fastest * body.leg_speed
        if isinstance(self.speed, (int, float)) and self.speed > fastest:
            raise BadValue(f"{character.name!r} walks at 0 to {fastest:.2f} m/s; got {self.speed!r}")
        return WalkMemory()

    def usual_speed(self, character: Character) -> float:
        """Returns the speed at which a body walks in this style where none is asked for [m/s]."""
        style = self.style.style if isinstance(self.style, GaitCycle) else style_of(self.style)
        return style.speed * self.tuning.usual_speed * walking_body(character).leg_speed

    def carry(self, memory: WalkMemory, character: Character) -> WalkMemory:
        """Returns the memory for a body of other proportions that walks on."""
        walking_body(character)
        return altered(memory, planted=np.zeros((0, 3)), held=np.zeros(0, bool))

    def act(self, snapshot: Snapshot, memory: WalkMemory) -> Action:
        if memory.phase == "fallen":
            return self._limp(snapshot, memory)
        character = snapshot.character
        body, t = walking_body(character), self.tuning
        cycle = self.style if isinstance(self.style, GaitCycle) else made_cycle(character, style_of(self.style))
        seen = see(snapshot, body)
        cause = _fall(seen, snapshot, body, t)
        if cause:
            return self._limp(snapshot, altered(memory, phase="fallen", cause=cause))
        asked, m, dt = self._follow_wishes(snapshot, memory, seen, body)
        shape = self._shape(m, seen, asked, cycle, body)
        m = next_phase(m, seen, asked, shape, body, t)
        own = walk_objectives(character, t)
        if m.phase in ("stand", "shift"):
            m, levels, held, share = self._stand(m, snapshot, seen, cycle, shape, body, own)
            cost = 0.0
        else:
            plan = plan_step(m, seen, shape, self._sideways(m, seen, body), character, dt, t)
            m = altered(m, left=plan.left, foothold=plan.foothold, pressure=plan.reference)
            m, levels, held, share = self._step(m, snapshot, seen, plan, cycle, shape, body, own, dt)
            cost = plan.cost
        return self._solve(
            snapshot, m, levels, held, share, dt, {"phase": m.phase, "steps": float(m.steps), "cost": cost}
        )

    # -- what is asked -----------------------------------------------------------------------------------------------

    def _follow_wishes(
        self, snapshot: Snapshot, m: WalkMemory, seen: SeenBody, body: WalkingBody
    ) -> tuple[float, WalkMemory, float]:
        """Returns the speed asked for, the memory at this tick's time, and the time since the last tick [s]."""
        t, now = self.tuning, snapshot.time
        step, time = _value(self.step, now), _value(self.time, now)
        if self.speed is not None:
            asked = _value(self.speed, now) or 0.0
        elif step is not None and time is not None:
            asked = step / time
        else:
            asked = self.usual_speed(snapshot.character)
        g = body.leg_speed**2 / body.hips_height
        asked = min(asked, t.fastest * body.leg_speed)
        heading = _value(self.heading, now) or 0.0
        if m.time is None:
            yaw = float(math.atan2(np.sin(seen.yaw).mean(), np.cos(seen.yaw).mean()))
            place = seen.com[:2].copy()
            return asked, altered(m, time=now, began=now, heading=yaw, line=place, started=place), 0.0
        dt = max(now - m.time, 0.0)
        if m.phase in ("stand", "shift"):
            speed = min(t.first_speed * asked, t.fastest_first * body.leg_speed)
        else:
            speed = m.speed + min(max(asked - m.speed, -t.brake * g * dt), t.ramp * g * dt)
        away = math.remainder(heading - m.heading, 2.0 * math.pi)
        most = t.turn_rate / body.leg_time * dt
        turn = min(max(away, -most), most) if m.phase not in ("stand", "shift") else 0.0
        line = seen.com[:2].copy() if abs(away) > 1e-3 else m.line
        return asked, altered(m, time=now, speed=speed, heading=m.heading + turn, line=line), dt

    def _shape(self, m: WalkMemory, seen: SeenBody, asked: float, cycle: GaitCycle, body: WalkingBody) -> StepShape:
        assert m.time is not None
        step, time = _value(self.step, m.time), _value(self.time, m.time)
        speed = m.speed + (m.trim if asked > 0.0 else 0.0)
        way = math.cos(m.heading) * float(seen.velocity[0]) + math.sin(m.heading) * float(seen.velocity[1])
        real = way if asked < m.speed or asked <= 0.0 else 0.0
        shape = step_shape(speed, real, asked, step, time, cycle.style, body, self.tuning)
        limp = cycle.style.limp * SIGN[m.stance]
        return shape._replace(time=shape.time * (1.0 + limp)) if limp else shape

    def _sideways(self, m: WalkMemory, seen: SeenBody, body: WalkingBody) -> float:
        """Returns how far this step goes to the left, back to the line that is walked [m]."""
        off = m.line - seen.com[:2]
        across = -math.sin(m.heading) * off[0] + math.cos(m.heading) * off[1]
        most = self.tuning.line_limit * body.hips_height
        return min(max(self.tuning.line_gain * float(across), -most), most)

    # -- standing ----------------------------------------------------------------------------------------------------

    def _stand(
        self, m: WalkMemory, snapshot: Snapshot, seen: SeenBody, cycle: GaitCycle, shape: StepShape, body: WalkingBody,
        own: WalkObjectives,
    ) -> tuple[WalkMemory, tuple[tuple[Objective, ...], ...], Flags, Array]:  # fmt: skip
        """Returns the objectives of a body that stands, or that shifts its weight to the foot that will stand."""
        t, p = self.tuning, len(snapshot.contact_position)
        c, s = math.cos(m.heading), math.sin(m.heading)
        frame = np.array([[c, s], [-s, c]])
        middle = seen.flat.mean(axis=0)
        xi = frame @ (seen.capture - middle)
        ahead = 0.4 * body.legs[0].ball_at
        goal, gain = np.array([ahead, 0.0]), np.full(2, t.stand_gain)
        apart = frame @ (seen.flat[m.stance] - middle)
        if m.phase == "shift":
            ahead = first_capture(shape, m.stance, snapshot.character, t)
            goal[:] = ahead + apart[0], 0.9 * apart[1]
            gain = np.array([t.stand_gain, t.shift_gain])
        pressure = xi + gain * (xi - goal)
        wide = abs(float(apart[1]))
        low, high = body.legs[0].heel_at - abs(apart[0]), 0.9 * body.legs[0].front_at + abs(apart[0])
        pressure = np.array([min(max(pressure[0], low), high), min(max(pressure[1], -wide), wide)])
        away = frame @ (seen.com[:2] - middle) - pressure
        com = frame.T @ (body.omega**2 * away)
        top = (1.0 - t.bend(body.legs[0].is_bent) - cycle.style.crouch) * body.hips_height
        hips = STAND_STIFFNESS / body.leg_time**2 * (top - float(seen.hips[0, 2]))
        hips = min(hips - STAND_DAMPING / body.leg_time * float(seen.hips[1, 2]), leg_stop(m, seen, body))
        m = altered(m, pressure=middle + frame.T @ pressure, stride=0.25 if m.stance == 0 else 0.75)
        level = self._upper(m, com, hips, 0.0, cycle, body, own, snapshot)
        held = np.ones(p, bool)
        for i, leg in enumerate(body.legs):
            heights, raised = snapshot.contact_position[:, 2], NOT_FLAT * body.hips_height
            pivot = leg.ball if seen.pitch[i] > 0.0 else leg.heel
            if heights[leg.points].max() < raised or heights[pivot].max() > raised:
                continue  # flat, or in the air: the whole foot is held, or drawn to the ground
            held[leg.points] = False  # it turns over its heel or its ball until it is flat
            held[pivot] = True
            level.append(own.roll[i].aimed(**foot_turn(leg.turn, float(seen.yaw[i]), 0.0, 0.0)))
            toes = own.toes[i]
            if toes is not None:
                level.append(toes.aimed(**foot_turn(leg.toe_turn, float(seen.yaw[i]), 0.0, 0.0)))
        return m, ((own.contact,), tuple(level)), held, np.ones(p)

    # -- stepping ----------------------------------------------------------------------------------------------------

    def _step(
        self, m: WalkMemory, snapshot: Snapshot, seen: SeenBody, plan: StepPlan, cycle: GaitCycle, shape: StepShape,
        body: WalkingBody, own: WalkObjectives, dt: float,
    ) -> tuple[WalkMemory, tuple[tuple[Objective, ...], ...], Flags, Array]:  # fmt: skip
        """Returns the objectives of a step, and which points are held and may push."""
        t, style = self.tuning, cycle.style
        assert m.time is not None
        strike = style.strike * t.strike * min(max(shape.length / (t.strike_step * body.hips_height), 0.0), 1.15)
        com = body.omega**2 * (seen.com[:2] - plan.pressure)
        hips = hips_acceleration(m, seen, plan, shape, strike, style, body, t)
        m, rate = self._stride_phase(m, plan, body.leg_time, dt)
        level = self._upper(m, com, hips, rate, cycle, body, own, snapshot)
        p = len(snapshot.contact_position)
        held, share = np.zeros(p, bool), np.zeros(p)
        feet = list(m.feet)
        for i in range(2):
            if m.phase == "single" and i != m.stance:
                continue
            feet[i], extra = planted_foot(i, m, snapshot, seen, plan, body, own, t, dt, held, share)
            level += extra
        if m.phase == "single":
            i = 1 - m.stance
            lift, late = self._clearances(snapshot.time, style, body)
            goal = swing_goal(m, seen, plan, strike, lift, late, body, t)
            feet[i] = feet[i]._replace(goal_pitch=goal.pitch, released=0.0)
            level.append(own.swing[i].aimed(acceleration=goal.acceleration, value=seen.ankle[i]))
            level.append(
                own.swing_turn[i].aimed(**foot_turn(body.legs[i].turn, m.heading, goal.pitch, goal.pitch_rate))
            )
        m = altered(m, feet=(feet[0], feet[1]))
        return m, ((own.contact,), tuple(level)), held, share

    def _clearances(self, time: float, style: WalkStyle, body: WalkingBody) -> tuple[float, float]:
        """Returns by how much the swinging sole rises in mid-swing, and how high it stays until it lands [m]."""
        t, unit = self.tuning, body.hips_height
        asked = _value(self.height, time)
        late = t.late_clearance * unit
        if asked is None:
            return style.lift * t.clearance * unit, late
        return max(asked - late, 0.0), min(late, asked)

    # -- trunk and arms ----------------------------------------------------------------------------------------------

    def _stride_phase(self, m: WalkMemory, plan: StepPlan, clock: float, dt: float) -> tuple[WalkMemory, float]:
        """Returns the memory with the phase of the stride, and its rate [1/s]: it follows the feet smoothly."""
        assert m.time is not None
        gone = m.time - m.began
        whole = gone + max(plan.double_left + plan.left, 0.005)
        target = 0.5 * gone / whole + 0.5 * m.stance
        error = math.remainder(target - m.stride, 1.0)
        base = 0.5 / whole
        rate = base + min(max(PHASE_GAIN / clock * error, -0.5 * base), base)
        return altered(m, stride=(m.stride + rate * dt) % 1.0), rate

    def _upper(
        self, m: WalkMemory, com: Array, hips: float, rate: float, cycle: GaitCycle, body: WalkingBody,
        own: WalkObjectives, snapshot: Snapshot,
    ) -> list[Objective]:  # fmt: skip
        """Returns the objectives of the CoM, the hips, the trunk and the posture."""
        character = snapshot.character
        speed = 0.0 if m.phase in ("stand", "shift") else m.speed
        share = min(max(speed, 0.0) / max(cycle.speed, 1e-3), 1.4)
        row, change = cycle.at(m.stride, rate, share)
        lean = _value(self.lean, snapshot.time) or 0.0
        root = character.root_dofs.stop
        away, velocity = np.zeros(character.nv), np.zeros(character.nv)
        away[root:], velocity[root:] = row[:-6], change[:-6]
        pose = character.integrate(character.neutral, away)
        level: list[Objective] = [
            own.com.aimed(acceleration=np.array([com[0], com[1], 0.0])),
            own.hips.aimed(acceleration=np.array([0.0, 0.0, hips])),
            own.momentum,
            own.hips_turn.aimed(**trunk_turn(body.hips_turn, m.heading, row[-6:-3], change[-6:-3], lean)),
        ]  # fmt: skip
        if own.chest_turn is not None:
            level.append(own.chest_turn.aimed(**trunk_turn(body.chest_turn, m.heading, row[-3:], change[-3:], lean)))
        if own.head_turn is not None:
            nod = np.array([0.0, math.radians(cycle.style.head), 0.0])
            level.append(own.head_turn.aimed(**trunk_turn(body.head_turn, m.heading, nod, _STILL, 0.0)))
        level += [own.track.aimed(reference=pose, velocity=velocity), own.stops]
        knees = bent_knees(snapshot, body, self.tuning.knee_weight)
        return level if knees is None else [*level, knees]

    # -- solving -----------------------------------------------------------------------------------------------------

    def _solve(
        self,
        snapshot: Snapshot,
        m: WalkMemory,
        levels: Any,
        held: Flags,
        share: Array,
        dt: float,
        notes: dict[str, Any],
    ) -> Action:
        t = self.tuning
        places = snapshot.contact_position
        planted = places.copy()
        planted[:, 2] = 0.0
        if len(m.held) == len(held):
            rolling = np.zeros(len(held), bool)
            body = walking_body(snapshot.character)
            for i, foot in enumerate(m.feet):
                if foot.on_heel or foot.released > 0.0:
                    rolling[body.legs[i].points] = True
            stay = m.held & held & ~rolling
            planted[stay] = m.planted[stay]
        share = np.where(places[:, 2] < TOUCHING * walking_body(snapshot.character).hips_height, share, 0.0)
        stance = make_stance(snapshot, held, share, planted, footing=_footing(t))
        solution = solve_whole_body(snapshot, levels, tuning=_solver(t), memory=m.solver, stance=stance)
        torque = solution.torque
        if m.torque is not None and len(m.torque) == len(torque) and t.torque_time > 0.0:
            lag = t.torque_time * walking_body(snapshot.character).leg_time
            torque = m.torque + (torque - m.torque) * (dt / (lag + dt))
        after = altered(m, solver=solution.memory, torque=torque, planted=planted, held=held)
        return Action(torque, after, {**solution.notes(), **notes})

    def _limp(self, snapshot: Snapshot, memory: WalkMemory) -> Action:
        notes = {"status": "fallen", "phase": "fallen", "cause": memory.cause}
        return Action(limp_torque(snapshot, LIMP_DAMPING), memory, notes)


def _value(given: Live | None, time: float) -> float | None:
    if given is None or not callable(given):
        return given
    value = float(given(time))
    if not math.isfinite(value):
        raise BadValue(f"a function of time that Walk was given returned {value!r} at {time:g} s")
    return value


def _fall(seen: SeenBody, snapshot: Snapshot, body: WalkingBody, t: WalkTuning) -> str:
    """Returns why the walk is over; empty where it is not."""
    height = float(seen.hips[0, 2]) - min(float(seen.low.min()), 0.0)
    if height < t.fallen * body.hips_height:
        return f"the hips are {height:.2f} m high at {snapshot.time:.2f} s; they stand at {body.hips_height:.2f} m"
    return ""


def _footing(t: WalkTuning) -> Footing:
    return Footing(friction=t.friction, strength=t.force_limit)


def _solver(t: WalkTuning) -> WholeBodyTuning:
    return WholeBodyTuning(rank=t.rank, force_weight=t.force_weight)


_STILL = np.zeros(3)
