"""Scene: one document with everything that is moved, simulated and filmed; read from TOML, written to TOML."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from counterpoise.character.character import Character
from counterpoise.errors import BadFile, unknown_name
from counterpoise.files import whole_file
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.scene.changes import SceneChange, read_changes
from counterpoise.scene.contents import (
    EFFORTS_ENDING,
    MAIN,
    PROPS_ENDING,
    SceneCamera,
    SceneCharacter,
    SceneConstraint,
    SceneController,
    SceneExperiment,
    SceneMotion,
    SceneNote,
    SceneOutput,
    ScenePush,
    SimulationPlan,
)
from counterpoise.scene.controllers import read_controllers
from counterpoise.scene.document import TomlDocument
from counterpoise.scene.experiments import read_experiment
from counterpoise.scene.figures import read_characters
from counterpoise.scene.motions import read_motions
from counterpoise.scene.recorded_paths import SceneRecordedPath, read_recorded_paths
from counterpoise.scene.steps import SceneSteps, read_steps
from counterpoise.scene.surroundings import (
    read_cameras,
    read_constraints,
    read_notes,
    read_output,
    read_pushes,
    read_simulation,
    read_world,
)
from counterpoise.scene.values import toml_value
from counterpoise.simulate.world import World
from counterpoise.spacetime.stunt.reading import Table, open_toml, text_of

if TYPE_CHECKING:
    from counterpoise.motion.motion import Motion
    from counterpoise.progress import Watch
    from counterpoise.scene.running import SceneRun

VERSION = 1  # of the format; a file without `scene = 1` has this version
DEFAULT_SECONDS = 3.0  # [s] simulated, and filled with random pushes, where nothing says how long


@dataclass(frozen=True, eq=False)
class Scene:
    """One document: characters with their edits, motions, the world, controllers, pushes, cameras, notes.

    `text` is the whole of it as TOML, with the comments and the order of whoever wrote it; the other fields are what
    it says. Two scenes are equal if their texts and folders are. Changes are made by `apply_edit`.
    """

    text: str
    folder: Path  # where the files that it names are
    source: str  # the name of its file in errors
    name: str
    version: int
    characters: Mapping[str, SceneCharacter]
    motions: Mapping[str, SceneMotion]
    world: World
    controllers: Mapping[str, SceneController]
    simulation: SimulationPlan
    pushes: tuple[ScenePush, ...]
    constraints: tuple[SceneConstraint, ...]
    cameras: tuple[SceneCamera, ...]
    notes: tuple[SceneNote, ...]
    output: SceneOutput
    experiment: SceneExperiment | None = None
    changes: tuple[SceneChange, ...] = ()
    steps: SceneSteps | None = None
    recorded_paths: tuple[SceneRecordedPath, ...] = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and (self.text, self.folder) == (other.text, other.folder)

    def __hash__(self) -> int:
        return hash((self.text, self.folder))

    def __repr__(self) -> str:
        parts = [f"characters {', '.join(self.characters)}"]
        parts += [f"motions {', '.join(self.motions)}"] if self.motions else []
        parts += [f"controllers {', '.join(c.kind for c in self.controllers.values())}"] if self.controllers else []
        return f"Scene({self.name!r}: {'; '.join(parts)})"

    @cached_property
    def document(self) -> TomlDocument:
        """The text, to be changed entry by entry."""
        return TomlDocument(self.text)

    def character(self, name: str = MAIN) -> Character:
        """Returns a character by its name, as its edits have made it."""
        if name not in self.characters:
            raise unknown_name("character of the scene", name, self.characters)
        return self.characters[name].character

    def motion(self, name: str = MAIN) -> SceneMotion:
        """Returns a motion by its name."""
        if name not in self.motions:
            raise unknown_name("motion of the scene", name, self.motions)
        return self.motions[name]

    def camera(self, name: str) -> SceneCamera:
        """Returns a camera by its name."""
        for one in self.cameras:
            if one.name == name:
                return one
        raise unknown_name("camera", name, [c.name for c in self.cameras])

    def constraints_of(self, character: str = MAIN) -> list[PoseConstraint]:
        """Returns what the poses of a character keep while they are dragged."""
        return [c.constraint for c in self.constraints if c.character == character]

    def run(self, folder: str | os.PathLike[str] | None = None, progress: Watch | None = None) -> SceneRun:
        """Makes its motions, simulates its controllers and writes its files into `folder`; see `run_scene`."""
        from counterpoise.scene.running import run_scene

        return run_scene(self, folder, progress)

    def plain_motion(self, name: str = MAIN, progress: Watch | None = None) -> Motion:
        """Returns a motion as it is written, without physics: a clip, or its keys interpolated."""
        from counterpoise.scene.making import plain_motion

        return plain_motion(self, name, progress)

    def to_glb(self, motions: Mapping[str, Motion] | None = None) -> bytes:
        """Returns its characters and terrain as GLB bytes, with `motions` (by name) as animations."""
        from counterpoise.scene.glb import scene_glb

        return scene_glb(self, motions)

    @property
    def sweep_task(self) -> tuple[str, dict[str, str]]:
        """The task that runs it in a sweep, and what it is called with: see `cp.sweep`."""
        return "counterpoise.scene.sweep_task:scene_row", {"scene": self.text, "folder": str(self.folder.resolve())}

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files beside it that the scene reads, each once."""
        found = [m.clip.file for m in self.motions.values() if m.clip is not None]
        stems = [Path(file).with_suffix("").as_posix() for file in found]
        beside = [stem + ending for stem in stems for ending in (PROPS_ENDING, EFFORTS_ENDING)]
        found += [file for file in beside if (self.folder / file).is_file()]
        found += [c.source for c in self.characters.values() if (self.folder / c.source).is_file()]
        found += [c.follow for c in self.controllers.values() if c.follow and (self.folder / c.follow).is_file()]
        for m in self.document.data.get("height_field", ()):
            found += [m["file"]] if isinstance(m.get("file"), str) else []
        return tuple(dict.fromkeys(found))


