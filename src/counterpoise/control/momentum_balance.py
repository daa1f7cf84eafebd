"""MomentumBalance: tracking, linear and angular balance as one linear system, then torques (Macchietto 2008, 2009)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.macchietto_laws import (
    Support,
    beyond_limits,
    clamp_force,
    find_support,
    gravity_of,
    moment_of,
    pivot_distance,
    pressure_centre,
    pressure_law,
    tracking_law,
)
from counterpoise.control.macchietto_program import floating_inverse_dynamics, solve_accelerations
from counterpoise.control.macchietto_reference import (
    ReferencePlan,
    Wish,
    arm_joints,
    bearing_points,
    has_fallen,
    limp,
    omega_squared,
    plan_reference,
    standing_height,
)
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion.motion import Motion
from counterpoise.objectives import (
    Contact,
    Footing,
    FootingMemory,
    Objective,
    Rows,
    Stance,
    momentum_scale,
    per_dof,
    take_stance,
)
from counterpoise.objectives.base import capped
from counterpoise.objectives.footing import body_weight

NAMES = ("tracking", "linear", "angular")


@dataclass(frozen=True)
class MomentumTuning:
    """Gains, weights and limits. omega^2 = g / (height of the CoM, standing), so that they scale with the body; damping
    is critical everywhere. Weights multiply squares of [rad/s^2] or, for momenta, of rates over m and m (h/4)^2.
    """

    tracking_stiffness: float = 10.0  # k_t [omega^2]
    linear_stiffness: float = 4.0  # k_l [omega^2]
    angular_stiffness: float = 15.0  # k_h [omega^2]
    tracking_weight: float = 1.0  # beta_t
    linear_weight: float = 1000.0  # beta_l
    angular_weight: float = 20.0  # beta_h
    pivot_weight: float = 2000.0  # gamma of 2008, per metre of standing CoM height between CoP and CMP
    arm_weight: float = 1.0  # W_t of limbs that end in a hand, times the joint's own
    root_weight: float = 0.1  # W_t of the root's orientation; its place has a hundredth of it
    least_force: float = 0.2  # sigma_l [body weights]
    most_force: float = 1.8  # sigma_u [body weights]
    most_moment: float = 0.25  # |H'_des| [body weight x standing CoM height]
    grip: float = 0.9  # share of the friction that the linear law may use
    pressure_margin: float = 0.1  # [half widths of the support] kept between p and the edge
    pressure_ahead: float = 1.0 / 60.0  # [s] over which p'' is integrated
    com_margin: float = 0.3  # [half widths] kept between c_r and the edge
    limit_stiffening: float = 20.0  # l / k_t [1/rad] of joints past their limits
    limit_weight: float = 600.0  # [1/rad] growth of the root of W_t of such joints, so that others do the work
    limit_margin: float = 0.05  # [rad] before the limits at which joints begin to stiffen
    support_stiffness: float = 10.0  # [omega^2] with which support feet are drawn back to where they stood

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"MomentumTuning.{name} is a number >= 0; got {value!r}")
        if not self.least_force < 1.0 < self.most_force:
            raise BadValue(f"least_force < 1 < most_force [body weights]; got {self.least_force}, {self.most_force}")


@dataclass(frozen=True, eq=False)
class MomentumMemory:
    """What one tick leaves for the next."""

    plan: ReferencePlan
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
    """Follow a reference and balance by momentum: Macchietto, Zordan and Shelton 2009, or the thesis of 2008.

    `optimisation_rate` times a second the accelerations are chosen that weigh tracking (eq. 11, 12), linear balance
    (5-7) and angular balance (8-10, or the thesis's 5.17) against each other while support feet keep the ground's
    acceleration; in between they are held, and inverse dynamics turns them into torques at every tick, `rate` times a
    second, with ground forces inside the friction cone. `objectives` names those in use. Feet that the reference lifts
    bear nothing. `weights` are W_t, one number or by joint name or its beginning. `extra` are soft objectives on
    accelerations: a point dragged along, a head held upright. `centre` says where the CoM belongs: where the
    reference has it above its feet, or over the middle of the support.
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
        plan = plan_reference(character, self.reference, self.footing, "MomentumBalance")
        self._gains(character)  # refuse now weights that name no joint
        return MomentumMemory(plan)

    def act(self, snapshot: Snapshot, memory: MomentumMemory) -> Action:
        if memory.fallen or has_fallen(snapshot):
            return Action(limp(snapshot), replace(memory, fallen=True), {"status": "fallen"})
        plan = self._plan(snapshot.character, memory)
        wish = plan.at(snapshot.time)
        stance = take_stance(snapshot, self._footing(wish.lifted), memory.footing)
        if memory.acceleration is None or snapshot.time - memory.chosen_at > 1.0 / self.optimisation_rate - 1e-6:
            memory = self._choose(snapshot, stance, wish, memory)
        a = memory.acceleration
        assert a is not None
        torque, multipliers, warm, missing = self._torques(snapshot, stance, a, memory.warm)
        distance = pivot_distance(snapshot, stance, multipliers) if self.variant == "2008" else 0.0
        after = replace(memory, plan=plan, footing=stance.memory, warm=warm, distance=distance)
        return Action(torque, after, {**memory.notes, "missing": missing, "status": "solved"})

    # ------------------------------------------------------------------------------------------ choosing accelerations

    def _choose(self, s: Snapshot, stance: Stance, wish: Wish, memory: MomentumMemory) -> MomentumMemory:
        """theta''* (eq. 13) in two passes: the first, without the angular objective, finds the ideal pressure."""
        program = self.build(s, stance, wish)
        support = find_support(stance)
        if support is None or not {"linear", "angular"} & set(self.objectives):
            return replace(memory, acceleration=program.solve(), chosen_at=s.time, pressure=None, notes={})
        t, who, weight = self.tuning, s.character, s.character.mass * gravity_of(s.character)
        linear, goal = self._linear_rate(s, wish, support)
        if "linear" in self.objectives:
            program = program.with_linear(linear[:2], t.linear_weight)
        a = program.solve()
        L, H = program.rates(a)
        wanted = np.array([linear[0], linear[1], L[2]]) if "linear" in self.objectives else L
        limits = (t.least_force, t.most_force, t.grip * self.footing.friction)
        force = clamp_force(wanted - weight, support.normal, body_weight(who), *limits)
        if "linear" in self.objectives and np.abs(force + weight - wanted).max() > 1e-6 * body_weight(who):
            program = program.with_linear(force + weight, t.linear_weight)
            a = program.solve()
            L, H = program.rates(a)
        if "angular" not in self.objectives:
            return replace(memory, acceleration=a, chosen_at=s.time, pressure=None, notes={})
        ideal = pressure_centre(s.com, L - weight, H, float(support.centre[2]))
        pressure = support.inside(ideal, t.pressure_margin)
        if "linear" in self.objectives:  # the force that the moment is made for, its vertical part too
            program = program.with_linear(force + weight, t.linear_weight)
        a = program.with_angular(*self._angular_rate(s, support, goal, force, pressure, memory)).solve()
        notes: dict[str, float | str] = {"ideal_x": float(ideal[0]), "ideal_y": float(ideal[1])}
        return replace(memory, acceleration=a, chosen_at=s.time, pressure=pressure, notes=notes)

    def build(self, snapshot: Snapshot, stance: Stance, wish: Wish) -> AccelerationProgram:
        """Tracking, planted feet and soft objectives as one program, before the balance laws: to look at."""
        parts = (*self._tracking(snapshot, wish), *self._planted(snapshot, stance), *self._wishes(snapshot, stance))
        return AccelerationProgram(snapshot, *parts)

    def _tracking(self, s: Snapshot, wish: Wish) -> tuple[Array, Array]:
        """Weights and targets of eq. 11 and 12, joints past their limits stiffened."""
        k, d, weight = self._gains(s.character)
        values, _, columns = s.character.limits.evaluate(s.q)
        beyond = beyond_limits(values, columns, len(k), self.tuning.limit_margin)
        error = s.character.difference(s.q, wish.q)
        if beyond.any():
            weight = weight * (1.0 + self.tuning.limit_weight * beyond) ** 2
        return weight, tracking_law(error, s.v, wish.v, wish.a, k, d, beyond, self.tuning.limit_stiffening)

    def _planted(self, s: Snapshot, stance: Stance) -> tuple[Array, Array]:
        """J_sup a + dJ_sup/dt v = a_sup of the feet that bear (eq. 13, 14), drawn back where they have strayed.

        A point that presses is a little below the surface, as contact is soft. That is no error: drawing it up would
        lean the body towards where it presses, which presses more.
        """
        k = self.tuning.support_stiffness * omega_squared(s.character)
        rows = Contact(stiffness=k).rows(s, stance)
        held = stance.held
        sunk = k * np.minimum(stance.height[held], 0.0)
        return rows.A, rows.b + (sunk[:, None] * stance.basis[held].mean(axis=2)).ravel()

    def _wishes(self, s: Snapshot, stance: Stance) -> tuple[Array, Array]:
        """Soft objectives, times the roots of their weights (2008, 6.1)."""
        rows = [(np.sqrt(one.weight), one.rows(s, stance)) for one in self.extra if one.weight > 0.0]
        A = [beta * r.A for beta, r in rows] or [np.zeros((0, s.character.nv))]
        b = [beta * r.b for beta, r in rows] or [np.zeros(0)]
        return np.concatenate(A), np.concatenate(b)

    def _linear_rate(self, s: Snapshot, wish: Wish, support: Support) -> tuple[Array, Array]:
        """L'_des (eq. 5, 6), (3,) of which x and y count, and c_r."""
        k = self.tuning.linear_stiffness * omega_squared(s.character)
        goal, velocity, acceleration = support.centre, support.velocity, support.acceleration
        if self.centre == "reference":
            feet = support.centre - wish.points[bearing_points(s.character, wish.lifted)].mean(axis=0)
            goal = support.inside(wish.com + feet, self.tuning.com_margin)
            velocity, acceleration = velocity + wish.com_velocity, acceleration + wish.com_acceleration
        pull = k * (goal - s.com) + 2.0 * np.sqrt(k) * (velocity - s.com_velocity) + acceleration
        return s.character.mass * pull, goal

    def _angular_rate(
        self, s: Snapshot, support: Support, goal: Array, force: Array, pressure: Array, memory: MomentumMemory
    ) -> tuple[Array, float]:
        """H'_des and its weight (2009: eq. 8, 9, p_r below c_r; 2008: eq. 5.15, 5.17)."""
        t = self.tuning
        if self.variant == "2008":
            return np.zeros(3), t.pivot_weight * memory.distance / standing_height(s.character)
        k = t.angular_stiffness * omega_squared(s.character)
        elapsed = s.time - memory.chosen_at
        rate = (pressure - memory.pressure) / elapsed if memory.pressure is not None else np.zeros(3)
        wanted = pressure_law(
            pressure, rate, np.append(goal[:2], support.centre[2]), k, 2.0 * np.sqrt(k), t.pressure_ahead
        )
        moment = moment_of(support.inside(wanted, t.pressure_margin), s.com, force)
        return capped(moment, t.most_moment * body_weight(s.character) * standing_height(s.character)), t.angular_weight

    # ------------------------------------------------------------------------------------------------ torques and parts

    def _torques(self, s: Snapshot, stance: Stance, a: Array, warm: Array) -> tuple[Array, Array, Array, float]:
        """Floating-base inverse dynamics (eq. 4), forces inside the cones; joint limits of strength are kept."""
        who = s.character
        torque, multipliers, warm, missing = floating_inverse_dynamics(
            s.M, s.h, a, who.root_dofs.stop, stance.G, stance.force_limit, who.mass, body_weight(who), warm
        )
        return np.clip(torque, -who.torque_limit, who.torque_limit), multipliers, warm, missing

    def _plan(self, character: Character, memory: MomentumMemory) -> ReferencePlan:
        if memory.plan.reference is self.reference and memory.plan.character is character:
            return memory.plan
        return plan_reference(character, self.reference, self.footing, "MomentumBalance")

    def _footing(self, lifted: tuple[str, ...]) -> Footing:
        both = tuple(dict.fromkeys((*self.footing.lifted, *lifted)))
        return self.footing if both == tuple(self.footing.lifted) else replace(self.footing, lifted=both)

    def _gains(self, who: Character) -> tuple[Array, Array, Array]:
        """k_t, d_t and weights of every row of v, kept with the body."""
        key = (self.tuning, tuple(self.weights.items()) if isinstance(self.weights, Mapping) else self.weights)
        used = "tracking" in self.objectives
        kept: dict[object, tuple[Array, Array, Array]] = who.__dict__.setdefault("_momentum_gains", {})
        found = kept.get((key, used))
        if found is None:
            t, root = self.tuning, who.root_dofs.stop
            k = np.full(who.nv, t.tracking_stiffness * omega_squared(who))
            weight = per_dof(who, self.weights, "weights") * t.tracking_weight
            for name in arm_joints(who):
                weight[who.joint(name).dofs] *= t.arm_weight
            weight[:root] = t.root_weight * t.tracking_weight
            for joint in who.joints:
                if joint.dofs.start < root and joint.kind in ("free", "slide"):
                    weight[joint.dofs.start : min(joint.dofs.start + 3, joint.dofs.stop)] *= 0.01
            if not used:
                weight[:] = 1e-4
            if len(kept) > 32:
                kept.clear()
            found = kept[key, used] = (k, 2.0 * np.sqrt(k), np.maximum(weight, 1e-8))
        return found


@dataclass(frozen=True, eq=False)
class AccelerationProgram:
    """The rows of one optimisation (eq. 13)."""

    snapshot: Snapshot
    weight: Array  # (nv,) of tracking
    target: Array  # (nv,) accelerations it wants
    C: Array  # (k, nv) support feet: C a = d
    d: Array  # (k,)
    A: Array  # (m, nv) soft objectives, times the roots of their weights
    b: Array  # (m,)
    linear: Rows | None = None
    angular: Rows | None = None

    def with_linear(self, rate: Array, weight: float) -> AccelerationProgram:
        """And |L'_des - (R a + r)|^2 on the axes given, x y or x y z (eq. 7)."""
        return replace(self, linear=self._rows(slice(3, 3 + len(rate)), rate, "linear", weight))

    def with_angular(self, rate: Array, weight: float) -> AccelerationProgram:
        """And |H'_des - (S a + s)|^2 (eq. 10)."""
        return replace(self, angular=self._rows(slice(0, 3), rate, "angular", weight))

    def _rows(self, part: slice, rate: Array, kind: str, weight: float) -> Rows:
        scale = np.sqrt(weight) / momentum_scale(self.snapshot.character, kind)
        return Rows(self.snapshot.momentum_matrix[part] * scale, (rate - self.snapshot.momentum_drift[part]) * scale)

    def solve(self) -> Array:
        """theta''*, (nv,)"""
        parts = [(self.A, self.b), *((r.A, r.b) for r in (self.linear, self.angular) if r is not None)]
        A, b = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
        return solve_accelerations(self.weight, self.target, A, b, self.C, self.d)[0]

    def rates(self, a: Array) -> tuple[Array, Array]:
        """L' and H' under accelerations, (3,) each."""
        rate = self.snapshot.momentum_matrix @ a + self.snapshot.momentum_drift
        return rate[3:], rate[:3]
