"""A chain's CoM along a figure eight, its posture damped below it (de Lasa 2011, section 3.3.1, figure 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control import WholeBody, WholeBodyTuning
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.chains import raised_chain
from counterpoise.features import ComPosition
from counterpoise.objectives import Objective, Setpoint, TrackPose
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.world import World

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STRENGTH = 1e6  # [N m] of the joints: those of the thesis have no limits
BASE = 2.4  # [m] height of the chain's base, so that all of it stays above the floor that is drawn


@dataclass(frozen=True)
class ChainEightSettings:
    """Lengths, masses and gains are the thesis's; it does not say how large the eight is, nor how the chain starts."""

    links: int = setting(4, "", "links of the chain")
    length: float = setting(0.7, "m", "of a link")
    link_mass: float = setting(10.0, "kg", "of a link")
    amplitude: float = setting(0.5, "m", "A of eq. 3.35")
    com_stiffness: float = setting(100.0, "1/s^2", "k_p of the CoM objective")
    com_damping: float = setting(10.0, "1/s", "k_v of the CoM objective")
    posture_stiffness: float = setting(0.0, "1/s^2", "k_p of the posture objective")
    posture_damping: float = setting(1000.0, "1/s", "k_v of the posture objective")
    seconds: float = setting(15.0, "s", "how long")
    rate: float = setting(1000.0, "Hz", "control and physics")
    method: str = setting("strict", "", "strict, or weighted: both objectives in one level")
    com_weight: float = setting(1.0, "", "of the CoM objective against the posture's 1, when weighted")


def run(settings: ChainEightSettings, lab: Lab) -> Outcome:
    """Simulates, and compares the CoM with its reference."""
    rec = _simulated(settings, lab)
    actual, commanded = measure.com(rec)[:, [0, 2]], np.array([eight(settings.amplitude, t, BASE)[0] for t in rec.time])
    error = np.linalg.norm(actual - commanded, axis=1)
    settled = rec.time >= min(3.0, 0.5 * settings.seconds)
    late, worst = float(np.sqrt(np.mean(error[settled] ** 2))), float(error[settled].max())
    c0, c1, c2 = dynamics_residual(rec), rec.notes["residual com"], rec.notes["residual posture"]
    claims = (
        Claim(
            "the CoM objective is exactly satisfied (c1 = 0)",
            f"largest |A a - b| {c1.max():.1e} m/s^2", bool(c1.max() < 1e-7),
        ),
        Claim(
            "the pose objective cannot be completely satisfied (c2 != 0)",
            f"median {np.median(c2):.2f} rad/s^2, smallest after the start {c2[5:].min():.2g}",
            bool(np.median(c2) > 1e-2),
        ),
        Claim(
            "the chain's CoM follows the figure eight",
            f"rms error {1e3 * late:.2f} mm, largest {1e3 * worst:.2f} mm, once settled (from 3 s on)",
            bool(late < 0.005 * settings.amplitude + 1e-9),
        ),
        Claim(
            "the dynamics constraints hold (c0 = 0)",
            f"largest |M a + h - tau| {c0.max():.1e} of the largest torque", bool(c0.max() < 1e-9),
        ),
    )  # fmt: skip
    path = np.zeros((len(rec), 3))
    path[:, [0, 2]] = commanded
    film = Film(
        "chain", azimuth=-90.0, elevation=4.0, trails={"commanded": path},
        times=np.linspace(0.0, min(5.6, settings.seconds), 8).tolist(),
        overlays={"com": True, "cop": False, "forces": False}, camera="fixed", panel=(280, 320),
    )  # fmt: skip
    facts = {"rms_error": late, "largest_error": worst, "c0": float(c0.max()), "c1": float(c1.max()),
             "c2_median": float(np.median(c2)), "largest_torque": float(np.abs(rec.torque).max())}  # fmt: skip
    plots = {"com": _com_plot(actual, commanded), "residuals": _residual_plot(rec.ticks, c0, c1, c2)}
    return Outcome(claims, plots, film, facts)


