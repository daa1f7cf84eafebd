"""Steps that catch a fall of a body that another law has stand. They may begin at any moment: a foot may be in the air.

The body stays where the steps bring it, and goes on facing where its feet faced.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from counterpoise.arrays import Array
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.walk.catch_step import NEAR_GROUND, begun_step, catch_step, is_tipping
from counterpoise.control.walk.gait_cycle import made_cycle
from counterpoise.control.walk.planes import FLAT_GROUND
from counterpoise.control.walk.seen import see
from counterpoise.control.walk.seen_ground import ground_under_feet
from counterpoise.control.walk.styles import style_of
from counterpoise.control.walk.tuning import WalkTuning
from counterpoise.control.walk.turns import mean_yaw
from counterpoise.control.walk.walk_state import WalkMemory
from counterpoise.control.walk.walker import cause_of_fall, walk_tick, watched
from counterpoise.control.walk.walking_body import walking_body
from counterpoise.control.walk.wishes import Wishes, step_shape
from counterpoise.quick import altered
from counterpoise.terrain import Terrain

CATCHING = replace(WalkTuning(), fallen=0.45)  # a body that bends or crouches has its hips low


def begin_steps(snapshot: Snapshot, torque: Array | None, terrain: Terrain | None) -> WalkMemory:
    """Returns the memory of steps that begin now. A foot in the air swings; otherwise the better one does.

    `torque` (nv,) is what the joints did at the last tick [N m].
    """
    character = snapshot.character
    body, t = walking_body(character), CATCHING
    ground = FLAT_GROUND if terrain is None else ground_under_feet(snapshot, terrain)
    seen = see(snapshot, body, ground)
    in_air = [float(low - seen.low.min()) > NEAR_GROUND * body.hips_height for low in seen.low]
    m = watched(WalkMemory(ground=ground, torque=torque), snapshot, seen)
    m = altered(m, catches=True, heading=facing(snapshot, in_air))
    style = style_of("normal")
    shape = step_shape(0.0, 0.0, 0.0, True, _stay(m, terrain), style, body, t)
    if any(in_air):
        return begun_step(m, seen, shape, 1 - in_air.index(True))
    return catch_step(m, seen, shape, snapshot, body, t)


def can_begin(snapshot: Snapshot) -> bool:
    """Returns whether the hips are high enough for a step."""
    body = walking_body(snapshot.character)
    return not cause_of_fall(see(snapshot, body), snapshot, body, CATCHING)


def step_on(snapshot: Snapshot, memory: WalkMemory, terrain: Terrain | None) -> Action:
    """Returns the action of one tick of these steps."""
    cycle = made_cycle(snapshot.character, style_of("normal"))
    return walk_tick(snapshot, memory, _stay(memory, terrain), cycle, CATCHING)


def have_caught(snapshot: Snapshot, memory: WalkMemory) -> bool:
    """Returns whether the steps are over: it stands on both feet, and its capture point is well between them."""
    if memory.phase != "stand":
        return False
    body = walking_body(snapshot.character)
    return not is_tipping(snapshot, see(snapshot, body, memory.ground), body, -2.0 * CATCHING.lean_out)


def facing(snapshot: Snapshot, in_air: Sequence[bool] = (False, False)) -> float:
    """Returns the direction in which the feet point that are not in the air, left and right, from x towards y [rad].

    Where one foot is in the air, the other is taken to be turned out as in the neutral pose.
    """
    character = snapshot.character
    body = walking_body(character)
    yaw = see(snapshot, body).yaw
    if sum(in_air) != 1:
        return mean_yaw(yaw)
    stance = list(in_air).index(False)
    rest = see(character.snapshot(), body).yaw
    return float(yaw[stance]) - math.remainder(float(rest[stance]) - mean_yaw(rest), 2.0 * math.pi)


def _stay(memory: WalkMemory, terrain: Terrain | None) -> Wishes:
    return Wishes(0.0, heading=memory.heading, terrain=terrain)
