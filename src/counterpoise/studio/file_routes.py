"""Files over HTTP: meshes and frames for the view, curves, the script, exports, and files that are dropped in."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import asdict
from functools import wraps
from pathlib import PurePosixPath
from typing import Any, TypeVar

import numpy as np
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from counterpoise.character.character import Character
from counterpoise.character.editing.limit_sides import joint_limits, with_side
from counterpoise.errors import BadValue, CounterpoiseError
from counterpoise.files import whole_file
from counterpoise.studio.actions.files import open_named
from counterpoise.studio.curves import read_curves
from counterpoise.studio.desk import Desk
from counterpoise.studio.events import LimitFacts
from counterpoise.studio.exporting import APART, KINDS, export_bytes, made_apart
from counterpoise.studio.figure_facts import figure_glb, limit_facts, mesh_key
from counterpoise.studio.folder import LISTED
from counterpoise.studio.frames import pack_track
from counterpoise.studio.guard import FILE_HEADERS
from counterpoise.studio.limit_outlines import drawn_limits
from counterpoise.studio.motions import show_motion
from counterpoise.studio.scene_facts import script_of
from counterpoise.studio.workshop import Workshop

T = TypeVar("T")
MAX_UPLOAD = 256 << 20  # [bytes]
MAX_NAME = 120  # characters
KEPT_BODIES = 8  # smooth bodies that pages may ask for again
Handler = Callable[[Request], Awaitable[Response]]


def file_routes(desk: Desk) -> list[Route]:
    """Returns the routes of files. What they answer is computed on the desk, or in a process of its own."""

    def on_desk(question: Callable[[Workshop], T]) -> Awaitable[T]:
        answer: Future[T] = Future()

        def ask(workshop: Workshop) -> None:
            try:
                answer.set_result(question(workshop))
            except BaseException as error:
                answer.set_exception(error)

        desk.ask(ask)
        return asyncio.wrap_future(answer)

    @_spoken
    async def kept(request: Request) -> Response:
        data = desk.workshop.files.get(request.url.path)
        if data is None:
            return _said("there is no such file any more; the page will ask again", 404)
        return Response(data, media_type="application/octet-stream", headers=FILE_HEADERS)

    @_spoken
    async def smooth(request: Request) -> Response:
        key, bodies = request.path_params["key"], desk.workshop.smooth_bodies
        data = bodies.get(key)
        if data is None:
            figure = await on_desk(lambda shop: shown_figure(shop, key))
            if figure is None:
                return _said("there is no such figure any more; the page will ask again", 404)
            data = bodies[key] = await asyncio.to_thread(made_apart, "the smooth body", figure_glb, figure, True)
            while len(bodies) > KEPT_BODIES:
                del bodies[next(iter(bodies))]
        return Response(data, media_type="application/octet-stream", headers=FILE_HEADERS)

    @_spoken
    async def curves(request: Request) -> Response:
        names = [name for name in request.query_params.get("names", "").split("|") if name]
        found = await on_desk(lambda shop: read_curves(shop.document.shown.whole(), names, shop.checked))
        return Response(json.dumps(found, allow_nan=False), media_type="application/json", headers=FILE_HEADERS)

    @_spoken
    async def limits(request: Request) -> Response:
        asked = request.query_params
        found = await on_desk(lambda shop: changed_limits(shop.character, asked))
        return Response(json.dumps(asdict(found)), media_type="application/json", headers=FILE_HEADERS)

    @_spoken
    async def layer(request: Request) -> Response:
        name = request.query_params.get("name", "")
        return Response(await on_desk(lambda shop: layer_track(shop, name)), headers=FILE_HEADERS)

    @_spoken
    async def script(request: Request) -> Response:
        return _said(await on_desk(lambda shop: script_of(shop.document)))

    @_spoken
    async def export(request: Request) -> Response:
        kind = request.path_params["kind"]
        if kind not in KINDS:
            raise BadValue(f"{kind!r} is no kind of file that is written here; there are {', '.join(KINDS)}")
        motion = await on_desk(lambda shop: shop.document.shown.whole())
        if kind in APART:
            data = await asyncio.to_thread(made_apart, f"the .{kind} file", export_bytes, motion, kind)
        else:
            data = await on_desk(lambda shop: export_bytes(motion, kind))
        return Response(data, media_type=KINDS[kind], headers=FILE_HEADERS)

    @_spoken
    async def take_file(request: Request) -> Response:
        given = request.query_params.get("name", "")
        name = checked_name(given)
        data = await _body(request)
        return _said(await on_desk(lambda shop: _store_and_open(shop, name, data)))

    return [
        Route("/figures/{name}", kept),
        Route("/figures/{key}/smooth.glb", smooth),
        Route("/tracks/{name:path}", kept),
        Route("/curves", curves),
        Route("/layer", layer),
        Route("/limits", limits),
        Route("/script", script),
        Route("/export/{kind}", export),
        Route("/files", take_file, methods=["POST"]),
    ]


def shown_figure(shop: Workshop, key: str) -> Character | None:
    """Returns the figure that is shown with this mesh: of the timeline, of the scene or of the live run."""
    others = [shop.document.scene.character(name) for name in shop.cast.names]
    living = [] if shop.live is None else [one.character for one in shop.live.figures]
    return next((one for one in (shop.character, *others, *living) if mesh_key(one) == key), None)


def changed_limits(character: Character, asked: Mapping[str, str]) -> LimitFacts:
    """Returns the limits of a joint as they would be with another angle [deg] of one side, to be seen while it is
    dragged."""
    joint = character.joint(asked.get("joint", ""))
    limits = joint_limits(character, joint)
    if limits is None:
        raise BadValue(f"{joint.name!r} has no limits that could be dragged")
    changed = with_side(limits, asked.get("side", ""), float(np.radians(_number(asked.get("angle", "")))))
    return limit_facts(drawn_limits(character, joint, changed))


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise BadValue(f"an angle is a number of degrees; got {text!r}") from None


def layer_track(shop: Workshop, name: str) -> bytes:
    """Returns the frames of another motion of the figure on the timeline, which is drawn as a ghost."""
    shop.document.scene.motion(name)
    return pack_track(shop.character, *show_motion(shop.document.scene, name).frames())


def checked_name(given: str) -> str:
    """Returns the name of a dropped file, if it is a plain name of a kind that is opened here."""
    plain = given == PurePosixPath(given).name and "\\" not in given and not given.startswith(".")
    if not plain or not given or len(given) > MAX_NAME or any(ord(c) < 32 for c in given):
        raise BadValue(f"a dropped file needs a plain name, such as run.bvh; got {given!r}")
    if PurePosixPath(given).suffix.lower() not in LISTED:
        raise BadValue(f"{given!r} is no kind of file that the studio opens; it opens {', '.join(LISTED)}")
    return given


def _store_and_open(shop: Workshop, name: str, data: bytes) -> str:
    """Writes a dropped file beside the scene, under a free name where another one has it, and opens it."""
    folder = shop.document.scene.folder if not name.endswith(".toml") else shop.folder.root
    path = folder / name
    number = 1
    while path.exists() and path.read_bytes() != data:
        number += 1
        path = folder / f"{PurePosixPath(name).stem}_{number}{PurePosixPath(name).suffix}"
    new = not path.exists()
    if new:
        with whole_file(path) as temporary:
            temporary.write_bytes(data)
    try:
        open_named(shop, shop.folder.name_of(path))
    except CounterpoiseError:
        if new:
            path.unlink(missing_ok=True)
        raise
    return f"Opened {path.name}."


async def _body(request: Request) -> bytes:
    """Returns the body of a request, which must not be too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > MAX_UPLOAD:
            raise BadValue(f"the file is larger than {MAX_UPLOAD >> 20} MB; put it into the folder and open it there")
        parts.append(part)
    return b"".join(parts)


def _said(text: str, status: int = 200) -> PlainTextResponse:
    return PlainTextResponse(text.rstrip("\n") + "\n", status, FILE_HEADERS)


def _spoken(handler: Handler) -> Handler:
    """Decorator: an error of ours becomes its sentence."""

    @wraps(handler)
    async def spoken(request: Request) -> Any:
        try:
            return await handler(request)
        except CounterpoiseError as error:
            return _said(str(error), 400)
        except asyncio.CancelledError:  # the studio is closed while a file is made
            return _said("the studio is being closed", 503)

    return spoken
