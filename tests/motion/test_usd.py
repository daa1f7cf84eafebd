"""USD: stages judged by usd-core's own validators, and by what UsdSkel computes from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from binary_clips import clip_of_bodies, gap_to_shapes, random_clip

from counterpoise import spatial
from counterpoise.character.library import character
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.motion import reference_motion
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files import usd, usd_read
from counterpoise.motion.skeleton import Clip, Skeleton

pxr = pytest.importorskip("pxr", reason="usd-core is not installed")
from pxr import Usd, UsdGeom, UsdSkel, UsdValidation  # noqa: E402


@pytest.fixture(scope="module")
def squat():
    return reference_motion("squat", character("human"))


def complaints(stage: Usd.Stage) -> list[str]:
    """What usd-core's validators, all of them, find wrong."""
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) > 20
    found = UsdValidation.ValidationContext(validators).Validate(stage)
    return [f"{error.GetName()}: {error.GetMessage()}" for error in found]


def queries(stage: Usd.Stage):
    root = UsdSkel.Root(stage.GetDefaultPrim())
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    skeleton = UsdSkel.Skeleton(stage.GetDefaultPrim().GetChild("Skeleton"))
    mesh = stage.GetDefaultPrim().GetChild("Body")
    return cache.GetSkelQuery(skeleton), cache.GetSkinningQuery(mesh), UsdGeom.Mesh(mesh)


@pytest.mark.parametrize("suffix", [".usda", ".usdc", ".usd", ".usdz"])
def test_usdskel_finds_the_joints_where_the_clip_has_them(tmp_path: Path, suffix: str, squat):
    for k, (clip, motion) in enumerate([(random_clip(0), None), (clip_of_bodies(squat), squat)]):
        path = tmp_path / f"{k}{suffix}"
        usd.write_clip(path, clip, motion=motion)
        stage = Usd.Stage.Open(str(path))
        assert complaints(stage) == []
        skeleton, _, _ = queries(stage)
        places, turns = clip.world()
        for frame in range(0, len(clip), 7):
            found = np.array(skeleton.ComputeJointSkelTransforms(frame))
            assert np.abs(found[:, 3, :3] - places[frame]).max() < 1e-5
            assert np.abs(found[:, :3, :3].transpose(0, 2, 1) - spatial.to_matrix(turns[frame])).max() < 1e-5


def test_the_stage_says_how_it_is_meant(tmp_path: Path):
    clip = random_clip(1, rate=24.0)
    usd.write_clip(tmp_path / "a.usda", clip)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    assert UsdGeom.GetStageUpAxis(stage) == "Z" and UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == 24.0
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0.0, len(clip) - 1.0)
    assert stage.GetDefaultPrim().IsA(UsdSkel.Root)
    rest = np.array(queries(stage)[0].ComputeJointLocalTransforms(0, atRest=True))
    assert np.abs(rest[:, 3, :3] - clip.skeleton.offsets).max() < 1e-12


def test_the_body_moves_as_the_shapes_do(tmp_path: Path, squat):
    """What UsdSkel's skinning makes of the mesh lies on MuJoCo's own shapes."""
    clip = clip_of_motion(squat)
    usd.write_clip(tmp_path / "a.usdc", clip, motion=squat, body="shapes")
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))  # queries live no longer than it
    skeleton, skinning, mesh = queries(stage)
    names = [path.split("/")[-1] for path in skeleton.GetJointOrder()]
    bodies = np.array([squat.character.body_id(name) for name in names])
    joints = np.array(skinning.ComputeJointInfluences()[0])
    for frame in (0, 100):
        points = mesh.GetPointsAttr().Get()
        assert skinning.ComputeSkinnedPoints(skeleton.ComputeSkinningTransforms(frame), points, frame)
        assert gap_to_shapes(squat.character.model, squat.poses[frame], bodies[joints], np.array(points)) < 1e-5


def test_odd_names_become_valid_ones(tmp_path: Path):
    names = ("3 hüfte", "a b", "a_b", "", "a/b")
    skeleton = Skeleton(names, (-1, 0, 0, 0, 1), np.ones((5, 3)), np.tile([1.0, 0, 0, 0], (5, 1)))
    clip = Clip(skeleton, 30.0, np.tile(skeleton.rest, (3, 1, 1)), np.tile(skeleton.offsets, (3, 1, 1)), name="1 + 1")
    usd.write_clip(tmp_path / "a.usda", clip)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    assert complaints(stage) == []
    skeleton_query = queries(stage)[0]
    assert len(set(skeleton_query.GetJointOrder())) == 5
    assert list(skeleton_query.GetTopology().GetParentIndices()) == [-1, 0, 0, 0, 1]


def test_the_same_clip_gives_the_same_text(tmp_path: Path, squat):
    clip = clip_of_motion(squat)
    for name in ("a.usda", "b.usda"):
        usd.write_clip(tmp_path / name, clip, motion=squat)
    assert (tmp_path / "a.usda").read_bytes() == (tmp_path / "b.usda").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.usda", "b.usda"]


def test_what_cannot_be_written_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    with pytest.raises(BadValue, match="usda"):
        usd.write_clip(tmp_path / "a.txt", random_clip(0))
    with pytest.raises(BadFile, match="no folder"):
        usd.write_clip(tmp_path / "nowhere" / "a.usda", random_clip(0))

    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(usd_read, "import_module", missing)
    with pytest.raises(CounterpoiseError, match=r"pip install 'counterpoise\[usd\]'"):
        usd.write_clip(tmp_path / "a.usda", random_clip(0))
    assert list(tmp_path.iterdir()) == []
