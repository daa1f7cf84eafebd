"""Constraints of a motion as blocks of rows, each with names, bounds, a fixed pattern and exact first derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.limits import BallLimit, fill_ball_rows
from counterpoise.kernels import kernel
from counterpoise.spacetime.optimize.frames import WIDTH, Evaluation
from counterpoise.spacetime.optimize.holds import Hold


@dataclass(eq=False)
class Layout:
    """Where the variables lie: coefficients, moments, places of contacts, multipliers of forces, torques."""

    nv: int
    coefficients: int
    moments: Ints  # variable of each moment, -1 where it is fixed
    fixed_times: Array  # (moments,) [s]
    places: list[int]  # first of (x, y, z, facing) of each hold
    forces: list[int]  # first multiplier of each hold, frame after frame
    torques: int
    size: int

    def times(self, x: Array) -> Array:
        out = self.fixed_times.copy()
        free = self.moments >= 0
        out[free] = x[self.moments[free]]
        return out


class Block(ABC):
    """Rows low <= g(x) <= high, all at known frames."""

    name: str
    frame: Ints  # (rows,) the frame each row belongs to
    low: Array
    high: Array
    kinds: tuple[str, ...] = ()  # what each row of a frame is called, repeating

    def __len__(self) -> int:
        return len(self.low)

    @abstractmethod
    def pattern(self) -> tuple[Ints, Ints]:
        """(row in this block, variable) of every derivative that may differ from zero."""

    @abstractmethod
    def values(self, e: Evaluation, x: Array) -> Array:
        """g at the candidate the evaluation looks at."""

    @abstractmethod
    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        """Fill the derivatives in the pattern's order."""


class _Spline(Block):
    """Rows that depend on the pose (and its rates) at one frame each, over some degrees of freedom, and on time."""

    def _prepare(self, e: Evaluation, layout: Layout, dofs: Ints, timed: bool) -> None:
        self.dofs, self.layout = dofs, layout
        rows = len(self.frame)
        self._cols = e.columns(self.frame, dofs)
        self._out = np.empty((rows, len(dofs), WIDTH))
        self._by_T = np.empty(rows)
        phase = e.frames.phase[self.frame]
        ends = np.stack([layout.moments[phase], layout.moments[phase + 1]], axis=1)
        self._timed = (ends >= 0) if timed else np.zeros_like(ends, bool)
        self._ends = ends

    def _spline_pattern(self) -> tuple[Ints, Ints]:
        rows = np.arange(len(self.frame))
        across = np.broadcast_to(rows[:, None, None], self._cols.shape)
        tr, tk = np.nonzero(self._timed)
        return (
            np.concatenate([across.ravel(), tr]).astype(np.int64),
            np.concatenate([self._cols.ravel(), self._ends[tr, tk]]).astype(np.int64),
        )

    def _spline_derivatives(self, e: Evaluation, Gq: Array, Gv: Array | None, Ga: Array | None, out: Array) -> int:
        e.chain(self.frame, Gq, Gv, Ga, self.dofs, self._out, self._by_T)
        n = self._out.size
        out[:n] = self._out.ravel()
        tr, tk = np.nonzero(self._timed)
        out[n : n + len(tr)] = self._by_T[tr] * np.where(tk == 1, 1.0, -1.0)
        return n + len(tr)


