"""The verb `play`: everything that a scene says, done."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from counterpoise.cli.app import Json, app
from counterpoise.cli.output import bar, ended, say, say_json, written_suffixes
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import check_writable_below
from counterpoise.phrases import check_targets

if TYPE_CHECKING:
    from counterpoise.scene import Scene, SceneRun

_OUTPUTS = ("recording", "motion", "video", "picture")


@app.command()
def play(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SCENE|CLIP",
            help="A scene (.toml; a stunt file is one too), or a motion file: it is put on a human and checked.",
        ),
    ],
    folder: Annotated[
        Path, typer.Option("--folder", "-d", help="Where the files that the scene names are written.")
    ] = Path("."),
    recording: Annotated[Path | None, typer.Option("--out", "-o", help="Save the recording here (.npz).")] = None,
    motion: Annotated[
        Path | None, typer.Option("--motion", help="Write the first motion: .npz, .bvh, .glb, .csv, ...")
    ] = None,
    video: Annotated[Path | None, typer.Option("--video", help="Film it (.mp4, .gif, .webp).")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="Draw a filmstrip (.png).")] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PATH=VALUE", help="Change an entry first, e.g. push.0.start=1.2. May be repeated."
        ),
    ] = None,
    edit: Annotated[
        list[str] | None,
        typer.Option(
            "--edit", metavar="EDIT", help='An edit, as the studio shows it, e.g. "MoveKey(2, 0.5)". May be repeated.'
        ),
    ] = None,
    write: Annotated[
        Path | None, typer.Option("--write", metavar="FILE.toml", help="Write the scene with these changes.")
    ] = None,
    run_it: Annotated[bool, typer.Option("--run/--no-run", help="Run the scene, or only change and write it.")] = True,
    as_json: Json = False,
) -> None:
    """Do what a scene says: make, optimise, fix and check its motions, simulate its controllers, write its files.

    A motion file instead is put on the library's human (--set character=NAME for another figure) and checked.

    Exit code 0: all is solved, possible and stands; 1: something is not; 2: it cannot be read, or there is nothing to
    do; 130: stopped by Ctrl-C, and what was done is kept.
    """
    from counterpoise.scene import Together, apply_edit, read_edit, read_scene, write_scene
    from counterpoise.scene.edits.general import SetEntry, SetOutput
    from counterpoise.scene.running import NOTHING

    films = (".mp4", ".gif", ".webp")
    check_targets({recording: (".npz",), motion: written_suffixes(), video: films, png: (".png",), write: (".toml",)})
    scene = read_scene(_scene_of_clip(source) if source.suffix.lower() in _clip_suffixes() else source)
    changes: list[Any] = [SetEntry(*_change(scene, text)) for text in set_ or ()]
    changes += [read_edit(text) for text in edit or ()]
    asked = dict(zip(_OUTPUTS, (recording, motion, video, png), strict=True))
    files = {kind: str(path.resolve()) for kind, path in asked.items() if path is not None}
    if files and not run_it:
        raise BadValue(
            "--no-run makes nothing that could be written: leave out -o, --motion, --video and --png, or --no-run"
        )
    if changes:
        scene = apply_edit(scene, Together(changes))
    if write is not None:
        write_scene(scene, write)
    if not run_it:
        say_json({"scene": scene.name, "run": False}) if as_json else say(f"{scene.name}: not run")
        return
    if files:
        scene = apply_edit(scene, SetOutput(files))
    _check_work(scene, str(source), folder)
    with bar(as_json) as report:
        run = scene.run(folder, progress=report)
    if run.is_empty:
        raise BadValue(f"{scene.name}: {NOTHING}")
    if as_json:
        say_json(_as_json(run))
    else:
        from rich.markup import escape

        say(escape(run.report()))
    ended(report, 0 if run.ok else 1)


def _clip_suffixes() -> tuple[str, ...]:
    """The motion files that can be read."""
    from counterpoise.motion.files.hub import FORMATS

    return tuple(suffix for suffix, entry in FORMATS.items() if entry.reader)


def _scene_of_clip(path: Path) -> str:
    """Returns the scene, as text, in which a motion file is the main motion and is checked."""
    from counterpoise.scene.values import toml_value

    if not path.is_file():
        raise BadFile(f"no file {str(path)!r}", path=str(path))
    return f'name = {toml_value(path.stem)}\nclip = {toml_value(path.resolve().as_posix())}\nphysics = "check"\n'


def _check_work(scene: Scene, source: str, folder: Path) -> None:
    """Refuses a scene in which nothing happens, and files that it would never write, or could not."""
    asked, moves, acts = scene.output.files, bool(scene.motions), bool(scene.controllers)
    if scene.experiment is not None:
        return
    if not (moves or acts or scene.steps is not None or "character" in asked):
        raise BadValue(
            f"{source!r} has nothing to do: it needs a motion (duration and [[key]], or a clip) or a [controller]"
        )
    for kind, there, missing in (
        ("recording", acts, "a [controller]"), ("plot", acts, "a [controller]"), ("motion", moves, "a motion"),
        ("picture", moves or acts, "a motion or a [controller]"),
        ("video", moves or acts, "a motion or a [controller]"),
    ):  # fmt: skip
        if kind in asked and not there:
            raise BadValue(f"{source!r} has no {kind} to write into {asked[kind]!r}: it needs {missing}")
    for name in [*asked.values(), *(given["file"] for given in scene.output.motions.values())]:
        check_writable_below(folder / name)


def _change(scene: Scene, text: str) -> tuple[list[str | int], Any]:
    """Reads PATH=VALUE: names and numbers of a path with dots, and a TOML value; a bare word is a text."""
    import tomllib

    path, equals, value = text.partition("=")
    if not equals or not path.strip():
        raise BadValue(f"--set takes PATH=VALUE, such as push.0.start=1.2; got {text!r}")
    parts: list[str | int] = [int(p) if p.isdigit() else p for p in path.strip().split(".")]
    try:
        return parts, tomllib.loads(f"x = {value}")["x"]
    except (tomllib.TOMLDecodeError, RecursionError):
        return parts, value.strip()


def _as_json(run: SceneRun) -> dict[str, Any]:
    from counterpoise.scene.running import outcome_ok, outcome_words

    return {
        "scene": run.scene.name, "ok": run.ok, "stopped": run.stopped,
        "motions": {
            name: {
                "seconds": motion.duration, "frames": len(motion),
                **({"ok": outcome_ok(run.outcomes[name]), "said": outcome_words(run.outcomes[name])}
                   if name in run.outcomes else {}),
            }
            for name, motion in run.motions.items()
        },
        "recording": None if run.recording is None else {
            "seconds": run.recording.duration, "status": run.recording.status, "characters": list(run.figures),
            "fallen": run.fallen, "fingerprint": run.recording.fingerprint(),
        },
        "experiment": None if run.experiment is None else run.experiment.as_json(),
        "files": {kind: str(path) for kind, path in run.files.items()},
    }  # fmt: skip
