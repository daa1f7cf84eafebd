"""Locomotion: one controller for everything on two feet (after de Lasa 2011, chapter 5).

It stands by `Stand`'s law until it is to go elsewhere, to face elsewhere, or its capture point leaves the support.
Then it steps: the plan of the next step (control/walk) is made anew at every tick, for the speed, the direction and the
heading that are asked for, or to catch a fall. Where it is to stay and the feet carry it, it stands again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.locomotion.avoiding import avoid, dodge_tuning
from counterpoise.control.locomotion.dodge import DodgeTuning, duck_height, is_ducking
from counterpoise.control.locomotion.gait_change import (
    HOP_FROM,
    HOPS,
    RUN_FROM,
    Gait,
    LiveGait,
    can_hop,
    can_run,
    can_walk,
    gait_named,
    walk_after,
)
from counterpoise.control.locomotion.guard import guarded
from counterpoise.control.locomotion.hazards import Hazard, hazards_of
from counterpoise.control.locomotion.high_edges import EdgeTuning, at_edges
from counterpoise.control.locomotion.leaps import LiveJump, asked_jump, before_jump, can_jump, leap, waits_to_jump
from counterpoise.control.locomotion.locomotion_state import LocomotionMemory, Runs
from counterpoise.control.locomotion.steering import steer, way_of
from counterpoise.control.perform.jump import Jump
from counterpoise.control.run.run import Running
from counterpoise.control.run.run_tuning import HOPPING, RunTuning
from counterpoise.control.stand import Stand, StandMemory
from counterpoise.control.stand_tuning import StandTuning
from counterpoise.control.standing_body import standing_body
from counterpoise.control.walk.catch_step import is_tipping
from counterpoise.control.walk.gait_cycle import GaitCycle, made_cycle
from counterpoise.control.walk.planes import FLAT_GROUND
from counterpoise.control.walk.schedule import is_even
from counterpoise.control.walk.seen import SeenBody, see
from counterpoise.control.walk.seen_ground import ground_under_feet
from counterpoise.control.walk.styles import WalkStyle, style_of
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walker import walk_tick, watched
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.control.walk.wishes import Live, Wishes, live_value
from counterpoise.errors import BadValue
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

POSITIVE = ("step_length", "step_time", "width", "hip_height")
NOT_NEGATIVE = ("foot_height", "arm_swing")
LOW_STAND = StandTuning(lowest=0.55)  # of a duck


@dataclass(frozen=True, eq=False)
class Locomotion:
    """Stands, walks in every direction, runs, turns, and steps to catch itself when it is pushed.

    Every number may be a function of time [s], and may be changed in a `Session` while it goes. `speed` is that along
    the heading, negative for backward; a pair is (forward, left). With `to` it goes to a place, along several places,
    or after a place that moves, and stops there; `speed` is then the highest, and `heading` is not used.
    What is not given follows from the speed and the style.
    """

    speed: Live | tuple[Live, Live] | None = None  # [m/s]; None: 0, or the usual speed where there is a place to go to
    heading: Live = 0.0  # [rad] that it faces, from x towards y
    gait: LiveGait = "auto"  # auto: it runs where it cannot walk so fast; "hop_left": it hops on the left leg
    step_length: Live | None = None  # [m]
    step_time: Live | None = None  # [s]
    width: Live | None = None  # [m] between the ankles
    foot_height: Live | None = None  # [m] by which the sole of the swinging foot rises
    hip_height: Live | None = None  # [m] of the hips in mid-stance
    lean: Live | None = None  # [rad] of the trunk forward
    arm_swing: Live | None = None  # [the style's]
    style: str | WalkStyle | GaitCycle | None = None
    terrain: Terrain | None = None  # the ground that it sees; None: level ground at z = 0
    to: ArrayLike | Callable[[float], ArrayLike] | None = None  # (2,) a place or (n, 2) a way [m]
    jump: LiveJump | None = None  # it comes to stand, jumps once, and goes on; or a function of time
    plans: bool = True  # jumps onto high edges at once, which may take half a minute; False: it waits for `jump_ahead`
    avoid: Any = ()  # Hazards and Props to dodge and to walk around, or a function of time that returns them
    rate: float = 500.0  # [Hz]
    tuning: WalkTuning = field(default_factory=WalkTuning)
    running: RunTuning = field(default_factory=RunTuning)
    hopping: RunTuning = field(default_factory=lambda: HOPPING)
    dodging: DodgeTuning = field(default_factory=DodgeTuning)
    edges: EdgeTuning = field(default_factory=EdgeTuning)

    def __post_init__(self) -> None:
        for name in ("heading", "lean", *POSITIVE, *NOT_NEGATIVE):
            value = getattr(self, name)
            if value is None or callable(value):
                continue
            _check_number(f"Locomotion.{name}", value)
            if (name in POSITIVE and value <= 0.0) or (name in NOT_NEGATIVE and value < 0.0):
                raise BadValue(
                    f"Locomotion.{name} is {'positive' if name in POSITIVE else 'not negative'}; got {value!r}"
                )
        for value in self.speed if isinstance(self.speed, tuple) else (self.speed,):
            if value is not None and not callable(value):
                _check_number("Locomotion.speed", value)
        if isinstance(self.speed, tuple) and len(self.speed) != 2:
            raise BadValue(f"Locomotion.speed is a number or a pair (forward, left) [m/s]; got {self.speed!r}")
        if not callable(self.gait):
            gait_named(self.gait)
        if not self.rate > 0.0:
            raise BadValue(f"a controller's rate is positive [Hz]; got {self.rate!r}")
        if self.terrain is not None and not isinstance(self.terrain, Terrain):
            raise BadValue(f"Locomotion.terrain is a Terrain, or None for level ground; got {self.terrain!r}")
        if self.to is not None and not callable(self.to):
            way_of(self.to)
        if self.jump is not None and not callable(self.jump) and not isinstance(self.jump, Jump):
            raise BadValue(f"Locomotion.jump is a Jump, or a function of time that returns one; got {self.jump!r}")
        if not callable(self.avoid):
            object.__setattr__(self, "avoid", hazards_of(self.avoid))
        if self.style is not None and not isinstance(self.style, GaitCycle):
            style_of(self.style)

    # -- the controller's protocol -----------------------------------------------------------------------------------

    def begin(self, character: Character) -> LocomotionMemory:
        walking_body(character)
        if isinstance(self.style, GaitCycle) and self.style.character.joint_names != character.joint_names:
            raise BadValue(
                f"this gait is of {self.style.character.name!r}, whose joints differ from {character.name!r}'s: "
                "gait_from(retarget(motion, character)) makes one that fits"
            )
        return LocomotionMemory()

    def carry(self, memory: LocomotionMemory, character: Character) -> LocomotionMemory:
        """Returns the memory for a body of other proportions that goes on."""
        walking_body(character)
        walk = altered(memory.walk, planted=np.zeros((0, 3)), held=np.zeros(0, bool))
        return altered(memory, walk=walk, stand=self._stand().carry(memory.stand, character))

    def take_over(self, character: Character, snapshot: Snapshot, controller: Any, memory: Any) -> LocomotionMemory:
        """Returns the memory with which it continues what another controller did."""
        start = self.begin(character)
        if isinstance(memory, WalkMemory):
            return altered(start, doing="step", walk=memory)
        return altered(start, stand=memory) if isinstance(memory, StandMemory) else start

    def act(self, snapshot: Snapshot, memory: LocomotionMemory) -> Action:
        if self.jump is not None:
            memory = asked_jump(self.jump, snapshot.time, memory)
        if memory.doing == "jump":
            return leap(snapshot, memory)
        character = snapshot.character
        body = walking_body(character)
        if self.terrain is not None and memory.walk.time is None:
            memory = altered(memory, walk=altered(memory.walk, ground=ground_under_feet(snapshot, self.terrain)))
        seen = see(snapshot, body, memory.walk.ground)
        wishes, memory = self._wishes(snapshot.time, seen.capture, memory, body)
        if self.terrain is not None and not waits_to_jump(memory) and memory.doing in ("stand", "step"):
            wishes, memory = at_edges(snapshot, wishes, memory, self.terrain, body, self.edges, self.plans)
        if waits_to_jump(memory):
            wishes = before_jump(wishes)
            if can_jump(memory, seen, body):
                return leap(snapshot, memory)
        hazards = self._hazards(snapshot.time)
        if hazards or memory.dodge is not None:
            wishes, memory = avoid(snapshot, seen, wishes, memory, hazards, body, self.dodging)
        walk = watched(memory.walk, snapshot, seen) if memory.doing == "stand" else memory.walk
        turns = abs(math.remainder(wishes.heading - walk.heading, 2.0 * math.pi)) > self.tuning.least_turn
        rests = wishes.stays and not turns and (not wishes.even or is_even(seen, walk.heading, body))
        low = memory.doing == "stand" and is_ducking(
            memory.dodge, snapshot.time, float(seen.com[2] - seen.base.min()), body
        )
        if memory.doing == "stand" and not memory.stand.fallen and not low:
            soon = seen._replace(capture=seen.capture + self.tuning.foresight * body.leg_time * walk.drift)
            margin = -self.tuning.lean_out if memory.dodge is None else self.tuning.tipping  # a duck sways more
            if not rests or is_tipping(snapshot, soon, body, margin):
                torque = memory.stand.torque
                memory = altered(memory, doing="step", walk=altered(walk, torque=torque))
            else:
                memory = altered(memory, walk=walk)
        if memory.doing == "stand":
            action = self._ducking(memory, body, character).act(snapshot, memory.stand)
            phase = "fallen" if action.memory.fallen else "stand"
            notes = {**action.notes, "phase": phase, "steps": float(memory.walk.steps), "cost": 0.0}
            return Action(action.torque, altered(memory, stand=action.memory), notes)
        if memory.doing == "run" or self._can_run(walk, seen, wishes, snapshot.time, body):
            return self._run(snapshot, memory, wishes, seen, body)
        style = self._style()
        cycle = style if isinstance(style, GaitCycle) else made_cycle(character, style_of(style))
        if memory.dodge is not None and memory.dodge.kind == "step":
            cycle = guarded(cycle, character)
        tuning = dodge_tuning(self.tuning, memory, self.dodging)
        action = walk_tick(snapshot, memory.walk, wishes, cycle, tuning, seen)
        after = altered(memory, walk=action.memory)
        if (
            action.memory.phase == "stand"
            and rests
            and not is_tipping(snapshot, seen, body, -2.0 * self.tuning.lean_out)
        ):
            stand = StandMemory(time=snapshot.time, torque=action.torque, solver=action.memory.solver)
            after = altered(after, doing="stand", stand=stand)
        return Action(action.torque, after, action.notes)

    def jump_ahead(self, memory: LocomotionMemory, character: Character) -> Jump | None:
        """Returns the jump at the high edge that it comes to, to be planned elsewhere; None without an edge."""
        if self.terrain is None or math.isnan(memory.edge[0]) or memory.doing == "jump":
            return None
        return self.edges.jump(float(memory.edge[1]), walking_body(character).hips_height)

    def _runs(self, wishes: Wishes, now: float, body: WalkingBody) -> Runs:
        """Returns whether what is asked for is a run, or hops on one leg; empty where it is neither."""
        gait = self._gait(now)
        if wishes.even:  # it comes to stand, and jumps
            return ""
        if gait == "hop_left" or gait == "hop_right":
            return gait
        return "run" if gait == "run" or (gait == "auto" and wishes.speed > RUN_FROM * body.leg_speed) else ""

    def _can_run(self, walk: WalkMemory, seen: SeenBody, wishes: Wishes, now: float, body: WalkingBody) -> bool:
        """Returns whether a run that is asked for, or hops, can take over from a walk now."""
        asked = self._runs(wishes, now, body)
        if asked in HOPS:
            return can_hop(walk, seen, HOPS.index(asked), body)
        return asked == "run" and can_run(walk, seen, wishes.speed, body)

    def _run(
        self, snapshot: Snapshot, memory: LocomotionMemory, wishes: Wishes, seen: SeenBody, body: WalkingBody
    ) -> Action:
        """Runs or hops, or hands the body over to a walk."""
        asked = self._runs(wishes, snapshot.time, body)
        doing = asked if memory.doing != "run" else memory.runs
        if doing != asked and can_walk(memory.run, seen, body, self.tuning.fastest):
            walk = walk_after(memory.run, seen, snapshot.time, wishes.stays, body)
            return self.act(snapshot, altered(memory, doing="step", walk=walk))
        usual = self.hopping if doing in HOPS else self.running
        tuning = usual.stopping if wishes.stays and doing not in HOPS else usual
        low, high = (share * body.leg_speed for share in (tuning.slowest, tuning.fastest))
        terrain = None if doing in HOPS else self.terrain
        running = Running(min(max(wishes.speed, low), high), wishes.heading, self.rate, tuning, terrain)
        run = memory.run
        if memory.doing != "run":
            run = running.take_over(snapshot.character, snapshot, self, memory.walk)
        level = seen if seen.ground is FLAT_GROUND else see(snapshot, body)
        action = running.go_on(snapshot, run, level)
        walk = altered(memory.walk, heading=action.memory.heading, time=snapshot.time)
        after = altered(memory, doing="run", runs=doing, run=action.memory, walk=walk)
        return Action(action.torque, after, action.notes)

    # -- what is asked -----------------------------------------------------------------------------------------------

    def _style(self) -> str | WalkStyle | GaitCycle:
        return "normal" if self.style is None else self.style

    def _gait(self, now: float) -> Gait:
        return gait_named(self.gait(now) if callable(self.gait) else self.gait)

    def _stand(self) -> Stand:
        return Stand(rate=self.rate, terrain=self.terrain)

    def _ducking(self, memory: LocomotionMemory, body: WalkingBody, character: Character) -> Stand:
        """Returns the law of standing; in a duck, at the height of that moment."""
        dodge = memory.dodge
        if dodge is None or dodge.kind != "duck":
            return self._stand()
        high = standing_body(character).height
        height = partial(duck_height, dodge, standing=high, body=body, t=self.dodging)
        return replace(self._stand(), height=height, tuning=LOW_STAND)

    def _hazards(self, now: float) -> tuple[Hazard, ...]:
        given: tuple[Hazard, ...] = hazards_of(self.avoid(now)) if callable(self.avoid) else self.avoid
        return given

    def _wishes(
        self, now: float, place: Array, memory: LocomotionMemory, body: WalkingBody
    ) -> tuple[Wishes, LocomotionMemory]:
        given = self.speed if isinstance(self.speed, tuple) else (self.speed, 0.0)
        forward, left = live_value(given[0], now), live_value(given[1], now) or 0.0
        heading = live_value(self.heading, now) or 0.0
        step, time = live_value(self.step_length, now), live_value(self.step_time, now)
        if self.to is not None:
            style = self._style()
            usual = (style.style if isinstance(style, GaitCycle) else style_of(style)).speed
            most = usual * self.tuning.usual_speed * body.leg_speed if forward is None else abs(forward)
            way = way_of(self.to(now) if callable(self.to) else self.to)
            forward, heading, reached = steer(
                place, memory.walk.heading, way, min(memory.reached, len(way)), most, body
            )
            memory = altered(memory, reached=reached)
        elif forward is None:
            forward = step / time if step is not None and time is not None else 0.0
        gait = self._gait(now)
        if gait == "run" and forward > 0.0:
            forward = max(forward, self.running.slowest * body.leg_speed)
        if gait in HOPS and memory.doing in ("stand", "step"):
            forward = HOP_FROM * body.leg_speed  # hops begin from a slow walk
        high = live_value(self.hip_height, now)
        lower = 0.0 if high is None else max(body.hips_height - high, 0.0)
        arms = live_value(self.arm_swing, now)
        wishes = Wishes(
            forward, left, heading, step, time, live_value(self.foot_height, now), live_value(self.lean, now) or 0.0,
            width=live_value(self.width, now), lower=lower, arms=1.0 if arms is None else arms, terrain=self.terrain,
        )  # fmt: skip
        return wishes, memory


def _check_number(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise BadValue(f"{name} is a number or a function of time; got {value!r}")
