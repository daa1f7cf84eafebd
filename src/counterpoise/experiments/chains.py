"""The library's chain with a raised base and joints of a given strength, for the experiments with chains."""

from __future__ import annotations

import json
from typing import Any

from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.mjcf import TEXT_NAME, attach_roles, exact_xml


def raised_chain(links: int, length: float, link_mass: float, base: float, strength: float) -> Character:
    """Returns a chain with its base at the height `base` [m] and joints of `strength` [N m]."""
    chain = character("chain", links=links, length=length, link_mass=link_mass)
    spec = chain.spec()
    spec.body("link1").pos = [0.0, 0.0, base]
    roles: dict[str, Any] = json.loads(next(text.data for text in spec.texts if text.name == TEXT_NAME))
    roles["torque"] = {joint.name: strength for joint in chain.joints}
    attach_roles(spec, roles)
    spec.compile()
    return Character.from_mjcf(exact_xml(spec))
