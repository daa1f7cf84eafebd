"""Stretches without ground contact: flight, or a body carried by something that the motion does not show.

In flight the CoM follows a parabola with downward acceleration g. A parabola with another acceleration g' was played at
sqrt(g' / g) times its true speed. If the path is no parabola, and a large part of the weight is carried for a while,
then the body hangs, sits or stands on something unseen: a bar, a rope, a box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import runs
from counterpoise.spacetime.check.forces import Forces
from counterpoise.spacetime.check.frames import CheckedFrames, com_of
from counterpoise.spacetime.check.support import GroundSupport, narrowed, widened
from counterpoise.spacetime.check.tuning import CheckTuning

MIN_FLIGHT_FRAMES = 4
MAX_CARRIED_GAP = 0.12  # [s] shorter interruptions do not split a carried stretch
MIN_CARRIED_WEIGHT = 0.3  # [body weights] carried throughout; `CheckTuning.carried_weight` is the mean
AVERAGING_TIME = 0.1  # [s] over which the carried weight is averaged
PARABOLA_TOLERANCE = 0.15  # rms distance of a path from its parabola, as a share of the parabola's sag
MIN_SAG = 0.01  # [body heights] a path with less sag is no parabola
MAX_LEAN_RESIDUAL = 1.0  # [body weights] more on average is no leaning
MAX_LEAN_SPEED = 0.3  # [body heights/s] a body that moves faster does not lean
MAX_HOLD_SPEED_SHARE = 0.6  # of the CoM's speed: the end of a limb that moves less may hold on
SIMILAR_SPEED = 1.3  # times the speed of the slowest end: these may hold on too
MIN_COM_SPEED = 0.03  # [body heights/s] of a body that moves more slowly no end stands out
MIN_TURNING_RATE = 2.0  # [rad/s] changes of angular momentum are compared with at least such a rotation


@dataclass(frozen=True)
class Flight:
    """A stretch without any contact, in which momentum must be conserved."""

    start: float  # [s]
    end: float  # [s]
    gravity: float  # [m/s^2] downward acceleration of the CoM, from the best parabola through its path
    speed: float  # at which it seems to be played, relative to the true speed; nan if the path is no parabola
    force: float  # rms residual force on the body, in body weights
    torque: float  # rms rate of angular momentum about the CoM, in body weights x height
    drift: float  # change of angular momentum that its trend shows, as a rotation, over its size (at least 2 rad/s)
    spin: float  # [kg m^2/s] mean size of the angular momentum
    turning: float  # [rad/s] at which the body would turn with its mean angular momentum if it were stiff


@dataclass(frozen=True)
class CarriedStretch:
    """A stretch in which something that is not shown carries the body."""

    start: float  # [s]
    end: float  # [s]
    weight: float  # mean weight that it carries, in body weights
    bodies: tuple[str, ...]  # ends of limbs, or the hips, that move least and may hold on

    @property
    def hold_options(self) -> str:
        """The options of the command line that name these bodies as held."""
        return " ".join(f"--hold {body}@{self.start:.2f}+{self.end - self.start:.2f}" for body in self.bodies)


def find_carried(
    frames: CheckedFrames, support: GroundSupport, forces: Forces, tuning: CheckTuning
) -> tuple[tuple[CarriedStretch, ...], Flags]:
    """Returns every stretch in which nothing touches the ground but the body does not fall, and their frames (n,)."""
    path = com_of(frames.character, frames.raw)
    mask = np.zeros(len(frames), dtype=bool)
    up = forces.missing[:, 5]
    for first, last in runs(np.asarray(~support.blurred.any(axis=1))):
        here = slice(first, last)
        t = frames.times[here]
        if t[-1] - t[0] < tuning.shortest_carried or _parabola(t, path[here], frames.character.height)[1]:
            continue
        carried = _running_mean(up[here], AVERAGING_TIME * frames.rate) > MIN_CARRIED_WEIGHT
        mask[here] = _lasting(carried, tuning.shortest_carried, MAX_CARRIED_GAP, frames.rate)
        for a, b in runs(mask[here]):
            mask[first + a : first + b] &= bool(up[first + a : first + b].mean() > tuning.carried_weight)
    found = []
    for first, last in runs(mask):
        t = frames.times[first:last]
        bodies = _least_moving(frames, path, first, last, ("hand", "foot"))
        found.append(CarriedStretch(float(t[0]), float(t[-1]), float(up[first:last].mean()), bodies))
    return tuple(found), mask


def find_leaning(
    frames: CheckedFrames, support: GroundSupport, forces: Forces, tuning: CheckTuning
) -> CarriedStretch | None:
    """Returns the longest stretch with ground contact in which a calm body may lean or sit on something unseen."""
    short = np.linalg.norm(forces.missing, axis=1) > tuning.lean_residual
    short &= support.blurred.any(axis=1) & frames.judged
    lasting = runs(_lasting(short, tuning.shortest_lean, 0.0, frames.rate))
    longest = max(lasting, key=lambda run: run[1] - run[0], default=None)
    if longest is None:
        return None
    first, last = longest
    path = com_of(frames.character, frames.raw)
    residual = float(np.linalg.norm(forces.missing[first:last], axis=1).mean())
    speed = _speed(path[first:last], frames.times[first:last])
    if residual > MAX_LEAN_RESIDUAL or speed > MAX_LEAN_SPEED * frames.character.height:
        return None
    bodies = _least_moving(frames, path, first, last, ("hand",))
    return CarriedStretch(float(frames.times[first]), float(frames.times[last - 1]), residual, bodies)


def find_flights(
    frames: CheckedFrames, support: GroundSupport, forces: Forces, carried: Flags, tuning: CheckTuning
) -> tuple[Flight, ...]:
    """Returns every flight, without a margin at both ends, and what happens to momentum in it.

    The time at which toes leave the ground is not known exactly. Their last push counts as residual, not as flight.
    """
    character, edge = frames.character, 0.5 * tuning.blur
    path = com_of(character, frames.raw)
    out = []
    free = np.asarray(~support.blurred.any(axis=1)) & ~widened(carried, edge, frames.rate)
    for first, last in runs(narrowed(free, edge, frames.rate) & frames.judged):
        length = frames.times[last - 1] - frames.times[first]
        if last - first < MIN_FLIGHT_FRAMES or length < tuning.shortest_flight:
            continue
        here = slice(first, last)
        fall, clean = _parabola(frames.times[here], path[here], character.height)
        residual, H = forces.missing[here], forces.angular[here]
        drift, turning = _spin_from_nowhere(frames.times[here], H, _inertia(character, frames.q[here]).mean(axis=0))
        known = clean and character.gravity > 0.0
        out.append(
            Flight(
                start=float(frames.times[first]),
                end=float(frames.times[last - 1]),
                gravity=fall,
                speed=float(np.sqrt(fall / character.gravity)) if known else float("nan"),
                force=_rms(np.linalg.norm(residual[:, 3:], axis=1)),
                torque=_rms(np.linalg.norm(residual[:, :3], axis=1)),
                drift=drift,
                spin=float(np.linalg.norm(H, axis=1).mean()),
                turning=turning,
            )
        )
    return tuple(out)


def _spin_from_nowhere(times: Array, H: Array, inertia: Array) -> tuple[float, float]:
    """Returns how much a stiff body's rotation would change by the trend of H (n, 3), as a share; and its rotation.

    Both are rotations, inertia^-1 H: about the long axis of a body the same momentum turns it ten times as fast. A
    capture's noise cancels in a trend, a gain out of nothing does not.
    """
    t = times - times.mean()
    trend = t @ H / max(float(t @ t), 1e-12)  # [kg m^2/s^2]
    gain = float(np.linalg.norm(np.linalg.solve(inertia, trend))) * float(times[-1] - times[0])
    turning = float(np.linalg.norm(np.linalg.solve(inertia, H.mean(axis=0))))
    return gain / max(turning, MIN_TURNING_RATE), turning


def _inertia(character: Character, poses: Array) -> Array:
    """Returns the inertia (n, 3, 3) of the whole body about its CoM [kg m^2], world."""
    m = character.model
    at, turns = body_frames(character, poses)
    mass = np.asarray(m.body_mass)
    centres = at + spatial.rotate(turns, np.asarray(m.body_ipos))
    axes = spatial.to_matrix(spatial.multiply(turns, np.asarray(m.body_iquat)))
    own = np.einsum("nbij,bj,nbkj->nik", axes, np.asarray(m.body_inertia), axes)
    arms = centres - np.einsum("b,nbi->ni", mass, centres)[:, None] / mass.sum()
    squares = np.einsum("b,nbi,nbi->n", mass, arms, arms)
    return np.asarray(own + squares[:, None, None] * np.eye(3) - np.einsum("b,nbi,nbj->nij", mass, arms, arms))


def _parabola(times: Array, path: Array, height: float) -> tuple[float, bool]:
    """Returns the downward acceleration [m/s^2] of the best parabola through a path (n, 3), and whether it fits."""
    t = times - times[0]
    fit = np.polynomial.polynomial.polyfit
    vertical = fit(t, path[:, 2], 2)
    fall = -2.0 * float(vertical[2])
    horizontal = fit(t, path[:, :2], 1)
    off = np.column_stack(
        [
            path[:, :2] - np.polynomial.polynomial.polyval(t, horizontal).T,
            path[:, 2] - np.polynomial.polynomial.polyval(t, vertical),
        ]
    )
    sag = fall * float(t[-1]) ** 2 / 8.0
    return fall, bool(sag > MIN_SAG * height and _rms(np.linalg.norm(off, axis=1)) < PARABOLA_TOLERANCE * sag)


def _running_mean(values: Array, width: float) -> Array:
    """Returns the running mean over about `width` frames."""
    size = max(1, 2 * round(0.5 * width) + 1)
    wide = np.pad(values, size // 2, mode="edge")
    return np.asarray(np.convolve(wide, np.ones(size) / size, mode="valid"))


def _lasting(flags: Flags, seconds: float, gap: float, rate: float) -> Flags:
    """Returns the runs of at least `seconds`, after gaps shorter than `gap` [s] are closed."""
    out = flags.copy()
    for first, last in runs(~flags):
        if first > 0 and last < len(flags) and last - first < gap * rate:
            out[first:last] = True
    for first, last in runs(out):
        if last - first < seconds * rate:
            out[first:last] = False
    return out


def _least_moving(frames: CheckedFrames, path: Array, first: int, last: int, limbs: tuple[str, ...]) -> tuple[str, ...]:
    """Returns ends of limbs, or the hips, that move much less than the CoM does; none if the body is still."""
    character = frames.character
    ends = _ends(character, limbs)
    if last - first < 3 or not ends:
        return ()
    here = slice(first, last)
    at, _ = body_frames(character, frames.raw[here])
    t = frames.times[here]
    com_speed = _speed(path[here], t)
    speeds = {body: _speed(at[:, body], t) for body in ends}
    least = min(speeds.values())
    if com_speed < MIN_COM_SPEED * character.height or least > MAX_HOLD_SPEED_SHARE * com_speed:
        return ()
    return tuple(character.model.body(body).name for body, speed in speeds.items() if speed < SIMILAR_SPEED * least)


def _ends(character: Character, limbs: tuple[str, ...]) -> list[int]:
    """Returns the first body of every limb of these kinds, and the hips."""
    at = anatomy_of(character)
    return [*(bodies[0] for limb, bodies in at.limbs.items() if limb.startswith(limbs) and bodies), at.hips]


def _speed(path: Array, times: Array) -> float:
    return _rms(np.linalg.norm(np.gradient(path, times, axis=0), axis=1))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
