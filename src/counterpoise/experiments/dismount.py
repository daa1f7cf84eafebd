"""A high-bar dismount from keyframes: swing, let go, one somersault, land and stand (Fang & Pollard 2004, figure 1)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Flags
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.key_poses import ballistic, bent, com_of, hanging, moved, standing_at
from counterpoise.experiments.scenery import rows_of, take_with
from counterpoise.experiments.staging import (
    SOFT_KEY_WEIGHT,
    Course,
    StagedStunt,
    apart_claim,
    course_of,
    figures_of,
    first_guess_of,
    timed,
    valid_claim,
)
from counterpoise.measure.outsider import JudgedStrain, Judgement, judge_motion, judge_torques
from counterpoise.spacetime.optimize import Apart, Apex, Key, Requirement, Result, Touch

ARM, LEG = ("upper_arm", "forearm", "hand"), ("thigh", "shank", "foot", "toes")
HALF_GRIP = 0.25  # [m] half the distance between the hands


@dataclass(frozen=True)
class DismountSettings:
    """The paper gives the flight times; the rest is ours."""

    short: float = setting(0.6, "s", "flight time of the first dismount")
    long: float = setting(0.8, "s", "flight time of the second and third dismount")
    bar: float = setting(2.3, "m", "height of the bar")
    swing: float = setting(0.9, "s", "from rest to letting go")
    stand: float = setting(0.7, "s", "from touch-down to standing still")
    landing: float = setting(1.7, "m", "horizontal distance of the landing from the bar")
    torque: float = setting(20.0, "N m", "largest torque of each hand about the bar")
    above: float = setting(0.03, "m", "least height of the CoM above the bar in the longer flight")
    strength: float = setting(1.0, "", "share of each joint's strength that the third dismount may use")


@dataclass(frozen=True, eq=False)
class Dismount:
    """One dismount and its measures."""

    result: Result
    stunt: StagedStunt
    seconds: float  # [s] of processor time
    course: Course
    judgement: Judgement
    strain: JudgedStrain
    flight: float
    swing: float

    @property
    def airborne(self) -> Flags:
        """The times of the course in flight."""
        t = self.course.times
        return np.asarray((t > self.swing) & (t < self.swing + self.flight))

    @property
    def apex(self) -> float:
        """The largest height of the CoM in flight [m]."""
        return float(self.course.com[self.airborne, 2].max())

    @property
    def tuck(self) -> float:
        """The least inertia about the somersault's axis in flight [kg m^2]."""
        return float(self.course.inertia[self.airborne].min())

    @property
    def spin(self) -> float:
        """The mean angular momentum about the somersault's axis in flight [kg m^2/s]."""
        return float(np.abs(self.course.momentum[self.airborne, 1]).mean())


