"""The demo: the best the system can do so far, in one run that writes a folder of results.

A human stands and takes one blow after another, each harder, until its arms windmill; it returns to its place each
time. Then it starts and walks. Then the whole cast, side by side, takes a push in proportion to what each body's ankles
alone could bear. Then a human jumps with half a turn, planned and then done on its own strength, and stands again.
Last, one controller stands, catches a push by a step, walks, runs, turns and stops.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.state import State
from counterpoise.control.perform import Jump
from counterpoise.control.stand import Stand
from counterpoise.control.walk import Walk
from counterpoise.errors import BadValue
from counterpoise.experiments import demo_locomotion
from counterpoise.experiments.runner import make_folder
from counterpoise.experiments.upright import scaled_blow, trunk_of
from counterpoise.experiments.warming import warm_up
from counterpoise.kernels import usable_shipped_kernels
from counterpoise.motion.motion import Motion
from counterpoise.progress import Progress, Reporter, Watch, watching
from counterpoise.render import palette
from counterpoise.render.camera import Camera, frame_points
from counterpoise.render.draw import Picture, draw
from counterpoise.render.pictures import labelled, write_picture
from counterpoise.render.sources import take_of
from counterpoise.render.stage import CameraPath, DrawnStage
from counterpoise.render.take import Arrow, Take
from counterpoise.render.video import drawn, frame_times, write_video
from counterpoise.simulate import Push, Recording, World, replay, simulate

BLOWS = (  # start [s], direction [deg from forward], strength in rho: 1 is what ankles alone could bear
    (0.4, 0.0, 1.0),
    (1.8, 180.0, 1.2),
    (3.4, 90.0, 1.4),
    (5.2, 0.0, 1.5),
)
NEEDED = ("standing", "walking", "optimize", "perform", "pictures")  # parts that are compiled before the demo begins
HUMAN_SECONDS = 8.0  # [s]
CAST = {  # where they stand, from right to left [m]
    "dinosaur": (-0.6, 3.1),
    "ostrich": (0.0, 1.75),
    "human": (0.0, 0.75),
    "insectoid": (0.2, -0.2),
    "child": (0.35, -1.05),
    "chicken": (0.6, -1.65),
}
CAST_PUSH, CAST_RHO, CAST_SECONDS = 0.4, 1.3, 2.6  # start of the push [s], its strength, length of the part [s]
PUSH_DURATION = 0.1  # [s]
JUMP_HEIGHT, JUMP_TWIST, JUMP_SECONDS = 0.3, 180.0, 3.2  # [m], [deg], length of the part [s]
WALK_SPEED, WALK_SECONDS = 1.2, 4.8  # [m/s], length of the part [s]
SECONDS = HUMAN_SECONDS + WALK_SECONDS + CAST_SECONDS + JUMP_SECONDS + demo_locomotion.SECONDS
SIZE, FPS = (960, 540), 25  # of the video


@dataclass(frozen=True)
class DemoResult:
    """The recordings, files and facts of the demo."""

    recording: Recording  # the human
    walk: Recording
    cast: Recording
    jump: Recording
    locomotion: Recording
    files: dict[str, Path]
    facts: list[tuple[str, ...]]  # as in FACTS
    replay_error: float


View = Callable[[float], Camera]  # of a time [s]
FACTS = ("figure", "mass", "push", "sped up by", "CoM moved", "feet moved", "in the end")


@dataclass(frozen=True, eq=False)
class Shot:
    """A recording, and how it is filmed."""

    recording: Recording
    take: Take
    camera: View
    caption: str
    moments: Sequence[float]  # of the filmstrip [s]
    panel: tuple[int, int]  # [pixels] of one of them
    close: View  # of the filmstrip


def push_the_human(seconds: float = HUMAN_SECONDS, progress: Watch | None = None) -> Recording:
    """Simulates a human pushed at the thorax from all sides, harder each time."""
    human = character("human")
    pushes = [scaled_push(human, direction, rho, when) for when, direction, rho in BLOWS]
    return simulate(human, Stand(), seconds, disturbances=pushes, progress=progress)


def push_the_cast(seconds: float = CAST_SECONDS, progress: Watch | None = None) -> Recording:
    """Simulates six bodies in one world, each pushed forward with the same rho."""
    figures = [character(name) for name in CAST]
    starts = [standing_at(figure, *CAST[figure.name]) for figure in figures]
    pushes = [scaled_push(figure, 0.0, CAST_RHO, CAST_PUSH, number) for number, figure in enumerate(figures)]
    stands = [Stand() for _ in figures]
    return simulate(figures, stands, seconds, world=World(), start=starts, disturbances=pushes, progress=progress)


def start_and_walk(seconds: float = WALK_SECONDS, progress: Watch | None = None) -> Recording:
    """Simulates a human that starts from standing and walks."""
    return simulate(character("human"), Walk(speed=WALK_SPEED), seconds, progress=progress)


def walk_words(recording: Recording) -> str:
    """Returns what the walk was like, in words."""
    fall = measure.fell(recording)
    if fall:
        return f"fell: {fall.reason}"
    steps, way = int(recording.notes["steps"][-1]), float(np.ptp(recording.track().com[:, 0]))
    return f"{steps} steps, {way:.1f} m, walks"


def jump_and_turn(seconds: float = JUMP_SECONDS, progress: Watch | None = None) -> Recording:
    """Simulates a human that jumps with half a turn. The plan is made the first time (some ten seconds), then kept."""
    jump = Jump(JUMP_HEIGHT, twist=JUMP_TWIST)
    return simulate(character("human"), jump, seconds, progress=progress)


def jump_words(recording: Recording) -> str:
    """Returns what the jump was like, in words."""
    flights, fall = measure.jumps(recording), measure.fell(recording)
    if not flights:
        return "did not leave the ground"
    f = flights[0]
    ended = f"fell: {fall.reason}" if fall else "stands"
    return f"CoM rose {f.rise:.2f} m, turned {f.turn:.0f} deg, landed with {f.peak:.1f} body weights, {ended}"


def scaled_push(character: Character, direction: float, rho: float, start: float, figure: int = 0) -> Push:
    """Returns a push at the trunk, `rho` times what the ankles of this body alone could bear."""
    return replace(scaled_blow(character, trunk_of(character), direction, rho, start, PUSH_DURATION), figure=figure)


def standing_at(character: Character, x: float, y: float) -> State:
    """Returns the neutral pose at a place on the ground [m]."""
    q = character.neutral.copy()
    q[:2] += (x, y)
    return character.state(q)


def run_demo(folder: str | os.PathLike[str], progress: Watch | None = None, seconds: float = SECONDS) -> DemoResult:
    """Simulates, checks by replay and draws; all files are written to `folder`. Fewer `seconds` shorten all parts."""
    if not 0.0 < seconds <= SECONDS:
        raise BadValue(f"the demo lasts up to {SECONDS:g} s; got {seconds!r}")
    with watching(progress) as reporter:
        return _run(make_folder(folder), reporter, seconds)


def _run(home: Path, reporter: Reporter, seconds: float) -> DemoResult:
    def report(stage: str, share: float) -> None:
        if not reporter.report(stage, share):
            raise KeyboardInterrupt  # what was simulated is saved

    if usable_shipped_kernels() is None:
        warm_up(lambda part, share: report("compiling, once", share), NEEDED)
    files = {
        name: home / name
        for name in (
            "demo.mp4", "filmstrip.png", "recording.npz", "walk.npz", "cast.npz", "jump.npz", "locomotion.npz"
        )
    }  # fmt: skip
    parts = {}
    for name, stage, run, whole in (
        ("recording", "a human", push_the_human, HUMAN_SECONDS),
        ("walk", "a walk", start_and_walk, WALK_SECONDS),
        ("cast", "the cast", push_the_cast, CAST_SECONDS),
        ("jump", "a jump", jump_and_turn, JUMP_SECONDS),
        ("locomotion", "locomotion", demo_locomotion.go_about, demo_locomotion.SECONDS),
    ):
        length = whole * seconds / SECONDS
        parts[name] = run(length, partial(_share, reporter, f"simulating {stage}"))
        parts[name].save(files[f"{name}.npz"])
        if parts[name].status == "interrupted":
            raise KeyboardInterrupt  # what was simulated is saved
        report(f"simulating {stage}", 1.0)
    human, walk, cast, jump = parts["recording"], parts["walk"], parts["cast"], parts["jump"]
    replayed = replay(human, progress=partial(_share, reporter, "replaying in plain MuJoCo"))
    report("replaying in plain MuJoCo", 1.0)
    going = parts["locomotion"]
    shots = [_human_shot(human), _walk_shot(walk), _cast_shot(cast), _jump_shot(jump), _locomotion_shot(going)]
    write_picture(_sheet(shots), files["filmstrip.png"])
    report("drawing", 0.05)
    write_video(_frames(shots, lambda share: report("drawing", 0.05 + 0.95 * share)), files["demo.mp4"], FPS, SIZE)
    report("drawing", 1.0)
    facts = [*_facts(human, "human alone"), *_facts(cast)]
    return DemoResult(human, walk, cast, jump, going, files, facts, replayed.final_error)


def _share(reporter: Reporter, stage: str, progress: Progress) -> bool:
    """Reports the progress of a part under another name."""
    return reporter.report(stage, progress.share, progress.message)


# ------------------------------------------------------------------------------------------------------------- drawing


def _human_shot(recording: Recording) -> Shot:
    """The human, with CoM, CoP, forces and pushes, and its reference beside it as a ghost."""
    character = recording.character
    reference = Motion(character, np.zeros(1), character.neutral[None])
    take = take_of(recording, ghost=reference, ghost_offset=(0.0, 1.0, 0.0))
    take = replace(take, arrows=_arrows([take], [character]))
    stage = [(x, y, z) for x in (-0.6, 0.75) for y in (-0.3, 1.3) for z in (0.0, 2.0)]
    panel = (320, 380)
    view, close = (
        frame_points(stage, azimuth=-55.0, elevation=10.0, aspect=w / h, margin=0.02) for w, h in (SIZE, panel)
    )
    share = recording.duration / HUMAN_SECONDS
    moments = [share * t for t in (0.46, 2.2, 3.8, 5.7)]
    return Shot(recording, take, still(view), "a human takes blow after blow", moments, panel, still(close))


def _walk_shot(recording: Recording) -> Shot:
    """The walk from the side, with CoM, CoP and ground forces; the camera stands still."""
    take = take_of(recording)
    take = replace(take, arrows=_arrows([take], recording.figures))
    way = float(recording.track().com[:, 0].max())
    stage = [(x, y, z) for x in (-0.5, way + 0.5) for y in (-0.3, 0.3) for z in (0.0, 1.9)]
    view = frame_points(stage, azimuth=-75.0, elevation=6.0, aspect=SIZE[0] / SIZE[1], margin=0.02)
    panel = (640, 360)
    share = recording.duration / WALK_SECONDS
    return Shot(recording, take, still(view), "it walks", [share * 3.2, share * 4.7], panel, still(view))


def _cast_shot(recording: Recording) -> Shot:
    """The cast, with pushes and ground forces of every figure."""
    takes = [take_of(recording, com=True, cop=False, forces=True, figure=i) for i in range(len(recording.figures))]
    take = Take(recording.model, recording.time, recording.qpos, arrows=_arrows(takes, recording.figures))
    stage = [(x, y, z) for x in (-1.2, 1.1) for y in (-1.9, 3.6) for z in (0.0, 2.35)]
    view = frame_points(stage, azimuth=-28.0, elevation=9.0, aspect=SIZE[0] / SIZE[1], margin=0.02)
    share = recording.duration / CAST_SECONDS
    moments = [share * 0.46, share * 0.85]
    words = "every body takes the push its size allows"
    return Shot(recording, take, still(view), words, moments, (640, 360), still(view))


def _jump_shot(recording: Recording) -> Shot:
    """The jump, with CoM, CoP and ground forces."""
    take = take_of(recording)
    take = replace(take, arrows=_arrows([take], recording.figures))
    stage = [(x, y, z) for x in (-0.6, 0.6) for y in (-0.6, 0.6) for z in (0.0, 2.5)]
    panel = (160, 300)
    view, close = (
        frame_points(stage, azimuth=-50.0, elevation=8.0, aspect=w / h, margin=0.02) for w, h in (SIZE, panel)
    )
    share = recording.duration / JUMP_SECONDS
    moments = [share * t for t in (0.3, 0.72, 1.0, 1.16, 1.3, 1.46, 1.75, 2.9)]
    return Shot(
        recording, take, still(view), "half a turn in the air, planned, then done", moments, panel, still(close)
    )


def _locomotion_shot(recording: Recording) -> Shot:
    """The last act, with CoM, CoP, ground forces and the push; the camera goes along."""
    take = take_of(recording)
    take = replace(take, arrows=_arrows([take], recording.figures))
    panel = (160, 240)
    path, close = (CameraPath(DrawnStage(take), "track", w / h, -62.0, 8.0) for w, h in (SIZE, panel))
    share = recording.duration / demo_locomotion.SECONDS
    moments = [share * t for t in (0.3, 0.7, 2.6, 3.9, 6.9, 7.1, 9.6, 11.4)]
    words = "pushed, it steps; then it walks, runs, turns and stops"
    return Shot(recording, take, path.camera, words, moments, panel, close.camera)


def still(camera: Camera) -> View:
    """Returns a view that does not move."""
    return lambda time: camera


def _arrows(takes: Sequence[Take], figures: Sequence[Character]) -> list[list[Arrow]]:
    """The arrows of all figures; those of pushes are twice as long and end at the surface of the body."""
    rows: list[list[Arrow]] = [[] for _ in takes[0].times]
    for take, figure in zip(takes, figures, strict=True):
        assert isinstance(take.arrows, Sequence)
        for row, arrows in zip(rows, take.arrows, strict=True):
            for start, vector, colour in arrows:
                if colour == palette.PUSH:
                    way = vector / max(float(np.linalg.norm(vector)), 1e-9)
                    start, vector = start - vector - 0.08 * figure.height * way, 2.0 * vector
                row.append((start, vector, colour))
    return rows


def _sheet(shots: Sequence[Shot]) -> Picture:
    """The moments of all shots, one row a shot."""
    rows = []
    for shot in shots:
        stage = DrawnStage(shot.take)
        pictures = [draw(stage.scene(moment), shot.close(moment), shot.panel, 6) for moment in shot.moments]
        named = [labelled(p, f"{moment:.2f} s") for p, moment in zip(pictures, shot.moments, strict=True)]
        rows.append(np.concatenate(named, axis=1))
    return np.concatenate(rows, axis=0)


def _frames(shots: Sequence[Shot], progress: Callable[[float], None]) -> Iterator[Picture]:
    moments = [frame_times(float(s.take.times[0]), float(s.take.times[-1]), FPS) for s in shots]
    done, every = 0, sum(len(m) for m in moments)
    for shot, times in zip(shots, moments, strict=True):
        stage = DrawnStage(shot.take)
        scenes = ((stage.scene(moment), shot.camera(moment)) for moment in times)
        for moment, picture in zip(times, drawn(scenes, SIZE, 2, dither=True), strict=True):
            yield labelled(picture, f"{shot.caption}   {moment:.1f} s")
            done += 1
            progress(done / every)


# --------------------------------------------------------------------------------------------------------------- facts


def _facts(recording: Recording, name: str = "") -> list[tuple[str, ...]]:
    """One row a figure, with the columns of FACTS."""
    rows: list[tuple[str, ...]] = []
    for number, figure in enumerate(recording.figures):
        impulse = _largest_impulse(recording, number)
        com = recording.track(number).com
        moved = np.linalg.norm(com[:, :2] - com[0, :2], axis=1).max()
        slip = max(measure.foot_slip(recording, number).values())
        fall = measure.fell(recording, number)
        ended = f"fell: {fall.reason}" if fall.fell else "stands"
        rows.append(
            (name or figure.name, f"{figure.mass:.1f} kg", f"{10 * impulse:.0f} N x 0.1 s",
             f"{impulse / figure.mass:.2f} m/s", f"{100 * moved:.1f} cm", f"{1000 * slip:.1f} mm", ended)
        )  # fmt: skip
    return rows


def _largest_impulse(recording: Recording, figure: int) -> float:
    """The impulse of the hardest push in the recording [N s]."""
    bodies = recording.places[figure].bodies
    force = recording.external[:, bodies, :3].sum(axis=1)
    return float(np.linalg.norm(force, axis=1).max() * PUSH_DURATION)
