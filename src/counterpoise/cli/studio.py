"""The verb that opens the studio in a browser: studio."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from counterpoise.cli.app import app
from counterpoise.errors import BadValue


@app.command()
def studio(
    scene: Annotated[
        Path | None, typer.Argument(help="A scene (.toml) in this folder or below; else a standing human.")
    ] = None,
    port: Annotated[int, typer.Option(help="Port on the loopback; 0 takes a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address and do not open a browser.")] = False,
) -> None:
    """Open the studio in a browser: pose, key, simulate and push; it ends with Ctrl-C."""
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise BadValue(f"the studio needs {error.name!r}: install counterpoise[studio]") from None
    from counterpoise.studio.start import serve

    serve(scene, port, not no_open)
