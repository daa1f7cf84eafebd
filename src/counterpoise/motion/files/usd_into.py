"""A movement put into a USD file that is there: its meshes, materials, rig and everything else stay as they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile
from counterpoise.files import Refused, one_line
from counterpoise.motion.files.axes import metres, to_ours
from counterpoise.motion.files.usd_read import FileSkeleton, load_pxr, open_skeleton
from counterpoise.motion.skeleton import Clip, Source


def stage_with_animation(path: str | os.PathLike[str], clip: Clip, source: Source | None, folder: Path) -> Any:
    """Returns the stage of a file, in memory, with the clip in place of its animation; everything else is kept.

    The clip is one of the file's own skeleton: `source` says which joint is which, and how the file's axes lie. Paths
    in the file are made absolute where the stage is to be written to another `folder`.
    """
    pxr = load_pxr()
    if not Path(path).is_file():
        raise BadFile(f"no file {str(path)!r}", path=str(path))
    try:
        return _with_animation(Path(path), clip, source, folder)
    except (Refused, pxr.Tf.ErrorException) as error:
        raise BadFile(f"cannot write into {str(path)!r}: {one_line(error)}", path=str(path)) from None


def _with_animation(path: Path, clip: Clip, source: Source | None, folder: Path) -> Any:
    pxr = load_pxr()
    if path.suffix.lower() == ".usdz":
        raise Refused("it is a package (.usdz): unpack it first")
    layer = pxr.Sdf.Layer.FindOrOpen(str(path))
    if not layer:
        raise Refused("usd-core cannot open it")
    copy = pxr.Sdf.Layer.CreateAnonymous(".usda")
    copy.TransferContent(layer)
    if folder.resolve() != path.parent.resolve():
        pxr.UsdUtils.ModifyAssetPaths(copy, lambda asset: layer.ComputeAbsolutePath(asset) if asset else asset)
    stage = pxr.Usd.Stage.Open(copy)
    figure = open_skeleton(stage)
    if source is None or source.skeleton.names != figure.names or not set(source.bodies) <= set(clip.skeleton.names):
        raise Refused("its joints are not those of the motion: read the motion from this file, and do not retarget it")
    notes = source.notes
    back = clip.turned(to_ours(str(notes["up"]), str(notes["forward"])).T, 1.0 / metres(notes["scale"]))
    order = [clip.skeleton.names.index(name) for name in source.bodies]
    second = float(stage.GetTimeCodesPerSecond())
    codes: Array = np.asarray(float(notes.get("start", 0.0)) + np.arange(len(clip)) * (second / clip.rate), np.float64)
    _replace(figure, codes, *_locals(figure, codes, back.rotations[:, order], back.translations[:, order]))
    stage.SetStartTimeCode(float(codes[0]))
    stage.SetEndTimeCode(float(codes[-1]))
    return stage


def _locals(figure: FileSkeleton, codes: Array, turns: Array, moves: Array) -> tuple[Array, Array]:
    """Returns rotations and translations as the file has them, of joints whose roots are in the world.

    What is above the skeleton is taken off its roots; scales make the places of joints below them shorter.
    """
    Usd = load_pxr().Usd
    sizes = np.cbrt(np.linalg.det(figure.world(Usd.TimeCode.Default(), at_rest=True)[:, :3, :3]))
    turns, moves = np.array(turns), np.array(moves)
    above = np.array([figure.above(Usd.TimeCode(float(code))) for code in codes])
    scale = np.cbrt(np.linalg.det(above[:, :3, :3]))
    rigid = np.swapaxes(above[:, :3, :3] / scale[:, None, None], -1, -2)
    carried = above[:, 3, :3], np.asarray(spatial.from_matrix(rigid))
    for i, parent in enumerate(figure.parents):
        if parent < 0:
            place, turn = spatial.compose(spatial.inverse(carried), (moves[:, i], turns[:, i]))
            moves[:, i], turns[:, i] = place / scale[:, None], turn
        else:
            moves[:, i] /= sizes[parent]
    return spatial.align_signs(spatial.normalize(turns)), moves


def _replace(figure: FileSkeleton, codes: Array, turns: Array, moves: Array) -> None:
    """Replaces the samples of the animation by one for every frame; scales stay as they are at rest."""
    pxr = load_pxr()
    rest = np.array(figure.query.ComputeJointLocalTransforms(pxr.Usd.TimeCode.Default(), True))
    scales = np.linalg.norm(rest[:, :3, :3], axis=-1)
    animation = pxr.UsdSkel.Animation(figure.animation)
    animation.CreateJointsAttr(list(figure.joints))
    places, rotations, sizes = (
        animation.CreateTranslationsAttr(), animation.CreateRotationsAttr(), animation.CreateScalesAttr(),
    )  # fmt: skip
    for attribute in (places, rotations, sizes):
        attribute.Clear()
    sizes.Set(pxr.Vt.Vec3hArray([pxr.Gf.Vec3h(*map(float, row)) for row in scales]))
    xyz, xyzw = moves.astype(np.float32), np.roll(turns, -1, axis=2).astype(np.float32)
    for k, code in enumerate(codes):
        places.Set(pxr.Vt.Vec3fArray.FromNumpy(np.ascontiguousarray(xyz[k])), float(code))
        rotations.Set(pxr.Vt.QuatfArray.FromNumpy(np.ascontiguousarray(xyzw[k])), float(code))
