"""Compiled code is cached with all it was made from: an edit in another file is noticed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

INNER = "from counterpoise.kernels import kernel\nSTEP = {step}\n@kernel\ndef grow(x):\n    return x + {add}\n"
OUTER = (
    "from counterpoise.kernels import kernel\nfrom inner import STEP, grow\n"
    "@kernel\ndef twice(x):\n    return grow(grow(x)) + STEP\nprint(twice(1.0))\n"
)


def run(folder: Path) -> str:
    code = "import sys; sys.path.insert(0, '.'); import outer"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[0]


def write(folder: Path, add: float, step: float) -> None:
    (folder / "inner.py").write_text(INNER.format(add=add, step=step))


def test_an_edit_of_a_kernel_or_constant_in_another_file_is_noticed(tmp_path: Path):
    (tmp_path / "outer.py").write_text(OUTER)
    write(tmp_path, 1.0, 0.5)
    assert run(tmp_path) == "3.5"
    write(tmp_path, 2.0, 0.5)
    assert run(tmp_path) == "5.5"
    write(tmp_path, 2.0, 0.25)
    assert run(tmp_path) == "5.25"


TUPLES = (
    "from typing import NamedTuple\nclass {name}(NamedTuple):\n    {fields}\n"
    "class Outer(NamedTuple):\n    pair: {name}\n"
)
READER = (
    "from counterpoise.kernels import kernel\nfrom tuples import Outer, {name}\n"
    "@kernel\ndef first(outer: Outer):\n    return outer.pair.a\n"
    "print(first(Outer({name}(a=1.0, b=2.0))))\n"
)


def test_an_edit_of_a_named_tuple_in_another_file_is_noticed(tmp_path: Path):
    """Fields in another order, and a class of another name, which the cached code still refers to."""
    (tmp_path / "outer.py").write_text(READER.format(name="Pair"))
    for fields in ("a: float\n    b: float", "b: float\n    a: float"):
        (tmp_path / "tuples.py").write_text(TUPLES.format(name="Pair", fields=fields))
        assert run(tmp_path) == "1.0"
    (tmp_path / "tuples.py").write_text(TUPLES.format(name="Other", fields="a: float\n    b: float"))
    (tmp_path / "outer.py").write_text(READER.format(name="Other"))
    assert run(tmp_path) == "1.0"


def test_what_has_not_changed_is_not_compiled_again(tmp_path: Path):
    (tmp_path / "outer.py").write_text(OUTER)
    write(tmp_path, 1.0, 0.5)
    run(tmp_path)
    code = "import sys; sys.path.insert(0, '.'); import outer; print(sum(outer.twice.stats.cache_hits.values()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.stdout.split()[-1] == "1", done.stderr


NOTICED = (
    "from counterpoise import kernels\nkernels.NOTICE_DELAY = 0.0\n"
    "@kernels.kernel\ndef total(x):\n    s = 0.0\n    for i in range(len(x)):\n        s += x[i]\n    return s\n"
    "import numpy\n"
    "with kernels.compile_notice('a sum'):\n    print(total(numpy.ones(3)))\n"
)


def test_compiling_is_announced_only_where_something_is_compiled(tmp_path: Path):
    (tmp_path / "outer.py").write_text(NOTICED)
    code = "import sys; sys.path.insert(0, '.'); import outer"
    first, second = (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=False)
        for _ in range(2)
    )
    assert first.stdout == second.stdout == "3.0\n"
    assert first.stderr == "counterpoise: compiling a sum; this happens once and takes about half a minute\n"
    assert second.stderr == ""


VERB = (
    "import sys\nfrom counterpoise import kernels\nkernels.NOTICE_DELAY = 0.0\n"
    "from counterpoise.cli import main\n"
    "sys.argv = ['counterpoise', 'simulate', 'stand', '--seconds', '0.02']\nmain()\n"
)


def messages_of_a_verb(cache: Path | None = None) -> str:
    """What `counterpoise simulate stand` writes to the error stream."""
    environment = os.environ | ({} if cache is None else {"NUMBA_CACHE_DIR": str(cache)})
    done = subprocess.run([sys.executable, "-c", VERB], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_a_verb_that_finds_its_kernels_in_the_cache_announces_nothing():
    messages_of_a_verb()  # compiles what is not there yet
    assert "compiling" not in messages_of_a_verb()


@pytest.mark.slow
def test_a_verb_announces_compilation_in_an_empty_cache(tmp_path: Path):
    assert "compiling the whole-body solver" in messages_of_a_verb(tmp_path)
    assert "compiling" not in messages_of_a_verb(tmp_path)
