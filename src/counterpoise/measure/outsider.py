"""An independent check of an optimised motion: MuJoCo's inverse dynamics on its poses alone, finely resampled.

Nothing of the optimiser's own mechanics is used. Velocities and accelerations are differences of poses, the forces
needed are the root residual of `mj_inverse`, and whether contacts can give them is asked of separate small programs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue
from counterpoise.measure.outsider_mechanics import InverseDynamics, lowest, unreachable_wrench

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.motion.poses import Sample
    from counterpoise.spacetime.optimize import Result

SAMPLE_RATE = 1000.0  # [Hz] at which the motion is resampled
CONTACT_RATE = 250.0  # [Hz] at which contact forces are computed
SINK_RATE = 120.0  # [Hz] at which depths below the ground are measured
INERTIA_SHARE = 20.0  # m h^2 / 20 is about the inertia of a straight body; at 1 rad/s it is the least momentum compared
OVERLAP_REACH = 0.05  # [m] up to which MuJoCo computes distances of shapes

Poses = Callable[[Array], Array]  # times (n,) -> poses (n, nq)


@dataclass(frozen=True)
class Judgement:
    """What the check found. Forces count in body weights, torques in body weights x body height."""

    flight_force: float  # rms of the root residual in flight
    flight_force_peak: float
    flight_torque: float  # rms, about the CoM
    momentum_change: float  # largest change of angular momentum in a flight, over its size there
    contact_gap: float  # rms of what the contacts cannot give of the wrench needed
    contact_gap_peak: float
    slip: float  # [m] largest distance of a held point from its mean place
    sink: float  # [m] largest depth of any shape below the ground
    sunk: str  # the body of that shape
    flights: tuple[tuple[float, float], ...]  # [s]

    @property
    def fine(self) -> bool:
        """Within 1 % of body weight in flight and contact, momentum kept to 1 %, nothing slides or sinks by 5 mm."""
        return (
            self.flight_force < 0.01 and self.contact_gap < 0.01 and self.momentum_change < 0.01
            and self.slip < 0.005 and self.sink < 0.005
        )  # fmt: skip

    def report(self) -> str:
        """Returns the findings as text."""
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
    result: Result, motion: Motion | None = None, rate: float = SAMPLE_RATE, friction: float | None = None
) -> Judgement:
    """Judges an optimised motion by MuJoCo's inverse dynamics; `friction` replaces that of its contacts.

    With `motion`, that motion is judged with the result's contacts: the first guess, for instance, or an exported file.
    """
    if not rate >= 100.0:
        raise BadValue(f"judging needs at least 100 poses a second; got rate={rate!r}")
    problem, curve, character = result.problem, result.curve, result.problem.character
    poses = _poses_of(result.sample if motion is None else motion.sample)
    weight, height = character.weight, max(float(character.height), 1e-3)
    dynamics = InverseDynamics(character, 1.0 / rate)
    flights: list[Array] = []  # (n, 9) each, as InverseDynamics.needed
    spans: list[tuple[float, float]] = []
    gaps: list[float] = []
    change = 0.0
    for phase in range(len(problem.timeline.phases)):
        start, end = float(curve.times[phase]), float(curve.times[phase + 1])
        held = [h for h in problem.holds if h.first <= phase < h.last]
        t = np.arange(start + 2.0 / rate, end - 2.0 / rate + 1e-9, 1.0 / CONTACT_RATE if held else 1.0 / rate)
        around = np.stack([t - 1.0 / rate, t, t + 1.0 / rate])
        q = poses(around.ravel()).reshape(3, len(t), -1)
        if held:
            for k in range(len(t)):
                wrench = dynamics.needed(q[:, k])[:6]
                gaps.append(unreachable_wrench(dynamics, wrench, held, float(t[k]), weight, height, friction))
        else:
            needed = np.array([dynamics.needed(q[:, k]) for k in range(len(t))])
            flights.append(needed)
            spans.append((start, end))
            change = max(change, _momentum_change(needed[:, 6:], character.mass * height**2 / INERTIA_SHARE))
    residual = np.concatenate(flights) if flights else np.zeros((1, 9))
    force = np.linalg.norm(residual[:, 3:6], axis=1) / weight
    torque = np.linalg.norm(residual[:, :3], axis=1) / (weight * height)
    gap = np.array(gaps or [0.0])
    sink, sunk = _sink(result, poses, dynamics)
    return Judgement(
        _rms(force), float(force.max()), _rms(torque), change, _rms(gap), float(gap.max()),
        _slip(result, poses, dynamics), sink, sunk, tuple(spans),
    )  # fmt: skip


@dataclass(frozen=True)
class JudgedStrain:
    """How hard joints work at the knots, by MuJoCo's inverse dynamics with the contact forces applied."""

    share: Mapping[str, float]  # by joint: largest torque over its strength
    root: float  # residual force at the root, in body weights: small where the contact forces fit the motion

    @property
    def worst(self) -> tuple[str, float]:
        """The joint that works hardest, and its share."""
        return max(self.share.items(), key=lambda item: item[1])


