"""ASF and AMC: the figure and movement of the same take's BVH, by hand where there is none, and files that are none."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from counterpoise import read_motion
from counterpoise.errors import BadFile, BadValue
from counterpoise.motion.files.asf import read_clip

MOCAP = Path(__file__).resolve().parents[3] / "shared" / "mocap"
real = pytest.mark.skipif(not (MOCAP / "02.asf").exists(), reason="no ../shared/mocap/02.asf beside the repository")

SKELETON = """# made by hand
:version 1.10
:name someone
:units
  mass 1.0
  length 0.45
  angle deg
:documentation
  a pelvis, a spine and a leg
:root
  order TX TY TZ RX RY RZ
  axis XYZ
  position 0 0 0
  orientation 0 0 0
:bonedata
  begin
    id 1
    name spine
    direction 0 1 0
    length 9.0
    axis 0 0 0 XYZ
    dof rx rz
    limits (-20 45)
           (-30.0 30.0)
  end
  begin
    id 2
    name head
    direction 0 1 0
    length 3.0
    axis 0 0 0 XYZ
  end
  begin
    id 3
    name lfemur
    direction 0.34202 -0.939693 0
    length 7.5
    axis 0 0 20 XYZ
    dof rx ry rz
  end
  begin
    id 4
    name ltibia
    direction 0.34202 -0.939693 0
    length 7.2
    axis 30 10 20 ZXY
    dof rx
  end
  begin
    id 5
    name lfoot
    direction 0 -0.242536 0.970143
    length 2.2
    axis -90 7.6e-016 20 XYZ
    dof rz rx
  end
:hierarchy
  begin
    root spine lfemur
    spine head
    lfemur ltibia
    ltibia lfoot
  end
"""
MOTION = """#!OML:ASF C:\\takes\\someone.ASF
:FULLY-SPECIFIED
:DEGREES
1
root 1.5 16.0 -3.0 10 -20 30
spine 5 -7
lfemur 20 -10 5
ltibia 33
lfoot -5.4e-014 12
2
root 1.6 16.1 -2.9 11 -21 31
spine 6 -8
lfemur 21 -11 6
ltibia 34
lfoot -5 13
"""


def take(folder: Path, skeleton: str = SKELETON, motion: str = MOTION, name: str = "07_03.amc") -> Path:
    (folder / "07.asf").write_bytes(skeleton.replace("\n", "\r\n").encode())
    (folder / name).write_bytes(motion.replace("\n", "\r\n").encode())
    return folder / name


def test_joints_by_hand(tmp_path):
    """The chain root - femur - tibia - foot worked out with scipy, in the file's axes and units."""
    clip = read_clip(take(tmp_path))
    places, _ = clip.world()
    ours = dict(zip(clip.skeleton.names, np.moveaxis(places, 1, 0)[..., [1, 2, 0]] * 0.45 / 0.0254, strict=True))

    def turn(order: str, **degrees: float) -> Rotation:
        """About fixed axes, the first letter first."""
        return Rotation.from_euler(order, [degrees.get(letter, 0.0) for letter in order], degrees=True)

    root = np.array([1.6, 16.1, -2.9])
    R = turn("xyz", x=11, y=-21, z=31)
    C = turn("xyz", z=20)
    thigh = R * C * turn("xyz", x=21, y=-11, z=6) * C.inv()
    knee = root + thigh.apply(np.array([0.34202, -0.939693, 0.0]) * 7.5)
    C = turn("zxy", x=30, y=10, z=20)
    shank = thigh * C * turn("zxy", x=34) * C.inv()
    ankle = knee + shank.apply(np.array([0.34202, -0.939693, 0.0]) * 7.2)
    np.testing.assert_allclose(ours["root"][1], root, atol=1e-9)
    np.testing.assert_allclose(ours["lfemur"][1], root, atol=1e-9)
    np.testing.assert_allclose(ours["ltibia"][1], knee, atol=1e-9)
    np.testing.assert_allclose(ours["lfoot"][1], ankle, atol=1e-9)
    C = turn("xyz", x=-90, y=7.6e-16, z=20)
    foot = shank * C * turn("xyz", x=13, z=-5) * C.inv()
    joint = clip.skeleton.names.index("lfoot")
    end = dict(clip.skeleton.ends)[joint]
    _, turns = clip.world()
    w, x, y, z = turns[1, joint]
    tip = Rotation.from_quat([x, y, z, w]).apply(end)[[1, 2, 0]] * 0.45 / 0.0254
    np.testing.assert_allclose(tip, foot.apply([0, -0.242536 * 2.2, 0.970143 * 2.2]), atol=1e-9)


