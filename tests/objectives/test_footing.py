"""Footing: which points may push, how hard, and where feet belong, on still, tilted and moving ground."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.control import build_whole_body, solve_whole_body
from counterpoise.errors import BadValue
from counterpoise.objectives import LEVEL, Footing, make_stance, moving_surface, take_stance


def lifted_by(character: cp.Character, height: float, time: float) -> cp.Snapshot:
    q = character.neutral.copy()
    q[2] += height
    return character.snapshot(character.state(q, time=time))


def test_forces_lie_on_the_friction_cone(human):
    stance = take_stance(human.snapshot(), Footing(friction=0.6))
    for edges in stance.basis:
        assert np.allclose(edges[2], 1.0) and np.allclose(np.hypot(edges[0], edges[1]), 0.6)
    some = np.random.default_rng(0).uniform(0.0, 1.0, stance.force_limit.shape)
    f = stance.force(some)
    assert (np.hypot(f[:, 0], f[:, 1]) <= 0.6 * f[:, 2] + 1e-12).all() and (f[:, 2] > 0.0).all()
    J = human.snapshot().contact_jacobian
    assert np.allclose(stance.G @ some, np.einsum("pij,pi->j", J, f))


def test_on_a_slope_the_cone_stands_on_the_surface(human):
    n = np.array([0.2, -0.1, 1.0])
    surface = cp.Surface.tilted(n, (0.0, 0.0, -0.5))
    n /= np.linalg.norm(n)
    assert np.allclose(surface.normal, n) and np.linalg.det(surface.rotation) == pytest.approx(1.0)
    stance = take_stance(human.snapshot(), Footing(surface, friction=0.5, reach=2.0, leave=2.0))
    for edges in stance.basis:
        assert np.allclose(n @ edges, 1.0)
        assert np.allclose(np.linalg.norm(edges - n[:, None] * (n @ edges), axis=0), 0.5)
    away = human.snapshot().contact_position - np.array([0.0, 0.0, -0.5])
    assert np.allclose(stance.height, away @ n)
    assert np.allclose((stance.goal - np.array([0.0, 0.0, -0.5])) @ n, 0.0)


def test_touch_down_rises_and_lift_off_falls_in_their_time(human):
    footing = Footing(rise=0.04, fall=0.06)
    memory = take_stance(lifted_by(human, 0.1, 0.0), footing).memory
    assert not memory.held.any() and (memory.share == 0.0).all()
    shares = []
    for k in range(1, 31):
        memory = take_stance(lifted_by(human, 0.0, 0.002 * k), footing, memory).memory
        shares.append(memory.share.copy())
    rise = np.array(shares)
    assert memory.held.all() and (np.diff(rise, axis=0) >= 0.0).all()
    full = 0.002 * (1 + int(np.argmax(rise[:, 0] >= 1.0 - 1e-9)))
    assert full == pytest.approx(0.04, abs=0.003)
    leaving = Footing(rise=0.04, fall=0.06, lifted=("foot_left",))
    left = np.array([f.name == "foot_left" for f in human.feet for _ in f.points])
    held_for = 0.0
    for k in range(31, 80):
        stance = take_stance(lifted_by(human, 0.0, 0.002 * k), leaving, memory)
        memory = stance.memory
        assert (memory.share[~left] == 1.0).all() and memory.held[~left].all()
        if memory.held[left].any():
            held_for += 0.002
    assert (memory.share[left] == 0.0).all() and not memory.held[left].any()
    assert (stance.force_limit.reshape(len(left), -1)[left] == 0.0).all()
    assert held_for == pytest.approx(0.06, abs=0.005)


def test_detection_does_not_chatter(human):
    footing = Footing(reach=0.02, leave=0.03)
    memory = take_stance(lifted_by(human, 0.0, 0.0), footing).memory
    rng = np.random.default_rng(0)
    changes, touching = 0, memory.touching[0]
    for k in range(1, 200):
        memory = take_stance(lifted_by(human, 0.025 + 0.004 * rng.uniform(-1, 1), 0.002 * k), footing, memory).memory
        changes += bool(memory.touching[0] != touching)
        touching = memory.touching[0]
    assert changes == 0 and touching
    memory = take_stance(lifted_by(human, 0.04, 0.5), footing, memory).memory
    assert not memory.touching.any()
    memory = take_stance(lifted_by(human, 0.025, 0.502), footing, memory).memory
    assert not memory.touching.any()


def test_a_lifted_heel_is_held_and_gets_no_force(human):
    q = human.neutral.copy()
    for side in ("left", "right"):
        q[human.joint(f"toe_{side}").qpos] = 0.0
    foot = human.joint("ankle_left").dofs
    v = np.zeros(human.nv)
    v[foot.start] = 0.5
    tipped = human.snapshot(human.state(human.integrate(q, v)))
    heights = tipped.contact_position[:, 2]
    shift = q.copy()
    shift[2] -= heights.min()
    tipped = human.snapshot(human.state(human.integrate(shift, v)))
    stance = take_stance(tipped, Footing())
    left = np.array([f.name == "foot_left" for f in human.feet for _ in f.points])
    high = left & (tipped.contact_position[:, 2] > 0.02)
    low = left & (tipped.contact_position[:, 2] < 0.02)
    assert high.any() and low.any() and stance.held[left].all()
    assert (stance.share[high] == 0.0).all() and (stance.share[low] == 1.0).all()
    rows = cp.Contact(stiffness=100.0).rows(tipped, stance)
    pull = rows.b.reshape(-1, 3)[:, 2]
    which = np.flatnonzero(stance.held)
    assert all(pull[list(which).index(i)] < -1.0 for i in np.flatnonzero(high))  # back down


def test_feet_go_with_a_moving_ground():
    """What the surface's points do, against differences of where the platform really carries them."""
    platform = cp.Platform(
        x=(cp.Sine(0.1, 0.7),), z=(cp.Sine(0.05, 1.1),), pitch=(cp.Sine(0.2, 0.9, 1.0),), roll=(cp.Sine(0.1, 0.6),),
        yaw=(cp.Sine(0.3, 0.4, 0.5),),
    )  # fmt: skip
    ground = moving_surface(platform.pose)
    human = cp.character("human")
    t, h = 1.3, 1e-3

    def carried(time: float, local: np.ndarray) -> np.ndarray:
        x = platform.pose(time)
        turn = np.array([1.0, 0.0, 0.0, 0.0])
        for axis, angle in (((0, 0, 1), x[5]), ((0, 1, 0), x[4]), ((1, 0, 0), x[3])):
            turn = spatial.multiply(turn, spatial.exp(np.array(axis) * angle))
        return x[:3] + local @ spatial.to_matrix(turn).T

    here = human.snapshot(human.state(time=t))
    stance = take_stance(here, Footing(ground, reach=5.0, leave=5.0))
    local = stance.memory.planted
    before, now, after = (carried(time, local) for time in (t - h, t, t + h))
    assert np.allclose(stance.goal, now, atol=1e-9)
    assert np.allclose(stance.goal_velocity, (after - before) / (2 * h), atol=1e-4)
    assert np.allclose(stance.goal_acceleration, (after - 2 * now + before) / h**2, atol=1e-2)


