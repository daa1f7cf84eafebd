"""Counterpoise: optimisation-based and physics-based character animation.

    import counterpoise as cp

    human = cp.character("human", height=1.75, mass=73.0)
    rec = cp.simulate(human, cp.HoldPose(), seconds=2.0, disturbances=[cp.Push("thorax", (60, 0, 0), 0.5, 0.1)])
    cp.filmstrip(rec, path="push.png")

Public names are listed once, in `__init__.pyi`, for type checkers and for this module. They are loaded when they are
first used, so that importing the package is quick. The rooms `character` and `simulate` can be called: they are also
the functions of those names.
"""

import re as _re
from importlib import import_module as _import_module
from pathlib import Path as _Path

__version__ = "0.1.0"

_STUB = _Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_HOMES = {name: home for home, name in _re.findall(r"^from (\S+) import (\w+) as \2$", _STUB, _re.MULTILINE)}
_CALLABLE_ROOMS = ("character", "simulate")  # modules that stand for the function of the same name
_ROOMS = {name for name, home in _HOMES.items() if home == __name__} | {"editing"}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _CALLABLE_ROOMS:
        value: object = _import_module(f"{__name__}.{name}")
    elif name in _ROOMS:
        value = _import_module(f"{home}.{name}")
    else:
        value = getattr(_import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
