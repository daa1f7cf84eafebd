"""Deep knee bends by the CoM's height alone, and heights that cannot be had (de Lasa 2011, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.library import character
from counterpoise.control.balance import Balance
from counterpoise.control.basic import Controller
from counterpoise.control.stand import Stand
from counterpoise.errors import unknown_name
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import ended, joint_errors, largest_slip
from counterpoise.simulate.recording import Recording

RECOVERY = 3.0  # [s] after the last height out of reach, by when it must be back in its pose


@dataclass(frozen=True)
class SquatHeightSettings:
    """The thesis gives no heights or speeds."""

    character: str = setting("human", "", "which figure")
    controller: str = setting("balance", "", "balance, as in the thesis, or stand")
    depth: float = setting(0.68, "", "lowest height of the bends, as a share of the standing CoM height")
    period: float = setting(2.5, "s", "of one bend")
    bends: int = setting(3, "", "how many")
    too_high: float = setting(1.3, "", "a height that is out of reach, as a share of the standing height")
    too_low: float = setting(0.35, "", "a height that is too low, as a share of the standing height")
    hold: float = setting(2.0, "s", "time for which each of these, and the standing height between them, is asked for")


def _controller(settings: SquatHeightSettings, height: Callable[[float], float]) -> Controller:
    if settings.controller not in ("balance", "stand"):
        raise unknown_name("controller", settings.controller, ("balance", "stand"), "squat-height")
    return Balance(height=height) if settings.controller == "balance" else Stand(height=height)


def bend_height(settings: SquatHeightSettings, z0: float) -> Callable[[float], float]:
    """Returns the height over time [m]: down to `depth` and up again as a cosine, `bends` times."""

    def height(time: float) -> float:
        phase = min(time / settings.period, settings.bends)
        return z0 * (1.0 - (1.0 - settings.depth) * 0.5 * (1.0 - float(np.cos(2.0 * np.pi * phase))))

    return height


def reach_height(settings: SquatHeightSettings, z0: float) -> Callable[[float], float]:
    """Returns the height over time [m]: too high from 0.5 s on, standing, too low, standing, in steps."""
    heights = (settings.too_high, 1.0, settings.too_low, 1.0)

    def height(time: float) -> float:
        k = int((time - 0.5) // settings.hold)
        return z0 * (heights[min(k, 3)] if k >= 0 else 1.0)

    return height


def run(settings: SquatHeightSettings, lab: Lab) -> Outcome:
    """Simulates bends; then heights too high, standing, too low, standing."""
    from counterpoise.experiments.plotting import Panel, panels

    figure = character(settings.character)
    start = figure.snapshot()
    z0 = float(start.com[2])
    bends = bend_height(settings, z0)
    squat = lab.simulate("bends", figure, _controller(settings, bends), settings.period * settings.bends + 0.5)
    beyond = reach_height(settings, z0)
    reach = lab.simulate("out of reach", figure, _controller(settings, beyond), 0.5 + 3.0 * settings.hold + RECOVERY)

    height, asked = measure.com(squat)[:, 2], np.array([bends(t) for t in squat.time])
    error, lowest = np.abs(height - asked), float(height.min() / z0)
    tall, tall_asked = measure.com(reach)[:, 2] / z0, np.array([beyond(t) for t in reach.time]) / z0
    knees = [name for name in figure.joint_names if name.startswith("knee")]
    bent = float(max(np.ptp(squat.qpos[:, figure.joint(name).qpos]) for name in knees)) if knees else 0.0
    last = float(joint_errors(reach)[-1])
    back = float(abs(tall[-1] - 1.0))
    claims = (
        Claim(
            "varying the reference height of the CoM produces deep-knee squats",
            f"{settings.bends} bends to {lowest:.2f} of the standing height, CoM "
            f"{1e3 * np.sqrt(np.mean(error**2)):.0f} mm rms ({1e3 * error.max():.0f} at most) from what was asked, "
            f"knees through {np.degrees(bent):.0f} deg; "
            f"{ended(squat)}, feet slid {100 * largest_slip(squat):.1f} cm",
            bool(not measure.fell(squat).fell and error.max() < 0.05 * z0 and lowest < settings.depth + 0.05),
        ),
        Claim(
            "heights that exceed physical limits eventually lead to failure (here: they need not)",
            f"asked for {settings.too_high:g} it reaches {tall.max():.3f}, asked for {settings.too_low:g} "
            f"{tall.min():.2f} of its standing height; {ended(reach)}; {RECOVERY:g} s afterwards {back:.3f} from "
            f"the standing height, joints off by {last:.3f} rad rms, feet slid {100 * largest_slip(reach):.1f} cm",
            not measure.fell(reach).fell and back < 0.01 and last < 0.1,
        ),
    )  # fmt: skip
    rows = [
        Panel("CoM height [m]", squat.time, {"actual": height, "asked": asked}, ("asked",)),
        Panel("knees [rad]", squat.time, {name: squat.qpos[:, figure.joint(name).qpos][:, 0] for name in knees}),
    ]
    high = [
        Panel("CoM height / standing", reach.time, {"actual": tall, "asked": tall_asked}, ("asked",)),
        Panel("knees [rad]", reach.time, {name: reach.qpos[:, figure.joint(name).qpos][:, 0] for name in knees}),
        Panel("largest torque / limit", reach.time[:-1], {"share": effort(reach)[:-1]}, low=0.0),
    ]
    facts = {
        "lowest": lowest, "rms": float(np.sqrt(np.mean(error**2))), "worst": float(error.max()),
        "highest": float(tall.max()), "least": float(tall.min()), "back": back, "error_after": last,
    }  # fmt: skip
    film = Film(
        "bends", azimuth=-65.0, times=np.linspace(0.0, settings.period, 8).tolist(), camera="fixed", panel=(210, 330)
    )
    plots = {"bends": panels(rows, "deep knee bends by CoM height"), "reach": panels(high, "heights out of reach")}
    return Outcome(claims, plots, film, facts)


def effort(rec: Recording) -> Array:
    """Returns (n,): the largest torque of any joint over its limit."""
    limit = rec.character.torque_limit
    driven = limit > 0.0
    return np.asarray((np.abs(rec.torque[:, driven]) / limit[driven]).max(axis=1))


EXPERIMENT = Experiment(
    name="squat-height",
    summary="deep knee bends by CoM height alone; heights out of reach",
    source="de Lasa 2011, section 4.1",
    settings=SquatHeightSettings,
    run=run,
)
