"""Ranges of time: copied, moved, emptied, retimed."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import CounterpoiseError

SCENE = """\
character = "human"
duration = 2.0

[moments]
land = 0.6

[[key]]             # stands
time = 0.0
rest = true

[[key]]             # low
time = "land"
pose = "dip"
joints = { elbow_left = 60 }

[[key]]
time = 1.5

[[contact]]
part = "foot_left"
from = 0.0
to = "land"

[[contact]]
part = "foot_right"
from = 0.4
to = 1.2
"""


def first() -> cp.Scene:
    return cp.read_scene(SCENE)


def times(scene: cp.Scene) -> list[float]:
    return sorted(round(key.time, 6) for key in scene.motion().keys)


def spans(scene: cp.Scene) -> list[tuple[str, float, float]]:
    return [(one.parts[0], round(one.start, 6), round(one.end, 6)) for one in scene.motion().contacts]


def test_a_range_is_copied_with_its_contacts_and_makes_room():
    after = cp.apply_edit(first(), cp.scene.CopyRange(0.0, 0.6, 2.0))
    assert times(after) == [0.0, 0.6, 1.5, 2.0, 2.6] and after.motion().duration == pytest.approx(2.6)
    assert spans(after)[2:] == [("foot_left", 2.0, 2.6), ("foot_right", 2.4, 2.6)]
    keys = sorted(after.motion().keys, key=lambda key: key.time)
    assert np.abs(keys[1].pose - keys[4].pose).max() < 1e-12 and keys[3].rest
    assert "# low" in after.text and after.text.startswith(SCENE[:30])


def test_a_copy_takes_the_place_of_keys_that_are_there_and_no_foot_touches_twice():
    after = cp.apply_edit(first(), cp.scene.CopyRange(0.0, 0.6, 0.9))
    assert times(after) == [0.0, 0.6, 0.9, 1.5]
    assert np.abs(after.motion().keys[-1].pose - first().motion().keys[1].pose).max() < 1e-12
    assert spans(after)[2:] == [("foot_left", 0.9, 1.5), ("foot_right", 1.3, 1.5)]
    mirrored = cp.apply_edit(first(), cp.scene.CopyRange(0.0, 0.6, 1.4, mirror=True))
    human = mirrored.character()
    last = max(mirrored.motion().keys, key=lambda key: key.time)
    assert np.abs(last.pose - human.mirror_pose(first().motion().keys[1].pose)).max() < 1e-12
    assert ("foot_right", 1.4, 2.0) in spans(mirrored)


def test_a_range_is_moved_emptied_and_retimed():
    moved = cp.apply_edit(first(), cp.scene.MoveRange(0.5, 1.6, 0.2))
    assert times(moved) == [0.0, 0.8, 1.7] and spans(moved)[0] == ("foot_left", 0.0, 0.8)  # the moment has moved
    assert times(cp.apply_edit(first(), cp.scene.RemoveRange(0.5, 1.6))) == [0.0]
    slow = cp.apply_edit(first(), cp.scene.Retime(2.0, 0.2, end=0.7))
    assert times(slow) == [0.0, 1.0, 2.0] and slow.motion().duration == pytest.approx(2.5)
    assert spans(slow)[1] == ("foot_right", 0.6, 1.7)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (cp.scene.CopyRange(0.5, 0.5, 1.0), "ends after its start"),
        (cp.scene.CopyRange(1.6, 1.9, 3.0), "nothing to copy"),
        (cp.scene.MoveRange(0.0, 1.0, -0.5), "before 0 s"),
        (cp.scene.RemoveRange(1.6, 1.9), "no key from 1.6"),
        (cp.scene.Retime(2.0, 0.5, end=0.2), "ends after its start"),
    ],
)
def test_what_cannot_be_is_said(edit: cp.scene.SceneEdit, words: str):
    with pytest.raises(CounterpoiseError, match=words):
        cp.apply_edit(first(), edit)
