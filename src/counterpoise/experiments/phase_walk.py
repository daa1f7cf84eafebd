"""The walk of the thesis: a state machine over a table of objectives, and what has to be added before it walks.

The table is walked as it is printed, then with one addition after the other, then with all additions but one. So it is
seen what each of them brings. `Walk` is another machine: it plans its steps and follows hips instead of the CoM.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.phase_walker import ADDITIONS, PhaseWalk
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.session import Session
from counterpoise.simulate.start import disturbed_start

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENOUGH = 0.95  # of the starts
SETTLED = 0.4  # of a run, before its speed is measured
ORDER = tuple(ADDITIONS)  # in which they are added
LEFT_OUT = ("soft pose", "height", "pressure", "capture steps", "pendulum")  # the others make no new machine
STRETCH = 0.5  # [s] after which a fall ends a run


def _machines() -> dict[str, PhaseWalk]:
    """Returns the machines by name: the table, with more and more additions, and with all but one."""
    out = {"table 4.3": PhaseWalk()}
    for k, name in enumerate(ORDER):
        out[f"+ {name}"] = PhaseWalk(frozenset(ORDER[: k + 1]))
    for name in LEFT_OUT:
        out[f"all but {name}"] = PhaseWalk(frozenset(ORDER) - {name})
    return out


MACHINES = _machines()
WHOLE = f"+ {ORDER[-1]}"


@dataclass(frozen=True)
class Outing:
    """How one start of one machine went."""

    seconds: float  # until it fell, or to the end
    steps: int
    way: float  # [m] along x
    speed: float | None  # [m/s] in its last part; None: it fell

    @property
    def walks(self) -> bool:
        return self.speed is not None


@dataclass(frozen=True)
class PhaseWalkSettings:
    """Every machine from every start, the first one undisturbed. The thesis gives ranges of its parameters."""

    seconds: float = setting(10.0, "s", "of each run")
    starts: int = setting(
        20, "", "random starts of each machine: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)"
    )


def run(settings: PhaseWalkSettings, lab: Lab) -> Outcome:
    """Lets every machine walk from every start."""
    if settings.starts < 1 or settings.seconds < 5.0:
        raise BadValue(
            f"phase-walk takes 1 start or more, of 5 s or longer; got {settings.starts}, {settings.seconds:g} s"
        )
    human = character("human")
    found: dict[str, list[Outing]] = {}
    for name, walk in MACHINES.items():
        found[name] = []
        for seed in range(settings.starts):
            recording = walk_out(human, walk, settings.seconds, seed)
            if not seed:
                lab.recordings[_file_name(name)] = recording
            found[name].append(outing(recording))
            lab.report(name, (seed + 1) / settings.starts)
    film = Film(_file_name(WHOLE), azimuth=-90.0, count=16, columns=8, panel=(170, 220))
    first = Film(
        _file_name("table 4.3"), azimuth=-90.0, times=np.linspace(0.5, 2.0, 8).tolist(), columns=8, panel=(170, 220)
    )
    facts = {name: [vars(one) for one in rows] for name, rows in found.items()}
    return Outcome(_claims(found, settings), {"phase_walk": _plot(found)}, film, facts, {"table": first})


def _file_name(machine: str) -> str:
    """Returns the name of a machine without signs and blanks."""
    return machine.replace("+ ", "with ").replace(" ", "_")


def walk_out(human: Character, walk: PhaseWalk, seconds: float, seed: int) -> Recording:
    """Returns the recording of a walk, which ends soon after a fall. Seed 0 starts undisturbed."""
    start = disturbed_start(human, seed - 1) if seed else None
    session = Session(human, walk, start=start, seed=seed, keep=None)
    while session.time < seconds - 1e-6:
        stretch = session.advance(min(STRETCH, seconds - session.time))
        if stretch.status == "interrupted":
            raise KeyboardInterrupt
        if stretch.status != "finished" or str(stretch.notes["phase"][-1]) == "fallen":
            break
    return session.recordings[0]


def outing(recording: Recording) -> Outing:
    """Returns how far a machine walked before it fell."""
    phases = [str(phase) for phase in recording.notes["phase"]]
    steps = [step for step in recording.notes["steps"] if isinstance(step, float) and np.isfinite(step)]
    com = measure.com(recording)
    last = phases.index("fallen") / len(phases) if "fallen" in phases else 1.0
    row = min(int(last * len(com)), len(com) - 1)
    speed = None
    if last == 1.0:
        from_row = int(SETTLED * len(com))
        speed = float(com[-1, 0] - com[from_row, 0]) / float(recording.time[-1] - recording.time[from_row])
    return Outing(last * recording.duration, int(max(steps, default=0)), float(com[row, 0] - com[0, 0]), speed)


def _claims(found: dict[str, list[Outing]], settings: PhaseWalkSettings) -> tuple[Claim, ...]:
    """Returns what the thesis says of its table, and beside it every machine."""
    claims = []
    for name, rows in found.items():
        walks = sum(one.walks for one in rows)
        if name == "table 4.3":
            text = "table 4.3, with the gains of table 4.2, walks (de Lasa 2011, section 4.3)"
        elif name == "+ height":
            text = "+ height: the thesis leaves the height of the CoM free, to pivot on the stance leg"
        else:
            text = name
        claims.append(Claim(f"{text}: {settings.seconds:g} s", _words(rows), walks >= ENOUGH * len(rows)))
    return tuple(claims)


def _words(rows: list[Outing]) -> str:
    walks = [one for one in rows if one.walks]
    words = (
        f"{len(walks)} of {len(rows)} walk; {np.median([one.steps for one in rows]):.0f} steps, "
        f"{np.median([one.way for one in rows]):.1f} m, {np.median([one.seconds for one in rows]):.1f} s (medians)"
    )
    return f"{words}; {np.mean([one.speed for one in walks]):.2f} m/s" if walks else words


def _plot(found: dict[str, list[Outing]]) -> Figure:
    from matplotlib.figure import Figure

    from counterpoise.render import palette
    from counterpoise.render.plots import style_axis

    drawing = Figure(figsize=(9.0, 1.2 + 0.28 * len(found)), layout="constrained")
    axes = drawing.subplots(1, 2, sharey=True)
    for axis, label in zip(axes, ("steps before it falls, or the end", "way [m]"), strict=True):
        for row, rows in enumerate(found.values()):
            x = [one.steps if "steps" in label else one.way for one in rows]
            axis.plot(x, np.full(len(x), row), "o", markersize=3.0, alpha=0.5, color=palette.FIGURES[0])
        style_axis(axis, "")
        axis.set_xlabel(label, fontsize=8)
    names = [f"{name}  {sum(one.walks for one in rows)}/{len(rows)}" for name, rows in found.items()]
    axes[0].set_yticks(range(len(found)), names, fontsize=8)
    axes[0].set_ylim(len(found) - 0.5, -0.5)
    drawing.suptitle("the thesis's walk: its table, one addition after the other, and all but one", fontsize=10)
    return drawing


EXPERIMENT = Experiment(
    name="phase-walk",
    summary="the thesis's own walk: a state machine over its table, and what each addition brings",
    source="de Lasa 2011, section 4.3, tables 4.2 and 4.3, figure 4.6",
    settings=PhaseWalkSettings,
    run=run,
)
