"""Posing: a body dragged by the pointer, with pins, balance and the ground held in every frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import put_in_pose
from counterpoise.pose import AboveGround, Aim, Balanced, Lock, Orient, Pin, PoseDrag, Reach
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.pose.goals import PoseGoal
from counterpoise.pose.result import Pose
from counterpoise.studio.frames import SUPPORT_HEIGHT, support_corners

Hold = Literal["place", "whole"]  # what a pin keeps: where the body is, or also how it is turned
TIME_PER_FRAME = 0.008  # [s] after which the best pose so far is shown; the drag goes on from there
INSIDE = 1e-6  # [m] a CoM this far outside its support counts as inside


GOAL_WEIGHT = 0.002  # of a goal beside what is dragged, which has 1
FORWARD = np.array([1.0, 0.0, 0.0])  # of the world: where figures look in their neutral pose


@dataclass(frozen=True)
class BodyGoal:
    """What a body tries while others are dragged."""

    kind: Literal["reach", "aim"]
    place: tuple[float, float, float]  # [m]


@dataclass(frozen=True)
class Rules:
    """What holds while a body is dragged."""

    pins: Mapping[str, Hold] = field(default_factory=dict)
    balanced: bool = True  # the CoM stays over the feet, if it is over them when the drag begins
    above_ground: bool = True  # hands and feet do not sink into the floor
    goals: Mapping[str, BodyGoal] = field(default_factory=dict)  # by body


def first_rules(character: Character) -> Rules:
    """Returns the rules a figure begins with: its feet are pinned."""
    return Rules({foot.body: "whole" for foot in character.feet})


class BodyDrag:
    """One drag, from the press of the button to its release."""

    def __init__(
        self, character: Character, q: Array, body: str, rules: Rules, always: Sequence[PoseConstraint] = ()
    ) -> None:
        self.character, self.body, self.start = character, body, np.array(q)
        held = [*constraints_of(character, q, body, rules), *always]
        self._drag = PoseDrag(character, held, start=q)
        self._beside = goals_of(character, body, rules)

    @property
    def pose(self) -> Array:
        return self._drag.pose

    @property
    def unfinished(self) -> bool:
        """Whether the next frame with the same target comes nearer to it."""
        return bool(self._drag.unfinished)

    def to(self, target: Array, point: tuple[float, ...], turn: tuple[float, ...] | None) -> Pose:
        """Moves a point of the body to a place [m]; with `turn` (w, x, y, z) the body is also turned."""
        goals: list[PoseGoal] = [Reach(self.body, target, point=point)]
        if turn is not None:
            goals.append(Orient(self.body, turn))
        return self._drag.to([*goals, *self._beside], within=TIME_PER_FRAME)


def goals_of(character: Character, body: str, rules: Rules) -> list[PoseGoal]:
    """Returns what other bodies try while `body` is dragged."""
    out: list[PoseGoal] = []
    for name, goal in rules.goals.items():
        if name == body or name not in character.segments:
            continue
        if goal.kind == "reach":
            out.append(Reach(name, goal.place, weight=GOAL_WEIGHT))
        else:
            out.append(Aim(name, forward_axis(character, name), at=goal.place, weight=GOAL_WEIGHT))
    return out


def forward_axis(character: Character, body: str) -> tuple[float, float, float]:
    """Returns the direction of a body, in its own frame, that points ahead in the neutral pose."""
    data = put_in_pose(character, character.neutral)
    x, y, z = data.xmat[character.body_id(body)].reshape(3, 3).T @ FORWARD
    return float(x), float(y), float(z)


def constraints_of(character: Character, q: Array, body: str, rules: Rules) -> list[PoseConstraint]:
    """Returns what holds while `body` is dragged from the pose q. A pin of the dragged body itself is let go."""
    held: list[PoseConstraint] = []
    for name, hold in rules.pins.items():
        if name == body or name not in character.segments:
            continue
        held.append(Pin(name))
        if hold == "whole":
            held.append(Lock(name))
    data = put_in_pose(character, q)
    corners = support_corners(character, data.xpos, data.xmat)
    if rules.balanced and len(corners) >= 3 and is_inside(corners, data.subtree_com[0]):
        held.append(Balanced([(float(x), float(y)) for x, y in corners]))
    if rules.above_ground and lowest_point(character, q) > -SUPPORT_HEIGHT:
        free = [name for name in ground_bodies(character) if rules.pins.get(name) != "whole" or name == body]
        if free:
            held.append(AboveGround(free))
    return held


def ground_bodies(character: Character) -> list[str]:
    """Returns hands and feet: what stays above the ground."""
    return [*character.hands, *(foot.body for foot in character.feet)]


def lowest_point(character: Character, q: Array) -> float:
    """Returns the height of the lowest contact point [m], 0 without feet."""
    from counterpoise.character.snapshot import take_contact_places

    places = take_contact_places(character, q)
    return float(places[:, 2].min()) if len(places) else 0.0


def is_inside(corners: Array, place: Array) -> bool:
    """Is a place over a convex polygon, given counter-clockwise?"""
    ahead = np.roll(corners, -1, axis=0) - corners
    to = np.asarray(place)[:2] - corners
    across = ahead[:, 0] * to[:, 1] - ahead[:, 1] * to[:, 0]
    return bool((across >= -INSIDE).all() or (across <= INSIDE).all())
