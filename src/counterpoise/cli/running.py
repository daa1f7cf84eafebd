"""Verbs that run things: demo, characters, simulate, replay."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.telling import bar, draw, say, say_json
from counterpoise.errors import BadValue, unknown_name
from counterpoise.phrases import (
    check_targets,
    controller_from,
    figure_from,
    platform_from,
    push_from,
    two_numbers,
)

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.control.basic import Controller
    from counterpoise.control.stand import Stand
    from counterpoise.motion.motion import Motion
    from counterpoise.simulate.recording import Recording
    from counterpoise.simulate.world import World


_BEHAVIOURS = ("stand", "hold", "passive")
_WORDS = {
    ".mp4": "the video",
    ".png": "moments side by side",
    ".npz": "the recording: counterpoise replay, render, plot",
}


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("counterpoise-demo"),
    as_json: Json = False,
) -> None:
    """Show the best the system can do so far: a video, a filmstrip and the recording, in a folder."""
    from rich.table import Table

    from counterpoise.experiments.demo import FACTS, run_demo

    with bar(as_json) as tell:
        result = run_demo(out, tell)
    if as_json:
        rows = [dict(zip(FACTS, row, strict=True)) for row in result.facts]
        files = {k: str(v) for k, v in result.files.items()}
        say_json({"figures": rows, "files": files, "replay_error": result.replay_error})
        return
    table = Table(*FACTS, title="Pushed while standing (the hardest push of each)")
    for row in result.facts:
        table.add_row(*row)
    say(table)
    say(f"Replayed in plain MuJoCo: final difference {result.replay_error:.1e}")
    for name, path in result.files.items():
        say(f"  {path}  {_WORDS.get(Path(name).suffix, '')}")


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
        say_json(rows)
        return
    table = Table("name", "DOF", "mass [kg]", "height [m]", "feet", "what it is", "parameters")
    for r in rows:
        table.add_row(
            r["name"], str(r["dof"]), f"{r['mass']:.1f}", f"{r['height']:.2f}", str(r["feet"]), r["summary"],
            ", ".join(f"{k}={v}" for k, v in r["parameters"].items()),
        )  # fmt: skip
    say(table)


@app.command()
def simulate(
    behaviour: Annotated[
        str,
        typer.Argument(help="stand (keep its feet), hold (joint springs hold a pose) or passive (a rag doll)."),
    ],
    figure: Annotated[
        str, typer.Option("--character", "-c", help="A figure of the library, or an .xml/.urdf file.")
    ] = "human",
    set_: Set = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", "-t", help="How long [s]; else 3 s, or the reference and half a second more."),
    ] = None,
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
        typer.Option(
            "--reference",
            "-r",
            help="A reference motion (squat, ...) or a motion file to follow; stand retargets files of other bodies.",
        ),
    ] = None,
    compliance: Annotated[float, typer.Option(help="Of stand: 0 stiff to 1 limp.")] = 0.5,
    height: Annotated[
        float | None, typer.Option(help="Height of the centre of mass that stand keeps [m]; else the reference's.")
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
    if behaviour not in _BEHAVIOURS:
        raise unknown_name("behaviour", behaviour, _BEHAVIOURS)
    who = figure_from(figure, set_)
    for guess in who.roles.guessed:
        print(f"guessed: {guess}", file=sys.stderr)
    world = World(friction=friction, tilt=two_numbers(tilt), platform=platform_from(platform), timestep=timestep)
    pushes = [push_from(text) for text in push or ()]
    controller: Controller
    start = standing_start(who, world)
    if behaviour == "stand":
        controller = _stand(who, reference, compliance, height, world)
        start = controller.ready(who) if reference is not None else start
    else:
        _only_stand(behaviour, {"--compliance": compliance != 0.5, "--height": height is not None})
        controller = controller_from(behaviour, who, reference, stiffness)
    if seconds is None:
        followed = getattr(controller, "reference", None) if behaviour == "stand" else None
        seconds = 3.0 if followed is None else followed.duration + 0.5
    if random_push > 0.0:
        trunk = [b for b in who.segments if b in ("thorax", "pelvis")] or [who.root]
        pushes += random_pushes(trunk, random_push, seconds, seed=seed)
    if lift:
        q = start.q.copy()
        q[who.joints[0].qpos.start + 2 if who.joints[0].kind == "free" else who.joint("root_z").qpos.start] += lift
        start = who.state(q, start.v)
    length = seconds
    with bar(as_json) as tell:
        recording = run(
            who, controller, length, world=world, disturbances=pushes, start=start, seed=seed,
            progress=lambda t: tell("simulating", t / length),
        )  # fmt: skip
        if out is not None:
            recording.save(out, timings=timings)
        draw(recording, video, png, tell)
    files = {"recording": out, "video": video, "filmstrip": png}
    _report(recording, summary(recording), {k: v for k, v in files.items() if v is not None}, as_json)
    if recording.status == "interrupted":
        raise typer.Exit(130)


def _stand(who: Character, reference: str | None, compliance: float, height: float | None, world: World) -> Stand:
    """Stand as asked for, told what its feet stand on."""
    from counterpoise.control.stand import Stand
    from counterpoise.objectives import Surface, moving_surface

    ground: Any = None
    if world.platform is not None:
        ground = moving_surface(world.platform.pose)
    elif any(world.tilt):
        at = world.height_at(0.0, 0.0)
        ground = Surface.tilted((at - world.height_at(1.0, 0.0), at - world.height_at(0.0, 1.0), 1.0), (0.0, 0.0, at))
    motion = None if reference is None else _followed(reference, who)
    return Stand(motion, compliance, height, ground=ground, friction=0.8 * min(world.friction, 1.0))


def _followed(name: str, who: Character) -> Motion:
    """A reference motion by name, or a motion file, carried over to this figure where it is another's."""
    from counterpoise.motion.files.hub import FORMATS, read_motion
    from counterpoise.phrases import motion_from

    if Path(name).suffix.lower() in FORMATS:
        motion = read_motion(name, character=who)
        return motion.shifted(-motion.start)
    return motion_from(name, who)


