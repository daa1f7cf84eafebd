"""A planned motion as a controller reads it: pose, CoM, angular momentum and contact points over time, by phase.

A phase is a stretch of time in which no contact begins or ends. Accelerations jump where phases meet, so every phase
has rows of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_snapshot
from counterpoise.character.state import State
from counterpoise.control.perform.parts import TouchingPart, performing_body, touching_parts
from counterpoise.objectives.footing import foot_table
from counterpoise.objectives.surface import LEVEL, Surface
from counterpoise.spacetime.optimize.result import Result

STILL_SPEED = 0.03  # [m/s] a point that is faster in its phase rolls ...
STILL_WAY = 0.004  # [m] ... and so does one that moves farther than this, however slowly
ROW_STEP = 0.002  # [s] rows of a phase are at most this far apart


class PlannedState(NamedTuple):
    """What a plan has at one time."""

    q: Array
    v: Array
    a: Array
    com: Array  # (3, 3) place, velocity, acceleration
    spin: Array  # (2, 3) angular momentum about the CoM, and its rate
    points: Array  # (3, p, 3) place, velocity, acceleration of the contact points


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """A motion, its contacts and their surfaces, ready to be performed."""

    character: Character  # with contact points on all parts that touch
    ends: Array  # (phases + 1,) [s] the moments between phases
    pushing: Flags  # (phases, p) points that bear in a phase
    held: Flags  # (phases, p) those of them that stay where they are; others roll, as the ball before the toes leave
    surfaces: tuple[tuple[Surface, ...], ...]  # (phases, parts) what each part stands on, or will stand on next
    grips: Flags  # (parts,) hands round a bar
    first: Ints  # (phases + 1,) first row of every phase
    q: Array  # (rows, nq)
    v: Array  # (rows, nv)
    a: Array  # (rows, nv)
    com: Array  # (rows, 3, 3)
    spin: Array  # (rows, 2, 3)
    points: Array  # (rows, 3, p, 3)

    @cached_property
    def kept(self) -> dict[int, Any]:
        """What is worked out of a phase once, by phase."""
        return {}

    @property
    def duration(self) -> float:
        """[s]"""
        return float(self.ends[-1])

    @property
    def phases(self) -> int:
        return len(self.pushing)

    @property
    def part(self) -> Ints:
        """(p,) which part of the character each contact point is of, by index."""
        return foot_table(self.character).foot_of

    @cached_property
    def lands(self) -> Flags:
        """(phases, p) points that bear in a later phase."""
        later = np.zeros_like(self.pushing)
        for phase in reversed(range(self.phases - 1)):
            later[phase] = later[phase + 1] | self.pushing[phase + 1]
        return later

    @cached_property
    def last_stance(self) -> int:
        """The phase from which two feet, and nothing else, bear until the end; after the last one where they do not."""
        phase = self.phases
        while phase > 0:
            bears = self.parts_of(self.pushing[phase - 1])
            if not bears[:2].all() or bears[2:].any():
                break
            phase -= 1
        return phase

    @cached_property
    def lays(self) -> Flags:
        """(phases, p) held points by which the plan is laid in the world: all, but where it begins on its feet, before
        one of them first leaves, only those of the feet that stay.

        Feet that land are led to where the body needs them. Those of the start stand where they happen to stand: a foot
        that is about to leave is not where it was planned to be beside the other one. With the plan laid where both
        are, the CoM came over the foot that stays only when the other one had left, and could not correct it.
        """
        out = self.held.copy()
        stand = self.parts_of(self.held[0])
        if not all(foot.stands for foot, bears in zip(self.character.feet, stand, strict=True) if bears):
            return out
        for phase in range(self.phases - 1):
            after = self.parts_of(self.held[phase + 1])
            if (after == stand).all():
                continue
            if (stays := stand & after).any():
                out[: phase + 1] &= stays[self.part]
            break
        return out

    @cached_property
    def _bodies(self) -> Flags:
        """(parts, nbody) the bodies that have contact points of each part."""
        out = np.zeros((len(self.character.feet), self.character.model.nbody), bool)
        for part, foot in enumerate(self.character.feet):
            out[part, [self.character.body_id(point.body) for point in foot.points]] = True
        return out

    def parts_of(self, points: Flags) -> Flags:
        """Returns the parts to which at least one of some points (p,) belongs, (parts,)."""
        return np.bincount(self.part[points], minlength=len(self.character.feet)) > 0

    def loads(self, force: Array) -> Array:
        """Returns the size of the force on each part, (parts,) [N], of forces on bodies (nbody, 3)."""
        return np.asarray(np.linalg.norm(self._bodies @ force, axis=1))

    @cached_property
    def _bodies_of_points(self) -> Ints:
        """(p,) the body that each contact point is on."""
        return np.array([self.character.body_id(point.body) for point in self.character.contact_points], np.int64)

    def lowest_of_parts(self, height: Array, force: Array) -> Array:
        """Returns the least of the heights (p,) of each part's points, (parts,): of those on its body that bears most.

        Toes that hang over an edge are lower than the ground that the foot bears on. `force` (nbody, 3) [N] is that on
        every body.
        """
        first = np.searchsorted(self.part, np.arange(len(self.character.feet)))
        load = np.linalg.norm(force, axis=1)[self._bodies_of_points]
        bears = load >= np.maximum.reduceat(load, first)[self.part]
        return np.minimum.reduceat(np.where(bears, height, np.inf), first)

    def landing_soon(self, phase: int, time: float) -> Flags:
        """Returns the points that land at the end of a phase or within `time` [s] after it, (p,)."""
        last = phase + 1
        while last + 1 < self.phases and self.ends[last + 1] < self.ends[phase + 1] + time:
            last += 1
        return np.asarray(self.pushing[phase + 1 : last + 1].any(axis=0))

    def time_to_landing(self, phase: int, time: float) -> Array:
        """Returns how long it still takes until each point that does not bear in a phase does, (p,) [s]; infinite for
        points that bear now and those that never land."""
        out = np.full(self.pushing.shape[1], np.inf)
        for later in reversed(range(phase + 1, self.phases)):
            out[self.pushing[later]] = self.ends[later] - time
        out[self.pushing[phase]] = np.inf
        return out

    def time_to_flight(self, phase: int, time: float) -> float:
        """Returns how long it still takes until the next flight begins [s]; infinite where there is none."""
        return next((float(self.ends[k]) - time for k in range(phase + 1, self.phases) if self.flies(k)), np.inf)

    def phase_at(self, time: float) -> int:
        """Returns the phase of a time [s], the later one at the moment between two."""
        return min(max(int(np.searchsorted(self.ends, time, side="right")) - 1, 0), self.phases - 1)

    def flies(self, phase: int) -> bool:
        """Whether nothing touches in a phase."""
        return not self.pushing[phase].any()

    def at(self, time: float, phase: int) -> PlannedState:
        """Returns the plan at a time of a phase; times outside the phase count as its ends."""
        low, high = self.first[phase], self.first[phase + 1] - 1
        span = self.ends[phase + 1] - self.ends[phase]
        x = min(max((time - self.ends[phase]) / span, 0.0), 1.0) * (high - low)
        row = min(int(x), high - low - 1)
        u, k = x - row, low + row
        q = self.character.integrate(self.q[k], u * self.character.difference(self.q[k], self.q[k + 1]))
        return PlannedState(
            q,
            *((1.0 - u) * rows[k] + u * rows[k + 1] for rows in (self.v, self.a, self.com, self.spin, self.points)),
        )


def plan_of_result(result: Result) -> PlannedMotion:
    """Returns an optimised motion with its contacts as a plan."""
    problem, ends = result.problem, np.asarray(result.curve.times, float)
    body = performing_body(problem.character, problem.holds)
    parts = touching_parts(problem.character, body, problem.holds)
    phases = len(ends) - 1
    samples = []
    for phase in range(phases):
        count = max(2, int(np.ceil((ends[phase + 1] - ends[phase]) / ROW_STEP)) + 1)
        t = np.linspace(ends[phase], ends[phase + 1], count)
        before = result.curve.sample(t[-1:], after=False)
        inside = result.curve.sample(t[:-1])
        q, v, a = (np.concatenate([getattr(inside, n), getattr(before, n)]) for n in ("q", "v", "a"))
        samples.append((q, v, a))
    pushing = np.zeros((phases, len(body.contact_points)), bool)
    for part in parts:
        pushing[part.first : part.last] |= part.points
    grips = np.zeros(len(body.feet), bool)
    for part in parts:
        grips[list(part.parts)] |= part.grip
    return fill_plan(body, ends, pushing, _surfaces(body, parts, phases), grips, samples)


def fill_plan(
    body: Character, ends: Array, pushing: Flags, surfaces: tuple[tuple[Surface, ...], ...], grips: Flags,
    samples: list[tuple[Array, Array, Array]],
) -> PlannedMotion:  # fmt: skip
    """Returns the plan with CoM, momentum and contact points worked out; `samples` are q, v, a of every phase."""
    first = np.concatenate([[0], np.cumsum([len(q) for q, _, _ in samples])]).astype(np.int64)
    q, v, a = (np.concatenate([sample[i] for sample in samples]) for i in range(3))
    n, p, mass = len(q), len(body.contact_points), body.mass
    com, spin, points = np.empty((n, 3, 3)), np.empty((n, 2, 3)), np.empty((n, 3, p, 3))
    for k in range(n):
        s = take_snapshot(body, State(q[k], v[k]))
        rate = s.momentum_matrix @ a[k] + s.momentum_drift
        com[k] = s.com, s.momentum[3:] / mass, rate[3:] / mass
        spin[k] = s.momentum[:3], rate[:3]
        points[k] = s.contact_position, s.contact_velocity, s.contact_jacobian @ a[k] + s.contact_drift
    held = pushing.copy()
    for phase in range(len(pushing)):
        speed = np.linalg.norm(points[first[phase] : first[phase + 1], 1], axis=2).max(axis=0)
        way = np.ptp(points[first[phase] : first[phase + 1], 0], axis=0).max(axis=1)
        if (still := (speed < STILL_SPEED) & (way < STILL_WAY))[pushing[phase]].any():
            held[phase] &= still
    return PlannedMotion(body, ends - ends[0], pushing, held, surfaces, grips, first, q, v, a, com, spin, points)


def _surfaces(body: Character, parts: tuple[TouchingPart, ...], phases: int) -> tuple[tuple[Surface, ...], ...]:
    """Returns what every part stands on in each phase; in the air what it will stand on next, or else stood on last."""
    table: list[list[Surface | None]] = [[None] * len(body.feet) for _ in range(phases)]
    for part in parts:
        for index, surface in zip(part.parts, part.surfaces, strict=True):
            for phase in range(part.first, part.last):
                table[phase][index] = surface
    out: list[list[Surface]] = [[LEVEL] * len(body.feet) for _ in range(phases)]
    for index in range(len(body.feet)):
        known: Surface | None = None
        for phase in range(phases):  # what it stood on
            known = table[phase][index] or known
            out[phase][index] = known or LEVEL
        following: Surface | None = None
        for phase in reversed(range(phases)):  # what it will stand on
            following = table[phase][index] or following
            out[phase][index] = following or out[phase][index]
    return tuple(tuple(row) for row in out)
