"""What the experiments with jumps share: many disturbed starts, the bars that each must pass, plots and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.control.perform import Jump, JumpPlan, JumpWish, jump_terrain, plan_jump
from counterpoise.errors import BadValue, unknown_name
from counterpoise.experiments.base import Claim, Lab
from counterpoise.measure import JumpFlight
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.start import disturbed_start
from counterpoise.simulate.world import World

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from counterpoise.render.draw import Picture

STANDING_TIME = 1.0  # [s] of each jump in a row between its plan's end and the next plan's start, for the run's length
AFTER = 2.2  # [s] simulated after the planned end of the last jump ...
AFTER_STEPS = 6.0  # [s] ... and where it does not stand then, because it stepped before it jumped
ENOUGH = 0.95  # share of the starts in which a jump must succeed


@dataclass(frozen=True)
class Bars:
    """What a jump must keep to be counted as a success."""

    rise: float = 0.03  # [m] of error of the CoM's rise
    place: float = 0.10  # [m] of error of the landing place
    turn: float = 10.0  # [deg] of error of the heading
    peak: float = 6.0  # [body weights]
    stood: float = 2.0  # [s] after landing
    spread: float = 0.0  # [m] at least so much between the feet in the air
    reach: float = math.inf  # [m] at most so much between the CoM and the feet at some time in the air

    def faults(self, wish: JumpWish, flight: JumpFlight) -> list[str]:
        """Returns what a flight does not keep."""
        off = math.hypot(flight.forward - wish.forward, flight.side - wish.side)
        broken = {
            "rise": abs(flight.rise - wish.height) > self.rise,
            "place": off > self.place,
            "turn": abs(flight.turn - wish.twist) > self.turn,
            "peak": flight.peak > self.peak,
            "still too late": flight.stood is None or flight.stood > self.stood,
            "step": flight.steps > 0,
            "spread": flight.spread < self.spread,
            "not tucked": flight.reach > self.reach,
        }
        return [name for name, is_broken in broken.items() if is_broken]


@dataclass(frozen=True)
class Case:
    """One jump to be measured."""

    wish: JumpWish
    times: int = 1
    bars: Bars = field(default_factory=Bars)
    character: str = "human"


@dataclass(frozen=True, eq=False)
class CaseResult:
    """A jump from many starts."""

    name: str
    case: Case
    plan: JumpPlan
    flights: tuple[tuple[JumpFlight, ...], ...]  # of every start
    falls: tuple[str, ...]  # of every start, empty where it stands
    first: Recording

    @property
    def stood(self) -> int:
        return sum(not fall for fall in self.falls)

    @property
    def faults(self) -> list[str]:
        """Returns what each start does not keep, in words; empty where it is a success."""
        out = []
        for fall, flights in zip(self.falls, self.flights, strict=True):
            wrong = [fault for one in flights for fault in self.case.bars.faults(self.case.wish, one)]
            if len(flights) != self.case.times and not fall:
                wrong.append(f"{len(flights)} flights")
            out.append(f"fell: {fall}" if fall else ", ".join(dict.fromkeys(wrong)))
        return out

    @property
    def good(self) -> int:
        return sum(not fault for fault in self.faults)

    def claim(self, text: str) -> Claim:
        """Returns the claim that enough starts succeed."""
        count, faults = len(self.falls), self.faults
        missed = {fault: faults.count(fault) for fault in faults if fault}
        why = "; ".join(f"{n} x {fault}" for fault, n in missed.items())
        note = f"; {self.plan.note}" if self.plan.note else ""
        measured = f"{self.good} of {count} ({self.stood} stand){': ' + why if why else ''}; {self.words()}{note}"
        return Claim(text, measured, self.good >= ENOUGH * count - 1e-9)

    def words(self) -> str:
        """Returns mean and worst of what was measured, over all flights of starts that stand."""
        rows = self.landed
        if not rows:
            return "no flight to measure"
        wish = self.case.wish
        rise = np.array([f.rise for f in rows])
        off = [math.hypot(f.forward - wish.forward, f.side - wish.side) for f in rows]
        turn = [abs(f.turn - wish.twist) for f in rows]
        stood = [f.stood for f in rows if f.stood is not None]
        late = f"{np.mean(stood):.1f} (longest {max(stood):.1f}) s" if stood else "never"
        return (
            f"rise {rise.mean():.3f} m (worst off by {100 * np.abs(rise - wish.height).max():.1f} cm), soles "
            f"{100 * np.mean([f.clearance for f in rows]):.1f} cm off the ground, place off by "
            f"{100 * np.mean(off):.1f} (worst {100 * max(off):.1f}) cm, heading {np.mean(turn):.1f} ({max(turn):.1f}) "
            f"deg, peak {np.mean([f.peak for f in rows]):.1f} ({max(f.peak for f in rows):.1f}) body weights, still "
            f"after {late}"
        )

    def facts(self) -> dict[str, Any]:
        """Returns the numbers behind the claim."""
        return {
            "asked": vars(self.case.wish), "planned height": self.plan.wish.height, "good": self.good,
            "stood": self.stood, "starts": len(self.falls), "faults": self.faults,
            "flights": [[vars(one) for one in flights] for flights in self.flights],
        }  # fmt: skip

    @property
    def landed(self) -> list[JumpFlight]:
        """Returns all flights of the starts that stand."""
        rows = [f for fall, one in zip(self.falls, self.flights, strict=True) if not fall for f in one]
        return [f for f in rows if f.landing is not None]


def chosen(cases: Mapping[str, Case], only: str) -> dict[str, Case]:
    """Returns the cases that a setting names, separated by commas; `all` for all."""
    if only == "all":
        return dict(cases)
    names = [name.strip() for name in only.split(",") if name.strip()]
    for name in names:
        if name not in cases:
            raise unknown_name("jump", name, cases)
    return {name: cases[name] for name in names}


def run_case(lab: Lab, name: str, case: Case, character: Character, starts: int, first_seed: int = 0) -> CaseResult:
    """Plans a jump, and performs it from disturbed starts with seeds from `first_seed`. The first recording is kept in
    the lab."""
    if starts < 1 or first_seed < 0:
        raise BadValue(f"starts is at least 1 and the first seed not negative; got {starts!r} and {first_seed!r}")
    lab.report(f"planning {name}", 0.0)
    jump = _jump(case)
    plan = plan_jump(character, case.wish, jump.planning)
    lab.report(f"planning {name}", 1.0)
    world = World(terrain=jump_terrain(character, case.wish, case.times))
    length = case.times * (jump.wait + plan.motion.duration + STANDING_TIME) - STANDING_TIME + AFTER
    flights, falls, first = [], [], None
    for number in range(starts):
        seed = first_seed + number
        start = disturbed_start(character, seed, world)
        recording = simulate(character, jump, length, world=world, start=start, seed=seed)
        if "step" in recording.notes["stage"] and recording.notes["stage"][-1] != "fallen":
            longer = length - AFTER + AFTER_STEPS
            recording = simulate(character, jump, longer, world=world, start=start, seed=seed)
        if first is None:
            first = lab.recordings[name] = recording
        if recording.status == "interrupted":
            raise KeyboardInterrupt
        flights.append(measure.jumps(recording))
        falls.append(how_it_fell(recording))
        lab.report(name, (number + 1) / starts)
    assert first is not None
    return CaseResult(name, case, plan, tuple(flights), tuple(falls), first)


def _jump(case: Case) -> Jump:
    w = case.wish
    return Jump(w.height, w.twist, w.forward, w.side, w.style, w.onto, case.times)


def how_it_fell(recording: Recording) -> str:
    """Returns why a figure does not stand at the end, in words; empty where it does."""
    fall = measure.fell(recording)
    if fall:
        return fall.reason
    causes = [str(c) for c in recording.notes.get("cause", ()) if isinstance(c, str) and c]
    return causes[-1] if causes else "" if recording.status == "finished" else recording.status


# -- pictures --------------------------------------------------------------------------------------------------------


def beside_the_plan(result: CaseResult, azimuth: float = -60.0, panel: tuple[int, int] = (170, 250)) -> Picture:
    """Returns two filmstrips: the plan, and below it what the first start made of it, at the same moments."""
    from counterpoise.render.pictures import filmstrip, labelled
    from counterpoise.render.take import Take

    plan, flight = result.plan.motion, next(iter(result.flights[0]), None)
    air = next((k for k in range(plan.phases) if plan.flies(k)), 0)
    up, down = float(plan.ends[air]), float(plan.ends[air + 1])
    rows = np.concatenate(
        [np.linspace(plan.ends[k], plan.ends[k + 1], plan.first[k + 1] - plan.first[k]) for k in range(plan.phases)]
    )
    keep = np.concatenate([[True], np.diff(rows) > 0.0])
    ideal = Take(result.first.model, rows[keep], plan.q[keep])
    real = Take(result.first.model, result.first.time, result.first.qpos)
    moments = [
        0.3 * up,
        0.62 * up,
        up,
        *(up + s * (down - up) for s in (0.25, 0.5, 0.75)),
        down,
        down + 0.2,
        down + 0.5,
    ]
    takeoff, landing = (up, down) if flight is None or flight.landing is None else (flight.takeoff, flight.landing)
    real_moments = [
        t - up + takeoff if t <= up else t - down + landing if t >= down
        else takeoff + (t - up) / (down - up) * (landing - takeoff)
        for t in moments
    ]  # fmt: skip
    pictures = []
    for words, take, times in (("planned", ideal, moments), ("performed", real, real_moments)):
        shown = [min(max(t, float(take.times[0])), float(take.times[-1])) for t in times]
        strip = filmstrip(take, times=shown, size=panel, columns=len(shown), azimuth=azimuth, elevation=8.0, samples=4)
        pictures.append(labelled(strip, words, at=(45.0, 14.0)))
    return np.concatenate(pictures)


def jump_plot(results: Sequence[CaseResult], title: str) -> Figure:
    """Draws a dot for every flight of every start: errors of height, place and heading, landing peak, time to stand."""
    from matplotlib.figure import Figure

    from counterpoise.render import palette
    from counterpoise.render.plots import style_axis

    bars = results[0].case.bars
    columns: tuple[tuple[str, Callable[[JumpWish, JumpFlight], float], tuple[float, ...]], ...] = (
        ("rise - asked [cm]", lambda w, f: 100.0 * (f.rise - w.height), (-100 * bars.rise, 100 * bars.rise)),
        ("place off by [cm]", lambda w, f: 100.0 * math.hypot(f.forward - w.forward, f.side - w.side),
         (100 * bars.place,)),
        ("heading off by [deg]", lambda w, f: f.turn - w.twist, (-bars.turn, bars.turn)),
        ("peak [body weights]", lambda w, f: f.peak, (bars.peak,)),
        ("still after [s]", lambda w, f: math.nan if f.stood is None else f.stood, (bars.stood,)),
    )  # fmt: skip
    drawing = Figure(figsize=(11.0, 1.1 + 0.3 * len(results)), layout="constrained")
    axes = drawing.subplots(1, len(columns), sharey=True, squeeze=False)[0]
    for axis, (label, value, limits) in zip(axes, columns, strict=True):
        for row, result in enumerate(results):
            x = [value(result.case.wish, f) for f in result.landed]
            axis.plot(x, np.full(len(x), row), "o", markersize=3.0, alpha=0.5, color=palette.FIGURES[0])
        for limit in limits:
            axis.axvline(limit, color=palette.INK, linewidth=0.8, linestyle="--")
        style_axis(axis, "")
        axis.set_xlabel(label, fontsize=8)
    axes[0].set_yticks(range(len(results)), [f"{r.name}  {r.good}/{len(r.falls)}" for r in results], fontsize=8)
    axes[0].set_ylim(len(results) - 0.5, -0.5)
    drawing.suptitle(title, fontsize=10)
    return drawing
