"""What carries a body that touches nothing: nothing at all (flight), or something the motion does not show.

In flight the CoM goes along a parabola of downward acceleration g. One of another acceleration g' was played at another
speed, sqrt(g' / g) times its own. A path that is no parabola, and needs the best part of the weight for a while, is
that of a body that hangs, sits or stands on something unseen: a bar, a rope, a box.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character import Character
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.kinematics import body_frames
from counterpoise.motion.contacts import runs
from counterpoise.spacetime.check.forces import Forces
from counterpoise.spacetime.check.frames import Frames, com_of
from counterpoise.spacetime.check.support import Support, inner, spread

SHORTEST_FLIGHT = 0.06  # [s]
SHORTEST_HOLD, GAP = 0.25, 0.12  # [s] and gaps shorter than this do not part it
SOME, MOST = 0.3, 0.5  # body weights that are carried throughout, and on average
MEAN = 0.1  # [s] over which forces are averaged to see it
CLEAN = 0.15  # of its sag: a path is a parabola if it is no further from one (rms)
SAG = 0.01  # body heights: less sag than this is none
LEANS, SHORTEST_LEAN = 0.08, 0.5  # [body weights, s] from nowhere, though it touches the ground
CALM = 0.3  # body heights a second: who leans or sits moves no faster
SLOWER = 0.6  # of the CoM's speed: what moves less may hold on


@dataclass(frozen=True)
class Flight:
    """A stretch without any contact, in which momentum has to be conserved."""

    start: float  # [s]
    end: float  # [s]
    gravity: float  # [m/s^2] the downward acceleration of the CoM, from the best parabola through its path
    speed: float  # as if played at so many times its speed, by that; nan where the path is no parabola
    force: float  # rms force that acts on the body from nowhere, in body weights
    torque: float  # rms of the rate of angular momentum about the CoM, in body weights x height
    drift: float  # largest change of angular momentum since the start, over its size (at least m h^2 / 15 s)
    spin: float  # [kg m^2/s] size of the angular momentum, on average


@dataclass(frozen=True)
class Carried:
    """A stretch in which something that is not shown carries the body."""

    start: float  # [s]
    end: float  # [s]
    weight: float  # body weights it carries, on average
    bodies: tuple[str, ...]  # ends of limbs, or the hips, that move least: what may hold on

    @property
    def phrase(self) -> str:
        """How the command line is told that these bodies hold on."""
        return " ".join(f"--hold {body}@{self.start:.2f}+{self.end - self.start:.2f}" for body in self.bodies)


def find_carried(frames: Frames, support: Support, forces: Forces) -> tuple[tuple[Carried, ...], Flags]:
    """Every stretch in which nothing touches the ground and yet the body does not fall, and the frames in them (n,)."""
    path = com_of(frames.character, frames.raw)
    mask = np.zeros(len(frames), dtype=bool)
    up = forces.missing[:, 5]
    for first, last in runs(np.asarray(~support.blurred.any(axis=1))):
        here = slice(first, last)
        t = frames.times[here]
        if t[-1] - t[0] < SHORTEST_HOLD or _parabola(t, path[here], frames.character.height)[1]:
            continue
        mask[here] = _lasting(_mean(up[here], MEAN * frames.rate) > SOME, SHORTEST_HOLD, GAP, frames.rate)
        for a, b in runs(mask[here]):
            mask[first + a : first + b] &= bool(up[first + a : first + b].mean() > MOST)
    found = []
    for first, last in runs(mask):
        t = frames.times[first:last]
        who = _least_moving(frames, path, first, last, ("hand", "foot"))
        found.append(Carried(float(t[0]), float(t[-1]), float(up[first:last].mean()), who))
    return tuple(found), mask


def find_leaning(frames: Frames, support: Support, forces: Forces) -> Carried | None:
    """The longest stretch in which what touches the ground does not suffice for long: it leans or sits on something."""
    short = np.linalg.norm(forces.missing, axis=1) > LEANS
    short &= support.blurred.any(axis=1) & frames.judged
    longest = max(runs(_lasting(short, SHORTEST_LEAN, 0.0, frames.rate)), key=lambda r: r[1] - r[0], default=None)
    if longest is None:
        return None
    first, last = longest
    path = com_of(frames.character, frames.raw)
    share = float(np.linalg.norm(forces.missing[first:last], axis=1).mean())
    if share > 1.0 or _speed(path[first:last], frames.times[first:last]) > CALM * frames.character.height:
        return None
    who = _least_moving(frames, path, first, last, ("hand",))
    return Carried(float(frames.times[first]), float(frames.times[last - 1]), share, who)


def find_flights(frames: Frames, support: Support, forces: Forces, carried: Flags, edge: float) -> tuple[Flight, ...]:
    """Every stretch without contact that lasts, without `edge` [s] at both ends, and what happens to momentum in it.

    Nobody knows to the frame when toes leave the ground; what they still push counts as violation, not as flight.
    """
    who = frames.character
    least = who.mass * who.height**2 / 15.0  # [kg m^2/s]
    earth = float(np.linalg.norm(who.model.opt.gravity))
    path = com_of(who, frames.raw)
    out = []
    alone = np.asarray(~support.blurred.any(axis=1)) & ~spread(carried, edge, frames.rate)
    for first, last in runs(inner(alone, edge, frames.rate) & frames.judged):
        if last - first < 4 or frames.times[last - 1] - frames.times[first] < SHORTEST_FLIGHT:
            continue
        here = slice(first, last)
        fall, clean = _parabola(frames.times[here], path[here], who.height)
        need, H = forces.missing[here], forces.angular[here]
        size = float(np.linalg.norm(H, axis=1).mean())
        out.append(
            Flight(
                start=float(frames.times[first]),
                end=float(frames.times[last - 1]),
                gravity=fall,
                speed=float(np.sqrt(fall / earth)) if clean and earth > 0.0 else float("nan"),
                force=_rms(np.linalg.norm(need[:, 3:], axis=1)),
                torque=_rms(np.linalg.norm(need[:, :3], axis=1)),
                drift=float(np.linalg.norm(H - H[0], axis=1).max()) / max(size, least),
                spin=size,
            )
        )
    return tuple(out)


def _parabola(times: Array, path: Array, height: float) -> tuple[float, bool]:
    """Downward acceleration [m/s^2] of the best parabola through a path (n, 3), and whether the path is one."""
    t = times - times[0]
    fit = np.polynomial.polynomial.polyfit
    bent = fit(t, path[:, 2], 2)
    fall = -2.0 * float(bent[2])
    ways = fit(t, path[:, :2], 1)
    off = np.column_stack(
        [
            path[:, :2] - np.polynomial.polynomial.polyval(t, ways).T,
            path[:, 2] - np.polynomial.polynomial.polyval(t, bent),
        ]
    )
    sag = fall * float(t[-1]) ** 2 / 8.0
    return fall, bool(sag > SAG * height and _rms(np.linalg.norm(off, axis=1)) < CLEAN * sag)


def _mean(values: Array, width: float) -> Array:
    """The running mean over about `width` frames."""
    size = max(1, 2 * round(0.5 * width) + 1)
    wide = np.pad(values, size // 2, mode="edge")
    return np.asarray(np.convolve(wide, np.ones(size) / size, mode="valid"))


def _lasting(flags: Flags, seconds: float, gap: float, rate: float) -> Flags:
    """Runs of at least `seconds`, gaps shorter than `gap` [s] between them closed."""
    out = flags.copy()
    for first, last in runs(~flags):
        if first > 0 and last < len(flags) and last - first < gap * rate:
            out[first:last] = True
    for first, last in runs(out):
        if last - first < seconds * rate:
            out[first:last] = False
    return out


def _least_moving(frames: Frames, path: Array, first: int, last: int, ends: tuple[str, ...]) -> tuple[str, ...]:
    """Ends of limbs, or the hips, that move much less than the CoM does; none where all is still."""
    who = frames.character
    named = _ends(who, ends)
    if last - first < 3 or not named:
        return ()
    here = slice(first, last)
    at, _ = body_frames(who, frames.raw[here])
    t = frames.times[here]
    own = _speed(path[here], t)
    speeds = {body: _speed(at[:, body], t) for body in named}
    least = min(speeds.values())
    if own < 0.03 * who.height or least > SLOWER * own:
        return ()
    return tuple(who.model.body(body).name for body, speed in speeds.items() if speed < 1.3 * least)


def _ends(who: Character, kinds: tuple[str, ...]) -> list[int]:
    """The first body of every hand (or foot), and the hips."""
    at = anatomy_of(who)
    return [*(bodies[0] for limb, bodies in at.limbs.items() if limb.startswith(kinds) and bodies), at.hips]


def _speed(path: Array, times: Array) -> float:
    return _rms(np.linalg.norm(np.gradient(path, times, axis=0), axis=1))


def _rms(values: Array) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else 0.0
