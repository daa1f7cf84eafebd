"""A four-armed creature twists, is struck, and is then tied down by several points (Macchietto 2009, Grapple)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterpoise import measure
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.track import point_path
from counterpoise.control.drag import Drag
from counterpoise.control.stand import Stand
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.upright import blow, ended, joint_errors, largest_slip, story_panels, trunk_of
from counterpoise.measure.balance import track_of
from counterpoise.measure.pushes import ankle_limit
from counterpoise.motion.references import reference_motion
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.recording import Recording


@dataclass(frozen=True)
class Settings:
    """The paper gives no forces and no places for its points."""

    who: str = setting("insectoid", "", "which figure")
    motion: str = setting("twist", "", "reference motion, again and again")
    rho: float = setting(0.9, "", "strength of the blows, in what ankles alone can take (MATH: rho)")
    blows: int = setting(3, "", "how many")
    points: int = setting(3, "", "how many points tie it down: hands, then the head")
    depth: float = setting(0.55, "", "how low they pull, of the height each point has when standing")
    pull: float = setting(2.5, "s", "in which each is drawn down")
    weight: float = setting(1000.0, "", "of each point against 1 for every joint")
    hold: float = setting(3.0, "s", "all of them hold")


def run(settings: Settings, lab: Lab) -> Outcome:
    """Twisting; blows; one tie after the other; held; let go. The twist goes on by the clock, whatever happens."""
    from counterpoise.experiments.plotting import Panel, panels

    who = character(settings.who)
    once = reference_motion(settings.motion, who)
    first_tie = 1.0 + 1.8 * settings.blows
    released = first_tie + 1.0 * settings.points + settings.pull + settings.hold
    seconds = released + 3.0
    reference = once.looped(int(np.ceil(seconds / once.duration)) + 1)
    ties = tied(who, settings, first_tie, released)
    pushes = struck(who, settings)
    rec = lab.simulate(
        "grapple", who, Stand(reference, extra=ties, playback=False), seconds, disturbances=pushes,
        start=who.state(reference.sample(0.0).q),
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


def struck(who: Character, settings: Settings) -> list[Push]:
    """Blows from several sides, each as strong for its side."""
    trunk, ways = trunk_of(who), (60.0, 180.0, 290.0)
    out = []
    for i in range(settings.blows):
        way = ways[i % len(ways)] + 40.0 * (i // len(ways))
        out.append(blow(trunk, way, settings.rho * ankle_limit(who, trunk, way).impulse / 0.1, 1.0 + 1.8 * i))
    return out


def tied(who: Character, settings: Settings, start: float, end: float) -> list[Drag]:
    """Hands, then the head, each drawn from where it is in the neutral pose down and outwards, one second apart."""
    bodies = [*who.hands[1::2], *who.hands[::2], *(name for name in who.segments if name == "head")]
    chosen = bodies[: max(settings.points - 1, 1)] + bodies[-1:] if settings.points > 1 else bodies[:1]
    here, out = who.snapshot(), []
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


def _path(rec: Recording, tie: Drag) -> np.ndarray:
    return np.asarray(point_path(rec.character, track_of(rec, 0), tie.body, tie.point))


def gap(rec: Recording, tie: Drag) -> np.ndarray:
    """(n,) [m]: from a point to where it is drawn; NaN while it is not."""
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
    settings=Settings,
    run=run,
)
