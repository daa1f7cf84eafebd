"""Desk: the one thread that computes. It owns the workshop; the event loop only carries messages.

Commands keep their order. Pointer messages that follow each other are one: the latest wins, so a slow frame never makes
a queue. A live run advances once a picture, and stands still while no page is open.
"""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable

from counterpoise.studio import actions
from counterpoise.studio.commands import DragBody, PullProp
from counterpoise.studio.live import FRAME
from counterpoise.studio.messages import Command
from counterpoise.studio.workshop import Workshop

IDLE = 0.25  # [s] without a command, after which feet are held between keys

assert actions  # importing it fills the table of handlers


def follows_pointer(last: Command | Callable[[Workshop], None] | None, command: Command) -> bool:
    """Returns whether a command is of the same pointer as the one before it, and takes its place."""
    if isinstance(command, DragBody):
        return isinstance(last, DragBody) and last.body == command.body
    return isinstance(command, PullProp) and isinstance(last, PullProp) and last.prop == command.prop


class Desk(threading.Thread):
    """Takes commands from any thread with `give`, and questions about the workshop with `ask`."""

    def __init__(self, workshop: Workshop) -> None:
        super().__init__(name="studio desk", daemon=True)
        self.workshop = workshop
        workshop.later = self.ask
        self._waiting: list[Command | Callable[[Workshop], None]] = []
        self._changed = threading.Condition()
        self._pages = 0
        self._ended = False

    # -- from other threads ---------------------------------------------------------------------------------------
    def give(self, command: Command) -> None:
        """Adds a command. A pointer message takes the place of one that still waits just before it."""
        with self._changed:
            last = self._waiting[-1] if self._waiting else None
            if follows_pointer(last, command):
                self._waiting[-1] = command
            else:
                self._waiting.append(command)
            self._changed.notify()

    def ask(self, question: Callable[[Workshop], None]) -> None:
        """Has a function called with the workshop, in order with the commands."""
        with self._changed:
            self._waiting.append(question)
            self._changed.notify()

    def set_pages(self, count: int) -> None:
        """Says how many pages are open."""
        with self._changed:
            self._pages = count
            self._changed.notify()

    def end(self) -> None:
        """Ends the thread after what it does now."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        self.workshop.jobs.close()

    # -- the thread itself ---------------------------------------------------------------------------------------
    def run(self) -> None:
        """Works until `end`."""
        due = idle = time.perf_counter()
        while True:
            with self._changed:
                while not self._ended and not self._waiting:
                    left = due - time.perf_counter() if self._is_live() else None
                    if self.workshop.drag_goes_on:
                        break
                    if left is None and self.workshop.needs_refining:
                        left = idle - time.perf_counter()
                    if left is not None and left <= 0.0:
                        break
                    self._changed.wait(left)
                if self._ended:
                    return
                orders, self._waiting = self._waiting, []
            for order in orders:
                if isinstance(order, Command):
                    self.workshop.carry_out(order)
                else:
                    self._answer(order)
            now = time.perf_counter()
            if orders:
                idle = now + IDLE
            elif self.workshop.drag_goes_on:
                self.workshop.go_on_dragging()
            elif self.workshop.needs_refining and now >= idle:
                self.workshop.refine(lambda: not self._waiting)
                idle = time.perf_counter() + IDLE
            if self._is_live() and now >= due:
                self.workshop.advance_live()
                due = max(due + FRAME, now)  # a picture that came late is not made up for
            elif not self._is_live():
                due = now

    def _answer(self, question: Callable[[Workshop], None]) -> None:
        try:
            question(self.workshop)
        except Exception:  # the thread goes on: it is the only one
            traceback.print_exc(file=sys.stderr)

    def _is_live(self) -> bool:
        return self.workshop.live is not None and self._pages > 0