def dismount_stunt(
    character: Character,
    settings: DismountSettings,
    flight: float,
    above: float | None = None,
    strength: float | None = None,
) -> StagedStunt:
    """Returns a stunt with exact keys at rest, hanging back and standing, and soft keys in between.

    The contacts are the hands, then the feet. With `strength`, no joint exceeds that share of a person's strength.
    """
    bar, swing, x = (0.0, 0.0, settings.bar), settings.swing, settings.landing
    down = round(swing + flight, 6)
    end = round(down + settings.stand, 6)
    lean = 1.1 if above is None else 1.3  # [rad] approximate angle at which it lets go
    leave = hanging(character, bar, lean, hip=-0.3)
    arm = (0.4, -0.9, 0.0)  # forward, and beside the legs
    origin = (0.0, 0.0, 0.0)
    touch = bent(character, hip=-0.6, knee=0.6, ankle=-0.25, waist=0.05, shoulder=arm, elbow=0.2)
    crouch = bent(character, hip=-1.3, knee=1.5, ankle=-0.5, waist=0.2, spine=0.1, shoulder=arm, elbow=0.3)
    touch = standing_at(character, moved(character, touch, origin, origin, (0, 0.2, 0)), x)
    crouch = standing_at(character, moved(character, crouch, origin, origin, (0, 0.3, 0)), x)
    tuck = bent(character, hip=-1.6, knee=1.6, waist=0.2, spine=0.2, shoulder=(0.4, -0.7, 0.0), elbow=0.4)
    start, land = com_of(character, leave), com_of(character, touch)
    keys = [
        Key(0.0, hanging(character, bar, -1.1, waist=-0.1, hip=0.15), rest=True, name="hang back"),
        Key(round(0.6 * swing, 6), hanging(character, bar, 0.0, hip=0.2), soft=SOFT_KEY_WEIGHT, name="hang"),
        Key(swing, leave, soft=SOFT_KEY_WEIGHT, name="let go"),
    ]
    for share in (1 / 3, 2 / 3):
        turn = lean + (2.0 * math.pi - lean) * share
        place = ballistic(start, land, flight, share * flight)
        pose = moved(character, tuck, com_of(character, tuck), place, (0.0, -turn, 0.0))
        keys.append(Key(round(swing + share * flight, 6), pose, soft=SOFT_KEY_WEIGHT, name=f"somersault {share:.0%}"))
    keys += [
        Key(down, touch, soft=SOFT_KEY_WEIGHT, name="touch down"),
        Key(round(down + 0.25, 6), crouch, soft=SOFT_KEY_WEIGHT, name="crouch"),
        Key(end, standing_at(character, np.asarray(character.neutral), x), rest=True, name="stand"),
    ]
    sides = (("left", HALF_GRIP), ("right", -HALF_GRIP))
    touches = [
        Touch(f"hand_{s}", 0.0, swing, "bar", place=(0.0, y, settings.bar), torque=settings.torque) for s, y in sides
    ]
    touches += [Touch(f"foot_{s}", down, end) for s, _ in sides]
    wishes: list[Requirement] = [] if above is None else [Apex(round(swing + 0.5 * flight, 6), above, "at least")]
    fine = ((swing, down, 75.0), (down, down + 0.15, 60.0))
    if strength is not None:
        fine = ((swing, down, 120.0), (down, down + 0.4, 60.0))  # torques at their limits change quickly
        arms, legs = ([f"{part}_{s}" for part in parts for s in ("left", "right")] for parts in (ARM, LEG))
        wishes.append(
            Apart(arms, legs, start=swing, end=down)
        )  # they are far apart in the keys, and near in the solution
    return StagedStunt(
        character, tuple(keys), tuple(touches), end, tuple(wishes), rate=15.0, fine=fine, apart=True, strength=strength,
        scenery=({"bar": (bar, (0, 1, 0), 1.0)},),
    )  # fmt: skip


def dismount(
    character: Character,
    settings: DismountSettings,
    flight: float,
    above: float | None = None,
    strength: float | None = None,
) -> Dismount:
    """Solves one dismount and measures it."""
    stunt = dismount_stunt(character, settings, flight, above, strength)
    result, seconds = timed(stunt)
    times = np.linspace(0.0, stunt.duration, round(stunt.duration * 200) + 1)
    course = course_of(character, times, np.asarray(result.sample(times).q))
    judged, strain = judge_motion(result), judge_torques(result)
    return Dismount(result, stunt, seconds, course, judged, strain, flight, settings.swing)


