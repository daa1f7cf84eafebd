"""The reference motions as keys: what each is called, the joints it needs, and the poses it passes through.

A key turns joints about the world's axes as they are in the zero pose (x forward, y left, z up): a knee bends by +y, a
hip flexes by -y, a left arm lifts sideways by +x. It also says which feet carry the body and how far the pelvis sinks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from counterpoise.character import Character

Turn = tuple[float, float, float]
PAUSE = 0.04  # [s] of rest at every change of support, so that a foot leaves and lands without a jerk


@dataclass(frozen=True)
class ReferenceKey:
    """One key of a reference motion: its time, the turns of joints, the feet it stands on, and how long it holds."""

    time: float  # [s]
    turns: Mapping[str, Turn] = field(default_factory=dict)  # joint -> rotation vector [rad], world axes
    tilt: Turn = (0.0, 0.0, 0.0)  # of the pelvis, from neutral [rad], world axes
    sink: float = 0.0  # of the pelvis, as a share of its height
    feet: str = "both"  # on the ground: both, left or right
    over: str = "both"  # the CoM is over: both, the left or the right foot
    hold: float = 0.0  # [s]


@dataclass(frozen=True)
class Reference:
    """A reference motion: its name, a line about it, the joints it needs, and its keys."""

    name: str
    summary: str
    needs: tuple[str, ...]  # names of joints; "trunk" stands for a waist or a spine
    keys: Callable[[Character], list[ReferenceKey]]
    one_legged: bool = False  # stands on the left foot alone for a while
    sideways: bool = False  # swings the right hip sideways


def _both(name: str, turn: Turn) -> dict[str, Turn]:
    """Returns a turn of the left joint and its mirror image for the right one."""
    x, y, z = turn
    return {f"{name}_left": (x, y, z), f"{name}_right": (-x, y, -z)}


def _trunk(character: Character, turn: Turn) -> dict[str, Turn]:
    """Returns a turn shared equally among the joints of the trunk that this character has."""
    found = [name for name in ("waist", "spine") if name in character.joint_names]
    return {name: (turn[0] / len(found), turn[1] / len(found), turn[2] / len(found)) for name in found}


def _stand(character: Character) -> list[ReferenceKey]:
    return [ReferenceKey(0.0), ReferenceKey(2.0)]


def _squat(character: Character) -> list[ReferenceKey]:
    down = ReferenceKey(
        1.2,
        {
            **_both("shoulder", (0.1, -1.2, 0.0)),
            **_both("elbow", (0.0, -0.3, 0.0)),
            **_trunk(character, (0.0, 0.1, 0.0)),
            "neck": (0.0, -0.4, 0.0),
        },
        tilt=(0.0, 0.28, 0.0),
        sink=0.28,
        hold=0.3,
    )
    return [ReferenceKey(0.0), down, ReferenceKey(3.0)]


def _butterfly(character: Character) -> list[ReferenceKey]:
    up = {**_both("shoulder", (2.3, -0.3, 0.0)), **_both("elbow", (0.0, -0.25, 0.0))}
    low = {**_both("shoulder", (0.25, -0.05, 0.0)), **_both("elbow", (0.0, -0.25, 0.0))}
    return [ReferenceKey(0.0), ReferenceKey(0.8, up), ReferenceKey(1.6, low), ReferenceKey(2.4, up), ReferenceKey(3.2)]


def _toe_touch(character: Character) -> list[ReferenceKey]:
    down = ReferenceKey(
        1.6,
        {
            **_trunk(character, (0.0, 1.15, 0.0)),
            **_both("shoulder", (0.05, -2.1, 0.0)),
            **_both("elbow", (0.0, -0.1, 0.0)),
            **_both("knee", (0.0, 0.25, 0.0)),
        },
        tilt=(0.0, 0.85, 0.0),
        sink=0.08,
        hold=0.4,
    )
    return [ReferenceKey(0.0), down, ReferenceKey(3.8)]


def _twist(character: Character) -> list[ReferenceKey]:
    def turned(angle: float) -> dict[str, Turn]:
        arms = {**_both("shoulder", (1.2, -0.1, 0.0)), **_both("elbow", (0.0, -0.4, 0.0))}
        return {**arms, **_trunk(character, (0.0, 0.0, angle))}

    return [
        ReferenceKey(0.0),
        ReferenceKey(0.8, turned(0.0)),
        ReferenceKey(1.6, turned(0.7)),
        ReferenceKey(2.8, turned(-0.7)),
        ReferenceKey(3.6, turned(0.0)),
        ReferenceKey(4.4),
    ]


def _on_left(time: float, leg: Mapping[str, Turn], tilt: Turn = (0.0, 0.0, 0.0), hold: float = 0.0) -> ReferenceKey:
    arms = {**_both("shoulder", (0.6, -0.1, 0.0)), **_both("elbow", (0.0, -0.6, 0.0))}
    return ReferenceKey(time, {**arms, **leg}, tilt, sink=0.02, feet="left", over="left", hold=hold)


def _shifted(time: float) -> ReferenceKey:
    """Both feet on the ground, the CoM over the left one: just before or after the right foot is in the air."""
    arms = {**_both("shoulder", (0.35, -0.1, 0.0)), **_both("elbow", (0.0, -0.5, 0.0))}
    return ReferenceKey(time, arms, sink=0.02, over="left", hold=PAUSE)


def _lifted(time: float) -> ReferenceKey:
    """The right foot above the ground with its toes raised a little, so that it does not drag."""
    leg: dict[str, Turn] = {
        "hip_right": (-0.12, -0.5, 0.0),
        "knee_right": (0.0, 0.9, 0.0),
        "ankle_right": (0.0, -0.48, 0.0),
    }
    return _on_left(time, leg)


def _kick(
    chamber: Mapping[str, Turn], strike: Mapping[str, Turn], lean: Turn, times: tuple[float, ...]
) -> list[ReferenceKey]:
    """Returns the keys of a kick of the right leg; `times` [s] are those of the last six."""
    ready, struck, back, lowered, landed, done = times
    return [
        ReferenceKey(0.0),
        _shifted(1.0),
        _lifted(1.34),
        _on_left(ready, chamber, lean),
        _on_left(struck, strike, lean),
        _on_left(back, chamber, lean),
        _lifted(lowered),
        _shifted(landed),
        ReferenceKey(done),
    ]


def _front_kick(character: Character) -> list[ReferenceKey]:
    chamber = {"hip_right": (0.0, -1.1, 0.0), "knee_right": (0.0, 1.5, 0.0), "ankle_right": (0.0, -0.35, 0.0)}
    strike = {"hip_right": (0.0, -1.15, 0.0), "knee_right": (0.0, 0.25, 0.0), "ankle_right": (0.0, 0.4, 0.0)}
    return _kick(chamber, strike, (0.0, -0.12, 0.0), (1.6, 1.84, 2.08, 2.34, 2.66, 3.66))


def _side_kick(character: Character) -> list[ReferenceKey]:
    chamber = {"hip_right": (-0.3, -0.6, 0.0), "knee_right": (0.0, 1.1, 0.0), "ankle_right": (0.0, -0.4, 0.0)}
    strike = {"hip_right": (-0.65, -0.15, 0.0), "knee_right": (0.0, 0.2, 0.0), "ankle_right": (0.0, -0.1, 0.0)}
    return _kick(chamber, strike, (-0.15, 0.0, 0.0), (1.62, 1.94, 2.28, 2.56, 2.9, 3.9))


def _leg_circle(character: Character) -> list[ReferenceKey]:
    keys = [ReferenceKey(0.0), _shifted(1.0), _lifted(1.4)]
    steps, period, first = 8, 1.6, 1.8
    for i in range(2 * steps + 1):
        phase = 2.0 * np.pi * i / steps
        leg: dict[str, Turn] = {
            "hip_right": (-0.25 + 0.2 * float(np.cos(phase)), -0.75 - 0.25 * float(np.sin(phase)), 0.0),
            "knee_right": (0.0, 0.95, 0.0),
            "ankle_right": (0.0, -0.15, 0.0),
        }
        keys.append(_on_left(first + i * period / steps, leg))
    last = keys[-1].time
    return [*keys, _lifted(last + 0.4), _shifted(last + 0.76), ReferenceKey(last + 1.8)]


_LEGS = ("hip_left", "hip_right", "knee_left", "knee_right", "ankle_left", "ankle_right")
_ARMS = ("shoulder_left", "shoulder_right")

REFERENCES: tuple[Reference, ...] = (
    Reference("stand", "standing still", (), _stand),
    Reference(
        "squat",
        "down and up again, arms forward",
        ("hip_left", "hip_right", "knee_left", "knee_right"),
        _squat,
    ),
    Reference("butterfly", "arms swing up sideways, twice, over planted feet", _ARMS, _butterfly),
    Reference("toe_touch", "a bow until the hands are near the toes", (*_LEGS, "trunk"), _toe_touch),
    Reference("twist", "the trunk turns left and right, arms out", ("trunk", *_ARMS), _twist),
    Reference("side_kick", "the right leg strikes sideways; balance on the left", _LEGS, _side_kick, True, True),
    Reference("front_kick", "the right leg strikes forward; balance on the left", _LEGS, _front_kick, True),
    Reference("leg_circle", "the raised right leg circles twice; balance on the left", _LEGS, _leg_circle, True, True),
)
