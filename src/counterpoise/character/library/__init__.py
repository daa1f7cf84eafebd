"""The library of figures: `character("human", height=1.75, mass=73.0)`, `characters()`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from counterpoise.character.character import Character
from counterpoise.character.figure import Figure
from counterpoise.character.finish import finish
from counterpoise.character.shapes import drawn_height
from counterpoise.errors import BadValue, unknown_name

MOST_SCALE = 100.0  # largest ratio of a parameter and its default, either way: beyond are typing errors and wrong units
MOST_COUNT = 1000  # of links and the like


@dataclass(frozen=True)
class Entry:
    """One figure of the library and its parameters."""

    name: str
    summary: str
    parameters: dict[str, Any]  # name -> default
    build: Callable[..., Character]


def character(name: str, **parameters: Any) -> Character:
    """A figure of the library by name, e.g. `character("human", height=1.75, mass=73.0)`."""
    entry = library().get(name)
    if entry is None:
        raise unknown_name("character", name, library())
    for given in parameters:
        if given not in entry.parameters:
            raise unknown_name("parameter", given, entry.parameters, name)
    merged = {**entry.parameters, **parameters}
    for key, value in merged.items():
        _check(name, key, value, entry.parameters[key])
    return _built(name, tuple(sorted(merged.items())))


def characters() -> tuple[Entry, ...]:
    """All figures of the library."""
    return tuple(library().values())


@lru_cache(maxsize=64)
def _built(name: str, parameters: tuple[tuple[str, Any], ...]) -> Character:
    return library()[name].build(**dict(parameters))


def _check(figure: str, key: str, value: Any, default: Any) -> None:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise BadValue(f"{figure}: {key} is true or false; got {value!r}")
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    unit = {"height": " [m]", "mass": " [kg]", "length": " [m]", "link_mass": " [kg]"}.get(key, "")
    if not number or not float(value) > 0.0:
        raise BadValue(f"{figure}: {key} must be a positive number{unit}; got {value!r}", **{key: value})
    counted = isinstance(default, int)
    low, high = (1, MOST_COUNT) if counted else (default / MOST_SCALE, default * MOST_SCALE)
    if not low <= value <= high:
        raise BadValue(
            f"{figure}: {key} = {value:g}{unit} is out of range; it may be {low:.3g} to {high:.3g}{unit} "
            f"and is {default:g} by default",
            **{key: value},
        )
    if isinstance(default, int) and int(value) != value:
        raise BadValue(f"{figure}: {key} must be a whole number; got {value!r}", **{key: value})


def fitted(draw: Callable[[float, float], Figure], height: float, mass: float) -> Character:
    """Draws a figure so that it *stands* `height` tall: bent legs and a bent neck make it lower than it is drawn."""
    asked = height
    for _ in range(6):
        figure = draw(asked, mass)
        figure.weigh_to(mass)
        figure.parameters = {"height": height, "mass": mass}
        made = finish(*figure.spec(), figure.nominal)
        actual = drawn_height(made.model, made.neutral)
        if abs(actual / height - 1.0) < 0.002:
            return made
        asked *= height / actual
    return made


@lru_cache(maxsize=1)
def library() -> dict[str, Entry]:
    """Every figure by name."""
    from counterpoise.character.library import beasts, humanoid, planar

    def relative(name: str, proportions: humanoid.Proportions) -> Callable[..., Character]:
        def build(height: float, mass: float) -> Character:
            return fitted(lambda h, m: humanoid.humanoid(name, h, m, proportions, height), height, mass)

        return build

    def beast(draw: Callable[[float, float], Figure]) -> Callable[..., Character]:
        def build(height: float, mass: float) -> Character:
            return fitted(draw, height, mass)

        return build

    def size(height: float, mass: float) -> dict[str, Any]:
        return {"height": height, "mass": mass}

    entries = [
        Entry(
            "human", "an adult by Winter's tables, 41 DOF", size(1.75, 73.0), relative("human", humanoid.Proportions())
        ),
        Entry("child", "small, with a large head and short legs", size(1.15, 21.0), relative("child", humanoid.CHILD)),
        Entry(
            "asymmetric",
            "a human whose left arm and leg are longer and heavier",
            size(1.80, 80.0),
            relative("asymmetric", humanoid.ASYMMETRIC),
        ),
        Entry("ostrich", "two long legs, a long neck, no arms", size(2.3, 110.0), beast(beasts.ostrich)),
        Entry("dinosaur", "a heavy tail, small arms, a large head", size(2.2, 350.0), beast(beasts.dinosaur)),
        Entry("insectoid", "a biped with four arms", size(1.8, 70.0), relative("insectoid", humanoid.INSECTOID)),
        Entry("chicken", "small, quick, with wings", size(0.5, 3.0), beast(beasts.chicken)),
        Entry("chain", "n links in the plane, pinned at its base or floating", _defaults(planar.chain), planar.chain),
        Entry(
            "planar_biped",
            "de Lasa's planar human: 7 links, 9 DOF (thesis, table 3.1)",
            _defaults(planar.planar_biped),
            planar.planar_biped,
        ),
        Entry("planar", "an empty planar figure, to be built by hand", {}, planar.empty),
    ]
    return {entry.name: entry for entry in entries}


def _defaults(function: Callable[..., Character]) -> dict[str, Any]:
    return {name: p.default for name, p in inspect.signature(function).parameters.items()}


__all__ = ["Entry", "character", "characters", "fitted", "library"]
