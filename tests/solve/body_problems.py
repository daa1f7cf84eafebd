"""Whole-body problems of the project's own human: standing, pushed, on one leg, on an edge, saturated, in flight."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character as library_character
from counterpoise.character.snapshot import Snapshot, take_snapshot
from counterpoise.character.state import State
from counterpoise.control.basic import Action
from counterpoise.solve.body.program import BodyMemory, BodyProblem, build_body_problem, solve_body
from counterpoise.solve.body.rows import StandardGains, friction_edges, standard_problem

EIGHT = (0, 1, 2, 3, 6, 7, 8, 9)  # heels and balls of both feet
TWELVE = tuple(range(12))


@dataclass(frozen=True)
class Recipe:
    """One problem of a family; lengths in metres, speeds in m/s and rad/s."""

    seed: int = 0
    push: float = 0.3  # scale of velocities
    stance: tuple[bool, bool] = (True, True)
    knee: float = 0.5  # [rad]
    spread: float = 0.08  # scale of random joint displacements [rad]
    edge: str = ""  # "toe", "heel", "side": only these points stand
    torque: float = 1.0  # part of the torque limits
    points: tuple[int, ...] = EIGHT
    com_strict: bool = True
    momentum_strict: bool = False
    limit: float = np.inf  # of every multiplier [N]


def bent(character: Character, knee: float) -> Array:
    """The neutral pose with both knees at `knee` and the trunk upright over the feet."""
    q = character.neutral.copy()
    for side in ("left", "right"):
        half = 0.25 * knee
        q[character.joint(f"hip_{side}").qpos] = [np.cos(half), 0.0, -np.sin(half), 0.0]
        q[character.joint(f"knee_{side}").qpos] = knee
        q[character.joint(f"ankle_{side}").qpos.start] = -0.5 * knee
    return q


def cone_edges(friction: float) -> Array:
    """(4, 3): edges of the pyramid inside the friction cone about the vertical."""
    s = friction / np.sqrt(2.0)
    return np.array([[s, s, 1.0], [s, -s, 1.0], [-s, s, 1.0], [-s, -s, 1.0]])


def standing(snapshot: Snapshot, recipe: Recipe) -> Array:
    """Which of the recipe's points may bear load, (points,) of bool."""
    names = [p.name for p in snapshot.character.contact_points]
    out = []
    for i in recipe.points:
        on = recipe.stance[0 if "left" in names[i] else 1]
        if recipe.edge == "toe":
            on = on and ("ball" in names[i] or "toe" in names[i])
        elif recipe.edge == "heel":
            on = on and "heel" in names[i]
        elif recipe.edge == "side":
            on = on and "outer" in names[i]
        out.append(on)
    return np.array(out, bool)


def make(recipe: Recipe, name: str = "human") -> BodyProblem:
    """The problem of a controller: contacts, then CoM, then angular momentum beside posture."""
    character = library_character(name)
    rng = np.random.default_rng(recipe.seed)
    rest = bent(character, recipe.knee)
    shift = recipe.spread * rng.standard_normal(character.nv)
    shift[:6] = 0.0
    q = character.integrate(rest, shift)
    v = 0.3 * recipe.push * rng.standard_normal(character.nv)
    v[:3] = recipe.push * rng.standard_normal(3)
    snapshot = take_snapshot(character, character.state(q, v))
    return from_snapshot(snapshot, rest, recipe)


def from_snapshot(s: Snapshot, rest: Array, recipe: Recipe, com_goal: Array | None = None) -> BodyProblem:
    """Rows as a balance controller writes them; `rest` is the posture wanted."""
    character, n = s.character, s.character.nv
    points, on = list(recipe.points), standing(s, recipe)
    J = s.contact_jacobian[points]  # (p, 3, n)
    edges = cone_edges(0.8)
    G = np.einsum("ec,pcj->jpe", edges, J).reshape(n, -1)
    limit = np.repeat(np.where(on, recipe.limit, 0.0), len(edges))
    A1 = J[on].reshape(-1, n)
    b1 = (-s.contact_drift[points] - 20.0 * s.contact_velocity[points])[on].reshape(-1)
    if com_goal is None:
        under = s.contact_position[points][on].mean(axis=0) if on.any() else s.com
        com_goal = np.array([under[0], under[1], s.com[2]])
    A2 = s.com_jacobian
    b2 = 60.0 * (com_goal - s.com) - 12.0 * s.com_velocity - s.com_drift
    A3 = s.momentum_matrix[:3]
    b3 = -5.0 * s.momentum[:3] - s.momentum_drift[:3]
    levels = [(A1, b1)]
    extra = []
    (levels if recipe.com_strict else extra).append((A2, b2) if recipe.com_strict else (10.0 * A2, 10.0 * b2))
    (levels if recipe.momentum_strict else extra).append((A3, b3))
    wanted = 60.0 * character.difference(s.q, rest) - 14.0 * s.v
    weight = np.ones(n)
    weight[:6], wanted[:6] = 1e-6, 0.0
    torque = recipe.torque * character.torque_limit[6:]
    more = (np.vstack([A for A, _ in extra]), np.concatenate([b for _, b in extra])) if extra else None
    return build_body_problem(
        s.M, s.h, root=6, G=G, force_limit=limit, torque_low=-torque, torque_high=torque, levels=levels, weight=weight,
        posture=wanted, extra=more,
        force_weight=0.5, force_unit=character.weight,
    )  # fmt: skip


