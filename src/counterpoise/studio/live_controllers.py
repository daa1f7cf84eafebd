"""Controllers that run live: by their names on the page, and for the other characters of a scene."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control import Balance, HoldPose, MomentumBalance, Passive, Stand
from counterpoise.control.basic import Controller
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.walk import Walk
from counterpoise.errors import CounterpoiseError, unknown_name
from counterpoise.scene import Scene
from counterpoise.scene.changes import SceneChange
from counterpoise.scene.controllers import CONTROLLERS as SCENE_CONTROLLERS
from counterpoise.scene.controllers import build_controller, seen_world
from counterpoise.simulate import World

FIRST: dict[str, dict[str, Any]] = {  # what a controller is made with
    "get up": {"recover": True},
    "jump": {"recover": True},
    "perform": {"recover": True},
    "walk": {"speed": 0.6},  # [m/s] from which it stops safely
}
ACTING = ("jump", "perform")  # they stand until they are told to act
SAME_KIND = {"get up": "stand", "jump": "stand", "perform": "stand"}  # name on the page -> kind of a scene

CONTROLLERS: dict[str, tuple[type[Any], str]] = {  # name on the page -> class, what it does
    "stand": (Stand, "stands, takes pushes and comes back"),
    "get up": (Stand, "stands; after a fall it braces itself and gets up again"),
    "walk": (Walk, "walks; click on the ground to send it there"),
    "locomotion": (Locomotion, "walks and runs; click on the ground, or hold W A S D (Shift to run); J jumps"),
    "jump": (Stand, "stands; press J to jump as the wishes say"),
    "perform": (Stand, "stands; press J to perform the motion on the timeline"),
    "momentum": (MomentumBalance, "balances by linear and angular momentum"),
    "balance": (Balance, "balances by the classic objectives"),
    "hold": (HoldPose, "joint springs hold the pose"),
    "passive": (Passive, "a rag doll"),
}


@dataclass(frozen=True, eq=False)
class LiveFigure:
    """A character of the scene in a live run: what drives it, and the pose that it begins in."""

    name: str  # in the scene
    character: Character
    controller: Controller
    q: Array  # (nq,)


def make_controller(name: str, pose: Array, world: World) -> Controller:
    """Returns a controller by its name on the page, for a body that begins in `pose`, in a world that it sees."""
    if name not in CONTROLLERS:
        raise unknown_name("controller", name, CONTROLLERS)
    kind = CONTROLLERS[name][0]
    names = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    made: Controller = kind(**seen_world(SAME_KIND.get(name, name), world), **FIRST.get(name, {}))
    if "reference" in names and name == "stand":
        made = replace(made, reference=pose)  # type: ignore[type-var]
    elif "pose" in names:
        made = replace(made, pose=pose)  # type: ignore[type-var]
    return made


def companion(scene: Scene, name: str, pose: Array) -> LiveFigure:
    """Returns another character of the scene: driven as the scene says, or else it stands or holds its pose.

    A controller of the scene that follows a motion needs the motion made first; live, such a character stands.
    """
    character = scene.character(name)
    spec = next((one for one in scene.controllers.values() if one.character == name), None)
    if spec is not None and spec.plain is not None and spec.follow is None and spec.kind not in ("jump", "routine"):
        try:
            return LiveFigure(name, character, build_controller(spec, scene.world), pose)
        except CounterpoiseError:  # such as a walker without legs: the scene's own run says so
            pass
    stands = bool(character.feet) and character.floating
    return LiveFigure(name, character, make_controller("stand" if stands else "hold", pose, scene.world), pose)


def live_changes(scene: Scene, figures: Sequence[LiveFigure]) -> list[tuple[int, SceneChange]]:
    """Returns what [[change]] does to the figures of a live run, in the order of its times.

    Other options of a controller hold only where the figure is driven by the kind of controller that the scene names.
    """
    out = []
    for k, change in ((k, c) for c in scene.changes for k, one in enumerate(figures) if one.name == c.character):
        spec = next(one for one in scene.controllers.values() if one.character == change.character)
        driven = type(figures[k].controller) is SCENE_CONTROLLERS[spec.kind]
        out.append((k, change if driven else replace(change, options={})))
    return out
