"""Running: a simulated body runs, at a speed and in a direction.

A point mass that bounces from foot to foot decides where the feet land and how the ground pushes (`plan`). The whole
body follows its acceleration; planted points are strict, below them CoM, angular momentum, trunk, feet in the air and
posture count by weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.run.over_gaps import beside_gaps, stretched
from counterpoise.control.run.run_feet import flying_foot, idle_foot, stance_foot
from counterpoise.control.run.run_objectives import run_objectives
from counterpoise.control.run.run_phase import measure_added, next_foot, next_run_phase
from counterpoise.control.run.run_plan import RunPlan, plan_run, run_shape
from counterpoise.control.run.run_state import RunMemory, Swing
from counterpoise.control.run.run_tuning import RunTuning
from counterpoise.control.walk.posture import WalkPosture, upper_body
from counterpoise.control.walk.seen import SeenBody, see
from counterpoise.control.walk.turns import bank_of, fastest_turn, foot_turn, mean_yaw, next_turn
from counterpoise.control.walk.walk_state import FootState, WalkMemory
from counterpoise.control.walk.walker import Moves, cause_of_fall, go_limp, solve_moves
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.control.walk.wishes import Live, Wishes, live_value
from counterpoise.errors import BadValue
from counterpoise.objectives import Objective
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

STRAIGHT = 1e-3  # [rad] a heading this near to the one asked for keeps its line
PHASE_GAIN = 3.0  # [1/leg time] with which the stride's phase follows the feet


@dataclass(frozen=True, eq=False)
class Running:
    """Runs. Speed and heading may be functions of time [s], and may be changed in a `Session` while it runs.

    It takes over from a walk in single support, or from any state with one foot on the ground.
    """

    speed: Live = 2.5  # [m/s]
    heading: Live = 0.0  # [rad] direction of the run, from x towards y
    rate: float = 500.0  # [Hz]
    tuning: RunTuning = field(default_factory=RunTuning)
    terrain: Terrain | None = None  # level ground with gaps that it sees

    def __post_init__(self) -> None:
        for name in ("speed", "heading"):
            value = getattr(self, name)
            if callable(value):
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
                raise BadValue(f"Running.{name} is a number or a function of time; got {value!r}")
        if not self.rate > 0.0:
            raise BadValue(f"a controller's rate is positive [Hz]; got {self.rate!r}")

    # -- the controller's protocol -----------------------------------------------------------------------------------

    def begin(self, character: Character) -> RunMemory:
        body = walking_body(character)
        low, high = (s * body.leg_speed for s in (self.tuning.slowest, self.tuning.fastest))
        if isinstance(self.speed, (int, float)) and not low <= self.speed <= high:
            raise BadValue(f"{character.name!r} runs at {low:.2f} to {high:.2f} m/s; got {self.speed!r}")
        return RunMemory()

    def take_over(self, character: Character, snapshot: Snapshot, controller: Any, memory: Any) -> RunMemory:
        """Returns the memory with which a run continues a walk."""
        start = self.begin(character)
        if not isinstance(memory, WalkMemory):
            return start
        swings = [Swing(memory.lifted, memory.lift_pitch)] * 2
        return altered(
            start, stance=memory.stance, swings=(swings[0], swings[1]), feet=memory.feet, heading=memory.heading,
            line=memory.line, stride=memory.stride, solver=memory.solver, torque=memory.torque,
        )  # fmt: skip

    def carry(self, memory: RunMemory, character: Character) -> RunMemory:
        """Returns the memory for a body of other proportions that runs on."""
        walking_body(character)
        return altered(memory, planted=np.zeros((0, 3)), held=np.zeros(0, bool))

    def act(self, snapshot: Snapshot, memory: RunMemory) -> Action:
        return self.go_on(snapshot, memory, see(snapshot, walking_body(snapshot.character)))

    def go_on(self, snapshot: Snapshot, memory: RunMemory, seen: SeenBody) -> Action:
        """Returns the action of a runner that sees its body over level ground."""
        if memory.phase == "fallen":
            return go_limp(snapshot, memory)
        character, t = snapshot.character, self.tuning
        body = walking_body(character)
        cause = cause_of_fall(seen, snapshot, body, t.whole_body)
        if cause:
            return go_limp(snapshot, altered(memory, phase="fallen", cause=cause))
        m = memory if memory.time is not None else self._start(snapshot, memory, seen)
        m, dt = self._follow_wishes(snapshot, m, seen, body)
        now = snapshot.time
        way = float(seen.velocity[0]) * math.cos(m.heading) + float(seen.velocity[1]) * math.sin(m.heading)
        shape = run_shape(max(m.speed, way), m.ahead, character, t)
        m = measure_added(m, seen, dt, body, t)
        m = next_run_phase(m, seen, shape, character, t)
        if self.terrain is not None:
            m, shape = stretched(m, seen, shape, self.terrain, body)
        wish = np.array([m.speed + m.trim + m.hurry, self._sideways(m, seen, body), m.turn])
        plan = plan_run(m, seen, shape, wish, m.feet[m.stance].released > 0.0, character, t)
        if len(m.gaps):
            plan = beside_gaps(m, plan, body)
        expected = seen.velocity[:2] + plan.acceleration[:2] / self.rate
        x, y = (plan.foothold - plan.landing_com).tolist()
        ahead = x * math.cos(m.heading) + y * math.sin(m.heading)
        due = now + plan.left if plan.left > 0.0 or m.phase == "stance" else m.due
        m = altered(m, left=plan.left, due=due, ahead=ahead, shift=plan.shift, expected=expected)
        m, rate = self._stride_phase(m, plan, shape.stance + shape.flight, body.leg_time, dt)
        m, moves = self._objectives(m, snapshot, seen, plan, rate, body, dt)
        notes = {"phase": m.phase, "steps": float(m.steps), "speed": m.speed}
        return solve_moves(snapshot, m, seen, moves, dt, notes, t.whole_body)

    # -- what is asked -----------------------------------------------------------------------------------------------

    def _start(self, snapshot: Snapshot, m: RunMemory, seen: SeenBody) -> RunMemory:
        """Returns the memory of the first tick: the run begins in the stance of the foot that carries the body."""
        body, t = walking_body(snapshot.character), self.tuning
        yaw = mean_yaw(seen.yaw)
        heading = m.heading if m.solver.warm is not None else yaw
        d = np.array([math.cos(heading), math.sin(heading)])
        speed = float(seen.velocity[:2] @ d)
        shape = run_shape(speed, 0.0, snapshot.character, t)
        stance = m.stance
        ahead = float((seen.com[:2] - seen.flat[stance]) @ d)
        gone = min(max((ahead + 0.15 * body.hips_height) / max(speed, 0.5), 0.0), 0.7 * shape.stance)
        lasts = shape.stance
        if t.hops:  # it goes down before its first hop
            gone, lasts = 0.0, t.first_stance * shape.stance
        now = snapshot.time
        other = m.swings[1 - stance]
        swung = max(now - other.lifted, 0.0)
        # a swing that is under way began where its path from there leads to the present place
        back = seen.ankle[1 - stance, :2] - 0.9 * swung * seen.ankle_velocity[1 - stance, :2]
        swings = [other._replace(place=back)] * 2
        feet = list(m.feet)
        feet[stance] = FootState(now - 1.0, False, now - 1.0, goal_pitch=float(seen.pitch[stance]))
        return altered(
            m, time=now, phase="stance", began=now - gone, duration=lasts, feet=(feet[0], feet[1]),
            swings=(swings[0], swings[1]), speed=speed, heading=heading, line=seen.com[:2].copy(),
            started=seen.com[:2] - gone * speed * d,
        )  # fmt: skip

    def _follow_wishes(
        self, snapshot: Snapshot, m: RunMemory, seen: SeenBody, body: WalkingBody
    ) -> tuple[RunMemory, float]:
        """Returns the memory at this tick's time, and the time since the last tick [s]."""
        t, now = self.tuning, snapshot.time
        assert m.time is not None
        g = body.leg_speed**2 / body.hips_height
        slowest, fastest = t.slowest * body.leg_speed, t.fastest * body.leg_speed
        asked = min(max(live_value(self.speed, now) or 0.0, slowest), fastest)
        dt = max(now - m.time, 0.0)
        away = math.remainder((live_value(self.heading, now) or 0.0) - m.heading, 2.0 * math.pi)
        top, ramp = t.turn_rate / body.leg_time, t.turn_ramp / body.leg_time**2
        if abs(away) > STRAIGHT:  # it slows down for the turn that is to come
            asked = max(min(asked, t.curve * g / fastest_turn(away, top, ramp)), slowest)
        speed = m.speed + min(max(asked - m.speed, -t.brake * g * dt), t.ramp * g * dt)
        if m.last_speed is not None:
            most = t.catch_up * body.leg_speed
            speed = min(max(speed, m.last_speed - most), m.last_speed + most)
        fast = max(math.hypot(float(seen.velocity[0]), float(seen.velocity[1])), slowest)
        turn = next_turn(away, m.turn, min(top, t.curve * g / fast), ramp, dt)
        line = seen.com[:2].copy() if abs(away) > STRAIGHT else m.line
        heading = m.heading + turn * dt
        return altered(m, time=now, asked=asked, speed=speed, heading=heading, turn=turn, line=line), dt

    def _sideways(self, m: RunMemory, seen: SeenBody, body: WalkingBody) -> float:
        """Returns the speed to the left, back to the line that is run [m/s]."""
        off = m.line - seen.com[:2]
        across = -math.sin(m.heading) * off[0] + math.cos(m.heading) * off[1]
        most = self.tuning.line_limit * body.leg_speed
        return min(max(self.tuning.line_gain / body.leg_time * float(across), -most), most)

    # -- the whole body ----------------------------------------------------------------------------------------------

    def _stride_phase(
        self, m: RunMemory, plan: RunPlan, usual: float, clock: float, dt: float
    ) -> tuple[RunMemory, float]:
        """Returns the memory with the phase of the stride, and its rate [1/s]: it follows the feet smoothly."""
        assert m.time is not None
        if self.tuning.hops:  # arms and trunk keep still
            return m, 0.0
        gone = m.time - m.began
        target = 0.5 * gone / (gone + max(plan.left, 0.005)) + 0.5 * m.stance
        error = math.remainder(target - m.stride, 1.0)
        base = 0.5 / usual
        rate = base + min(max(PHASE_GAIN / clock * error, -0.5 * base), base)
        return altered(m, stride=(m.stride + rate * dt) % 1.0), rate

    def _objectives(
        self, m: RunMemory, snapshot: Snapshot, seen: SeenBody, plan: RunPlan, rate: float, body: WalkingBody, dt: float
    ) -> tuple[RunMemory, Moves]:
        """Returns what this tick asks of the body."""
        t, own = self.tuning, run_objectives(snapshot.character, self.tuning)
        wishes = Wishes(m.speed, 0.0, m.heading, bank=bank_of(m.speed, m.turn, body))
        posture = WalkPosture(own.cycle, own.walk, body, t.whole_body, wishes)
        swung: Any = altered(m, stride=(m.stride + t.arm_lead) % 1.0)
        level: list[Objective] = upper_body(posture, swung, _STILL, 0.0, rate, snapshot)[2:]  # without CoM and hips
        p = len(snapshot.contact_position)
        held, share, feet = np.zeros(p, bool), np.zeros(p), list(m.feet)
        if m.phase == "stance":
            level.insert(0, own.com.aimed(acceleration=plan.acceleration))
            feet[m.stance], extra = stance_foot(m, snapshot, seen, body, own.walk, t, dt, held, share)
            level += extra
        for i in range(2):
            if i == m.stance and m.phase == "stance":
                continue
            first = i == next_foot(m, t)
            left, foothold = (plan.left, plan.foothold) if first else (plan.later_left, plan.later_foothold)
            if first or not t.hops:
                goal = flying_foot(i, m, seen, left, foothold, snapshot.character, t)
            else:
                goal = idle_foot(i, m, seen, plan.acceleration, body, t)
            feet[i] = feet[i]._replace(goal_pitch=goal.pitch, released=0.0)
            level.append(own.walk.swing[i].aimed(acceleration=goal.acceleration, value=seen.ankle[i]))
            turn = foot_turn(body.legs[i].turn, m.heading + m.turn * left, goal.pitch, goal.pitch_rate)
            level.append(own.walk.swing_turn[i].aimed(**turn))
        m = altered(m, feet=(feet[0], feet[1]))
        levels = ((own.walk.contact,), tuple(level)) if held.any() else (tuple(level),)
        return m, Moves(levels, held, share)


_STILL = (0.0, 0.0)
