"""One whole-body solve, compiled: a metric, a chain of levels, and an active set on bounds. Each phase is one file.

1. `metric`: coordinates u in which the last level is |u|^2.
2. `chain`: the strict levels reduced to triangles of leading coordinates of u, once a tick.
3. `cascade`: the optimum with a given working set held as equalities.
4. `active_set`, `pricing`: step towards that optimum, hold what blocks it, release what should not be held.
5. `answer`: accelerations, multipliers, torques and residuals.

The arrays have names in `layout`. Escande, Mansard, Wieber 2014 (hierarchical quadratic programming); de Lasa 2011,
chapter 6.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import inner_kernel, lean_kernel, merged_kernel
from counterpoise.solve.body.active_set import begin, hold, list_working_set, ratio_test, take_step
from counterpoise.solve.body.answer import fall_back, keep_within, meets_equalities, read_candidate, write_residuals
from counterpoise.solve.body.cascade import assemble, cascade
from counterpoise.solve.body.chain import build_chain, meet_mass_rows
from counterpoise.solve.body.layout import lay_out
from counterpoise.solve.body.metric import make_metric
from counterpoise.solve.body.pricing import close_levels
from counterpoise.solve.body.workspace import (
    ADDED,
    CASCADES,
    DEPENDENT,
    DEPTH_USED,
    FREE,
    LEVEL,
    NOT_FINITE,
    OUT_OF_STEPS,
    RELEASED,
    SOLVED,
    STATUS,
    STEPS,
    ZERO_STEPS,
    BodyDynamics,
    BodyLimits,
    BodyWorkspace,
    FaceSizes,
    LastLevel,
    PricingProgress,
    StrictLevels,
    TickMemory,
    TickResult,
    TickScratch,
    TickSettings,
)

RANK_TOLERANCE = 1e-13  # a row shorter than this part of its level's longest row is dependent
CHAIN_TOLERANCE = 1e-9  # equalities closer than this to dependence enter the chain one level earlier
ZERO_STEP = 1e-12  # a step shorter than this counts as zero
MAX_ZERO_STEPS = 10  # after so many of them in a row the first bound is released instead of the steepest


@lean_kernel
def solve_core(
    dynamics: tuple[Array, Array, Array, int],
    limits: tuple[Array, Array, Array],
    levels: tuple[Array, Array, Ints],
    last: tuple[Array, Array, Array, Array, float],
    settings: tuple[float, float, int],
    memory: tuple[Ints, Array],
    scratch: tuple[Array, Ints],
    result: tuple[Array, Ints],
) -> None:
    """One tick, called from Python with plain tuples: numba reads them four times as fast as named ones."""
    solve_tick(
        BodyDynamics(*dynamics), BodyLimits(*limits), StrictLevels(*levels), LastLevel(*last), TickSettings(*settings),
        TickMemory(*memory), TickScratch(*scratch), TickResult(*result),
    )  # fmt: skip


@merged_kernel
def solve_tick(
    body: BodyDynamics, limits: BodyLimits, levels: StrictLevels, last: LastLevel, settings: TickSettings,
    memory: TickMemory, scratch: TickScratch, result: TickResult,
) -> None:  # fmt: skip
    """One tick. The memory is changed in place."""
    n, k = body.G.shape
    for i in range(len(result.stat)):
        result.stat[i] = 0
    space = lay_out(scratch, memory, result, last.a_ref, k, len(levels.b), len(last.b_e), len(levels.starts) - 1)
    begin(limits, body.root, settings.share, space.bounds, space.working)
    if not _all_finite(body, levels, last):
        result.stat[STATUS] = NOT_FINITE
        return
    make_metric(last, space.metric)
    build_chain(levels, space.metric, space.chain, space.system, settings.rank_tolerance)
    status = iterate(body, space, last.force_weight, settings.max_steps, result.stat)
    result.stat[STATUS] = status
    if status == SOLVED:
        keep_within(space.bounds, space.candidate)
    else:
        fall_back(body, space.working, space.mass, space.candidate)
    write_residuals(levels, last, space.candidate, result.values[2 * n + k :])


@merged_kernel
def iterate(body: BodyDynamics, space: BodyWorkspace, force_weight: float, max_steps: int, stat: Ints) -> int:
    """Changes the working set, one bound a step, until every level is closed. Returns the status."""
    bounds, working, chain, candidate = space.bounds, space.working, space.chain, space.candidate
    p, unit = len(chain.height), 1.0 / np.sqrt(force_weight)
    for j in range(len(body.h)):
        space.mass.slot[j] = -1
    for i in range(len(working.tried)):
        working.tried[i] = 0
    met, turned = 0, chain.corner[p]
    progress = PricingProgress(0, p, np.inf)
    depth = min(max(working.held[-1], 0) + 1, p)
    status, released, released_side, zero_steps = OUT_OF_STEPS, -1, FREE, 0
    while stat[STEPS] < max_steps:
        stat[STEPS] += 1
        equal, free = list_working_set(working, body.root)
        met, turned = meet_mass_rows(body, working.equal[:equal], space.metric, chain, space.mass, met, turned)
        face = FaceSizes(equal, free, turned)
        depth = find_candidate(body, space, face, depth, unit, stat)
        if depth < 0:
            status, depth = DEPENDENT, 0
            break
        step, block, side = ratio_test(bounds, working, candidate)
        take_step(bounds, working, candidate, step)
        if block >= 0:
            if step < ZERO_STEP:
                zero_steps += 1
                stat[ZERO_STEPS] += 1
            else:
                zero_steps = 0
            hold(block, side, bounds, working, released, released_side)
            released = -1
            stat[ADDED] += 1
            continue
        stalled = zero_steps > MAX_ZERO_STEPS
        released, progress = close_levels(body, space, face, depth, force_weight, stalled, progress)
        if released < 0:
            status = SOLVED
            break
        released_side = working.held[released]
        working.held[released] = FREE
        working.tried[released] += 1
        stat[RELEASED] += 1
        depth = min(depth + 1, progress.deepest)
    stat[LEVEL], stat[DEPTH_USED] = min(progress.level, p), depth
    working.held[-1] = depth
    return status


@merged_kernel
def find_candidate(
    body: BodyDynamics, space: BodyWorkspace, face: FaceSizes, depth: int, unit: float, stat: Ints
) -> int:
    """The optimum on the working set, by a cascade that begins as deep in the chain as the equalities allow.

    Returns that depth, or -1 where the equalities are dependent even without the chain: M is singular.
    """
    while depth >= 0:
        assemble(body, space, face, depth, unit)
        stat[CASCADES] += 1
        columns = face.turned - space.chain.corner[depth] + face.free
        dependent = CHAIN_TOLERANCE if depth > 0 else RANK_TOLERANCE
        if cascade(space.system, face.equal, depth, columns, dependent, RANK_TOLERANCE):
            read_candidate(body, space, face, depth, unit)
            if depth == 0 or meets_equalities(body, space, face):
                return depth
        depth -= 1
    return depth


@merged_kernel
def _all_finite(body: BodyDynamics, levels: StrictLevels, last: LastLevel) -> bool:
    """Whether no number is NaN or infinite."""
    vectors = _finite(body.h) and _finite(last.weight) and _finite(last.a_ref) and _finite(levels.b)
    return (
        vectors
        and _finite(last.b_e)
        and (_rows_finite(body.M) and _rows_finite(body.G) and _rows_finite(levels.A) and _rows_finite(last.A_e))
    )


@inner_kernel
def _rows_finite(X: Array) -> bool:
    fine = True
    for i in range(len(X)):
        fine &= _finite(X[i])
    return fine


@inner_kernel
def _finite(x: Array) -> bool:
    """Whether all numbers are finite. They are counted, without a branch, so that the loop vectorises."""
    count = 0
    for j in range(len(x)):
        count += abs(x[j]) < np.inf
    return count == len(x)
