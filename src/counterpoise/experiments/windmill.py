"""Alternating blows until the arms windmill (de Lasa 2011, section 4.1, figure 4.2), and how strong they may be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.control.stand import Stand
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import blow, ended, joint_errors, largest_slip, story_panels
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.recording import Recording

MAX_ARM_MASS = 0.15  # of the body: what carries more than this with a hand is no arm
FIRST_BLOW = 0.3  # [s]
WINDING_STEP = 5  # rows of the recording between two looks at the arms
LEAST_ACROSS = 0.2  # of its length that an arm must point away from an axis to wind about it


@dataclass(frozen=True)
class WindmillSettings:
    """Force, duration and interval are the thesis's; it does not say which body is pushed, which way, nor how often."""

    character: str = setting("human", "", "which figure")
    force: float = setting(1000.0, "N", "of each push")
    duration: float = setting(0.1, "s", "of each push")
    interval: float = setting(0.1, "s", "between pushes")
    pushes: int = setting(8, "", "how many, in alternating directions")
    body: str = setting("pelvis", "", "pushed at its centre of mass")
    direction: float = setting(0.0, "deg", "of the first push, from forward")
    seconds: float = setting(3.0, "s", "simulated after the last push")
    search: bool = setting(
        True, "", "find the largest force survived; every step is tried, as survival is not monotone"
    )
    step: float = setting(50.0, "N", "from one force tried to the next")


def run(settings: WindmillSettings, lab: Lab) -> Outcome:
    """Simulates the thesis's blows, then smaller ones step by step: which are survived in place, or without a fall."""
    from counterpoise.experiments.plotting import panels

    figure = character(settings.character)
    verdicts = {settings.force: _verdict(_simulated("asked", figure, settings, settings.force, lab), settings)}
    asked = lab.recordings["asked"]
    stepping = _simulated("stepping", figure, settings, settings.force, lab, step=True)
    if settings.search:
        for force in np.arange(settings.step, settings.force - 1e-9, settings.step):
            rec = _simulated("trial", figure, settings, float(force), lab)
            verdicts[float(force)] = _verdict(rec, settings)
            if verdicts[float(force)]:
                lab.recordings["largest"] = rec
        lab.recordings.pop("trial", None)
    good = [force for force in sorted(verdicts) if verdicts[force]]
    up = [force for force in sorted(verdicts) if not verdicts[force].fall.fell]
    largest, standing = max(good, default=0.0), max(up, default=0.0)
    shown = "largest" if good and largest < settings.force else "asked"
    rec = lab.recordings[shown]
    turn, winding, share = arm_travel(rec), arm_winding(rec), arm_share(rec, settings)
    missed = [
        f"{force:.0f} N ({verdicts[force].why})" for force in sorted(verdicts) if force < largest and force not in good
    ]
    beyond = [force for force in up if force > largest]
    claims = (
        Claim(
            f"{settings.force:.0f} N blows of {settings.duration:g} s, {settings.interval:g} s apart, are survived",
            f"{ended(asked)}; of {settings.pushes} blows at the {settings.body} the largest survived in place here is "
            f"{largest:.0f} N, feet never more than {100 * _verdict(rec, settings).foot:.1f} cm from their places"
            + (f", but not {', '.join(missed)}" if missed else "")
            + (f"; without a fall {standing:.0f} N ({verdicts[standing].why})" if beyond else ""),
            largest >= settings.force,
        ),
        Claim(
            f"{settings.force:.0f} N blows are survived where it may step (ours)",
            f"{ended(stepping)}, after {np.nanmax(stepping.notes['steps'].astype(float)):.0f} steps",
            not measure.fell(stepping).fell,
        ),
        Claim(
            "windmilling strategies emerge from angular momentum control",
            f"at {largest if good else settings.force:.0f} N the arms turn by {np.degrees(turn):.0f} deg "
            f"in all, one of them by {np.degrees(winding):.0f} deg one way (a windmill: above 360), and hold "
            f"{100 * share:.0f} % of the angular momentum; no objective asks for it",
            winding > 2.0 * np.pi,
        ),
    )
    facts = {
        "largest": largest, "without a fall": standing, "stepping": not measure.fell(stepping).fell,
        "arm_travel": turn, "arm_winding": winding,
        "arm_share": share,
        "not survived": {f"{force:.0f}": v.why for force, v in sorted(verdicts.items()) if not v},
        "slip": largest_slip(rec), "foot": _verdict(rec, settings).foot, "last_error": float(joint_errors(rec)[-1]),
    }  # fmt: skip
    times = np.linspace(
        FIRST_BLOW, FIRST_BLOW + settings.pushes * (settings.duration + settings.interval) + 0.8, 10
    ).tolist()
    film = Film(shown, azimuth=-50.0, columns=5, panel=(210, 270), times=times, speed=0.5)
    return Outcome(claims, {"windmill": panels(story_panels(rec), f"{shown}: {largest:.0f} N")}, film, facts)


