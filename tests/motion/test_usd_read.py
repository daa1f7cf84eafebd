"""USD read: places of joints are those that UsdSkel computes; a fixed motion goes back into its own file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from binary_clips import random_clip

import counterpoise as cp
from counterpoise.character.library import character
from counterpoise.errors import BadFile, BadValue
from counterpoise.motion import reference_motion
from counterpoise.motion.files import usd

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Gf, Sdf, Usd, UsdGeom, UsdShade, UsdSkel, Vt  # noqa: E402


def heads(path: Path, code: float) -> dict[str, np.ndarray]:
    """Places of joints in the world by name [the file's units], as UsdSkel computes them."""
    stage = Usd.Stage.Open(str(path))
    prim = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Skeleton))
    root = next(p for p in stage.Traverse() if p.IsA(UsdSkel.Root))
    cache = UsdSkel.Cache()
    cache.Populate(UsdSkel.Root(root), Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(UsdSkel.Skeleton(prim))
    above = UsdGeom.XformCache(Usd.TimeCode(code)).GetLocalToWorldTransform(prim)
    found = query.ComputeJointSkelTransforms(Usd.TimeCode(code))
    return {
        str(name).rsplit("/", 1)[-1]: np.array((m * above).ExtractTranslation())
        for name, m in zip(query.GetJointOrder(), found, strict=True)
    }


def foreign(path: Path) -> Path:
    """A file as other programs write them: y up, centimetres, a turned and scaled root, a skinned mesh, a material."""
    stage = Usd.Stage.CreateNew(str(path))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 0.01)
    stage.SetTimeCodesPerSecond(24.0)
    stage.SetFramesPerSecond(24.0)
    root = UsdSkel.Root.Define(stage, "/Model")
    stage.SetDefaultPrim(root.GetPrim())
    xform = UsdGeom.Xformable(root)
    xform.AddTranslateOp().Set(Gf.Vec3d(10.0, 0.0, -5.0))
    xform.AddRotateYOp().Set(30.0)
    xform.AddScaleOp().Set(Gf.Vec3f(2.0, 2.0, 2.0))
    joints = ["Hips", "Hips/Spine", "Hips/Spine/Head", "Hips/Leg"]
    places = [(0.0, 45.0, 0.0), (0.0, 12.0, 0.0), (0.0, 15.0, 1.0), (4.0, -20.0, 0.0)]
    rest = [Gf.Matrix4d().SetTranslate(Gf.Vec3d(*p)) for p in places]
    rest[1] = Gf.Matrix4d().SetScale(0.5) * rest[1]  # what is below the spine is half as large
    skeleton = UsdSkel.Skeleton.Define(stage, "/Model/Rig")
    skeleton.CreateJointsAttr(joints)
    skeleton.CreateRestTransformsAttr(Vt.Matrix4dArray(rest))
    skeleton.CreateBindTransformsAttr(Vt.Matrix4dArray(rest))
    animation = UsdSkel.Animation.Define(stage, "/Model/Walk")
    animation.CreateJointsAttr(joints)
    moves, turns = animation.CreateTranslationsAttr(), animation.CreateRotationsAttr()
    animation.CreateScalesAttr(Vt.Vec3hArray([Gf.Vec3h(1.0), Gf.Vec3h(0.5), Gf.Vec3h(1.0), Gf.Vec3h(1.0)]))
    for k in range(13):
        angle = 0.1 * k
        turn = Gf.Quatf(float(np.cos(0.5 * angle)), Gf.Vec3f(float(np.sin(0.5 * angle)), 0.0, 0.0))
        here = [Gf.Vec3f(*p) for p in places]
        here[0] = Gf.Vec3f(0.5 * k, 45.0, 0.0)
        moves.Set(Vt.Vec3fArray(here), 101.0 + k)
        turns.Set(Vt.QuatfArray([turn, Gf.Quatf(1.0), turn, turn]), 101.0 + k)
    UsdSkel.BindingAPI.Apply(skeleton.GetPrim()).CreateAnimationSourceRel().SetTargets(["/Model/Walk"])
    mesh = UsdGeom.Mesh.Define(stage, "/Model/Skin")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2])
    UsdShade.Material.Define(stage, "/Model/Cloth")
    stage.GetRootLayer().Save()
    return path


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usdz"])
def test_a_clip_written_here_comes_back(tmp_path: Path, suffix: str):
    clip = random_clip(0)
    usd.write_clip(tmp_path / f"clip{suffix}", clip)
    back = usd.read_clip(tmp_path / f"clip{suffix}")
    assert back.rate == pytest.approx(clip.rate) and len(back) == len(clip)
    assert back.skeleton.parents == clip.skeleton.parents and not back.notes["remarks"]
    size = np.abs(clip.world()[0]).max()
    np.testing.assert_allclose(back.world()[0], clip.world()[0], atol=2e-6 * size)
    turns = np.abs(np.sum(back.world()[1] * clip.world()[1], axis=-1))
    np.testing.assert_allclose(turns, 1.0, atol=1e-6)
    np.testing.assert_allclose(back.skeleton.world()[0], clip.skeleton.world()[0], atol=1e-9 * size)


