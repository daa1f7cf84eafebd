"""The verbs that plan a motion and let a simulated body do it: jump and perform."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli import clips
from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, draw, end_stopped, ended, save_run, say, say_json, written, written_suffixes
from counterpoise.cli.simulating import Figure, Pushes, TerrainFile
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, figure_from, push_from
from counterpoise.progress import Reporter

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.character.state import State
    from counterpoise.control.basic import Controller
    from counterpoise.control.perform import JumpWish
    from counterpoise.measure import JumpFlight, Performance
    from counterpoise.motion.motion import Motion
    from counterpoise.simulate.recording import Recording
    from counterpoise.simulate.world import World

_AFTER = 2.5  # [s] simulated after the planned end of a motion ...
_AFTER_STEPS = 16.0  # [s] ... and where it had to step and goes on later, or begins again

Seed = Annotated[int | None, typer.Option(help="Start from a small random pose and velocity; else from rest.", min=0)]
Seconds = Annotated[float | None, typer.Option("--seconds", "-t", help="How long [s]; else until it can stand again.")]
Out = Annotated[
    Path | None, typer.Option("--out", "-o", help="Save the recording (.npz), or its motion: .bvh, .glb, ...")
]
Video = Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")]
Strip = Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")]


@app.command()
def jump(
    height: Annotated[float, typer.Option(help="Rise of the centre of mass above its standing height [m].")] = 0.3,
    forward: Annotated[float, typer.Option(help="Where it lands [m].")] = 0.0,
    side: Annotated[float, typer.Option(help="Where it lands, to the left [m].")] = 0.0,
    twist: Annotated[float, typer.Option(help="How far it turns to the left [deg].")] = 0.0,
    style: Annotated[str, typer.Option(help="plain, tuck, scissor or split.")] = "plain",
    onto: Annotated[
        float, typer.Option(help="Height of a box that it lands on [m]; negative: of one that it leaves.")
    ] = 0.0,
    times: Annotated[int, typer.Option(help="How often it jumps.")] = 1,
    figure: Figure = "human",
    set_: Set = None,
    push: Pushes = None,
    seed: Seed = None,
    seconds: Seconds = None,
    out: Out = None,
    video: Video = None,
    png: Strip = None,
    as_json: Json = False,
) -> None:
    """Plan a jump, let a simulated figure do it on its own strength, and stand again.

    A plan is made once for each jump and body, then kept. Exit code 0: it stands; 1: it fell, or no motion
    was found; 2: bad input.
    """
    from counterpoise.control.perform import Jump, jump_terrain, plan_jump
    from counterpoise.simulate import World
    from counterpoise.simulate.loop import check_seconds

    _check(out, video, png)
    if seconds is not None:
        check_seconds(seconds)
    controller = Jump(height, twist, forward, side, style, onto, times)
    character = figure_from(figure, set_)
    world = World(terrain=jump_terrain(character, controller.wish, times))
    pushes = _pushes(push, character, seconds)
    with bar(as_json) as report:
        plan = plan_jump(character, controller.wish, controller.planning, report)
        length = times * (controller.wait + plan.motion.duration + 1.0) + _AFTER - 1.0
        run = _Run(character, controller, world, length if seconds is None else seconds, pushes, seed)
        recording = run.simulate(report)
        _save(recording, out, video, png, report)
    _show(recording, controller.wish, out, video, png, as_json)


@app.command()
def perform(
    source: Annotated[
        str,
        typer.Argument(metavar="STUNT|CLIP", help="A stunt (.toml), a motion file, a recording or a reference motion."),
    ],
    figure: Annotated[
        str | None, typer.Option("--character", "-c", help="The figure that performs a clip; human by default.")
    ] = None,
    set_: Set = None,
    strength: Annotated[
        float | None,
        typer.Option(
            help="Share of the strength that a stunt is planned with, 0.85 by default; feedback has the rest."
        ),
    ] = None,
    terrain: TerrainFile = None,
    push: Pushes = None,
    seed: Seed = None,
    seconds: Seconds = None,
    out: Out = None,
    video: Video = None,
    png: Strip = None,
    units: clips.Units = None,
    up: clips.Up = None,
    rate: clips.Rate = None,
    as_json: Json = False,
) -> None:
    """Let a simulated figure do a planned stunt or a captured clip on its own strength, and stand again.

    A stunt is optimised first; its terrain, or that given with --terrain, is there in the simulation. A clip is
    retargeted and fixed first, its contacts are found, and the figure starts in its first pose. Exit code 0: it stands;
    1: it fell, or no motion was found; 2: the source cannot be read.
    """
    from counterpoise.simulate.loop import check_seconds

    _check(out, video, png)
    if seconds is not None:
        check_seconds(seconds)
    asked = _Asked(seconds, seed, terrain)
    if Path(source).suffix.lower() == ".toml":
        for name, value in {"--character": figure, "--set": set_, "--units": units, "--up": up, "--rate": rate}.items():
            if value is not None:
                raise BadValue(f"{name} is for clips: {source!r} is a stunt, which names its own character")
        with bar(as_json) as report:
            run = _stunt_run(Path(source), 0.85 if strength is None else strength, asked, push, report, as_json)
            recording = _whole(run, seconds, report)
            _save(recording, out, video, png, report)
    else:
        if strength is not None or terrain is not None:
            raise BadValue(f"--strength and --terrain are for stunts (.toml); {source!r} is a clip, on level ground")
        character = figure_from(figure or "human", set_)
        character.need_feet("perform")
        clip = clips.motion_of_source(source, None, None, 0, clips.reading_options(units, up, rate))
        pushes = _pushes(push, character, seconds)
        with bar(as_json) as report:
            run = _clip_run(clip, character, asked, pushes, report)
            recording = _whole(run, seconds, report)
            _save(recording, out, video, png, report)
    _show(recording, None, out, video, png, as_json)


# -- running ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Asked:
    """What was asked of a performance."""

    seconds: float | None
    seed: int | None
    terrain: str | None


def _stunt_run(
    source: Path, strength: float, asked: _Asked, push: list[str] | None, report: Reporter, as_json: bool
) -> _Run:
    """Returns the simulation of a stunt, which is optimised here."""
    from counterpoise.control.perform import Perform, plan_of_result, with_reserve
    from counterpoise.simulate import World
    from counterpoise.spacetime.stunt.stunt import read_stunt
    from counterpoise.spacetime.stunt.terrain import read_terrain

    stunt = with_reserve(read_stunt(source), strength)
    if asked.terrain is not None and stunt.terrain is not None:
        raise BadValue(f"{str(source)!r} has a terrain of its own: leave out --terrain")
    pushes = _pushes(push, stunt.character, asked.seconds)
    world = World(terrain=stunt.terrain if asked.terrain is None else read_terrain(asked.terrain))
    result = stunt.optimize(callback=report)
    if report.interrupted:
        ended(report)
    if not result.exact:
        _not_planned(stunt.name, result.report(), as_json)
    plan = plan_of_result(result)
    start = stunt.character.state(plan.q[0], plan.v[0])
    length = plan.duration + _AFTER if asked.seconds is None else asked.seconds
    return _Run(stunt.character, Perform(plan), world, length, pushes, asked.seed, start)


def _clip_run(clip: Motion, character: Character, asked: _Asked, pushes: list[Any], report: Reporter) -> _Run:
    """Returns the simulation of a clip, which is retargeted, fixed and planned here."""
    from counterpoise.control.perform import Perform, plan_of_motion, prepare_clip
    from counterpoise.simulate import World

    plan = plan_of_motion(prepare_clip(clip, character, progress=report).motion)
    if report.interrupted:
        ended(report)
    controller = Perform(plan, wait=0.0)
    length = plan.duration + _AFTER if asked.seconds is None else asked.seconds
    return _Run(character, controller, World(), length, pushes, asked.seed, controller.ready(character))


@dataclass(frozen=True, eq=False)
class _Run:
    """A simulation to be made."""

    character: Character
    controller: Controller
    world: World
    seconds: float
    pushes: list[Any]
    seed: int | None
    start: State | None = None

    def simulate(self, report: Reporter) -> Recording:
        from counterpoise.simulate.loop import simulate
        from counterpoise.simulate.start import disturbed_start

        start = self.start
        if self.seed is not None:
            start = disturbed_start(self.character, self.seed, self.world, self.start)
        return simulate(
            self.character, self.controller, self.seconds, world=self.world, disturbances=self.pushes, start=start,
            seed=self.seed or 0, progress=report,
        )  # fmt: skip


def _whole(run: _Run, seconds: float | None, report: Reporter) -> Recording:
    """Returns the recording of a performance; where no length is asked for, one that is long enough for steps too."""
    recording = run.simulate(report)
    busy = recording.status == "finished" and recording.notes["stage"][-1] not in ("stand", "fallen")
    if seconds is not None or not busy:
        return recording
    return replace(run, seconds=run.seconds - _AFTER + _AFTER_STEPS).simulate(report)


def _check(out: Path | None, video: Path | None, png: Path | None) -> None:
    check_targets({out: written_suffixes(), video: (".mp4", ".gif", ".webp"), png: (".png",)})


def _pushes(texts: list[str] | None, character: Character, seconds: float | None) -> list[Any]:
    """Reads pushes; refuses those of bodies that the figure does not have, and those after the end."""
    from counterpoise.simulate.disturbances import check_disturbances

    pushes = [push_from(text, seconds) for text in texts or ()]
    check_disturbances(pushes, [character])
    return pushes


def _save(recording: Recording, out: Path | None, video: Path | None, png: Path | None, report: Reporter) -> None:
    if out is not None:
        save_run(recording, out)
    draw(recording, video, png, report)


def _not_planned(name: str, report: str, as_json: bool) -> None:
    if as_json:
        say_json({"stunt": name, "planned": False, "report": report.splitlines()})
    else:
        say(f"{name}: no motion was found")
        say(report)
    raise typer.Exit(1)


# -- reporting -------------------------------------------------------------------------------------------------------


def _show(
    recording: Recording, wish: JumpWish | None, out: Path | None, video: Path | None, png: Path | None, as_json: bool
) -> None:
    """Prints what happened, and ends with exit code 1 where it fell."""
    from counterpoise.measure import fell, jumps, performance

    flights, fall = jumps(recording), fell(recording)
    shown = performance(recording) if wish is None else None
    files = written({"recording": out, "video": video, "filmstrip": png})
    plan, cause = _last_note(recording, "plan"), _last_note(recording, "cause")
    stands = not fall and not cause and recording.status == "finished"
    if as_json:
        say_json(
            {
                "figure": recording.character.name,
                "seconds": recording.duration,
                "status": recording.status,
                "stands": stands,
                "fell_at": fall.time,
                "fell_how": fall.reason or None,
                "stage": _last_note(recording, "stage") or None,
                "cause": cause or None,
                "plan": plan or None,
                "asked": None if wish is None else vars(wish),
                "performance": None if shown is None else vars(shown),
                "flights": [vars(one) for one in flights],
                "fingerprint": recording.fingerprint(),
                "files": files,
            }
        )
    else:
        _print(recording, flights, wish, shown, stands, plan, cause, files)
    if recording.status == "interrupted":
        end_stopped()
    if not stands:
        raise typer.Exit(1)


def _print(
    recording: Recording, flights: tuple[JumpFlight, ...], wish: JumpWish | None, shown: Performance | None,
    stands: bool, plan: str, cause: str, files: dict[str, str],
) -> None:  # fmt: skip
    from rich.markup import escape
    from rich.table import Table

    from counterpoise.measure import fell

    table = Table(show_header=False, title=f"{recording.character.name}, {recording.duration:g} s")
    if plan:
        table.add_row("plan", escape(plan))
    for number, flight in enumerate(flights, start=1):
        name = f"flight {number}" if len(flights) > 1 else "flight"
        table.add_row(name, _words(flight, wish))
    if shown is not None:
        turned = f"joints off by {math.degrees(shown.tracking):.1f} deg rms"
        left = f" ({100.0 * shown.left_out:.0f}% left out: it had to step)" if shown.left_out > 0.0 else ""
        table.add_row("motion", f"{shown.grade}: {100.0 * shown.done:.0f}% done{left}, {turned}")
    if not flights:
        table.add_row("flight", "none: it did not leave the ground")
    fall = fell(recording)
    if stands:
        stood = flights[-1].stood if flights else None
        table.add_row("stands", "yes" if stood is None else f"yes, still {stood:.2f} s after landing")
    else:
        when = "" if fall.time is None else f"fell at {fall.time:.2f} s: {fall.reason}"
        table.add_row("stands", "no; " + "; ".join(filter(None, (when, escape(cause), _event(recording)))))
    for kind, path in files.items():
        table.add_row(kind, escape(path))
    say(table)


def _words(f: JumpFlight, wish: JumpWish | None) -> str:
    """Returns a flight in words; for a jump beside what was asked."""
    landing = "not landed" if f.landing is None else f"landing {f.landing:.2f} s"
    parts = [f"take-off {f.takeoff:.2f} s, {landing}"]
    if wish is None:
        parts.append(f"rise {f.rise:.3f} m, {f.forward:.2f} m forward, {f.side:.2f} m to the left, turned {f.turn:.0f}")
    else:
        off = ((f.forward - wish.forward) ** 2 + (f.side - wish.side) ** 2) ** 0.5
        parts.append(f"rise {f.rise:.3f} m (asked {wish.height:g})")
        parts.append(f"place off by {100.0 * off:.1f} cm, heading by {f.turn - wish.twist:+.1f} deg")
    parts.append(f"landing peak {f.peak:.1f} body weights, {f.steps} feet stepped, feet {f.spread:.2f} m apart at most")
    return "\n".join(parts)


def _last_note(recording: Recording, name: str) -> str:
    """Returns the last text of a note; empty where there is none."""
    values = recording.notes.get(name)
    texts = [] if values is None else [str(v) for v in values if isinstance(v, str) and v]
    return texts[-1] if texts else ""


def _event(recording: Recording) -> str:
    event = _last_note(recording, "event")
    return f"last event: {event}" if event else "it fell before take-off"
