"""The verb that replays a recording in plain MuJoCo: replay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterpoise.cli.app import Json, app
from counterpoise.cli.output import bar, ended, say, say_json


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
    with bar(as_json) as report:
        found = run(rec, progress=report)
        report.report("replaying", 1.0)
    if as_json:
        say_json({"steps": found.steps, "final_error": found.final_error, "worst_error": found.worst_error,
                     "worst_time": found.worst_time, "exact": found.exact, "tolerance": TOLERANCE})  # fmt: skip
    else:
        verdict = "exact" if found.exact else "NOT the same"
        say(f"{found.steps} steps of {rec.character.name}: {verdict}")
        say(f"  final difference {found.final_error:.3g} (tolerance {TOLERANCE:g})")
        say(f"  largest difference {found.worst_error:.3g} at {found.worst_time:.3f} s")
    ended(report, 0 if found.exact else 1)
