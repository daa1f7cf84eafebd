"""Left-right symmetry: a motion whose every ask is its own mirror image is solved with half the variables and rows.

With M the mirror image of a candidate (a signed exchange of its numbers about a plane y = c) and f(M x) = f(x),
g(M x) = g(x) up to the order and sign of rows, a point that is best among the symmetric ones, x = M x, is stationary
among all: the gradient of anything unchanged by M has no part across that space. Whether a problem is symmetric is not
guessed from its parts but measured: the exchange is put together from the figure and its contacts, and then values of
the objective and of every row at a random candidate are compared with those at its image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.spatial import cKDTree

from counterpoise.arrays import Array, Ints
from counterpoise.character.roles import other_side
from counterpoise.spacetime.optimize.holds import Hold
from counterpoise.spacetime.optimize.near_terrain import is_mirrored
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.rows.torque import TorqueRows

FLIP = np.array([1.0, -1.0, 1.0])  # of a place or force; a turn's is its negative
SAME = 1e-7  # numbers that differ by less are the same
FAR = 1e3  # room of a row towards a bound it does not have


@dataclass(frozen=True, eq=False)
class Image:
    """The mirror image of a candidate: x'[i] = sign[i] x[of[i]] + shift[i]."""

    of: Ints
    sign: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        return np.asarray(self.sign * x[self.of] + self.shift)


@dataclass(frozen=True, eq=False)
class Fold:
    """Candidates as the solver sees them: x = part z + rest, and the rows that are not images of others."""

    part: Any  # sparse (variables, fewer), entries +-1
    rest: Array
    rows: Ints

    @property
    def variables(self) -> int:
        return int(self.part.shape[1])

    def places(self) -> tuple[Ints, Array]:
        """Which of the fewer numbers each is (-1 where it is fixed), and its sign."""
        held = np.diff(self.part.indptr) > 0
        at, sign = np.full(len(held), -1, np.int64), np.zeros(len(held))
        at[held], sign[held] = self.part.indices, self.part.data
        return at, sign

    def wide(self, z: Array) -> Array:
        return np.asarray(self.part @ z + self.rest)

    def narrow(self, x: Array) -> Array:
        """The mean of each number and its image."""
        count = np.asarray(abs(self.part).sum(axis=0)).ravel()
        return np.asarray(self.part.T @ (x - self.rest)) / count

    def bounds(self, low: Array, high: Array) -> tuple[Array, Array]:
        """What a number and its image both allow."""
        c = self.part.tocoo()
        a, b = low[c.row] - self.rest[c.row], high[c.row] - self.rest[c.row]
        a, b = np.where(c.data > 0, a, -b), np.where(c.data > 0, b, -a)
        small, large = np.full(self.variables, -np.inf), np.full(self.variables, np.inf)
        np.maximum.at(small, c.col, a)
        np.minimum.at(large, c.col, b)
        crossed = small > large  # a fixed number whose image differs in the last digit
        small[crossed] = large[crossed] = 0.5 * (small[crossed] + large[crossed])
        return small, large


def unfolded(variables: int, rows: int) -> Fold:
    """Everything as it is."""
    return Fold(sp.identity(variables, format="csr"), np.zeros(variables), np.arange(rows))


def find_image(problem: MotionProblem) -> Image | None:
    """How the problem's candidates are mirrored; None where figure or contacts have no left and right that match."""
    character, layout = problem.character, problem.layout
    if not character.floating or problem.elastic:
        return None
    M = character.mirror_velocity(np.eye(character.nv)).T  # image = M v
    of_dof = np.abs(M).argmax(axis=1)
    sign_dof = M[np.arange(character.nv), of_dof]
    if np.abs(np.abs(M) - np.eye(character.nv)[of_dof]).max() > SAME:
        return None  # joint frames that are no mirror images: a number would become a mixture
    n, c, nv = layout.size, layout.coefficients, character.nv
    of, sign, shift = np.arange(n), np.ones(n), np.zeros(n)
    at = np.arange(c)[:, None] * nv
    of[: c * nv] = (at + of_dof).ravel()
    sign[: c * nv] = np.tile(np.sign(sign_dof), c)
    twice = 2.0 * float(problem.start[1])  # the plane is where the root begins
    terrain = problem.request.terrain
    if terrain is not None and not is_mirrored(terrain, 0.5 * twice):
        return None
    shift[: c * nv].reshape(c, nv)[:, 1] = twice
    for h in range(len(problem.holds)):
        partner = _partner(problem, h)
        if partner is None or not _contact_image(problem, h, partner, twice, of, sign, shift):
            return None
    if not _impact_images(problem, of_dof, np.sign(sign_dof), of, sign):
        return None
    for block in problem.blocks:
        if isinstance(block, TorqueRows):
            dofs = block.plan.dofs
            where = {int(d): i for i, d in enumerate(dofs)}
            own = [where.get(int(of_dof[d]), -1) for d in dofs]
            if min(own) < 0:
                return None
            start = layout.torques + np.arange(problem.frames.knots)[:, None] * len(own)
            end = layout.torques + problem.frames.knots * len(own)
            of[layout.torques : end] = (start + np.array(own)).ravel()
            sign[layout.torques : end] = np.tile(np.sign(sign_dof[dofs]), problem.frames.knots)
    return Image(of, sign, shift)


