"""What the world gives: the forces of contacts that an optimised motion needs, in newtons, at its knots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.asks import TorqueLimit
from counterpoise.spacetime.optimize.frames import Evaluation
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.rows.base import Support
from counterpoise.spacetime.optimize.rows.torque import Torques, plan_torques


@dataclass(frozen=True, eq=False)
class ContactForces:
    """Forces of one contact at the knots where it holds; where two phases meet there are two knots at one time."""

    label: str
    times: Array  # (n,) [s]
    frames: Ints  # (n,) which knots of the problem these are
    bodies: tuple[str, ...]  # (m,) of the points
    points: Array  # (n, m, 3) where forces act [m], world
    forces: Array  # (n, m, 3) [N], world
    torques: Array  # (n, 3) [N m] besides, of a grip; world

    @property
    def total(self) -> Array:
        """(n, 3) [N]."""
        return np.asarray(self.forces.sum(axis=1))


@dataclass(frozen=True)
class Strain:
    """How hard a joint works at its worst."""

    joint: str
    share: float  # torque over strength
    time: float  # [s]

    def __str__(self) -> str:
        return f"{self.joint} works at {self.share:.0%} of its strength at {self.time:.2f} s"


def joint_strains(problem: MotionProblem, x: Array) -> tuple[Strain, ...]:
    """Of every joint but the root, at the knots, hardest first."""
    who = problem.character
    plan = plan_torques(who, [TorqueLimit()])
    if plan is None:
        return ()
    t, supports = _supports(problem, x)
    block = Torques(problem.evaluation, problem.layout, plan, supports)
    shares = np.abs(block.torques(problem.evaluation, x)) / plan.strength
    out = []
    for joint in who.joints:
        if joint.kind != "free":
            own = shares[:, (plan.dofs >= joint.dofs.start) & (plan.dofs < joint.dofs.stop)].max(axis=1)
            i = int(own.argmax())
            out.append(Strain(joint.name, float(own[i]), float(t[i])))
    return tuple(sorted(out, key=lambda s: -s.share))


def _supports(problem: MotionProblem, x: Array) -> tuple[Array, list[Support]]:
    """Times of the knots, and the contacts' forces there."""
    problem.look(x)
    e, f = problem.evaluation, problem.frames
    times = problem.layout.times(x)
    t = (times[f.phase] + f.s * np.diff(times)[f.phase])[: f.knots]
    return t, [
        Support(e, hold, _points(e, hold.force_bodies, hold.force_points), place, lam, t)
        for hold, place, lam in zip(problem.holds, problem.layout.places, problem.layout.forces, strict=True)
    ]


def contact_forces(problem: MotionProblem, x: Array) -> tuple[ContactForces, ...]:
    """Of every contact, in the order they were asked for."""
    t, supports = _supports(problem, x)
    e, who = problem.evaluation, problem.character
    weight = who.mass * 9.81
    out = []
    for own in supports:
        hold = own.hold
        force, torque = own.forces(x)
        names = tuple(who.model.body(int(b)).name for b in hold.force_bodies)
        points = own.arms(e, x) + e.about[own.on][:, None, :]
        grip = weight * torque if torque.shape[1] else np.zeros((len(own.on), 3))
        out.append(ContactForces(hold.label, t[own.on], own.on, names, points, weight * force, grip))
    return tuple(out)


def _points(e: Evaluation, bodies: Ints, places: Array) -> Ints:
    """Which of the evaluation's points these are."""
    same = (e.point_bodies[None] == bodies[:, None]) & (e.point_places[None] == places[:, None]).all(axis=-1)
    return np.asarray(same.argmax(axis=1), np.int64)
