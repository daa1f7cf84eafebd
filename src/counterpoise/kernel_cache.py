"""Where compiled kernels are kept: beside their source, tied to what they were made from; and those that are shipped.

A kernel's stamp is a digest of its own code and of all it uses: other kernels, constants, named tuples. An edit
elsewhere in its file, another date of the file or another place on the disk change nothing.

A wheel may bring compiled kernels (`counterpoise/compiled`, made by `tools/compiled_wheel.py`) for one system, Python
and version of numba, and for every processor with the instructions in `ShippedKernels.needs`. Arithmetic is strict, so
they have the bits of kernels that are compiled here.
"""

from __future__ import annotations

import builtins
import dis
import hashlib
import json
import marshal
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np

FOLDER = Path(__file__).with_name("compiled")  # of shipped kernels
LIST = "kernels.json"  # in that folder: what they were made for
BUILT_FOLDER: Path | None = None  # where kernels to be shipped are written; set by the tool that makes them
PYTHON = f"py{sys.version_info[0]}{sys.version_info[1]}"


@dataclass(frozen=True)
class ShippedKernels:
    """Compiled kernels that came with the package."""

    folder: Path
    python: str
    numba: str
    target: tuple[str, ...]  # numba's description of the processor they were made for
    needs: tuple[str, ...]  # instructions of the processor

    def fit(self, numba: str, triple: str, has: Mapping[str, bool]) -> bool:
        """Returns whether they run here: the same Python, numba and system, and all instructions they need."""
        return self.lack(numba, triple, has) is None

    def lack(self, numba: str, triple: str, has: Mapping[str, bool]) -> str | None:
        """Returns in words what they need and is not here; None where they run."""
        for thing, theirs, here in (
            ("numba", self.numba, numba), ("Python", self.python, PYTHON), ("the system", self.target[0], triple),
        ):  # fmt: skip
            if theirs != here:
                return f"{thing} {theirs} (here {here})"
        missing = [name for name in self.needs if not has.get(name, False)]
        return f"a processor with {', '.join(missing)}" if missing else None


@cache
def shipped_kernels(folder: Path = FOLDER) -> ShippedKernels | None:
    """Returns the kernels that came with the package; None where there are none."""
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))
        return ShippedKernels(
            folder, listed["python"], listed["numba"], tuple(listed["target"]), tuple(listed["needs"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def tie_cache(made: Any, recipe: str, shipped: ShippedKernels | None) -> None:
    """Ties the cached machine code of a kernel to everything it was compiled from.

    `recipe` says how it is compiled. What is not in the kernel's own cache is looked up among the shipped ones.
    """
    file = getattr(made._cache, "_cache_file", None)
    if file is None:  # no folder can be written: then nothing is cached
        return
    function = made.py_func
    used = "\n".join([recipe, code_stamp(function.__code__), repr(function.__defaults__), *_used(function)])
    stamp = hashlib.sha256(used.encode()).hexdigest()
    if BUILT_FOLDER is not None:
        file._cache_path = str(BUILT_FOLDER)
        _stamp(file, stamp, shipped_name(function))
        return
    _stamp(file, stamp, f"{_short(function)}.{PYTHON}")
    if shipped is not None:
        other = type(file)(str(shipped.folder), "", "")
        _stamp(other, stamp, shipped_name(function))
        own = file.load

        def load(key: Any) -> Any:
            found = own(key)
            if found is None and Path(other._index_path).is_file():
                found = other.load((key[0], shipped.target, *key[2:]))
            return found

        file.load = load


def shipped_name(function: Any) -> str:
    """Returns the name, without suffixes, under which a kernel is shipped."""
    return f"{function.__module__.rpartition('.')[0]}.{_short(function)}.{PYTHON}"


def _stamp(file: Any, stamp: str, name: str) -> None:
    file._source_stamp = stamp
    file._version = f"{file._version} {stamp}"  # read first: nothing outdated is unpickled
    file._index_name, file._data_name_pattern = f"{name}.nbi", f"{name}.{{number:d}}.nbc"
    file._index_path = str(Path(file._cache_path) / file._index_name)


def _short(function: Any) -> str:
    """The name of a function with that of its module; one that was made in another function has its line too."""
    name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
    return name if "<" not in name else f"{re.sub('[<>]', '', name)}-{function.__code__.co_firstlineno}"


def code_stamp(code: CodeType) -> str:
    """Returns a digest of a function's code: what it does, not where it stands."""
    return hashlib.sha256(marshal.dumps(_bare(code), 2)).hexdigest()


def _bare(code: CodeType) -> CodeType:
    """The code without its file and its lines."""
    inside = tuple(_bare(part) if isinstance(part, CodeType) else part for part in code.co_consts)
    return code.replace(co_filename="", co_firstlineno=1, co_linetable=b"", co_consts=inside)


def _used(function: Any) -> Iterator[str]:
    """One line for every kernel, constant and named tuple of the module that the function names.

    A kernel that is defined below this one is not known yet: then all of its file counts.
    """
    if any(name not in function.__globals__ and not hasattr(builtins, name) for name in _globals(function.__code__)):
        yield hashlib.sha256(Path(function.__code__.co_filename).read_bytes()).hexdigest()
    for name in sorted({*_names(function.__code__), *_annotated(function)}):
        value = function.__globals__.get(name)
        file = getattr(getattr(value, "_cache", None), "_cache_file", None)
        if file is not None:
            yield f"{name} {file._source_stamp}"
        elif isinstance(value, type) and issubclass(value, tuple):
            yield _fields(value)
        elif isinstance(value, (int, float, str, bytes, tuple, np.generic)):
            yield f"{name} {value!r}"
        elif isinstance(value, np.ndarray):
            yield f"{name} {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
        elif callable(value) or isinstance(value, type(sys)):
            yield f"{name} {getattr(value, '__module__', '')} {getattr(value, '__qualname__', repr(type(value)))}"


def _globals(code: CodeType) -> set[str]:
    """Every name of the module that a function's code reads."""
    return {str(one.argval) for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}


@cache
def _fields(kind: type) -> str:
    """The fields of a named tuple in order, and those of the named tuples in it."""
    there = vars(sys.modules[kind.__module__])
    inside = [there.get(name) for name in _annotated(kind)]
    parts = [_fields(value) for value in inside if isinstance(value, type) and issubclass(value, tuple)]
    return " ".join([kind.__name__, *getattr(kind, "_fields", ()), *parts])


def _annotated(thing: Any) -> list[str]:
    """Every word in the annotations of a function or class."""
    notes = getattr(thing, "__annotations__", {}).values()  # strings, forward references or types
    words = (str(getattr(note, "__forward_arg__", getattr(note, "__name__", note))) for note in notes)
    return re.findall(r"\w+", " ".join(words))


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _names(part)
