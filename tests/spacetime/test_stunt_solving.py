"""Stunts really become motions: judged by differences of the sampled poses, not by the optimiser's own rows.

Impossible ones end in a status that names what is in conflict, with a motion kept.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterpoise.character.library import character
from counterpoise.spacetime.stunt import read_stunt
from counterpoise.spacetime.stunt_poses import named_pose

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "stunts"
STAND = "duration = 0.8\nrate = 15\n[[key]]\ntime = 0\nrest = true\n[[key]]\ntime = 0.8\nrest = true\n"
G = 9.81


def centre(result, times):
    who = result.problem.character
    return np.array([who.snapshot(who.state(result.sample(t).q)).com for t in times])


def acceleration(result, t: float, step: float = 1e-3) -> np.ndarray:
    before, now, after = centre(result, [t - step, t, t + step])
    return (before - 2.0 * now + after) / step**2


def contact_points(result, foot: str, times):
    who = result.problem.character
    points = who.foot(foot).points
    out = []
    for t in times:
        shot = who.snapshot(who.state(result.sample(t).q))
        out.append([shot.position(p.body, p.position) for p in points])
    return np.array(out)


def falls(result, start: float, end: float) -> None:
    """Between these times the centre of mass falls freely, at the knots and between them."""
    off = [np.linalg.norm(acceleration(result, t) - (0, 0, -G)) / G for t in np.linspace(start, end, 42)[1:-1]]
    assert np.sqrt(np.mean(np.square(off))) < 0.03 and max(off) < 0.15


def stands(result, foot: str, start: float, end: float, height: float = 0.0) -> None:
    """Between these times a foot's points stay where they are, on the ground or a box."""
    points = contact_points(result, foot, np.linspace(start, end, 12))
    assert np.ptp(points, axis=0).max() < 1.5e-3 and np.abs(points[..., 2] - height).max() < 1.5e-3


def test_a_hop_that_can_be_repeated():
    result = read_stunt(FOLDER / "cycle.toml").optimize()
    assert result.ok and result.worst < 1e-6
    falls(result, 0.0, 0.13)
    falls(result, 0.47, 0.6)
    for foot in ("foot_left", "foot_right"):
        stands(result, foot, 0.13, 0.47)
    who = result.problem.character
    first, last = result.sample(0.0), result.sample(0.6)
    moved = who.difference(first.q, last.q)
    assert np.abs(moved - np.r_[0.25, np.zeros(who.nv - 1)]).max() < 1e-5
    assert np.abs(first.v - last.v).max() < 1e-5


def test_a_moved_key_is_solved_again_from_what_was_found():
    text = (FOLDER / "standing_jump.toml").read_text()
    seen: list[int] = []
    first = read_stunt(text).optimize(callback=lambda p: seen.append(p.iteration))
    assert first.ok and seen and seen[-1] == first.iterations
    falls(first, 0.6, 1.0)
    for foot in ("foot_left", "foot_right"):
        stands(first, foot, 0.0, 0.6)
        stands(first, foot, 1.0, 1.6)
    again = read_stunt(text.replace("feet = [0.6, 0.0]", "feet = [0.65, 0.0]")).optimize(warm=first)
    assert again.ok and again.iterations < 0.7 * first.iterations
    assert centre(again, [1.6])[0, 0] - centre(first, [1.6])[0, 0] == pytest.approx(0.05, abs=1e-4)


def test_one_word_stops_it_and_the_best_so_far_is_kept():
    stopped = read_stunt(FOLDER / "cycle.toml").optimize(callback=lambda p: p.iteration < 4)
    assert stopped.status == "stopped" and not stopped.ok and stopped.iterations == 4
    assert np.isfinite(stopped.motion.poses).all() and stopped.violations


@pytest.mark.parametrize(
    ("ask", "names"),
    [
        ("[[key]]\ntime = 0.4\njoints = { knee_left = -40 }\nonly = 'knee_left'\n[[contact]]\npart = 'feet'\n",
         ("knee_left", "0.4 s", "40.0 deg")),
        ("[[contact]]\npart = 'feet'\n[[contact]]\npart = 'foot_left'\nfrom = 0.3\nto = 0.6\nplace = [0.5, 0.1]\n",
         ("foot_left", "line 9", "line 11", "0.3 s")),
        ("[[key]]\ntime = 0.4\nfeet = [0.4, 0.0]\n[[contact]]\npart = 'feet'\n",
         ("key 0 s", "key 0.4 s", "foot_left", "0.4 m")),
    ],
    ids=["a joint beyond its limits", "a foot at two places", "a key with the foot elsewhere"],
)  # fmt: skip
def test_what_contradicts_itself_is_named_and_a_motion_kept(ask: str, names: tuple[str, ...]):
    result = read_stunt(STAND + ask).optimize()
    assert result.status == "infeasible" and not result.ok
    said = " ".join(result.conflicts)
    for name in names:
        assert name in said, said
    assert result.motion.duration == pytest.approx(0.8)
    who = result.problem.character
    assert max(who.limits.worst(q)[1] for q in result.motion.poses) < 0.02
    stands(result, "foot_right", 0.0, 0.8)


@pytest.mark.slow
def test_an_apex_that_cannot_be_reached_is_named():
    """Ballistics allow g t^2 / 8 = 1.2 cm in a flight of 0.1 s."""
    result = read_stunt(
        "duration = 1.3\nrate = 20\n[[key]]\ntime = 0\nrest = true\n[[key]]\ntime = 1.3\nrest = true\n"
        "[[contact]]\npart = 'feet'\nto = 0.6\n[[contact]]\npart = 'feet'\nfrom = 0.7\n"
        "[[wish]]\nkind = 'apex'\ntime = 0.65\nheight = 2.0\n"
    ).optimize()
    assert result.status == "infeasible"
    apex = next(v for v in result.violations if v.name.startswith("apex"))
    assert 0.55 < apex.time < 0.75 and np.isfinite(result.motion.poses).all()


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")), ids=lambda p: p.stem)
def test_every_example_is_solved(path: Path):
    stunt = read_stunt(path)
    result = stunt.optimize()
    assert result.ok and result.worst <= 1e-6, result.report()
    for touch in stunt.contacts:
        if touch.how == "flat":
            start, end = (result.times.get(getattr(t, "name", ""), t) for t in (touch.start, touch.end))
            stands(result, touch.part, float(start), float(end), float(touch.surface.origin[2]))
    who = stunt.character
    assert max(who.limits.worst(q)[1] for q in result.motion.poses) < 0.03
    low = min(contact_points(result, f.name, result.motion.times[::8])[..., 2].min() for f in who.feet)
    assert low > -0.01
    if path.stem == "high_jump":
        height = centre(result, np.linspace(result.times["takeoff"], result.times["landing"], 100))[:, 2].max()
        assert height == pytest.approx(1.4, abs=2e-3)
    if path.stem == "long_jump":
        gone = [contact_points(result, "foot_left", [t]).mean(axis=(0, 1)) for t in (0.0, 2.0)]
        assert gone[1][0] - gone[0][0] == pytest.approx(1.6, abs=0.03)
    if path.stem == "dismount":
        falls(result, 0.8, 1.5)


@pytest.mark.slow
def test_another_body_jumps_too():
    text = (FOLDER / "standing_jump.toml").read_text().replace('"human"', '"child"').replace("0.6, 0.0", "0.4, 0.0")
    result = read_stunt(text).optimize()
    assert result.ok
    falls(result, 0.6, 1.0)
    assert np.isfinite(named_pose("crouch", character("child"))).all()
