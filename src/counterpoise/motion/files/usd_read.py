"""Skeleton animation read from USD: the joints of a UsdSkel skeleton, their rest pose, and their movement.

Joints are read where UsdSkel has them in the world, so that scales, and transforms above the skeleton, are part of
their places. Needs the extra `usd` (usd-core).
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.files import Refused, one_line
from counterpoise.motion.files.axes import into_ours
from counterpoise.motion.files.names import unique_names
from counterpoise.motion.skeleton import MAX_JOINTS, Clip, Skeleton

CREATOR = "Counterpoise"  # in the layer's data of files written here
MAX_FRAMES = 1_000_000
EVEN = 1e-3  # of a time code: samples this near to an even raster lie on it


@dataclass(frozen=True, eq=False)
class FileSkeleton:
    """A skeleton of a stage with its animation."""

    stage: Any  # pxr.Usd.Stage
    prim: Any  # of the skeleton
    animation: Any  # the prim of its animation
    query: Any  # pxr.UsdSkel.SkeletonQuery
    joints: tuple[str, ...]  # paths of joints
    parents: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The joints' names in a clip."""
        return tuple(unique_names([path.rsplit("/", 1)[-1] for path in self.joints]))

    def above(self, code: Any) -> Array:
        """Returns the matrix (4, 4) from the skeleton to the world, which acts on rows, at a time code."""
        return np.array(load_pxr().UsdGeom.XformCache(code).GetLocalToWorldTransform(self.prim))

    def world(self, code: Any, at_rest: bool = False) -> Array:
        """Returns the matrices (n, 4, 4) of all joints in the world, which act on rows."""
        found = self.query.ComputeJointSkelTransforms(code, at_rest)
        if not found:
            raise Refused(f"{self.prim.GetPath()} has no rest transforms, or its animation does not fit it")
        return np.asarray(np.array(found) @ self.above(code))


def read_clip(
    path: str | os.PathLike[str], *, rate: float | None = None, units: str | float | None = None,
    forward: str | None = None,
) -> Clip:  # fmt: skip
    """Reads the largest skeleton of a USD file that is animated, in metres, z up, x forward.

    Frames are `rate` a second; if none is given, those of the time samples, or the stage's where these are uneven.
    `units` replace the file's. `forward` is the file's axis that the figure faces; guessed if not given, and x in files
    written here.
    """
    if rate is not None and not (np.isfinite(rate) and 0.0 < rate <= 100_000.0):
        raise BadValue(f"a rate is a positive number of frames a second, not {rate!r}", rate=rate)
    source = Path(path)
    if not source.is_file():
        raise BadFile(f"no file {str(path)!r}", path=str(path))
    pxr = load_pxr()
    try:
        return _read(open_skeleton(open_stage(source)), source, rate, units, forward)
    except (Refused, pxr.Tf.ErrorException) as error:
        why = one_line(error)
        raise BadFile(f"{str(path)!r} is not a USD file this program can read: {why}", path=str(path)) from None


def open_stage(path: Path) -> Any:
    """Returns the stage of a file."""
    pxr = load_pxr()
    try:
        stage = pxr.Usd.Stage.Open(str(path))
    except pxr.Tf.ErrorException as error:
        raise Refused(one_line(error)) from None
    if not stage:
        raise Refused("usd-core cannot open it")
    return stage


def open_skeleton(stage: Any) -> FileSkeleton:
    """Returns the largest skeleton of a stage that has an animation."""
    Usd, UsdSkel = load_pxr().Usd, load_pxr().UsdSkel
    cache, found = UsdSkel.Cache(), []
    every = list(Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()))
    for prim in every:
        if prim.IsA(UsdSkel.Root):
            cache.Populate(UsdSkel.Root(prim), Usd.TraverseInstanceProxies())
    skeletons = [prim for prim in every if prim.IsA(UsdSkel.Skeleton)]
    for prim in skeletons:
        query = cache.GetSkelQuery(UsdSkel.Skeleton(prim))
        moves = query.GetAnimQuery() if query else None
        if moves:
            found.append((prim, query, moves))
    if not found:
        what = "its skeletons have no animation" if skeletons else "it holds no skeleton (UsdSkel)"
        raise Refused(what)
    prim, query, moves = max(found, key=lambda one: len(one[1].GetJointOrder()))
    joints = tuple(str(path) for path in query.GetJointOrder())
    if not 0 < len(joints) <= MAX_JOINTS:
        raise Refused(f"{prim.GetPath()} has {len(joints)} joints; 1 to {MAX_JOINTS} are read")
    parents = tuple(int(p) for p in query.GetTopology().GetParentIndices())
    if any(p >= i for i, p in enumerate(parents)):
        raise Refused(f"{prim.GetPath()} has joints that stand before their parents")
    return FileSkeleton(stage, prim, moves.GetPrim(), query, joints, parents)


