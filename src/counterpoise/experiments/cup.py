"""A side kick on one leg with the head straight and a cup held upright (Macchietto 2009, section 9, figure 6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.mjcf import exact_xml
from counterpoise.control.basic import Controller
from counterpoise.control.drag import Drag
from counterpoise.control.momentum_balance import MomentumBalance
from counterpoise.control.stand import Stand
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.combinations import facts_of
from counterpoise.experiments.tracking import track_report
from counterpoise.features import AxisDirection, BodyOrientation
from counterpoise.motion.motion import Motion
from counterpoise.motion.references import reference_motion
from counterpoise.objectives import Objective, Setpoint
from counterpoise.simulate.recording import Recording
from counterpoise.spatial import exp

if TYPE_CHECKING:
    from matplotlib.figure import Figure

HAND = "hand_left"  # that holds the cup
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class CupSettings:
    """The paper gives no gains. The side kick is keyframed, with an arm of our own that holds the cup."""

    stiffness: float = setting(150.0, "1/s^2", "k_p of head and cup")
    weight: float = setting(30.0, "", "of head and cup, against 1 for every joint")
    steady: float = setting(10.0, "1/s", "damping of the hand's velocity, as in the paper")
    lean: float = setting(0.25, "rad", "how far the reference's trunk leans during the kick, which tilts head and cup")
    speed: float = setting(1.0, "", "of the kick")
    momentum: bool = setting(True, "", "also with MomentumBalance")


def run(settings: CupSettings, lab: Lab) -> Outcome:
    """Simulates the kick alone, and with head and cup held upright."""
    human = with_cup(character("human"))
    kick = kick_with_cup(human, settings)
    held = upright(human, kick, settings)
    start, seconds = Stand(kick).ready(human), kick.duration + 0.7
    controls: dict[str, Controller] = {"plain": Stand(kick), "upright": Stand(kick, extra=held)}
    if settings.momentum:
        controls["momentum"] = MomentumBalance(kick, extra=held)
    runs = {name: lab.simulate(name, human, control, seconds, start=start) for name, control in controls.items()}
    found = {name: track_report(rec, kick) for name, rec in runs.items()}
    cup = {name: np.degrees(tilt_of(rec, HAND, cup_axis(human, kick))) for name, rec in runs.items()}
    head = {name: np.degrees(tilt_of(rec, "head", head_axis(human))) for name, rec in runs.items()}
    claims = [
        Claim(
            "the side kick is done with head and cup upright, without difficulty",
            f"{found['upright']}; cup at most {cup['upright'].max():.1f} deg off, head {head['upright'].max():.1f} deg",
            bool(
                found["upright"].stood
                and found["upright"].done
                and max(cup["upright"].max(), head["upright"].max()) < 10
            ),
        ),
        Claim(
            "tracking accuracy is preserved",
            f"joints off by {found['upright'].median:.1f} deg in the median, {found['plain'].median:.1f} without "
            "the two objectives",
            found["upright"].median < found["plain"].median + 5.0,
        ),
        Claim(
            "objectives for the head improve the posture in comparison to none",
            f"head at most {head['upright'].max():.1f} deg off upright, {head['plain'].max():.1f} without; cup "
            f"{cup['upright'].max():.1f} and {cup['plain'].max():.1f}",
            bool(head["upright"].max() < head["plain"].max() and cup["upright"].max() < cup["plain"].max()),
        ),
    ]
    if settings.momentum:
        claims.append(
            Claim(
                "so with the paper's own controller",
                f"{found['momentum']}; cup at most {cup['momentum'].max():.1f} deg off, head "
                f"{head['momentum'].max():.1f} deg",
                bool(found["momentum"].stood and max(cup["momentum"].max(), head["momentum"].max()) < 10.0),
            )
        )
    facts = {**facts_of(found), "cup": {n: float(c.max()) for n, c in cup.items()},
             "head": {n: float(h.max()) for n, h in head.items()}}  # fmt: skip
    film = Film("upright", azimuth=-20.0, times=np.linspace(0.6, 3.3, 10).tolist(), columns=5, panel=(260, 290),
                overlays={"ghost": kick, "ghost_offset": (0.0, 1.2, 0.0)})  # fmt: skip
    return Outcome(tuple(claims), {"cup": _plot(runs, cup, head)}, film, facts)


def with_cup(character: Character) -> Character:
    """Returns the character with a visible cup in its left hand, without mass and without contacts."""
    spec, hold = character.spec(), held_arm(character, character.neutral)
    up = character.snapshot(character.state(hold)).rotation(HAND).T @ UP
    point = np.array(character.model.body_ipos[character.body_id(HAND)])
    spec.body(HAND).add_geom(
        name="cup", type=mujoco.mjtGeom.mjGEOM_CYLINDER, fromto=[*(point - 0.02 * up), *(point + 0.11 * up)],
        size=[0.042, 0.0, 0.0], mass=0.0, contype=0, conaffinity=0, rgba=[0.75, 0.16, 0.16, 1.0],
    )  # fmt: skip
    spec.compile()
    return Character.from_mjcf(exact_xml(spec))


def held_arm(character: Character, poses: Array) -> Array:
    """Returns the same poses with the left forearm held forward."""
    out = np.array(poses)
    out[..., character.joint("shoulder_left").qpos] = exp(np.array([0.25, -0.25, 0.0]))
    out[..., character.joint("elbow_left").qpos] = 1.35
    return out


def kick_with_cup(character: Character, settings: CupSettings) -> Motion:
    """Returns the side kick with the left forearm held forward and the trunk leaning away during the kick."""
    kick = reference_motion("side_kick", character)
    poses = held_arm(character, kick.poses)
    out = np.interp(kick.times, [1.0, 1.94, 2.9], [0.0, 1.0, 0.0])
    bend = settings.lean * out**2 * (3.0 - 2.0 * out)
    poses[:, character.joint("spine").qpos] = exp(np.stack([bend, 0.0 * bend, 0.0 * bend], axis=1))
    made = replace(kick, poses=poses).named("side kick with a cup")
    return made if settings.speed == 1.0 else made.retimed(settings.speed)


def cup_axis(character: Character, kick: Motion) -> Array:
    """Returns (3,) in the hand's frame: the vertical when the motion begins."""
    return character.snapshot(character.state(kick.poses[0])).rotation(HAND).T @ UP


