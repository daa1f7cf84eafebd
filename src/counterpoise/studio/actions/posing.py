"""Dragging, pins, and looking at a time."""

from __future__ import annotations

import time as clock

import numpy as np

from counterpoise.scene import ForgetPath
from counterpoise.studio.actions.keys import write_pose
from counterpoise.studio.commands import (
    AddPath,
    DragBody,
    LookAt,
    PinBody,
    ReleaseBody,
    RemovePath,
    SetGoal,
    SetRules,
)
from counterpoise.studio.frames import POSED, STATUSES
from counterpoise.studio.pointer_paths import path_of_stroke, record_path
from counterpoise.studio.posing import BodyDrag, BodyGoal
from counterpoise.studio.takes import owner_of
from counterpoise.studio.workshop import Workshop, handles

MILLISECONDS = 1e3
MOST_FRAMES_AFTER = 120  # in which a drag comes to its target after the button was released


@handles(DragBody)
def drag_body(shop: Workshop, command: DragBody) -> None:
    """Moves the body towards the pointer; in a live run, pulls it."""
    if shop.live is not None:
        shop.live.pull(command.body, command.point, np.array(command.target), command.figure)
        return
    began = clock.perf_counter()
    if shop.drag is None or shop.drag.body != command.body or shop.drag_time != command.time:
        q = shop.document.pose_at(command.time)
        held = shop.document.scene.constraints_of(owner_of(shop, shop.document.shown.name))
        shop.drag, shop.drag_time = BodyDrag(shop.character, q, command.body, shop.rules, held), command.time
    shop.drag_goal = command
    found = shop.drag.to(np.array(command.target), command.point, command.turn)
    cost = MILLISECONDS * (clock.perf_counter() - began)
    shop.show(POSED, shop.drag.pose, seq=command.seq, status=STATUSES.index(found.status), time=command.time, cost=cost)


@handles(ReleaseBody)
def release_body(shop: Workshop, command: ReleaseBody) -> None:
    """Writes the pose into the document, or leaves everything as it was."""
    if shop.live is not None:
        shop.live.let_go()
        return
    drag, goal, shop.drag, shop.drag_goal = shop.drag, shop.drag_goal, None, None
    if drag is None or goal is None:
        return
    for _ in range(MOST_FRAMES_AFTER):  # the pose that is written is the one at the pointer, not one on the way
        if not command.keep or not drag.unfinished:
            break
        drag.to(np.array(goal.target), goal.point, goal.turn)
    shop.time = shop.drag_time
    if command.keep and not np.array_equal(drag.pose, drag.start):
        write_pose(shop, shop.drag_time, drag.pose)
    else:
        shop.show_pose()


@handles(PinBody)
def pin_body(shop: Workshop, command: PinBody) -> None:
    """Pins a body, or frees it."""
    shop.character.body_id(command.body)
    pins = {body: hold for body, hold in shop.rules.pins.items() if body != command.body}
    if command.hold != "none":
        pins[command.body] = command.hold
    shop.set_rules(pins=pins)


@handles(SetRules)
def set_rules(shop: Workshop, command: SetRules) -> None:
    shop.set_rules(balanced=command.balanced, above_ground=command.above_ground)


@handles(SetGoal)
def set_goal(shop: Workshop, command: SetGoal) -> None:
    """Gives a body a goal, or takes it away; the figure follows it in the next drag."""
    shop.character.body_id(command.body)
    goals = {body: goal for body, goal in shop.rules.goals.items() if body != command.body}
    if command.kind != "none":
        goals[command.body] = BodyGoal(command.kind, command.place)
    shop.set_rules(goals=goals)


@handles(AddPath)
def add_path(shop: Workshop, command: AddPath) -> None:
    """Keeps a stroke as the path of a body, in the scene."""
    shop.character.body_id(command.body)
    path = path_of_stroke(command.body, command.samples, command.point)
    shop.edit(record_path(path, owner_of(shop, shop.document.shown.name)))


@handles(RemovePath)
def remove_path(shop: Workshop, command: RemovePath) -> None:
    shop.edit(ForgetPath(command.body, owner_of(shop, shop.document.shown.name)))


@handles(LookAt)
def look_at(shop: Workshop, command: LookAt) -> None:
    """Sends the pose at a time."""
    shop.time = command.time
    if shop.live is None and shop.drag is None:
        shop.show_pose()
