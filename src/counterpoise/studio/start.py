"""Starting: a socket on the loopback, one line with the whole address, and a browser."""

from __future__ import annotations

import socket
import webbrowser
from pathlib import Path

import uvicorn

from counterpoise.errors import BadFile, BadValue
from counterpoise.studio.desk import Desk
from counterpoise.studio.folder import Folder
from counterpoise.studio.guard import Guard, new_token
from counterpoise.studio.open_scene import start_document
from counterpoise.studio.server import build_app
from counterpoise.studio.warming import start_warming
from counterpoise.studio.workshop import Workshop


def _set_warm(workshop: Workshop) -> None:
    workshop.warm = True


LOOPBACK = "127.0.0.1"


class _Announcing(uvicorn.Server):
    """Says where it is as soon as it answers."""

    def __init__(self, config: uvicorn.Config, address: str, opens: bool) -> None:
        super().__init__(config)
        self.address, self.opens = address, opens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            print(f"counterpoise studio: {self.address}", flush=True)
            if self.opens:
                webbrowser.open(self.address)


def serve(scene: Path | None, port: int, opens: bool) -> None:
    """Serves the studio until it is interrupted. Port 0 takes a free one."""
    if not 0 <= port < 65536:
        raise BadValue(f"a port lies between 0 and 65535; got {port}")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((LOOPBACK, port))
    except OSError as error:
        raise BadValue(f"port {port} is taken ({error.strerror}): choose another with --port, or 0 for any") from None
    guard = Guard(new_token(), listening.getsockname()[1])
    folder = Folder(Path.cwd())
    if scene is not None and not scene.resolve().is_relative_to(folder.root):
        raise BadFile(f"{str(scene)!r} lies outside this folder: start the studio in the folder of the scene")
    if scene is not None and not scene.is_file():
        raise BadFile(f"there is no file {str(scene)!r}", path=str(scene))
    app = build_app(guard, folder, start_document(folder, scene))
    desk: Desk = app.state.desk
    desk.workshop.warm = False
    start_warming(lambda: desk.ask(_set_warm))
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, ws="websockets-sansio", lifespan="on", timeout_graceful_shutdown=1,
        server_header=False, ws_max_size=1 << 23,
    )  # fmt: skip
    _Announcing(config, guard.address, opens).run(sockets=[listening])
