"""The live run: start, stop, push, tune."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from counterpoise.control.locomotion import Locomotion
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.simulate import Prop
from counterpoise.studio.actions.jobs import told
from counterpoise.studio.commands import (
    ActLive,
    BakeLive,
    ChooseLive,
    ClearThrown,
    PullProp,
    PushBody,
    SetLive,
    StartLive,
    SteerLive,
    StopLive,
    ThrowProp,
    TuneLive,
    WalkTo,
)
from counterpoise.studio.efforts import Efforts
from counterpoise.studio.events import JobChanged
from counterpoise.studio.figure_facts import mesh_key
from counterpoise.studio.going import HeldKeys
from counterpoise.studio.jobs import JobKind, scene_values
from counterpoise.studio.layers import with_joints
from counterpoise.studio.live import FRAME, LiveRun
from counterpoise.studio.live_controllers import LiveFigure, companion, live_changes, make_controller
from counterpoise.studio.performing import Performing
from counterpoise.studio.prop_paths import paths_of_rows
from counterpoise.studio.takes import add_keys, add_take, owner_of
from counterpoise.studio.workshop import Workshop, handles

SLOWEST, FASTEST = 0.05, 2.0  # of real time
LONGEST_PUSH = 10.0  # [s]
HALF_FRAME = 0.5 * FRAME  # [s]
MOST_KEYS = 60.0  # [1/s]


@handles(StartLive)
def start_live(shop: Workshop, command: StartLive) -> None:
    """Starts from the pose at the playhead."""
    shop.drag = None
    q = shop.document.pose_at(command.time)
    shop.time = command.time
    scene = shop.document.scene
    first = LiveFigure(
        owner_of(shop, shop.document.shown.name), shop.character, make_controller(command.controller, q, scene.world), q
    )
    others = [companion(scene, name, shop.cast.pose_at(name, command.time)) for name in shop.cast.names]
    figures = [first, *others]
    changes = live_changes(scene, figures)
    for _, change in changes:
        if change.body is not None:
            mesh_key(change.body)  # it is made now, and not while the figure moves
    shop.live = LiveRun(command.controller, figures, scene.world, changes)
    shop.after_picture = partial(plan_ahead, shop)
    shop.live.playhead = command.time
    shop.say(shop.live_event())


@handles(StopLive)
def stop_live(shop: Workshop, command: StopLive) -> None:
    shop.stop_live()


@handles(PushBody)
def push_body(shop: Workshop, command: PushBody) -> None:
    if not 0.0 < command.duration <= LONGEST_PUSH:
        raise BadValue(f"a push lasts between 0 and {LONGEST_PUSH:g} s; got {command.duration:g}")
    running(shop).push(command.body, command.force, command.duration, command.figure)


@handles(PullProp)
def pull_prop(shop: Workshop, command: PullProp) -> None:
    running(shop).pull_prop(command.prop, command.point, command.target)


@handles(ThrowProp)
def throw_prop(shop: Workshop, command: ThrowProp) -> None:
    """Throws a ball or a box; the page is told of one more prop."""
    size = command.size if command.shape == "ball" else (command.size,) * 3
    prop = Prop(command.shape, size, command.mass, command.place, bounce=command.bounce)
    running(shop).throw(prop, np.array(command.target), command.speed)
    shop.say(shop.live_event())


@handles(ClearThrown)
def clear_thrown(shop: Workshop, command: ClearThrown) -> None:
    running(shop).clear_thrown()
    shop.say(shop.live_event())


@handles(ActLive)
def act_live(shop: Workshop, command: ActLive) -> None:
    """Performs at once what is planned; what is not is planned first, while the figure stands."""
    run, shown = running(shop), shop.document.shown
    if run.jumping is not None:
        run.jumping.ask()
        plan_ahead(shop, run)
        shop.say(shop.live_event())
        return
    acting = run.performing
    if acting is None:
        raise BadValue(f"{run.name!r} does nothing on demand: choose jump, perform or locomotion, then press Live")
    key = acting.key(shown.name, shown.number)
    if key in acting.plans:
        run.perform(acting.plans[key])
    elif acting.kind == "jump":
        plan_in_worker(shop, acting, "plan_jump", {"character": run.character, "wish": acting.wish})
    elif run.other_bodies:
        raise BadValue("the body has changed since: a motion is performed by the body it is made for; press Live again")
    elif shown.is_clip:
        plan_in_worker(shop, acting, "plan_clip", {"motion": shown.whole()})
    else:
        plan_in_worker(shop, acting, "plan_keys", scene_values(shop.document.scene, shown.name))
    shop.say(shop.live_event())


def plan_ahead(shop: Workshop, run: LiveRun) -> None:
    """Has the worker plan the jump that a live Locomotion needs next, as soon as the worker is free."""
    if run.jumping is None or not isinstance(run.session.controller, Locomotion):
        return
    wish = run.jumping.to_plan(run.session.controller, run.session.memory)
    if wish is None or shop.jobs.current is not None:
        return
    shown = shop.document.shown
    shop.told = lambda job, said: told(shop, job, said)
    job = shop.jobs.start("plan_jump", shown.name, shown.number, {"character": run.character, "wish": wish})
    run.jumping.planning = wish
    shop.say(JobChanged(job.number, job.kind, "running", "planning", 0.0, ""))


def plan_in_worker(shop: Workshop, acting: Performing, kind: JobKind, values: dict[str, Any]) -> None:
    """Starts planning; `told` performs the plan when it is there."""
    shown = shop.document.shown
    shop.told = lambda job, said: told(shop, job, said)
    job = shop.jobs.start(kind, shown.name, shown.number, values)
    acting.wanted, acting.stage = acting.key(shown.name, shown.number), "is planned"
    shop.say(JobChanged(job.number, job.kind, "running", "planning", 0.0, ""))


@handles(WalkTo)
def walk_to(shop: Workshop, command: WalkTo) -> None:
    running(shop).walk_to(command.x, command.y)


@handles(TuneLive)
def tune_live(shop: Workshop, command: TuneLive) -> None:
    """A flag is sent as 0 or 1."""
    run = running(shop)
    known = {(one.table, one.name): one.value for one in run.sliders}
    is_flag = isinstance(known.get((command.table, command.name)), bool)
    run.tune(command.table, command.name, bool(command.value) if is_flag else command.value)
    shop.say(shop.live_event())


@handles(ChooseLive)
def choose_live(shop: Workshop, command: ChooseLive) -> None:
    running(shop).choose(command.name, command.value, command.table)
    shop.say(shop.live_event())


@handles(SteerLive)
def steer_live(shop: Workshop, command: SteerLive) -> None:
    """Directions are kept between -1 and 1."""
    forward, turn = (min(max(way, -1.0), 1.0) for way in (command.forward, command.turn))
    running(shop).steer(HeldKeys(forward, turn, command.run))
    shop.say(shop.live_event())


@handles(SetLive)
def set_live(shop: Workshop, command: SetLive) -> None:
    """Sets clock and ground of the running simulation."""
    run = running(shop)
    if not SLOWEST <= command.speed <= FASTEST:
        raise BadValue(f"the live clock runs at {SLOWEST:g} to {FASTEST:g} of real time; got {command.speed:g}")
    run.speed, run.paused = command.speed, command.paused
    if (command.roll, command.pitch) != run.session.world.tilt:
        run.tilt(command.roll, command.pitch)
    shop.say(shop.live_event())


@handles(BakeLive)
def bake_live(shop: Workshop, command: BakeLive) -> None:
    """Keeps the frames of the live run as a take, or poses of them as keys of a new motion."""
    run = shop.live if shop.live is not None else shop.past
    if run is None or len(run.times) < 2:
        raise BadValue("nothing was simulated yet: press Live first")
    times, poses = np.array(run.times), np.array(run.poses)
    end = command.end if command.end > 0.0 else float(times[-1])
    inside = (times >= command.start - HALF_FRAME) & (times <= end + HALF_FRAME)
    if inside.sum() < 2:
        raise BadValue(
            f"there are no two frames between {command.start:g} and {end:g} s; {times[-1]:g} s were simulated"
        )
    shop.stop_live()
    times, poses, owner = times[inside], poses[inside], owner_of(shop, shop.document.shown.name)
    if command.joints:  # the others are as on the timeline
        under = [shop.document.pose_at(run.playhead + t) for t in times]
        poses = with_joints(shop.character, under, poses, command.joints)
    if command.keys > 0.0:
        if not command.keys <= MOST_KEYS:
            raise BadValue(f"at most {MOST_KEYS:g} keys a second are baked; got {command.keys:g}")
        step = max(1, round(1.0 / (FRAME * command.keys)))
        chosen = sorted({*range(0, len(times), step), len(times) - 1})
        name = add_keys(shop, "baked keys", times[chosen], poses[chosen], owner)
    else:
        others = {
            one.name: Motion(one.character, times, np.array(rows)[inside])
            for one, rows in zip(run.figures[1:], run.other_poses, strict=True)
        }
        rows = [row for row, keep in zip(run.prop_rows, inside, strict=True) if keep]
        props = paths_of_rows(times, rows, run.known_props)
        shares = np.array(run.effort_rows, float)[inside]
        efforts = Efforts(times - times[0], shares) if not command.joints else None
        name = add_take(shop, "baked", Motion(shop.character, times, poses), owner, others, props, efforts)
    shop.time = 0.0
    shop.say_scene()
    shop.note(f"Baked {times[-1] - times[0]:.1f} s as {name!r}.")


def running(shop: Workshop) -> LiveRun:
    """Returns the live run."""
    if shop.live is None:
        raise BadValue("nothing is live: press Live first")
    return shop.live