def _read(
    figure: FileSkeleton, source: Path, rate: float | None, units: str | float | None, forward: str | None
) -> Clip:
    pxr, stage, remarks = load_pxr(), figure.stage, list[str]()
    codes, rate = frame_codes(figure, rate, remarks)
    places, turns = _rigid(np.array([figure.world(pxr.Usd.TimeCode(float(code))) for code in codes]))
    rest = _rigid(figure.world(pxr.Usd.TimeCode.Default(), at_rest=True)[None])
    moves, rotations = _local(figure.parents, places, turns)
    offsets, rests = (values[0] for values in _local(figure.parents, *rest))
    try:
        bones = Skeleton(figure.names, figure.parents, offsets, rests)
        raw = Clip(bones, rate, rotations, moves, source.stem)
    except BadValue as error:
        raise Refused(f"its clip is not valid: {one_line(error)}") from error
    up = str(pxr.UsdGeom.GetStageUpAxis(stage)).lower()
    metre = float(pxr.UsdGeom.GetStageMetersPerUnit(stage)) if units is None else units
    if forward is None and stage.GetRootLayer().customLayerData.get("creator") == CREATOR:
        forward = "x"
    clip, axes = into_ours(raw, metre, up, forward, remarks)
    notes = {
        "format": "usd", "remarks": tuple(remarks), "rate": rate, **axes, "start": float(codes[0]),
        "animation": str(figure.animation.GetPath()),
    }  # fmt: skip
    return replace(clip, notes=notes)


def frame_codes(figure: FileSkeleton, rate: float | None, remarks: list[str]) -> tuple[Array, float]:
    """Returns the time codes of the frames, and their rate [1/s]."""
    stage, samples = figure.stage, np.array(figure.query.GetAnimQuery().GetJointTransformTimeSamples(), float)
    second = float(stage.GetTimeCodesPerSecond())
    if not (np.isfinite(second) and second > 0.0):
        raise Refused(f"it has {second:g} time codes a second")
    if len(samples) < 2:
        return np.zeros(1) if not len(samples) else samples, rate or float(stage.GetFramesPerSecond() or second)
    gaps = np.diff(samples)
    even = bool(np.ptp(gaps) < EVEN * max(1.0, float(gaps.max())))
    if rate is None:
        rate = second / float(np.median(gaps)) if even else float(stage.GetFramesPerSecond() or second)
        if not even:
            remarks.append(f"time samples are uneven: read at {rate:.6g} frames/s")
    count = int(np.floor((samples[-1] - samples[0]) / second * rate + EVEN)) + 1
    if count > MAX_FRAMES:
        raise Refused(f"it has {count} frames, more than the {MAX_FRAMES} this program reads")
    return samples[0] + np.arange(count) * (second / rate), rate


def _rigid(matrices: Array) -> tuple[Array, Array]:
    """Returns places (f, n, 3) and rotations (f, n, 4) of matrices (f, n, 4, 4) that act on rows, without scales."""
    if not np.isfinite(matrices).all():
        raise Refused("its joints have transforms that are no numbers")
    u, _, vt = np.linalg.svd(matrices[..., :3, :3])
    turns = np.swapaxes(u @ vt, -1, -2)
    if (np.linalg.det(matrices[..., :3, :3]) <= 0.0).any():
        raise Refused("its joints are mirrored or have no size")
    return matrices[..., 3, :3], np.asarray(spatial.from_matrix(turns))


def _local(parents: tuple[int, ...], places: Array, turns: Array) -> tuple[Array, Array]:
    """Returns places and rotations of joints in their parents' frames, of those in the world."""
    moves, rotations = np.array(places), np.array(turns)
    for i, parent in enumerate(parents):
        if parent >= 0:
            above = spatial.inverse((places[:, parent], turns[:, parent]))
            moves[:, i], rotations[:, i] = spatial.compose(above, (places[:, i], turns[:, i]))
    return moves, spatial.normalize(rotations)


def load_pxr() -> Any:
    """Returns usd-core; raises an error with the cure where it is not installed."""
    try:
        pxr = import_module("pxr")
        for part in ("Gf", "Sdf", "Tf", "Usd", "UsdGeom", "UsdShade", "UsdSkel", "UsdUtils", "Vt"):
            import_module(f"pxr.{part}")
    except ImportError:
        raise CounterpoiseError("USD files need the package usd-core: pip install 'counterpoise[usd]'") from None
    return pxr
