"""Events: what the server says to its pages."""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.studio.jobs import Mark
from counterpoise.studio.messages import Event, Four, Three
from counterpoise.studio.tuning import Slider


@dataclass(frozen=True)
class GripFacts:
    """One side of a joint's limits. Its grip turns about an axis; both are unit vectors in the parent's frame."""

    side: str  # low, high, first low, ..., face 1, ..., twist low, twist high
    angle: float  # [deg]
    place: tuple[float, ...]  # where the bone points at this side; empty: not drawn
    axis: tuple[float, ...]  # about which it turns when the angle grows


@dataclass(frozen=True)
class LimitFacts:
    """Where the bone of a joint may point, as unit vectors in the parent's frame."""

    outline: tuple[Three, ...]  # the edge; empty: none is drawn
    middle: tuple[float, ...]  # the direction in the middle of a closed outline; empty: it is an arc
    grips: tuple[GripFacts, ...]


@dataclass(frozen=True)
class JointFacts:
    """A joint, as lists and graphs of the page need it."""

    name: str
    kind: str
    body: str
    low: tuple[float, ...]  # [rad, m]; empty: no limits
    high: tuple[float, ...]
    limits: LimitFacts


@dataclass(frozen=True)
class BodyFacts:
    """A body: its place in the tree, and what it is."""

    name: str
    parent: int  # index; -1: the world
    mass: float  # [kg]
    length: float  # [m]
    role: str  # foot, hand, root or empty


@dataclass(frozen=True)
class FigureFacts:
    """A figure of the scene."""

    name: str
    mesh: str  # address of its GLB, made of its shapes
    smooth: str  # address of the GLB of its smooth body; empty: only persons have one
    mass: float  # [kg]
    weight: float  # [N]
    height: float  # [m]
    bodies: tuple[BodyFacts, ...]
    joints: tuple[JointFacts, ...]


@dataclass(frozen=True)
class ControllerFacts:
    """A controller that can run live."""

    name: str
    meaning: str


@dataclass(frozen=True)
class StudioReady(Event):
    """The first event of a connection: what there is to choose from."""

    version: str
    folder: str
    figures: tuple[str, ...]  # of the library
    starters: tuple[str, ...]  # examples to open
    controllers: tuple[ControllerFacts, ...]


@dataclass(frozen=True)
class GoalFacts:
    """What a body tries while others are dragged."""

    body: str
    kind: str  # reach or aim
    place: Three


@dataclass(frozen=True)
class PathFacts:
    """The path that a body follows when it is animated."""

    body: str
    duration: float  # [s]
    places: tuple[Three, ...]  # along it
    knots: tuple[Three, ...]  # its control points


@dataclass(frozen=True)
class RulesChanged(Event):
    """What holds while a body is dragged, and the paths that bodies follow."""

    pins: dict[str, str]  # body -> place or whole
    balanced: bool
    above_ground: bool
    goals: tuple[GoalFacts, ...]
    paths: tuple[PathFacts, ...]


@dataclass(frozen=True)
class PropFacts:
    """A loose ball or box."""

    shape: str  # ball or box
    size: Three  # [m]
    mass: float  # [kg]
    place: Three  # [m]
    turn: Four  # w, x, y, z
    bounce: float


@dataclass(frozen=True)
class LiveBody:
    """The body of a figure of a live run, which may differ from that of the scene."""

    mesh: str  # address of its GLB, made of its shapes
    smooth: str  # address of the GLB of its smooth body; empty: it has none
    weight: float  # [N]


@dataclass(frozen=True)
class LiveChanged(Event):
    """The state of the live run."""

    running: bool
    controller: str
    speed: float
    paused: bool
    tilt: tuple[float, float]
    recorded: float  # [s] that can be baked
    sliders: tuple[Slider, ...]
    props: tuple[PropFacts, ...]  # and a moving floor, as one more box
    thrown: int  # of them
    acts: str  # what it does on demand: jump, perform; empty: nothing
    stage: str  # how that goes: stands, is planned, performs, fell
    bodies: tuple[LiveBody, ...]  # of all figures; empty: they are as in the scene


@dataclass(frozen=True)
class Trouble(Event):
    """Something went wrong: a sentence with its cure."""

    message: str


@dataclass(frozen=True)
class Notice(Event):
    """Something went well: a sentence."""

    message: str


@dataclass(frozen=True)
class KeyFacts:
    """A key on the timeline."""

    index: int
    time: float
    name: str
    soft: bool
    rest: bool


