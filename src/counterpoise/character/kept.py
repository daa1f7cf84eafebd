"""One place to remember things about a body: what a function worked out for a character stays with that character."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from counterpoise.character.character import Character

P = ParamSpec("P")
T = TypeVar("T")
MOST = 64  # answers kept of one function for one character; beyond that it begins anew


def kept_with_character(
    make: Callable[Concatenate[Character, P], T],
) -> Callable[Concatenate[Character, P], T]:
    """Calls `make(character, *arguments)` once for each set of (hashable) arguments and remembers the answer.

    Answers live as long as the character does. They are shared, so they must not be changed.
    """

    @wraps(make)
    def found(character: Character, *arguments: Any, **named: Any) -> Any:
        answers: dict[Hashable, T] | None = character.kept.get(make)
        if answers is None:
            answers = character.kept[make] = {}
        key = (arguments, tuple(named.items())) if named else arguments
        try:
            return answers[key]
        except KeyError:
            if len(answers) >= MOST:
                answers.clear()
            answer = answers[key] = make(character, *arguments, **named)
            return answer

    return found  # type: ignore[return-value]