class Physics(_Spline):
    """Newton and Euler for the whole body: the aggregate force is what the contacts give; in flight it is nothing.

    Forces act where the contact is said to be, not where the pose has it: the two agree because the contact holds at
    the same knots, and the rows are then linear in the forces.
    """

    kinds = ("torque x", "torque y", "torque z", "force x", "force y", "force z")

    def __init__(self, e: Evaluation, layout: Layout, holds: list[Hold], point_index: list[Ints]) -> None:
        self.name = "physics"
        f, who = e.frames, e.character
        self.weight = who.mass * 9.81
        self.scale = np.array([1.0 / (self.weight * max(who.height / 1.7, 0.1))] * 3 + [1.0 / self.weight] * 3)
        k = f.knots
        self.frame = np.repeat(np.arange(k), 6)
        self.low = self.high = np.zeros(6 * k)
        self._prepare(e, layout, np.arange(who.nv), timed=True)
        span = np.diff(layout.fixed_times)[f.phase[:k]]
        times = layout.fixed_times[f.phase[:k]] + f.s[:k] * span
        self.holds = [
            Support(e, hold, points, place, lam, times)
            for hold, points, place, lam in zip(holds, point_index, layout.places, layout.forces, strict=True)
        ]

    def values(self, e: Evaluation, x: Array) -> Array:
        F = e.F * self.scale
        ks = self.weight * self.scale
        for h in self.holds:
            f, torque = h.forces(x)
            F[h.on, :3] -= (np.cross(h.arms(e, x), f).sum(axis=1) + torque) * ks[:3]
            F[h.on, 3:] -= f.sum(axis=1) * ks[3:]
        return F.ravel()

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = self._spline_pattern()
        more_r, more_c = [rows], [cols]
        for h in self.holds:
            m = h.hold.multipliers
            r = h.on[:, None, None] * 6 + np.arange(6)[None, :, None]
            c = h.lam + np.arange(len(h.on))[:, None, None] * m + np.arange(m)[None, None, :]
            for where in (c, *((h.place + np.arange(4)[None, None, :],) if h.given else ())):
                rr, cc = np.broadcast_arrays(r[:, :3] if where is not c else r, where)
                more_r.append(rr.ravel())
                more_c.append(cc.ravel())
        return np.concatenate(more_r), np.concatenate(more_c)

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        scale, ks = self.scale[:, None], self.weight * self.scale
        Gq = e.Fq * scale
        parts = []
        for h in self.holds:
            f, _ = h.forces(x)
            n, m, g = len(h.on), *h.hold.generators.shape[:2]
            if not h.given:
                J = e.J[h.on[:, None], h.points[None, :]]  # (n, m, 3, nv)
                turned = np.cross(f[..., None, :], J.swapaxes(-1, -2)).sum(axis=1).swapaxes(-1, -2)
                Gq[h.on, :3] += turned * ks[:3, None]
            columns = np.zeros((n, 6, h.hold.multipliers))
            arm = h.arms(e, x)
            columns[:, :3, : m * g] = np.cross(arm[:, :, None, :], h.gens).reshape(n, m * g, 3).swapaxes(1, 2)
            columns[:, 3:, : m * g] = h.gens.reshape(n, m * g, 3).swapaxes(1, 2)
            columns[:, :3, m * g :] = h.hold.torques.T
            parts.append((-columns * ks[:, None]).ravel())
            if h.given:
                by_place = np.empty((n, 3, 4))
                whole = f.sum(axis=1)
                for k in range(3):
                    by_place[:, :, k] = np.cross(h.S[:, :, k], whole)
                by_place[:, :, 3] = np.cross(h.turning(x), f).sum(axis=1)
                parts.append((-by_place * ks[:3, None]).ravel())
        nv = Gq.shape[2]
        end = self._spline_derivatives(
            e, Gq.reshape(-1, nv), (e.Fv * scale).reshape(-1, nv), (e.Fa * scale).reshape(-1, nv), out
        )
        for part in parts:
            out[end : end + len(part)] = part
            end += len(part)


