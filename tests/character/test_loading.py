"""Anyone's body: MJCF and URDF files, roles told and guessed, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.character.loading import load_character
from counterpoise.control import HoldPose
from counterpoise.errors import BadFile, BadValue, CounterpoiseError, MissingRole, UnknownName
from counterpoise.simulate import replay, simulate


def leg(prefix: str, suffix: str, y: float, named: bool = True) -> str:
    """A leg with a ball hip, a knee and an ankle; joints without names when `named` is false."""
    name = (lambda n: f'name="{prefix}{n}{suffix}"') if named else (lambda n: "")
    return f"""
      <body name="{prefix}thigh{suffix}" pos="0 {y} -0.1">
        <joint {name("hip")} type="ball" damping="2"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.06" mass="8"/>
        <body name="{prefix}shin{suffix}" pos="0 0 -0.4">
          <joint {name("knee")} axis="0 1 0" range="0 150" damping="1" actuatorfrcrange="-120 120"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.045" mass="4"/>
          <body name="{prefix}foot{suffix}" pos="0 0 -0.4">
            <joint {name("ankle_pitch")} axis="0 1 0" range="-45 45" damping="1"/>
            <joint {name("ankle_roll")} axis="1 0 0" range="-30 30" damping="1"/>
            <geom type="box" pos="0.05 0 -0.04" size="0.12 0.05 0.02" mass="1"/>
          </body>
        </body>
      </body>"""


def biped(left: tuple[str, str], right: tuple[str, str], named: bool = True, more: str = "") -> str:
    return f"""<mujoco model="stranger">
  <compiler angle="degree"/>
  <option timestep="0.005" gravity="0 0 -3"/>
  <worldbody>
    <light pos="0 0 4"/>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="torso" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.1 0.15 0.25" pos="0 0 0.15" mass="30"/>
      {leg(*left, 0.1, named)}{leg(*right, -0.1, named)}
    </body>
    {more}
  </worldbody>
  <actuator>{'<motor joint="' + left[0] + "knee" + left[1] + '"/>' if named else ""}</actuator>
  <sensor><subtreecom body="torso"/></sensor>
</mujoco>"""


URDF = """<?xml version="1.0"?>
<robot name="boxy">
  <link name="base_link"><inertial><mass value="10"/>
      <inertia ixx="0.2" iyy="0.2" izz="0.2" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.2 0.3 0.4"/></geometry></collision></link>
  {legs}
