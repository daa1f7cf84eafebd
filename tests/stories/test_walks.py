"""Walks from many starts, in styles and on many bodies: long stories."""

from __future__ import annotations

from pathlib import Path

import pytest

import counterpoise as cp
from counterpoise.control.walk import STYLES
from counterpoise.experiments.base import Lab
from counterpoise.experiments.phase_walk import MACHINES, outing, walk_out
from counterpoise.experiments.terrain_walks import COURSES, walk_course
from counterpoise.experiments.walk import NATURAL
from counterpoise.experiments.walk_bodies import BODIES
from counterpoise.experiments.walk_live import CHANGES, walk_live
from counterpoise.experiments.walking import how_it_fell, run_walks


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
@pytest.mark.parametrize("name", [name for name in BODIES if name != "human"])
def test_bodies_walk_20_m(name):
    body, walk = BODIES[name](), cp.Walk()
    seconds = 20.0 / walk.usual_speed(body) * 1.1 + 3.0
    runs = run_walks(Lab(), name, body, walk, seconds, 20)
    assert runs.claim(name, {}, 20.0).holds, runs.faults({}, 20.0)


@pytest.mark.slow
def test_it_looks_like_a_person_at_1_2_m_s(human):
    runs = run_walks(Lab(), "1.2 m/s", human, cp.Walk(speed=1.2), 15.0, 20)
    assert runs.claim("natural", NATURAL).holds, runs.faults(NATURAL)


@pytest.mark.slow
def test_sliders_move_while_it_walks_and_it_stops():
    found = [walk_live(seed, 6.0) for seed in range(20)]
    assert sum(not one.fall for one in found) >= 19, [one.fall for one in found]
    assert sum(one.stop_steps <= 3 for one in found) >= 19
    for name, (_, value, asked) in CHANGES.items():
        if value is not None:
            near = [abs(one.values.get(name, 0.0) / asked - 1.0) <= 0.1 for one in found]
            assert sum(near) >= 19, name


@pytest.mark.slow
@pytest.mark.parametrize("clip", ["02_01", "08_10", "35_28", "16_32", "82_10", "132_31"])
def test_captured_walks_are_styles(human, clip):
    path = Path(__file__).resolve().parents[3] / "shared" / "mocap" / f"{clip}.bvh"
    if not path.exists():
        pytest.skip("the captured clips are not on this machine")
    style = cp.gait_from(cp.read_motion(path, character=human))
    assert len(walked(human, cp.Walk(style=style), 12.0, range(4))) == 4


@pytest.mark.slow
@pytest.mark.parametrize(("machine", "least", "most"), [("table 4.3", 0, 0), ("+ pendulum", 16, 20)])
def test_the_machine_of_the_thesis_walks_only_with_additions(human, machine, least, most):
    walks = [outing(walk_out(human, MACHINES[machine], 10.0, seed)).walks for seed in range(20)]
    assert least <= sum(walks) <= most


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
    passed = sum(not walk_course(Lab(), "last", seed, COURSES[course], 1.2) for seed in range(20))
    assert passed >= COURSES[course].bar
