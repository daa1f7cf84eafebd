"""The optimisation problem behind a motion: its variables, its constraints by name, its objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterpoise import spatial
from counterpoise.character.character import Character
from counterpoise.character.roles import ContactPoint
from counterpoise.errors import BadValue
from counterpoise.motion._poses import layout_of
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.asks import Apex, Clear, Cycle, Facing, Key, Place, Taste, Touch, Wish
from counterpoise.spacetime.cycle_rows import SamePose, SameSpeed
from counterpoise.spacetime.frames import WIDTH, Evaluation, Frames, base_of, make_frames
from counterpoise.spacetime.guess import bring_on, first_guess, place_of
from counterpoise.spacetime.holds import Hold, make_hold, points_of
from counterpoise.spacetime.moments import Moment, Time, Timeline, make_timeline, seconds
from counterpoise.spacetime.objective import Objective
from counterpoise.spacetime.rows import (
    Block,
    Contact,
    Elastic,
    Layout,
    Limits,
    Linear,
    Physics,
    Rest,
    Seam,
    Spot,
    moved_by,
)
from counterpoise.spacetime.torque_rows import Torques, plan_torques
from counterpoise.spacetime.wish_rows import make_wish

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
RATE = 30.0  # knots a second
WATCH = 10.0  # [rad] limits nearer than this at the start are constraints from the start: all of them
GIVEN_UP = 1e3  # weight of a key that could not be exact
SHORTEST = 0.1  # [s] no motion is shorter
PRICE = 1e6  # of what was asked for and gives way [per m^2, rad^2]
WATCH_HEIGHT = 0.3  # [m] points nearer to the ground than this likewise


@dataclass(eq=False)
class MotionProblem:
    """Variables x with bounds, constraint blocks, an objective; ready for a solver, and to be looked at."""

    character: Character
    timeline: Timeline
    frames: Frames
    evaluation: Evaluation
    layout: Layout
    holds: list[Hold]
    blocks: list[Block]
    objective: Objective
    low: Array
    high: Array
    start: Array  # the first guess
    keys: tuple[Key, ...]
    notes: tuple[str, ...]  # what had to be changed to make sense of it
    conflicts: tuple[str, ...]  # what cannot hold together, known before solving
    guess: Motion
    clear: list[tuple[ContactPoint, int]]  # points to keep off the ground, and which of the evaluation's they are
    gives: list[Elastic] = field(default_factory=list)  # blocks that may give way
    asked_for: tuple[Any, ...] = ()

    def elastic(self) -> MotionProblem:
        """The same problem, in which what was asked for may give way at a price."""
        who, keys, contacts, duration, wishes, reference, taste, rate, fine, clear = self.asked_for
        return build_motion_problem(
            who, keys, contacts, duration, wishes=wishes, reference=reference, taste=taste, rate=rate, fine=fine,
            clear=clear, elastic=True,
        )  # fmt: skip

    @property
    def variables(self) -> int:
        return self.layout.size

    @property
    def constraints(self) -> int:
        return sum(len(b) for b in self.blocks)

    def look(self, x: Array) -> None:
        """Bring the evaluation up to a candidate."""
        c, nv = self.layout.coefficients, self.character.nv
        self.evaluation.update(x[: c * nv].reshape(c, nv), self.layout.times(x))

    def describe(self) -> str:
        """What it consists of, in lines."""
        c, nv = self.layout.coefficients, self.character.nv
        lines = [
            f"{self.variables} variables: {c} coefficients of {nv} coordinates, {len(self.timeline.free)} free "
            f"moments, {self.layout.size - c * nv} of contacts",
            f"{self.constraints} constraints at {self.frames.knots} knots in {len(self.timeline.phases)} phases:",
        ]
        lines += [f"  {b.name}: {len(b)}" for b in self.blocks]
        return "\n".join(lines)


def build_motion_problem(
    character: Character,
    keys: Sequence[Key] = (),
    contacts: Sequence[Touch] = (),
    duration: Time = 1.0,
    *,
    wishes: Sequence[Wish] = (),
    reference: Motion | None = None,
    taste: Taste | None = None,
    rate: float = RATE,
    fine: Sequence[tuple[float, float, float]] = (),
    clear: Sequence[str] | None = None,
    elastic: bool = False,
) -> MotionProblem:
    """Put together what `optimize_motion` solves; see there.

    With `elastic`, keys, contacts and wishes may give way at a high price: what then gives way is what is impossible.
    """
    taste = taste or Taste()
    asked_for = (character, keys, contacts, duration, wishes, reference, taste, rate, fine, clear)
    _check(character, keys, contacts, wishes, reference)
    inner = [seconds(k.time) for k in keys if not isinstance(k.time, Moment)]
    events: list[Time] = [t for c in contacts for t in (c.start, c.end)]
    notes: list[str] = []
    conflicts: list[str] = []
    if seconds(duration) < SHORTEST:
        conflicts.append(f"a duration of {seconds(duration):g} s leaves no time to move; {SHORTEST:g} s were taken")
        duration = SHORTEST
    timeline = make_timeline(duration, events, rate, inner, fine)
    holds = _without_double([make_hold(character, c, timeline) for c in contacts], timeline, conflicts)
    settled: list[Key] = []
    for key in keys:
        settled.append(_settled(character, key, timeline, holds, settled, notes, conflicts))
    keys = tuple(settled)
    guess = reference if reference is not None else first_guess(character, keys, timeline)
    asked = [timeline.locate(w.time) for w in wishes if isinstance(w, (Place, Facing, Apex))]
    others = [*asked]
    halves: list[list[int]] = []
    knots = sum(len(p.breaks) for p in timeline.phases)
    rest_at = {timeline.locate(k.time) for k in keys if k.rest and k.whole}
    for hold in holds:
        own: list[int] = []
        for p in range(hold.first, hold.last):
            breaks = timeline.phases[p].breaks
            spots = [0.5 * (breaks[0] + breaks[1])] if (p, 0.0) not in rest_at else []
            if p == hold.last - 1 and not (p == len(timeline.phases) - 1 and (p, 1.0) in rest_at):
                spots.append(0.5 * (breaks[-2] + breaks[-1]))
            for s in spots:
                own.append(knots + len(others))
                others.append((p, float(s)))
        halves.append(own)
    frames = make_frames(timeline, others)
    base = base_of(guess, timeline, frames)

    points: list[tuple[int, Array]] = []
    turns: list[int] = []

    def point(body: int, local: Array) -> int:
        for i, (b, p) in enumerate(points):
            if b == body and np.array_equal(p, local):
                return i
        points.append((body, np.asarray(local, float)))
        return len(points) - 1

    def turn(body: int) -> int:
        if body not in turns:
            turns.append(body)
        return turns.index(body)

    refs = [point(h.body, h.point) for h in holds]
    levels = [[point(b, p) for b, p in h.level] for h in holds]
    force_at = [
        np.array([point(int(b), p) for b, p in zip(h.force_bodies, h.force_points, strict=True)], np.int64)
        for h in holds
    ]
    turn_at = [turn(h.body) for h in holds]
    names = list(clear or ()) if clear is not None or not character.floating else [f.name for f in character.feet]
    kept = points_of(character, names)
    clear_at = [(p, point(character.body_id(p.body), np.asarray(p.position))) for p in kept]
    for w in wishes:
        if isinstance(w, Place) and w.body != "com":
            point(character.body_id(w.body), np.asarray(w.point, float))
        if isinstance(w, Facing):
            turn(character.body_id(w.body or character.root))
        if isinstance(w, Clear):
            for spot in points_of(character, w.bodies):
                point(character.body_id(spot.body), np.asarray(spot.position, float))
        if isinstance(w, (Place, Apex)):
            for b in range(1, character.model.nbody):
                if isinstance(w, Apex) or w.body == "com":
                    point(b, np.array(character.model.body_ipos[b]))

    torques = plan_torques(character, wishes)
    layout = _lay_out(character, timeline, holds, frames, 0 if torques is None else len(torques.dofs))
    at = guess.sample(np.clip(_times_of(timeline, frames), guess.start, guess.end))
    about = np.ascontiguousarray(at.q[: frames.knots, :3]) if character.floating else np.zeros((frames.knots, 3))
    e = Evaluation(
        character, timeline, frames, base, about,
        (np.array([b for b, _ in points], np.int64), np.array([p for _, p in points], float).reshape(-1, 3)),
        np.array(turns, np.int64),
    )  # fmt: skip
    x = _fit(character, timeline, frames, layout, at.q)
    low, high = _bounds(character, layout, timeline, holds)
    _start_contacts(character, layout, holds, keys, timeline, guess, x, low, high)
    problem = MotionProblem(
        character, timeline, frames, e, layout, holds, [], None, low, high, x, keys, tuple(notes), tuple(conflicts),  # type: ignore[arg-type]
        guess, clear_at,
    )  # fmt: skip
    problem.look(x)

    physics = Physics(e, layout, holds, force_at)
    blocks: list[Block] = [physics] if character.floating else []
    if torques is not None:
        held = Torques(e, layout, torques, physics.holds)
        blocks.append(held)
        most = np.tile(torques.bound, frames.knots)
        low[layout.torques :], high[layout.torques :] = -most, most
        x[layout.torques :] = np.clip(held.values(e, x), -most, most)
    if len(timeline.phases) > 1:
        edge = np.cumsum([len(p.breaks) for p in timeline.phases])
        blocks.append(Seam(e, layout, (edge[:-1] - 1).astype(np.int64), edge[:-1].astype(np.int64)))
    moves = moved_by(e)
    fixed = {_frame_of(timeline, k.time, frames) for k in keys if k.whole}
    fixed |= {f - 1 for f in fixed if f and frames.s[f] == 0.0}
    closed = {hold.body for hold in holds if hold.first == 0} if any(isinstance(w, Cycle) for w in wishes) else set()
    for h, hold in enumerate(holds):
        inside = (frames.phase[:knots] >= hold.first) & (frames.phase[:knots] < hold.last)
        seam = (frames.s[:knots] == 0.0) & (frames.phase[:knots] > hold.first)  # the same pose as the knot before
        again = {knots - 1} if hold.body in closed else set()  # a cycle's last pose is held by its first
        again |= _handed_over(hold, holds, frames)
        own = [int(i) for i in np.flatnonzero(inside & ~seam) if int(i) not in fixed | again] + halves[h]
        moved = moves[hold.body].copy()
        for b, _ in hold.level:
            moved |= moves[b]
        blocks.append(
            Contact(
                e,
                layout,
                hold,
                np.array(sorted(own), np.int64),
                refs[h],
                levels[h],
                turn_at[h],
                layout.places[h],
                moved,
            )
        )
    soft: list[tuple[int, Indices, Array, float]] = []
    for key in keys:
        frame = _frame_of(timeline, key.time, frames)
        dofs, target = _key_target(character, key, e, frame)
        if key.soft is None:
            blocks.append(Linear(e, frame, dofs, target, key.label))
        else:
            soft.append((frame, dofs, target, key.soft))
        if key.rest:
            blocks.append(Rest(e, layout, frame, dofs, key.label))
    for w, (p, s) in zip([w for w in wishes if isinstance(w, (Place, Facing, Apex))], asked, strict=True):
        frame = knots + asked.index((p, s))
        blocks.append(make_wish(e, layout, w, frame, points, turns))
    for w in wishes:
        if isinstance(w, Cycle):
            blocks += [SamePose(e, layout, w, 0, knots - 1), SameSpeed(e, layout, 0, knots - 1)]
        if isinstance(w, Clear):
            blocks += _clear_rows(e, layout, w, timeline, frames, points)
    blocks += _time_rows(timeline, layout)
    weights, near = _weights(character, taste)
    goal = _coordinates(character, e, at.q[:knots])
    if elastic:
        for i, block in enumerate(blocks):
            if block is physics or isinstance(block, (Seam, Torques, _Spans)):
                continue
            blocks[i] = give = Elastic(block, layout.size)
            problem.gives.append(give)
            layout.size += len(block)
        more = layout.size - len(x)
        problem.start = x = np.concatenate([x, np.zeros(more)])
        problem.low, problem.high = (np.concatenate([b, np.full(more, v)]) for b, v in ((low, -np.inf), (high, np.inf)))
    problem.blocks = blocks
    problem.asked_for = asked_for
    multipliers = np.zeros(layout.size)
    if elastic:
        multipliers[-more:] = PRICE
    c = layout.coefficients * character.nv
    if holds:
        multipliers[min(layout.forces) : layout.torques] = taste.force
    multipliers[c + len(timeline.free) :] = np.maximum(multipliers[c + len(timeline.free) :], 1e-8)
    if torques is not None:
        share = np.tile(torques.effort, frames.knots) * np.repeat(_shares(timeline, frames), len(torques.dofs))
        multipliers[layout.torques : layout.torques + len(share)] = np.maximum(share, 1e-6)
    problem.objective = Objective(e, layout, weights, goal, near, soft, multipliers)
    watch(problem, WATCH, WATCH_HEIGHT)
    return problem


def watch(problem: MotionProblem, near: float, height: float) -> int:
    """Add the ball limits and ground clearances that the current candidate comes near to; how many are new."""
    e, layout, k = problem.evaluation, problem.layout, problem.frames.knots
    who = problem.character
    known_limits = {tuple(c) for b in problem.blocks if isinstance(b, Limits) for c in b.choice.tolist()}
    choice: list[tuple[int, int, int]] = []
    values = np.array([who.limits.values(q) for q in e.q[:k]])
    start = 2 * len(who.limits.range_qpos)
    for b, limit in enumerate(who.limits.balls.values()):
        for r in range(limit.rows):
            close = np.flatnonzero((values[:, start + r] > -near) & (problem.frames.s[:k] < 1.0))
            choice += [(int(i), b, r) for i in close if (int(i), b, r) not in known_limits]
        start += limit.rows
    added = len(choice)
    if choice:
        problem.blocks.append(Limits(e, layout, np.array(sorted(choice), np.int64)))
    known = {
        (int(f), int(p))
        for b in problem.blocks
        if isinstance(b, Spot) and b.name == "ground"
        for f, p in zip(b.frame, b.points, strict=True)
    }
    by_body: dict[int, list[tuple[int, int, str]]] = {}
    held: dict[int, set[int]] = {}
    for h in problem.holds:
        bodies = {h.body, *(b for b, _ in h.level), *h.force_bodies.tolist()}
        for p in range(h.first, h.last):
            held.setdefault(p, set()).update(bodies)
    phase, s = problem.frames.phase, problem.frames.s
    for contact, at in problem.clear:
        body = int(e.point_bodies[at])
        for i in np.flatnonzero(e.P[:k, at, 2] < height).tolist():
            p = int(phase[i])
            if (s[i] == 0.0 and p > 0) or body in held.get(p, ()) or (i, at) in known:
                continue  # a seam's pose is that of the knot before
            if s[i] == 1.0 and body in held.get(p + 1, ()):
                continue
            by_body.setdefault(body, []).append((i, at, contact.name))
    for rows in by_body.values():
        n = len(rows)
        added += n
        problem.blocks.append(
            Spot(
                e,
                layout,
                "ground",
                np.array([r[0] for r in rows], np.int64),
                np.array([r[1] for r in rows], np.int64),
                np.tile([0.0, 0.0, 1.0], (n, 1)),
                np.zeros(n),
                np.full(n, np.inf),
                tuple(r[2] for r in rows),
            )
        )
    return added


# ------------------------------------------------------------------------------------------------------------- parts


def _check(
    character: Character,
    keys: Sequence[Key],
    contacts: Sequence[Touch],
    wishes: Sequence[Wish],
    reference: Motion | None,
) -> None:
    if reference is not None and reference.character.joint_names != character.joint_names:
        raise BadValue(f"the reference is for {reference.character.name!r}: retarget it to {character.name!r} first")
    if reference is None and not keys:
        raise BadValue("a motion needs at least one key, or a reference to start from")
    for key in keys:
        character.check_pose(key.pose, key.label)
        for name in key.only or ():
            character.joint(name)
    for wish in wishes:
        body = getattr(wish, "body", None)
        if body not in (None, "com"):
            character.body_id(str(body))
    for touch in contacts:
        if touch.how in ("flat", "heel", "toe"):
            character.foot(touch.part)
        else:
            character.body_id(touch.part)


def _without_double(holds: list[Hold], timeline: Timeline, conflicts: list[str]) -> list[Hold]:
    """No part is held twice at a time: of two holds the later asked for gives way, and this is said."""
    kept: list[Hold] = []
    for hold in holds:
        free = [p for p in range(hold.first, hold.last) if not any(_clash(hold, k, p) for k in kept)]
        if len(free) == hold.last - hold.first:
            kept.append(hold)
            continue
        other = next(k for k in kept for p in range(hold.first, hold.last) if _clash(hold, k, p))
        t = timeline.times[max(hold.first, other.first)]
        conflicts.append(f"{hold.label} and {other.label} hold the same part at once, at {t:g} s")
        if free:
            last = next((p for p in range(free[0], hold.last) if p not in free), hold.last)
            kept.append(replace(hold, first=free[0], last=last))
    return kept


def _clash(a: Hold, b: Hold, phase: int) -> bool:
    parts = {b.body, *(body for body, _ in b.level)}
    return b.first <= phase < b.last and (a.body in parts or any(body in parts for body, _ in a.level))


def _handed_over(hold: Hold, holds: list[Hold], frames: Frames) -> set[int]:
    """Knots at which another hold of the same part, which ends or begins there, already says all of it.

    A foot that goes from flat to its toes has one pose at that seam: the rows of both would depend on each other.
    """
    out: set[int] = set()
    phase, s = frames.phase[: frames.knots], frames.s[: frames.knots]
    mine = {hold.body, *hold.force_bodies.tolist()}
    for other in holds:
        if other is hold or not mine & {other.body, *other.force_bodies.tolist()}:
            continue
        if other.last == hold.first and hold.rows <= other.rows:
            out |= set(np.flatnonzero((phase == hold.first) & (s == 0.0)).tolist())
        if hold.last == other.first and hold.rows < other.rows:
            out |= set(np.flatnonzero((phase == hold.last - 1) & (s == 1.0)).tolist())
    return out


def _times_of(timeline: Timeline, frames: Frames) -> Array:
    times = timeline.times
    return np.asarray(times[frames.phase] + frames.s * np.diff(times)[frames.phase])


def _frame_of(timeline: Timeline, time: Time, frames: Frames) -> int:
    p, s = timeline.locate(time)
    near = np.flatnonzero((frames.phase[: frames.knots] == p) & (np.abs(frames.s[: frames.knots] - s) < 1e-9))
    if len(near) == 0:
        at = np.flatnonzero(frames.phase[: frames.knots] == p)
        return int(at[np.argmin(np.abs(frames.s[at] - s))])
    return int(near[0])


def _settled(
    character: Character, key: Key, timeline: Timeline, holds: list[Hold], before: list[Key], notes: list[str],
    conflicts: list[str],
) -> Key:  # fmt: skip
    """An exact key inside the limits and, if it is a whole pose, on the contacts it stands on, with the least change.

    What cannot be is said in `conflicts`, and the key gives way: its joints to their limits, a pose whose foot is held
    elsewhere to a wish.
    """
    if key.soft is not None:
        return key
    pose = np.asarray(key.pose, float)
    pose = _inside_limits(character, key, pose, conflicts)
    if not key.whole:
        return replace(key, pose=pose)
    p, s = timeline.locate(key.time)
    active = [h for h in holds if h.first <= p < h.last or (s == 0.0 and h.last == p)]
    asked = pose
    pose, moved, left = bring_on(character, pose, active, seconds(key.time))
    inside = character.limits.clamp(pose)
    if np.abs(character.difference(pose, inside)).max(initial=0.0) > 1e-9:
        pose, moved, left = bring_on(character, inside, active, seconds(key.time))
    if left > 1e-6:
        where = ", ".join(h.label for h in active)
        conflicts.append(f"{key.label} cannot be brought onto {where}: {left:.3g} m or rad are missing")
        return replace(key, pose=asked, soft=GIVEN_UP)
    if moved > 1e-4:
        notes.append(f"{key.label} was moved by up to {moved:.3g} rad or m to stand on its contacts")
    for hold in active:
        here = place_of(character, hold, pose, seconds(key.time))
        for other in before:
            q, t = timeline.locate(other.time)
            if not other.whole or not (hold.first <= q < hold.last or (t == 0.0 and hold.last == q)):
                continue
            there = place_of(character, hold, np.asarray(other.pose, float), seconds(other.time))
            gap = float(np.abs(here[:3] - there[:3]).max())
            if gap > 1e-3:
                conflicts.append(
                    f"{other.label} and {key.label} have {hold.label}, which is held from one to the other, "
                    f"{gap:.3g} m apart"
                )
                return replace(key, pose=pose, soft=GIVEN_UP)
    return replace(key, pose=pose)


def _inside_limits(character: Character, key: Key, pose: Array, conflicts: list[str]) -> Array:
    """The pose with the joints a key speaks of brought inside their limits; which were outside is said."""
    inside = character.limits.clamp(pose)
    gap = character.difference(pose, inside)
    out = pose.copy()
    for joint in character.joints:
        if joint.kind == "free" or (key.only is not None and joint.name not in key.only):
            continue
        size = float(np.linalg.norm(gap[joint.dofs]))
        if size > 1e-3:
            conflicts.append(f"{key.label} has {joint.name} outside its limits by {np.degrees(size):.1f} deg")
        if size > 0.0:
            out[joint.qpos] = inside[joint.qpos]
    return out


def _lay_out(character: Character, timeline: Timeline, holds: list[Hold], frames: Frames, torques: int) -> Layout:
    c, nv = timeline.coefficients, character.nv
    at = c * nv
    moments = np.full(len(timeline.moments), -1, np.int64)
    for k in timeline.free:
        moments[k] = at
        at += 1
    places = []
    for _ in holds:
        places.append(at)
        at += 4
    forces = []
    for hold in holds:
        on = (frames.phase[: frames.knots] >= hold.first) & (frames.phase[: frames.knots] < hold.last)
        forces.append(at)
        at += int(on.sum()) * hold.multipliers
    return Layout(nv, c, moments, timeline.times, places, forces, at, at + frames.knots * torques)


def _fit(character: Character, timeline: Timeline, frames: Frames, layout: Layout, q: Array) -> Array:
    """Coefficients through the guess at the knots: numbers by interpolation, rotations zero."""
    X = np.zeros((layout.coefficients, character.nv))
    at = layout_of(character)
    for p in timeline.phases:
        on = np.flatnonzero(frames.phase[: frames.knots] == p.index)
        A = np.zeros((len(on) + 2, p.coefficients))
        for r, i in enumerate(on):
            A[r, frames.first[i] - p.first : frames.first[i] - p.first + WIDTH] = frames.B[i, 0]
        for r, i in ((len(on), on[0]), (len(on) + 1, on[-1])):  # slopes at the ends as the chords there
            A[r, frames.first[i] - p.first : frames.first[i] - p.first + WIDTH] = frames.B[i, 1]
        values = q[on][:, at.vector_q]
        slopes = np.stack(
            [
                (values[1] - values[0]) / (p.breaks[1] - p.breaks[0]),
                (values[-1] - values[-2]) / (p.breaks[-1] - p.breaks[-2]),
            ]
        )
        fitted = np.linalg.solve(A, np.concatenate([values, slopes]))
        X[p.first : p.first + p.coefficients, at.vector_v] = fitted
    x = np.zeros(layout.size)
    x[: X.size] = X.ravel()
    for k, var in enumerate(layout.moments):
        if var >= 0:
            x[var] = layout.fixed_times[k]
    return x


def _bounds(character: Character, layout: Layout, timeline: Timeline, holds: list[Hold]) -> tuple[Array, Array]:
    """A hinge's coefficients stay in its range, so the whole curve does (a spline stays in the hull of them)."""
    low, high = np.full(layout.size, -np.inf), np.full(layout.size, np.inf)
    c, nv = layout.coefficients, character.nv
    L, H = low[: c * nv].reshape(c, nv), high[: c * nv].reshape(c, nv)
    limits = character.limits
    for d, a, b in zip(limits.range_dof, limits.range_low, limits.range_high, strict=True):
        L[:, d], H[:, d] = a, b
    for v in layout_of(character).rotation_v:
        L[:, v : v + 3], H[:, v : v + 3] = -5.0, 5.0
    for k, var in enumerate(layout.moments):
        if var >= 0:
            low[var], high[var] = timeline.low[k], timeline.high[k]
    weight = character.mass * 9.81
    ends = [*layout.forces[1:], layout.torques][: len(holds)]
    for hold, start, end in zip(holds, layout.forces, ends, strict=True):
        a, b = hold.bounds(weight)
        times = (end - start) // hold.multipliers
        low[start:end], high[start:end] = np.tile(a, times), np.tile(b, times)
    return low, high


