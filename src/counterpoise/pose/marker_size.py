"""Size and marker places from the data: poses of many frames and one shape, by damped Gauss-Newton on all at once.

With segment factors s_b and a marker m on body b, at s_b n_m + e_m in its frame,

    p_m(q, s, e) = o_b + R_b (s_b n_m + e_m),      o_b = o_p + s_p R_p a_b - s_b R_b j_b,

(a_b: where b's joint sits on its parent p, j_b: where it sits on b). Rotations R_b(q) do not depend on s, so p is
linear in s and e. The normal equations are bordered: each frame is eliminated, what is left is as large as the shape.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import put_in_pose
from counterpoise.character.tables import tables_of

MARKER_NOISE = 0.005  # [m] standard deviation of a marker's measured position
PLACE_SPREAD = 0.015  # [m] standard deviation of a marker's place from the table's
SEGMENT_SPREAD = 0.06  # standard deviation of a segment's factor from the whole body's
BODY_SPREAD = 0.5  # standard deviation of the whole body's factor from the first guess
POSE_SPREAD = 5.0  # [rad, m] standard deviation of a pose from its start: weak, it settles only what no marker shows
FIXED_SPREAD = 1e-9  # standard deviation of what is not to change
OUTLIER_DISTANCE = 0.03  # [m]: beyond this the cost of a marker's error grows only linearly (Huber)
FACTOR_RANGE = (0.2, 5.0)  # of a segment's length
CONVERGED_DECREASE = 2e-5  # relative decrease of the cost that ends the search
MAX_DAMPING = 1e6


@dataclass(frozen=True, eq=False)
class MarkerShape:
    """Length factors of the segments, and offsets of the markers from their places."""

    factors: Array  # (nbody,) of lengths; 1 for the world
    offsets: Array  # (m, 3) [m], e_m in the segment's frame


class Calibration:
    """Markers on a figure of adjustable size."""

    def __init__(self, character: Character, bodies: Ints, nominal: Array) -> None:
        model = character.model
        self.character, self.bodies, self.nominal = character, bodies, nominal
        self.tables = tables_of(character)
        self.parent = self.tables.parent
        n = model.nbody
        self.joint = np.zeros((n, 3))  # j_b
        for b in range(1, n):
            if model.body_jntnum[b]:
                self.joint[b] = model.jnt_pos[model.body_jntadr[b]]
        self.anchor = model.body_pos + spatial.rotate(model.body_quat, self.joint)  # a_b
        self.group = self._groups()
        self.members = np.zeros((n, 2 + int(self.group.max())))  # factors by unknowns: the whole, then each group's
        self.members[1:, 0] = 1.0
        self.members[np.arange(1, n), 1 + self.group[1:]] = 1.0
        self.above = np.eye(n)  # (b, c): 1 where c is b or an ancestor of b
        for b in range(1, n):
            self.above[b] += self.above[self.parent[b]]
        self.child_of = np.zeros((n, n))  # (b, c): 1 where c is the parent of b, and not the world
        self.child_of[np.arange(1, n), self.parent[1:]] = 1.0
        self.child_of[:, 0] = 0.0

    def _groups(self) -> Ints:
        """Returns the group of each body: left and right share a factor."""
        group = np.arange(len(self.parent), dtype=np.int64)
        for left, right in self.character.pairs:
            group[self.character.body_id(right)] = group[self.character.body_id(left)]
        used = {g: k for k, g in enumerate(sorted(set(group[1:].tolist())))}
        return np.array([-1, *(used[g] for g in group[1:])], dtype=np.int64)

    @property
    def group_count(self) -> int:
        return self.members.shape[1] - 1

    @property
    def count(self) -> int:
        """Number of unknowns of the shape: the whole body's factor, one a group, three a marker."""
        return self.members.shape[1] + 3 * len(self.bodies)

    # -- the markers -----------------------------------------------------------------------------------------------
    def shape(self, theta: Array) -> MarkerShape:
        """Returns the shape that the unknowns (count,) mean."""
        factors = np.ones(len(self.parent))
        factors[1:] = np.clip(theta[0] + theta[1 + self.group[1:]], *FACTOR_RANGE)
        return MarkerShape(factors, theta[1 + self.group_count :].reshape(-1, 3))

    def points(self, q: Array, shape: MarkerShape) -> Array:
        """Returns where the markers are, (m, 3) [m]."""
        d, s = put_in_pose(self.character, q), shape.factors
        R, base = d.xmat.reshape(-1, 3, 3), d.xpos
        places = self._places(R, s, base)
        local = s[self.bodies, None] * self.nominal + shape.offsets
        found: Array = places[self.bodies] + np.einsum("mij,mj->mi", R[self.bodies], local)
        return found

    def rows(self, q: Array, shape: MarkerShape) -> tuple[Array, Array, Array]:
        """Returns markers p (m, 3), and their derivatives by the pose (m, 3, nv) and by the shape (m, 3, count)."""
        points, s, t = self.points(q, shape), shape.factors, self.tables
        d = t.data  # in this pose since
        R = d.xmat.reshape(-1, 3, 3)
        out, back = self._arms(R)
        m, many = len(self.bodies), self.members.shape[1]
        # o_b by s_c: the arms of b and its ancestors that are children of c, less c's own
        by_factor = np.einsum("mb,bi,bc->mic", self.above[self.bodies], out, self.child_of)
        by_factor -= np.einsum("mc,ci->mic", self.above[self.bodies], back)
        there = np.einsum("mij,mj->mi", R[self.bodies], self.nominal)
        by_factor[np.arange(m), :, self.bodies] += there
        D = np.zeros((m, 3, self.count))
        D[:, :, :many] = by_factor @ self.members
        for i, b in enumerate(self.bodies):
            D[i, :, many + 3 * i : many + 3 * i + 3] = R[b]
        axes, lines = d.cdof[:, :3], d.cdof[:, 3:]
        hinges = (self._places(R, s, d.xpos) + s[:, None] * back)[t.dof_body]
        turning = np.abs(axes).max(axis=1) > 1e-9
        arms = points[:, None] - hinges[None]  # (m, nv, 3)
        J = np.where(turning[None, :, None], np.cross(axes[None], arms), lines[None])
        J = J * t.ancestors[self.bodies][:, :, None]
        return points, J.transpose(0, 2, 1), D

    def _arms(self, R: Array) -> tuple[Array, Array]:
        """Returns world vectors of unscaled arms: from a parent to its child's joint, and from a body to its joint."""
        return (
            np.einsum("bij,bj->bi", R[self.parent], self.anchor),
            np.einsum("bij,bj->bi", R, self.joint),
        )

    def _places(self, R: Array, s: Array, base: Array) -> Array:
        """Returns body origins o_b of the scaled figure; translations of slides and the free root are in `base`."""
        out, back = self._arms(R)
        steps = s[self.parent, None] * out - s[:, None] * back + base - (base[self.parent] + out - back)
        steps[0] = 0.0
        places: Array = self.above @ steps
        return places

    # -- the fit ---------------------------------------------------------------------------------------------------
    def solve(
        self, poses: Array, targets: Array, weights: Array, start: float, size: bool, move: bool, iterations: int = 30
    ) -> tuple[Array, MarkerShape]:
        """Returns poses (k, nq) and the shape that bring the markers to their targets (k, m, 3).

        `size` lets the factors change, `move` the markers' places.
        """
        character, prior = self.character, self._prior(size, move)
        expected = np.zeros(self.count)
        expected[0] = start
        theta, q, damping = expected.copy(), poses.copy(), 1e-3
        cost = self._cost(q, theta, expected, prior, targets, weights, poses)
        for _ in range(iterations):
            C, c, frames = self._normal_equations(q, theta, targets, weights, poses, damping)
            C, c = C + np.diag(prior), c + prior * (theta - expected)
            step = -np.linalg.solve(C + damping * np.diag(np.diag(C)), c)
            moved = np.array(
                [
                    character.limits.clamp(character.integrate(q[k], -(X[:, :-1] @ step + X[:, -1])))
                    for k, X in enumerate(frames)
                ]
            )
            after = self._cost(moved, theta + step, expected, prior, targets, weights, poses)
            if after < cost:
                done = cost - after < CONVERGED_DECREASE * cost
                q, theta, cost, damping = moved, theta + step, after, max(damping / 5.0, 1e-8)
                if done:
                    break
            else:
                damping *= 10.0
                if damping > MAX_DAMPING:
                    break
        return q, self.shape(theta)

    def _prior(self, size: bool, move: bool) -> Array:
        """Returns the weights (count,) of departures of the unknowns from what is expected."""
        factors = np.concatenate([[BODY_SPREAD], np.full(self.group_count, SEGMENT_SPREAD)])
        places = np.full(3 * len(self.bodies), PLACE_SPREAD)
        spread = np.concatenate([
            factors if size else np.full_like(factors, FIXED_SPREAD),
            places if move else np.full_like(places, FIXED_SPREAD),
        ])  # fmt: skip
        return 1.0 / np.square(spread)

    def _normal_equations(
        self, q: Array, theta: Array, targets: Array, weights: Array, began: Array, damping: float
    ) -> tuple[Array, Array, list[Array]]:
        """Returns C and c of the shape alone, and for each frame X, with which its pose follows from the shape.

        A frame A x + B y = -a, B' x + C y = -c is eliminated: X = A^-1 [B, a] and C - B' A^-1 B is left.
        """
        nv, shape = self.character.nv, self.shape(theta)
        C, c, frames = np.zeros((self.count, self.count)), np.zeros(self.count), []
        for k in range(len(q)):
            points, J, D = self.rows(q[k], shape)
            w = self._marker_weights(points, targets[k], weights[k])
            r = (w[:, None] * (points - np.nan_to_num(targets[k]))).ravel()
            Jw = (w[:, None, None] * J).reshape(len(r), -1)
            Dw = (w[:, None, None] * D).reshape(len(r), -1)
            offset = self.character.difference(began[k], q[k])
            A = Jw.T @ Jw + np.diag(np.full(nv, 1.0 / POSE_SPREAD**2 + damping * float(np.square(Jw).sum(0).mean())))
            B, a = Jw.T @ Dw, Jw.T @ r + offset / POSE_SPREAD**2
            X = np.linalg.solve(A, np.column_stack([B, a]))
            C = C + Dw.T @ Dw - B.T @ X[:, :-1]
            c = c + Dw.T @ r - B.T @ X[:, -1]
            frames.append(X)
        return C, c, frames

    def _marker_weights(self, points: Array, target: Array, weight: Array) -> Array:
        """Returns the weight of each marker: 1/noise where it fits, less where it is far off, 0 where it is unseen."""
        far = np.linalg.norm(points - np.nan_to_num(target), axis=1)
        huber = np.sqrt(np.minimum(1.0, OUTLIER_DISTANCE / np.maximum(far, 1e-12)))
        out: Array = weight * huber / MARKER_NOISE
        return out

    def _cost(
        self, q: Array, theta: Array, expected: Array, prior: Array, targets: Array, weights: Array, began: Array
    ) -> float:
        total = float(prior @ np.square(theta - expected))
        shape = self.shape(theta)
        for k in range(len(q)):
            points = self.points(q[k], shape)
            far = np.linalg.norm(points - np.nan_to_num(targets[k]), axis=1)
            loss = np.where(far < OUTLIER_DISTANCE, far**2, OUTLIER_DISTANCE * (2.0 * far - OUTLIER_DISTANCE))
            total += float(np.square(weights[k] / MARKER_NOISE) @ loss)
            total += float(np.square(self.character.difference(began[k], q[k])).sum()) / POSE_SPREAD**2
        return total


__all__ = ["Calibration", "MarkerShape"]
