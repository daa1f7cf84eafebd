"""Worker processes: each does one task after the other and answers in JSON, line by line.

A task that raises an error fails. A task whose process crashes (in other libraries, or without memory) fails too, and
the process is replaced. Workers start a new Python, so scripts that call them need no `if __name__ == "__main__"`; they
end by themselves when the program that started them has ended.
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
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from inspect import isfunction
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from counterpoise.errors import BadValue, CounterpoiseError, unknown_name
from counterpoise.files import one_line
from counterpoise.threads import cores

_STOP_TIME = 5.0  # [s] that a worker may take to clean up when it has to stop
_POLL_TIME = 0.2  # [s] between looks at the workers; signals are handled in between
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class TaskAnswer:
    """The result of a task: its value, or its error in one line."""

    task: int
    value: Any = None
    error: str = ""
    crashed: bool = False  # the process died: the task itself may be in order


def answers(
    function: str,
    tasks: Sequence[Mapping[str, Any]],
    jobs: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[TaskAnswer]:
    """Calls `function` ("module:name", of this package) with every task's arguments, in `jobs` processes.

    Arguments and values are JSON values. Answers are yielded as they are ready. A single task is done in this process.
    Closing the iterator, Ctrl-C, or `stopped` answering True stops the workers; each cleans up what it had begun.
    """
    if jobs is not None and jobs < 1:
        raise BadValue(f"jobs is a number of processes, at least 1; got {jobs}", jobs=jobs)
    if len(tasks) == 1:
        yield attempt(function, 0, tasks[0])
        return
    crew = _Crew(function, tasks, min(jobs or cores(), len(tasks)))
    try:
        for _ in tasks:
            answer = crew.next(stopped)
            if answer is None:
                return
            yield answer
    finally:
        crew.stop()


def attempt(function: str, task: int, arguments: Mapping[str, Any]) -> TaskAnswer:
    """Does one task; an error becomes its answer."""
    try:
        return TaskAnswer(task, load_function(function)(**arguments))
    except CounterpoiseError as error:
        return TaskAnswer(task, error=one_line(error))
    except MemoryError:
        return TaskAnswer(task, error="not enough memory")
    except Exception as error:
        return TaskAnswer(task, error=f"unexpected {type(error).__name__}: {one_line(error)}")


def load_function(function: str) -> Callable[..., Any]:
    """Returns the function of "module:name" or "folder/file.py:name"."""
    home, _, name = function.rpartition(":")
    try:
        if home.endswith(".py"):
            path = Path(home).resolve()
            module = _module_of_file(path, path.read_bytes())
        else:
            module = import_module(home)
    except (ImportError, OSError, SyntaxError) as error:
        raise BadValue(f"{function!r} is not found: {one_line(error)}") from error
    except (Exception, SystemExit) as error:  # whatever a file does when it is run
        kind = type(error).__name__
        raise BadValue(f"{function!r} cannot be loaded: {kind}: {one_line(error)}") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise unknown_name("function", name, [n for n, v in vars(module).items() if isfunction(v)], home)
    return cast(Callable[..., Any], found)


@lru_cache(maxsize=8)
def _module_of_file(path: Path, source: bytes) -> ModuleType:
    """Runs a file as a module of its own. Its folder is searched for what it imports."""
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))
    module = ModuleType(f"counterpoise_tasks_{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


class _Crew:
    """As many threads as processes; each thread feeds one process and replaces it after a crash."""

    def __init__(self, function: str, tasks: Sequence[Mapping[str, Any]], jobs: int) -> None:
        self._function, self._tasks = function, tasks
        self._todo: queue.SimpleQueue[int] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[TaskAnswer] = queue.SimpleQueue()
        for k in range(len(tasks)):
            self._todo.put(k)
        self._stopping = False
        self._lock = threading.Lock()
        self._processes: set[subprocess.Popen[bytes]] = set()
        self._threads = [threading.Thread(target=self._feed, daemon=True) for _ in range(jobs)]
        for thread in self._threads:
            thread.start()

    def next(self, stopped: Callable[[], bool]) -> TaskAnswer | None:
        """Returns the next answer, or None where the work is stopped."""
        while not stopped():
            try:
                return self._done.get(timeout=_POLL_TIME)
            except queue.Empty:
                if self._done.empty() and not any(thread.is_alive() for thread in self._threads):
                    raise RuntimeError("all workers have ended before their work was done") from None
        return None

    def stop(self) -> None:
        with self._lock:
            self._stopping = True
            left = list(self._processes)
        for process in left:
            process.terminate()
        for process in left:
            try:
                process.wait(_STOP_TIME)
            except subprocess.TimeoutExpired:
                process.kill()
        for thread in self._threads:
            thread.join(_STOP_TIME)

    def _feed(self) -> None:
        process: subprocess.Popen[bytes] | None = None
        """Gives tasks to one process until there are no more."""
        with tempfile.TemporaryFile() as printed:
            while not self._stopping:
                try:
                    task = self._todo.get_nowait()
                except queue.Empty:
                    break
                try:
                    process = process or self._start(printed)
                    if process is None:
                        return
                    answer = _ask(process, task, self._tasks[task])
                except OSError as error:
                    answer = TaskAnswer(task, error=f"its process could not be started: {one_line(error)}")
                if answer is None:
                    assert process is not None
                    answer = TaskAnswer(task, error=_cause_of_crash(self._finish(process), printed), crashed=True)
                    process = None
                if not self._stopping:
                    self._done.put(answer)
            if process is not None:
                self._finish(process)

    def _start(self, printed: Any) -> subprocess.Popen[bytes] | None:
        """Starts a process that writes what it prints to a file. Returns None while the workers are being stopped."""
        home = str(Path(__file__).resolve().parents[2])
        paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
        if not self._function.startswith("counterpoise."):  # a module of the user: found where this program finds it
            paths += [path or os.getcwd() for path in sys.path]
        env = {**dict.fromkeys(_ONE_THREAD, "1"), **os.environ, "PYTHONPATH": os.pathsep.join(paths)}
        command = [sys.executable, "-P", "-m", __package__, self._function]
        with self._lock:
            if self._stopping:
                return None
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=printed, env=env, start_new_session=True
            )
            self._processes.add(process)
        return process

    def _finish(self, process: subprocess.Popen[bytes]) -> int:
        """Waits until a process ends. Returns its exit code."""
        assert process.stdin is not None and process.stdout is not None
        with suppress(OSError):  # it may have ended without reading our last line
            process.stdin.close()
        code = process.wait()
        process.stdout.close()
        with self._lock:
            self._processes.discard(process)
        return code


def _ask(process: subprocess.Popen[bytes], task: int, arguments: Mapping[str, Any]) -> TaskAnswer | None:
    """Returns a worker's answer; None if the worker crashed."""
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps([task, arguments]).encode() + b"\n")
        process.stdin.flush()
        line = process.stdout.readline()
    except (BrokenPipeError, ConnectionError):
        return None
    if not line.endswith(b"\n"):
        return None
    return TaskAnswer(**json.loads(line))


def _cause_of_crash(code: int, printed: Any) -> str:
    """Returns how a process ended, and the last line that it printed."""
    names = {int(s): s.name for s in signal.Signals}
    how = f"by signal {names.get(-code, -code)}" if code < 0 else f"with exit code {code}"
    printed.seek(max(0, printed.seek(0, os.SEEK_END) - 2000))
    lines = printed.read().decode(errors="replace").split("\n")
    last = next((line.strip() for line in reversed(lines) if line.strip()), "")
    return f"its process ended {how}" + (f": {last[:160]}" if last else "")


__all__ = ["TaskAnswer", "answers", "attempt", "cores", "load_function"]
