"""Keys with velocities: motions chain, run-ups are asked for, frames of clips are taken with their speed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import scipy.sparse as sp

import counterpoise as cp
from counterpoise.errors import BadFile, BadValue
from counterpoise.spacetime.optimize.program import MotionProgram

FEET = ("foot_left", "foot_right")
LEAVE = 0.5  # [s] when the first motion ends, in the instant it leaves the ground


@cache
def push_off() -> cp.Result:
    """From standing to the instant of take-off: the CoM then moves forward and up."""
    human = cp.character("human")
    squat = cp.reference_motion("squat", human)
    keys = [
        cp.Key(0.0, human.neutral, rest=True),
        cp.Key(0.25, squat.sample(0.4 * squat.duration).q, soft=10.0),
        cp.Key(LEAVE, human.neutral, soft=30.0, root=False),
    ]
    feet = [cp.Touch(f, 0.0, LEAVE) for f in FEET]
    speed = cp.Velocity(LEAVE, (0.8, None, 1.7))
    return cp.optimize_motion(human, keys, feet, LEAVE, wishes=[speed], rate=24.0)


def com_velocity(result: cp.Result, t: float) -> np.ndarray:
    at = result.sample(t)
    character = result.motion.character
    return np.asarray(character.snapshot(character.state(at.q, at.v)).com_velocity)


def test_a_velocity_of_the_centre_of_mass_is_met():
    result = push_off()
    assert result.exact, result.report()
    assert com_velocity(result, LEAVE)[[0, 2]] == pytest.approx([0.8, 1.7], abs=1e-4)


def test_a_motion_begins_where_another_ends():
    """Take-off in one motion, flight and landing in the next: pose and velocity agree to the last."""
    before, human = push_off(), cp.character("human")
    end = human.neutral.copy()
    end[0] += 0.45
    land = 0.32
    keys = [cp.Key.from_motion(0.0, before), cp.Key(1.0, end, rest=True)]
    after = cp.optimize_motion(human, keys, [cp.Touch(f, land, 1.0) for f in FEET], 1.0, rate=30.0)
    assert after.exact, after.report()
    a, b = before.sample(LEAVE), after.sample(0.0)
    assert np.abs(human.difference(a.q, b.q)).max() < 1e-6
    assert np.abs(a.v - b.v).max() < 1e-5
    fall = com_velocity(after, 0.0)[2] - com_velocity(after, 0.2)[2]
    assert fall == pytest.approx(0.2 * human.gravity, abs=0.03)  # it flies on


def test_a_moving_frame_is_slowed_only_where_a_contact_holds_it(human):
    kick = cp.reference_motion("front_kick", human)
    at = 0.4 * kick.duration
    moving = kick.sample(at)
    key = cp.Key.from_motion(0.0, kick, at)
    feet = [human.snapshot(human.state(moving.q)).position(f.body)[2] for f in human.feet]
    stance = FEET[int(np.argmin(feet))]
    problem = cp.build_motion_problem(human, [key], [cp.Touch(stance, 0.0, 0.5)], 0.5, rate=12.0)
    settled = np.asarray(problem.keys[0].velocity)
    foot = human.snapshot(human.state(problem.keys[0].pose, settled))
    point = next(p for f in human.feet if f.name == stance for p in f.points)
    assert np.abs(foot.velocity(point.body, point.position)).max() < 1e-8
    shoulder = human.joint("shoulder_left").dofs
    assert settled[shoulder] == pytest.approx(moving.v[shoulder], abs=1e-6)


def test_derivatives_of_velocities_agree_with_differences(human):
    wishes = [cp.Velocity(0.2, (1.0, None, 0.5)), cp.Velocity(0.3, (None, 0.1, 0.2), body="root")]
    keys = [cp.Key(0.0, human.neutral, velocity=0.1 * np.ones(human.nv))]
    leave = cp.Moment(0.25, 0.2, 0.3)
    problem = cp.build_motion_problem(human, keys, [cp.Touch(FEET[0], 0.0, leave)], 0.5, wishes=wishes, rate=12.0)
    program = MotionProgram(problem)
    rng = np.random.default_rng(2)
    x = problem.start + 1e-2 * rng.normal(size=problem.variables)
    J = sp.csr_matrix((program.jacobian(x), program.jacobian_pattern), (len(program.used), problem.variables))
    d = rng.normal(size=problem.variables)
    ahead, behind = (program.values(x + e * d)[program.used] for e in (1e-6, -1e-6))
    numeric, exact = (ahead - behind) / 2e-6, J @ d
    for start, block in zip(program.starts, problem.blocks, strict=False):
        if "velocity" in block.name:
            own = (program.used >= start) & (program.used < start + len(block))
            assert own.sum() == len(block) and numeric[own] == pytest.approx(exact[own], rel=1e-5, abs=1e-6)
    assert sum("velocity" in b.name for b in problem.blocks) == 3


KEYS = """
duration = 0.6
rate = 12
[[key]]
time = 0.0
pose = "front_kick@0.4"
moving = true
{more}
"""


def test_stunt_files_take_frames_with_their_speed(human):
    kick = cp.reference_motion("front_kick", human)
    moving = kick.sample(kick.start + 0.4 * kick.duration)
    plain = cp.read_stunt(KEYS.format(more="")).keys[0]
    assert np.asarray(plain.velocity) == pytest.approx(moving.v) and np.asarray(plain.pose) == pytest.approx(moving.q)
    turned = cp.read_stunt(KEYS.format(more="facing = 90")).keys[0]
    v = np.asarray(turned.velocity)
    assert v[:3] == pytest.approx([-moving.v[1], moving.v[0], moving.v[2]]) and v[3:] == pytest.approx(moving.v[3:])
    other = cp.read_stunt(KEYS.format(more="mirror = true")).keys[0]
    assert np.asarray(other.velocity) == pytest.approx(human.mirror_velocity(moving.v))
    wish = '[[wish]]\nkind = "velocity"\ntime = 0.3\nx = 2.5\nwithin = 0.1'
    asked = cp.read_stunt(KEYS.format(more=wish)).wishes[0]
    assert isinstance(asked, cp.Velocity) and asked.velocity == [2.5, None, None] and asked.within == 0.1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (KEYS.format(more="joints = { knee_left = 20 }"), "leave out joints"),
        (KEYS.format(more="rest = true"), "keep one of them"),
        (KEYS.replace("front_kick@0.4", "crouch").format(more=""), "without a velocity"),
        (KEYS.format(more='[[wish]]\nkind = "velocity"\ntime = 0.3'), "at least one of x, y, z"),
    ],
)
def test_mistakes_are_named(text, says):
    with pytest.raises(BadFile, match=says):
        cp.read_stunt(text)


def test_a_velocity_has_the_body_s_size(human):
    keys = [cp.Key(0.0, human.neutral, velocity=[1.0, 2.0])]
    with pytest.raises(BadValue, match="degrees of freedom"):
        cp.build_motion_problem(human, keys, [], 0.5)
    with pytest.raises(BadValue, match="'com' or of the 'root'"):
        cp.Velocity(0.0, (1.0, None, None), body="head")
