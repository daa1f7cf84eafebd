"""Planar figures, in the x-z plane: a chain, de Lasa's biped, and nothing at all."""

from __future__ import annotations

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.figure import Figure, Hinge, JointSpec, Slide, capsule
from counterpoise.character.finish import finish

Y = (0.0, 1.0, 0.0)
BIPED = {  # de Lasa 2011, table 3.1: length [m], mass [kg], CoM (x, z) [m], inertia about it [kg m^2]
    "trunk": (0.846, 55.47, (0.0, 0.325), 3.670),
    "uleg": (0.441, 8.18, (0.0, -0.191), 0.166),
    "lleg": (0.443, 3.81, (0.0, -0.191), 0.068),
    "foot": (0.274, 1.19, (0.07, -0.035), 0.001),
}
BIPED_HEIGHT, BIPED_MASS = 1.80, 81.82


def planar_root() -> list[JointSpec]:
    """Freedom in the plane: two slides and a hinge that no motor drives."""
    return [
        Slide("root_x", (1.0, 0.0, 0.0), None, 0.0),
        Slide("root_z", (0.0, 0.0, 1.0), None, 0.0),
        Hinge("root_pitch", Y, None, 0.0, 0.0, 0.0),
    ]


def chain(links: int = 4, length: float = 0.7, link_mass: float = 10.0, floating: bool = False) -> Character:
    """`links` equal links, straight up from the origin; frictionless, thin rods (0.41 kg m^2 for the defaults)."""
    figure = Figure(
        "chain",
        planar=True,
        parameters={"links": links, "length": length, "link_mass": link_mass, "floating": floating},
    )
    inertia = link_mass * length**2 / 12.0
    radius = 0.05 * length
    for i in range(links):
        hinge = Hinge(f"joint{i + 1}", Y, None, 10.0 * link_mass * length * links, 0.0, 0.0)
        joints: list[JointSpec] = planar_root() if i == 0 and floating else [hinge]
        figure.segment(
            f"link{i + 1}", f"link{i}" if i else None, (0, 0, length if i else 0.0), joints,
            [capsule((0, 0, radius), (0, 0, length - radius), radius)],
            link_mass,
            com=(0.0, 0.0, 0.5 * length),
            inertia=(inertia, inertia, 0.5 * link_mass * radius**2, 0.0, 0.0, 0.0),
        )  # fmt: skip
    return finish(*figure.spec(), figure.nominal)


def planar_biped(height: float = BIPED_HEIGHT, mass: float = BIPED_MASS) -> Character:
    """De Lasa's squatting figure: head, arms and trunk as one link, two legs with flat feet."""
    f, w = height / BIPED_HEIGHT, mass / BIPED_MASS
    figure = Figure("planar_biped", planar=True, parameters={"height": height, "mass": mass})

    def inertial(part: str) -> dict[str, tuple[float, ...]]:
        length, part_mass, (x, z), about = BIPED[part]
        turning = about * w * f * f
        thin = 0.02 * part_mass * w * (length * f) ** 2
        return {"com": (x * f, 0.0, z * f), "inertia": (turning, turning, max(thin, 1e-5), 0.0, 0.0, 0.0)}

    trunk, uleg, lleg, foot = (BIPED[p][0] * f for p in ("trunk", "uleg", "lleg", "foot"))
    ankle = BIPED_HEIGHT * f - trunk - uleg - lleg
    figure.segment(
        "trunk", None, (0, 0, 0), planar_root(),
        [capsule((0, 0, 0.02 * f), (0, 0, 0.62 * trunk), 0.09 * f),
         capsule((0, 0, 0.80 * trunk), (0, 0, trunk - 0.09 * f), 0.09 * f)],
        BIPED["trunk"][1] * w, **inertial("trunk"),
    )  # fmt: skip
    strength = w * f
    for side, s in (("left", 1.0), ("right", -1.0)):
        y = s * 0.1 * f  # drawn beside each other; in the plane they pass through one another
        r = 0.02 * f
        figure.segment(
            f"thigh_{side}", "trunk", (0, 0, 0), Hinge(f"hip_{side}", Y, _deg(-125, 35), 250.0 * strength, 0.5, 0.01),
            [capsule((0, y, 0), (0, y, -uleg), 0.06 * f)], BIPED["uleg"][1] * w, **inertial("uleg"),
        )  # fmt: skip
        figure.segment(
            f"shank_{side}", f"thigh_{side}", (0, 0, -uleg),
            Hinge(f"knee_{side}", Y, _deg(0, 148), 250.0 * strength, 0.5, 0.01),
            [capsule((0, y, 0), (0, y, -lleg), 0.048 * f)], BIPED["lleg"][1] * w, **inertial("lleg"),
        )  # fmt: skip
        heel, tip = -0.067 * f + r, foot - 0.067 * f - r
        figure.segment(
            f"foot_{side}", f"shank_{side}", (0, 0, -lleg),
            Hinge(f"ankle_{side}", Y, _deg(-40, 55), 180.0 * strength, 0.5, 0.01),
            [capsule((heel, y, -ankle + r), (tip, y, -ankle + r), r)],
            BIPED["foot"][1] * w, **inertial("foot"),
        )  # fmt: skip
        points = [(f"heel_{side}", heel), (f"toe_{side}", tip)]
        figure.foot(f"foot_{side}", f"foot_{side}", side, [(n, f"foot_{side}", (x, y, -ankle)) for n, x in points])
        figure.nominal |= {f"hip_{side}": -0.05, f"knee_{side}": 0.10, f"ankle_{side}": -0.05}
    return finish(*figure.spec(), figure.nominal)


def empty() -> Character:
    """A planar figure without segments, to be built by hand."""
    return finish(*Figure("planar", planar=True).spec())


def _deg(low: float, high: float) -> tuple[float, float]:
    return float(np.radians(low)), float(np.radians(high))
