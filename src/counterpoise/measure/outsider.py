"""An outsider's judgement of an optimised motion: MuJoCo's inverse dynamics on its poses alone, finely resampled.

Nothing of the optimiser's own mechanics is used: velocities and accelerations are differences of poses, the forces
needed are `mj_inverse`'s root residual, and whether the world can give them is asked of its own small programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np
from scipy.optimize import nnls

from counterpoise.arrays import Array
from counterpoise.errors import BadValue

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.motion.poses import Sample
    from counterpoise.spacetime.optimize import Result
    from counterpoise.spacetime.optimize.holds import Hold

G = 9.81  # [m/s^2]
RATE = 1000.0  # [Hz] at which the motion is resampled
CONTACT_RATE = 250.0  # [Hz] at which forces are looked for in contact
FIRM = 1e3  # weight of the rows that keep a bounded unknown in its range
EDGES = 24  # of the pyramid inside a friction cone
SLOW = 20.0  # m h^2 / 20 is about the momentum of a straight body that turns at 1 rad/s: a smaller one counts as that


@dataclass(frozen=True)
class Judgement:
    """What an outsider finds. Forces in body weights, torques in body weights x body height."""

    flight_force: float  # rms of the root residual in flight
    flight_force_peak: float
    flight_torque: float  # rms, about the CoM
    momentum_change: float  # largest change of angular momentum in a flight, of its size there
    contact_gap: float  # rms of what the contacts cannot give of the wrench needed
    contact_gap_peak: float
    slip: float  # [m] largest way of a held point from its mean place
    sink: float  # [m] deepest that anything is below the ground
    sunk: str  # which body
    flights: tuple[tuple[float, float], ...]  # [s]

    @property
    def fine(self) -> bool:
        """Within 1 % of body weight in flight and contact, momentum kept to 1 %, nothing slides or sinks by 5 mm."""
        return (
            self.flight_force < 0.01 and self.contact_gap < 0.01 and self.momentum_change < 0.01
            and self.slip < 0.005 and self.sink < 0.005
        )  # fmt: skip

    def report(self) -> str:
        """In words."""
        words = []
        if self.flights:
            words.append(
                f"root residual in flight {self.flight_force:.2%} of body weight rms (peak "
                f"{self.flight_force_peak:.2%}), angular momentum kept to {self.momentum_change:.2%}"
            )
        words.append(
            f"in contact {self.contact_gap:.2%} rms (peak {self.contact_gap_peak:.2%}) of a body weight out of reach"
        )
        words.append(f"slip {1e3 * self.slip:.1f} mm")
        deep = f"{self.sunk} {1e3 * self.sink:.1f} mm below the ground"
        words.append(deep if self.sink > 1e-4 else "nothing below the ground")
        return "; ".join(words)


def judge_motion(
    result: Result, motion: Motion | None = None, rate: float = RATE, friction: float | None = None
) -> Judgement:
    """Judge an optimised motion by MuJoCo's inverse dynamics; `friction` overrides that of its contacts.

    With `motion`, judge that one as if it had the result's contacts: the first guess, an export read back.
    """
    if not rate >= 100.0:
        raise BadValue(f"judging needs at least 100 poses a second; got rate={rate!r}")
    problem, curve = result.problem, result.curve
    poses = _Poses(result.sample if motion is None else motion.sample)
    who = problem.character
    weight = who.mass * G
    judge = _Judge(who.model, 1.0 / rate)
    flight: list[Array] = []
    change = 0.0
    spans: list[tuple[float, float]] = []
    gaps: list[float] = []
    height = max(float(who.height), 1e-3)
    for phase in range(len(problem.timeline.phases)):
        start, end = float(curve.times[phase]), float(curve.times[phase + 1])
        held = [h for h in problem.holds if h.first <= phase < h.last]
        h = 1.0 / rate if not held else 1.0 / CONTACT_RATE
        t = np.arange(start + 2.0 / rate, end - 2.0 / rate + 1e-9, h)
        around = np.stack([t - 1.0 / rate, t, t + 1.0 / rate])
        q = poses(around.ravel()).reshape(3, len(t), -1)
        if not held:
            needed = np.array([judge.needed(q[:, k]) for k in range(len(t))])
            flight.append(needed)
            spans.append((start, end))
            L = needed[:, 6:]
            size = max(float(np.linalg.norm(L.mean(axis=0))), who.mass * height**2 / SLOW)
            change = max(change, float(np.linalg.norm(L - L.mean(axis=0), axis=1).max()) / size)
            continue
        for k in range(len(t)):
            wrench = judge.needed(q[:, k])[:6]
            gaps.append(_out_of_reach(judge, wrench, held, float(t[k]), weight, height, friction))
    F = np.concatenate(flight) if flight else np.zeros((1, 9))
    force = np.linalg.norm(F[:, 3:6], axis=1) / weight
    torque = np.linalg.norm(F[:, :3], axis=1) / (weight * height)
    gap = np.array(gaps or [0.0])
    sink, sunk = _sink(result, poses, judge)
    return Judgement(
        _rms(force), float(force.max()), _rms(torque), change, _rms(gap), float(gap.max()),
        _slip(result, poses, judge), sink, sunk, tuple(spans),
    )  # fmt: skip


@dataclass(frozen=True)
class Strain:
    """How hard joints work at the knots, by MuJoCo's inverse dynamics with the contacts' forces applied."""

    share: Mapping[str, float]  # by joint: largest torque of its strength
    root: float  # what is left over at the root, of body weight: the forces are the right ones

    @property
    def worst(self) -> tuple[str, float]:
        """The joint that works hardest, and its share."""
        return max(self.share.items(), key=lambda item: item[1])


def judge_torques(result: Result) -> Strain:
    """Torques of the joints at the knots: `mj_inverse` with the result's contact forces pushing at the bodies."""
    problem, m = result.problem, result.problem.character.model
    who, f, judge = problem.character, problem.frames, _Judge(m, 1.0)
    forces, times = result.forces(), problem.layout.times(result.x)
    strength = np.where(np.isfinite(who.torque_limit) & (who.torque_limit > 0.0), who.torque_limit, np.inf)
    top, root = np.zeros(who.nv), 0.0
    for i in range(f.knots):
        p = int(f.phase[i])
        at = result.curve.sample(times[p] + f.s[i] * (times[p + 1] - times[p]), after=bool(f.s[i] < 1.0))
        push = np.zeros(m.nv)
        d = judge.pose(np.asarray(at.q))
        for c in forces:
            for k in np.flatnonzero(c.frames == i):
                for body, point, force in zip(c.bodies, c.points[k], c.forces[k], strict=True):
                    mujoco.mj_applyFT(m, d, force, np.zeros(3), point, m.body(body).id, push)
                mujoco.mj_applyFT(m, d, np.zeros(3), c.torques[k], np.zeros(3), m.body(c.bodies[0]).id, push)
        torque = judge.inverse(np.asarray(at.q), np.asarray(at.v), np.asarray(at.a)) - push
        top = np.maximum(top, np.abs(torque))
        root = max(root, float(np.abs(torque[:6]).max()) / (who.mass * G)) if who.floating else 0.0
    share = {j.name: float((top / strength)[j.dofs].max()) for j in who.joints if j.kind != "free"}
    return Strain(share, root)


