"""Two-legged animals: ostrich, chicken, dinosaur. Drawn for one metre and one kilogram, then scaled.

Their legs fold like a bird's: knee forward, hock backward, so a leg has thigh, shank, tarsus and foot. Strength,
damping and joint inertia scale with size as for humans (torque with m h, damping with m h^1.5, inertia with m h^2).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise.character.figure import (
    Ball,
    Figure,
    Free,
    Hinge,
    JointSpec,
    Shape,
    Universal,
    capsule,
    ellipsoid,
    sphere,
)
from counterpoise.character.limits.swings import oval, swing_cone
from counterpoise.defaults import GRAVITY

SIDES = (("left", 1.0), ("right", -1.0))
UP, DOWN, AHEAD, BACK = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0), (-1.0, 0.0, 0.0)
Y = (0.0, 1.0, 0.0)
HIP = [(-35, -18), (-40, 8), (-25, 38), (20, 42), (75, 35), (95, 10), (95, -12), (40, -22)]
WING = [(30, 0), (20, 45), (0, 60), (-45, 45), (-60, 0), (-50, -55), (-5, -82), (20, -55)]
BEAK = (0.93, 0.70, 0.25, 1.0)
DARK = (0.36, 0.34, 0.33, 1.0)


@dataclass(frozen=True)
class Build:
    """Scale of one animal."""

    h: float  # height [m]
    m: float  # mass [kg]

    def at(self, *place: float) -> tuple[float, float, float]:
        x, y, z = (self.h * p for p in place)
        return (x, y, z)

    def torque(self, share: float) -> float:
        """A share of weight times height [N m]; for a human hip it is about 0.2."""
        return share * self.m * GRAVITY * self.h

    def _soft(self, share: float) -> tuple[float, float]:
        """Damping [N m s/rad] and armature [kg m^2] of a joint of this strength."""
        damping = 0.02 * share * self.m * GRAVITY * self.h**1.5
        armature = 3e-5 * self.m * self.h**2
        return damping, armature

    def hinge(self, name: str, axis: tuple[float, float, float], degrees: tuple[float, float], share: float) -> Hinge:
        low, high = np.radians(degrees)
        return Hinge(name, axis, (float(low), float(high)), self.torque(share), *self._soft(share))

    def ball(
        self,
        name: str,
        axis: tuple[float, float, float],
        corners: Sequence[tuple[float, float]],
        twist: tuple[float, float],
        share: float,
        side: float = 1.0,
        rest: tuple[float, float] | None = None,
    ) -> Ball:
        limit = swing_cone(axis, corners, twist, side, rest)
        return Ball(name, limit, self.torque(share), *self._soft(share))

    def ankle(self, name: str) -> Universal:
        span = (float(np.radians(-60)), float(np.radians(60)))
        tilt = (float(np.radians(-30)), float(np.radians(30)))
        return Universal(
            name,
            ("pitch", Y, span, self.torque(0.14)),
            ("roll", AHEAD, tilt, self.torque(0.08)),
            *self._soft(0.14),
        )


@dataclass(frozen=True)
class Leg:
    """Lengths, radii and mass shares of a bird-like leg, of the height and the mass."""

    hip: tuple[float, float, float]
    lengths: tuple[float, float, float]  # thigh, shank, tarsus
    radii: tuple[float, float, float]
    masses: tuple[float, float, float, float]  # thigh, shank, tarsus, foot
    foot: tuple[float, float, float, float, float]  # hind reach, fore reach, hind half width, fore half width, radius
    fold: tuple[float, float, float]  # nominal hip, knee, hock [rad]


def ostrich(height: float, mass: float) -> Figure:
    """Long legs, a neck of three parts, wings that are only drawn."""
    b = Build(height, mass)
    figure = Figure("ostrich")
    figure.segment(
        "pelvis", None, (0, 0, 0), Free(),
        [ellipsoid(b.at(-0.01, 0, 0.03), b.at(0.145, 0.095, 0.09)),
         capsule(b.at(-0.13, 0, 0.05), b.at(-0.22, 0, 0.10), 0.03 * height, tint=DARK)],
        0.30 * mass,
    )  # fmt: skip
    figure.segment(
        "thorax", "pelvis", b.at(0.08, 0, 0.03),
        b.ball("spine", AHEAD, oval(12, 18, 12), (-12, 12), 0.2),
        [ellipsoid(b.at(0.055, 0, 0.0), b.at(0.115, 0.085, 0.085)),
         *(ellipsoid(b.at(0.02, s * 0.085, 0.01), b.at(0.11, 0.018, 0.055), tint=DARK, collides=False)
           for _, s in SIDES)],
        0.26 * mass,
    )  # fmt: skip
    neck = 0.105
    parent, place = "thorax", b.at(0.14, 0, 0.03)
    for i, share in enumerate((0.020, 0.016, 0.013), start=1):
        figure.segment(
            f"neck{i}", parent, place, b.ball(f"neck{i}", UP, oval(45, 45, 35), (-25, 25), 0.05),
            [capsule((0, 0, 0), b.at(0, 0, neck), (0.030 - 0.005 * i) * height)], share * mass,
        )  # fmt: skip
        parent, place = f"neck{i}", b.at(0, 0, neck)
    _beaked_head(figure, b, parent, place, 0.036, 0.045, 0.015)
    figure.nominal |= {"neck1": (0, 0.45, 0), "neck2": (0, -0.30, 0), "neck3": (0, -0.15, 0)}
    leg = Leg((-0.005, 0.068, -0.01), (0.135, 0.235, 0.21), (0.046, 0.030, 0.016), (0.110, 0.055, 0.020, 0.003),
              (0.020, 0.095, 0.014, 0.026, 0.012), (-0.85, 1.35, 0.85))  # fmt: skip
    _legs(figure, b, leg)
    return figure


def chicken(height: float, mass: float) -> Figure:
    """Short legs under a round body, wings on ball joints."""
    b = Build(height, mass)
    figure = Figure("chicken")
    figure.segment(
        "pelvis", None, (0, 0, 0), Free(),
        [ellipsoid(b.at(-0.04, 0, 0.07), b.at(0.19, 0.145, 0.14)),
         capsule(b.at(-0.19, 0, 0.13), b.at(-0.28, 0, 0.24), 0.05 * height, tint=DARK)],
        0.36 * mass,
    )  # fmt: skip
    figure.segment(
        "thorax", "pelvis", b.at(0.09, 0, 0.09),
        b.ball("spine", AHEAD, oval(15, 18, 14), (-14, 14), 0.2),
        [ellipsoid(b.at(0.05, 0, 0.01), b.at(0.15, 0.135, 0.135))],
        0.30 * mass,
    )  # fmt: skip
    for side, s in SIDES:
        figure.segment(
            f"wing_{side}", "thorax", b.at(0.04, s * 0.125, 0.07),
            b.ball(f"shoulder_{side}", (0.0, s, 0.0), WING, (-30, 30), 0.06, rest=(-10, -15)),
            [ellipsoid(b.at(-0.05, s * 0.13, 0), b.at(0.085, 0.135, 0.018))],
            0.03 * mass,
        )  # fmt: skip
        figure.nominal[f"shoulder_{side}"] = (-s * 1.15, 0.0, 0.0)
    parent, place = "thorax", b.at(0.14, 0, 0.08)
    for i, share in enumerate((0.030, 0.022), start=1):
        figure.segment(
            f"neck{i}", parent, place, b.ball(f"neck{i}", UP, oval(50, 45, 35), (-30, 30), 0.06),
            [capsule((0, 0, 0), b.at(0, 0, 0.10), (0.066 - 0.010 * i) * height)], share * mass,
        )  # fmt: skip
        parent, place = f"neck{i}", b.at(0, 0, 0.10)
    _beaked_head(figure, b, parent, place, 0.070, 0.075, 0.040, comb=True)
    figure.nominal |= {"neck1": (0, 0.35, 0), "neck2": (0, -0.35, 0)}
    leg = Leg((-0.01, 0.095, 0.0), (0.16, 0.21, 0.16), (0.075, 0.048, 0.022), (0.052, 0.030, 0.012, 0.004),
              (0.045, 0.145, 0.026, 0.060, 0.018), (-0.80, 1.35, 0.95))  # fmt: skip
    _legs(figure, b, leg, tint=BEAK)
    return figure


def dinosaur(height: float, mass: float) -> Figure:
    """A large head and a tail of four parts in balance over strong legs; arms of little use."""
    b = Build(height, mass)
    figure = Figure("dinosaur")
    figure.segment(
        "pelvis", None, (0, 0, 0), Free(),
        [ellipsoid(b.at(0, 0, 0.02), b.at(0.16, 0.115, 0.135))], 0.20 * mass,
    )  # fmt: skip
    figure.segment(
        "thorax", "pelvis", b.at(0.11, 0, 0.05),
        b.ball("spine", AHEAD, oval(20, 20, 18), (-15, 15), 0.25),
        [ellipsoid(b.at(0.10, 0, 0.01), b.at(0.17, 0.105, 0.125))], 0.22 * mass,
    )  # fmt: skip
    figure.segment(
        "neck1", "thorax", b.at(0.23, 0, 0.06), b.ball("neck1", UP, oval(50, 35, 30), (-25, 25), 0.12),
        [capsule((0, 0, 0), b.at(0, 0, 0.15), 0.062 * height)], 0.045 * mass,
    )  # fmt: skip
    figure.segment(
        "head", "neck1", b.at(0, 0, 0.16), b.ball("neck2", UP, oval(45, 40, 35), (-30, 30), 0.10),
        [ellipsoid(b.at(0.03, 0, 0.03), b.at(0.095, 0.066, 0.072)),
         capsule(b.at(0.08, 0, 0.025), b.at(0.21, 0, 0.005), 0.045 * height),
         capsule(b.at(0.06, 0, -0.035), b.at(0.18, 0, -0.045), 0.024 * height, tint=DARK),
         *(sphere(b.at(0.085, s * 0.05, 0.065), 0.014 * height, tint=DARK, collides=False) for _, s in SIDES)],
        0.065 * mass,
    )  # fmt: skip
    figure.nominal |= {"neck1": (0, 0.50, 0), "neck2": (0, -0.35, 0)}
    for side, s in SIDES:
        figure.segment(
            f"upper_arm_{side}", "thorax", b.at(0.20, s * 0.085, -0.05),
            b.ball(f"shoulder_{side}", DOWN, oval(80, 40, 40), (-40, 40), 0.02, s),
            [capsule((0, 0, 0), b.at(0, 0, -0.075), 0.020 * height)], 0.004 * mass,
        )  # fmt: skip
        figure.segment(
            f"forearm_{side}", f"upper_arm_{side}", b.at(0, 0, -0.075),
            b.hinge(f"elbow_{side}", (0.0, -1.0, 0.0), (0, 140), 0.012),
            [capsule((0, 0, 0), b.at(0, 0, -0.07), 0.014 * height)], 0.003 * mass,
        )  # fmt: skip
        figure.hands.append(f"forearm_{side}")
        figure.nominal |= {f"shoulder_{side}": (s * 0.15, 0.1, 0.0), f"elbow_{side}": 1.2}
    parent, place, radius = "pelvis", b.at(-0.13, 0, 0.05), 0.085
    for i, (share, length) in enumerate(((0.090, 0.19), (0.050, 0.20), (0.022, 0.20), (0.008, 0.20)), start=1):
        figure.segment(
            f"tail{i}", parent, place, b.ball(f"tail{i}", BACK, oval(25, 25, 28), (-15, 15), 0.20 / i),
            [capsule(b.at(-0.01, 0, 0), b.at(-length, 0, 0), radius * height)], share * mass,
        )  # fmt: skip
        parent, place, radius = f"tail{i}", b.at(-length, 0, 0), radius * 0.66
    leg = Leg((0.0, 0.088, -0.03), (0.24, 0.25, 0.15), (0.078, 0.050, 0.034), (0.078, 0.040, 0.018, 0.0065),
              (0.035, 0.150, 0.030, 0.058, 0.024), (-0.75, 1.15, 0.80))  # fmt: skip
    _legs(figure, b, leg)
    return figure


def _beaked_head(
    figure: Figure, b: Build, parent: str, place: tuple[float, float, float], radius: float, beak: float, share: float,
    comb: bool = False,
) -> None:  # fmt: skip
    r = radius
    shapes = [
        ellipsoid(b.at(0.2 * r, 0, 0.6 * r), b.at(1.15 * r, 0.85 * r, 0.95 * r)),
        capsule(b.at(1.1 * r, 0, 0.5 * r), b.at(1.1 * r + beak, 0, 0.2 * r), 0.30 * r * b.h, tint=BEAK),
        *(sphere(b.at(0.75 * r, s * 0.66 * r, 0.95 * r), 0.17 * r * b.h, tint=DARK, collides=False) for _, s in SIDES),
    ]
    if comb:
        red = (0.80, 0.22, 0.20, 1.0)
        shapes += [sphere(b.at(x * r, 0, 1.6 * r), 0.32 * r * b.h, tint=red, collides=False) for x in (-0.3, 0.2, 0.7)]
    figure.segment("head", parent, place, b.ball("neck", UP, oval(50, 50, 40), (-50, 50), 0.04), shapes, share * b.m)


def _legs(figure: Figure, b: Build, leg: Leg, tint: tuple[float, float, float, float] | None = None) -> None:
    thigh, shank, tarsus = leg.lengths
    for side, s in SIDES:
        x, y, z = leg.hip
        low: JointSpec = b.ankle(f"ankle_{side}")
        rows: list[tuple[str, str, tuple[float, float, float], JointSpec, float, float, float]] = [
            ("thigh", "pelvis", (x, s * y, z), b.ball(f"hip_{side}", DOWN, HIP, (-30, 30), 0.22, s, rest=(30, 8)),
             thigh, leg.radii[0], leg.masses[0]),
            ("shank", f"thigh_{side}", (0, 0, -thigh), b.hinge(f"knee_{side}", Y, (5, 140), 0.22),
             shank, leg.radii[1], leg.masses[1]),
            ("tarsus", f"shank_{side}", (0, 0, -shank), b.hinge(f"hock_{side}", (0.0, -1.0, 0.0), (5, 140), 0.18),
             tarsus, leg.radii[2], leg.masses[2]),
        ]  # fmt: skip
        for part, parent, at, joint, length, radius, share in rows:
            figure.segment(
                f"{part}_{side}", parent, b.at(*at), joint,
                [capsule((0, 0, 0), b.at(0, 0, -length), radius * b.h)], share * b.m,
            )  # fmt: skip
        _bird_foot(figure, b, leg, side, low, tint)
        hip, knee, hock = leg.fold
        figure.nominal |= {
            f"hip_{side}": (0.0, hip, 0.0), f"knee_{side}": knee, f"hock_{side}": hock,
            f"ankle_{side}": (-(hip + knee - hock), 0.0),
        }  # fmt: skip


def _bird_foot(
    figure: Figure,
    b: Build,
    leg: Leg,
    side: str,
    joint: JointSpec,
    tint: tuple[float, float, float, float] | None,
) -> None:
    """Two toes, running from a short hind toe to the tips ahead; their ends are what it stands on."""
    hind, fore, hind_y, fore_y, r = leg.foot
    drop = 1.3 * r  # ankle above the toes' axis
    name = f"foot_{side}"
    shapes: list[Shape] = [
        capsule(b.at(-hind, y * hind_y, -drop), b.at(fore, y * fore_y, -drop), r * b.h, tint=tint) for y in (1.0, -1.0)
    ]
    shapes.append(capsule(b.at(0, 0, 0), b.at(0.9 * fore, 0, -drop), 0.95 * r * b.h, tint=tint, collides=False))
    figure.segment(name, f"tarsus_{side}", b.at(0, 0, -leg.lengths[2]), joint, shapes, leg.masses[3] * b.m)
    outer = 1.0 if side == "left" else -1.0
    sole = -drop - r
    figure.foot(
        name, name, side,
        [
            (f"hind_outer_{side}", name, b.at(-hind, outer * hind_y, sole)),
            (f"hind_inner_{side}", name, b.at(-hind, -outer * hind_y, sole)),
            (f"fore_outer_{side}", name, b.at(fore, outer * fore_y, sole)),
            (f"fore_inner_{side}", name, b.at(fore, -outer * fore_y, sole)),
        ],
    )  # fmt: skip
