"""A feature nobody has thought of yet is declared once, and posing, control and spacetime all use it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.arrays import Array
from counterpoise.character.kinematics import Kinematics
from counterpoise.features import Feature, PlaneDistance, PointPosition
from counterpoise.spacetime.optimize.program import MotionProgram
from counterpoise.spacetime.optimize.rows.feature import FeatureRows, goal_rows


@dataclass(frozen=True)
class HandsApart(Feature):
    """Distance between the two hands [m]: |d| with d = p_left - p_right, and its rate d . d' / |d|."""

    left: str = "hand_left"
    right: str = "hand_right"

    @property
    def name(self) -> str:
        return "distance of the hands"

    @property
    def unit(self) -> str:
        return "m"

    def value(self, kinematics: Kinematics) -> Array:
        return np.linalg.norm(self._gap(kinematics), axis=-1)[..., None]

    def jacobian(self, kinematics: Kinematics) -> Array:
        d = self._gap(kinematics)
        J = kinematics.jacobian(self.left) - kinematics.jacobian(self.right)
        return np.einsum("...i,...ij->...j", d / np.linalg.norm(d, axis=-1, keepdims=True), J)[..., None, :]

    def drift(self, snapshot: cp.Snapshot) -> Array:
        d, v = self._gap(snapshot), snapshot.velocity(self.left) - snapshot.velocity(self.right)
        a, size = snapshot.drift(self.left) - snapshot.drift(self.right), float(np.linalg.norm(d))
        return np.array([(v @ v + d @ a - (d @ v / size) ** 2) / size])

    def _gap(self, kinematics: Kinematics) -> Array:
        return kinematics.position(self.left) - kinematics.position(self.right)


WIDE = 1.1  # [m]


def gap(character: cp.Character, q: np.ndarray) -> float:
    snapshot = character.snapshot(character.state(q))
    return float(HandsApart().value(snapshot)[0])


def test_posing_reaches_it_as_a_goal_and_holds_it_as_a_constraint(human: cp.Character):
    assert abs(gap(human, human.neutral) - WIDE) > 0.2
    wanted = cp.solve_pose(human, [cp.Goal(HandsApart(), [WIDE])])
    assert wanted and gap(human, wanted.q) == pytest.approx(WIDE, abs=2e-4)
    held = cp.solve_pose(human, [cp.Reach("hand_left", (0.3, 0.5, 1.2))], [cp.Goal(HandsApart(), [WIDE])])
    assert held and gap(human, held.q) == pytest.approx(WIDE, abs=1e-6)
    bounded = cp.solve_pose(human, [cp.Reach("hand_left", (0.3, 0.5, 1.2))], [cp.Goal(HandsApart(), low=[WIDE])])
    assert bounded and gap(human, bounded.q) >= WIDE - 1e-6


def test_a_range_is_no_goal_of_a_pose(human: cp.Character):
    with pytest.raises(cp.CounterpoiseError, match="give it as a constraint"):
        cp.solve_pose(human, [cp.Goal(HandsApart(), low=[WIDE])])


def test_control_drives_it_to_a_reference(human: cp.Character):
    levels = [
        [cp.Contact()],
        [cp.Setpoint(cp.features.ComPosition(), human.snapshot().com)],
        [cp.Setpoint(HandsApart(), [WIDE], stiffness=60.0), cp.TrackPose(human.neutral, weight=0.01)],
    ]
    rec = cp.simulate(human, cp.WholeBody(levels), seconds=1.5)
    assert gap(human, rec.motion.poses[-1]) == pytest.approx(WIDE, abs=0.03)


def test_spacetime_holds_it_at_an_instant_and_over_a_stretch(human: cp.Character):
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(1.0, human.neutral, rest=True)]
    feet = [cp.Touch(f.name, 0.0, 1.0) for f in human.feet]
    free = cp.optimize_motion(human, keys, feet, 1.0, rate=12.0)
    asked = cp.Require(cp.Goal(HandsApart(), [WIDE]), 0.5)
    result = cp.optimize_motion(human, keys, feet, 1.0, rate=12.0, wishes=[asked])
    assert result.ok and gap(human, result.sample(0.5).q) == pytest.approx(WIDE, abs=1e-5)
    assert abs(gap(human, free.sample(0.5).q) - WIDE) > 0.2
    long = cp.Require(cp.Goal(HandsApart(), low=[WIDE - 0.2]), 0.4, 0.6)
    result = cp.optimize_motion(human, keys, feet, 1.0, rate=20.0, wishes=[long])
    assert result.ok and min(gap(human, q) for q in result.sample(np.linspace(0.4, 0.6, 5)).q) > WIDE - 0.2 - 1e-3


