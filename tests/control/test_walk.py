"""Walk: its pendulum beside an integration, its plan, its styles, its errors, and short walks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.walk.footholds import find_foothold
from counterpoise.control.walk.gait_cycle import made_cycle
from counterpoise.control.walk.planes import plane_at, sole_plane
from counterpoise.control.walk.stepping import StepCosts, StepWish, choose_step, least_time
from counterpoise.control.walk.styles import STYLES
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.errors import CounterpoiseError
from counterpoise.plan.pendulum import capture_after, capture_before, periodic_capture

OMEGA = 3.14


def integrated(xi: float, p0: float, p1: float, T: float, steps: int = 20000) -> float:
    """The capture point by Euler's midpoint rule, without the closed form."""
    h = T / steps
    for k in range(steps):
        p = p0 + (p1 - p0) * (k + 0.5) / steps
        middle = xi + 0.5 * h * OMEGA * (xi - p)
        xi += h * OMEGA * (middle - p)
    return xi


@pytest.mark.parametrize("case", [(0.1, 0.0, 0.2, 0.5), (-0.3, 0.1, -0.1, 0.9), (0.2, 0.2, 0.2, 0.4)])
def test_the_capture_point_goes_where_an_integration_says(case):
    xi, p0, p1, T = case
    after = capture_after(xi, p0, p1, T, OMEGA)
    assert after == pytest.approx(integrated(xi, p0, p1, T), abs=1e-6)
    assert capture_before(after, p0, p1, T, OMEGA) == pytest.approx(xi, abs=1e-12)


@pytest.mark.parametrize(("step", "turn"), [(0.64 + 0j, 0.0), (0.5 + 0.1j, 0.0), (0.4 + 0j, 0.4), (-0.3 + 0j, -0.3)])
def test_a_steady_walk_repeats_itself(step, turn):
    """Steps are followed in the world, feet and headings placed one by one."""
    first, last, double, single, width = 0.06, 0.15, 0.11, 0.42, 0.15
    heading, foot, side = 0.3, 1.0 + 2.0j, 1.0

    def steady(side: float) -> complex:
        return periodic_capture(step, width, side, turn, first, last, double, single, OMEGA)

    def after(xi: complex, p0: complex, p1: complex, T: float) -> complex:
        return complex(
            capture_after(xi.real, p0.real, p1.real, T, OMEGA), capture_after(xi.imag, p0.imag, p1.imag, T, OMEGA)
        )

    def facing(angle: float) -> complex:
        return complex(math.cos(angle), math.sin(angle))

    xi = foot + facing(heading) * steady(side)
    rear = foot - facing(heading) * (step + 1j * side * width) + facing(heading - turn) * last
    for _ in range(4):
        on = [foot + facing(heading) * along for along in (first, last)]
        xi = after(after(xi, rear, on[0], double), on[0], on[1], single)
        rear, side, heading = on[1], -side, heading + turn
        foot += facing(heading) * (step + 1j * side * width)
        assert abs(xi - (foot + facing(heading) * steady(side))) < 1e-9


@pytest.mark.parametrize(("way", "speed"), [(0.6, 0.0), (0.6, 2.0), (0.1, 4.0), (0.4, -1.5), (0.0, 0.0)])
def test_the_least_time_of_a_foot_is_that_of_full_speed_and_full_brakes(way, speed):
    most, T = 45.0, least_time(way, speed, 45.0)
    best = np.inf
    for sign in (1.0, -1.0):  # push, then brake: the moment of change by which it comes to rest
        for change in np.linspace(0.0, 0.4, 40001):
            u = speed + sign * most * change
            rest = u / (sign * most)
            if rest >= 0.0:
                x = speed * change + 0.5 * sign * most * change**2 + 0.5 * u * rest
                if abs(x - way) < 2e-4:
                    best = min(best, change + rest)
    assert best == pytest.approx(T, abs=2e-3)


