"""The verb `fix`: the least change that makes a motion physically possible."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli import clips
from counterpoise.cli.app import Json, Set, app
from counterpoise.cli.clip_folders import (
    ONE_MOTION,
    FolderRun,
    clips_in,
    given_only,
    is_many,
    only_for_many,
    only_for_one,
    run_task,
    takes_folders,
)
from counterpoise.cli.comparing import draw_pair
from counterpoise.cli.output import bar, ended, say, say_json
from counterpoise.errors import BadValue, Stopped
from counterpoise.phrases import check_targets

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.spacetime.fix import FixResult
    from counterpoise.spacetime.fix.playing_speed import PlayingSpeed

FILMS = (".mp4", ".gif", ".webp", ".png")
HOLD_REST_FRAMES = (".bvh", ".amc", ".fbx", ".glb", ".gltf", ".usd", ".usda", ".usdc")  # a T-pose may come first


@app.command()
@takes_folders
def fix(
    source: clips.Clip,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FILE", help="Write the fixed motion: .bvh, .glb, .npz, ...; a folder."),
    ],
    figure_name: clips.FigureName = None,
    set_: Set = None,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE", help="Write the measures before and after (.json).")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw before and after (.png, .pdf, .svg).")
    ] = None,
    video: Annotated[
        Path | None, typer.Option("--video", metavar="FILE", help="Film before and after (.mp4, .gif, .webp, .png).")
    ] = None,
    overlay: Annotated[bool, typer.Option("--overlay", help="In the video: before as lines over after.")] = False,
    friction: clips.Friction = None,
    floor: clips.Floor = None,
    hold: clips.Holding = None,
    find_holds: Annotated[
        bool, typer.Option("--find-holds", help="Take for held what something that is not shown seems to carry.")
    ] = False,
    near: Annotated[
        float | None, typer.Option(help="Movement of a joint that costs 1 [m]: smaller stays nearer to the original.")
    ] = None,
    force: Annotated[
        float | None, typer.Option(help="Residual force that costs 1 [body weights]: smaller leaves less.")
    ] = None,
    calm: Annotated[
        float | None, typer.Option(min=0.0, max=10.0, help="Width of the smoothing of captured jitter [s]; 0 keeps it.")
    ] = None,
    retime: Annotated[
        bool, typer.Option("--retime", help="First play it at the speed that gravity in its flights shows.")
    ] = False,
    window: Annotated[float | None, typer.Option(help="Length of the windows that are solved one by one [s].")] = None,
    figure: clips.WhichFigure = 0,
    units: clips.Units = None,
    up: clips.Up = None,
    rate: clips.Rate = None,
    to: Annotated[str, typer.Option("--to", metavar="FORMAT", help="For folders: bvh, glb, ...; as the file is.")] = "",
    as_json: Json = False,
    many: FolderRun = ONE_MOTION,
) -> None:
    """Change a motion as little as possible so that it is physically possible; or all motions of a folder.

    Exit code 0: the result is possible; 1: it is better, but not possible yet; 2: the file cannot be read.

    Ctrl-C stops it: what is done so far is written, and the rest of the motion is unchanged. Of a folder the finished
    files are kept, and the same command goes on.
    """
    from counterpoise.motion.files.hub import format_of
    from counterpoise.spacetime.check import check_motion
    from counterpoise.spacetime.fix import FixTuning, fix_motion
    from counterpoise.spacetime.fix.playing_speed import at_true_speed, playing_speed

    given: dict[str, Any] = {
        "friction": friction, "near": near, "force": force, "calm": calm, "window": window,
        "floor": clips.floor_from(floor),
    }  # fmt: skip
    options = clips.reading_options(units, up, rate)
    if is_many(source):
        only_for_one(
            report=report,
            plot=plot,
            video=video,
            overlay=overlay,
            hold=hold,
            find_holds=find_holds,
            retime=retime,
            set=set_,
        )
        _fix_folder(source, out, to, figure_name, given, options, many, as_json)
        return
    only_for_many(to=to, table=many.table, jobs=many.jobs, engine=many.engine != ONE_MOTION.engine)
    format_of(out, "write")
    check_targets({out: (out.suffix.lower(),), plot: (".png", ".pdf", ".svg"), report: (".json",), video: FILMS})
    tuning = FixTuning(**given_only(given))
    if find_holds and hold:
        raise BadValue("--hold names what is held and --find-holds finds it: give one of them")
    holds = clips.holds_from(hold)
    motion = clips.motion_of_source(source, figure_name, set_, figure, options)
    kept = figure_name is None and _keeps_file(source, out, motion)
    with bar(as_json) as show:
        speed = playing_speed(check_motion(motion, holds=holds, progress=show)) if retime else None
        motion = motion if speed is None else at_true_speed(motion, speed)
        result = fix_motion(motion, holds="find" if find_holds else holds, tuning=tuning, progress=show)
        if result.stopped and not result.windows:
            raise Stopped("stopped before anything was fixed; no file was written")
    whole = _with_rest_frame(result.motion, source, figure_name, options)
    whole.write(out, **({"into": source} if kept else {}))
    speed = playing_speed(result.before) if speed is None else speed
    played = {"playing_speed": speed.speed, "retimed": retime and speed.wrong}
    results = {"input": source, "output": str(out), **played, **result.to_json()}
    if report is not None:
        from counterpoise.files import whole_file

        with whole_file(report) as place:
            place.write_text(json.dumps(results, indent=1, allow_nan=False), encoding="utf-8")
    if plot is not None:
        from counterpoise.render.fix_plot import plot_fix

        plot_fix(result, motion, plot)
    if video is not None:
        first, second = (result.motion, motion) if overlay else (motion, result.motion)
        names = ("after", "before") if overlay else ("before", "after")
        with bar(as_json) as show:
            draw_pair(first, second, video, show, names=names, way="over" if overlay else "beside")
    if as_json:
        say_json(results)
    else:
        _print(result)
        _say_speed(speed, retime)
        for path in (out, report, plot, video):
            if path is not None:
                say(f"wrote {path}")
    ended(show, 0 if result.after.possible else 1)


def _fix_folder(
    source: str, out: Path, to: str, figure_name: str | None, tuning: dict[str, Any], reading: dict[str, Any],
    many: FolderRun, as_json: bool,
) -> None:  # fmt: skip
    """Fixes the motions of a folder into another, in which the subfolders are kept."""
    from counterpoise.motion.files.hub import format_of

    if out.exists() and not out.is_dir():
        raise BadValue(f"--out is a folder where many motions are fixed; {str(out)!r} is a file")
    files, top = clips_in(source)
    for suffix in {f".{to.lstrip('.')}"} if to else {Path(file).suffix.lower() for file in files}:
        format_of(f"motion{suffix}", "write")
    if not to and out.resolve() == Path(top).resolve():
        raise BadValue("the motions would be written over themselves: give another folder with --out")
    out.mkdir(parents=True, exist_ok=True)
    many = replace(many, table=many.table or out / "fix.csv")
    check_targets({many.table: (".csv",)})
    fixed = {
        "folder": str(out), "to": to, "character": figure_name, "root": top,
        "reading": given_only(reading), "tuning": given_only(tuning),
    }  # fmt: skip
    run_task("fix", files, fixed, "possible_after", many, as_json)


def _with_rest_frame(fixed: Motion, source: str, figure_name: str | None, options: dict[str, Any]) -> Motion:
    """Returns the motion with the T-pose that its file has before the movement, which is left out of the fix."""
    if figure_name is not None or Path(source).suffix.lower() not in HOLD_REST_FRAMES:
        return fixed
    import numpy as np

    from counterpoise.motion.files.hub import read_motion

    whole = read_motion(source, skip_rest_frame=False, **options)
    if len(whole) != len(fixed) + 1:
        return fixed
    return replace(whole, poses=np.concatenate([whole.poses[:1], fixed.poses]), name=fixed.name)


def _keeps_file(source: str, out: Path, motion: Motion) -> bool:
    """Returns whether the result can be put into the GLB or USD that it came from, with all that is in it."""
    suffixes = {Path(source).suffix.lower(), out.suffix.lower()}
    if suffixes != {".glb"} and not suffixes <= {".usda", ".usdc", ".usd"}:
        return False
    from counterpoise.errors import BadFile
    from counterpoise.motion.clips import clip_of_motion
    from counterpoise.motion.files.gltf_into import glb_with_animation
    from counterpoise.motion.files.usd_into import stage_with_animation

    try:
        first = clip_of_motion(motion, frames=(0, 0))
        if suffixes == {".glb"}:
            glb_with_animation(source, first, motion.source)
        else:
            stage_with_animation(source, first, motion.source, out.parent)
    except BadFile as error:
        typer.echo(f"the meshes of the file are not kept: {error}", err=True)
        return False
    return True


def _say_speed(speed: PlayingSpeed, retime: bool) -> None:
    """Prints at which speed the motion was played, where that is wrong or was asked for."""
    if speed.wrong:
        cure = "It is at its true speed now." if retime else "Add --retime to play it at its true speed."
        say(f"{speed.words} {cure}")
    elif retime:
        say(speed.words or "No flight shows a wrong playing speed: it was not retimed.")


def _print(result: FixResult) -> None:
    from rich.markup import escape
    from rich.table import Table

    done = result.motion
    title = f"{done.name or 'motion'} on {done.character.name}: {len(done)} frames in {result.seconds:.1f} s"
    table = Table("", "before", "after", "unit", title=escape(title))
    after = {finding.name: finding for finding in result.after.findings}
    for was in result.before.findings:
        now = after.get(was.name)
        table.add_row(was.name, clips.short(was.value), clips.short(now.value) if now else "", escape(was.unit))
    say(table)
    say(escape(result.summary))
    if result.frozen:
        say(escape(f"Joints that were not changed: {', '.join(result.frozen)}."))