def test_a_soft_requirement_is_a_cost(human: cp.Character):
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(1.0, human.neutral, rest=True)]
    feet = [cp.Touch(f.name, 0.0, 1.0) for f in human.feet]
    found = []
    for soft in (1.0, 1e3, 1e5):
        asked = cp.Require(cp.Goal(HandsApart(), [WIDE]), 0.5, soft=soft)
        result = cp.optimize_motion(human, keys, feet, 1.0, rate=12.0, wishes=[asked], strides=4)
        assert result.ok, result.report()
        found.append(abs(gap(human, result.sample(0.5).q) - WIDE))
    assert found[0] > found[1] > found[2] and found[2] < 0.02 < found[0]


def test_the_constructors_of_posing_hold_over_time(human: cp.Character):
    keys = [cp.Key(0.0, human.neutral, rest=True), cp.Key(1.0, human.neutral, rest=True)]
    feet = [cp.Touch(f.name, 0.0, 1.0) for f in human.feet]
    place = (0.35, 0.25, 1.35)
    wishes = [
        cp.Require(cp.Reach("hand_left", place), 0.5),
        cp.Require(cp.Orient("head", cp.spatial.from_yaw(0.4)), 0.5),
        cp.Require(cp.Balanced(margin=0.02), 0.0, 1.0),
    ]
    result = cp.optimize_motion(human, keys, feet, 1.0, rate=12.0, wishes=wishes)
    snapshot = human.snapshot(human.state(result.sample(0.5).q))
    assert result.ok and np.abs(snapshot.position("hand_left") - place).max() < 1e-5
    assert cp.spatial.yaw(cp.spatial.from_matrix(snapshot.rotation("head"))) == pytest.approx(0.4, abs=1e-5)


def test_the_fast_rows_of_points_are_those_of_features(human: cp.Character):
    """Same values and same derivatives by the variables, row by row."""
    keys = [cp.Key(0.0, human.neutral), cp.Key(0.6, human.neutral)]
    problem = cp.build_motion_problem(human, keys, [], 0.6, rate=10.0)
    goal = cp.Goal(PlaneDistance("hand_left", (0.1, 0.0, 0.5), (0.2, -0.3, 1.0), (0.0, 0.02, -0.1)), low=[0.3])
    frames = np.arange(problem.frames.knots)
    e, layout = problem.evaluation, problem.layout
    x = problem.start + 0.05 * np.random.default_rng(1).normal(size=problem.variables)
    both = [goal_rows(e, layout, goal, frames), FeatureRows(e, layout, goal, frames, "generic")]
    dense = []
    for rows in both:
        program = MotionProgram(problem.with_rows(rows))
        program.evaluate(x)
        out = np.empty(len(rows.pattern()[0]))
        rows.derivatives(e, x, out)
        J = np.zeros((len(rows), problem.variables))
        np.add.at(J, rows.pattern(), out)
        dense.append((rows.values(e, x) - rows.low, J))
    assert type(both[0]) is not type(both[1])
    assert np.allclose(dense[0][0], dense[1][0], atol=1e-12) and np.allclose(dense[0][1], dense[1][1], atol=1e-11)


def test_a_goal_says_what_it_needs(human: cp.Character):
    with pytest.raises(cp.CounterpoiseError, match="a target, or low"):
        cp.Goal(PointPosition("head"))
    with pytest.raises(cp.CounterpoiseError, match="positive number"):
        cp.Goal(PointPosition("head"), [0, 0, 0], weight=-1.0)
    with pytest.raises(cp.CounterpoiseError, match="Reach or Pin"):
        cp.Require("head", 0.5)  # type: ignore[arg-type]
