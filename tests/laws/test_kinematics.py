"""Forward kinematics agrees with MuJoCo, and many poses at once with one snapshot each."""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.character import Character
from counterpoise.character.kinematics import (
    BatchKinematics,
    body_frames,
    dof_lists,
    forward_kinematics,
    local_frames,
    tree_of,
)
from counterpoise.character.snapshot import take_kinematics


def random_poses(who: Character, count: int, size: float = 0.8) -> np.ndarray:
    rng = np.random.default_rng(0)
    steps = size * rng.uniform(-1, 1, (count, who.nv))
    return np.array([who.limits.clamp(who.integrate(who.neutral, step)) for step in steps])


def test_frames_and_motion_vectors_are_mujocos(cast: Character):
    m = cast.model
    d = mujoco.MjData(m)
    for q in random_poses(cast, 5):
        xpos, xmat, xquat = np.zeros((m.nbody, 3)), np.zeros((m.nbody, 9)), np.zeros((m.nbody, 4))
        xmat[0, [0, 4, 8]] = xquat[0, 0] = 1.0
        motion = np.zeros((m.nv, 6))
        forward_kinematics(q, tree_of(cast), xpos, xmat, xquat, motion)
        d.qpos[:] = q
        mujoco.mj_kinematics(m, d)
        mujoco.mj_comPos(m, d)
        assert np.allclose(xpos[1:], d.xpos[1:], atol=1e-12) and np.allclose(xmat[1:], d.xmat[1:], atol=1e-12)
        about_com = motion.copy()
        about_com[:, 3:] += np.cross(motion[:, :3], d.subtree_com[0])
        assert np.allclose(about_com, d.cdof, atol=1e-12)


def test_many_poses_at_once_are_one_snapshot_each(cast: Character):
    poses = random_poses(cast, 4)
    many, body, point = BatchKinematics(cast, poses), cast.segments[-1], (0.1, -0.05, 0.2)
    places, turns = body_frames(cast, poses)
    for i, q in enumerate(poses):
        one = take_kinematics(cast, q)
        b = cast.body_id(body)
        assert np.allclose(places[i], one.body_position, atol=1e-12) and turns.shape[-1] == 4
        assert np.allclose(many.position(body)[i], one.body_position[b], atol=1e-12)
        assert np.allclose(many.position(body, point)[i], one.position(body, point), atol=1e-12)
        assert np.allclose(many.rotation(body)[i], one.rotation(body), atol=1e-12)
        assert np.allclose(many.jacobian(body, point)[i], one.jacobian(body, point), atol=1e-11)
        assert np.allclose(many.angular_jacobian(body)[i], one.angular_jacobian(body), atol=1e-12)
        assert np.allclose(many.com[i], one.com, atol=1e-12)
        assert np.allclose(many.com_jacobian[i], one.com_jacobian, atol=1e-11)


def test_several_points_at_once_are_each_point(cast: Character):
    poses, rng = random_poses(cast, 3), np.random.default_rng(1)
    many, bodies = BatchKinematics(cast, poses), rng.integers(1, cast.model.nbody, 5)
    points = rng.normal(size=(5, 3))
    places = many.points(bodies, points)
    jacobians = many.point_jacobians(bodies, places)
    for k, b in enumerate(bodies):
        body = cast.segments[b - 1]
        assert np.allclose(places[:, k], many.position(body, points[k]), atol=1e-12)
        assert np.allclose(jacobians[:, k], many.jacobian(body, points[k]), atol=1e-12)


def test_frames_in_the_parents_compose_to_frames_in_the_world(cast: Character):
    poses, parents = random_poses(cast, 3), cast.model.body_parentid
    (places, turns), (local_places, local_turns) = body_frames(cast, poses), local_frames(cast, poses)
    for b in range(1, cast.model.nbody):
        p = int(parents[b])
        place, turn = spatial.compose((places[:, p], turns[:, p]), (local_places[:, b], local_turns[:, b]))
        assert np.allclose(place, places[:, b], atol=1e-12) and np.allclose(turn, turns[:, b], atol=1e-12)


def test_lists_of_dofs_lead_from_the_root_to_the_body(human: Character):
    starts, listed = dof_lists(human)
    hand = human.body_id("hand_left")
    own = listed[starts[hand] : starts[hand + 1]]
    jacobian = human.snapshot().jacobian("hand_left", (0.3, 0.2, 0.1))
    assert (np.diff(own) > 0).all() and set(np.flatnonzero(np.abs(jacobian).sum(axis=0))) <= set(own)
    assert len(listed) == starts[-1]
