"""A live locomotion jumps on its way, and onto blocks; it goes on, or stands, while the worker plans."""

from __future__ import annotations

from typing import Any

import pytest
from studio_bench import Bench

from counterpoise.control.locomotion import Locomotion
from counterpoise.control.perform import plan_store
from counterpoise.control.perform.jump_plan import JumpWish
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.scene import AddTerrain
from counterpoise.studio.actions.jobs import planned
from counterpoise.studio.jobs import Job, JobDone
from counterpoise.studio.live import LiveRun
from counterpoise.studio.performing import plan_for_jump

SECOND = 60  # pictures


class Worker:
    """Takes jobs as the studio's worker does; the test says when they are done."""

    def __init__(self) -> None:
        self.current: Job | None = None
        self.asked: list[dict[str, Any]] = []

    def start(self, kind: str, motion: str, frames: int, values: dict[str, Any]) -> Job:
        self.current = Job(len(self.asked) + 1, "plan_jump", motion, frames)
        self.asked.append(values)
        return self.current


def live(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> tuple[LiveRun, Worker]:
    """Starts a live locomotion, in whose own process nothing is planned."""
    worker = Worker()
    bench.shop.jobs = worker  # type: ignore[assignment]
    bench.do({"type": "start_live", "controller": "locomotion"})
    assert bench.shop.live is not None

    def never(*_: Any) -> None:
        raise AssertionError("a jump was planned by the thread that simulates")

    monkeypatch.setattr(plan_store, "_optimised", never)
    monkeypatch.setenv(plan_store.FOLDER, "")
    return bench.shop.live, worker


def go(bench: Bench, pictures: int) -> None:
    for _ in range(pictures):
        bench.shop.advance_live()
    assert bench.shop.live is not None, bench.events


def test_wishes_of_the_jump_are_a_table_of_their_own(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run, _ = live(bench, monkeypatch)
    bench.do({"type": "tune_live", "table": "jump", "name": "height", "value": 0.15})
    bench.do({"type": "choose_live", "table": "jump", "name": "style", "value": "tuck"})
    bench.do({"type": "choose_live", "name": "style", "value": "proud"})
    assert run.jumping is not None and run.jumping.wish == JumpWish(height=0.15, style="tuck")
    assert isinstance(run.session.controller, Locomotion) and run.session.controller.style == "proud"
    assert bench.do({"type": "tune_live", "table": "jump", "name": "lean", "value": 0.1})[0]["type"] == "trouble"


def test_it_walks_on_while_its_jump_is_planned(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run, worker = live(bench, monkeypatch)
    bench.do({"type": "tune_live", "table": "controller", "name": "speed", "value": 0.8})
    go(bench, 1)
    bench.do({"type": "act_live"})
    assert worker.asked[0]["wish"] == run.jumping.wish  # type: ignore[union-attr]
    go(bench, 2 * SECOND)
    assert bench.last("live_changed")["stage"] == "is planned"
    assert run.poses[-1][0] > 0.5  # [m]: it has not waited
    worker.current = None
    planned(bench.shop, JobDone("no motion was found for this jump", failed=True))
    assert bench.last("trouble") and len(worker.asked) == 1
    go(bench, 3)
    assert len(worker.asked) == 1 and bench.last("live_changed")["stage"] == "goes"  # asked for again only by hand


def test_a_jump_waits_for_the_worker(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    _, worker = live(bench, monkeypatch)
    go(bench, 1)
    worker.current = Job(9, "check", "main", 0)
    bench.do({"type": "act_live"})
    go(bench, 2)
    assert not worker.asked
    worker.current = None
    go(bench, 1)
    assert len(worker.asked) == 1


def test_it_stands_before_a_block_while_its_jump_is_planned(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    front, high = 1.2, 0.5  # [m]
    block = {"center": [front + 2.0, 0.0], "size": [4.0, 4.0], "height": high}
    bench.shop.edit(AddTerrain("box", block))
    run, worker = live(bench, monkeypatch)
    bench.do({"type": "tune_live", "table": "controller", "name": "speed", "value": 1.0})
    go(bench, 8 * SECOND)
    assert [one["wish"].onto for one in worker.asked] == [high]
    leg = walking_body(bench.shop.character).hips_height
    assert 0.2 * leg < front - run.poses[-1][0] < 0.6 * leg  # of the root: it stands in front of it
    assert run.poses[-1][2] > 0.8
    before = run.poses[-1][:2].copy()
    go(bench, SECOND)
    assert abs(run.poses[-1][:2] - before).max() < 0.05


@pytest.mark.slow
def test_a_jump_on_the_way_twice(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_for_jump(lambda _: True, bench.shop.character, JumpWish(height=0.25))
    run, worker = live(bench, monkeypatch)
    bench.do({"type": "tune_live", "table": "jump", "name": "height", "value": 0.25})
    bench.do({"type": "tune_live", "table": "controller", "name": "speed", "value": 0.8})
    for way in (1.0, 2.0):  # [m]
        go(bench, 2 * SECOND)
        bench.do({"type": "act_live"})
        if worker.current is not None:
            worker.current = None
            planned(bench.shop, JobDone("planned", plan=plan))
        heights = []
        for _ in range(8 * SECOND):
            go(bench, 1)
            heights.append(float(run.poses[-1][2]))
        assert max(heights) > heights[0] + 0.15 and run.poses[-1][0] > way and run.poses[-1][2] > 0.8
    assert len(worker.asked) == 1  # its plan is kept