WISH = StepWish(0.6, -0.15, 0.1, 0.06, -1.0, -0.5, 0.8, 0.08, 0.6, 0.3, -0.1, 2.0, 0.25, 0.3)
COSTS = StepCosts(60.0, 0.6, 2.0, 30.0, 1e4, 5.0)


def landing(xi, usual=0.3):
    out = np.empty(6)
    swing = np.array([-0.3, -0.15, 0.0, 0.0, 1e9, 10.0])
    choose_step(np.array(xi), np.zeros((2, 2)), OMEGA, np.array([0.05, usual, 0.8]), WISH, swing, COSTS, out)
    return out


def test_a_step_is_as_wished_where_the_capture_point_is_right():
    grow = math.exp(OMEGA * 0.3)
    out = landing([(0.6 + 0.1) / grow, (-0.15 + 0.06) / grow])
    assert out[0] == pytest.approx(0.3, abs=1e-4)
    assert out[1:3] == pytest.approx([0.6, -0.15], abs=1e-4) and out[3] == pytest.approx(0.0, abs=1e-6)


def test_a_push_moves_the_foothold_and_a_hard_one_crosses_the_legs():
    grow = math.exp(OMEGA * 0.3)
    usual = np.array([(0.6 + 0.1) / grow, (-0.15 + 0.06) / grow])
    ahead, outward = landing(usual + [0.05, 0.0]), landing(usual + [0.0, -0.04])
    assert ahead[1] > 0.63 or ahead[0] < 0.29  # farther or sooner
    assert outward[2] < -0.17 or outward[0] < 0.29
    inward = landing(usual + [0.0, 0.05])
    assert inward[2] <= -0.08 + 1e-9
    hard = landing(usual + [0.0, 0.4])
    assert hard[2] >= 0.0 and abs(hard[1]) >= 0.25 - 1e-9  # on the other side, before or behind the stance foot


def test_the_chosen_landing_is_the_best_of_a_fine_grid():
    for xi in ([0.2, -0.05], [0.35, -0.02], [0.1, -0.01]):
        out = landing(xi)
        costs = []
        for T in np.linspace(0.05, 0.8, 4001):
            grow = math.exp(OMEGA * T)
            place = [
                min(max((0.6 * 0.6 + 30.0 * (xi[0] * grow - 0.1)) / 30.6, -0.5), 0.8),
                -min(max(-(2.0 * -0.15 + 30.0 * (xi[1] * grow - 0.06)) / 32.0, 0.08), 0.6),
            ]
            cost = 60.0 * (T - 0.3) ** 2 + 0.6 * (place[0] - 0.6) ** 2 + 2.0 * (place[1] + 0.15) ** 2
            cost += 30.0 * ((xi[0] * grow - place[0] - 0.1) ** 2 + (xi[1] * grow - place[1] - 0.06) ** 2)
            late = math.hypot(place[0] + 0.3, place[1] + 0.15) / 10.0 - T
            costs.append(cost + (1e4 * late**2 if late > 0.0 else 0.0))
        assert out[3] <= min(costs) * (1.0 + 1e-3) + 1e-9


def test_bodies_are_measured_in_their_own_units(human):
    tall, small = walking_body(human), walking_body(cp.character("chicken"))
    assert tall.legs[0].heel_at < 0.0 < tall.legs[0].ball_at < tall.legs[0].front_at
    assert tall.legs[0].knee_sign == 1.0 and abs(tall.legs[0].knee_straight) < 0.1
    assert small.leg_speed / tall.leg_speed == pytest.approx(math.sqrt(small.hips_height / tall.hips_height))


@pytest.fixture(scope="module")
def walked(human) -> cp.Recording:
    return cp.simulate(human, cp.Walk(speed=1.0), 6.0, start=cp.disturbed_start(human, 5))


