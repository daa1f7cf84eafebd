"""Reading a URDF as robots come with it: meshes in packages, drawn shapes only, links without mass, odd inertias.

MuJoCo reads the file itself. Before that its meshes are found and read (`mesh_files.py`), its root link is joined to
the world, and what MuJoCo would refuse is put right: links that move and weigh nothing get a gram, inertias that no
body can have become the nearest that one can. A URDF says nothing of rotors; joints get the armature of usual ones.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from xml.etree.ElementTree import Element, SubElement, fromstring, tostring

import mujoco
import numpy as np

from counterpoise.character.mesh_files import UnreadableMesh, read_mesh

LEAST_MASS = 1e-3  # [kg] of a link that moves
LEAST_INERTIA = 1e-6  # [kg m^2]
ROTOR = 0.01  # [kg m^2] armature of the hinges of a robot of ROTOR_MASS; of others as their size to the fifth
ROTOR_MASS = 70.0  # [kg]
SCHEMES = ("package://", "model://", "file://")
USUAL_FOLDERS = (".", "meshes", "assets")  # of meshes, beside the file or one folder above it
SHAPES = ("collision", "visual")
MOMENTS = {"ixx": (0, 0), "iyy": (1, 1), "izz": (2, 2), "ixy": (0, 1), "ixz": (0, 2), "iyz": (1, 2)}
LEAST_SHARE = 1e-3  # of the largest moment: the smallest that is kept, and how much two are larger than the third


def read_urdf(source: Path, text: str, free: bool) -> mujoco.MjSpec:
    """Reads a URDF with MuJoCo; its root link is joined to the world by a floating or a fixed joint.

    Links collide by their collision shapes, and by what is drawn where no link of the file has one. Links without a
    collision shape keep what is drawn of them.
    """
    robot = fromstring(text)
    if not any(robot.iter("link")):
        raise ValueError("this URDF has no root link")
    _join_to_world(robot, free)
    options = _compiler_options(robot)
    assets = _take_meshes(robot, source.parent, options.pop("meshdir", ""))
    _mend_inertias(robot)
    _give_mass(robot)
    drawn_only = {link.get("name", "") for link in robot.iter("link") if link.find("collision") is None}
    weighed = {link.get("name", "") for link in robot.iter("link") if link.find("inertial") is not None}
    if robot.find("link/collision") is None:
        for one in robot.iterfind("link/visual"):
            one.tag = "collision"
    spec = mujoco.MjSpec.from_string(tostring(robot, encoding="unicode"), assets=assets)
    spec.compiler.fusestatic = 0  # the root link stays a body of its own
    _set_weights_of_shapes(spec, drawn_only, weighed | drawn_only)
    _give_rotors(spec)
    return spec


def _set_weights_of_shapes(spec: mujoco.MjSpec, weightless: set[str], weighed: set[str]) -> None:
    """Lets the shapes of `weightless` links weigh nothing, and reads meshes as shells where only `weighed` links use
    them: a thin mesh has no volume. A link that does not say what it weighs is as heavy as the volume of its shapes."""
    solid = set[str]()
    for body in spec.bodies:
        for geom in body.geoms:
            if body.name in weightless:
                geom.mass = 0.0
            if body.name not in weighed:
                solid.add(geom.meshname)
    for mesh in spec.meshes:
        if mesh.name not in solid:
            mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL


def _give_rotors(spec: mujoco.MjSpec) -> None:
    """Gives hinges without armature that of a usual motor with its gear, for a robot of this mass."""
    mass = sum(max(float(body.mass), 0.0) for body in spec.bodies)
    for joint in spec.joints:
        if joint.type == mujoco.mjtJoint.mjJNT_HINGE and joint.armature == 0.0:
            joint.armature = ROTOR * (mass / ROTOR_MASS) ** (5.0 / 3.0)


def _join_to_world(robot: Element, free: bool) -> None:
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    tops = [name for name in (link.get("name", "") for link in robot.findall("link")) if name not in children]
    if not tops:
        raise ValueError("this URDF has no root link")
    if tops[0] != "world":
        SubElement(robot, "link", name="world")
        joint = SubElement(robot, "joint", name="root", type="floating" if free else "fixed")
        SubElement(joint, "parent", link="world")
        SubElement(joint, "child", link=tops[0])


def _compiler_options(robot: Element) -> dict[str, str]:
    """Returns MuJoCo's compiler options in the file, to which what is drawn is added."""
    extension = robot.find("mujoco")
    if extension is None:
        extension = SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = SubElement(extension, "compiler")
    compiler.attrib.update(discardvisual="false", fusestatic="false", strippath="true")
    compiler.attrib.pop("texturedir", None)
    return compiler.attrib


# ------------------------------------------------------------------------------------------------------------- meshes


def _take_meshes(robot: Element, folder: Path, mesh_folder: str) -> dict[str, bytes]:
    """Returns the meshes that links use, by the names by which the links know them now.

    What a link looks like is read only where it has no collision shape. Meshes that cannot be read are left out, with a
    warning; where that is all of them, it is an error.
    """
    assets: dict[str, bytes] = {}
    names: dict[Path, str] = {}
    left_out: list[str] = []
    for link in robot.iter("link"):
        for kind in SHAPES:
            for shape in link.findall(kind):
                if kind == "visual" and link.find("collision") is not None:
                    link.remove(shape)
                    continue
                for texture in shape.findall("material/texture"):
                    texture.attrib.clear()
                mesh = shape.find("geometry/mesh")
                if mesh is None:
                    continue
                try:
                    path = find_mesh(mesh.get("filename", ""), folder, mesh_folder)
                    if path not in names:
                        suffix, content = read_mesh(path)
                        names[path] = _free_name(path.stem, suffix, assets)
                        assets[names[path]] = content
                    mesh.set("filename", names[path])
                except UnreadableMesh as error:
                    left_out.append(str(error))
                    link.remove(shape)
    if left_out and not assets:
        raise OSError(left_out[0])
    if left_out:
        more = f", and {len(left_out) - 1} more" if len(left_out) > 1 else ""
        warnings.warn(
            f"{robot.get('name', '')!r} is read without some of its shapes: {left_out[0]}{more}", stacklevel=5
        )
    return assets


