"""Which file is converted into which: inputs are files, folders and globs, the output is a file or a folder."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterpoise.errors import BadFile, BadValue
from counterpoise.motion.files.hub import FORMATS, format_of

PathLike = str | os.PathLike[str]
_READ = tuple(suffix for suffix, entry in FORMATS.items() if entry.reader and suffix != ".asf")  # read with its .amc
_WRITTEN = tuple(suffix for suffix, entry in FORMATS.items() if entry.writer)
_NOT_READ = tuple(suffix for suffix, entry in FORMATS.items() if not entry.reader)


@dataclass(frozen=True)
class Step:
    """One file to convert; `skip` is the reason if it is left out."""

    input: Path
    output: Path
    skip: str = ""


@dataclass(frozen=True)
class _Found:
    path: Path
    below: Path  # its path inside `top`
    top: Path  # the folder, or that of the pattern, in which it was found
    named: bool  # given by the user, not found in a folder


def plan_conversion(
    inputs: PathLike | Sequence[PathLike], out: PathLike, *, to: str | None = None, force: bool = False
) -> tuple[Step, ...]:
    """Returns what would be converted into what; nothing is read or written.

    An input is a file, a folder (with its subfolders) or a glob. `out` is a file, or a folder in which the tree of
    subfolders is kept; then `to` names the format ("glb"). Files that exist are skipped unless `force`. Two inputs that
    would become one file are an error. Files that an earlier run wrote into an input folder are not inputs.
    """
    given = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not given:
        raise BadValue("nothing to convert: give a file, a folder or a glob")
    target = Path(out)
    folder = _is_folder(os.fspath(out), to)
    suffix = _suffix(target, to, folder)
    found = [one for text in given for one in _find(text)]
    found = list({one.path.resolve(): one for one in reversed(found)}.values())[::-1]
    if folder:
        found = [one for one in found if one.named or not _is_output(one, target, suffix)]
        steps = [Step(one.path, target / one.below.with_suffix(suffix)) for one in found]
    elif len(found) > 1:
        raise BadValue(
            f"{len(found)} files cannot all become {str(target)!r}: give a folder, and the format with `to`",
            inputs=tuple(str(one.path) for one in found),
        )
    else:
        steps = [Step(one.path, target) for one in found]
    steps = [_checked(step, folder, force) for step in steps]
    if all(step.skip in _UNREADABLE.values() for step in steps):
        why = f": {steps[0].skip}" if steps else ""
        named = ", ".join(repr(os.fspath(text)) for text in given[:4])
        raise BadFile(f"no motion files in {named}{why or '; the suffix may be ' + ', '.join(_READ)}")
    _check_outputs(steps)
    return tuple(steps)


_UNREADABLE = {suffix: f"{suffix} files are written here, not read" for suffix in _NOT_READ}


def _is_folder(text: str, to: str | None) -> bool:
    path = Path(text)
    if path.is_dir() or text.endswith(("/", os.sep)) or not path.suffix:
        return True
    return path.suffix.lower() not in FORMATS and to is not None


def _suffix(target: Path, to: str | None, folder: bool) -> str:
    """Returns the suffix of the files to write; `to` and the suffix of a file must agree."""
    if not folder:
        format_of(target, "write")
        if to is not None and _dotted(to) != target.suffix.lower():
            raise BadValue(f"{str(target)!r} is not a {_dotted(to)} file; leave out `to`, or give a folder")
        if not target.absolute().parent.is_dir():
            raise BadFile(f"cannot write {str(target)!r}: there is no folder {str(target.parent)!r}", path=str(target))
        return target.suffix.lower()
    if to is None:
        choices = ", ".join(suffix[1:] for suffix in _WRITTEN)
        raise BadValue(f"the format of the files in {str(target)!r} is missing; give it with `to`: {choices}")
    if target.exists() and not target.is_dir():
        raise BadFile(f"{str(target)!r} is a file, not a folder", path=str(target))
    if _dotted(to) not in _WRITTEN:
        choices = ", ".join(suffix[1:] for suffix in _WRITTEN)
        raise BadValue(f"motion is not written as {to!r}; `to` may be {choices}", to=to)
    return _dotted(to)


def _dotted(to: str) -> str:
    return "." + to.lower().removeprefix(".")


# ------------------------------------------------------------------------------------------------------- finding


def find_clips(given: PathLike) -> tuple[list[Path], Path]:
    """Returns the motion files of a folder (with its subfolders) or a glob, and the folder that they are in."""
    found = list(_find(given))
    return [one.path for one in found], found[0].top if found else Path(given)


def _find(given: PathLike) -> Iterator[_Found]:
    text = os.fspath(given)
    path = Path(text)
    if path.is_dir():
        yield from _walk(path)
    elif path.is_file():
        yield _Found(path, Path(path.name), path.parent, True)
    elif os.path.lexists(path):
        raise BadFile(f"{text!r} is not an ordinary file", path=text)
    elif glob.has_magic(text):
        top = Path(*_plain_parts(path))
        matches = sorted(Path(match) for match in glob.glob(text, recursive=True))
        files = [match for match in matches if match.is_file()]
        if not files:
            raise BadFile(f"no file matches {text!r}", path=text)
        for match in files:
            if _is_input(match):
                yield _Found(match, match.relative_to(top), top, False)
    else:
        raise BadFile(f"no file {text!r}", path=text)


def _walk(top: Path) -> Iterator[_Found]:
    for home, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(home, name)
            if _is_input(path) and path.is_file():
                yield _Found(path, path.relative_to(top), top, False)


def _is_input(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix.lower() in (*_READ, *_NOT_READ)


def _plain_parts(path: Path) -> list[str]:
    """Returns the parts of a path before its first pattern."""
    parts: list[str] = []
    for part in path.parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return parts


def _is_output(found: _Found, target: Path, suffix: str) -> bool:
    """Returns whether a file found in a folder may have been written there by an earlier run."""
    out, top = target.resolve(), found.top.resolve()
    if out == top:
        return found.path.suffix.lower() == suffix
    return out.is_relative_to(top) and found.path.resolve().is_relative_to(out)


# ------------------------------------------------------------------------------------------------------ checking


def _checked(step: Step, folder: bool, force: bool) -> Step:
    """Returns the step, with the reason if it must be skipped; raises an error if it is the only one."""
    suffix = step.input.suffix.lower()
    if suffix in _NOT_READ:
        return Step(step.input, step.output, _UNREADABLE[suffix])
    format_of(step.input, "read")
    if step.output.resolve() == step.input.resolve():
        if not folder:
            raise BadValue(f"{str(step.output)!r} would be written over itself; give another file")
        return Step(step.input, step.output, "would be written over itself")
    if not force and os.path.lexists(step.output):
        if not folder:
            raise BadFile(f"{str(step.output)!r} exists already (`force` overwrites it)", path=str(step.output))
        return Step(step.input, step.output, "exists already (`force` overwrites it)")
    return step


def _check_outputs(steps: Sequence[Step]) -> None:
    """Raises BadValue if two inputs have the same output."""
    taken: dict[str, Path] = {}
    for step in steps:
        if step.skip in _UNREADABLE.values():
            continue
        other = taken.setdefault(os.path.normcase(step.output.absolute()), step.input)
        if other != step.input:
            raise BadValue(
                f"{str(other)!r} and {str(step.input)!r} would both become {str(step.output)!r}; "
                f"convert one kind at a time, such as '*{other.suffix}'",
                inputs=(str(other), str(step.input)),
            )


__all__ = ["PathLike", "Step", "plan_conversion"]