class Support:
    """The forces of one hold at the knots where it is on."""

    def __init__(self, e: Evaluation, hold: Hold, points: Ints, place: int, lam: int, times: Array) -> None:
        f = e.frames
        self.hold, self.points, self.place, self.lam = hold, points, place, lam
        self.on = np.flatnonzero((f.phase[: f.knots] >= hold.first) & (f.phase[: f.knots] < hold.last))
        at = [hold.surface(float(t)) for t in times[self.on]]
        self.S, self.O = np.array([s.rotation for s in at]), np.array([s.origin for s in at])
        self.gens = np.einsum("nij,mgj->nmgi", self.S, hold.generators)
        self.given = hold.offsets is not None
        self.bodies = hold.force_bodies

    def forces(self, x: Array) -> tuple[Array, Array]:
        """Force at each point (n, m, 3) and torque (n, 3), in body weights."""
        hold, n = self.hold, len(self.on)
        own = x[self.lam : self.lam + n * hold.multipliers].reshape(n, hold.multipliers)
        m, g = hold.generators.shape[:2]
        f = np.einsum("nmg,nmgi->nmi", own[:, : m * g].reshape(-1, m, g), self.gens)
        return f, own[:, m * g :] @ hold.torques

    def arms(self, e: Evaluation, x: Array) -> Array:
        """From where the rows are written to where forces act (n, m, 3)."""
        about = e.about[self.on][:, None, :]
        if self.hold.offsets is None:
            return np.asarray(e.P[self.on[:, None], self.points[None, :]] - about)
        c, s = np.cos(x[self.place + 3]), np.sin(x[self.place + 3])
        o = self.hold.offsets
        local = np.stack([c * o[:, 0] - s * o[:, 1], s * o[:, 0] + c * o[:, 1], o[:, 2]], axis=1)
        local = local + x[self.place : self.place + 3]
        return np.asarray(np.einsum("nij,mj->nmi", self.S, local) + self.O[:, None] - about)

    def turning(self, x: Array) -> Array:
        """How arms change with the contact's facing (n, m, 3)."""
        c, s = np.cos(x[self.place + 3]), np.sin(x[self.place + 3])
        o = self.hold.offsets
        assert o is not None
        local = np.stack([-s * o[:, 0] - c * o[:, 1], c * o[:, 0] - s * o[:, 1], np.zeros(len(o))], axis=1)
        return np.asarray(np.einsum("nij,mj->nmi", self.S, local))


class Contact(_Spline):
    """What the world holds stays where it is: the point, the further points of its sole, and how it is turned."""

    def __init__(
        self, e: Evaluation, layout: Layout, hold: Hold, frames: Ints, ref: int, level: list[int], turn: int,
        place: int, moves: Flags,
    ) -> None:  # fmt: skip
        self.name = hold.label
        self.hold, self.ref, self.level, self.turn, self.place = hold, ref, np.array(level, np.int64), turn, place
        self.frames_only = frames
        self.kinds = ("x", "y", "z", *(f"level {i}" for i in range(len(level))), *("turn" for _ in hold.axes))
        self.frame = np.repeat(frames, hold.rows)
        self.low = self.high = np.zeros(len(self.frame))
        f = e.frames
        span = np.diff(layout.fixed_times)[f.phase[frames]]
        at = [hold.surface(t) for t in layout.fixed_times[f.phase[frames]] + f.s[frames] * span]
        self.O, self.S = np.array([s.origin for s in at]), np.array([s.rotation for s in at])
        self._prepare(e, layout, np.flatnonzero(moves).astype(np.int64), timed=False)

    def _against(self, facing: float) -> tuple[Array, Array]:
        """World directions the body's stay across (n, k, 3), and their rate by facing."""
        c, s = np.cos(facing), np.sin(facing)
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        dR = np.array([[-s, -c, 0.0], [c, -s, 0.0], [0.0, 0.0, 0.0]])
        own = np.where(self.hold.turned[:, None], self.hold.against @ R.T, self.hold.against)
        rate = np.where(self.hold.turned[:, None], self.hold.against @ dR.T, 0.0)
        return np.einsum("nij,kj->nki", self.S, own), np.einsum("nij,kj->nki", self.S, rate)

    def values(self, e: Evaluation, x: Array) -> Array:
        f, place = self.frames_only, x[self.place : self.place + 4]
        out = np.empty((len(f), self.hold.rows))
        out[:, :3] = np.einsum("nij,ni->nj", self.S, e.P[f, self.ref] - self.O) - place[:3]
        k = len(self.level)
        if k:
            gap = e.P[f[:, None], self.level] - self.O[:, None]
            out[:, 3 : 3 + k] = np.einsum("ni,nki->nk", self.S[:, :, 2], gap) - place[2]
        if len(self.hold.axes):
            A, _ = self._against(place[3])
            u = np.einsum("nij,kj->nki", e.M[f, self.turn], self.hold.axes)
            out[:, 3 + k :] = (A * u).sum(axis=-1)
        return out.ravel()

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = self._spline_pattern()
        r, c = self._place_entries()
        return np.concatenate([rows, r]), np.concatenate([cols, c])

    def _place_entries(self) -> tuple[Ints, Ints]:
        n, m, k = len(self.frames_only), self.hold.rows, len(self.level)
        local = [(j, j) for j in range(3)] + [(3 + j, 2) for j in range(k)]
        local += [(3 + k + j, 3) for j in range(len(self.hold.axes)) if self.hold.turned[j]]
        r = np.array([[i * m + a for a, _ in local] for i in range(n)], np.int64)
        c = np.array([[self.place + b for _, b in local]] * n, np.int64)
        return r.ravel(), c.ravel()

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        """By the pose: S^T J, and (R u x A) . K for directions; by the contact's own place and facing."""
        f, k = self.frames_only, len(self.level)
        n, nv = len(f), e.character.nv
        G = np.empty((n, self.hold.rows, nv))
        G[:, :3] = np.einsum("nij,nid->njd", self.S, e.J[f, self.ref])
        for j in range(k):
            G[:, 3 + j] = np.einsum("ni,nid->nd", self.S[:, :, 2], e.J[f, self.level[j]])
        extra = [np.full((n, 3), -1.0), np.full((n, k), -1.0)]
        if len(self.hold.axes):
            A, rate = self._against(x[self.place + 3])
            u = np.einsum("nij,kj->nki", e.M[f, self.turn], self.hold.axes)
            G[:, 3 + k :] = np.einsum("nki,nid->nkd", np.cross(u, A), e.K[f, self.turn])
            extra.append((rate * u).sum(axis=-1)[:, self.hold.turned])
        end = self._spline_derivatives(e, G.reshape(-1, nv), None, None, out)
        out[end:] = np.concatenate(extra, axis=1).ravel()


