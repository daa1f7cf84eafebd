"""Errors that say how to fix the problem: what was given, what is accepted, the nearest fix."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any


class CounterpoiseError(Exception):
    """Bad input, or a request that cannot be met; `evidence` holds the values behind it."""

    def __init__(self, message: str, **evidence: Any) -> None:
        super().__init__(message)
        self.evidence = evidence


class UnknownName(CounterpoiseError, KeyError):
    """A name that does not exist; the message offers the nearest one that does."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0])


class BadValue(CounterpoiseError, ValueError):
    """A number, shape or unit outside what is accepted."""


class BadFile(CounterpoiseError, ValueError):
    """A file that cannot be read as the format it should have, or a path that cannot be written."""


class NotFound(CounterpoiseError):
    """The request is right, and nothing was found that meets it."""


class Stopped(CounterpoiseError):
    """Work that was stopped before it had anything to return."""


class MissingRole(CounterpoiseError, ValueError):
    """A character lacks what the task needs: feet, hands, a floating root."""


def unknown_name(kind: str, name: object, known: Iterable[str], where: str = "") -> UnknownName:
    """Returns the error, with a message such as `no body 'l_foot' in 'human'; did you mean 'foot_left'?`"""
    choices = list(known)
    place = f" in {where!r}" if where else ""
    guess = nearest_name(str(name), choices)
    if guess is not None:
        cure = f"did you mean {guess!r}?"
    elif choices:
        shown = ", ".join(choices[:12]) + (", ..." if len(choices) > 12 else "")
        cure = f"known: {shown}"
    else:
        cure = f"there is no {kind} at all"
    return UnknownName(f"no {kind} {str(name)!r}{place}; {cure}", name=name, known=tuple(choices))


def nearest_name(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name closest to `name`; 'l_foot', 'LeftFoot' and 'foot_left' count as the same words."""
    choices = list(known)
    by_words = {_words(choice): choice for choice in choices}
    if (words := _words(name)) in by_words:
        return by_words[words]
    close = difflib.get_close_matches(name.lower(), [c.lower() for c in choices], n=1, cutoff=0.5)
    if not close:
        return None
    return next(c for c in choices if c.lower() == close[0])


def _words(name: str) -> tuple[str, ...]:
    """The words of a name in alphabetical order, in lower case, with 'l' and 'r' written out."""
    spaced = "".join(" " + c if c.isupper() else c for c in name)
    for mark in "_-. ":
        spaced = spaced.replace(mark, " ")
    sides = {"l": "left", "r": "right"}
    return tuple(sorted(sides.get(word, word) for word in spaced.lower().split()))
