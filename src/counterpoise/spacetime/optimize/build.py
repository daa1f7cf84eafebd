"""From a request to a problem: starting point, variables, rows, cost. Each step makes a value the next one reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.spacetime.optimize.cost import MotionCost
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.frames import base_of
from counterpoise.spacetime.optimize.hold_forces import HoldForces
from counterpoise.spacetime.optimize.holds import handed_over
from counterpoise.spacetime.optimize.impacts import Impact, impulse_count
from counterpoise.spacetime.optimize.initial import Variables, initial_variables
from counterpoise.spacetime.optimize.keys import key_target
from counterpoise.spacetime.optimize.layout import Layout, lay_out
from counterpoise.spacetime.optimize.moments import RATE, Time
from counterpoise.spacetime.optimize.near import with_rows_near
from counterpoise.spacetime.optimize.posture import nearness
from counterpoise.spacetime.optimize.problem import MotionProblem
from counterpoise.spacetime.optimize.request import Key, Landing, MotionRequest, Taste, Touch
from counterpoise.spacetime.optimize.requirements.base import Requirement, RowContext
from counterpoise.spacetime.optimize.requirements.torque import plan_torques
from counterpoise.spacetime.optimize.rows.apart import ApartPlan, ApartRows
from counterpoise.spacetime.optimize.rows.base import RowBlock
from counterpoise.spacetime.optimize.rows.contact import ContactRows
from counterpoise.spacetime.optimize.rows.elastic import ElasticRows
from counterpoise.spacetime.optimize.rows.impact import ApproachRows, ImpactForceRows, ImpactRows
from counterpoise.spacetime.optimize.rows.key import KeyRows
from counterpoise.spacetime.optimize.rows.order import order_rows
from counterpoise.spacetime.optimize.rows.physics import PhysicsRows
from counterpoise.spacetime.optimize.rows.speed import SPEED_SCALE, JumpRows, KeySpeedRows, SeamRows
from counterpoise.spacetime.optimize.rows.torque import TorquePlan, TorqueRows
from counterpoise.spacetime.optimize.spheres import (
    BodySphere,
    drawn_shapes,
    shapes_of_feet,
    spheres_off_feet,
    spheres_on,
)
from counterpoise.spacetime.optimize.starting_point import StartingPoint, find_starting_point
from counterpoise.spacetime.optimize.tuning import ImpactTuning
from counterpoise.spacetime.optimize.weights import knot_seconds, weights
from counterpoise.terrain import Terrain

LIMITS_FROM_START = 10.0  # [rad] ball limits nearer than this at the start are rows from the start: all of them
GROUND_FROM_START = 0.3  # [m] points nearer to the ground than this at the start have rows from the start
SMALLEST_PRICE = 1e-8  # of squares of contact variables, so that none is quite free
SMALLEST_EFFORT = 1e-6  # of squared torques likewise


def build_motion_problem(
    character: Character,
    keys: Sequence[Key] = (),
    contacts: Sequence[Touch] = (),
    duration: Time = 1.0,
    *,
    wishes: Sequence[Requirement] = (),
    reference: Motion | None = None,
    taste: Taste | None = None,
    rate: float = RATE,
    fine: Sequence[tuple[float, float, float]] = (),
    clear: Sequence[str] | None = None,
    terrain: Terrain | None = None,
    landing: Landing | ImpactTuning = "still",
) -> MotionProblem:
    """Builds the problem that `optimize_motion` solves; see there."""
    return build_problem(
        MotionRequest(
            character, tuple(keys), tuple(contacts), duration, tuple(wishes), reference, taste or Taste(), rate,
            tuple(fine), None if clear is None else tuple(clear), terrain,
            landing="impact" if isinstance(landing, ImpactTuning) else landing,
            impact=landing if isinstance(landing, ImpactTuning) else ImpactTuning(),
        )
    )  # fmt: skip


def build_problem(request: MotionRequest, slack_price: float | None = None) -> MotionProblem:
    """Builds the problem of a request. With `slack_price` all but physics may be violated, at that price."""
    return build_from(find_starting_point(request), slack_price)


def build_from(start: StartingPoint, slack_price: float | None = None) -> MotionProblem:
    """Builds the problem of a request whose timeline, contacts and first guess are known."""
    request = start.request
    torques = plan_torques(start.character, request.requirements)
    impulses = [impulse_count(i, start.holds, start.impact_torques, start.character.nv) for i in start.impacts]
    layout = lay_out(
        start.character, start.timeline, start.holds, start.frames, len(torques.dofs) if torques else 0, impulses
    )
    evaluation = evaluation_of(start)
    variables = initial_variables(start, layout)
    evaluation.update(variables.x[: layout.curve].reshape(-1, layout.nv), layout.times(variables.x))
    blocks, variables = _physics(start, evaluation, layout, torques, variables)
    blocks += _contacts(start, evaluation, layout)
    blocks += _exact_keys(start, evaluation, layout)
    blocks += _requirements(start, evaluation, layout)
    blocks += order_rows(layout)
    if slack_price is not None:
        blocks = [ElasticRows(b, slack_price, asked=False) if b.may_have_slack else b for b in blocks]
    blocks, layout, variables = _slacks_laid_out(blocks, evaluation, layout, variables)
    clear, unwatched, drawn = _spheres(request)
    problem = MotionProblem(
        start, evaluation, layout, tuple(blocks), _cost(start, evaluation, layout, torques, blocks), variables.low,
        variables.high, variables.x, tuple(dict.fromkeys(p for b in blocks for p in _plans(b))), clear, unwatched,
        drawn,
    )  # fmt: skip
    problem.evaluate(problem.start)
    return with_rows_near(problem, LIMITS_FROM_START, GROUND_FROM_START)


def evaluation_of(start: StartingPoint) -> MotionEvaluation:
    """Returns the workspace in which candidates are evaluated at the knots and other instants of a starting point."""
    character, frames, guess = start.character, start.frames, start.guess
    q = guess.sample(np.clip(start.times, guess.start, guess.end)).q
    about = np.ascontiguousarray(q[: frames.knots, :3]) if character.floating else np.zeros((frames.knots, 3))
    return MotionEvaluation(character, start.timeline, frames, base_of(guess, start.timeline, frames), about)


# -- rows ------------------------------------------------------------------------------------------------------------


def _physics(
    start: StartingPoint, e: MotionEvaluation, layout: Layout, torques: TorquePlan | None, variables: Variables
) -> tuple[list[RowBlock], Variables]:
    """Newton and Euler, torques where they are asked about, and seams between phases."""
    holds = [HoldForces(e, layout, hold, i, start.knot_times) for i, hold in enumerate(start.holds)]
    out: list[RowBlock] = [PhysicsRows(e, layout, holds)] if start.character.floating else []
    if torques is not None:
        rows = TorqueRows(e, layout, torques, holds)
        out.append(rows)
        variables = _torque_variables(rows, e, layout, torques, variables)
    edge = np.cumsum([len(p.breaks) for p in start.timeline.phases])[:-1].astype(np.int64)
    edge = np.delete(edge, [i.phase - 1 for i in start.impacts])
    if len(edge):
        out.append(SeamRows(e, layout, edge - 1, edge, "continuity"))
    return [*out, *_impacts(start, e, layout)], variables


def _impacts(start: StartingPoint, e: MotionEvaluation, layout: Layout) -> list[RowBlock]:
    """What jumps at impacts, and how fast points come in."""
    if not start.impacts:
        return []
    tuning, approaches, pushes = start.request.impact, list[RowBlock](), []
    jumps = [jump_variable(start, i, first) for i, first in zip(start.impacts, layout.impulses, strict=True)]
    knots = np.array([i.knots(start.frames) for i in start.impacts], np.int64)
    for impact, first in zip(start.impacts, layout.impulses, strict=True):
        before, after = impact.knots(start.frames)
        own = []
        for i in impact.holds:
            push = HoldForces(e, layout, start.holds[i], i, start.knot_times, (after, first))
            first += push.hold.multipliers
            own.append(push)
            if i in impact.new:
                approaches.append(ApproachRows(e, layout, before, push, tuning.approach, tuning.slide))
        pushes.append(own)
    return [
        ImpactRows(e, layout, start.impacts, pushes, start.impact_torques, tuning.seconds),
        JumpRows(e, layout, knots[:, 0], knots[:, 1], jumps),
        ImpactForceRows(knots[:, 1].tolist(), pushes, tuning.most_force),
        *approaches,
    ]


def jump_variable(start: StartingPoint, impact: Impact, first: int) -> int:
    """Returns the first variable of an impact's jump, of those that begin at `first`."""
    return first + impulse_count(impact, start.holds, start.impact_torques, 0)


