"""Files: new, open, save, and what is in the folder."""

from __future__ import annotations

from pathlib import Path

from counterpoise.character.loading import load_character
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.motion.files.hub import FORMATS
from counterpoise.scene import AddCharacter, AddClip, SetFigure, Together
from counterpoise.studio.commands import ListFiles, NewScene, OpenFile, OpenStarter, SaveScene
from counterpoise.studio.events import FilesListed
from counterpoise.studio.open_scene import empty_document, open_document
from counterpoise.studio.starters import starter_document
from counterpoise.studio.workshop import Workshop, handles

FIGURES = (".xml", ".mjcf", ".urdf")
OWN_SKELETON = (".bvh", ".glb", ".gltf", ".asf", ".amc")  # clips that bring a body of their own


@handles(NewScene)
def new_scene(shop: Workshop, command: NewScene) -> None:
    _keep_unnamed(shop)
    shop.open(empty_document(shop.folder, command.figure))


@handles(OpenStarter)
def open_starter(shop: Workshop, command: OpenStarter) -> None:
    _keep_unnamed(shop)
    shop.open(starter_document(shop.folder, command.name))


@handles(OpenFile)
def open_file(shop: Workshop, command: OpenFile) -> None:
    open_named(shop, command.name)


@handles(SaveScene)
def save_scene(shop: Workshop, command: SaveScene) -> None:
    """Saves the scene and lists the files anew."""
    shop.document.save(command.name)
    shop.say_scene()
    shop.say(FilesListed(shop.folder.listing()))
    shop.note(f"Saved {shop.document.file}.")


@handles(ListFiles)
def list_files(shop: Workshop, command: ListFiles) -> None:
    shop.say(FilesListed(shop.folder.listing()))


def _keep_unnamed(shop: Workshop) -> None:
    """Keeps the text of a scene without a file, before another one takes its place."""
    if shop.document.file:
        return
    if shop.document.history.past:
        shop.document.autosave.keep_copy()
        shop.note("The scene that was open had no file; its text is kept in the folder .counterpoise.")
    shop.document.autosave.drop()


def open_named(shop: Workshop, name: str) -> None:
    """Opens a file by its kind: a scene is opened, a figure is taken, a clip becomes a motion of the scene."""
    path = shop.folder.read(name)
    suffix = path.suffix.lower()
    if suffix == ".toml":
        shop.open(open_document(shop.folder, name))
        return
    beside = beside_scene(shop, path)
    if suffix in FIGURES:
        take_figure(shop, beside, path)
    elif suffix in FORMATS:
        open_clip(shop, beside, path)
    else:
        known = ", ".join([".toml", *FIGURES, *FORMATS])
        raise BadFile(f"{name!r} is no kind of file that the studio opens; it opens {known}", path=name)


def take_figure(shop: Workshop, beside: str, path: Path) -> None:
    """Takes the figure of a file for the scene; keys keep the joints that it shares."""
    load_character(path)  # what is wrong with the file itself is said first
    try:
        shop.edit(SetFigure(beside))
    except CounterpoiseError as error:
        raise BadValue(
            f"{path.name} does not fit what this scene says of its figure ({error}): press New in the tab Scene, "
            "then open the file again"
        ) from None


def open_clip(shop: Workshop, beside: str, path: Path) -> None:
    """Adds a clip as a motion; one with a skeleton of its own brings that as a character."""
    scene = shop.document.scene
    word = path.stem
    number, name = 1, word
    while name in scene.motions or name in scene.characters or name == "main":
        number += 1
        name = f"{word} {number}"
    if path.suffix.lower() in OWN_SKELETON:
        shop.edit(Together([AddCharacter(name, beside), AddClip(name, beside, character=name)], label=f"open {name}"))
    else:
        shop.edit(AddClip(name, beside))
    before = shop.character
    shop.document.show(name)
    shop.after_change(before)


def beside_scene(shop: Workshop, path: Path) -> str:
    """Returns a file's name as the scene names it: relative to its own folder."""
    folder = shop.document.scene.folder.resolve()
    if not path.is_relative_to(folder):
        raise BadFile(f"{path.name!r} lies beside another scene: save this scene in the same folder first")
    return path.relative_to(folder).as_posix()
