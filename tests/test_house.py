"""The house keeps its order: rooms import only from rooms above, nothing is empty, everything public says what it is,
files and functions are short, one name has one meaning, importing is quick, pages and verbs are listed."""

from __future__ import annotations

import ast
import os
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from counterpoise.cli import app

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "counterpoise"
FILES = sorted(SOURCE.rglob("*.py"))

ROOMS = (
    "errors", "progress", "defaults", "rooms", "arrays", "kernel_cache", "compiling", "linking", "kernels", "threads",
    "quick", "files", "spatial", "solve", "character", "motion", "features", "objectives", "terrain", "pose",
    "spacetime", "plan", "control", "simulate", "measure", "render", "experiments", "fleet", "scene", "studio",
    "phrases", "cli", "__main__",
)  # fmt: skip
DOORS = {  # file -> the room below it may enter when called, and why
    "simulate/recording.py": ("render", "`rec.plot(...)`: a recording can show itself"),
    "motion/files/c3d.py": ("pose", "markers become a motion through the pose solver"),
}
WHOLE = "render"  # `import counterpoise` reaches every public name: for rooms below the last of them
LAZY = ("__init__.py",)  # re-exports from every room, on first use


def room_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_rooms(path: Path) -> Iterator[tuple[str, int, bool]]:
    """(room, line, at module level) of every import of our own, wherever in the file it stands."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = set(map(id, tree.body)) | {id(n) for b in tree.body if isinstance(b, ast.If | ast.Try) for n in ast.walk(b)}
    package = ("counterpoise", *path.relative_to(SOURCE).parts[:-1])
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = ".".join([*package[: len(package) - node.level + 1], *([base] if base else [])])
            names = [base]
            if base == "counterpoise":
                names = [f"counterpoise.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            names = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
        for name in names:
            parts = name.split(".")
            if parts[0] != "counterpoise" or (len(parts) > 1 and parts[1].startswith("__")):
                continue
            yield parts[1] if len(parts) > 1 else WHOLE, node.lineno, id(node) in top


def relative(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_every_room_has_its_place_in_the_order():
    there = {room_of(path) for path in FILES} - {"__init__"}
    assert there <= set(ROOMS), f"no place in the order for {sorted(there - set(ROOMS))}"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_a_room_imports_only_from_rooms_above_it(path: Path):
    if relative(path) in LAZY:
        return
    here = ROOMS.index(room_of(path))
    for room, line, at_top in imported_rooms(path):
        assert room in ROOMS, f"{relative(path)}:{line} imports counterpoise.{room}, which has no place in the order"
        door = DOORS.get(relative(path), ("", ""))[0]
        if room == door and not at_top:
            continue
        assert ROOMS.index(room) <= here, f"{relative(path)}:{line} ({ROOMS[here]}) reaches down to {room}"


def test_every_door_downstairs_is_used():
    for name, (room, _) in DOORS.items():
        assert any(r == room for r, _, _ in imported_rooms(SOURCE / name)), f"{name} no longer needs its door to {room}"


def test_no_package_is_empty():
    for folder in {path.parent for path in SOURCE.rglob("*") if path.is_dir()} | {p.parent for p in FILES}:
        if folder.name == "__pycache__" or not folder.is_relative_to(SOURCE):
            continue
        code = [p for p in folder.rglob("*.py") if len(ast.parse(p.read_text()).body) > 1]
        assert code or "client" in folder.parts, f"{relative(folder)} holds no code"
    for folder in SOURCE.rglob("*"):
        if folder.is_dir() and folder.name != "__pycache__":
            kept = [p for p in folder.iterdir() if p.name != "__pycache__"]
            assert kept, f"{relative(folder)} is empty"


PROTOCOL = ("begin", "act", "wrench")  # said once, by the protocol


def undocumented(tree: ast.Module) -> Iterator[str]:
    """Public functions and classes that do not say what they are.

    Let off are names that say it all: functions of up to three statements, methods of up to eight, classes without
    public methods (their fields carry the comments), and methods whose protocol already says it.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            if not ast.get_docstring(node) and len(node.body) > 3:
                yield node.name
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            methods = [m for m in node.body if isinstance(m, ast.FunctionDef) and not m.name.startswith("_")]
            if not ast.get_docstring(node) and methods:
                yield node.name
            for method in methods:
                if method.name not in PROTOCOL and not ast.get_docstring(method) and len(method.body) > 8:
                    yield f"{node.name}.{method.name}"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_modules_and_public_names_say_what_they_are(path: Path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert ast.get_docstring(tree), f"{relative(path)} does not begin by saying what it is"
    missing = list(undocumented(tree))
    assert not missing, f"{relative(path)}: {', '.join(missing)} without a word of what and why"


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_one_door_per_foreign_library(path: Path):
    """The physics is stepped in the loop and checked in replay; numba is met in kernels, and set up beside them."""
    text = path.read_text(encoding="utf-8")
    if relative(path) not in ("simulate/loop.py", "simulate/replay.py"):
        assert "mj_step" not in ast_names(text), f"{relative(path)} steps the physics"
    if relative(path) not in ("kernels.py", "compiling.py", "linking.py"):
        assert "numba" not in {n.split(".")[0] for n in ast_imports(text)}, f"{relative(path)} imports numba"


def ast_names(text: str) -> set[str]:
    return {n.attr[:7] for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Attribute)}


