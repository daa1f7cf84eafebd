"""Bodies of any shape follow keyframed motions while pushed (Macchietto 2008, section 7.5; 2009, section 9)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.character.library import character
from counterpoise.control.stand import Stand
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import ended, joint_errors, largest_slip, scaled_blow, trunk_of
from counterpoise.motion.references import reference_motion

MOTIONS = {  # a keyframed motion that suits each body
    "insectoid": "twist",
    "chicken": "squat",
    "human": "twist",
    "child": "butterfly",
    "asymmetric": "butterfly",
    "ostrich": "squat",
    "dinosaur": "squat",
}


@dataclass(frozen=True)
class MorphologiesSettings:
    """The papers show an insectoid and a chicken; they give no forces."""

    characters: str = setting(
        "insectoid,chicken,ostrich,dinosaur", "", "figures, separated by commas; all for the whole cast"
    )
    rho: float = setting(0.8, "", "strength of each push, in units of what ankles alone can take (MATH: rho)")
    pushes: int = setting(2, "", "during each motion")
    loops: int = setting(1, "", "how often the motion is repeated")


def run(settings: MorphologiesSettings, lab: Lab) -> Outcome:
    """Simulates each figure with its motion, pushed at its thorax; controller and tuning are the same for all."""
    from counterpoise.experiments.plotting import Panel, panels

    names = list(MOTIONS) if settings.characters == "all" else [name.strip() for name in settings.characters.split(",")]
    if not names or len(set(names)) != len(names):
        raise BadValue(
            f"morphologies: characters names figures once each, such as insectoid,chicken; got {settings.characters!r}"
        )
    claims, facts, rows = [], {}, []
    for name in names:
        figure = character(name)
        once = reference_motion(MOTIONS.get(name, "stand"), figure)
        reference = once.looped(settings.loops) if settings.loops > 1 else once
        trunk, seconds = trunk_of(figure), reference.duration + 2.5
        pushes = []
        for i in range(settings.pushes):
            way, when = 60.0 + 130.0 * i, 0.25 + reference.duration * (i + 0.4) / max(settings.pushes, 1)
            pushes.append(scaled_blow(figure, trunk, way, settings.rho, when))
        start = figure.state(reference.sample(0.0).q)
        rec = lab.simulate(name, figure, Stand(reference), seconds, disturbances=pushes, start=start)
        error, slip = joint_errors(rec, reference), largest_slip(rec)
        done = float(rec.notes["clock"][-1]) >= reference.end - 0.05
        forces = ", ".join(f"{np.linalg.norm(p.force):.0f}" for p in pushes)
        claims.append(
            Claim(
                f"{name}: tracks a keyframed {once.name} while perturbed, untuned",
                f"pushes of {forces} N x 0.1 s; {ended(rec)}, motion {'completed' if done else 'not completed'}; "
                f"joints off by {np.degrees(np.median(error)):.1f} deg rms in the median, "
                f"{np.degrees(error.max()):.0f} at most, {np.degrees(error[-1]):.1f} at the end; "
                f"feet slid {100 * slip:.1f} cm",
                bool(not measure.fell(rec).fell and done and error[-1] < 0.1),
            )
        )
        facts[name] = {
            "fell": measure.fell(rec).fell, "median": float(np.median(error)), "worst": float(error.max()),
            "slip": slip, "completed": done,
        }  # fmt: skip
        H = np.linalg.norm(measure.momentum(rec)[:, :3], axis=1) / (figure.mass * (figure.height / 4.0) ** 2)
        lines = {"joints off by [rad rms]": error, "|H| / m (h/4)² [1/s]": H}
        rows.append(Panel(name, rec.time, lines, low=0.0))
    film = Film(names[0], azimuth=-55.0, columns=5, panel=(210, 270), count=10)
    return Outcome(tuple(claims), {"morphologies": panels(rows, "pushed while moving")}, film, facts)


EXPERIMENT = Experiment(
    name="morphologies",
    summary="insectoid, chicken and others follow keyframed motions while pushed",
    source="Macchietto 2008, section 7.5, figure 7.6; 2009, section 9",
    settings=MorphologiesSettings,
    run=run,
)