def find_mesh(wanted: str, folder: Path, mesh_folder: str = "") -> Path:
    """Returns the file of a mesh that a URDF in `folder` names, by a path, or by a package and a path.

    A package is a folder of that name above the file or beside one of those; then the usual folders are searched.
    """
    inside = wanted
    for scheme in SCHEMES:
        inside = inside.removeprefix(scheme)
    name = Path(inside).name
    if not name:
        raise UnreadableMesh("a mesh without a file name")
    if wanted.startswith("file://"):
        places: list[Path] = [Path(inside)]
    else:
        places = [folder / inside] if not inside.startswith("/") else []
    inside = inside.lstrip("/")
    package, _, rest = inside.partition("/")
    above = [folder, *folder.resolve().parents]
    places += [base / inside for base in above]
    places += [base / rest for base in above if rest and base.name == package]
    places += [folder / mesh_folder / inside, folder / mesh_folder / name] if mesh_folder else []
    places += [base / usual / name for base in (folder, folder.parent) for usual in USUAL_FOLDERS]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise UnreadableMesh(f"its mesh {wanted!r} is missing")
    return found.resolve()


def _free_name(stem: str, suffix: str, taken: dict[str, bytes]) -> str:
    """Returns a name for a mesh: files of two folders may have the same."""
    known = {Path(name).stem for name in taken}
    name, number = stem, 1
    while name in known:
        number += 1
        name = f"{stem}_{number}"
    return name + suffix


# ------------------------------------------------------------------------------------------------------------- masses


def _give_mass(robot: Element) -> None:
    """Gives a little mass to links that move and have none, as the links between the hinges of a hip often have."""
    links = {link.get("name", ""): link for link in robot.iter("link")}
    fixed: dict[str, list[str]] = {}
    moving = []
    for joint in robot.iterfind("joint"):
        parent, child = joint.find("parent"), joint.find("child")
        if parent is None or child is None:
            continue
        if joint.get("type") == "fixed":
            fixed.setdefault(parent.get("link", ""), []).append(child.get("link", ""))
        else:
            moving.append(child.get("link", ""))
    for name in moving:
        carried = [name]
        for one in carried:  # with all that is fixed to it
            carried += [other for other in fixed.get(one, []) if other not in carried]
        if name in links and not any(_weighs(links[one]) for one in carried if one in links):
            for old in links[name].findall("inertial"):
                links[name].remove(old)
            inertial = SubElement(links[name], "inertial")
            SubElement(inertial, "mass", value=str(LEAST_MASS))
            least = str(LEAST_INERTIA)
            SubElement(inertial, "inertia", ixx=least, iyy=least, izz=least, ixy="0", ixz="0", iyz="0")


def _weighs(link: Element) -> bool:
    """Returns whether a link has a mass (a negative one is left for MuJoCo to refuse), by its shapes where not said."""
    inertial = link.find("inertial")
    if inertial is None:
        return link.find("collision") is not None
    numbers = [_number(part.get("value")) for part in inertial.iter("mass")] + list(_moments(inertial))
    return any(abs(one) > 0.0 or math.isnan(one) for one in numbers[:1]) and any(one != 0.0 for one in numbers[1:])


def _mend_inertias(robot: Element) -> None:
    """Makes inertias that no body can have the nearest that one can; says so.

    Moments are positive, and none is larger than the two others together: the smallest one is raised.
    """
    odd = []
    for link in robot.iter("link"):
        inertial = link.find("inertial")
        m = list(_moments(inertial)) if inertial is not None else []
        if inertial is None or len(m) != len(MOMENTS) or not np.isfinite(m).all() or not any(m):
            continue
        values, axes = np.linalg.eigh(np.array([[m[0], m[3], m[4]], [m[3], m[1], m[5]], [m[4], m[5], m[2]]]))
        good = np.maximum(values, LEAST_SHARE * max(float(values[2]), LEAST_INERTIA))
        good[0] = max(good[0], (1.0 + LEAST_SHARE) * good[2] - good[1])
        if np.allclose(good, values, rtol=1e-5, atol=0.0):
            continue
        odd.append(link.get("name", ""))
        I = (axes * good) @ axes.T
        for inertia in inertial.iter("inertia"):
            for key, (i, j) in MOMENTS.items():
                inertia.set(key, repr(float(I[i, j])))
    if odd:
        shown = ", ".join(odd[:3]) + (", ..." if len(odd) > 3 else "")
        warnings.warn(
            f"{robot.get('name', '')!r}: no body can have the inertia of {len(odd)} of its links ({shown}); they get "
            "the nearest that one can have",
            stacklevel=4,
        )


def _moments(inertial: Element) -> Iterator[float]:
    for inertia in inertial.iter("inertia"):
        for key in MOMENTS:
            yield _number(inertia.get(key, "0"))


def _number(text: str | None) -> float:
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan
