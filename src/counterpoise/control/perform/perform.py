"""Perform: a simulated body does a planned motion on its own strength, then stands.

With contact, planted points are strict; below them CoM, angular momentum, root and joints follow the plan, with its
accelerations fed forward. The plan lies where the planted feet are. In the air the joints follow the plan; the clock is
stretched so that the planned landing falls on the real one; and the feet are led, seen from the CoM, to where the plan
has them, moved by the error of the CoM's velocity over omega (the capture point), so that the landing brakes what is
too fast. At the end `Stand` takes over. Where the capture point leaves what planned contacts can catch, the body steps,
and goes on where the plan next stands quietly (catching.py).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.basic import Action
from counterpoise.control.bracing import BraceTuning, falling_torque
from counterpoise.control.perform.catching import (
    CatchSteps,
    can_step,
    catch_steps,
    is_level,
    is_lost,
    is_tipping,
    next_quiet,
)
from counterpoise.control.perform.layout import laid
from counterpoise.control.perform.perform_objectives import carried, perform_levels
from counterpoise.control.perform.plan_of_motion import plan_of_motion
from counterpoise.control.perform.planned_motion import PlannedMotion, PlannedState, plan_of_result
from counterpoise.control.perform.progress import PlanProgress, advance, first_progress, resumed_progress
from counterpoise.control.perform.replanning import AirPlan, plan_rest, tucked
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.control.stand import Stand, StandMemory
from counterpoise.control.standing_body import standing_body
from counterpoise.control.tracking import tracking_error
from counterpoise.control.whole_body import WholeBodyMemory, solve_whole_body
from counterpoise.control.whole_body_problem import WholeBodyTuning
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Footing
from counterpoise.objectives.surface import Surface
from counterpoise.spacetime.fix.result import FixResult
from counterpoise.spacetime.optimize.result import Result
from counterpoise.terrain import Terrain

Stage = Literal["wait", "perform", "step", "return", "stand", "fallen"]
QUICK_FALL = 1e-4  # [s] in which the force of a point that leaves as planned falls to zero
LOSE_TIME = 1e-3  # [s] the same where contact is lost
BRACE = BraceTuning()  # after a fall


@dataclass(frozen=True, eq=False)
class PerformMemory:
    """What one tick leaves for the next."""

    plan: PlannedMotion
    stage: Stage = "wait"
    since: float | None = None  # [s] when this stage began
    progress: PlanProgress | None = None
    air: AirPlan = field(default_factory=AirPlan)
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    stand: Stand | None = None  # before and after the plan
    standing: StandMemory | None = None  # memory of `stand`
    catch: CatchSteps | None = None  # steps that catch a fall, and the standing after them
    left_out: float = 0.0  # [s] of the plan, because of steps
    begun_again: int = 0  # times that it has begun again, because it had to step at once
    calm: float = 0.0  # [s] for which it has stood calmly
    cause: str = ""  # of a fall


@dataclass(frozen=True, eq=False)
class Perform:
    """Does a planned motion, then stands.

    `motion` is an optimised motion (the result of `optimize_motion` or of a stunt), a fixed one (the result of
    `fix_motion`) or any motion of the body, whose contacts are then found. Before it, the body stands for at least
    `wait` seconds and until it is calm. A motion that begins in movement, in the air or on a bar begins at once: start
    in `ready(character)`. The plan begins where the body stands, in the direction it faces. A body on two legs that
    loses its balance after the last planned contact steps to catch itself, on level ground or where `terrain` is known.
    """

    motion: Result | FixResult | Motion | PlannedMotion
    wait: float = 0.3  # [s]
    rate: float = 500.0  # [Hz]
    tuning: PerformTuning = field(default_factory=PerformTuning)
    terrain: Terrain | None = None  # the ground on which it may step; None: only level ground at z = 0

    def __post_init__(self) -> None:
        if not isinstance(self.motion, (Result, FixResult, Motion, PlannedMotion)):
            raise BadValue(
                "Perform takes the result of optimize_motion or fix_motion, or a Motion; got "
                f"{type(self.motion).__name__}"
            )
        if not (self.wait >= 0.0 and self.rate > 0.0):
            raise BadValue(f"wait is not negative and rate is positive; got {self.wait!r}, {self.rate!r}")

    # -- the controller's protocol -----------------------------------------------------------------------------------

    def begin(self, character: Character) -> PerformMemory:
        plan = _plan(self.motion)
        if plan.character.joint_names != character.joint_names:
            raise BadValue(
                f"this motion was planned for {plan.character.name!r}, whose joints differ from {character.name!r}'s"
            )
        return PerformMemory(plan)

    def act(self, snapshot: Snapshot, memory: PerformMemory) -> Action:
        if memory.since is None:
            memory = self._arrive(snapshot, memory)
        if memory.stage == "wait" and self._is_ready(snapshot, memory):
            memory = replace(memory, stage="perform", since=snapshot.time, progress=self._start(snapshot, memory.plan))
        if memory.catch is not None and memory.stage != "fallen":
            return self._step(snapshot, memory)
        if memory.stage in ("wait", "stand"):
            return self._stand(snapshot, memory)
        if memory.stage == "fallen":
            return self._limp(snapshot, memory)
        return self._perform(snapshot, memory)

    def ready(self, character: Character) -> State:
        """Returns the state to start in: the first pose and velocity of the motion."""
        plan = self.begin(character).plan
        return character.state(plan.q[0], plan.v[0])

    def starts_at_once(self, character: Character) -> bool:
        """Returns whether the motion begins in movement, in the air, on a bar or on the hands: there is no standing
        before it, so start in `ready(character)`."""
        return self._at_once(self.begin(character).plan, len(character.contact_points))

    def is_done(self, memory: PerformMemory) -> bool:
        """Returns whether the motion is over and the body stands calmly again."""
        return memory.stage == "stand" and memory.calm >= self.tuning.calm_time

    def on_terrain(self, terrain: Terrain) -> Perform:
        """Returns the same controller with knowledge of a terrain, unless it already has some."""
        return self if self.terrain is not None else replace(self, terrain=terrain)

    # -- performing --------------------------------------------------------------------------------------------------

    def _perform(self, given: Snapshot, memory: PerformMemory) -> Action:
        plan, t = memory.plan, self.tuning
        snapshot = _seen(given, plan)
        assert memory.progress is not None
        now = advance(memory.progress, plan, snapshot, given.body_force, t)
        air = plan_rest(memory.air, plan, now, snapshot, t)
        goal = tucked(plan.at(now.clock, now.phase), air.tuck, plan, now.clock, now.phase)
        goal = laid(goal, now.layout, now.speed)
        if plan.flies(now.phase):
            goal = carried(goal, snapshot, len(given.character.contact_points))
        cause = self._fall(snapshot, goal, now, plan)
        if cause:
            return self._limp(given, replace(memory, stage="fallen", cause=cause))
        pushing = plan.pushing[now.phase] | now.early
        if self._steps(given, plan, now) and self._falls(given, goal, pushing, now, plan):
            return self._step(given, self._catch(given, replace(memory, progress=now)))
        levels = perform_levels(
            snapshot, goal, now, plan, pushing, _touching(memory.solver, plan),
            len(given.character.contact_points), t,
        )  # fmt: skip
        footing = self._footing(plan, now, pushing)
        solution = solve_whole_body(snapshot, levels, footing, _solver_tuning(t), memory.solver)
        after = replace(memory, progress=now, air=air, solver=solution.memory)
        if now.phase + 1 == plan.phases and now.clock >= plan.duration:
            after = self._finish(given, goal, now, after)
        notes = {
            **solution.notes(), "stage": memory.stage, "phase": float(now.phase), "clock": now.clock,
            "event": now.event, "tracking": tracking_error(snapshot, goal.q), "tuck": air.tuck, "turn": air.error,
            "done": now.clock / plan.duration if plan.duration > 0.0 else 1.0,
            "left_out": memory.left_out / plan.duration if plan.duration > 0.0 else 0.0,
        }  # fmt: skip
        return Action(solution.torque, after, notes)

    def _footing(self, plan: PlannedMotion, now: PlanProgress, pushing: Flags) -> Footing:
        t = self.tuning
        rise = np.broadcast_to(now.rise + now.found, len(plan.character.feet)).tolist()
        parts = zip(plan.character.feet, plan.surfaces[now.phase], rise, strict=True)
        return Footing(
            surface={foot.name: _raised(surface, up) for foot, surface, up in parts}, raised=~pushing,
            loose=plan.pushing[now.phase] & ~plan.held[now.phase], friction=t.friction, rise=t.force_rise,
            fall=QUICK_FALL, lose=LOSE_TIME, strength=t.force_limit,
        )  # fmt: skip

    # -- before and after --------------------------------------------------------------------------------------------

    def _start(self, snapshot: Snapshot, plan: PlannedMotion) -> PlanProgress:
        return first_progress(plan, _seen(snapshot, plan), self.tuning)

    def _arrive(self, snapshot: Snapshot, memory: PerformMemory) -> PerformMemory:
        """Returns the memory at the first tick: the body stands in the plan's first pose, where its feet are.

        Plans that begin in movement, in the air, on a bar or on the hands begin at once.
        """
        plan, now = memory.plan, self._start(snapshot, memory.plan)
        feet = len(snapshot.character.contact_points)
        if self._at_once(plan, feet):
            now = replace(now, settling=math.inf)  # its clock does not wait
            return replace(memory, stage="perform", since=snapshot.time, progress=now)
        memory = replace(memory, since=snapshot.time)
        return self._with_stand(snapshot, laid(plan.at(0.0, 0), now.layout, 1.0).q, now, 0, memory)

    def _at_once(self, plan: PlannedMotion, feet: int) -> bool:
        moves = float(np.linalg.norm(plan.com[0, 1])) > self.tuning.standing_speed
        return bool(plan.flies(0) or moves or plan.pushing[0][feet:].any())

    def _finish(
        self, snapshot: Snapshot, goal: PlannedState, now: PlanProgress, memory: PerformMemory
    ) -> PerformMemory:
        memory = replace(memory, stage="stand", since=snapshot.time, calm=0.0)
        return self._with_stand(snapshot, goal.q, now, memory.plan.phases - 1, memory)

    def _with_stand(
        self, snapshot: Snapshot, q: Array, now: PlanProgress, phase: int, memory: PerformMemory
    ) -> PerformMemory:
        """Returns the memory with a controller that stands in a pose, on what the plan stands on in a phase."""
        parts = zip(snapshot.character.feet, memory.plan.surfaces[phase], strict=False)
        stand = Stand(reference=q, ground={foot.name: _raised(surface, now.rise) for foot, surface in parts})
        return replace(memory, stand=stand, standing=replace(stand.begin(snapshot.character), time=snapshot.time))

    def _stand(self, snapshot: Snapshot, memory: PerformMemory) -> Action:
        assert memory.stand is not None and memory.standing is not None
        if is_tipping(snapshot, self.tuning) or memory.standing.danger >= 1.0:
            now = memory.progress or self._start(snapshot, memory.plan)
            if self._steps(snapshot, memory.plan, now):
                return self._step(snapshot, self._catch(snapshot, replace(memory, progress=now)))
        done = memory.stand.act(snapshot, memory.standing)
        standing: StandMemory = done.memory
        calm = memory.calm + 1.0 / self.rate if _is_calm(snapshot, standing, self.tuning) else 0.0
        after = replace(memory, standing=standing, calm=calm)
        if standing.fallen:
            after = replace(after, stage="fallen", cause=f"it lost its balance at {snapshot.time:.2f} s while standing")
        return Action(done.torque, after, {**done.notes, "stage": memory.stage})

    def _is_ready(self, snapshot: Snapshot, memory: PerformMemory) -> bool:
        """Returns whether the plan can begin: the wait is over and the body calm, or it has waited too long."""
        assert memory.since is not None
        waited = snapshot.time - memory.since - self.wait
        return waited >= -1e-9 and (memory.calm > 0.0 or self.wait == 0.0 or waited >= self.tuning.longest_wait)

    # -- steps -------------------------------------------------------------------------------------------------------

    def _steps(self, snapshot: Snapshot, plan: PlannedMotion, now: PlanProgress) -> bool:
        """Returns whether it may step to catch a fall: two legs that alone bear, ground that it knows."""
        bears = plan.pushing[now.phase]
        feet = len(snapshot.character.contact_points)
        if self.tuning.step_margin >= 1.0 or bears[feet:].any() or not bears[:feet].any():
            return False
        return (self.terrain is not None or is_level(plan, now.phase, now.rise)) and can_step(snapshot.character)

    def _falls(
        self, snapshot: Snapshot, goal: PlannedState, pushing: Flags, now: PlanProgress, plan: PlannedMotion
    ) -> bool:
        """Returns whether only a step that is not planned helps."""
        if now.phase >= plan.last_stance:
            return is_tipping(snapshot, self.tuning, *_of_feet(goal, pushing, snapshot))
        if plan.time_to_flight(now.phase, now.clock) < self.tuning.committed:
            return False  # the landing is led, and a flip planned again
        return is_lost(snapshot, self.tuning, goal)

    def _catch(self, snapshot: Snapshot, memory: PerformMemory) -> PerformMemory:
        """Returns the memory of a body that begins to step."""
        assert memory.progress is not None
        plan, clock = memory.plan, memory.progress.clock
        feet, again = len(snapshot.character.contact_points), self._begins_again(snapshot, memory)
        joins = 0.0 if again or memory.stage == "wait" else next_quiet(plan, clock, feet, self.tuning)
        catch = catch_steps(snapshot, self.rate, self.terrain, plan, joins, memory.progress.layout)
        left_out = memory.left_out + max((plan.duration if joins is None else joins) - clock, 0.0)
        return replace(memory, catch=catch, left_out=left_out, begun_again=memory.begun_again + again, calm=0.0)

    def _begins_again(self, snapshot: Snapshot, memory: PerformMemory) -> bool:
        """Returns whether a plan that must step begins again: it began at rest on its feet, and has hardly begun."""
        assert memory.progress is not None
        plan, now, t = memory.plan, memory.progress, self.tuning
        if memory.stage != "perform" or now.phase > 0 or now.clock > t.hardly_begun:
            return False
        feet = len(snapshot.character.contact_points)
        stood = bool(plan.held[0, :feet].all()) and not self._at_once(plan, feet)
        return stood and memory.begun_again < t.begin_again

    def _step(self, snapshot: Snapshot, memory: PerformMemory) -> Action:
        """Steps until it stands. Then the plan goes on, or else it stands."""
        assert memory.catch is not None and memory.progress is not None
        action, catch = memory.catch.act(snapshot)
        speed = float(np.linalg.norm(snapshot.momentum[3:])) / snapshot.character.mass
        calm = memory.calm + 1.0 / self.rate if catch.stage == "stand" and speed < self.tuning.calm_speed else 0.0
        stage: Stage = "fallen" if catch.cause else catch.stage
        if stage == "stand" and catch.joins is not None:
            stage = "return"
        since = memory.since if stage == memory.stage else snapshot.time
        after = replace(memory, catch=catch, stage=stage, since=since, calm=calm, cause=catch.cause)
        if stage == "return" and catch.joins is not None and calm >= self.tuning.calm_time:
            seen = _seen(snapshot, memory.plan)
            if catch.joins > 0.0:
                progress = resumed_progress(memory.progress, memory.plan, catch.joins, seen, self.tuning)
            else:
                progress = first_progress(memory.plan, seen, self.tuning)
            after = replace(after, stage="perform", progress=progress, catch=None, solver=WholeBodyMemory(), calm=0.0)
        own = {name: value for name, value in action.notes.items() if name != "phase"}  # phases are those of the plan
        return Action(action.torque, after, {**own, "stage": stage})

    # -- falls -------------------------------------------------------------------------------------------------------

    def _fall(self, snapshot: Snapshot, goal: PlannedState, now: PlanProgress, plan: PlannedMotion) -> str:
        """Returns why the performance has failed; empty where it has not."""
        low = float(goal.com[0, 2] - snapshot.com[2])
        if not plan.flies(now.phase) and low > self.tuning.fallen * standing_body(snapshot.character).height:
            return f"the centre of mass is {low:.2f} m lower than planned at {now.clock:.2f} s of the plan"
        if now.late > self.tuning.late_landing:
            return f"nothing has landed {now.late:.2f} s after the planned landing"
        return ""

    def _limp(self, snapshot: Snapshot, memory: PerformMemory) -> Action:
        notes = {"status": "fallen", "stage": "fallen", "cause": memory.cause}
        return Action(falling_torque(snapshot, BRACE), memory, notes)


def _plan(motion: Result | FixResult | Motion | PlannedMotion) -> PlannedMotion:
    if isinstance(motion, PlannedMotion):
        return motion
    if isinstance(motion, Result):
        return plan_of_result(motion)
    return plan_of_motion(motion.motion if isinstance(motion, FixResult) else motion)


def _seen(snapshot: Snapshot, plan: PlannedMotion) -> Snapshot:
    """Returns the snapshot with the contact points of all parts that the plan uses."""
    if len(plan.character.feet) == len(snapshot.character.feet):
        return snapshot
    return take_snapshot(plan.character, snapshot.state)


def _of_feet(goal: PlannedState, pushing: Flags, snapshot: Snapshot) -> tuple[PlannedState, Flags]:
    """Returns a plan's state and its bearing points, of the body's own feet only."""
    own = len(snapshot.character.contact_points)
    return goal._replace(points=goal.points[:, :own]), pushing[:own]


def _raised(surface: Surface, rise: float) -> Surface:
    """Returns the surface, higher by `rise` [m]."""
    return surface if rise == 0.0 else replace(surface, origin=np.asarray(surface.origin) + (0.0, 0.0, rise))


def _touching(memory: WholeBodyMemory, plan: PlannedMotion) -> Flags:
    """Returns the points that touched at the last tick, (p,); all of them before the first tick."""
    footing = memory.footing
    return np.ones(plan.pushing.shape[1], bool) if footing is None else footing.touching


def _is_calm(snapshot: Snapshot, standing: StandMemory, t: PerformTuning) -> bool:
    speed = float(np.linalg.norm(snapshot.momentum[3:])) / snapshot.character.mass
    return speed < t.calm_speed and standing.alarm < t.calm_alarm


def _solver_tuning(t: PerformTuning) -> WholeBodyTuning:
    return WholeBodyTuning(rank=t.rank, force_weight=t.force_weight)