def blows(settings: WindmillSettings, force: float, start: float = FIRST_BLOW) -> list[Push]:
    """Returns the blows, alternately in opposite directions, from `start` [s] on."""
    every = settings.duration + settings.interval
    return [
        blow(settings.body, settings.direction + 180.0 * (i % 2), force, start + i * every, settings.duration)
        for i in range(settings.pushes)
    ]


def _verdict(rec: Recording, settings: WindmillSettings) -> measure.Survival:
    """Whether the blows were survived in place (`Bar`): no fall, feet within 1 cm, at rest and back in its pose."""
    last = blows(settings, 1.0)[-1]
    return measure.survival(rec, last.start + last.duration, measure.Bar(seconds=settings.seconds))


def _simulated(
    name: str, character: Character, settings: WindmillSettings, force: float, lab: Lab, step: bool = False
) -> Recording:
    pushes = blows(settings, force)
    seconds = pushes[-1].start + settings.duration + settings.seconds
    return lab.simulate(name, character, Stand(step=step), seconds, disturbances=pushes)


def arm_joints(character: Character) -> list[str]:
    """Returns the joints of the limbs that end in a hand: those that carry a hand and little mass."""
    parents, ids = character.model.body_parentid, {character.body_id(h) for h in character.hands}
    out = []
    for joint in character.joints:
        b = character.body_id(joint.body)
        below = [i for i in range(1, character.model.nbody) if _within(parents, i, b)]
        if ids & set(below) and character.model.body_mass[below].sum() < MAX_ARM_MASS * character.mass:
            out.append(joint.name)
    return out


def _within(parents: NDArray[np.int32], body: int, ancestor: int) -> bool:
    while body > 0:
        if body == ancestor:
            return True
        body = int(parents[body])
    return False


def arm_travel(rec: Recording) -> float:
    """Returns the rotation of the upper arms in all [rad], a mean over the arms: the integral of the joint's speed."""
    character = rec.character
    first = [name for name in arm_joints(character) if name.startswith("shoulder")]
    if not first:
        return 0.0
    paths = [np.linalg.norm(rec.qvel[:, character.joint(name).dofs], axis=1).sum() * rec.timestep for name in first]
    return float(np.mean(paths))


def arm_winding(rec: Recording) -> float:
    """Returns how far an upper arm has wound one way about an axis of the trunk [rad], the most over arms and axes.

    The arm's direction is seen along the axis; angles are summed with their signs while it points clearly away from it.
    """
    character = rec.character
    names = arm_joints(character)
    first = [character.joint(name) for name in names if name.startswith("shoulder")]
    most = 0.0
    for joint in first:
        side = joint.name.removeprefix("shoulder")
        below = next((character.joint(n).body for n in names if n == f"elbow{side}"), None)
        if below is None:
            continue
        parent = int(character.model.body_parentid[character.body_id(joint.body)])
        directions = []
        for k in range(0, len(rec.time), WINDING_STEP):
            s = character.snapshot(rec.state(k))
            directions.append(s.body_rotation[parent].T @ (s.position(below) - s.position(joint.body)))
        for axis in (0, 1):  # from back to front and from side to side: blows come along the ground
            most = max(most, _winding(np.array(directions), axis))
    return most


def _winding(directions: Array, axis: int) -> float:
    """Returns the largest net angle [rad] of directions (n, 3) about an axis, from the first one on."""
    a, b = [k for k in range(3) if k != axis]
    across = np.hypot(directions[:, a], directions[:, b]) / np.linalg.norm(directions, axis=1)
    angles = np.unwrap(np.arctan2(directions[:, b], directions[:, a]))
    steps = np.where(np.minimum(across[1:], across[:-1]) > LEAST_ACROSS, np.diff(angles), 0.0)
    return float(np.abs(np.cumsum(steps)).max()) if len(steps) else 0.0


def arm_share(rec: Recording, settings: WindmillSettings) -> float:
    """Returns the arms' share of the largest horizontal angular momentum."""
    character = rec.character
    dofs = [
        d
        for name in arm_joints(character)
        for d in range(character.joint(name).dofs.start, character.joint(name).dofs.stop)
    ]
    H = measure.momentum(rec)[:, :3]
    k = int(np.argmax(np.linalg.norm(H[:, :2], axis=1)))
    s = character.snapshot(rec.state(k))
    arms = s.momentum_matrix[:3][:, dofs] @ s.v[dofs]
    size = float(H[k, :2] @ H[k, :2])
    return float(arms[:2] @ H[k, :2] / size) if size > 1e-9 else 0.0


EXPERIMENT = Experiment(
    name="windmill",
    summary="alternating blows until the arms windmill, and the largest that are survived",
    source="de Lasa 2011, section 4.1, figure 4.2",
    settings=WindmillSettings,
    run=run,
)
