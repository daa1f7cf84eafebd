"""Public robots by one call: they load with their own limits, stand in their home pose, and take pushes at the trunk.

The files lie beside the project in `shared/models`. Without them these stories are skipped.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy.linalg import null_space

import counterpoise as cp
from counterpoise import measure
from counterpoise.character import Character
from counterpoise.experiments.upright import scaled_blow
from counterpoise.experiments.walking import how_it_fell
from counterpoise.measure.pushes import DIRECTIONS

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"


@dataclass(frozen=True)
class Robot:
    """What is known of a robot, and what it has reached."""

    name: str
    trunk: str
    rho: float  # of the pushes: 1.1, or 1.0 where the ankle has no roll
    mass: float  # [kg]
    dofs: int
    ankle: float  # [N m] torque limit of the ankle's pitch
    knee: float  # [N m]
    falls: tuple[float, ...]  # [deg] pushes that it does not yet take


ROBOTS = (
    Robot("h1", "torso_link", 1.0, 51.4, 25, 40.0, 300.0, falls=(90.0, 270.0)),
    Robot("g1", "torso_link", 1.1, 33.3, 35, 50.0, 139.0, falls=()),
    Robot("talos", "torso_2_link", 1.1, 94.0, 50, 160.0, 400.0, falls=()),
    Robot("dm_humanoid", "torso", 1.1, 40.8, 27, 20.0, 80.0, falls=(0.0, 45.0, 315.0)),
    Robot("dm_humanoid_CMU", "thorax", 1.0, 51.8, 62, 20.0, 80.0, falls=(0.0, 45.0, 315.0)),
)
ANKLES = {"h1": "left_ankle", "g1": "left_ankle_pitch_joint", "talos": "leg_left_5_joint",
          "dm_humanoid": "left_ankle_y", "dm_humanoid_CMU": "lfootrx"}  # fmt: skip
KNEES = {"h1": "left_knee", "g1": "left_knee_joint", "talos": "leg_left_4_joint", "dm_humanoid": "left_knee",
         "dm_humanoid_CMU": "ltibiarx"}  # fmt: skip
each_robot = pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)


def loaded(robot: Robot) -> Character:
    path = MODELS / f"{robot.name}.xml"
    if not path.is_file():
        pytest.skip("the public robots are not here")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # talos: grippers without limits
        return cp.load_character(path)


@each_robot
def test_a_robot_loads_with_its_own_mass_and_limits_and_two_whole_feet_on_the_ground(robot: Robot):
    body = loaded(robot)
    assert body.mass == pytest.approx(robot.mass, abs=0.1) and body.nv == robot.dofs
    for joint, limit in ((ANKLES[robot.name], robot.ankle), (KNEES[robot.name], robot.knee)):
        assert body.torque_limit[body.model.joint(joint).dofadr[0]] == limit
    assert sorted(foot.side for foot in body.feet) == ["left", "right"]
    places = body.snapshot().contact_position
    assert np.abs(places[:, 2]).max() < 1e-3
    assert np.ptp(places[:, 0]) > 0.14  # heel to toe
    points = [p for foot in body.feet if foot.side == "left" for p in foot.points]
    left = np.mean([body.snapshot().position(p.body, p.position) for p in points], axis=0)
    assert left[1] > 0.05  # it faces along x


@each_robot
def test_where_ankles_are_strong_enough_is_known(robot: Robot):
    """The figures of dm_control fall only where the bar asks for 1.7 times what their ankles can do, or more."""
    body = loaded(robot)
    strong = {a: measure.strength_limit(body, a) for a in DIRECTIONS}
    if robot.name.startswith("dm_"):
        assert all(robot.rho / strong[a] > 1.7 for a in robot.falls)
        assert all(robot.rho / strong[a] < 1.3 for a in DIRECTIONS if a not in robot.falls)
    else:
        assert min(strong.values()) > 0.95


def test_the_legs_of_h1_cannot_carry_it_sideways_over_flat_feet():
    """Without ankle roll its planted legs stay upright: with planted feet the CoM hardly moves to the side."""
    sideways = {}
    for robot in ROBOTS[:3]:
        body = loaded(robot)
        here = body.snapshot()
        free = null_space(here.contact_jacobian.reshape(-1, body.nv), rcond=1e-6)
        moves = np.linalg.norm(here.com_jacobian @ free, axis=1)
        sideways[robot.name] = moves[1] / moves[0]
    assert sideways["h1"] < 0.2 and min(sideways["g1"], sideways["talos"]) > 0.5


@pytest.mark.slow
@each_robot
def test_a_robot_stands_for_ten_seconds(robot: Robot):
    recording = cp.simulate(loaded(robot), cp.Stand(), 10.0)
    assert recording.status == "finished" and not measure.fell(recording).fell
    assert np.abs(recording.velocities()[-2000:]).max() < 0.05  # at rest
    body, q = recording.character, recording.positions()[-1]
    assert np.abs(body.difference(body.neutral, q)[6:]).max() < 0.1  # in its home pose


@pytest.mark.slow
@each_robot
def test_a_robot_takes_pushes_at_its_trunk(robot: Robot):
    """Pushes of 0.1 s in eight directions. `falls` are those that the control law does not take yet."""
    body = loaded(robot)
    fallen = set()
    for direction in DIRECTIONS:
        push = scaled_blow(body, robot.trunk, direction, robot.rho, 0.5)
        recording = cp.simulate(body, cp.Stand(), 4.1, disturbances=[push])
        if measure.fell(recording).fell:
            fallen.add(direction)
    assert fallen <= set(robot.falls)


WALKS = ("g1", "h1", "talos", "dm_humanoid")


@pytest.mark.slow
@pytest.mark.parametrize("robot", [one for one in ROBOTS if one.name in WALKS], ids=lambda robot: robot.name)
def test_a_robot_walks_20_m_at_its_usual_speed(robot: Robot):
    body, walk = loaded(robot), cp.Walk()
    seconds, good = 20.0 / walk.usual_speed(body) * 1.1 + 3.0, 0
    for seed in range(20):
        recording = cp.simulate(body, walk, seconds, start=cp.disturbed_start(body, seed), seed=seed)
        way = recording.qpos[-1, :2] - recording.qpos[0, :2]
        good += not how_it_fell(recording) and bool(np.hypot(*way) >= 20.0)
    assert good >= 19
