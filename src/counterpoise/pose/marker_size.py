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

NOISE = 0.005  # [m]: how well a marker's place is known
SKIN = 0.015  # [m]: how far a marker may sit from where the table says
SHARE = 0.06  # how far a segment's factor may lie from the whole body's
WHOLE = 0.5  # how far the body's own factor may lie from the first guess
LEAN = 5.0  # [rad, m]: how far a pose may lie from where its frame began; only what no marker sees feels it
OUTLIER = 0.03  # [m]: beyond this a marker counts less and less (Huber)


@dataclass(frozen=True, eq=False)
class Shape:
    """Factors of the segments and where the markers sit."""

    factors: Array  # (nbody,) of lengths; 1 for the world
    slips: Array  # (m, 3) [m], e_m in the segment's frame


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
        self.above = np.eye(n)  # (b, c): c is b or carries it
        for b in range(1, n):
            self.above[b] += self.above[self.parent[b]]
        self.hangs = np.zeros((n, n))  # (b, c): b hangs on c; nothing hangs on the world
        self.hangs[np.arange(1, n), self.parent[1:]] = 1.0
        self.hangs[:, 0] = 0.0

    def _groups(self) -> Ints:
        """Left and right share a factor."""
        group = np.arange(len(self.parent), dtype=np.int64)
        for left, right in self.character.pairs:
            group[self.character.body_id(right)] = group[self.character.body_id(left)]
        used = {g: k for k, g in enumerate(sorted(set(group[1:].tolist())))}
        return np.array([-1, *(used[g] for g in group[1:])], dtype=np.int64)

    @property
    def count(self) -> int:
        """Number of unknowns of the shape: the whole body's factor, one a group, three a marker."""
        return self.members.shape[1] + 3 * len(self.bodies)

    def points(self, q: Array, shape: Shape) -> Array:
        """Where the markers are, (m, 3)."""
        d, s = put_in_pose(self.character, q), shape.factors
        R, base = d.xmat.reshape(-1, 3, 3), d.xpos
        places = self._places(R, s, base)
        local = s[self.bodies, None] * self.nominal + shape.slips
        found: Array = places[self.bodies] + np.einsum("mij,mj->mi", R[self.bodies], local)
        return found

    def rows(self, q: Array, shape: Shape) -> tuple[Array, Array, Array]:
        """Markers p (m, 3), and their derivatives by the pose (m, 3, nv) and by the shape (m, 3, count)."""
        points, s, t = self.points(q, shape), shape.factors, self.tables
        d = t.data  # in this pose since
        R = d.xmat.reshape(-1, 3, 3)
        out, back = self._arms(R)
        m, many = len(self.bodies), self.members.shape[1]
        # o_b by s_c: the arms of all bodies on the way down that hang on c, less c's own
        by_factor = np.einsum("mb,bi,bc->mic", self.above[self.bodies], out, self.hangs)
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
        """World vectors of unscaled arms: from a parent to its child's joint, and from a body to its joint."""
        return (
            np.einsum("bij,bj->bi", R[self.parent], self.anchor),
            np.einsum("bij,bj->bi", R, self.joint),
        )

    def _places(self, R: Array, s: Array, base: Array) -> Array:
        """Body origins o_b of the scaled figure; what slides and the free root add to `base` is added here too."""
        out, back = self._arms(R)
        steps = s[self.parent, None] * out - s[:, None] * back + base - (base[self.parent] + out - back)
        steps[0] = 0.0
        places: Array = self.above @ steps
        return places

    def solve(
        self, poses: Array, targets: Array, weights: Array, start: float, size: bool, slip: bool, iterations: int = 30
    ) -> tuple[Array, Shape]:
        """Poses (k, nq) and the shape that bring the markers to their targets (k, m, 3).

        `size` lets the factors change, `slip` the markers' places.
        """
        who = self.character
        groups = int(self.group.max()) + 1
        theta = np.zeros(self.count)
        theta[0] = start
        spread = np.concatenate([[WHOLE], np.full(groups, SHARE), np.full(3 * len(self.bodies), SKIN)])
        if not size:
            spread[: 1 + groups] = 1e-9
        if not slip:
            spread[1 + groups :] = 1e-9
        prior = 1.0 / np.square(spread)
        wanted = theta.copy()
        q, damping = poses.copy(), 1e-3
        cost = self._cost(q, theta, wanted, prior, targets, weights, poses)
        for _ in range(iterations):
            C, c, frames = np.diag(prior), prior * (theta - wanted), []
            for k in range(len(q)):
                points, J, D = self.rows(q[k], self.shape(theta))
                w = self._trust(points, targets[k], weights[k])
                r = (w[:, None] * (points - np.nan_to_num(targets[k]))).ravel()
                Jw = (w[:, None, None] * J).reshape(len(r), -1)
                Dw = (w[:, None, None] * D).reshape(len(r), -1)
                lean = who.difference(poses[k], q[k])
                A = Jw.T @ Jw + np.diag(np.full(who.nv, 1.0 / LEAN**2 + damping * float(np.square(Jw).sum(0).mean())))
                B, a = Jw.T @ Dw, Jw.T @ r + lean / LEAN**2
                X = np.linalg.solve(A, np.column_stack([B, a]))
                C = C + Dw.T @ Dw - B.T @ X[:, :-1]
                c = c + Dw.T @ r - B.T @ X[:, -1]
                frames.append(X)
            step = -np.linalg.solve(C + damping * np.diag(np.diag(C)), c)
            fresh = theta + step
            moved = np.array(
                [
                    who.limits.clamp(who.integrate(q[k], -(frames[k][:, :-1] @ step + frames[k][:, -1])))
                    for k in range(len(q))
                ]
            )
            after = self._cost(moved, fresh, wanted, prior, targets, weights, poses)
            if after < cost:
                done = cost - after < 2e-5 * cost
                q, theta, cost, damping = moved, fresh, after, max(damping / 5.0, 1e-8)
                if done:
                    break
            else:
                damping *= 10.0
                if damping > 1e6:
                    break
        return q, self.shape(theta)

    def shape(self, theta: Array) -> Shape:
        """The shape that the unknowns mean."""
        groups = int(self.group.max()) + 1
        factors = np.ones(len(self.parent))
        factors[1:] = np.clip(theta[0] + theta[1 + self.group[1:]], 0.2, 5.0)
        return Shape(factors, theta[1 + groups :].reshape(-1, 3))

    def _trust(self, points: Array, target: Array, weight: Array) -> Array:
        """Weight of each marker, 1/noise where it fits, less where it lies far off, 0 where it was not seen."""
        far = np.linalg.norm(points - np.nan_to_num(target), axis=1)
        huber = np.sqrt(np.minimum(1.0, OUTLIER / np.maximum(far, 1e-12)))
        out: Array = weight * huber / NOISE
        return out

    def _cost(
        self, q: Array, theta: Array, wanted: Array, prior: Array, targets: Array, weights: Array, began: Array
    ) -> float:
        total = float(prior @ np.square(theta - wanted))
        shape = self.shape(theta)
        for k in range(len(q)):
            points = self.points(q[k], shape)
            far = np.linalg.norm(points - np.nan_to_num(targets[k]), axis=1)
            loss = np.where(far < OUTLIER, far**2, OUTLIER * (2.0 * far - OUTLIER))
            total += float(np.square(weights[k] / NOISE) @ loss)
            total += float(np.square(self.character.difference(began[k], q[k])).sum()) / LEAN**2
        return total


__all__ = ["Calibration", "Shape"]
