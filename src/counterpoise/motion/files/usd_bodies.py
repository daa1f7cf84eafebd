"""Bodies of a UsdSkel figure: the surfaces of a character, or the meshes that a motion keeps of its file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.motion.bound_mesh import BoundMesh
from counterpoise.motion.files.meshes import RGBA, MeshSurface
from counterpoise.motion.files.names import identifier, linear_light, unique_names

SAME_BIND = 1e-5  # [m, 1] binds that differ by less are the same


@dataclass(frozen=True)
class _Look:
    """A material and the faces that have it."""

    colour: tuple[float, float, float]  # linear light
    opacity: float
    faces: Ints


def add_body(pxr: Any, stage: Any, name: str, body: list[MeshSurface]) -> None:
    """Adds one mesh of all surfaces, with a material for each colour."""
    counts = [len(s.points) for s in body]
    starts = np.cumsum([0, *counts])
    points = np.concatenate([s.points for s in body])
    normals = np.concatenate([s.normals for s in body])
    faces = np.concatenate([s.faces + start for s, start in zip(body, starts, strict=False)])
    follows, weights = np.repeat([s.joint for s in body], counts)[:, None], np.ones((len(points), 1))
    if any(s.follows is not None for s in body):
        follows, weights = np.repeat(follows, 4, axis=1), np.tile([1.0, 0.0, 0.0, 0.0], (len(points), 1))
        for surface, start in zip(body, starts, strict=False):
            if surface.follows is not None and surface.weights is not None:
                rows = slice(start, start + len(surface.points))
                follows[rows], weights[rows] = surface.follows, surface.weights
    face_of = np.repeat(np.arange(len(body)), [len(s.faces) for s in body])
    colours: dict[RGBA, list[int]] = {}
    for i, surface in enumerate(body):
        colours.setdefault(surface.colour, []).append(i)
    looks = []
    for colour, parts in colours.items():
        red, green, blue = map(linear_light, colour[:3])
        looks.append(_Look((red, green, blue), float(colour[3]), np.flatnonzero(np.isin(face_of, parts))))
    mesh = _add_mesh(pxr, stage, f"/{name}/Body", points, normals, faces)
    _bind(pxr, mesh, f"/{name}/Skeleton", follows, weights, np.eye(4))
    stage.DefinePrim(f"/{name}/Materials", "Scope")
    _add_materials(pxr, stage, name, mesh, looks, 1)


def add_kept_meshes(pxr: Any, stage: Any, name: str, meshes: tuple[BoundMesh, ...], joints: list[int]) -> None:
    """Adds the meshes of a file; `joints` are those of the skeleton for the joints of the file.

    USD binds a skeleton once. A mesh that was bound to the same joints in another pose gets a second skeleton with the
    same movement.
    """
    stage.DefinePrim(f"/{name}/Materials", "Scope")
    poses: list[dict[int, Array]] = []  # of each skeleton: the frames in which joints were bound
    titles = unique_names(["Skeleton", "Animation", "Materials", *(identifier(mesh.name) for mesh in meshes)])[3:]
    looks = 1
    for mesh, title in zip(meshes, titles, strict=True):
        number, placed = _shared_bind(mesh, joints, poses)
        made = _add_mesh(pxr, stage, f"/{name}/{title}", mesh.points, mesh.normals, mesh.faces)
        follows = np.array([joints[j] for j in mesh.joints])[mesh.follows]
        _bind(pxr, made, _skeleton_path(name, number), follows, mesh.weights, placed)
        chosen = sorted(set(mesh.material_of.tolist()))
        parts = [_Look(mesh.materials[k].colour, 1.0, np.flatnonzero(mesh.material_of == k)) for k in chosen]
        _add_materials(pxr, stage, name, made, parts, looks)
        looks += len(parts)
    for number, pose in enumerate(poses):
        _set_binds(pxr, stage, name, number, pose)


def _shared_bind(mesh: BoundMesh, joints: list[int], poses: list[dict[int, Array]]) -> tuple[int, Array]:
    """Returns the skeleton that a mesh can be bound to, and the matrix that brings the mesh to where it was bound."""
    binds = np.tile(np.eye(4), (len(mesh.joints), 1, 1))
    binds[:, :3] = mesh.binds
    mine = {joints[j]: bind for j, bind in zip(mesh.joints, binds, strict=True)}
    for number, pose in enumerate(poses):
        found = [pose[j] @ bind for j, bind in mine.items() if j in pose]
        if all(np.abs(one - found[0]).max() < SAME_BIND for one in found):
            placed = found[0] if found else np.eye(4)
            pose |= {j: placed @ np.linalg.inv(bind) for j, bind in mine.items() if j not in pose}
            return number, placed
    poses.append({j: np.linalg.inv(bind) for j, bind in mine.items()})
    return len(poses) - 1, np.eye(4)


def _skeleton_path(name: str, number: int) -> str:
    return f"/{name}/Skeleton" if number == 0 else f"/{name}/Skeleton_{number + 1}"


def _set_binds(pxr: Any, stage: Any, name: str, number: int, pose: dict[int, Array]) -> None:
    """Sets the bind transforms of a skeleton, which is a copy of the first one if it is not that."""
    UsdSkel = pxr.UsdSkel
    first = UsdSkel.Skeleton.Get(stage, _skeleton_path(name, 0))
    matrices = np.array(first.GetBindTransformsAttr().Get(), dtype=np.float64)
    skel = first
    if number:
        skel = UsdSkel.Skeleton.Define(stage, _skeleton_path(name, number))
        skel.CreateJointsAttr(first.GetJointsAttr().Get())
        skel.CreateRestTransformsAttr(first.GetRestTransformsAttr().Get())
        UsdSkel.BindingAPI.Apply(skel.GetPrim()).CreateAnimationSourceRel().SetTargets([f"/{name}/Animation"])
    for joint, bind in pose.items():
        matrices[joint] = bind.T  # USD's matrices act on rows
    skel.CreateBindTransformsAttr(pxr.Vt.Matrix4dArray.FromNumpy(matrices))


def _add_mesh(pxr: Any, stage: Any, path: str, points: Array, normals: Array, faces: Ints) -> Any:
    UsdGeom, Vt, Gf = pxr.UsdGeom, pxr.Vt, pxr.Gf
    stored = points.astype(np.float32)
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(stored))
    mesh.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(normals.astype(np.float32)))
    mesh.SetNormalsInterpolation(UsdGeom.Tokens.vertex)
    mesh.CreateFaceVertexCountsAttr(Vt.IntArray(len(faces), 3))
    mesh.CreateFaceVertexIndicesAttr(Vt.IntArray.FromNumpy(faces.astype(np.int32).reshape(-1)))
    mesh.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    mesh.CreateExtentAttr([Gf.Vec3f(*stored.min(axis=0).tolist()), Gf.Vec3f(*stored.max(axis=0).tolist())])
    return mesh


def _bind(pxr: Any, mesh: Any, skeleton: str, follows: Ints, weights: Array, placed: Array) -> None:
    """Ties a mesh to a skeleton: joints and weights (k, width) of every point."""
    Vt, width = pxr.Vt, follows.shape[1]
    binding = pxr.UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton])
    flat = np.ascontiguousarray(np.where(weights > 0.0, follows, 0), dtype=np.int32).reshape(-1)
    binding.CreateJointIndicesPrimvar(False, width).Set(Vt.IntArray.FromNumpy(flat))
    shares = np.ascontiguousarray(weights, dtype=np.float32).reshape(-1)
    binding.CreateJointWeightsPrimvar(False, width).Set(Vt.FloatArray.FromNumpy(shares))
    binding.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(placed.T.tolist()))


def _add_materials(pxr: Any, stage: Any, name: str, mesh: Any, looks: list[_Look], first: int) -> None:
    """Adds a material for each look, numbered from `first`."""
    UsdGeom, UsdShade, Sdf, Vt, Gf = pxr.UsdGeom, pxr.UsdShade, pxr.Sdf, pxr.Vt, pxr.Gf
    for k, look in enumerate(looks, start=first):
        material = UsdShade.Material.Define(stage, f"/{name}/Materials/Skin{k}")
        shader = UsdShade.Shader.Define(stage, f"/{name}/Materials/Skin{k}/Surface")
        shader.CreateIdAttr("UsdPreviewSurface")
        shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set(Gf.Vec3f(*look.colour))
        shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.8)
        shader.CreateInput("metallic", Sdf.ValueTypeNames.Float).Set(0.0)
        shader.CreateInput("opacity", Sdf.ValueTypeNames.Float).Set(look.opacity)
        material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
        subset = UsdGeom.Subset.Define(stage, f"{mesh.GetPath()}/Skin{k}")
        subset.CreateElementTypeAttr(UsdGeom.Tokens.face)
        subset.CreateFamilyNameAttr("materialBind")
        subset.CreateIndicesAttr(Vt.IntArray.FromNumpy(look.faces.astype(np.int32)))
        UsdShade.MaterialBindingAPI.Apply(subset.GetPrim()).Bind(material)
    UsdGeom.Subset.SetFamilyType(mesh, "materialBind", UsdGeom.Tokens.partition)
