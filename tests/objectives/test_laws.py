"""Every objective, on several bodies: what its rows ask for is what differences of the quantity itself show."""

from __future__ import annotations

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from scipy.interpolate import CubicHermiteSpline

import counterpoise as cp
from counterpoise import spatial
from counterpoise.control import WholeBodyTuning, solve_whole_body
from counterpoise.errors import BadValue
from counterpoise.features import BodyOrientation, ComPosition, Feature, Height, PointPosition, PositionFromCom
from counterpoise.objectives import EXAMPLES, DiagonalRows, Footing, Rows, faded, momentum_scale, take_stance
from counterpoise.objectives.target import arrival

BODIES = ["human", "chicken", "planar_biped"]


def moving(character: cp.Character, seed: int, speed: float = 1.0) -> cp.Snapshot:
    rng = np.random.default_rng(seed)
    q = character.integrate(character.neutral, 0.2 * rng.standard_normal(character.nv))
    return character.snapshot(character.state(q, speed * rng.standard_normal(character.nv)))


def ahead(here: cp.Snapshot, a: np.ndarray, h: float) -> cp.Snapshot:
    """The body a moment h later (or earlier) when it accelerates by a."""
    character = here.character
    return character.snapshot(
        character.state(character.integrate(here.q, h * here.v + 0.5 * h * h * a), here.v + h * a, h)
    )


def second_derivative(feature: Feature, here: cp.Snapshot, a: np.ndarray, h: float = 2e-4) -> np.ndarray:
    now = feature.value(here)
    forth, back = (feature.difference(now, feature.value(ahead(here, a, s))) for s in (h, -h))
    return (forth + back) / h**2


def obeying(rows) -> np.ndarray:
    """An acceleration that does what rows ask."""
    a = np.linalg.lstsq(rows.A, rows.b, rcond=None)[0]
    assert np.allclose(rows.A @ a, rows.b, atol=1e-8 * (1 + np.abs(rows.b).max()))
    return a


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("name", EXAMPLES)
def test_what_is_written_is_what_the_rows_say(name: str, body: str):
    character = cp.character(body)
    objective = EXAMPLES[name](character)
    here = moving(character, 1)
    stance = take_stance(here, Footing(reach=1.0, leave=1.0))
    rows = objective.rows(here, stance)
    again = objective.rows(here, stance)
    assert np.array_equal(rows.b, again.b) and np.array_equal(rows.A, again.A)
    assert rows.on == objective.on and rows.at_most == objective.at_most
    if rows.on != "acceleration":
        return
    A, b = np.full((400, character.nv), 7.0), np.full(400, 7.0)
    count = objective.write(here, stance, A, b, 3, 2.0)
    assert count == len(rows)
    assert np.allclose(A[3 : 3 + count], 2.0 * rows.A, atol=1e-12) and np.allclose(b[3 : 3 + count], 2.0 * rows.b)
    assert (A[:3] == 7.0).all() and (A[3 + count :] == 7.0).all()
    a = np.random.default_rng(2).standard_normal(character.nv)
    left = rows.A @ a - rows.b
    expected = np.maximum(left, 0.0) if rows.at_most else left
    assert rows.size(a) == pytest.approx(np.linalg.norm(expected), rel=1e-12)
    assert np.linalg.norm(rows.residual(a)) == pytest.approx(np.linalg.norm(expected), rel=1e-12)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("which", ["com", "point", "orientation"])
