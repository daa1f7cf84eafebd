"""Draws the rooms of the house and what flows between them, from the imports, as docs/images/architecture.svg.

    uv run python tools/architecture.py

Rooms stand in the order data flows. Behind each are the rooms it takes most from, in their colours, with the names it
takes most often. `tests/test_architecture.py` fails where the committed picture is not the one drawn now.
"""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "counterpoise"
PICTURE = ROOT / "docs" / "images" / "architecture.svg"

ROOMS = {  # in the order data flows: what is in it, colour
    "solve": ("quadratic, strict and nonlinear programs", "#8d99ae"),
    "character": ("bodies, kinematics, shapes, limits", "#e07a5f"),
    "motion": ("movement as data, files, retargeting", "#3d9970"),
    "features": ("quantities of a body, and goals", "#f2b134"),
    "objectives": ("goals as rows of one tick's program", "#c9a227"),
    "terrain": ("boxes, stairs, gaps, height fields", "#a47551"),
    "pose": ("one pose from goals and constraints", "#6a9fb5"),
    "spacetime": ("whole motions that physics allows", "#5b5ea6"),
    "control": ("controllers: stand, balance, drag", "#b565a7"),
    "simulate": ("world, pushes, the loop, recordings", "#009b77"),
    "measure": ("what a motion or recording is worth", "#7f9c5a"),
    "render": ("pictures, video, plots", "#dd4132"),
    "experiments": ("published claims beside measurements", "#9e1030"),
    "fleet": ("many runs at once", "#66798f"),
    "cli": ("the command line, one verb a file", "#4a4e69"),
}
ROOM_WIDTH, CHIP_WIDTH, ROW, GAP, MARGIN = 250, 190, 46, 12, 16  # [px]
MOST_CHIPS = 5  # rooms named behind a room
NAMES = 2  # names on a chip


def imports() -> dict[tuple[str, str], Counter[str]]:
    """Returns how often each name is imported, by (room it comes from, room that imports it)."""
    found: dict[tuple[str, str], Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        room = path.relative_to(SOURCE).parts[0]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("counterpoise."):
                home = node.module.split(".")[1]
                if home != room and home in ROOMS and room in ROOMS:
                    found.setdefault((home, room), Counter()).update(alias.name for alias in node.names)
    return found


def flows() -> dict[str, list[tuple[str, str]]]:
    """Returns for each room (room it takes from, names it takes most), the largest first."""
    every = imports()
    out: dict[str, list[tuple[str, str]]] = {}
    for room in ROOMS:
        into = sorted(((-sum(c.values()), home) for (home, to), c in every.items() if to == room))
        out[room] = [(home, ", ".join(_most_used(every[home, room]))) for _, home in into[:MOST_CHIPS]]
    return out


def _most_used(names: Counter[str]) -> list[str]:
    """Classes first, then functions, most used first."""
    shown = [n for n in names if not n.isupper()]
    return sorted(shown, key=lambda n: (not n[0].isupper(), -names[n], n))[:NAMES]


def draw() -> str:
    """Returns the picture as SVG text."""
    width = 2 * MARGIN + ROOM_WIDTH + MOST_CHIPS * (CHIP_WIDTH + GAP)
    height = 2 * MARGIN + len(ROOMS) * (ROW + GAP) - GAP
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for i, (room, taken) in enumerate(flows().items()):
        y = MARGIN + i * (ROW + GAP)
        words, colour = ROOMS[room]
        lines += _box(MARGIN, y, ROOM_WIDTH, colour, 1.0, room, words, "#ffffff")
        for k, (home, names) in enumerate(taken):
            x = MARGIN + ROOM_WIDTH + GAP + k * (CHIP_WIDTH + GAP)
            lines += _box(x, y, CHIP_WIDTH, ROOMS[home][1], 0.22, home, names, "#1d2733")
    return "\n".join([*lines, "</svg>"]) + "\n"


def _box(x: int, y: int, width: int, fill: str, opacity: float, title: str, words: str, ink: str) -> list[str]:
    middle = x + width / 2
    return [
        f'<rect x="{x}" y="{y}" width="{width}" height="{ROW}" rx="7" fill="{fill}" fill-opacity="{opacity:g}"/>',
        f'<text x="{middle:g}" y="{y + 19}" text-anchor="middle" font-size="15" font-weight="bold" fill="{ink}">'
        f"{title}</text>",
        f'<text x="{middle:g}" y="{y + 36}" text-anchor="middle" font-size="12" fill="{ink}">{words}</text>',
    ]


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}")