def test_a_human_walks(walked):
    found = cp.measure.gait(walked, 3.0)
    assert "fallen" not in {str(p) for p in walked.notes["phase"]}
    assert found.speed == pytest.approx(1.0, rel=0.05) and found.steps >= 3
    assert found.flight == 0.0 and found.heel_strike > 5.0 and found.toe_off > 20.0
    assert found.arm_leg < -0.7 and found.drift < 0.15
    assert {str(s) for s in walked.notes["status"]} == {"solved"}


def test_a_walk_obeys_the_laws_and_replays(walked, human):
    limit = human.torque_limit
    assert (np.abs(walked.torques()) <= limit + 1e-9).all()
    assert cp.replay(walked).exact
    assert cp.measure.penetration(walked).max() < 0.02


def test_it_turns(human):
    recording = cp.simulate(human, cp.Walk(speed=0.8, heading=0.5), 6.0)
    way = cp.measure.com(recording)[-1] - cp.measure.com(recording)[-1200]
    assert "fallen" not in {str(p) for p in recording.notes["phase"]}
    assert math.atan2(way[1], way[0]) == pytest.approx(0.5, abs=0.15)


def test_it_stops_and_stands(human):
    walk = cp.Walk(speed=lambda t: 0.8 if t < 4.0 else 0.0)
    recording = cp.simulate(human, walk, 7.5)
    phases = [str(p) for p in recording.notes["phase"]]
    assert phases[-1] == "stand"
    steps = recording.notes["steps"]
    assert steps[-1] - steps[int(len(steps) * 4.0 / 7.5)] <= 4
    assert float(np.linalg.norm(cp.measure.com(recording)[-1] - cp.measure.com(recording)[-300])) < 0.03


def test_sliders_move_while_it_walks(human):
    session = cp.Session(human, cp.Walk(speed=0.8))
    session.advance(3.0)
    session.controller = replace(session.controller, height=0.08)
    session.advance(1.0)
    session.character = human.rescaled({"arms": 1.3})
    session.advance(1.5)
    assert session._run is not None
    assert session._run.drivers[0].memory.phase in ("double", "single")
    assert session._run.drivers[0].memory.steps >= 4


def test_a_fall_is_reported_and_goes_limp(human):
    shove = cp.Push("thorax", (0.0, 2500.0, 0.0), 1.5, 0.2)
    recording = cp.simulate(human, cp.Walk(), 4.0, disturbances=[shove])
    assert str(recording.notes["phase"][-1]) == "fallen"
    causes = [str(c) for c in recording.notes["cause"] if isinstance(c, str) and c]
    assert "hips" in causes[0] and " s" in causes[0]
    assert np.isfinite(recording.qpos).all()


def test_a_style_is_one_table(human):
    assert set(STYLES) >= {"normal", "fast", "slow", "sad", "proud", "sneaking", "limping", "marching", "bouncy"}
    sad, normal = cp.Walk(style="sad"), cp.Walk()
    assert sad.usual_speed(human) < normal.usual_speed(human)
    own = cp.WalkStyle("mine", arm_swing=0.0)
    assert cp.Walk(style=own).begin(human) is not None


def test_a_gait_is_read_from_a_walk(walked, human):
    rows = np.arange(walked.row_at(3.0), len(walked), 8)
    motion = cp.Motion(human, walked.time[rows] - walked.time[rows[0]], walked.qpos[rows])
    cycle = cp.gait_from(motion)
    assert cycle.speed == pytest.approx(cp.measure.gait(walked, 3.0).speed, rel=0.1)
    left, _ = cycle.at(0.0, 1.0, 1.0)
    right, _ = cycle.at(0.5, 1.0, 1.0)
    knee = [human.joint(f"knee_{side}").dofs.start - 6 for side in ("left", "right")]
    assert left[knee[0]] == pytest.approx(right[knee[1]], abs=1e-6)  # both sides alike, half a stride apart
    assert cp.Walk(style=cycle).begin(human) is not None
    assert cp.Walk(style=cycle).usual_speed(human) == pytest.approx(cycle.speed)
    brisk = cp.Walk(style=replace(cycle, speed=3.0)).usual_speed(human)
    assert brisk == pytest.approx(1.6, abs=0.02)  # a run is no walk
    with pytest.raises(CounterpoiseError, match="joints differ"):
        cp.Walk(style=cycle).begin(cp.character("ostrich"))