def test_a_setpoint_asks_for_a_spring_and_a_damper(which: str, body: str):
    """The feature's own second derivative, by differences of its values, is k_p e + k_v e' + y_r''."""
    character = cp.character(body)
    end = character.segments[-1]
    feature = {"com": ComPosition(), "point": PointPosition(end, (0.1, 0.0, 0.2)), "orientation": BodyOrientation(end)}[
        which
    ]
    here = moving(character, 3)
    there = feature.value(moving(character, 4))
    axes = (1,) if which == "orientation" and body == "planar_biped" else "xz" if body == "planar_biped" else None
    wanted = cp.Setpoint(feature, there, velocity=0.3, acceleration=0.7, stiffness=30.0, axes=axes)
    bend = second_derivative(feature, here, obeying(wanted.rows(here)))
    h = 1e-6
    rate = feature.difference(feature.value(ahead(here, 0 * here.v, -h)), feature.value(ahead(here, 0 * here.v, h))) / (
        2 * h
    )
    asked = 30.0 * feature.difference(feature.value(here), there) + 2 * np.sqrt(30.0) * (0.3 - rate) + 0.7
    picked = wanted.axes if wanted.axes is not None else slice(None)
    assert np.allclose(bend[picked], asked[picked], atol=2e-4 * (1 + np.abs(asked).max()))


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("which", ["place", "from the CoM", "orientation", "height"])
def test_compiled_rows_feed_a_moving_reference_forward(which: str, body: str):
    """Written rows that are obeyed move the feature, by differences of its values, as its reference moves."""
    character = cp.character(body)
    end, point = character.segments[-1], (0.1, 0.0, 0.2)
    features = {
        "place": PointPosition(end, point),
        "from the CoM": PositionFromCom(end, point),
        "orientation": BodyOrientation(end),
        "height": Height(end, point=point),
    }
    feature, here = features[which], moving(character, 11)
    flat = body == "planar_biped"
    axes = None if which == "height" or not flat else (1,) if which == "orientation" else "xz"
    rng = np.random.default_rng(12)
    there, size = feature.value(moving(character, 13)), 1 if which == "height" else 3
    velocity, acceleration = rng.standard_normal((2, size))
    first = cp.Setpoint(feature, feature.value(here), stiffness=30.0, axes=axes)
    wanted = first.aimed(value=there, velocity=velocity, acceleration=acceleration)
    assert wanted.record(here, None, 1.0) is not None  # compiled
    A, b = np.zeros((4, character.nv)), np.zeros(4)
    count = wanted.write(here, None, A, b, 0, 1.0)
    bend = second_derivative(feature, here, obeying(Rows(A[:count], b[:count])))
    h = 1e-6
    rate = feature.difference(feature.value(ahead(here, 0 * here.v, -h)), feature.value(ahead(here, 0 * here.v, h)))
    error = feature.difference(feature.value(here), there)
    asked = 30.0 * error + 2 * np.sqrt(30.0) * (velocity - rate / (2 * h)) + acceleration
    picked = wanted.axes if wanted.axes is not None else slice(None)
    assert np.allclose(bend[picked], asked[picked], atol=2e-4 * (1 + np.abs(asked).max()))


def test_compiled_orientations_agree_with_the_feature_at_every_angle(human):
    """Errors from nothing to half a turn, about every axis, and quaternions of both signs."""
    rng, feature = np.random.default_rng(14), BodyOrientation("head")
    A, b = np.zeros((3, human.nv)), np.zeros(3)
    for k in range(300):
        here = moving(human, k % 7)
        axis = rng.standard_normal(3)
        angle = (0.0, 1e-12, 1e-7, 1e-3, 1.0, 3.0, np.pi - 1e-6)[k % 7] if k < 100 else rng.uniform(0, np.pi)
        turn = spatial.from_axis_angle(axis, angle)
        goal = spatial.multiply(turn, feature.value(here)) * rng.choice([-1.0, 1.0])
        wanted = cp.Setpoint(feature, goal, stiffness=1.0, damping=0.0)
        wanted.write(here, None, A, b, 0, 1.0)
        error = b + feature.drift(here)
        assert np.allclose(b, wanted.rows(here).b, rtol=1e-9, atol=1e-12)
        assert np.allclose(error, angle * axis / np.linalg.norm(axis), atol=1e-7)


