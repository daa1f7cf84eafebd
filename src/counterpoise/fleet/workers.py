"""Worker processes: each does one task after the other and answers in JSON, line by line.

A task that raises is a failed task. A process that dies (a crash in foreign code, no memory left) fails its task and
is replaced. Workers import this package afresh, so that callers need no guard in their scripts; they end by themselves
when the program that started them is gone.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.files import one_line

_PATIENCE = 5.0  # [s] a worker may take to tidy up when it is told to stop
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Answer:
    """What became of a task: its value, or in one line why there is none."""

    task: int
    value: Any = None
    error: str = ""


def cores() -> int:
    """The processor cores this program may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def answers(function: str, tasks: Sequence[Mapping[str, Any]], jobs: int | None = None) -> Generator[Answer]:
    """Call `function` ("module:name", of this package) with every task's arguments, in `jobs` processes.

    Arguments and values are what JSON can say. Answers come as they are ready. A single task is done here and now.
    Closing the iterator, or Ctrl-C, stops the workers; each tidies up what it had begun.
    """
    if jobs is not None and jobs < 1:
        raise BadValue(f"jobs are processes: at least 1, not {jobs}", jobs=jobs)
    if len(tasks) == 1:
        yield attempt(function, 0, tasks[0])
        return
    crew = _Crew(function, tasks, min(jobs or cores(), len(tasks)))
    try:
        for _ in tasks:
            yield crew.next()
    finally:
        crew.stop()


def attempt(function: str, task: int, arguments: Mapping[str, Any]) -> Answer:
    """One task; whatever goes wrong is its answer."""
    home, _, name = function.partition(":")
    try:
        return Answer(task, getattr(import_module(home), name)(**arguments))
    except CounterpoiseError as error:
        return Answer(task, error=one_line(error))
    except MemoryError:
        return Answer(task, error="not enough memory")
    except Exception as error:
        return Answer(task, error=f"unexpected {type(error).__name__}: {one_line(error)}")


class _Crew:
    """As many threads as processes; each thread feeds one process and replaces it when it dies."""

    def __init__(self, function: str, tasks: Sequence[Mapping[str, Any]], jobs: int) -> None:
        self._function, self._tasks = function, tasks
        self._todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[Answer] = queue.SimpleQueue()
        for k in range(len(tasks)):
            self._todo.put(k)
        self._stopping = False
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads = [threading.Thread(target=self._feed, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def next(self) -> Answer:
        while True:  # in short waits: a signal is noticed between them on every system
            try:
                return self._done.get(timeout=0.2)
            except queue.Empty:
                if self._done.empty() and not any(thread.is_alive() for thread in self._threads):
                    raise RuntimeError("no worker is left to do the work") from None

    def stop(self) -> None:
        with self._lock:
            self._stopping = True
            left = list(self._processes)
        for process in left:
            process.terminate()
        for process in left:
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
        for thread in self._threads:
            thread.join(_PATIENCE)

    def _feed(self) -> None:
        process: subprocess.Popen[bytes] | None = None
        with tempfile.TemporaryFile() as said:
            while not self._stopping:
                try:
                    task = self._todo.get_nowait()
                except queue.Empty:
                    break
                try:
                    process = process or self._hire(said)
                    if process is None:
                        return
                    answer = _ask(process, task, self._tasks[task])
                except OSError as error:
                    answer = Answer(task, error=f"no process to do it: {one_line(error)}")
                if answer is None:
                    assert process is not None
                    answer = Answer(task, error=_last_words(self._dismiss(process), said))
                    process = None
                if not self._stopping:
                    self._done.put(answer)
            if process is not None:
                self._dismiss(process)

    def _hire(self, said: Any) -> subprocess.Popen[bytes] | None:
        home = str(Path(__file__).resolve().parents[2])
        paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
        env = {**dict.fromkeys(_ONE_THREAD, "1"), **os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, "-P", "-m", __package__, self._function]
        with self._lock:
            if self._stopping:
                return None
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, env=env, start_new_session=True
            )
            self._processes.add(process)
        return process

    def _dismiss(self, process: subprocess.Popen[bytes]) -> int:
        """Let a process end; its exit code."""
        assert process.stdin is not None and process.stdout is not None
        with suppress(OSError):  # it is gone already, with a line of ours unread
            process.stdin.close()
        code = process.wait()
        process.stdout.close()
        with self._lock:
            self._processes.discard(process)
        return code


def _ask(process: subprocess.Popen[bytes], task: int, arguments: Mapping[str, Any]) -> Answer | None:
    """A worker's answer; None when it died over it."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps([task, arguments]).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except (BrokenPipeError, ConnectionError):
        return None
    if not line.endswith(b"\n"):
        return None
    return Answer(**json.loads(line))


def _last_words(code: int, said: Any) -> str:
    """How a process died, and the last thing it said."""
    names = {int(s): s.name for s in signal.Signals}
    how = f"by signal {names.get(-code, -code)}" if code < 0 else f"with exit code {code}"
    said.seek(max(0, said.seek(0, os.SEEK_END) - 2000))
    lines = said.read().decode(errors="replace").split("\n")
    told = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"its process ended {how}" + (f": {told[:160]}" if told else "")


__all__ = ["Answer", "answers", "attempt", "cores"]
