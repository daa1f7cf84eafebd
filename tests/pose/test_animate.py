"""Effectors follow their paths with pins kept; keyframed feet do not slide; reference motions stand still."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.character.track import follow, point_path
from counterpoise.errors import BadValue, UnknownName
from counterpoise.motion import Keyframe, Motion, keyframed, pose_from_joints, reference_motion
from counterpoise.motion.reference_keys import REFERENCES
from counterpoise.motion.references import support_at
from counterpoise.pose import Balanced, Lock, Pin, Reach, solve_pose
from counterpoise.pose.animate import animate, animate_with_report
from counterpoise.pose.keys import animate_keys, animate_keys_with_report
from counterpoise.pose.paths import Path
from counterpoise.progress import Progress

MM = 1e-3


def human() -> Character:
    return character("human")


def feet_pinned(who: Character) -> list[Pin | Lock]:
    return [wish for foot in who.feet for wish in (Pin(foot.body), Lock(foot.body))]


def from_here(who: Character, body: str, offsets, **timing) -> Path:
    return Path.through(body, who.snapshot().position(body) + np.array(offsets), **timing)


def places(motion: Motion, body: str, times: np.ndarray | None = None, point=(0.0, 0.0, 0.0)) -> np.ndarray:
    poses = motion.poses if times is None else motion.sample(times).q
    return point_path(motion.character, follow(motion.character, poses), body, point)


def fastest_change(motion: Motion) -> float:
    return float(np.abs(motion.sample(np.linspace(motion.start, motion.end, 1000)).a).max())


@lru_cache
def wave(rate: float = 60.0):
    who = human()
    right = from_here(who, "hand_right", [(0, 0, 0), (0.25, -0.1, 0.3), (0.3, 0.1, 0.5)], duration=1.0, speed="ease")
    left = from_here(who, "hand_left", [(0, 0, 0), (0.3, 0.0, 0.2), (0.2, 0.1, 0.4)], times=[0.5, 0.8, 1.5])
    return (right, left), animate_with_report(who, [right, left], feet_pinned(who), rate=rate)


def test_effectors_follow_their_paths_and_pins_are_kept_in_every_frame():
    paths, made = wave()
    assert made and made.complete and len(made.motion) == 91
    for path in paths:
        miss = np.linalg.norm(places(made.motion, path.body) - path.at(made.motion.times), axis=1)
        assert miss.max() < 0.1 * MM
    for foot in made.motion.character.feet:
        track = places(made.motion, foot.body)
        assert np.linalg.norm(track - track[0], axis=1).max() < 0.01 * MM
    assert made.violations.max() < 1e-6 and made.residuals.max() == made.worst[2] and "91 frames" in repr(made)
    assert max(made.motion.character.limits.violation(q).max() for q in made.motion.poses) < 1e-6


def test_any_rate_gives_the_same_motion_and_so_does_any_run():
    fast, slow = wave(60.0)[1].motion, wave(30.0)[1].motion
    who = fast.character
    apart = [np.abs(who.difference(a, b)).max() for a, b in zip(fast.poses[::2], slow.poses, strict=True)]
    assert max(apart) < 1e-3
    paths, _ = wave()
    np.testing.assert_array_equal(animate(who, paths, feet_pinned(who)).poses, fast.poses)


def test_what_is_out_of_reach_is_said_and_nothing_jumps():
    who = human()
    far = from_here(who, "hand_right", [(0, 0, 0), (1.3, 0.0, 0.8), (0.3, 0.0, 0.2)], duration=3.0, speed="ease")
    made = animate_with_report(who, far, feet_pinned(who), rate=30)
    assert not made and {"solved", "unreachable"} == set(made.statuses) and made.worst[1] == "reach hand_right"
    steps = np.array([who.difference(a, b) for a, b in zip(made.motion.poses[:-1], made.motion.poses[1:], strict=True)])
    assert np.abs(steps[:, 6:]).max() < 0.6 and made.violations.max() < 1e-6


def test_other_goals_and_constraints_hold_all_along():
    who = human()
    path = from_here(who, "hand_right", [(0, 0, 0), (0.35, 0.0, 0.3), (0.55, 0.1, 0.4)], duration=1.0, speed="ease")
    made = animate_with_report(who, path, [*feet_pinned(who), Balanced(margin=0.03)], rate=20)
    assert made and made.violations.max() < 1e-6


def test_an_interruption_keeps_what_was_done():
    def stop(progress: Progress) -> bool:
        assert progress.message.endswith("of 61")
        return progress.share < 20 / 61 - 1e-9

    who = character("chain")
    path = from_here(who, "link4", [(0, 0, 0), (0.5, 0, -0.2)], duration=1.0)
    made = animate_with_report(who, path, progress=stop)
    assert len(made.motion) == 20 and not made.complete and not made
    np.testing.assert_array_equal(made.motion.poses, animate(who, path).poses[:20])
    keys = [Keyframe(0.0, who.neutral), Keyframe(1.0, who.neutral + 0.3)]
    assert len(animate_keys(who, keys, progress=stop)) == 20


def test_bad_wishes_are_refused():
    who = human()
    path = from_here(who, "hand_right", [(0, 0, 0), (0.1, 0, 0)], duration=1.0)
    with pytest.raises(BadValue, match="a path to follow"):
        animate(who)
    with pytest.raises(BadValue, match="rate"):
        animate(who, path, rate=0.0)
    with pytest.raises(BadValue, match="too many frames"):
        animate(who, path, duration=1e9)
    with pytest.raises(BadValue, match="not dict"):
        animate(who, [{}])
    with pytest.raises(UnknownName, match="hand_right"):
        animate(who, Path.through("right_hand", [(0, 0, 0), (1, 1, 1)], duration=1.0))
    with pytest.raises(BadValue, match="cannot hold together: "):
        animate(who, path, [Pin("foot_left", at=(0, 0, 0)), Pin("foot_left", at=(0, 0, 1))])
    with pytest.raises(BadValue, match="two of them"):
        animate_keys(who, [Keyframe(0.0, who.neutral)])
    two = [Keyframe(0.0, who.neutral), Keyframe(1.0, who.neutral)]
    with pytest.raises(UnknownName, match="straight"):
        animate_keys(who, two, {"hand_left": "strait"})
    with pytest.raises(UnknownName, match="foot_left"):
        animate_keys(who, two, support=["left_foot"])
    assert len(animate(who, duration=0.5, rate=10)) == 6


# ------------------------------------------------------------------------------------------------------- keyframes


@lru_cache
def sway() -> tuple[Keyframe, ...]:
    """Two stances on the same feet, the pelvis 20 cm apart, a hand lifted on the way."""
    who = human()
    pelvis, hand = (who.snapshot().position(body) for body in ("pelvis", "hand_right"))
    out = []
    for time, shift, lift in ((0.0, -0.1, (0, 0, 0)), (1.0, 0.1, (0.3, -0.1, 0.35)), (2.0, -0.1, (0, 0, 0))):
        goals = [Reach("pelvis", pelvis + (0.0, shift, -0.14)), Reach("hand_right", hand + np.array(lift))]
        pose = solve_pose(who, goals, feet_pinned(who))
        assert pose
        out.append(Keyframe(time, pose.q))
    return tuple(out)


def slide(motion: Motion, times: np.ndarray | None = None) -> float:
    worst = 0.0
    for foot in motion.character.feet:
        for point in foot.points:
            track = places(motion, point.body, times, point.position)
            worst = max(worst, float(np.linalg.norm(track - track[0], axis=1).max()))
    return worst


def test_feet_that_agree_do_not_slide():
    naive, made = keyframed(human(), sway()), animate_keys_with_report(human(), sway())
    assert slide(naive) > 5 * MM
    assert made and slide(made.motion) < 0.01 * MM
    assert slide(made.motion, np.linspace(0.0, 2.0, 2001)) < 0.01 * MM  # between the frames as well
    assert fastest_change(made.motion) < 1.5 * fastest_change(naive)  # and nothing trembles
    lean = [np.abs(human().difference(a, b)[6:]).max() for a, b in zip(naive.poses, made.motion.poses, strict=True)]
    assert max(lean) < 0.35  # the style is kept
    pelvis = places(naive, "pelvis") - places(made.motion, "pelvis")
    assert np.linalg.norm(pelvis, axis=1).max() < 0.03


@pytest.mark.parametrize("rate", [24, 100])
def test_keys_at_any_rate(rate):
    made, base = animate_keys(human(), sway(), rate=rate), animate_keys(human(), sway(), rate=50)
    assert slide(made) < 0.01 * MM
    same = base.sample(made.times).q
    assert max(np.abs(human().difference(a, b)).max() for a, b in zip(same, made.poses, strict=True)) < 2e-3


def test_effectors_go_straight_or_in_an_arc():
    straight = animate_keys_with_report(human(), sway(), {"hand_right": "straight"})
    hand = places(straight.motion, "hand_right")
    a, b = hand[0], hand[60]
    way = (b - a) / np.linalg.norm(b - a)
    off = (hand - a) - np.outer((hand - a) @ way, way)
    assert straight and np.linalg.norm(off, axis=1).max() < 0.1 * MM
    assert slide(straight.motion) < 0.01 * MM
    naive = places(keyframed(human(), sway()), "hand_right") - a
    assert np.linalg.norm(naive - np.outer(naive @ way, way), axis=1).max() > 10 * MM
    arc = places(animate_keys(human(), sway(), {"hand_right": ("arc", 0.1)}), "hand_right")
    np.testing.assert_allclose(arc[30], 0.5 * (a + b) + (0.0, 0.0, 0.1), atol=0.1 * MM)
    np.testing.assert_allclose(arc[[0, 60, 120]], hand[[0, 60, 120]], atol=0.1 * MM)


@lru_cache
def step() -> tuple[Keyframe, ...]:
    """Weight onto the left foot, the right one lifted, set down ahead, weight onto it."""
    who = human()
    pelvis, left, right = (who.snapshot().position(body) for body in ("pelvis", "foot_left", "foot_right"))
    stances = [
        (0.0, (0, 0, 0), (0, 0, -0.05)),
        (0.5, (0, 0, 0), (0.0, 0.05, -0.05)),
        (0.8, (0.1, 0, 0.06), (0.02, 0.05, -0.05)),
        (1.1, (0.2, 0, 0), (0.05, 0.03, -0.06)),
        (1.6, (0.2, 0, 0), (0.07, -0.02, -0.06)),
    ]
    out = []
    for time, foot, body in stances:
        feet = [Pin("foot_left", at=left), Pin("foot_right", at=right + np.array(foot))]
        pose = solve_pose(who, [Reach("pelvis", pelvis + body)], [*feet, Lock("foot_left"), Lock("foot_right")])
        assert pose
        out.append(Keyframe(time, pose.q))
    return tuple(out)


@pytest.mark.parametrize("ways", [{}, {"foot_right": ("arc", 0.05)}])
def test_supports_begin_and_end_without_a_pop(ways):
    keys = step() if not ways else (*step()[:2], *step()[3:])  # an arc needs no key in the middle
    naive, made = keyframed(human(), keys), animate_keys(human(), keys, ways)
    for body, begin, end in (("foot_left", 0.0, 1.6), ("foot_right", 0.0, 0.5), ("foot_right", 1.1, 1.6)):
        track = places(made, body, made.times[(made.times >= begin - 1e-9) & (made.times <= end + 1e-9)])
        assert np.linalg.norm(track - track[0], axis=1).max() < 0.01 * MM
    assert fastest_change(made) < 60.0  # [rad/s^2] a foot that stood must be set going from rest ...
    finer = animate_keys(human(), keys, ways, rate=120)
    assert fastest_change(finer) < 1.25 * fastest_change(made)  # ... but no leap: that would double with the rate
    right, top = places(made, "foot_right"), places(naive, "foot_right")[48] if not ways else None
    assert right[:, 2].min() > right[0, 2] - 0.2 * MM  # not into the ground, where plain interpolation goes
    if top is not None:
        np.testing.assert_allclose(right[48], top, atol=1 * MM)  # lifted as the key says


def test_support_can_be_named_or_left_alone():
    assert slide(animate_keys(human(), sway(), support="none")) > 5 * MM
    one = animate_keys(human(), sway(), support=["foot_left"])
    left, right = (places(one, body) for body in ("foot_left", "foot_right"))
    assert np.linalg.norm(left - left[0], axis=1).max() < 0.01 * MM < np.linalg.norm(right - right[0], axis=1).max()


def test_holds_and_eases_are_kept():
    first, second, _ = sway()
    keys = [Keyframe(0.0, first.pose, hold=0.3), Keyframe(1.0, second.pose, ease="smoother", hold=0.2)]
    made = animate_keys(human(), keys)
    assert made.duration == pytest.approx(1.2) and slide(made) < 0.01 * MM
    held = made.poses[made.times <= 0.3]
    np.testing.assert_allclose(held, held[:1].repeat(len(held), 0), atol=1e-6)


# ---------------------------------------------------------------------------------------------- reference motions


@pytest.mark.parametrize("figure", ["human", "child", "asymmetric"])
def test_the_support_feet_of_reference_motions_are_flat_level_and_still(figure):
    """At 1 kHz, between the frames: every contact point within 0.1 mm of where it was set down, and of the ground."""
    who = character(figure)
    for reference in REFERENCES:
        motion, keys = reference_motion(reference.name, who), reference.keys(who)
        times = np.linspace(motion.start, motion.end, round(1000 * motion.duration) + 1)
        track = follow(who, motion.sample(times).q)
        for foot in who.feet:
            on = np.array([support_at(keys, float(t)) in ("both", foot.side) for t in times])
            points = np.array([point_path(who, track, p.body, p.position) for p in foot.points])  # (m, n, 3)
            for phase in np.split(np.arange(len(times)), np.flatnonzero(np.diff(on)) + 1):
                if on[phase[0]]:
                    here = points[:, phase]
                    still = np.linalg.norm(here - here[:, :1], axis=2).max()
                    assert still < 0.1 * MM, f"{reference.name}: {foot.name} slides by {still / MM:.3f} mm"
                    assert np.abs(here[:, :, 2]).max() < 0.1 * MM, f"{reference.name}: {foot.name} is not level"


def test_a_moved_key_is_solved_again_only_beside_it():
    """Keys that hold cut the curve: only frames between the neighbours of the moved key change."""
    who = human()
    base = np.array(who.neutral)
    bend = {"elbow_left": 0.8, "shoulder_right": (0.0, 0.4, 0.0)}
    poses = [base, pose_from_joints(who, bend), base, pose_from_joints(who, {"elbow_left": 0.4}), base]
    keys = [Keyframe(0.6 * k, pose, hold=0.1) for k, pose in enumerate(poses)]
    first = animate_keys_with_report(who, keys, rate=30)
    assert first.solved == len(first.motion) and first
    moved = [*keys[:3], Keyframe(1.85, poses[3], hold=0.1), keys[4]]
    again = animate_keys_with_report(who, moved, rate=30, earlier=first)
    whole = animate_keys_with_report(who, moved, rate=30)
    assert 0 < again.solved < 0.5 * len(whole.motion)
    assert np.abs(again.motion.poses - whole.motion.poses).max() < 1e-6
    early = first.motion.times < 1.2
    assert np.array_equal(again.motion.poses[early], first.motion.poses[early])
    same = animate_keys_with_report(who, keys, rate=30, earlier=first)
    assert same.solved == 0 and np.array_equal(same.motion.poses, first.motion.poses)


def test_after_a_moved_key_of_a_spline_all_frames_are_as_if_solved_anew():
    who = human()
    poses = [np.array(who.neutral), pose_from_joints(who, {"elbow_left": 0.8}), np.array(who.neutral)]
    keys = [Keyframe(0.5 * k, pose) for k, pose in enumerate(poses)]
    first = animate_keys_with_report(who, keys, rate=30)
    moved = [keys[0], Keyframe(0.6, poses[1]), keys[2]]
    again = animate_keys_with_report(who, moved, rate=30, earlier=first)
    whole = animate_keys_with_report(who, moved, rate=30)
    assert np.abs(again.motion.poses - whole.motion.poses).max() < 1e-6