@pytest.mark.parametrize("body", ["human", "insectoid", "chicken"])
def test_relaxed_joints_move_as_mujoco_moves_them_without_torque(body: str):
    """Torques at all other joints, none at these: what MuJoCo's forward dynamics gives obeys the rows."""
    character = cp.character(body)
    here, rng = moving(character, 15), np.random.default_rng(16)
    joints = tuple(joint.name for joint in character.joints[-3:])
    dofs = np.concatenate([np.arange(character.nv)[character.joint(name).dofs] for name in joints])
    torque = 20.0 * rng.standard_normal(character.nv)
    torque[dofs] = 0.0
    model, data = character.model, mujoco.MjData(character.model)
    data.qpos[:], data.qvel[:], data.qfrc_applied[:] = here.q, here.v, torque
    off = mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    flags = model.opt.disableflags
    try:
        model.opt.disableflags |= int(off)
        mujoco.mj_forward(model, data)
    finally:
        model.opt.disableflags = flags
    relaxed = cp.RelaxedJoints(joints)
    rows = relaxed.rows(here)
    scale = 1.0 + np.abs(data.qacc).max()
    assert len(rows) == len(dofs) and np.abs(rows.residual(data.qacc)).max() < 1e-9 * scale
    assert np.abs(rows.residual(data.qacc + 1.0)).max() > 0.1  # the rows say something
    damped = cp.RelaxedJoints(joints, damping=2.0).rows(here)
    assert np.allclose(damped.b, rows.b - 2.0 * here.v[dofs]) and np.array_equal(damped.A, rows.A)


def test_relaxed_arms_get_no_torque_from_the_compiled_solver(human):
    arms = tuple(j.name for j in human.joints if j.name.startswith(("shoulder", "elbow", "wrist")))
    here = moving(human, 17, 0.5)
    gains = dict.fromkeys(("shoulder", "elbow", "wrist"), 1e-6)
    pose = cp.TrackPose(weights={"": 1.0, **gains})
    levels = [cp.Setpoint(ComPosition(), here.com, limit=3.0)], [cp.RelaxedJoints(arms, weight=1e3), pose]
    limp = solve_whole_body(here, levels, Footing(), WholeBodyTuning(path="fast"))
    held = solve_whole_body(here, [levels[0], [cp.TrackPose()]], Footing(), WholeBodyTuning(path="fast"))
    dofs = np.concatenate([np.arange(human.nv)[human.joint(name).dofs] for name in arms])
    assert np.abs(limp.torque[dofs]).max() < 1e-3 < 1.0 < np.abs(held.torque[dofs]).max()


def test_a_limit_shortens_what_is_asked_and_keeps_its_direction(human):
    here = human.snapshot()
    far = here.com + np.array([3.0, 4.0, 0.0])
    free = cp.Setpoint(ComPosition(), far, stiffness=10.0).rows(here).b
    capped = cp.Setpoint(ComPosition(), far, stiffness=10.0, limit=5.0).rows(here).b
    assert np.linalg.norm(free) == pytest.approx(50.0) and np.allclose(capped, [3.0, 4.0, 0.0])
    A, b = np.zeros((5, human.nv)), np.zeros(5)
    cp.Setpoint(ComPosition(), far, stiffness=10.0, limit=5.0).write(here, None, A, b, 0, 1.0)
    assert np.allclose(b[:3], [3.0, 4.0, 0.0])


def test_a_reached_goal_at_rest_commands_rest(human):
    here = human.snapshot()
    hand = PointPosition(human.hands[0])
    reached = [
        cp.Setpoint(ComPosition(), here.com),
        cp.Setpoint(hand, hand.value(here), name="hand"),
        cp.Setpoint(BodyOrientation("head"), BodyOrientation("head").value(here)),
        cp.Target(hand, hand.value(here), time=0.5),
        cp.Momentum("angular"),
        cp.Momentum("linear"),
        cp.TrackPose(),
        cp.Contact(),
    ]
    stance = take_stance(here, Footing())
    for objective in reached:
        assert np.allclose(objective.rows(here, stance).b, 0.0, atol=1e-4), objective.name  # soles stand within 1e-7 m


@pytest.mark.parametrize("kind", ["angular", "linear"])
@pytest.mark.parametrize("body", ["human", "ostrich"])
def test_momentum_changes_as_asked(kind: str, body: str):
    character = cp.character(body)
    here = moving(character, 5)
    goal, rate = np.array([1.0, -2.0, 0.5]), np.array([0.0, 3.0, 0.0])
    a = obeying(cp.Momentum(kind, goal, rate, gain=4.0).rows(here))
    part = slice(0, 3) if kind == "angular" else slice(3, 6)
    h = 1e-5
    change = (ahead(here, a, h).momentum[part] - ahead(here, a, -h).momentum[part]) / (2 * h)
    asked = 4.0 * (goal - here.momentum[part]) + rate
    assert np.allclose(change, asked, atol=1e-5 * (1 + np.abs(asked).max()) * momentum_scale(character, kind))