def _simulated(settings: ChainEightSettings, lab: Lab) -> Recording:
    chain = strong_chain(settings.links, settings.length, settings.link_mass)
    com = Setpoint(
        ComPosition(), lambda t: eight(settings.amplitude, t, BASE), axes="xz", stiffness=settings.com_stiffness,
        damping=settings.com_damping, name="com", weight=settings.com_weight,
    )  # fmt: skip
    posture = TrackPose(start_pose(chain), settings.posture_stiffness, settings.posture_damping, name="posture")
    if settings.method not in ("strict", "weighted"):
        raise BadValue(f"chain-eight: method is 'strict' or 'weighted'; got {settings.method!r}")
    levels: list[list[Objective]] = [[com], [posture]] if settings.method == "strict" else [[com, posture]]
    control = WholeBody(levels, rate=settings.rate, tuning=WholeBodyTuning(torque_limits=False))
    world = World(ground=False, timestep=1.0 / settings.rate)
    return lab.simulate("chain", chain, control, settings.seconds, world=world, start=chain.state(start_pose(chain)))


def _com_plot(actual: Array, commanded: Array) -> Figure:
    from matplotlib.figure import Figure

    from counterpoise.render import palette
    from counterpoise.render.plots import style_axis

    drawing = Figure(figsize=(5.2, 4.2), layout="constrained")
    axis = drawing.subplots()
    axis.plot(*actual.T, color=palette.FIGURES[1], linewidth=1.4, label="actual")
    axis.plot(*commanded.T, color=palette.INK, linewidth=1.0, linestyle="--", label="commanded")
    axis.plot(*actual[0], "o", color=palette.FIGURES[1], markersize=5, label="start")
    axis.set_aspect("equal")
    axis.set_xlabel("x [m]", fontsize=9)
    style_axis(axis, "height [m]")
    axis.legend(fontsize=8, frameon=False, loc="lower center")
    return drawing


def _residual_plot(ticks: Array, c0: Array, c1: Array, c2: Array) -> Figure:
    from counterpoise.experiments.plotting import Panel, panels

    rows = [
        Panel("c0: dynamics", ticks, {"c0": c0}, logarithmic=True),
        Panel("c1: CoM [m/s²]", ticks, {"c1": c1}, logarithmic=True),
        Panel("c2: posture [rad/s²]", ticks, {"c2": c2}),
    ]
    return panels(rows, "residuals |A x - b|")


def eight(A: float, t: float, base: float = 0.0) -> tuple[Array, Array, Array]:
    """Returns eq. 3.35, (A sin t, A sin 2t) about the base, and its two derivatives; the thesis's y is our z."""
    s, c, s2, c2 = np.sin(t), np.cos(t), np.sin(2.0 * t), np.cos(2.0 * t)
    return np.array([A * s, base + A * s2]), A * np.array([c, 2.0 * c2]), A * np.array([-s, -4.0 * s2])


def start_pose(character: Character) -> Array:
    """Returns a pose curled to one side, near the middle of the eight and away from singularities."""
    q = np.full(character.nq, 1.9)
    q[0] = -0.4
    return q


def dynamics_residual(rec: Recording) -> Array:
    """Returns |M a + h - tau| / max |tau| at every tick, with a from the simulated velocities."""
    character = rec.character
    out = np.zeros(len(rec.ticks))
    largest = float(np.abs(rec.torque).max(initial=1e-12))
    dt = rec.timestep
    for i, time in enumerate(rec.ticks):
        k = rec.row_at(time)
        s = character.snapshot(rec.state(k))
        a = (rec.qvel[k + 1] - rec.qvel[k]) / dt
        out[i] = np.abs(s.M @ a + s.h - rec.torque[k]).max() / largest
    return out


def strong_chain(links: int, length: float, link_mass: float) -> Character:
    """Returns the library's chain, its base raised, with joints of unlimited strength."""
    return raised_chain(links, length, link_mass, BASE, STRENGTH)


EXPERIMENT = Experiment(
    name="chain-eight",
    summary="a fully actuated chain's CoM along a figure eight, posture second",
    source="de Lasa 2011, section 3.3.1, figure 3.2",
    settings=ChainEightSettings,
    run=run,
)
