"""A captured clip, made ready to be performed: retargeted with heels that rise before a flight, then fixed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.character import Character
from counterpoise.motion.contacts import ContactWindow, find_contacts, runs
from counterpoise.motion.files.hub import same_body
from counterpoise.motion.motion import Motion
from counterpoise.motion.retarget.transfer import retarget
from counterpoise.progress import Watch
from counterpoise.spacetime.fix import FixResult, fix_motion

TIME_STEP = 0.002  # [s] in which contacts are looked at
Contacts = tuple[ContactWindow, ...]


@dataclass(frozen=True)
class ClipTuning:
    """How feet roll before and after a flight. Captured heels rise slowly; found contacts hold them for too long."""

    heel_rise: float = 0.14  # [s] before take-off from which a heel is free
    heel_drop: float = 0.05  # [s] after landing until which it is free
    shortest_flight: float = 0.06  # [s]
    near: float = 0.15  # [s] a heel that is planted this near to a flight belongs to it
    free_fall: float = 0.6  # [g] a CoM that accelerates downwards by less than this is carried
    close: float = 0.03  # [s] contacts that end or begin this near to a flight are made longer


def prepare_clip(
    motion: Motion, character: Character, tuning: ClipTuning | None = None, progress: Watch | None = None
) -> FixResult:
    """Returns a captured motion on a character, physically possible as far as `fix_motion` can make it.

    `Perform` takes the result. A motion of the character itself is only fixed.
    """
    t = tuning or ClipTuning()
    contacts = free_heels(motion, carried_contacts(motion, find_contacts(motion), t), t)
    own = motion if same_body(motion.character, character) else retarget(motion, character, contacts=contacts)
    return fix_motion(own, contacts=contacts, progress=progress)


def carried_contacts(motion: Motion, contacts: Contacts, tuning: ClipTuning) -> Contacts:
    """Returns the contacts, longer where the body is not in free fall yet, or no longer, although nothing touches.

    Contacts that are found by height and speed end before the toes have left. The ball leaves last and lands first.
    """
    body, times = motion.character, _times(motion)
    height = np.array([body.snapshot(body.state(q)).com[2] for q in motion.sample(times).q])
    falls = np.gradient(np.gradient(height, TIME_STEP), TIME_STEP) < -tuning.free_fall * body.gravity
    out = list(contacts)
    for first, last in _flights(times, contacts):
        free = np.flatnonzero(falls[first:last])
        if len(free) == 0:
            continue
        leaves, lands = float(times[first]), float(times[last - 1])
        carried = float(times[first + free[0]]), float(times[first + free[-1]])
        balls = {
            w.foot for w in out if w.part == "ball" and min(abs(w.end - leaves), abs(w.start - lands)) < tuning.close
        }
        for i, window in enumerate(out):
            if window.part == "heel" and window.foot in balls:
                continue
            if abs(window.end - leaves) < tuning.close:
                out[i] = replace(window, end=max(window.end, carried[0]))
            elif abs(window.start - lands) < tuning.close:
                out[i] = replace(window, start=min(window.start, carried[1]))
    return tuple(out)


def free_heels(motion: Motion, contacts: Contacts, tuning: ClipTuning) -> Contacts:
    """Returns the contacts without those of heels just before and after flights."""
    times, out = _times(motion), list(contacts)
    for first, last in _flights(times, contacts):
        leaves, lands = float(times[first]), float(times[last - 1])
        if lands - leaves < tuning.shortest_flight:
            continue
        for i, window in enumerate(out):
            if window.part != "heel":
                continue
            if window.start < leaves < window.end + tuning.near:
                out[i] = replace(window, end=min(window.end, leaves - tuning.heel_rise))
            elif window.start - tuning.near < lands < window.end:
                out[i] = replace(window, start=max(window.start, lands + tuning.heel_drop))
    return tuple(window for window in out if window.end > window.start)


def _times(motion: Motion) -> Array:
    return np.arange(motion.start, motion.end, TIME_STEP)


def _flights(times: Array, contacts: Contacts) -> list[tuple[int, int]]:
    """Returns (first, one past the last) of every stretch between contacts in which nothing touches."""
    touching: Flags = np.zeros(len(times), bool)
    for window in contacts:
        touching |= (times >= window.start) & (times <= window.end)
    return [(first, last) for first, last in runs(~touching) if first > 0 and last < len(times)]
