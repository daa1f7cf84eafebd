"""A figure dragged about by its head while it squats: by its own joints, and by the world (Macchietto 2009, 9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.track import point_path
from counterpoise.control.drag import Drag
from counterpoise.control.momentum_balance import MomentumBalance
from counterpoise.control.stand import Stand
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.combinations import facts_of
from counterpoise.experiments.tracking import TrackingReport, track_report
from counterpoise.motion.references import reference_motion
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.springs import Spring

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAG_PATH = (  # forward and up, in body heights, from the head in the neutral pose
    (0.0, 0.0),
    (0.14, -0.05),
    (0.14, -0.18),
    (-0.02, -0.24),
    (-0.06, -0.08),
    (0.06, 0.0),
    (0.0, 0.0),
)
WORDS = {"free": "not dragged", "drag": "Stand, by its joints", "momentum": "MomentumBalance", "spring": "by a spring"}


@dataclass(frozen=True)
class HeadDragSettings:
    """The paper's user dragged by hand; path, stiffness and weight are ours."""

    squats: int = setting(2, "", "how many")
    size: float = setting(1.0, "", "scale of the path")
    sideways: float = setting(0.01, "m", "of the path out of the sagittal plane")
    begin: float = setting(0.5, "s", "start of the drag; it ends the same time before the end")
    stiffness: float = setting(100.0, "1/s^2", "k_p of the drag")
    weight: float = setting(1000.0, "", "of the drag in Stand, against 1 for every joint and 1000 for the CoM's height")
    momentum_weight: float = setting(100.0, "", "of the drag in MomentumBalance, against 1 for every joint")
    spring: float = setting(300.0, "N/m", "of the external spring")
    damping: float = setting(60.0, "N s/m", "of the external spring")


def run(settings: HeadDragSettings, lab: Lab) -> Outcome:
    """Simulates squats alone, then dragged: by Stand's joints, by MomentumBalance's, and by a spring."""
    human = character("human")
    squats = reference_motion("squat", human).looped(settings.squats).named("squats")
    times, places = head_path(human, settings, squats.duration)
    pull = Drag("head", head_centre(human), (times, places), settings.stiffness, weight=settings.weight, start=times[0],
                end=times[-1])  # fmt: skip
    softer = pull.weighing(settings.momentum_weight)
    outside = Spring("head", head_centre(human), (times, places), settings.spring, settings.damping, start=times[0],
                     end=times[-1])  # fmt: skip
    start, seconds = Stand(squats).ready(human), squats.duration + 1.0
    runs = {
        "free": lab.simulate("free", human, Stand(squats), seconds, start=start),
        "drag": lab.simulate("drag", human, Stand(squats, extra=[pull]), seconds, start=start),
        "momentum": lab.simulate("momentum", human, MomentumBalance(squats, extra=[softer]), seconds, start=start),
        "spring": lab.simulate("spring", human, Stand(squats), seconds, start=start, disturbances=[outside]),
    }
    found = {name: track_report(rec, squats) for name, rec in runs.items()}
    away = {name: distance(rec, pull) for name, rec in runs.items()}
    off = {name: out_of_plane(rec) for name, rec in runs.items()}
    claims = (
        Claim(
            "the figure meets the user's demands and keeps its balance",
            f"head {100 * _rms(away['drag']):.1f} cm rms from the path ({100 * _rms(away['free']):.0f} cm when not "
            f"dragged), {_stood(found['drag'])}; MomentumBalance {100 * _rms(away['momentum']):.1f} cm, "
            f"{_stood(found['momentum'])}",
            found["drag"].stood and _rms(away["drag"]) < 0.5 * _rms(away["free"]),
        ),
        Claim(
            "it stays close to the motion asked for",
            f"joints off by {found['drag'].median:.1f} deg in the median (95 %: {found['drag'].most:.0f}), feet turned "
            f"{found['drag'].tilt:.1f} deg",
            found["drag"].stood and found["drag"].median < 15.0,
        ),
        Claim(
            "to avoid its joint limits it leaves the plane in which it is dragged",
            f"pelvis at most {100 * off['drag']:.1f} cm out of the plane (Stand), {100 * off['momentum']:.1f} cm "
            f"(MomentumBalance), {100 * off['free']:.1f} cm when not dragged",
            max(off["drag"], off["momentum"]) > 0.02,
        ),
        Claim(
            "dragged by a spring from outside it gives way and keeps its feet (ours)",
            f"{_stood(found['spring'])}, feet turned {found['spring'].tilt:.1f} deg; largest pull "
            f"{largest_pull(runs['spring']):.0f} N, head {100 * _rms(away['spring']):.0f} cm rms from the path",
            found["spring"].stood,
        ),
    )
    facts = {**facts_of(found), "distance": {n: _rms(a) for n, a in away.items()}, "out_of_plane": off}
    trail = np.array([pull.goal(t)[0] for t in runs["drag"].time])
    film = Film("drag", azimuth=-65.0, times=np.linspace(times[0], times[-1], 12).tolist(), columns=6, panel=(230, 290),
                trails={"path": trail})  # fmt: skip
    return Outcome(claims, {"drag": _plot(runs, pull, away)}, film, facts)


