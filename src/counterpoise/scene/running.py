"""Runs a scene: motions are made, optimised, fixed or checked; controllers are simulated; files are written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise import spatial
from counterpoise.character.character import Character
from counterpoise.character.state import State
from counterpoise.control import Controller
from counterpoise.control.getting_up import lying_state
from counterpoise.control.perform import with_reserve
from counterpoise.errors import BadFile, BadValue, Stopped
from counterpoise.measure import fell
from counterpoise.motion import Motion
from counterpoise.progress import Reporter, Watch, watching
from counterpoise.scene.changes import make_change
from counterpoise.scene.contents import SceneController, SceneMotion
from counterpoise.scene.controllers import GOING, build_controller
from counterpoise.scene.experiments import run_scene_experiment
from counterpoise.scene.making import followed_motion, plain_motion
from counterpoise.scene.scene import DEFAULT_SECONDS, Scene
from counterpoise.scene.steps import plan_steps, plan_words
from counterpoise.scene.writing import written
from counterpoise.simulate import Recording, Session, simulate
from counterpoise.simulate.start import disturbed_start, lifted, set_on_ground, standing_start
from counterpoise.spacetime import CheckReport, FixResult, Result, check_motion, fix_motion

if TYPE_CHECKING:
    from counterpoise.experiments.runner import Report
    from counterpoise.plan import FootstepPlan

AFTER_MOTION = 0.5  # [s] simulated after the end of a motion that is followed
AFTER_PERFORMANCE = 2.5  # [s] simulated after the end of a motion that is performed
LYING = ("front", "back", "left", "right")
NOTHING = "nothing to do: give it keys, a clip, a [controller], an [experiment] or [steps_ahead]"
MotionOutcome = Result | FixResult | CheckReport


@dataclass(frozen=True, eq=False)
class SceneRun:
    """What came of a scene: its motions, what physics said about them, what was recorded, the files written."""

    scene: Scene
    motions: Mapping[str, Motion]
    outcomes: Mapping[str, MotionOutcome]  # of the motions that were optimised, fixed or checked
    recording: Recording | None = None  # of the simulation, where the scene has controllers; after the last change
    recordings: tuple[Recording, ...] = ()  # all of it: one more for each change of a body
    figures: tuple[str, ...] = ()  # the characters in the recording, in their order
    files: Mapping[str, Path] = field(default_factory=dict)
    stopped: bool = False
    experiment: Report | None = None  # where the scene names one
    plan: FootstepPlan | None = None  # where the scene asks for the next steps

    @property
    def ok(self) -> bool:
        """Whether all motions are solved or possible, nobody fell, and nothing was stopped."""
        good = all(outcome_ok(one) for one in self.outcomes.values())
        good = good and (self.experiment is None or self.experiment.outcome.holds)
        return good and not self.fallen and not self.stopped

    @property
    def is_empty(self) -> bool:
        """Whether the scene said nothing that could be done."""
        done = self.motions or self.files or self.stopped
        return not done and self.recording is None and self.plan is None and self.experiment is None

    @property
    def fallen(self) -> dict[str, str]:
        """Characters that should stand and fell, with how."""
        if self.recording is None:
            return {}
        out = {}
        for k, name in enumerate(self.figures):
            spec = next(c for c in self.scene.controllers.values() if c.character == name)
            if spec.kind in ("passive", "hold", "get_up") or not self.recording.figures[k].feet:
                continue
            fall = next((found for one in self.recordings if (found := fell(one, k))), None)
            if fall:
                out[name] = f"{fall.reason} at {fall.time:.2f} s"
        return out

    def motion_of(self, figure: int) -> Motion:
        """Returns what was simulated of a figure as one motion of its character in the scene, over all changes."""
        parts = [recording.motion_of(figure) for recording in self.recordings]
        if len(parts) == 1:
            return parts[0]
        rows = [slice(0 if k == 0 else 1, None) for k in range(len(parts))]  # a change happens between two rows
        times, poses = (
            np.concatenate([getattr(part, name)[row] for part, row in zip(parts, rows, strict=True)])
            for name in ("times", "poses")
        )
        return Motion(self.scene.character(self.figures[figure]), times, poses, name=parts[0].name)

    def report(self) -> str:
        """Returns what happened, in lines."""
        lines = [f"{self.scene.name}"]
        lines += [f"  {NOTHING}"] if self.is_empty else []
        for name, motion in self.motions.items():
            said = outcome_words(self.outcomes[name]) if name in self.outcomes else "made as it is written"
            lines.append(f"  motion {name}: {motion.duration:.2f} s, {said}")
        if self.recording is not None:
            seconds = sum(one.duration for one in self.recordings)
            lines.append(f"  simulated {seconds:.2f} s: {self.recording.status}")
            fallen = self.fallen
            for name in self.figures:
                kind = next(c.kind for c in self.scene.controllers.values() if c.character == name)
                lines.append(
                    f"  character {name} ({kind}): {'fell: ' + fallen[name] if name in fallen else 'as wanted'}"
                )
        lines += [] if self.plan is None else [f"  {words}" for words in plan_words(self.plan)]
        claims = () if self.experiment is None else self.experiment.outcome.claims
        lines += [f"  {'holds' if c.holds else 'DOES NOT HOLD'}: {c.text}: {c.measured}" for c in claims]
        lines += [f"  stopped: {what}" for what in (["by the user"] if self.stopped else [])]
        lines += [f"  wrote {path}" for path in self.files.values()]
        return "\n".join(lines)


def outcome_ok(outcome: MotionOutcome) -> bool:
    """Returns whether a motion is solved, or possible."""
    return outcome.after.possible if isinstance(outcome, FixResult) else bool(outcome.ok)


def outcome_words(outcome: MotionOutcome) -> str:
    """Returns what physics said about a motion, in one line."""
    if isinstance(outcome, Result):
        worst = f"; violated: {', '.join(str(v) for v in outcome.violations[:3])}" if outcome.violations else ""
        return f"optimised: {outcome.status} in {outcome.iterations} iterations{worst}"
    if isinstance(outcome, FixResult):
        return f"fixed: {outcome.summary}"
    return f"checked: {outcome.verdict}"


def run_scene(scene: Scene, folder: str | os.PathLike[str] | None = None, progress: Watch | None = None) -> SceneRun:
    """Makes, optimises, fixes and checks the motions of a scene, simulates its controllers and writes its files.

    Files named in [output] are written into `folder`; without one nothing is written. Stopped, it returns what it has.
    """
    home = None if folder is None else Path(folder)
    if home is not None and not home.is_dir():
        raise BadFile(f"there is no folder {str(home)!r}", path=str(home))
    with watching(progress) as reporter:
        run = SceneRun(scene, {}, {})
        try:
            for motion in scene.motions.values():
                if not motion.is_empty:
                    run = _with_motion(run, motion, reporter)
                if reporter.stopped:
                    break
            if scene.controllers and not reporter.stopped:
                run = _simulated(run, reporter)
            if scene.steps is not None and not reporter.stopped:
                run = replace(run, plan=plan_steps(scene.steps, scene.character(scene.steps.character)))
            if scene.experiment is not None and not reporter.stopped:
                report = run_scene_experiment(scene.experiment, home, reporter, "video" in scene.output.files)
                run = replace(run, experiment=report)
        except Stopped:
            run = replace(run, stopped=True)
        except KeyboardInterrupt:  # of an experiment, which has saved what it recorded
            if not reporter.stopped:
                raise
            run = replace(run, stopped=True)
        run = replace(run, stopped=run.stopped or reporter.stopped)
        return run if home is None else replace(run, files=written(run, home, reporter))


# -- motions ---------------------------------------------------------------------------------------------------------


def _with_motion(run: SceneRun, motion: SceneMotion, reporter: Reporter) -> SceneRun:
    """Returns the run with one more motion, made as its `physics` says."""
    outcome: MotionOutcome | None = None
    if motion.stunt is not None and motion.physics == "optimize":
        performed = [c for c in run.scene.controllers.values() if c.kind == "perform" and c.follow == motion.name]
        stunt = with_reserve(motion.stunt, performed[0].strength) if performed else motion.stunt
        outcome = stunt.optimize(callback=reporter)
        made = outcome.motion.named(motion.name)
    else:
        made = plain_motion(run.scene, motion.name, reporter, run.motions)
        if motion.physics == "fix":
            outcome = fix_motion(made, progress=reporter)
            made = outcome.motion
        elif motion.physics == "check":
            outcome = check_motion(made, progress=reporter)
    outcomes = run.outcomes if outcome is None else {**run.outcomes, motion.name: outcome}
    return replace(run, motions={**run.motions, motion.name: made}, outcomes=outcomes)


# -- simulation ------------------------------------------------------------------------------------------------------


def _simulated(run: SceneRun, reporter: Reporter) -> SceneRun:
    """Returns the run with the recording of all characters that have a controller, in one world."""
    scene = run.scene
    specs = sorted(scene.controllers.values(), key=lambda c: list(scene.characters).index(c.character))
    followed = [_followed(run, spec) for spec in specs]
    controllers = [build_controller(spec, scene.world, motion) for spec, motion in zip(specs, followed, strict=True)]
    figures = [scene.character(spec.character) for spec in specs]
    starts = [
        start_state(spec, figure, one, scene) for spec, figure, one in zip(specs, figures, controllers, strict=True)
    ]
    names = tuple(spec.character for spec in specs)
    pushes = [replace(p.push, figure=names.index(p.character)) for p in scene.pushes if p.character in names]
    seconds = _seconds(scene, specs, followed)
    asked: dict[str, Any] = {
        "world": scene.world,
        "disturbances": pushes,
        "start": starts,
        "seed": scene.simulation.seed,
    }
    if not scene.changes:
        recording = simulate(figures, controllers, seconds, **asked, progress=reporter)
        return replace(run, recording=recording, recordings=(recording,), figures=names)
    session = Session(figures, controllers, **asked, keep=None)
    for change in (one for one in scene.changes if one.time < seconds and one.character in names):
        if not reporter.stopped and change.time > session.time:
            session.advance(change.time - session.time, reporter)
        make_change(session, names.index(change.character), change)
    if not reporter.stopped:
        session.advance(seconds - session.time, reporter)
    recordings = tuple(session.recordings)
    return replace(run, recording=recordings[-1], recordings=recordings, figures=names)


def _followed(run: SceneRun, spec: SceneController) -> Any:
    """Returns what a controller follows: the result of the optimiser for `perform`, otherwise a motion."""
    if spec.follow is None:
        return None
    found = followed_motion(run.scene, spec.follow, run.scene.character(spec.character))
    if found is not None:
        return found
    motion = run.motions.get(spec.follow)
    if motion is None:
        raise BadValue(f"the motion {spec.follow!r}, which {spec.name!r} follows, has no keys yet")
    if run.scene.motion(spec.follow).character != spec.character:
        raise BadValue(f"the motion {spec.follow!r} is of another character than {spec.character!r}")
    outcome = run.outcomes.get(spec.follow)
    if spec.kind == "perform" and isinstance(outcome, Result | FixResult):
        return outcome
    return motion.shifted(-motion.start)


def start_state(spec: SceneController, character: Character, controller: Controller, scene: Scene) -> State:
    """Returns the state in which a character begins: standing, ready for its motion, or lying; at its place."""
    world = scene.world
    if spec.start in LYING:
        state = lying_state(character, spec.start, scene.simulation.seed)
    elif spec.start == "disturbed":
        state = disturbed_start(character, scene.simulation.seed, world)
    elif spec.start == "ready" and hasattr(controller, "ready"):
        state = controller.ready(character)
        state = state if world.terrain is None else set_on_ground(character, state, world)
    else:
        state = standing_start(character, world)
    state = placed(character, state, spec)
    lift = scene.simulation.lift
    return lifted(character, state, lift) if lift else state


def placed(character: Character, state: State, spec: SceneController) -> State:
    """Returns the state moved over the ground and turned about the vertical, as its controller says."""
    if spec.place is None and not spec.facing:
        return state
    if not character.floating or character.joints[0].kind != "free":
        raise BadValue(f"{character.name!r} is fixed to the world or to a plane: it has no place and no facing")
    q, v = np.array(state.q), np.array(state.v)
    turn = spatial.exp(np.array([0.0, 0.0, np.radians(spec.facing)]))
    q[3:7] = spatial.multiply(turn, q[3:7])
    v[:3] = spatial.rotate(turn, v[:3])
    q[:3] = spatial.rotate(turn, q[:3])
    if spec.place is not None:
        q[:2] += spec.place
    return character.state(q, v, state.time)


def _seconds(scene: Scene, specs: list[SceneController], followed: list[Any]) -> float:
    if scene.simulation.seconds is not None:
        return scene.simulation.seconds
    lengths = [DEFAULT_SECONDS]
    for spec, motion in zip(specs, followed, strict=True):
        if motion is not None and spec.kind not in GOING:
            made = motion if isinstance(motion, Motion) else motion.motion
            lengths.append(made.duration + (AFTER_PERFORMANCE if spec.kind == "perform" else AFTER_MOTION))
    return max(lengths) if len(lengths) == 1 else max(lengths[1:])
