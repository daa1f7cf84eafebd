"""Work that several cores do at once, in one process."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def cores() -> int:
    """Returns the number of processor cores that this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def in_order(work: Callable[[T], R], items: Iterable[T], most: int | None = None) -> Iterator[R]:
    """Yields work(item) of each item in order; up to `most` (all cores) are worked on at once, each in a thread.

    Threads help where most of the work is done without Python's lock. Items are taken in the calling thread, a few
    ahead. The first is worked on there too, so that kernels are compiled before there are several threads. Where the
    caller stops early, what has begun is finished and the rest is left.
    """
    workers = cores() if most is None else min(most, cores())
    rest = iter(items)
    for first in rest:
        yield work(first)
        break
    if workers < 2:
        yield from map(work, rest)
        return
    waiting: deque[Future[R]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        try:
            for item in rest:
                waiting.append(pool.submit(work, item))
                if len(waiting) > workers:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for one in waiting:
                one.cancel()