def _start_contacts(
    character: Character, layout: Layout, holds: list[Hold], keys: Sequence[Key], timeline: Timeline, guess: Motion,
    x: Array, low: Array, high: Array,
) -> None:  # fmt: skip
    """Where contacts are to begin with, which of that is fixed, and forces that carry the weight."""
    weight_at: dict[int, int] = {}
    for hold in holds:
        for p in range(hold.first, hold.last):
            weight_at[p] = weight_at.get(p, 0) + 1
    for hold, var, lam, end in zip(
        holds, layout.places, layout.forces, [*layout.forces[1:], layout.torques][: len(holds)], strict=True
    ):
        anchor = None
        for key in keys:
            p, s = timeline.locate(key.time)
            if key.whole and (hold.first <= p < hold.last or (s == 0.0 and p == hold.last)):
                anchor = place_of(character, hold, np.asarray(key.pose, float), seconds(key.time))
                break
        t0, t1 = timeline.times[hold.first], timeline.times[hold.last]
        middle = 0.5 * (t0 + t1)
        found = place_of(character, hold, guess.sample(float(np.clip(middle, guess.start, guess.end))).q, middle)
        value, free = found.copy(), np.array([True, True, False, True])
        if hold.touch.how in ("flat", "heel", "toe"):
            value[2] = 0.0
        if hold.touch.place is not None:
            given = np.asarray(hold.touch.place, float)
            s0 = hold.surface(float(t0))
            if given.shape == (3,):
                value[:3] = np.asarray(s0.rotation).T @ (given - s0.origin)
            elif given.shape == (2,):
                value[:2], value[2] = given, 0.0
            else:
                raise BadValue(f"the place of {hold.label!r} is (x, y) or (x, y, z); got {hold.touch.place!r}")
            free[:3] = False
        elif hold.touch.how == "point":
            value[2] = 0.0
        if hold.touch.facing is not None:
            value[3], free[3] = hold.touch.facing, False
        if anchor is not None:
            value, free = anchor, np.zeros(4, bool)
        if not hold.facing:
            free[3] = False
        x[var : var + 4] = value
        low[var : var + 4] = np.where(free, -np.inf, value)
        high[var : var + 4] = np.where(free, np.inf, value)
        m, g = hold.generators.shape[:2]
        share = np.zeros(hold.multipliers)
        if hold.signed:
            share[2] = 1.0
        else:
            share[: m * g] = 1.0 / (m * g)
        frames = (end - lam) // hold.multipliers
        x[lam:end] = np.tile(share / max(weight_at.get(hold.first, 1), 1), frames)


