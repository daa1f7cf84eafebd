"""Warming: a process compiles what the studio needs and leaves it in the cache, so that the page never waits for it."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable

from counterpoise.studio.children import end_with_parent


def warm_up() -> None:
    """Runs once through dragging, keys, standing and checking, so that their compiled code is in the cache."""
    end_with_parent()
    import numpy as np

    from counterpoise.character.library import character
    from counterpoise.motion.keyframes import Keyframe
    from counterpoise.pose.keys import animate_keys
    from counterpoise.simulate import World
    from counterpoise.studio.live import LiveRun
    from counterpoise.studio.live_controllers import LiveFigure, make_controller
    from counterpoise.studio.posing import BodyDrag, first_rules

    human = character("human")
    rules = first_rules(human)
    hand = human.hands[0]
    drag = BodyDrag(human, human.neutral, hand, rules)
    place = human.snapshot(human.state(human.neutral)).position(hand)
    drag.to(place + np.array([0.02, 0.0, 0.02]), (0.0, 0.0, 0.0), None)
    animate_keys(human, [Keyframe(0.0, human.neutral), Keyframe(0.1, drag.pose)])
    q = np.array(human.neutral)
    run = LiveRun("stand", [LiveFigure("main", human, make_controller("stand", q, World()), q)], World())
    run.advance()


def start_warming(done: Callable[[], None]) -> None:
    """Starts the process; `done` is called from another thread when it has ended, however it did."""
    process = multiprocessing.get_context("spawn").Process(target=warm_up, name="studio warming", daemon=True)
    process.start()

    def wait() -> None:
        process.join()
        done()

    threading.Thread(target=wait, name="studio warming", daemon=True).start()
