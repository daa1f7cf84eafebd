"""Jobs: optimise, check and fix in a worker process, so that nothing blocks the page.

One process at a time works; it stays for the next job, since starting one takes seconds. Progress and results come back
over a pipe. A job that is told to stop ends by itself and returns the best so far; one that does not is killed.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue, CounterpoiseError, Stopped
from counterpoise.motion.motion import Motion
from counterpoise.pose.animate import animate_with_report
from counterpoise.progress import Progress, Watch
from counterpoise.scene import MAIN, Scene, SceneRun
from counterpoise.scene.scene import scene_from_text
from counterpoise.spacetime.check import CheckReport, check_motion
from counterpoise.spacetime.fix import fix_motion
from counterpoise.spacetime.optimize.run import OptimizeProgress
from counterpoise.studio.children import end_with_parent
from counterpoise.studio.curves import CheckCurves
from counterpoise.studio.efforts import Efforts, efforts_of_check, efforts_of_recordings, efforts_of_result
from counterpoise.studio.measured_curves import check_curves
from counterpoise.studio.performing import NewPlan, plan_for_clip, plan_for_jump, plan_for_keys
from counterpoise.studio.prop_paths import PropPaths, paths_of_recordings

JobKind = Literal["optimize", "check", "fix", "play", "animate", "plan_jump", "plan_keys", "plan_clip"]
REPORT_EVERY = 0.2  # [s] between two reports of progress
FRAMES_PER_SECOND = 60.0  # of what was simulated
KILL_AFTER = 120.0  # [s] after which a job that does not stop is killed; compiling on busy cores takes a while


@dataclass(frozen=True)
class Mark:
    """Something wrong at a time, by name."""

    name: str
    words: str
    time: float  # [s]
    start: float  # [s]
    end: float  # [s]
    grave: bool  # whether the motion is impossible, rather than unclean


@dataclass(frozen=True, eq=False)
class JobReport:
    """What a worker says while it works."""

    stage: str
    share: float
    message: str = ""
    times: Array | None = None  # of the candidate so far
    poses: Array | None = None


@dataclass(frozen=True, eq=False)
class JobDone:
    """What a job has found."""

    message: str
    motion: Motion | None = None
    owner: str = ""  # the character of the scene that the motion belongs to; empty: that of the job's motion
    verdict: str = ""
    marks: tuple[Mark, ...] = ()
    before: tuple[Mark, ...] = ()
    stopped: bool = False
    failed: bool = False
    plan: NewPlan | None = None  # of a performance
    others: Mapping[str, Motion] = field(default_factory=dict)  # of other characters at the same time
    props: PropPaths | None = None  # what fell or flew meanwhile
    efforts: Efforts | None = None  # of the joints of the motion, or of the one that was checked
    curves: CheckCurves = field(default_factory=dict)  # what a check has measured


# -- in the worker ----------------------------------------------------------------------------------------------------
class _Teller:
    """Sends progress over the pipe, not more often than a person can see it; answers whether to go on."""

    def __init__(self, pipe: Connection, stop: Any) -> None:
        self._pipe, self._stop, self._last = pipe, stop, 0.0

    def __call__(self, progress: Progress) -> bool:
        now = time.monotonic()
        if now - self._last >= REPORT_EVERY:
            self._last = now
            found = progress.motion() if isinstance(progress, OptimizeProgress) else None
            times, poses = (None, None) if found is None else (found.times, found.poses)
            self._pipe.send(JobReport(progress.stage, progress.share, progress.message, times, poses))
        return not self._stop.is_set()


def work(pipe: Connection, stop: Any) -> None:
    """The worker's loop: one job after another, until the pipe closes."""
    end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal ends the server, which closes the pipe
    while True:
        try:
            kind, values = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            pipe.send(RUNNERS[kind](_Teller(pipe, stop), **values))
        except Stopped as error:
            pipe.send(JobDone(str(error), stopped=True))
        except CounterpoiseError as error:
            pipe.send(JobDone(str(error), failed=True))
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            pipe.send(JobDone(f"{type(error).__name__}: {error}. Please report this.", failed=True))