def _impact_images(problem: MotionProblem, of_dof: Ints, sign_dof: Array, of: Ints, sign: Array) -> bool:
    """Multipliers and torques of impacts as images of others; False where a contact or joint has none."""
    dofs = problem.basis.impact_torques.dofs
    where = {int(d): i for i, d in enumerate(dofs)}
    for impact, first in zip(problem.basis.impacts, problem.layout.impulses, strict=True):
        ends = first + np.cumsum([0, *(problem.holds[i].multipliers for i in impact.holds)])
        begin = dict(zip(impact.holds, ends.tolist(), strict=False))
        for h, at in begin.items():
            k = _partner(problem, h)
            match = None if k not in begin else _force_image(problem, problem.holds[h], problem.holds[k])
            if k is None or match is None:
                return False
            of[at : at + len(match[0])], sign[at : at + len(match[0])] = begin[k] + match[0], match[1]
        own = [where.get(int(of_dof[d]), -1) for d in dofs]
        if min(own, default=0) < 0:
            return False
        last = int(ends[-1])
        of[last : last + len(dofs)], sign[last : last + len(dofs)] = last + np.array(own, np.int64), sign_dof[dofs]
        jump = last + len(dofs)
        of[jump : jump + len(of_dof)], sign[jump : jump + len(of_dof)] = jump + of_dof, sign_dof
    return True


def _partner(problem: MotionProblem, h: int) -> int | None:
    """The contact on the other side at the same time; itself for a part in the middle."""
    model, hold = problem.character.model, problem.holds[h]
    names = [model.body(b).name for b in range(model.nbody)]
    body = names.index(other_side(names[hold.body], names))
    for k, other in enumerate(problem.holds):
        same = (other.body, other.first, other.last) == (body, hold.first, hold.last)
        if same and other.generators.shape == hold.generators.shape and len(other.torques) == len(hold.torques):
            return k
    return None


def _contact_image(problem: MotionProblem, h: int, k: int, twice: float, of: Ints, sign: Array, shift: Array) -> bool:
    """Place, facing and forces of contact h as images of those of contact k; False where they have none."""
    layout, own, other = problem.layout, problem.holds[h], problem.holds[k]
    t = float(layout.fixed_times[own.first])
    S, S0 = own.surface(t), other.surface(t)
    R, R0 = np.asarray(S.rotation), np.asarray(S0.rotation)
    if np.abs(R.T @ (FLIP[:, None] * R0) - np.diag(FLIP)).max() > SAME:
        return False
    a, b = layout.places[h], layout.places[k]
    of[a : a + 4] = np.arange(b, b + 4)
    sign[a : a + 4] = (*FLIP, -1.0)
    shift[a : a + 3] = R.T @ (FLIP * np.asarray(S0.origin) + (0.0, twice, 0.0) - np.asarray(S.origin))
    whole = 2.0 * np.pi
    shift[a + 3] = whole * round(float(problem.start[a + 3] + problem.start[b + 3]) / whole)
    match = _force_image(problem, own, other)
    if match is None:
        return False
    m = own.multipliers
    on = problem.frames.phase[: problem.frames.knots]
    frames = np.arange(int(((on >= own.first) & (on < own.last)).sum()))[:, None] * m
    start, end = layout.forces[h], layout.forces[h] + len(frames) * m
    of[start:end] = (layout.forces[k] + frames + match[0]).ravel()
    sign[start:end] = np.tile(match[1], len(frames))
    return True