def judge_torques(result: Result) -> JudgedStrain:
    """Computes the joint torques at the knots, by `mj_inverse` with the result's contact forces applied."""
    problem, character = result.problem, result.problem.character
    m, f, dynamics = character.model, problem.frames, InverseDynamics(character, 1.0)
    forces, times = result.forces(), problem.layout.times(result.x)
    limit = character.torque_limit
    strength = np.where(np.isfinite(limit) & (limit > 0.0), limit, np.inf)
    largest, root = np.zeros(character.nv), 0.0
    for i in range(f.knots):
        p = int(f.phase[i])
        at = result.curve.sample(times[p] + f.s[i] * (times[p + 1] - times[p]), after=bool(f.s[i] < 1.0))
        applied = np.zeros(m.nv)
        d = dynamics.pose(np.asarray(at.q))
        for c in forces:
            for k in np.flatnonzero(c.frames == i):
                for body, point, force in zip(c.bodies, c.points[k], c.forces[k], strict=True):
                    mujoco.mj_applyFT(m, d, force, np.zeros(3), point, m.body(body).id, applied)
                mujoco.mj_applyFT(m, d, np.zeros(3), c.torques[k], np.zeros(3), m.body(c.bodies[0]).id, applied)
        torque = dynamics.inverse(np.asarray(at.q), np.asarray(at.v), np.asarray(at.a)) - applied
        largest = np.maximum(largest, np.abs(torque))
        root = max(root, float(np.abs(torque[:6]).max()) / character.weight) if character.floating else 0.0
    share = {j.name: float((largest / strength)[j.dofs].max()) for j in character.joints if j.kind != "free"}
    return JudgedStrain(share, root)


def judge_overlap(result: Result, rate: float = 60.0) -> tuple[float, str]:
    """Returns the largest depth of one body in another [m], by MuJoCo's distances of shapes, and which two, when.

    Bodies less than three joints apart are left out: their shapes always overlap.
    """
    m = result.problem.character.model
    d, parent = mujoco.MjData(m), m.body_parentid
    links = np.full((m.nbody, m.nbody), m.nbody)  # joints between two bodies
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
            depth = -mujoco.mj_geomDistance(m, d, int(i[k]), int(j[k]), OVERLAP_REACH, None)
            if depth > worst:
                one, two = (m.body(int(m.geom_bodyid[g])).name for g in (i[k], j[k]))
                worst, which = depth, f"{one} and {two} at {t:.2f} s"
    return worst, which


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2)))


def _poses_of(sample: Callable[[Array], Sample]) -> Poses:
    return lambda times: np.asarray(sample(times).q, float)


def _momentum_change(momentum: Array, least: float) -> float:
    """The largest deviation of an angular momentum (n, 3) from its mean, over its size, which counts as `least`."""
    mean = momentum.mean(axis=0)
    return float(np.linalg.norm(momentum - mean, axis=1).max()) / max(float(np.linalg.norm(mean)), least)


def _slip(result: Result, poses: Poses, dynamics: InverseDynamics) -> float:
    """The largest distance of a held point from its mean place [m], on surfaces that do not move."""
    worst = 0.0
    for hold in result.problem.holds:
        if not hold.still:
            continue
        start, end = result.curve.times[hold.first], result.curve.times[hold.last]
        t = np.linspace(start, end, max(int((end - start) * CONTACT_RATE), 2))
        places = []
        for q in poses(t):
            d = dynamics.pose(q)
            places.append(d.xpos[hold.body] + d.xmat[hold.body].reshape(3, 3) @ hold.point)
        path = np.array(places)
        worst = max(worst, float(np.linalg.norm(path - path.mean(axis=0), axis=1).max()))
    return worst


def _sink(result: Result, poses: Poses, dynamics: InverseDynamics) -> tuple[float, str]:
    """The largest depth of any shape below the level ground [m], and its body."""
    m = dynamics.model
    start, end = float(result.curve.times[0]), float(result.curve.times[-1])
    t = np.linspace(start, end, max(int((end - start) * SINK_RATE), 2))
    worst, body = -np.inf, ""
    for q in poses(t):
        d = dynamics.pose(q)
        for g in range(m.ngeom):
            if m.geom_bodyid[g] and -(low := lowest(m, d, g)) > worst:
                worst, body = -low, str(m.body(int(m.geom_bodyid[g])).name)
    return float(worst), body
