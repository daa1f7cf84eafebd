"""The trunk leans forward over a leg that has stepped up and is folded far.

The CoM comes over the foot while the hips stay behind it: else the shin would lean beyond the stop of the ankle.
"""

from __future__ import annotations

from counterpoise.control.walk.planes import plane_at
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import StepPlan
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walking_body import WalkingBody

EASY_FOLD = 0.12  # [leg lengths] by which the hips are lower than standing over a foot, for which nothing leans
LEAN_GAIN = 2.0  # [rad/leg length] of what is beyond
HIGHER = 0.05  # [leg lengths] than the ground behind, of ground that is a step up
LARGEST_LEAN = 0.7  # [rad]


def lean_over(m: WalkMemory, seen: SeenBody, plan: StepPlan, body: WalkingBody) -> float:
    """Returns by how much the trunk leans forward for the leg that carries, or will carry after this swing [rad]."""
    assert m.time is not None
    hips, here = float(seen.hips[0, 2]), float(seen.base[m.stance])
    rear = float(m.left_ground[2] if m.phase == "single" else seen.base[1 - m.stance])
    folded = body.hips_height - (hips - here) if here - rear > HIGHER * body.hips_height else 0.0
    if m.phase == "single":
        there = plane_at(plan.ground, plan.foothold[0], plan.foothold[1])
        swung = m.time - m.lifted
        share = swung / (swung + max(plan.left, 1e-3))
        folded = max(folded, share * (body.hips_height - (hips - there)))
    return min(LEAN_GAIN * max(folded / body.hips_height - EASY_FOLD, 0.0), LARGEST_LEAN)
