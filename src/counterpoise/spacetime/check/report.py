"""Check: is this motion physically possible?

    report = check_motion(motion)
    print(report.verdict, report.violation)

Everything that can give a motion away is measured frame by frame: feet that skate, sink or float; joints bent too far;
forces no contact could give; flight that does not fall as things fall, or that starts and stops turning by itself;
torques beyond the body's strength; jerk. A few thresholds (`CheckTuning`) make a yes or no of it, and a few sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from counterpoise.arrays import Array
from counterpoise.errors import BadValue, unknown_name
from counterpoise.motion import Motion
from counterpoise.motion.contacts import ContactWindow
from counterpoise.spacetime.check.flight import Carried, Flight, find_carried, find_flights, find_leaning
from counterpoise.spacetime.check.forces import find_forces
from counterpoise.spacetime.check.frames import frames_of_motion
from counterpoise.spacetime.check.measures import (
    FrameMeasures,
    JointExcess,
    find_demand,
    find_limits,
    measure_frames,
)
from counterpoise.spacetime.check.support import Hold, find_support
from counterpoise.spacetime.check.words import Finding, find_all, hints_of, plain, verdict_of


@dataclass(frozen=True)
class CheckTuning:
    """How to look, and what to let pass: by default what a good capture of a real person shows, and no more."""

    friction: float = 0.8  # of the ground
    floor: float | Literal["fit"] = 0.0  # [m] where the ground is; "fit": where the feet usually stand
    smooth: float = 0.02  # [s] width of the Gaussian that forces are smoothed by: accelerations up to 6.6 Hz pass
    low: float = 0.025  # [m] a point this near the ground may press ...
    slow: float = 0.6  # [m/s] ... if it is slower than this
    reach: float = 0.10  # [m] a foot that stands still higher than this stands on nothing
    max_skate: float = 3.0  # [cm/s] rms over planted feet
    max_penetration: float = 1.5  # [cm] at worst
    max_float: float = 2.0  # [cm] in 95% of the frames in which a foot stands
    max_limit: float = 3.0  # [deg] at worst
    max_force: float = 9.0  # [% of body weight] rms of what contacts cannot give
    max_balance: float = 15.0  # [cm] rms of the centre of pressure beyond the support area
    max_carried: float = 0.0  # [s] that something the motion does not show carries the body
    max_flight: float = 20.0  # [% of body weight] rms force in the worst flight
    max_drift: float = 50.0  # [%] change of angular momentum in the worst flight
    max_torque: float = 125.0  # [% of strength] in 99% of the frames
    max_jitter: float = 3.0  # [mm] rms
    max_jerk: float = 10000.0  # [m/s^3] in 95% of the frames; capture at 120/s has 3,000 to 8,000

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            if name == "floor" and value == "fit":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or value != value:
                raise BadValue(f"{name} is a number, not {value!r}", **{name: value})
            if name != "floor" and value < 0.0:
                raise BadValue(f"{name} is at least 0, not {value!r}", **{name: value})


@dataclass(frozen=True, eq=False)
class CheckReport:
    """What was found: `ok`, `verdict`, `violation`, every finding with its limit, and everything by frame."""

    motion: str
    character: str
    rate: float  # [1/s] frames looked at; 0 for a single pose
    tuning: CheckTuning
    contacts: tuple[ContactWindow, ...]
    feet: tuple[str, ...]
    floor: float  # [m]
    resting: float  # [m] usual height of the standing feet above the floor; nan where none stands
    findings: tuple[Finding, ...]
    flights: tuple[Flight, ...]
    carried: tuple[Carried, ...]  # stretches in which something that is not shown carries the body
    limits: tuple[JointExcess, ...]  # joints beyond their limits, the worst first
    strength: tuple[JointExcess, ...]  # share of strength each joint needs, the most strained first
    frames: FrameMeasures
    verdict: str

    @property
    def ok(self) -> bool:
        """Whether nothing found is beyond its limit."""
        return all(finding.ok for finding in self.findings)

    @property
    def violation(self) -> float:
        """Rms over the frames of the wrench that contacts cannot give [body weights; torques over the height]."""
        return self._rms_of(slice(0, 6))

    @property
    def missing_force(self) -> float:
        """The force in that wrench, rms [body weights]."""
        return self._rms_of(slice(3, 6))

    @property
    def missing_torque(self) -> float:
        """The torque about the CoM in that wrench, rms [body weights x height]."""
        return self._rms_of(slice(0, 3))

    def _rms_of(self, part: slice) -> float:
        seen = self.frames.missing[self.frames.judged, part]
        return float(np.sqrt(np.mean(np.sum(seen**2, axis=1)))) if len(seen) else 0.0

    def finding(self, name: str) -> Finding:
        """One finding by name: skate, penetration, float, limits, force, balance, flight, spin, strength, ..."""
        for finding in self.findings:
            if finding.name == name:
                return finding
        raise unknown_name("finding", name, [finding.name for finding in self.findings])

    def __str__(self) -> str:
        return self.verdict

    def to_json(self, frames: bool = False) -> dict[str, Any]:
        """Plain numbers, lists and words; with `frames`, also every frame's."""
        f = self.frames
        out: dict[str, Any] = {
            "motion": self.motion,
            "character": self.character,
            "ok": self.ok,
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
            skip = ("judged", "contact", "flight", "carried", "deepest", "torque_joint")
            out["by_frame"] = {k: _listed(v) for k, v in vars(f).items() if k not in skip}
            out["by_frame"] |= {k: getattr(f, k).tolist() for k in ("judged", "contact", "flight", "carried")}
            out["by_frame"]["feet"] = list(self.feet)
        return out


def check_motion(
    motion: Motion,
    *,
    contacts: Sequence[ContactWindow] | None = None,
    holds: Sequence[Hold | str] = (),
    tuning: CheckTuning | None = None,
    progress: Callable[[float], None] | None = None,
) -> CheckReport:
    """Measure everything that can give a motion away; see `CheckReport`.

    Feet find the ground by themselves (`find_contacts`) unless `contacts` are told. Whatever else lies low and slow -
    hands, knees, a seat - may press too. `holds` name bodies that hang on to what the motion does not show.
    `progress` is told the share done.
    """
    if not isinstance(motion, Motion):
        raise BadValue(f"check_motion takes a Motion (cp.read_motion reads one); got {type(motion).__name__}")
    tuning = tuning or CheckTuning()
    held = tuple(Hold(h) if isinstance(h, str) else h for h in holds)
    who = motion.character
    frames = frames_of_motion(motion, tuning.smooth)
    blur = 2.0 * tuning.smooth
    support = find_support(
        motion, frames, contacts, held, tuning.floor, tuning.low, tuning.slow, tuning.reach, blur
    )  # fmt: skip
    forces = find_forces(frames, support, tuning.friction, progress)
    carried, unseen = find_carried(frames, support, forces)
    measured = measure_frames(frames, support, forces, unseen, blur)
    flights = find_flights(frames, support, forces, unseen, 0.5 * blur)
    limits, demand = find_limits(frames), find_demand(frames, forces, measured)
    findings = find_all(who, measured, support.feet, flights, carried, limits, demand, tuning)
    hints = hints_of(frames, support, findings, find_leaning(frames, support, forces), tuning)
    for array in vars(measured).values():
        array.flags.writeable = False
    return CheckReport(
        motion=motion.name,
        character=who.name,
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
        strength=demand,
        frames=measured,
        verdict=verdict_of(findings, hints, measured),
    )


def _listed(values: Array) -> list[Any]:
    return [_listed(v) if isinstance(v, np.ndarray) else plain(v) for v in values]


__all__ = ["Carried", "CheckReport", "CheckTuning", "Finding", "Flight", "Hold", "JointExcess", "check_motion"]
