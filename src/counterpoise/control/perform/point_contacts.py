"""Which contact points of the feet bear in a motion, and when: points that are low and slow.

A foot's points are taken in rows across it (heel, ball, toes). A time at which nothing touches is a flight only where
the CoM falls; otherwise the contacts around it are made longer until they meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.motion.contacts import runs
from counterpoise.objectives.footing import foot_table
from counterpoise.spacetime.check.frames import CheckedFrames

SAME_ROW = 0.012  # [body heights] points of a foot that are as far forward as this from each other are one row


@dataclass(frozen=True)
class PointContactTuning:
    """What counts as bearing. Lengths are for a body of 1.75 m."""

    low: float = 0.006  # [m] above the ground
    slow: float = 0.6  # [m/s]
    gap: float = 0.05  # [s] shorter interruptions are closed
    shortest: float = 0.04  # [s] shorter contacts are left out
    shortest_flight: float = 0.05  # [s]
    falling: float = 0.5  # [g] median downward acceleration of the CoM in a flight
    phase: float = 0.025  # [s] shorter phases become part of the next one


class ContactPhases(NamedTuple):
    """Stretches of time in which the same points bear."""

    ends: Array  # (phases + 1,) [s]
    pushing: Flags  # (phases, p)
    held: Flags  # (phases, p) those that stay where they are; others roll


def find_point_contacts(
    frames: CheckedFrames, points: Array, fall: Array, tuning: PointContactTuning | None = None
) -> ContactPhases:
    """Returns the contacts of a motion on level ground at height 0.

    `points` (n, p, 3) are the places of the contact points in its frames, `fall` (n,) [m/s^2] the vertical acceleration
    of the CoM.
    """
    t, body = tuning or PointContactTuning(), frames.character
    rows, size = point_rows(body), body.height / 1.75
    step = 1.0 / frames.rate
    speed = np.linalg.norm(np.gradient(points, step, axis=0), axis=2)
    on = np.zeros((len(frames), len(rows)), bool)
    for k, row in enumerate(rows):
        low = points[:, row, 2].min(axis=1) < t.low * size
        on[:, k] = _tidy(low & (speed[:, row].min(axis=1) < t.slow * size), step, t)
    _close_gaps(on, fall / body.gravity, step, t)
    return _phases(body, frames.times, on, rows, t)


@kept_with_character
def point_rows(character: Character) -> tuple[Ints, ...]:
    """Returns the contact points of each foot in rows across it, from heel to toes, as indices."""
    place, foot = character.snapshot().contact_position[:, 0], foot_table(character).foot_of
    bodies = [point.body for point in character.contact_points]
    out: list[Ints] = []
    for one in range(len(character.feet)):
        left = sorted(np.flatnonzero(foot == one).tolist(), key=lambda p: float(place[p]))
        while left:
            first = left[0]
            row = [
                p for p in left
                if place[p] - place[first] < SAME_ROW * character.height and bodies[p] == bodies[first]
            ]  # fmt: skip
            out.append(np.array(row))
            left = [p for p in left if p not in row]
    return tuple(out)


def _tidy(on: Flags, step: float, t: PointContactTuning) -> Flags:
    """Returns flags over time without short gaps and without short contacts in between."""
    out = on.copy()
    for first, last in runs(~out):
        if first > 0 and last < len(out) and (last - first) * step < t.gap:
            out[first:last] = True
    for first, last in runs(out):
        if first > 0 and last < len(out) and (last - first) * step < t.shortest:
            out[first:last] = False
    return out


def _close_gaps(on: Flags, fall: Array, step: float, t: PointContactTuning) -> None:
    """Makes contacts longer, in place, where nothing touches although the body does not fall; `fall` is in g."""
    for first, last in runs(np.asarray(~on.any(axis=1))):
        long = (last - first) * step >= t.shortest_flight
        if long and np.median(fall[first:last]) < -t.falling:
            continue
        if first == 0 and last == len(on):
            continue
        middle = first if first == 0 else last if last == len(on) else (first + last) // 2
        if first > 0:
            on[first:middle] = on[first - 1]
        if last < len(on):
            on[middle:last] = on[last]


def _phases(body: Character, times: Array, on: Flags, rows: tuple[Ints, ...], t: PointContactTuning) -> ContactPhases:
    """Returns the phases between changes of the flags; short ones become part of the next."""
    ends, flags = [float(times[0])], [on[0]]
    for i in np.flatnonzero((on[1:] != on[:-1]).any(axis=1)) + 1:
        moment = 0.5 * float(times[i] + times[i - 1])
        if len(flags) > 1 and moment - ends[-1] < t.phase and on[i].any() == flags[-1].any():
            flags[-1] = on[i]
        else:
            ends.append(moment)
            flags.append(on[i])
    kept = [0, *(k for k in range(1, len(flags)) if (flags[k] != flags[k - 1]).any())]
    pushing = np.zeros((len(kept), len(body.contact_points)), bool)
    held = pushing.copy()
    for k, phase in enumerate(kept):
        for one, row in enumerate(rows):
            pushing[k, row] = flags[phase][one]
        held[k] = _held(body, pushing[k])
    return ContactPhases(np.array([*(ends[k] for k in kept), float(times[-1])]), pushing, held)


def _held(body: Character, pushing: Flags) -> Flags:
    """Returns the points that stay where they are: of a foot that rolls, those of its outermost body that bears."""
    foot = foot_table(body).foot_of
    number = np.array([body.body_id(point.body) for point in body.contact_points])
    out = pushing.copy()
    for one in range(len(body.feet)):
        own = foot == one
        if pushing[own].any() and not pushing[own].all():
            out[own] &= number[own] == number[own & pushing].max()
    return out
