"""Clearance: all parts but the feet are kept off the ground by braking them in time, as far as the torques can."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.shapes import Corners, corners_of
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.tables import tables_of
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel
from counterpoise.objectives.base import Objective, Rows, check_weight, numbers
from counterpoise.objectives.footing import surface_rows
from counterpoise.objectives.obstacle_rows import obstacle_rows
from counterpoise.objectives.obstacles import Obstacles, lowest_point
from counterpoise.objectives.surface import LEVEL
from counterpoise.quick import quick

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

LEVEL_GROUND = LEVEL.state_row()[None]
NEAR = 10.0  # decelerations: rows with a looser bound are left out


@dataclass(frozen=True, eq=False)
class Clearance(Objective):
    """Parts other than the feet sink no faster than they can be stopped above the ground.

    A part that is e above its stop and sinks at speed s may sink at u(e) = sqrt(2 d e + (d t)^2) - d t, with the
    settling time t, as in JointStops. With n the ground's normal and p the lowest point of a shape the rows are

        -n.p'' <= (u - s)/t - u'(e) s,       p'' = J a + drift.

    A part stops `margin` above the ground, or `margin` below its place in `reference` where that is lower: a part that
    lies on the ground in the reference may do so. Shapes are exact, meshes nearly so (see `character.shapes`). Where
    feet stand on different surfaces, each part is measured from the one farthest below it.

    With `obstacles` (`terrain.obstacles`) parts keep off every solid of a terrain instead: they brake towards the face
    of a box that lies between them and it, to its top or to its sides, and towards the ground and fields below them.
    """

    at_most: ClassVar[bool] = True
    reference: Snapshot | None = None
    moved: ArrayLike = (0.0, 0.0, 0.0)  # [m] the reference is shifted by this
    deceleration: float = 20.0  # d [m/s^2]
    settle: float = 0.02  # t [s]
    margin: float = 0.02  # [m]
    weight: float = 1.0
    name: str = "clearance"
    obstacles: Obstacles | None = None

    def __post_init__(self) -> None:
        check_weight(self)
        object.__setattr__(self, "moved", numbers(self.moved, "how far a reference is moved [m]", 3))
        if not (self.deceleration > 0.0 and self.settle > 0.0 and self.margin >= 0.0):
            raise BadValue(
                f"{self.name!r} needs deceleration > 0, settle > 0, margin >= 0; got {self.deceleration!r}, "
                f"{self.settle!r}, {self.margin!r}"
            )

    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows:
        character = snapshot.character
        corners = corners_off_feet(character)
        if self.obstacles is not None:
            return self._obstacle_rows(snapshot, corners, self.obstacles)
        ground = LEVEL_GROUND if stance is None else surface_rows(stance.footing, character, snapshot.time)
        ref = snapshot if self.reference is None else self.reference
        A, b = clearance_rows(
            corners.body, corners.place, corners.axes, corners.radius, ground,
            snapshot.body_position, snapshot.body_rotation, snapshot.body_velocity, snapshot.body_drift, snapshot.com,
            snapshot.motion_vectors, tables_of(character).ancestors,
            ref.body_position, ref.body_rotation, np.asarray(self.moved, float), self.reference is not None,
            self.deceleration, self.settle, self.margin,
        )  # fmt: skip
        return quick(Rows, A=A, b=b, on="acceleration", at_most=True)

    def _obstacle_rows(self, snapshot: Snapshot, corners: Corners, obstacles: Obstacles) -> Rows:
        ref = snapshot if self.reference is None else self.reference
        A, b = obstacle_rows(
            corners.body, corners.place, corners.axes, corners.radius, obstacles,
            snapshot.body_position, snapshot.body_rotation, snapshot.body_velocity, snapshot.body_drift, snapshot.com,
            snapshot.motion_vectors, tables_of(snapshot.character).ancestors,
            ref.body_position, ref.body_rotation, np.asarray(self.moved, float), self.reference is not None,
            self.deceleration, self.settle, self.margin, NEAR * self.deceleration,
        )  # fmt: skip
        return quick(Rows, A=A, b=b, on="acceleration", at_most=True)


@kept_with_character
def corners_off_feet(character: Character) -> Corners:
    """The corners of all solids but those of the feet and of what hangs from them."""
    own = [foot for foot in character.feet if foot.stands]
    feet = {character.body_id(name) for f in own for name in (f.body, *(p.body for p in f.points))}
    for b in range(1, character.model.nbody):
        if int(character.model.body_parentid[b]) in feet:
            feet.add(b)
    corners = corners_of(character)
    return corners.only(~np.isin(corners.body, list(feet)))


@kernel
def clearance_rows(
    body: Ints, centre: Array, axes: Array, radius: Array, ground: Array, position: Array, rotation: Array,
    velocity: Array, drift: Array, com: Array, motion: Array, ancestors: Array, ref_position: Array,
    ref_rotation: Array, moved: Array, with_reference: bool, d: float, settle: float, margin: float,
) -> tuple[Array, Array]:  # fmt: skip
    """Rows of the corners whose bound on the acceleration is below NEAR decelerations."""
    n, nv = len(body), len(motion)
    bend, near = d * settle, NEAR * d
    point, other = np.empty(3), np.empty(3)
    which, arm, normal, right = np.empty(n, np.int64), np.empty((n, 3)), np.empty((n, 3)), np.empty(n)
    count = 0
    for i in range(n):
        k = body[i]
        height, on = -1e30, 0
        for f in range(len(ground)):
            s = ground[f]
            n0, n1, n2 = s[5], s[8], s[11]
            lowest_point(n0, n1, n2, position[k], rotation[k], centre[i], axes[i], radius[i], point)
            above = n0 * (point[0] - s[0]) + n1 * (point[1] - s[1]) + n2 * (point[2] - s[2])
            if above > height:
                height, on = above, f
        s = ground[on]
        n0, n1, n2 = s[5], s[8], s[11]
        stop = margin
        if with_reference:
            lowest_point(n0, n1, n2, ref_position[k], ref_rotation[k], centre[i], axes[i], radius[i], other)
            r0, r1, r2 = other[0] + moved[0] - s[0], other[1] + moved[1] - s[1], other[2] + moved[2] - s[2]
            stop = min(margin, n0 * r0 + n1 * r1 + n2 * r2 - margin)
        e = height - stop
        lowest_point(n0, n1, n2, position[k], rotation[k], centre[i], axes[i], 0.0, point)  # without the ball
        v, a = velocity[k], drift[k]
        r0, r1, r2 = point[0] - com[0], point[1] - com[1], point[2] - com[2]
        u0, u1, u2 = v[3] + v[1] * r2 - v[2] * r1, v[4] + v[2] * r0 - v[0] * r2, v[5] + v[0] * r1 - v[1] * r0
        g0, g1, g2 = point[0] - s[0], point[1] - s[1], point[2] - s[2]
        h0, h1, h2 = s[16] * g2 - s[17] * g1, s[17] * g0 - s[15] * g2, s[15] * g1 - s[16] * g0
        speed = -(n0 * (u0 - s[12] - h0) + n1 * (u1 - s[13] - h1) + n2 * (u2 - s[14] - h2))
        allowed, slope = e / settle, 1.0 / settle
        if e > 0.0:
            allowed = np.sqrt(2.0 * d * e + bend * bend) - bend
            slope = d / (allowed + bend)
        bound = (allowed - speed) / settle - slope * speed
        if bound >= near:
            continue
        # n.p'' at a = 0, less the ground's own acceleration
        own = n0 * (a[3] + a[1] * r2 - a[2] * r1 + v[1] * u2 - v[2] * u1)
        own += n1 * (a[4] + a[2] * r0 - a[0] * r2 + v[2] * u0 - v[0] * u2)
        own += n2 * (a[5] + a[0] * r1 - a[1] * r0 + v[0] * u1 - v[1] * u0)
        own -= n0 * (s[18] + s[22] * g2 - s[23] * g1 + s[16] * h2 - s[17] * h1)
        own -= n1 * (s[19] + s[23] * g0 - s[21] * g2 + s[17] * h0 - s[15] * h2)
        own -= n2 * (s[20] + s[21] * g1 - s[22] * g0 + s[15] * h1 - s[16] * h0)
        which[count], right[count] = k, bound + own
        arm[count, 0], arm[count, 1], arm[count, 2] = r0, r1, r2
        normal[count, 0], normal[count, 1], normal[count, 2] = n0, n1, n2
        count += 1
    A = np.zeros((count, nv))
    for row in range(count):
        r0, r1, r2 = arm[row, 0], arm[row, 1], arm[row, 2]
        n0, n1, n2 = normal[row, 0], normal[row, 1], normal[row, 2]
        for j in range(nv):
            if ancestors[which[row], j] != 0.0:
                c = motion[j]
                A[row, j] = -(
                    n0 * (c[3] + c[1] * r2 - c[2] * r1)
                    + n1 * (c[4] + c[2] * r0 - c[0] * r2)
                    + n2 * (c[5] + c[0] * r1 - c[1] * r0)
                )
    return A, right[:count]