class _Speeds(_Spline):
    """Velocities at frames as rows, all of them or some degrees of freedom; a rotation's depend on its three."""

    def __init__(self, e: Evaluation, layout: Layout, frames: Ints, dofs: Ints, scale: float) -> None:
        nv = e.character.nv
        self.frames_only, self.chosen, self.scale = frames, dofs, scale
        self.frame = np.repeat(frames, len(dofs))
        self._prepare(e, layout, np.arange(nv), timed=True)
        self.slope = np.tile(scale * np.eye(nv)[dofs], (len(frames), 1))
        self.none = np.zeros_like(self.slope)
        first = np.arange(nv)
        for v in e.layout.rotation_v:
            first[v : v + 3] = v
        same = first[dofs][:, None] == first[None, :]
        self._keep = np.broadcast_to(np.tile(same, (len(frames), 1))[:, :, None], self._cols.shape)

    def pattern(self) -> tuple[Ints, Ints]:
        rows = np.broadcast_to(np.arange(len(self.frame))[:, None, None], self._cols.shape)
        tr, tk = np.nonzero(self._timed)
        return (
            np.concatenate([rows[self._keep], tr]).astype(np.int64),
            np.concatenate([self._cols[self._keep], self._ends[tr, tk]]).astype(np.int64),
        )

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.asarray(self.scale * e.v[self.frames_only][:, self.chosen].ravel())

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        e.chain(self.frame, self.none, self.slope, None, self.dofs, self._out, self._by_T)
        part = self._out[self._keep]
        tr, tk = np.nonzero(self._timed)
        out[: len(part)] = part
        out[len(part) :] = self._by_T[tr] * np.where(tk == 1, 1.0, -1.0)


SPEED = 0.1  # scale of rows that are velocities: 10 rad/s count as one


class Seam(Block):
    """Velocity goes on across the seams between phases; acceleration may jump there."""

    def __init__(self, e: Evaluation, layout: Layout, before: Ints, after: Ints) -> None:
        self.name = "continuity"
        every = np.arange(e.character.nv)
        self.sides = (_Speeds(e, layout, before, every, SPEED), _Speeds(e, layout, after, every, -SPEED))
        self.frame = self.sides[1].frame
        self.low = self.high = np.zeros(len(self.frame))
        self.kinds = dof_names(e.character)

    def pattern(self) -> tuple[Ints, Ints]:
        (r0, c0), (r1, c1) = (side.pattern() for side in self.sides)
        self._split = len(r0)
        return np.concatenate([r0, r1]), np.concatenate([c0, c1])

    def values(self, e: Evaluation, x: Array) -> Array:
        return self.sides[0].values(e, x) + self.sides[1].values(e, x)

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        self.sides[0].derivatives(e, x, out[: self._split])
        self.sides[1].derivatives(e, x, out[self._split :])


