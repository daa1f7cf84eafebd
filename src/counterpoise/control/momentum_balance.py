"""MomentumBalance: tracking, linear and angular balance as one linear system, then torques (Macchietto 2008, 2009)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.feet import bearing_points, with_lifted
from counterpoise.control.floating_dynamics import floating_inverse_dynamics
from counterpoise.control.limbs import limbs_of
from counterpoise.control.momentum_laws import beyond_limits, pressure_law, tracking_law
from counterpoise.control.momentum_program import AccelerationProgram
from counterpoise.control.reference import MotionReference, PoseReference, ReferenceSample, prepare_reference
from counterpoise.control.standing_body import com_above_lowest_part, gravity_vector, limp_torque, standing_body
from counterpoise.control.support import (
    Support,
    clamp_force,
    moment_about,
    pivot_distance,
    planted_support,
    pressure_centre,
)
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Contact, Footing, FootingMemory, Objective, Stance, per_dof, take_stance
from counterpoise.objectives.base import capped
from counterpoise.objectives.footing import force_unit
from counterpoise.objectives.posture import PLACE_SHARE, Hashed, hashed, place_dofs, unhashed

NAMES = ("tracking", "linear", "angular")
UNTRACKED_WEIGHT = 1e-4  # of every joint where "tracking" is not among the objectives
LEAST_WEIGHT = 1e-8  # of any joint, so that the system has a solution
SMALL_CHANGE = 1e-6  # [body weights] a force clamped by less than this counts as unchanged


@dataclass(frozen=True)
class MomentumTuning:
    """Gains, weights and limits. omega^2 = g / (height of the CoM, standing), so that they scale with the body.

    Damping is critical everywhere. Weights multiply squares of [rad/s^2], or of rates of momentum divided by m or
    m (h/4)^2. Greek letters and W_t are those of the papers.
    """

    tracking_stiffness: float = 10.0  # [omega^2] k_t
    linear_stiffness: float = 4.0  # [omega^2] k_l
    angular_stiffness: float = 15.0  # [omega^2] k_h
    tracking_weight: float = 1.0  # beta_t
    linear_weight: float = 1000.0  # beta_l
    angular_weight: float = 20.0  # beta_h
    pivot_weight: float = 2000.0  # gamma of 2008, for one standing CoM height between CoP and CMP
    arm_weight: float = 1.0  # factor of W_t for limbs that end in a hand
    root_weight: float = 0.1  # W_t of the root's orientation; its place has a hundredth of it
    least_force: float = 0.2  # [body weights] sigma_l
    most_force: float = 1.8  # [body weights] sigma_u
    most_moment: float = 0.25  # [body weight x standing CoM height] largest |H'_des|
    grip: float = 0.9  # share of the friction that the linear law may use
    pressure_margin: float = 0.1  # [half widths of the support] between p and the edge
    pressure_ahead: float = 1.0 / 60.0  # [s] over which p'' is integrated
    com_margin: float = 0.3  # [half widths of the support] between c_r and the edge
    limit_stiffening: float = 20.0  # [1/rad] l / k_t of joints past their limits
    limit_weight: float = 600.0  # [1/rad] growth of the root of W_t of such joints, so that others do the work
    limit_margin: float = 0.05  # [rad] before the limits at which joints begin to stiffen
    support_stiffness: float = 10.0  # [omega^2] that draws support feet back to where they stood
    fallen: float = 0.45  # [standing CoM heights] a CoM less than this above the lowest part means a fall
    limp_damping: float = 0.02  # [s] of the joints after a fall, in torque limits per rad/s

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"MomentumTuning.{name} is a number >= 0; got {value!r}")
        if not self.least_force < 1.0 < self.most_force:
            raise BadValue(f"least_force < 1 < most_force [body weights]; got {self.least_force}, {self.most_force}")


@dataclass(frozen=True, eq=False)
class MomentumMemory:
    """What one tick leaves for the next."""

    reference: PoseReference | MotionReference
    footing: FootingMemory | None = None
    acceleration: Array | None = None  # theta''*, held until the next optimisation
    chosen_at: float = -np.inf  # [s] when it was chosen
    pressure: Array | None = None  # p* of the last optimisation, (3,)
    distance: float = 0.0  # [m] from CoP to CMP under the last forces
    warm: Array = field(default_factory=lambda: np.zeros(0))
    notes: Mapping[str, float | str] = field(default_factory=dict)
    fallen: bool = False


@dataclass(frozen=True, eq=False)
class MomentumBalance:
    """Follows a reference and balances by momentum: Macchietto, Zordan and Shelton 2009, or the thesis of 2008.

    `optimisation_rate` times a second it chooses accelerations. They weigh tracking (eq. 11, 12), linear balance (5-7)
    and angular balance (8-10, or 5.17 of the thesis) against each other, while support feet keep the acceleration of
    the ground. In between they are held; at every tick, `rate` times a second, inverse dynamics turns them into
    torques, with ground forces inside the friction cones.

    `objectives` names the parts in use. Feet that the reference lifts carry nothing. `weights` are W_t: one number, or
    numbers by joint name or its beginning. `extra` are objectives on accelerations: a point that is dragged, a head
    held upright. `centre` is where the CoM belongs: where the reference has it above its feet, or over the middle of
    the support.
    """

    reference: ArrayLike | Motion | None = None  # a pose (nq,), a Motion, None: neutral
    variant: Literal["2009", "2008"] = "2009"
    objectives: Collection[str] = NAMES
    weights: float | Mapping[str, float] = 1.0
    extra: Sequence[Objective] = ()
    centre: Literal["reference", "support"] = "reference"
    footing: Footing = field(default_factory=Footing)
    rate: float = 500.0  # [Hz] of the torques
    optimisation_rate: float = 125.0  # [Hz] of the accelerations
    tuning: MomentumTuning = field(default_factory=MomentumTuning)

    def __post_init__(self) -> None:
        chosen = (self.objectives,) if isinstance(self.objectives, str) else tuple(self.objectives)
        object.__setattr__(self, "objectives", chosen)
        for name in chosen:
            if name not in NAMES:
                raise unknown_name("objective", name, NAMES, "MomentumBalance")
        if self.variant not in ("2009", "2008") or self.centre not in ("reference", "support"):
            raise BadValue(
                f"variant is '2009' or '2008' and centre 'reference' or 'support'; got {self.variant!r} and "
                f"{self.centre!r}"
            )
        if not (0.0 < self.rate < np.inf and 0.0 < self.optimisation_rate < np.inf):
            raise BadValue(f"rates are positive [Hz]; got {self.rate!r}, {self.optimisation_rate!r}")
        if self.footing.bilateral:
            raise BadValue("MomentumBalance finds forces of feet that can only push: use Footing(bilateral=False)")
        for one in self.extra:
            if not isinstance(one, Objective) or one.on != "acceleration" or one.at_most:
                raise BadValue(
                    f"extra holds objectives on accelerations, such as Drag(...) or Setpoint(...); got {one!r}"
                )

    def begin(self, character: Character) -> MomentumMemory:
        reference = self._prepare(character)
        self._gains(character)  # raises now where weights name an unknown joint
        return MomentumMemory(reference)

    def act(self, snapshot: Snapshot, memory: MomentumMemory) -> Action:
        character, t = snapshot.character, self.tuning
        if memory.fallen or com_above_lowest_part(snapshot) < t.fallen * standing_body(character).height:
            torque = limp_torque(snapshot, t.limp_damping)
            return Action(torque, replace(memory, fallen=True), {"status": "fallen"})
        known = memory.reference
        if known.given is not self.reference or known.character is not character:
            known = self._prepare(character)
        reference = known.at(snapshot.time)
        stance = take_stance(snapshot, with_lifted(self.footing, reference.lifted), memory.footing)
        if memory.acceleration is None or snapshot.time - memory.chosen_at > 1.0 / self.optimisation_rate - 1e-6:
            memory = self._choose(snapshot, stance, reference, memory)
        a = memory.acceleration
        assert a is not None
        torque, multipliers, warm, missing = self._torques(snapshot, stance, a, memory.warm)
        distance = pivot_distance(snapshot, stance, multipliers) if self.variant == "2008" else 0.0
        after = replace(memory, reference=known, footing=stance.memory, warm=warm, distance=distance)
        return Action(torque, after, {**memory.notes, "missing": missing, "status": "solved"})

    def _prepare(self, character: Character) -> PoseReference | MotionReference:
        return prepare_reference(character, self.reference, self.footing.surface, "MomentumBalance")

    # -- choosing accelerations --------------------------------------------------------------------------------------

    def _choose(
        self, s: Snapshot, stance: Stance, reference: ReferenceSample, memory: MomentumMemory
    ) -> MomentumMemory:
        """Chooses theta''* (eq. 13) in two passes. The first, without the angular part, finds the ideal pressure.

        Returns the memory with these accelerations.
        """
        program = self.build(s, stance, reference)
        support = planted_support(stance)
        if support is None or not {"linear", "angular"} & set(self.objectives):
            return replace(memory, acceleration=program.solve(), chosen_at=s.time, pressure=None, notes={})
        t, unit, weight = self.tuning, force_unit(s.character), s.character.mass * gravity_vector(s.character)
        linear, goal = self._linear_rate(s, reference, support)
        if "linear" in self.objectives:
            program = program.with_linear(linear[:2], t.linear_weight)
        a = program.solve()
        L, H = program.rates(a)
        wanted = np.array([linear[0], linear[1], L[2]]) if "linear" in self.objectives else L
        limits = (t.least_force, t.most_force, t.grip * self.footing.friction)
        force = clamp_force(wanted - weight, support.normal, unit, *limits)
        if "linear" in self.objectives and np.abs(force + weight - wanted).max() > SMALL_CHANGE * unit:
            program = program.with_linear(force + weight, t.linear_weight)
            a = program.solve()
            L, H = program.rates(a)
        if "angular" not in self.objectives:
            return replace(memory, acceleration=a, chosen_at=s.time, pressure=None, notes={})
        ideal = pressure_centre(s.com, L - weight, H, float(support.centre[2]))
        pressure = support.inside(ideal, t.pressure_margin * support.half_width)
        if "linear" in self.objectives:  # the moment belongs to this force, its vertical part included
            program = program.with_linear(force + weight, t.linear_weight)
        a = program.with_angular(*self._angular_rate(s, support, goal, force, pressure, memory)).solve()
        notes: dict[str, float | str] = {"ideal_x": float(ideal[0]), "ideal_y": float(ideal[1])}
        return replace(memory, acceleration=a, chosen_at=s.time, pressure=pressure, notes=notes)

    def build(self, snapshot: Snapshot, stance: Stance, reference: ReferenceSample) -> AccelerationProgram:
        """Returns tracking, planted feet and `extra` as one program, before the balance laws."""
        tracking, planted = self._tracking(snapshot, reference), self._planted(snapshot, stance)
        return AccelerationProgram(snapshot, *tracking, *planted, *self._extra_rows(snapshot, stance))

    def _tracking(self, s: Snapshot, reference: ReferenceSample) -> tuple[Array, Array]:
        """Returns weights and targets of eq. 11 and 12, with joints past their limits stiffened."""
        k, d, weight = self._gains(s.character)
        values, _, columns = s.character.limits.evaluate(s.q)
        beyond = beyond_limits(values, columns, len(k), self.tuning.limit_margin)
        error = s.character.difference(s.q, reference.q)
        if beyond.any():
            weight = weight * (1.0 + self.tuning.limit_weight * beyond) ** 2
        stiffening = self.tuning.limit_stiffening
        return weight, tracking_law(error, s.v, reference.v, reference.a, k, d, beyond, stiffening)

    def _planted(self, s: Snapshot, stance: Stance) -> tuple[Array, Array]:
        """Returns J_sup a + dJ_sup/dt v = a_sup of the support feet (eq. 13, 14), drawn back where they have moved.

        A point that presses is a little below the surface, as contact is soft. That is not corrected: drawing it up
        would lean the body towards where it presses, so that it would press more.
        """
        k = self.tuning.support_stiffness * standing_body(s.character).omega_squared
        rows = Contact(stiffness=k).rows(s, stance)
        held = stance.held
        sunk = k * np.minimum(stance.height[held], 0.0)
        return rows.A, rows.b + (sunk[:, None] * stance.basis[held].mean(axis=2)).ravel()

    def _extra_rows(self, s: Snapshot, stance: Stance) -> tuple[Array, Array]:
        """Returns the rows of `extra`, times the roots of their weights (2008, 6.1)."""
        rows = [(np.sqrt(one.weight), one.rows(s, stance)) for one in self.extra if one.weight > 0.0]
        A = [beta * r.A for beta, r in rows] or [np.zeros((0, s.character.nv))]
        b = [beta * r.b for beta, r in rows] or [np.zeros(0)]
        return np.concatenate(A), np.concatenate(b)

    def _linear_rate(self, s: Snapshot, reference: ReferenceSample, support: Support) -> tuple[Array, Array]:
        """Returns L'_des (eq. 5, 6), (3,) of which x and y count, and c_r."""
        k = self.tuning.linear_stiffness * standing_body(s.character).omega_squared
        goal, velocity, acceleration = support.centre, support.velocity, support.acceleration
        if self.centre == "reference":
            bearing = bearing_points(s.character, reference.lifted)
            offset = support.centre - reference.points[bearing].mean(axis=0)
            goal = support.inside(reference.com + offset, self.tuning.com_margin * support.half_width)
            velocity, acceleration = velocity + reference.com_velocity, acceleration + reference.com_acceleration
        pull = k * (goal - s.com) + 2.0 * np.sqrt(k) * (velocity - s.com_velocity) + acceleration
        return s.character.mass * pull, goal

    def _angular_rate(
        self, s: Snapshot, support: Support, goal: Array, force: Array, pressure: Array, memory: MomentumMemory
    ) -> tuple[Array, float]:
        """Returns H'_des and its weight (2009: eq. 8, 9, p_r below c_r; 2008: eq. 5.15, 5.17)."""
        t, body = self.tuning, standing_body(s.character)
        if self.variant == "2008":
            return np.zeros(3), t.pivot_weight * memory.distance / body.height
        k = t.angular_stiffness * body.omega_squared
        elapsed = s.time - memory.chosen_at
        rate = (pressure - memory.pressure) / elapsed if memory.pressure is not None else np.zeros(3)
        wanted = pressure_law(
            pressure, rate, np.append(goal[:2], support.centre[2]), k, 2.0 * np.sqrt(k), t.pressure_ahead
        )
        moment = moment_about(s.com, support.inside(wanted, t.pressure_margin * support.half_width), force)
        return capped(moment, t.most_moment * force_unit(s.character) * body.height), t.angular_weight

    # -- torques and gains -------------------------------------------------------------------------------------------

    def _torques(self, s: Snapshot, stance: Stance, a: Array, warm: Array) -> tuple[Array, Array, Array, float]:
        """Returns torques within their limits, multipliers, a warm start and the residual (inverse dynamics, eq. 4)."""
        character = s.character
        torque, multipliers, warm, missing = floating_inverse_dynamics(
            s.M, s.h, a, character.root_dofs.stop, stance.G, stance.force_limit, character.mass, force_unit(character),
            warm,
        )  # fmt: skip
        return np.clip(torque, -character.torque_limit, character.torque_limit), multipliers, warm, missing

    def _gains(self, character: Character) -> tuple[Array, Array, Array]:
        return tracking_gains(character, self.tuning, hashed(self.weights), "tracking" in self.objectives)


@kept_with_character
def tracking_gains(character: Character, t: MomentumTuning, weights: Hashed, used: bool) -> tuple[Array, Array, Array]:
    """Returns k_t, d_t and the weights of every row of v, (nv,) each."""
    root = character.root_dofs.stop
    k = np.full(character.nv, t.tracking_stiffness * standing_body(character).omega_squared)
    weight = per_dof(character, unhashed(weights), "weights") * t.tracking_weight
    for name in limbs_of(character).arms:
        weight[character.joint(name).dofs] *= t.arm_weight
    weight[:root] = t.root_weight * t.tracking_weight
    weight[[v for joint in character.joints for v in place_dofs(joint) if v < root]] *= PLACE_SHARE
    if not used:
        weight[:] = UNTRACKED_WEIGHT
    return k, 2.0 * np.sqrt(k), np.maximum(weight, LEAST_WEIGHT)
