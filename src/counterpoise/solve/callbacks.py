"""Python functions called from foreign code: what they raise, and Ctrl-C, reach the caller."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class CallbackGuard:
    """Carries what callbacks raise past foreign code, through which no exception may pass.

    After the first exception every callback fails at once, so that the foreign code ends; `reraise` then raises it.
    Python handles Ctrl-C where its own code begins to run again, which is just before a callback's first line, where
    nothing could catch the exception. Here it is handled inside the callback.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None
        self._inside = False  # a callback, where exceptions are caught
        self._interrupt: tuple[int, Any] | None = None  # a signal that came outside callbacks
        self._handler: Any = None  # of Ctrl-C, as it was before

    def guarded(self, call: Callable[..., object]) -> Callable[..., bool]:
        """Returns `call` for foreign code: it returns False where `call` does, and from the first exception on."""

        def run(*arguments: Any) -> bool:
            try:
                if self.error is not None:
                    return False
                self._inside = True
                if self._interrupt is not None:
                    interrupt, self._interrupt = self._interrupt, None
                    self._handle(*interrupt)
                done = call(*arguments) is not False
                self._inside = False
                return done
            except BaseException as error:
                self._inside = False
                if self.error is None:
                    self.error = error
                return False

        return run

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """While foreign code runs inside, Ctrl-C is handled within callbacks, by the handler that was set before."""
        in_main_thread = threading.current_thread() is threading.main_thread()  # Python handles signals in it only
        if not in_main_thread or not callable(signal.getsignal(signal.SIGINT)):
            yield
            return
        self._handler = signal.signal(signal.SIGINT, self._take)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, self._handler)
        if self._interrupt is not None and self.error is None:
            self._handler(*self._interrupt)

    def _take(self, number: int, frame: Any) -> None:
        if self._inside:
            self._handle(number, frame)
        else:
            self._interrupt = number, frame

    def _handle(self, number: int, frame: Any) -> None:
        try:
            self._handler(number, frame)
        finally:
            now = signal.getsignal(signal.SIGINT)
            if now != self._take and callable(now):  # the handler has put another in its place
                self._handler = now
                signal.signal(signal.SIGINT, self._take)

    def reraise(self) -> None:
        """Raises what a callback raised, if one did."""
        if self.error is not None:
            raise self.error
