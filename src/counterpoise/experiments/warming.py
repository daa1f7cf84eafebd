"""Warming up: everything that verbs need is compiled now, once, instead of when it is first used."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterpoise.errors import unknown_name
from counterpoise.kernels import count_compilations
from counterpoise.motion.motion import Motion
from counterpoise.progress import watching

JUMP = """
name = "warm-up"
character = "human"
duration = 0.5
rate = 20

[[key]]
time = 0.0
pose = "stand"

[[key]]
time = 0.5
pose = "stand"

[[contact]]
part = "feet"
to = 0.2

[[contact]]
part = "feet"
from = 0.3

[[wish]]
kind = "torque"

[[box]]
center = [2.0, 0.0]
size = [1.0, 1.0]
height = 0.3
"""
SQUAT_SECONDS = 0.3  # [s] of the motion that is checked and fixed
SIMULATED_SECONDS = 0.03  # [s]
STEP_SECONDS = 1.4  # [s] in which a walk takes its first steps
RUN_SECONDS = 0.4  # [s] of a run


@dataclass(frozen=True)
class WarmUp:
    """What was compiled: nothing, if everything was there."""

    kernels: tuple[str, ...]
    finished: bool = True  # False: stopped before all parts were done


def warm_up(progress: Callable[[str, float], object] | None = None, parts: Sequence[str] | None = None) -> WarmUp:
    """Runs each part of the system for an instant, so that its kernels are compiled and kept.

    `progress(part, share)` is called before each part, and once at the end with a share of 1. An answer that counts as
    false, other than None, stops it; called again it goes on, as what is compiled stays. `parts` are names in `PARTS`;
    None: all.
    """
    report = progress if progress is not None else lambda part, share: None
    known = [name for name, _, _ in PARTS]
    for name in parts or ():
        if name not in known:
            raise unknown_name("part to warm up", name, known)
    chosen = [part for part in PARTS if parts is None or part[0] in parts]
    total, done = float(sum(weight for _, weight, _ in chosen)), 0.0
    with count_compilations() as compiled, watching(lambda inside: None) as reporter:  # parts show no bars of their own
        for name, weight, part in chosen:
            answer = report(name, done / total)
            if reporter.stopped or (answer is not None and not answer):
                return WarmUp(tuple(compiled), finished=False)
            part()
            done += weight
        if reporter.stopped:
            return WarmUp(tuple(compiled), finished=False)
    report("ready", 1.0)
    return WarmUp(tuple(compiled))


def _poses() -> None:
    import counterpoise as cp

    human = cp.character("human")
    feet = [cp.Pin("foot_left"), cp.Pin("foot_right")]
    cp.solve_pose(human, [cp.Reach("hand_left", (0.4, 0.3, 1.2))], [*feet, cp.Balanced()])
    cp.solve_pose(human, [cp.Orient("head", (1.0, 0.0, 0.0, 0.0)), cp.CenterOfMass((0.0, 0.0, None))], feet)
    cp.PoseDrag(human, feet).to([cp.Reach("hand_left", (0.4, 0.3, 1.2))])
    path = cp.Path.through("hand_left", [(0.3, 0.3, 1.1), (0.4, 0.3, 1.2)], duration=0.1)
    cp.animate(human, [path], feet, rate=30.0)


def _clips() -> None:
    import counterpoise as cp

    human = cp.character("human")
    squat = cp.reference_motion("squat", human).slice(0.0, SQUAT_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".bvh", ".glb"):
            squat.write(Path(folder) / f"clip{suffix}", rate=30.0)
        clip = cp.read_motion(Path(folder) / "clip.bvh")
        cp.read_motion(Path(folder) / "clip.glb")
    cp.retarget(clip, human)
    cp.retarget(squat, cp.character("ostrich"))
    cp.measure.compare_motions(squat, squat)


def _check() -> None:
    import counterpoise as cp

    cp.check_motion(_bvh_clip())
    cp.check_motion(cp.reference_motion("squat", cp.character("human")).slice(0.0, SQUAT_SECONDS))


def _fix() -> None:
    import counterpoise as cp

    cp.fix_motion(_bvh_clip())


def _bvh_clip() -> Motion:
    import counterpoise as cp

    squat = cp.reference_motion("squat", cp.character("human")).slice(0.0, SQUAT_SECONDS)
    with tempfile.TemporaryDirectory() as folder:
        squat.write(Path(folder) / "clip.bvh", rate=60.0)
        return cp.read_motion(Path(folder) / "clip.bvh")


def _standing() -> None:
    import counterpoise as cp

    human = cp.character("human")
    push = cp.Push("thorax", (80.0, 0.0, 0.0), 0.01, 0.01)
    run = cp.simulate(human, cp.Stand(), SIMULATED_SECONDS, disturbances=[push])
    cp.simulate(human, cp.HoldPose(), SIMULATED_SECONDS)
    cp.simulate(human, cp.Stand(liveliness=1.0), SIMULATED_SECONDS, world=cp.World(tilt=(0.0, 5.0)))
    stairs = cp.Terrain([cp.Stairs((0.6, 0.0), steps=2), cp.rough_ground((4.0, 0.0), seed=1)])
    cp.simulate(human, cp.Stand(), SIMULATED_SECONDS, world=cp.World(terrain=stairs))
    cp.simulate([human, cp.character("chicken")], cp.Stand(), SIMULATED_SECONDS)
    squat = cp.reference_motion("squat", human)
    cp.simulate(human, cp.Stand(squat), SIMULATED_SECONDS)
    cp.measure.summary(run)
    cp.replay(run)


def _walking() -> None:
    import counterpoise as cp
    from counterpoise.control.run.run import Running

    human = cp.character("human")
    cp.simulate(human, cp.Walk(), STEP_SECONDS)
    cp.simulate(human, cp.Walk(terrain=cp.Terrain([])), STEP_SECONDS)
    cp.simulate(human, Running(), RUN_SECONDS)  # it falls, and has done everything that a run does
    push = cp.Push("thorax", (450.0, 0.0, 0.0), 0.05, 0.1)
    cp.simulate(human, cp.Locomotion(), STEP_SECONDS, disturbances=[push])


def _optimize() -> None:
    import counterpoise as cp

    stunt = cp.read_stunt(JUMP)
    left = iter((True, True))
    stunt.optimize(callback=lambda progress: next(left, False))


def _perform() -> None:
    import counterpoise as cp
    from counterpoise.control.perform import plan_of_motion

    human = cp.character("human")
    plan = plan_of_motion(cp.reference_motion("squat", human).slice(0.0, SQUAT_SECONDS))
    above = plan.q[0].copy()
    above[2] += 0.05  # [m] so that its feet are led to the ground
    for q in (plan.q[0], above):
        cp.simulate(human, cp.Perform(plan), SIMULATED_SECONDS, start=human.state(q, plan.v[0]))


def _pictures() -> None:
    import counterpoise as cp
    from counterpoise.render import take_of, terrain_scene

    human = cp.character("human")
    run = cp.simulate(human, cp.HoldPose(), SIMULATED_SECONDS)
    ground = terrain_scene(cp.Terrain([cp.rough_ground((4.0, 0.0), seed=1)]))
    cp.still(take_of(run, trails=("com",)), size=(32, 32))
    cp.still(take_of(human, props=ground), size=(32, 32))
    cp.filmstrip(cp.reference_motion("squat", human), count=2, mode="strobe")


PARTS: tuple[tuple[str, float, Callable[[], None]], ...] = (  # name, share of the processor's time, what is run
    ("poses", 49.0, _poses),
    ("clips", 17.0, _clips),
    ("check", 16.0, _check),
    ("fix", 12.0, _fix),
    ("standing", 68.0, _standing),
    ("walking", 6.0, _walking),
    ("optimize", 13.0, _optimize),
    ("perform", 1.0, _perform),
    ("pictures", 15.0, _pictures),
)
