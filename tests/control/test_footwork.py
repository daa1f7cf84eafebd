"""What the feet of a reference do: creeping feet are put still or step, raised heels are let go, weight goes over."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.crouch import crouched
from counterpoise.control.feet import spells
from counterpoise.control.footwork import OVERLAP, find_footwork
from counterpoise.control.reference_shaping import STEP
from counterpoise.control.standing_body import standing_body
from counterpoise.objectives import Footing, take_stance

SLIDE = 0.12  # [m]
LIFT_HEIGHT = cp.StandTuning().lift_height


def sliding(human: cp.Character, distance: float, seconds: float = 2.0) -> cp.Motion:
    """Knees bend and stretch a little while the whole body is moved forward: as captured feet that skate."""
    times = np.linspace(0.0, seconds, int(seconds * 60) + 1)
    high, low = (crouched(human, share * standing_body(human).height) for share in (0.97, 0.93))
    bend = human.difference(high, low)[None] * (0.5 - 0.5 * np.cos(2.0 * np.pi * times / seconds))[:, None]
    poses = human.integrate(np.repeat(high[None], len(times), axis=0), bend)
    poses[:, 0] += distance * 0.5 * (1.0 - np.cos(np.pi * np.clip((times - 0.5) / (seconds - 1.0), 0.0, 1.0)))
    return cp.Motion(human, times, poses, name="slide")


def points_of(motion: cp.Motion, n: int) -> np.ndarray:
    character = motion.character
    poses = motion.sample(motion.start + STEP * np.arange(n)).q
    return np.array([character.snapshot(character.state(q)).contact_position for q in poses])


def test_feet_that_creep_a_little_stand_still(human: cp.Character):
    found = find_footwork(human, sliding(human, 0.03), LIFT_HEIGHT)
    assert found is not None and found.bearing.all()
    points = points_of(found.motion, len(found.bearing))
    assert np.ptp(points, axis=0).max() < 2e-3


def test_feet_that_slide_together_step_one_after_the_other(human: cp.Character):
    found = find_footwork(human, sliding(human, SLIDE, 3.0), LIFT_HEIGHT)
    assert found is not None
    left, right = found.bearing[:, :6].any(axis=1), found.bearing[:, 6:].any(axis=1)
    assert (left | right).all() and not (left & right).all()
    both = [last - first for first, last in spells(left & right)]
    assert min(both) * STEP >= OVERLAP - STEP  # the weight has time to go over
    points = points_of(found.motion, len(found.bearing))
    for k in range(12):
        for first, last in spells(found.standing[:, k]):
            assert np.ptp(points[first:last, k], axis=0).max() < 8e-3
    assert points[-1, :, 0].mean() - points[0, :, 0].mean() == pytest.approx(SLIDE, abs=0.03)


def test_stand_walks_a_step_where_the_reference_slides(human: cp.Character):
    motion = sliding(human, SLIDE, 3.0)
    stand = cp.Stand(reference=motion)
    rec = cp.simulate(human, stand, 3.5, start=stand.ready(human))
    assert not cp.measure.fell(rec)
    first, last = (human.snapshot(rec.state(k)) for k in (0, -1))
    moved = (last.contact_position - first.contact_position)[:, 0]
    assert moved.min() > 0.7 * SLIDE and abs(last.com[0] - first.com[0] - SLIDE) < 0.3 * SLIDE


@pytest.fixture(scope="module")
def tiptoe(human: cp.Character) -> cp.Motion:
    """Both heels rise by up to 5 cm while the toes stay."""
    times = np.linspace(0.0, 2.0, 41)
    here = human.snapshot()
    feet = {name: here.position(name) for name in ("foot_left", "foot_right")}
    drag = cp.PoseDrag(human, [cp.Pin("toes_left"), cp.Pin("toes_right")])
    poses = []
    for t in times:
        up = 0.05 * np.sin(0.5 * np.pi * min(max(t - 0.5, 0.0), 1.0)) ** 2
        goals = [cp.Reach(name, place + np.array([0.02 * up / 0.05, 0.0, up])) for name, place in feet.items()]
        poses.append(drag.to(goals).q)
    return cp.Motion(human, times, np.array(poses), name="tiptoe")


def test_a_raised_heel_is_let_go_and_the_toes_hold(human: cp.Character, tiptoe: cp.Motion):
    seen = cp.Stand(reference=tiptoe).begin(human).rehearsal
    assert seen is not None
    last = seen.patterns[seen.pattern[190]]
    heel, ball, toe = [0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]
    assert last.raised[heel].all() and not last.raised[ball + toe].any() and last.lifted == ()
    assert last.loose[ball].all() and not last.loose[toe].any()
    first = seen.patterns[seen.pattern[0]]
    assert not first.raised.any() and not first.loose[heel + ball].any()


def test_stand_raises_its_heels_with_the_reference(human: cp.Character, tiptoe: cp.Motion):
    stand = cp.Stand(reference=tiptoe)
    rec = cp.simulate(human, stand, 2.5, start=stand.ready(human))
    assert not cp.measure.fell(rec)
    heels = human.snapshot(rec.state(-1)).contact_position[[0, 1, 6, 7], 2]
    assert heels.min() > 0.02


# -- points of a footing ----------------------------------------------------------------------------------------------
def test_points_are_let_go_one_by_one(human: cp.Character):
    raised, loose = np.zeros(12, bool), np.zeros(12, bool)
    raised[[0, 1]], loose[[4, 5]] = True, True
    s = human.snapshot()
    stance = take_stance(s, Footing(raised=raised, loose=loose))
    assert np.array_equal(stance.held, ~(raised | loose))
    assert np.array_equal(stance.share > 0.0, ~raised)
    late = human.snapshot(human.state(time=0.01))
    leaving = take_stance(late, Footing(raised=raised), take_stance(s, Footing()).memory)
    assert leaving.held.all() and (leaving.share[:2] > 0.0).all() and (leaving.share[:2] < 1.0).all()


def test_flags_of_another_body_are_refused(human: cp.Character):
    with pytest.raises(cp.CounterpoiseError, match="12 contact points; got 3"):
        take_stance(human.snapshot(), Footing(raised=np.zeros(3, bool)))
