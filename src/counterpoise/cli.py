"""The command line: thin verbs over the same public functions that Python uses."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from counterpoise.errors import BadValue, CounterpoiseError, nearest_name
from counterpoise.phrases import (
    check_targets,
    controller_from,
    figure_from,
    named_numbers,
    number_from,
    path_from,
    platform_from,
    pose_start,
    push_from,
    size_from,
    source_from,
    two_numbers,
)

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.motion.motion import Motion
    from counterpoise.simulate.recording import Recording

app = typer.Typer(
    name="counterpoise",
    help="Physically right character motion: simulate, record, replay, draw, measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the figure, e.g. height=1.8. May be repeated."),
]


class CameraMode(StrEnum):
    track = "track"
    fixed = "fixed"


def main() -> NoReturn:
    """Run the command line; what goes wrong by the user's input is one line and exit code 2."""
    try:
        code = app(standalone_mode=False)  # the exit code, where a verb left with one
        sys.exit(code if isinstance(code, int) else 0)
    except CounterpoiseError as error:
        _fail(str(error), 2)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except typer.Exit as leave:
        sys.exit(leave.exit_code)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # what typer says about its arguments
            _fail(_with_cure(str(error.format_message())), int(error.exit_code))
        if type(error).__name__ == "Abort":
            _fail("stopped", 130)
        raise


def _with_cure(message: str) -> str:
    """Typer's complaint about an unknown verb, with the nearest one that is there."""
    known = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    if message.startswith("No such command") and "'" in message and "did you mean" not in message.lower():
        guess = nearest_name(message.split("'")[1], known)
        return f"{message} " + (f"Did you mean {guess!r}?" if guess else f"There are: {', '.join(known)}")
    return message


def _fail(message: str, code: int) -> NoReturn:
    print(f"counterpoise: {' '.join(message.split())}", file=sys.stderr)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from counterpoise import __version__

        print(f"counterpoise {__version__}")
        raise typer.Exit


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("counterpoise-demo"),
    as_json: Json = False,
) -> None:
    """Show the best the system can do so far: a video, a filmstrip and the recording, in a folder."""
    from rich.table import Table

    from counterpoise.experiments.demo import run_demo

    with _bar(as_json) as tell:
        result = run_demo(out, tell)
    if as_json:
        _print_json({"files": {k: str(v) for k, v in result.files.items()}, "replay_error": result.replay_error})
        return
    table = Table("figure", "mass", "hardest landing", "lowest CoM", title="The cast, dropped as rag dolls")
    for row in result.facts:
        table.add_row(*row)
    _print(table)
    _print(f"Replayed in plain MuJoCo: final difference {result.replay_error:.1e}")
    for name, path in result.files.items():
        _print(f"  {path}  {_WORDS.get(Path(name).suffix, '')}")


@app.command()
def characters(
    name: Annotated[str | None, typer.Argument(help="One figure, or an .xml/.urdf file, to see its parts.")] = None,
    set_: Set = None,
    as_json: Json = False,
) -> None:
    """List the figures of the library, or the parts of one."""
    from rich.table import Table

    from counterpoise.character.library import character
    from counterpoise.character.library import characters as entries

    if name is not None:
        _show_figure(figure_from(name, set_), as_json)
        return
    rows: list[dict[str, Any]] = []
    for entry in entries():
        who = character(entry.name)
        rows.append(
            {"name": entry.name, "summary": entry.summary, "dof": who.nv, "mass": round(who.mass, 3),
             "height": round(who.height, 3), "feet": len(who.feet), "parameters": entry.parameters}
        )  # fmt: skip
    if as_json:
        _print_json(rows)
        return
    table = Table("name", "DOF", "mass [kg]", "height [m]", "feet", "what it is", "parameters")
    for r in rows:
        table.add_row(
            r["name"], str(r["dof"]), f"{r['mass']:.1f}", f"{r['height']:.2f}", str(r["feet"]), r["summary"],
            ", ".join(f"{k}={v}" for k, v in r["parameters"].items()),
        )  # fmt: skip
    _print(table)