def test_axes_pick_from_whole_references_as_from_picked_ones(human):
    here = moving(human, 6)
    value, velocity, acceleration = np.random.default_rng(7).standard_normal((3, 3))
    for axes, part in (("xz", [0, 2]), ("y", [1])):
        whole = cp.Setpoint(ComPosition(), value, velocity, acceleration, axes=axes)
        some = cp.Setpoint(ComPosition(), value[part], velocity[part], acceleration[part], axes=axes)
        assert np.array_equal(whole.rows(here).b, some.rows(here).b)
        A, b = np.zeros((4, human.nv)), np.zeros(4)
        assert whole.write(here, None, A, b, 0, 1.0) == len(part)
        assert np.allclose(b[: len(part)], some.rows(here).b, atol=1e-12)


def test_a_moving_pose_is_tracked_as_the_motion_it_belongs_to(human):
    squat = cp.reference_motion("squat", human)
    here = moving(human, 8)
    s = squat.sample(0.9)
    along = cp.TrackPose(squat, 50.0, shift=0.9 - here.time)
    posed = cp.TrackPose(s.q, 50.0, velocity=s.v, acceleration=s.a)
    assert np.allclose(along.rows(here).target, posed.rows(here).target, atol=1e-10)
    weight, pull = np.zeros(human.nv), np.zeros(human.nv)
    posed.add(here, weight, pull, 1.0)
    assert np.allclose(pull, posed.rows(here).weight * posed.rows(here).target, atol=1e-10)
    with pytest.raises(BadValue, match="Motion brings its own"):
        cp.TrackPose(squat, velocity=s.v)
    with pytest.raises(BadValue, match="velocity"):
        cp.TrackPose(s.q, velocity=s.v[1:]).rows(here)


def test_an_objective_aimed_anew_is_one_made_anew(human):
    here = moving(human, 9)
    goal, rate = np.array([0.1, -0.2, 0.9]), np.array([0.3, 0.0, -0.1])
    old = [
        (cp.Setpoint(ComPosition(), (0.0, 0.0, 1.0), axes="xy"), {"value": goal, "velocity": rate, "stiffness": 30.0}),
        (cp.Momentum("angular", gain=4.0), {"value": goal, "rate": rate}),
        (cp.Setpoint(PointPosition("hand_left"), (0.0, 0.0, 1.0)), {"value": goal, "acceleration": rate}),
        (
            cp.Setpoint(BodyOrientation("head"), (1.0, 0.0, 0.0, 0.0)),
            {"value": np.array([0.8, 0.0, 0.6, 0.0]), "velocity": rate},
        ),
    ]
    for objective, references in old:
        A, b = np.zeros((2, 3, human.nv)), np.zeros((2, 3))
        objective.write(here, None, A[0], b[0], 0, 1.0)  # what it keeps of its first references must not stay
        count = objective.aimed(**references).write(here, None, A[0], b[0], 0, 1.0)
        replace(objective, **references).write(here, None, A[1], b[1], 0, 1.0)
        assert np.array_equal(A[0, :count], A[1, :count]) and np.array_equal(b[0, :count], b[1, :count])


# -- targets -------------------------------------------------------------------------------------------------------
def test_a_target_with_time_left_is_cubic_hermite_interpolation():
    rng = np.random.default_rng(0)
    for T in (0.3, 1.0, 2.5):
        y0, v0, yT, vT = rng.standard_normal((4, 3))
        a, b = arrival(yT - y0, v0, vT, T, 1e-7)
        curve = CubicHermiteSpline([0.0, T], [y0, yT], [v0, vT])
        assert np.allclose(a, curve(0.0, 2), atol=1e-4) and np.allclose(b, curve(T, 2), atol=1e-4)


