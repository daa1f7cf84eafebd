"""Where tasks are done: in processes on this machine, or on a Ray cluster; the same tasks, the same answers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from counterpoise.errors import BadValue
from counterpoise.files import one_line
from counterpoise.fleet.workers import TaskAnswer, answers, attempt
from counterpoise.threads import cores

ENGINES = ("processes", "serial", "ray", "ray://HOST:PORT")
WAITING = 4  # tasks given to the cluster for every processor it has; more would only wait there


def check_engine(engine: str) -> None:
    """Refuses an engine that is not known or not installed."""
    if engine not in ("processes", "serial", "ray") and not engine.startswith("ray://"):
        raise BadValue(f"an engine is {', '.join(ENGINES)}; got {engine!r}")
    if engine.startswith("ray") and find_spec("ray") is None:
        raise BadValue("the engine 'ray' needs the package 'ray': pip install 'counterpoise[ray]'")


def engine_answers(
    engine: str,
    function: str,
    tasks: Sequence[Mapping[str, Any]],
    jobs: int | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Generator[TaskAnswer]:
    """Calls a function with every task's arguments on an engine; answers come as they are ready, as from `answers`."""
    check_engine(engine)
    if engine == "serial":
        return (attempt(function, k, task) for k, task in enumerate(tasks))
    if engine == "processes":
        return answers(function, tasks, jobs, stopped)
    return ray_answers(function, tasks, "" if engine == "ray" else engine, jobs)


def ray_answers(
    function: str, tasks: Sequence[Mapping[str, Any]], address: str = "", jobs: int | None = None
) -> Generator[TaskAnswer]:
    """As `answers`, on a Ray cluster: the one at `address`, the one in use, or a new one with `jobs` processors.

    A worker that dies costs only the task that it had: that one is answered with `crashed`.
    """
    import ray

    began = not ray.is_initialized()
    if began:
        home = str(Path(__file__).resolve().parents[2])
        paths = [home, *(path for path in sys.path if path and Path(path).is_dir())]
        environment = {"env_vars": {"PYTHONPATH": os.pathsep.join(paths), "OMP_NUM_THREADS": "1"}}
        options: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "runtime_env": environment}
        if address:
            ray.init(address=address, **options)
        else:
            ray.init(num_cpus=jobs or cores(), include_dashboard=False, **options)
    try:
        yield from _on_ray(ray, function, tasks)
    finally:
        if began:
            ray.shutdown()


def _on_ray(ray: Any, function: str, tasks: Sequence[Mapping[str, Any]]) -> Generator[TaskAnswer]:
    remote = ray.remote(max_retries=0)(attempt)
    most = WAITING * max(1, int(ray.cluster_resources().get("CPU", 1)))
    todo = iter(enumerate(tasks))
    running: dict[Any, int] = {}
    try:
        while True:
            for k, task in todo:
                running[remote.remote(function, k, dict(task))] = k
                if len(running) >= most:
                    break
            if not running:
                return
            ready, _ = ray.wait(list(running), num_returns=1)
            for one in ready:
                k = running.pop(one)
                try:
                    yield ray.get(one)
                except ray.exceptions.RayError as error:
                    yield TaskAnswer(k, error=f"its process ended: {one_line(error)[:160]}", crashed=True)
    finally:
        for one in running:
            ray.cancel(one, force=True)
