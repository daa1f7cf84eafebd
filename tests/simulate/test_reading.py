"""What the loop reads of MuJoCo: contacts as its own query tells them, torques within their limits."""

from typing import Any

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.basic import Action
from counterpoise.errors import BadValue


@pytest.mark.parametrize("name", ["human", "chicken"])
def test_recorded_contacts_are_what_mujoco_tells_one_by_one(name: str):
    """A figure dropped and falling: many contacts, few, one, none."""
    who = cp.character(name)
    q = who.neutral.copy()
    q[2] += 0.03
    recording = cp.simulate(who, cp.Passive(), 0.6, start=who.state(q))
    m, d, six = recording.model, mujoco.MjData(recording.model), np.zeros(6)
    d.qpos[:], d.qvel[:] = recording.qpos[0], recording.qvel[0]
    seen = set()
    for k in range(len(recording) - 1):
        mujoco.mj_step(m, d)
        at = recording.contacts.at(k)
        real = [i for i in range(d.ncon) if d.contact[i].efc_address >= 0]
        seen.add(len(real))
        assert at.stop - at.start == len(real)
        for row, i in zip(range(at.start, at.stop), real, strict=True):
            contact = d.contact[i]
            mujoco.mj_contactForce(m, d, i, six)
            assert np.allclose(recording.contacts.force[row], contact.frame.reshape(3, 3).T @ six[:3], atol=1e-9)
            assert np.array_equal(recording.contacts.point[row], contact.pos)
            assert np.array_equal(recording.contacts.bodies[row], m.geom_bodyid[[contact.geom1, contact.geom2]])
    assert 0 in seen and len(seen) > 3


class _Gives:
    """The same torques every tick."""

    rate = 500.0

    def __init__(self, torque: Any) -> None:
        self.torque = torque

    def begin(self, character: cp.Character) -> None:
        return None

    def act(self, snapshot: cp.Snapshot, memory: None) -> Action:
        return Action(self.torque)


def test_torques_are_kept_within_their_limits_and_those_beyond_are_counted(human: cp.Character):
    limit, root = human.torque_limit, human.root_dofs.stop
    torque = 0.5 * limit
    torque[:root] = 3.0
    torque[root], torque[root + 2] = 2.0 * limit[root], -7.0 * limit[root + 2]
    recording = cp.simulate(human, _Gives(torque), 0.01)
    expected = np.clip(torque, -limit, limit)
    assert np.array_equal(recording.torque[:-1], np.tile(expected, (10, 1))) and not expected[:root].any()
    assert recording.meta["clamped"] == [2 * 5] and (recording.notes["clamped"] == 2.0).all()


@pytest.mark.parametrize("bad", ["nan", "inf", "short"])
def test_torques_that_make_no_sense_are_refused(human: cp.Character, bad: str):
    torque = np.zeros(human.nv - (bad == "short"))
    if bad != "short":
        torque[-1] = float(bad)
    with pytest.raises(BadValue, match="finite"):
        cp.simulate(human, _Gives(torque), 0.01)