</robot>"""
URDF_LEG = """
  <link name="{s}_upper"><inertial><origin xyz="0 0 -0.2"/><mass value="3"/>
      <inertia ixx="0.04" iyy="0.04" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 -0.2"/><geometry><cylinder radius="0.05" length="0.4"/></geometry></collision></link>
  <joint name="{s}_hip" type="revolute"><parent link="base_link"/><child link="{s}_upper"/><origin xyz="0 {y} -0.2"/>
    <axis xyz="0 1 0"/><limit lower="-1.5" upper="1.0" effort="90" velocity="10"/></joint>
  <link name="{s}_foot"><inertial><mass value="1"/>
      <inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><geometry><box size="0.24 0.1 0.04"/></geometry></collision></link>
  <joint name="{s}_ankle" type="revolute"><parent link="{s}_upper"/><child link="{s}_foot"/><origin xyz="0.04 0 -0.42"/>
    <axis xyz="0 1 0"/><limit lower="-0.8" upper="0.8" effort="60" velocity="10"/></joint>"""


def urdf() -> str:
    return URDF.format(legs="".join(URDF_LEG.format(s=s, y=y) for s, y in (("left", 0.12), ("right", -0.12))))


def write(folder: Path, text: str, name: str = "body.xml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "left, right", [(("l_", ""), ("r_", "")), (("Left", ""), ("Right", "")), (("", "_left"), ("", "_right"))]
)
def test_a_foreign_biped_has_its_parts_found(left: tuple[str, str], right: tuple[str, str], tmp_path: Path):
    who = load_character(write(tmp_path, biped(left, right)))
    foot = [f"{left[0]}foot{left[1]}", f"{right[0]}foot{right[1]}"]
    assert [f.body for f in who.feet] == foot
    assert [f.side for f in who.feet] == ["left", "right"]
    assert who.root == "torso" and who.root_dofs == slice(0, 6)
    assert (foot[0], foot[1]) in who.pairs and len(who.pairs) == 3
    assert who.name == "stranger" and who.mass == pytest.approx(30 + 2 * 13)
    assert who.nv == 6 + 2 * (3 + 1 + 2)
    assert any("feet by name" in g for g in who.roles.guessed)
    assert all(len(f.points) == 4 for f in who.feet)


def test_it_stands_and_obeys_the_house_physics(tmp_path: Path):
    who = load_character(write(tmp_path, biped(("l_", ""), ("r_", ""))))
    assert np.abs(who.snapshot().contact_position[:, 2]).max() < 1e-3
    assert who.limits.values(who.neutral).max() <= 1e-9
    assert who.model.opt.timestep == 0.001 and who.model.opt.gravity[2] == -9.81
    assert who.model.nu == 0 and who.model.nsensor == 0 and not np.any(who.model.geom_bodyid == 0)
    assert who.torque_limit[who.joint("l_knee").dofs] == 120.0  # the file's own
    knee = who.joint("l_knee").qpos.start
    names = dict(zip(who.limits.names, who.limits.values(who.neutral), strict=True))
    assert names["l_knee.high"] == pytest.approx(who.neutral[knee] - np.radians(150), abs=1e-5)
    recording = simulate(who, HoldPose(), 1.0)
    lift = [recording.contacts.force[recording.contacts.at(k)][:, 2].sum() for k in range(900, 1000)]
    assert np.mean(lift) == pytest.approx(9.81 * who.mass, rel=0.02)
    assert replay(recording).worst_error == 0.0


def test_joints_without_names_get_some(tmp_path: Path):
    who = load_character(write(tmp_path, biped(("l_", ""), ("r_", ""), named=False)))
    names = who.joint_names
    assert len(set(names)) == len(names) and all(names)
    assert who.nv == 18 and len(who.feet) == 2
    assert all(who.joint(name).name == name for name in names)
    assert len(set(who.limits.names)) == len(who.limits.names) == 12
    again = Character.from_mjcf(who.to_mjcf())
    assert again.joint_names == names and np.array_equal(again.neutral, who.neutral)


def test_bodies_without_names_get_some(tmp_path: Path):
    text = """<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/>
      <body pos="0 0.2 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/></body>
      <body pos="0 -0.2 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -0.5" size="0.03"/></body>
    </body></worldbody></mujoco>"""
    who = load_character(write(tmp_path, text))
    assert len(set(who.segments)) == 3 and all(who.segments)
    assert len(who.feet) == 2 and "lowest" in " ".join(who.roles.guessed)
    assert set(who.joint_names) == {j.name for j in who.joints} and len(who.joints) == 3


def test_roles_told_are_not_guessed(tmp_path: Path):
    path = write(tmp_path, biped(("l_", ""), ("r_", "")))
    who = load_character(path, feet=["l_shin"], hands=["r_foot"], root="torso", name="odd")
    assert [f.body for f in who.feet] == ["l_shin"] and who.hands == ("r_foot",) and who.name == "odd"
    assert not who.roles.guessed
    assert load_character(path, feet=[]).feet == ()
    with pytest.raises(UnknownName, match="did you mean 'l_foot'"):
        load_character(path, feet=["foot_left"])
    with pytest.raises(UnknownName, match="did you mean 'torso'"):
        load_character(path, root="torsoo")


def test_one_figure_is_taken_out_of_a_world(tmp_path: Path):
    box = '<body name="crate" pos="3 0 1"><freejoint/><geom type="box" size="0.2 0.2 0.2"/></body>'
    path = write(tmp_path, biped(("l_", ""), ("r_", ""), more=box))
    assert "crate" not in load_character(path).segments
    assert load_character(path).root == "torso"
    assert load_character(path, root="crate").segments == ("crate",)


def test_a_urdf_of_boxes_and_cylinders(tmp_path: Path):
    who = load_character(write(tmp_path, urdf(), "robot.urdf"))
    assert who.name == "boxy" and who.root_dofs == slice(0, 6)
    assert who.nv == 6 + 4 and who.mass == pytest.approx(10 + 2 * 4)
    assert [f.body for f in who.feet] == ["left_foot", "right_foot"]
    assert np.abs(who.snapshot().contact_position[:, 2]).max() < 1e-3
    assert who.torque_limit[who.joint("left_hip").dofs] == pytest.approx(90.0)
    fixed = load_character(tmp_path / "robot.urdf", floating=False)
    assert fixed.nv == 4 and not fixed.floating
    recording = simulate(who, HoldPose(), 0.5)
    assert recording.status == "finished"


def test_a_foreign_body_whose_mass_comes_from_its_shapes_rescales_like_any_other(tmp_path: Path):
    text = biped(("l_", ""), ("r_", "")).replace('mass="4"', "")  # the shins take theirs from their volume
    who = load_character(write(tmp_path, text))
    shin = who.model.body("l_shin").mass[0]
    assert who.rescaled(masses={"l_shin": 2.0}).mass == pytest.approx(who.mass + shin, rel=1e-4)
    longer = who.rescaled(lengths={"l_shin": 1.5})
    assert longer.mass == pytest.approx(who.mass, rel=1e-4)
    assert np.allclose(longer.model.body("l_foot").pos, 1.5 * who.model.body("l_foot").pos)
    ratio = longer.model.body("l_shin").inertia / who.model.body("l_shin").inertia
    assert np.allclose(ratio, 1.5**2, rtol=1e-3)


def test_a_text_and_a_file_are_read_alike(tmp_path: Path):
    text = biped(("l_", ""), ("r_", ""))
    a, b = Character.from_mjcf(text), load_character(write(tmp_path, text))
    assert a.roles == b.roles and np.array_equal(a.neutral, b.neutral)


def test_what_we_export_loads_with_all_its_roles(standing: Character, tmp_path: Path):
    who = load_character(write(tmp_path, standing.to_mjcf()))
    assert who.roles == standing.roles and who.limits.names == standing.limits.names
    assert np.array_equal(who.neutral, standing.neutral)
    assert np.array_equal(who.torque_limit, standing.torque_limit)


def test_a_mesh_is_kept_inside(tmp_path: Path):
    cube = "".join(f"v {x} {y} {z}\n" for x in (-0.1, 0.1) for y in (-0.05, 0.05) for z in (-0.03, 0.03))
    corners = "124 143 578 586 156 162 348 387 137 175 268 284"
    faces = "".join(f"f {a} {b} {c}\n" for a, b, c in corners.split())
    write(tmp_path, cube + faces, "sole.obj")
    text = """<mujoco><asset><mesh name="sole" file="sole.obj"/></asset><worldbody>
      <body name="trunk" pos="0 0 1"><freejoint/><geom size="0.2"/>
        <body name="foot" pos="0 0 -0.6"><joint name="ankle" axis="0 1 0"/><geom type="mesh" mesh="sole"/></body></body>
    </worldbody></mujoco>"""
    who = load_character(write(tmp_path, text))
    (tmp_path / "sole.obj").unlink()
    model = mujoco.MjModel.from_xml_string(who.to_mjcf())
    assert model.nmesh == 1
    assert np.abs(who.snapshot().contact_position[:, 2]).max() < 1e-3
    assert who.rescaled(lengths={"foot": 2.0}).mass == pytest.approx(who.mass, rel=1e-4)


# -- files that are none ----------------------------------------------------------------------------------------------
def refused(path: Path, **told: object) -> str:
    with pytest.raises(BadFile) as caught:
        load_character(path, **told)  # type: ignore[arg-type]
    message = str(caught.value)
    assert "\n" not in message and path.name in message
    return message


def test_a_body_cut_short_anywhere_is_refused(tmp_path: Path):
    for text, name in ((biped(("l_", ""), ("r_", "")), "b.xml"), (urdf(), "b.urdf")):
        for cut in np.linspace(0, len(text) - 12, 40).astype(int):
            refused(write(tmp_path, text[:cut], name))


@pytest.mark.parametrize(
    "text",
    [
        "", "hello", "{}", "<html></html>", "<mujoco/>", "<mujoco><worldbody/></mujoco>", "<robot name='x'></robot>",
        "<robot name='x'><joint name='j' type='fixed'/></robot>",
        '<mujoco><worldbody><body name="a"><geom size="1"/></body></worldbody></mujoco>',  # nothing moves
        '<mujoco><worldbody><body name="a"><freejoint/><geom size="-1"/></body></worldbody></mujoco>',
        '<mujoco><worldbody><body name="a"><freejoint/><geom size="nan"/></body></worldbody></mujoco>',
        '<mujoco><worldbody><body name="a"><freejoint/></body></worldbody></mujoco>',  # no mass
        '<mujoco><worldbody><body name="a"><freejoint/><geom size="1"/><body name="a"><geom size="1"/></body></body>'
        "</worldbody></mujoco>",
        '<mujoco><worldbody><body name="a"><freejoint/><geom type="mesh" mesh="gone"/></body></worldbody></mujoco>',
        '<mujoco><asset><mesh name="m" file="gone.obj"/></asset><worldbody><body name="a"><freejoint/>'
        '<geom type="mesh" mesh="m"/></body></worldbody></mujoco>',
        '<mujoco><include file="gone.xml"/></mujoco>',
        '<!DOCTYPE m [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]><mujoco>&b;</mujoco>',
    ],
)  # fmt: skip
def test_texts_that_are_no_bodies_are_refused(text: str, tmp_path: Path):
    refused(write(tmp_path, text))


def test_negative_masses_are_refused(tmp_path: Path):
    text = biped(("l_", ""), ("r_", ""))
    refused(write(tmp_path, text.replace('mass="4"', 'mass="-4"')))
    refused(write(tmp_path, urdf().replace('<mass value="3"/>', '<mass value="-3"/>'), "r.urdf"))


def test_an_included_file_is_read_once_and_kept(tmp_path: Path):
    whole = biped(("l_", ""), ("r_", ""))
    one_leg = leg("r_", "", -0.1)
    write(tmp_path, f"<mujoco>{one_leg}</mujoco>", "leg.xml")
    path = write(tmp_path, whole.replace(one_leg, '<include file="leg.xml"/>'))
    who = load_character(path)
    (tmp_path / "leg.xml").unlink()
    assert who.nv == 18 and Character.from_mjcf(who.to_mjcf()).nv == 18
    write(tmp_path, '<mujoco><include file="loop.xml"/></mujoco>', "loop.xml")
    refused(tmp_path / "loop.xml")


def test_bytes_folders_and_nothing_are_refused(tmp_path: Path):
    (tmp_path / "noise.xml").write_bytes(bytes(range(256)) * 20)
    (tmp_path / "folder.xml").mkdir()
    for name in ("noise.xml", "folder.xml", "missing.xml"):
        refused(tmp_path / name)


@pytest.mark.parametrize("text", ["", "<mujoco", "<mujoco/>", "<robot name='x'/>", "nonsense"])
def test_texts_are_refused_too(text: str):
    with pytest.raises(CounterpoiseError):
        Character.from_mjcf(text)


@pytest.mark.parametrize("roles", ["", "{", "{}", "[]", "null", "7", '{"format": 2}', '{"format": 1}', "[" * 50_000])
def test_damaged_roles_are_refused(roles: str):
    text = character("chain").to_mjcf()
    start, end = text.index("<![CDATA[") + len("<![CDATA["), text.index("]]>")
    with pytest.raises((BadFile, BadValue)):
        Character.from_mjcf(text[:start] + roles + text[end:])


@pytest.mark.parametrize(
    "key, value",
    [("neutral", [0.0]), ("neutral", "up"), ("neutral", [0.0, float("nan"), 0.0, 0.0]), ("feet", 7), ("feet", [{}]),
     ("torque", {"joint1": "strong"}), ("torque", 5), ("torque", {"joint1": [1.0, 2.0, 3.0]}), ("name", None),
     ("parameters", 3), ("hands", 1)],
)  # fmt: skip
def test_roles_that_do_not_fit_are_refused(key: str, value: object):
    text = character("chain").to_mjcf()
    start, end = text.index("<![CDATA[") + len("<![CDATA["), text.index("]]>")
    roles = {**json.loads(text[start:end]), key: value}
    if key == "name":
        roles.pop("name")
    with pytest.raises((BadFile, BadValue)):
        Character.from_mjcf(text[:start] + json.dumps(roles) + text[end:])


# -- what a body lacks ------------------------------------------------------------------------------------------------
def test_a_body_without_feet_says_so_where_feet_are_needed(tmp_path: Path):
    text = """<mujoco model="arm"><worldbody><body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/></body></worldbody></mujoco>"""
    who = load_character(write(tmp_path, text), feet=[])
    assert who.feet == () and not who.floating
    with pytest.raises(MissingRole, match="standing needs feet, and 'arm' has none"):
        who.need_feet("standing")
    character("human").need_feet("standing")
    simulate(who, HoldPose(), 0.1)  # holding a pose needs none


def test_joints_of_two_sides_never_share_a_name(tmp_path: Path):
    body = load_character(write(tmp_path, biped(("", "_left"), ("", "_right"))))
    assert len(set(body.joint_names)) == len(body.joint_names)
    assert "ankle_roll_left" in body.joint_names
    assert "l_ankle" in load_character(write(tmp_path, biped(("l_", ""), ("r_", "")))).joint_names  # a universal
