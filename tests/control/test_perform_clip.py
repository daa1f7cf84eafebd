"""Clips as plans: contacts by point, the nearest possible path, poses fitted to it, and what is measured of it."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.control.perform import ClipTuning, plan_of_motion
from counterpoise.control.perform.clip import free_heels
from counterpoise.control.perform.fitted_poses import fit_poses
from counterpoise.control.perform.point_contacts import find_point_contacts, point_rows
from counterpoise.control.perform.possible_path import PathTuning, find_possible_path, point_strength
from counterpoise.errors import BadValue
from counterpoise.motion.contacts import ContactWindow
from counterpoise.spacetime.check.frames import frames_of_motion

RATE = 100.0  # [1/s]


def raised(human: cp.Character, height: np.ndarray) -> cp.Motion:
    """Returns the neutral pose at heights above the ground, frame by frame."""
    poses = np.repeat(human.neutral[None], len(height), axis=0)
    poses[:, 2] += height
    return cp.Motion(human, np.arange(len(height)) / RATE, poses)


def contacts_of(motion: cp.Motion):
    frames, human = frames_of_motion(motion, 0.0), motion.character
    points = np.array([human.snapshot(human.state(q)).contact_position for q in frames.raw])
    fall = np.gradient(np.gradient(motion.poses[:, 2], 1.0 / RATE), 1.0 / RATE)
    return find_point_contacts(frames, points, fall)


def arc(human: cp.Character, seconds: float) -> np.ndarray:
    """Returns the heights of a throw between two times of standing, 0.3 s each."""
    t = np.arange(0.0, seconds + 1e-9, 1.0 / RATE)
    return np.concatenate([np.zeros(30), 0.5 * human.gravity * t * (seconds - t), np.zeros(30)])


def test_points_of_a_foot_are_in_rows_from_heel_to_toes(human: cp.Character):
    names = [[human.contact_points[p].name.split("_")[0] for p in row] for row in point_rows(human)]
    assert names == [["heel", "heel"], ["ball", "ball"], ["toe", "toe"]] * 2


def test_a_throw_is_a_flight_and_a_float_is_not(human: cp.Character):
    flies = contacts_of(raised(human, arc(human, 0.4)))
    assert flies.pushing.sum(axis=1).tolist() == [12, 0, 12]
    assert flies.ends == pytest.approx([0.0, 0.3, 0.7, 1.0], abs=0.03)
    floats = contacts_of(raised(human, np.where(arc(human, 0.4) > 0.0, 0.05, 0.0)))
    assert floats.pushing.sum(axis=1).tolist() == [12]


def test_of_a_foot_that_rolls_only_the_toes_are_held(human: cp.Character):
    toe = human.joint("toe_left").dofs
    ankle = human.joint("ankle_left").dofs
    poses = []
    still = human.snapshot().contact_position
    for share in np.clip(np.linspace(-1.0, 2.0, 90), 0.0, 1.0):  # the left heel rises about the toes
        turn = np.zeros(human.nv)
        turn[ankle.start : ankle.stop], turn[toe] = 0.0, 0.5 * share
        points = still.copy()
        points[:2, 2] += 0.08 * share
        points[2:4, 2] += 0.002 * share
        poses.append(
            fit_poses(human, human.integrate(human.neutral, turn)[None], human.snapshot().com[None], points[None])[0]
        )
    found = contacts_of(cp.Motion(human, np.arange(90) / RATE, poses))
    last = found.pushing[-1]
    assert not last[:2].any() and last[4:].all()  # the heel is up, the toes and the other foot bear
    assert not found.held[-1][2:4].any() and found.held[-1][4:].all()


def test_the_path_obeys_the_laws_of_motion_and_stays_near(human: cp.Character):
    times = np.linspace(0.0, 1.0, 51)
    points, com = human.snapshot().contact_position, human.snapshot().com
    air = (times[:-1] > 0.39) & (times[:-1] < 0.59)
    bearing = [np.arange(0) if one else np.arange(12) for one in air]
    wanted = np.zeros((51, 9))
    wanted[:, :3] = com  # it hovers, which nothing can give
    path = find_possible_path(human, times, bearing, np.repeat(points[None], 50, axis=0), wanted, PathTuning())
    assert path.acceleration[air] == pytest.approx(np.tile([0.0, 0.0, -human.gravity], (air.sum(), 1)), abs=1e-4)
    assert path.torque[air] == pytest.approx(np.zeros((air.sum(), 3)), abs=1e-3)
    force = human.mass * (path.acceleration + [0.0, 0.0, human.gravity])
    assert (np.hypot(*force[:, :2].T) <= 0.6 * force[:, 2] + 1e-3).all()
    middle = 0.5 * (path.states[:-1, :3] + path.states[1:, :3])
    on = ~air & (force[:, 2] > 0.1 * human.weight)
    pressure = middle[on, 0] - (path.torque[on, 1] + middle[on, 2] * force[on, 0]) / force[on, 2]  # level ground
    assert (pressure < points[:, 0].max() + 1e-3).all() and (pressure > points[:, 0].min() - 1e-3).all()
    assert np.abs(path.states[:, :3] - com).max() < 0.06
    place, spin = path.at(times)
    assert place[:, 0] == pytest.approx(path.states[:, :3], abs=1e-9) and spin.shape == (51, 2, 3)


def test_toes_bear_less_than_heels(human: cp.Character):
    strength = point_strength(human)[:6]
    assert (strength[4:] < strength[2:4]).all() and (strength[2:4] < strength[:2]).all()


def test_poses_are_fitted_to_a_path_of_the_com(human: cp.Character):
    bent = cp.reference_motion("squat", human).sample(0.8).q
    s = human.snapshot(human.state(bent))
    com = s.com + [0.01, -0.01, 0.02]
    fitted = human.snapshot(human.state(fit_poses(human, bent[None], com[None], s.contact_position[None])[0]))
    assert fitted.com == pytest.approx(com, abs=1e-3)
    assert fitted.contact_position == pytest.approx(s.contact_position, abs=3e-3)


def test_heels_are_free_before_a_flight_and_after_it(human: cp.Character):
    motion = raised(human, arc(human, 0.4))
    parts = [ContactWindow("foot_left", part, *span) for part in ("heel", "ball") for span in ((0.0, 0.3), (0.7, 1.0))]
    free = free_heels(motion, tuple(parts), ClipTuning(heel_rise=0.1, heel_drop=0.05))
    assert [(w.part, pytest.approx(w.start, abs=0.01), pytest.approx(w.end, abs=0.01)) for w in free] == [
        ("heel", 0.0, 0.2), ("heel", 0.75, 1.0), ("ball", 0.0, 0.3), ("ball", 0.7, 1.0),
    ]  # fmt: skip


def test_a_performance_says_how_far_it_came(human: cp.Character):
    squat = cp.reference_motion("squat", human).slice(0.0, 0.5)
    controller = cp.Perform(squat, wait=0.0)
    push = cp.Push("thorax", (2500.0, 0.0, 0.0), 0.2, 0.2)
    shown = cp.measure.performance(
        cp.simulate(human, controller, 1.5, start=controller.ready(human), disturbances=[push])
    )
    assert shown.grade != "performed" and not shown.stands and shown.cause
    calm = cp.measure.performance(cp.simulate(human, controller, 0.8, start=controller.ready(human)))
    assert (calm.grade, calm.done, calm.stands, calm.cause) == ("performed", 1.0, True, "")
    assert calm.tracking < 0.02
    with pytest.raises(BadValue, match="not one of Perform"):
        cp.measure.performance(cp.simulate(human, cp.Stand(), 0.05))


def test_a_single_pose_is_refused_with_the_way_out(human: cp.Character):
    with pytest.raises(BadValue, match="Stand"):
        plan_of_motion(cp.Motion(human, [0.0], human.neutral[None]))
