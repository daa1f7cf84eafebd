"""Going: how a live `Locomotion` is steered, by keys that are held, by a place on the ground, or by its wishes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from counterpoise.character.character import Character
from counterpoise.character.state import State
from counterpoise.control.locomotion import Locomotion
from counterpoise.control.walk.seen import see
from counterpoise.control.walk.turns import mean_yaw
from counterpoise.control.walk.walking_body import walking_body

WALK, RUN, BACK = 0.3, 1.0, 0.13  # [sqrt(leg x g)] speeds by keys: 0.9, 3.0 and 0.4 m/s for a person
TURN = 0.5  # [rad/s] while a key is held: it turns safely on the way
MOST_LEAD = 0.35  # [rad] by which the heading that is asked for is ahead of the body at most


@dataclass(frozen=True)
class HeldKeys:
    """What the keys ask for."""

    forward: float = 0.0  # 1: ahead, -1: back
    turn: float = 0.0  # 1: to the left, -1: to the right
    run: bool = False


NO_KEYS = HeldKeys()


def facing(character: Character, state: State) -> float:
    """Returns the direction that a body faces [rad]: the mean of its feet."""
    return mean_yaw(see(character.snapshot(state), walking_body(character)).yaw)


class Going:
    """Steers a Locomotion. It begins in the direction that the body faces."""

    def __init__(self, character: Character, state: State) -> None:
        self.character, self.keys = character, NO_KEYS
        self.heading = facing(character, state)  # [rad]
        self.by_keys = False  # keys were the last that steered

    def begin(self, controller: Locomotion) -> Locomotion:
        """Returns the controller for a body that stands as it stood."""
        return replace(controller, heading=self.heading)

    def to(self, controller: Locomotion, x: float, y: float) -> Locomotion:
        """Returns the controller that goes to a place: as fast as it was asked to go, or at the speed of the keys."""
        self.by_keys = False
        asked = controller.speed if isinstance(controller.speed, (int, float)) else 0.0
        usual = WALK * walking_body(self.character).leg_speed
        return replace(controller, to=(x, y), speed=asked if asked > 0.0 else usual)

    def asked(self, controller: Locomotion) -> Locomotion:
        """Returns the controller after one of its wishes was changed by hand: keys and places are over."""
        self.by_keys, self.keys = False, NO_KEYS
        return replace(controller, to=None)

    def hold(self, controller: Locomotion, keys: HeldKeys, state: State) -> Locomotion:
        """Returns the controller after keys were pressed or released."""
        if not self.by_keys:
            told = controller.heading if isinstance(controller.heading, (int, float)) else 0.0
            self.heading = facing(self.character, state) if controller.to is not None else float(told)
        self.by_keys, self.keys = True, keys
        return self.next(controller, 0.0, state)

    def next(self, controller: Locomotion, seconds: float, state: State) -> Locomotion:
        """Returns the controller after some time in which the keys were held."""
        if not self.by_keys:
            return controller
        unit, keys = walking_body(self.character).leg_speed, self.keys
        if keys.turn != 0.0:
            now = facing(self.character, state)
            lead = math.remainder(self.heading + TURN * keys.turn * seconds - now, 2.0 * math.pi)
            self.heading = now + min(max(lead, -MOST_LEAD), MOST_LEAD)
        share = (RUN if keys.run else WALK) if keys.forward > 0.0 else BACK
        return replace(controller, to=None, speed=keys.forward * share * unit, heading=self.heading)