FAMILIES = (
    "double", "single", "hard", "hard single", "singular", "edge", "torque", "redundant", "flight", "capped",
    "weighted", "three levels",
)  # fmt: skip


def family(name: str, index: int, points: tuple[int, ...] = EIGHT) -> Recipe:
    """The recipe of problem `index` of a family."""
    rng = np.random.default_rng([sum(map(ord, name)), index])
    one = (True, False) if index % 2 else (False, True)
    if name == "double":
        return Recipe(index, points=points)
    if name == "single":
        return Recipe(index, stance=one, points=points)
    if name == "hard":
        return Recipe(index, push=1.5, points=points)
    if name == "hard single":
        return Recipe(index, push=1.5, stance=one, points=points)
    if name == "singular":
        spread = 0.0 if index % 3 else 10.0 ** rng.uniform(-6, -2)
        return Recipe(index, push=0.3, knee=10.0 ** rng.uniform(-6, -1.5), spread=spread, points=points)
    if name == "edge":
        edge = ("toe", "heel", "side")[index % 3]
        return Recipe(index, edge=edge, stance=((True, True), one)[index // 3 % 2], points=points)
    if name == "torque":
        return Recipe(index, push=0.6, torque=rng.uniform(0.08, 0.45), points=points)
    if name == "redundant":
        return Recipe(index, push=0.6, points=TWELVE + TWELVE[:: 1 + index % 3])
    if name == "flight":
        return Recipe(index, stance=(False, False), points=points)
    if name == "capped":
        return Recipe(index, push=0.5, limit=rng.uniform(5.0, 80.0), points=points)
    if name == "weighted":
        return Recipe(index, push=0.8, com_strict=False, points=points)
    if name == "three levels":
        return Recipe(index, push=0.8, momentum_strict=True, points=points)
    raise KeyError(name)


GAINS = StandardGains(posture_stiffness=100.0, posture_damping=20.0, spin_damping=10.0)


@dataclass(frozen=True)
class Stand:
    """A plain balance controller on top of the solver: feet held, CoM over them, spin damped, posture kept."""

    gains: StandardGains = GAINS
    points: tuple[int, ...] = EIGHT
    torque: float = 1.0  # part of the torque limits
    rate: float = 500.0  # [Hz]
    keep: list[tuple[Snapshot, BodyProblem]] | None = None  # what was met, for whoever wants it
    clamp: float = 7.0  # [m/s^2] largest horizontal acceleration asked of the CoM

    def begin(self, character: Character) -> tuple[BodyMemory | None, Array, float]:
        start = upright(character)
        return None, start.q, float(take_snapshot(character, start).com[2])

    def problem(self, s: Snapshot, rest: Array, height: float) -> BodyProblem:
        character = s.character
        points, edges, anchors, limit = fixtures(character, self.points, self.torque)
        place = s.contact_position[points]
        near = place[:, 2] < 0.02
        x, y, _ = place.sum(axis=0) / len(points)
        ahead, aside, most = x - s.com[0], y - s.com[1], self.clamp / self.gains.com_stiffness
        part = min(1.0, most / max(math.hypot(ahead, aside), 1e-9))
        return standard_problem(
            M=s.M, h=s.h, contact_position=s.contact_position, contact_velocity=s.contact_velocity,
            contact_jacobian=s.contact_jacobian, contact_drift=s.contact_drift, com=s.com, momentum=s.momentum,
            momentum_matrix=s.momentum_matrix, momentum_drift=s.momentum_drift, velocity=s.v,
            posture_error=character.difference(s.q, rest), mass=character.mass, points=points, hold=near,
            anchors=anchors, edges=edges, force_limit=(near * 1e4).repeat(4), torque_low=-limit, torque_high=limit,
            com_goal=np.array([s.com[0] + part * ahead, s.com[1] + part * aside, height]), com_push=anchors[0],
            gains=self.gains,
        )  # fmt: skip

    def act(self, s: Snapshot, memory: tuple[BodyMemory | None, Array, float]) -> Action:
        problem = self.problem(s, memory[1], memory[2])
        if self.keep is not None:
            self.keep.append((s, problem))
        found = solve_body(problem, memory[0])
        notes = {
            "status": float(found.status),
            "steps": float(found.iterations),
            "torques at limit": float(np.count_nonzero(found.active_torques)),
            "over": float((np.abs(found.torque[6:]) - problem.torque_high).max()),
            "pull": float(-found.multipliers.min()),
        }
        return Action(found.torque, (found.memory, *memory[1:]), notes)


@cache
def fixtures(character: Character, points: tuple[int, ...], torque: float) -> tuple[Array, Array, Array, Array]:
    """Points, their cones, no anchors, torque limits: what does not change from tick to tick."""
    edges = friction_edges(np.tile([0.0, 0.0, 1.0], (len(points), 1)), 0.8)
    return np.array(points), edges, np.zeros((len(points), 3)), torque * character.torque_limit[6:]


def upright(character: Character, knee: float = 0.5) -> State:
    """Standing with bent knees, soles on the ground."""
    q = bent(character, knee)
    q[2] -= take_snapshot(character, character.state(q)).contact_position[:, 2].min()
    return character.state(q)
