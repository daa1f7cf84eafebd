"""The compiled fit behind retargeting: every frame of a clip, one after the other, by damped Gauss-Newton.

A frame minimises, over the pose q, the sum of squares of

    w_d |swing(d, d*)|, w_t phi     each mapped body: its bone d brought to d*, then turned by phi about it,
    w_p (p(q) - p*)                 points that belong at a place (hips, soles, hands),
    w_f min(0, p_z - r)             points, or balls of radius r, that must not sink into the ground,
    w_l max(0, g(q) + margin)       swing cones and twists of ball joints,
    w_i (q - q_ref)_i               the distance from a reference pose,

within the ranges of hinges and slides, which an active set holds exactly. Each frame starts from its own first guess or
from the frame before.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import FREE, Tree
from counterpoise.kernels import inner_kernel, kernel
from counterpoise.motion.retarget.cost import Aims, Balls, Lists, Points, frame_cost
from counterpoise.motion.retarget.step import limited_step
from counterpoise.motion.retarget.tangents import move_along, tangent_from

MAX_STEP = 0.6  # [rad, m] of any coordinate in one iteration ...
MAX_ROOT_STEP = 10.0  # [m] ... and of the place of a free root
MAX_TRIALS = 12  # of one step, each with more damping
MIN_DAMPING = 1e-7
TRIAL_DAMPING = 1e-4  # least damping after a step that raised the cost
SINGULAR_DAMPING = 1e-6  # least damping after a singular matrix
MIN_GAIN = 1e-13  # of the cost; a step that gains less is the last


@kernel
def fit_frames(
    guess: Array, first: Ints, tree: Tree, above: Lists, aims: Aims, wanted: Array, points: Points, places: Array,
    pulls: Array, tie: Array, reference: Array, ranges: tuple[Ints, Ints, Array, Array], balls: Balls,
    limit: tuple[float, float], most: int, tolerance: float, follow: float,
) -> tuple[Array, Ints]:  # fmt: skip
    """Fits every frame. Returns poses (n, nq) and the number of steps that each took.

    `guess` (n, nq) are first guesses; where `first` is 0 the frame starts from the pose before it, moved on by the
    change of the guesses if `follow` is 1. `ranges` are (q address, dof, low, high) of hinges and slides. A frame ends
    after `most` steps, or with a step below `tolerance` [rad, m]. The other arguments are those of `frame_cost`.
    """
    n, nq = guess.shape
    nv = len(tie)
    count = len(tree[0])
    frames = (np.zeros((count, 3)), np.zeros((count, 9)), np.zeros((count, 4)), np.zeros((nv, 6)))
    frames[1][0, 0] = frames[1][0, 4] = frames[1][0, 8] = frames[2][0, 0] = 1.0
    tangent = np.zeros(nv)
    H, L, g, x = np.zeros((nv, nv)), np.zeros((nv, nv)), np.zeros(nv), np.zeros(nv)
    H2, g2 = np.zeros((nv, nv)), np.zeros(nv)
    limits = len(balls[5]) + 2 * len(balls[0])
    rows = (np.zeros(limits), np.zeros((limits, 3)), np.zeros(limits, np.int64))
    low, high, held = np.empty(nv), np.empty(nv), np.zeros(nv, np.int64)
    out, steps = np.empty((n, nq)), np.zeros(n, np.int64)
    q, trial = np.empty(nq), np.empty(nq)
    kinds, joint_q, joint_v = tree[5], tree[6], tree[7]
    for f in range(n):
        if first[f] == 1 or f == 0:
            q[:] = guess[f]
        elif follow > 0.0:
            tangent_from(guess[f - 1], guess[f], kinds, joint_q, joint_v, x)
            move_along(out[f - 1], x, kinds, joint_q, joint_v, q)
        else:
            q[:] = out[f - 1]
        _clamp(q, ranges)
        held[:] = 0
        damping = MIN_DAMPING
        cost = frame_cost(
            q, tree, above, aims, wanted[f], points, places[f], pulls[f], tie, reference[f], balls, limit, frames,
            tangent, rows, True, H, g,
        )  # fmt: skip
        for _step in range(most):
            steps[f] += 1
            _step_bounds(q, ranges, kinds[0] == FREE, low, high)
            accepted = False
            for _ in range(MAX_TRIALS):
                if not limited_step(H, g, rows, limit[0] ** 2, damping, low, high, held, x, L, H2, g2):
                    damping = max(10.0 * damping, SINGULAR_DAMPING)
                    continue
                move_along(q, x, kinds, joint_q, joint_v, trial)
                after = frame_cost(
                    trial, tree, above, aims, wanted[f], points, places[f], pulls[f], tie, reference[f], balls, limit,
                    frames, tangent, rows, True, H, g,
                )  # fmt: skip
                if after <= cost * (1.0 + 1e-12) + 1e-15:
                    accepted = True
                    break
                cost = frame_cost(
                    q, tree, above, aims, wanted[f], points, places[f], pulls[f], tie, reference[f], balls, limit,
                    frames, tangent, rows, True, H, g,
                )  # fmt: skip
                damping = max(10.0 * damping, TRIAL_DAMPING)
                held[:] = 0
            if not accepted:
                break
            gain = cost - after
            q[:] = trial
            cost = after
            damping = max(0.1 * damping, MIN_DAMPING)
            largest = 0.0
            for i in range(nv):
                largest = max(largest, abs(x[i]))
            if largest < tolerance or gain < MIN_GAIN:
                break
        _clamp(q, ranges)
        out[f] = q
    return out, steps


@inner_kernel
def _clamp(q: Array, ranges: tuple[Ints, Ints, Array, Array]) -> None:
    """Moves hinges and slides into their ranges."""
    addresses, _, lows, highs = ranges
    for i in range(len(addresses)):
        q[addresses[i]] = min(max(q[addresses[i]], lows[i]), highs[i])


@inner_kernel
def _step_bounds(q: Array, ranges: tuple[Ints, Ints, Array, Array], free: bool, low: Array, high: Array) -> None:
    """Fills the bounds of a step: its largest size, and the ranges of hinges and slides."""
    addresses, dofs, lows, highs = ranges
    for i in range(len(low)):
        largest = MAX_ROOT_STEP if free and i < 3 else MAX_STEP
        low[i], high[i] = -largest, largest
    for i in range(len(addresses)):
        dof, at = dofs[i], addresses[i]
        low[dof] = max(low[dof], lows[i] - q[at])
        high[dof] = min(high[dof], highs[i] - q[at])
