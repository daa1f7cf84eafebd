"""USD: a clip as a UsdSkel figure in `.usda`, `.usdc`, `.usd` or `.usdz`; needs the extra `usd` (usd-core).

Reading is in `usd_read`, writing into a file that is there in `usd_into`.

z up, metres, one time code a frame. The stage's default prim is a SkelRoot that holds the skeleton, its animation and
a body: that of the character, or the meshes of the motion's file (`usd_bodies`).
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Literal

import numpy as np

from counterpoise import spatial
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import one_line, whole_file
from counterpoise.motion.files.gltf import KeptMeshes, kept_body, wants_smooth
from counterpoise.motion.files.meshes import surfaces
from counterpoise.motion.files.names import identifier, unique_names
from counterpoise.motion.files.usd_bodies import add_body, add_kept_meshes
from counterpoise.motion.files.usd_into import stage_with_animation
from counterpoise.motion.files.usd_read import CREATOR, load_pxr, read_clip
from counterpoise.motion.motion import Motion
from counterpoise.motion.skeleton import Clip, Skeleton, Source

SUFFIXES = (".usda", ".usdc", ".usd", ".usdz")
MARGIN = 0.3  # [m] of the extent around all joints


def write_clip(
    path: str | os.PathLike[str],
    clip: Clip,
    *,
    motion: Motion | None = None,
    body: Literal["kept", "shapes", "smooth"] | None = None,
    into: str | os.PathLike[str] | None = None,
    source: Source | None = None,
) -> None:
    """Writes a clip as a USD stage; the body is that of the character of `motion`, from which the clip was made.

    `into` is a USD file that the motion was read from: the new file is this one, with everything in it, and the clip in
    place of its animation. `source` is that of the motion.

    `body` is "kept" (the meshes of the motion's file, without pictures; the default where it has some),
    "smooth", one that bends at the joints (the default for the library's person), or "shapes".
    """
    target = Path(path)
    if target.suffix.lower() not in SUFFIXES:
        raise BadValue(f"a USD file ends in {', '.join(SUFFIXES)}, not {target.suffix or 'nothing'!r}")
    pxr = load_pxr()
    if into is not None:
        if body is not None:
            raise BadValue("a motion is put into a USD file, which keeps its own body; leave out `body`")
        stage = stage_with_animation(into, clip, source, target.parent)
    else:
        stage = build_stage(clip, motion, wants_smooth(body, motion), kept_body(clip, source, body))
    try:
        with whole_file(target) as temporary:
            if target.suffix.lower() == ".usdz":
                with tempfile.TemporaryDirectory() as folder:
                    inner = str(Path(folder) / "figure.usdc")
                    done = stage.GetRootLayer().Export(inner)
                    done = done and pxr.UsdUtils.CreateNewUsdzPackage(pxr.Sdf.AssetPath(inner), str(temporary))
            else:
                done = stage.GetRootLayer().Export(str(temporary))
            if not done:
                raise BadFile(f"cannot write {str(path)!r}: usd-core refused", path=str(path))
    except (OSError, pxr.Tf.ErrorException) as error:
        raise BadFile(f"cannot write {str(path)!r}: {one_line(error)}", path=str(path)) from error


def build_stage(clip: Clip, motion: Motion | None = None, smooth: bool = False, kept: KeptMeshes | None = None) -> Any:
    """Returns the stage in memory (pxr.Usd.Stage), with the meshes of another file or a body of ours."""
    pxr = load_pxr()
    Usd, UsdGeom, UsdSkel = pxr.Usd, pxr.UsdGeom, pxr.UsdSkel
    skeleton = clip.skeleton
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().customLayerData = {"creator": CREATOR}
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(clip.rate)
    stage.SetFramesPerSecond(clip.rate)
    stage.SetStartTimeCode(0.0)
    stage.SetEndTimeCode(float(len(clip) - 1))
    name = identifier(motion.character.name if motion is not None else clip.name or "figure")
    root = UsdSkel.Root.Define(stage, f"/{name}")
    stage.SetDefaultPrim(root.GetPrim())
    joints = joint_paths(skeleton)
    skel = UsdSkel.Skeleton.Define(stage, f"/{name}/Skeleton")
    skel.CreateJointsAttr(joints)
    skel.CreateBindTransformsAttr(_matrices(pxr, *skeleton.world()))
    skel.CreateRestTransformsAttr(_matrices(pxr, skeleton.offsets, skeleton.rest))
    _animate(pxr, stage, f"/{name}/Animation", joints, clip)
    UsdSkel.BindingAPI.Apply(skel.GetPrim()).CreateAnimationSourceRel().SetTargets([f"/{name}/Animation"])
    places = clip.world()[0].reshape(-1, 3)
    low, high = places.min(axis=0) - MARGIN, places.max(axis=0) + MARGIN
    root.CreateExtentAttr([pxr.Gf.Vec3f(*low.tolist()), pxr.Gf.Vec3f(*high.tolist())])
    if kept is None:
        add_body(pxr, stage, name, surfaces(clip, motion, smooth))
    else:
        add_kept_meshes(pxr, stage, name, *kept)
    return stage


def _animate(pxr: Any, stage: Any, path: str, joints: list[str], clip: Clip) -> None:
    """Adds the animation: time samples of what changes, one value of what does not."""
    animation = pxr.UsdSkel.Animation.Define(stage, path)
    animation.CreateJointsAttr(joints)
    n = len(joints)
    moves = animation.CreateTranslationsAttr()
    turns = animation.CreateRotationsAttr()
    animation.CreateScalesAttr(pxr.Vt.Vec3hArray(n, pxr.Gf.Vec3h(1.0, 1.0, 1.0)))
    xyz = np.ascontiguousarray(clip.translations, dtype=np.float32)
    wxyz = spatial.align_signs(spatial.normalize(clip.rotations))
    xyzw = np.ascontiguousarray(np.roll(wxyz, -1, axis=2), dtype=np.float32)  # the order in USD's memory
    still = np.ptp(xyz, axis=0).max(initial=0.0) == 0.0
    for frame in range(len(clip)):
        if frame == 0 or not still:
            time = pxr.Usd.TimeCode.Default() if still else float(frame)
            moves.Set(pxr.Vt.Vec3fArray.FromNumpy(xyz[frame]), time)
        turns.Set(pxr.Vt.QuatfArray.FromNumpy(xyzw[frame]), float(frame))


def joint_paths(skeleton: Skeleton) -> list[str]:
    """Returns the names of joints in UsdSkel: paths from the root, each part a valid identifier."""
    names = unique_names([identifier(name) for name in skeleton.names])
    out: list[str] = []
    for name, parent in zip(names, skeleton.parents, strict=True):
        out.append(name if parent < 0 else f"{out[parent]}/{name}")
    return out


def _matrices(pxr: Any, places: Any, turns: Any) -> Any:
    """Returns USD's matrices, which act on rows: the rotation is transposed, the place is in the last row."""
    M = np.zeros((len(places), 4, 4))
    M[:, :3, :3] = spatial.to_matrix(spatial.normalize(turns)).transpose(0, 2, 1)
    M[:, 3, :3] = places
    M[:, 3, 3] = 1.0
    return pxr.Vt.Matrix4dArray.FromNumpy(M)


__all__ = ["build_stage", "read_clip", "write_clip"]
