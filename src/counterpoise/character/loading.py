"""Loading a body: an MJCF or URDF file becomes a Character. Roles that are not given are guessed from names and shapes.

`character.roles.guessed` lists the guesses in words. Meshes and included files are read at once and kept inside the
character, so that the files are not needed again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import mujoco
import numpy as np

from counterpoise.character.actuators import Actuator, add_rotors, joint_strengths, read_actuators
from counterpoise.character.character import Character
from counterpoise.character.feet import guess_feet, guess_hands
from counterpoise.character.finish import finish
from counterpoise.character.floor import set_on_floor
from counterpoise.character.joints import read_joints, root_width
from counterpoise.character.keyframes import ZERO_POSE, copy_keyframes, home_pose
from counterpoise.character.meshes import keep_assets_inside
from counterpoise.character.mjcf import TEXT_NAME
from counterpoise.character.physics import DEFAULT_TORQUE_LIMIT, make_contact, set_physics
from counterpoise.character.roles import Roles, roles_to_json
from counterpoise.character.urdf import read_urdf
from counterpoise.errors import BadFile, BadValue, unknown_name
from counterpoise.files import one_line

LARGEST_FILE = 64 << 20  # [bytes]


def load_character(
    path: str | os.PathLike[str],
    feet: Sequence[str] | None = None,
    root: str | None = None,
    hands: Sequence[str] | None = None,
    name: str | None = None,
    floating: bool | None = None,
) -> Character:
    """Reads an MJCF or URDF body.

    `feet`, `hands` and `root` name bodies; what is left out is guessed. `root` also chooses among several figures in
    one file. `floating` gives the root a free joint (True) or keeps it as the file has it (False); by default the root
    of a URDF becomes free.
    """
    source = Path(path)
    if not source.is_file():
        raise BadFile(f"no file {str(source)!r}", path=str(source))
    if source.stat().st_size > LARGEST_FILE:
        raise BadFile(
            f"{str(source)!r} is larger than {LARGEST_FILE >> 20} MiB: not a body description", path=str(source)
        )
    try:
        head = source.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise BadFile(f"{str(source)!r} is not text: MJCF and URDF are XML", path=str(source)) from None
    urdf = "<robot" in head[:4000]
    free = floating if floating is not None else urdf
    try:
        spec = read_urdf(source, head, free) if urdf else mujoco.MjSpec.from_file(str(source))
    except (ValueError, RuntimeError, OSError, ElementTree.ParseError) as error:
        raise BadFile(f"{str(source)!r} is not a body MuJoCo can read: {one_line(error)}", path=str(source)) from None
    given = any(x is not None for x in (feet, root, hands, floating))
    try:
        if not given and any(text.name == TEXT_NAME for text in spec.texts):  # written by `to_mjcf`, with its roles
            return Character.from_mjcf(head)
        return character_from_spec(spec, name or spec.modelname or source.stem, feet, root, hands, free)
    except (BadValue, BadFile) as error:
        raise BadFile(f"{str(source)!r}: {error}", **{**error.evidence, "path": str(source)}) from None


def character_from_spec(
    spec: mujoco.MjSpec,
    name: str,
    feet: Sequence[str] | None = None,
    root: str | None = None,
    hands: Sequence[str] | None = None,
    floating: bool = False,
) -> Character:
    """Makes a Character of a specification: keeps one figure, removes the world around it, finds its roles."""
    _name_everything(spec)
    source = _compiled(spec)  # with its actuators and keyframes
    top = _keep_one_figure(spec, root)
    if floating and not top.joints:
        top.add_freejoint(name=_fresh("root", {joint.name for joint in spec.joints}))
    add_rotors(spec, source)
    _strip_world(spec)
    _shared_physics(spec)
    model = _compiled(spec)
    if model.nv == 0:
        raise BadValue("this body has no joints: there is nothing to move")
    keep_assets_inside(spec, model)
    _write_inertias(spec, model)
    copy_keyframes(spec, source, model)
    model = _compiled(spec)
    home, posed = home_pose(model)
    data = mujoco.MjData(model)
    data.qpos[:] = home
    mujoco.mj_kinematics(model, data)
    names = [model.body(b).name for b in range(1, model.nbody)]
    for body in [*(feet or ()), *(hands or ())]:
        if body not in names:
            raise unknown_name("body", body, names, name)
    found, how = guess_feet(model, data, tuple(feet) if feet is not None else None)
    guessed = [] if feet is not None else [how]
    found_hands = tuple(hands) if hands is not None else guess_hands(model)
    if hands is None:
        guessed.append(f"hands by name: {', '.join(found_hands) or 'none'}")
    top_name = model.body(1).name
    if root is None:
        guessed.append(f"root as the top of the tree: {top_name}")
    if posed != ZERO_POSE:
        guessed.append(f"stance from {posed}")
    actuators = read_actuators(source)
    roles = {
        "format": 1,
        "name": name,
        **roles_to_json(Roles(top_name, tuple(found), found_hands, tuple(guessed), actuators)),
        "torque": _torques(source, model, actuators, name),
        "balls": {},
        "parameters": {},
        "stance": home.tolist(),
    }
    return set_on_floor(finish(spec, roles))


def _keep_one_figure(spec: mujoco.MjSpec, root: str | None) -> Any:
    """Removes all figures but one. Returns its top body."""
    tops = list(spec.worldbody.bodies)
    if not tops:
        raise BadValue("this file holds no body")
    bodies = [b.name for b in spec.bodies if b.name != "world"]
    if root is None:
        chosen = max(tops, key=_joint_count)
    else:
        chosen = next((top for top in tops if root == top.name or top.find_child(root) is not None), None)
        if chosen is None:
            raise unknown_name("body", root, bodies, spec.modelname)
    for top in tops:
        if top.name != chosen.name or top.id != chosen.id:
            spec.delete(top)
    return chosen


def _joint_count(body: Any) -> int:
    return len(body.find_all("joint")) if hasattr(body, "find_all") else len(body.joints)


def _strip_world(spec: mujoco.MjSpec) -> None:
    """Removes what belongs to a simulated world and not to the body: ground, lights, motors, sensors."""
    for geom in list(spec.worldbody.geoms):
        spec.delete(geom)
    for kind in ("lights", "cameras", "keys", "actuators", "sensors", "equalities", "hfields"):
        for one in list(getattr(spec, kind)):
            spec.delete(one)


def _name_everything(spec: mujoco.MjSpec) -> None:
    taken = {b.name for b in spec.bodies} | {j.name for j in spec.joints}
    for number, body in enumerate(spec.bodies):
        if not body.name:
            body.name = _fresh(f"body{number}", taken)
    for joint in spec.joints:
        if not joint.name and joint.type == mujoco.mjtJoint.mjJNT_FREE:
            joint.name = _fresh("root", taken)
        elif not joint.name:
            joint.name = _fresh(f"{joint.parent.name}_joint", taken)


def _fresh(stem: str, taken: set[str]) -> str:
    name, number = stem, 1
    while name in taken:
        number += 1
        name = f"{stem}{number}"
    taken.add(name)
    return name


def _shared_physics(spec: mujoco.MjSpec) -> None:
    """Replaces the file's solver and contact settings by those of all characters."""
    set_physics(spec)
    spec.compiler.inertiafromgeom = int(mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_AUTO)
    for geom in spec.geoms:
        if geom.contype or geom.conaffinity:
            geom.contype = geom.conaffinity = 1
            make_contact(geom)


