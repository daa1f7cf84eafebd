"""The application that all verbs belong to. Bad input ends it with one line and exit code 2."""

from __future__ import annotations

import re
import sys
import traceback
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, NoReturn, TypeVar

import typer

from counterpoise.errors import BadValue, CounterpoiseError, NotFound, Stopped, nearest_name
from counterpoise.files import one_line

FAULT = 3  # exit code of a fault of the program

LARGEST = 1e9  # of a number on the command line, in any unit
LONGEST = 1000  # [characters] of a message: names in it may be of any length

F = TypeVar("F", bound=Callable[..., Any])


class VerbApp(typer.Typer):
    """An application whose verbs take only numbers that are finite and not absurd, and write no file twice."""

    def command(self, *given: Any, **options: Any) -> Callable[[F], F]:
        register = super().command(*given, **options)

        def add(function: F) -> F:
            @wraps(function)
            def checked(**values: Any) -> Any:
                try:
                    _check_numbers(values)
                    _check_outputs(values)
                    return function(**values)
                except KeyboardInterrupt:  # typer would end without a word
                    raise Stopped("stopped") from None

            register(checked)
            return function

        return add


app = VerbApp(
    name="counterpoise",
    help="Physically right character motion: simulate, record, replay, draw, measure.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A parameter of the figure, e.g. height=1.8. May be repeated."),
]


def main() -> NoReturn:
    """Runs the command line. An error in the user's input is one line and exit code 2."""
    try:
        code = app(standalone_mode=False)  # the exit code, if a verb ended with one
        sys.exit(code if isinstance(code, int) else 0)
    except NotFound as error:
        _fail(in_flags(str(error)), 1)
    except Stopped as error:  # its text says what is kept
        _fail(str(error) or "stopped", 130)
    except CounterpoiseError as error:
        _fail(in_flags(str(error)), 2)
    except MemoryError:
        _fail("there is not enough memory for this", 2)
    except KeyboardInterrupt:
        _fail("stopped", 130)
    except typer.Exit as leave:
        sys.exit(leave.exit_code)
    except OSError as error:  # a file or device that fails while it is used
        _fail(one_line(error), 2)
    except Exception as error:
        if hasattr(error, "format_message") and hasattr(error, "exit_code"):  # an error of typer about its arguments
            _fail(_with_cure(str(error.format_message())), int(error.exit_code))
        if type(error).__name__ == "Abort":
            _fail("stopped", 130)
        traceback.print_exc()
        _fail("this is a fault of the program, not of the input: please report the lines above", FAULT)


def in_flags(message: str, **other: str) -> str:
    """Returns a message with parameters of the verb that was typed as its flags: `character` becomes --character.

    `other` are parameters whose flag has another name.
    """
    known = {flag for parameter in _typed_command().params for flag in parameter.opts}

    def flag_of(found: re.Match[str]) -> str:
        name = found[1]
        flag = other.get(name, f"--{name.replace('_', '-')}")
        return flag if flag in known else name

    return re.sub(r"`(\w+)`", flag_of, message)


def _typed_command() -> Any:
    """Returns the verb that was typed."""
    command: Any = typer.main.get_command(app)
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    while words and words[0] in getattr(command, "commands", {}):
        command = command.commands[words.pop(0)]
    return command


def _check_numbers(values: Mapping[str, Any]) -> None:
    flags = {parameter.name: parameter.opts[0] for parameter in _typed_command().params}
    for name, value in values.items():
        for number in value if isinstance(value, list) else [value]:
            if isinstance(number, float) and not abs(number) <= LARGEST:
                raise BadValue(f"{flags.get(name, name)} takes a number up to {LARGEST:g} in size; got {number:g}")


def _check_outputs(values: Mapping[str, Any]) -> None:
    """Refuses two options that would write one file."""
    taken: dict[Path, str] = {}
    for parameter in _typed_command().params:
        path = values.get(parameter.name)
        if parameter.param_type_name == "option" and isinstance(path, Path):
            first = taken.setdefault(path.absolute(), parameter.opts[0])
            if first != parameter.opts[0]:
                raise BadValue(f"{first} and {parameter.opts[0]} are both {str(path)!r}: give each a file of its own")


def _with_cure(message: str) -> str:
    """Typer's message about an unknown verb, with the nearest verb that exists."""
    known = [command.name or command.callback.__name__ for command in app.registered_commands if command.callback]
    known += [group.name for group in app.registered_groups if group.name]
    if message.startswith("No such command") and "'" in message and "did you mean" not in message.lower():
        guess = nearest_name(message.split("'")[1], known)
        return f"{message} " + (f"Did you mean {guess!r}?" if guess else f"There are: {', '.join(known)}")
    return message


def _fail(message: str, code: int) -> NoReturn:
    words = " ".join(message.split())
    shown = words if len(words) <= LONGEST else f"{words[:LONGEST]} ..."
    print(f"counterpoise: {shown}", file=sys.stderr)
    sys.exit(code)


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version and leave.")] = False,
) -> None:
    if version:
        from counterpoise import __version__

        print(f"counterpoise {__version__}")
        raise typer.Exit
