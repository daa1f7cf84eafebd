"""The optimisation problem behind a motion: its variables, its constraints by name, its objective."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.shapes import Rod
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize.asks import Apart as ApartWish
from counterpoise.spacetime.optimize.asks import Apex, Asks, Clear, Cycle, Facing, Key, Place, Taste, Touch, Wish
from counterpoise.spacetime.optimize.bulges import Bulge, bulges_of, other_bulges
from counterpoise.spacetime.optimize.clearances import clear_rows, watch
from counterpoise.spacetime.optimize.frames import Evaluation, Frames, base_of, frame_of, make_frames, times_of
from counterpoise.spacetime.optimize.guess import first_guess
from counterpoise.spacetime.optimize.holds import Hold, handed_over, make_hold, without_double
from counterpoise.spacetime.optimize.keying import coordinates, key_target, settled
from counterpoise.spacetime.optimize.moments import RATE, Moment, Time, Timeline, make_timeline, seconds
from counterpoise.spacetime.optimize.objective import Objective
from counterpoise.spacetime.optimize.rows.apart import Apart, ApartPlan, rod_pairs
from counterpoise.spacetime.optimize.rows.base import (
    Block,
    Contact,
    Elastic,
    Layout,
    Linear,
    Physics,
    Rest,
    Seam,
    moved_by,
)
from counterpoise.spacetime.optimize.rows.cycle import SamePose, SameSpeed
from counterpoise.spacetime.optimize.rows.order import Spans, time_rows
from counterpoise.spacetime.optimize.rows.torque import TorquePlan, Torques, plan_torques
from counterpoise.spacetime.optimize.rows.wish import make_wish
from counterpoise.spacetime.optimize.variables import bounds, fit, lay_out, start_contacts
from counterpoise.spacetime.optimize.weights import shares, weights

WATCH = 10.0  # [rad] limits nearer than this at the start are constraints from the start: all of them
REACH = 0.3  # [m] shapes nearer than this in the first guess are watched for collisions
REACH_NAMED = 1.0  # [m] and those that were named
SHORTEST = 0.1  # [s] no motion is shorter
PRICES = (1e2, 1e4, 1e6)  # of what was asked for and gives way, one after the other [per m^2, rad^2]
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
    keys: tuple[Key, ...]  # as they were made fit
    notes: tuple[str, ...]  # what had to be changed to make sense of it
    conflicts: tuple[str, ...]  # what cannot hold together, known before solving
    guess: Motion
    clear: list[tuple[Bulge, int]]  # what to keep off the ground, and which of the evaluation's points they are
    rest: list[Bulge]  # what else to, once it is found below
    asks: Asks
    apart: list[ApartPlan]  # what is kept off what
    gives: list[Elastic] = field(default_factory=list)  # blocks that may give way

    def elastic(self) -> MotionProblem:
        """The same problem, in which what was asked for may give way at a price."""
        return _Build(self.asks).problem(elastic=True)

    def let_through(self) -> bool:
        """Forget the rows that keep parts of the body apart; whether there were any."""
        kept = [b for b in self.blocks if not isinstance(b, Apart) and not isinstance(getattr(b, "block", None), Apart)]
        found, self.blocks = len(kept) < len(self.blocks), kept
        for plan in self.apart:
            plan.known = None
        return found

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
) -> MotionProblem:
    """Put together what `optimize_motion` solves; see there."""
    asks = Asks(
        character, tuple(keys), tuple(contacts), duration, tuple(wishes), reference, taste or Taste(), rate,
        tuple(fine), None if clear is None else tuple(clear),
    )  # fmt: skip
    return _Build(asks).problem()


class _Build:
    """The steps from asks to a problem: time, poses, what is looked at, variables, rows, costs."""

    def __init__(self, asks: Asks) -> None:
        _check(asks)
        self.asks, self.who = asks, asks.character
        self.notes: list[str] = []
        self.conflicts: list[str] = []
        self.points: list[tuple[int, Array]] = []
        self.turns: list[int] = []
        self.apart: list[ApartPlan] = []

    def problem(self, elastic: bool = False) -> MotionProblem:
        """With `elastic`, keys, contacts and wishes may give way at a high price: what does is what is impossible."""
        who, asks = self.who, self.asks
        self._time_and_poses()
        frames = self.frames
        clear = self._looked_at()
        torques = plan_torques(who, asks.wishes)
        layout = lay_out(who, self.timeline, self.holds, frames, 0 if torques is None else len(torques.dofs))
        at = self.guess.sample(np.clip(times_of(self.timeline, frames), self.guess.start, self.guess.end))
        about = np.ascontiguousarray(at.q[: frames.knots, :3]) if who.floating else np.zeros((frames.knots, 3))
        e = Evaluation(
            who, self.timeline, frames, base_of(self.guess, self.timeline, frames), about,
            (np.array([b for b, _ in self.points], np.int64), np.array([p for _, p in self.points]).reshape(-1, 3)),
            np.array(self.turns, np.int64),
        )  # fmt: skip
        x = fit(who, self.timeline, frames, layout, at.q)
        low, high = bounds(who, layout, self.timeline, self.holds)
        start_contacts(who, layout, self.holds, self.keys, self.timeline, self.guess, x, low, high)
        e.update(x[: layout.coefficients * who.nv].reshape(-1, who.nv), layout.times(x))
        blocks = self._physics(e, layout, torques, x, low, high)
        blocks += self._contacts(e, layout)
        rows, soft = self._keys(e, layout)
        blocks += rows + self._wishes(e, layout) + time_rows(layout)
        gives: list[Elastic] = []
        if elastic:
            blocks, gives = _may_give(blocks, layout)
            more = layout.size - len(x)
            x = np.concatenate([x, *(g.missing(e, x) for g in gives)])
            low, high = (np.concatenate([b, np.full(more, v)]) for b, v in ((low, -np.inf), (high, np.inf)))
        cost, near = weights(who, asks.taste)
        goal = coordinates(who, e.base.quaternion[: frames.knots], at.q[: frames.knots])
        price = self._prices(layout, torques, sum(len(g) for g in gives))
        out = MotionProblem(
            who, self.timeline, frames, e, layout, self.holds, blocks,
            Objective(e, layout, cost, goal, near, soft, price), low, high, x, self.keys, tuple(self.notes),
            tuple(self.conflicts), self.guess, clear, self.rest, asks, self.apart, gives,
        )  # fmt: skip
        out.look(x)
        watch(out, WATCH, WATCH_HEIGHT)
        return out

    # ------------------------------------------------------------------------------------------- time and poses

    def _time_and_poses(self) -> None:
        """Phases and knots, what holds the body in them, keys made fit, the first guess."""
        asks, duration = self.asks, self.asks.duration
        inner = [seconds(k.time) for k in asks.keys if not isinstance(k.time, Moment)]
        events: list[Time] = [t for c in asks.contacts for t in (c.start, c.end)]
        if seconds(duration) < SHORTEST:
            said = f"a duration of {seconds(duration):g} s leaves no time to move; {SHORTEST:g} s were taken"
            self.conflicts.append(said)
            duration = SHORTEST
        t = self.timeline = make_timeline(duration, events, asks.rate, inner, asks.fine)
        self.holds = without_double([make_hold(self.who, c, t) for c in asks.contacts], t, self.conflicts)
        keys: list[Key] = []
        for key in asks.keys:
            keys.append(settled(self.who, key, t, self.holds, keys, self.notes, self.conflicts))
        self.keys = tuple(keys)
        self.guess = asks.reference if asks.reference is not None else first_guess(self.who, self.keys, t)
        self.asked = [t.locate(w.time) for w in self._placed]
        self.frames = make_frames(t, [*self.asked, *self._half_knots()])

    @property
    def _placed(self) -> list[Place | Facing | Apex]:
        return [w for w in self.asks.wishes if isinstance(w, (Place, Facing, Apex))]

    def _half_knots(self) -> list[tuple[int, float]]:
        """Where contacts are held besides the knots: the middles of outer intervals, as a spline has two numbers more.

        `self.halves` says which frames they become, for each hold.
        """
        t = self.timeline
        knots = sum(len(p.breaks) for p in t.phases) + len(self.asked)
        still = {t.locate(k.time) for k in self.keys if k.rest and k.whole}
        self.halves: list[list[int]] = []
        out: list[tuple[int, float]] = []
        for hold in self.holds:
            own: list[int] = []
            for p in range(hold.first, hold.last):
                breaks = t.phases[p].breaks
                spots = [0.5 * (breaks[0] + breaks[1])] if (p, 0.0) not in still else []
                if p == hold.last - 1 and not (p == len(t.phases) - 1 and (p, 1.0) in still):
                    spots.append(0.5 * (breaks[-2] + breaks[-1]))
                for s in spots:
                    own.append(knots + len(out))
                    out.append((p, float(s)))
            self.halves.append(own)
        return out

    # ------------------------------------------------------------------------------------------- what is looked at

    def _point(self, body: int, local: Array) -> int:
        for i, (b, p) in enumerate(self.points):
            if b == body and np.array_equal(p, local):
                return i
        self.points.append((body, np.asarray(local, float)))
        return len(self.points) - 1

    def _turn(self, body: int) -> int:
        if body not in self.turns:
            self.turns.append(body)
        return self.turns.index(body)

    def _looked_at(self) -> list[tuple[Bulge, int]]:
        """Points and bodies that rows will need; those to keep off the ground."""
        who, asks = self.who, self.asks
        self.refs = [self._point(h.body, h.point) for h in self.holds]
        self.levels = [[self._point(b, p) for b, p in h.level] for h in self.holds]
        self.force_at = [
            np.array([self._point(int(b), p) for b, p in zip(h.force_bodies, h.force_points, strict=True)], np.int64)
            for h in self.holds
        ]
        self.turn_at = [self._turn(h.body) for h in self.holds]
        given = asks.clear is not None or not who.floating
        kept = bulges_of(who, list(asks.clear or ()) if given else [f.name for f in who.feet])
        self.rest = [] if given else other_bulges(who)
        clear = [(p, self._point(who.body_id(p.body), np.asarray(p.position))) for p in kept]
        for w in asks.wishes:
            if isinstance(w, Place) and w.body != "com":
                self._point(who.body_id(w.body), np.asarray(w.point, float))
            if isinstance(w, Facing):
                self._turn(who.body_id(w.body or who.root))
            if isinstance(w, Clear):
                for spot in bulges_of(who, w.bodies):
                    self._point(who.body_id(spot.body), np.asarray(spot.position, float))
            if isinstance(w, ApartWish):
                for pair in rod_pairs(who, w.bodies, w.others):
                    for rod in pair:
                        self._ends(rod)
            if isinstance(w, Apex) or (isinstance(w, Place) and w.body == "com"):
                for b in range(1, who.model.nbody):
                    self._point(b, np.array(who.model.body_ipos[b]))
        return clear

    # ------------------------------------------------------------------------------------------- rows

    def _physics(
        self, e: Evaluation, layout: Layout, torques: TorquePlan | None, x: Array, low: Array, high: Array
    ) -> list[Block]:
        """Newton and Euler, torques where they are asked about, and seams between phases."""
        physics = Physics(e, layout, self.holds, self.force_at)
        out: list[Block] = [physics] if self.who.floating else []
        if torques is not None:
            held = Torques(e, layout, torques, physics.holds)
            out.append(held)
            most = np.tile(torques.bound, self.frames.knots)
            low[layout.torques :], high[layout.torques :] = -most, most
            x[layout.torques :] = np.clip(held.values(e, x), -most, most)
        if len(self.timeline.phases) > 1:
            edge = np.cumsum([len(p.breaks) for p in self.timeline.phases])[:-1].astype(np.int64)
            out.append(Seam(e, layout, edge - 1, edge))
        return out

    def _contacts(self, e: Evaluation, layout: Layout) -> list[Block]:
        """What is held stays put, at knots no key or other hold speaks for already."""
        frames, knots = self.frames, self.frames.knots
        moves = moved_by(e)
        fixed = {frame_of(self.timeline, k.time, frames) for k in self.keys if k.whole}
        fixed |= {f - 1 for f in fixed if f and frames.s[f] == 0.0}
        cycle = any(isinstance(w, Cycle) for w in self.asks.wishes)
        closed = {hold.body for hold in self.holds if hold.first == 0} if cycle else set()
        out: list[Block] = []
        for h, hold in enumerate(self.holds):
            inside = (frames.phase[:knots] >= hold.first) & (frames.phase[:knots] < hold.last)
            seam = (frames.s[:knots] == 0.0) & (frames.phase[:knots] > hold.first)  # the same pose as the knot before
            said = fixed | ({knots - 1} if hold.body in closed else set())  # a cycle's last pose is held by its first
            said |= handed_over(hold, self.holds, frames)
            own = [int(i) for i in np.flatnonzero(inside & ~seam) if int(i) not in said] + self.halves[h]
            moved = moves[hold.body].copy()
            for b, _ in hold.level:
                moved |= moves[b]
            at = np.array(sorted(own), np.int64)
            refs, levels, turn = self.refs[h], self.levels[h], self.turn_at[h]
            out.append(Contact(e, layout, hold, at, refs, levels, turn, layout.places[h], moved))
        return out

    def _keys(self, e: Evaluation, layout: Layout) -> tuple[list[Block], list[tuple[int, Ints, Array, float]]]:
        """Rows of exact keys; frame, degrees of freedom, coordinates and weight of soft ones."""
        rows: list[Block] = []
        soft: list[tuple[int, Ints, Array, float]] = []
        for key in self.keys:
            frame = frame_of(self.timeline, key.time, self.frames)
            dofs, target = key_target(self.who, key, e, frame)
            if key.soft is None:
                rows.append(Linear(e, frame, dofs, target, key.label))
            else:
                soft.append((frame, dofs, target, key.soft))
            if key.rest:
                rows.append(Rest(e, layout, frame, dofs, key.label))
        return rows, soft

    def _wishes(self, e: Evaluation, layout: Layout) -> list[Block]:
        knots = self.frames.knots
        out: list[Block] = []
        for placed, spot in zip(self._placed, self.asked, strict=True):
            out.append(make_wish(e, layout, placed, knots + self.asked.index(spot), self.points, self.turns))
        for w in self.asks.wishes:
            if isinstance(w, Cycle):
                out += [SamePose(e, layout, w, 0, knots - 1), SameSpeed(e, layout, 0, knots - 1)]
            if isinstance(w, Clear):
                out += clear_rows(e, layout, w, self.timeline, self.frames, self.points)
            if isinstance(w, ApartWish):
                self.apart.append(self._apart(w))
                out.append(self.apart[-1].rows(e, layout, REACH if w.bodies is None else REACH_NAMED, np.inf))
        return out

    def _apart(self, wish: ApartWish) -> ApartPlan:
        """What is kept off what, at knots no exact key speaks for."""
        t = times_of(self.timeline, self.frames)[: self.frames.knots]
        start, end = seconds(wish.start), np.inf if wish.end is None else seconds(wish.end)
        on = (t >= start - 1e-9) & (t <= end + 1e-9)
        on &= (self.frames.s[: self.frames.knots] > 0.0) | (self.frames.phase[: self.frames.knots] == 0)
        for key in self.keys:
            if key.whole:
                i = frame_of(self.timeline, key.time, self.frames)
                on[[i, i - 1] if i and self.frames.s[i] == 0.0 else [i]] = False
        pairs = rod_pairs(self.who, wish.bodies, wish.others)
        ends = np.array([self._ends(a) + self._ends(b) for a, b in pairs], np.int64).reshape(-1, 4)
        room = np.array([a.radius + b.radius + wish.room for a, b in pairs])
        return ApartPlan(wish.name or "apart", tuple(f"{a.body} and {b.body}" for a, b in pairs), ends, room, on)

    def _ends(self, rod: Rod) -> list[int]:
        body = self.who.body_id(rod.body)
        return [self._point(body, np.array(p)) for p in (rod.start, rod.end)]

    def _prices(self, layout: Layout, torques: TorquePlan | None, giving: int) -> Array:
        """What squares of the variables beside the curve cost."""
        out = np.zeros(layout.size)
        if self.holds:
            out[min(layout.forces) : layout.torques] = self.asks.taste.force
        rest = layout.coefficients * self.who.nv + len(self.timeline.free)
        out[rest:] = np.maximum(out[rest:], 1e-8)
        if torques is not None:
            time = np.repeat(shares(self.timeline, self.frames), len(torques.dofs))
            effort = np.tile(torques.effort, self.frames.knots) * time
            out[layout.torques : layout.torques + len(effort)] = np.maximum(effort, 1e-6)
        if giving:
            out[-giving:] = PRICES[0]
        return out


def _may_give(blocks: list[Block], layout: Layout) -> tuple[list[Block], list[Elastic]]:
    """All but physics and time may give way, each row by a number of its own."""
    out: list[Block] = []
    gives: list[Elastic] = []
    for block in blocks:
        if isinstance(block, (Physics, Seam, Torques, Spans)):
            out.append(block)
            continue
        gives.append(Elastic(block, layout.size))
        out.append(gives[-1])
        layout.size += len(block)
    return out, gives


def _check(asks: Asks) -> None:
    who = asks.character
    if asks.reference is not None and asks.reference.character.joint_names != who.joint_names:
        raise BadValue(f"the reference is for {asks.reference.character.name!r}: retarget it to {who.name!r} first")
    if asks.reference is None and not asks.keys:
        raise BadValue("a motion needs at least one key, or a reference to start from")
    for key in asks.keys:
        who.check_pose(key.pose, key.label)
        for name in key.only or ():
            who.joint(name)
    for wish in asks.wishes:
        body = getattr(wish, "body", None)
        if body not in (None, "com"):
            who.body_id(str(body))
    for touch in asks.contacts:
        if touch.how in ("flat", "heel", "toe"):
            who.foot(touch.part)
        else:
            who.body_id(touch.part)
