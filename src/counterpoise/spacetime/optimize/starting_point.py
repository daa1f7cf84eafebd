"""The first stage of building a problem: time and knots, contacts, keys brought onto them, and the first guess."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize.frames import Frames, frame_of, make_frames, times_of
from counterpoise.spacetime.optimize.guess import first_guess
from counterpoise.spacetime.optimize.holds import Hold, joined_ends, make_hold, without_double
from counterpoise.spacetime.optimize.impacts import Impact, find_impacts, impact_torques
from counterpoise.spacetime.optimize.keys import notes_on_rest, settle_keys
from counterpoise.spacetime.optimize.moments import Moment, Time, Timeline, make_timeline, seconds, with_more_knots
from counterpoise.spacetime.optimize.request import Key, MotionRequest, Touch, check_request
from counterpoise.spacetime.optimize.rolling import with_rolling_feet
from counterpoise.spacetime.optimize.rows.torque import TorquePlan

SHORTEST_MOTION = 0.1  # [s]

Instant = tuple[int, float]  # (phase, s)


@dataclass(frozen=True, eq=False)
class StartingPoint:
    """What is known before any variable is laid out."""

    request: MotionRequest
    timeline: Timeline
    holds: tuple[Hold, ...]
    keys: tuple[Key, ...]  # as they were brought onto limits and contacts
    guess: Motion
    frames: Frames
    instants: tuple[Instant, ...]  # of requirements; the frames after the knots
    half_knots: tuple[Ints, ...]  # of each hold, frames besides the knots at which it holds
    notes: tuple[str, ...]  # changes that were needed
    conflicts: tuple[str, ...]  # what cannot hold together, known before solving
    added_knots: tuple[Instant, ...] = ()  # knots besides those asked for
    rolls_by_itself: bool = False  # whether feet roll over their toes that were not told to
    impacts: tuple[Impact, ...] = ()  # where velocities may jump
    cut: tuple[Touch, ...] = ()  # contacts that are parts of one that was cut where a foot rolls

    @property
    def character(self) -> Character:
        return self.request.character

    @cached_property
    def times(self) -> Array:
        """Times of all frames, as long as no moment has moved [s]."""
        return times_of(self.timeline, self.frames)

    @cached_property
    def impact_torques(self) -> TorquePlan:
        """What joints may give in impacts."""
        return impact_torques(self.character, self.request.requirements)

    @property
    def knot_times(self) -> Array:
        """Times of the knots, as long as no moment has moved [s]."""
        return self.times[: self.frames.knots]

    def instant_frame(self, time: Time) -> int:
        """Returns the frame of a requirement's instant."""
        return self.frames.knots + self.instants.index(self.timeline.locate(time))

    def key_frame(self, key: Key) -> int:
        """Returns the knot of a key."""
        return frame_of(self.timeline, key.time, self.frames)

    def guess_at(self, time: Time) -> Array:
        """Returns the pose (nq,) of the first guess at a time."""
        t = float(np.clip(seconds(time), self.guess.start, self.guess.end))
        return np.asarray(self.guess.sample(t).q)

    @cached_property
    def fixed_knots(self) -> Ints:
        """Knots at which an exact key fixes the whole pose; at a seam the knots of both phases."""
        own = {self.key_frame(k) for k in self.keys if k.whole}
        own |= {f - 1 for f in own if f and self.frames.s[f] == 0.0}
        return np.array(sorted(own), np.int64)


