"""Files of robots as people write them: keyframes with controls, bodies inside the floor, odd feet, meshes."""

from __future__ import annotations

import struct
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image

from counterpoise import measure
from counterpoise.character import Character
from counterpoise.character.loading import load_character
from counterpoise.control import HoldPose
from counterpoise.control.stand import Stand
from counterpoise.simulate import Recording, simulate

BOX = '<geom type="box" pos="0.05 0 -0.04" size="0.12 0.05 0.02" mass="1"/>'
CORNERS = np.array([[x, y, z] for x in (-0.07, 0.17) for y in (-0.05, 0.05) for z in (-0.06, -0.02)])
FACES = [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
         [1, 5, 7], [1, 7, 3]]  # fmt: skip


def leg(side: str, y: float, foot: str, height: float, tilt: str = "") -> str:
    return f"""<body name="{side}_thigh" pos="0 {y} {height}">
        <joint name="{side}_hip_yaw" axis="0 0 1" range="-40 40" damping="1"/>
        <joint name="{side}_hip_roll" axis="1 0 0" range="-40 40" damping="1"/>
        <joint name="{side}_hip_pitch" axis="0 1 0" range="-100 60" damping="1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.4" size="0.05" mass="6"/>
        <body name="{side}_shin" pos="0 0 -0.4">
          <joint name="{side}_knee" axis="0 1 0" range="-2 140" damping="1"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.35" size="0.04" mass="3"/>
          <body name="{side}_foot" pos="0 0 -0.4" {tilt}>
            <joint name="{side}_ankle_pitch" axis="0 1 0" range="-45 45" damping="1"/>
            <joint name="{side}_ankle_roll" axis="1 0 0" range="-30 30" damping="1"/>
            {foot}</body></body></body>"""


