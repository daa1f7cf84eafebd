"""Checks whether a motion is physically possible, and how clean it is.

    report = check_motion(motion)
    print(report.verdict, report.violation)

Measured frame by frame: feet that skate, sink or float; joints beyond their limits; forces that no contact can supply;
flight with the wrong gravity or with changing angular momentum; torques beyond the body's strength; jitter and jerk.
Thresholds (`CheckTuning`) turn these measures into findings, a yes or no to either question, and a few sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue, Stopped, unknown_name
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow
from counterpoise.progress import Reporter, Watch, watching
from counterpoise.spacetime.check.findings import Finding, find_all, plain
from counterpoise.spacetime.check.flight import CarriedStretch, Flight, find_carried, find_flights, find_leaning
from counterpoise.spacetime.check.forces import find_forces
from counterpoise.spacetime.check.frames import frames_of_motion
from counterpoise.spacetime.check.measures import (
    FrameMeasures,
    JointExcess,
    find_limits,
    find_strength,
    measure_frames,
)
from counterpoise.spacetime.check.support import HeldBody, find_support
from counterpoise.spacetime.check.tuning import CheckTuning
from counterpoise.spacetime.check.verdict import hints_of, verdict_of


@dataclass(frozen=True, eq=False)
class CheckReport:
    """The result of a check: `ok`, `verdict`, `violation`, every finding with its limit, and all measures by frame."""

    motion: str
    character: str
    height: float  # [m] of the character, as assumed
    mass: float  # [kg]
    rate: float  # [1/s] of the checked frames; 0 for a single pose
    tuning: CheckTuning
    contacts: tuple[ContactWindow, ...]
    feet: tuple[str, ...]
    floor: float  # [m]
    resting: float  # [m] median height of standing feet above the floor; nan if no foot stands
    findings: tuple[Finding, ...]
    flights: tuple[Flight, ...]
    carried: tuple[CarriedStretch, ...]
    limits: tuple[JointExcess, ...]  # excess of joints over their limits, the worst first
    strength: tuple[JointExcess, ...]  # share of its strength that each joint needs, the largest first
    frames: FrameMeasures
    verdict: str

    @property
    def possible(self) -> bool:
        """Whether physics allows it: all findings about forces, flight, strength and joint limits are within theirs."""
        return all(finding.ok for finding in self.findings if finding.physics)

    @property
    def clean(self) -> bool:
        """Whether it is as clean as asked for: feet that do not skate, float or sink, no jitter."""
        return all(finding.ok for finding in self.findings if not finding.physics)

    @property
    def ok(self) -> bool:
        """The same as `possible`."""
        return self.possible

    @property
    def violation(self) -> float:
        """Residual: rms of the wrench that contacts cannot supply [body weights; torques over the height]."""
        return self._residual(slice(0, 6))

    @property
    def missing_force(self) -> float:
        """Rms of the residual force [body weights]."""
        return self._residual(slice(3, 6))

    @property
    def missing_torque(self) -> float:
        """Rms of the residual torque about the CoM [body weights x height]."""
        return self._residual(slice(0, 3))

    def _residual(self, part: slice) -> float:
        missing = self.frames.missing[self.frames.judged, part]
        return float(np.sqrt(np.mean(np.sum(missing**2, axis=1)))) if len(missing) else 0.0

    def finding(self, name: str) -> Finding:
        """Returns a finding by name: skate, penetration, float, limits, force, balance, flight, spin, strength, ..."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise unknown_name("finding", name, [finding.name for finding in self.findings])

    def __str__(self) -> str:
        return self.verdict

    def to_json(self, frames: bool = False) -> dict[str, Any]:
        """Returns plain numbers, lists and words; with `frames`, also all measures by frame."""
        f = self.frames
        out: dict[str, Any] = {
            "motion": self.motion,
            "character": self.character,
            "ok": self.ok,
            "possible": self.possible,
            "clean": self.clean,
            "height": self.height,
            "mass": self.mass,
            "verdict": self.verdict,
            "violation": self.violation,
            "missing_force": self.missing_force,
            "missing_torque": self.missing_torque,
            "frames_per_second": self.rate,
            "frame_count": len(f.times),
            "smoothing": self.tuning.smooth,
            "floor": self.floor,
            "resting": plain(self.resting),
            "findings": [finding.to_json() for finding in self.findings],
            "contacts": [{"foot": w.foot, "part": w.part, "start": w.start, "end": w.end} for w in self.contacts],
            "carried": [{**vars(c), "bodies": list(c.bodies)} for c in self.carried],
            "flights": [{k: plain(v) for k, v in vars(flight).items()} for flight in self.flights],
            "limits": [vars(excess) for excess in self.limits],
            "strength": [vars(excess) for excess in self.strength],
        }
        if frames:
            skip = ("judged", "contact", "flight", "carried", "deepest", "torque_joint", "efforts")
            out["by_frame"] = {k: _listed(v) for k, v in vars(f).items() if k not in skip}
            out["by_frame"] |= {k: getattr(f, k).tolist() for k in ("judged", "contact", "flight", "carried")}
            out["by_frame"]["feet"] = list(self.feet)
        return out


