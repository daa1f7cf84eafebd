"""The verb that simulates a figure: simulate."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, draw, ended, save_run, say, say_json, written, written_suffixes
from counterpoise.defaults import GROUND_FRICTION, PLANNED_FRICTION
from counterpoise.errors import BadValue, unknown_name
from counterpoise.phrases import (
    check_targets,
    controller_from,
    figure_from,
    motion_from,
    platform_from,
    push_from,
    tilt_from,
)

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.character.state import State
    from counterpoise.control.basic import Controller
    from counterpoise.control.stand import Stand
    from counterpoise.measure import Summary
    from counterpoise.simulate.recording import Recording
    from counterpoise.simulate.world import World

_BEHAVIOURS = ("stand", "hold", "passive")
_COMPLIANCE = 0.5  # of stand, if none is given
_STIFFNESS = 5.0  # [torque limits per rad] of hold, if none is given
_SECONDS = 3.0  # [s] simulated without a reference
_AFTER_REFERENCE = 0.5  # [s] simulated after the end of a reference

Behaviour = Annotated[
    str, typer.Argument(help="stand (keep its feet), hold (joint springs hold a pose) or passive (a rag doll).")
]
Figure = Annotated[str, typer.Option("--character", "-c", help="A figure of the library, or an .xml/.urdf file.")]
Seconds = Annotated[
    float | None,
    typer.Option("--seconds", "-t", help="How long [s]; else 3 s, or the reference and half a second more."),
]
Pushes = Annotated[
    list[str] | None,
    typer.Option("--push", metavar="BODY:FX,FY,FZ@START+DURATION", help="A push [N, s], e.g. thorax:80,0,0@1.0+0.1."),
]
RandomPush = Annotated[
    float, typer.Option("--random-pushes", min=0.0, help="Random pushes on the trunk up to this force [N].")
]
Reference = Annotated[
    str | None,
    typer.Option(
        "--reference",
        "-r",
        help="A reference motion (squat, ...), or a motion file or recording to follow; other bodies are retargeted.",
    ),
]
Height = Annotated[
    float | None, typer.Option(help="Height of the centre of mass that stand keeps [m]; else the reference's.")
]
PlatformAxes = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="AXIS:AMPLITUDE@HZ",
        help="A moving floor, e.g. x:0.05@0.5 or pitch:0.03@1; [m, rad]. May be repeated.",
    ),
]
TerrainFile = Annotated[
    str | None,
    typer.Option(
        "--terrain",
        metavar="FILE.toml",
        help="Boxes, ramps, stairs, stones, gaps and height fields: a TOML file with tables such as [[box]] "
        "(docs/terrain.md), or such a text.",
    ),
]
Timings = Annotated[bool, typer.Option("--timings", help="Keep the cost of every control tick in the recording.")]


@app.command()
def simulate(
    behaviour: Behaviour,
    figure: Figure = "human",
    set_: Set = None,
    seconds: Seconds = None,
    push: Pushes = None,
    random_push: RandomPush = 0.0,
    reference: Reference = None,
    compliance: Annotated[float, typer.Option(help="Of stand: 0 stiff to 1 limp.")] = _COMPLIANCE,
    height: Height = None,
    liveliness: Annotated[
        float, typer.Option(help="Of stand: breathing, sway and gaze; 0 none, 1 a person's, by --seed.")
    ] = 0.0,
    step: Annotated[bool, typer.Option("--step", help="Of stand: step where it cannot stay in place.")] = False,
    stiffness: Annotated[
        float, typer.Option(min=0.0, help="Joint stiffness of hold [torque limits per rad].")
    ] = _STIFFNESS,
    friction: Annotated[float, typer.Option(min=0.0, max=100.0, help="Friction of the ground.")] = GROUND_FRICTION,
    tilt: Annotated[str, typer.Option(metavar="ROLL,PITCH", help="Tilt of the ground [deg].")] = "0,0",
    platform: PlatformAxes = None,
    terrain: TerrainFile = None,
    lift: Annotated[float, typer.Option(min=0.0, max=1000.0, help="Start this far above the ground [m].")] = 0.0,
    timestep: Annotated[float, typer.Option(help="Physics step [s].")] = 0.001,
    seed: Annotated[int, typer.Option(help="Seed of everything random.", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Save the recording (.npz), or its motion: .bvh, .glb, ...")
    ] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    timings: Timings = False,
    as_json: Json = False,
) -> None:
    """Simulate a figure and record everything that happens.

    Exit code 0: done; 1: stand fell, or the physics diverged; 2: bad input; 130: stopped by Ctrl-C.
    """
    from counterpoise.measure import summary
    from counterpoise.simulate import World
    from counterpoise.simulate.loop import check_seconds
    from counterpoise.simulate.loop import simulate as run
    from counterpoise.simulate.start import lifted
    from counterpoise.spacetime.stunt.terrain import read_terrain

    check_targets({out: written_suffixes(), video: (".mp4", ".gif", ".webp"), png: (".png",)})
    if behaviour not in _BEHAVIOURS:
        raise unknown_name("behaviour", behaviour, _BEHAVIOURS)
    if seconds is not None:
        check_seconds(seconds)
    character = figure_from(figure, set_)
    for guess in character.roles.guessed:
        print(f"guessed: {guess}", file=sys.stderr)
    world = World(
        friction=friction, tilt=tilt_from(tilt), platform=platform_from(platform), timestep=timestep,
        terrain=None if terrain is None else read_terrain(terrain),
    )  # fmt: skip
    pushes = [push_from(text, seconds) for text in push or ()]
    controller, start = _controlled(
        behaviour, character, world, reference, compliance, height, stiffness, liveliness, seed, step
    )
    length = _length(controller, behaviour) if seconds is None else seconds
    pushes = [push_from(text, length) for text in push or ()]  # now it is known how long it lasts
    pushes += _random_pushes(character, random_push, length, seed)
    with bar(as_json) as report:
        recording = run(
            character, controller, length, world=world, disturbances=pushes, seed=seed,
            start=lifted(character, start, lift) if lift else start,
            progress=report,
        )  # fmt: skip
        if out is not None:
            save_run(recording, out, timings)
        draw(recording, video, png, report)
    found = summary(recording)
    _show(recording, found, written({"recording": out, "video": video, "filmstrip": png}), as_json)
    ended(report, 1 if recording.status == "diverged" or (behaviour == "stand" and found.fall) else 0)


def _controlled(
    behaviour: str, character: Character, world: World, reference: str | None, compliance: float,
    height: float | None, stiffness: float, liveliness: float, seed: int, step: bool,
) -> tuple[Controller, State]:  # fmt: skip
    """The controller of a behaviour, and the state it starts from."""
    from counterpoise.simulate.start import set_on_ground, standing_start

    start = standing_start(character, world)
    if behaviour != "hold" and stiffness != _STIFFNESS:
        raise BadValue(f"--stiffness is for 'hold'; {behaviour!r} does not use it")
    if behaviour == "stand":
        stand = _stand(character, reference, compliance, height, world)
        stand = replace(stand, liveliness=liveliness, seed=seed, step=step)
        if reference is not None:
            start = stand.ready(character)
            start = start if world.terrain is None else set_on_ground(character, start, world)
        return stand, start
    given = {
        "--compliance": compliance != _COMPLIANCE,
        "--height": height is not None,
        "--liveliness": liveliness != 0.0,
        "--step": step,
    }
    for option, used in given.items():
        if used:
            raise BadValue(f"{option} is for 'stand'; {behaviour!r} does not use it")
    return controller_from(behaviour, character, reference, stiffness), start


def _stand(character: Character, reference: str | None, compliance: float, height: float | None, world: World) -> Stand:
    """Stand as asked for, with the ground and the friction of the world."""
    from counterpoise.control.stand import Stand
    from counterpoise.objectives import Surface, moving_surface

    ground: Any = None
    if world.platform is not None:
        ground = moving_surface(world.platform.pose)
    elif any(world.tilt):
        at = world.height_at(0.0, 0.0)
        ground = Surface.tilted((at - world.height_at(1.0, 0.0), at - world.height_at(0.0, 1.0), 1.0), (0.0, 0.0, at))
    motion = None if reference is None else motion_from(reference, character)
    friction = PLANNED_FRICTION * min(world.friction, GROUND_FRICTION)  # the same margin on slippery ground
    return Stand(motion, compliance, height, ground=ground, friction=friction)


def _length(controller: Controller, behaviour: str) -> float:
    """How long to simulate if nothing is said [s]."""
    reference = getattr(controller, "reference", None) if behaviour == "stand" else None
    return _SECONDS if reference is None else float(reference.duration) + _AFTER_REFERENCE


def _random_pushes(character: Character, force: float, seconds: float, seed: int) -> list[Any]:
    from counterpoise.simulate import random_pushes

    if force <= 0.0:
        return []
    trunk = [b for b in character.segments if b in ("thorax", "pelvis")] or [character.root]
    return list(random_pushes(trunk, force, seconds, seed=seed))


def _show(recording: Recording, found: Summary, files: dict[str, str], as_json: bool) -> None:
    """Prints what happened, and the files written."""
    fall = found.fall
    if as_json:
        say_json(
            {
                "figure": found.figure,
                "seconds": found.seconds,
                "status": found.status,
                "fell": bool(fall) if fall is not None else None,
                "fell_at": fall.time if fall else None,
                "fell_how": fall.reason if fall else None,
                "peak_force": found.peak_force,
                "peak_torque_share": found.peak_torque_share,
                "clamped": found.clamped,
                "slip": found.slip,
                "lowest_com": found.lowest_com,
                "fingerprint": recording.fingerprint(),
                "files": files,
            }
        )
        return
    from rich.table import Table

    table = Table(show_header=False, title=f"{found.figure}, {found.seconds:g} s ({found.status})")
    if fall is not None:
        table.add_row("stands", "yes" if not fall else f"fell at {fall.time:.2f} s: {fall.reason}")
    weights = found.peak_force / max(recording.character.weight, 1e-9)
    table.add_row("largest ground force", f"{found.peak_force:.0f} N ({weights:.1f} x weight)")
    share = f"{100 * found.peak_torque_share:.0f} % of its limit ({found.clamped} times clamped)"
    table.add_row("largest torque", share)
    if found.slip:
        table.add_row("slip", ", ".join(f"{foot} {1000 * path:.1f} mm" for foot, path in found.slip.items()))
    table.add_row("lowest CoM", f"{found.lowest_com:.3f} m")
    for name, path in files.items():
        table.add_row(name, path)
    say(table)
