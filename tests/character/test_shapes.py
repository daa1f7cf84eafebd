"""Shapes: every room's answer agrees with brute force over the points of a made body - a mesh, a cylinder, an
ellipsoid, a box - and visual geoms count nowhere but in the height."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character.kinematics import BatchKinematics
from counterpoise.character.shapes import (
    body_corners,
    body_solids,
    corners_of,
    end_of,
    main_rod,
    middle_of,
    solids_of,
    spheres_of,
)
from counterpoise.character.shapes.corners import LEAST_SHORTFALL, MESH_SHORTFALL, few_corners
from counterpoise.features import LowestPoints
from counterpoise.objectives.clearance import corners_off_feet
from counterpoise.spacetime.check.frames import places_of
from counterpoise.spacetime.optimize.rods import rod_pairs
from counterpoise.spacetime.optimize.spheres import spheres_off_feet, spheres_on

LOW = np.array([0.03, -0.05, -0.15])  # of the club's box, in its body's frame


def cloud(count: int = 300) -> np.ndarray:
    """Points of a lopsided blob, longest along z, whose lowest corner is at LOW."""
    rng = np.random.default_rng(4)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    points = way * (0.04, 0.06, 0.12) * (1.0 + 0.3 * way[:, :1])
    return np.asarray(points - points.min(axis=0) + LOW)


@pytest.fixture(scope="module")
def made() -> cp.Character:
    """A trunk (box) on two feet (cylinders), with a club (mesh), a ball (ellipsoid) and a feather (visual)."""
    vertices = " ".join(f"{x:.9g}" for x in cloud().ravel())
    leg = """<body name="leg_{0}" pos="0 {1} -0.2"><joint name="hip_{0}" axis="0 1 0" range="-1 1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/>
      <body name="foot_{0}" pos="0 0 -0.4"><joint name="ankle_{0}" axis="0 1 0" range="-1 1"/>
        <geom type="cylinder" size="0.1 0.02" pos="0.03 0 0"/></body></body>"""
    return cp.Character.from_mjcf(f"""<mujoco><compiler angle="radian"/><asset><mesh name="club" vertex="{vertices}"/>
      </asset><worldbody><body name="trunk" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.15 0.2"/>
        {leg.format("left", 0.12)}{leg.format("right", -0.12)}
        <body name="club" pos="0 0.3 0.1" euler="0.3 0 0"><joint name="swing" axis="0 1 0" range="-2 2"/>
          <geom type="mesh" mesh="club" euler="0.2 -0.4 0.1" pos="0.02 0 0.01"/></body>
        <body name="ball" pos="0.2 0 0.3"><joint name="neck" axis="0 0 1" range="-1 1"/>
          <geom type="ellipsoid" size="0.05 0.08 0.12" euler="0.5 0.2 0"/></body>
        <body name="plume" pos="0 0 0.25"><joint name="wag" axis="1 0 0" range="-1 1"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.5" size="0.01" contype="0" conaffinity="0" mass="0.1"/></body>
      </body></worldbody></mujoco>""")


def mesh_points(character: cp.Character) -> np.ndarray:
    """All vertices of the club (n, 3) in its body's frame, read from the model by another way."""
    m = character.model
    g = next(g for g in range(m.ngeom) if m.geom_type[g] == mujoco.mjtGeom.mjGEOM_MESH)
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    world = data.geom_xpos[g] + m.mesh_vert @ data.geom_xmat[g].reshape(3, 3).T
    b = character.body_id("club")
    return np.asarray((world - data.xpos[b]) @ data.xmat[b].reshape(3, 3))


def ways(count: int = 2000) -> np.ndarray:
    n = np.random.default_rng(1).normal(size=(count, 3))
    return np.asarray(n / np.linalg.norm(n, axis=1, keepdims=True))


def allowed(character: cp.Character) -> float:
    """By how much the few vertices of the club may fall short of all of them [m]."""
    (club,) = body_solids(character, character.body_id("club"))
    return 1.5 * max(MESH_SHORTFALL * float(club.half.min()), LEAST_SHORTFALL)


def test_a_mesh_reaches_exactly_as_far_as_its_vertices(made: cp.Character):
    (club,) = body_solids(made, made.body_id("club"))
    brute = (ways() @ mesh_points(made).T).max(axis=1)
    assert np.allclose(club.reach(ways()), brute, atol=1e-7)
    for n in ways(20):
        assert float((club.farthest(n) @ n).max()) == pytest.approx(float((mesh_points(made) @ n).max()), abs=1e-7)


def test_a_few_vertices_reach_nearly_as_far_as_all(made: cp.Character):
    (club,) = body_solids(made, made.body_id("club"))
    few = few_corners(club)
    brute, ours = (ways() @ mesh_points(made).T).max(axis=1), (ways() @ few.T).max(axis=1)
    assert len(few) < 60 < len(mesh_points(made))
    assert (ours <= brute + 1e-7).all()
    assert float((brute - ours).max()) <= allowed(made)


