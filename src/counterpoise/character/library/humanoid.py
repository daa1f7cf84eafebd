"""Human bodies and their relatives: human, child, asymmetric, insectoid.

Lengths and masses come from Winter's tables, multiplied by the proportions of each relative and then scaled to the
given height and mass.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from counterpoise.character.anthropometry import (
    ARMATURE,
    DAMPING,
    FOOT_BREADTH,
    FOOT_HEIGHT,
    HIP_HALF_WIDTH,
    SHOULDER_HALF_WIDTH,
    STANDARD_HEIGHT,
    STANDARD_MASS,
    STRENGTH,
    TOES_LENGTH,
    TOES_MASS,
    WINTER,
)
from counterpoise.character.figure import Ball, Figure, Free, Hinge, Universal, capsule, ellipsoid, sphere
from counterpoise.character.limits import BallLimit, face_through
from counterpoise.character.limits.swings import ball_limit, oval, swing_cone

UP, DOWN = (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)
SIDES = (("left", 1.0), ("right", -1.0))
HIP_CORNERS = [
    (-25, -18),
    (-28, 5),
    (-20, 38),
    (20, 48),
    (85, 55),
    (122, 30),
    (125, -5),
    (90, -25),
    (30, -28),
]


@dataclass(frozen=True)
class Proportions:
    """Factors on the human tables, by segment (`head`) or segment and side (`thigh_left`)."""

    lengths: Mapping[str, float] = field(default_factory=dict)
    masses: Mapping[str, float] = field(default_factory=dict)
    girth: float = 1.0
    second_arms: bool = False
    antennae: bool = False


class Measures:
    """Lengths, radii, masses and strengths of one body of given height and mass."""

    def __init__(self, height: float, mass: float, proportions: Proportions, stature: float) -> None:
        self.p = proportions
        chain = {
            "foot_height": FOOT_HEIGHT * self._length_factor("foot"),
            "shank": WINTER["shank"].length * self._length_factor("shank"),
            "thigh": WINTER["thigh"].length * self._length_factor("thigh"),
            "trunk": sum(WINTER[s].length * self._length_factor(s) for s in ("pelvis", "abdomen", "thorax")),
            "head": WINTER["head"].length * self._length_factor("head"),
        }
        self.H = height / sum(chain.values())  # the height the tables are read at
        names = [(s, "") for s in ("pelvis", "abdomen", "thorax", "head")]
        names += [(s, side) for s in ("hand", "forearm", "upper_arm", "foot", "shank", "thigh") for side, _ in SIDES]
        if proportions.second_arms:
            names += [(f"{s}2", side) for s in ("hand", "forearm", "upper_arm") for side, _ in SIDES]
        self.M = mass / sum(WINTER[s.rstrip("2")].mass * self._mass_factor(s, side) for s, side in names)
        self.size = (
            stature / STANDARD_HEIGHT
        )  # as it stands: strength scales with the given height, not with the drawn one
        self.build = (
            float(np.sqrt((mass / STANDARD_MASS) / self.size)) * proportions.girth
        )  # radii, at constant density
        self.strength = (mass / STANDARD_MASS) * self.size
        self.inertia = (mass / STANDARD_MASS) * self.size**2
        self.damping = (mass / STANDARD_MASS) * self.size**1.5

    def length(self, segment: str, side: str = "") -> float:
        return WINTER[segment.rstrip("2")].length * self._length_factor(segment, side) * self.H

    def mass(self, segment: str, side: str = "") -> float:
        return WINTER[segment.rstrip("2")].mass * self._mass_factor(segment, side) * self.M

    def radius(self, metres: float) -> float:
        """A radius of the standard human, scaled to this one [m]."""
        return metres * self.build

    def hinge(self, name: str, kind: str, axis: tuple[float, float, float], degrees: tuple[float, float]) -> Hinge:
        low, high = np.radians(degrees)
        return Hinge(
            name, axis, (float(low), float(high)), STRENGTH[kind] * self.strength,
            DAMPING[kind] * self.damping, ARMATURE.get(kind, 0.01) * self.inertia,
        )  # fmt: skip

    def ball(self, name: str, kind: str, limit: BallLimit) -> Ball:
        return Ball(name, limit, STRENGTH[kind] * self.strength, DAMPING[kind] * self.damping, 0.01 * self.inertia)

    def universal(self, name: str, kind: str, pitch: tuple[float, float], roll: tuple[float, float]) -> Universal:
        first = STRENGTH.get(f"{kind}_pitch", STRENGTH.get(kind, 0.0)) * self.strength
        second = STRENGTH.get(f"{kind}_roll", STRENGTH.get(kind, 0.0)) * self.strength
        (p0, p1), (r0, r1) = np.radians(pitch), np.radians(roll)
        return Universal(
            name,
            ("pitch", (0.0, 1.0, 0.0), (float(p0), float(p1)), first),
            ("roll", (1.0, 0.0, 0.0), (float(r0), float(r1)), second),
            DAMPING[kind] * self.damping,
            ARMATURE.get(kind, 0.01) * self.inertia,
        )

    def _length_factor(self, segment: str, side: str = "") -> float:
        lengths = self.p.lengths
        return lengths.get(f"{segment}_{side}", 1.0) * lengths.get(segment, 1.0)

    def _mass_factor(self, segment: str, side: str = "") -> float:
        masses = self.p.masses
        return masses.get(f"{segment}_{side}", 1.0) * masses.get(segment, 1.0)


def humanoid(name: str, height: float, mass: float, proportions: Proportions, stature: float) -> Figure:
    """Draws a human figure that is `height` tall when straight and stands `stature` tall."""
    t = Measures(height, mass, proportions, stature)
    figure = Figure(name)
    _trunk(figure, t)
    for side, s in SIDES:
        _arm(figure, t, side, s, "", SHOULDER_HALF_WIDTH * t.H - t.radius(0.03), 0.86)
        if proportions.second_arms:
            _arm(figure, t, side, s, "2", SHOULDER_HALF_WIDTH * t.H - t.radius(0.045), 0.22)
        _leg(figure, t, side, s)
        figure.soft.append(("abdomen", f"thigh_{side}"))
    return figure


def _trunk(figure: Figure, t: Measures) -> None:
    pelvis, abdomen, thorax = (t.length(s) for s in ("pelvis", "abdomen", "thorax"))
    hip = HIP_HALF_WIDTH * t.H
    figure.segment(
        "pelvis", None, (0, 0, 0), Free(),
        [
            ellipsoid((0, 0, 0.32 * pelvis), (t.radius(0.102), hip - t.radius(0.014), 1.0 * pelvis)),
            capsule((-t.radius(0.02), -0.42 * hip, 0), (-t.radius(0.02), 0.42 * hip, 0), t.radius(0.088)),
        ],
        t.mass("pelvis"),
    )  # fmt: skip
    figure.segment(
        "abdomen", "pelvis", (0, 0, pelvis),
        t.ball("waist", "waist", swing_cone(UP, oval(40, 20, 25), (-25, 25))),
        [ellipsoid((0, 0, 0.5 * abdomen), (t.radius(0.094), t.radius(0.128), 1.0 * abdomen))],
        t.mass("abdomen"),
    )  # fmt: skip
    shoulder = SHOULDER_HALF_WIDTH * t.H
    figure.segment(
        "thorax", "abdomen", (0, 0, abdomen),
        t.ball("spine", "spine", swing_cone(UP, oval(35, 20, 22), (-30, 30))),
        [
            ellipsoid((0.004, 0, 0.48 * thorax), (t.radius(0.113), t.radius(0.158), 0.74 * thorax)),
            capsule(
                (-0.012, -0.62 * shoulder, 0.80 * thorax), (-0.012, 0.62 * shoulder, 0.80 * thorax), t.radius(0.060)
            ),
        ],
        t.mass("thorax"),
    )  # fmt: skip
    head = t.length("head")
    skull = (0.31 * head, 0.255 * head, 0.385 * head)  # the head's own shape, whatever the build
    shapes = [
        capsule((-0.01, 0, -0.02 * head), (0, 0, 0.32 * head), min(t.radius(0.050), 0.20 * head)),
        ellipsoid((0.05 * head, 0, head - skull[2]), (skull[0], skull[1], skull[2])),
        sphere((0.35 * head, 0, 0.54 * head), 0.05 * head, collides=False),
    ]
    if t.p.antennae:
        for y in (-1.0, 1.0):
            tip = (0.75 * head, y * 0.45 * head, 1.05 * head)
            shapes.append(capsule((0.2 * head, y * 0.15 * head, 0.85 * head), tip, 0.03 * head, collides=False))
            shapes.append(sphere(tip, 0.06 * head, collides=False))
    figure.segment(
        "head", "thorax", (0, 0, thorax),
        t.ball("neck", "neck", swing_cone(UP, oval(50, 45, 38), (-65, 65))),
        shapes, t.mass("head"),
    )  # fmt: skip


def _arm(figure: Figure, t: Measures, side: str, s: float, number: str, width: float, level: float) -> None:
    upper, fore, hand = (t.length(f"{n}{number}", side) for n in ("upper_arm", "forearm", "hand"))
    thorax = t.length("thorax")
    upper_name, fore_name, hand_name = (f"{n}{number}_{side}" for n in ("upper_arm", "forearm", "hand"))
    tables = {n: WINTER[n] for n in ("upper_arm", "forearm", "hand")}
    figure.segment(
        upper_name, "thorax", (0, s * width, level * thorax),
        t.ball(f"shoulder{number}_{side}", "shoulder", shoulder_limit(s)),
        [capsule((0, 0, 0.004), (0, 0, -0.5 * upper), t.radius(0.047)),
         capsule((0, 0, -0.45 * upper), (0, 0, -upper + 0.01), t.radius(0.040))],
        t.mass(f"upper_arm{number}", side),
        **_winter(tables["upper_arm"].com, tables["upper_arm"].gyration, upper),
    )  # fmt: skip
    figure.segment(
        fore_name, upper_name, (0, 0, -upper),
        t.hinge(f"elbow{number}_{side}", "elbow", (0.0, -1.0, 0.0), (0, 150)),
        [capsule((0, 0, -0.01), (0, 0, -0.45 * fore), t.radius(0.037)),
         capsule((0, 0, -0.4 * fore), (0, 0, -fore + 0.01), t.radius(0.029))],
        t.mass(f"forearm{number}", side),
        **_winter(tables["forearm"].com, tables["forearm"].gyration, fore),
    )  # fmt: skip
    figure.segment(
        hand_name, fore_name, (0, 0, -fore),
        t.universal(f"wrist{number}_{side}", "wrist", (-30, 25), (-70, 70)),
        [ellipsoid((0, 0, -0.50 * hand), (t.radius(0.041), t.radius(0.021), 0.52 * hand))],
        t.mass(f"hand{number}", side),
        **_winter(tables["hand"].com, tables["hand"].gyration, hand),
    )  # fmt: skip
    figure.hands.append(hand_name)
    if number:  # a second pair is held out and forward, clear of the first
        figure.nominal[f"shoulder{number}_{side}"] = (s * 0.35, -0.75, 0.0)
        figure.nominal[f"elbow{number}_{side}"] = 1.3
    else:
        figure.nominal[f"shoulder_{side}"] = (s * (0.17 if not t.p.second_arms else 0.42), 0.0, 0.0)
        figure.nominal[f"elbow_{side}"] = 0.25


def _leg(figure: Figure, t: Measures, side: str, s: float) -> None:
    thigh, shank = t.length("thigh", side), t.length("shank", side)
    hip = HIP_HALF_WIDTH * t.H - t.radius(0.077)  # the tables give the outside of the hip
    figure.segment(
        f"thigh_{side}", "pelvis", (0, s * hip, 0),
        t.ball(f"hip_{side}", "hip", swing_cone(DOWN, HIP_CORNERS, (-45, 38), s, rest=(45, 10))),
        [capsule((0, 0, -0.02), (0, 0, -0.55 * thigh), t.radius(0.073)),
         capsule((0, 0, -0.5 * thigh), (0, 0, -thigh + 0.015), t.radius(0.057))],
        t.mass("thigh", side), **_winter(WINTER["thigh"].com, WINTER["thigh"].gyration, thigh),
    )  # fmt: skip
    figure.segment(
        f"shank_{side}", f"thigh_{side}", (0, 0, -thigh),
        t.hinge(f"knee_{side}", "knee", (0.0, 1.0, 0.0), (0, 148)),
        [capsule((-0.004, 0, -0.04), (-0.01, 0, -0.45 * shank), t.radius(0.051)),
         capsule((-0.004, 0, -0.4 * shank), (0, 0, -shank + 0.02), t.radius(0.038))],
        t.mass("shank", side), **_winter(WINTER["shank"].com, WINTER["shank"].gyration, shank),
    )  # fmt: skip
    _foot(figure, t, side, shank)
    legs = [t.length("thigh", each) + t.length("shank", each) for each, _ in SIDES]
    bend = 0.05 + float(np.arccos(min(1.0, min(legs) / (thigh + shank))))  # the longer leg bends more
    figure.nominal[f"hip_{side}"] = (0.0, -bend, 0.0)
    figure.nominal[f"knee_{side}"] = 2.0 * bend
    figure.nominal[f"ankle_{side}"] = (-bend, 0.0)


def _foot(figure: Figure, t: Measures, side: str, shank: float) -> None:
    """Two runners from heel to ball, whose ends are the contact points, and a bar across the toes."""
    factor = t.length("foot", side) / (WINTER["foot"].length * t.H)
    length, high, half = t.length("foot", side), FOOT_HEIGHT * factor * t.H, 0.5 * FOOT_BREADTH * factor * t.H
    r = 0.36 * high  # radius of the runners
    heel, tip = -0.24 * length, 0.76 * length
    joint = tip - TOES_LENGTH * length
    heel_x, ball_x = heel + r, joint - 0.35 * r
    heel_y, ball_y = half - 1.25 * r, half - 0.55 * r
    foot, toes = f"foot_{side}", f"toes_{side}"
    low = -high + r
    mass = t.mass("foot", side)
    figure.segment(
        foot, f"shank_{side}", (0, 0, -shank),
        t.universal(f"ankle_{side}", "ankle", (-38, 50), (-25, 25)),
        [
            capsule((heel_x, heel_y, low), (ball_x, ball_y, low), r),
            capsule((heel_x, -heel_y, low), (ball_x, -ball_y, low), r),
            capsule((0.2 * heel, 0, -0.30 * high), (ball_x - r, 0, low + 0.1 * r), 1.05 * r, collides=False),
        ],
        mass * (1 - TOES_MASS),
        gyration=((1.0, 0.0, 0.0), 0.26 * length),  # Winter's 0.475 is of ankle to ball
    )  # fmt: skip
    toe_r = 0.8 * r
    bar_x, bar_y, bar_z = (tip - joint) - toe_r, half - 0.9 * toe_r, -r + toe_r
    figure.segment(
        toes, foot, (joint, 0, low),
        t.hinge(f"toe_{side}", "toe", (0.0, -1.0, 0.0), (-25, 65)),
        [
            capsule((bar_x, -bar_y, bar_z), (bar_x, bar_y, bar_z), toe_r),
            *(
                capsule((0.2 * toe_r, y * ball_y, bar_z), (bar_x, y * bar_y, bar_z), toe_r, collides=False)
                for y in (-1.0, 0.0, 1.0)
            ),
        ],
        mass * TOES_MASS,
    )  # fmt: skip
    figure.foot(
        foot, foot, side,
        [
            (f"heel_outer_{side}", foot, (heel_x, heel_y if side == "left" else -heel_y, -high)),
            (f"heel_inner_{side}", foot, (heel_x, -heel_y if side == "left" else heel_y, -high)),
            (f"ball_outer_{side}", foot, (ball_x, ball_y if side == "left" else -ball_y, -high)),
            (f"ball_inner_{side}", foot, (ball_x, -ball_y if side == "left" else ball_y, -high)),
            (f"toe_outer_{side}", toes, (bar_x, bar_y if side == "left" else -bar_y, -r)),
            (f"toe_inner_{side}", toes, (bar_x, -bar_y if side == "left" else bar_y, -r)),
        ],
    )  # fmt: skip


def shoulder_limit(s: float) -> BallLimit:
    """How far an arm reaches: a wedge open to the front and side, wider than a half sphere."""
    rad = np.radians
    back = [
        (-np.sin(rad(55)), 0, -np.cos(rad(55))),
        (-np.sin(rad(30)), s * np.cos(rad(30)), 0),
        (-np.sin(rad(15)), 0, np.cos(rad(15))),
    ]
    across = [
        (0, -s * np.sin(rad(30)), -np.cos(rad(30))),
        (np.cos(rad(48)), -s * np.sin(rad(48)), 0),
        (0, -s * np.sin(rad(15)), np.cos(rad(15))),
    ]
    faces = [face_through(back, (1, 0, 0)), face_through(across, (0, s, 0))]
    normals, offsets = np.array([f[0] for f in faces]), np.array([f[1] for f in faces])
    return ball_limit(DOWN, normals, offsets, (-85, 85), s, rest=(60, 40))


def _winter(com: float | None, gyration: float | None, length: float) -> dict[str, object]:
    assert com is not None and gyration is not None
    return {"com": (0.0, 0.0, -com * length), "gyration": (DOWN, gyration * length)}


CHILD = Proportions(
    lengths={"head": 1.42, "thigh": 0.86, "shank": 0.86, "upper_arm": 0.9, "forearm": 0.92},
    masses={"head": 2.2, "thigh": 0.8, "shank": 0.8},
)
ASYMMETRIC = Proportions(
    lengths={
        "thigh_left": 1.06, "shank_left": 1.06, "foot_left": 1.06,
        "upper_arm_left": 1.3, "forearm_left": 1.3, "hand_left": 1.25,
    },
    masses={
        "thigh_left": 1.4, "shank_left": 1.4, "foot_left": 1.3,
        "upper_arm_left": 1.9, "forearm_left": 1.9, "hand_left": 1.8,
    },
)  # fmt: skip
INSECTOID = Proportions(
    lengths={
        "thorax": 1.35, "abdomen": 0.8, "head": 0.95, "shank": 1.06, "thigh": 1.0,
        "upper_arm": 0.95, "forearm": 1.15, "upper_arm2": 0.8, "forearm2": 0.95,
    },
    masses={"upper_arm": 0.8, "forearm": 0.8, "upper_arm2": 0.6, "forearm2": 0.6, "hand2": 0.7, "thorax": 1.15},
    girth=0.82,
    second_arms=True,
    antennae=True,
)  # fmt: skip
