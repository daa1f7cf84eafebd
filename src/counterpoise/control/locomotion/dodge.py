"""Dodging: which move takes the body out of the way of what flies at it.

The body is its rods (character/shapes), moved as a whole: each move has a path, known from measured ones. A step aside
is a deliberate fall: the foot on that side is lifted at once, and lands late and wide. A body that stands ducks by
`Stand` at a low height, one that walks by lower hips and a trunk that leans forward; and it can stop.
Of the moves that are clear of everything, the cheapest is taken; where none is, the one that comes nearest to it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.shapes import rods_of
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.limbs import limbs_of
from counterpoise.control.locomotion.hazards import Hazard
from counterpoise.control.walk.walking_body import WalkingBody
from counterpoise.objectives.base import smooth_step


@dataclass(frozen=True)
class DodgeTuning:
    """When and how to dodge. Lengths without a unit are in leg lengths, times in sqrt(leg length / g)."""

    look_ahead: float = 4.0  # a hit that is later than this is not answered yet
    near: float = 0.04  # a miss by less than this counts as a hit
    clear: float = 0.06  # a move that misses by more than this is as good as any
    slow: float = 0.5  # [sqrt(leg x g)] what comes more slowly is walked around
    step_speed: float = 0.2  # [sqrt(leg x g)] asked of a step aside
    step_time: float = 2.1  # of its first step
    step_cost: float = 1.0
    duck_cost: float = 0.4  # of a duck by nothing ...
    duck_depth_cost: float = 1.0  # ... and beside it, of one to the ground
    walk_duck: float = 0.21  # by which the hips of a walk are lower, ...
    walk_lean: float = 0.6  # [rad] and its trunk leans forward
    walk_share: float = 0.8  # of the way of a step aside that it has while walking
    brake_cost: float = 0.6  # of a walk that stops
    wait_cost: float = 6.0  # a walk waits for a better move than one that costs more ...
    last_moment: float = 1.6  # ... until this before the hit
    duck_time: float = 1.6  # in which it goes down
    duck_delay: float = 0.4  # by which the body is later than what is asked
    rise_time: float = 3.5  # in which it gets up again
    after: float = 0.3  # for which a move goes on after the hazard has passed


class Dodge(NamedTuple):
    """A move that is under way."""

    kind: Literal["step", "duck", "brake"]
    began: float  # [s]
    until: float  # [s]
    way: tuple[float, float] = (0.0, 0.0)  # of a step: its direction, forward and to the left
    depth: float = 0.0  # of a duck: share of the height
    steps: int = 0  # that were made before it


class Move(NamedTuple):
    """A move that may be made, and what it costs."""

    dodge: Dodge
    cost: float


TOUCH_COST = 20.0  # of a move that just touches
DRAWN_IN = 1.0  # [m] by which rods that are drawn in count as farther away
STEPS_FROM = 0.85  # [standing heights of the CoM] a lower body does not step
SAMPLE = 0.02  # [s] between two moments at which the distance is looked at
DUCKS = (0.15, 0.28, 0.42)  # shares of the CoM's height
DUCKED = (0.12, 0.23, 0.36)  # shares of the height of the head, by which it is then lower; measured with a human
WALK_DUCK = 0.2  # the same, of a walk
# how far the CoM has gone after a step aside began: times [leg times], ways [leg lengths]; measured with a human
STEP_TIMES = (0.0, 0.49, 0.97, 1.3, 1.62, 1.95, 2.27, 2.6, 3.25, 4.9)
STEP_WAYS = (0.0, 0.01, 0.05, 0.1, 0.175, 0.26, 0.35, 0.425, 0.50, 0.60)
BRAKE_TIMES = (0.0, 0.65, 0.97, 1.62, 1.95, 2.27, 2.6, 3.25, 4.9)  # and how far a walk that stops stays behind,
BRAKE_WAYS = (0.0, 0.0, 0.03, 0.12, 0.18, 0.24, 0.32, 0.5, 1.0)  # [ways at its speed in 1 leg time], at first
STEP_DIRECTIONS = tuple(math.radians(angle) for angle in (90, -90, 45, -45, 135, -135))  # from the heading


class _Rods(NamedTuple):
    """The rods of all bodies."""

    bodies: Ints  # (k,)
    start: Array  # (k, 3) body's frame [m]
    end: Array  # (k, 3)
    radius: Array  # (k,) [m]
    drawn_in: Flags  # (k,) of forearms and hands, which are drawn in before the chest in a step aside


@kept_with_character
def _rods(character: Character) -> _Rods:
    found = [rod for name in character.segments for rod in rods_of(character, name)]
    arms = {character.joint(name).body for name in limbs_of(character).arms}
    parents = {
        name: character.segments[int(character.model.body_parentid[character.body_id(name)]) - 1] for name in arms
    }
    return _Rods(
        np.array([character.body_id(rod.body) for rod in found]),
        np.array([rod.start for rod in found], float).reshape(-1, 3),
        np.array([rod.end for rod in found], float).reshape(-1, 3),
        np.array([rod.radius for rod in found], float),
        np.array([rod.body in arms and parents[rod.body] in arms for rod in found], bool),
    )


def choose_dodge(
    snapshot: Snapshot, velocity: Array, heading: float, hazards: tuple[Hazard, ...], can: tuple[str, ...],
    body: WalkingBody, t: DodgeTuning,
) -> Dodge | None:  # fmt: skip
    """Returns the move that avoids a hit, or None where none is needed. `velocity` (2,) is the body's own [m/s].

    `can` says which moves there are now: "duck" (standing) or "low" (walking), "brake", "step"
    in any direction, or to the "left" or the "right" only.
    """
    now, unit, clock = snapshot.time, body.hips_height, body.leg_time
    fast = [one for one in hazards if not one.stands and one.is_seen(now)]
    if not fast:
        return None
    times = np.arange(0.0, t.look_ahead * clock, SAMPLE)
    places = [one.at(now + times) for one in fast]
    radii = [one.radius for one in fast]
    speeds = [float(np.linalg.norm(p[1] - p[0])) / SAMPLE for p in places]
    chosen = [k for k in range(len(fast)) if speeds[k] > t.slow * body.leg_speed]
    places, radii = [places[k] for k in chosen], [radii[k] for k in chosen]
    if not places:
        return None
    starts, ends, radius, drawn_in = _rods_now(snapshot)
    drift = times[:, None] * np.array([velocity[0], velocity[1], 0.0])
    miss, hit_time = _least_distance(starts, ends, radius, places, radii, times, drift, np.ones(len(times)))
    if miss > t.near * unit:
        return None
    # a walk whose present step allows no good move waits for the next one
    most = t.wait_cost if "low" in can and hit_time > t.last_moment * clock else math.inf
    until = now + hit_time + t.after * clock
    best, least = None, _shortfall(miss, t.clear * unit)
    for move in _moves(now, until, can, t):
        shift, scale = _path(move.dodge, heading, velocity, times, body, t)
        if "low" in can and move.dodge.kind == "step":
            shift = t.walk_share * shift
        thick = np.where(drawn_in, -DRAWN_IN, radius) if move.dodge.kind == "step" else radius
        found, _ = _least_distance(starts, ends, thick, places, radii, times, drift + shift, scale)
        cost = move.cost + _shortfall(found, t.clear * unit)
        if cost < min(least, most):
            best, least = move.dodge, cost
    return best


def _shortfall(miss: float, clear: float) -> float:
    """Returns what it costs to miss by less than what is clear [m]."""
    return TOUCH_COST * max(clear - miss, 0.0) / clear


def _moves(now: float, until: float, can: tuple[str, ...], t: DodgeTuning) -> list[Move]:
    """Returns the moves that may be made now."""
    moves = []
    if "low" in can:
        moves.append(Move(Dodge("duck", now, until, depth=WALK_DUCK), t.duck_cost + t.duck_depth_cost * WALK_DUCK))
    if "brake" in can:
        moves.append(Move(Dodge("brake", now, until), t.brake_cost))
    if "duck" in can:
        moves += [Move(Dodge("duck", now, until, depth=d), t.duck_cost + t.duck_depth_cost * d) for d in DUCKS]
    for angle in STEP_DIRECTIONS:
        beside = abs(abs(angle) - 0.5 * math.pi) < 1e-9
        if "step" in can or (beside and ("left" if angle > 0.0 else "right") in can):
            moves.append(Move(Dodge("step", now, until, (math.cos(angle), math.sin(angle))), t.step_cost))
    return moves


def _path(
    dodge: Dodge, heading: float, velocity: Array, times: Array, body: WalkingBody, t: DodgeTuning
) -> tuple[Array, Array]:
    """Returns how far a move has taken the body, (n, 3) [m], and the share of its height that is left, (n,)."""
    clock = body.leg_time
    if dodge.kind == "duck":
        gone = [smooth_step((time / clock - t.duck_delay) / t.duck_time) for time in times.tolist()]
        lower = float(np.interp(dodge.depth, (0.0, *DUCKS), (0.0, *DUCKED)))
        return np.zeros((len(times), 3)), 1.0 - lower * np.array(gone)
    if dodge.kind == "brake":
        behind = clock * np.interp(times / clock, BRAKE_TIMES, BRAKE_WAYS)
        return -behind[:, None] * np.array([velocity[0], velocity[1], 0.0]), np.ones(len(times))
    way = body.hips_height * np.interp(times / clock, STEP_TIMES, STEP_WAYS)
    c, s, (x, y) = math.cos(heading), math.sin(heading), dodge.way
    return way[:, None] * np.array([c * x - s * y, s * x + c * y, 0.0]), np.ones(len(times))


def _rods_now(snapshot: Snapshot) -> tuple[Array, Array, Array, Flags]:
    """Returns both ends of every rod in the world, (k, 3) each, the radii (k,) [m], and which can be drawn in."""
    rods = _rods(snapshot.character)
    origin, turn = snapshot.body_position[rods.bodies], snapshot.body_rotation[rods.bodies]
    start = origin + np.einsum("kij,kj->ki", turn, rods.start)
    return start, origin + np.einsum("kij,kj->ki", turn, rods.end), rods.radius, rods.drawn_in


def _least_distance(
    start: Array, end: Array, radius: Array, places: list[Array], radii: list[float], times: Array, shift: Array,
    scale: Array,
) -> tuple[float, float]:  # fmt: skip
    """Returns the least distance between the body and balls [m], and when that is [s].

    The body's rods move by `shift` (n, 3), and become lower by `scale` (n,).
    """
    least, when = math.inf, 0.0
    squash = np.ones((len(times), 1, 3))
    squash[:, 0, 2] = scale
    a = squash * start + shift[:, None, :]  # (n, k, 3)
    b = squash * end + shift[:, None, :]
    along = b - a
    length = np.maximum(np.einsum("nki,nki->nk", along, along), 1e-12)
    for place, size in zip(places, radii, strict=True):
        to = place[:, None, :] - a
        share = np.clip(np.einsum("nki,nki->nk", to, along) / length, 0.0, 1.0)
        gap = np.linalg.norm(to - share[..., None] * along, axis=2) - radius - size
        row = int(np.argmin(gap.min(axis=1)))
        if gap[row].min() < least:
            least, when = float(gap[row].min()), float(times[row])
    return least, when


def duck_height(dodge: Dodge, now: float, standing: float, body: WalkingBody, t: DodgeTuning) -> float:
    """Returns the height of the CoM that a duck asks for at a time, `standing` [m] before and after it."""
    clock = body.leg_time
    down = smooth_step((now - dodge.began) / (t.duck_time * clock))
    up = smooth_step((now - dodge.until) / (t.rise_time * clock))
    return standing * (1.0 - dodge.depth * down * (1.0 - up))


def is_ducking(dodge: Dodge | None, now: float, height: float, body: WalkingBody) -> bool:
    """Returns whether a body ducks, or its CoM is still so low above the ground [m] that it cannot step."""
    if dodge is None or dodge.kind != "duck":
        return False
    return now < dodge.until or height < STEPS_FROM * body.com_height


def is_over(dodge: Dodge, now: float, body: WalkingBody, t: DodgeTuning) -> bool:
    """Returns whether a move has ended."""
    return now > dodge.until + (t.rise_time * body.leg_time if dodge.kind == "duck" else 0.0)