def ast_imports(text: str) -> set[str]:
    out: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            out |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            out.add(node.module)
    return out


# -- importing ------------------------------------------------------------------------------------------------------
def run(arguments: list[str], cwd: Path, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "MPLBACKEND": "Agg", **more}
    return subprocess.run(arguments, capture_output=True, text=True, cwd=cwd, env=environment, timeout=900, check=False)


def test_importing_is_light(tmp_path: Path):
    code = "import counterpoise, sys; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    done = run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr
    heavy = {"numba", "matplotlib", "scipy", "PIL", "mujoco"} & set(done.stdout.split())
    assert not heavy


def test_every_public_name_is_there(tmp_path: Path):
    code = (
        "import counterpoise as cp\n"
        "missing = [n for n in cp.__all__ if not hasattr(cp, n)]\n"
        "assert not missing, missing\n"
        "assert set(cp.__all__) <= set(dir(cp))\n"
        "assert callable(cp.character) and callable(cp.simulate)\n"
        "try:\n    cp.nonsense\nexcept AttributeError as error:\n    assert 'nonsense' in str(error)\n"
        "else:\n    raise SystemExit('no AttributeError')\n"
        "h = cp.character('chain'); r = cp.simulate(h, None, 0.01, world=cp.World(ground=False)); cp.replay(r)\n"
        "import counterpoise.character.library, counterpoise.simulate\n"
        "assert cp.character('chain') is h and cp.simulate.World is cp.World\n"
    )
    done = run([sys.executable, "-c", code], tmp_path)
    assert done.returncode == 0, done.stderr


# -- pages ----------------------------------------------------------------------------------------------------------
def test_every_verb_is_listed():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for verb in (command.name or command.callback.__name__ for command in app.registered_commands):
        assert f"| `counterpoise {verb}" in index, f"docs/index.md does not list {verb}"


def test_every_page_and_every_room_is_listed():
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").glob("*.md"):
        assert page.name == "index.md" or f"]({page.name}" in index, f"docs/index.md does not lead to {page.name}"
    for room in {room_of(path) for path in FILES} - {"__init__"}:
        assert f"`{room}`" in index or f"`{room}/`" in index, f"docs/index.md does not list {room}"


def test_contributing_speaks_of_what_is_there():
    """Every file it names exists, and every way to add something takes fewer than ten lines."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src|tests|docs|examples|tools)/[\w./]+|[a-z_]+(?:/[a-z_]+)*/[\w]+\.pyi?)`", text)
    assert len(named) > 10
    for name in named:
        assert (ROOT / name).exists() or (SOURCE / name).exists(), f"CONTRIBUTING.md names {name}, which is not there"
    ways = re.findall(r"^### (.+)\n((?:(?!#).*\n?)*)", text, re.MULTILINE)
    assert [title for title, _ in ways] == [
        "A feature", "An objective", "A controller", "A wish", "A format", "A figure", "A verb",
    ]  # fmt: skip
    for title, way in ways:
        assert len(way.strip().splitlines()) < 10, title


# -- size and names -------------------------------------------------------------------------------------------------
def test_files_are_short():
    lengths = {relative(path): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert not {name: n for name, n in lengths.items() if n > 450}
    assert statistics.median(lengths.values()) < 150


def is_kernel(function: ast.FunctionDef) -> bool:
    return any("kernel" in ast.unparse(decorator) for decorator in function.decorator_list)


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_functions_are_short(path: Path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and not is_kernel(node):
            assert node.end_lineno is not None and node.end_lineno - node.lineno < 120, f"{relative(path)}: {node.name}"


def test_one_meaning_a_class_name():
    homes: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                homes.setdefault(node.name, []).append(relative(path))
    assert not {name: files for name, files in homes.items() if len(files) > 1}


@pytest.mark.parametrize("path", FILES, ids=relative)
def test_what_is_said_once_stays_said_once(path: Path):
    """Gravity is the world's; array types have one home; what is kept with a character is kept by `kept`."""
    text = path.read_text(encoding="utf-8")
    if relative(path) != "defaults.py":
        assert "9.81" not in text, f"{relative(path)}: use character.gravity or counterpoise.defaults"
    if relative(path) != "arrays.py":
        assert not re.search(r"^(Array|Ints|Flags)\b.* = ", text, re.MULTILINE), f"{relative(path)}: use arrays.py"
    assert not re.search(r"(character|body|who)\.__dict__", text), f"{relative(path)}: use kept_with_character"


@pytest.mark.parametrize("path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_test_reads_a_clock(path: Path):
    """A busy machine is slower, not wrong. Speed is measured in `benchmarks`."""
    clocks = re.compile(r"\b(perf_counter|process_time|thread_time|monotonic)(_ns)?\b|\btime\.time(_ns)?\(")
    assert path.name == "test_house.py" or not clocks.search(path.read_text(encoding="utf-8"))
