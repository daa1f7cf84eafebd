"""Work of several threads comes in order, and stops where its caller stops."""

from __future__ import annotations

import threading
import time

import pytest

from counterpoise import threads
from counterpoise.threads import cores, in_order


@pytest.mark.parametrize("most", [1, 2, 4, None])
def test_results_come_in_order_and_the_first_from_the_calling_thread(monkeypatch, most: int | None):
    monkeypatch.setattr(threads, "cores", lambda: 4)
    workers: list[str] = []

    def slow_first(k: int) -> int:
        workers.append(threading.current_thread().name)
        time.sleep(0.01 * (k % 3 == 1))
        return k * k

    assert list(in_order(slow_first, range(20), most)) == [k * k for k in range(20)]
    here = threading.current_thread().name
    assert workers[0] == here and (set(workers) == {here}) == (most == 1)
    assert list(in_order(slow_first, [], most)) == []


def test_a_caller_that_stops_leaves_the_rest(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    begun: list[int] = []
    results = in_order(lambda k: begun.append(k) or k, range(1000))
    assert [next(results) for _ in range(5)] == list(range(5))
    results.close()  # type: ignore[attr-defined]
    assert 5 <= len(begun) <= 5 + 4


def test_an_error_comes_where_its_result_would(monkeypatch):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    results = in_order(lambda k: 1 // (4 - k), range(9))
    assert [next(results) for _ in range(4)] == [0, 0, 0, 1]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_there_is_a_core():
    assert cores() >= 1
