"""The verbs that plan a motion and let a simulated body do it: jump and perform."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, draw, ended, say, say_json, written
from counterpoise.cli.simulating import Figure, Pushes, TerrainFile
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, figure_from, push_from
from counterpoise.progress import Reporter

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.character.state import State
    from counterpoise.control.basic import Controller
    from counterpoise.control.perform import JumpWish
    from counterpoise.measure import JumpFlight
    from counterpoise.simulate.recording import Recording
    from counterpoise.simulate.world import World

_AFTER = 2.5  # [s] simulated after the planned end of a motion

Seed = Annotated[int | None, typer.Option(help="Start from a small random pose and velocity; else from rest.", min=0)]
Seconds = Annotated[float | None, typer.Option("--seconds", "-t", help="How long [s]; else until it can stand again.")]
Out = Annotated[Path | None, typer.Option("--out", "-o", help="Save the recording here (.npz).")]
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

    A plan is made once for each jump and body, then kept. Exit code 0: it stands; 1: it fell; 2: bad input, or no
    motion was found.
    """
    from counterpoise.control.perform import Jump, jump_terrain, plan_jump
    from counterpoise.simulate import World

    _check(out, video, png)
    controller = Jump(height, twist, forward, side, style, onto, times)
    character = figure_from(figure, set_)
    world = World(terrain=jump_terrain(character, controller.wish, times))
    pushes = _pushes(push)
    with bar(as_json) as report:
        plan = plan_jump(character, controller.wish, controller.planning, report)
        length = times * (controller.wait + plan.motion.duration + 1.0) + _AFTER - 1.0
        run = _Run(character, controller, world, length if seconds is None else seconds, pushes, seed)
        recording = run.simulate(report)
        _save(recording, out, video, png, report)
    _show(recording, controller.wish, out, video, png, as_json)


@app.command()
def perform(
    source: Annotated[Path, typer.Argument(metavar="STUNT", help="A stunt (.toml): keys, contacts, wishes.")],
    strength: Annotated[float, typer.Option(help="Share of the strength that is planned; feedback has the rest.")] = (
        0.85
    ),
    terrain: TerrainFile = None,
    push: Pushes = None,
    seed: Seed = None,
    seconds: Seconds = None,
    out: Out = None,
    video: Video = None,
    png: Strip = None,
    as_json: Json = False,
) -> None:
    """Optimise a motion for a stunt, let a simulated figure do it on its own strength, and stand again.

    Terrain in the stunt, or given with --terrain, is there in the simulation. Exit code 0: it stands; 1: it fell, or no
    motion was found; 2: the stunt cannot be read.
    """
    from counterpoise.control.perform import Perform, plan_of_result, with_reserve
    from counterpoise.simulate import World
    from counterpoise.spacetime.stunt.stunt import read_stunt
    from counterpoise.spacetime.stunt.terrain import read_terrain

    _check(out, video, png)
    stunt = with_reserve(read_stunt(source), strength)
    if terrain is not None and stunt.terrain is not None:
        raise BadValue(f"{str(source)!r} has a terrain of its own: leave out --terrain")
    world = World(terrain=stunt.terrain if terrain is None else read_terrain(terrain))
    pushes = _pushes(push)
    with bar(as_json) as report:
        result = stunt.optimize(callback=report)
        if report.interrupted:
            ended(report)
        if not result.exact:
            _not_planned(stunt.name, result.report(), as_json)
        plan = plan_of_result(result)
        start = stunt.character.state(plan.q[0], plan.v[0])
        length = plan.duration + _AFTER if seconds is None else seconds
        run = _Run(stunt.character, Perform(plan), world, length, pushes, seed, start)
        recording = run.simulate(report)
        _save(recording, out, video, png, report)
    _show(recording, None, out, video, png, as_json)


# -- running ---------------------------------------------------------------------------------------------------------


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


def _check(out: Path | None, video: Path | None, png: Path | None) -> None:
    check_targets({out: (".npz",), video: (".mp4", ".gif", ".webp"), png: (".png",)})


def _pushes(texts: list[str] | None) -> list[Any]:
    return [push_from(text) for text in texts or ()]


def _save(recording: Recording, out: Path | None, video: Path | None, png: Path | None, report: Reporter) -> None:
    if out is not None:
        recording.save(out)
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
    from counterpoise.measure import fell, jumps

    flights, fall = jumps(recording), fell(recording)
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
                "flights": [vars(one) for one in flights],
                "fingerprint": recording.fingerprint(),
                "files": files,
            }
        )
    else:
        _print(recording, flights, wish, stands, plan, cause, files)
    if recording.status == "interrupted":
        raise typer.Exit(130)
    if not stands:
        raise typer.Exit(1)


def _print(
    recording: Recording, flights: tuple[JumpFlight, ...], wish: JumpWish | None, stands: bool, plan: str, cause: str,
    files: dict[str, str],
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
