"""One progress for all long calls: what is reported, how calls are stopped, what Ctrl-C does."""

from __future__ import annotations

import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import Stopped
from counterpoise.progress import Progress, Reporter, watching
from counterpoise.spacetime import OptimizeProgress

STUNTS = Path(__file__).parents[1] / "examples" / "stunts"


def squat() -> cp.Motion:
    return cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.6)


def slid() -> cp.Motion:
    """A squat whose feet slide, for as long as two windows of a fix."""
    motion = squat()
    times = np.arange(0.0, 1.6, 1.0 / 120.0)
    poses = np.array(motion.sample(np.mod(times, motion.duration)).q)
    poses[:, 0] += 0.02 * np.sin(2.0 * times)
    return replace(motion, times=times, poses=poses, loop=False, travel=False)


def test_false_stops_and_no_answer_goes_on():
    for answer, stopped in ((True, False), (None, False), (1, False), (False, True), (0, True)):
        with watching(lambda progress, said=answer: said) as reporter:
            assert reporter.report("work", 0.5) is not stopped and reporter.stopped is stopped
            assert not reporter.interrupted


def test_what_stops_the_outer_call_stops_the_inner_one():
    seen: list[str] = []
    with watching(lambda progress: seen.append(progress.stage)) as outer:
        with watching() as inner:
            assert inner.report("inside", 0.1) and seen == ["inside"]
        with watching(lambda progress: False) as alone:
            assert not alone.report("by itself", 0.1) and not outer.stopped
        outer.interrupt()
        with watching() as after:
            assert after.stopped and after.interrupted
    assert seen == ["inside"]


def test_ctrl_c_asks_first_and_raises_the_second_time():
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with watching() as reporter:
            assert reporter.report("work", 0.1)
            signal.raise_signal(signal.SIGINT)
            assert not reporter.report("work", 0.2) and reporter.interrupted
            with pytest.raises(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_handler_of_ones_own_is_left_alone():
    seen: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))
    try:
        with watching() as reporter:
            signal.raise_signal(signal.SIGINT)
            assert seen and not reporter.stopped
    finally:
        signal.signal(signal.SIGINT, before)


def test_shares_lie_between_none_and_all():
    seen: list[Progress] = []
    reporter = Reporter(seen.append)
    reporter.report("work", 1.7)
    reporter.report("work", -0.2, "words")
    assert seen == [Progress("work", 1.0), Progress("work", 0.0, "words")]


CALLS: dict[str, Any] = {
    "simulating": lambda watch: cp.simulate(cp.character("chain"), None, 0.3, progress=watch),
    "checking": lambda watch: cp.check_motion(squat(), progress=watch),
    "physics": lambda watch: cp.fix_motion(squat(), progress=watch),
    "posing": lambda watch: cp.animate_keys(
        cp.character("chain"), [cp.Keyframe(0.0, cp.character("chain").neutral), cp.Keyframe(0.2, {"joint2": 0.3})],
        progress=watch,
    ),
    "replaying": lambda watch: cp.replay(
        cp.simulate(cp.character("chain"), None, 0.3, world=cp.World(ground=False)), progress=watch
    ),
}  # fmt: skip


@pytest.mark.parametrize("stage", CALLS)
def test_long_calls_report_alike(stage: str):
    seen: list[Progress] = []
    CALLS[stage](seen.append)
    mine = [p for p in seen if p.stage == stage]
    assert mine and all(type(p) is Progress and 0.0 <= p.share <= 1.0 for p in mine)
    assert [p.share for p in mine] == sorted(p.share for p in mine)


@pytest.mark.parametrize("stage", CALLS)
def test_a_falsy_answer_is_asked_for_once(stage: str):
    """A call that goes on asking after it was told to stop goes on working."""
    seen: list[str] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress.stage)
        return len(seen) < 3

    with suppress(Stopped):
        CALLS[stage](watch)
    assert len(seen) <= 4, seen


def test_the_optimiser_shows_its_candidate_and_keeps_it():
    seen: list[OptimizeProgress] = []

    def watch(progress: Progress) -> bool:
        assert isinstance(progress, OptimizeProgress)
        seen.append(progress)
        return len(seen) < 4

    result = cp.read_stunt(STUNTS / "cycle.toml").optimize(callback=watch)
    assert result.status == "stopped" and len(seen) == 4
    assert seen[-1].motion().duration == pytest.approx(result.motion.duration, abs=0.2)
    assert seen[0].worst and [p.share for p in seen] == sorted(p.share for p in seen)


def test_a_stopped_check_says_so():
    with pytest.raises(Stopped, match="no report"):
        cp.check_motion(squat(), progress=lambda progress: progress.share < 0.3)


@pytest.mark.parametrize("stage", ["checking", "feet", "physics"])
def test_ctrl_c_in_a_fix_loses_nothing_whenever_it_comes(stage: str):
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    motion = slid()

    def press(progress: Progress) -> None:
        late = stage != "physics" or progress.share > 0.3
        if progress.stage == stage and late and not pressed:
            pressed.append(progress.share)
            signal.raise_signal(signal.SIGINT)

    pressed: list[float] = []
    try:
        result = cp.fix_motion(motion, tuning=cp.FixTuning(window=0.5, overlap=0.4), progress=press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert pressed and result.stopped and len(result.motion) == len(motion)
    if stage == "physics":
        end = result.windows[-1].end
        after = motion.times > end + 0.01
        assert after.any() and np.allclose(result.motion.poses[after], motion.poses[after])
        assert not np.allclose(result.motion.poses[~after], motion.poses[~after])
    else:
        assert not result.windows and np.array_equal(result.motion.poses, motion.poses)


@pytest.mark.slow
def test_converting_stops_between_files(tmp_path: Path):
    motion = cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.2)
    for name in "ab":
        motion.write(tmp_path / f"{name}.npz")
    done = cp.convert_files([tmp_path / "a.npz", tmp_path / "b.npz"], tmp_path / "out", to="bvh", jobs=1,
                            progress=lambda progress: progress.share < 0.5)  # fmt: skip
    assert done.interrupted and len(done.of("done")) == 1 and len(done.of("stopped")) == 1
