"""An objective: what we want of a feature, and how much, written as rows of a linear least-squares problem.

    E(x) = weight |A y - b|^2,      y one of: the accelerations a, the torques tau, the contact multipliers lambda.

Objectives are values: a controller makes new ones whenever it wants something else (de Lasa 2011, section 3.2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.errors import BadValue
from counterpoise.kernels import kernel
from counterpoise.objectives.writing import Full, write_rows

if TYPE_CHECKING:
    from counterpoise.objectives.footing import Stance

Unknown = Literal["acceleration", "torque", "multiplier"]
O = TypeVar("O", bound="Objective")


@dataclass(frozen=True, eq=False)
class Rows:
    """A y = b for one unknown y; with `at_most`, A y <= b: only what exceeds b is an error."""

    A: Array  # (m, n)
    b: Array  # (m,)
    on: Unknown = "acceleration"
    at_most: bool = False

    def residual(self, y: Array) -> Array:
        """A y - b, (m,); of one-sided rows only what is too much."""
        r = self.A @ y - self.b
        return np.maximum(r, 0.0) if self.at_most else r

    def size(self, y: Array) -> float:
        """|A y - b|"""
        return _size(self.A, self.b, y, self.at_most)

    def __len__(self) -> int:
        return len(self.b)


@dataclass(frozen=True, eq=False)
class DiagonalRows:
    """a_j = target_j with a weight for each row: a posture; weights multiply the squares of the rows."""

    target: Array  # (nv,)
    weight: Array  # (nv,) >= 0

    on: Unknown = "acceleration"
    at_most: bool = False

    def residual(self, y: Array) -> Array:
        """Error of the rows that count, each times the root of its own weight."""
        return np.sqrt(self.weight) * (y - self.target)

    def size(self, y: Array) -> float:
        """|sqrt(weight) (a - target)|"""
        return _diagonal_size(self.weight, self.target, y)

    def __len__(self) -> int:
        return len(self.target)

    @property
    def A(self) -> Array:
        """The same rows written out, (nv, nv), weights taken in."""
        return np.diag(np.sqrt(self.weight))

    @property
    def b(self) -> Array:
        return np.sqrt(self.weight) * self.target


@kernel
def _size(A: Array, b: Array, y: Array, at_most: bool) -> float:
    total = 0.0
    for i in range(len(b)):
        r = -b[i]
        for j in range(len(y)):
            r += A[i, j] * y[j]
        if r > 0.0 or not at_most:
            total += r * r
    return float(np.sqrt(total))


@kernel
def _diagonal_size(weight: Array, target: Array, y: Array) -> float:
    total = 0.0
    for j in range(len(y)):
        total += weight[j] * (y[j] - target[j]) ** 2
    return float(np.sqrt(total))


class Objective(ABC):
    """Something wanted of a body: a `name`, a `weight` within its level, and its rows at a snapshot.

    Asking touches nothing: the same snapshot and stance give the same rows every time.
    """

    name: str
    weight: float  # multiplies the squared error against others of the same level (section 6.2)
    on: ClassVar[Unknown] = "acceleration"
    at_most: ClassVar[bool] = False  # one-sided rows
    posture: ClassVar[bool] = False  # one row a joint, such as TrackPose's: the last level takes it as weights

    @abstractmethod
    def rows(self, snapshot: Snapshot, stance: Stance | None = None) -> Rows | DiagonalRows:
        """What is asked of the unknowns now."""

    def write(self, snapshot: Snapshot, stance: Stance | None, A: Array, b: Array, at: int, beta: float) -> int:
        """Write the rows, times `beta`, into a block from row `at` on; how many. Only for rows on accelerations."""
        rows = self.rows(snapshot, stance)
        if at + len(rows) > len(b):
            raise Full
        return write_rows(A, b, at, beta, rows.A, rows.b) if len(rows) else 0

    def weighing(self: O, weight: float) -> O:
        """The same objective with another weight."""
        return replace(self, weight=weight)  # type: ignore[type-var]

    def aimed(self: O, **references: Any) -> O:
        """The same objective with other references or gains, unchecked: for a controller that aims anew each tick."""
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__, **references)
        other.__dict__.pop("_fixed", None)  # what was kept of the old references
        return other


def faded(objective: O, share: float) -> O:
    """The objective with a share (0 to 1) of its weight, eased at both ends: for coming in and going out of a level.

    Within a level a weight that falls to nothing leaves without a jump. Alone in a strict level an objective has no
    weight to lose: there, let `WholeBody` cross-fade from the old levels to the new (its `fade`).
    """
    s = min(max(float(share), 0.0), 1.0)
    return objective.weighing(objective.weight * s * s * (3.0 - 2.0 * s))


def check_weight(objective: Any) -> None:
    """Weights are finite and not negative; the message says whose is not."""
    weight = objective.weight
    if type(weight) is float and 0.0 <= weight < np.inf:
        return
    if not (np.isscalar(weight) and 0.0 <= float(weight) < np.inf):  # type: ignore[arg-type]
        raise BadValue(f"{type(objective).__name__} {objective.name!r}: a weight is a number >= 0; got {weight!r}")


def numbers(values: ArrayLike, what: str, size: int | None = None) -> Array:
    """`values` as a read-only array of finite numbers, (size,) where a size is known."""
    out = np.array(values, float)
    if not np.isfinite(out).all() or (size is not None and out.shape != (size,)):
        shape = f"{size} finite numbers" if size is not None else "finite numbers"
        raise BadValue(f"{what} is {shape}; got {values!r}")
    out.flags.writeable = False
    return out


def capped(wanted: Array, limit: float | None) -> Array:
    """`wanted` shortened to length `limit`, its direction kept."""
    if limit is None:
        return wanted
    size = float(np.sqrt(wanted @ wanted))
    return wanted if size <= limit else wanted * (limit / size)