def read_scene(source: str | os.PathLike[str], folder: str | os.PathLike[str] | None = None) -> Scene:
    """Reads a scene from a TOML file, or from its text; a stunt file is a scene with one motion.

    Errors name the file and the line. `folder` is where the files named in a text are; for a file it is its own.
    """
    text, name, own = text_of(source, "scene")
    return scene_from_text(text, own if folder is None else Path(folder), name)


def scene_from_text(text: str, folder: Path, source: str = "scene") -> Scene:
    """Returns the scene that a text describes; `source` is its name in errors."""
    top = open_toml(text, "scene", name=source, folder=folder)
    version = _version(top)
    name = top.text("name", "the scene's name in quotes") or Path(source).stem
    characters = read_characters(top)
    world = read_world(top)
    simulation = read_simulation(top)
    cameras = read_cameras(top)
    controllers = read_controllers(top, characters)
    scene = Scene(
        text=text, folder=folder, source=source, name=name, version=version,
        characters=MappingProxyType(characters),
        motions=MappingProxyType(read_motions(top, characters, world.terrain)), world=world,
        controllers=MappingProxyType(controllers), simulation=simulation,
        pushes=read_pushes(top, characters, simulation.seconds or DEFAULT_SECONDS),
        constraints=read_constraints(top, characters), cameras=cameras, notes=read_notes(top),
        output=read_output(top, cameras), experiment=read_experiment(top),
        changes=read_changes(top, characters, controllers), steps=read_steps(top, characters),
        recorded_paths=read_recorded_paths(top, characters),
    )  # fmt: skip
    top.done()
    return scene


def _version(top: Table) -> int:
    value = top.value("scene", "the version of the format")
    if value is None:
        return VERSION
    if isinstance(value, bool) or not isinstance(value, int):
        raise top.fault("scene", f"scene is the version of the format, {VERSION}; got {value!r}")
    if not 1 <= value <= VERSION:
        raise top.fault("scene", f"this scene has version {value}; this program reads version {VERSION}")
    return value


def new_scene(character: str = "human", name: str = "scene", folder: str | os.PathLike[str] = ".") -> Scene:
    """Returns an empty scene with one character of the library."""
    text = f"scene = {VERSION}\nname = {toml_value(name)}\ncharacter = {toml_value(character)}\n"
    return scene_from_text(text, Path(folder), name)


def write_scene(scene: Scene, path: str | os.PathLike[str]) -> Path:
    """Writes a scene as TOML, exactly as its text is; files that it names are copied beside it where it moves."""
    target = Path(path)
    if target.suffix.lower() != ".toml":
        raise BadFile(f"a scene is a .toml file; got {str(target)!r}", path=str(target))
    if not target.parent.is_dir():
        raise BadFile(f"cannot write {str(target)!r}: there is no folder {str(target.parent)!r}", path=str(target))
    if target.parent.resolve() != scene.folder.resolve():
        for file in scene.files:
            _copy_beside(scene.folder / file, target.parent / file)
    try:
        with whole_file(target) as temporary:
            temporary.write_bytes(scene.text.encode("utf-8"))
    except OSError as error:
        raise BadFile(f"cannot write {str(target)!r}: {error}", path=str(target)) from error
    return target


def _copy_beside(source: Path, target: Path) -> None:
    """Copies a file of a scene; one that is there already and differs is not overwritten."""
    if not source.is_file() or target.resolve() == source.resolve():
        return
    if target.is_file():
        if target.read_bytes() == source.read_bytes():
            return
        raise BadFile(f"{str(target)!r} is there already and differs from the scene's own: move one of them away")
    target.parent.mkdir(parents=True, exist_ok=True)
    with whole_file(target) as temporary:
        shutil.copyfile(source, temporary)
