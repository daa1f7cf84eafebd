"""A four-armed creature twists, is struck, and is then tied down by several points (Macchietto 2009, Grapple)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.track import point_path
from counterpoise.control.drag import Drag
from counterpoise.control.stand import Stand
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import ended, joint_errors, largest_slip, scaled_blow, story_panels, trunk_of
from counterpoise.motion.references import reference_motion
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.recording import Recording


@dataclass(frozen=True)
class GrappleSettings:
    """The paper gives no forces and no places for its points."""

    character: str = setting("insectoid", "", "which figure")
    motion: str = setting("twist", "", "reference motion, repeated")
    rho: float = setting(0.9, "", "strength of the blows, in units of what ankles alone can take (MATH: rho)")
    blows: int = setting(3, "", "how many")
    points: int = setting(3, "", "how many points tie it down: hands, then the head")
    depth: float = setting(0.55, "", "height that each point is pulled to, as a share of its standing height")
    pull: float = setting(2.5, "s", "time in which each is pulled down")
    weight: float = setting(1000.0, "", "of each point against 1 for every joint")
    hold: float = setting(3.0, "s", "time for which all of them hold")


def run(settings: GrappleSettings, lab: Lab) -> Outcome:
    """Simulates blows during a twist, then one tie after the other, and the release. The twist never stops."""
    from counterpoise.experiments.plotting import Panel, panels

    figure = character(settings.character)
    once = reference_motion(settings.motion, figure)
    first_tie = 1.0 + 1.8 * settings.blows
    released = first_tie + 1.0 * settings.points + settings.pull + settings.hold
    seconds = released + 3.0
    reference = once.looped(int(np.ceil(seconds / once.duration)) + 1)
    ties = tied(figure, settings, first_tie, released)
    pushes = blows_of(figure, settings)
    rec = lab.simulate(
        "grapple", figure, Stand(reference, extra=ties, playback=False), seconds, disturbances=pushes,
        start=figure.state(reference.sample(0.0).q),
    )  # fmt: skip
    errors, gaps = joint_errors(rec, reference), {tie.name: gap(rec, tie) for tie in ties}
    held = (rec.time > released - 1.0) & (rec.time < released)
    before, after = (rec.time > 0.5) & (rec.time < 1.0), rec.time > seconds - 0.3
    left = {name: float(np.sqrt(np.mean(values[held] ** 2))) for name, values in gaps.items()}
    hit = (rec.time > 1.0) & (rec.time < first_tie)
    claims = (
        Claim(
            "knocked around by a few large impulses, it keeps tracking the twist",
            f"blows of {', '.join(f'{np.linalg.norm(p.force):.0f}' for p in pushes)} N x 0.1 s; joints off by "
            f"{np.degrees(errors[hit].max()):.0f} deg rms at most, "
            f"{np.degrees(errors[hit][-200:].mean()):.1f} before the first tie",
            bool(errors[hit][-200:].mean() < 0.15 and not _fell_before(rec, first_tie)),
        ),
        Claim(
            "tied down by several points it adapts gracefully without falling",
            f"{ended(rec)}; the points are held within {', '.join(f'{100 * v:.0f}' for v in left.values())} cm while "
            f"the twist goes on; joints off by {np.degrees(np.median(errors[held])):.0f} deg rms meanwhile, feet slid "
            f"{100 * largest_slip(rec):.1f} cm",
            bool(not measure.fell(rec).fell and max(left.values()) < 0.15),
        ),
        Claim(
            "let go, it is back in its motion (ours)",
            f"joints off by {np.degrees(np.median(errors[after])):.1f} deg rms 3 s later "
            f"({np.degrees(np.median(errors[before])):.1f} before the blows)",
            bool(not measure.fell(rec).fell and np.median(errors[after]) < 0.1),
        ),
    )
    facts = {"fell": measure.fell(rec).fell, "points": left, "tracking_after": float(np.median(errors[after]))}
    rows = [Panel("points to go [m]", rec.time, gaps, low=0.0), *story_panels(rec, reference)]
    times = [1.0, 1.15, 1.4, 1.9, first_tie, first_tie + 1.5, first_tie + 3.0, released - 2.0, released - 0.1, seconds]
    film = Film("grapple", azimuth=-55.0, columns=5, panel=(210, 270), times=[t for t in times if t <= seconds])
    return Outcome(claims, {"grapple": panels(rows, "struck, then tied down", height=1.6)}, film, facts)


def blows_of(character: Character, settings: GrappleSettings) -> list[Push]:
    """Returns blows from several sides, each with the same rho."""
    trunk, ways = trunk_of(character), (60.0, 180.0, 290.0)
    out = []
    for i in range(settings.blows):
        way = ways[i % len(ways)] + 40.0 * (i // len(ways))
        out.append(scaled_blow(character, trunk, way, settings.rho, 1.0 + 1.8 * i))
    return out


def tied(character: Character, settings: GrappleSettings, start: float, end: float) -> list[Drag]:
    """Returns drags of hands, then the head, from the neutral pose down and outwards, one second apart."""
    bodies = [*character.hands[1::2], *character.hands[::2], *(name for name in character.segments if name == "head")]
    chosen = bodies[: max(settings.points - 1, 1)] + bodies[-1:] if settings.points > 1 else bodies[:1]
    here, out = character.snapshot(), []
    for i, body in enumerate(chosen[: settings.points]):
        place = here.position(body)
        low = place * [1.0, 1.4, settings.depth if body != "head" else 0.5 * (1.0 + settings.depth)] + [0.15, 0.0, 0.0]
        begin = start + 1.0 * i
        times = [begin, begin + settings.pull]
        out.append(
            Drag(body, path=(times, [place, low]), start=begin, end=end, stiffness=60.0, limit=20.0,
                 weight=settings.weight, name=f"tie {body}")
        )  # fmt: skip
    return out


def _path(rec: Recording, tie: Drag) -> Array:
    return np.asarray(point_path(rec.character, rec.track(), tie.body, tie.point))


def gap(rec: Recording, tie: Drag) -> Array:
    """Returns (n,) [m]: the distance of a point from where it is pulled; NaN while it is not pulled."""
    asked = np.array([tie.goal(t)[0] for t in rec.time])
    out = np.linalg.norm(_path(rec, tie) - asked, axis=1)
    out[(rec.time < tie.start) | (rec.time > tie.end)] = np.nan
    return out


def _fell_before(rec: Recording, time: float) -> bool:
    fall = measure.fell(rec)
    return fall.fell and fall.time is not None and fall.time < time


EXPERIMENT = Experiment(
    name="grapple",
    summary="a four-armed creature twists, is struck, then tied down by several points",
    source="Macchietto 2009, section 9, Grapple, figure 5; 2008, section 7.4",
    settings=GrappleSettings,
    run=run,
)
