"""Starting: a socket on the loopback, one line with the whole address, and a browser."""

from __future__ import annotations

import socket
import webbrowser
from pathlib import Path

import uvicorn

from counterpoise.character.library import character
from counterpoise.errors import BadValue
from counterpoise.studio.document import Document
from counterpoise.studio.folder import Folder
from counterpoise.studio.guard import Guard, new_token
from counterpoise.studio.server import build_app

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
    app = build_app(guard, Folder(Path.cwd()), Document(character("human")))
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, ws="websockets-sansio", lifespan="on", timeout_graceful_shutdown=1,
        server_header=False, ws_max_size=1 << 23,
    )  # fmt: skip
    _Announcing(config, guard.address, opens).run(sockets=[listening])