def test_a_loop_of_one_stride_is_a_gait(walked, human):
    left = [k for k, phase in enumerate(_ahead(walked, human)) if phase]
    rows = np.arange(left[0], left[1] + 1, 4)
    stride = cp.Motion(human, walked.time[rows] - walked.time[rows[0]], walked.qpos[rows])
    with pytest.raises(CounterpoiseError, match="two steps or more"):
        cp.gait_from(stride)
    poses = stride.poses.copy()
    poses[-1] = poses[0]
    poses[-1, 0] += stride.poses[-1, 0] - stride.poses[0, 0]
    loop = cp.Motion(human, stride.times, poses).as_loop(travel=True)
    found = cp.gait_from(loop)
    assert found.stride == pytest.approx(stride.duration, rel=0.03)
    assert found.speed == pytest.approx(1.0, rel=0.05)


def _ahead(recording: cp.Recording, human: cp.Character) -> list[bool]:
    """Whether a row, from 3 s on, is one in which the left foot is farthest ahead of the hips."""
    body = walking_body(human)
    rows = range(recording.row_at(3.0), len(recording))
    way = [0.0] * (recording.row_at(3.0))
    for k in rows:
        s = human.snapshot(human.state(recording.qpos[k]))
        hips = s.position(body.hips_body, body.hips)
        way.append(float((s.position(body.legs[0].body, body.legs[0].ankle) - hips)[0]))
    near = 100
    return [w > 0.1 and w == max(way[max(k - near, 0) : k + near + 1]) for k, w in enumerate(way)]


def test_long_arms_are_bent_until_their_swing_clears_the_ground(human):
    long = human.rescaled({"arms": 2.0})
    body, waves = walking_body(long), made_cycle(long, STYLES["normal"]).waves
    for swing in (-1.0, 0.0, 1.0):
        away = np.zeros(long.nv)
        away[6:] = waves[0, :-6] + swing * waves[1, :-6]
        pose = long.snapshot(long.state(long.integrate(long.neutral, away)))
        for hand in long.hands:
            k = long.body_id(hand)
            low = float((2.0 * pose.body_com[k] - pose.body_position[k])[2]) - pose.contact_position[:, 2].min()
            assert low > 0.15 * body.hips_height, (swing, hand, low)
    usual = made_cycle(human, STYLES["normal"]).waves
    assert usual[0, human.joint("elbow_left").dofs.start - 6] == pytest.approx(math.radians(20.0))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: cp.Walk(speed=-1.0), "speed"),
        (lambda: cp.Walk(speed=float("nan")), "speed"),
        (lambda: cp.Walk(step=0.5, time=0.0), "time is above 0"),
        (lambda: cp.Walk(style="sda"), "sad"),
        (lambda: cp.Walk(speed=1.0, step=0.5, time=0.5), "two of"),
        (lambda: cp.Walk(speed=9.0).begin(cp.character("human")), "m/s"),
        (lambda: cp.Walk(step=3.0).begin(cp.character("human")), r"step of 'human' is 0.00 to 0.79 m"),
        (lambda: cp.Walk(time=5.0).begin(cp.character("human")), r"time of 'human' is"),
        (lambda: cp.Walk(height=2.0).begin(cp.character("human")), r"height of 'human' is"),
        (lambda: cp.Walk(step=0.7, time=0.35).begin(cp.character("human")), r"are 2\.00 m/s"),
        (lambda: cp.Walk().begin(cp.character("chain")), "left and a right foot"),
    ],
)
def test_bad_wishes_are_named(make, words):
    with pytest.raises(CounterpoiseError, match=words):
        make()


