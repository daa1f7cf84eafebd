"""Outbox: what waits to be sent to one page. Events keep their order; of frames only the newest of each kind waits."""

from __future__ import annotations

import asyncio
from collections import deque

MAX_WAITING = 10_000  # events; a page that is further behind is closed and catches up when it connects again


class Outbox:
    """Used on the event loop only; other threads come in by `loop.call_soon_threadsafe`."""

    def __init__(self) -> None:
        self._events: deque[str] = deque()
        self._frames: dict[int, bytes] = {}
        self._ready = asyncio.Event()
        self.overflown = False

    def put(self, message: str | bytes) -> None:
        """Adds an event (text) or a frame (bytes)."""
        if isinstance(message, bytes):
            self._frames[message[0]] = message  # an older picture of the same kind is worth nothing
        elif len(self._events) < MAX_WAITING:
            self._events.append(message)
        else:
            self.overflown = True
        self._ready.set()

    async def take(self) -> str | bytes:
        """Waits for the next message: events first."""
        while not self._events and not self._frames:
            self._ready.clear()
            await self._ready.wait()
        if self._events:
            return self._events.popleft()
        return self._frames.pop(next(iter(self._frames)))
