"""An hour of standing: random pushes every few seconds, up to a share of what the push map says is survived.

What is survived is measured first (or read from a push map's `claims.json`), at every body and direction, so that the
pushes fit the current controller. The hour is simulated about a minute at a time, so that a recording stays small;
state, time and the controller's memory continue from one minute to the next.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.stand import Stand
from counterpoise.errors import BadFile, BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.push_map import NamedController
from counterpoise.experiments.upright import scaled_blow
from counterpoise.measure.pushes import DIRECTIONS, push_map
from counterpoise.simulate.disturbances import Push

Rhos = Mapping[str, Mapping[float, float]]  # body -> direction [deg] -> largest rho survived
BEFORE_PUSH = 0.2  # [s] a minute ends this long before the next push
AFTER_PUSHES = 3.0  # [s] after the last push, as long as `Bar` gives to recover


@dataclass(frozen=True)
class EnduranceSettings:
    """Pushes are drawn evenly over bodies, directions, strengths and pauses."""

    character: str = setting("human", "", "which figure")
    minutes: float = setting(60.0, "min", "how long")
    share: float = setting(0.8, "", "strongest push, as a share of the largest one survived there")
    map: str = setting("", "", "claims.json of push-map with Stand; if empty, the limits are measured first")
    tolerance: float = setting(0.05, "", "of rho, if the limits are measured")
    workers: int = setting(1, "", "processes that measure the limits")
    pause: tuple[float, float] = setting((2.0, 4.0), "s", "from one push to the next, shortest and longest")
    duration: float = setting(0.1, "s", "of each push")
    seed: int = setting(1, "", "of the pushes")


@dataclass(eq=False)
class ContinuedStand:
    """Stand that begins with its last memory."""

    stand: Stand
    memory: Any = None

    @property
    def rate(self) -> float:
        return self.stand.rate

    def begin(self, character: Character) -> Any:
        return self.stand.begin(character) if self.memory is None else self.memory

    def act(self, snapshot: Snapshot, memory: Any) -> Action:
        action = self.stand.act(snapshot, memory)
        self.memory = action.memory
        return action


def run(settings: EnduranceSettings, lab: Lab) -> Outcome:
    """Simulates minute after minute, and counts pushes, falls, failures of the solver, and how far the feet moved."""
    if not (settings.minutes > 0.0 and 0.5 <= settings.pause[0] <= settings.pause[1] and settings.duration > 0.0):
        raise BadValue("endurance needs minutes > 0, 0.5 <= shortest pause <= longest pause, duration > 0")
    figure = character(settings.character)
    rhos = measured(figure, settings, lab)
    rng, total = np.random.default_rng(settings.seed), 60.0 * settings.minutes
    stand, state = ContinuedStand(Stand()), figure.state()
    home = figure.snapshot(state).contact_position.copy()
    wandered, strongest = [], 0.0
    statuses: set[str] = set()
    pushed, failures, fell, next_push = 0, 0, "", float(rng.uniform(*settings.pause))
    while state.time < total - 1e-9 and not fell:
        pushes: list[Push] = []
        while next_push < min(state.time + 60.0, total - AFTER_PUSHES):
            body, angle = list(rhos)[int(rng.integers(len(rhos)))], float(rng.uniform(0.0, 360.0))
            rho = float(rng.uniform(0.0, settings.share)) * least_near(rhos[body], angle)
            pushes.append(scaled_blow(figure, body, angle, rho, next_push, settings.duration))
            strongest, next_push = max(strongest, rho), next_push + float(rng.uniform(*settings.pause))
        until = total if next_push >= total - AFTER_PUSHES else next_push - BEFORE_PUSH
        rec = lab.simulate("last minute", figure, stand, until - state.time, disturbances=pushes, start=state)
        sign = measure.fell(rec)
        fell = f"fell at {sign.time:.1f} s: {sign.reason}" if sign.fell else ""
        status = np.asarray(rec.notes["status"])
        failures, statuses = failures + int(np.sum(status != "solved")), statuses | set(status.tolist())
        state = figure.state(rec.positions()[-1], rec.velocities()[-1], float(rec.time[-1]))
        wandered.append((figure.snapshot(state).contact_position - home)[:, :2])
        pushed += len(pushes)
        lab.report("standing", min(state.time / total, 1.0))
    furthest = [float(np.linalg.norm(moved, axis=1).max()) for moved in wandered]
    spread = float(np.linalg.norm(wandered[-1] - wandered[-1].mean(axis=0), axis=1).max())
    error = float(np.abs(figure.difference(figure.neutral, state.q)[figure.root_dofs.stop :]).max())
    least = min(min(ways.values()) for ways in rhos.values())
    claims = (
        Claim(
            f"{settings.minutes:g} minutes of pushes are stood",
            fell
            or f"{pushed} pushes up to {settings.share:g} of what is survived at that body and direction (rho "
            f"{least:.2f} or more), the strongest of rho {strongest:.2f}; no fall",
            not fell,
        ),
        Claim("the solver never fails", f"{failures} ticks not solved ({', '.join(sorted(statuses))})", failures == 0),
        Claim(
            "it does not drift",
            f"feet {1e3 * furthest[-1]:.0f} mm from where they began, {1e3 * max(furthest):.0f} at most, "
            f"{1e3 * spread:.0f} against each other; joints {np.degrees(error):.1f} deg from the pose at most",
            max(furthest) < 0.25 and error < 0.1,
        ),
    )
    facts = {
        "pushes": pushed, "failures": failures, "wandered": furthest, "spread": spread, "error": error,
        "seconds": state.time, "fell": fell, "survived": {body: dict(ways) for body, ways in rhos.items()},
    }  # fmt: skip
    return Outcome(claims, film=Film("last minute"), facts=facts)


def measured(character: Character, settings: EnduranceSettings, lab: Lab) -> Rhos:
    """Returns what Stand survives in place at pelvis, thorax and head (or the root), in eight directions."""
    bodies: list[str] = [b for b in ("pelvis", "thorax", "head") if b in character.segments]
    bodies = bodies or [character.root]
    if settings.map:
        try:
            facts = json.loads(Path(settings.map).read_text(encoding="utf-8"))["facts"]
            rows = {body: facts[f"stand {settings.character} {body}"] for body in bodies}
            return {body: {float(row["direction"]): float(row["rho"]) for row in rows[body]} for body in bodies}
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadFile(
                f"endurance: {settings.map!r} is no claims.json of push-map with Stand and {settings.character!r} at "
                f"{', '.join(bodies)} ({error!r}); leave `map` empty to measure it first", path=settings.map
            ) from error  # fmt: skip
    found = push_map(
        character, NamedController("stand"), bodies, workers=settings.workers, tolerance=settings.tolerance,
        duration=settings.duration,
        progress=lambda p: lab.report("measuring what is survived", p.share),
    )  # fmt: skip
    lab.report("measuring what is survived", 1.0)  # ends here where it was stopped
    return {body: {way: found[body, way].rho for way in DIRECTIONS} for body in bodies}


def least_near(ways: Mapping[float, float], angle: float) -> float:
    """Returns the smaller of the limits in the two measured directions nearest to an angle [deg]."""
    apart = sorted(ways, key=lambda way: abs(math.remainder(angle - way, 360.0)))
    return min(ways[way] for way in apart[:2])


EXPERIMENT = Experiment(
    "endurance",
    "An hour of standing under random pushes: no fall, no failure, no drift",
    "our own",
    EnduranceSettings,
    run,
)