def _force_image(problem: MotionProblem, own: Hold, other: Hold) -> tuple[Ints, Array] | None:
    """Which multiplier of the other contact each of this one's is the image of, and with which sign."""
    g = own.generators.shape[1]
    points = [_lying(problem, hold) for hold in (own, other)]
    of: list[int] = []
    sign: list[float] = []
    for i, place in enumerate(points[0]):
        gap = np.abs(points[1] * FLIP - place).max(axis=1)
        j = int(gap.argmin())
        if gap[j] > SAME:
            return None
        for v in own.generators[i]:
            found = _same_direction(other.generators[j] * FLIP, v, own.signed)
            if found is None:
                return None
            of.append(j * g + found[0])
            sign.append(found[1])
    for v in own.torques:
        found = _same_direction(-other.torques * FLIP, v, True)
        if found is None:
            return None
        of.append(len(points[1]) * g + found[0])
        sign.append(found[1])
    return np.array(of, np.int64), np.array(sign)


def _lying(problem: MotionProblem, hold: Hold) -> Array:
    """Where a contact's points are: about its reference point, or in the neutral pose where they turn freely."""
    if hold.offsets is not None:
        return hold.offsets
    rest = problem.character.snapshot()
    return np.array(
        [
            rest.body_position[b] + rest.body_rotation[b] @ p
            for b, p in zip(hold.force_bodies, hold.force_points, strict=True)
        ]
    )


def _same_direction(among: Array, v: Array, signed: bool) -> tuple[int, float] | None:
    for s in (1.0, -1.0) if signed else (1.0,):
        gap = np.abs(s * among - v).max(axis=1)
        if gap.min() <= SAME:
            return int(gap.argmin()), s
    return None


def find_fold(problem: MotionProblem, image: Image, values: Any, low: Array, high: Array, strict: bool) -> Fold | None:
    """The symmetric candidates, and which rows say something of their own about them; None where image and rows differ.

    `values(x)` are all rows. Unless `strict`, a row without an image stays as it is: it was added because a symmetric
    candidate came near it, and says the same as its image would.
    """
    rng = np.random.default_rng(0)
    here: list[Array] = []
    there: list[Array] = []
    for _ in range(2):
        x = problem.start + 1e-2 * rng.normal(size=problem.variables)
        m = image(x)
        if np.abs(image(m) - x).max() > SAME:
            return None
        costs = []
        for side, at in ((here, x), (there, m)):
            side.append(values(at))
            costs.append(problem.cost.value(problem.evaluation, at))
        if abs(costs[0] - costs[1]) > SAME * max(abs(costs[0]), 1.0):
            return None
    rows = np.arange(len(low))
    seen = cKDTree(_room(there, low, high))
    gap, pair = seen.query(_room(here, low, high))
    gap_odd, pair_odd = seen.query(_room([-v for v in here], -high, -low))
    even, odd = np.asarray(gap) <= 10.0 * SAME, np.asarray(gap_odd) <= 10.0 * SAME
    if strict and not (even | odd).all():
        return None
    pair = np.where(even, pair, np.where(odd, pair_odd, rows))
    keep = np.flatnonzero((pair > rows) | ((pair == rows) & (even | ~odd)))
    return Fold(*_symmetric_part(image), keep)


def _room(values: list[Array], low: Array, high: Array) -> Array:
    """What rows leave to their bounds, below and above; a bound that is none is a long way off."""
    below = [np.where(np.isfinite(low), v - low, FAR) for v in values]
    above = [np.where(np.isfinite(high), high - v, FAR) for v in values]
    return np.stack([*below, *above], axis=1)


def _symmetric_part(image: Image) -> tuple[Any, Array]:
    """x = part z + rest for all x = M x: a pair shares one number, a number that is its own negative is fixed."""
    n = len(image.of)
    i = np.arange(n)
    first = np.minimum(i, image.of)
    free = (image.of != i) | (image.sign > 0)
    number = np.cumsum(free & (first == i)) - 1
    sign = np.where(first == i, 1.0, image.sign)
    rest = np.where(first == i, 0.0, image.shift)
    rest = np.where(free, rest, 0.5 * image.shift)
    at = np.flatnonzero(free)
    part = sp.csr_matrix((sign[at], (at, number[first[at]])), (n, int(number[-1]) + 1))
    return part, rest
