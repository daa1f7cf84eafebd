"""Walks from many starts, in styles and on many bodies: long stories."""

from __future__ import annotations

import pytest

import counterpoise as cp
from counterpoise.control.walk import STYLES
from counterpoise.experiments.base import Lab
from counterpoise.experiments.terrain_walks import COURSES, walk_course
from counterpoise.experiments.walking import how_it_fell


def walked(body, walk, seconds, seeds, settle=5.0):
    gaits = []
    for seed in seeds:
        recording = cp.simulate(body, walk, seconds, start=cp.disturbed_start(body, seed))
        if not how_it_fell(recording):
            gaits.append(cp.measure.gait(recording, settle))
    return gaits


@pytest.mark.slow
@pytest.mark.parametrize("speed", [0.4, 0.8, 1.2, 1.6])
def test_speeds(human, speed):
    gaits = walked(human, cp.Walk(speed=speed), 60.0, range(20), 8.0)
    good = [g for g in gaits if abs(g.speed / speed - 1.0) <= 0.05 and g.drift <= 0.02 * g.distance]
    assert len(good) >= 19


@pytest.mark.slow
@pytest.mark.parametrize("style", list(STYLES))
def test_styles(human, style):
    assert len(walked(human, cp.Walk(style=style), 15.0, range(20))) >= 19


@pytest.mark.slow
@pytest.mark.parametrize("name", ["child", "asymmetric", "insectoid", "ostrich", "dinosaur", "chicken"])
def test_bodies_walk_20_m(name):
    body, walk = cp.character(name), cp.Walk()
    seconds = 20.0 / walk.usual_speed(body) * 1.1 + 3.0
    gaits = walked(body, walk, seconds, range(20), 3.0)
    assert len([g for g in gaits if g.distance >= 16.0]) >= 19


PASSED = (
    "up-15", "down-15", "rough", "step-up-0.1", "step-down-0.1", "step-down-0.2", "step-down-0.3", "step-up-0.3",
    "stairs-up", "stairs-down", "gap", "stones", "unseen-up-5", "unseen-down-5",
)  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "course",
    [
        course
        if course in PASSED
        else pytest.param(course, marks=pytest.mark.xfail(reason="docs/walking.md: it falls"))
        for course in COURSES
    ],
)
def test_courses_over_uneven_ground(course):
    passed = sum(not walk_course(Lab(), course, seed, 1.2) for seed in range(20))
    assert passed >= COURSES[course].bar