def judge_overlap(result: Result, rate: float = 60.0) -> tuple[float, str]:
    """[m] how deep any two bodies get into each other, by MuJoCo's distances of shapes, and which, when.

    Bodies less than three joints apart are left out: their shapes overlap by nature.
    """
    m = result.problem.character.model
    d, parent = mujoco.MjData(m), m.body_parentid
    links = np.full((m.nbody, m.nbody), m.nbody)
    links[0, 0] = 0
    for b in range(1, m.nbody):
        links[b, :b] = links[:b, b] = links[parent[b], :b] + 1
        links[b, b] = 0
    own = np.flatnonzero(m.geom_bodyid > 0)
    i, j = (own[k] for k in np.triu_indices(len(own), 1))
    far = links[m.geom_bodyid[i], m.geom_bodyid[j]] > 2
    i, j = i[far], j[far]
    reach = m.geom_rbound[i] + m.geom_rbound[j]
    worst, which = 0.0, ""
    for t in np.arange(0.0, float(result.curve.times[-1]), 1.0 / rate):
        d.qpos[:] = result.sample(float(t)).q
        mujoco.mj_kinematics(m, d)
        for k in np.flatnonzero(np.linalg.norm(d.geom_xpos[i] - d.geom_xpos[j], axis=1) < reach).tolist():
            depth = -mujoco.mj_geomDistance(m, d, int(i[k]), int(j[k]), 0.05, None)
            if depth > worst:
                one, two = (m.body(int(m.geom_bodyid[g])).name for g in (i[k], j[k]))
                worst, which = depth, f"{one} and {two} at {t:.2f} s"
    return worst, which


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


