"""Commands: what a page may ask for. Times are seconds, places metres, z up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from counterpoise.studio.messages import Command, Four, Three

ORIGIN: Three = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class TimedCommand(Command):
    """About the pose at a time of the timeline."""

    time: float


@dataclass(frozen=True)
class NamedCommand(Command):
    """About a thing of the scene, of a library or of the folder, by its name."""

    name: str


# -- posing -----------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class DragBody(Command):
    """The pointer moved a body. Only the latest of them counts. In a live run it pulls the body."""

    seq: int
    body: str
    target: Three
    time: float = 0.0  # of the playhead: the pose at this time is the one that is dragged
    point: Three = ORIGIN  # of the body that comes to the target
    turn: Four | None = None  # w, x, y, z: the body is turned, too
    figure: int = 0


@dataclass(frozen=True)
class ReleaseBody(Command):
    """The button was released: the pose becomes a key, one step of the history."""

    keep: bool = True  # False: the drag is cancelled


@dataclass(frozen=True)
class PinBody(Command):
    """A body is held where it is while others are dragged."""

    body: str
    hold: Literal["none", "place", "whole"]


@dataclass(frozen=True)
class SetGoal(Command):
    """A body tries to reach a place, or points to it, while others are dragged: as far as the rest allows."""

    body: str
    kind: Literal["none", "reach", "aim"]
    place: Three = ORIGIN


@dataclass(frozen=True)
class AddPath(Command):
    """A stroke of the pointer becomes the path of a body, in place of the one it had."""

    body: str
    samples: tuple[Four, ...]  # time [s], x, y, z
    point: Three = ORIGIN  # of the body that follows it


@dataclass(frozen=True)
class RemovePath(Command):
    """A body follows no path any more."""

    body: str


@dataclass(frozen=True)
class SetRules(Command):
    """What holds while a body is dragged."""

    balanced: bool
    above_ground: bool


@dataclass(frozen=True)
class LookAt(Command):
    """Asks for the pose at a time."""

    time: float = 0.0


# -- live -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class StartLive(Command):
    """Starts a simulation from the pose at a time."""

    controller: str
    time: float = 0.0


@dataclass(frozen=True)
class StopLive(Command):
    """Ends the simulation; what it did can still be baked."""


@dataclass(frozen=True)
class PullProp(Command):
    """The pointer pulls a prop of the running simulation by a point in its own frame; `release_body` ends it."""

    prop: int  # as they are drawn, counted from 0
    target: Three
    point: Three = ORIGIN


@dataclass(frozen=True)
class PushBody(Command):
    """Pushes a body in the running simulation."""

    body: str
    force: Three  # [N]
    duration: float = 0.1  # [s]
    figure: int = 0  # 0: the one on the timeline, then the others of the scene


@dataclass(frozen=True)
class ThrowProp(Command):
    """Throws a ball or a box in the running simulation, so that it passes the target."""

    place: Three
    target: Three
    shape: Literal["ball", "box"] = "ball"
    size: float = 0.2  # [m] diameter of a ball, edge of a box
    mass: float = 2.0  # [kg]
    speed: float = 8.0  # [m/s]
    bounce: float = 0.4


@dataclass(frozen=True)
class ClearThrown(Command):
    """Takes away what was thrown."""


@dataclass(frozen=True)
class ActLive(Command):
    """Jumps as wished, or performs the motion on the timeline."""


@dataclass(frozen=True)
class WalkTo(Command):
    """Sends the walker, or the locomotion, of the running simulation to a place on the ground."""

    x: float
    y: float


@dataclass(frozen=True)
class SteerLive(Command):
    """Keys that steer were pressed or released: ahead or back, to the left or to the right, walk or run."""

    forward: float = 0.0  # 1: ahead, -1: back
    turn: float = 0.0  # 1: to the left, -1: to the right
    run: bool = False


@dataclass(frozen=True)
class TuneLive(Command):
    """Sets a number of the running controller."""

    table: str
    name: str
    value: float | None  # None: nothing is asked of this wish


@dataclass(frozen=True)
class ChooseLive(Command):
    """Sets a choice of the running controller, such as its gait, or of its jump."""

    name: str
    value: str
    table: str = "controller"  # or jump


@dataclass(frozen=True)
class SetLive(Command):
    """Speed of the clock, pause, and tilt of the ground [deg]."""

    speed: float = 1.0
    paused: bool = False
    roll: float = 0.0
    pitch: float = 0.0


@dataclass(frozen=True)
class BakeLive(Command):
    """What was simulated becomes a new motion: a take with every frame, or `keys` keys a second."""

    keys: float = 0.0  # [1/s]; 0: a take
    start: float = 0.0  # [s] of the live run
    end: float = 0.0  # [s]; 0: to its end
    joints: tuple[str, ...] = ()  # the others are as on the timeline; none: all


# -- keys and edits ---------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class EditScene(Command):
    """An edit of the scene by its name in `counterpoise.scene`, with its values."""

    edit: str
    values: dict[str, Any]


@dataclass(frozen=True)
class UndoEdit(Command):
    """Takes the last edit back."""


@dataclass(frozen=True)
class RedoEdit(Command):
    """Makes it again."""


@dataclass(frozen=True)
class AddPoseKey(TimedCommand):
    """Writes the pose at a time as a key."""


@dataclass(frozen=True)
class MirrorPose(TimedCommand):
    """Exchanges left and right in the pose at a time."""


@dataclass(frozen=True)
class ResetPose(TimedCommand):
    """The neutral pose, where the figure is now."""


@dataclass(frozen=True)
class SavePoseAs(TimedCommand):
    """Keeps the pose at a time in the scene's library of poses."""

    name: str