def test_feet_may_stand_on_different_heights(human):
    step = cp.Surface(origin=(0.0, 0.0, 0.2))
    stance = take_stance(human.snapshot(), Footing({"foot_left": step}, reach=0.05, leave=0.05))
    left = np.array([f.name == "foot_left" for f in human.feet for _ in f.points])
    assert np.allclose(stance.goal[left, 2], 0.2) and np.allclose(stance.goal[~left, 2], 0.0)
    assert np.allclose(stance.height[left], -0.2, atol=1e-6)


def test_a_foot_that_slid_away_is_planted_anew(human):
    footing = Footing(slip=0.03)
    memory = take_stance(human.snapshot(), footing).memory
    first = memory.planted.copy()
    q = human.neutral.copy()
    for k in range(1, 11):
        q[0] += 0.01
        memory = take_stance(human.snapshot(human.state(q, time=0.002 * k)), footing, memory).memory
    assert np.allclose(memory.planted[:, 0] - first[:, 0], 0.07, atol=1e-9)  # 0.10 slid, less the 0.03 allowed


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda character: Footing(friction=-1.0), "friction"),
        (lambda character: Footing(reach=0.05, leave=0.02), "leave >= reach"),
        (
            lambda character: take_stance(character.snapshot(), Footing(lifted=("foot_lft",))),
            "did you mean 'foot_left'",
        ),
        (lambda character: take_stance(character.snapshot(), Footing({"paw": LEVEL})), "no foot 'paw'"),
        (lambda character: take_stance(character.snapshot(), Footing(lambda t: 3.0)), "Surface"),
        (lambda character: cp.Surface(rotation=np.ones((3, 3))), "rotation"),
        (lambda character: cp.Surface.tilted((0, 0, -1)), "straight down"),
        (lambda character: cp.Surface(origin=(0, 0)), "3 finite"),
    ],
)
def test_mistakes_are_refused_with_the_cure(human, make, says: str):
    with pytest.raises(cp.CounterpoiseError, match=says):
        make(human)


