"""Every figure of the library: its size, its stance, its parts, and that it stands."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest
from scipy.spatial import ConvexHull

from counterpoise.character import Character
from counterpoise.character.library import character, characters
from counterpoise.control import HoldPose
from counterpoise.errors import BadValue, UnknownName
from counterpoise.simulate import simulate

PLANAR = ("chain", "planar_biped", "planar")
SIZED = [entry.name for entry in characters() if "height" in entry.parameters]
DEFAULTS = {entry.name: entry.parameters for entry in characters()}


@pytest.mark.parametrize("height_factor, mass_factor", [(1.0, 1.0), (0.8, 0.8), (1.3, 1.3), (0.8, 1.3), (1.3, 0.8)])
@pytest.mark.parametrize("name", SIZED)
def test_a_figure_is_as_tall_and_as_heavy_as_asked(name: str, height_factor: float, mass_factor: float):
    height, mass = DEFAULTS[name]["height"] * height_factor, DEFAULTS[name]["mass"] * mass_factor
    who = character(name, height=height, mass=mass)
    assert who.mass == pytest.approx(mass, rel=0.01)
    assert who.height == pytest.approx(height, rel=0.01)
    soles = who.snapshot().contact_position[:, 2]
    assert np.abs(soles).max() < 1e-3
    assert who.limits.values(who.neutral).max(initial=-np.inf) < 0.0


def test_height_is_what_a_ruler_says(standing: Character):
    """From the ground to the highest vertex of the collision geometry, measured with MuJoCo's rays from above."""
    spec = standing.spec()
    for geom in spec.geoms:
        geom.group = 0
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = standing.neutral
    mujoco.mj_forward(model, data)
    top, down = -np.inf, np.array([0.0, 0.0, -1.0])
    hit = np.zeros(1, np.int32)
    reach = 0.6 * standing.height
    for x in np.linspace(-reach, reach, 91):
        for y in np.linspace(-0.25 * standing.height, 0.25 * standing.height, 51):
            distance = mujoco.mj_ray(model, data, np.array([x, y, 10.0]), down, None, 1, -1, hit)
            if distance >= 0:
                top = max(top, 10.0 - distance)
    assert top == pytest.approx(standing.height, rel=0.01)


def test_it_stands_on_all_its_contact_points(standing: Character):
    assert np.abs(standing.snapshot().contact_position[:, 2]).max() < 1e-3


def test_the_shapes_stand_where_the_contact_points_say(standing: Character):
    """Each contact point is the underside of a colliding shape: a floor at z = 0 touches there and nowhere else."""
    spec = standing.spec()
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], margin=2e-3)
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = standing.neutral
    mujoco.mj_forward(model, data)
    floor = model.geom("floor").id
    touches = np.array([c.pos for c in data.contact if floor in c.geom])
    points = standing.snapshot().contact_position
    apart = np.linalg.norm(touches[:, None, :2] - points[None, :, :2], axis=2)
    assert len(touches) >= len(points)
    assert apart.min(axis=0).max() < 0.005 * standing.height
    assert apart.min(axis=1).max() < 0.005 * standing.height


def test_the_neutral_pose_lies_inside_all_limits(cast: Character):
    worst, value = cast.limits.worst(cast.neutral)
    assert value < 0.0, worst


def test_the_neutral_pose_touches_itself_nowhere(cast: Character):
    data = mujoco.MjData(cast.model)
    data.qpos[:] = cast.neutral
    mujoco.mj_forward(cast.model, data)
    pairs = [tuple(cast.model.body(cast.model.geom_bodyid[g]).name for g in c.geom) for c in data.contact]
    assert not pairs


def test_few_pairs_of_segments_are_excused_from_colliding(cast: Character):
    """Arms do meet the trunk and legs do meet each other: only near relatives may overlap."""
    excused = {tuple(sorted((e.bodyname1, e.bodyname2))) for e in cast.spec().excludes}
    for left, right in cast.pairs:
        if cast.name != "planar_biped" and not left.startswith(("thigh", "upper_arm", "wing")):
            assert tuple(sorted((left, right))) not in excused, (left, right)