def head_centre(character: Character) -> tuple[float, float, float]:
    """Returns the head's centre of mass in its frame [m]."""
    x, y, z = character.model.body_ipos[character.body_id("head")]
    return (float(x), float(y), float(z))


def head_path(character: Character, settings: HeadDragSettings, seconds: float) -> tuple[Array, Array]:
    """Returns times [s] and places [m] that the head is dragged through, in the sagittal plane."""
    home = character.snapshot().position("head", head_centre(character))
    times = np.linspace(settings.begin, seconds - settings.begin, len(DRAG_PATH))
    places = np.tile(home, (len(DRAG_PATH), 1))
    places[:, [0, 2]] += settings.size * character.height * np.array(DRAG_PATH)
    places[1:-1, 1] += settings.sideways
    return times, places


def distance(rec: Recording, pull: Drag) -> Array:
    """Returns (n,) [m]: the distance of the head from where it is dragged; NaN while it is not dragged."""
    there = point_path(rec.character, rec.track(), "head", pull.point)
    goal = np.array([pull.goal(t)[0] for t in rec.time])
    away = np.linalg.norm(there - goal, axis=1)
    return np.where((rec.time >= pull.start) & (rec.time <= pull.end), away, np.nan)


def out_of_plane(rec: Recording) -> float:
    """Returns the largest distance of the pelvis from the sagittal plane [m]."""
    path = point_path(rec.character, rec.track(), "pelvis", (0.0, 0.0, 0.0))
    return float(np.abs(path[:, 1] - path[0, 1]).max())


def largest_pull(rec: Recording) -> float:
    """Returns the largest external force [N]."""
    return float(np.linalg.norm(rec.external[:, :, :3], axis=2).max())


def _rms(away: Array) -> float:
    return float(np.sqrt(np.nanmean(away**2)))


def _stood(one: TrackingReport) -> str:
    return "stood" if one.stood else f"fell at {one.fell:.1f} s"


def _plot(runs: dict[str, Recording], pull: Drag, away: dict[str, Array]) -> Figure:
    from counterpoise.experiments.plotting import Panel, panels

    time = runs["drag"].time
    goal = np.array([pull.goal(t)[0] for t in time])
    head = {n: point_path(r.character, r.track(), "head", pull.point) for n, r in runs.items()}
    rows = [
        Panel(f"head {way}\n[m]", time, {**{WORDS[n]: h[:, i] for n, h in head.items()}, "path": goal[:, i]}, ("path",))
        for i, way in ((0, "forward"), (2, "up"))
    ]
    rows += [
        Panel("from the path\n[m]", time, {WORDS[n]: a for n, a in away.items()}, low=0.0),
        Panel("CoM forward\n[m]", time, {WORDS[n]: measure.com(r)[:, 0] for n, r in runs.items()}),
    ]
    return panels(rows, "dragged by the head during squats")


EXPERIMENT = Experiment(
    name="head-drag",
    summary="a human dragged by the head during squats, by its joints and by a spring",
    source="Macchietto 2009, section 9, figure 6",
    settings=HeadDragSettings,
    run=run,
)
