"""Objective: the base class of everything a controller can ask for, as rows of a linear least-squares problem.

    E(x) = weight |A y - b|^2,      y one of: the accelerations a, the torques tau, the contact multipliers lambda.

Objectives are frozen values: a controller makes new ones when its goals change (de Lasa 2011, section 3.2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.tables import tables_of
from counterpoise.errors import BadValue
from counterpoise.kernels import lean_kernel
from counterpoise.objectives.writing import HELD_POINTS, RELAXED, BlockFull, Record, write_records, write_rows

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

Unknown = Literal["acceleration", "torque", "multiplier"]
O = TypeVar("O", bound="Objective")


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows A y = b for one unknown y. With `at_most` they are A y <= b: only an excess over b is an error."""

    A: Array  # (m, n)
    b: Array  # (m,)
    on: Unknown = "acceleration"
    at_most: bool = False

    def residual(self, y: Array) -> Array:
        """Returns A y - b, (m,); of one-sided rows only the excess."""
        r = self.A @ y - self.b
        return np.maximum(r, 0.0) if self.at_most else r

    def size(self, y: Array) -> float:
        """Returns |A y - b|; of one-sided rows only the excess."""
        return size_of_rows(self.A, self.b, y, self.at_most)

    def __len__(self) -> int:
        return len(self.b)


@dataclass(frozen=True, eq=False)
class DiagonalRows:
    """The rows a_j = target_j of a posture, each with a weight of its own; weights multiply squared errors."""

    target: Array  # (nv,)
    weight: Array  # (nv,) >= 0

    on: Unknown = "acceleration"
    at_most: bool = False

    def residual(self, y: Array) -> Array:
        """Returns the error of every row, (nv,), times the root of its weight."""
        return np.sqrt(self.weight) * (y - self.target)

    def size(self, y: Array) -> float:
        """Returns |sqrt(weight) (a - target)|."""
        return diagonal_size(self.weight, self.target, y)

    def __len__(self) -> int:
        return len(self.target)

    @property
    def A(self) -> Array:
        """The matrix of the same rows, (nv, nv), times the roots of their weights."""
        return np.diag(np.sqrt(self.weight))

    @property
    def b(self) -> Array:
        return np.sqrt(self.weight) * self.target


@lean_kernel
def size_of_rows(A: Array, b: Array, y: Array, at_most: bool) -> float:
    """Returns |A y - b|; with `at_most` only of the excess."""
    total = 0.0
    for i in range(len(b)):
        r = -b[i]
        for j in range(len(y)):
            r += A[i, j] * y[j]
        if r > 0.0 or not at_most:
            total += r * r
    return float(np.sqrt(total))


@lean_kernel
def diagonal_size(weight: Array, target: Array, y: Array) -> float:
    """Returns |sqrt(weight) (y - target)|."""
    total = 0.0
    for j in range(len(y)):
        total += weight[j] * (y[j] - target[j]) ** 2
    return float(np.sqrt(total))


class Objective(ABC):
    """A goal of a controller: a `name`, a `weight` within its level, and its rows at a snapshot.

    Calling `rows` changes nothing: the same snapshot and stance give the same rows every time.
    """

    name: str
    weight: float  # factor of the squared error, relative to the other objectives of the same level (section 6.2)
    on: ClassVar[Unknown] = "acceleration"
    at_most: ClassVar[bool] = False  # one-sided rows
    posture: ClassVar[bool] = False  # one row a joint, as TrackPose has: the solver reads them as a diagonal

    @abstractmethod
    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows | DiagonalRows:
        """Returns the rows at this snapshot."""

    def write(self, snapshot: Snapshot, stance: Stance | None, A: Array, b: Array, at: int, beta: float) -> int:
        """Writes the rows, times `beta`, into the block (A, b) from row `at` on. Returns their number.

        Only for rows on accelerations.
        """
        record = self.record(snapshot, stance, beta)
        if record is not None:
            return write_record(record, snapshot, stance, A, b, at)
        rows = self.rows(snapshot, stance)
        if at + len(rows) > len(b):
            raise BlockFull
        return write_rows(A, b, at, beta, rows.A, rows.b) if len(rows) else 0

    def record(self, snapshot: Snapshot, stance: Stance | None, beta: float) -> Record | None:
        """Returns the rows, times `beta`, as a record of `writing`; None: they are written from `rows`."""
        return None

    def weighing(self: O, weight: float) -> O:
        """Returns the same objective with another weight."""
        return replace(self, weight=weight)  # type: ignore[type-var]

    def aimed(self: O, **references: Any) -> O:
        """Returns the same objective with other references, without checks: for controllers, every tick.

        The gains of Setpoint and Momentum may change as well, those of TrackPose may not.
        """
        other = object.__new__(type(self))
        object.__setattr__(other, "__dict__", self.__dict__ | references)
        return other


