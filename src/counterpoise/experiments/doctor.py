"""What works on this machine: kernels, IPOPT, video, browser, extras; and the cure for what does not."""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module, metadata
from importlib.util import find_spec
from pathlib import Path

import numpy as np

EXTRAS = {  # package -> extra that installs it, what it is for
    "pxr": ("usd", "writing USD"),
    "mcap": ("mcap", "writing logs for Foxglove"),
    "ufbx": ("fbx", "reading FBX"),
    "pandas": ("tables", "tables as data frames"),
    "pyarrow": ("tables", "tables as Parquet files"),
    "ray": ("ray", "sweeps on a cluster"),
}
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "firefox", "msedge", "safari")


@dataclass(frozen=True)
class Diagnosis:
    """One thing that was looked at."""

    name: str
    state: str  # "ok", "missing" (an option that is not there) or "broken"
    detail: str
    cure: str = ""


def examine() -> tuple[Diagnosis, ...]:
    """Returns what works and what does not. Every check really does the thing: solves, encodes, writes."""
    checks: tuple[tuple[str, Callable[[], Diagnosis]], ...] = (
        ("python", _python),
        ("folder", _folder),
        ("kernels", _kernels),
        ("physics", _physics),
        ("ipopt", _ipopt),
        ("pictures", _pictures),
        ("video", _video),
        ("browser", _browser),
    )
    return (*(_careful(name, check) for name, check in checks), *_extras())


def _careful(name: str, check: Callable[[], Diagnosis]) -> Diagnosis:
    try:
        return check()
    except Exception as error:
        told = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        return Diagnosis(name, "broken", told, "install again: pip install --force-reinstall counterpoise")


def _python() -> Diagnosis:
    from counterpoise import __version__

    packages = ", ".join(f"{name} {metadata.version(name)}" for name in ("numpy", "mujoco", "numba", "casadi"))
    where = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    return Diagnosis("python", "ok", f"counterpoise {__version__} on {where}; {packages}")


def _folder() -> Diagnosis:
    here = Path.cwd()
    try:
        with tempfile.NamedTemporaryFile(dir=here):
            return Diagnosis("folder", "ok", f"files can be written into {here}")
    except OSError as error:
        return Diagnosis(
            "folder", "broken", f"{here}: {error.strerror}", "change into a folder that you may write into"
        )


def _kernels() -> Diagnosis:
    from counterpoise.kernel_cache import shipped_kernels
    from counterpoise.kernels import compiled_target, count_compilations, processor_has, usable_shipped_kernels
    from counterpoise.motion import spline_kernels

    shipped, usable = shipped_kernels(), usable_shipped_kernels()
    cache = getattr(spline_kernels.evaluate, "_cache", None)
    kept = getattr(cache, "cache_path", None)
    if usable is not None:
        return Diagnosis("kernels", "ok", f"compiled ones came with the package ({usable.target[1]})")
    if kept is None or not _can_write(Path(kept)):
        cure = "set NUMBA_CACHE_DIR to a folder that you may write into"
        return Diagnosis("kernels", "broken", "compiled code cannot be kept: every run compiles anew", cure)
    from counterpoise.character.library import character
    from counterpoise.motion import reference_motion

    with count_compilations() as compiled:
        reference_motion("squat", character("human")).sample(0.1)
    numba, has = metadata.version("numba"), processor_has()
    lack = None if shipped is None else shipped.lack(numba, compiled_target()[0], has)
    note = "" if lack is None else f"those of the package are for {lack}; "
    if compiled:
        other = f"pip install numba=={shipped.numba}, or " if shipped is not None and shipped.numba != numba else ""
        cure = f"{other}counterpoise warmup, which compiles them all now"
        return Diagnosis("kernels", "ok", f"{note}compiled when first used", cure)
    return Diagnosis("kernels", "ok", f"{note}compiled, kept in {kept}")


def _can_write(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _physics() -> Diagnosis:
    from counterpoise.character.library import character
    from counterpoise.simulate import World, replay, simulate

    recording = simulate(character("chain"), None, 0.02, world=World(ground=False))
    exact = replay(recording).exact
    return Diagnosis(
        "physics", "ok" if exact else "broken", "a simulation repeats bit by bit" if exact else "it does not"
    )


def _ipopt() -> Diagnosis:
    import casadi

    x = casadi.MX.sym("x", 2)
    problem = {"x": x, "f": (x[0] - 1.0) ** 2 + (x[1] - 2.0) ** 2, "g": x[0] + x[1]}
    solver = casadi.nlpsol("solver", "ipopt", problem, {"print_time": False, "ipopt": {"print_level": 0, "sb": "yes"}})
    found = np.array(solver(x0=[0.0, 0.0], lbg=-10.0, ubg=2.0)["x"]).ravel()
    good = bool(np.allclose(found, (0.5, 1.5), atol=1e-6))
    return Diagnosis("ipopt", "ok" if good else "broken", f"casadi {metadata.version('casadi')} solves", "")


def _pictures() -> Diagnosis:
    from PIL import ImageFont

    font = ImageFont.load_default(14)
    named = getattr(font, "getname", lambda: ("bitmap",))()[0]
    return Diagnosis("pictures", "ok", f"our own ray caster, no display needed; font {named}")


def _video() -> Diagnosis:
    from counterpoise.render.video import write_video

    frames = [np.full((16, 16, 3), value, np.uint8) for value in (0, 128, 255)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.mp4"
        try:
            write_video(iter(frames), path, 10.0, (16, 16))
        except Exception as error:
            cure = "pip install --force-reinstall imageio-ffmpeg, or set IMAGEIO_FFMPEG_EXE; .gif and .webp need none"
            return Diagnosis("video", "broken", f"ffmpeg does not encode: {' '.join(str(error).split())[:160]}", cure)
        return Diagnosis("video", "ok", f"mp4 is written ({path.stat().st_size} bytes for three frames); gif, webp too")


def _browser() -> Diagnosis:
    import webbrowser

    found = next((name for name in BROWSERS if shutil.which(name)), None)
    try:
        found = found or str(getattr(webbrowser.get(), "name", "default"))
    except webbrowser.Error:
        found = None
    if found is None:
        return Diagnosis("browser", "missing", "none was found", "open the printed address in a browser elsewhere")
    shown = sys.platform in ("win32", "darwin") or any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY"))
    return Diagnosis("browser", "ok", found if shown else f"{found}, but no display here")


def _extras() -> tuple[Diagnosis, ...]:
    out = []
    for package, (extra, purpose) in EXTRAS.items():
        cure = f"pip install 'counterpoise[{extra}]'"
        if find_spec(package) is None:
            out.append(Diagnosis(package, "missing", f"not installed; it is for {purpose}", cure))
            continue
        try:
            import_module(package)
            out.append(Diagnosis(package, "ok", purpose))
        except Exception as error:
            out.append(Diagnosis(package, "broken", f"{type(error).__name__}: {str(error)[:120]}", f"{cure} again"))
    return tuple(out)
