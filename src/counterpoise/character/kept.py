"""What a function computed for a character is kept with that character and not computed again."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from counterpoise.character.character import Character

P = ParamSpec("P")
T = TypeVar("T")
MOST_RESULTS = 64  # kept of one function for one character; when there are more, all are dropped


def kept_with_character(
    make: Callable[Concatenate[Character, P], T],
) -> Callable[Concatenate[Character, P], T]:
    """Decorator: calls `make(character, *arguments)` once for each set of (hashable) arguments and keeps the result.

    Results live as long as the character does. They are shared between callers and must not be changed.
    """

    @wraps(make)
    def kept(character: Character, *arguments: Any, **named: Any) -> Any:
        key = (arguments, tuple(named.items())) if named else arguments
        try:
            return character.kept[make][key]
        except KeyError:
            results: dict[Hashable, T] = character.kept.setdefault(make, {})
            if len(results) >= MOST_RESULTS:
                results.clear()
            result = results[key] = make(character, *arguments, **named)
            return result

    return kept  # type: ignore[return-value]