class Rest(_Speeds):
    """Some degrees of freedom are still at a frame."""

    def __init__(self, e: Evaluation, layout: Layout, frame: int, dofs: Ints, name: str) -> None:
        super().__init__(e, layout, np.array([frame], np.int64), dofs, SPEED)
        self.name = f"{name} at rest"
        self.low = self.high = np.zeros(len(dofs))
        self.labels = tuple(np.array(dof_names(e.character))[dofs])


class Elastic(Block):
    """A block whose rows may give way, each by a variable of its own that costs: low <= g(x) - s <= high."""

    def __init__(self, block: Block, first: int) -> None:
        self.block, self.first = block, first
        self.name, self.frame, self.low, self.high, self.kinds = (
            block.name, block.frame, block.low, block.high, block.kinds,
        )  # fmt: skip
        labels = getattr(block, "labels", None)
        if labels is not None:
            self.labels = labels

    def missing(self, e: Evaluation, x: Array) -> Array:
        """By how much the rows would have to give way at a candidate."""
        values = self.block.values(e, x)
        return np.asarray(values - np.clip(values, self.low, self.high))

    def pattern(self) -> tuple[Ints, Ints]:
        rows, cols = self.block.pattern()
        n = np.arange(len(self.low))
        return np.concatenate([rows, n]), np.concatenate([cols, self.first + n])

    def values(self, e: Evaluation, x: Array) -> Array:
        return self.block.values(e, x) - x[self.first : self.first + len(self.low)]

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        n = len(self.low)
        self.block.derivatives(e, x, out[:-n])
        out[-n:] = -1.0


def dof_names(character: Character) -> tuple[str, ...]:
    """A name for every degree of freedom: `knee_left`, `hip_left y`."""
    out: list[str] = []
    for joint in character.joints:
        n = joint.dofs.stop - joint.dofs.start
        marks = {1: ("",), 3: (" x", " y", " z"), 6: (" x", " y", " z", " turn x", " turn y", " turn z")}
        out += [f"{joint.name}{mark}" for mark in marks.get(n, tuple(f" {k}" for k in range(n)))]
    return tuple(out)


class Linear(Block):
    """Coordinates of the curve at a frame have given values: an exact key, whole or in part."""

    def __init__(self, e: Evaluation, frame: int, dofs: Ints, target: Array, name: str) -> None:
        self.name = name
        self.frame = np.full(len(dofs), frame, np.int64)
        self.dofs = dofs
        self.low = self.high = np.asarray(target, float)
        self.labels = tuple(np.array(dof_names(e.character))[dofs])
        self.cols = e.columns(np.array([frame]), dofs)[0]  # (dofs, W)
        self.B = e.frames.B[frame, 0]

    def pattern(self) -> tuple[Ints, Ints]:
        rows = np.broadcast_to(np.arange(len(self.dofs))[:, None], self.cols.shape)
        return rows.ravel().astype(np.int64), self.cols.ravel()

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.asarray(x[self.cols] @ self.B)

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        out[:] = np.tile(self.B, len(self.dofs))


