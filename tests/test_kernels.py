"""Compiled code is cached with all it was made from: an edit in another file is noticed."""

from __future__ import annotations

import importlib
import json
import math
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import counterpoise
from counterpoise import kernel_cache
from counterpoise.kernels import dot, dot_sizes, fma, kernel

INNER = "from counterpoise.kernels import kernel\nSTEP = {step}\n@kernel\ndef grow(x):\n    return x + {add}\n"
OUTER = (
    "from counterpoise.kernels import kernel\nfrom inner import STEP, grow\n"
    "@kernel\ndef twice(x):\n    return grow(grow(x)) + STEP\nprint(twice(1.0))\n"
)


def run(folder: Path) -> str:
    """What `outer` prints. Sources are read anew: an edit of equal size within a second is not seen in bytecode."""
    code = "import sys; sys.path.insert(0, '.'); import outer"
    done = subprocess.run([sys.executable, "-B", "-c", code], capture_output=True, text=True, cwd=folder, check=False)
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


BELOW = (
    "from counterpoise.kernels import kernel\n@kernel\ndef twice(x):\n    return grow(grow(x))\n"
    "@kernel\ndef grow(x):\n    return x + {add}\nprint(twice(1.0))\n"
)


def test_an_edit_of_a_kernel_that_is_defined_below_its_user_is_noticed(tmp_path: Path):
    for add in (1.0, 2.0):
        (tmp_path / "outer.py").write_text(BELOW.format(add=add))
        assert run(tmp_path) == f"{1.0 + 2.0 * add}"


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


# -- the same bits, however a kernel came about ---------------------------------------------------------------------
def test_only_pictures_are_computed_with_fast_arithmetic():
    """Reordered sums differ from one compilation to the next: what decides must not have them."""
    source = Path(__file__).resolve().parents[1] / "src" / "counterpoise"
    for path in sorted(source.rglob("*.py")):
        text, name = path.read_text(encoding="utf-8"), path.relative_to(source).as_posix()
        assert "fastmath" not in text or name == "kernels.py", f"{name}: kernels are strict"
        assert "fast_kernel" not in text or name == "kernels.py" or name.startswith("render/"), f"{name} decides"


@kernel
def plain_sum(x: np.ndarray, y: np.ndarray) -> float:
    total = 0.0
    for j in range(len(x)):
        total += x[j] * y[j]
    return total


@kernel
def rows_dotted(A: np.ndarray, y: np.ndarray, first: int, last: int, out: np.ndarray) -> None:
    for i in range(len(A)):
        out[i] = dot(A[i, first:last], y[first:])


@kernel
def six_dotted(A: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(A)):
        out[i] = dot(A[i, :6], y)