def run_optimize(tell: Watch, text: str, folder: Path, source: str, motion: str) -> JobDone:
    """Optimises a motion of keys; reports hold the candidate so far."""
    stunt = scene_from_text(text, folder, source).motion(motion).stunt
    if stunt is None or len(stunt.keys) < 2:
        raise BadValue("optimising needs two keys at least: pose the figure at another time")
    tell(Progress("building", 0.0))
    result = stunt.optimize(callback=tell)
    marks = tuple(Mark(v.name, str(v), v.time, v.time, v.time, True) for v in result.violations)
    marks += tuple(Mark("conflict", words, 0.0, 0.0, 0.0, True) for words in result.conflicts)
    head = f"{result.status}: {result.iterations} iterations, {result.seconds:.1f} s"
    if marks:
        head += f"; {marks[0].words}"
    efforts = efforts_of_result(result)
    return JobDone(head, result.motion, "", head, marks, stopped=result.status == "stopped", efforts=efforts)


def run_check(tell: Watch, motion: Motion) -> JobDone:
    """Checks a motion."""
    report = check_motion(motion, progress=tell)
    curves, efforts = check_curves(report), efforts_of_check(report, motion.character)
    return JobDone(report.verdict, verdict=report.verdict, marks=marks_of(report), curves=curves, efforts=efforts)


def run_fix(tell: Watch, motion: Motion) -> JobDone:
    """Fixes a motion; after a stop the rest of it is unchanged, and it is not checked again."""
    result = fix_motion(motion, progress=tell)
    if result.stopped:
        return JobDone("Stopped: what was fixed so far is kept, the rest is unchanged.", result.motion, stopped=True)
    marks, before = marks_of(result.after), marks_of(result.before)
    curves, efforts = check_curves(result.after), efforts_of_check(result.after, result.motion.character)
    verdict = result.after.verdict
    return JobDone(result.summary, result.motion, "", verdict, marks, before, curves=curves, efforts=efforts)


def run_play(tell: Watch, text: str, folder: Path, source: str, motion: str) -> JobDone:
    """Does what the scene says: makes its motions and simulates its controllers with their pushes."""
    scene = scene_from_text(text, folder, source)
    run = scene.run(progress=tell)
    if run.experiment is not None:
        return of_experiment(run, scene.character())
    if run.recording is None:
        return JobDone(run.report(), stopped=run.stopped)
    which = run.figures.index(MAIN) if MAIN in run.figures else 0
    motions = {name: run.motion_of(k).resampled(FRAMES_PER_SECOND) for k, name in enumerate(run.figures)}
    seen = motions.pop(run.figures[which])
    props = paths_of_recordings(run.recordings, scene.world, FRAMES_PER_SECOND)
    efforts = efforts_of_recordings(run.recordings, which, FRAMES_PER_SECOND)
    owner = run.figures[which]
    return JobDone(run.report(), seen, owner, stopped=run.stopped, others=motions, props=props, efforts=efforts)


def of_experiment(run: SceneRun, character: Character) -> JobDone:
    """Returns the claims of an experiment, and its first recording of the figure in the scene as a take."""
    assert run.experiment is not None
    words = "; ".join(
        f"{'holds' if one.holds else 'does not hold'}: {one.text}" for one in run.experiment.outcome.claims
    )
    for recording in run.experiment.recordings.values():
        motion = recording.motion_of(0)
        if motion.character.joint_names == character.joint_names:
            seen = Motion(character, motion.times, motion.poses).resampled(FRAMES_PER_SECOND)
            efforts = efforts_of_recordings([recording], 0, FRAMES_PER_SECOND)
            return JobDone(words, seen, MAIN, stopped=run.stopped, efforts=efforts)
    return JobDone(words, stopped=run.stopped)


def run_animate(tell: Watch, **values: Any) -> JobDone:
    """Has bodies follow their paths, with all constraints held in every frame."""
    found = animate_with_report(progress=tell, **values)
    when, what, worst = found.worst
    words = f"{found.motion.duration:.1f} s; {what or 'no path'} is missed most, by {worst:.3f} m, at {when:.2f} s"
    return JobDone(words, found.motion, stopped=not found.complete)