def test_radians_mean_the_same(tmp_path):
    degrees = read_clip(take(tmp_path))
    frames = []
    for line in MOTION.splitlines():
        name, *values = line.split()
        if values and not name.startswith("#"):
            kept = values[:3] if name == "root" else []
            values = kept + [repr(float(np.radians(float(v)))) for v in values[len(kept) :]]
        frames.append(" ".join([name, *values]))
    radians = read_clip(take(tmp_path, motion="\n".join(frames).replace(":DEGREES", ":RADIANS") + "\n"))
    np.testing.assert_allclose(radians.world()[0], degrees.world()[0], atol=1e-12)


def test_the_skeleton_is_found_or_told(tmp_path):
    path = take(tmp_path)
    motion = read_motion(path)
    assert any("07.asf" in line for line in motion.source.remarks) and any(
        "120" in line for line in motion.source.remarks
    )
    assert motion.rate == pytest.approx(120.0) and read_motion(path, rate=60).rate == pytest.approx(60.0)
    (tmp_path / "07.asf").rename(tmp_path / "other.asf")
    assert len(read_motion(path)) == 2  # the only one there
    (tmp_path / "third.asf").write_text(SKELETON)
    with pytest.raises(BadFile, match=r"07_03.asf or 07.asf .* skeleton="):
        read_motion(path)
    assert len(read_motion(path, skeleton=tmp_path / "other.asf")) == 2
    rest = read_motion(tmp_path / "other.asf")
    assert len(rest) == 1 and rest.character.segments == ("root", "spine", "head", "lfemur", "ltibia", "lfoot")


def test_units_that_make_nobodys_size_are_not_believed(tmp_path):
    clip = read_clip(take(tmp_path, skeleton=SKELETON.replace("length 0.45", "length 0.0045")))
    assert clip.notes["scale"] == pytest.approx(0.0254 / 0.45) and any("would make" in t for t in clip.notes["remarks"])
    assert read_clip(tmp_path / "07_03.amc", units="cm").notes["scale"] == 0.01


@real
def test_the_same_take_in_both_formats():
    """BVH frame i (from 0) is AMC frame i (from 1); root and legs agree to 0.001 cm, the spine too."""
    amc = read_motion(MOCAP / "02_01.amc")
    bvh = read_motion(MOCAP / "02_01.bvh", frames=(1, 343))
    pairs = {
        "root": "Hips", "lfemur": "LeftUpLeg", "ltibia": "LeftLeg", "lfoot": "LeftFoot", "ltoes": "LeftToeBase",
        "rfemur": "RightUpLeg", "rtibia": "RightLeg", "rfoot": "RightFoot", "rtoes": "RightToeBase",
        "lowerback": "LowerBack", "upperback": "Spine", "thorax": "Spine1",
    }  # fmt: skip
    assert len(amc) == len(bvh) == 343
    for mine, theirs in pairs.items():
        apart = np.linalg.norm(path_of(amc, mine) - path_of(bvh, theirs), axis=1)
        assert apart.max() < 1e-5, (mine, apart.max())
    lost = np.linalg.norm(path_of(amc, "head") - path_of(bvh, "Head"), axis=1)
    assert lost.max() == pytest.approx(0.1167, abs=0.001)  # the thorax bone that the BVH lacks


def path_of(motion, body: str) -> np.ndarray:
    """(f, 3), by MuJoCo."""
    model = motion.character.model
    data, b = mujoco.MjData(model), model.body(body).id
    out = []
    for pose in motion.poses:
        data.qpos[:] = pose
        mujoco.mj_kinematics(model, data)
        out.append(data.xpos[b].copy())
    return np.array(out)


@real
@pytest.mark.parametrize("name", ["02_01", "02_04"])
def test_real_takes_have_a_sensible_body(name):
    body = read_motion(MOCAP / f"{name}.amc").character
    assert 1.6 < body.height < 1.8 and 60 < body.mass < 80
    assert [(foot.body, foot.side) for foot in body.feet] == [("lfoot", "left"), ("rfoot", "right")]


