"""The verb that lets a simulated body stand, go, turn, be pushed and go to a place."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, draw, end_stopped, save_run, say, say_json, written, written_suffixes
from counterpoise.cli.simulating import Figure, Pushes
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, figure_from, number_from, push_from

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.control.perform.jump import Jump
    from counterpoise.simulate.props import Prop
    from counterpoise.simulate.recording import Recording

MOST_SPEED = 20.0  # [m/s] more is a mistake: no figure here runs half as fast
BALL, BALL_MASS = 0.2, 1.0  # [m, kg]
FARTHEST, CLEAR = 1e4, 0.6  # [m] places to go to; posts and balls from where it starts
HIGHEST = 1.2  # height of the hips and width of the feet, at most, in heights of the standing CoM
POST, POST_HEIGHT, POST_MASS = 0.3, 1.6, 500.0  # [m, m, kg]


@app.command()
def go(
    speed: Annotated[float | None, typer.Option(help="Forward [m/s]; negative: backward. Else 0, or as usual.")] = None,
    aside: Annotated[float, typer.Option(help="To the left [m/s]; negative: to the right.")] = 0.0,
    heading: Annotated[float, typer.Option(min=-360.0, max=360.0, help="That it faces [deg], to the left.")] = 0.0,
    gait: Annotated[
        str, typer.Option(help="auto, walk, run, hop_left or hop_right. auto: it runs where it cannot walk so fast.")
    ] = "auto",
    to: Annotated[
        list[str] | None, typer.Option(help="A place to go to, X,Y [m]. Several: one after the other.")
    ] = None,
    hip_height: Annotated[float | None, typer.Option(help="Of the hips in mid-stance [m].")] = None,
    width: Annotated[float | None, typer.Option(help="Between the ankles [m].")] = None,
    style: Annotated[str, typer.Option(help="normal, fast, slow, sad, proud, sneaking, ...")] = "normal",
    figure: Figure = "human",
    set_: Set = None,
    push: Pushes = None,
    throw: Annotated[
        list[str] | None,
        typer.Option(
            metavar="X,Y,Z:SPEED",
            help="A ball of 20 cm and 1 kg, thrown from a place [m] at the trunk at 0 s [m/s], e.g. 6,0,1.2:7. "
            "It is dodged.",
        ),
    ] = None,
    post: Annotated[
        list[str] | None, typer.Option(metavar="X,Y", help="A post 30 cm thick at a place [m]: it is walked around.")
    ] = None,
    jump: Annotated[
        str | None,
        typer.Option(
            metavar="AT:HEIGHT[,FORWARD]",
            help="Jump at a time [s], up and forward [m], e.g. 3:0.3 or 3:0.2,0.5: it stops, jumps and goes on.",
        ),
    ] = None,
    blind: Annotated[bool, typer.Option("--blind", help="It does not see balls and posts.")] = False,
    seed: Annotated[
        int | None, typer.Option(help="Start from a small random pose and velocity; else from rest.", min=0)
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", "-t", help="How long [s].")] = 8.0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the recording (.npz), or its motion: .bvh, .glb, ...")
    ] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    plan: Annotated[
        Path | None,
        typer.Option("--plan", help="Draw the next three steps, as planned at --plan-at (.png, .svg, .pdf)."),
    ] = None,
    plan_at: Annotated[
        float | None, typer.Option(help="Time of that plan [s]; else the end of the first push, or half of the time.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Let a simulated figure stand, walk in any direction, turn, go to places, step when it is pushed, and dodge.

    Exit code 0: it is on its feet at the end; 1: it fell; 2: bad input.
    """
    from counterpoise.control.locomotion import Locomotion
    from counterpoise.control.locomotion.gait_change import gait_named
    from counterpoise.simulate.loop import check_seconds, simulate
    from counterpoise.simulate.start import disturbed_start
    from counterpoise.simulate.world import World

    check_targets(
        {out: written_suffixes(), video: (".mp4", ".gif", ".webp"), png: (".png",), plan: (".png", ".svg", ".pdf")}
    )
    check_seconds(seconds)
    if max(abs(speed or 0.0), abs(aside)) > MOST_SPEED:
        raise BadValue(f"--speed and --aside are at most {MOST_SPEED:g} m/s; got {speed or 0.0:g} and {aside:g}")
    character = figure_from(figure, set_)
    _check_body(character, hip_height, width)
    places = [_place(text) for text in to or ()]
    props = [*(_ball(text, character) for text in throw or ()), *(_post(text) for text in post or ())]
    controller = Locomotion(
        (speed, aside) if speed is not None else ((0.0, aside) if aside else None), math.radians(heading),
        gait_named(gait), width=width, hip_height=hip_height, style=style, to=places or None,
        avoid=() if blind else props, jump=None if jump is None else _jump(jump, seconds),
    )  # fmt: skip
    controller.begin(character)
    start = None if seed is None else disturbed_start(character, seed)
    pushes = [push_from(text, seconds) for text in push or ()]
    if plan_at is None:
        plan_at = min((one.start + one.duration for one in pushes), default=0.5 * seconds)
    elif plan is None:
        raise BadValue("--plan-at is the time of a plan: name its picture too, --plan plan.png")
    if plan is not None and not 0.0 <= plan_at <= seconds:
        raise BadValue(f"--plan-at is a time from 0 to {seconds:g} s; got {plan_at:g}")
    with bar(as_json) as report:
        recording = simulate(
            character, controller, seconds, world=World(props=tuple(props)), disturbances=pushes, start=start,
            seed=seed or 0, progress=report,
        )  # fmt: skip
        if out is not None:
            save_run(recording, out)
        draw(recording, video, png, report)
    if plan is not None:
        _draw_plan(recording, plan_at, speed or 0.0, aside, math.radians(heading), plan)
    files = written({"recording": out, "video": video, "filmstrip": png, "plan": plan})
    _show(recording, files, as_json)