def _key_target(character: Character, key: Key, e: Evaluation, frame: int) -> tuple[Indices, Array]:
    """Degrees of freedom a key speaks of and their coordinates there."""
    target = _coordinates_at(character, e, np.asarray(key.pose, float), frame)
    used = np.zeros(character.nv, bool)
    for joint in character.joints:
        if key.only is not None and joint.name not in key.only:
            continue
        if joint.kind == "free" and not key.root:
            continue
        used[joint.dofs] = True
    return np.flatnonzero(used).astype(np.int64), target[used]


def _coordinates_at(character: Character, e: Evaluation, pose: Array, frame: int) -> Array:
    out = np.zeros(character.nv)
    at = e.layout
    out[at.vector_v] = pose[at.vector_q]
    for k, (o, d) in enumerate(zip(at.rotation_q, at.rotation_v, strict=True)):
        out[d : d + 3] = spatial.difference(e.base.quaternion[frame, k], pose[o : o + 4])
    return out


def _coordinates(character: Character, e: Evaluation, poses: Array) -> Array:
    return np.array([_coordinates_at(character, e, q, i) for i, q in enumerate(poses)])


def _weights(character: Character, taste: Taste) -> tuple[Array, Array]:
    share = heft(character, taste.heft)
    for joint in character.joints:
        if joint.kind == "free":
            share[joint.dofs.start : joint.dofs.start + 3] = taste.root_place
            share[joint.dofs.start + 3 : joint.dofs.stop] = taste.root_turn
        if joint.name in taste.joints:
            share[joint.dofs] = taste.joints[joint.name]
    for name in taste.joints:
        character.joint(name)
    near = np.full(character.nv, taste.near)
    for joint in character.joints:
        if joint.name in taste.joints:
            near[joint.dofs] *= taste.joints[joint.name]
    return taste.smooth * share, near