def _torque_variables(
    rows: TorqueRows, e: MotionEvaluation, layout: Layout, torques: TorquePlan, variables: Variables
) -> Variables:
    """Torques begin as the first guess needs them, within their bounds."""
    most = np.tile(torques.bound, e.frames.knots)
    x, low, high = (a.copy() for a in (variables.x, variables.low, variables.high))
    low[layout.torques :], high[layout.torques :] = -most, most
    x[layout.torques :] = np.clip(rows.values(e, x), -most, most)
    return Variables(x, low, high)


def _contacts(start: StartingPoint, e: MotionEvaluation, layout: Layout) -> list[RowBlock]:
    """Held parts stay where they are, at knots where no key and no other hold fixes them already."""
    frames, knots = start.frames, start.frames.knots
    closes = any(r.closes_cycle for r in start.request.requirements)
    closed = {hold.body for hold in start.holds if hold.first == 0} if closes else set()
    out: list[RowBlock] = []
    for i, hold in enumerate(start.holds):
        fixed = set(start.fixed_knots.tolist()) | handed_over(hold, start.holds, frames)
        fixed |= {knots - 1} if hold.body in closed else set()  # a cycle's last pose is fixed by its first
        on = hold.knots(frames)
        seam = (frames.s[on] == 0.0) & (frames.phase[on] > hold.first)  # the same pose as the knot before
        own = [int(k) for k in on[~seam] if int(k) not in fixed]
        at = np.array(sorted([*own, *start.half_knots[i].tolist()]), np.int64)
        out.append(ContactRows(e, layout, hold, layout.places[i], at, start.times[at]))
    return out


