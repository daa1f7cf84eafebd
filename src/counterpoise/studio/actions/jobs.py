"""Jobs: started, stopped, their progress shown, their results taken into the scene as new motions."""

from __future__ import annotations

import numpy as np

from counterpoise.motion.motion import Motion
from counterpoise.studio.commands import StartJob, StopJob
from counterpoise.studio.events import JobChanged, Trouble
from counterpoise.studio.frames import GHOST
from counterpoise.studio.jobs import Job, JobDone, JobReport, scene_values
from counterpoise.studio.pointer_paths import animation_values
from counterpoise.studio.takes import add_take, owner_of
from counterpoise.studio.workshop import Workshop, handles

RESULTS = {"optimize": "optimised", "fix": "fixed", "play": "played", "animate": "animated"}


@handles(StartJob)
def start_job(shop: Workshop, command: StartJob) -> None:
    """Starts a job about the motion on the timeline, as it is now."""
    shown = shop.document.shown
    if command.kind in ("optimize", "play"):
        values = scene_values(shop.document.scene, shown.name)
    elif command.kind == "animate":
        always = shop.document.scene.constraints_of(owner_of(shop, shown.name))
        q = shop.document.pose_at(shop.time)
        values = animation_values(shop.character, q, list(shop.paths.values()), shop.rules, always)
    else:
        values = {"motion": shown.whole()}
    shop.told = lambda job, said: told(shop, job, said)
    job = shop.jobs.start(command.kind, shown.name, shown.number, values)
    shop.say(JobChanged(job.number, job.kind, "running", "starting", 0.0, ""))


@handles(StopJob)
def stop_job(shop: Workshop, command: StopJob) -> None:
    shop.jobs.stop(command.job)


def told(shop: Workshop, job: Job, said: JobReport | JobDone) -> None:
    """Shows what a job says; called on the workshop's own thread."""
    if isinstance(said, JobReport):
        shop.say(JobChanged(job.number, job.kind, "running", said.stage, said.share, said.message))
        shown = shop.document.shown.name == job.motion and shop.live is None
        if said.times is not None and said.poses is not None and shown:
            candidate = Motion(shop.character, said.times, said.poses)
            time = float(np.clip(shop.time, candidate.times[0], candidate.times[-1]))
            shop.show(GHOST, np.array(candidate.sample(time).q), time=time)
        return
    shop.say(JobChanged(job.number, job.kind, job.state, job.kind, 1.0, said.message))
    if job.kind.startswith("plan_"):
        planned(shop, said)
        return
    if said.failed:
        return
    if job.kind == "check":
        shop.marks[job.motion, job.frames] = (said.marks, said.verdict)
        shop.check_curves[job.motion, job.frames] = said.curves
        if said.efforts is not None:
            shop.check_efforts[job.motion, job.frames] = said.efforts
        shop.say_scene()
    elif said.motion is not None:
        if said.before:
            shop.marks[job.motion, job.frames] = (said.before, "before the fix")
        owner = said.owner or owner_of(shop, job.motion)
        name = add_take(shop, RESULTS[job.kind], said.motion, owner, said.others, said.props, said.efforts)
        shop.marks[name, shop.document.shown.number] = (said.marks, said.verdict)
        shop.check_curves[name, shop.document.shown.number] = said.curves
        shop.say_scene()


def planned(shop: Workshop, said: JobDone) -> None:
    """Performs what was planned, where the live run that asked for it still goes on."""
    if shop.live is not None and shop.live.jumping is not None:
        shop.live.jumping.found(said.plan)
        if said.failed or said.stopped:
            shop.say(Trouble(said.message))
        elif said.plan is not None and said.plan.note:
            shop.note(said.plan.note)
        shop.say(shop.live_event())
        return
    acting = shop.live.performing if shop.live is not None else None
    if shop.live is None or acting is None or acting.wanted is None:
        return
    key, acting.wanted, acting.stage = acting.wanted, None, "stands"
    if said.failed:
        shop.say(Trouble(said.message))
    elif said.plan is not None:
        acting.plans[key] = said.plan.motion
        if said.plan.note:
            shop.note(said.plan.note)
        shop.live.perform(said.plan.motion)
    shop.say(shop.live_event())
