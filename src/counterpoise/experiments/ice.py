"""Leg circles on one leg on ice, mu = 0.03 (Macchietto 2008, section 7.3, figure 7.4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.library import character
from counterpoise.control.stand import Stand
from counterpoise.defaults import PLANNED_FRICTION
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import ended, joint_errors, largest_slip, story_panels
from counterpoise.motion.references import reference_motion
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.world import World


@dataclass(frozen=True)
class IceSettings:
    """Friction is the thesis's; its leg circle was captured, ours is keyframed."""

    character: str = setting("human", "", "which figure")
    friction: float = setting(0.03, "", "of the ground")
    motion: str = setting("leg_circle", "", "reference motion")
    speed: float = setting(1.0, "", "of the reference")
    known: float = setting(0.8, "", "share of the friction that the controller plans with")
    ordinary: bool = setting(True, "", "also on ground of friction 1, for comparison")
    unaware: bool = setting(True, "", "also planning as if the ground were not slippery")


def run(settings: IceSettings, lab: Lab) -> Outcome:
    """Simulates on ice with and without knowing it, and on ordinary ground."""
    from counterpoise.experiments.plotting import Panel, panels

    figure = character(settings.character)
    reference = reference_motion(settings.motion, figure, speed=settings.speed)
    seconds = reference.duration + 1.5
    slippery, start = World(friction=settings.friction), figure.state(reference.sample(reference.start).q)
    aware = Stand(reference, friction=settings.known * settings.friction)
    runs = {"ice": lab.simulate("ice", figure, aware, seconds, world=slippery, start=start)}
    if settings.unaware:
        runs["unaware"] = lab.simulate("unaware", figure, Stand(reference), seconds, world=slippery, start=start)
    if settings.ordinary:
        runs["ordinary"] = lab.simulate("ordinary", figure, Stand(reference), seconds, start=start)
    errors = {name: joint_errors(rec, reference) for name, rec in runs.items()}
    ice = runs["ice"]
    done = float(ice.notes["clock"][-1]) >= reference.end - 0.05
    claims = [
        Claim(
            f"single-support leg circles are tracked with mu = {settings.friction:g}, without falling",
            f"{ended(ice)}, the motion {'completed' if done else 'not completed'}; "
            f"the foot slid {100 * largest_slip(ice):.1f} cm, joints off by "
            f"{np.degrees(np.median(errors['ice'])):.1f} deg rms in the median, "
            f"{np.degrees(errors['ice'].max()):.0f} at most",
            done and not measure.fell(ice).fell,
        )
    ]  # fmt: skip
    if settings.ordinary:
        lean = {name: sway(runs[name]) for name in ("ice", "ordinary")}
        claims.append(
            Claim(
                "the figure sacrifices tracking to preserve stability",
                f"median error {np.degrees(np.median(errors['ice'])):.1f} deg on ice, "
                f"{np.degrees(np.median(errors['ordinary'])):.1f} on ordinary ground; largest horizontal force "
                f"{lean['ice']:.3f} and {lean['ordinary']:.3f} body weights",
                bool(errors["ice"].mean() > errors["ordinary"].mean()),
            )
        )
    if settings.unaware:
        claims.append(
            Claim(
                "planning with the true friction is what keeps it up (ours)",
                f"planning with mu = {PLANNED_FRICTION:g} on the same ice: {ended(runs['unaware'])}, "
                f"the foot slid {100 * largest_slip(runs['unaware']):.1f} cm",
                measure.fell(runs["unaware"]).fell or largest_slip(runs["unaware"]) > largest_slip(ice),
            )
        )
    facts = {
        name: {
            "fell": measure.fell(rec).fell, "slip": largest_slip(rec), "median": float(np.median(errors[name])),
            "worst": float(errors[name].max()),
        }
        for name, rec in runs.items()
    }  # fmt: skip
    compared = [
        Panel("joints off by\n[rad rms]", ice.time, {name: errors[name] for name in runs}, low=0.0),
        Panel("horizontal force\n[body weights]", ice.time[:-1], {n: pull(r)[:-1] for n, r in runs.items()}, low=0.0),
    ]
    plots = {"ice": panels(story_panels(ice, reference), "on ice"), "compared": panels(compared, "ice and ground")}
    times = np.linspace(0.8, reference.duration - 0.5, 10).tolist()
    film = Film("ice", azimuth=-60.0, columns=5, panel=(190, 250), times=times, overlays={"ghost": reference})
    return Outcome(tuple(claims), plots, film, facts)


def pull(rec: Recording) -> Array:
    """Returns (n,): the horizontal force of the ground in body weights, averaged over 20 ms."""
    f = np.linalg.norm(measure.ground_force(rec)[:, :2], axis=1) / rec.character.weight
    return np.convolve(f, np.full(20, 0.05), "same")


def sway(rec: Recording) -> float:
    """Returns the largest horizontal force in body weights, without the start and the end."""
    return float(pull(rec)[200:-200].max())


EXPERIMENT = Experiment(
    name="ice",
    summary="leg circles on one leg on ice, mu = 0.03",
    source="Macchietto 2008, section 7.3, figure 7.4",
    settings=IceSettings,
    run=run,
)
