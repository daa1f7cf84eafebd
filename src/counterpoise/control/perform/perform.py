"""Perform: a simulated body does a planned motion on its own strength, then stands.

With contact, planted points are strict; below them CoM, angular momentum, root and joints follow the plan, with its
accelerations fed forward. The plan lies where the planted feet are. In the air the joints follow the plan; the clock is
stretched so that the planned landing falls on the real one; and the feet are led, seen from the CoM, to where the plan
has them, moved by the error of the CoM's velocity over omega (the capture point), so that the landing brakes what is
too fast. At the end `Stand` takes over.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.control.basic import Action
from counterpoise.control.perform.follow_points import FollowPoints
from counterpoise.control.perform.layout import laid
from counterpoise.control.perform.planned_motion import PlannedMotion, PlannedState, plan_of_result
from counterpoise.control.perform.progress import Progress, advance, first_layout
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.control.stand import Stand, tracking_error
from counterpoise.control.standing_body import limp_torque, standing_body
from counterpoise.control.whole_body import WholeBodyMemory, solve_whole_body
from counterpoise.control.whole_body_problem import WholeBodyTuning
from counterpoise.errors import BadValue
from counterpoise.features import ComPosition
from counterpoise.objectives import Contact, Footing, JointStops, Momentum, Objective, Setpoint, TrackPose
from counterpoise.objectives.surface import Surface
from counterpoise.spacetime.optimize.result import Result

Stage = Literal["wait", "perform", "stand", "fallen"]
QUICK_FALL = 1e-4  # [s] force of a point that leaves the ground as planned falls to zero
LOSE_TIME = 1e-3  # [s] the same where contact is lost


@dataclass(frozen=True, eq=False)
class PerformMemory:
    """What one tick leaves for the next."""

    plan: PlannedMotion
    stage: Stage = "wait"
    began: float | None = None  # [s] when the controller took over
    progress: Progress | None = None
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    stand: Stand = field(default_factory=Stand)
    standing: Any = None  # memory of `stand`
    cause: str = ""  # of a fall


@dataclass(frozen=True, eq=False)
class Perform:
    """Does a planned motion, then stands.

    `motion` is an optimised motion (the result of `optimize_motion` or of a stunt) or a PlannedMotion. The body stands
    for `wait` seconds first.
    """

    motion: Result | PlannedMotion
    wait: float = 0.3  # [s]
    rate: float = 500.0  # [Hz]
    tuning: PerformTuning = field(default_factory=PerformTuning)

    def __post_init__(self) -> None:
        if not (self.wait >= 0.0 and self.rate > 0.0):
            raise BadValue(f"wait is not negative and rate is positive; got {self.wait!r}, {self.rate!r}")

    # -- the controller's protocol -----------------------------------------------------------------------------------

    def begin(self, character: Character) -> PerformMemory:
        plan = self._plan(character)
        stand = _stand(plan, len(character.feet), 0, plan.q[0])
        return PerformMemory(plan, stand=stand, standing=stand.begin(character))

    def act(self, snapshot: Snapshot, memory: PerformMemory) -> Action:
        if memory.began is None:
            memory = replace(memory, began=snapshot.time)
        assert memory.began is not None
        if memory.stage == "wait" and snapshot.time >= memory.began + self.wait - 1e-9:
            own = _seen(snapshot, memory.plan)
            layout = first_layout(memory.plan, own, self.tuning)
            memory = replace(memory, stage="perform", progress=Progress(snapshot.time, layout=layout))
        if memory.stage in ("wait", "stand"):
            return self._standing(snapshot, memory)
        if memory.stage == "fallen":
            return self._limp(snapshot, memory)
        return self._performing(snapshot, memory)

    def _plan(self, character: Character) -> PlannedMotion:
        plan = self.motion if isinstance(self.motion, PlannedMotion) else plan_of_result(self.motion)
        if plan.character.joint_names != character.joint_names:
            raise BadValue(
                f"this motion was planned for {plan.character.name!r}, whose joints differ from {character.name!r}'s"
            )
        return plan

    # -- performing --------------------------------------------------------------------------------------------------

    def _performing(self, given: Snapshot, memory: PerformMemory) -> Action:
        plan, t = memory.plan, self.tuning
        snapshot = _seen(given, plan)
        assert memory.progress is not None
        now = advance(memory.progress, plan, snapshot, t)
        goal = laid(plan.at(now.clock, now.phase), now.layout, now.speed)
        flying = plan.flies(now.phase)
        if flying:
            goal = _carried(goal, snapshot)
        cause = self._fall(snapshot, goal, now, plan)
        if cause:
            return self._limp(given, replace(memory, stage="fallen", cause=cause))
        pushing = plan.pushing[now.phase]
        footing = self._footing(plan, now)
        levels = self._levels(snapshot, goal, now, plan, flying, pushing)
        solution = solve_whole_body(snapshot, levels, footing, _strength(t), memory.solver)
        stage: Stage = memory.stage
        after = replace(memory, progress=now, solver=solution.memory)
        if now.phase + 1 == plan.phases and now.clock >= plan.duration:
            stand = _stand(plan, len(given.character.feet), plan.phases - 1, goal.q, now.rise)
            after = replace(after, stage="stand", stand=stand, standing=stand.begin(given.character))
            after = replace(after, standing=replace(after.standing, time=given.time))
        notes = {
            **solution.notes(), "stage": stage, "phase": float(now.phase), "clock": now.clock, "event": now.event,
            "tracking": tracking_error(snapshot, goal.q),
        }  # fmt: skip
        return Action(solution.torque, after, notes)

    def _levels(
        self, snapshot: Snapshot, goal: PlannedState, now: Progress, plan: PlannedMotion, flying: bool, pushing: Flags
    ) -> tuple[tuple[Objective, ...], ...]:
        """Returns planted points; then everything else by weight."""
        t = self.tuning
        own = _objectives(plan.character, t)
        joints = {"reference": goal.q, "velocity": goal.v, "acceleration": goal.a}
        if flying:
            return (own["contact"],), (
                own["flight"].aimed(**joints),
                own["stops"],
                self._landing_feet(snapshot, goal, now, plan),
            )
        place = {"value": goal.com[0], "velocity": goal.com[1], "acceleration": goal.com[2]}
        levels: tuple[Objective, ...] = (
            own["com"].aimed(**place),
            own["height"].aimed(**place),
            own["momentum"].aimed(value=goal.spin[0], rate=goal.spin[1]),
            own["track"].aimed(**joints),
            own["stops"],
        )
        swinging = ~pushing & self._lands(plan, now.phase)
        if swinging.any():
            levels = (*levels, FollowPoints(swinging, goal.points, t.feet_stiffness, t.feet_limit, t.swing_weight))
        return (own["contact"],), levels

    def _lands(self, plan: PlannedMotion, phase: int) -> Flags:
        """Returns the points that are planted in a later phase, (p,)."""
        return (
            np.asarray(plan.pushing[phase + 1 :].any(axis=0))
            if phase + 1 < plan.phases
            else np.zeros(plan.pushing.shape[1], bool)
        )

    def _landing_feet(self, snapshot: Snapshot, goal: PlannedState, now: Progress, plan: PlannedMotion) -> FollowPoints:
        """Returns the objective that leads the feet to their landing, moved by the capture point's error."""
        t, phase = self.tuning, now.phase
        last = min(phase + 1, plan.phases - 1)
        span = plan.ends[phase + 1] - plan.ends[phase]
        near = min(max((now.clock - plan.ends[phase]) / (t.lead_time * span), 0.0), 1.0)
        points = goal.points.copy()
        planned = laid(plan.at(now.clock, phase), now.layout, now.speed)
        v = snapshot.momentum[3:] / snapshot.character.mass
        height = standing_body(snapshot.character).height
        above = max(float(planned.com[0, 2] - planned.points[0][:, 2].mean()), 0.2 * height)
        move = t.lead * (v - planned.com[1])[:2] / math.sqrt(snapshot.character.gravity / above)
        size = math.hypot(*move)
        points[0, :, :2] += move * min(1.0, t.lead_limit * height / max(size, 1e-9)) * near
        return FollowPoints(plan.pushing[last], points, t.feet_stiffness, t.feet_limit, t.flight_feet_weight * near)

    def _footing(self, plan: PlannedMotion, now: Progress) -> Footing:
        t, pushing = self.tuning, plan.pushing[now.phase]
        surfaces = {
            foot.name: raised(surface, now.rise)
            for foot, surface in zip(plan.character.feet, plan.surfaces[now.phase], strict=True)
        }
        return Footing(
            surface=surfaces, raised=~pushing, loose=pushing & ~plan.held[now.phase], friction=t.friction,
            rise=t.force_rise, fall=QUICK_FALL, lose=LOSE_TIME, strength=t.force_limit,
        )  # fmt: skip

    # -- before, after, and falls ------------------------------------------------------------------------------------

    def _standing(self, snapshot: Snapshot, memory: PerformMemory) -> Action:
        done = memory.stand.act(snapshot, memory.standing)
        return Action(done.torque, replace(memory, standing=done.memory), {**done.notes, "stage": memory.stage})

    def _fall(self, snapshot: Snapshot, goal: PlannedState, now: Progress, plan: PlannedMotion) -> str:
        """Returns why the performance has failed; empty where it has not."""
        height = standing_body(snapshot.character).height
        low = float(goal.com[0, 2] - snapshot.com[2])
        if not plan.flies(now.phase) and low > self.tuning.fallen * height:
            return f"the centre of mass is {low:.2f} m lower than planned at {now.clock:.2f} s of the plan"
        if now.late > self.tuning.late_landing:
            return f"nothing landed within {now.late:.2f} s after the planned landing"
        return ""

    def _limp(self, snapshot: Snapshot, memory: PerformMemory) -> Action:
        return Action(
            limp_torque(snapshot, 0.02), memory, {"status": "fallen", "stage": "fallen", "cause": memory.cause}
        )


