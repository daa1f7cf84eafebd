"""What a fix may change, and what it must respect: the input of all windows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import mujoco
import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character import Character
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow
from counterpoise.spacetime.check.support import HeldBody
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.fix.basis import Basis, basis_of
from counterpoise.spacetime.fix.feet import FIXED_WEIGHT, GroundPlan
from counterpoise.spacetime.fix.other_parts import CarryingParts
from counterpoise.spacetime.fix.tuning import FixTuning

SAFETY = 0.95  # share of the friction and of the thresholds `low` and `slow` of a check that a fix uses


@dataclass(frozen=True, eq=False)
class FixTask:
    """A motion to be changed, and what the points of each frame may or must do."""

    motion: Motion  # evenly spaced frames
    basis: Basis
    tuning: FixTuning
    checks: CheckTuning  # how contacts and forces are read
    free: Ints  # degrees of freedom that may change
    frozen: tuple[str, ...]  # joints that may not
    lever: Array  # (free,) [m/rad, or 1] how far each moves the bodies that it carries
    bodies: Ints  # (p,) of points that may touch the ground: soles, other shapes, held bodies
    locals: Array  # (p, 3) [m]
    radii: Array  # (p,) [m]
    held: Flags  # (p,) may also pull
    stands: Flags  # (n, p) must stay ...
    places: Array  # (n, p, 3) ... here [m]
    carries: Flags  # (n, p) points of other parts than feet that must be on the ground, and may press
    contacts: tuple[ContactWindow, ...]
    holds: tuple[HeldBody, ...]
    floor: float  # [m]

    def changed(self, x: Array, frames: slice) -> Array:
        """Returns the poses (frames, nq) with the deviation of coefficients x (coefficients, free)."""
        character = self.motion.character
        full = np.zeros((frames.stop - frames.start, character.nv))
        full[:, self.free] = self.basis.deviation(x, frames)
        return np.asarray(character.integrate(self.motion.poses[frames], full))


def build_task(
    motion: Motion,
    ground: GroundPlan,
    contacts: tuple[ContactWindow, ...],
    holds: tuple[HeldBody, ...],
    parts: CarryingParts,
    checks: CheckTuning,
    tuning: FixTuning,
) -> FixTask:
    """Returns the task for a motion whose feet are already in place; `parts` are others that carry it."""
    character = motion.character
    step = motion.duration / (len(motion) - 1)
    free, frozen = _usable(motion, ground, tuning)
    extra = len(holds)
    bodies = np.concatenate([ground.bodies, np.array([character.body_id(h.body) for h in holds], np.int64)])
    held = np.zeros(len(bodies), dtype=bool)
    held[len(ground.bodies) :] = True
    radii = np.concatenate([ground.radii, np.zeros(extra)])
    centres = parts.places + np.stack([np.zeros_like(radii), np.zeros_like(radii), radii], axis=1)
    return FixTask(
        motion=motion,
        basis=basis_of(len(motion), step, tuning.knots, tuning.smooth),
        tuning=tuning,
        checks=replace(
            checks,
            friction=SAFETY * checks.friction,
            low=SAFETY * checks.low,
            slow=SAFETY * checks.slow,
            floor=ground.floor,
        ),
        free=free,
        frozen=frozen,
        lever=_levers(character, tuning.rotation_lever)[free],
        bodies=bodies,
        locals=np.concatenate([ground.locals, np.zeros((extra, 3))]),
        radii=radii,
        held=held,
        stands=np.pad(ground.stands, ((0, 0), (0, extra))) | parts.rests,
        places=np.where(parts.rests[:, :, None], centres, np.pad(ground.places, ((0, 0), (0, extra), (0, 0)))),
        carries=parts.carries,
        contacts=contacts,
        holds=holds,
        floor=ground.floor,
    )


def _usable(motion: Motion, ground: GroundPlan, tuning: FixTuning) -> tuple[Ints, tuple[str, ...]]:
    """Returns the degrees of freedom that may change, and the joints that may not: they are light or never move."""
    character, m = motion.character, motion.character.model
    feet = {int(b) for sole in ground.soles for b in sole.bodies}
    free: list[int] = []
    frozen: list[str] = []
    for joint in character.joints:
        dofs = range(joint.dofs.start, joint.dofs.stop)
        body = int(m.dof_bodyid[joint.dofs.start])
        heavy = float(m.body_subtreemass[body]) >= tuning.min_joint_mass * character.mass or body in feet
        moves = not (ground.pose_weights[joint.dofs] == FIXED_WEIGHT).all()
        if joint.dofs.start < character.root_dofs.stop or (heavy and moves):
            free += dofs
        else:
            frozen.append(joint.name)
    return np.array(free, np.int64), tuple(frozen)


def _levers(character: Character, rotation_lever: float) -> Array:
    """Returns how far each degree of freedom moves the bodies that it carries (nv,), in the neutral pose [m/rad, or 1].

    Rms over both ends of the bodies. A rotation counts even if it moves almost nothing (a head that nods).
    """
    m, d = character.model, mujoco.MjData(character.model)
    d.qpos[:] = character.neutral
    mujoco.mj_kinematics(m, d)
    mujoco.mj_comPos(m, d)
    jac, squares, count = np.empty((3, m.nv)), np.zeros(m.nv), np.zeros(m.nv)
    turn, turns = np.empty((3, m.nv)), np.zeros(m.nv)
    for body in range(1, m.nbody):
        for place in (d.xpos[body], 2.0 * d.xipos[body] - d.xpos[body]):
            mujoco.mj_jac(m, d, jac, turn, place, body)
            squares += np.sum(jac**2, axis=0)
            count += np.any(jac != 0.0, axis=0) | np.any(turn != 0.0, axis=0)
            turns = np.maximum(turns, np.sum(turn**2, axis=0))
    return np.asarray(np.sqrt(squares / np.maximum(count, 1.0) + rotation_lever**2 * turns))
