"""OpenScene: the scene that is open, with its history, its file, and the motion that is on the timeline."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.motion.motion import Motion
from counterpoise.scene import (
    MAIN,
    AddKey,
    Scene,
    SceneEdit,
    SceneHistory,
    SetDuration,
    SetPose,
    apply_edit,
    coordinates_of,
    new_scene,
    read_scene,
    write_scene,
)
from counterpoise.scene.scene import scene_from_text
from counterpoise.simulate import World
from counterpoise.studio.autosave import Autosave
from counterpoise.studio.folder import Folder
from counterpoise.studio.motions import EMPTY_DURATION, ShownMotion, show_motion


class OpenScene:
    """What is open. Every change goes through `do`, is one step of the history, and is on the disk at once."""

    def __init__(self, folder: Folder, scene: Scene, file: str = "") -> None:
        self.folder, self.file = folder, file
        self.history = SceneHistory(scene)
        self.revision = 1
        self.saved_text = scene.text if file else ""
        self.recovered = False
        self._shown = show_motion(scene, first_motion(scene))

    # -- reading ------------------------------------------------------------------------------------------------------
    @property
    def scene(self) -> Scene:
        return self.history.present

    @property
    def shown(self) -> ShownMotion:
        return self._shown

    @property
    def character(self) -> Character:
        return self._shown.character

    @property
    def world(self) -> World:
        return self.scene.world

    @property
    def unsaved(self) -> bool:
        return self.scene.text != self.saved_text

    @property
    def autosave(self) -> Autosave:
        return Autosave(self.folder, self.file)

    def pose_at(self, time: float) -> Array:
        return self._shown.pose_at(time)

    # -- changing -----------------------------------------------------------------------------------------------------
    def do(self, edit: SceneEdit) -> None:
        """Applies an edit. One that fails changes nothing."""
        self._take(self.history.do(edit))

    def undo(self) -> str:
        """Takes the last edit back. Returns it in words."""
        words = self.history.past[-1][0].words() if self.history.past else ""
        self._take(self.history.undo())
        return words

    def redo(self) -> str:
        """Makes the edit again that was undone last. Returns it in words."""
        words = self.history.future[0][0].words() if self.history.future else ""
        self._take(self.history.redo())
        return words

    def set_pose(self, time: float, q: Array) -> None:
        """Writes a pose at a time: another pose of the key there, or a new key."""
        shown = self._shown
        if shown.is_clip:
            raise BadValue(
                f"{shown.name!r} is a take, which is not posed by hand: choose the keys in the list of motions"
            )
        values = coordinates_of(self.character, np.asarray(q))
        key = shown.key_at(time)
        self.do(AddKey(time, values, motion=shown.name) if key is None else SetPose(key.index, values, shown.name))

    def show(self, name: str) -> None:
        """Puts another motion on the timeline."""
        self._shown = self._numbered(show_motion(self.scene, name))
        self.revision += 1

    def refined(self, motion: Motion) -> None:
        """Takes the frames in which planted feet do not slide."""
        self._shown.motion, self._shown.refined = motion, True
        self._shown.number += 1
        self.revision += 1

    def save(self, name: str) -> None:
        """Writes the scene into a file of the folder."""
        path = self.folder.path(name if name.lower().endswith(".toml") else f"{name}.toml")
        if not path.parent.is_dir():
            raise BadFile(f"there is no folder {self.folder.name_of(path.parent)!r}: save beside the other files")
        self.autosave.drop()
        if path.parent.resolve() != self.scene.folder.resolve():
            write_scene(self.scene, path)
            moved = scene_from_text(self.scene.text, path.parent, path.name)
            self.history = SceneHistory(moved, self.history.past, self.history.future)
        else:
            write_scene(self.scene, path)
        self.file, self.saved_text = self.folder.name_of(path), self.scene.text
        self.revision += 1

    def _take(self, history: SceneHistory) -> None:
        name = self._shown.name
        known = name in history.present.motions or name == MAIN
        shown = show_motion(history.present, name if known else first_motion(history.present))
        self.history, self._shown = history, self._numbered(shown)
        self.revision += 1
        if self.unsaved:
            self.autosave.write(self.scene.text)
        else:
            self.autosave.drop()

    def _numbered(self, shown: ShownMotion) -> ShownMotion:
        shown.number = self._shown.number + 1
        return shown


def first_motion(scene: Scene) -> str:
    """Returns the motion that is shown first: the main one, or the only clip."""
    return MAIN if MAIN in scene.motions or not scene.motions else next(iter(scene.motions))


def empty_document(folder: Folder, figure: str = "human") -> OpenScene:
    """Returns a new document with one figure."""
    scene = apply_edit(new_scene(figure, "untitled", folder.root), SetDuration(EMPTY_DURATION))
    return OpenScene(folder, scene)


def open_document(folder: Folder, name: str) -> OpenScene:
    """Opens a scene of the folder; changes that were not saved before the program ended are there again."""
    path = folder.read(name)
    document = OpenScene(folder, read_scene(path), folder.name_of(path))
    return _recovered(document)


def start_document(folder: Folder, scene: Path | None) -> OpenScene:
    """Returns what the studio begins with: a scene, or the unnamed one that was open last."""
    if scene is None:
        return _recovered(empty_document(folder))
    return open_document(folder, folder.name_of(scene))


def _recovered(document: OpenScene) -> OpenScene:
    """Returns the document with the autosaved text, if there is one that differs; it can be undone."""
    text = document.autosave.read()
    if text is None or text == document.scene.text:
        return document
    from counterpoise.scene import SetText

    try:
        document.do(SetText(text))
    except CounterpoiseError:  # a file that it names is gone: the autosave stays where it is
        return document
    document.recovered = True
    return document
