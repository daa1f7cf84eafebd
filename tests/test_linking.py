"""Kernels are put together from parts that are optimised once: the same numbers, whatever is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from counterpoise import linking
from counterpoise.kernels import inner_kernel_with_arrays, kernel
from counterpoise.linking import LARGE, LinkedOnce, declare_large, linking_options

linked = pytest.mark.skipif(not linking_options(False), reason="it was not tried with this numba or system")

PARTS = (
    "import sys\nimport numpy as np\nfrom counterpoise.kernels import inner_kernel, inner_kernel_with_arrays, kernel\n"
    "@inner_kernel\ndef part(x, k):\n    return x[k] * 3.0\n"
    "@inner_kernel_with_arrays\ndef solved(x):\n"
    "    if x[0] < -5.0:\n        raise ValueError('too little')\n"
    "    return x + part(x, 0)\n"
    "@kernel\ndef rows(x, k=1):\n"
    "    y = np.zeros((2, 2), np.int32)\n    y[0] = k\n    if x[0] > 5.0:\n        raise ValueError('too much')\n"
    "    return solved(x)[:2] * part(x, k), y\n"
    "@kernel\ndef both(x):\n    a, b = rows(x, 2)\n    c, d = rows(x)\n    return a + c + solved(x)[:2], b + d\n"
    "x = np.arange(1.0, 4.0)\n"
    "for name in sys.argv[1:]:\n    print([part.tolist() for part in {'rows': rows, 'both': both}[name](x)])\n"
    "for name, shift in ((rows, 7.0), (both, 7.0), (both, -8.0)):\n"
    "    try:\n        name(x + shift)\n    except ValueError as error:\n        print(error)\n"
)
EXPECTED = {"rows": "[[24.0, 30.0], [[1, 1], [0, 0]]]", "both": "[[64.0, 80.0], [[3, 3], [0, 0]]]"}


@pytest.mark.parametrize("kept", ["all", "inner", "entries"])
def test_a_kernel_is_a_part_of_others_and_called_from_python(tmp_path: Path, kept: str):
    """Compiled in one process; in the next all of it is loaded, or only inner kernels, or only entries."""
    (tmp_path / "parts.py").write_text(PARTS)
    cache = tmp_path / "kept"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    for words in (("rows", "both"), ("both", "rows")):
        code = [sys.executable, "-c", "import parts", *words]
        done = subprocess.run(code, capture_output=True, text=True, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines() == [*(EXPECTED[word] for word in words), "too much", "too much", "too little"]
        assert not done.stderr  # no warning that something cannot be kept
        found = [*cache.rglob("*.nbi")]
        assert len(found) >= 2
        for index in found:
            inner = index.name.startswith(("parts.part.", "parts.solved."))
            if kept != "all" and inner != (kept == "inner"):
                index.unlink()


TEXT = """define linkonce_odr i32 @"large one"(ptr noalias %x) local_unnamed_addr #0 {{
{}
}}

define linkonce_odr i32 @small(ptr %x) {{
  ret i32 0
}}

define internal i32 @own(ptr %x) {{
{}
}}
declare void @elsewhere()"""


def test_only_large_functions_of_others_are_declared():
    body = "\n".join(["  call void @elsewhere()"] * LARGE)
    text, names = declare_large(TEXT.format(body, body))
    assert names == ["large one"] and 'declare i32 @"large one"(ptr noalias %x) local_unnamed_addr #0' in text
    assert "define linkonce_odr i32 @small" in text and text.count("  call void @elsewhere()") == LARGE
    assert declare_large(TEXT.format("  ret i32 1", body)) == (TEXT.format("  ret i32 1", body), [])


@inner_kernel_with_arrays
def long_way(x: np.ndarray) -> np.ndarray:
    out = np.zeros((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = x[i] * x[j] + x[i] - x[j] * x[0]
            out[j, i] += x[i] * out[0, j] - x[j] * out[i, 0] + x[1]
            out[i, i] += out[j, j] * x[2] - out[0, 1] * out[1, 0]
            out[i, 0], out[0, j] = out[j, 1] + x[i], out[1, i] - x[j]
        for k in range(len(x)):
            out[i] -= out[k] * x[k]
            out[:, i] += out[:, k] + x[i] * x
    return out


@kernel
def far(x: np.ndarray) -> float:
    return float(long_way(x).sum() + long_way(2.0 * x)[0, 0])


def library_of(made: Any) -> Any:
    (found,) = made.overloads.values()
    return found.library


@linked
def test_an_inner_kernel_has_no_machine_code_and_its_caller_has_it(tmp_path: Path, monkeypatch):
    for made in (far, long_way):
        made._cache.disable()  # type: ignore[attr-defined]
    x = np.array([1.0, 2.0, 4.0])
    plain = long_way.py_func  # type: ignore[attr-defined]
    assert far(x) == pytest.approx(plain(x).sum() + plain(2.0 * x)[0, 0], rel=1e-13)
    inner, entry = library_of(long_way), library_of(far)
    assert isinstance(inner, LinkedOnce) and isinstance(entry, LinkedOnce)
    (found,) = long_way.overloads.values()  # type: ignore[attr-defined]
    name = found.fndesc.mangled_name
    assert name.encode() not in inner._get_compiled_object() and name.encode() in entry._get_compiled_object()
    assert not inner._final_module.get_function(name).is_declaration  # what a caller links
    assert name in declare_large(str(inner._get_module_for_linking()))[1]  # it was large
    assert not entry._final_module.get_function(name).is_declaration


@linked
@pytest.mark.parametrize("fault", ["assert", "not the language of LLVM"])
def test_where_it_fails_numba_links_by_itself(monkeypatch, fault: str):
    def declared(text: str) -> tuple[str, list[str]]:
        failed.append(text)
        assert fault != "assert"
        return fault, ["a name"]

    failed: list[str] = []
    monkeypatch.setattr(linking, "declare_large", declared)

    @inner_kernel_with_arrays
    def twice(x: np.ndarray) -> np.ndarray:
        return 2.0 * x

    @kernel
    def sum_of(x: np.ndarray) -> float:
        return float(twice(x).sum())

    for made in (twice, sum_of):
        made._cache.disable()  # type: ignore[attr-defined]
    assert sum_of(np.array([1.0, 2.0, 4.0])) == 14.0 and failed
    made = library_of(sum_of)
    assert isinstance(made, LinkedOnce) and made._get_compiled_object()


def test_functions_that_others_compile_are_left_alone():
    @numba.njit
    def theirs(x: float) -> float:
        return x + 1.0

    assert theirs(1.0) == 2.0 and not isinstance(library_of(theirs), LinkedOnce)