def robot(
    foot: str = BOX, *, z: float = 1.0, asset: str = "", more: str = "", turn: str = "", tilt: str = "",
    hips: float = 0.1, top: str = "",
) -> str:  # fmt: skip
    joints = [f"{s}_{j}" for s in ("left", "right")
              for j in ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")]  # fmt: skip
    motors = "".join(f'<motor joint="{j}" gear="200" ctrlrange="-1 1"/>' for j in joints)
    legs = leg("left", hips, foot, -0.1, tilt) + leg("right", -hips, foot, -0.1, tilt)
    return f"""<mujoco model="walker"><compiler angle="degree" {top}/>{asset}<worldbody>
      <geom name="floor" type="plane" size="5 5 0.1"/>
      <body name="torso" pos="0 0 {z}" {turn}><freejoint name="base"/>
        <geom type="box" size="0.08 0.12 0.2" pos="0 0 0.15" mass="20"/>{legs}</body>
      </worldbody><actuator>{motors}</actuator>{more}</mujoco>"""


def load(folder: Path, text: str) -> Character:
    path = folder / "walker.xml"
    path.write_text(text)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return load_character(path)


def knees(body: Character) -> list[float]:
    return [float(body.neutral[body.joint(f"{side}_knee").qpos][0]) for side in ("left", "right")]


def key(name: str, knee: float) -> str:
    """A keyframe on bent knees, with controls and activations."""
    one = f"0 0 {-knee / 2} {knee} {-knee / 2} 0"
    label = f'name="{name}"' if name else ""
    return f'<key {label} qpos="0 0 3 1 0 0 0 {one} {one}" qvel="{"0 " * 18}" ctrl="{"0.1 " * 12}"/>'


# -- keyframes and the floor ------------------------------------------------------------------------------------------
def test_keyframes_with_controls_stay_when_actuators_go(tmp_path: Path):
    frames = f"<keyframe>{key('low', 1.0)}{key('home', 0.4)}</keyframe>"
    body = load(tmp_path, robot(more=frames))
    assert body.model.nkey == 2 and body.model.nu == 0
    assert body.model.key("low").qpos[10] == pytest.approx(1.0)
    assert knees(body) == pytest.approx([0.4, 0.4], abs=0.05)  # "home" is the stance, not the first
    assert any("stance from keyframe 'home'" in words for words in body.roles.guessed)
    again = Character.from_mjcf(body.to_mjcf())
    assert again.model.nkey == 2 and np.array_equal(again.neutral, body.neutral)
    assert body.rescaled(lengths={"all": 1.1}).model.nkey == 2
    assert body.without_segment("right_thigh", branch=True).nv == 12


@pytest.mark.parametrize("names, knee", [(("squat", "stand"), 0.5), (("", "x"), 0.3)])
def test_the_home_pose_is_home_then_stand_then_the_first(names: tuple[str, str], knee: float, tmp_path: Path):
    frames = f"<keyframe>{key(names[0], 0.3)}{key(names[1], 0.5)}</keyframe>"
    assert knees(load(tmp_path, robot(more=frames))) == pytest.approx([knee, knee], abs=0.05)


def test_keyframes_of_a_world_with_other_things_go_by_joint(tmp_path: Path):
    crate = '<body name="crate" pos="3 0 1"><freejoint/><geom type="box" size="0.2 0.2 0.2"/></body>'
    pose = "3 0 1 1 0 0 0 " + key("", 0.6).split('qpos="')[1].split('"')[0]
    text = robot(more=f'<keyframe><key qpos="{pose}" ctrl="{"0 " * 12}"/></keyframe>')
    text = text.replace('<body name="torso"', crate + '<body name="torso"')
    body = load(tmp_path, text)
    assert "crate" not in body.segments and knees(body) == pytest.approx([0.6, 0.6], abs=0.05)


@pytest.mark.parametrize("z", [0.3, 0.95, 2.0])
def test_a_body_inside_or_above_the_floor_is_set_on_it(z: float, tmp_path: Path):
    body = load(tmp_path, robot(z=z))
    assert body.snapshot().contact_position[:, 2] == pytest.approx(np.zeros(8), abs=1e-4)
    recording = simulate(body, HoldPose(), 0.05)
    assert max(np.abs(recording.contacts.force).max(initial=0.0), 1.0) < 3.0 * body.weight


def test_limbs_that_overlap_in_the_home_pose_do_not_push_each_other(tmp_path: Path):
    body = load(tmp_path, robot(hips=0.04))  # the thighs, shins and feet overlap
    recording = simulate(body, HoldPose(), 0.05)
    pairs = {tuple(sorted((e.bodyname1, e.bodyname2))) for e in body.spec().excludes}
    assert ("left_thigh", "right_thigh") in pairs and ("left_foot", "right_foot") in pairs
    assert np.abs(recording.velocities()).max() < 2.0


def test_a_body_that_faces_elsewhere_is_turned_to_face_along_x(tmp_path: Path):
    plain = load(tmp_path, robot())
    turned = load(tmp_path, robot(turn='euler="0 0 -90"'))
    assert turned.snapshot().contact_position == pytest.approx(plain.snapshot().contact_position, abs=1e-3)
    assert any("turned by 90 degrees" in words for words in turned.roles.guessed)
    assert not any("turned" in words for words in plain.roles.guessed)


# -- feet -------------------------------------------------------------------------------------------------------------
def test_a_foot_contains_its_toes(tmp_path: Path):
    toes = """<geom type="box" pos="0.03 0 -0.04" size="0.10 0.05 0.02" mass="1"/>
      <body name="{}_toes" pos="0.13 0 -0.04"><joint name="{}_toe" axis="0 1 0" range="-60 30" damping="0.5"/>
        <geom type="box" pos="0.03 0 -0.005" size="0.03 0.05 0.01" mass="0.2"/></body>"""
    text = robot(foot="FOOT")
    for side in ("left", "right"):
        text = text.replace("FOOT", toes.replace("{}", side), 1)
    text = text.replace("</actuator>", '<motor joint="left_toe" gear="20" ctrlrange="-1 1"/><motor joint="right_toe" '
                        'gear="20" ctrlrange="-1 1"/></actuator>')  # fmt: skip
    body = load(tmp_path, text)
    assert [foot.body for foot in body.feet] == ["left_foot", "right_foot"]
    assert {p.body for p in body.feet[0].points} == {"left_foot", "left_toes"}
    places = body.snapshot().contact_position
    assert np.abs(places[:, 2]).max() < 1e-3
    assert np.ptp(places[:, 0]) == pytest.approx(0.26, abs=0.005)  # heel to tip


def test_feet_of_spheres_capsules_and_boxes_have_their_outer_corners(tmp_path: Path):
    balls = "".join(
        f'<geom size="0.01" pos="{x} {y} -0.05" mass="0.1"/>' for x in (-0.05, 0.0, 0.12) for y in (-0.03, 0.03)
    )
    rods = "".join(
        f'<geom type="capsule" fromto="-0.05 {y} -0.05 0.12 {y} -0.05" size="0.01" mass="0.3"/>' for y in (-0.03, 0.03)
    )
    bricks = "".join(
        f'<geom type="box" pos="{x} 0 -0.05" size="0.02 0.03 0.01" mass="0.3"/>' for x in (-0.03, 0.03, 0.10)
    )
    for foot in (balls, rods, bricks):
        body = load(tmp_path, robot(foot))
        points = np.array([p.position for p in body.feet[0].points])
        assert len(points) == 4 and points[:, 2] == pytest.approx(np.full(4, -0.06), abs=1e-6)
        assert points[:, :2].min(axis=0) == pytest.approx([-0.05, -0.03], abs=1e-6)
        assert points[:, :2].max(axis=0) == pytest.approx([0.12, 0.03], abs=1e-6)


@pytest.mark.parametrize("tilt", ['euler="0 20 0"', 'euler="15 0 0"', 'euler="-10 -25 0"'])
def test_a_foot_that_hangs_at_an_angle_in_the_file_stands_on_its_whole_sole(tilt: str, tmp_path: Path):
    body = load(tmp_path, robot(tilt=tilt))
    points = np.array([p.position for p in body.feet[0].points])
    assert len(points) == 4 and points[:, 2] == pytest.approx(np.full(4, -0.06), abs=1e-6)
    assert np.abs(body.snapshot().contact_position[:, 2]).max() < 1e-3


# -- meshes -----------------------------------------------------------------------------------------------------------
def inline_mesh() -> str:
    vertices = " ".join(f"{x:g}" for x in CORNERS.ravel())
    return f'<asset><mesh name="sole" vertex="{vertices}"/></asset>'


def write_stl(path: Path) -> None:
    """A binary STL of the box, in millimetres."""
    data = b"\0" * 80 + struct.pack("<I", len(FACES))
    for face in FACES:
        data += struct.pack("<12fH", 0, 0, 0, *(1000.0 * CORNERS[face]).ravel(), 0)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)


