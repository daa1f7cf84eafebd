"""Styles of walking: one frozen table of targets for each."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from counterpoise.errors import BadValue, unknown_name


@dataclass(frozen=True)
class WalkStyle:
    """Targets of a walk's objectives. Angles in degrees; forward and up are positive.

    Waves go with the stride: swings of arms and trunk are largest at heel strike.
    """

    name: str = "normal"
    speed: float = 1.0  # [usual speeds] where no speed is asked for
    time: float = 1.0  # [usual times] of a step
    width: float = 1.0  # [usual widths]
    lift: float = 1.0  # [usual clearances] of the swinging foot
    crouch: float = 0.0  # [leg lengths] hips lower by this
    bounce: float = 0.0  # [leg lengths] hips higher in mid-stance and lower at landing, by this
    strike: float = 1.0  # [usual angles] of the foot at heel strike
    lean: float = 1.0  # forward, of hips and chest
    chest: float = 2.0  # forward, of the chest beyond the hips
    head: float = 0.0  # forward, of the head
    arm_swing: float = 20.0  # of the upper arms to each side, at the usual speed
    arm_forward: float = -3.0  # mean of the upper arms
    arm_out: float = 0.0  # of the upper arms, away from the body
    elbow: float = 20.0  # mean bend
    elbow_swing: float = 8.0
    hips_yaw: float = 4.0  # of the hips about the vertical, the side of the leading leg forward
    chest_yaw: float = 4.0  # of the chest, against the hips
    hips_list: float = 2.5  # of the hips about the forward axis, the swinging side down
    limp: float = 0.0  # share by which steps onto the left foot are longer in time than those onto the right

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name != "name" and not np.isfinite(value):
                raise BadValue(f"WalkStyle.{field.name} is a number; got {value!r}")
        if not (self.speed > 0.0 and self.time > 0.0 and self.width > 0.0 and abs(self.limp) <= 0.3):
            raise BadValue(
                f"a style has positive speed, time and width, and a limp from -0.3 to 0.3; got speed {self.speed!r}, "
                f"time {self.time!r}, width {self.width!r}, limp {self.limp!r}"
            )


STYLES: dict[str, WalkStyle] = {
    style.name: style
    for style in (
        WalkStyle(),
        WalkStyle("fast", speed=1.3, arm_swing=22.0, elbow=45.0, lean=3.0, hips_yaw=5.0, chest_yaw=5.0),
        WalkStyle("slow", speed=0.55, time=1.08, arm_swing=12.0),
        WalkStyle("sad", speed=0.5, time=1.12, crouch=0.012, lean=6.0, chest=12.0, head=28.0, arm_swing=6.0,
                  arm_forward=8.0, elbow=10.0, strike=0.5, lift=0.7, hips_yaw=2.0, chest_yaw=1.0),
        WalkStyle("proud", speed=1.0, lean=-2.0, chest=-6.0, head=-6.0, arm_swing=24.0, arm_out=8.0, elbow=12.0,
                  strike=1.15),
        WalkStyle("sneaking", speed=0.42, time=1.15, crouch=0.09, lean=14.0, chest=14.0, head=-16.0, lift=2.6,
                  strike=0.0, arm_swing=5.0, arm_forward=22.0, elbow=75.0, elbow_swing=3.0, hips_yaw=3.0,
                  chest_yaw=2.0, hips_list=0.0),
        WalkStyle("limping", speed=0.6, time=0.9, limp=0.14, arm_swing=12.0, lean=3.0, hips_list=5.0),
        WalkStyle("marching", speed=1.0, time=0.97, lift=2.5, strike=0.4, arm_swing=38.0, elbow=8.0,
                  elbow_swing=0.0, lean=-1.0, chest=-3.0, head=-3.0),
        WalkStyle("bouncy", speed=0.95, bounce=0.008, arm_swing=28.0, elbow=35.0, elbow_swing=14.0, hips_yaw=6.0,
                  chest_yaw=6.0, hips_list=4.0),
    )
}  # fmt: skip


def style_of(given: str | WalkStyle) -> WalkStyle:
    """Returns a style by its name, or the one that is given."""
    if isinstance(given, WalkStyle):
        return given
    if given not in STYLES:
        raise unknown_name("style", str(given), STYLES, "Walk")
    return STYLES[given]