def _exact_keys(start: StartingPoint, e: MotionEvaluation, layout: Layout) -> list[RowBlock]:
    """Rows of exact keys, and of rest or velocities where a key asks for them."""
    out: list[RowBlock] = []
    for key in start.keys:
        frame = start.key_frame(key)
        dofs, target = key_target(start.character, key, e, frame)
        if key.soft is None:
            out.append(KeyRows(e, frame, dofs, target, key.label))
        if key.rest or key.velocity is not None:
            velocity = None if key.velocity is None else np.asarray(key.velocity, float)
            out.append(KeySpeedRows(e, layout, frame, dofs, key.label, velocity))
    return out


def _requirements(start: StartingPoint, e: MotionEvaluation, layout: Layout) -> list[RowBlock]:
    context = RowContext(start, e, layout)
    out: list[RowBlock] = []
    for requirement in start.request.requirements:
        rows, price = requirement.rows(context), requirement.slack_price
        out += rows if price is None else [ElasticRows(b, price * b.weight**2, asked=True) for b in rows]
    return out


def _slacks_laid_out(
    blocks: list[RowBlock], e: MotionEvaluation, layout: Layout, variables: Variables
) -> tuple[list[RowBlock], Layout, Variables]:
    """Slacks get variables behind all others, and begin where the first guess holds their rows."""
    out: list[RowBlock] = []
    begin: list[Array] = [variables.x]
    for block in blocks:
        if isinstance(block, ElasticRows):
            block = block.at(layout.size)
            begin.append(block.missing(e, variables.x))
            layout = layout.extended(len(block))
        out.append(block)
    more = layout.size - len(variables.x)
    low, high = (np.concatenate([b, np.full(more, v)]) for b, v in ((variables.low, -np.inf), (variables.high, np.inf)))
    return out, layout, Variables(np.concatenate(begin), low, high)


def _plans(block: RowBlock) -> Sequence[ApartPlan]:
    own = getattr(block, "block", block)
    return (own.plan,) if isinstance(own, ApartRows) else ()


def _spheres(request: MotionRequest) -> tuple[tuple[BodySphere, ...], tuple[BodySphere, ...], tuple[BodySphere, ...]]:
    """Spheres kept off the ground from the start, those that will be once found below it, and those only drawn."""
    character = request.character
    if request.clear is not None or not character.floating:
        return tuple(spheres_on(character, request.clear or ())), (), ()
    rest = (*spheres_off_feet(character), *shapes_of_feet(character))
    return tuple(spheres_on(character, [f.name for f in character.feet])), rest, tuple(drawn_shapes(character))


# -- cost ------------------------------------------------------------------------------------------------------------


def _cost(
    start: StartingPoint, e: MotionEvaluation, layout: Layout, torques: TorquePlan | None, blocks: Sequence[RowBlock]
) -> MotionCost:
    taste = start.request.taste
    near, goal = nearness(start, e, taste)
    smooth = weights(start.character, taste)[0]
    return MotionCost(e, layout, smooth, goal, near, soft_keys(start, e), _prices(start, layout, torques, blocks))


def soft_keys(start: StartingPoint, e: MotionEvaluation) -> list[tuple[int, Ints, Array, float]]:
    """Returns frame, dofs, coordinates and weight of the keys that are costs."""
    out = []
    for key in start.keys:
        if key.soft is not None:
            frame = start.key_frame(key)
            out.append((frame, *key_target(start.character, key, e, frame), key.soft))
    return out


def _prices(start: StartingPoint, layout: Layout, torques: TorquePlan | None, blocks: Sequence[RowBlock]) -> Array:
    """What squares of the variables beside the curve cost, (size,)."""
    out = np.zeros(layout.size)
    if start.holds:
        out[min(layout.forces) : layout.torques] = start.request.taste.force
    for impact, first in zip(start.impacts, layout.impulses, strict=True):
        tuning, taste = start.request.impact, start.request.taste
        joints, jump = len(start.impact_torques.dofs), jump_variable(start, impact, first)
        out[first : jump - joints] = taste.force
        out[jump - joints : jump] = tuning.effort
        # what the same change costs as a steady acceleration for as long as the impact stands for
        out[jump : jump + layout.nv] = weights(start.character, taste)[0] / (tuning.seconds * SPEED_SCALE**2)
    rest = layout.curve + len(start.timeline.free)
    out[rest:] = np.maximum(out[rest:], SMALLEST_PRICE)
    if torques is not None:
        time = np.repeat(knot_seconds(start.timeline, start.frames), len(torques.dofs))
        effort = np.tile(torques.effort, start.frames.knots) * time
        out[layout.torques : layout.torques + len(effort)] = np.maximum(effort, SMALLEST_EFFORT)
    for block in blocks:
        if isinstance(block, ElasticRows):
            out[block.slacks] = block.price
    return out
