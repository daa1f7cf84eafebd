"""Torque limits are read from every place a file may have them; torques become the controls of its actuators."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.loading import load_character
from counterpoise.errors import BadValue

MODELS = Path(__file__).resolve().parents[3] / "shared" / "models"
BODY = """<mujoco model="arm"><option timestep="0.001" integrator="implicitfast"/><worldbody>
  <body name="trunk" pos="0 0 1"><freejoint name="root"/><geom size="0.1" mass="5"/>
    <body name="upper" pos="0 0 -0.1"><joint name="shoulder" axis="0 1 0" damping="0.2" {shoulder}/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="2"/>
      <body name="fore" pos="0 0 -0.3"><joint name="elbow_pitch" axis="0 1 0" damping="0.2"/>
        <joint name="elbow_roll" axis="1 0 0" damping="0.2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.03" mass="1"/>
        <body name="hand" pos="0 0 -0.3"><joint name="wrist" type="ball" damping="0.1"/>
          <geom type="box" size="0.02 0.04 0.05" pos="0 0 -0.06" mass="0.5"/></body></body></body></body>
  </worldbody><actuator>{actuators}</actuator>{more}</mujoco>"""
WRIST = "".join(f'<motor name="wrist_{a}" joint="wrist" gear="{g}" ctrlrange="-1 1"/>'
                for a, g in (("x", "4 0 0"), ("y", "0 5 0"), ("z", "0 0 6")))  # fmt: skip
MOTORS = (
    '<motor name="s" joint="shoulder" gear="50" ctrlrange="-1 1"/>'
    '<general name="p" joint="elbow_pitch" gear="-10" gainprm="2" ctrllimited="true" ctrlrange="-1.5 1.5"/>'
    f'<motor name="r" joint="elbow_roll" gear="3" forcelimited="true" forcerange="-2 2" ctrlrange="-9 9"/>{WRIST}'
)


def write(folder: Path, actuators: str = MOTORS, shoulder: str = "", more: str = "") -> Path:
    path = folder / "arm.xml"
    path.write_text(BODY.format(actuators=actuators, shoulder=shoulder, more=more))
    return path


def limit(body: Character, part: str) -> float:
    return float(body.torque_limit[body.model.joint(part).dofadr[0]])


def test_the_smallest_of_all_ranges_is_the_torque_limit(tmp_path: Path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # every joint has a limit
        body = load_character(write(tmp_path))
    assert limit(body, "shoulder") == 50.0  # control range x gear
    assert limit(body, "elbow_pitch") == 30.0  # control range x gain x |gear|
    assert limit(body, "elbow_roll") == 6.0  # force range x gear, smaller than control range x gear
    assert body.torque_limit[body.joint("wrist").dofs].tolist() == [4.0, 5.0, 6.0]
    assert limit(load_character(write(tmp_path, shoulder='actuatorfrcrange="-20 20"')), "shoulder") == 20.0
    assert limit(load_character(write(tmp_path, shoulder='actuatorfrcrange="-70 70"')), "shoulder") == 50.0
    assert limit(load_character(write(tmp_path, shoulder='actuatorfrcrange="-20 10"')), "shoulder") == 10.0
    two = MOTORS + '<motor joint="shoulder" gear="5" ctrlrange="-1 1"/>'
    assert limit(load_character(write(tmp_path, two)), "shoulder") == 55.0


def test_the_control_range_of_a_position_servo_is_no_torque(tmp_path: Path):
    servo = '<position joint="shoulder" kp="100" ctrlrange="-2 2"/>'
    with pytest.warns(UserWarning, match=r"no torque limit for 3 of 3 joints \(shoulder, elbow, wrist\)"):
        body = load_character(write(tmp_path, servo))
    assert limit(body, "shoulder") == 100.0  # the default
    servo = '<position joint="shoulder" kp="100" gear="2" ctrlrange="-2 2" forcerange="-30 30"/>'
    with pytest.warns(UserWarning, match="for 2 of 3 joints"):
        assert limit(load_character(write(tmp_path, servo)), "shoulder") == 60.0


def test_rotors_stay_when_actuators_go(tmp_path: Path):
    with pytest.warns(UserWarning, match="torque limit"):
        body = load_character(write(tmp_path, '<motor joint="shoulder" gear="10" armature="0.02" damping="0.01"/>'))
    dof = int(body.model.joint("shoulder").dofadr[0])
    assert body.model.dof_armature[dof] == pytest.approx(2.0) and body.model.nu == 0
    assert np.ravel(body.model.dof_damping[dof])[0] == pytest.approx(0.2 + 1.0)


def test_motors_move_the_file_as_our_torques_do(tmp_path: Path):
    path = write(tmp_path)
    body = load_character(path)
    assert body.actuator_controls(np.zeros(body.nv)).tolist() == [0.0] * 6
    assert difference_of_motions(path, body) < 1e-9
    again = Character.from_mjcf(body.to_mjcf())
    assert again.roles.actuators == body.roles.actuators and len(again.roles.actuators) == 6
    torque = np.ones(body.nv)
    assert body.renamed("shoulder", "glenoid").actuator_controls(torque) == pytest.approx(
        body.actuator_controls(torque)
    )


def test_servos_need_the_state_and_then_give_the_torque(tmp_path: Path):
    servos = (
        '<position name="s" joint="shoulder" kp="80" kv="3" gear="2"/><velocity name="p" joint="elbow_pitch" kv="4"/>'
        f'<motor joint="elbow_roll"/>{WRIST}'
    )
    path = write(tmp_path, servos, shoulder='actuatorfrcrange="-40 40"')
    with pytest.warns(UserWarning, match="for 1 of 3 joints"):
        body = load_character(path)
    with pytest.raises(BadValue, match=r"'s' is a servo, not a motor.*give it"):
        body.actuator_controls(np.zeros(body.nv))
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    state = body.state(body.integrate(body.neutral, rng.normal(size=body.nv)), rng.normal(size=body.nv))
    torque = 0.5 * np.minimum(body.torque_limit, 8.0) * rng.uniform(-1, 1, body.nv)
    data.qpos[:], data.qvel[:] = state.q, state.v
    data.ctrl[:] = body.actuator_controls(torque, state)
    mujoco.mj_forward(model, data)
    assert data.qfrc_actuator == pytest.approx(torque, abs=1e-9)


def test_actuators_that_give_no_torque_say_so(tmp_path: Path):
    with pytest.warns(UserWarning, match="torque limit"):
        muscle = load_character(write(tmp_path, '<muscle name="biceps" joint="shoulder" lengthrange="-1 1"/>'))
    with pytest.raises(BadValue, match="'biceps' is an actuator with activation dynamics, not a motor"):
        muscle.actuator_controls(np.zeros(muscle.nv))
    cord = '<tendon><fixed name="cord"><joint joint="shoulder" coef="1"/></fixed></tendon>'
    with pytest.warns(UserWarning, match="torque limit"):
        pulled = load_character(write(tmp_path, '<motor name="pull" tendon="cord"/>', more=cord))
    with pytest.raises(BadValue, match="'pull' is an actuator of a tendon"):
        pulled.actuator_controls(np.zeros(pulled.nv))
    with pytest.warns(UserWarning, match="torque limit"):
        bare = load_character(write(tmp_path, ""))
    with pytest.raises(BadValue, match="has no actuators"):
        bare.actuator_controls(np.zeros(bare.nv))
    with pytest.raises(BadValue, match="12 finite numbers"):
        bare.actuator_controls(np.zeros(3))


def test_controls_keep_to_their_ranges_and_share_a_joint_by_strength(tmp_path: Path):
    two = MOTORS + '<motor joint="shoulder" gear="25" ctrlrange="-1 1"/>'
    body = load_character(write(tmp_path, two))
    torque = np.zeros(body.nv)
    torque[6] = 60.0
    controls = body.actuator_controls(torque)
    assert 50.0 * controls[0] + 25.0 * controls[-1] == pytest.approx(60.0) and np.abs(controls).max() < 1.0
    torque[6] = 1000.0
    assert body.actuator_controls(torque)[[0, -1]].tolist() == [1.0, 1.0]


def difference_of_motions(path: Path, body: Character, steps: int = 300) -> float:
    """Returns the largest difference of a motion by controls and by qfrc_applied, in plain MuJoCo with the file."""
    model = mujoco.MjModel.from_xml_path(str(path))
    rng = np.random.default_rng(5)
    torques = 0.6 * body.torque_limit * np.sin(rng.uniform(1, 9, body.nv) * np.linspace(0, 3, steps)[:, None])
    first = np.array([int(model.joint(j.parts[0]).dofadr[0]) for j in body.joints[1:]])
    assert first.tolist() == [j.dofs.start for j in body.joints[1:]]  # the same order of dofs
    ends = []
    for driven in (True, False):
        data = mujoco.MjData(model)
        for torque in torques:
            if driven:
                data.ctrl[:] = body.actuator_controls(torque)
            else:
                data.qfrc_applied[:] = torque
            mujoco.mj_step(model, data)
        ends.append(data.qpos.copy())
    assert np.abs(ends[0] - model.qpos0).max() > 0.01  # it moved
    return float(np.abs(ends[0] - ends[1]).max())


@pytest.mark.parametrize("name", ["h1", "dm_humanoid", "dm_humanoid_CMU"])
def test_the_motors_of_public_robots_move_them_as_our_torques_do(name: str):
    path = MODELS / f"{name}.xml"
    if not path.is_file():
        pytest.skip("the public robots are not here")
    assert difference_of_motions(path, load_character(path), steps=100) < 1e-6
