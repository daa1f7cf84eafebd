"""Server: the page and its files over HTTP, commands and events over one websocket a page."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import HTTPConnection, Request
from starlette.responses import FileResponse, HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from counterpoise.errors import CounterpoiseError
from counterpoise.studio.desk import Desk
from counterpoise.studio.events import Trouble
from counterpoise.studio.file_routes import file_routes
from counterpoise.studio.folder import Folder
from counterpoise.studio.guard import FILE_HEADERS, Guard, page_headers
from counterpoise.studio.messages import dump_event, read_command
from counterpoise.studio.open_scene import OpenScene
from counterpoise.studio.outbox import Outbox
from counterpoise.studio.workshop import Workshop

CLIENT = Path(__file__).with_name("client")
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".txt": "text/plain"}
REFUSED = 4403  # the websocket's code for a wrong token, host or origin
TOO_SLOW = 4408  # and for a page that does not take its messages


class Gate:
    """Middleware: every request and every websocket passes the guard before anybody looks at it."""

    def __init__(self, app: ASGIApp, guard: Guard) -> None:
        self.app, self.guard = app, guard

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        connection = HTTPConnection(scope)
        token = connection.query_params.get("token") or connection.headers.get("x-token")
        public = scope["path"].startswith("/client/")  # our own code: the same for everybody
        why = self.guard.refusal(connection.headers, token, needs_token=not public)
        if why is None and scope["type"] == "websocket" and "origin" not in connection.headers:
            why = "a websocket must name its origin"
        if why is None:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close(REFUSED, why)
        else:
            await PlainTextResponse(why + "\n", 403, FILE_HEADERS)(scope, receive, send)


class Pages:
    """The open pages, each with its outbox."""

    def __init__(self) -> None:
        self.outboxes: set[Outbox] = set()
        self.loop: asyncio.AbstractEventLoop | None = None

    def post(self, message: str | bytes) -> None:
        """Sends a message to every page; called from the desk's thread."""
        if self.loop is not None and not self.loop.is_closed():
            with contextlib.suppress(RuntimeError):  # the loop ends while the desk still speaks
                self.loop.call_soon_threadsafe(self._put, message)

    def _put(self, message: str | bytes) -> None:
        for outbox in self.outboxes:
            outbox.put(message)


def build_app(guard: Guard, folder: Folder, document: OpenScene) -> Starlette:
    """Returns the application. Its desk starts and ends with it."""
    pages = Pages()
    desk = Desk(Workshop(folder, document, pages.post))

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        pages.loop = asyncio.get_running_loop()
        desk.start()
        yield
        desk.end()

    async def socket(ws: WebSocket) -> None:
        await serve_page(ws, pages, desk)

    routes = [Route("/", page), Route("/client/{path:path}", client_file), WebSocketRoute("/ws", socket)]
    routes += file_routes(desk)
    app = Starlette(routes=routes, middleware=[Middleware(Gate, guard=guard)], lifespan=lifespan)
    app.state.desk = desk
    return app


async def serve_page(ws: WebSocket, pages: Pages, desk: Desk) -> None:
    """Serves one page until it closes: first everything it needs, then each change."""
    await ws.accept()
    outbox, loop = Outbox(), asyncio.get_running_loop()

    def greet(workshop: Workshop) -> None:
        first = workshop.welcome()

        def join() -> None:
            for message in first:
                outbox.put(message)
            pages.outboxes.add(outbox)  # from here on it hears every change, and misses none

        loop.call_soon_threadsafe(join)

    desk.ask(greet)
    desk.set_pages(len(pages.outboxes) + 1)
    sender = asyncio.create_task(_send(ws, outbox))
    try:
        while True:
            text = await ws.receive_text()
            try:
                desk.give(read_command(text))
            except CounterpoiseError as error:
                outbox.put(dump_event(Trouble(str(error))))
    except (WebSocketDisconnect, RuntimeError, KeyError):  # closed; or a binary message, which has no text
        pass
    finally:
        sender.cancel()
        pages.outboxes.discard(outbox)
        desk.set_pages(len(pages.outboxes))


async def _send(ws: WebSocket, outbox: Outbox) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            message = await outbox.take()
            if outbox.overflown:
                await ws.close(TOO_SLOW, "this page was too slow; it connects again")
                return
            if isinstance(message, bytes):
                await ws.send_bytes(message)
            else:
                await ws.send_text(message)


async def page(request: Request) -> Response:
    """The page, with a nonce of its own for the import map."""
    nonce = secrets.token_urlsafe(16)
    text = (CLIENT / "index.html").read_text(encoding="utf-8").replace("NONCE", nonce)
    return HTMLResponse(text, headers=page_headers(nonce))


async def client_file(request: Request) -> Response:
    """A file of the client: only what is in the folder, and only kinds that pages need."""
    name = request.path_params["path"]
    found = (CLIENT / name).resolve()
    if ".." in name or "\\" in name or not found.is_relative_to(CLIENT) or not found.is_file():
        return PlainTextResponse("there is no such file\n", 404, FILE_HEADERS)
    if found.suffix not in KINDS:
        return PlainTextResponse("there is no such file\n", 404, FILE_HEADERS)
    return FileResponse(found, media_type=KINDS[found.suffix], headers=FILE_HEADERS)
