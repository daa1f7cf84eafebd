"""The plan of the next two or three steps: when and where feet land, and the way of the CoM until then.

`build_plan` writes the problem down, `solve_plan` solves it (preview_residuals.py says what is minimised).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.errors import BadValue
from counterpoise.plan.leg_frame import LegFrame, PlanStart, PlanWish
from counterpoise.plan.pendulum import capture_after, periodic_capture
from counterpoise.plan.preview_costs import NAMES, ON_THE_WAY, SPEED, PlanCosts
from counterpoise.plan.preview_residuals import (
    CAPTURE_ROWS,
    DOUBLE,
    FIRST_X,
    HEADING,
    LAST_X,
    LEAST,
    MOST,
    ROW_COSTS,
    SIDE,
    START_NUMBERS,
    STEP_COLUMNS,
    STEP_ROWS,
    USUAL,
    WAS_TIME,
    preview_residuals,
)
from counterpoise.plan.preview_search import search_steps

MOST_STEPS = 3
SIGN = (1.0, -1.0)  # of the left and the right side
PATH_SAMPLES = 12  # of each phase, where a path is drawn


@dataclass(frozen=True, eq=False)
class PlanProblem:
    """The cheapest steps are asked for: unknown are time, x and y of each, seen from the stance ankle and the heading
    of the first landing. The columns of the arrays are named in preview_residuals.py."""

    frame: LegFrame
    origin: Array  # (2,) the stance ankle, world
    heading: float  # [rad] of the first landing
    start: Array  # (12,)
    steps: Array  # (n, 17)
    body: Array  # (14,)
    roots: Array  # (12,) square roots of the weights
    last: FootstepPlan | None = None  # the plan before, and its age in `aged`
    aged: float = 0.0  # [s]

    @property
    def count(self) -> int:
        """How many steps."""
        return len(self.steps)

    def ways(self) -> list[Ints]:
        """Returns all combinations of steps to the own side (0) and crossed ahead (1) or behind (-1)."""
        return [np.array([*some, 0]) for some in product((0, 1, -1), repeat=self.count - 1)]

    def residuals(self, x: Array, ways: Ints) -> tuple[Array, Array]:
        """Returns the residuals of steps and their derivatives."""
        r, J = np.empty(STEP_ROWS * self.count + 1), np.empty((STEP_ROWS * self.count + 1, 3 * self.count))
        preview_residuals(
            np.array(x, float), ways, self.start, self.steps, self.body, self.roots, r, J, np.empty((self.count, 4))
        )
        return r, J

    def cost(self, x: Array) -> float:
        """Returns what steps cost, crossed or not as is cheapest. Times beyond their bounds count as at the bound."""
        x = np.array(x, float)
        x[::3] = np.clip(x[::3], self.steps[:, LEAST], self.steps[:, MOST])
        return min(float(np.sum(self.residuals(x, ways)[0] ** 2)) for ways in self.ways())

    def costs(self, x: Array, ways: Ints) -> dict[str, float]:
        """Returns the cost of steps by the names of `PlanCosts`."""
        squares = self.residuals(x, ways)[0] ** 2
        found = dict.fromkeys(NAMES, 0.0)
        for row, square in enumerate(squares[:-1].tolist()):
            step, kind = divmod(row, STEP_ROWS)
            name = NAMES[ROW_COSTS[kind]]
            if kind in CAPTURE_ROWS and step < self.count - 1:
                name = NAMES[ON_THE_WAY]
            found[name] += square
        found[NAMES[SPEED]] = float(squares[-1])
        return found


class PlannedPath(NamedTuple):
    """Where CoM, capture point and centre of pressure will be."""

    times: Array  # (m,) [s] from now
    com: Array  # (m, 2) [m] world
    capture: Array  # (m, 2)
    pressure: Array  # (m, 2)


@dataclass(frozen=True, eq=False)
class FootstepPlan:
    """The next steps of a body. Places in the world, times in seconds from now."""

    problem: PlanProblem
    x: Array  # (3 n,) the unknowns
    ways: Ints  # (n,) 0: to its own side, 1: crossed ahead of the stance foot, -1: behind it
    cost: float
    iterations: int
    landed: Array  # (n, 4) capture point and eta at every landing, seen as the unknowns are

    @cached_property
    def footholds(self) -> Array:
        """(n, 2) where the ankles will be, feet flat."""
        return self._in_world(self.x.reshape(-1, 3)[:, 1:])

    def _in_world(self, places: Array) -> Array:
        c, s = math.cos(self.problem.heading), math.sin(self.problem.heading)
        return self.problem.origin + places @ np.array([[c, s], [-s, c]])

    @cached_property
    def landing_com(self) -> Array:
        """(n, 2) where the CoM will be at every landing."""
        return self._in_world(0.5 * (self.landed[:, :2] + self.landed[:, 2:]))

    @cached_property
    def landing_capture(self) -> Array:
        """(n, 2) where the capture point will be at every landing."""
        return self._in_world(self.landed[:, :2])

    @cached_property
    def swing_times(self) -> Array:
        """(n,) [s] of single support; of the first step, what is left of it."""
        return self.x[::3].copy()

    @cached_property
    def landing_times(self) -> Array:
        """(n,) [s] from now."""
        return np.cumsum(self.swing_times + self.problem.steps[:, DOUBLE])

    @cached_property
    def headings(self) -> Array:
        """(n,) [rad] of the feet that land."""
        return self.problem.heading + self.problem.steps[:, HEADING]

    @cached_property
    def feet(self) -> Ints:
        """(n,) which foot lands: 0 the left one, 1 the right one."""
        return np.where(self.problem.steps[:, SIDE] > 0.0, 0, 1)

    @cached_property
    def costs(self) -> dict[str, float]:
        """What the plan costs, by the names of `PlanCosts`."""
        return self.problem.costs(self.x, self.ways)

    @cached_property
    def path(self) -> PlannedPath:
        """Where CoM, capture point and centre of pressure will be until the last landing."""
        q, omega = self.problem, self.problem.frame.omega
        feet = np.vstack([np.zeros((1, 2)), self.x.reshape(-1, 3)[:, 1:]])
        xi, eta = q.start[:2].copy(), q.start[2:4].copy()
        rows, now = [np.array([0.0, *(0.5 * (xi + eta)), *xi, *q.start[8:10]])], 0.0
        for k in range(q.count):
            s = q.steps[k]
            lift = q.start[10:12] if k == 0 else feet[k] + s[FIRST_X : FIRST_X + 2]
            before = q.start[8:10] if k == 0 else feet[k - 1] + q.steps[k - 1, LAST_X : LAST_X + 2]
            for T, p0, p1 in ((s[DOUBLE], before, lift), (self.x[3 * k], lift, feet[k] + s[LAST_X : LAST_X + 2])):
                if T <= 0.0:
                    continue
                for share in np.linspace(0.0, 1.0, PATH_SAMPLES + 1)[1:]:
                    p = p0 + share * (p1 - p0)
                    a = [capture_after(xi[i], p0[i], p[i], share * T, omega) for i in range(2)]
                    b = [capture_after(eta[i], p0[i], p[i], share * T, -omega) for i in range(2)]
                    rows.append(np.array([now + share * T, *(0.5 * np.add(a, b)), *a, *p]))
                xi, eta, now = np.array(a), np.array(b), now + T
        table = np.array(rows)
        c, s = math.cos(q.heading), math.sin(q.heading)
        turn = np.array([[c, s], [-s, c]])
        com, capture, pressure = (q.origin + table[:, i : i + 2] @ turn for i in (1, 3, 5))
        return PlannedPath(table[:, 0], com, capture, pressure)


def build_plan(
    frame: LegFrame, start: PlanStart, wish: PlanWish, steps: int = 3, costs: PlanCosts | None = None,
    last: FootstepPlan | None = None, aged: float = 0.0,
) -> PlanProblem:  # fmt: skip
    """Returns the problem of the next one to three steps. `last` is the plan made `aged` [s] ago, for the same feet."""
    if isinstance(steps, bool) or not isinstance(steps, int) or not 1 <= steps <= MOST_STEPS:
        raise BadValue(f"a plan has 1 to {MOST_STEPS} steps; got {steps!r}")
    if not 0.0 <= aged < math.inf:
        raise BadValue(f"build_plan: aged is the age of the last plan in seconds; got {aged!r}")
    c, s = math.cos(wish.heading), math.sin(wish.heading)
    turn = np.array([[c, -s], [s, c]])  # places of the world, times this, are seen along the heading
    origin = start.stance_foot
    seen = {name: (getattr(start, name) - origin) @ turn for name in ("com", "capture", "swing_foot", "pressure")}
    table = np.full((steps, STEP_COLUMNS), np.nan)
    double = start.swung is None
    single = wish.time - wish.double
    for k in range(steps):
        foot = (1 - start.stance) if k % 2 == 0 else start.stance
        stood = 1 - foot
        sign, heading = SIGN[foot], wish.turn * k
        heel, _, front, _ = frame.soles[stood].tolist()
        first = heel + frame.first_pressure * (front - heel)
        roll = (frame.last_pressure - frame.first_pressure) * (front - heel)
        last_at = first + roll * min(max(wish.length, 0.0) / frame.roll_step, 1.0)
        steady = periodic_capture(
            complex(wish.length, wish.aside), wish.width, sign, wish.turn, first, last_at, wish.double, single,
            frame.omega,
        )  # fmt: skip
        yaw = start.stance_yaw - wish.heading if k == 0 else heading - wish.turn
        along = np.array([math.cos(yaw), math.sin(yaw)])
        least, usual = frame.least_swing, single
        if k == 0 and not double:
            assert start.swung is not None
            least = max(frame.least_left, frame.least_swing - start.swung)
            usual = wish.time - start.gone
        usual = max(usual, least)
        most = usual + frame.longest_left
        wait = (start.double_left if double else 0.0) if k == 0 else wish.double
        table[k, : FIRST_X] = (
            usual, least, most, wait, heading, sign, wish.length, sign * wish.width + wish.aside, steady.real,
            steady.imag,
        )  # fmt: skip
        table[k, FIRST_X : FIRST_X + 2], table[k, LAST_X : LAST_X + 2] = first * along, last_at * along
    for at in (FIRST_X, LAST_X):
        table[0, at : at + 2] += start.shift @ turn
    numbers = np.empty(START_NUMBERS)
    numbers[:2], numbers[2:4] = seen["capture"], 2.0 * seen["com"] - seen["capture"]
    numbers[4:6], numbers[6:8], numbers[8:10] = seen["swing_foot"], start.swing_velocity @ turn, seen["pressure"]
    numbers[10:12] = table[0, FIRST_X : FIRST_X + 2] if double else seen["pressure"]
    body = np.array([
        frame.omega, frame.reach, frame.rear_reach, frame.hips_ahead, frame.half_hips,
        max(frame.narrowest * wish.width, frame.apart), frame.widest * wish.width, frame.forward, frame.backward,
        frame.clear, frame.crossed, frame.foot_acceleration, frame.foot_speed, wish.length / wish.time,
    ])  # fmt: skip
    if last is not None:
        _keep_last(table, last, origin, turn, aged)
    roots = (costs or PlanCosts()).roots(frame.leg, frame.clock)
    for array in (numbers, table, body, roots):
        array.flags.writeable = False
    return PlanProblem(frame, origin, wish.heading, numbers, table, body, roots, last, aged)


def _keep_last(table: Array, last: FootstepPlan, origin: Array, turn: Array, aged: float) -> None:
    """Fills in what the last plan says about the same landings."""
    done = 0
    while done < len(last.feet) and SIGN[int(last.feet[done])] != table[0, SIDE]:
        done += 1  # that foot has landed
    for k in range(min(len(table), len(last.feet) - done)):
        time = last.swing_times[done + k]
        if done == 0 and k == 0:  # it is under way
            time = max(last.landing_times[0] - aged - table[0, DOUBLE], 0.0)
        table[k, WAS_TIME] = min(max(time, table[k, LEAST]), table[k, MOST])
        table[k, WAS_TIME + 1 :] = (last.footholds[done + k] - origin) @ turn


def solve_plan(problem: PlanProblem, start: FootstepPlan | None = None, anew: bool = True) -> FootstepPlan:
    """Returns the cheapest steps.

    `start` is a plan to begin from, for example the last one. With `anew` other seeds are tried as well: at a landing,
    after a push, and where something else is asked for.
    """
    count = problem.count
    x, ways, tally = np.zeros(3 * count), np.zeros(count, np.int64), np.zeros(1, np.int64)
    warm = 0
    if start is not None:
        warm = 1 if anew else 2
        if not _begin_from(problem, start, x, ways):
            warm = 0
    landed = np.empty((count, 4))
    cost = search_steps(problem.start, problem.steps, problem.body, problem.roots, x, ways, warm, tally, landed)
    x.flags.writeable = ways.flags.writeable = landed.flags.writeable = False
    return FootstepPlan(problem, x, ways, float(cost), int(tally[0]), landed)


def _begin_from(problem: PlanProblem, start: FootstepPlan, x: Array, ways: Ints) -> bool:
    """Fills in the steps of another plan; a step that it does not have goes on as it is asked for."""
    c, s = math.cos(problem.heading), math.sin(problem.heading)
    turn = np.array([[c, -s], [s, c]])
    done = 0
    while done < len(start.feet) and SIGN[int(start.feet[done])] != problem.steps[0, SIDE]:
        done += 1
    if done == len(start.feet):
        return False
    place = np.zeros(2)
    for k in range(problem.count):
        row = problem.steps[k]
        if done + k < len(start.feet):
            time = float(start.swing_times[done + k])
            if k == 0 and not math.isnan(row[WAS_TIME]):
                time = row[WAS_TIME]
            place = (start.footholds[done + k] - problem.origin) @ turn
            ways[k] = start.ways[done + k]
        else:
            time = row[USUAL]
            c, s = math.cos(row[HEADING]), math.sin(row[HEADING])
            place = place + np.array([c * row[6] - s * row[7], s * row[6] + c * row[7]])
            ways[k] = 0
        x[3 * k] = min(max(time, row[LEAST]), row[MOST])
        x[3 * k + 1 : 3 * k + 3] = place
    ways[problem.count - 1] = 0
    return True
