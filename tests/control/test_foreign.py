# ruff: noqa: E501
"""A body nobody here made: no armature, no hip yaw, other names. It stands and takes a push without any tuning."""

from __future__ import annotations

import math

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.measure.push_survival import ankle_limit, survival

WALKER = """<mujoco model="walker">
  <default><geom density="1000" contype="1" conaffinity="1"/><motor gear="1"/></default>
  <worldbody>
    <body name="torso" pos="0 0 1.25"><freejoint name="root"/>
      <geom name="torso" type="capsule" fromto="0 0 -0.15 0 0 0.3" size="0.11"/>
      <geom name="skull" type="sphere" pos="0 0 0.5" size="0.1"/>
      <body name="l_arm" pos="0 0.19 0.28"><joint name="l_sh_y" axis="0 1 0" range="-120 120"/><joint name="l_sh_x" axis="1 0 0" range="-10 120"/>
        <geom type="capsule" fromto="0 0.02 0 0 0.05 -0.28" size="0.04"/>
        <body name="l_fore" pos="0 0.05 -0.3"><joint name="l_elbow" axis="0 1 0" range="-130 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.035"/></body></body>
      <body name="r_arm" pos="0 -0.19 0.28"><joint name="r_sh_y" axis="0 1 0" range="-120 120"/><joint name="r_sh_x" axis="-1 0 0" range="-10 120"/>
        <geom type="capsule" fromto="0 -0.02 0 0 -0.05 -0.28" size="0.04"/>
        <body name="r_fore" pos="0 -0.05 -0.3"><joint name="r_elbow" axis="0 1 0" range="-130 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.035"/></body></body>
      <body name="l_thigh" pos="0 0.1 -0.22"><joint name="l_hip_y" axis="0 1 0" range="-120 30"/><joint name="l_hip_x" axis="1 0 0" range="-30 40"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.42" size="0.065"/>
        <body name="l_shin" pos="0 0 -0.45"><joint name="l_knee" axis="0 1 0" range="0 150"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
          <body name="l_foot" pos="0 0 -0.45"><joint name="l_ankle_y" axis="0 1 0" range="-45 45"/><joint name="l_ankle_x" axis="1 0 0" range="-25 25"/>
            <geom type="box" pos="0.05 0 -0.03" size="0.12 0.045 0.025"/></body></body></body>
      <body name="r_thigh" pos="0 -0.1 -0.22"><joint name="r_hip_y" axis="0 1 0" range="-120 30"/><joint name="r_hip_x" axis="1 0 0" range="-40 30"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.42" size="0.065"/>
        <body name="r_shin" pos="0 0 -0.45"><joint name="r_knee" axis="0 1 0" range="0 150"/><geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05"/>
          <body name="r_foot" pos="0 0 -0.45"><joint name="r_ankle_y" axis="0 1 0" range="-45 45"/><joint name="r_ankle_x" axis="1 0 0" range="-25 25"/>
            <geom type="box" pos="0.05 0 -0.03" size="0.12 0.045 0.025"/></body></body></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def walker(tmp_path_factory: pytest.TempPathFactory) -> cp.Character:
    path = tmp_path_factory.mktemp("foreign") / "walker.xml"
    path.write_text(WALKER, encoding="utf-8")
    return cp.load_character(path)


def test_its_feet_are_found_and_it_stands_still(walker: cp.Character):
    assert {f.name for f in walker.feet} == {"l_foot", "r_foot"}
    assert walker.model.dof_armature.max() == 0.0
    rec = cp.simulate(walker, cp.Stand(), 4.0)
    assert not cp.measure.fell(rec)
    assert np.abs(rec.qvel[1000:]).max() < 0.1


@pytest.mark.parametrize("direction", [0.0, 90.0])
def test_it_takes_a_push_beyond_its_ankles(walker: cp.Character, direction: float):
    force = 1.1 * ankle_limit(walker, "torso", direction).impulse / 0.1
    way = math.radians(direction)
    push = cp.Push("torso", (force * math.cos(way), force * math.sin(way), 0.0), 0.3, 0.1)
    found = survival(cp.simulate(walker, cp.Stand(), 4.4, disturbances=[push]), 0.4)
    assert found.survived, found.why
    assert found.foot < 0.01
