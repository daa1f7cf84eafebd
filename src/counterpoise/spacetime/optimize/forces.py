"""Contact forces and joint torques of an optimised motion at its knots."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.spacetime.optimize.hold_forces import HoldForces
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.requirements.torque import TorqueLimit, plan_torques
from counterpoise.spacetime.optimize.rows.impact import ImpactRows
from counterpoise.spacetime.optimize.rows.torque import TorqueRows


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


@dataclass(frozen=True, eq=False)
class ImpactForces:
    """What happens in one impact: impulses at the points that push, of the joints, and how fast points came in."""

    time: float  # [s]
    bodies: tuple[str, ...]  # (m,) of the points
    points: Array  # (m, 3) where they act [m], world
    impulses: Array  # (m, 3) [N s], world
    torques: Array  # (nv,) of the joints [N m s]
    fastest: str  # body of the point that comes in fastest ...
    approach: float  # [m/s] ... into what it meets
    seconds: float  # [s] that it stands for
    weight: float  # of the body [N]

    @property
    def force(self) -> float:
        """The mean force while it lasts, in body weights."""
        return float(np.linalg.norm(self.impulses.sum(axis=0))) / (self.seconds * self.weight)

    def __str__(self) -> str:
        return (
            f"impact at {self.time:.2f} s: {self.fastest} comes in at {self.approach:.1f} m/s; {self.force:.1f} body "
            f"weights for {self.seconds:g} s"
        )


@dataclass(frozen=True)
class Strain:
    """How hard a joint works at its worst."""

    joint: str
    share: float  # torque over strength
    time: float  # [s]

    def __str__(self) -> str:
        return f"{self.joint} works at {self.share:.0%} of its strength at {self.time:.2f} s"


def joint_efforts(problem: MotionProblem, x: Array) -> tuple[Array, Array]:
    """Returns the times of the knots (n,) [s], and how much of its strength each joint uses there, (n, joints): the
    largest of its axes; nothing for the root, and for figures without strengths."""
    joints = problem.character.joints
    t, holds = _hold_forces(problem, x)
    out = np.zeros((len(t), len(joints)))
    plan = plan_torques(problem.character, [TorqueLimit()])
    if plan is None:
        return t, out
    block = TorqueRows(problem.evaluation, problem.layout, plan, holds)
    shares = np.abs(block.torques(problem.evaluation, x)) / plan.strength
    for k, joint in enumerate(joints):
        if joint.kind != "free":
            own = (plan.dofs >= joint.dofs.start) & (plan.dofs < joint.dofs.stop)
            out[:, k] = shares[:, own].max(axis=1, initial=0.0)
    return t, out


def joint_strains(problem: MotionProblem, x: Array) -> tuple[Strain, ...]:
    """Returns the strain of every joint but the root at its worst knot, hardest first."""
    if plan_torques(problem.character, [TorqueLimit()]) is None:
        return ()
    t, efforts = joint_efforts(problem, x)
    out = []
    for k, joint in enumerate(problem.character.joints):
        if joint.kind != "free":
            i = int(efforts[:, k].argmax())
            out.append(Strain(joint.name, float(efforts[i, k]), float(t[i])))
    return tuple(sorted(out, key=lambda s: -s.share))


def _hold_forces(problem: MotionProblem, x: Array) -> tuple[Array, list[HoldForces]]:
    """Times of the knots, and the contacts' forces there."""
    problem.evaluate(x)
    t = problem.frame_times(x)[: problem.frames.knots]
    holds = enumerate(problem.holds)
    return t, [HoldForces(problem.evaluation, problem.layout, hold, i, t) for i, hold in holds]


def contact_forces(problem: MotionProblem, x: Array) -> tuple[ContactForces, ...]:
    """Returns the forces of every contact, in the order of the request."""
    t, holds = _hold_forces(problem, x)
    e, character = problem.evaluation, problem.character
    weight = character.weight
    out = []
    for own in holds:
        hold = own.hold
        force, torque = own.forces(x)
        names = tuple(character.model.body(int(b)).name for b in hold.force_bodies)
        points = own.arms(e, x) + e.about[own.on][:, None, :]
        grip = weight * torque if torque.shape[1] else np.zeros((len(own.on), 3))
        out.append(ContactForces(hold.label, t[own.on], own.on, names, points, weight * force, grip))
    return tuple(out)


def impact_forces(problem: MotionProblem, x: Array) -> tuple[ImpactForces, ...]:
    """Returns every impact of a candidate, in order."""
    problem.evaluate(x)
    e, character = problem.evaluation, problem.character
    out = []
    rows = [b for b in problem.blocks if isinstance(b, ImpactRows)]
    for block in rows:
        unit = block.seconds * character.weight
        for push, own, before, after in zip(block.pushes, block.own, block.before, block.after, strict=True):
            names = tuple(character.model.body(int(b)).name for h in push for b in h.bodies)
            torques = np.zeros(character.nv)
            share = x[own : own + len(block.plan.dofs)]
            torques[block.plan.dofs] = block.seconds * block.plan.strength * share
            coming = [
                (round(-float(speed), 6), character.model.body(int(b)).name)  # equal ones: the first
                for h in push if not h.hold.signed
                for b, speed in zip(h.bodies, (e.J[before, h.points] @ e.v[before] @ h.S[0])[:, 2], strict=True)
            ]  # fmt: skip
            approach, fastest = max(coming, key=lambda one: one[0])
            out.append(
                ImpactForces(
                    float(problem.frame_times(x)[after]), names,
                    np.concatenate([h.arms(e, x)[0] for h in push]) + e.about[after],
                    unit * np.concatenate([h.forces(x)[0][0] for h in push]), torques, fastest, approach, block.seconds,
                    character.weight,
                )
            )  # fmt: skip
    return tuple(out)
