"""An hour on one's feet: random pushes every few seconds, up to most of what the push map says is survived.

The hour is simulated a minute at a time, each going on from where the last one ended, so that a recording stays small;
the controller begins each minute afresh.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.character.library import character
from counterpoise.control.stand import Stand
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.measure.pushes import ankle_limit
from counterpoise.simulate.disturbances import Push


@dataclass(frozen=True)
class Settings:
    """Pushes are drawn evenly over bodies, directions, strengths and pauses."""

    who: str = setting("human", "", "which figure")
    minutes: float = setting(60.0, "min", "how long")
    rho: float = setting(1.3, "", "what the push map says is survived everywhere, in ankle limits")
    share: float = setting(0.8, "", "of that, the strongest push")
    pause: tuple[float, float] = setting((2.0, 4.0), "s", "from one push to the next, shortest and longest")
    duration: float = setting(0.1, "s", "of each push")
    seed: int = setting(1, "", "of the pushes")


def run(settings: Settings, lab: Lab) -> Outcome:
    """Minute after minute, counting pushes, falls, failures of the solver, and how far the feet have wandered."""
    if not (settings.minutes > 0.0 and 0.0 < settings.pause[0] <= settings.pause[1] and settings.duration > 0.0):
        raise BadValue("endurance needs minutes > 0, 0 < shortest pause <= longest pause, duration > 0")
    who = character(settings.who)
    bodies = [b for b in who.segments if b in ("pelvis", "thorax", "head")] or [who.root]
    rng, total = np.random.default_rng(settings.seed), 60.0 * settings.minutes
    state = who.state()
    home = who.snapshot(state).contact_position.copy()
    done, pushed, failures, wandered, error = 0.0, 0, 0, 0.0, 0.0
    fell = ""
    while done < total - 1e-9 and not fell:
        length = min(60.0, total - done)
        pushes, t = [], float(rng.uniform(*settings.pause))
        while t < length - 2.0:
            body, angle = bodies[int(rng.integers(len(bodies)))], float(rng.uniform(0.0, 360.0))
            limit = ankle_limit(who, body, angle)
            force = float(rng.uniform(0.0, settings.share)) * settings.rho * limit.impulse / settings.duration
            way = math.radians(angle)
            pushes.append(Push(body, (force * math.cos(way), force * math.sin(way), 0.0), t, settings.duration))
            t += float(rng.uniform(*settings.pause))
        rec = lab.simulate("last minute", who, Stand(), length, disturbances=pushes, start=state)
        sign = measure.fell(rec)
        fell = f"{sign.reason} at {done + (sign.time or 0.0):.1f} s" if sign else ""
        failures += int(np.sum(np.asarray(rec.notes["status"]) != "solved"))
        state = who.state(rec.positions()[-1], rec.velocities()[-1])
        feet = who.snapshot(state).contact_position
        wandered = float(np.linalg.norm((feet - home)[:, :2], axis=1).max())
        error = float(np.abs(who.difference(who.neutral, state.q)[who.root_dofs.stop :]).max())
        done, pushed = done + length, pushed + len(pushes)
        lab.tell("standing", done / total)
    claims = (
        Claim(
            f"{settings.minutes:g} minutes of pushes are stood",
            fell or f"{pushed} pushes up to rho {settings.share * settings.rho:.2f}, no fall",
            not fell,
        ),
        Claim("the solver never fails", f"{failures} ticks not solved", failures == 0),
        Claim(
            "it does not drift",
            f"feet {1e3 * wandered:.0f} mm from where they began, joints {np.degrees(error):.1f} deg from the pose",
            wandered < 0.25 and error < 0.1,
        ),
    )
    facts = {
        "pushes": pushed,
        "failures": failures,
        "wandered": wandered,
        "error": error,
        "seconds": done,
        "fell": fell,
    }
    return Outcome(claims, film=Film("last minute"), facts=facts)


EXPERIMENT = Experiment(
    "endurance",
    "An hour of standing under random pushes: no fall, no failure, no drift",
    "our own",
    Settings,
    run,
)
