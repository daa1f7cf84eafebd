"""What a scene holds: characters, motions, controllers, constraints, cameras, notes, files to write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control.basic import Controller
from counterpoise.pose.constraints import PoseConstraint
from counterpoise.render.camera import Camera
from counterpoise.simulate.disturbances import Push
from counterpoise.spacetime.optimize import Touch
from counterpoise.spacetime.stunt import Stunt

if TYPE_CHECKING:
    from counterpoise.scene.derived import SceneDerived
    from counterpoise.scene.path_reading import ScenePaths

EFFORTS_ENDING = "_efforts.npz"  # of a file beside a take: how much of their strength joints used
PROPS_ENDING = "_props.npz"  # of a file beside a take: where props were while it was simulated
MAIN = "main"  # the name of the character, motion and controller that stand at the top of a file
Physics = Literal["optimize", "fix", "check", "none"]


@dataclass(frozen=True)
class FigureEdit:
    """One edit of a figure as it is written in the table [[edit]]."""

    kind: str  # set_length, add_segment, ...
    entries: Mapping[str, Any]
    index: int  # which [[edit]] of the file


@dataclass(frozen=True, eq=False)
class SceneCharacter:
    """A character of the scene: where it comes from, how it was edited, and what it is now."""

    name: str
    source: str  # a figure of the library, or a file
    edits: tuple[FigureEdit, ...]
    original: Character  # before the edits
    character: Character


@dataclass(frozen=True, eq=False)
class SceneKey:
    """A key of a motion, as it was read; `index` counts the tables [[key]] of its motion."""

    index: int
    time: float  # [s]
    pose: Array  # (nq,)
    soft: float | None  # weight of the cost; None: exact
    rest: bool
    name: str


@dataclass(frozen=True, eq=False)
class SceneContact:
    """One table [[contact]]: the parts that touch, and when."""

    index: int
    parts: tuple[str, ...]
    start: float  # [s]
    end: float  # [s]
    how: str
    touches: tuple[Touch, ...]  # one for each part


@dataclass(frozen=True)
class SceneWish:
    """One table [[wish]] with its entries."""

    index: int
    kind: str
    entries: Mapping[str, Any]


@dataclass(frozen=True)
class SceneExperiment:
    """A published experiment, with the settings that differ from its own."""

    name: str
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class SceneClip:
    """A motion file beside the scene."""

    file: str  # as it is written
    path: Path
    start: float | None = None  # [s] first moment that is used; None: all
    end: float | None = None  # [s]


@dataclass(frozen=True, eq=False)
class SceneMotion:
    """A motion of the scene: keys, contacts and wishes, or a clip; `physics` says what is done with it."""

    name: str
    character: str  # the name of a character of the scene
    physics: Physics
    duration: float  # [s]; of a clip 0.0 until it is read
    keys: tuple[SceneKey, ...] = ()
    contacts: tuple[SceneContact, ...] = ()
    wishes: tuple[SceneWish, ...] = ()
    stunt: Stunt | None = None  # what is optimised; None without keys
    clip: SceneClip | None = None
    rate: float = 60.0  # [1/s] of frames, where keys are only interpolated
    derived: SceneDerived | None = None  # another motion that it is made from
    paths: ScenePaths | None = None  # paths and goals that it is made from

    @property
    def has_keys(self) -> bool:
        """Whether it is made of keys, or has nothing yet."""
        return self.clip is None and self.derived is None and self.paths is None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing yet that it could be made from."""
        return self.has_keys and not self.keys and self.stunt is None


@dataclass(frozen=True, eq=False)
class SceneController:
    """What drives a character in the simulation: a controller, and the motion that it follows."""

    name: str
    character: str
    kind: str  # stand, hold, passive, ...
    follow: str | None  # a motion of the scene, a reference motion or a file
    start: str  # standing, ready, front, back, left, right
    place: tuple[float, float] | None  # [m] by which its start is moved over the ground
    facing: float  # [deg] by which it is turned to the left
    strength: float  # share of the strength that a motion to be performed is planned with
    options: Mapping[str, Any]  # of the controller, by the names of its fields
    tuning: Mapping[str, Any]  # entries of its table of tuning that differ from the defaults
    plain: Controller | None  # the controller without what it follows; None where it needs a motion


@dataclass(frozen=True)
class SimulationPlan:
    """How the scene is simulated: how long, with which seed, from which height."""

    seconds: float | None = None  # [s]; None: 3, or what is followed and half a second more
    seed: int = 0
    lift: float = 0.0  # [m] above the ground at the start


@dataclass(frozen=True)
class ScenePush:
    """A push, the character that it acts on, and the table that it comes from."""

    character: str
    push: Push
    kind: Literal["push", "random_pushes"]
    index: int


@dataclass(frozen=True, eq=False)
class SceneConstraint:
    """What a pose keeps while it is dragged: a pin, a lock, a coupling."""

    character: str
    kind: str
    constraint: PoseConstraint
    entries: Mapping[str, Any]
    index: int


@dataclass(frozen=True, eq=False)
class SceneCamera:
    """A camera with a name: where it stands, or from which side it follows."""

    name: str
    camera: Camera | None  # None: it follows
    azimuth: float  # [deg]
    elevation: float  # [deg]


@dataclass(frozen=True)
class SceneNote:
    """A remark, at a time or about the whole scene."""

    text: str
    time: float | None = None  # [s]
    motion: str = MAIN


@dataclass(frozen=True)
class SceneOutput:
    """Files that running the scene writes, by what they hold; and the camera that films."""

    files: Mapping[str, str] = field(default_factory=dict)  # recording, motion, video, picture -> name of the file
    camera: str | None = None
    motions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # name of a motion -> file, rate, bodies
    quantities: tuple[str, ...] = ("com", "cop")  # that are plotted


__all__ = [
    "MAIN", "FigureEdit", "Physics", "SceneCamera", "SceneCharacter", "SceneClip", "SceneConstraint", "SceneContact",
    "SceneController", "SceneKey", "SceneMotion", "SceneNote", "SceneOutput", "ScenePush", "SceneWish",
    "SimulationPlan",
]  # fmt: skip