def test_the_weight_is_over_the_feet(standing: Character):
    snap = standing.snapshot()
    points, com = snap.contact_position[:, :2], snap.com[:2]
    if standing.name in PLANAR:
        assert points[:, 0].min() + 0.01 < com[0] < points[:, 0].max() - 0.01
        return
    hull = ConvexHull(points)
    assert (hull.equations[:, :2] @ com + hull.equations[:, 2]).max() < -0.01 * standing.height


def test_pelvis_thorax_and_head_have_the_same_names_everywhere(cast: Character):
    if cast.name in PLANAR:
        return
    assert {"pelvis", "thorax", "head"} <= set(cast.segments)
    assert cast.root == "pelvis" and cast.root_dofs == slice(0, 6)


def test_left_and_right_come_in_pairs(cast: Character):
    sided = {s for s in cast.segments if s.endswith(("_left", "_right"))}
    assert sided == {name for pair in cast.pairs for name in pair}
    for left, right in cast.pairs:
        assert left.removesuffix("_left") == right.removesuffix("_right")


def test_a_symmetric_figure_is_symmetric(cast: Character):
    if cast.name == "asymmetric":
        return
    m = cast.model
    for left, right in cast.pairs:
        l, r = m.body(left), m.body(right)
        assert l.mass[0] == pytest.approx(r.mass[0], rel=1e-12)
        assert np.allclose(l.ipos * [1, -1, 1], r.ipos, atol=1e-9)
        assert np.allclose(np.sort(l.inertia), np.sort(r.inertia), rtol=1e-6)
        assert np.allclose(l.pos * [1, -1, 1], r.pos, atol=1e-12)
    snap = cast.snapshot()
    assert abs(snap.com[1]) < 1e-6
    for left, right in cast.pairs:
        assert np.allclose(snap.position(left) * [1, -1, 1], snap.position(right), atol=1e-6)


# -- the human ----------------------------------------------------------------------------------------------------
SIDED = ("upper_arm", "forearm", "hand", "thigh", "shank", "foot", "toes")
WINTER = {  # mass / M, CoM from the proximal end / L, gyration radius / L; L / H
    "hand": (0.006, 0.506, 0.297, 0.108),
    "forearm": (0.016, 0.430, 0.303, 0.146),
    "upper_arm": (0.028, 0.436, 0.322, 0.186),
    "shank": (0.0465, 0.433, 0.302, 0.246),
    "thigh": (0.100, 0.433, 0.323, 0.245),
}
TRUNK = {"head": 0.081, "thorax": 0.216, "abdomen": 0.139, "pelvis": 0.142}


def test_the_human_has_forty_one_degrees_of_freedom_and_the_segments_an_animator_names(human: Character):
    assert human.nv == 41
    wanted = {"pelvis", "abdomen", "thorax", "head"} | {f"{s}_{side}" for s in SIDED for side in ("left", "right")}
    assert set(human.segments) == wanted
    assert {f.name for f in human.feet} == {"foot_left", "foot_right"}
    assert set(human.hands) == {"hand_left", "hand_right"}


@pytest.mark.parametrize("height, mass", [(1.75, 73.0), (1.50, 50.0), (2.0, 110.0)])
def test_the_humans_segments_follow_winters_tables(height: float, mass: float):
    who = character("human", height=height, mass=mass)
    m = who.model
    total = who.mass
    for segment, fraction in TRUNK.items():
        assert m.body(segment).mass[0] / total == pytest.approx(fraction, rel=0.005)
    for segment, (fraction, com, gyration, length) in WINTER.items():
        for side in ("left", "right"):
            body = m.body(f"{segment}_{side}")
            assert body.mass[0] / total == pytest.approx(fraction, rel=0.005)
            child = {
                "hand": None,
                "forearm": "hand",
                "upper_arm": "forearm",
                "shank": "foot",
                "thigh": "shank",
            }[segment]
            L = length * height if child is None else float(np.linalg.norm(m.body(f"{child}_{side}").pos))
            assert pytest.approx(length * height, rel=0.01) == L
            assert np.allclose(body.ipos, [0, 0, -com * L], atol=0.005 * L)
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, body.iquat)
            inertia = R.reshape(3, 3) @ np.diag(body.inertia) @ R.reshape(3, 3).T
            across = np.sqrt(0.5 * (inertia[0, 0] + inertia[1, 1]) / body.mass[0])
            assert across / L == pytest.approx(gyration, rel=0.01)
            assert inertia[2, 2] < 0.5 * inertia[0, 0]  # a limb is long: it turns most easily about its bone
    for side in ("left", "right"):
        foot = m.body(f"foot_{side}").mass[0] + m.body(f"toes_{side}").mass[0]
        assert foot / total == pytest.approx(0.0145, rel=0.005)


