"""The plan from kneeling to standing: optimised once for a body, then kept with it and on disk."""

from __future__ import annotations

import hashlib
from dataclasses import astuple, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.roles import ContactPoint, Foot, Side
from counterpoise.control.bracing.humanoid import humanoid_of
from counterpoise.control.getting_up.kneeling import KneelingTuning, kneeling_poses, wrist_point
from counterpoise.control.perform.plan_store import plan_folder, planner_version
from counterpoise.control.perform.planned_motion import PlannedMotion, fill_plan, plan_of_result
from counterpoise.errors import CounterpoiseError
from counterpoise.files import open_archive, write_archive
from counterpoise.objectives.surface import LEVEL
from counterpoise.spacetime.optimize import Clear, Key, MotionTuning, Taste, TorqueLimit, Touch
from counterpoise.spacetime.stunt.stunt import Stunt

AS_PLANNED = MotionTuning(refinements=0)  # errors between the knots are small beside what feedback corrects
LARGEST_VIOLATION = 2e-3  # [m, rad] a plan this near to its contacts can be performed


class GettingUpNotPlanned(CounterpoiseError):
    """No motion from kneeling to standing was found."""


@dataclass(frozen=True)
class GettingUpPlanTuning:
    """Times [s] for a body whose hips are 1 m high, shares and weights of the plan from kneeling to standing."""

    crouch_time: float = 0.83
    flat_time: float = 1.45  # heels come down
    low_time: float = 1.56  # of the pose on flat feet and hands
    hands_time: float = 1.77  # hands leave the ground
    squat_time: float = 2.18
    duration: float = 3.43
    strength: float = 0.7  # share of the strength that is planned
    friction: float = 0.6
    sole: float = 0.8  # share of the sole on which forces are planned
    start_weight: float = 2000.0  # of the first pose
    pose_weight: float = 20.0  # of those between
    hand_height: float = 0.1  # [hip heights] of the hands at the end, at least
    rate: float = 12.0  # [1/s] knots
    poses: KneelingTuning = field(default_factory=KneelingTuning)


def getting_up_stunt(character: Character, tuning: GettingUpPlanTuning | None = None) -> Stunt:
    """Returns the way from kneeling to standing as a stunt that `optimize` makes a motion of."""
    t = tuning or GettingUpPlanTuning()
    body, poses = humanoid_of(character), kneeling_poses(character, t.poses)
    size = float(character.snapshot().position(character.root)[2])
    pace = float(np.sqrt(size))
    end = t.duration * pace
    keys = (
        Key(0.0, poses.kneel, soft=t.start_weight, rest=True),
        Key(t.crouch_time * pace, poses.crouch, soft=t.pose_weight),
        Key(t.low_time * pace, poses.flat, soft=t.pose_weight),
        Key(t.squat_time * pace, poses.squat, soft=t.pose_weight),
        Key(end, poses.stand, rest=True),
    )
    contacts: list[Touch] = []
    for side, _ in body.sides("left"):
        point = wrist_point(character, side, poses.kneel)
        off, flat = t.hands_time * pace, t.flat_time * pace
        contacts += [
            Touch(side.forearm, 0.0, off, "point", point=point, friction=t.friction, name=side.hand),
            Touch(side.foot, 0.0, flat, "toe", friction=t.friction, name=side.toes),
            Touch(side.foot, flat, end, friction=t.friction, sole=t.sole, name=side.foot),
        ]
    upper = [character.root, *(character.joint(name).body for name in (*body.trunk, *body.neck))]
    hands = Clear([body.left.hand, body.right.hand], t.hand_height * size, t.squat_time * pace + 0.1, end)
    return Stunt(
        name="getting up", character=character, keys=keys, contacts=tuple(contacts), duration=end,
        wishes=(TorqueLimit(share=t.strength), hands), rate=t.rate / pace, clear=tuple(upper),
        taste=Taste(posture=0.0),
    )  # fmt: skip


@kept_with_character
def plan_getting_up(character: Character, tuning: GettingUpPlanTuning) -> PlannedMotion:
    """Returns the plan: kept, read from disk, or optimised now (some ten seconds)."""
    path = _path(character, tuning)
    known = None if path is None else _read(path, character)
    if known is not None:
        return known
    result = getting_up_stunt(character, tuning).optimize(tuning=AS_PLANNED)
    worst = max((abs(one.amount) for one in result.violations), default=0.0)
    if not result.exact and not worst < LARGEST_VIOLATION:
        raise GettingUpNotPlanned(
            f"no motion from kneeling to standing was found for {character.name!r}: "
            f"{'; '.join(map(str, result.violations[:2])) or result.status}. Give it more strength, or other times and "
            "places in GettingUpPlanTuning"
        )
    made = plan_of_result(result)
    if path is not None:
        _write(path, made, len(character.feet))
    return made


def _path(character: Character, tuning: GettingUpPlanTuning) -> Path | None:
    folder = plan_folder()
    if folder is None:
        return None
    key = repr((planner_version(), astuple(tuning), character.mjcf))
    return folder / f"getting-up-{hashlib.sha256(key.encode()).hexdigest()[:32]}.npz"


def _write(path: Path, plan: PlannedMotion, feet: int) -> None:
    """Writes a plan; where the folder cannot be written, it is only kept in memory."""
    added = plan.character.feet[feet:]
    arrays: dict[str, Any] = {
        "ends": plan.ends, "pushing": plan.pushing.astype(np.int64), "first": plan.first, "q": plan.q, "v": plan.v,
        "a": plan.a, "points": np.array([p.position for part in added for p in part.points]),
        "bodies": np.array([plan.character.body_id(part.body) for part in added for _ in part.points]),
    }  # fmt: skip
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_archive(path, arrays)
    except (CounterpoiseError, OSError):
        return


def _read(path: Path, character: Character) -> PlannedMotion | None:
    """Returns the plan in a file; None where there is none, or one that cannot be read."""
    if not path.exists():
        return None
    try:
        with open_archive(path, "plan of getting up") as archive:
            q, v, a, points = (archive.read(name, "f", 2) for name in ("q", "v", "a", "points"))
            first, bodies = (archive.read(name, "i", 1) for name in ("first", "bodies"))
            ends = archive.read("ends", "f", 1)
            pushing = archive.read("pushing", "i", 2).astype(bool)
    except CounterpoiseError:
        return None
    body = _with_hands(character, bodies.tolist(), points)
    samples = [(q[i:j], v[i:j], a[i:j]) for i, j in pairwise(first)]
    surfaces = tuple((LEVEL,) * len(body.feet) for _ in pushing)
    return fill_plan(body, ends, pushing, surfaces, np.zeros(len(body.feet), bool), samples)


def _with_hands(character: Character, bodies: list[int], points: Array) -> Character:
    """Returns the body with one more part for each of these contact points."""
    body = humanoid_of(character)
    more = []
    for index, point in zip(bodies, points, strict=True):
        name = character.model.body(index).name
        side: Side = "left" if name == body.left.forearm else "right"
        at = (float(point[0]), float(point[1]), float(point[2]))
        more.append(Foot(name, name, side, (ContactPoint(f"{name} 0", name, at),)))
    return replace(character, roles=replace(character.roles, feet=(*character.feet, *more)))
