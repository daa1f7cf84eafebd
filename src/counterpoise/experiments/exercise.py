"""Exercises on both feet - butterfly, squat, toe touch, jab - tracked with objectives on and off (Macchietto)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.combinations import COMBINATIONS, EVERY, WORDS, run_each, track_motions
from counterpoise.experiments.tracking import TrackingReport, track_report
from counterpoise.experiments.tracking_plots import table, tracking_plot
from counterpoise.motion.keyframes import Keyframe, keyframed, pose_from_joints
from counterpoise.motion.motion import Motion
from counterpoise.motion.references import reference_motion
from counterpoise.spatial import exp

KEYFRAMED = ("butterfly", "squat", "toe_touch", "jab")
CAPTURED = {  # clip, frames at 120 a second
    "captured squat": ("13_29", (3793, 4200)),
    "captured toe touch": ("13_29", (1909, 2688)),
    "captured arm circles": ("13_29", (1201, 1560)),
    "captured punches": ("02_05", (1, 400)),
}

Reports = Mapping[str, Mapping[str, TrackingReport]]  # by motion, then by combination


@dataclass(frozen=True)
class ExerciseSettings:
    """The exercises are those of the papers. They captured theirs; ours are keyframed, or captured by others."""

    speed: float = setting(1.0, "", "of the keyframed motions")
    clips: str = setting("", "", "folder with 13_29.bvh and 02_05.bvh; empty: shared/mocap beside the project")
    captured: bool = setting(True, "", "also follow the captured clips, if there are any")
    hurry: bool = setting(True, "", "also find the fastest toe touch of each combination")
    fastest: float = setting(5.2, "", "largest speed of that search; the smallest is 2.8")
    rest: float = setting(0.7, "s", "simulated after each motion")


def run(settings: ExerciseSettings, lab: Lab) -> Outcome:
    """Simulates every motion with each combination of objectives, and with Stand."""
    human = character("human")
    motions = {
        name: jab(human, settings.speed) if name == "jab" else reference_motion(name, human, speed=settings.speed)
        for name in KEYFRAMED
    }
    tracked = track_motions(
        lab, human, motions, CAPTURED, settings.clips, captured=settings.captured, rest=settings.rest,
        keep=["squat_stand", "squat_angular", "captured_squat_stand"],
    )  # fmt: skip
    found, clips = tracked.reports, tracked.captured
    claims = [_accurate(found, list(motions)), _needs_angular(found, list(motions))]
    if clips:
        claims.append(_captured(found, list(clips)))
    facts = tracked.facts()
    if settings.hurry:
        speeds = {name: fastest(name, human, settings, lab) for name in EVERY}
        claims.append(_margin(speeds))
        facts["fastest toe touch"] = speeds
    plots = {"exercise": table(found, "exercises on both feet: median error [deg], or when it fell")}
    plots["squat"] = tracking_plot(tracked.runs["squat"], motions["squat"], "the keyframed squat")
    if clips:
        plots["captured"] = tracking_plot(tracked.runs["captured squat"], clips["captured squat"], "the captured squat")
    shown, ghost = ("captured_squat_stand", clips["captured squat"]) if clips else ("squat_stand", motions["squat"])
    times = np.linspace(0.0, lab.recordings[shown].duration, 10).tolist()
    overlays = {"ghost": ghost, "ghost_offset": (0.0, 0.8, 0.0)}
    film = Film(shown, azimuth=-50.0, times=times, columns=5, panel=(270, 270), overlays=overlays)
    return Outcome(tuple(claims), plots, film, facts)


def jab(character: Character, speed: float = 1.0) -> Motion:
    """Returns two fast left jabs from a guard: trunk and shoulder turn into each, out in 0.16 s and back."""

    def arms(left: tuple[float, float], turn: float) -> dict[str, object]:
        lift, elbow = left
        return {
            "shoulder_left": exp(np.array([0.15, -lift, 0.0])),
            "shoulder_right": exp(np.array([-0.15, -0.5, 0.0])),
            "elbow_left": elbow,
            "elbow_right": 2.0,
            "spine": exp(np.array([0.0, 0.04, turn])),
        }

    rest = character.neutral
    guard, strike = (
        pose_from_joints(character, arms((0.5, 2.0), 0.1)),
        pose_from_joints(character, arms((1.45, 0.15), -0.35)),
    )
    keys = [Keyframe(0.0, rest), Keyframe(0.6, guard, hold=0.1)]
    for begin in (0.9, 1.5):
        keys += [Keyframe(begin, guard), Keyframe(begin + 0.16, strike), Keyframe(begin + 0.42, guard, hold=0.1)]
    keys.append(Keyframe(2.7, rest))
    made = keyframed(character, keys, name="jab")
    return made if speed == 1.0 else made.retimed(speed)


def fastest(combination: str, character: Character, settings: ExerciseSettings, lab: Lab) -> float:
    """Returns how many times its own speed the toe touch may have, by bisection to 0.2."""
    low, high = 2.8, settings.fastest
    while high - low > 0.2:
        middle = 0.5 * (low + high)
        hurried = reference_motion("toe_touch", character, speed=middle)
        runs = run_each(lab, character, hurried, hurried.duration + 1.5, name="hurried", combinations=[combination])
        low, high = (middle, high) if track_report(runs[combination], hurried).stood else (low, middle)
        lab.recordings.pop(f"hurried_{combination}")
    return low


def _each(found: Reports, names: list[str], combination: str) -> str:
    return ", ".join(
        f"{name} {one.median:.1f} deg" if (one := found[name][combination]).stood else f"{name} fell" for name in names
    )


def _accurate(found: Reports, names: list[str]) -> Claim:
    both = [found[name][c] for name in names for c in ("angular", "stand")]
    return Claim(
        "motions on both feet are tracked accurately with all objectives",
        f"all objectives: {_each(found, names, 'angular')}; Stand: {_each(found, names, 'stand')}",
        all(one.stood and one.median < 5.0 for one in both),
    )


def _needs_angular(found: Reports, names: list[str]) -> Claim:
    without = {c: [n for n in names if not found[n][c].stood] for c in ("tracking", "linear")}
    falls = {c: "falls in " + ", ".join(names) if names else "completes all" for c, names in without.items()}
    measured = "; ".join(f"{WORDS[c]}: {how}" for c, how in falls.items())
    return Claim(
        "butterfly and squat cannot be completed without the angular objective (2009)",
        measured + " (keyframed, at their own speed)",
        {"butterfly", "squat"} <= set(without["linear"]),
    )


def _captured(found: Reports, names: list[str]) -> Claim:
    measured = "; ".join(f"{WORDS[c]}: {_each(found, names, c)}" for c in EVERY)
    ok = all(found[n]["stand"].stood and found[n]["stand"].median < 5.0 for n in names)
    return Claim("captured exercises are followed faithfully (by Stand; median below 5 deg)", measured, ok)


def _margin(speeds: dict[str, float]) -> Claim:
    measured = ", ".join(f"{WORDS[c]} {speed:.1f}x" for c, speed in speeds.items())
    return Claim(
        "(ours) the angular objective matters at the margin: the toe touch may be hurried further with it",
        f"fastest toe touch completed: {measured}",
        speeds["angular"] > max(speeds[c] for c in COMBINATIONS if c != "angular"),
    )


EXPERIMENT = Experiment(
    name="exercise",
    summary="butterfly, squat, toe touch and jab, keyframed and captured, with objectives on and off",
    source="Macchietto 2008, section 7.2; 2009, section 9",
    settings=ExerciseSettings,
    run=run,
)