def test_every_answer_takes_the_same_points_of_a_mesh(made: cp.Character):
    """Balance, pose, spacetime, check and fix keep the same points of the mesh off the ground."""
    body, (club,) = made.body_id("club"), body_solids(made, made.body_id("club"))
    few = {tuple(np.round(p, 6)) for p in few_corners(club)}
    assert {tuple(np.round(p, 6)) for p in body_corners(made, "club").place} == few
    assert {tuple(np.round(p, 6)) for p, _ in spheres_of(made).on(body)} == few
    assert {tuple(np.round(b.position, 6)) for b in spheres_on(made, ["club"])} == few
    assert {tuple(np.round(b.position, 6)) for b in spheres_off_feet(made) if b.body == "club"} == few
    off = corners_off_feet(made)
    assert {tuple(np.round(p, 6)) for p in off.place[off.body == body]} == few
    state = made.state(made.integrate(made.neutral, 0.5 * np.random.default_rng(2).normal(size=made.nv)))
    heights = LowestPoints("club").value(made.snapshot(state))
    at = places_of(made, state.q[None], np.full(len(few), body), np.array([p for p, _ in spheres_of(made).on(body)]))
    assert np.allclose(np.sort(heights), np.sort(at[0, :, 2]))


def test_the_lowest_points_of_many_poses_are_those_of_each(made: cp.Character):
    rng, feature = np.random.default_rng(5), LowestPoints("ball")
    poses = np.stack([made.integrate(made.neutral, 0.5 * rng.normal(size=made.nv)) for _ in range(3)])
    many = BatchKinematics(made, poses)
    each = [made.snapshot(made.state(q)) for q in poses]
    assert np.allclose(feature.value(many), [feature.value(s) for s in each])  # type: ignore[arg-type]
    assert np.allclose(feature.jacobian(many), [feature.jacobian(s) for s in each])  # type: ignore[arg-type]


def test_the_rod_end_and_middle_of_a_mesh_are_those_of_its_box(made: cp.Character):
    body, (club,) = made.body_id("club"), body_solids(made, made.body_id("club"))
    local = mesh_points(made) @ club.frame
    low, high = local.min(axis=0), local.max(axis=0)
    assert np.allclose(middle_of(made, body), club.frame @ (0.5 * (low + high)), atol=1e-7)
    _, middle, longest = np.argsort(high - low)
    assert np.linalg.norm(end_of(made, body) - middle_of(made, body)) == pytest.approx(0.5 * (high - low)[longest])
    assert np.linalg.norm(end_of(made, body)) >= np.linalg.norm(middle_of(made, body))
    rod = main_rod(made, "club")
    assert rod is not None and rod.radius == pytest.approx(0.5 * (high - low)[middle], abs=1e-6)
    assert rod.length + 2.0 * rod.radius == pytest.approx((high - low)[longest], abs=1e-6)
    assert any({a.body, b.body} == {"club", "foot_left"} for a, b in rod_pairs(made))


def test_spheres_stay_within_their_stated_bounds(made: cp.Character):
    for solid in solids_of(made):
        exact = solid.reach(ways())
        if len(solid.corners) == 2 and solid.axes.any():  # a cylinder
            inside, outside = 0.08 * float(solid.half[0]), 1e-9
        elif solid.axes.any():  # an ellipsoid
            inside, outside = 0.04 * float(solid.half.max()), 0.1 * float(solid.half.max())
        else:
            inside, outside = (allowed(made) if len(solid.corners) > 8 else 1e-9), 1e-7
        on = spheres_of(made).on(solid.body)
        ours = np.max([ways() @ place + radius for place, radius in on], axis=0)
        assert float((exact - ours).max()) <= inside and float((ours - exact).max()) <= outside


def test_feet_stand_on_the_rim_of_a_cylinder(made: cp.Character):
    for foot in made.feet:
        points = np.array([p.position for p in foot.points])
        assert len(points) == 4 and np.allclose(points[:, 2], -0.02)
        assert np.allclose(np.hypot(points[:, 0] - 0.03, points[:, 1]), 0.1)


def test_only_the_height_counts_visual_geoms(made: cp.Character):
    plume = made.body_id("plume")
    assert plume not in {s.body for s in solids_of(made)}
    assert plume not in spheres_of(made).bodies and plume not in corners_of(made).body
    assert main_rod(made, "plume") is None and not spheres_on(made, ["plume"])
    assert np.allclose(end_of(made, plume), (0.0, 0.0, 0.51)) and np.allclose(middle_of(made, plume), (0.0, 0.0, 0.25))
    shot = made.snapshot()
    top = shot.position("plume", (0.0, 0.0, 0.5))[2] + 0.01
    assert made.height == pytest.approx(top, abs=1e-4)


def test_where_nothing_collides_everything_is_solid():
    text = """<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1" contype="0" conaffinity="0"/>
      </body></worldbody></mujoco>"""
    character = cp.Character.from_mjcf(text)
    assert len(solids_of(character)) == 1 and main_rod(character, "a") is not None


def test_a_body_held_above_ground_is_above_it(made: cp.Character):
    """The posed mesh and ellipsoid do not sink, by their own exact shapes."""
    for body in ("club", "ball"):
        below = made.snapshot().position(body) * (1.0, 1.0, 0.0) - (0.0, 0.0, 0.1)
        solved = cp.solve_pose(made, [cp.Reach(body, below)], [cp.AboveGround([body])])
        shot = made.snapshot(made.state(solved.q))
        (solid,) = body_solids(made, made.body_id(body))
        lowest = shot.position(body)[2] - float(solid.reach(-shot.rotation(body)[2]))
        assert lowest > -allowed(made) if body == "club" else lowest > -2e-4