class _Poses:
    """Poses (n, nq) of a curve at times (n,)."""

    def __init__(self, sample: Callable[[Array], Sample]) -> None:
        self._sample = sample

    def __call__(self, times: Array) -> Array:
        return np.asarray(self._sample(times).q, float)


class _Judge:
    """MuJoCo's inverse dynamics of one body alone in space: no contacts, no limits, no springs, no damping."""

    def __init__(self, model: mujoco.MjModel, step: float) -> None:
        self.model, self.data, self.step = model, mujoco.MjData(model), step
        self._before, self._after = np.zeros(model.nv), np.zeros(model.nv)
        self._flags = int(
            mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_SPRING
            | mujoco.mjtDisableBit.mjDSBL_DAMPER | mujoco.mjtDisableBit.mjDSBL_ACTUATION
        )  # fmt: skip

    def needed(self, q: Array) -> Array:
        """(9,) from poses (3, nq) a step apart: torque about the CoM and force from outside, angular momentum."""
        m, d, h = self.model, self.data, self.step
        mujoco.mj_differentiatePos(m, self._before, h, q[0], q[1])
        mujoco.mj_differentiatePos(m, self._after, h, q[1], q[2])
        self.inverse(q[1], 0.5 * (self._before + self._after), (self._after - self._before) / h)
        root = int(m.jnt_bodyid[0])
        force = d.qfrc_inverse[:3].copy()
        torque = d.xmat[root].reshape(3, 3) @ d.qfrc_inverse[3:6]
        com = d.subtree_com[root]
        return np.concatenate([torque + np.cross(d.qpos[:3] - com, force), force, d.subtree_angmom[root]])

    def inverse(self, q: Array, v: Array, a: Array) -> Array:
        """Generalised forces (nv,) the body needs."""
        m, d = self.model, self.data
        d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
        before, gravity = m.opt.disableflags, m.opt.gravity.copy()
        m.opt.disableflags = before | self._flags
        m.opt.gravity[:] = (0.0, 0.0, -G)
        try:
            mujoco.mj_inverse(m, d)
            mujoco.mj_subtreeVel(m, d)
        finally:
            m.opt.disableflags = before
            m.opt.gravity[:] = gravity
        return np.array(d.qfrc_inverse)

    def pose(self, q: Array) -> mujoco.MjData:
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        return self.data


def _out_of_reach(
    judge: _Judge, wrench: Array, held: list[Hold], time: float, weight: float, height: float, friction: float | None
) -> float:
    """Of the wrench needed (about the CoM), what no forces of the contacts within their cones and grips can give."""
    d, root = judge.data, int(judge.model.jnt_bodyid[0])
    com = d.subtree_com[root]
    columns: list[Array] = []
    low: list[float] = []
    high: list[float] = []
    for hold in held:
        S = np.asarray(hold.surface(time).rotation)
        mu = hold.touch.friction if friction is None else friction
        for body, local in zip(hold.force_bodies, hold.force_points, strict=True):
            arm = d.xpos[body] + d.xmat[body].reshape(3, 3) @ local - com
            if hold.signed:
                ways = np.eye(3)
            else:
                a = 2.0 * np.pi * np.arange(EDGES) / EDGES
                ways = np.stack([mu * np.cos(a), mu * np.sin(a), np.ones(EDGES)], axis=1) @ S.T
            for way in ways:
                columns.append(np.concatenate([np.cross(arm, way) / height, way]))
                low.append(-np.inf if hold.signed else 0.0)
                high.append(np.inf)
        if hold.signed:
            axis = np.asarray(hold.touch.axis, float) / np.linalg.norm(hold.touch.axis)
            side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
            side /= np.linalg.norm(side)
            turns = ((axis, hold.touch.torque), (side, hold.touch.grip), (np.cross(axis, side), hold.touch.grip))
            for way, most in turns:
                if most > 0.0:
                    columns.append(np.concatenate([way / height, np.zeros(3)]))
                    low.append(-most / weight)
                    high.append(most / weight)
    b = np.concatenate([wrench[:3] / (weight * height), wrench[3:6] / weight])
    return _least(np.array(columns).T, b, np.array(low), np.array(high))


