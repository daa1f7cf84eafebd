"""The exact answer, for comparison: hands as near as can be, feet held, limits kept, by SLSQP from several starts."""

from __future__ import annotations

import mujoco
import numpy as np
from pose_humanoid import HIGH, LOW, Judge
from scipy.optimize import minimize

FAR = 1e3


def _right_jacobian(r: np.ndarray) -> np.ndarray:
    """Body angular velocity = Jr(r) r_dot for q0 * exp(r)."""
    angle = float(np.linalg.norm(r))
    K = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
    if angle < 1e-4:
        return np.eye(3) - K / 2 + K @ K / 6
    return np.eye(3) - (1 - np.cos(angle)) / angle**2 * K + (angle - np.sin(angle)) / angle**3 * (K @ K)


class Exact:
    """min |hands - targets|^2, feet at `feet` (2, 3), joints within limits; free root."""

    def __init__(self, judge: Judge, feet: np.ndarray) -> None:
        self.judge, self.feet = judge, feet.ravel()

    def _pose(self, base: np.ndarray, x: np.ndarray) -> np.ndarray:
        q = base.copy()
        mujoco.mj_integratePos(self.judge.model, q, x, 1.0)
        return q

    def from_start(self, q: np.ndarray, hands: np.ndarray) -> tuple[float, np.ndarray]:
        """The local optimum near `q`: (sum of squared hand errors, pose); infinite where the feet were lost."""
        base, goal = q.copy(), hands.ravel()
        base[self.judge.head :] = np.clip(base[self.judge.head :], LOW, HIGH)
        memory: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

        def at(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            if (key := x.tobytes()) not in memory:
                memory.clear()
                pose = self._pose(base, x)
                J = self.judge.jacobian(pose)
                J[:, 3:6] = J[:, 3:6] @ _right_jacobian(x[3:6])
                memory[key] = self.judge.places(pose).ravel(), J
            return memory[key]

        for _ in range(4):
            joints = base[self.judge.head :]
            found = minimize(
                lambda x: float(((at(x)[0][:6] - goal) ** 2).sum()),
                np.zeros(self.judge.model.nv),
                jac=lambda x: 2.0 * at(x)[1][:6].T @ (at(x)[0][:6] - goal),
                bounds=[(-FAR, FAR)] * 6 + list(zip(LOW - joints, HIGH - joints, strict=True)),
                constraints={"type": "eq", "fun": lambda x: at(x)[0][6:] - self.feet, "jac": lambda x: at(x)[1][6:]},
                method="SLSQP",
                options={"ftol": 1e-14, "maxiter": 300},
            )
            if not np.isfinite(found.x).all():
                return np.inf, q
            base = self._pose(base, found.x)
            base[self.judge.head :] = np.clip(base[self.judge.head :], LOW, HIGH)
            memory.clear()
            if np.abs(found.x).max() < 1e-7:
                break
        places = self.judge.places(base).ravel()
        held = float(np.abs(places[6:] - self.feet).max()) < 1e-7
        return (float(((places[:6] - goal) ** 2).sum()) if held else np.inf), base

    def best(self, starts: list[np.ndarray], hands: np.ndarray) -> tuple[float, np.ndarray]:
        return min((self.from_start(q, hands) for q in starts), key=lambda found: found[0])
