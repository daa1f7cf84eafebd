"""A loaded body set on the floor: contact points where its soles touch in the neutral pose, nothing of a foot below."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.feet import guess_feet
from counterpoise.character.finish import finish
from counterpoise.character.meshes import steady_feet
from counterpoise.character.mjcf import TEXT_NAME
from counterpoise.character.roles import Foot, roles_to_json
from counterpoise.character.shapes import solids_of, world_reach

SAME_POINT = 1e-4  # [m] contact points that moved less are kept
ROUNDS = 3  # a round foot touches elsewhere once it is flat: points and pose are found in turn
_DOWN = np.array([0.0, 0.0, -1.0])


def set_on_floor(character: Character) -> Character:
    """Returns the body with the contact points that its neutral pose has, and its lowest sole at height zero."""
    if not character.feet or not character.floating:
        return character
    for _ in range(ROUNDS):
        feet = _feet_in_neutral(character)
        if feet is None:
            break
        character = _again(character, feet=roles_to_json(replace(character.roles, feet=feet))["feet"], neutral=None)
    spec = character.spec()
    if steady_feet(character, spec):
        character = _again(character, spec)
    return _raised(character)


def _feet_in_neutral(character: Character) -> tuple[Foot, ...] | None:
    """Returns the feet with the contact points of the neutral pose; None if they are as they were."""
    found, _ = guess_feet(character.model, _posed(character), tuple(foot.name for foot in character.feet))
    if [len(foot.points) for foot in found] != [len(foot.points) for foot in character.feet]:
        return None  # the neutral pose is not flat enough to judge by
    old = np.array([p.position for p in character.contact_points])
    new = np.array([p.position for foot in found for p in foot.points])
    same_bodies = [p.body for p in character.contact_points] == [p.body for foot in found for p in foot.points]
    return tuple(found) if same_bodies and np.abs(new - old).max() > SAME_POINT else None


def _raised(character: Character) -> Character:
    """Returns the body with its neutral pose moved up or down until the lowest point of its feet touches the ground."""
    bodies = {character.body_id(p.body) for p in character.contact_points}
    solids = tuple(s for s in solids_of(character) if s.body in bodies)
    if not solids or character.joints[0].kind != "free":
        return character
    lowest = -float(world_reach(solids, _posed(character), _DOWN).max())
    if abs(lowest) < SAME_POINT:
        return character
    neutral: Array = character.neutral.copy()
    neutral[character.joints[0].qpos.start + 2] -= lowest
    return _again(character, neutral=neutral.tolist())


def _posed(character: Character) -> mujoco.MjData:
    data = mujoco.MjData(character.model)
    data.qpos[:] = character.neutral
    mujoco.mj_kinematics(character.model, data)
    return data


def _again(character: Character, spec: mujoco.MjSpec | None = None, **changed: Any) -> Character:
    """Returns the body finished once more with other roles; one that is None is found anew."""
    spec = spec or character.spec()
    stored = json.loads(next(text.data for text in spec.texts if text.name == TEXT_NAME))
    return finish(spec, {key: value for key, value in {**stored, **changed}.items() if value is not None})