def test_every_inertia_is_one_a_body_can_have(cast: Character):
    for b in range(1, cast.model.nbody):
        a, c, d = np.sort(cast.model.body_inertia[b])
        assert a > 0.0 and a + c >= d * (1 - 1e-9)


def test_the_humans_joints_are_as_strong_as_asked(human: Character):
    strength = {"hip": 250.0, "knee": 250.0, "shoulder": 100.0, "elbow": 70.0}
    for joint, limit in strength.items():
        for side in ("left", "right"):
            assert np.all(human.torque_limit[human.joint(f"{joint}_{side}").dofs] == limit)
    assert np.all(human.torque_limit[human.joint("waist").dofs] == 250.0)
    for side in ("left", "right"):
        assert human.torque_limit[human.joint(f"ankle_{side}").dofs.start] == 180.0  # pitch
    assert np.all(human.torque_limit[:6] == 0.0)


@pytest.mark.parametrize("name", SIZED)
def test_a_figure_remembers_what_was_asked_for(name: str):
    asked = {"height": 1.1 * DEFAULTS[name]["height"], "mass": 0.9 * DEFAULTS[name]["mass"]}
    assert dict(character(name, **asked).parameters) == asked


# -- planar figures -----------------------------------------------------------------------------------------------
def test_the_planar_biped_is_de_lasas():
    """Thesis 2011, table 3.1: length [m], mass [kg], CoM (x, z) [m], inertia about it [kg m^2]."""
    table = {
        "trunk": (0.846, 55.47, (0.00, 0.325), 3.670),
        "thigh": (0.441, 8.18, (0.00, -0.191), 0.166),
        "shank": (0.443, 3.81, (0.00, -0.191), 0.068),
        "foot": (0.274, 1.19, (0.07, -0.035), 0.001),
    }
    who = character("planar_biped")
    m = who.model
    assert who.nv == 9 and len(who.segments) == 7
    assert who.root_dofs == slice(0, 3)
    assert who.mass == pytest.approx(81.82, rel=1e-3)
    assert who.height == pytest.approx(1.80, rel=0.01)
    for segment, (_, mass, (x, z), inertia) in table.items():
        for name in ("trunk",) if segment == "trunk" else (f"{segment}_left", f"{segment}_right"):
            body = m.body(name)
            assert body.mass[0] == pytest.approx(mass, rel=1e-3)
            assert np.allclose(body.ipos, [x, 0.0, z], atol=1e-6)
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, body.iquat)
            about = R.reshape(3, 3) @ np.diag(body.inertia) @ R.reshape(3, 3).T
            assert about[1, 1] == pytest.approx(inertia, rel=1e-6)  # about y, out of the plane
    assert np.linalg.norm(m.body("shank_left").pos) == pytest.approx(0.441)
    assert np.linalg.norm(m.body("foot_left").pos) == pytest.approx(0.443)
    assert np.all(m.jnt_axis[m.jnt_type == int(mujoco.mjtJoint.mjJNT_HINGE)] == [0, 1, 0])