def test_a_target_in_closed_form_is_the_least_squares_solution():
    """Eq. A.20 by a general solver, for every time left and softness."""
    rng = np.random.default_rng(1)
    for T in (0.0, 1e-6, 1e-3, 0.01, 0.03, 0.1, 0.5, 1.0, 4.0):
        for softness in (1e-7, 1e-4, 1e-2):
            error, speed, end = rng.standard_normal((3, 3))
            A = np.array([[T * T / 3, T * T / 6], [T / 2, T / 2], [softness, 0], [0, softness]])
            wanted = np.stack([error - speed * T, end - speed, 0 * error, 0 * error])
            expected = np.linalg.lstsq(A, wanted, rcond=None)[0]
            found = np.stack(arrival(error, speed, end, T, softness))
            assert np.allclose(found, expected, rtol=1e-7, atol=1e-9 * (1.0 + np.abs(expected).max())), (T, softness)


@pytest.mark.parametrize("time", [0.4, 0.02, -1.0])
def test_a_compiled_target_is_the_plain_one(human, time: float):
    here = moving(human, 18)
    features = [
        (PointPosition("hand_left"), (0.3, 0.1, 0.5), (0.1, 0.2, -0.3), None),
        (PositionFromCom("hand_left"), (0.3, 0.5), (0.1, -0.3), "xz"),
        (BodyOrientation("head"), (0.8, 0.0, 0.6, 0.0), (0.1, 0.2, -0.3), "yz"),
        (ComPosition(), (0.3, 0.1, 0.5), 0.2, None),
    ]
    for feature, value, velocity, axes in features:
        target = cp.Target(feature, value, here.time + time, velocity, axes=axes, limit=50.0)
        assert target.record(here, None, 1.0) is not None
        A, b = np.zeros((3, human.nv)), np.zeros(3)
        count, rows = target.write(here, None, A, b, 0, 1.0), target.rows(here)
        assert count == len(rows)
        assert np.allclose(A[:count], rows.A, atol=1e-12) and np.allclose(b[:count], rows.b, rtol=1e-9, atol=1e-10)


def test_a_target_is_reached_on_time_and_never_asks_for_the_infinite():
    y, v, dt, T = np.array([0.2]), np.array([-1.0]), 1e-3, 0.6
    largest = 0.0
    for k in range(600):
        a, _ = arrival(np.array([1.0]) - y, v, np.array([0.5]), max(T - k * dt, 0.0), 1e-4)
        largest = max(largest, float(np.abs(a).max()))
        v = v + dt * a
        y = y + dt * v
    assert y[0] == pytest.approx(1.0, abs=3e-3) and v[0] == pytest.approx(0.5, abs=0.08)
    assert largest < 60.0
    for left in (1e-3, 1e-6, 0.0):  # whatever is missing at the end
        a, b = arrival(np.array([0.1]), np.array([2.0]), np.array([0.0]), left, 1e-4)
        assert np.isfinite([a, b]).all() and np.abs(a).max() < 5e3
    assert arrival(np.array([0.1]), np.array([2.0]), np.array([0.0]), 0.0, 1e-4)[0][0] == 0.0


def test_a_target_gone_by_asks_for_nothing(human):
    late = human.snapshot(human.state(time=2.0))
    rows = cp.Target(ComPosition(), (1.0, 0.0, 1.0), time=1.0).rows(late)
    assert np.allclose(rows.b, -late.com_drift)


# -- postures ------------------------------------------------------------------------------------------------------
def test_a_motion_followed_exactly_asks_for_its_own_acceleration(human):
    motion = cp.reference_motion("squat", human)
    for time in (0.3, 1.1):
        s = motion.sample(time)
        rows = cp.TrackPose(motion).rows(human.snapshot(human.state(s.q, s.v, time)))
        assert isinstance(rows, DiagonalRows) and np.allclose(rows.target, s.a, atol=1e-9)
    half = cp.TrackPose(motion, speed=0.5).rows(human.snapshot(human.state(s.q, 0.5 * s.v, 2.2)))
    assert np.allclose(half.target, 0.25 * s.a, atol=1e-9)


def test_ball_joint_errors_are_the_shortest_turn(human):
    """A shoulder a quarter turn away, by MuJoCo's own difference of poses, whichever sign its quaternion has."""
    shoulder = human.joint("shoulder_left")
    v = np.zeros(human.nv)
    v[shoulder.dofs] = [0.3, -0.4, 0.2]
    goal = human.integrate(human.neutral, v)
    flipped = goal.copy()
    flipped[shoulder.qpos] *= -1.0
    for reference in (goal, flipped):
        target = cp.TrackPose(reference, stiffness=50.0).rows(human.snapshot()).target
        assert np.allclose(target, 50.0 * v, atol=1e-9)