@dataclass(frozen=True)
class ContactFacts:
    """A contact: a bar on the timeline."""

    index: int
    parts: tuple[str, ...]
    start: float
    end: float
    how: str


@dataclass(frozen=True)
class WishFacts:
    """A wish; without a time it is about the whole motion."""

    index: int
    words: str
    time: float | None


@dataclass(frozen=True)
class ConstraintFacts:
    """A constraint of the scene on the figure in the hand."""

    index: int
    kind: str
    words: str
    body: str  # empty: none
    joint: str  # empty: none


@dataclass(frozen=True)
class MotionFacts:
    """A motion that can be put on the timeline."""

    name: str
    label: str
    owner: str  # the character of the scene that it belongs to
    kind: str  # keys or clip


@dataclass(frozen=True)
class TerrainFacts:
    """A piece of terrain, as the scene names it."""

    kind: str
    index: int  # among those of its kind
    words: str


@dataclass(frozen=True)
class FieldFacts:
    """Ground of any shape: heights on an even grid."""

    centre: tuple[float, float]  # [m]
    size: tuple[float, float]  # along x and y [m]
    rows: int
    columns: int
    heights: str  # address of its heights: f32, row by row, the least y first [m]


@dataclass(frozen=True)
class PushFacts:
    """A push of the scene on the figure in the hand, when it is played."""

    index: int  # which [[push]]
    words: str
    start: float
    end: float


@dataclass(frozen=True)
class CameraFacts:
    """A camera of the scene that stands still."""

    name: str
    eye: Three
    target: Three


@dataclass(frozen=True)
class NoteFacts:
    """A remark; without a time it is about the whole scene."""

    index: int  # which [[note]]
    text: str
    time: float | None


@dataclass(frozen=True)
class SolidFacts:
    """A box of the terrain."""

    centre: Three
    half: Three
    turn: Four  # w, x, y, z


@dataclass(frozen=True)
class CastFacts:
    """A character of the scene that is not on the timeline."""

    name: str
    figure: FigureFacts
    track: str  # address of its frames


@dataclass(frozen=True)
class SceneChanged(Event):
    """The scene as it is now, and the motion on the timeline."""

    revision: int
    name: str
    file: str  # in the folder; empty: not saved yet
    unsaved: bool
    source: str  # what the main character is made from
    figure: FigureFacts
    cast: tuple[CastFacts, ...]  # the other characters that move or stand in it
    characters: tuple[str, ...]  # all by name
    motion: str
    owner: str  # the character of the scene that it belongs to
    kind: str  # keys or clip
    motions: tuple[MotionFacts, ...]
    duration: float
    refined: bool  # whether planted feet are held between its keys: a moment after each change
    keys: tuple[KeyFacts, ...]
    contacts: tuple[ContactFacts, ...]
    wishes: tuple[WishFacts, ...]
    violations: tuple[Mark, ...]
    verdict: str
    poses: tuple[str, ...]  # by name: the scene's own, then those of the library
    has_controllers: bool  # whether playing it simulates something
    controller: str  # kind of the one that drives the figure in the hand when the scene is played; empty: none
    pushes: tuple[PushFacts, ...]
    cameras: tuple[CameraFacts, ...]
    notes: tuple[NoteFacts, ...]  # of the motion on the timeline
    constraints: tuple[ConstraintFacts, ...]
    constraint_sets: tuple[str, ...]  # of the library, that fit the figure
    solids: tuple[SolidFacts, ...]
    fields: tuple[FieldFacts, ...]
    terrain: tuple[TerrainFacts, ...]
    friction: float
    props: tuple[PropFacts, ...]
    tilt: tuple[float, float]
    track: str  # address of its frames
    prop_track: str  # address of the frames of the props that were simulated with it; empty: none
    efforts: str  # address of how much of their strength its joints use; empty: not known
    track_props: tuple[PropFacts, ...]  # these props
    undo: str  # what would be undone; empty: nothing
    redo: str
    script: str  # the last edits in Python


@dataclass(frozen=True)
class JointValues(Event):
    """Coordinates of the joints in the pose that is shown [rad, m]; of a ball its rotation vector."""

    values: dict[str, tuple[float, ...]]


@dataclass(frozen=True)
class JobChanged(Event):
    """A job: how far it is, or how it ended."""

    job: int
    kind: str
    state: str  # running, done, stopped, failed
    stage: str
    share: float
    message: str


@dataclass(frozen=True)
class FilesListed(Event):
    """The files of the folder that can be opened."""

    names: tuple[str, ...]