# -- ground that is seen, and ground that is felt ---------------------------------------------------------------------


def test_the_plane_under_a_sole_lies_on_the_highest_ground():
    ground = cp.Terrain([cp.Ramp((0.0, 0.0), 2.0, 0.5, 4.0), cp.Box.between((4.0, -1.0), (5.0, 1.0), 0.2)]).obstacles
    sole, plane = np.array([-0.04, 0.12, 0.18, 0.035]), np.empty(5)
    assert sole_plane(1.0, 0.3, 0.4, sole, ground, plane) == pytest.approx(0.0, abs=1e-9)
    assert plane == pytest.approx([1.0, 0.3, 0.25, 0.25, 0.0], abs=1e-9)
    assert sole_plane(4.0, 0.0, 0.0, sole, ground, plane) > 0.05  # half of it on the box
    heights = [plane_at(plane, x, 0.0) for x in (4.0, 4.05, 4.12)]
    assert min(heights[1:]) >= 0.2 - 1e-9


def test_footholds_are_moved_to_where_the_sole_fits():
    ground = cp.Terrain([cp.Gap((1.0, 0.0), (0.4, 6.0), 1.0)]).obstacles  # from x = 0.8 to 1.2
    soles = np.tile([-0.04, 0.12, 0.18, 0.035], (2, 1))
    reach, nowhere, out = np.array([0.8, 0.4, 0.5, 1.0, 0.07]), np.full(5, np.nan), np.zeros(5)
    for wanted in (0.6, 0.75, 0.95, 1.1, 1.4):
        found = find_foothold(
            0, np.array([wanted, 0.15]), np.array([0.55, 0.0, 0.0]), 0.0, np.array([0.15, 0.0]), 0.5, reach, nowhere,
            math.nan, soles, 0.025, 1.0, ground, out,
        )  # fmt: skip
        assert found
        assert out[0] + 0.12 <= 0.8 + 1e-9 or out[0] - 0.04 >= 1.2 - 1e-9
        assert abs(out[0] - wanted) < 0.36
    level = cp.Terrain([]).obstacles
    find_foothold(
        0, np.array([0.95, 0.15]), np.array([0.55, 0.0, 0.0]), 0.0, np.array([0.15, 0.0]), 0.4, reach, nowhere,
        math.nan, soles, 0.025, 1.0, level, out,
    )  # fmt: skip
    assert out[:2] == pytest.approx([0.95, 0.15])  # where it fits it stays


def test_level_ground_that_is_seen_is_walked_like_level_ground():
    human = cp.character("human")
    start = cp.disturbed_start(human, seed=5)
    seen = cp.simulate(human, cp.Walk(speed=0.8, terrain=cp.Terrain([])), 2.0, start=start)
    assert not cp.measure.fell(seen).fell
    assert 0.4 < seen.qpos[-1, 0] < 1.5


@pytest.mark.parametrize("height", [0.08, -0.08])
def test_it_takes_a_step_that_it_sees(height):
    human = cp.character("human")
    side = ((0.45, -2.0), (4.0, 2.0)) if height > 0.0 else ((-2.0, -2.0), (0.45, 2.0))
    terrain = cp.Terrain([cp.Box.between(*side, abs(height))])
    world = cp.World(terrain=terrain)
    start = cp.disturbed_start(human, 1, world)
    walk = cp.Walk(speed=0.8, terrain=terrain)
    recording = cp.simulate(human, walk, 4.0, world=world, start=start)
    assert not cp.measure.fell(recording).fell
    assert recording.qpos[-1, 0] > 0.7
    assert recording.qpos[-1, 2] - recording.qpos[0, 2] == pytest.approx(height, abs=0.05)


def test_a_walk_refuses_terrain_of_another_kind():
    with pytest.raises(CounterpoiseError, match=r"Walk\.terrain is a Terrain"):
        cp.Walk(terrain=cp.Box())
