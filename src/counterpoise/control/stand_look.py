"""What `Stand` sees at the beginning of a tick and where it aims then, by two compiled calls.

The first looks: at the ground as the feet feel it (felt_ground.py), at the support and how far it is from the
reference's (support.py), and at how far the body is from the reference. The second aims: the CoM, its centre of
pressure, and how near the capture point has come to the edge. Between them the ground under the support may move, and
a height may be asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.snapshot_layout import snapshot_parts
from counterpoise.control.felt_ground import LEAST_LOAD, FeltGround, felt_after, find_new, level_ground, own_points
from counterpoise.control.limbs import are_near, limbs_of
from counterpoise.control.reference import ReferenceSample
from counterpoise.control.rehearsal import LEAST_PUSH
from counterpoise.control.standing_body import lowest, lowest_of, standing_body
from counterpoise.control.support import Support, capture_share, measure_support, support_at
from counterpoise.control.tracking import mean_error
from counterpoise.kernels import kernel
from counterpoise.objectives.clearance import corners_off_feet
from counterpoise.objectives.footing import foot_table, force_unit
from counterpoise.quick import quick
from counterpoise.solve.polygon import nearest_about


@dataclass(frozen=True, eq=False)
class StandSight:
    """What there is to see in a snapshot, beside a reference."""

    support: Support  # where the points are that carry the body; its ground at rest
    offset: Array  # (3,) [m] of the support from the reference's
    felt: FeltGround | None  # the ground, felt until now
    new: Flags | None  # (feet,) feet whose ground is new; None: none
    height: float  # [m] of the CoM above the lowest contact point
    wanted_height: float  # [m] the same of the reference
    part_height: float  # [m] of the lowest part that is no foot, above the lowest contact point
    error: float  # [rad] root of the mean square of the joints' errors
    arms_near: bool  # every arm is nearer to its goal than the angle that was given


class LookTables(NamedTuple):
    """What the first call needs to know about a character, in the order of its arguments."""

    foot_of: Ints  # (p,)
    own: Flags  # (p,) points on feet, not on toes
    parts: Ints  # bodies that can touch the ground and are no feet
    arm_places: Ints  # where the quaternions of arms begin in q
    layout: Ints
    root: int
    bodies: int
    least_load: float  # [N] on a foot that feels how it slides


@kept_with_character
def look_tables(character: Character) -> LookTables:
    """Returns the tables of a character."""
    return LookTables(
        foot_table(character).foot_of, own_points(character), parts_off_ground(character),
        limbs_of(character).arm_places, character.layout, int(character.root_dofs.stop), int(character.model.nbody),
        LEAST_LOAD * force_unit(character),
    )  # fmt: skip


@kept_with_character
def parts_off_ground(character: Character) -> Ints:
    """Returns the bodies that can touch the ground and are no feet."""
    return np.unique(corners_off_feet(character).body)


def look(
    snapshot: Snapshot, reference: ReferenceSample, held: Flags | None, known: FeltGround | None, feels: bool,
    seconds: float, arm_cosine: float,
) -> StandSight:  # fmt: skip
    """Returns what there is to see after a tick of `seconds`.

    The support are the points that were held at the last tick (None: all) or are loose, and are not raised; where there
    are none, all that are not raised. If `feels`, the feet feel the ground. `arm_cosine` is that of half the angle
    within which an arm is near its goal.
    """
    character, contact, points = snapshot.character, reference.contact, reference.points
    p, before = len(points), known or level_ground(character)
    rested, slid = np.empty(len(before.rested)), np.empty(before.slid.shape)
    new = np.zeros(len(rested), np.bool_)
    corners, edges, centre, offset = np.empty((p, 3)), np.empty((max(p, 4), 3)), np.empty(3), np.empty(3)
    numbers, force = np.empty(12), snapshot.contact_force
    _look(
        snapshot.flat, snapshot.state.q, np.array(reference.q), reference.com, points, contact.raised, contact.loose,
        ~contact.raised if held is None else held, *look_tables(character), len(snapshot.state.v), feels, before.rows,
        before.rested, before.slid, seconds, known is None, _no_force(character) if force is None else force,
        arm_cosine, rested, slid, new, corners, edges, centre, offset, numbers,
    )  # fmt: skip
    friction, found, count, sides, x, y, depth, height, wanted, part, error, near = numbers.tolist()
    felt, fresh = known, None
    if feels:
        felt = felt_after(snapshot, before, rested, slid, friction, seconds, new if found else None)
        fresh = new if found else None
    return quick(
        StandSight, support=support_at(corners[: int(count)], edges[: int(sides)], centre, (x, y, depth)),
        offset=offset, felt=felt, new=fresh, height=height, wanted_height=wanted, part_height=part, error=error,
        arms_near=near > 0.0,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class StandAim:
    """Where the CoM and the angular momentum should be now."""

    com: Array  # (3,) [m], moved with the feet
    velocity: Array  # (3,)
    acceleration: Array  # (3,)
    momentum: Array  # (3,) angular
    momentum_rate: Array  # (3,)
    pivot: Array  # (3,) [m] the centre of pressure that the reference has, kept over the support
    support: Support
    offset: Array  # (3,) [m] of the planted feet from the reference's
    urgency: float  # how far the capture point has come from where it should be to the edge of the support: 1 on it
    near: float  # the same with a smaller part of the angular momentum


def take_aim(
    snapshot: Snapshot, reference: ReferenceSample, seen: StandSight, support: Support, before: Array | None,
    seconds: float, share: float, moves: bool, asked: tuple[float, float] | None, margin: float, spin: float,
) -> StandAim:  # fmt: skip
    """Returns the reference's CoM and momentum, moved with the feet. A pose's CoM is kept over the support.

    A motion's (`moves`) need not be over it: it was rehearsed so that its centre of pressure is. The offset of the feet
    follows from that of the last tick, `before`, carried by the ground, by a share of the way. `asked` is the height of
    the CoM that is asked for, with its rate. `margin` is the share of the support's depth that the centre of pressure
    keeps from its edge, `spin` the part of the angular momentum that counts in `near`.
    """
    body = standing_body(snapshot.character)
    offset, pivot, com, velocity, acceleration = np.empty((5, 3))
    height, rate = (0.0, 0.0) if asked is None else asked
    urgency, near = _aim(
        support.edges, support.middle, support.velocity, support.acceleration, seen.offset,
        seen.offset if before is None else before, before is not None, seconds, share, moves, asked is not None, height,
        rate, margin, seen.wanted_height, reference.com, reference.com_velocity, reference.com_acceleration,
        reference.momentum, reference.momentum_rate, snapshot.com, snapshot.momentum, body.gravity, body.omega,
        snapshot.character.mass, spin, offset, pivot, com, velocity, acceleration,
    )  # fmt: skip
    return quick(
        StandAim, com=com, velocity=velocity, acceleration=acceleration, momentum=reference.momentum,
        momentum_rate=reference.momentum_rate, pivot=pivot, support=support, offset=offset, urgency=urgency, near=near,
    )  # fmt: skip


@kept_with_character
def _no_force(character: Character) -> Array:
    return np.zeros((len(character.contact_points), 3))


# -- kernels -----------------------------------------------------------------------------------------------------------


@kernel
def _look(
    flat: Array, q: Array, q_ref: Array, com_ref: Array, points: Array, raised: Flags, loose: Flags, held: Flags,
    foot_of: Ints, own: Flags, parts: Ints, arm_places: Ints, layout: Ints, root: int, bodies: int, least_load: float,
    nv: int, feels: bool, rows: Array, was: Array, had_slid: Array, seconds: float, first: bool, force: Array,
    arm_cosine: float, rested: Array, slid: Array, new: Flags, corners: Array, edges: Array, centre: Array,
    offset: Array, out: Array,
) -> None:  # fmt: skip
    """Fills all arguments from `rested` on."""
    s = snapshot_parts(flat, nv, bodies, len(points))
    places = s.contact_position
    if feels:
        out[0], out[1] = find_new(
            places, s.contact_velocity, foot_of, own, raised, rows, was, had_slid, seconds, first, rested, slid, new,
            force, least_load,
        )  # fmt: skip
    out[2], out[3], out[4], out[5], out[6] = measure_support(
        places, held, loose, raised, points, corners, edges, centre, offset
    )
    ground = lowest(places)
    out[7], out[8], out[9] = s.com[2] - ground, com_ref[2] - lowest(points), lowest_of(s.body_position, parts) - ground
    out[10] = mean_error(layout, root, nv, q, q_ref)
    out[11] = are_near(q, q_ref, arm_places, arm_cosine)


@kernel
def _aim(
    edges: Array, middle: tuple[float, float, float], ground_v: Array, ground_a: Array, found: Array, before: Array,
    follows: bool, seconds: float, share: float, moves: bool, asks: bool, asked: float, rate: float, margin: float,
    height: float, com_r: Array, com_rv: Array, com_ra: Array, momentum_r: Array, momentum_rate: Array, com_now: Array,
    momentum_now: Array, gravity: float, omega: float, mass: float, spin: float, offset: Array, pivot: Array,
    com: Array, velocity: Array, acceleration: Array,
) -> tuple[float, float]:  # fmt: skip
    """Fills all arguments from `offset` on. Returns `capture_share` with all of the angular momentum, and with a part.

    The centre of pressure of the reference is p = c - (z c'' + (H_y', -H_x')/m) / (g + z'').
    """
    for k in range(3):
        offset[k] = found[k]
        if follows:
            carried = before[k] + seconds * ground_v[k]
            offset[k] = carried + (found[k] - carried) * share
    push = max(gravity + com_ra[2], LEAST_PUSH)
    x = com_r[0] - (height * com_ra[0] + momentum_rate[1] / mass) / push + offset[0]
    y = com_r[1] - (height * com_ra[1] - momentum_rate[0] / mass) / push + offset[1]
    pivot[0], pivot[1] = nearest_about(edges, x, y, margin * middle[2], middle)
    pivot[2] = com_r[2] + offset[2]
    for k in range(3):
        com[k] = com_r[k] + offset[k] if moves else pivot[k]
        v, a = com_rv[k], com_ra[k]
        if asks and k == 2:
            com[k], v, a = asked + offset[k], rate, 0.0
        velocity[k], acceleration[k] = v + ground_v[k], a + ground_a[k]
    return (
        capture_share(
            edges, com_now, momentum_now, com, velocity, momentum_r, pivot, omega, mass, gravity * mass, 1.0
        ),
        capture_share(
            edges, com_now, momentum_now, com, velocity, momentum_r, pivot, omega, mass, gravity * mass, spin
        ),
    )  # fmt: skip