class Limits(_Spline):
    """Ball joints stay inside their swing cones and twist ranges (hinges do so by bounds on their coefficients)."""

    def __init__(self, e: Evaluation, layout: Layout, choice: Array) -> None:
        """`choice` (rows, 3): frame, ball, row of the ball."""
        self.name = "joint limits"
        who = e.character
        dofs = np.arange(who.nv, dtype=np.int64)
        q, at, axis, rest, normals, offsets, faces, twist = who.limits.ball_tables(dofs)
        self.tables = (q, axis, rest, normals, offsets, faces, twist)
        self.choice = np.ascontiguousarray(choice, np.int64).reshape(-1, 3)
        self.ball_v = at
        self.frame = self.choice[:, 0].copy()
        self.low, self.high = np.full(len(self.choice), -np.inf), np.zeros(len(self.choice))
        names = list(who.limits.balls)
        self.labels = tuple(f"{names[b]} {_row_name(who.limits.balls[names[b]], r)}" for _, b, r in self.choice)
        self._prepare(e, layout, dofs, timed=False)
        n = len(self.choice)
        self._own = at[self.choice[:, 1]][:, None] + np.arange(3)
        self._cols = self._cols[np.arange(n)[:, None], self._own]
        self._out = np.empty((n, 3, WIDTH))
        self._g, self._value = np.empty((n, 3)), np.empty(n)

    def pattern(self) -> tuple[Ints, Ints]:
        rows = np.broadcast_to(np.arange(len(self.frame))[:, None, None], self._cols.shape)
        return rows.ravel().astype(np.int64), self._cols.ravel()

    def values(self, e: Evaluation, x: Array) -> Array:
        _limit_rows(e.q, self.choice, *self.tables, self._value, self._g)
        return self._value.copy()

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        _limit_rows(e.q, self.choice, *self.tables, self._value, self._g)
        rotation = np.searchsorted(e.layout.rotation_v, self.ball_v)
        J = e.blocks[self.frame, rotation[self.choice[:, 1]], 0]
        g = np.einsum("ni,nij->nj", self._g, J)
        out[:] = (g[:, :, None] * e.frames.B[self.frame, 0][:, None, :]).ravel()


def _row_name(limit: BallLimit, row: int) -> str:
    faces = len(limit.offsets)
    return f"swing {row}" if row < faces else ("twist low", "twist high")[row - faces]


@kernel
def _limit_rows(
    q: Array, choice: Ints, ball_q: Ints, axis: Array, rest: Array, normals: Array, offsets: Array,
    faces: Ints, twist: Array, value: Array, gradient: Array,
) -> None:  # fmt: skip
    most = 0
    for b in range(len(ball_q)):
        most = max(most, faces[b + 1] - faces[b] + 2)
    values, slopes = np.empty(most), np.empty((most, 3))
    last_frame, last_ball = -1, -1
    for n in range(len(choice)):
        i, b, r = choice[n, 0], choice[n, 1], choice[n, 2]
        if i != last_frame or b != last_ball:
            s, t = faces[b], faces[b + 1]
            fill_ball_rows(
                q[i, ball_q[b] : ball_q[b] + 4], axis[b], rest[b], normals[s:t], offsets[s:t], twist[b, 0], twist[b, 1],
                values[: t - s + 2], slopes[: t - s + 2],
            )  # fmt: skip
            last_frame, last_ball = i, b
        value[n] = values[r]
        gradient[n] = slopes[r]


class Spot(_Spline):
    """A point's coordinate along a direction, between bounds, at frames of their own: clearances and places."""

    def __init__(
        self, e: Evaluation, layout: Layout, name: str, frames: Ints, points: Ints, directions: Array,
        low: Array, high: Array, labels: tuple[str, ...],
    ) -> None:  # fmt: skip
        self.name, self.frame, self.points, self.directions = name, frames, points, directions
        self.low, self.high, self.labels = low, high, labels
        moved = np.zeros(e.character.nv, bool)
        moves = moved_by(e)
        for p in np.unique(points):
            moved |= moves[e.point_bodies[p]]
        self._prepare(e, layout, np.flatnonzero(moved).astype(np.int64), timed=False)

    def pattern(self) -> tuple[Ints, Ints]:
        return self._spline_pattern()

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.asarray((e.P[self.frame, self.points] * self.directions).sum(axis=1))

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        G = np.einsum("ni,nid->nd", self.directions, e.J[self.frame, self.points])
        self._spline_derivatives(e, G, None, None, out)


def moved_by(e: Evaluation) -> Flags:
    """(nbody, nv): which degrees of freedom move which body."""
    t = e.tables
    out = np.zeros((len(t.body_link), e.character.nv), bool)
    for b, link in enumerate(t.body_link):
        at = int(link)
        while at >= 0:
            out[b] |= t.dof_link == at
            at = int(t.links[at, 0])
    return out