def write_record(record: Record, snapshot: Snapshot, stance: Stance | None, A: Array, b: Array, at: int) -> int:
    """Writes the rows of one record into the block (A, b) from row `at` on. Returns their number."""
    if at + most_rows(record, snapshot) > len(b):
        raise BlockFull
    return write_all(np.array(record), 1, snapshot, stance, A, b, at, np.empty(1, np.int64), np.empty(1)) - at


def write_all(
    records: Array, count: int, snapshot: Snapshot, stance: Stance | None, A: Array, b: Array, at: int, ends: Ints,
    betas: Array,
) -> int:  # fmt: skip
    """Writes the rows of records, one after the other. Returns the row after all.

    Fills the row after each record and its beta.
    """
    if stance is None:
        points = len(snapshot.character.contact_points)
        held, goal = np.zeros(points, np.bool_), np.empty((points, 3))
        goal_v = goal_a = goal
    else:
        held, goal = stance.memory.held, stance.goal
        goal_v, goal_a = stance.goal_velocity, stance.goal_acceleration
    ancestors = tables_of(snapshot.character).ancestors
    return write_records(records, count, A, b, at, ends, betas, snapshot.flat, ancestors, held, goal, goal_v, goal_a)


def most_rows(record: Record, snapshot: Snapshot) -> int:
    """Returns the largest number of rows that a record can have."""
    if record[0] == HELD_POINTS:
        return 3 * len(snapshot.character.contact_points)
    return int(record[2]) if record[0] == RELAXED else 3


def faded(objective: O, share: float) -> O:
    """Returns the objective with a share (0 to 1, smooth at both ends) of its weight, to add or remove it gradually.

    This works among other objectives of a level. The weight of an objective alone in a strict level has no effect:
    there, `WholeBodyTuning.fade` blends from the old levels to the new ones.
    """
    return objective.weighing(objective.weight * smooth_step(float(share)))


def smooth_step(x: float) -> float:
    """Returns 3 x^2 - 2 x^3, with x clipped to 0..1: it goes from 0 to 1 and is level at both ends."""
    s = min(max(x, 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


smooth_kernel = lean_kernel(smooth_step)  # the same for kernels


def check_weight(objective: Any) -> None:
    """Raises BadValue unless the weight is finite and not negative."""
    weight = objective.weight
    if type(weight) is float and 0.0 <= weight < np.inf:
        return
    if not (np.isscalar(weight) and 0.0 <= float(weight) < np.inf):  # type: ignore[arg-type]
        raise BadValue(f"{type(objective).__name__} {objective.name!r}: a weight is a number >= 0; got {weight!r}")


def numbers(values: ArrayLike, what: str, size: int | None = None) -> Array:
    """Returns `values` as a read-only array of finite numbers, (size,) where a size is given."""
    out = np.array(values, float)
    if not np.isfinite(out).all() or (size is not None and out.shape != (size,)):
        shape = f"{size} finite numbers" if size is not None else "finite numbers"
        raise BadValue(f"{what} is {shape}; got {values!r}")
    out.flags.writeable = False
    return out


def capped(wanted: Array, limit: float | None) -> Array:
    """Returns `wanted`, shortened to length `limit` where it is longer; its direction is kept."""
    if limit is None:
        return wanted
    size = float(np.sqrt(wanted @ wanted))
    return wanted if size <= limit else wanted * (limit / size)