def _check_body(character: Character, hip_height: float | None, width: float | None) -> None:
    """Refuses hips that no leg of this body reaches, and feet further apart than that."""
    most = float(character.snapshot().com[2])
    for flag, value in (("--hip-height", hip_height), ("--width", width)):
        if value is not None and not 0.0 <= value <= HIGHEST * most:
            raise BadValue(f"{flag} lies between 0 and {HIGHEST * most:.2g} m for this figure; got {value:g}")


def _jump(text: str, seconds: float) -> Callable[[float], Jump | None]:
    """Reads AT:HEIGHT[,FORWARD]."""
    from counterpoise.control.perform.jump import Jump

    at, colon, rest = text.partition(":")
    if not colon:
        raise BadValue(f"a jump is AT:HEIGHT or AT:HEIGHT,FORWARD, such as 3:0.3 or 3:0.2,0.5; got {text!r}")
    time, numbers = number_from(at, "the time of a jump"), [number_from(x, "a jump") for x in rest.split(",")]
    if len(numbers) > 2:
        raise BadValue(f"a jump has a height and a way forward [m]; got {rest!r}")
    if not 0.0 <= time < seconds:
        raise BadValue(f"a jump begins from 0 s on and before the end, {seconds:g} s; got {text!r}")
    jump = Jump(numbers[0], forward=numbers[1] if len(numbers) == 2 else 0.0)
    return lambda now: jump if now >= time else None


def _draw_plan(recording: Recording, time: float, speed: float, aside: float, heading: float, path: Path) -> None:
    """Draws the steps that are planned at a time of a recording."""
    from counterpoise.control.walk.steps_ahead import steps_ahead
    from counterpoise.render.plan_plot import plot_plan

    snapshot = recording.character.snapshot(recording.state(recording.row_at(time)))
    plot_plan(steps_ahead(snapshot, speed, aside, heading), path)


