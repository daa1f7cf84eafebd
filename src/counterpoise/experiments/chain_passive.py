"""A chain whose first joint has no motor holds its CoM at a height (de Lasa 2011, section 3.3.2, figure 3.3)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control import WholeBody, WholeBodyTuning
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.chain_eight import BASE, strong_chain
from counterpoise.features import ComPosition
from counterpoise.objectives import MinimumTorque, Setpoint, TrackPose
from counterpoise.simulate.world import World


@dataclass(frozen=True)
class ChainPassiveSettings:
    """Gains as in section 3.3.1; the thesis does not say which heights were asked for."""

    heights: tuple[float, ...] = setting((-0.9, -0.5, -0.8), "m", "of the CoM, from the base, one after another")
    length: float = setting(0.7, "m", "of a link")
    link_mass: float = setting(10.0, "kg", "of a link")
    com_stiffness: float = setting(100.0, "1/s^2", "k_p of the CoM objective")
    com_damping: float = setting(10.0, "1/s", "k_v of the CoM objective")
    posture_damping: float = setting(1000.0, "1/s", "k_v of the posture objective; its k_p is 0")
    seconds: float = setting(15.0, "s", "how long")
    rate: float = setting(1000.0, "Hz", "control and physics")


def run(settings: ChainPassiveSettings, lab: Lab) -> Outcome:
    """Simulates, and measures whether the height is kept without a motor at the base."""
    from counterpoise.experiments.plotting import Panel, panels

    chain = strong_chain(4, settings.length, settings.link_mass)
    passive = MinimumTorque(("joint1",), name="passive joint")
    height = Setpoint(
        ComPosition(), lambda t: np.array([_asked(settings, t)]), axes="z", stiffness=settings.com_stiffness,
        damping=settings.com_damping, name="height",
    )  # fmt: skip
    damping = TrackPose(start_pose(chain), 0.0, settings.posture_damping, name="posture")
    control = WholeBody(
        [[passive], [height], [damping]], rate=settings.rate, tuning=WholeBodyTuning(torque_limits=False)
    )
    world = World(ground=False, timestep=1.0 / settings.rate)
    rec = lab.simulate("chain", chain, control, settings.seconds, world=world, start=chain.state(start_pose(chain)))

    com = measure.com(rec)
    asked = np.array([_asked(settings, t) for t in rec.time])
    error = np.abs(com[:, 2] - asked)
    part = settings.seconds / len(settings.heights)
    settled = np.mod(rec.time, part) > 0.4 * part  # the last three fifths of every height
    late = float(np.sqrt(np.mean(error[settled] ** 2)))
    first = float(np.abs(rec.torque[:, 0]).max())
    notes = {name: rec.notes[f"residual {name}"] for name in ("passive joint", "height", "posture")}
    claims = (
        Claim(
            "the base joint is passive (tau_0 = 0)",
            f"largest torque there {first:.1e} N m, at the others {np.abs(rec.torque[:, 1:]).max():.0f} N m",
            bool(first < 1e-6),
        ),
        Claim(
            "the CoM height is accurately tracked all the same",
            f"rms error {1e3 * late:.2f} mm once settled (2 s after each new height)", bool(late < 2e-3),
        ),
        Claim(
            "all objectives are met but the final, full-rank one",
            f"largest residuals: passive joint {notes['passive joint'].max():.1e} N m, height "
            f"{notes['height'].max():.1e} m/s^2, posture {notes['posture'].max():.0f} rad/s^2",
            bool(max(notes[n].max() for n in ("passive joint", "height")) < 1e-6 and notes["posture"].max() > 1e-2),
        ),
    )  # fmt: skip
    plot = panels(
        [
            Panel("CoM height [m]", rec.time, {"actual": com[:, 2] - BASE, "commanded": asked - BASE}, ("commanded",)),
            Panel("CoM forward [m]", rec.time, {"x": com[:, 0]}),
            Panel("torques [N m]", rec.time, {f"joint {i + 1}": rec.torque[:, i] for i in range(4)}),
            Panel("residuals", rec.ticks, notes, logarithmic=True),
        ],
        "a chain with a passive first joint",
    )
    film = Film(
        "chain", azimuth=-90.0, elevation=4.0, times=np.linspace(0.0, min(3.5, settings.seconds), 8).tolist(),
        overlays={"com": True, "cop": False, "forces": False}, camera="fixed", panel=(280, 320),
    )  # fmt: skip
    facts = {"rms_error": late, "first_torque": first, **{f"residual_{k}": float(v.max()) for k, v in notes.items()}}
    return Outcome(claims, {"height": plot}, film, facts)


def start_pose(character: Character) -> Array:
    """Returns a pose that hangs from the base in an open zigzag."""
    q = np.array([2.6, 0.9, -1.2, 0.9])
    return q[: character.nq]


def _asked(settings: ChainPassiveSettings, time: float) -> float:
    """The CoM height asked for at a time [m]."""
    part = settings.seconds / len(settings.heights)
    return BASE + settings.heights[min(int(time / part), len(settings.heights) - 1)]


EXPERIMENT = Experiment(
    name="chain-passive",
    summary="the chain with a passive first joint keeps its CoM's height",
    source="de Lasa 2011, section 3.3.2, figure 3.3",
    settings=ChainPassiveSettings,
    run=run,
)