def _least(A: Array, b: Array, low: Array, high: Array) -> float:
    """min |A x - b| over low <= x <= high by non-negative least squares: free unknowns are differences of two, a
    bounded one and the room left to its upper bound add up to its range (rows of great weight).
    """
    free, boxed = np.isinf(low), np.isfinite(low) & np.isfinite(high)
    ranges = (high - low)[boxed]
    n, k = int(free.sum()), int(boxed.sum())
    columns = np.concatenate([A, -A[:, free], np.zeros((len(b), k))], axis=1)
    sums = np.zeros((k, columns.shape[1]))
    sums[np.arange(k), np.flatnonzero(boxed)] = FIRM
    sums[np.arange(k), A.shape[1] + n + np.arange(k)] = FIRM
    start = A[:, ~free] @ low[~free]
    x, _ = nnls(np.concatenate([columns, sums]), np.concatenate([b - start, FIRM * ranges]))
    return float(np.linalg.norm(columns @ x + start - b))


def _slip(result: Result, poses: _Poses, judge: _Judge) -> float:
    """How far held points stray from where they are held, on surfaces that stand still."""
    worst = 0.0
    for hold in result.problem.holds:
        if not hold.still:
            continue
        start, end = result.curve.times[hold.first], result.curve.times[hold.last]
        t = np.linspace(start, end, max(int((end - start) * CONTACT_RATE), 2))
        places = []
        for q in poses(t):
            d = judge.pose(q)
            places.append(d.xpos[hold.body] + d.xmat[hold.body].reshape(3, 3) @ hold.point)
        path = np.array(places)
        worst = max(worst, float(np.linalg.norm(path - path.mean(axis=0), axis=1).max()))
    return worst


def _sink(result: Result, poses: _Poses, judge: _Judge, rate: float = 120.0) -> tuple[float, str]:
    """The deepest point of any shape below the level ground, and its body."""
    m = judge.model
    start, end = float(result.curve.times[0]), float(result.curve.times[-1])
    t = np.linspace(start, end, max(int((end - start) * rate), 2))
    worst, who = -np.inf, ""
    for q in poses(t):
        d = judge.pose(q)
        for g in range(m.ngeom):
            if m.geom_bodyid[g] and -(low := lowest(m, d, g)) > worst:
                worst, who = -low, str(m.body(int(m.geom_bodyid[g])).name)
    return float(worst), who


def lowest(model: mujoco.MjModel, data: mujoco.MjData, geom: int) -> float:
    """[m] height of a shape's lowest point."""
    kinds = mujoco.mjtGeom
    size, kind = model.geom_size[geom], int(model.geom_type[geom])
    z, row = float(data.geom_xpos[geom, 2]), data.geom_xmat[geom].reshape(3, 3)[2]
    if kind == int(kinds.mjGEOM_SPHERE):
        reach = size[0]
    elif kind == int(kinds.mjGEOM_CAPSULE):
        reach = size[0] + size[1] * abs(row[2])
    elif kind == int(kinds.mjGEOM_CYLINDER):
        reach = size[1] * abs(row[2]) + size[0] * np.sqrt(max(1.0 - row[2] ** 2, 0.0))
    elif kind == int(kinds.mjGEOM_BOX):
        reach = np.abs(row) @ size
    elif kind == int(kinds.mjGEOM_ELLIPSOID):
        reach = np.linalg.norm(row * size)
    else:
        reach = model.geom_rbound[geom]
    return z - float(reach)
