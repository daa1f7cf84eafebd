"""Which files become which: folders, globs and files in, a file or a folder out; decided before any work is done."""

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
_NOT_READ = (".fbx", *(suffix for suffix, entry in FORMATS.items() if not entry.reader))


@dataclass(frozen=True)
class Step:
    """One file to convert; `skip` says why it is left out."""

    input: Path
    output: Path
    skip: str = ""


@dataclass(frozen=True)
class _Found:
    path: Path
    below: Path  # its place under the folder or pattern it was found by
    top: Path  # that folder
    named: bool  # by the user, not found in a folder


def plan_conversion(
    inputs: PathLike | Sequence[PathLike], out: PathLike, *, to: str | None = None, force: bool = False
) -> tuple[Step, ...]:
    """What would be converted into what; nothing is read or written.

    An input is a file, a folder (with all below it) or a glob. `out` is a file, or a folder in which the tree of
    subfolders is kept; then `to` names the format ("glb"). What is there already is skipped unless `force`. Two inputs
    that would become one file are refused. What an earlier run wrote into a folder that is read is no input.
    """
    given = [inputs] if isinstance(inputs, str | os.PathLike) else list(inputs)
    if not given:
        raise BadValue("nothing to convert: name a file, a folder or a glob")
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
            f"{len(found)} files cannot all become {str(target)!r}: name a folder, and the format with `to`",
            inputs=tuple(str(one.path) for one in found),
        )
    else:
        steps = [Step(one.path, target) for one in found]
    steps = [_judged(step, folder, force) for step in steps]
    if all(step.skip in _NONE.values() for step in steps):
        why = f": {steps[0].skip}" if steps else ""
        named = ", ".join(repr(os.fspath(text)) for text in given[:4])
        raise BadFile(f"no motion files in {named}{why or '; the suffix may be ' + ', '.join(_READ)}")
    _check_outputs(steps)
    return tuple(steps)


_NONE = {
    ".fbx": "FBX is a closed format: import it in Blender, export .glb or .bvh, and read that",
    **{suffix: f"{suffix} files are written here, not read" for suffix in _NOT_READ[1:]},
}


def _is_folder(text: str, to: str | None) -> bool:
    path = Path(text)
    if path.is_dir() or text.endswith(("/", os.sep)) or not path.suffix:
        return True
    return path.suffix.lower() not in (*FORMATS, ".fbx") and to is not None


def _suffix(target: Path, to: str | None, folder: bool) -> str:
    """The suffix of what is written; `to` and a file's own must agree."""
    if not folder:
        format_of(target, "write")
        if to is not None and _dotted(to) != target.suffix.lower():
            raise BadValue(f"{str(target)!r} is no {_dotted(to)} file; leave out `to`, or name a folder")
        if not target.absolute().parent.is_dir():
            raise BadFile(f"cannot write {str(target)!r}: there is no folder {str(target.parent)!r}", path=str(target))
        return target.suffix.lower()
    if to is None:
        choices = ", ".join(suffix[1:] for suffix in _WRITTEN)
        raise BadValue(f"which format shall the files in {str(target)!r} have? Say it with `to`: {choices}")
    if target.exists() and not target.is_dir():
        raise BadFile(f"{str(target)!r} is a file, not a folder", path=str(target))
    if _dotted(to) not in _WRITTEN:
        choices = ", ".join(suffix[1:] for suffix in _WRITTEN)
        raise BadValue(f"motion is not written as {to!r}; `to` may be {choices}", to=to)
    return _dotted(to)


def _dotted(to: str) -> str:
    return "." + to.lower().removeprefix(".")


# ------------------------------------------------------------------------------------------------------- finding


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
            raise BadFile(f"no file is like {text!r}", path=text)
        for match in files:
            if _welcome(match):
                yield _Found(match, match.relative_to(top), top, False)
    else:
        raise BadFile(f"no file {text!r}", path=text)


def _walk(top: Path) -> Iterator[_Found]:
    for home, folders, names in os.walk(top):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(home, name)
            if _welcome(path) and path.is_file():
                yield _Found(path, path.relative_to(top), top, False)


def _welcome(path: Path) -> bool:
    return not path.name.startswith(".") and path.suffix.lower() in (*_READ, *_NOT_READ)


def _plain_parts(path: Path) -> list[str]:
    """The folder a pattern starts from."""
    parts: list[str] = []
    for part in path.parts[:-1]:
        if glob.has_magic(part):
            break
        parts.append(part)
    return parts


def _is_output(found: _Found, target: Path, suffix: str) -> bool:
    """Whether a file found in a folder is (or may be) what an earlier run wrote there."""
    out, top = target.resolve(), found.top.resolve()
    if out == top:
        return found.path.suffix.lower() == suffix
    return out.is_relative_to(top) and found.path.resolve().is_relative_to(out)


# ------------------------------------------------------------------------------------------------------- judging


def _judged(step: Step, folder: bool, force: bool) -> Step:
    suffix = step.input.suffix.lower()
    if suffix in _NOT_READ:
        return Step(step.input, step.output, _NONE[suffix])
    format_of(step.input, "read")
    if step.output.resolve() == step.input.resolve():
        if not folder:
            raise BadValue(f"{str(step.output)!r} would be written over itself; name another file")
        return Step(step.input, step.output, "would be written over itself")
    if not force and os.path.lexists(step.output):
        if not folder:
            raise BadFile(f"{str(step.output)!r} is there already (force writes over it)", path=str(step.output))
        return Step(step.input, step.output, "is there already (force writes over it)")
    return step


def _check_outputs(steps: Sequence[Step]) -> None:
    """Every output is written once."""
    taken: dict[str, Path] = {}
    for step in steps:
        if step.skip in _NONE.values():
            continue
        other = taken.setdefault(os.path.normcase(step.output.absolute()), step.input)
        if other != step.input:
            raise BadValue(
                f"{str(other)!r} and {str(step.input)!r} would both become {str(step.output)!r}; "
                f"convert one kind at a time, such as '*{other.suffix}'",
                inputs=(str(other), str(step.input)),
            )


__all__ = ["PathLike", "Step", "plan_conversion"]
