"""Footing: which contact points may push, how hard, and where their feet are held.

Multipliers are kept for every potential contact, so that sizes and warm starts persist. A point within `reach` of its
surface may push and keeps that right until it is `leave` away (hysteresis); the upper bound of its force rises over
`rise` seconds after touch-down and falls over `fall` seconds when its foot is told to lift. A foot that is planted is
held by all its points, also by those that have come off: otherwise a lifted heel never comes back.

The force at a point is a sum of cone edges, f = sum_e v_e lambda_e with 0 <= lambda_e <= limit, edges on the friction
cone (Abe, Liu and Popovic 2007), so that unilateral contact and friction are bounds: G = J^T V.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue, unknown_name
from counterpoise.kernels import kernel
from counterpoise.objectives.surface import LEVEL, Surface

Ground = Surface | Callable[[float], Surface]
FREE = 1e30  # bound of a force that has none


@dataclass(frozen=True, eq=False)
class Footing:
    """What the feet stand on and how they may use it; one value may serve every tick, or a new one each."""

    surface: Ground | Mapping[str, Ground] = LEVEL  # for all feet, or by foot; a function of time where it moves
    lifted: Collection[str] = ()  # feet told to leave the ground
    friction: float = 0.8  # of the cones the forces are planned in: a little less than the ground's
    reach: float = 0.02  # [m] a point nearer to its surface than this may push
    leave: float = 0.03  # [m] and loses that right farther away than this
    rise: float = 0.04  # [s] from no force to full force after touch-down
    fall: float = 0.06  # [s] from full force to none before lift-off
    lose: float = 0.02  # [s] the same when the ground is lost
    strength: float = 1.0  # largest force along one edge of a cone, in body weights
    slip: float = 0.03  # [m] how far a held point may stray from where it was planted before it is planted anew
    bilateral: bool = False  # forces in any direction, as if nailed down: de Lasa 2011, section 3.3.3

    def __post_init__(self) -> None:
        positive = (self.reach, self.rise, self.fall, self.lose, self.strength, self.slip)
        if not all(0.0 < x < np.inf for x in positive) or self.leave < self.reach or not 0.0 <= self.friction < 10.0:
            raise BadValue(
                f"a footing needs positive reach, rise, fall, lose, strength and slip, leave >= reach and "
                f"0 <= friction < 10; got {self!r}"
            )
        if isinstance(self.lifted, str):
            object.__setattr__(self, "lifted", (self.lifted,))

    def __repr__(self) -> str:
        return f"Footing(friction={self.friction}, reach={self.reach}, leave={self.leave}, lifted={tuple(self.lifted)})"


@dataclass(frozen=True, eq=False)
class FootingMemory:
    """Between two ticks: how much of its force each point may use, and where it was planted."""

    time: float
    touching: Flags  # (p,)
    held: Flags  # (p,)
    share: Array  # (p,) 0 to 1
    planted: Array  # (p, 3) in the surface's frame


@dataclass(frozen=True, eq=False)
class Stance:
    """The contact points now: their cones, bounds and references."""

    footing: Footing
    memory: FootingMemory
    G: Array  # (nv, k) generalised force of each multiplier
    basis: Array  # (p, 3, edges) force of each multiplier, world
    force_limit: Array  # (k,) upper bounds; lower ones are zero, or minus these where contact is bilateral
    height: Array  # (p,) [m] above the surface
    goal: Array  # (p, 3) where held points belong [m]
    goal_velocity: Array  # (p, 3) of the surface there [m/s]
    goal_acceleration: Array  # (p, 3)

    @property
    def held(self) -> Flags:
        return self.memory.held

    @property
    def share(self) -> Array:
        return self.memory.share

    @property
    def touching(self) -> Flags:
        return self.memory.touching

    def force(self, multipliers: Array) -> Array:
        """Force at each point (p, 3) [N], world frame, from the multipliers (k,)."""
        return np.einsum("pie,pe->pi", self.basis, multipliers.reshape(len(self.basis), -1))


def take_stance(snapshot: Snapshot, footing: Footing, memory: FootingMemory | None = None) -> Stance:
    """Where the contact points stand at a snapshot, going on from `memory`; without one, whatever touches has its full
    force at once.
    """
    who = snapshot.character
    p = len(who.contact_points)
    foot_of = _foot_of(who)
    surfaces = _surface_rows(footing, who, snapshot.time)
    lifted = np.zeros(len(who.feet), np.bool_)
    for name in footing.lifted:
        lifted[_foot_number(who, name)] = True
    first = memory is None or len(memory.share) != p
    if first:
        memory = FootingMemory(snapshot.time, np.zeros(p, bool), np.zeros(p, bool), np.zeros(p), np.zeros((p, 3)))
    assert memory is not None
    weight = body_weight(who)
    edges = 3 if footing.bilateral else 4
    touching, held, share, height = np.empty(p, bool), np.empty(p, bool), np.empty(p), np.empty(p)
    planted, goal, goal_v, goal_a = np.empty((p, 3)), np.empty((p, 3)), np.empty((p, 3)), np.empty((p, 3))
    basis, G, limit = np.empty((p, 3, edges)), np.empty((who.nv, edges * p)), np.empty(edges * p)
    _stand(
        snapshot.contact_position, snapshot.contact_jacobian, foot_of, surfaces, lifted,
        memory.touching, memory.held, memory.share, memory.planted, snapshot.time - memory.time, first,
        footing.reach, footing.leave, footing.rise, footing.fall, footing.lose, footing.slip,
        footing.friction, footing.strength * weight, footing.bilateral,
        touching, held, share, planted, height, goal, goal_v, goal_a, basis, G, limit,
    )  # fmt: skip
    after = FootingMemory(snapshot.time, touching, held, share, planted)
    return Stance(footing, after, G, basis, limit, height, goal, goal_v, goal_a)


def body_weight(who: Character) -> float:
    """m g [N], the unit of contact forces; the mass where there is no gravity."""
    found = who.__dict__.get("_weight")
    if found is None:
        found = who.__dict__["_weight"] = who.mass * float(np.linalg.norm(who.model.opt.gravity)) or who.mass
    return found


def _foot_of(who: Character) -> Ints:
    found = who.__dict__.get("_foot_of_point")
    if found is None:
        found = np.array([i for i, foot in enumerate(who.feet) for _ in foot.points], np.int64)
        who.__dict__["_foot_of_point"] = found
    assert isinstance(found, np.ndarray)
    return found


def _foot_number(who: Character, name: str) -> int:
    for i, foot in enumerate(who.feet):
        if name in (foot.name, foot.body):
            return i
    raise unknown_name("foot", name, (f.name for f in who.feet), who.name)


def _surface_rows(footing: Footing, who: Character, time: float) -> Array:
    """(feet, 24)"""
    given = footing.surface
    if isinstance(given, Surface):
        known = given.__dict__.get("_rows")
        if known is None or len(known) != len(who.feet):
            known = given.__dict__["_rows"] = np.tile(given.state_row(), (len(who.feet), 1))
        return known
    if not isinstance(given, Mapping):
        return np.tile(_now(given, time).state_row(), (len(who.feet), 1))
    for name in given:
        _foot_number(who, name)
    rows = [given.get(foot.name, given.get(foot.body, LEVEL)) for foot in who.feet]
    return np.array([_now(ground, time).state_row() for ground in rows]).reshape(len(who.feet), 24)


def _now(ground: Ground, time: float) -> Surface:
    found = ground if isinstance(ground, Surface) else ground(time)
    if not isinstance(found, Surface):
        raise BadValue(f"a footing's surface is a Surface or a function of time that returns one; got {found!r}")
    return found


@kernel
def _stand(
    position: Array,
    jacobian: Array,
    foot_of: Ints,
    surfaces: Array,
    lifted: Flags,
    was_touching: Flags,
    was_held: Flags,
    was_share: Array,
    was_planted: Array,
    dt: float,
    first: bool,
    reach: float,
    leave: float,
    rise: float,
    fall: float,
    lose: float,
    slip: float,
    friction: float,
    strength: float,
    bilateral: bool,
    touching: Flags,
    held: Flags,
    share: Array,
    planted: Array,
    height: Array,
    goal: Array,
    goal_v: Array,
    goal_a: Array,
    basis: Array,
    G: Array,
    limit: Array,
) -> None:
    """Everything of a Stance, into the arrays given last."""
    p, nv = len(position), jacobian.shape[2]
    feet = len(lifted)
    edges = 3 if bilateral else 4
    local = np.zeros((p, 3))
    down = np.zeros(feet, np.bool_)
    bearing = np.zeros(feet, np.bool_)
    for i in range(p):
        s, foot = surfaces[foot_of[i]], foot_of[i]
        r0, r1, r2 = position[i, 0] - s[0], position[i, 1] - s[1], position[i, 2] - s[2]
        for k in range(3):
            local[i, k] = s[3 + k] * r0 + s[6 + k] * r1 + s[9 + k] * r2
        height[i] = local[i, 2]
        touching[i] = bilateral or height[i] < (leave if was_touching[i] else reach)
        wanted = 1.0 if touching[i] and not lifted[foot] else 0.0
        if first:
            share[i] = wanted
        elif wanted > was_share[i]:
            share[i] = min(1.0, was_share[i] + dt / rise)
        else:
            share[i] = max(0.0, was_share[i] - dt / (fall if touching[i] else lose))
            share[i] = max(share[i], wanted)
        if touching[i]:
            down[foot] = True
        if share[i] > 0.0:
            bearing[foot] = True
    for i in range(p):
        s, foot = surfaces[foot_of[i]], foot_of[i]
        held[i] = down[foot] and (bearing[foot] or not lifted[foot])
        # where it was planted, in the surface's plane; a point that slid too far is planted anew
        if held[i] and was_held[i] and not first:
            x, y = local[i, 0] - was_planted[i, 0], local[i, 1] - was_planted[i, 1]
            away = np.sqrt(x * x + y * y)
            pull = 0.0 if away <= slip else 1.0 - slip / away
            planted[i, 0] = was_planted[i, 0] + pull * x
            planted[i, 1] = was_planted[i, 1] + pull * y
        else:
            planted[i, 0], planted[i, 1] = local[i, 0], local[i, 1]
        planted[i, 2] = 0.0
        x, y = planted[i, 0], planted[i, 1]
        r = np.empty(3)
        for k in range(3):
            r[k] = s[3 + 3 * k] * x + s[4 + 3 * k] * y
            goal[i, k] = s[k] + r[k]
        w0, w1, w2 = s[15], s[16], s[17]
        u0, u1, u2 = w1 * r[2] - w2 * r[1], w2 * r[0] - w0 * r[2], w0 * r[1] - w1 * r[0]
        goal_v[i, 0], goal_v[i, 1], goal_v[i, 2] = s[12] + u0, s[13] + u1, s[14] + u2
        a0, a1, a2 = s[21], s[22], s[23]
        goal_a[i, 0] = s[18] + a1 * r[2] - a2 * r[1] + w1 * u2 - w2 * u1
        goal_a[i, 1] = s[19] + a2 * r[0] - a0 * r[2] + w2 * u0 - w0 * u2
        goal_a[i, 2] = s[20] + a0 * r[1] - a1 * r[0] + w0 * u1 - w1 * u0
        across = friction / np.sqrt(2.0)
        for e in range(edges):
            if bilateral:
                cx, cy, cz = 1.0 * (e == 0), 1.0 * (e == 1), 1.0 * (e == 2)
                limit[edges * i + e] = FREE
            else:
                cx = across if e < 2 else -across
                cy = across if e % 2 == 0 else -across
                cz = 1.0
                limit[edges * i + e] = share[i] * strength
            for k in range(3):
                basis[i, k, e] = s[3 + 3 * k] * cx + s[4 + 3 * k] * cy + s[5 + 3 * k] * cz
            for j in range(nv):
                total = 0.0
                for k in range(3):
                    total += jacobian[i, k, j] * basis[i, k, e]
                G[j, edges * i + e] = total
