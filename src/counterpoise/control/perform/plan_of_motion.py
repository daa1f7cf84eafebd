"""Any motion as a plan: which parts of its feet stand when is found, or given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.control.perform.planned_motion import ROW_STEP, PlannedMotion, fill_plan
from counterpoise.errors import BadValue
from counterpoise.motion.contacts import ContactWindow, find_contacts, runs
from counterpoise.motion.motion import Motion
from counterpoise.objectives.footing import foot_table
from counterpoise.objectives.surface import LEVEL

FREE_FALL = 0.6  # [g] a CoM that accelerates downwards by less than this is carried
SHORTEST_PHASE = 0.03  # [s] moments nearer to each other than this are one


def plan_of_motion(motion: Motion, contacts: Sequence[ContactWindow] | None = None) -> PlannedMotion:
    """Returns a motion as a plan. `contacts` are those of heels and balls of its feet; None: they are found."""
    character = motion.character
    character.need_feet("a motion that is performed")
    if motion.loop:
        raise BadValue("a motion that repeats has no end: perform a part of it, motion.slice(start, end)")
    windows = find_contacts(motion) if contacts is None else contacts
    windows = _until_flight(motion, windows)
    ends = _moments(motion, windows)
    pushing = np.zeros((len(ends) - 1, len(character.contact_points)), bool)
    middle = 0.5 * (ends[:-1] + ends[1:])
    for window in windows:
        during = (middle > window.start) & (middle < window.end)
        pushing[np.ix_(during, _points_of(character, window))] = True
    changes = np.concatenate([[True], (pushing[1:] != pushing[:-1]).any(axis=1), [True]])
    ends, pushing = ends[changes], pushing[changes[:-1]]
    samples = []
    for start, end in pairwise(ends):
        t = np.linspace(start, end, max(2, int(np.ceil((end - start) / ROW_STEP)) + 1))
        s = motion.sample(t)
        samples.append((s.q, s.v, s.a))
    surfaces = ((LEVEL,) * len(character.feet),) * len(pushing)
    return fill_plan(character, ends, pushing, surfaces, np.zeros(len(character.feet), bool), samples)


def _until_flight(motion: Motion, windows: Sequence[ContactWindow]) -> list[ContactWindow]:
    """Returns the contacts, longer where the body is not in free fall yet, or no longer, although nothing touches.

    Contacts that are found by height and speed end before the toes have left.
    """
    character = motion.character
    t = np.arange(motion.start, motion.end, ROW_STEP)
    s = motion.sample(t)
    height = np.array([character.snapshot(character.state(q)).com[2] for q in s.q])
    fall = np.gradient(np.gradient(height, ROW_STEP), ROW_STEP)
    bears = fall > -FREE_FALL * character.gravity
    touching = np.zeros(len(t), bool)
    for window in windows:
        touching |= (t >= window.start) & (t <= window.end)
    out = list(windows)
    for first, last in runs(~touching):
        free = np.flatnonzero(~bears[first:last])
        if first == 0 or last == len(t) or len(free) == 0:
            continue
        leave, land = t[first + free[0]], t[first + free[-1]]
        balls = {w.foot for w in out if w.part == "ball" and _is_near(w, t[first], t[last - 1])}
        for i, w in enumerate(out):
            if w.part == "heel" and w.foot in balls:  # the ball leaves last and lands first
                continue
            if abs(w.end - t[first]) < SHORTEST_PHASE:
                out[i] = replace(w, end=max(w.end, leave))
            elif abs(w.start - t[last - 1]) < SHORTEST_PHASE:
                out[i] = replace(w, start=min(w.start, land))
    return out


def _is_near(window: ContactWindow, leaves: float, lands: float) -> bool:
    """Returns whether a contact ends or begins at the ends of a flight."""
    return abs(window.end - leaves) < SHORTEST_PHASE or abs(window.start - lands) < SHORTEST_PHASE


def _moments(motion: Motion, windows: Sequence[ContactWindow]) -> Array:
    """Returns the times at which contacts begin or end, and the ends of the motion; close ones are one."""
    times = sorted({t for window in windows for t in (window.start, window.end)})
    out = [motion.start]
    for t in times:
        if t > out[-1] + SHORTEST_PHASE and t < motion.end - SHORTEST_PHASE:
            out.append(t)
    return np.array([*out, motion.end])


def _points_of(character: Character, window: ContactWindow) -> Flags:
    """Returns the contact points of a foot's heel or ball, (p,); toes belong to the ball."""
    places = character.snapshot().contact_position
    foot = character.foot(window.foot).name
    table = foot_table(character)
    own = table.foot_of == table.index(foot, character)
    x = places[:, 0]
    middle = 0.5 * (x[own].min() + x[own].max())
    return np.asarray(own & ((x < middle) if window.part == "heel" else (x >= middle)))