MESH = '<geom type="mesh" mesh="sole" mass="1"/>'


def test_a_mesh_foot_stands_as_its_copy_without_meshes(tmp_path: Path):
    plain, meshed = load(tmp_path, robot()), load(tmp_path, robot(MESH, asset=inline_mesh()))
    assert meshed.mass == pytest.approx(plain.mass)
    assert meshed.snapshot().contact_position == pytest.approx(plain.snapshot().contact_position, abs=1e-3)
    ends = []
    for body in (plain, meshed):
        recording = simulate(body, Stand(), 3.0)
        assert not measure.fell(recording).fell
        assert np.abs(recording.velocities()[500:]).max() < 0.2
        ends.append(recording.positions()[-1])
    assert ends[1] == pytest.approx(ends[0], abs=0.01)


def test_a_recording_of_a_body_with_a_mesh_folder_is_saved_and_loaded_again(tmp_path: Path):
    write_stl(tmp_path / "assets" / "sole.stl")
    Image.new("RGB", (2, 2)).save(tmp_path / "assets" / "skin.png")
    asset = """<asset><mesh name="sole" file="sole.stl" scale="0.001 0.001 0.001"/>
      <texture name="skin" type="2d" file="skin.png"/><material name="skin" texture="skin" rgba="1 0 0 1"/></asset>"""
    visual = '<geom type="mesh" mesh="sole" contype="0" conaffinity="0" mass="0" group="2" material="skin"/>'
    body = load(tmp_path, robot(MESH + visual, asset=asset, top='meshdir="assets" texturedir="assets"'))
    for file in (tmp_path / "assets").iterdir():
        file.unlink()
    recording = simulate(body, Stand(), 0.2)
    recording.save(tmp_path / "run.npz")
    again = Recording.load(tmp_path / "run.npz")
    assert again.character.to_mjcf() == body.to_mjcf() and again.character.model.nmesh == 1
    assert mujoco.MjModel.from_xml_string(body.to_mjcf()).nmesh == 1
    plain = load(tmp_path, robot())
    assert body.snapshot().contact_position == pytest.approx(plain.snapshot().contact_position, abs=1e-3)
