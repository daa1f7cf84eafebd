"""MJCF texts of characters: written with all digits, roles inside."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path
from typing import Any

import mujoco

TEXT_NAME = "counterpoise"  # the custom text element that carries roles in MJCF


def exact_xml(spec: mujoco.MjSpec) -> str:
    """The specification as MJCF with all seventeen digits, so that reading it back gives the same body to the last bit.

    MuJoCo writes six digits by default. A private switch of its library gives more; without it six are written.
    """
    try:
        library = ctypes.CDLL(next(str(p) for p in sorted(Path(mujoco.__file__).parent.glob("*mujoco*.[sd]*"))))
        digits, set_digits = library._mjPRIVATE__get_xml_precision, library._mjPRIVATE__set_xml_precision
    except (AttributeError, OSError, StopIteration):
        return str(spec.to_xml())
    before = int(digits())
    set_digits(17)
    try:
        return str(spec.to_xml())
    finally:
        set_digits(before)


def attach_roles(spec: mujoco.MjSpec, roles: dict[str, Any]) -> None:
    """Writes the roles into the model as a custom text, in place of any it has."""
    for text in list(spec.texts):
        if text.name == TEXT_NAME:
            spec.delete(text)
    spec.add_text(name=TEXT_NAME, data=json.dumps(roles, separators=(",", ":"), sort_keys=True))
