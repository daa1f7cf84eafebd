"""Everything about one candidate motion that its constraints need: poses, aggregate forces, places and rotations."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.kinematics import BatchKinematics
from counterpoise.motion.poses import layout_of
from counterpoise.spacetime.aggregate.kernels import aggregate_batch
from counterpoise.spacetime.aggregate.places_kernels import places_batch, turns_batch
from counterpoise.spacetime.aggregate.tables import link_tables
from counterpoise.spacetime.optimize.chart import BLOCKS, chain_rows, evaluate_curve
from counterpoise.spacetime.optimize.frames import WIDTH, Base, Frames
from counterpoise.spacetime.optimize.moments import Timeline

NO_SLOPE = np.zeros((1, 1))  # stands for derivatives that a row does not have


class MotionEvaluation:
    """One candidate at all frames. Its arrays are workspace: they are overwritten by the next candidate.

    Rows ask for points and rotations of bodies with `point` and `turn`; these are then computed for every candidate.
    Features are read from `kinematics(frames)`.
    """

    def __init__(self, character: Character, timeline: Timeline, frames: Frames, base: Base, about: Array) -> None:
        """`about` (knots, 3): the points that forces are written about."""
        self.character, self.timeline, self.frames, self.base, self.about = character, timeline, frames, base, about
        self.layout, self.tables = layout_of(character), link_tables(character)
        n, k, nv, nr = len(frames), frames.knots, character.nv, len(self.layout.rotation_v)
        self.point_bodies, self.point_places = np.empty(0, np.int64), np.empty((0, 3))
        self.turn_bodies = np.empty(0, np.int64)
        self.q, self.v, self.a = np.zeros((n, character.nq)), np.zeros((n, nv)), np.zeros((n, nv))
        self.blocks = np.zeros((n, nr, BLOCKS, 3, 3))
        self.F, self.Fq, self.Fv, self.Fa = np.zeros((k, 6)), *np.zeros((3, k, 6, nv))  # aggregate force and slopes
        self.T = np.ones(n)  # [s] duration of each frame's phase
        self.updates = 0  # so often it was brought up to a candidate
        self._points: tuple[Array, Array, Array] | None = None
        self._turns: tuple[Array, Array, Array] | None = None
        self._kinematics: dict[bytes, BatchKinematics] = {}

    # -- what is looked at ----------------------------------------------------------------------------------------
    def point(self, body: int, place: Array) -> int:
        """Returns the index of a point of a body; it is evaluated from now on."""
        same = (self.point_bodies == body) & (self.point_places == place).all(axis=1)
        if same.any():
            return int(same.argmax())
        self.point_bodies = np.append(self.point_bodies, body)
        self.point_places = np.vstack([self.point_places, np.asarray(place, float)])
        self._points = None
        return len(self.point_bodies) - 1

    def turn(self, body: int) -> int:
        """Returns the index of a body's rotation; it is evaluated from now on."""
        same = self.turn_bodies == body
        if same.any():
            return int(same.argmax())
        self.turn_bodies = np.append(self.turn_bodies, body)
        self._turns = None
        return len(self.turn_bodies) - 1

    # -- one candidate ----------------------------------------------------------------------------------------------
    def update(self, X: Array, times: Array) -> None:
        """Evaluates the motion with coefficients X (c, nv) and moments at `times`."""
        f, b, at = self.frames, self.base, self.layout
        self.times, self.updates = times, self.updates + 1
        self.T[:] = np.diff(times)[f.phase]
        evaluate_curve(
            X, f.first, f.B, self.T, b.quaternion, b.rate, b.bend, at.vector_q, at.vector_v, at.rotation_q,
            at.rotation_v, self.q, self.v, self.a, self.blocks,
        )  # fmt: skip
        k = f.knots
        aggregate_batch(self.tables, self.q[:k], self.v[:k], self.a[:k], self.about, self.F, self.Fq, self.Fv, self.Fa)
        if self._points is not None:
            places_batch(self.tables, self.q, self.v, self.point_bodies, self.point_places, *self._points)
        if self._turns is not None:
            turns_batch(self.tables, self.q, self.v, self.turn_bodies, *self._turns)
        self._kinematics.clear()

    @property
    def P(self) -> Array:
        """Places (n, points, 3) of the points [m]."""
        return self._look_at_points()[0]

    @property
    def J(self) -> Array:
        """Jacobians (n, points, 3, nv) of the points."""
        return self._look_at_points()[2]

    @property
    def M(self) -> Array:
        """Rotations (n, turns, 3, 3) of the bodies."""
        return self._look_at_turns()[0]

    @property
    def K(self) -> Array:
        """Angular Jacobians (n, turns, 3, nv) of the bodies."""
        return self._look_at_turns()[2]

    def kinematics(self, frames: Ints) -> BatchKinematics:
        """Returns the kinematics at some frames, for features."""
        key = frames.tobytes()
        if key not in self._kinematics:
            self._kinematics[key] = BatchKinematics(self.character, self.q[frames])
        return self._kinematics[key]

    def _look_at_points(self) -> tuple[Array, Array, Array]:
        if self._points is None:
            n, m, nv = len(self.frames), len(self.point_bodies), self.character.nv
            self._points = np.zeros((n, m, 3)), np.zeros((n, m, 3)), np.zeros((n, m, 3, nv))
            places_batch(self.tables, self.q, self.v, self.point_bodies, self.point_places, *self._points)
        return self._points

    def _look_at_turns(self) -> tuple[Array, Array, Array]:
        if self._turns is None:
            n, m, nv = len(self.frames), len(self.turn_bodies), self.character.nv
            self._turns = np.zeros((n, m, 3, 3)), np.zeros((n, m, 3)), np.zeros((n, m, 3, nv))
            turns_batch(self.tables, self.q, self.v, self.turn_bodies, *self._turns)
        return self._turns

    # -- derivatives by the variables ---------------------------------------------------------------------------------
    def chain(
        self, frame: Ints, Gq: Array, Gv: Array | None, Ga: Array | None, dofs: Ints, out: Array, by_T: Array
    ) -> None:
        """Writes derivatives by coefficients (rows, dofs, W) and by the phase's duration (rows,) of rows at frames.

        `Gq`, `Gv`, `Ga` (rows, nv) are the rows' derivatives by pose, velocity and acceleration.
        """
        orders = 1 if Gv is None else 2 if Ga is None else 3
        Gv, Ga = NO_SLOPE if Gv is None else Gv, NO_SLOPE if Ga is None else Ga
        chain_rows(
            frame, Gq, Gv, Ga, orders, self.frames.B, self.T, self.v, self.a, self.blocks, self.layout.rotation_v,
            dofs, out, by_T,
        )  # fmt: skip

    def columns(self, frame: Ints, dofs: Ints) -> Ints:
        """Returns the variables (rows, dofs, W) that rows at frames depend on."""
        at = self.frames.first[frame][:, None, None] + np.arange(WIDTH)
        return np.asarray(at * self.character.nv + dofs[None, :, None], np.int64)