def run(settings: DismountSettings, lab: Lab) -> Outcome:
    """Solves both flights from the same kind of keys, and judges them by MuJoCo's inverse dynamics."""
    human = character("human")
    lab.report("dismount, short flight", 0.0)
    short = dismount(human, settings, settings.short)
    lab.report("dismount, long flight", 0.25)
    long = dismount(human, settings, settings.long, settings.bar + settings.above)
    lab.report("dismount, within a person's strength", 0.5)
    strong = dismount(human, settings, settings.long, settings.bar + settings.above, settings.strength)
    lab.report("dismounts", 1.0)
    both = {"short": short, "long": long, "strength": strong}
    guess = judge_motion(short.result, first_guess_of(short.stunt))
    claims = (
        *(
            valid_claim(f"a flight of {d.flight:g} s is found from keyframes{how}", d.result, d.seconds, d.judgement)
            for d, how in ((short, ""), (long, ""), (strong, ", within a person's strength"))
        ),
        Claim(
            "the longer flight has a looser tuck",
            f"least inertia about the somersault's axis {long.tuck:.1f} against {short.tuck:.1f} kg m^2, angular "
            f"momentum {long.spin:.0f} against {short.spin:.0f} kg m^2/s",
            long.tuck > 1.1 * short.tuck,
        ),
        Claim(
            "and a higher flight: the short one stays below the bar, the long one gets above it",
            f"the CoM's apex {short.apex:.2f} m and {long.apex:.2f} m, the bar {settings.bar:.2f} m",
            short.apex < settings.bar < long.apex,
        ),
        Claim(
            "asked to stay within a person's strength, it does, and lands as a person would have to",
            f"the hardest working joint, by MuJoCo's inverse dynamics with the contact forces: {_hardest(strong)}; not "
            f"asked: {_hardest(long)}; root residual {strong.strain.root:.0e} of body weight",
            strong.strain.worst[1] < settings.strength + 1e-3 < long.strain.worst[1] and strong.strain.root < 1e-5,
        ),
        *(apart_claim(d.result) for d in both.values()),
        Claim(
            "the keys interpolated are no possible motion, and it would fall over at landing",
            f"as interpolated: {guess.flight_force:.0%} of body weight from nowhere in flight, "
            f"{guess.contact_gap:.0%} more than hands and feet can give, feet and hands sliding by "
            f"{100 * guess.slip:.0f} cm",
            guess.flight_force > 0.1 and guess.contact_gap > 0.1,
        ),
    )  # fmt: skip
    strobe = rows_of(
        {
            "keys interpolated": (
                take_with(human, first_guess_of(short.stunt), short.stunt.scenery), _moments(settings, settings.short)
            ),
            f"flight of {short.flight:g} s": (
                take_with(human, short.result.motion, short.stunt.scenery), _moments(settings, short.flight)
            ),
            f"flight of {long.flight:g} s": (
                take_with(human, long.result.motion, long.stunt.scenery), _moments(settings, long.flight)
            ),
            f"flight of {strong.flight:g} s, within a person's strength": (
                take_with(human, strong.result.motion, strong.stunt.scenery), _moments(settings, strong.flight)
            ),
        },
        (1240, 470), -88.0, spread=0.45, after=settings.swing + 0.02,
    )  # fmt: skip
    films = {
        name: Film(
            "", take=take_with(human, d.result.motion, d.stunt.scenery), azimuth=-80.0, count=16, columns=8,
            panel=(180, 230), speed=0.5,
        )
        for name, d in both.items()
    }  # fmt: skip
    facts: dict[str, Any] = {
        name: figures_of(d.result, d.seconds, d.judgement)
        | {"apex": d.apex, "tuck": d.tuck, "momentum": d.spin, "strain": dict(d.strain.share)}
        for name, d in both.items()
    }  # fmt: skip
    return Outcome(
        claims, {"dismount": _plot(both, settings)}, None, facts, films, {"dismount_strobe": strobe},
        {name: d.result.motion for name, d in both.items()},
    )  # fmt: skip


def _hardest(d: Dismount) -> str:
    name, share = d.strain.worst
    return f"{name} at {share:.0%} of its strength"


def _moments(settings: DismountSettings, flight: float) -> list[float]:
    swing = [0.0, 0.4, 0.6, 0.8, 1.0]
    return [
        *(round(u * settings.swing, 3) for u in swing),
        *(settings.swing + flight * u for u in (0.17, 0.34, 0.51, 0.68, 0.85, 1.0)),
        settings.swing + flight + 0.35 * settings.stand, settings.swing + flight + settings.stand,
    ]  # fmt: skip


def _label(name: str, d: Dismount) -> str:
    return f"flight of {d.flight:g} s" + (", within a person's strength" if name == "strength" else "")


def _plot(both: Mapping[str, Dismount], settings: DismountSettings) -> Any:
    from matplotlib.figure import Figure

    from counterpoise.render import palette
    from counterpoise.render.plots import style_axis

    drawing = Figure(figsize=(7.5, 6.0), layout="constrained")
    axes = drawing.subplots(3, 1, sharex=True)
    for number, (name, d) in enumerate(both.items()):
        c, colour = d.course, palette.FIGURES[number % len(palette.FIGURES)]
        lines = (-c.momentum[:, 1], c.inertia, c.com[:, 2])
        for axis, line in zip(axes, lines, strict=True):
            axis.plot(c.times, line, color=colour, linewidth=1.4, label=_label(name, d))
            axis.axvspan(d.swing, d.swing + d.flight, color=colour, alpha=0.08, linewidth=0)
    axes[2].axhline(settings.bar, color=palette.INK, linewidth=1.0, linestyle="--", label="bar")
    words = ("angular momentum about\nthe flip axis [kg m²/s]", "inertia about it\n[kg m²]", "CoM height [m]")
    for axis, label in zip(axes, words, strict=True):
        style_axis(axis, label)
    axes[2].legend(fontsize=8, frameon=False)
    axes[2].set_xlabel("time [s]", fontsize=9)
    return drawing


EXPERIMENT = Experiment(
    name="dismount",
    summary="a somersault off the high bar from keyframes and contacts, with two flight times",
    source="Fang & Pollard 2004, section 3, figure 1",
    settings=DismountSettings,
    run=run,
)
