"""What a page needs to know of a figure: its tree, joints with limits, and its meshes as GLB."""

from __future__ import annotations

import hashlib

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.editing import segment_line
from counterpoise.character.joints import Joint
from counterpoise.character.kept import kept_with_character
from counterpoise.character.skin.dressing import head_of
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files.glb import pack
from counterpoise.motion.files.gltf import build_gltf
from counterpoise.motion.motion import Motion
from counterpoise.studio.events import BodyFacts, FigureFacts, GripFacts, JointFacts, LimitFacts
from counterpoise.studio.limit_outlines import DrawnLimits, drawn_limits


@kept_with_character
def figure_glb(character: Character, smooth: bool = False) -> bytes:
    """Returns the figure as a skinned GLB in its neutral pose; its bones have the names of the bodies. `smooth`: with
    the smooth body in place of the shapes, which takes seconds to make."""
    still = Motion(character, np.zeros(1), character.neutral[None], name=character.name)
    root, binary = build_gltf(clip_of_motion(still), still, smooth)
    return pack(root, binary)


@kept_with_character
def mesh_key(character: Character) -> str:
    """Returns the name of the figure's mesh in addresses: it changes when the figure does."""
    return hashlib.sha256(figure_glb(character)).hexdigest()[:16]


def mesh_address(character: Character) -> str:
    """Returns where the mesh of the figure's shapes is fetched."""
    return f"/figures/{mesh_key(character)}.glb"


def smooth_address(character: Character) -> str:
    """Returns where its smooth body is fetched; empty: it has none."""
    return f"/figures/{mesh_key(character)}/smooth.glb" if head_of(character) is not None else ""


@kept_with_character
def figure_facts(character: Character) -> FigureFacts:
    """Returns what lists, handles and the figure editor show."""
    return FigureFacts(
        name=character.name,
        mesh=mesh_address(character),
        smooth=smooth_address(character),
        mass=character.mass,
        weight=character.weight,
        height=character.height,
        bodies=tuple(_body(character, i, name) for i, name in enumerate(character.segments)),
        joints=tuple(_joint(character, joint) for joint in character.joints),
    )


def _body(character: Character, index: int, name: str) -> BodyFacts:
    start, end = segment_line(character, name)
    feet = {foot.body for foot in character.feet}
    role = "foot" if name in feet else "hand" if name in character.hands else "root" if name == character.root else ""
    parent = int(character.model.body_parentid[index + 1]) - 1
    mass = float(character.model.body_mass[index + 1])
    return BodyFacts(name, parent, mass, float(np.linalg.norm(end - start)), role)


def _joint(character: Character, joint: Joint) -> JointFacts:
    model = character.model
    ids = [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, part) for part in joint.parts]
    limited = joint.kind in ("hinge", "universal", "slide") and all(model.jnt_limited[i] for i in ids)
    low = tuple(float(model.jnt_range[i, 0]) for i in ids) if limited else ()
    high = tuple(float(model.jnt_range[i, 1]) for i in ids) if limited else ()
    return JointFacts(joint.name, joint.kind, joint.body, low, high, limit_facts(drawn_limits(character, joint)))


def limit_facts(drawn: DrawnLimits) -> LimitFacts:
    """Returns limits as the page draws and drags them."""

    def rounded(way: Array) -> tuple[float, ...]:
        return tuple(float(x) for x in np.round(way, 4))

    outline = tuple((float(x), float(y), float(z)) for x, y, z in np.round(drawn.outline, 4))
    grips = (GripFacts(g.side, float(np.degrees(g.angle)), rounded(g.place), rounded(g.axis)) for g in drawn.grips)
    return LimitFacts(outline, rounded(drawn.middle) if outline else (), tuple(grips))