def test_a_motion_written_here_is_the_same_movement(tmp_path: Path):
    squat = reference_motion("squat", character("human"))
    squat.write(tmp_path / "squat.usda", rate=30.0)
    back = cp.read_motion(tmp_path / "squat.usda")
    assert back.rate == pytest.approx(30.0) and back.source is not None and back.source.format == "usd"
    onto = cp.read_motion(tmp_path / "squat.usda", "human")
    assert onto.character.name == "human" and len(onto) == len(back)


def test_other_units_axes_and_scales_are_read_as_usdskel_has_them(tmp_path: Path):
    path = foreign(tmp_path / "foreign.usda")
    clip = usd.read_clip(path, forward="z")
    assert clip.rate == pytest.approx(24.0) and len(clip) == 13
    assert clip.skeleton.names == ("Hips", "Spine", "Head", "Leg") and clip.skeleton.parents == (-1, 0, 1, 0)
    for frame in (0, 7, 12):
        for name, place in heads(path, 101.0 + frame).items():
            x, y, z = 0.01 * place  # y up, z forward
            np.testing.assert_allclose(clip.world()[0][frame, clip.skeleton.names.index(name)], [z, x, y], atol=1e-6)
    assert len(usd.read_clip(path, rate=48.0, forward="z")) == 25
    assert usd.read_clip(path, units="m", forward="z").world()[0].max() == pytest.approx(100.0 * clip.world()[0].max())


def test_a_changed_motion_goes_back_into_its_file(tmp_path: Path):
    """Joints are where the changed motion has them, by UsdSkel; mesh, material and transforms stay."""
    path = foreign(tmp_path / "foreign.usda")
    motion = cp.read_motion(path, forward="z")
    moved = motion.placed((0.4, -0.2))
    moved.write(tmp_path / "again.usda", into=path)
    was, now = usd.read_clip(path, forward="z"), usd.read_clip(tmp_path / "again.usda", forward="z")
    shift = now.world()[0] - was.world()[0]
    assert np.ptp(shift.reshape(-1, 3), axis=0).max() < 1e-5 and len(now) == len(was)
    np.testing.assert_allclose(shift[0, 0], moved.poses[0, :3] - motion.poses[0, :3], atol=1e-5)
    stage, before = Usd.Stage.Open(str(tmp_path / "again.usda")), Usd.Stage.Open(str(path))
    paths = [[str(p.GetPath()) for p in s.Traverse()] for s in (stage, before)]
    assert paths[0] == paths[1] and stage.GetStartTimeCode() == 101.0
    for name in ("/Model", "/Model/Skin", "/Model/Rig", "/Model/Cloth"):
        one, two = (s.GetRootLayer().GetPrimAtPath(name) for s in (stage, before))
        for attribute in two.attributes:
            assert one.attributes[attribute.name].default == attribute.default


def test_other_figures_and_packages_are_refused(tmp_path: Path):
    path = foreign(tmp_path / "foreign.usda")
    squat = reference_motion("squat", character("human"))
    with pytest.raises(BadFile, match="joints are not those of the motion"):
        squat.write(tmp_path / "out.usda", into=path)
    with pytest.raises(BadValue, match="keeps its own body"):
        cp.read_motion(path, forward="z").write(tmp_path / "out.usda", into=path, body="smooth")
    assert not (tmp_path / "out.usda").exists()


def test_what_is_no_usd_or_holds_no_skeleton_is_said(tmp_path: Path):
    (tmp_path / "broken.usda").write_text("#usda 1.0\n(((")
    (tmp_path / "noise.usdc").write_bytes(bytes(range(200)))
    empty = Usd.Stage.CreateNew(str(tmp_path / "empty.usda"))
    UsdGeom.Xform.Define(empty, "/World")
    empty.GetRootLayer().Save()
    for name, why in (("broken.usda", "not a USD file"), ("noise.usdc", "not a USD file"), ("empty.usda", "skeleton")):
        with pytest.raises(BadFile, match=why) as caught:
            cp.read_motion(tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(BadFile, match="no file"):
        cp.read_motion(tmp_path / "missing.usda")
    still = foreign(tmp_path / "still.usda")
    stage = Usd.Stage.Open(str(still))
    stage.RemovePrim(Sdf.Path("/Model/Walk"))
    stage.GetRootLayer().Save()
    with pytest.raises(BadFile, match="no animation"):
        cp.read_motion(still)