# -- a stance that the controller makes itself ----------------------------------------------------------------------
def test_a_stance_made_by_points_is_the_one_that_is_found(human):
    here = human.snapshot()
    found = take_stance(here, Footing(friction=0.6))
    made = make_stance(here, found.held, found.share, found.goal, footing=Footing(friction=0.6))
    for part in ("G", "basis", "force_limit", "height", "goal"):
        assert np.allclose(getattr(made, part), getattr(found, part), atol=1e-12), part
    in_place = make_stance(here, found.held, found.share)
    assert np.allclose(in_place.goal[:, :2], here.contact_position[:, :2]) and np.allclose(in_place.goal[:, 2], 0.0)
    levels = [cp.Contact()], [cp.Momentum(), cp.TrackPose()]
    by_footing = solve_whole_body(here, levels, Footing(friction=0.6))
    by_stance = solve_whole_body(here, levels, stance=found)
    assert np.array_equal(by_footing.torque, by_stance.torque)
    assert np.allclose(solve_whole_body(here, levels, stance=made).torque, by_footing.torque, atol=1e-6)
    assert by_stance.memory.footing is found.memory  # the next tick may go on from it
    assert np.array_equal(build_whole_body(here, levels, stance=found).G, found.G)


def test_points_are_held_and_pushed_one_by_one(human):
    """The left heel pushes at half its force, the right foot not at all; only the toes of the left one are held."""
    here = human.snapshot()
    names = [point.name for point in human.contact_points]
    left = np.array(["left" in name for name in names])
    share = np.where(left, 1.0, 0.0)
    share[0] = 0.5
    held = left & (np.arange(len(names)) >= 2)
    stance = make_stance(here, held, share, footing=Footing(strength=0.4))
    limit = stance.force_limit.reshape(len(names), 4)
    assert np.allclose(limit, 0.4 * human.weight * share[:, None])
    rows = cp.Contact().rows(here, stance)
    assert len(rows) == 3 * held.sum()
    force = solve_whole_body(here, ([cp.Contact()], [cp.TrackPose()]), stance=stance).force
    assert np.allclose(force[~left], 0.0) and force[left, 2].sum() > 0.3 * human.weight
    assert force[0, 2] <= 4 * 0.5 * 0.4 * human.weight + 1e-6


def test_every_point_may_have_a_surface_of_its_own(human):
    here, p = human.snapshot(), len(human.contact_points)
    n = np.array([0.3, 0.0, 1.0]) / np.hypot(0.3, 1.0)
    surfaces = [cp.Surface.tilted(n) if i == 1 else cp.Surface((0.0, 0.0, 0.02 * i)) for i in range(p)]
    stance = make_stance(here, np.ones(p, bool), 1.0, surfaces=surfaces)
    assert np.allclose(n @ stance.basis[1], 1.0) and np.allclose(stance.basis[2, 2], 1.0)
    z = here.contact_position[:, 2]
    assert stance.height[3] == pytest.approx(z[3] - 0.06) and stance.goal[3, 2] == pytest.approx(0.06)
    moving = make_stance(here, np.ones(p, bool), 1.0, here.contact_position, goal_velocity=(0.1, 0.0, 0.0))
    assert np.allclose(moving.goal_velocity, [0.1, 0.0, 0.0]) and np.allclose(moving.goal_acceleration, 0.0)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (lambda s, p: make_stance(s, np.ones(p), 1.0), "one flag for each"),
        (lambda s, p: make_stance(s, np.ones(p - 1, bool), 1.0), "one flag for each"),
        (lambda s, p: make_stance(s, np.ones(p, bool), 1.5), "0 to 1"),
        (lambda s, p: make_stance(s, np.ones(p, bool), np.full(p, np.nan)), "without NaN"),
        (lambda s, p: make_stance(s, np.ones(p, bool), 1.0, np.zeros((2, 3))), "goal has shape"),
        (lambda s, p: make_stance(s, np.ones(p, bool), 1.0, surfaces=[LEVEL]), "one surface for each"),
        (lambda s, p: make_stance(s, np.ones(p, bool), 1.0, footing=Footing(bilateral=True)), "bilateral"),
        (
            lambda s, p: solve_whole_body(s, [cp.TrackPose()], Footing(), stance=take_stance(s, Footing())),
            "not both",
        ),
        (
            lambda s, p: solve_whole_body(
                s, [cp.TrackPose()], stance=take_stance(cp.character("chicken").snapshot(), Footing())
            ),
            "another body",
        ),
    ],
)
def test_a_stance_that_does_not_fit_is_refused(human, given, says: str):
    with pytest.raises(BadValue, match=says):
        given(human.snapshot(), len(human.contact_points))
