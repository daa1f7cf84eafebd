"""A walker that stands, or that shifts its weight to the foot that will stand."""

from __future__ import annotations

import math

import numpy as np

from counterpoise.arrays import Array, Flags
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.walk.hips_height import leg_stop
from counterpoise.control.walk.planes import foot_angles
from counterpoise.control.walk.planted_foot import hold_one_edge
from counterpoise.control.walk.posture import WalkPosture, upper_body
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.step_plan import first_capture
from counterpoise.control.walk.turns import foot_turn
from counterpoise.control.walk.walk_objectives import foot_goal
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.wishes import StepShape
from counterpoise.objectives import Objective
from counterpoise.quick import altered

NOT_FLAT = 0.004  # [leg lengths] a standing foot with a point higher than this is not flat yet
STAND_STIFFNESS = 9.5  # [1/leg time^2] of the hips' height while it stands
STAND_DAMPING = 6.2  # [1/leg time]


def stand_still(
    m: WalkMemory, snapshot: Snapshot, seen: SeenBody, shape: StepShape, posture: WalkPosture
) -> tuple[WalkMemory, tuple[tuple[Objective, ...], ...], Flags, Array]:
    """Returns the objectives of a body that stands, or that shifts its weight to the foot that will stand."""
    cycle, own, body, t = posture.cycle, posture.own, posture.body, posture.tuning
    p = len(snapshot.contact_position)
    c, s = math.cos(m.heading), math.sin(m.heading)
    frame = np.array([[c, s], [-s, c]])
    middle = seen.flat.mean(axis=0)
    xi = frame @ (seen.capture - middle)
    ahead = 0.4 * body.legs[0].ball_at
    goal, gain = np.array([ahead, 0.0]), np.full(2, t.stand_gain)
    apart = frame @ (seen.flat[m.stance] - middle)
    if m.phase == "shift":
        ahead = first_capture(shape, m.stance, snapshot.character, t)
        goal[:] = ahead + apart[0], 0.9 * apart[1]
        gain = np.array([t.stand_gain, t.shift_gain])
    pressure = xi + gain * (xi - goal)
    wide = abs(float(apart[1]))
    low, high = body.legs[0].heel_at - abs(apart[0]), 0.9 * body.legs[0].front_at + abs(apart[0])
    pressure = np.array([min(max(pressure[0], low), high), min(max(pressure[1], -wide), wide)])
    away = frame @ (seen.com[:2] - middle) - pressure
    com = frame.T @ (body.omega**2 * away)
    top = (1.0 - t.bend(body.legs[0].is_bent) - cycle.style.crouch) * body.hips_height - shape.lower
    top += float(seen.base.min())  # the leg on the lower ground is the straighter one
    hips = STAND_STIFFNESS / body.leg_time**2 * (top - float(seen.hips[0, 2]))
    hips = min(hips - STAND_DAMPING / body.leg_time * float(seen.hips[1, 2]), leg_stop(m, seen, body))
    m = altered(m, pressure=middle + frame.T @ pressure, stride=0.25 if m.stance == 0 else 0.75)
    level = upper_body(posture, m, com.tolist(), hips, 0.0, snapshot)
    held = np.ones(p, bool)
    for i, leg in enumerate(body.legs):
        heights, raised = seen.over, NOT_FLAT * body.hips_height
        if not leg.can_roll:
            hold_one_edge(leg, heights, held)
        pivot = leg.ball if seen.pitch[i] > 0.0 else leg.heel
        if heights[leg.points].max() < raised or heights[pivot].max() > raised:
            continue  # flat, or in the air: the whole foot is held, or drawn to the ground
        held[leg.points] = False  # it turns over its heel or its ball until it is flat
        held[pivot] = True
        yaw = float(seen.yaw[i])
        lies, roll = foot_angles(seen.ground[i], yaw)
        level.append(own.roll[i].aimed(**foot_goal(leg, yaw, lies, 0.0, roll)))
        toes = own.toes[i]
        if toes is not None:
            level.append(toes.aimed(**foot_turn(leg.toe_turn, yaw, lies, 0.0, roll)))
    return m, ((own.contact,), tuple(level)), held, np.ones(p)