def heft(character: Character, power: float) -> Array:
    """Weights of the joints from what they carry: the mass matrix's diagonal in the neutral pose to a power, mean 1."""
    inertia = np.maximum(np.diag(character.snapshot().M).copy(), 1e-6)
    own = np.ones(character.nv)
    joints = np.arange(character.root_dofs.stop, character.nv)
    if len(joints):
        own[joints] = (inertia[joints] / np.median(inertia[joints])) ** power
        for joint in character.joints:  # a ball's three axes alike: twisting is not freer than bending
            if joint.kind == "ball":
                own[joint.dofs] = own[joint.dofs].mean()
        own[joints] = np.clip(own[joints] / own[joints].mean(), 0.2, 5.0)
    return own


class _Spans(Block):
    """Moments stay in order."""

    def __init__(self, pairs: list[tuple[int, int]], least: float) -> None:
        self.name = "order of moments"
        self.pairs = np.array(pairs, np.int64)
        self.frame = np.zeros(len(pairs), np.int64)
        self.low, self.high = np.full(len(pairs), least), np.full(len(pairs), np.inf)

    def pattern(self) -> tuple[Indices, Indices]:
        return np.repeat(np.arange(len(self.pairs)), 2), self.pairs.ravel()

    def values(self, e: Evaluation, x: Array) -> Array:
        return np.asarray(x[self.pairs[:, 1]] - x[self.pairs[:, 0]])

    def derivatives(self, e: Evaluation, x: Array, out: Array) -> None:
        out[:] = np.tile([-1.0, 1.0], len(self.pairs))


