"""What a page needs to know of a figure: its tree, joints with limits, and its mesh as GLB."""

from __future__ import annotations

import hashlib

import mujoco
import numpy as np

from counterpoise.character.character import Character
from counterpoise.character.editing import segment_line
from counterpoise.character.joints import Joint
from counterpoise.character.kept import kept_with_character
from counterpoise.motion.clips import clip_of_motion
from counterpoise.motion.files.glb import pack
from counterpoise.motion.files.gltf import build_gltf
from counterpoise.motion.motion import Motion
from counterpoise.studio.events import BodyFacts, FigureFacts, JointFacts
from counterpoise.studio.limit_outlines import limit_middle, limit_outline


@kept_with_character
def figure_glb(character: Character) -> bytes:
    """Returns the figure as a skinned GLB in its neutral pose; its bones have the names of the bodies."""
    still = Motion(character, np.zeros(1), character.neutral[None], name=character.name)
    root, binary = build_gltf(clip_of_motion(still), still)
    return pack(root, binary)


@kept_with_character
def mesh_key(character: Character) -> str:
    """Returns the name of the figure's mesh in addresses: it changes when the figure does."""
    return hashlib.sha256(figure_glb(character)).hexdigest()[:16]


@kept_with_character
def figure_facts(character: Character) -> FigureFacts:
    """Returns what lists, handles and the figure editor show."""
    return FigureFacts(
        name=character.name,
        mesh=f"/figures/{mesh_key(character)}.glb",
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
    outline = tuple((float(x), float(y), float(z)) for x, y, z in np.round(limit_outline(character, joint), 4))
    middle = tuple(float(x) for x in np.round(limit_middle(character, joint), 4)) if outline else ()
    return JointFacts(joint.name, joint.kind, joint.body, low, high, outline, middle)
