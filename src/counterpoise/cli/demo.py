"""The verb that shows what the system can do: demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterpoise.cli.app import Json, app
from counterpoise.cli.output import bar, say, say_json

_CONTENTS = {
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

    from counterpoise.experiments.demo import FACTS, jump_words, run_demo, walk_words
    from counterpoise.experiments.demo_locomotion import go_words

    with bar(as_json) as report:
        result = run_demo(out, report)
    if as_json:
        rows = [dict(zip(FACTS, row, strict=True)) for row in result.facts]
        files = {k: str(v) for k, v in result.files.items()}
        jump = jump_words(result.jump)
        locomotion = go_words(result.locomotion)
        say_json(
            {"figures": rows, "jump": jump, "locomotion": locomotion, "files": files,
             "replay_error": result.replay_error}
        )  # fmt: skip
        return
    table = Table(*FACTS, title="Pushed while standing (the hardest push of each)")
    for row in result.facts:
        table.add_row(*row)
    say(table)
    say(f"Walk: {walk_words(result.walk)}")
    say(f"Jump with half a turn: {jump_words(result.jump)}")
    say(f"Pushed, walking, running, turning, stopping: {go_words(result.locomotion)}")
    say(f"Replayed in plain MuJoCo: final difference {result.replay_error:.1e}")
    for name, path in result.files.items():
        say(f"  {path}  {_CONTENTS.get(Path(name).suffix, '')}")