@pytest.mark.parametrize("links", [1, 2, 7])
@pytest.mark.parametrize("floating", [False, True])
def test_a_chain_has_the_links_asked_for(links: int, floating: bool):
    who = character("chain", links=links, length=0.5, link_mass=3.0, floating=floating)
    assert len(who.segments) == links
    assert who.nv == links + (2 if floating else 0)
    assert who.root_dofs == slice(0, 3 if floating else 0)
    assert who.mass == pytest.approx(3.0 * links)
    assert who.height == pytest.approx(0.5 * links, rel=0.01)
    assert np.all(who.torque_limit[who.root_dofs] == 0.0)
    assert np.all(who.torque_limit[who.root_dofs.stop :] > 0.0)
    assert not who.feet


def test_chain_link_inertia_is_that_of_a_thin_rod():
    who = character("chain")
    assert who.model.body("link1").inertia.max() == pytest.approx(10.0 * 0.7**2 / 12)
    assert who.model.dof_damping.max() == 0.0 and who.model.dof_armature.max() == 0.0


def test_the_empty_planar_figure_is_there_and_cannot_be_simulated():
    who = character("planar")
    assert who.nv == 0 and who.segments == () and who.feet == () and who.mass == 0.0
    Character.from_mjcf(who.to_mjcf())
    with pytest.raises(BadValue, match="nothing that moves"):
        simulate(who, None, 0.1)


# -- text ---------------------------------------------------------------------------------------------------------
def test_plain_mujoco_loads_the_text(cast: Character):
    model = mujoco.MjModel.from_xml_string(cast.to_mjcf())
    for size in ("nq", "nv", "nbody", "ngeom", "ntendon", "nexclude"):
        assert getattr(model, size) == getattr(cast.model, size)
    for field in (
        "body_mass",
        "body_ipos",
        "body_inertia",
        "body_pos",
        "jnt_range",
        "dof_damping",
        "dof_armature",
    ):
        assert np.array_equal(getattr(model, field), getattr(cast.model, field)), field  # to the last bit


def test_text_and_back_is_the_same_figure(cast: Character):
    again = Character.from_mjcf(cast.to_mjcf())
    assert again.name == cast.name and again.parameters == cast.parameters
    assert np.array_equal(again.neutral, cast.neutral)
    assert again.roles == cast.roles and again.joints == cast.joints
    assert np.array_equal(again.torque_limit, cast.torque_limit)
    assert again.limits.names == cast.limits.names
    q = cast.integrate(cast.neutral, 0.7 * np.random.default_rng(1).normal(size=cast.nv))
    assert np.array_equal(again.limits.values(q), cast.limits.values(q))
    assert np.array_equal(again.snapshot().M, cast.snapshot().M)
    assert again.to_mjcf() == cast.to_mjcf()


# -- standing -----------------------------------------------------------------------------------------------------
def test_holding_its_pose_every_figure_stands_quietly(standing: Character):
    recording = simulate(standing, HoldPose(), 2.0)
    assert recording.status == "finished"
    contacts = recording.contacts
    lift = np.array([contacts.force[contacts.at(k)][:, 2].sum() for k in range(len(recording) - 1)])
    weight = 9.81 * standing.mass
    assert lift[-500:].mean() == pytest.approx(weight, rel=0.01)
    assert lift[-500:].std() < 0.01 * weight
    before, after = standing.snapshot(), standing.snapshot(recording.state())
    assert np.linalg.norm(after.com - before.com) < 0.01 * standing.height
    for k in range(0, len(recording), 50):
        soles = standing.snapshot(recording.state(k)).contact_position[:, 2]
        assert soles.min() > -1e-3 and soles.max() < 1e-3


# -- asking for what is not there -----------------------------------------------------------------------------------
def test_the_library_says_what_it_has():
    with pytest.raises(UnknownName, match="did you mean 'human'"):
        character("humna")
    with pytest.raises(UnknownName, match="did you mean 'height'"):
        character("human", heigth=1.8)
    for bad in (0.0, -1.0, np.nan, np.inf, "tall", None, True):
        with pytest.raises(BadValue):
            character("human", height=bad)
    with pytest.raises(BadValue):
        character("chain", links=2.5)
    with pytest.raises(UnknownName, match="did you mean 'foot_left'"):
        character("human").body_id("l_foot")
