"""Progress: what every long call reports while it works, and how it is stopped.

A long call takes a function of one argument, a `Progress`. Where that function answers False (or anything that counts
as false, other than None), the call stops soon and returns the best that it has so far. Ctrl-C does the same while a
long call works; a second Ctrl-C ends it at once. A long call inside another one that is given nobody to report to
reports to the other's; what stops the outer one stops the inner one.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeAlias


@dataclass(frozen=True)
class Progress:
    """How far a long call has come."""

    stage: str  # what is being done: "optimising", "simulating", ...
    share: float  # of this stage that is done, from 0 to 1
    message: str = ""  # more about it in words


Watch: TypeAlias = Callable[[Progress], object]
"""Called with every Progress. An answer that counts as false stops the call; None, no answer, does not."""

_CURRENT: ContextVar[Reporter | None] = ContextVar("counterpoise_reporter", default=None)


class Reporter:
    """Reports the progress of one long call, and says whether it should go on."""

    def __init__(self, watch: Watch | None = None, outer: Reporter | None = None) -> None:
        self._watch, self._outer = watch, outer
        self._stopped = self._interrupted = False

    @property
    def stopped(self) -> bool:
        """Whether the call should stop: by an answer, or by Ctrl-C."""
        return self._stopped or (self._outer is not None and self._outer.stopped)

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C was the reason."""
        return self._interrupted or (self._outer is not None and self._outer.interrupted)

    @property
    def watched(self) -> bool:
        """Whether somebody looks at the reports; where not, they need not be worked out."""
        return self._watch is not None or (self._outer is not None and self._outer.watched)

    def __call__(self, progress: Progress) -> bool:
        """Shows a report to whoever watches. Returns whether to go on."""
        if self._watch is not None:
            try:
                answer = self._watch(progress)
            except KeyboardInterrupt:
                self.interrupt()
                answer = None
            self._stopped = self._stopped or (answer is not None and not answer)
        elif self._outer is not None:
            self._outer(progress)
        return not self.stopped

    def report(self, stage: str, share: float, message: str = "") -> bool:
        """Shows a report. Returns whether to go on."""
        return self(Progress(stage, min(max(share, 0.0), 1.0), message))

    def interrupt(self) -> None:
        """Asks the call to stop, as Ctrl-C does."""
        self._stopped = self._interrupted = True


@contextmanager
def watching(watch: Watch | None = None) -> Iterator[Reporter]:
    """While inside, a long call reports by the reporter that is yielded, and Ctrl-C asks it to stop.

    Inside of another long call, reports go to that one where there is no `watch`, and what stops it stops this one.
    """
    if isinstance(watch, Reporter):
        yield watch
        return
    reporter = Reporter(watch, _CURRENT.get())
    token = _CURRENT.set(reporter)
    try:
        with _ctrl_c_asks(reporter):
            yield reporter
    finally:
        _CURRENT.reset(token)


@contextmanager
def _ctrl_c_asks(reporter: Reporter) -> Iterator[None]:
    """Where Python's own handler of Ctrl-C is set, the first Ctrl-C asks to stop and the next one raises."""
    in_main_thread = threading.current_thread() is threading.main_thread()  # Python handles signals in it only
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return

    def ask(number: int, frame: Any) -> None:
        reporter.interrupt()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    signal.signal(signal.SIGINT, ask)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


__all__ = ["Progress", "Reporter", "Watch", "watching"]
