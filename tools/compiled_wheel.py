"""Builds a wheel that brings its kernels compiled: `python tools/compiled_wheel.py [FOLDER]`, dist by default.

The wheel is for this system, this Python and the installed numba, and for every processor with AVX2 and FMA (x86-64) or
of the common kind (ARM). Elsewhere the plain wheel is installed, or kernels are compiled when they are first used.
"""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
X86 = ("x86_64", "AMD64", "amd64")
CPU, NEEDS = (
    ("x86-64-v3", ("avx2", "fma", "bmi2", "f16c", "lzcnt", "movbe")) if platform.machine() in X86 else ("generic", ())
)


def compile_kernels(folder: Path) -> None:
    """Compiles every kernel into a folder: in a process of its own, for the processor that the environment names."""
    from counterpoise import kernel_cache

    kernel_cache.BUILT_FOLDER = folder
    import numba

    from counterpoise.experiments.warming import warm_up
    from counterpoise.kernels import compiled_target

    done = warm_up(lambda part, share: print(f"{100 * share:3.0f}% {part}", file=sys.stderr, flush=True))
    if not done.finished:
        raise SystemExit("stopped before all kernels were compiled")
    target = list(compiled_target())
    listed = {"python": kernel_cache.PYTHON, "numba": numba.__version__, "target": target, "needs": list(NEEDS)}
    (folder / kernel_cache.LIST).write_text(json.dumps(listed, indent=1), encoding="utf-8")


def system_tag() -> str:
    """Returns the platform of the wheel, as its dependencies have it."""
    machine = platform.machine().lower()
    if sys.platform == "win32":
        return "win_amd64"
    if sys.platform == "darwin":
        return f"macosx_14_0_{machine}"
    return f"manylinux_2_28_{machine}"


def add_kernels(plain: Path, kernels: Path, out: Path) -> Path:
    """Writes the wheel `plain` again, with kernels and a name for this system. Returns its path."""
    python = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    tag = f"{python}-{python}-{system_tag()}"
    name, version = plain.name.split("-")[:2]
    target = out / f"{name}-{version}-{tag}.whl"
    rows: list[tuple[str, str, str]] = []
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as new:
        files = {entry: old.read(entry) for entry in old.namelist() if not entry.endswith("/RECORD")}
        files |= {f"counterpoise/compiled/{path.name}": path.read_bytes() for path in sorted(kernels.iterdir())}
        record = next(entry for entry in old.namelist() if entry.endswith("/RECORD"))
        about = record.replace("/RECORD", "/WHEEL")
        files[about] = files[about].replace(b"py3-none-any", tag.encode()).replace(b"Purelib: true", b"Purelib: false")
        for entry, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            rows.append((entry, f"sha256={digest}", str(len(data))))
            new.writestr(zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0)), data, zipfile.ZIP_DEFLATED)
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([*rows, (record, "", "")])
        new.writestr(record, lines.getvalue())
    return target


def main(out: Path) -> None:
    """Builds the plain wheel, compiles the kernels of the same source, and joins both."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home:
        plain, kernels = Path(home) / "plain", Path(home) / "kernels"
        kernels.mkdir()
        subprocess.run(["uv", "build", "--wheel", "-q", "-o", str(plain), str(ROOT)], check=True)
        (wheel,) = plain.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(Path(home) / "source")
        environment = {
            **os.environ, "NUMBA_CPU_NAME": CPU, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": str(Path(home) / "other"),
            "PYTHONPATH": str(Path(home) / "source"),
        }  # fmt: skip
        command = [sys.executable, str(Path(__file__).resolve()), "--kernels", str(kernels)]
        subprocess.run(command, check=True, env=environment, cwd=home)
        made = add_kernels(wheel, kernels, out)
        shutil.rmtree(kernels)
    print(f"{made}  {made.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--kernels"]:
        compile_kernels(Path(sys.argv[2]))
    else:
        main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "dist")