def find_starting_point(request: MotionRequest) -> StartingPoint:
    """Checks a request and works out its timeline, contacts, keys and first guess."""
    check_request(request)
    character, duration = request.character, request.duration
    conflicts: list[str] = []
    if seconds(duration) < SHORTEST_MOTION:
        conflicts.append(
            f"a duration of {seconds(duration):g} s leaves no time to move; {SHORTEST_MOTION:g} s were taken"
        )
        duration = SHORTEST_MOTION
    rolling = with_rolling_feet(request, duration)
    contacts = rolling.contacts
    events: list[Time] = [t for c in contacts for t in (c.start, c.end)]
    inner = [seconds(k.time) for k in (*request.keys, *rolling.keys) if not isinstance(k.time, Moment)]
    timeline = make_timeline(duration, events, request.rate, inner, request.fine)
    holds, doubled = without_double([make_hold(character, c, timeline) for c in contacts], timeline)
    keys, notes, impossible = settle_keys(character, (*request.keys, *rolling.keys), timeline, holds)
    notes = (*notes, *notes_on_rest(character, keys, timeline, holds))
    guess = request.reference
    if guess is None:
        guess = first_guess(character, keys, timeline, _flights(timeline, holds) if rolling.by_itself else ())
    times = [t for r in request.requirements for t in r.instants()]
    instants = tuple(dict.fromkeys(timeline.locate(t) for t in times))
    half_knots, extra = _half_knots(timeline, holds, keys, len(instants), rolling.cut)
    return StartingPoint(
        request, timeline, holds, keys, guess, make_frames(timeline, [*instants, *extra]), instants, half_knots, notes,
        (*conflicts, *doubled, *impossible), rolls_by_itself=rolling.by_itself,
        impacts=find_impacts(character, holds, len(timeline.phases)) if request.landing == "impact" else (),
        cut=rolling.cut,
    )  # fmt: skip


def _flights(timeline: Timeline, holds: Sequence[Hold]) -> list[tuple[float, float]]:
    """The stretches of time in which nothing is held, where something is held at other times."""
    held = {p for h in holds for p in range(h.first, h.last)}
    times = timeline.times
    free = [p.index for p in timeline.phases if held and p.index not in held]
    return [(float(times[p]), float(times[p + 1])) for p in free]


def with_finer_knots(start: StartingPoint, places: Sequence[Instant]) -> StartingPoint:
    """Returns the starting point with further knots at (phase, s). Contacts, keys and the first guess are the same."""
    timeline = with_more_knots(start.timeline, places)
    half_knots, extra = _half_knots(timeline, start.holds, start.keys, len(start.instants), start.cut)
    frames = make_frames(timeline, [*start.instants, *extra])
    added = (*start.added_knots, *places)
    return replace(start, timeline=timeline, frames=frames, half_knots=half_knots, added_knots=added)


def _half_knots(
    timeline: Timeline, holds: Sequence[Hold], keys: Sequence[Key], instants: int, cut: Sequence[Touch]
) -> tuple[tuple[Ints, ...], list[Instant]]:
    """Where contacts hold besides the knots: the middles of outer intervals, since a spline has two numbers more.

    Where a foot that rolls goes from flat to its toes, pose and velocity are those of the other part of its contact,
    which was `cut` there: no middle is needed. Contacts that were given one by one each have their own.
    Returns the frames they become, for each hold, and the instants.
    """
    first = sum(len(p.breaks) for p in timeline.phases) + instants
    still = {timeline.locate(k.time) for k in keys if k.whole_state}
    parts = [hold for hold in holds if any(hold.touch is touch for touch in cut)]
    frames: list[Ints] = []
    out: list[Instant] = []
    for hold in holds:
        own: list[int] = []
        begun, goes_on = joined_ends(hold, parts) if hold in parts else (False, False)
        for p in range(hold.first, hold.last):
            breaks = timeline.phases[p].breaks
            begins = not (begun and p == hold.first) and (p, 0.0) not in still
            spots = [0.5 * (breaks[0] + breaks[1])] if begins else []
            ends = p == hold.last - 1 and not goes_on
            if ends and not (p == len(timeline.phases) - 1 and (p, 1.0) in still):
                spots.append(0.5 * (breaks[-2] + breaks[-1]))
            for s in spots:
                own.append(first + len(out))
                out.append((p, float(s)))
        frames.append(np.array(own, np.int64))
    return tuple(frames), out
