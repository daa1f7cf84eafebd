"""Workshop: all that the studio has open, and the table of what each command does to it. One thread uses it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from counterpoise import __version__, spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import characters
from counterpoise.errors import CounterpoiseError
from counterpoise.pose.animation import Animation
from counterpoise.pose.paths import Path
from counterpoise.scene import SceneEdit
from counterpoise.studio.cast import Cast, owner_of_motion
from counterpoise.studio.commands import DragBody
from counterpoise.studio.curves import CheckCurves
from counterpoise.studio.efforts import Efforts
from counterpoise.studio.events import (
    ControllerFacts,
    FilesListed,
    GoalFacts,
    JointValues,
    LiveBody,
    LiveChanged,
    Notice,
    PathFacts,
    RulesChanged,
    SceneChanged,
    StudioReady,
    Trouble,
)
from counterpoise.studio.figure_facts import figure_glb, mesh_address, smooth_address
from counterpoise.studio.folder import Folder
from counterpoise.studio.frames import LIVE, POSED, PoseFrame, pack_frame, pack_track
from counterpoise.studio.jobs import Job, JobDone, JobReport, JobRunner, Mark
from counterpoise.studio.live import LiveRun
from counterpoise.studio.live_controllers import CONTROLLERS
from counterpoise.studio.messages import Command, Event, dump_event
from counterpoise.studio.motions import refine
from counterpoise.studio.open_scene import OpenScene
from counterpoise.studio.pointer_paths import path_facts
from counterpoise.studio.posing import BodyDrag, Rules, first_rules
from counterpoise.studio.scene_facts import (
    SceneTracks,
    drawn_heights,
    field_address,
    height_fields,
    prop_facts,
    scene_event,
)
from counterpoise.studio.starters import starter_names

C = TypeVar("C", bound=Command)
Post = Callable[[str | bytes], None]
Later = Callable[[Callable[[Any], None]], None]  # has a function called with the workshop by its own thread
HANDLERS: dict[type[Command], Callable[[Any, Any], None]] = {}  # of (workshop, command)
KEPT_FILES = 10  # meshes and tracks that pages may still ask for, and two more for each of the cast


def handles(kind: type[C]) -> Callable[[Callable[[Workshop, C], None]], Callable[[Workshop, C], None]]:
    """Decorator: the function carries out commands of a kind."""

    def register(function: Callable[[Workshop, C], None]) -> Callable[[Workshop, C], None]:
        HANDLERS[kind] = function
        return function

    return register


class Workshop:
    """The open document, the drag, the live run and the jobs. `post` sends an event or a frame to every page."""

    def __init__(self, folder: Folder, document: OpenScene, post: Post) -> None:
        self.folder, self.document, self._post = folder, document, post
        self.later: Later = lambda function: function(self)
        self.rules: Rules = first_rules(document.character)
        self.drag: BodyDrag | None = None
        self.drag_goal: DragBody | None = None  # the last pointer message of the drag
        self.drag_time = 0.0  # [s] of the playhead
        self.live: LiveRun | None = None
        self.past: LiveRun | None = None  # the last live run, after it was stopped
        self._told_paths: tuple[PathFacts, ...] = ()  # that pages draw now
        self.refined: Animation | None = None  # the last motion through keys whose feet were held
        self.time = 0.0  # [s] of the pose that was looked at last
        self.warm = True  # whether compiled code is in the cache; until then nothing is computed unasked
        self.files: dict[str, bytes] = {}  # meshes and tracks by address, the newest last
        self.smooth_bodies: dict[str, bytes] = {}  # by the key of the figure's mesh, as pages asked for them
        self.marks: dict[tuple[str, int], tuple[tuple[Mark, ...], str]] = {}  # (motion, number of its frames) -> check
        self.check_curves: dict[tuple[str, int], CheckCurves] = {}  # what a check measured, likewise
        self.check_efforts: dict[tuple[str, int], Efforts] = {}  # and of the joints, likewise
        self._cast = Cast(document.scene, document.shown.name)
        self.jobs = JobRunner(lambda job, said: self.later(lambda shop: shop.told(job, said)))
        self.told: Callable[[Job, JobReport | JobDone], None] = lambda job, said: None  # set by actions/jobs.py
        self.after_picture: Callable[[LiveRun], None] = lambda run: None  # set by actions/live.py

    @property
    def character(self) -> Character:
        return self.document.character

    @property
    def cast(self) -> Cast:
        """The other characters of the scene as it is now."""
        scene, shown = self.document.scene, self.document.shown.name
        if self._cast.scene is not scene or self._cast.shown != shown:
            self._cast = Cast(scene, shown)
        return self._cast

    @property
    def paths(self) -> dict[str, Path]:
        """The recorded paths of the figure on the timeline, by their bodies."""
        owner = owner_of_motion(self.document.scene, self.document.shown.name)
        return {one.path.body: one.path for one in self.document.scene.recorded_paths if one.character == owner}

    @property
    def checked(self) -> CheckCurves:
        """What a check has measured of the motion on the timeline, as it is now."""
        return self.check_curves.get((self.document.shown.name, self.document.shown.number), {})

    # -- saying -------------------------------------------------------------------------------------------------------
    def say(self, event: Event) -> None:
        self._post(dump_event(event))

    def note(self, message: str) -> None:
        self.say(Notice(message))

    def show(self, kind: int, q: Array, **more: Any) -> None:
        """Sends a pose to every page."""
        self._post(pack_frame(PoseFrame(kind, self.character, q, revision=self.document.revision, **more)))

    def show_pose(self) -> None:
        """Sends the pose at the playhead, with the joints' coordinates."""
        q = self.document.pose_at(self.time)
        self.show(POSED, q, time=self.time)
        self.say(self.joint_values(q))

    def joint_values(self, q: Array) -> JointValues:
        """Coordinates of all joints but the root's; of a ball, its rotation vector."""
        joints = [joint for joint in self.character.joints if joint.kind != "free"]
        turned = {joint.name: spatial.log(q[joint.qpos]) if joint.kind == "ball" else q[joint.qpos] for joint in joints}
        return JointValues({name: tuple(float(v) for v in values) for name, values in turned.items()})

    def scene_event(self) -> SceneChanged:
        """What changed, with its frames ready to be fetched."""
        shown = self.document.shown
        track = f"/tracks/{shown.name}-{shown.number}.bin"
        if track not in self.files:
            self._keep(track, pack_track(self.character, *shown.frames()))
        self._keep_mesh(self.character)
        cast = self.cast
        for name in cast.names:
            self._keep(*cast.track(name))
            self._keep_mesh(self.document.scene.character(name))
        self.keep_live_meshes()
        paths, prop_track = shown.prop_paths, ""
        if paths is not None:
            prop_track = f"/tracks/{shown.name}-{shown.number}-props.bin"
            self._keep(prop_track, paths.pack())
        for field in height_fields(self.document.scene):
            if field_address(field) not in self.files:
                self._keep(field_address(field), np.ascontiguousarray(drawn_heights(field), "<f4").tobytes())
        found = self.check_efforts.get((shown.name, shown.number), shown.efforts)
        efforts = f"/tracks/{shown.name}-{shown.number}-efforts.bin" if found is not None else ""
        if found is not None and efforts not in self.files:
            self._keep(efforts, found.pack())
        marks, verdict = self.marks.get((shown.name, shown.number), ((), ""))
        return scene_event(self.document, SceneTracks(track, prop_track, efforts), cast, marks, verdict)

    def _keep(self, address: str, data: bytes) -> None:
        self.files.pop(address, None)
        self.files[address] = data
        while len(self.files) > KEPT_FILES + 2 * len(self.cast.names):
            del self.files[next(iter(self.files))]

    def _keep_mesh(self, character: Character) -> None:
        self._keep(mesh_address(character), figure_glb(character))

    def keep_live_meshes(self) -> None:
        """Has the meshes of a live run ready whose bodies are not those of the scene."""
        if self.live is not None and self.live.other_bodies:
            for one in self.live.figures:
                self._keep_mesh(one.character)

    def say_scene(self) -> None:
        """Tells every page what the scene is now, and shows the pose at the playhead."""
        if self.time > self.document.shown.duration:
            self.time = self.document.shown.duration
        self.say(self.scene_event())
        if self._path_facts() != self._told_paths:
            self.say(self.rules_event())
        if self.live is None:
            self.show_pose()

    def welcome(self) -> list[str | bytes]:
        """Returns all that a page needs that has just come, or comes back."""
        known = StudioReady(
            version=__version__,
            folder=self.folder.root.name,
            figures=tuple(entry.name for entry in characters()),
            starters=starter_names(),
            controllers=tuple(ControllerFacts(name, meaning) for name, (_, meaning) in CONTROLLERS.items()),
        )
        q, kind, character = self.document.pose_at(self.time), POSED, self.character
        if self.live is not None:
            q, kind, character = self.live.poses[-1], LIVE, self.live.character
        events: list[Event] = [known, self.scene_event(), self.rules_event(), self.live_event(), self.joint_values(q)]
        events.append(FilesListed(self.folder.listing()))
        if self.document.recovered:
            self.document.recovered = False
            events.append(Notice("Changes that were not saved are here again. Undo takes them back."))
        frame = pack_frame(PoseFrame(kind, character, q, revision=self.document.revision, time=self.time))
        return [*(dump_event(event) for event in events), frame]

    def rules_event(self) -> RulesChanged:
        rules = self.rules
        goals = tuple(GoalFacts(body, goal.kind, goal.place) for body, goal in rules.goals.items())
        self._told_paths = paths = self._path_facts()
        return RulesChanged(dict(rules.pins), rules.balanced, rules.above_ground, goals, paths)

    def _path_facts(self) -> tuple[PathFacts, ...]:
        return tuple(path_facts(path) for path in self.paths.values())

    def live_event(self) -> LiveChanged:
        """What the page shows of the live run."""
        run = self.live
        if run is None:
            recorded = self.past.time if self.past is not None else 0.0
            return LiveChanged(False, "", 1.0, False, (0.0, 0.0), recorded, (), (), 0, "", "", ())
        tilt = (float(run.session.world.tilt[0]), float(run.session.world.tilt[1]))
        acts, stage = run.acts
        props = prop_facts(run.drawn_props)
        figures = [one.character for one in run.figures] if run.other_bodies else []
        bodies = tuple(LiveBody(mesh_address(one), smooth_address(one), one.weight) for one in figures)
        return LiveChanged(
            True, run.name, run.speed, run.paused, tilt, run.time, run.sliders, props, run.thrown, acts, stage, bodies
        )

    # -- doing --------------------------------------------------------------------------------------------------------
    def carry_out(self, command: Command) -> None:
        """Does what a command asks for. Every error becomes a sentence on the page; the workshop goes on."""
        try:
            HANDLERS[type(command)](self, command)
        except CounterpoiseError as error:
            self.say(Trouble(str(error)))
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            self.say(Trouble(f"{type(command).__name__} failed: {type(error).__name__}: {error}. Please report this."))

    def edit(self, edit: SceneEdit) -> None:
        """Applies an edit and tells every page."""
        before = self.character
        self.document.do(edit)
        self.after_change(before)

    def after_change(self, before: Character) -> None:
        """Tells every page what changed; drops what belonged to another figure."""
        self.drag = None
        if self.character is not before:
            self.stop_live()
            self.past = None
            kept = {body: hold for body, hold in self.rules.pins.items() if body in self.character.segments}
            if not set(before.segments) & set(self.character.segments):
                kept = dict(first_rules(self.character).pins)
            self.rules = replace(self.rules, pins=kept)
            self.say(self.rules_event())
            self.say(self.live_event())
        self.say_scene()

    def open(self, document: OpenScene) -> None:
        """Puts another document in the place of this one."""
        self.stop_live()
        self.drag, self.past, self.time = None, None, 0.0
        document.revision = max(document.revision, self.document.revision + 1)
        document.shown.number = self.document.shown.number + 1
        self.document, self.marks, self.check_curves, self.check_efforts = document, {}, {}, {}
        self.rules = first_rules(document.character)
        self.say(self.rules_event())
        self.say(self.live_event())
        self.say_scene()

    def set_rules(self, **changed: Any) -> None:
        """Changes rules of posing and tells every page."""
        self.rules = replace(self.rules, **changed)
        self.drag = None
        self.say(self.rules_event())

    def refine(self, go_on: Callable[[], bool]) -> None:
        """Holds planted feet between the keys; called when there is nothing else to do."""
        shown = self.document.shown
        if shown.refined or self.live is not None or self.drag is not None:
            return
        found = refine(shown, go_on, self.refined)
        if found is not None:
            self.refined = found
            self.document.refined(found.motion)
            self.say_scene()

    @property
    def needs_refining(self) -> bool:
        return self.warm and not self.document.shown.refined and self.live is None and self.drag is None

    @property
    def drag_goes_on(self) -> bool:
        """Whether the dragged body is still on its way to the pointer, which stands still."""
        return self.live is None and self.drag is not None and self.drag_goal is not None and self.drag.unfinished

    def go_on_dragging(self) -> None:
        """One more frame towards the pointer."""
        if self.drag_goal is not None:
            self.carry_out(self.drag_goal)

    # -- live ---------------------------------------------------------------------------------------------------------
    def advance_live(self) -> None:
        """One picture of the live run."""
        run = self.live
        assert run is not None
        before, to_come = run.acts, len(run.changes)
        try:
            run.advance()
        except Exception as error:  # also of the controller itself: the studio goes on
            if not isinstance(error, CounterpoiseError):
                traceback.print_exc(file=sys.stderr)
            self.stop_live()
            self.say(Trouble(f"the simulation stopped: {error}"))
            return
        if len(run.changes) != to_come:
            self.keep_live_meshes()
            self.say(self.live_event())
        elif run.acts != before:
            self.say(self.live_event())
        self.show_live(run)
        self.after_picture(run)

    def show_live(self, run: LiveRun) -> None:
        """Sends a frame of every figure of the live run; that of the first has the props."""
        revision, time = self.document.revision, run.time
        for k, (one, poses) in enumerate(zip(run.figures[1:], run.other_poses, strict=True), start=1):
            self._post(pack_frame(PoseFrame(LIVE, one.character, poses[-1], revision=revision, time=time, figure=k)))
        first = PoseFrame(LIVE, run.character, run.poses[-1], revision=revision, time=time)
        seen = replace(first, arrows=run.arrows, efforts=run.efforts, props=run.prop_rows[-1][1])
        self._post(pack_frame(seen))

    def stop_live(self) -> None:
        """Ends the live run and keeps what it did for baking."""
        if self.live is not None:
            self.past, self.live = self.live, None
            self.say(self.live_event())
            self.show_pose()