def test_gains_by_the_beginning_of_a_joints_name(human):
    track = cp.TrackPose(stiffness={"": 100.0, "shoulder": 40.0, "shoulder_left": 10.0}, weights={"": 2.0, "knee": 5.0})
    away = human.integrate(human.neutral, np.full(human.nv, 0.01))
    rows = track.rows(human.snapshot(human.state(away)))
    got = {j.name: float(-rows.target[j.dofs][0] / 0.01) for j in human.joints}
    assert got["shoulder_left"] == pytest.approx(10.0, rel=1e-3) and got["elbow_left"] == pytest.approx(100.0, rel=1e-3)
    assert got["shoulder_right"] == pytest.approx(40.0, rel=1e-3)
    assert rows.weight[human.joint("knee_left").dofs][0] == 5.0 and rows.weight[human.joint("neck").dofs][0] == 2.0
    with pytest.raises(cp.CounterpoiseError, match="did you mean 'shoulder_left'"):
        cp.TrackPose(stiffness={"sholder_left": 3.0}).rows(human.snapshot())


# -- joint stops ---------------------------------------------------------------------------------------------------
def swing(character: cp.Character, joint: str, v: np.ndarray, deceleration: float, seconds: float = 0.6):
    """Let one joint run freely into its limits, braked only as far as the stops ask; (largest g, largest braking)."""
    stops = cp.JointStops(deceleration=deceleration, top_speed=None)
    q, speed, dt = character.neutral.copy(), v.copy(), 5e-4
    worst, braking = -np.inf, 0.0
    for _ in range(int(seconds / dt)):
        rows = stops.rows(character.snapshot(character.state(q, speed)))
        a = np.zeros(character.nv)
        for _ in range(3):  # the least that obeys the rows
            over = np.maximum(rows.A @ a - rows.b, 0.0)
            if not len(over) or over.max() < 1e-9:
                break
            held = over > 0.0
            a += np.linalg.lstsq(rows.A[held], (rows.b - rows.A @ a)[held], rcond=None)[0]
        braking = max(braking, float(np.abs(a).max()))
        speed = speed + dt * a
        q = character.integrate(q, dt * speed)
        worst = max(worst, float(character.limits.values(q).max()))
    return worst, braking


@pytest.mark.parametrize("deceleration", [100.0, 300.0])
def test_a_hinge_stops_at_its_limit_braking_no_harder_than_needed(human, deceleration: float):
    v = np.zeros(human.nv)
    v[human.joint("elbow_left").dofs] = 10.0
    worst, braking = swing(human, "elbow_left", v, deceleration)
    assert -0.03 < worst < 0.0  # it came close and never beyond
    assert braking < 1.1 * deceleration


@pytest.mark.parametrize("seed", range(4))
def test_stops_bound_the_second_derivative_of_every_limit(human, seed: int):
    """A a - b is g'' less what the law allows: g and g'' by differences along the motion, hinges and cones alike."""
    here = moving(human, seed, 2.0)
    stops = cp.JointStops(deceleration=300.0, settle=0.02, margin=0.01, top_speed=None)
    rows = stops.rows(here)
    a = np.random.default_rng(seed).standard_normal(human.nv)
    h = 1e-4
    back, g, forth = (human.limits.values(ahead(here, a, k * h).q) for k in (-1, 0, 1))
    speed, bend = (forth - back) / (2 * h), (forth - 2 * g + back) / h**2
    e, ds = -g - 0.01, 300.0 * 0.02
    room = np.sqrt(np.maximum(2 * 300.0 * e + ds**2, ds**2))
    allowed = np.where(e > 0.0, room - ds, e / 0.02)
    slope = np.where(e > 0.0, 300.0 / room, 1 / 0.02)
    excess = bend - ((allowed - speed) / 0.02 - slope * speed)
    close = (allowed - speed) / 0.02 - slope * speed < 399.9
    assert len(rows) > 3
    left = rows.A @ a - rows.b
    for value in left:
        assert np.abs(excess - value).min() < 2e-3 * (1.0 + abs(value))
    for value in excess[close]:
        assert np.abs(left - value).min() < 2e-3 * (1.0 + abs(value))