def marks_of(report: CheckReport) -> tuple[Mark, ...]:
    """Returns the findings of a check that are not within their limits, the gravest first."""
    bad = [f for f in report.findings if not f.ok]
    found = []
    for finding in bad:
        start, end = (float(t) if t == t else 0.0 for t in (finding.start, finding.end))
        words = f"{finding.name}: {finding.text}"
        found.append(Mark(finding.name, words, 0.5 * (start + end), start, end, finding.physics))
    return tuple(sorted(found, key=lambda mark: not mark.grave))


def run_plan(tell: Watch, how: Callable[..., NewPlan], values: dict[str, Any]) -> JobDone:
    """Plans a jump or the performance of a motion."""
    plan = how(tell, **values)
    return JobDone(plan.note or "planned", plan=plan)


RUNNERS: dict[str, Callable[..., JobDone]] = {
    "optimize": run_optimize,
    "check": run_check,
    "fix": run_fix,
    "play": run_play,
    "animate": run_animate,
    "plan_jump": lambda tell, **values: run_plan(tell, plan_for_jump, values),
    "plan_keys": lambda tell, **values: run_plan(tell, plan_for_keys, values),
    "plan_clip": lambda tell, **values: run_plan(tell, plan_for_clip, values),
}


# -- in the studio ----------------------------------------------------------------------------------------------------
@dataclass(eq=False)
class Job:
    """A job that runs, or has run."""

    number: int
    kind: JobKind
    motion: str  # of the scene, that it is about
    frames: int  # number of the frames it began with; other frames make its marks stale
    times: Array | None = None  # of the candidate so far
    poses: Array | None = None
    state: str = "running"


@dataclass(eq=False)
class JobRunner:
    """Starts jobs in the worker and hands what it says to `told(job, report)`, from a thread of its own."""

    told: Callable[[Job, JobReport | JobDone], None]
    current: Job | None = None
    _count: int = 0
    _process: Any = None
    _pipe: Connection | None = None
    _stop: Any = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, kind: JobKind, motion: str, frames: int, values: dict[str, Any]) -> Job:
        """Starts a job. Only one runs at a time."""
        if self.current is not None:
            raise BadValue(f"{self.current.kind} is still running: stop it first, or wait")
        self._count += 1
        job = self.current = Job(self._count, kind, motion, frames)
        threading.Thread(target=self._serve, args=(job, values), name=f"studio job {job.number}", daemon=True).start()
        return job

    def stop(self, number: int) -> None:
        """Asks a job to stop. It is killed if it does not."""
        if self.current is None or self.current.number != number:
            return
        if self._stop is not None:
            self._stop.set()
        threading.Timer(KILL_AFTER, self._kill_if, args=(number,)).start()

    def close(self) -> None:
        """Ends the worker."""
        if self._process is not None and self._process.is_alive():
            self._process.terminate()

    def _kill_if(self, number: int) -> None:
        if self.current is not None and self.current.number == number:
            self.close()

    def _serve(self, job: Job, values: dict[str, Any]) -> None:
        try:
            pipe = self._ready()
            pipe.send((job.kind, values))
            while True:
                said = pipe.recv()
                if isinstance(said, JobDone):
                    break
                self.told(job, said)
        except (EOFError, OSError):
            said = JobDone("the job was ended", stopped=True, failed=True)
        job.state = "failed" if said.failed else "stopped" if said.stopped else "done"
        self.current = None
        self.told(job, said)

    def _ready(self) -> Connection:
        """Returns the pipe to a living worker."""
        with self._lock:
            if self._process is None or not self._process.is_alive() or self._pipe is None:
                context = multiprocessing.get_context("spawn")
                self._pipe, far = context.Pipe()
                self._stop = context.Event()
                self._process = context.Process(target=work, args=(far, self._stop), name="studio worker", daemon=True)
                self._process.start()
                far.close()
            self._stop.clear()
            return self._pipe


def scene_values(scene: Scene, motion: str) -> dict[str, Any]:
    """Returns what the worker needs to optimise a motion or to play the scene: its text, which it reads itself."""
    return {"text": scene.text, "folder": scene.folder, "source": scene.source, "motion": motion}
