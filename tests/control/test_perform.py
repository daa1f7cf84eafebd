"""Perform: plans as controllers read them, how they are laid into the world, and a stunt that is done."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.perform import PerformTuning, plan_of_motion, plan_of_result
from counterpoise.control.perform.catching import next_quiet
from counterpoise.control.perform.follow_points import FollowPoints
from counterpoise.control.perform.layout import PlanPlacement, fit_layout, laid
from counterpoise.control.perform.margin import room_between_parts
from counterpoise.control.perform.parts import performing_body
from counterpoise.control.perform.perform_objectives import lead_swing
from counterpoise.control.perform.planned_motion import PlannedState
from counterpoise.control.perform.progress import advance, first_progress
from counterpoise.errors import BadValue
from counterpoise.spacetime.optimize import Apart, TorqueLimit

STUNTS = "examples/stunts"


@pytest.fixture(scope="module")
def jump() -> cp.Result:
    return cp.with_reserve(cp.read_stunt(f"{STUNTS}/standing_jump.toml")).optimize()


def test_a_plan_is_the_optimised_curve(jump: cp.Result):
    plan = plan_of_result(jump)
    assert plan.pushing.sum(axis=1).tolist() == [12, 0, 12] and [plan.flies(p) for p in range(3)] == [
        False,
        True,
        False,
    ]
    for phase in range(3):
        for share in (0.13, 0.5, 0.88):
            time = plan.ends[phase] + share * (plan.ends[phase + 1] - plan.ends[phase])
            now, exact = plan.at(time, phase), jump.sample(time)
            assert np.abs(plan.character.difference(now.q, exact.q)).max() < 1e-4
            assert now.v == pytest.approx(exact.v, abs=2e-2)
            s = plan.character.snapshot(plan.character.state(exact.q, exact.v))
            assert now.com[0] == pytest.approx(s.com, abs=1e-4)
            assert now.spin[0] == pytest.approx(s.momentum[:3], abs=0.05)
            rate = s.momentum_matrix @ exact.a + s.momentum_drift
            assert now.com[2] == pytest.approx(rate[3:] / plan.character.mass, abs=0.3)
    flight = plan.at(0.5 * (plan.ends[1] + plan.ends[2]), 1)
    assert flight.com[2] == pytest.approx([0.0, 0.0, -plan.character.gravity], abs=0.3)


def test_a_plan_is_laid_where_the_feet_are(jump: cp.Result):
    plan = plan_of_result(jump)
    state = plan.at(0.2, 0)
    layout = PlanPlacement(0.7, np.array([1.0, -2.0, 0.3]))
    there = laid(state, layout, 1.0)
    s = plan.character.snapshot(plan.character.state(there.q, there.v))
    assert s.com == pytest.approx(there.com[0], abs=1e-4)
    assert s.contact_position == pytest.approx(there.points[0], abs=1e-4)
    assert s.momentum[:3] == pytest.approx(there.spin[0], abs=0.05)
    part = np.repeat([0, 1], 6)
    again = fit_layout(state.points[0], there.points[0], part, 0.7, 1e-6, 0.3)
    assert again.yaw == pytest.approx(0.7, abs=1e-6) and again.shift == pytest.approx(layout.shift, abs=1e-6)


def test_the_reserve_narrows_what_is_planned():
    stunt = cp.read_stunt(f"{STUNTS}/long_jump.toml")
    kept = cp.with_reserve(stunt, strength=0.5, friction=0.4, sole=0.7)
    assert stunt.taste.posture > 0.0 and kept.taste.posture == 0.0
    assert [one.share for one in kept.wishes if isinstance(one, TorqueLimit)] == [0.5]
    assert {(touch.friction, touch.sole) for touch in kept.contacts} == {(0.4, 0.7)}
    plain = replace(stunt, wishes=())
    assert [one.share for one in cp.with_reserve(plain).wishes if isinstance(one, TorqueLimit)] == [0.85]
    rooms = [one.room for one in kept.wishes if isinstance(one, Apart)]
    assert rooms == [pytest.approx(0.017 * stunt.character.height)], "an arm that grazes the hip in a plan hits it"
    with pytest.raises(BadValue, match="strength is a share"):
        cp.with_reserve(stunt, strength=1.5)


def test_the_room_between_parts_is_less_than_what_the_neutral_pose_has():
    chicken = cp.character("chicken")
    assert 0.0 < room_between_parts(chicken) < 0.017 * chicken.height


def test_hands_become_contact_points_of_the_performing_body():
    stunt = cp.read_stunt(f"{STUNTS}/vault.toml")
    problem = stunt.problem()
    body = performing_body(stunt.character, problem.holds)
    assert [foot.name for foot in body.feet] == ["foot_left", "foot_right", "hand_left", "hand_right"]
    assert body.model is stunt.character.model and len(stunt.character.feet) == 2


def test_followed_points_have_the_rows_of_finite_differences(human: cp.Character):
    random = np.random.default_rng(1)
    q = human.limits.clamp(human.integrate(human.neutral, 0.2 * random.normal(size=human.nv)))
    v, a = random.normal(size=human.nv), random.normal(size=human.nv)
    s = human.snapshot(human.state(q, v))
    which = random.random(12) < 0.5
    goal = random.normal(size=(3, 12, 3))
    rows = FollowPoints(which, goal, 50.0, 1e9).rows(s)
    step = 1e-4
    ahead = human.snapshot(human.state(human.integrate(q, step * v + 0.5 * step**2 * a), v + step * a))
    behind = human.snapshot(human.state(human.integrate(q, -step * v + 0.5 * step**2 * a), v - step * a))
    real = (ahead.contact_velocity - behind.contact_velocity)[which] / (2.0 * step)
    wanted = 50.0 * (goal[0] - s.contact_position) + 2.0 * np.sqrt(50.0) * (goal[1] - s.contact_velocity) + goal[2]
    assert rows.A @ a - rows.b == pytest.approx((real - wanted[which]).reshape(-1), abs=1e-3)


def test_a_small_jump_is_performed_and_replayed(human: cp.Character, jump: cp.Result):
    controller = cp.Perform(jump)
    recording = cp.simulate(human, controller, 4.0, start=cp.disturbed_start(human, 5))
    notes = recording.notes
    assert notes["stage"][-1] == "stand" and not cp.measure.fell(recording)
    assert [event for event in notes["event"] if event] == ["take-off", "landing"]
    assert recording.qpos[-1, 0] == pytest.approx(0.5, abs=0.1)
    tracking = notes["tracking"][notes["stage"] == "perform"]
    assert np.degrees(np.sqrt(np.mean(tracking**2))) < 8.0
    assert (np.abs(recording.torque) <= human.torque_limit + 1e-9).all()
    assert cp.replay(recording).exact


def test_a_plan_begins_where_the_body_stands_and_faces(human: cp.Character, jump: cp.Result):
    q = np.array(human.neutral)
    q[:2] = 3.0, -1.0
    q[3:7] = cp.spatial.multiply([np.cos(0.5), 0.0, 0.0, np.sin(0.5)], q[3:7])
    recording = cp.simulate(human, cp.Perform(jump), 3.0, start=human.state(q))
    moved = recording.qpos[-1, :2] - q[:2]
    assert recording.notes["stage"][-1] == "stand"
    assert np.arctan2(moved[1], moved[0]) == pytest.approx(1.0, abs=0.15) and np.hypot(*moved) > 0.4


@pytest.mark.parametrize("name", ["squat", "front_kick"])
def test_any_motion_is_performed_by_the_contacts_that_are_found(human: cp.Character, name: str):
    motion = cp.reference_motion(name, human)
    plan = plan_of_motion(motion)
    assert not any(plan.flies(phase) for phase in range(plan.phases))
    controller = cp.Perform(motion)
    recording = cp.simulate(human, controller, motion.duration + 1.5, start=controller.ready(human))
    assert recording.notes["stage"][-1] == "stand" and np.nanmax(recording.notes["tracking"]) < 0.1


def test_the_ground_of_a_part_is_where_it_begins_to_bear(human: cp.Character, jump: cp.Result):
    plan, tuning = plan_of_result(jump), cp.PerformTuning()
    start = first_progress(plan, human.snapshot(), tuning)
    q = np.array(human.neutral)
    q[2] += 0.01
    higher, force = human.snapshot(human.state(q, time=0.002)), np.zeros((human.model.nbody, 3))
    force[human.body_id("foot_left"), 2] = 0.1 * human.weight
    now = advance(start, plan, higher, force, tuning)
    assert now.bearing.tolist() == [True, False] and now.found == pytest.approx([0.01, 0.0], abs=1e-6)
    again = advance(now, plan, human.snapshot(human.state(human.neutral, time=0.004)), force, tuning)
    assert again.found == pytest.approx([0.01, 0.0], abs=1e-6)  # it is found once, when the part lands
    assert advance(start, plan, higher, None, tuning).found == pytest.approx([0.0])


def test_toes_that_hang_over_an_edge_do_not_tell_the_ground(human: cp.Character, jump: cp.Result):
    plan = plan_of_result(jump)
    names = [point.body for point in human.contact_points]
    height = np.where([name == "toes_left" for name in names], -0.02, 0.001)
    force = np.zeros((human.model.nbody, 3))
    force[human.body_id("foot_left"), 2] = force[human.body_id("foot_right"), 2] = 300.0
    assert plan.lowest_of_parts(height, force) == pytest.approx([0.001, 0.001])
    force[human.body_id("toes_left"), 2] = 400.0  # now they bear: the ground is theirs
    assert plan.lowest_of_parts(height, force) == pytest.approx([-0.02, 0.001])


def test_a_motion_that_repeats_is_refused_with_the_way_out(human: cp.Character):
    loop = cp.reference_motion("squat", human).as_loop()
    with pytest.raises(BadValue, match=r"motion\.slice\(start, end\)"):
        plan_of_motion(loop)
    assert plan_of_motion(loop.slice(loop.start, loop.end)).phases == 1


def test_a_step_catches_what_the_feet_cannot_hold(human: cp.Character, jump: cp.Result):
    push = [cp.Push("thorax", (300.0, 0.0, 0.0), 2.3, 0.2)]
    ends = {}
    for margin in (PerformTuning().step_margin, 1.0):
        controller = cp.Perform(jump, tuning=PerformTuning(step_margin=margin))
        recording = cp.simulate(human, controller, 8.0, disturbances=push)
        stages = recording.notes["stage"]
        ends[margin] = bool((stages == "step").any()), str(stages[-1]), bool(cp.measure.fell(recording))
    assert list(ends.values()) == [(True, "stand", False), (False, "fallen", True)]


@pytest.mark.parametrize("again", [2, 0])
def test_after_a_step_the_motion_begins_again_or_goes_on_where_it_next_stands_quietly(human: cp.Character, again: int):
    """A squat that is pushed in its first second comes to its end after the steps."""
    squat = cp.reference_motion("squat", human).slice(0.0, 3.0)
    controller = cp.Perform(squat, wait=0.0, tuning=PerformTuning(begin_again=again))
    push = [cp.Push("thorax", (450.0, 0.0, 0.0), 0.1, 0.2)]
    recording = cp.simulate(human, controller, 9.0, start=controller.ready(human), disturbances=push)
    stages = recording.notes["stage"].tolist()
    order = [stage for k, stage in enumerate(stages) if k == 0 or stages[k - 1] != stage]
    assert order[:4] == ["perform", "step", "return", "perform"] and order[-1] == "stand"
    stepped, resumed = stages.index("step"), stages.index("perform", stages.index("return"))
    before, after = recording.notes["clock"][stepped - 1], recording.notes["clock"][resumed + 1]
    assert after < 0.01 < before if again else after >= before
    shown = cp.measure.performance(recording)
    assert shown.done == 1.0 and shown.stands and shown.grade == "performed"
    assert shown.left_out == 0.0 or not again


def test_a_start_that_tips_over_steps_before_the_plan_begins(human: cp.Character, jump: cp.Result):
    """Its feet are 2 cm off the ground and it falls to a side; standing alone does not catch it."""
    start = cp.disturbed_start(human, 2011)
    recording = cp.simulate(human, cp.Perform(jump), 7.0, start=start, seed=2011)
    stages = recording.notes["stage"].tolist()
    assert stages.index("step") < stages.index("perform") and stages[-1] == "stand"
    assert cp.measure.performance(recording).left_out == 0.0


def test_a_start_that_stand_cannot_hold_steps_before_it_collapses(human: cp.Character, jump: cp.Result):
    """Its CoM comes to rest over the toes, inside the feet, but farther ahead than weak toes bear."""
    start = cp.disturbed_start(human, 5001)
    assert cp.measure.fell(cp.simulate(human, cp.Stand(), 2.5, start=start, seed=5001))
    recording = cp.simulate(human, cp.Perform(jump), 8.0, start=start, seed=5001)
    assert "step" in recording.notes["stage"] and not cp.measure.fell(recording)
    assert cp.measure.performance(recording).stands


def test_a_plan_knows_when_it_is_quiet_and_when_it_flies_and_lands(human: cp.Character, jump: cp.Result):
    plan, t = plan_of_result(jump), PerformTuning()
    feet = len(human.contact_points)
    takes_off, lands = float(plan.ends[1]), float(plan.ends[2])
    quiet = next_quiet(plan, takes_off, feet, t)
    assert quiet is not None and lands < quiet < plan.duration
    k = plan.phase_at(quiet)
    assert plan.held[k].all() and np.linalg.norm(plan.at(quiet, k).com[1]) < t.quiet_speed
    assert next_quiet(plan, plan.duration + 1.0, feet, t) is None
    assert plan.time_to_flight(0, 0.1) == pytest.approx(takes_off - 0.1) and plan.time_to_flight(1, lands) == np.inf
    assert plan.time_to_landing(1, takes_off) == pytest.approx(np.full(feet, lands - takes_off))
    assert np.isinf(plan.time_to_landing(0, 0.0)).all()  # they bear


def test_a_swinging_foot_is_led_by_the_error_of_the_capture_point(human: cp.Character):
    """Only where it lands soon, and only while feet alone bear."""
    t, s = PerformTuning(), human.snapshot()
    points = np.zeros((3, len(human.contact_points), 3))
    points[0] = s.contact_position
    still, com = np.zeros(human.nv), np.stack([s.com, [0.3, 0.0, 0.0], [0.0, 0.0, 0.0]])
    goal = PlannedState(human.neutral, still, still, com, np.zeros((2, 3)), points)
    foot = np.arange(len(human.contact_points)) < 6
    left = np.where(foot, np.inf, 0.05)
    led = lead_swing(s, goal, left, len(foot), t)
    pace = np.sqrt((s.com[2] - s.contact_position[:, 2].mean()) / human.gravity)
    assert led[0, foot] == pytest.approx(points[0, foot])
    assert led[0, ~foot, 0] - points[0, ~foot, 0] == pytest.approx(np.full(6, -0.3 * pace), abs=1e-6)
    assert lead_swing(s, goal, np.where(foot, np.inf, 1.0), len(foot), t)[0] == pytest.approx(points[0])


def test_the_clock_waits_until_the_com_is_where_the_plan_begins(human: cp.Character, jump: cp.Result):
    plan, t = plan_of_result(jump), PerformTuning()
    near = human.snapshot(human.state(human.neutral))
    off = np.array(human.neutral)
    off[0] += 0.05
    moved = replace(first_progress(plan, near, t), time=-0.002)
    assert advance(moved, plan, near, None, t).clock > 0.0
    forward = human.snapshot(human.state(off))
    object.__setattr__(forward, "contact_position", near.contact_position)
    waits = advance(moved, plan, forward, None, t)
    assert waits.clock == 0.0 and waits.settling == pytest.approx(0.002)
    still = laid(plan.at(0.0, 0), waits.layout, waits.speed)
    assert np.linalg.norm(plan.at(0.0, 0).com[2]) > 0.1 and not still.com[1:].any() and not still.a.any()
    assert not still.spin.any(), "a plan that waits asks for its first pose at rest, not for its first movement"
    assert advance(replace(moved, settling=t.settle_time), plan, forward, None, t).clock > 0.0


def test_a_plan_is_laid_where_the_foot_is_that_stays(human: cp.Character, jump: cp.Result):
    """Of two feet that stand, one of which leaves next, the other one tells where the plan lies."""
    plan, t = plan_of_result(jump), PerformTuning()
    assert (plan.lays == plan.held).all(), "both feet leave together"
    left = plan.part == 0
    steps = replace(plan, held=plan.held & [[True] * len(left), [True] * len(left), left.tolist()])
    assert (steps.lays == steps.held).all()
    stays = replace(plan, pushing=np.array([left | True, left, left | True]), held=np.array([left | True, left, left]))
    assert stays.lays[0].tolist() == left.tolist() and stays.lays[2].tolist() == left.tolist()
    here = human.snapshot()
    ahead = here.contact_position + np.where(left, 0.0, 0.1)[:, None] * [1.0, 0.0, 0.0]
    object.__setattr__(here, "contact_position", ahead)
    where = [float(first_progress(one, here, t).layout.shift[0]) for one in (plan, stays)]
    assert where[0] - where[1] == pytest.approx(0.05, abs=1e-6)


def test_something_grazed_high_in_the_air_is_no_landing(human: cp.Character, jump: cp.Result):
    plan, t = plan_of_result(jump), PerformTuning()
    start, clock = first_progress(plan, human.snapshot(), t), float(plan.ends[1] + 0.6 * (plan.ends[2] - plan.ends[1]))
    for height, lands in ((0.15, True), (0.4, False)):
        q = np.array(human.neutral)
        q[2] += height
        v = np.zeros(human.nv)
        v[2] = -1.0
        here = human.snapshot(human.state(q, v))
        falling = replace(start, phase=1, clock=clock, time=here.time - 0.002, rate=-1.1)
        assert (advance(falling, plan, here, None, t).event == "landing") is lands


def test_a_late_landing_is_waited_for_in_the_pose_of_landing(human: cp.Character, jump: cp.Result):
    plan, t = plan_of_result(jump), PerformTuning()
    q, v = np.array(human.neutral), np.zeros(human.nv)
    q[2] += 0.2
    v[2] = -1.0
    here = human.snapshot(human.state(q, v))
    start = first_progress(plan, human.snapshot(), t)
    falling = replace(start, phase=1, clock=float(plan.ends[2]), time=here.time - 0.002, rate=-1.0 + 0.002 * 9.81)
    waits = advance(falling, plan, here, None, t)
    assert waits.event == "" and waits.phase == 1 and waits.clock < plan.ends[2]
    assert waits.speed == 0.0 and waits.late == pytest.approx(0.002)


def test_a_fall_is_reported_with_its_cause(human: cp.Character, jump: cp.Result):
    push = [cp.Push("thorax", (0.0, 900.0, 0.0), 0.6, 0.2)]
    recording = cp.simulate(human, cp.Perform(jump), 3.0, disturbances=push)
    assert recording.notes["stage"][-1] == "fallen" and np.isfinite(recording.qpos).all()
    assert any("lower than planned" in cause or "the hips are" in cause for cause in recording.notes["cause"])


def test_a_routine_does_its_items_in_order(human: cp.Character, jump: cp.Result):
    routine = cp.Routine([(cp.Stand(), 0.2), cp.Perform(jump, wait=0.1), cp.Perform(jump)])
    recording = cp.simulate(human, routine, 7.0)
    items = recording.notes["item"]
    assert sorted(set(items)) == [1.0, 2.0, 3.0] and (np.diff(items) >= 0.0).all()
    assert recording.notes["stage"][-1] == "stand" and recording.qpos[-1, 0] > 0.8


@pytest.mark.parametrize(
    "make, says",
    [
        (lambda: cp.Perform("jump"), "result of optimize_motion"),
        (lambda: cp.Routine([]), "at least one item"),
        (lambda: cp.Routine([cp.Stand(), cp.Stand()]), "never ends"),
        (lambda: cp.Routine([(cp.Stand(), 0.0)]), "positive time"),
    ],
)
def test_bad_input_is_named(make, says: str):
    with pytest.raises(BadValue, match=says):
        make()


def test_a_plan_of_another_body_is_refused(jump: cp.Result):
    with pytest.raises(BadValue, match="planned for 'human'"):
        cp.Perform(jump).begin(cp.character("ostrich"))