def test_a_ball_joint_stops_at_its_cone(human):
    v = np.zeros(human.nv)
    v[human.joint("hip_left").dofs] = [2.0, -6.0, 0.0]
    worst, braking = swing(human, "hip_left", v, 300.0)
    assert -0.05 < worst < 2e-3
    assert braking < 900.0


def test_far_from_every_limit_there_is_nothing_to_stop(human):
    assert len(cp.JointStops().rows(human.snapshot(human.state(_bent(human))))) == 0


def _bent(character: cp.Character) -> np.ndarray:
    q = character.neutral.copy()
    for side in ("left", "right"):
        q[character.joint(f"knee_{side}").qpos] = 0.8
        q[character.joint(f"elbow_{side}").qpos] = 0.8
    return q


def test_a_joint_that_moves_too_fast_is_slowed(human):
    v = np.zeros(human.nv)
    v[human.joint("shoulder_left").dofs] = [0.0, 30.0, 0.0]
    rows = cp.JointStops(top_speed=18.0).rows(human.snapshot(human.state(_bent(human), v)))
    row = rows.A @ v
    assert (rows.b[row > 0] < 0.0).any()


# -- weights and mistakes ------------------------------------------------------------------------------------------
def test_fading_is_smooth_and_complete(human):
    com = cp.Setpoint(ComPosition(), (0, 0, 1), weight=3.0)
    shares = np.linspace(-0.2, 1.2, 200)
    weights = np.array([faded(com, s).weight for s in shares])
    assert weights[0] == 0.0 and weights[-1] == 3.0 and (np.diff(weights) >= 0.0).all()
    assert np.abs(np.diff(weights, 2)).max() < 1e-3


def squat() -> cp.Motion:
    return cp.reference_motion("squat", cp.character("human"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: cp.Setpoint(ComPosition(), (0, np.nan, 0)), "NaN"),
        (lambda: cp.Setpoint(ComPosition(), (0, 0, 0), stiffness=-1.0), "stiffness"),
        (lambda: cp.Setpoint(ComPosition(), (0, 0, 0), axes="xq"), "axes"),
        (lambda: cp.Setpoint(BodyOrientation("head"), (0, 0, 0)), "quaternion"),
        (lambda: cp.Setpoint(BodyOrientation("head"), (0, 0, 0, 0)), "no orientation"),
        (lambda: cp.RelaxedJoints(()), "at least one joint"),
        (lambda: cp.RelaxedJoints(("elbow_left",), damping=-1.0), "damping"),
        (lambda: cp.Setpoint(ComPosition(), (0, 0, 0), weight=-2.0), "weight"),
        (lambda: cp.Setpoint(ComPosition(), (0, 0, 0), limit=0.0), "limit"),
        (lambda: cp.Setpoint(ComPosition(), (0, 0)).rows(cp.character("human").snapshot()), "shape"),
        (lambda: cp.Setpoint(ComPosition(), (0, 0), axes="z").rows(cp.character("human").snapshot()), "axes"),
        (lambda: cp.Target(ComPosition(), (0, 0, 1), time=np.inf), "time"),
        (lambda: cp.Momentum("sideways"), "angular"),
        (lambda: cp.Momentum(value=(np.inf, 0, 0)), "NaN or infinity"),
        (lambda: cp.MinimumTorque("kneeleft").rows(cp.character("human").snapshot()), "did you mean 'knee_left'"),
        (lambda: cp.TrackPose(np.zeros(4)).rows(cp.character("human").snapshot()), "49 numbers"),
        (lambda: cp.TrackPose(squat()).rows(cp.character("ostrich").snapshot()), "human"),
        (lambda: cp.JointStops(settle=0.0), "settle"),
        (lambda: cp.Contact().rows(cp.character("human").snapshot()), "Footing"),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_the_cure(make, says: str):
    with pytest.raises(cp.CounterpoiseError, match=says):
        make()
