"""A live figure jumps and performs on demand, and stands again; planned here instead of in the worker."""

from __future__ import annotations

import pytest
from studio_bench import Bench

from counterpoise.studio.actions.jobs import planned
from counterpoise.studio.jobs import JobDone, scene_values
from counterpoise.studio.live import LiveRun
from counterpoise.studio.performing import NewPlan, plan_for_jump, plan_for_keys

PICTURES = 240  # four seconds


def perform(bench: Bench, plan: NewPlan) -> tuple[float, float]:
    """Performs a plan as when the worker has found it. Returns the greatest and the last height of the root [m]."""
    run = bench.shop.live
    assert isinstance(run, LiveRun) and run.performing is not None
    run.performing.wanted = run.performing.key(bench.shop.document.shown.name, bench.shop.document.shown.number)
    planned(bench.shop, JobDone("planned", plan=plan))
    assert bench.last("live_changed")["stage"] == "performs"
    bench.do({"type": "act_live"})  # the plan is kept: nothing is planned again
    assert not [event for event in bench.events if event["type"] == "job_changed"]
    heights = []
    for _ in range(PICTURES):
        bench.shop.advance_live()
        heights.append(float(run.poses[-1][2]))
    assert bench.last("live_changed")["stage"] == "stands"
    return max(heights), heights[-1]


@pytest.mark.slow
def test_a_jump_on_demand(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "jump"})
    run = bench.shop.live
    assert run is not None and run.performing is not None
    plan = plan_for_jump(lambda _: True, bench.shop.character, run.performing.wish)
    for _ in range(2):
        top, end = perform(bench, plan)
        assert top > end + 0.2 and end > 0.85


@pytest.mark.slow
def test_the_keys_on_the_timeline_are_performed(bench: Bench) -> None:
    bench.do({"type": "open_starter", "name": "jump"})
    bench.do({"type": "start_live", "controller": "perform"})
    plan = plan_for_keys(lambda _: True, **scene_values(bench.shop.document.scene, "main"))
    run = bench.shop.live
    assert run is not None
    for way in (0.4, 1.0):  # [m]: it lands 0.6 m ahead each time
        perform(bench, plan)
        assert run.poses[-1][0] > way and run.poses[-1][2] > 0.85