def _place(text: str, option: str = "--to") -> tuple[float, float]:
    try:
        x, y = (float(part) for part in text.split(","))
    except ValueError:
        raise BadValue(f"{option} takes a place X,Y in metres, such as 3,1.5; got {text!r}") from None
    if not (abs(x) <= FARTHEST and abs(y) <= FARTHEST):  # nor is NaN
        raise BadValue(f"{option} takes a place X,Y within {FARTHEST:g} m, such as 3,1.5; got {text!r}")
    return x, y


def _ball(text: str, character: Character) -> Prop:
    """Reads X,Y,Z:SPEED: a ball on its way to the trunk."""
    from counterpoise.experiments.upright import trunk_of
    from counterpoise.simulate.props import Prop, aimed

    place, colon, speed = text.partition(":")
    parts = [number_from(part, "--throw") for part in place.split(",")]
    if len(parts) != 3 or not colon:
        raise BadValue(f"--throw takes X,Y,Z:SPEED in metres and m/s, such as 6,0,1.2:7; got {text!r}")
    _check_clear("--throw", parts[0], parts[1], text)
    if parts[2] < 0.5 * BALL:
        raise BadValue(f"--throw begins above the ground, at least {0.5 * BALL:g} m; got {text!r}")
    ball = Prop("ball", BALL, BALL_MASS, (parts[0], parts[1], parts[2]))
    target = character.snapshot().position(trunk_of(character))
    return aimed(ball, target, number_from(speed, "--throw"), character.model.opt.gravity)


def _check_clear(flag: str, x: float, y: float, text: str) -> None:
    """Refuses a place where the figure stands."""
    if math.hypot(x, y) < CLEAR:
        raise BadValue(f"{flag} is at least {CLEAR:g} m away from the figure, which starts at 0,0; got {text!r}")


def _post(text: str) -> Prop:
    """Reads X,Y: a post too heavy to be pushed aside."""
    from counterpoise.simulate.props import Prop

    x, y = _place(text, "--post")
    _check_clear("--post", x, y, text)
    return Prop("box", (POST, POST, POST_HEIGHT), POST_MASS, (x, y, 0.5 * POST_HEIGHT))


def _show(recording: Recording, files: dict[str, str], as_json: bool) -> None:
    """Prints where it is at the end, and ends with exit code 1 where it fell."""
    from counterpoise.measure import com, fell, prop_hit

    fall = fell(recording)
    touches = [prop_hit(recording, k) for k in range(len(recording.meta.get("props", [])))]
    hits = [f"{hit.body} at {hit.time:.2f} s" for hit in touches if hit is not None]
    phases = [str(phase) for phase in recording.notes["phase"]]
    up = not fall and "fallen" not in phases and recording.status == "finished"
    steps = float(np.nanmax(recording.notes["steps"]))
    x, y = com(recording)[-1, :2].tolist()
    doing = "stands" if phases[-1] == "stand" else "steps"
    if as_json:
        say_json(
            {
                "figure": recording.character.name, "seconds": recording.duration, "status": recording.status,
                "on_its_feet": up, "fell_at": fall.time, "fell_how": fall.reason or None, "doing": doing,
                "place": [x, y], "steps": steps, "touched": hits,
                "fingerprint": recording.fingerprint(), "files": files,
            }
        )  # fmt: skip
    else:
        from rich.markup import escape
        from rich.table import Table

        table = Table(show_header=False, title=f"{recording.character.name}, {recording.duration:g} s")
        table.add_row("on its feet", "yes" if up else f"no; {escape(fall.reason or 'it fell')}")
        table.add_row("at the end", f"{doing} at {x:.2f}, {y:.2f} m; {steps:.0f} steps since it last stood")
        if touches:
            table.add_row("touched by balls and posts", escape(", ".join(hits)) or "no")
        for kind, path in files.items():
            table.add_row(kind, escape(path))
        say(table)
    if recording.status == "interrupted":
        end_stopped()
    if not up:
        raise typer.Exit(1)