@dataclass(frozen=True)
class ApplyPose(TimedCommand):
    """Takes a pose of the library, or of the scene, where the figure is now."""

    name: str


@dataclass(frozen=True)
class SetJoint(TimedCommand):
    """Coordinates of one joint [rad, m], of a ball its rotation vector, in the pose at a time. Only `done` writes."""

    joint: str
    values: tuple[float, ...]
    done: bool = True


@dataclass(frozen=True)
class SetCurve(Command):
    """The value of a curve [deg, m] at a key of the motion on the timeline. Only `done` writes it."""

    key: int
    name: str
    value: float
    done: bool = True


@dataclass(frozen=True)
class ShowCharacter(NamedCommand):
    """Puts another character of the scene into the hand: its motion comes on the timeline."""


@dataclass(frozen=True)
class ShowMotion(NamedCommand):
    """Puts a motion of the scene on the timeline."""


@dataclass(frozen=True)
class LayMotion(Command):
    """A new take: the motion on the timeline with joints of another motion over it, for a while."""

    over: str  # the motion that lies over it
    joints: tuple[str, ...] = ()  # none: all
    start: float = 0.0  # [s]
    end: float = 0.0  # [s]; 0: to its end
    blend: float = 0.15  # [s]


# -- libraries --------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class TakeConstraints(NamedCommand):
    """Adds a set of constraints of the library to the figure."""


@dataclass(frozen=True)
class KeepConstraints(NamedCommand):
    """Keeps the constraints of the figure as a set of the library, a file of the folder."""


@dataclass(frozen=True)
class KeepFigure(NamedCommand):
    """Keeps the figure as it is now in the library, a file of the folder."""


# -- jobs -------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class StartJob(Command):
    """Starts a long computation about the motion on the timeline."""

    kind: Literal["optimize", "check", "fix", "play", "animate"]


@dataclass(frozen=True)
class StopJob(Command):
    """Stops it; the best so far is kept."""

    job: int


# -- files ------------------------------------------------------------------------------------------------------------
@dataclass(frozen=True)
class NewScene(Command):
    """Begins an empty scene."""

    figure: str = "human"


@dataclass(frozen=True)
class OpenStarter(NamedCommand):
    """Opens an example."""


@dataclass(frozen=True)
class OpenFile(NamedCommand):
    """Opens a scene, a clip or a figure of the folder."""


@dataclass(frozen=True)
class SaveScene(NamedCommand):
    """Saves the scene under a name in the folder."""


@dataclass(frozen=True)
class ListFiles(Command):
    """Asks for the files of the folder."""
