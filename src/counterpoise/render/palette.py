"""Named colours, sRGB in 0..1 with alpha, chosen to stay apart for the common kinds of colour blindness."""

from __future__ import annotations

RGBA = tuple[float, float, float, float]


def _rgba(code: str) -> RGBA:
    return int(code[0:2], 16) / 255, int(code[2:4], 16) / 255, int(code[4:6], 16) / 255, 1.0


LEFT: RGBA = _rgba("2f7fb8")  # cool: the left side of a figure
RIGHT: RGBA = _rgba("e0793a")  # warm: the right side
MIDDLE: RGBA = _rgba("e2ddd4")  # neutral: pelvis, trunk, head
SCENERY: RGBA = _rgba("b4bac2")  # platforms, steps, loose blocks
TERRAIN: RGBA = _rgba("cfd3cf")  # height fields
GROUND: RGBA = _rgba("e9eaec")  # light squares of the floor
GROUND_DARK: RGBA = _rgba("dadde1")  # dark squares
HORIZON: RGBA = _rgba("eff1f4")  # where the floor fades into the backdrop
ZENITH: RGBA = _rgba("d3dbe4")  # the backdrop above
INK: RGBA = _rgba("2b3038")  # text
GHOST: RGBA = (*_rgba("6a5acd")[:3], 0.5)  # the reference beside the simulation
FORCE: RGBA = _rgba("d7263d")  # contact force arrows
PUSH: RGBA = _rgba("8b1fa9")  # disturbances
COM: RGBA = _rgba("f2b705")  # centre of mass
COP: RGBA = _rgba("12a37a")  # centre of pressure
TRAIL: RGBA = _rgba("4a5568")  # paths of points

FIGURES: tuple[RGBA, ...] = tuple(
    _rgba(code) for code in ("4c86c6", "e58a3c", "3fa58b", "c9527f", "8f78c9", "b59a2f", "5f7d95", "a8563c")
)  # tints for several figures in one picture

MUJOCO_DEFAULT: RGBA = (0.5, 0.5, 0.5, 1.0)  # of a geom whose model gives none


def mixed(colour: RGBA, other: RGBA, share: float) -> RGBA:
    """Returns `colour` moved towards `other` by `share` in 0..1; alpha stays."""
    r, g, b = (c + (o - c) * share for c, o in zip(colour[:3], other[:3], strict=True))
    return r, g, b, colour[3]
