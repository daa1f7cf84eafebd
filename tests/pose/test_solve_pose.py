"""Posing as a user sees it: goals met, constraints held, limits kept, and an account of what happened."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.errors import BadValue, MissingRole, UnknownName
from counterpoise.pose import partition
from counterpoise.pose.checks import unit_quaternion

CAST = ("human", "child", "asymmetric", "ostrich", "dinosaur", "insectoid", "chicken", "planar_biped")


@pytest.fixture(scope="module")
def human() -> cp.Character:
    return cp.character("human")


def planted(who: cp.Character) -> list:
    return [wish for foot in who.feet for wish in (cp.Pin(foot.body), cp.Lock(foot.body))]


def check(pose: cp.Pose, tolerance: float = 1e-8) -> None:
    """What every returned pose keeps: limits exactly, constraints, no NaN."""
    who = pose.character
    limits = who.limits
    assert np.isfinite(pose.q).all()
    ranges = 2 * len(limits.range_qpos)
    values = limits.values(pose.q)
    assert values[:ranges].max(initial=-1.0) <= 0.0  # hinges: exactly
    assert values[ranges:].max(initial=-1.0) <= 1e-9  # cones
    if pose.status != "infeasible":
        assert max(pose.violations.values(), default=0.0) <= 2 * tolerance


# -- goals ---------------------------------------------------------------------------------------------------
def test_reach_with_planted_feet(human: cp.Character):
    pose = cp.solve_pose(human, [cp.Reach("hand_left", (0.4, 0.3, 1.4))], planted(human))
    assert pose and pose.status == "solved" and pose.residuals["reach hand_left"] <= 1e-4
    check(pose)
    where = human.snapshot(human.state(pose.q)).position("hand_left")
    assert np.allclose(where, (0.4, 0.3, 1.4), atol=1e-4)
    feet = human.snapshot(human.state(pose.q)).contact_position
    assert np.allclose(feet, human.snapshot().contact_position, atol=1e-5)


def test_random_reachable_places_for_four_effectors_are_all_reached(human: cp.Character):
    rng = np.random.default_rng(0)
    tips = ("hand_left", "hand_right", "foot_left", "foot_right")
    for _ in range(40):
        q = human.limits.clamp(human.integrate(human.neutral, rng.uniform(-1.2, 1.2, human.nv)))
        seen = human.snapshot(human.state(q))
        pose = cp.solve_pose(human, [cp.Reach(tip, seen.position(tip)) for tip in tips])
        assert pose.status == "solved" and max(pose.residuals.values()) < 1e-3
        check(pose)


def test_random_reachable_full_poses_are_all_reached(human: cp.Character):
    rng = np.random.default_rng(1)
    tips = ("hand_left", "hand_right", "foot_left", "foot_right")
    for _ in range(25):
        q = human.limits.clamp(human.integrate(human.neutral, rng.uniform(-1.1, 1.1, human.nv)))
        seen = human.snapshot(human.state(q))
        goals = [g for tip in tips for g in (cp.Reach(tip, seen.position(tip)), cp.Orient(tip, seen.rotation(tip)))]
        pose = cp.solve_pose(human, goals)
        assert pose.status == "solved", (pose, pose.residuals)
        check(pose)


def test_orient_aim_and_relative_goals(human: cp.Character):
    turn = spatial.from_axis_angle((0, 0, 1), 0.4)
    pose = cp.solve_pose(human, [cp.Orient("head", turn)], planted(human))
    assert pose and np.allclose(
        human.snapshot(human.state(pose.q)).rotation("head"), spatial.to_matrix(turn), atol=2e-4
    )
    check(pose)
    pose = cp.solve_pose(human, [cp.Aim("head", (1, 0, 0), at=(1.5, 1.0, 1.2))], planted(human))
    seen = human.snapshot(human.state(pose.q))
    line = np.array([1.5, 1.0, 1.2]) - seen.position("head")
    assert pose and seen.rotation("head")[:, 0] @ line / np.linalg.norm(line) > 1 - 1e-6
    pose = cp.solve_pose(human, [cp.Aim("hand_left", (0, 0, -1), along=(1, 0, 0))], planted(human))
    assert pose
    check(pose)
    pose = cp.solve_pose(human, [cp.Reach("hand_left", (0.15, 0.02, 0.1), relative_to="head")], planted(human))
    assert pose and pose.residuals["reach hand_left from head"] < 1e-4
    check(pose)


def test_the_centre_of_mass_goes_where_it_should(human: cp.Character):
    pose = cp.solve_pose(human, [cp.CenterOfMass((None, 0.04, 0.85))], planted(human))
    com = human.snapshot(human.state(pose.q)).com
    assert pose and np.allclose(com[1:], (0.04, 0.85), atol=1e-4)
    check(pose)


def test_posture_breaks_ties_towards_the_rest(human: cp.Character):
    goal = cp.Reach("hand_left", (0.35, 0.35, 1.2))
    bent = cp.pose_from_joints(human, {"elbow_right": 1.5})
    near = cp.solve_pose(human, [goal, cp.Posture(bent)], planted(human))
    assert near and near.q[human.joint("elbow_right").qpos][0] == pytest.approx(1.5, abs=1e-6)
    still = cp.solve_pose(human, [goal], planted(human))
    assert still.q[human.joint("elbow_right").qpos][0] == pytest.approx(
        human.neutral[human.joint("elbow_right").qpos][0]
    )


def test_weights_decide_between_goals_that_cannot_both_be_met(human: cp.Character):
    left, right = (0.0, 0.6, 2.6), (0.0, -0.6, 0.2)
    for heavy, light in (("hand_left", "hand_right"), ("hand_right", "hand_left")):
        goals = [cp.Reach("hand_left", left, weight=10.0 if heavy == "hand_left" else 1.0),
                 cp.Reach("hand_right", right, weight=10.0 if heavy == "hand_right" else 1.0)]  # fmt: skip
        pose = cp.solve_pose(human, goals, planted(human))
        assert pose.residuals[f"reach {heavy}"] < pose.residuals[f"reach {light}"]
        check(pose)


def test_orientations_are_read_from_matrices_and_quaternions():

    rng = np.random.default_rng(5)
    for quaternion in [*rng.standard_normal((50, 4)), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1), (1e-9, 1, 1e-9, 0)]:
        unit = np.asarray(quaternion, float) / np.linalg.norm(quaternion)
        for given in (unit, 3.0 * unit, spatial.to_matrix(unit)):
            assert abs(unit_quaternion(given, "it") @ unit) == pytest.approx(1.0, abs=1e-12)


# -- constraints ---------------------------------------------------------------------------------------------
def test_planes_curves_balance_ground_and_couplings(human: cp.Character):
    reach = cp.Reach("hand_left", (0.7, 0.5, 0.8))
    on_plane = cp.solve_pose(human, [reach], [*planted(human), cp.OnPlane("hand_left", (0.3, 0, 0), (1, 0, 0))])
    assert human.snapshot(human.state(on_plane.q)).position("hand_left")[0] == pytest.approx(0.3, abs=1e-7)
    assert on_plane.status == "unreachable" and on_plane.residuals["reach hand_left"] == pytest.approx(0.4, abs=0.02)
    ring = cp.Curve(
        [(0.35 + 0.1 * np.cos(a), 0.3 + 0.1 * np.sin(a), 1.2) for a in np.linspace(0, 5.5, 12)], closed=True
    )
    on_curve = cp.solve_pose(human, [reach], [*planted(human), cp.OnCurve("hand_left", ring)])
    place = human.snapshot(human.state(on_curve.q)).position("hand_left")
    assert np.linalg.norm(place - ring.at(ring.nearest(place))) < 1e-7
    balanced = cp.solve_pose(
        human, [cp.Reach("hand_left", (1.1, 0.2, 0.8))], [*planted(human), cp.Balanced(margin=0.02)]
    )
    free = cp.solve_pose(human, [cp.Reach("hand_left", (1.1, 0.2, 0.8))], planted(human))
    toes = human.snapshot().contact_position[:, 0].max()
    assert (
        human.snapshot(human.state(balanced.q)).com[0]
        <= toes - 0.02 + 1e-6
        < human.snapshot(human.state(free.q)).com[0]
    )
    below = cp.Reach("hand_left", (0.4, 0.3, -0.3))
    once = cp.PoseTuning(restarts=0)
    above = cp.solve_pose(human, [below], [*planted(human), cp.AboveGround(["hand_left"])], tuning=once)
    assert human.snapshot(human.state(above.q)).position("hand_left")[2] > -0.01
    spine = cp.Couple({"waist.y": 1.0, "spine.y": -1.0}, equals=0.0)
    coupled = cp.solve_pose(human, [cp.Reach("hand_left", (0.6, 0.4, 0.6))], [*planted(human), spine])
    turns = [spatial.log(coupled.q[human.joint(name).qpos])[1] for name in ("waist", "spine")]
    assert abs(turns[0] - turns[1]) <= 1e-9 and abs(turns[0]) > 0.02
    bounded = cp.solve_pose(human, [cp.Reach("hand_left", (0.5, 0.3, 0.4))],
                            [*planted(human), cp.Couple({"knee_left": 1.0, "knee_right": 1.0}, high=1.2)])  # fmt: skip
    bend = sum(float(bounded.q[human.joint(f"knee_{side}").qpos][0]) for side in ("left", "right"))
    assert bend <= 1.2 + 1e-9
    for pose in (on_plane, on_curve, balanced, above, coupled, bounded):
        check(pose)


def test_a_fixed_joint_stays_and_a_value_outside_its_limits_is_refused(human: cp.Character):
    pose = cp.solve_pose(
        human, [cp.Reach("hand_left", (0.4, 0.3, 1.2))], [*planted(human), cp.FixJoint("elbow_left", 0.5)]
    )
    assert pose and pose.q[human.joint("elbow_left").qpos][0] == 0.5
    with pytest.raises(BadValue, match="outside its limits"):
        cp.solve_pose(human, [], [cp.FixJoint("elbow_left", -1.0)])


def test_far_targets_are_unreachable_with_pins_held_and_the_arm_stretched(human: cp.Character):
    pose = cp.solve_pose(human, [cp.Reach("hand_left", (3.0, 0.3, 1.4))], planted(human))
    assert pose.status == "unreachable"
    check(pose)
    assert pose.q[human.joint("elbow_left").qpos][0] < 0.35  # nearly straight
    assert pose.active_limits


def test_contradictions_are_named(human: cp.Character):
    pose = cp.solve_pose(human, [], [cp.Pin("foot_left"), cp.Pin("hand_left", at=(0.0, 0.0, 6.0))])
    assert pose.status == "infeasible" and not pose
    assert {"pin foot_left", "pin hand_left"} <= set(pose.conflict)
    assert np.isfinite(pose.q).all() and human.limits.worst(pose.q)[1] <= 1e-9
    again = cp.solve_pose(
        human, [], [cp.FixJoint("knee_left", 0.0), cp.Pin("foot_left"), cp.Pin("thigh_left", at=(0, 0.1, 0.4))]
    )
    assert again.status == "infeasible" and again.conflict


# -- structure -----------------------------------------------------------------------------------------------
def test_only_joints_that_matter_move_and_apart_problems_are_parted(human: cp.Character):
    settled = [cp.Pin("pelvis"), cp.Lock("pelvis")]
    problem = cp.build_pose_problem(
        human, [cp.Reach("foot_left", (0.3, 0.2, 0.3)), cp.Reach("foot_right", (0, -0.3, 0.2))], settled
    )
    pieces = partition(problem)
    assert len(pieces) == 2 and sum(len(p.variables) for p in pieces) == 2 * 6
    pose = cp.solve_pose(human, [cp.Reach("foot_left", (0.3, 0.2, 0.3))], settled)
    moved = np.abs(human.difference(human.neutral, pose.q)) > 1e-12
    allowed = np.zeros(human.nv, bool)
    for name in ("hip_left", "knee_left", "ankle_left"):
        allowed[human.joint(name).dofs] = True
    assert pose and not (moved & ~allowed).any()


def test_the_same_seed_gives_the_same_pose_to_the_bit(human: cp.Character):
    goals = [cp.Reach("hand_left", (0.3, 0.5, 1.5)), cp.Orient("hand_left", (0.5, 0.5, 0.5, -0.5))]
    a, b = (cp.solve_pose(human, goals, planted(human), seed=3) for _ in range(2))
    assert np.array_equal(a.q, b.q)


def test_a_pose_tells_of_its_own_problem(human: cp.Character):
    """Like problems share what was worked out for the first; each still has its own targets."""
    for place in ((0.3, 0.4, 1.0), (0.4, 0.3, 1.2), (2.5, 0.0, 1.0)):
        pose = cp.solve_pose(human, [cp.Orient("head", (1, 0, 0, 0)), cp.Reach("hand_left", place)])
        terms = {term.name: term for term in pose.problem.goals}
        assert np.allclose(terms["reach hand_left"].target, place)
        there = human.snapshot(human.state(pose.q)).position("hand_left")
        assert pose.residuals["reach hand_left"] == pytest.approx(np.linalg.norm(there - place), abs=1e-9)
    drag = cp.PoseDrag(human, planted(human))
    for place in ((0.3, 0.4, 1.0), (0.3, 0.4, 1.01)):
        assert np.allclose(drag.to([cp.Reach("hand_left", place)]).problem.goals[0].target, place)


# -- dragging ------------------------------------------------------------------------------------------------
def joint_turns(who: cp.Character, start: np.ndarray, end: np.ndarray) -> float:
    """Largest turn of any joint [deg]."""
    step = who.difference(start, end)
    sizes = [np.linalg.norm(step[j.dofs][-3:]) if j.kind in ("ball", "free") else np.abs(step[j.dofs]).max()
             for j in who.joints if j.kind != "slide"]  # fmt: skip
    return float(np.degrees(max(sizes)))


def stroke(who: cp.Character, tip: str, frames: int, seed: int, step: float = 0.005) -> np.ndarray:
    rng = np.random.default_rng(seed)
    place, home, way = who.snapshot().position(tip), who.snapshot().position(tip), np.zeros(3)
    out = []
    for _ in range(frames):
        way = 0.95 * (way + 0.4 * rng.standard_normal(3))
        if np.linalg.norm(place - home) > who.height:  # out of reach, and back
            way = home - place
        place = place + step * way / np.linalg.norm(way)
        out.append(place)
    return np.array(out)


TIPS = [("human", "hand_left"), ("child", "foot_right"), ("ostrich", "head"), ("insectoid", "hand2_left"),
        ("chicken", "head")]  # fmt: skip


@pytest.mark.parametrize("name, tip", TIPS)
def test_dragging_never_jumps_and_always_holds(name: str, tip: str, frames: int = 250, seed: int = 1):
    who = cp.character(name)
    pins = [wish for foot in who.feet if foot.body != tip for wish in (cp.Pin(foot.body), cp.Lock(foot.body))]
    drag = cp.PoseDrag(who, pins)
    before = drag.pose
    for place in stroke(who, tip, frames, seed):
        pose = drag.to([cp.Reach(tip, place)])
        assert joint_turns(who, before, pose.q) < 5.0
        assert max(pose.violations.values()) < 1e-5  # 0.01 mm
        check(pose, tolerance=1e-7)
        before = pose.q


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize("name, tip", [*TIPS, ("dinosaur", "head")])
def test_long_strokes_never_jump(name: str, tip: str, seed: int):
    test_dragging_never_jumps_and_always_holds(name, tip, 2000, seed)


def test_hands_far_out_of_reach_and_back_with_both_feet_pinned(human: cp.Character):
    drag = cp.PoseDrag(human, planted(human))
    homes = {hand: human.snapshot().position(hand) for hand in ("hand_left", "hand_right")}
    for frame in range(120):
        a = 2 * np.pi * frame / 60
        swing = 1.5 * np.array([1 - np.cos(a), 0.4 * np.sin(a), 0.8 * np.sin(2 * a)])
        pose = drag.to([cp.Reach(hand, home + swing) for hand, home in homes.items()])
        assert max(pose.violations.values()) < 1e-5
        check(pose, tolerance=1e-7)
    assert pose.residuals["reach hand_left"] < 0.2


def test_a_drag_takes_new_kinds_of_goals_and_other_bodies(human: cp.Character):
    drag = cp.PoseDrag(human, planted(human))
    assert drag.to([cp.Reach("hand_left", (0.3, 0.3, 1.1))]).residuals.keys() == {"reach hand_left"}
    both = drag.to([cp.Reach("hand_right", (0.3, -0.3, 1.1)), cp.Aim("head", (1, 0, 0), at=(2, 0, 1))])
    assert set(both.residuals) == {"reach hand_right", "aim head"}
    for _ in range(30):
        pose = drag.to([cp.Reach("hand_right", (0.3, -0.3, 1.1)), cp.Aim("head", (1, 0, 0), at=(2, 0, 1))])
    assert pose and max(pose.violations.values()) < 1e-6


def test_a_chain_of_200_segments_poses_and_drags():
    chain = cp.character("chain", links=200, length=0.01, link_mass=0.1)
    drag = cp.PoseDrag(chain)
    place = chain.snapshot().position("link200", (0, 0, 0.01))
    before = drag.pose
    for frame in range(60):
        place = place + 0.005 * np.array([np.cos(0.1 * frame), 0.0, -1.0]) / np.hypot(1.0, np.cos(0.1 * frame))
        pose = drag.to([cp.Reach("link200", place, point=(0, 0, 0.01))])
        assert joint_turns(chain, before, pose.q) < 5.0
        before = pose.q
    assert pose.residuals["reach link200"] < 0.02


# -- hostile input -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "goals, constraints, error, match",
    [
        ([cp.Reach("hand_lft", (0, 0, 1))], [], UnknownName, "hand_left"),
        ([cp.Reach("hand_left", (0, 0, np.nan))], [], BadValue, "NaN"),
        ([cp.Reach("hand_left", (0, 0, np.inf))], [], BadValue, "infinity"),
        ([cp.Reach("hand_left", (0, 0, 1e9))], [], BadValue, "metres"),
        ([cp.Reach("hand_left", (0, 0))], [], BadValue, "three numbers"),
        ([cp.Reach("hand_left", (0, 0, 1), weight=-1)], [], BadValue, "weight"),
        ([cp.Reach("hand_left", (0, 0, 1), point="tip")], [], BadValue, "numbers"),
        ([cp.Orient("hand_left", (0, 0, 0, 0))], [], BadValue, "quaternion"),
        ([cp.Orient("hand_left", np.ones((3, 3)))], [], BadValue, "rotation matrix"),
        ([cp.Aim("head", (1, 0, 0))], [], BadValue, "one of the two"),
        ([cp.Aim("head", (0, 0, 0), along=(1, 0, 0))], [], BadValue, "non-zero"),
        ([cp.CenterOfMass((None, None, None))], [], BadValue, "free"),
        ([], [cp.Pin("foot_lft")], UnknownName, "foot_left"),
        ([], [cp.FixJoint("elbow")], UnknownName, "elbow"),
        ([], [cp.FixJoint("elbow_left", (1, 2))], BadValue, "number"),
        ([], [cp.Couple({"knee_left": 1.0})], BadValue, "equals"),
        ([], [cp.Couple({"knee_left": 1.0}, low=1, high=0)], BadValue, "low <= high"),
        ([], [cp.Couple({"waist.q": 1.0}, equals=0)], UnknownName, "waist"),
        ([], [cp.OnCurve("hand_left", [(0, 0, 0)])], BadValue, "two"),
        ([], [cp.Balanced(corners=[(0, 0), (1, 1)])], MissingRole, "line"),
        (["reach"], [], BadValue, "neither"),
    ],
)
def test_bad_wishes_get_a_clear_error(human: cp.Character, goals, constraints, error, match):
    with pytest.raises(error, match=match):
        cp.solve_pose(human, goals, constraints)


def test_bad_starts_and_tunings_are_refused(human: cp.Character):
    with pytest.raises(BadValue, match="numbers"):
        cp.solve_pose(human, [], start=np.zeros(3))
    with pytest.raises(BadValue, match="NaN"):
        cp.solve_pose(human, [], start=np.full(human.nq, np.nan))
    with pytest.raises(BadValue, match="tolerance"):
        cp.solve_pose(human, [], tuning=cp.PoseTuning(tolerance=0.0))


def test_nothing_asked_is_the_start_itself(human: cp.Character):
    pose = cp.solve_pose(human)
    assert pose and np.allclose(pose.q, human.neutral) and pose.residuals == {}


def test_degenerate_wishes_still_give_a_whole_pose(human: cp.Character):
    everywhere = [
        cp.Pin("foot_left", point=p.position) for p in human.foot("foot_left").points[:4]
    ]  # 12 rows of rank 6
    pose = cp.solve_pose(
        human, [cp.Reach("hand_left", (0.4, 0.3, 1.2))], [*everywhere, *everywhere, cp.Lock("foot_left")]
    )
    assert pose.status == "solved"
    check(pose)
    onto_itself = cp.solve_pose(human, [cp.Reach("hand_left", human.snapshot().position("shank_left"))], planted(human))
    check(onto_itself)
    overhead = cp.solve_pose(human, [cp.Aim("head", (1, 0, 0), along=(-1, 0, 0))], planted(human))  # the opposite way
    check(overhead)


@pytest.mark.parametrize("name", CAST)
def test_every_character_of_the_cast_can_be_posed(name: str):
    who = cp.character(name)
    tip = who.hands[0] if who.hands else ("head" if "head" in who.segments else "trunk")
    place = who.snapshot().position(tip) + who.height * np.array([0.05, 0.0, -0.04])
    pose = cp.solve_pose(who, [cp.Reach(tip, place)], planted(who) if name != "planar_biped" else [cp.Pin("foot_left")])
    assert pose.status == "solved", (pose, pose.residuals)
    check(pose)