def head_axis(character: Character) -> Array:
    """Returns (3,) in the head's frame: the vertical in the neutral pose."""
    return character.snapshot().rotation("head").T @ UP


def upright(character: Character, kick: Motion, settings: CupSettings) -> list[Objective]:
    """Returns the objectives: the head as in the neutral pose, the cup's axis up, and the hand's velocity damped."""
    k, weight = settings.stiffness, settings.weight
    head = BodyOrientation("head")
    x, y, z = cup_axis(character, kick).tolist()
    return [
        Setpoint(head, head.value(character.snapshot()), stiffness=k, weight=weight, name="head upright"),
        Setpoint(AxisDirection(HAND, (x, y, z)), UP, stiffness=k, weight=weight, name="cup upright"),
        Drag(HAND, stiffness=0.0, damping=settings.steady, weight=0.1 * weight, name="steady hand"),
    ]


def tilt_of(rec: Recording, body: str, axis: Array) -> Array:
    """Returns (n,) [rad]: the angle between an axis of a body and the vertical."""
    turned = rec.track().rotations[:, rec.character.body_id(body)] @ axis
    return np.arccos(np.clip(turned[:, 2], -1.0, 1.0))


def _plot(runs: dict[str, Recording], cup: dict[str, Array], head: dict[str, Array]) -> Figure:
    from counterpoise.experiments.plotting import Panel, panels

    time = runs["upright"].time
    words = {"plain": "kick alone", "upright": "held upright", "momentum": "MomentumBalance"}
    rows = [
        Panel("cup off upright\n[deg]", time, {words[n]: c for n, c in cup.items()}, low=0.0),
        Panel("head off upright\n[deg]", time, {words[n]: h for n, h in head.items()}, low=0.0),
    ]
    return panels(rows, "a side kick with a cup")


EXPERIMENT = Experiment(
    name="cup",
    summary="a side kick on one leg with the head straight and a cup upright",
    source="Macchietto 2009, section 9, figure 6",
    settings=CupSettings,
    run=run,
)