HOSTILE = {
    "empty skeleton": ("", MOTION, "07.asf', line 1: no :bonedata"),
    "no hierarchy": (SKELETON[: SKELETON.index(":hierarchy")], MOTION, "no :hierarchy"),
    "bone without end": (SKELETON[: SKELETON.index("    dof rx rz")], MOTION, "'spine' has no end"),
    "bone twice": (SKELETON.replace("name head", "name spine"), MOTION, "line 32: bone 'spine'"),
    "unknown child": (SKELETON.replace("spine head", "spine haed"), MOTION, "did you mean 'head'"),
    "loop": (SKELETON.replace("ltibia lfoot", "ltibia lfemur"), MOTION, "'lfemur' is in two places"),
    "loose bone": (SKELETON.replace("    spine head\n", ""), MOTION, "line 26: bone 'head' is not in the hierarchy"),
    "length of bones": (SKELETON.replace("dof rx\n", "dof rx l\n"), MOTION, "dof l"),
    "unknown dof": (SKELETON.replace("dof rx rz", "dof rx rw"), MOTION, "'rw' is not a degree"),
    "axis order": (SKELETON.replace("ZXY", "ZXX"), MOTION, "'ZXX' is not an order"),
    "nan direction": (SKELETON.replace("direction 0 1 0", "direction 0 nan 0"), MOTION, "line 19: 'nan'"),
    "unit zero": (SKELETON.replace("length 0.45", "length 0"), MOTION, "line 6: a length unit"),
    "no frames": (SKELETON, MOTION[: MOTION.index("1\nroot")], "no frames"),
    "bone before frames": (SKELETON, MOTION.replace(":DEGREES\n1\n", ":DEGREES\n"), "line 4: .*is there before"),
    "unknown bone": (SKELETON, MOTION.replace("lfoot -5 ", "lfoof -5 "), "line 15: no bone 'lfoof'.*'lfoot'"),
    "too few values": (SKELETON, MOTION.replace("spine 6 -8", "spine 6"), "line 12: 1 values of bone 'spine'"),
    "nan value": (SKELETON, MOTION.replace("spine 6 -8", "spine nan -8"), "line 12: 'nan'"),
    "no dof": (SKELETON, MOTION.replace("ltibia 34", "head 34"), "line 14: 1 values of bone 'head'"),
    "bone twice in a frame": (SKELETON, MOTION.replace("ltibia 34", "lfemur 1 2 3"), "line 14: .* is there twice"),
    "cut short": (SKELETON, MOTION[: MOTION.index("ltibia 34")], "leaves out bone 'ltibia'"),
    "frame numbers": (SKELETON, MOTION.replace("\n2\n", "\n7\n"), "line 10: frame 7 follows frame 1"),
    "long line": (SKELETON, MOTION.replace("spine 6", "spine " + "6" * 9000), "line 12: a line of"),
    "junk": (SKELETON, "\x01\x02 junk\n", "line 1: no bone"),
}  # fmt: skip


@pytest.mark.parametrize("what", HOSTILE)
def test_a_bad_take_is_refused_by_name_and_line(what, tmp_path):
    skeleton, motion, why = HOSTILE[what]
    with pytest.raises(BadFile, match=why):
        read_motion(take(tmp_path, skeleton, motion))


def test_deep_and_wide_skeletons_are_refused(tmp_path):
    bone = "begin\nname b{0}\ndirection 0 1 0\nlength 1\nend\n"
    top = ":bonedata\n"
    chain = "".join(f"b{k} b{k + 1}\n" for k in range(499))
    deep = top + "".join(bone.format(k) for k in range(500)) + ":hierarchy\nbegin\nroot b0\n" + chain + "end\n"
    with pytest.raises(BadFile, match="more than 200 deep"):
        read_motion(take(tmp_path, deep))
    wide = top + "".join(bone.format(k) for k in range(5000))
    with pytest.raises(BadFile, match="more than 1000 bones"):
        read_motion(take(tmp_path, wide))


def test_amc_is_not_written(tmp_path):
    motion = read_motion(take(tmp_path))
    with pytest.raises(BadFile, match=r"\.amc files are not written here; the suffix may be \.bvh"):
        motion.write(tmp_path / "a.amc")
    with pytest.raises(BadValue, match="positive"):
        read_motion(tmp_path / "07_03.amc", rate=0.0)
