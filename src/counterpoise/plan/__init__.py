"""Plans of few numbers, ahead of the body: a pendulum's next steps, and a point mass that bounces from foot to foot."""

from __future__ import annotations

from counterpoise.plan.leg_frame import LegFrame, PlanStart, PlanWish
from counterpoise.plan.preview import FootstepPlan, PlanProblem, build_plan, solve_plan
from counterpoise.plan.preview_costs import PlanCosts

__all__ = [
    "FootstepPlan", "LegFrame", "PlanCosts", "PlanProblem", "PlanStart", "PlanWish", "build_plan", "solve_plan",
]  # fmt: skip
