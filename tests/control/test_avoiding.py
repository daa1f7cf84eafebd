"""Dodging and walking around: hazards, the choice of a move, and whole stories of balls and posts."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.locomotion.around import body_radius
from counterpoise.control.locomotion.dodge import DodgeTuning, choose_dodge
from counterpoise.control.locomotion.hazards import hazards_of
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.errors import CounterpoiseError
from counterpoise.simulate.props import aimed


def thrown(human, height: float, angle: float = 0.0, warning: float = 0.8, speed: float = 7.0) -> cp.Prop:
    """A ball on its way to the middle of the body."""
    com = human.snapshot().com
    target = np.array([com[0], com[1], height])
    place = target + speed * warning * np.array([math.cos(angle), math.sin(angle), 0.0])
    return aimed(cp.Prop("ball", 0.2, 1.0, tuple(place)), target, speed, (0.0, 0.0, -9.81))


def choice(human, ball: cp.Prop, can=("step", "duck")):
    return choose_dodge(human.snapshot(), np.zeros(2), 0.0, hazards_of(ball), can, walking_body(human), DodgeTuning())


def test_a_thrown_hazard_falls_as_a_thrown_prop_does(human):
    ball = thrown(human, 1.3)
    recording = cp.simulate(human, cp.Locomotion(), 0.5, world=cp.World(props=(ball,)))
    hazard = hazards_of([ball])[0]
    assert hazard.radius == pytest.approx(0.1) and not hazard.stands
    assert hazard.at(recording.time) == pytest.approx(recording.prop_poses()[:, :3], abs=0.005)


def test_high_balls_are_ducked_and_low_ones_stepped_aside_of(human):
    high, low = choice(human, thrown(human, 1.6)), choice(human, thrown(human, 0.85))
    assert high is not None and high.kind == "duck" and 0.0 < high.depth < 0.5
    assert low is not None and low.kind == "step" and abs(low.way[1]) > 0.5


def test_balls_that_miss_or_come_late_are_not_answered(human):
    ball = thrown(human, 1.3)
    aside = cp.Hazard((ball.place[0], ball.place[1] + 1.5, 1.3), 0.1, ball.velocity)
    late = cp.Hazard((20.0, 0.0, 1.3), 0.1, (-3.0, 0.0, 0.0))
    unseen = cp.Hazard(ball.place, 0.1, ball.velocity, seen=2.0)
    assert all(choice(human, one) is None for one in (aside, late, unseen))


def test_a_step_goes_away_from_a_ball_that_is_off_the_middle(human):
    for side in (1.0, -1.0):
        off = cp.Hazard((5.6, 0.12 * side, 0.6), 0.1, (-7.0, 0.0, 0.5 * 9.81 * 0.8 + 0.3))
        found = choice(human, off, can=("step",))
        assert found is not None and found.way[1] * side < 0.0


def test_a_ball_is_dodged_and_one_that_is_not_seen_hits(human):
    ball = thrown(human, 1.3)
    world = cp.World(props=(ball,))
    seen = cp.simulate(human, cp.Locomotion(avoid=(ball,)), 2.6, world=world)
    blind = cp.simulate(human, cp.Locomotion(), 1.2, world=world)
    hit = cp.measure.prop_hit(blind)
    assert cp.measure.prop_hit(seen) is None and str(seen.notes["phase"][-1]) == "stand"
    assert hit is not None and 0.6 < hit.time < 0.9 and hit.force > 0.0
    assert float(cp.measure.com(seen)[-1, 2]) == pytest.approx(float(cp.measure.com(seen)[0, 2]), abs=0.05)


def test_a_low_ball_from_behind_is_stepped_aside_of(human):
    ball = thrown(human, 0.85, math.pi)
    recording = cp.simulate(human, cp.Locomotion(avoid=(ball,)), 3.0, world=cp.World(props=(ball,)))
    assert cp.measure.prop_hit(recording) is None and "fallen" not in map(str, recording.notes["phase"])
    assert abs(float(cp.measure.com(recording)[-1, 1])) > 0.25


def test_a_post_is_walked_around(human):
    post = cp.Prop("box", (0.3, 0.3, 1.6), 500.0, (3.0, 0.05, 0.8))
    recording = cp.simulate(human, cp.Locomotion(1.1, avoid=(post,)), 6.0, world=cp.World(props=(post,)))
    place = cp.measure.com(recording)
    assert "fallen" not in map(str, recording.notes["phase"]) and place[-1, 0] > 3.6
    assert cp.measure.prop_hit(recording) is None
    beside = place[np.argmin(np.abs(place[:, 0] - 3.0)), 1]
    assert abs(beside - 0.05) > body_radius(human)


def test_hazards_that_are_never_near_change_nothing(human):
    far = cp.Hazard((50.0, 50.0, 1.0), 0.2)
    plain, careful = (cp.simulate(human, cp.Locomotion(1.1, avoid=avoid), 2.0) for avoid in ((), (far,)))
    assert np.array_equal(plain.qpos, careful.qpos)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cp.Hazard((1.0, 2.0)), "three finite numbers"),
        (lambda: cp.Hazard((1.0, 2.0, 1.0), -0.1), "positive"),
        (lambda: cp.Hazard((1.0, 2.0, 1.0), 0.1, (1.0, float("nan"), 0.0)), "velocity"),
        (lambda: cp.Hazard(lambda t: (t, 0.0, 1.0), 0.1, (1.0, 0.0, 0.0)), "function of time"),
        (lambda: cp.Hazard((1.0, 2.0, 1.0), seen="soon"), "seen"),
        (lambda: cp.Locomotion(avoid=("ball",)), "avoid"),
        (lambda: cp.Hazard(lambda t: (t, 0.0), 0.1).at(np.array([1.0])), "at 1 s"),
    ],
)
def test_bad_hazards_are_named(make, words):
    with pytest.raises(CounterpoiseError, match=words):
        make()