def check_motion(
    motion: Motion,
    *,
    contacts: Sequence[ContactWindow] | None = None,
    holds: Sequence[HeldBody | str] = (),
    tuning: CheckTuning | None = None,
    progress: Watch | None = None,
) -> CheckReport:
    """Returns a report on whether the motion is physically possible.

    Contacts of the feet are found in the motion (`find_contacts`) unless `contacts` are given. Other parts near the
    ground (hands, knees, a seat) may press on it too. `holds` names bodies that hold on to something that the motion
    does not show. `progress` is told how far it is; a check that is stopped raises `Stopped`.
    """
    if not isinstance(motion, Motion):
        raise BadValue(f"check_motion takes a Motion (cp.read_motion reads one); got {type(motion).__name__}")
    tuning = tuning or CheckTuning()
    held = held_bodies(holds)
    for hold in held:
        motion.character.body_id(hold.body)  # an unknown name is refused before the work
    with watching(progress) as reporter:
        return _checked(motion, contacts, held, tuning, reporter)


def _checked(
    motion: Motion,
    contacts: Sequence[ContactWindow] | None,
    holds: tuple[HeldBody, ...],
    tuning: CheckTuning,
    reporter: Reporter,
) -> CheckReport:
    character = motion.character
    _report(reporter, 0.0)
    frames = frames_of_motion(motion, tuning.smooth)
    _report(reporter, 0.01)
    support = find_support(motion, frames, contacts, holds, tuning, lambda: _report(reporter, 0.01))
    forces = find_forces(frames, support, tuning, lambda share: _report(reporter, 0.02 + 0.96 * share))
    carried, carried_frames = find_carried(frames, support, forces, tuning)
    _report(reporter, 0.98)
    measured = measure_frames(frames, support, forces, carried_frames, tuning)
    flights = find_flights(frames, support, forces, carried_frames, tuning)
    limits, strength = find_limits(frames), find_strength(frames, forces, measured)
    _report(reporter, 0.99)
    findings = find_all(character, measured, flights, carried, limits, strength, tuning)
    leaning = find_leaning(frames, support, forces, tuning)
    hints = hints_of(frames, support, findings, leaning, tuning, motion.source is not None)
    for array in vars(measured).values():
        array.flags.writeable = False
    return CheckReport(
        motion=motion.name,
        character=character.name,
        height=character.height,
        mass=character.mass,
        rate=frames.rate,
        tuning=tuning,
        contacts=support.contacts,
        feet=support.feet,
        floor=support.floor,
        resting=support.resting,
        findings=findings,
        flights=flights,
        carried=carried,
        limits=limits,
        strength=strength,
        frames=measured,
        verdict=verdict_of(character, findings, hints, measured),
    )


def _report(reporter: Reporter, share: float) -> None:
    """Reports how far a check is. One that should stop ends here: a part of a motion is not judged."""
    if not reporter.report("checking", share):
        raise Stopped(f"the check was stopped when {100 * share:.0f}% were done; there is no report")


def held_bodies(holds: Sequence[HeldBody | str]) -> tuple[HeldBody, ...]:
    """Returns the held bodies; one given by its name is held throughout."""
    return tuple(HeldBody(hold) if isinstance(hold, str) else hold for hold in holds)


def _listed(values: Array) -> list[Any]:
    return [_listed(v) if isinstance(v, np.ndarray) else plain(v) for v in values]
