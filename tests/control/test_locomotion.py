"""Locomotion: it stands, catches itself, turns on the spot, goes to places; steering and bad wishes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.locomotion.gait_change import can_run, walk_after
from counterpoise.control.locomotion.steering import steer, way_of
from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.walk.gait_cycle import made_cycle
from counterpoise.control.walk.low_hands import low_hands
from counterpoise.control.walk.schedule import next_phase
from counterpoise.control.walk.seen import see
from counterpoise.control.walk.styles import style_of
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walker import walk_tick, watched
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.control.walk.wishes import StepShape, Wishes
from counterpoise.errors import CounterpoiseError
from counterpoise.experiments.going import steps_taken


def phases(recording: cp.Recording) -> list[str]:
    return [str(phase) for phase in recording.notes["phase"]]


def facing(recording: cp.Recording) -> float:
    q = recording.qpos[-1]
    return math.remainder(2.0 * math.atan2(q[6], q[3]), 2.0 * math.pi)


def test_a_pushed_body_steps_and_stands_again(human):
    push = cp.Push("thorax", (600.0, 0.0, 0.0), 0.5, 0.1)
    recording = cp.simulate(human, cp.Locomotion(), 4.0, disturbances=[push])
    seen = phases(recording)
    assert set(seen) <= {"stand", "shift", "single", "double"} and "single" in seen and seen[-1] == "stand"
    assert 1 <= np.nanmax(recording.notes["steps"]) <= 5
    place = cp.measure.com(recording)
    assert place[-1, 0] > 0.3 and float(np.abs(place[-1] - place[-200]).max()) < 0.03


@pytest.mark.parametrize("way", [0.0, 180.0])
def test_a_push_of_110_newton_seconds_is_caught(human, way):
    force = 1100.0 * math.cos(math.radians(way))
    recording = cp.simulate(human, cp.Locomotion(), 4.5, disturbances=[cp.Push("thorax", (force, 0.0, 0.0), 0.5, 0.1)])
    assert not cp.measure.fell(recording) and phases(recording)[-1] == "stand"


@pytest.mark.parametrize(
    ("catches", "stretched", "phase"), [(True, 1.0, "single"), (True, 0.9, "double"), (False, 1.0, "double")]
)
def test_a_rear_leg_that_pulls_leaves_in_a_catch(human, catches, stretched, phase):
    body, tuning = walking_body(human), cp.WalkTuning()
    seen = see(human.snapshot(), body)
    leg = seen.hip[1] - seen.ankle[1]
    hip = seen.hip.copy()
    hip[1] = seen.ankle[1] + leg * (stretched * body.legs[1].longest / float(np.linalg.norm(leg)))
    landed = WalkMemory(time=0.01, phase="double", stance=0, began=0.0, double=0.1, catches=catches)
    shape = StepShape(length=0.0, time=0.4, double=0.1, width=0.15)
    after = next_phase(landed, seen._replace(hip=hip), Wishes(1.0), shape, human, tuning)
    assert after.phase == phase and after.stance == 0


@pytest.mark.parametrize("way", [-90.0, 45.0])
def test_a_push_of_80_newton_seconds_is_caught_in_four_steps_with_hands_below_the_top_of_the_head(human, way):
    angle = math.radians(way)
    push = cp.Push("thorax", (800.0 * math.cos(angle), 800.0 * math.sin(angle), 0.0), 0.5, 0.1)
    recording = cp.simulate(human, cp.Locomotion(), 3.5, disturbances=[push])
    assert not cp.measure.fell(recording) and phases(recording)[-1] == "stand"
    assert steps_taken(recording) <= 4
    poses = [human.snapshot(human.state(q)) for q in recording.positions()[::20]]
    assert max(one.position(hand)[2] - one.position("head")[2] for one in poses for hand in human.hands) < 0.2


def test_a_hand_brakes_before_it_is_higher_than_its_shoulder(human):
    body, tuning = walking_body(human), cp.WalkTuning()
    catching = WalkMemory(catches=True)
    assert low_hands(catching, human.snapshot(), body, tuning) is None
    upper = human.joint("shoulder_left")
    v = np.zeros(human.nv)
    v[upper.dofs] = 0.0, -12.0, 0.0  # the arm swings forward and up
    q = human.integrate(human.neutral, 0.1 * v)
    fast = human.snapshot(human.state(q, v))
    asked = low_hands(catching, fast, body, tuning)
    assert low_hands(WalkMemory(), fast, body, tuning) is None
    assert low_hands(WalkMemory(catches=True, cost=2.0 * tuning.hand_free), fast, body, tuning) is None
    assert asked is not None and len(asked.wanted) == 1 and asked.wanted[0] < 0.0
    rows = asked.rows(fast)

    def rise(state: cp.State) -> float:
        one = human.snapshot(state)
        return float(one.position("hand_left")[2] - one.position(upper.body)[2])

    dt = 1e-5
    ahead, behind = (rise(human.state(human.integrate(q, sign * dt * v))) for sign in (1.0, -1.0))
    assert float(rows.A[0] @ v) == pytest.approx((ahead - behind) / (2.0 * dt), rel=1e-5)
    drift = (ahead - 2.0 * rise(human.state(q)) + behind) / dt**2
    assert asked.wanted[0] - rows.b[0] == pytest.approx(drift, rel=1e-3)


@pytest.mark.parametrize(
    ("catches", "aside", "spin", "phase"),
    [
        (True, 0.12, 0.0, "stand"),
        (True, 0.26, 0.0, "single"),
        (True, 0.12, 60.0, "single"),
        (False, 0.12, 0.0, "single"),
    ],
)
def test_a_fall_is_caught_where_wide_feet_carry_the_body_and_its_trunk_is_calm(human, catches, aside, spin, phase):
    body = walking_body(human)
    seen = see(human.snapshot(), body)
    flat = seen.flat.mean(axis=0) + np.array([[0.0, 0.22], [0.0, -0.22]])
    capture = flat.mean(axis=0) + np.array([0.05, -aside])
    seen = seen._replace(flat=flat, capture=capture)
    landed = WalkMemory(
        time=0.2, phase="double", stance=1, began=0.0, double=0.1, catches=catches, spin=(spin, 0.0), speed=0.0
    )
    shape = StepShape(length=0.0, time=0.4, double=0.1, width=0.15)
    assert next_phase(landed, seen, Wishes(0.0), shape, human, cp.WalkTuning()).phase == phase


@pytest.mark.parametrize(
    ("speed", "asked", "ahead", "runs"),
    [(1.7, 3.0, 0.0, True), (1.7, 3.0, 0.15, False), (1.4, 3.0, 0.0, False), (1.4, 1.5, 0.0, True)],
)
def test_a_run_begins_where_enough_of_a_quick_walks_stance_is_left(human, speed, asked, ahead, runs):
    body = walking_body(human)
    seen = see(human.snapshot(), body)
    com = np.array([*seen.flat[0], seen.com[2]]) + np.array([ahead, 0.0, 0.0])
    seen = seen._replace(com=com, velocity=np.array([speed, 0.0, 0.0]))
    walk = WalkMemory(time=0.2, phase="single", stance=0, lifted=0.0, left=0.2)
    assert can_run(walk, seen, asked, body) is runs


def test_steps_forget_how_the_capture_point_moved_before_them(human):
    body, tuning = walking_body(human), cp.WalkTuning()
    here = human.snapshot()
    seen = see(here, body)
    far = seen.capture - np.array([1.0, 0.0])  # where it was when the body stood last, a metre away
    walk = WalkMemory(
        time=0.0, phase="single", stance=0, began=-0.2, lifted=-0.1, left=0.2, capture=far, drift=np.array([0.3, 0.0])
    )
    now = human.snapshot(human.state(time=0.002))
    after = walk_tick(now, walk, Wishes(0.0), made_cycle(human, style_of("normal")), tuning).memory
    assert after.phase == "single" and after.capture is None
    later = human.snapshot(human.state(time=0.004))
    assert float(np.abs(watched(after, later, see(later, body)).drift).max()) == 0.0


def test_a_walk_after_a_run_brakes_at_once_where_it_is_to_stop(human):
    body = walking_body(human)
    seen = see(human.snapshot(), body)
    run = RunMemory(time=1.0, phase="stance", speed=1.6)
    on, stops = (walk_after(run, seen, 1.0, stays, body) for stays in (False, True))
    assert on.speed == 1.6 and stops.speed == pytest.approx(0.8) and stops.catches


def test_a_small_push_is_taken_in_place(human):
    push = cp.Push("thorax", (80.0, 0.0, 0.0), 0.5, 0.1)
    recording = cp.simulate(human, cp.Locomotion(), 1.5, disturbances=[push])
    assert set(phases(recording)) == {"stand"}


def test_it_turns_on_the_spot(human):
    recording = cp.simulate(human, cp.Locomotion(heading=1.2), 5.0)
    assert phases(recording)[-1] == "stand" and facing(recording) == pytest.approx(1.2, abs=0.2)
    assert float(np.hypot(*cp.measure.com(recording)[-1, :2])) < 0.4


def test_it_goes_to_a_place_and_stands_there(human):
    recording = cp.simulate(human, cp.Locomotion(to=(1.5, 0.8)), 6.5)
    assert phases(recording)[-1] == "stand"
    assert float(np.hypot(*(cp.measure.com(recording)[-1, :2] - [1.5, 0.8]))) < 0.5


def test_ice_that_is_seen_is_walked_slowly(human):
    terrain = cp.Terrain([cp.Patch((1.4, 0.0), (1.0, 4.0), friction=0.2)])
    assert terrain.least_friction([1.4, 0.0], [0.0, 0.0]) == 0.2 and terrain.least_friction(0.0, 0.0) is None
    world = cp.World(terrain=terrain)
    recording = cp.simulate(human, cp.Locomotion(1.0, terrain=terrain), 5.0, world=world)
    assert not cp.measure.fell(recording)
    assert cp.measure.com(recording)[-1, 0] > 2.1  # it is behind the ice


def test_steering_turns_first_slows_down_and_stops(human):
    body = walking_body(human)
    behind = steer(np.zeros(2), 0.0, way_of((-3.0, 0.0)), 0, 1.2, body)
    assert behind[0] == 0.0 and abs(behind[1]) == pytest.approx(math.pi)
    far, near, there = (steer(np.array([x, 0.0]), 0.0, way_of((3.0, 0.0)), 0, 1.2, body) for x in (0.0, 2.4, 2.9))
    assert far[0] == 1.2 and 0.0 < near[0] < 1.2 and there == (0.0, 0.0, 1)
    assert steer(np.array([2.5, 0.0]), 0.0, way_of((3.0, 0.0)), 1, 1.2, body)[0] == 0.0  # it was there: it stays
    assert steer(np.array([1.9, 0.0]), 0.0, way_of([(2.0, 0.0), (2.0, 5.0)]), 0, 1.2, body)[2] == 1


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"speed": "fast"}, "speed"),
        ({"speed": (1.0, 2.0, 3.0)}, "forward, left"),
        ({"gait": "gallop"}, "gait"),
        ({"hip_height": -1.0}, "hip_height"),
        ({"foot_height": -0.1}, "foot_height"),
        ({"to": (1.0, 2.0, 3.0)}, "place"),
        ({"style": "proudd"}, "proud"),
        ({"heading": float("nan")}, "heading"),
    ],
)
def test_bad_wishes_are_named(wishes, words):
    with pytest.raises(CounterpoiseError, match=words):
        cp.Locomotion(**wishes)


def test_a_body_without_two_feet_is_refused():
    with pytest.raises(CounterpoiseError, match="left and a right foot"):
        cp.Locomotion().begin(cp.character("chain"))
