"""A slippery platform that moves, and blows besides (Macchietto 2009, Platform, figure 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.character.library import character
from counterpoise.control.stand import Stand
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import blow, ended, joint_errors, largest_slip, story_panels, trunk_of
from counterpoise.objectives.surface import moving_surface
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.world import Platform, Sine, World


@dataclass(frozen=True)
class PlatformSettings:
    """Friction is the paper's; amplitudes, frequencies and impulses are not given there."""

    character: str = setting("human", "", "which figure")
    friction: float = setting(0.1, "", "of the platform")
    sway: float = setting(0.06, "m", "largest amplitude fore and aft, at 0.4 Hz")
    heave: float = setting(0.04, "m", "largest amplitude up and down, at 0.9 Hz")
    tilt: float = setting(1.5, "deg", "largest amplitude of roll and pitch")
    impulse: float = setting(8.0, "N s", "of each push")
    seconds: float = setting(12.0, "s", "how long")
    known: float = setting(0.8, "", "share of the friction that the controller plans with")
    still: bool = setting(True, "", "also a controller that does not know that its ground moves")


def run(settings: PlatformSettings, lab: Lab) -> Outcome:
    """Simulates on the platform, with and without knowing how it moves."""
    from counterpoise.experiments.plotting import Panel, panels

    figure, moves = character(settings.character), platform(settings)
    world = World(friction=settings.friction, platform=moves)
    trunk, force = trunk_of(figure), settings.impulse / 0.1
    pushes = [blow(trunk, 77.0 * i, force, 1.5 + 2.0 * i) for i in range(int((settings.seconds - 2.0) // 2.0))]
    planned = settings.known * settings.friction
    aware = Stand(ground=moving_surface(moves.pose), friction=planned)
    rec = lab.simulate("platform", figure, aware, settings.seconds, world=world, disturbances=pushes)
    other = None
    if settings.still:
        unaware = Stand(friction=planned)
        other = lab.simulate("unaware", figure, unaware, settings.seconds, world=world, disturbances=pushes)
    up = measure.ground_force(rec)[:-1, 2] / figure.weight
    error, slip = joint_errors(rec), largest_slip(rec)
    last = rec.time > settings.seconds - 1.0
    claims = [
        Claim(
            "the character adapts to the slippery surface while reacting to moderate impacts",
            f"{ended(rec)}: mu = {settings.friction:g}, normal force {up[200:].min():.2f} to {up[200:].max():.2f} body "
            f"weights, {len(pushes)} pushes of {settings.impulse:g} N s; joints off by "
            f"{np.degrees(np.median(error)):.1f} deg rms in the median, {np.degrees(error[last].max()):.1f} at the end",
            not measure.fell(rec).fell,
        ),
        Claim(
            "while reducing relative motion of the support with respect to the platform",
            f"the feet slid {100 * slip:.1f} cm on it in {settings.seconds:g} s and {len(pushes)} pushes; feet end "
            f"{100 * drift(rec):.1f} cm from their places on it",
            drift(rec) < 0.1,
        ),
    ]
    if other is not None:
        claims.append(
            Claim(
                "knowing how the ground moves helps (ours)",
                f"not knowing: {ended(other)}, slid {100 * largest_slip(other):.1f} cm, joints off by "
                f"{np.degrees(np.median(joint_errors(other))):.1f} deg rms in the median",
                measure.fell(other).fell or largest_slip(other) > slip,
            )
        )
    facts = {"fell": measure.fell(rec).fell, "slip": slip, "drift": drift(rec), "median": float(np.median(error))}
    axes = rec.qpos[:, figure.nq : figure.nq + 6]
    rows = [
        Panel("platform [m]", rec.time, {"forward": axes[:, 0], "left": axes[:, 1], "up": axes[:, 2]}),
        Panel("normal force\n[body weights]", rec.time[:-1], {"up": up}, low=0.0),
        *story_panels(rec),
    ]
    film = Film(
        "platform",
        azimuth=-55.0,
        columns=5,
        panel=(190, 250),
        times=np.linspace(1.4, min(settings.seconds, 6.0), 10).tolist(),
    )
    return Outcome(tuple(claims), {"platform": panels(rows, "a slippery, moving platform")}, film, facts)


def platform(settings: PlatformSettings) -> Platform:
    """Returns a platform with sums of sines on every axis but yaw."""
    s, h, t = settings.sway, settings.heave, np.radians(settings.tilt)
    return Platform(
        x=(Sine(s, 0.4), Sine(0.3 * s, 0.7, 1.0)),
        y=(Sine(0.7 * s, 0.5, 0.5), Sine(0.2 * s, 0.9)),
        z=(Sine(h, 0.9), Sine(0.3 * h, 1.7, 2.0)),
        roll=(Sine(t, 0.6),),
        pitch=(Sine(t, 0.45, 1.0),),
        half_size=(0.5, 0.5),
    )


def drift(rec: Recording) -> float:
    """Returns how far a foot ended from its first place on the platform [m]; the larger of the two."""
    character = rec.character
    ends = []
    for k in (0, len(rec) - 1):
        at = rec.qpos[k, character.nq : character.nq + 6]
        points = character.snapshot(rec.state(k)).contact_position
        yaw = at[3]  # x, y, z, yaw, pitch, roll: small tilts move a foot by less than a millimetre
        flat = points[:, :2] - at[:2]
        ends.append(flat @ np.array([[np.cos(yaw), -np.sin(yaw)], [np.sin(yaw), np.cos(yaw)]]))
    moved, out, i = ends[1] - ends[0], 0.0, 0
    for foot in character.feet:
        n = len(foot.points)
        out, i = max(out, float(np.linalg.norm(moved[i : i + n].mean(axis=0)))), i + n
    return out


EXPERIMENT = Experiment(
    name="platform",
    summary="standing on a slippery, moving platform, pushed",
    source="Macchietto 2009, section 9, Platform, figure 1",
    settings=PlatformSettings,
    run=run,
)