@app.command()
def simulate(
    behaviour: Annotated[str, typer.Argument(help="passive (a rag doll) or hold (joint springs hold a pose).")],
    figure: Annotated[
        str, typer.Option("--character", "-c", help="A figure of the library, or an .xml/.urdf file.")
    ] = "human",
    set_: Set = None,
    seconds: Annotated[float, typer.Option("--seconds", "-t", help="How long [s].")] = 3.0,
    push: Annotated[
        list[str] | None,
        typer.Option(
            "--push", metavar="BODY:FX,FY,FZ@START+DURATION", help="A push [N, s], e.g. thorax:80,0,0@1.0+0.1."
        ),
    ] = None,
    random_push: Annotated[
        float, typer.Option("--random-pushes", help="Random pushes on the trunk up to this force [N].")
    ] = 0.0,
    reference: Annotated[
        str | None,
        typer.Option("--reference", "-r", help="A reference motion (squat, ...) or a motion file to follow."),
    ] = None,
    stiffness: Annotated[float, typer.Option(help="Joint stiffness of hold [torque limits per rad].")] = 5.0,
    friction: Annotated[float, typer.Option(help="Friction of the ground.")] = 1.0,
    tilt: Annotated[str, typer.Option(metavar="ROLL,PITCH", help="Tilt of the ground [deg].")] = "0,0",
    platform: Annotated[
        list[str] | None,
        typer.Option(
            "--platform",
            metavar="AXIS:AMPLITUDE@HZ",
            help="A moving floor, e.g. x:0.05@0.5 or pitch:0.03@1; [m, rad]. May be repeated.",
        ),
    ] = None,
    lift: Annotated[float, typer.Option(help="Start this far above the ground [m].")] = 0.0,
    timestep: Annotated[float, typer.Option(help="Physics step [s].")] = 0.001,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the recording here (.npz).")] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    timings: Annotated[
        bool, typer.Option("--timings", help="Keep the cost of every control tick in the recording.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Simulate a figure and record everything that happens."""
    from counterpoise.measure import summary
    from counterpoise.simulate import World, random_pushes
    from counterpoise.simulate.loop import simulate as run
    from counterpoise.simulate.loop import standing_start

    check_targets({out: (".npz",), video: (".mp4", ".gif", ".webp"), png: (".png",)})
    who = figure_from(figure, set_)
    for guess in who.roles.guessed:
        print(f"guessed: {guess}", file=sys.stderr)
    world = World(friction=friction, tilt=two_numbers(tilt), platform=platform_from(platform), timestep=timestep)
    pushes = [push_from(text) for text in push or ()]
    if random_push > 0.0:
        trunk = [b for b in who.segments if b in ("thorax", "pelvis")] or [who.root]
        pushes += random_pushes(trunk, random_push, seconds, seed=seed)
    controller = controller_from(behaviour, who, reference, stiffness)
    start = standing_start(who, world)
    if lift:
        q = start.q.copy()
        q[who.joints[0].qpos.start + 2 if who.joints[0].kind == "free" else who.joint("root_z").qpos.start] += lift
        start = who.state(q)
    with _bar(as_json) as tell:
        recording = run(
            who, controller, seconds, world=world, disturbances=pushes, start=start, seed=seed,
            progress=lambda t: tell("simulating", t / seconds),
        )  # fmt: skip
        if out is not None:
            recording.save(out, timings=timings)
        _draw(recording, video, png, tell)
    files = {"recording": out, "video": video, "filmstrip": png}
    _report(recording, summary(recording), {k: v for k, v in files.items() if v is not None}, as_json)
    if recording.status == "interrupted":
        raise typer.Exit(130)


@app.command()
def pose(
    figure: Annotated[str, typer.Argument(help="A figure of the library, or an .xml/.urdf file.")] = "human",
    reach: Annotated[
        list[str] | None, typer.Option("--reach", metavar="BODY=X,Y,Z", help="A body comes to a place [m].")
    ] = None,
    orient: Annotated[
        list[str] | None, typer.Option("--orient", metavar="BODY=W,X,Y,Z", help="A body turns to a quaternion.")
    ] = None,
    aim: Annotated[
        list[str] | None, typer.Option("--aim", metavar="BODY=X,Y,Z", help="A body's x axis points at a place [m].")
    ] = None,
    com: Annotated[
        str | None, typer.Option("--com", metavar="X,Y,Z", help="Centre of mass [m]; - leaves one free.")
    ] = None,
    pin: Annotated[
        list[str] | None, typer.Option("--pin", metavar="BODY[=X,Y,Z]", help="A body's origin stays (or goes) there.")
    ] = None,
    lock: Annotated[
        list[str] | None, typer.Option("--lock", metavar="BODY", help="A body keeps its orientation.")
    ] = None,
    fix: Annotated[
        list[str] | None, typer.Option("--fix", metavar="JOINT=VALUE", help="A joint keeps an angle [rad].")
    ] = None,
    balanced: Annotated[bool, typer.Option("--balanced", help="The centre of mass stays over the feet.")] = False,
    start: Annotated[
        str | None, typer.Option("--start", help="Start from a motion's last frame (file or reference motion).")
    ] = None,
    set_: Set = None,
    seed: Annotated[int, typer.Option(help="Seed of the restarts.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the pose (.npz, a motion of one frame).")
    ] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw it (.png).")] = None,
    as_json: Json = False,
) -> None:
    """Find a pose from goals and constraints; exit code 1 when a goal cannot be reached or constraints contradict."""
    from counterpoise.pose import Aim, Balanced, CenterOfMass, FixJoint, Lock, Orient, Pin, Reach
    from counterpoise.pose.solver import solve_pose

    check_targets({out: (".npz",), png: (".png", ".jpg")})
    who = figure_from(figure, set_)
    goals: list[Any] = [Reach(b, v) for b, v in (named_numbers(t, "--reach", (3,)) for t in reach or ())]
    goals += [Orient(b, v) for b, v in (named_numbers(t, "--orient", (4,)) for t in orient or ())]
    goals += [Aim(b, (1, 0, 0), at=v) for b, v in (named_numbers(t, "--aim", (3,)) for t in aim or ())]
    if com is not None:
        goals.append(CenterOfMass([None if x.strip() == "-" else number_from(x, "--com") for x in com.split(",")]))
    holds: list[Any] = []
    for text in pin or ():
        if "=" in text:
            body, place = named_numbers(text, "--pin", (3,))
            holds.append(Pin(body, at=place))
        else:
            holds.append(Pin(text))
    holds += [Lock(body) for body in lock or ()]
    holds += [FixJoint(j, v) for j, v in (named_numbers(t, "--fix", (1, 2, 3, 4)) for t in fix or ())]
    if balanced:
        holds.append(Balanced())
    found = solve_pose(who, goals, holds, pose_start(start, who), seed=seed)
    if out is not None:
        found.save(out)
    if png is not None:
        from counterpoise.render import still

        still(found.motion, path=png)
    _tell_pose(found, {"pose": out, "picture": png}, as_json)
    if found.status != "solved":
        raise typer.Exit(1)


@app.command()
def animate(
    figure: Annotated[str, typer.Argument(help="A figure of the library, or an .xml/.urdf file.")] = "human",
    path: Annotated[
        list[str] | None,
        typer.Option(
            "--path", metavar="BODY=X,Y,Z:X,Y,Z:...", help="A body follows points [m], or a stroke.csv of t,x,y,z."
        ),
    ] = None,
    seconds: Annotated[float, typer.Option("--seconds", "-t", help="How long paths through points take [s].")] = 2.0,
    speed: Annotated[str, typer.Option(help="Speed along them: constant, ease, ease_in, ease_out.")] = "ease",
    pin: Annotated[list[str] | None, typer.Option("--pin", metavar="BODY", help="A body's origin stays.")] = None,
    lock: Annotated[
        list[str] | None, typer.Option("--lock", metavar="BODY", help="A body keeps its orientation.")
    ] = None,
    balanced: Annotated[bool, typer.Option("--balanced", help="The centre of mass stays over the feet.")] = False,
    start: Annotated[str | None, typer.Option("--start", help="Start from a motion's last frame.")] = None,
    rate: Annotated[float, typer.Option(help="Frames a second.")] = 60.0,
    set_: Set = None,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Save the motion (.npz).")] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    as_json: Json = False,
) -> None:
    """Make a motion of effector paths, pins kept; exit code 1 when a path leaves reach."""
    from counterpoise.pose import Balanced, Lock, Pin
    from counterpoise.pose.animate import animate_with_report

    check_targets({out: (".npz",), video: (".mp4", ".gif", ".webp"), png: (".png",)})
    who = figure_from(figure, set_)
    if not path:
        raise BadValue("animate needs at least one --path BODY=X,Y,Z:X,Y,Z:...")
    ways = [path_from(text, seconds, speed) for text in path]
    holds: list[Any] = [*(Pin(body) for body in pin or ()), *(Lock(body) for body in lock or ())]
    if balanced:
        holds.append(Balanced())
    with _bar(as_json) as tell:
        made = animate_with_report(
            who, ways, holds, start=pose_start(start, who), rate=rate,
            progress=lambda done, all_: tell("posing", done / all_),
        )  # fmt: skip
        if out is not None:
            made.motion.save(out)
        _draw(made.motion, video, png, tell)
    when, what, size = made.worst
    files = {"motion": out, "video": video, "filmstrip": png}
    if as_json:
        _print_json(
            {"frames": len(made.motion), "solved": made.statuses.count("solved"), "worst_time": when, "worst": what,
             "worst_size": size, "violation": float(made.violations.max()), "seconds": made.seconds,
             "files": {k: str(v) for k, v in files.items() if v is not None}}
        )  # fmt: skip
    else:
        _print(f"{len(made.motion)} frames, {made.statuses.count('solved')} of them solved, in {made.seconds:.2f} s")
        _print(f"worst: {what} off by {size:.2e} at {when:.2f} s; constraints held to {made.violations.max():.1e}")
        for written in files.values():
            if written is not None:
                _print(f"wrote {written}")
    if not made:
        raise typer.Exit(1 if made.complete else 130)


@app.command()
def replay(
    recording: Annotated[Path, typer.Argument(help="A recording (.npz).")],
    as_json: Json = False,
) -> None:
    """Replay a recording's inputs in plain MuJoCo and say whether it arrives at the same state."""
    from counterpoise.simulate import Recording
    from counterpoise.simulate.replay import TOLERANCE
    from counterpoise.simulate.replay import replay as run

    rec = Recording.load(recording)
    with _bar(as_json) as tell:
        report = run(rec, progress=lambda t: tell("replaying", t / max(rec.duration, 1e-9)))
        tell("replaying", 1.0)
    if as_json:
        _print_json({"steps": report.steps, "final_error": report.final_error, "worst_error": report.worst_error,
                     "worst_time": report.worst_time, "exact": report.exact, "tolerance": TOLERANCE})  # fmt: skip
    else:
        verdict = "exact" if report.exact else "NOT the same"
        _print(f"{report.steps} steps of {rec.character.name}: {verdict}")
        _print(f"  final difference {report.final_error:.3g} (tolerance {TOLERANCE:g})")
        _print(f"  largest difference {report.worst_error:.3g} at {report.worst_time:.3f} s")
    if not report.exact:
        raise typer.Exit(1)


@app.command()
def render(
    source: Annotated[
        str, typer.Argument(help="A recording or motion (.npz), a figure's name, or a reference motion.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help=".png: a still or filmstrip; .mp4, .gif, .webp: a video.")],
    figure: Annotated[str, typer.Option("--character", "-c", help="Who performs a reference motion.")] = "human",
    time: Annotated[float | None, typer.Option(help="A still at this time [s] (else a filmstrip).")] = None,
    count: Annotated[int, typer.Option(help="Pictures in a filmstrip.")] = 8,
    strobe: Annotated[bool, typer.Option("--strobe", help="All moments of a filmstrip in one place.")] = False,
    size: Annotated[
        str, typer.Option(metavar="WIDTHxHEIGHT", help="Pixels of a picture (of one panel in a filmstrip).")
    ] = "",
    fps: Annotated[float, typer.Option(help="Frames a second.")] = 30.0,
    speed: Annotated[float, typer.Option(help="Playback speed; 0.25 is slow motion.")] = 1.0,
    camera: Annotated[CameraMode, typer.Option(help="Follow the figure or keep still.")] = CameraMode.track,
    azimuth: Annotated[float, typer.Option(help="From where [deg]: 0 from the front, 90 from its left.")] = -60.0,
    elevation: Annotated[float, typer.Option(help="How high [deg].")] = 12.0,
    forces: Annotated[
        bool, typer.Option("--forces/--no-forces", help="Draw CoM, CoP and force arrows of a recording.")
    ] = True,
    trail: Annotated[
        list[str] | None, typer.Option("--trail", help="Draw the path of a body, or of com. May be repeated.")
    ] = None,
) -> None:
    """Draw a recording or a motion: a still, a filmstrip or a video."""
    from counterpoise.render import filmstrip, still
    from counterpoise.render import video as film
    from counterpoise.render.sources import take_of

    check_targets({out: (".png", ".jpg", ".mp4", ".gif", ".webp")})
    subject = source_from(source, figure)
    overlays: dict[str, Any] = {}
    if not isinstance(subject, _character_type()):
        overlays = {"trails": tuple(trail or ())}
        if not forces:
            overlays |= {"com": False, "cop": False, "forces": False}
    take = take_of(subject, **overlays)
    angles: dict[str, Any] = {"azimuth": azimuth, "elevation": elevation}
    with _bar(False) as tell:
        if out.suffix.lower() in (".mp4", ".gif", ".webp"):
            film(
                take, out, fps=fps, speed=speed, size=size_from(size, (960, 540)), camera=camera.value,
                progress=lambda done, all_: tell("drawing", done / all_), **angles,
            )  # fmt: skip
        elif time is not None or isinstance(subject, _character_type()):
            still(take, time=time, path=out, size=size_from(size, (960, 720)), **angles)
        else:
            chosen = size_from(size, (0, 0))
            filmstrip(
                take, count=count, path=out, mode="strobe" if strobe else "panels",
                size=chosen if chosen[0] else None, **angles,
            )  # fmt: skip
    _print(f"wrote {out}")


@app.command()
def plot(
    recording: Annotated[Path, typer.Argument(help="A recording (.npz).")],
    what: Annotated[
        list[str] | None, typer.Argument(help="Quantities: com, cop, torque:knee_left, ... (see --list).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help=".png, .pdf or .svg.")] = Path("plot.png"),
    figure: Annotated[int, typer.Option(help="Which figure, when there are several.")] = 0,
    list_: Annotated[bool, typer.Option("--list", help="List what can be plotted.")] = False,
    as_json: Json = False,
) -> None:
    """Plot anything in a recording over time."""
    from counterpoise.render.plots import curves, plot_recording, plottable
    from counterpoise.simulate import Recording

    rec = Recording.load(recording)
    if not 0 <= figure < len(rec.figures):
        raise BadValue(f"this recording has {len(rec.figures)} figure(s), counted from 0; got {figure}")
    if list_:
        names = plottable(rec, figure)
        if as_json:
            _print_json(names)
        else:
            for name, text in names.items():
                print(f"{name:28} {text}")
        return
    wanted = what or ["com", "ground_force"]
    if as_json:
        panels = [curves(rec, name, figure) for name in wanted]
        _print_json(
            {
                p.title: {"unit": p.unit, "time": p.time.tolist(), **{k: _plain(v) for k, v in p.lines.items()}}
                for p in panels
            }
        )
        return
    plot_recording(rec, *wanted, path=out, figure=figure)
    _print(f"wrote {out}")


_WORDS = {
    ".mp4": "the video",
    ".png": "moments side by side",
    ".npz": "the recording: counterpoise replay, render, plot",
}


def _character_type() -> type:
    from counterpoise.character.character import Character

    return Character


# -- answering --------------------------------------------------------------------------------------------------------
def _draw(
    recording: Recording | Motion, video: Path | None, png: Path | None, tell: Callable[[str, float], None]
) -> None:
    if video is None and png is None:
        return
    from counterpoise.render import filmstrip
    from counterpoise.render import video as film
    from counterpoise.render.sources import take_of

    take = take_of(recording)
    if png is not None:
        filmstrip(take, path=png)
    if video is not None:
        film(take, video, progress=lambda done, all_: tell("drawing", done / all_))


def _report(recording: Recording, told: Any, files: dict[str, Path], as_json: bool) -> None:
    fall = told.fall
    if as_json:
        _print_json(
            {
                "figure": told.figure,
                "seconds": told.seconds,
                "status": told.status,
                "fell": bool(fall) if fall is not None else None,
                "fell_at": fall.time if fall else None,
                "fell_how": fall.reason if fall else None,
                "peak_force": told.peak_force,
                "peak_torque_share": told.peak_torque_share,
                "clamped": told.clamped,
                "slip": told.slip,
                "lowest_com": told.lowest_com,
                "fingerprint": recording.fingerprint(),
                "files": {k: str(v) for k, v in files.items()},
            }
        )
        return
    from rich.table import Table

    table = Table(show_header=False, title=f"{told.figure}, {told.seconds:g} s ({told.status})")
    if fall is not None:
        table.add_row("stands", "yes" if not fall else f"fell at {fall.time:.2f} s: {fall.reason}")
    table.add_row(
        "largest ground force",
        f"{told.peak_force:.0f} N ({told.peak_force / (recording.character.mass * 9.81):.1f} x weight)",
    )
    table.add_row("largest torque", f"{100 * told.peak_torque_share:.0f} % of its limit ({told.clamped} times clamped)")
    if told.slip:
        table.add_row("slip", ", ".join(f"{foot} {1000 * path:.1f} mm" for foot, path in told.slip.items()))
    table.add_row("lowest CoM", f"{told.lowest_com:.3f} m")
    for name, path in files.items():
        table.add_row(name, str(path))
    _print(table)


def _tell_pose(found: Any, files: dict[str, Path | None], as_json: bool) -> None:
    if as_json:
        _print_json(
            {
                "status": found.status, "q": found.q.tolist(), "residuals": found.residuals,
                "violations": found.violations, "active_limits": list(found.active_limits),
                "conflict": list(found.conflict), "iterations": found.iterations, "restarts": found.restarts,
                "seconds": found.seconds, "files": {k: str(v) for k, v in files.items() if v is not None},
            }
        )  # fmt: skip
        return
    from rich.table import Table

    table = Table("asked", "off by", title=f"{found.character.name}: {found.status}")
    for name, size in [*found.residuals.items(), *found.violations.items()]:
        table.add_row(name, f"{size:.2e}")
    _print(table)
    if found.conflict:
        _print(f"in conflict: {', '.join(found.conflict)}")
    if found.active_limits:
        _print(f"at their limits: {', '.join(found.active_limits)}")
    _print(f"{found.iterations} iterations, {found.restarts} restarts, {1e3 * found.seconds:.1f} ms")
    for path in files.values():
        if path is not None:
            _print(f"wrote {path}")


def _show_figure(who: Character, as_json: bool) -> None:
    import numpy as np

    joints: list[dict[str, Any]] = [
        {
            "name": j.name,
            "kind": j.kind,
            "moves": j.body,
            "torque_limit": float(np.max(who.torque_limit[j.dofs], initial=0.0)),
        }
        for j in who.joints
    ]
    feet = [{"name": f.name, "side": f.side, "points": [p.name for p in f.points]} for f in who.feet]
    if as_json:
        _print_json(
            {
                "name": who.name,
                "mass": who.mass,
                "height": who.height,
                "dof": who.nv,
                "root": who.root,
                "segments": list(who.segments),
                "joints": joints,
                "feet": feet,
                "hands": list(who.hands),
                "guessed": list(who.roles.guessed),
            }
        )
        return
    from rich.table import Table

    _print(f"{who.name}: {who.mass:.2f} kg, {who.height:.3f} m, {who.nv} DOF, root {who.root or 'none'}")
    table = Table("joint", "kind", "moves", "torque limit [N m]")
    for joint in joints:
        table.add_row(joint["name"], joint["kind"], joint["moves"], f"{joint['torque_limit']:.1f}")
    _print(table)
    for foot in feet:
        _print(f"{foot['name']} stands on {', '.join(foot['points'])}")
    for guess in who.roles.guessed:
        _print(f"guessed: {guess}")


@contextmanager
def _bar(quiet: bool) -> Iterator[Callable[[str, float], None]]:
    """A progress bar with one line a stage; on standard error, so that answers can be piped."""
    if quiet:
        yield lambda stage, share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True))
    tasks: dict[str, TaskID] = {}

    def tell(stage: str, share: float) -> None:
        if not tasks:
            progress.start()  # only now: an error before the work begins stays one line
        if stage not in tasks:
            tasks[stage] = progress.add_task(stage, total=1.0)
        progress.update(tasks[stage], completed=min(share, 1.0))

    try:
        yield tell
    finally:
        if tasks:
            progress.stop()


def _print(thing: Any) -> None:
    from rich.console import Console

    Console().print(thing, highlight=False)


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, allow_nan=False))


def _plain(values: Any) -> list[float | None]:
    return [None if v != v else float(v) for v in values.tolist()]


if __name__ == "__main__":
    main()