@kernel
def columns_dotted(A: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    for j in range(A.shape[1]):
        out[j] = dot(A[:, j], y)


@kernel
def sizes_dotted(x: np.ndarray, y: np.ndarray) -> float:
    return dot_sizes(x, y)


@kernel
def dotted(x: np.ndarray, y: np.ndarray) -> float:
    return dot(x, y)


@kernel
def fused(a: float, b: float, c: float) -> float:
    return fma(a, b, c)


def test_dot_is_a_sum_of_products_of_any_length():
    rng = np.random.default_rng(0)
    for n in [*range(40), 100, 257]:
        x, y = rng.standard_normal((2, n)) * 10.0 ** rng.integers(-3, 4, (2, n))
        exact, size = math.fsum(x * y), math.fsum(np.abs(x * y))
        assert abs(dotted(x, y) - exact) <= 1e-15 * (1 + n) * size
        assert abs(sizes_dotted(x, y) - size) <= 1e-15 * (1 + n) * size
    x = np.ones(20)
    for bad in (np.nan, np.inf):
        for at in (0, 7, 8, 15, 16, 19):
            y = np.ones(20)
            y[at] = bad
            assert not np.isfinite(dotted(x, y)) and np.isfinite(dotted(x[:at], y))


def test_dot_has_the_same_bits_wherever_it_is_compiled():
    """Alone, in a loop over rows of any length, over rows of a length known to the compiler."""
    rng = np.random.default_rng(1)
    for n in (6, 7, 8, 9, 16, 23, 41, 64):
        A, y, out = rng.standard_normal((13, n)), rng.standard_normal(n), np.empty(13)
        for first in (0, 1, 3):
            rows_dotted(A, y, first, n, out)
            assert out.tolist() == [dotted(row[first:].copy(), y[first:].copy()) for row in A]
        six_dotted(A, y, out)
        assert out.tolist() == [dotted(row[:6].copy(), y) for row in A]
        across = np.empty(n)
        columns_dotted(A, A[:, 0].copy(), across)  # not in one piece: one by one
        assert across.tolist() == [plain_sum(A[:, j].copy(), A[:, 0].copy()) for j in range(n)]


def test_a_fused_product_is_rounded_once():
    a, b = 1.0 + 2.0**-30, 1.0 - 2.0**-30
    assert fused(a, b, -1.0) == -(2.0**-60) and a * b - 1.0 == 0.0


SECOND = (
    "import hashlib, counterpoise as cp\n"
    "human = cp.character('human')\n"
    "squat = cp.reference_motion('squat', human)\n"
    "push = cp.Push('thorax', (180.0, 60.0, 0.0), 0.2, 0.1)\n"
    "done = cp.simulate(human, cp.Stand(reference=squat), 1.0, disturbances=[push])\n"
    "assert abs(done.torque).max() > 10.0\n"
    "print(hashlib.sha256(done.qpos.tobytes() + done.qvel.tobytes() + done.torque.tobytes()).hexdigest())\n"
)


def second_of_standing(cache: Path) -> str:
    """The bytes, as a sum, of a second of simulation in a process with this cache."""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run([sys.executable, "-c", SECOND], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


@pytest.mark.slow
def test_a_simulation_has_the_same_bytes_compiled_or_loaded(tmp_path: Path):
    """With an empty cache; with all of it loaded; with every other kernel loaded into callers compiled anew."""
    fresh = second_of_standing(tmp_path)
    assert second_of_standing(tmp_path) == fresh
    found = sorted(tmp_path.rglob("*.nbi"))
    assert len(found) > 20
    for index in found[::2]:
        index.unlink()
    assert second_of_standing(tmp_path) == fresh


# -- what is kept, and what is shipped ------------------------------------------------------------------------------
COUNTED = (
    "import sys; sys.path.insert(0, '.')\n"
    "from counterpoise.kernels import event\nseen = []\n"
    "class Listener(event.Listener):\n"
    "    def on_start(self, e): seen.append(e.data['dispatcher'].py_func.__name__)\n"
    "    def on_end(self, e): pass\n"
    "event.register('numba:compile', Listener())\n"
    "import outer\nprint(*seen)\n"
)


def compiled_by(folder: Path, *before: str) -> list[str]:
    """Which kernels are compiled when `outer` runs."""
    code = "\n".join([*before, COUNTED])
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[1].split()


def test_an_edit_that_changes_no_kernel_compiles_nothing(tmp_path: Path):
    (tmp_path / "outer.py").write_text(OUTER)
    write(tmp_path, 1.0, 0.5)
    assert set(compiled_by(tmp_path)) == {"twice", "grow"}
    (tmp_path / "outer.py").write_text("# a line above\n\n\n" + OUTER + "\n\ndef plain():\n    return 7\n")
    os.utime(tmp_path / "inner.py", (1.0, 1.0))
    assert compiled_by(tmp_path) == []


def test_shipped_kernels_are_used_where_they_fit(tmp_path: Path):
    """Kernels are compiled into a folder, as for a wheel, and found there by a process with an empty cache."""
    (tmp_path / "outer.py").write_text(OUTER)
    write(tmp_path, 1.0, 0.5)
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    build = (
        f"from pathlib import Path\nfrom counterpoise import kernel_cache\n"
        f"kernel_cache.BUILT_FOLDER = Path({str(shipped)!r})\n"
    )
    assert set(compiled_by(tmp_path, build)) == {"twice", "grow"}
    from counterpoise.kernels import compiled_target
    from counterpoise.kernels import numba as compiler

    for needs, expected in (["sse2"], set()), (["an instruction of tomorrow"], {"twice", "grow"}):
        listed = {
            "python": kernel_cache.PYTHON, "numba": compiler.__version__, "target": compiled_target(),
            "needs": needs if sys.platform != "darwin" or expected else [],
        }  # fmt: skip
        (shipped / kernel_cache.LIST).write_text(json.dumps(listed))
        use = (
            f"from pathlib import Path\nfrom counterpoise import kernel_cache\n"
            f"found = kernel_cache.shipped_kernels(Path({str(shipped)!r}))\n"
            f"from counterpoise import kernels\nkernels.shipped_kernels = lambda: found\n"
        )
        empty = tmp_path / f"empty{len(expected)}"
        use = f"import os\nos.environ['NUMBA_CACHE_DIR'] = {str(empty)!r}\n" + use
        assert set(compiled_by(tmp_path, use)) == expected


def test_kernels_without_counted_references_are_given_no_new_arrays():
    """They would never be freed; and numba refuses them, or not, by which kernel was compiled first."""
    allocates = {"array", "copy", "diag", "dot", "empty", "empty_like", "eye", "full", "ones", "solve", "zeros"}

    def may_allocate(made) -> bool:
        function = made.py_func
        names = set(function.__code__.co_names)
        called = [function.__globals__.get(name) for name in names]
        return bool(names & allocates) or any(may_allocate(one) for one in called if is_counted(one))

    def is_counted(value) -> bool:
        return isinstance(value, Dispatcher) and value.targetoptions.get("_nrt") is not False

    kernels = {one.py_func: one for one in all_kernels()}
    lean = [one for one in kernels.values() if not is_counted(one)]
    assert len(lean) > 100 and any(may_allocate(one) for one in kernels.values())
    wrong = [
        f"{one.__module__}.{one.__qualname__} calls {name}"
        for one in (made.py_func for made in lean)
        for name in one.__code__.co_names
        if is_counted(one.__globals__.get(name)) and may_allocate(one.__globals__[name])
    ]
    assert wrong == []


def all_kernels() -> list[Dispatcher]:
    modules = [
        importlib.import_module(found.name)
        for found in pkgutil.walk_packages(counterpoise.__path__, "counterpoise.")
        if not found.name.endswith("__main__")
    ]
    return [value for one in modules for value in vars(one).values() if isinstance(value, Dispatcher)]
