"""Footing: what the feet stand on. Stance: which contact points may push, how hard, and where they are held.

Every contact point of the character always has its multipliers, so that sizes and warm starts persist. A point within
`reach` of its surface may push, until it is farther than `leave` away (hysteresis). The upper bound of its force rises
over `rise` seconds after touch-down and falls over `fall` seconds when its foot shall leave the ground. A planted foot
is held by all its points, also by those that have come off the ground: otherwise a raised heel would never come back.
Points can be let go one by one: `raised` points neither push nor are held (a heel that rises), `loose` ones push
without being held (the ball of the foot while the heel rises and the toes stay).

The force at a point is a sum of edges of its friction cone, f = sum_e v_e lambda_e with 0 <= lambda_e <= limit (Abe,
Liu and Popovic 2007). So unilateral contact and friction are bounds: G = J^T V.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.defaults import PLANNED_FRICTION
from counterpoise.errors import BadValue, unknown_name
from counterpoise.objectives.stance_kernels import fill_stance
from counterpoise.objectives.surface import LEVEL, Surface
from counterpoise.quick import quick

Ground = Surface | Callable[[float], Surface]  # fixed, or a function of time [s]


@dataclass(frozen=True, eq=False)
class Footing:
    """What the feet stand on and how they may use it. One value may serve every tick, or each tick has its own."""

    surface: Ground | Mapping[str, Ground] = LEVEL  # of all feet, or by foot; a function of time where it moves
    lifted: Collection[str] = ()  # feet that shall leave the ground
    friction: float = PLANNED_FRICTION  # of the cones in which forces are planned
    reach: float = 0.02  # [m] a point nearer to its surface than this may push ...
    leave: float = 0.03  # [m] ... until it is farther away than this
    rise: float = 0.04  # [s] from no force to full force after touch-down
    fall: float = 0.06  # [s] from full force to no force before lift-off
    lose: float = 0.02  # [s] the same when contact is lost
    strength: float = 1.0  # [body weights] largest force along one edge of a cone
    slip: float = 0.03  # [m] a held point that has slid farther than this is planted where it is
    raised: Flags | None = None  # (p,) points that shall leave the ground, besides those of lifted feet
    loose: Flags | None = None  # (p,) points that may push and are not held
    bilateral: bool = False  # True: forces in any direction, as if nailed down (de Lasa 2011, section 3.3.3)

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
    """The state of the contact points between two ticks."""

    time: float  # [s]
    touching: Flags  # (p,)
    held: Flags  # (p,)
    share: Array  # (p,) 0 to 1: of its force that a point may use
    planted: Array  # (p, 3) where a point is held, in the surface's frame


@dataclass(frozen=True, eq=False)
class Stance:
    """The contact points of one tick: their cones, bounds and references."""

    footing: Footing
    memory: FootingMemory
    G: Array  # (nv, k) generalised force of each multiplier
    basis: Array  # (p, 3, edges) force of each multiplier, world
    force_limit: Array  # (k,) upper bounds; lower bounds are zero, or minus these where contact is bilateral
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
        """Returns the force at each point (p, 3) [N], world frame, from the multipliers (k,)."""
        return np.einsum("pie,pe->pi", self.basis, multipliers.reshape(len(self.basis), -1))


def take_stance(snapshot: Snapshot, footing: Footing, memory: FootingMemory | None = None) -> Stance:
    """Returns the contact points at a snapshot, continuing from `memory`.

    Without a memory, every point that touches may use its full force at once.
    """
    character = snapshot.character
    feet = foot_table(character)
    p = len(feet.foot_of)
    raised = _points(footing.raised, p, "raised")
    if footing.lifted:
        raised = raised | np.isin(feet.foot_of, [feet.index(name, character) for name in footing.lifted])
    loose = _points(footing.loose, p, "loose")
    first = memory is None or len(memory.share) != p
    if first:
        memory = FootingMemory(snapshot.time, np.zeros(p, bool), np.zeros(p, bool), np.zeros(p), np.zeros((p, 3)))
    assert memory is not None
    edges = 3 if footing.bilateral else 4
    touching, held, share, height = np.empty(p, bool), np.empty(p, bool), np.empty(p), np.empty(p)
    planted, goal, goal_v, goal_a = np.empty((p, 3)), np.empty((p, 3)), np.empty((p, 3)), np.empty((p, 3))
    basis, G, limit = np.empty((p, 3, edges)), np.empty((character.nv, edges * p)), np.empty(edges * p)
    fill_stance(
        snapshot.contact_position, snapshot.contact_jacobian, feet.foot_of,
        surface_rows(footing, character, snapshot.time), raised, loose, memory.touching, memory.held, memory.share,
        memory.planted, snapshot.time - memory.time, first, footing.reach, footing.leave, footing.rise, footing.fall,
        footing.lose, footing.slip, footing.friction, footing.strength * feet.force_unit, footing.bilateral,
        touching, held, share, planted, height, goal, goal_v, goal_a, basis, G, limit,
    )  # fmt: skip
    after = quick(FootingMemory, time=snapshot.time, touching=touching, held=held, share=share, planted=planted)
    return quick(
        Stance, footing=footing, memory=after, G=G, basis=basis, force_limit=limit, height=height, goal=goal,
        goal_velocity=goal_v, goal_acceleration=goal_a,
    )  # fmt: skip


def _points(flags: Flags | None, p: int, what: str) -> Flags:
    """Returns flags of the contact points, (p,); none is set where none are given."""
    if flags is None:
        return np.zeros(p, np.bool_)
    if len(flags) != p:
        raise BadValue(f"Footing.{what} has one flag for each of the {p} contact points; got {len(flags)}")
    return flags


@dataclass(frozen=True, eq=False)
class FootTable:
    """What `take_stance` needs to know about a character."""

    foot_of: Ints  # (p,) index of the foot that each contact point belongs to
    by_name: Mapping[str, int]  # index of a foot by its name, or by the name of its body
    force_unit: float  # [N]

    def index(self, name: str, character: Character) -> int:
        """Returns the index of a foot by its name or the name of its body."""
        found = self.by_name.get(name)
        if found is None:
            raise unknown_name("foot", name, (foot.name for foot in character.feet), character.name)
        return found


@kept_with_character
def foot_table(character: Character) -> FootTable:
    """Returns the character's table of feet."""
    by_name: dict[str, int] = {}
    for i, foot in enumerate(character.feet):
        by_name.setdefault(foot.name, i)
        by_name.setdefault(foot.body, i)
    foot_of = np.array([i for i, foot in enumerate(character.feet) for _ in foot.points], np.int64)
    return FootTable(foot_of, by_name, force_unit(character))


def force_unit(character: Character) -> float:
    """Returns the unit of contact forces [N]: the character's weight, or its mass where there is no gravity."""
    return character.weight or character.mass


def surface_rows(footing: Footing, character: Character, time: float) -> Array:
    """Returns the surface under every foot at a time as rows that kernels read, (feet, 24)."""
    given = footing.surface
    if isinstance(given, Surface):
        return _repeated_row(character, given)
    if not isinstance(given, Mapping):
        return np.tile(_surface_at(given, time).state_row(), (len(character.feet), 1))
    feet = foot_table(character)
    for name in given:
        feet.index(name, character)
    grounds = [given.get(foot.name, given.get(foot.body, LEVEL)) for foot in character.feet]
    return np.array([_surface_at(ground, time).state_row() for ground in grounds]).reshape(len(grounds), 24)


@kept_with_character
def _repeated_row(character: Character, surface: Surface) -> Array:
    return np.tile(surface.state_row(), (len(character.feet), 1))


def _surface_at(ground: Ground, time: float) -> Surface:
    found = ground if isinstance(ground, Surface) else ground(time)
    if not isinstance(found, Surface):
        raise BadValue(f"a footing's surface is a Surface or a function of time that returns one; got {found!r}")
    return found
