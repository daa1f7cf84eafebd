"""Drags with a limit by the clock: what is found in time holds its constraints, never jumps, and goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadValue

TICK = 0.0006  # [s] that the clock of these tests moves on whenever somebody looks at it


class Clock:
    """A clock that moves on whenever it is read: the same on every machine."""

    def __init__(self) -> None:
        self.now = 0.0

    def __getattr__(self, name: str) -> Any:
        return self._read

    def _read(self) -> float:
        self.now += TICK
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in ("drag", "descent", "tuning"):
        monkeypatch.setattr(f"counterpoise.pose.{module}.time", made)
    return made


def standing() -> tuple[cp.Character, list[Any]]:
    human = cp.character("human")
    held: list[Any] = [c for f in human.feet for c in (cp.Pin(f.body), cp.Lock(f.body))]
    return human, [*held, cp.Balanced(), cp.AboveGround()]


def largest_turn(character: cp.Character, a: Any, b: Any) -> float:
    step = character.difference(a, b)
    parts = [step[j.dofs][3:] if j.kind == "free" else step[j.dofs] for j in character.joints]
    return float(np.degrees(max(np.linalg.norm(part) for part in parts)))


@pytest.mark.parametrize("out", [0.2, 1.5], ids=["in reach", "out of reach"])
def test_every_frame_holds_its_constraints_and_turns_little(clock: Clock, out: float):
    human, held = standing()
    drag = cp.PoseDrag(human, held)
    hand, before, late = human.snapshot().position("hand_right"), drag.pose, 0
    for k in range(40):
        t = k / 20.0
        target = hand + np.array([out * np.sin(t), 0.2 * np.sin(2 * t), 0.3 * t])
        pose = drag.to([cp.Reach("hand_right", target)], within=0.008)
        late += pose.status == "out_of_time"
        assert max(pose.violations.values()) < 1e-7 and human.limits.worst(pose.q)[1] <= 1e-9
        assert largest_turn(human, before, pose.q) < 5.0
        before = pose.q
    assert late > 0 or out < 1.0


def test_what_is_not_reached_in_one_frame_is_reached_in_the_next_ones(clock: Clock):
    human, held = standing()
    drag = cp.PoseDrag(human, held)
    goal = [cp.Reach("hand_right", human.snapshot().position("hand_right") + np.array([0.35, 0.1, 0.5]))]
    first = drag.to(goal, within=0.008)
    assert drag.unfinished and first.status != "solved"
    frames = 1
    while drag.unfinished and frames < 200:
        pose = drag.to(goal, within=0.008)
        frames += 1
    assert not drag.unfinished and pose.status == "solved" and max(pose.residuals.values()) < 1e-3


def test_without_a_limit_the_clock_does_not_matter(clock: Clock):
    human, held = standing()
    goal = [cp.Reach("hand_right", human.snapshot().position("hand_right") + np.array([1.5, 0.0, 0.5]))]
    slow = cp.PoseDrag(human, held).to(goal)
    clock.now += 1e6
    assert np.array_equal(cp.PoseDrag(human, held).to(goal).q, slow.q) and slow.status == "unreachable"


def test_a_limit_is_a_positive_time():
    with pytest.raises(BadValue, match="positive number of seconds"):
        cp.PoseDrag(cp.character("chain")).to([], within=0.0)
