"""Feet between keyframes: when successive keys agree on a foot's place, it is held there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import unknown_name
from counterpoise.motion.curves import ease
from counterpoise.motion.keyframes import Keyframe
from counterpoise.pose.constraints import FixJoint, Lock, Pin, PoseConstraint
from counterpoise.pose.goals import Orient, PoseGoal, Reach

SAME_PLACE = 1e-3  # [m]: keys nearer than this agree on a foot's place
SAME_TURN = np.radians(0.5)  # [rad]: ... and on its orientation
BLEND_TIME = 0.1  # [s] from held to free, and back


@dataclass(frozen=True, eq=False)
class StandingRun:
    """Successive keys that agree on a foot: it is held from `begin` to `end`, and blended in and out around them."""

    begin: float  # [s]
    end: float
    lead: float  # [s] of blending before
    trail: float  # [s] of blending after
    place: Array  # (3,)
    turn: Array  # (4,)
    toes: tuple[Array, ...]  # values of the joints between the foot and its other bodies

    def share(self, t: float) -> float:
        """Returns 1 while the foot is held, 0 when it is free, eased between."""
        if self.begin - 1e-9 <= t <= self.end + 1e-9:
            return 1.0
        away, width = (self.begin - t, self.lead) if t < self.begin else (t - self.end, self.trail)
        return 1.0 - float(ease(away / width, "smoother")) if width > 0.0 else 0.0


@dataclass(frozen=True, eq=False)
class SupportFoot:
    """A supporting body with its toes, and when it stands still."""

    body: str
    toes: tuple[str, ...]  # joints between it and its other bodies
    runs: tuple[StandingRun, ...]

    def constraints(self, character: Character, t: float, reference: Array) -> list[PoseConstraint]:
        """Returns the constraints at a time: toes that follow the run, and the foot held still during a run."""
        run, share = self._run(t)
        held: list[PoseConstraint] = []
        if share > 0.0:
            for name, value in zip(self.toes, run.toes, strict=True):
                held.append(FixJoint(name, _between(character, name, reference, value, share)))
        if share == 1.0:
            held += [Pin(self.body, at=tuple(run.place.tolist())), Lock(self.body, tuple(run.turn.tolist()))]
        return held

    def goals(self, t: float, place: Array, rotation: Array, reach: bool) -> list[PoseGoal]:
        """Returns the goals of a foot that is not held: the interpolated place and rotation, blended to the run's.

        Without `reach` only the orientation is a goal: the place has a path of its own.
        """
        run, share = self._run(t)
        if share == 1.0:
            return []
        turn = spatial.from_matrix(rotation)
        turn = spatial.multiply(turn, spatial.exp(share * spatial.difference(turn, run.turn)))
        wanted: list[PoseGoal] = [Orient(self.body, tuple(turn.tolist()))]
        if reach:
            wanted.append(Reach(self.body, tuple((place + share * (run.place - place)).tolist())))
        return wanted

    def _run(self, t: float) -> tuple[StandingRun, float]:
        run = max(self.runs, key=lambda one: one.share(t))
        return run, run.share(t)


def read_foot(
    character: Character, bodies: tuple[str, ...], keys: Sequence[Keyframe], snapshots: Sequence[Snapshot]
) -> SupportFoot:
    """Returns a foot, the first of its bodies, with the runs of keys that agree on all its bodies."""
    main = bodies[0]
    toes = _joints_between(character, main, bodies[1:])
    runs, first = [], 0
    while first < len(keys):
        last = first
        while last + 1 < len(keys) and all(_agree(snapshots[first], snapshots[last + 1], b) for b in bodies):
            last += 1
        if last > first or keys[first].hold > 0.0:
            begin, end = keys[first].time, keys[last].time + keys[last].hold
            lead = keys[first].time - (keys[first - 1].time + keys[first - 1].hold) if first else 0.0
            trail = keys[last + 1].time - end if last + 1 < len(keys) else 0.0
            here = snapshots[first]
            runs.append(
                StandingRun(
                    begin,
                    end,
                    min(BLEND_TIME, 0.5 * lead),
                    min(BLEND_TIME, 0.5 * trail),
                    here.position(main),
                    spatial.from_matrix(here.rotation(main)),
                    tuple(here.q[character.joint(name).qpos] for name in toes),
                )
            )
        first = last + 1
    return SupportFoot(main, toes, tuple(runs))


def support_bodies(character: Character, support: str | Sequence[str]) -> list[tuple[str, ...]]:
    """Returns the bodies that may support, each followed by the other bodies of its contact points."""
    whole = {foot.body: (foot.body, *sorted({p.body for p in foot.points} - {foot.body})) for foot in character.feet}
    if isinstance(support, str):
        if support not in ("auto", "none"):
            raise unknown_name("kind of support", support, ("auto", "none"))
        return list(whole.values()) if support == "auto" else []
    names = {foot.name: foot.body for foot in character.feet}
    out = []
    for name in support:
        body = names.get(name, name)
        character.body_id(body)
        out.append(whole.get(body, (body,)))
    return out


def _agree(one: Snapshot, other: Snapshot, body: str) -> bool:
    apart = float(np.linalg.norm(one.position(body) - other.position(body)))
    turned = spatial.difference(spatial.from_matrix(one.rotation(body)), spatial.from_matrix(other.rotation(body)))
    return apart <= SAME_PLACE and float(np.linalg.norm(turned)) <= SAME_TURN


def _joints_between(character: Character, main: str, others: Sequence[str]) -> tuple[str, ...]:
    """Returns the joints that move the other bodies against the main one, where they are below it in the tree."""
    found: list[str] = []
    m, top = character.model, character.body_id(main)
    for other in others:
        body, line = character.body_id(other), []
        while body not in (0, top):
            line += [joint.name for joint in character.joints if character.body_id(joint.body) == body]
            body = int(m.body_parentid[body])
        if body == top:
            found += [name for name in line if name not in found]
    return tuple(found)


def _between(character: Character, name: str, reference: Array, value: Array, share: float) -> tuple[float, ...]:
    """Returns a joint's coordinates a share of the way from the reference to `value`."""
    joint = character.joint(name)
    goal = reference.copy()
    goal[joint.qpos] = value
    q = character.integrate(reference, share * character.difference(reference, goal))
    return tuple(character.limits.clamp(q)[joint.qpos].tolist())
