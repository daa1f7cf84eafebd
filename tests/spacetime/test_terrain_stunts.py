"""Optimised motions keep out of the boxes of a terrain."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import BadFile
from counterpoise.features import BoxDistance
from counterpoise.spacetime.optimize.near_terrain import is_mirrored, ways_out
from counterpoise.spacetime.optimize.spheres import spheres_off_feet, spheres_on

HURDLE = """
[[box]]
center = [0.45, 0.0]
size = [0.1, 1.0]
height = 0.3
"""
JUMP = """
character = "human"
duration = 1.6
rate = 20
[[fine]]
from = 0.6
to = 1.1
rate = 40
[[key]]
time = 0.0
rest = true
[[key]]
time = 0.35
pose = "crouch"
soft = 10
[[key]]
time = 1.6
feet = [0.9, 0.0]
rest = true
[[contact]]
part = "feet"
to = 0.6
[[contact]]
part = "feet"
from = 1.1
"""


def deepest(motion: cp.Motion, terrain: cp.Terrain) -> float:
    """How far any shape is inside the first box of the terrain, at 200 times a second [m]."""
    character, box = motion.character, terrain.boxes[0]
    spheres = [*spheres_on(character, [foot.name for foot in character.feet]), *spheres_off_feet(character)]
    worst = 0.0
    for time in np.arange(motion.start, motion.end, 0.005):
        here = character.snapshot(character.state(motion.sample(time).q))
        for s in spheres:
            away = BoxDistance(s.body, tuple(box.centre), tuple(box.half), point=s.position).value(here)[0]  # type: ignore[arg-type]
            worst = max(worst, s.radius - float(away))
    return worst


def test_a_jump_goes_over_a_hurdle():
    plain, over = cp.read_stunt(JUMP), cp.read_stunt(JUMP + HURDLE)
    assert plain.terrain is None and over.terrain is not None
    low, high = plain.optimize(), over.optimize()
    assert low.exact and high.exact
    assert deepest(low.motion, over.terrain) > 0.03  # it would have hit it
    assert deepest(high.motion, over.terrain) < 0.005


def test_mistakes_in_the_terrain_of_a_stunt_have_their_line():
    with pytest.raises(BadFile, match=r":\d+: no entry 'hight' in this \[\[box\]\]"):
        cp.read_stunt(JUMP + HURDLE.replace("height", "hight"))


def test_ways_out_of_a_box():
    """A path that comes back leaves by the side it came from; one that goes on stays before it, then over the top."""
    box = cp.Terrain(cp.Box((1.0, 0.0), (1.0, 2.0), 0.5)).boxes[0]
    back = np.array([[0.1, 0.0, 0.2], [0.3, 0.0, 0.2], [0.6, 0.0, 0.2], [0.4, 0.0, 0.2], [0.2, 0.0, 0.2]])
    through = np.array([[0.1, 0.0, 0.2], [0.3, 0.0, 0.2], [1.7, 0.0, 0.2], [1.9, 0.0, 0.2]])  # between two places
    onto = np.array([[0.1, 0.0, 0.2], [0.3, 0.0, 0.2], [0.6, 0.0, 0.4], [1.0, 0.0, 0.5], [1.0, 0.0, 0.5]])
    slow = np.array(
        [[0.3, 0, 0], [0.45, 0, 0.1], [0.55, 0, 0.2], [0.6, 0, 0.3], [0.6, 0, 0.35], [0.7, 0, 0.45], [0.9, 0, 0.6]]
    )
    found = ways_out(box, back, 0.0)
    assert [i for i, _, _ in found] == [1, 2, 3]
    assert all(n.tolist() == [-1.0, 0.0, 0.0] and limit == -0.5 for _, n, limit in found)
    for path, before, above in ((through, [], [1, 2]), (onto, [1], [2, 3]), (slow, [1, 2, 3], [4, 5, 6])):
        found = ways_out(box, path, 0.0)
        assert [i for i, n, limit in found if n[0] == -1.0 and limit == -0.5] == before
        assert [i for i, n, limit in found if n[2] == 1.0 and limit == 0.5] == above
    assert ways_out(box, back[[0, 1, 3, 4]], 0.0) == []
    assert [i for i, _, _ in ways_out(box, back[[0, 1, 3, 4]], 0.15)] == [1, 2, 3]  # a ball that reaches in


def test_terrain_that_is_its_own_mirror_image():
    assert is_mirrored(cp.Terrain(cp.Box((1.0, 0.0), (1.0, 1.0), 0.3)), 0.0)
    assert is_mirrored(cp.Terrain([cp.Box((1.0, 0.3)), cp.Box((1.0, -0.1))]), 0.1)
    assert not is_mirrored(cp.Terrain(cp.Box((1.0, 0.1), (1.0, 1.0), 0.3)), 0.0)
    assert not is_mirrored(cp.Terrain(cp.Box((1.0, 0.0), (1.0, 0.5), 0.3, yaw=10.0)), 0.0)
