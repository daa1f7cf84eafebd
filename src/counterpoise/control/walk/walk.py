"""Walk: a simulated body walks, at a speed, in a direction and in a style (de Lasa 2011, section 4.3, and beyond).

A pendulum in closed form decides when and where the feet land (stepping.py). The hips' height, heel strike and heel-off
follow from the geometry of the legs, the posture of trunk and arms from a style or a captured stride, played at the
walk's own phase. Planted points are strict; below them CoM, hips, angular momentum, trunk and swinging foot count by
weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.walk.gait_cycle import GaitCycle, made_cycle
from counterpoise.control.walk.styles import WalkStyle, style_of
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walker import walk_tick
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.control.walk.wishes import Live, Wishes, live_value
from counterpoise.errors import BadValue
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

HIGHEST_STEP = 0.4  # [leg lengths] by which a swinging sole may be asked to rise


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
    terrain: Terrain | None = None  # the ground that it sees; None: level ground at z = 0
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
        if self.terrain is not None and not isinstance(self.terrain, Terrain):
            raise BadValue(f"Walk.terrain is a Terrain, or None for level ground; got {self.terrain!r}")
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
        self._check_step(character, body, fastest)
        return WalkMemory()

    def _check_step(self, character: Character, body: WalkingBody, fastest: float) -> None:
        """Raises BadValue where a body cannot take the steps that are asked for."""
        t = self.tuning
        for name, low, high, unit in (
            ("step", 0.0, t.longest_reach * body.hips_height, "m"),
            ("time", t.least_step * body.leg_time, t.most_step * body.leg_time, "s"),
            ("height", 0.0, HIGHEST_STEP * body.hips_height, "m"),
        ):
            value = getattr(self, name)
            if isinstance(value, (int, float)) and not low <= value <= high:
                raise BadValue(f"Walk.{name} of {character.name!r} is {low:.2f} to {high:.2f} {unit}; got {value!r}")
        if isinstance(self.step, (int, float)) and isinstance(self.time, (int, float)):
            speed = self.step / self.time
            if speed > fastest:
                raise BadValue(
                    f"{character.name!r} walks at 0 to {fastest:.2f} m/s; steps of {self.step!r} m in {self.time!r} s "
                    f"are {speed:.2f} m/s"
                )

    def usual_speed(self, character: Character) -> float:
        """Returns the speed at which a body walks in this style where none is asked for [m/s].

        Of a captured walk it is the captured speed, in leg lengths and leg times, up to a brisk walk (1.6 m/s for a
        person).
        """
        body, cycle = walking_body(character), self.style
        own = body.pace * body.leg_speed
        if not isinstance(cycle, GaitCycle):
            return style_of(cycle).speed * self.tuning.usual_speed * own
        usual = self.tuning.usual_speed
        if cycle.captured:
            usual = min(cycle.speed / walking_body(cycle.character).leg_speed, self.tuning.brisk)
        return cycle.style.speed * usual * own

    def carry(self, memory: WalkMemory, character: Character) -> WalkMemory:
        """Returns the memory for a body of other proportions that walks on."""
        walking_body(character)
        return altered(memory, planted=np.zeros((0, 3)), held=np.zeros(0, bool))

    def act(self, snapshot: Snapshot, memory: WalkMemory) -> Action:
        style = self.style
        cycle = style if isinstance(style, GaitCycle) else made_cycle(snapshot.character, style_of(style))
        return walk_tick(snapshot, memory, self._wishes(snapshot), cycle, self.tuning)

    def _wishes(self, snapshot: Snapshot) -> Wishes:
        now = snapshot.time
        step, time = live_value(self.step, now), live_value(self.time, now)
        if self.speed is not None:
            speed = live_value(self.speed, now) or 0.0
        elif step is not None and time is not None:
            speed = step / time
        else:
            speed = self.usual_speed(snapshot.character)
        return Wishes(
            speed, 0.0, live_value(self.heading, now) or 0.0, step, time, live_value(self.height, now),
            live_value(self.lean, now) or 0.0, terrain=self.terrain, calm=self.terrain is None,
        )  # fmt: skip