def _compiled(spec: mujoco.MjSpec) -> mujoco.MjModel:
    try:
        return spec.compile()
    except (ValueError, RuntimeError) as error:
        said = one_line(error)
        cure = "; copy the files that the body names beside it, as it came" if "opening file" in said else ""
        raise BadValue(f"MuJoCo cannot build this body: {said}{cure}") from None


def _write_inertias(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Writes masses that came from shapes into the specification, so that they stay when shapes change."""
    for body in spec.bodies:
        if body.name == "world":
            continue
        compiled = model.body(body.name)
        if float(compiled.mass[0]) > 0.0:
            body.explicitinertial = True
            body.mass, body.ipos, body.iquat = float(compiled.mass[0]), compiled.ipos, compiled.iquat
            body.inertia, body.fullinertia = compiled.inertia, [np.nan] * 6


def _torques(
    source: mujoco.MjModel, model: mujoco.MjModel, actuators: Sequence[Actuator], name: str
) -> dict[str, list[float]]:
    """Returns torque limits [N m] by joint, as the file gives them; warns of joints that have DEFAULT_TORQUE_LIMIT."""
    joints = read_joints(model)
    driven = [j for j in joints if j.dofs.start >= root_width(joints)]
    limits, unknown = joint_strengths(source, actuators, driven)
    if unknown:
        shown = ", ".join(unknown[:4]) + (", ..." if len(unknown) > 4 else "")
        warnings.warn(
            f"{name!r} gives no torque limit for {len(unknown)} of {len(driven)} joints ({shown}); they get "
            f"{DEFAULT_TORQUE_LIMIT:g} N m",
            stacklevel=4,  # where load_character was called
        )
    return limits
