"""One hour live: pushed, thrown at and pulled, with memory that stays flat."""

from __future__ import annotations

import gc
import tracemalloc
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from studio_bench import Bench

from counterpoise.studio import live
from counterpoise.studio.live import FRAME

HOUR = 3600.0  # [s]
SETTLED = 600.0  # [s] after which nothing grows any more: poses for baking are kept for two minutes
GROWTH = 0.05  # largest share by which the memory may grow from then on
EVERY = round(20.0 / FRAME)  # pictures between two disturbances


def resident() -> int:
    """Returns the memory of this process [bytes]."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_seconds_live_allocate_nothing_that_stays(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hour in short: with few poses kept for baking, what Python and numpy hold grows by less than 5 % an hour."""
    monkeypatch.setattr(live, "KEEP_POSES", 1.0)
    monkeypatch.setattr(live, "SLACK", 1.0)
    bench.do({"type": "start_live", "controller": "stand"})
    held: list[int] = []

    def run(seconds: float) -> None:
        for picture in range(round(seconds / FRAME)):
            if picture % 12 == 0:
                bench.do({"type": "push_body", "body": "thorax", "force": [40.0, 0.0, 0.0]})
                bench.do({"type": "throw_prop", "place": [2.0, 1.0, 1.2], "target": [0.0, 0.0, 1.1], "mass": 0.3})
            bench.frames.clear()
            bench.events.clear()
            bench.shop.advance_live()
            assert bench.shop.live is not None, bench.events
        gc.collect()
        held.append(tracemalloc.get_traced_memory()[0])

    run(3.0)  # all that is kept has been kept once: poses of two seconds, twelve props
    tracemalloc.start()
    try:
        for _ in range(4):
            run(2.0)
    finally:
        tracemalloc.stop()
    steady = min(after - before for before, after in pairwise(held[1:]))  # what is loaded once, as a kernel, is no leak
    grown = steady * (HOUR - SETTLED) / 2.0  # [bytes] in the rest of the hour
    assert grown < GROWTH * resident(), held


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
def test_an_hour_live_keeps_its_memory(bench: Bench) -> None:
    bench.do({"type": "start_live", "controller": "get up"})
    random = np.random.default_rng(0)
    sizes: list[int] = []
    for picture in range(round(HOUR / FRAME)):
        if picture % EVERY == 0:
            way = random.normal(0.0, 1.0, 2)
            force = [*(60.0 * way / np.linalg.norm(way)).tolist(), 0.0]
            bench.do({"type": "push_body", "body": "thorax", "force": force})
            bench.do({"type": "throw_prop", "place": [2.0, 1.0, 1.2], "target": [0.0, 0.0, 1.1], "mass": 0.5})
        bench.frames.clear()
        bench.events.clear()
        bench.shop.advance_live()
        assert bench.shop.live is not None, bench.events
        if picture % round(60.0 / FRAME) == 0:
            gc.collect()
            sizes.append(resident())
            print(f"minute {len(sizes) - 1}: {sizes[-1] / 1e6:.1f} MB", flush=True)  # seen with -s
    settled = sizes[round(SETTLED / 60.0)]
    assert bench.shop.live.time == pytest.approx(HOUR, abs=0.01)
    assert max(sizes[round(SETTLED / 60.0) :]) < (1.0 + GROWTH) * settled, sizes
    assert bench.shop.live.poses[-1][2] > 0.8  # [m] of the pelvis: it stands
