"""The verbs that pose: pose, animate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.output import bar, draw, end_stopped, say, say_json, written, written_suffixes
from counterpoise.errors import BadValue
from counterpoise.phrases import check_targets, figure_from, named_numbers, number_from, path_from, pose_start


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
    seed: Annotated[int, typer.Option(help="Seed of the restarts.", min=0)] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Write the pose, a motion of one frame: .npz, .bvh, .glb, ...")
    ] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw it (.png).")] = None,
    as_json: Json = False,
) -> None:
    """Find a pose from goals and constraints; exit code 1 when a goal cannot be reached or constraints contradict."""
    from counterpoise.pose import Aim, Balanced, CenterOfMass, FixJoint, Lock, Orient, Pin, Reach
    from counterpoise.pose.solver import solve_pose

    check_targets({out: written_suffixes(), png: (".png", ".jpg")})
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
    character = figure_from(figure, set_)
    found = solve_pose(character, goals, holds, pose_start(start, character), seed=seed)
    if out is not None:
        found.motion.write(out)
    if png is not None:
        from counterpoise.render import still
        from counterpoise.render.sources import take_of

        still(take_of(found.motion, smooth=None), path=png)
    _show_pose(found, written({"pose": out, "picture": png}), as_json)
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
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the motion: .npz, .bvh, .glb, ...")] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    as_json: Json = False,
) -> None:
    """Make a motion of effector paths, with pins kept; exit code 1 when a path is out of reach."""
    from counterpoise.pose import Balanced, Lock, Pin
    from counterpoise.pose.animate import animate_with_report

    check_targets({out: written_suffixes(), video: (".mp4", ".gif", ".webp"), png: (".png",)})
    if not path:
        raise BadValue("animate needs at least one --path BODY=X,Y,Z:X,Y,Z:...")
    ways = [path_from(text, seconds, speed) for text in path]
    character = figure_from(figure, set_)
    holds: list[Any] = [*(Pin(body) for body in pin or ()), *(Lock(body) for body in lock or ())]
    if balanced:
        holds.append(Balanced())
    with bar(as_json) as report:
        made = animate_with_report(
            character, ways, holds, start=pose_start(start, character), rate=rate,
            progress=report,
        )  # fmt: skip
        if out is not None:
            made.motion.write(out)
        draw(made.motion, video, png, report)
    when, what, size = made.worst
    files = written({"motion": out, "video": video, "filmstrip": png})
    if as_json:
        say_json(
            {"frames": len(made.motion), "solved": made.statuses.count("solved"), "worst_time": when, "worst": what,
             "worst_size": size, "violation": float(made.violations.max()), "seconds": made.seconds,
             "files": files}
        )  # fmt: skip
    else:
        say(f"{len(made.motion)} frames, {made.statuses.count('solved')} of them solved, in {made.seconds:.2f} s")
        say(f"worst: {what} off by {size:.2e} at {when:.2f} s; constraints held to {made.violations.max():.1e}")
        for name in files.values():
            say(f"wrote {name}")
    if not made.complete:
        end_stopped()
    if not made:
        raise typer.Exit(1)


def _show_pose(found: Any, files: dict[str, str], as_json: bool) -> None:
    if as_json:
        say_json(
            {
                "status": found.status, "q": found.q.tolist(), "residuals": found.residuals,
                "violations": found.violations, "active_limits": list(found.active_limits),
                "conflict": list(found.conflict), "iterations": found.iterations, "restarts": found.restarts,
                "seconds": found.seconds, "files": files,
            }
        )  # fmt: skip
        return
    from rich.table import Table

    table = Table("asked", "off by", title=f"{found.character.name}: {found.status}")
    for name, size in [*found.residuals.items(), *found.violations.items()]:
        table.add_row(name, f"{size:.2e}")
    say(table)
    if found.conflict:
        say(f"in conflict: {', '.join(found.conflict)}")
    if found.active_limits:
        say(f"at their limits: {', '.join(found.active_limits)}")
    say(f"{found.iterations} iterations, {found.restarts} restarts, {1e3 * found.seconds:.1f} ms")
    for name in files.values():
        say(f"wrote {name}")