def _seen(snapshot: Snapshot, plan: PlannedMotion) -> Snapshot:
    """Returns the snapshot with the contact points of all parts that the plan uses."""
    if len(plan.character.feet) == len(snapshot.character.feet):
        return snapshot
    return take_snapshot(plan.character, snapshot.state)


def raised(surface: Surface, rise: float) -> Surface:
    """Returns the surface, higher by `rise` [m]."""
    return surface if rise == 0.0 else replace(surface, origin=np.asarray(surface.origin) + (0.0, 0.0, rise))


def _carried(goal: PlannedState, snapshot: Snapshot) -> PlannedState:
    """Returns the plan's state in flight, moved and set in motion with the real CoM."""
    shift, velocity = snapshot.com - goal.com[0], snapshot.momentum[3:] / snapshot.character.mass - goal.com[1]
    gravity = np.array([0.0, 0.0, -snapshot.character.gravity]) - goal.com[2]
    q, v, points = goal.q.copy(), goal.v.copy(), goal.points.copy()
    q[:3] += shift
    v[:3] += velocity
    points[0] += shift
    points[1] += velocity
    points[2] += gravity
    return goal._replace(q=q, v=v, points=points)


def _stand(plan: PlannedMotion, feet: int, phase: int, q: Array, rise: float = 0.0) -> Stand:
    """Returns the controller that stands in a pose of the plan, on what the plan stands on in a phase."""
    own = plan.character.feet[:feet]
    ground = {foot.name: raised(surface, rise) for foot, surface in zip(own, plan.surfaces[phase], strict=False)}
    return Stand(reference=q, ground=ground)


@kept_with_character
def _objectives(character: Character, t: PerformTuning) -> dict[str, Any]:
    """Returns the objectives without their references."""
    origin = np.zeros(3)
    return {
        "contact": Contact(stiffness=t.contact_stiffness),
        "com": Setpoint(ComPosition(), origin, stiffness=t.com_stiffness, axes="xy", weight=t.com_weight, name="com"),
        "height": Setpoint(
            ComPosition(), origin, stiffness=t.height_stiffness, axes="z", weight=t.height_weight, name="height"
        ),
        "momentum": Momentum("angular", gain=t.momentum_gain, weight=t.momentum_weight),
        "track": TrackPose(None, t.joint_stiffness, root_weight=t.root_weight),
        "flight": TrackPose(None, t.flight_stiffness, root_weight=1e-6),
        "stops": JointStops(t.stop_deceleration, t.stop_settle, top_speed=None, weight=t.stop_weight),
    }


def _strength(t: PerformTuning) -> WholeBodyTuning:
    return WholeBodyTuning(rank=t.rank, force_weight=t.force_weight)