def _only_stand(behaviour: str, given: dict[str, bool]) -> None:
    for option, used in given.items():
        if used:
            raise BadValue(f"{option} is for 'stand'; {behaviour!r} knows nothing of it")


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
    with bar(as_json) as tell:
        report = run(rec, progress=lambda t: tell("replaying", t / max(rec.duration, 1e-9)))
        tell("replaying", 1.0)
    if as_json:
        say_json({"steps": report.steps, "final_error": report.final_error, "worst_error": report.worst_error,
                     "worst_time": report.worst_time, "exact": report.exact, "tolerance": TOLERANCE})  # fmt: skip
    else:
        verdict = "exact" if report.exact else "NOT the same"
        say(f"{report.steps} steps of {rec.character.name}: {verdict}")
        say(f"  final difference {report.final_error:.3g} (tolerance {TOLERANCE:g})")
        say(f"  largest difference {report.worst_error:.3g} at {report.worst_time:.3f} s")
    if not report.exact:
        raise typer.Exit(1)


def _report(recording: Recording, told: Any, files: dict[str, Path], as_json: bool) -> None:
    fall = told.fall
    if as_json:
        say_json(
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
    say(table)


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
        say_json(
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

    say(f"{who.name}: {who.mass:.2f} kg, {who.height:.3f} m, {who.nv} DOF, root {who.root or 'none'}")
    table = Table("joint", "kind", "moves", "torque limit [N m]")
    for joint in joints:
        table.add_row(joint["name"], joint["kind"], joint["moves"], f"{joint['torque_limit']:.1f}")
    say(table)
    for foot in feet:
        say(f"{foot['name']} stands on {', '.join(foot['points'])}")
    for guess in who.roles.guessed:
        say(f"guessed: {guess}")
