"""GetUp: from lying on the back, the front or a side to standing.

While it lies, the joints follow key poses: it rolls over to its front where it is not there yet, draws its knees under
its hips and sits back on its toes, hands on the ground. From there a motion planned by spacetime optimisation brings it
onto flat feet, into a squat and up; `Perform` does it, and `Stand` takes over. What fails is tried again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.bracing.falling import BraceTuning, brace_torque
from counterpoise.control.bracing.humanoid import humanoid_of
from counterpoise.control.getting_up.choreography import LyingTimes, kneeling_keys, rolling_keys
from counterpoise.control.getting_up.lying import KeyProgress, LyingKey, follow_keys, way_of_lying, with_joints_kept
from counterpoise.control.getting_up.plan import GettingUpPlanTuning, plan_getting_up
from counterpoise.control.perform.perform import Perform, PerformMemory
from counterpoise.control.perform.planned_motion import PlannedMotion
from counterpoise.control.perform.tuning import PerformTuning
from counterpoise.errors import BadValue

GetUpStage = Literal["fall", "roll", "kneel", "rise"]


@dataclass(frozen=True)
class GetUpTuning:
    """Stiffness, waits and times of getting up."""

    stiffness: float = 8.0  # [1/rad] of each joint's strength, while it rolls and kneels
    damping: float = 0.12  # [s] damping over stiffness
    still_speed: float = 0.15  # [m/s] of the CoM below which it lies still
    still_time: float = 0.2  # [s] of stillness before it begins
    longest_fall: float = 4.0  # [s] after which it begins in any case
    on_knees: float = 0.25  # least upward share of the trunk's direction with which it may rise
    times: LyingTimes = field(default_factory=LyingTimes)
    brace: BraceTuning = field(default_factory=BraceTuning)


@dataclass(frozen=True, eq=False)
class GetUpMemory:
    """What one tick leaves for the next."""

    plan: PlannedMotion
    stage: GetUpStage = "fall"
    since: float | None = None  # [s] when this stage began
    still: float = 0.0  # [s] for which it has lain still
    keys: tuple[LyingKey, ...] = ()
    progress: KeyProgress | None = None
    rise: PerformMemory | None = None
    attempts: int = 0  # times that it has begun to roll or to kneel
    lay: str = ""  # on what it lay at the last attempt


@dataclass(frozen=True, eq=False)
class GetUp:
    """Gets up from wherever the body lies, then stands. After another fall it gets up again.

    While it falls, the arms reach for the ground on the side of the fall and the neck keeps the head away from it.
    The plan from kneeling to standing is made once for a body and kept. The ground is level.
    """

    rate: float = 500.0  # [Hz]
    tuning: GetUpTuning = field(default_factory=GetUpTuning)
    planning: GettingUpPlanTuning = field(default_factory=GettingUpPlanTuning)
    performing: PerformTuning = field(default_factory=PerformTuning)

    def __post_init__(self) -> None:
        if not self.rate > 0.0:
            raise BadValue(f"rate is positive; got {self.rate!r}")

    # -- the controller's protocol -----------------------------------------------------------------------------------

    def begin(self, character: Character) -> GetUpMemory:
        return GetUpMemory(plan_getting_up(character, self.planning))

    def act(self, snapshot: Snapshot, memory: GetUpMemory) -> Action:
        if memory.since is None:
            memory = replace(memory, since=snapshot.time)
        if memory.stage == "fall":
            return self._fall(snapshot, memory)
        if memory.stage in ("roll", "kneel"):
            return self._move(snapshot, memory)
        return self._rise(snapshot, memory)

    def is_done(self, memory: GetUpMemory) -> bool:
        """Returns whether the body stands calmly."""
        return memory.stage == "rise" and memory.rise is not None and self._perform(memory).is_done(memory.rise)

    # -- stages ------------------------------------------------------------------------------------------------------

    def _fall(self, snapshot: Snapshot, memory: GetUpMemory) -> Action:
        """Braces until the body lies still, then begins to roll or to kneel."""
        t = self.tuning
        speed = float(np.linalg.norm(snapshot.momentum[3:])) / snapshot.character.mass
        still = memory.still + 1.0 / self.rate if speed < t.still_speed else 0.0
        assert memory.since is not None
        if still >= t.still_time or snapshot.time - memory.since > t.longest_fall:
            return self._move(snapshot, self._next(snapshot, memory))
        torque = brace_torque(snapshot, t.brace)
        return Action(torque, replace(memory, still=still), {"stage": "fall", "status": "fallen"})

    def _next(self, snapshot: Snapshot, memory: GetUpMemory) -> GetUpMemory:
        """Returns the memory at the start of rolling, or of kneeling where the body lies on its front."""
        lies, character = way_of_lying(snapshot), snapshot.character
        progress = KeyProgress(snapshot.q.copy(), snapshot.time)
        if lies == "front":
            keys = kneeling_keys(character, memory.plan.q[0].tobytes(), self.tuning.times)
            stage: GetUpStage = "kneel"
        else:
            near = lies if lies != "back" else ("left", "right")[memory.attempts % 2]
            keys, stage = rolling_keys(character, lies, near, self.tuning.times), "roll"
            if lies != "back":  # the arm that it lies on stays where it is
                arm = humanoid_of(character).sides(near)[0][0]
                keys = with_joints_kept(character, keys, snapshot.q, (arm.shoulder, arm.elbow, arm.wrist))
        return replace(
            memory, stage=stage, since=snapshot.time, still=0.0, keys=keys, progress=progress, rise=None,
            attempts=memory.attempts + 1, lay=lies,
        )  # fmt: skip

    def _move(self, snapshot: Snapshot, memory: GetUpMemory) -> Action:
        """Follows the keys of rolling or kneeling."""
        t = self.tuning
        assert memory.progress is not None
        torque, progress, error = follow_keys(
            snapshot, memory.keys, memory.progress, t.stiffness, t.damping, 1.0 / self.rate
        )
        notes: dict[str, float | str] = {
            "stage": memory.stage,
            "status": "lying on its " + memory.lay,
            "tracking": error,
        }
        if progress is not None:
            return Action(torque, replace(memory, progress=progress), notes)
        if memory.stage == "kneel" and self._kneels(snapshot):
            rise = self._perform(memory).begin(snapshot.character)
            return Action(torque, replace(memory, stage="rise", since=snapshot.time, rise=rise), notes)
        return Action(torque, self._next(snapshot, memory), notes)

    def _kneels(self, snapshot: Snapshot) -> bool:
        """Returns whether the trunk is up: from the hips to the chest it points upwards."""
        way = snapshot.position(humanoid_of(snapshot.character).chest) - snapshot.position(snapshot.character.root)
        return float(way[2]) > self.tuning.on_knees * float(np.linalg.norm(way))

    def _rise(self, snapshot: Snapshot, memory: GetUpMemory) -> Action:
        """Performs the plan and stands; after a fall it begins again."""
        assert memory.rise is not None
        done = self._perform(memory).act(snapshot, memory.rise)
        rise: PerformMemory = done.memory
        if rise.stage == "fallen":
            memory = replace(memory, stage="fall", since=snapshot.time, still=0.0, rise=None)
            return Action(brace_torque(snapshot, self.tuning.brace), memory, {"stage": "fall", "cause": rise.cause})
        stage = "rise" if rise.stage == "perform" else "stand"
        return Action(done.torque, replace(memory, rise=rise), {**done.notes, "stage": stage})

    def _perform(self, memory: GetUpMemory) -> Perform:
        return Perform(memory.plan, 0.0, self.rate, self.performing)