def _shares(timeline: Timeline, frames: Frames) -> Array:
    """Seconds each knot stands for."""
    out = np.zeros(frames.knots)
    span = np.diff(timeline.times)
    for p in timeline.phases:
        at = np.flatnonzero(frames.phase[: frames.knots] == p.index)
        h = np.diff(p.breaks) * span[p.index]
        out[at[:-1]] += 0.5 * h
        out[at[1:]] += 0.5 * h
    return out


def _clear_rows(
    e: Evaluation, layout: Layout, wish: Clear, timeline: Timeline, frames: Frames, points: list[tuple[int, Array]]
) -> list[Block]:
    """Rows that keep points above a height at the knots of a stretch of time."""
    t = _times_of(timeline, frames)[: frames.knots]
    start, end = seconds(wish.start), np.inf if wish.end is None else seconds(wish.end)
    on = np.flatnonzero((t >= start - 1e-9) & (t <= end + 1e-9)).astype(np.int64)
    out: list[Block] = []
    for p in points_of(e.character, wish.bodies):
        body, local = e.character.body_id(p.body), np.asarray(p.position, float)
        at = next(i for i, (b, q) in enumerate(points) if b == body and np.array_equal(q, local))
        n = len(on)
        out.append(
            Spot(
                e,
                layout,
                wish.name or f"{p.name} above {wish.height:g} m",
                on,
                np.full(n, at),
                np.tile([0.0, 0.0, 1.0], (n, 1)),
                np.full(n, wish.height),
                np.full(n, np.inf),
                (p.name,) * n,
            )
        )
    return out


def _time_rows(timeline: Timeline, layout: Layout) -> list[Block]:
    pairs = [
        (int(a), int(b)) for a, b in zip(layout.moments[:-1], layout.moments[1:], strict=True) if a >= 0 and b >= 0
    ]
    return [_Spans(pairs, 0.05)] if pairs else []
