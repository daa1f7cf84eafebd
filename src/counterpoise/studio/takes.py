"""Takes: motions that were computed or simulated, kept as clips beside the scene; nothing is ever overwritten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from counterpoise.arrays import Array
from counterpoise.motion.motion import Motion
from counterpoise.scene import AddClip, AddKey, AddMotion, SceneEdit, Together, coordinates_of
from counterpoise.scene.contents import EFFORTS_ENDING, PROPS_ENDING
from counterpoise.studio.cast import owner_of_motion
from counterpoise.studio.efforts import Efforts
from counterpoise.studio.prop_paths import PropPaths

if TYPE_CHECKING:
    from counterpoise.studio.workshop import Workshop

TAKES = "takes"  # the folder beside the scene


def free_name(shop: Workshop, word: str) -> str:
    """Returns a name for a motion that neither the scene nor the folder of takes has yet: "baked 2"."""
    scene = shop.document.scene
    number = 1
    while f"{word} {number}" in scene.motions or (scene.folder / TAKES / f"{word}_{number}.npz").exists():
        number += 1
    return f"{word} {number}"


def add_take(
    shop: Workshop,
    word: str,
    motion: Motion,
    owner: str,
    others: Mapping[str, Motion] | None = None,
    props: PropPaths | None = None,
    efforts: Efforts | None = None,
) -> str:
    """Writes a motion as a clip beside the scene, adds it, and shows it. Returns its name.

    `others` are motions of other characters at the same time, `props` what was thrown or fell meanwhile, `efforts` how
    much of their strength its joints used. All of it is one step of the history.
    """
    scene = shop.document.scene
    name = free_name(shop, word)
    (scene.folder / TAKES).mkdir(exist_ok=True)
    edits: list[SceneEdit] = []
    for take, one, character in (
        (name, motion, owner),
        *((f"{name} {other}", one, other) for other, one in (others or {}).items()),
    ):
        file = f"{TAKES}/{take.replace(' ', '_')}.npz"
        replace(one, times=one.times - one.times[0], name=take).save(scene.folder / file)
        edits.append(AddClip(take, file, character=character))
    beside = (scene.folder / TAKES / name.replace(" ", "_")).as_posix()
    if props is not None:
        props.save(Path(beside + PROPS_ENDING))
    if efforts is not None:
        efforts.save(Path(beside + EFFORTS_ENDING))
    shop.edit(edits[0] if len(edits) == 1 else Together(edits, label=f"add {name}"))
    shop.document.show(name)
    return name


def add_keys(shop: Workshop, word: str, times: Array, poses: Array, owner: str) -> str:
    """Adds a motion of keys and shows it. Returns its name."""
    name = free_name(shop, word)
    length = float(times[-1] - times[0])
    edits: list[SceneEdit] = [AddMotion(name, owner, duration=length, physics="none")]
    edits += [
        AddKey(float(t - times[0]), coordinates_of(shop.character, np.asarray(q)), motion=name)
        for t, q in zip(times, poses, strict=True)
    ]
    shop.edit(Together(edits, label="bake to keys"))
    shop.document.show(name)
    return name


def owner_of(shop: Workshop, motion: str) -> str:
    """Returns the name of the character that a motion of the scene belongs to."""
    return owner_of_motion(shop.document.scene, motion)
