"""What the judge of an optimised motion looks at on the ground: all that is drawn, and parts that a contact holds."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.kinematics import body_frames
from counterpoise.character.library import character
from counterpoise.measure.outsider_mechanics import InverseDynamics, lowest
from counterpoise.spacetime.optimize import Key, Touch
from counterpoise.spacetime.optimize.build import build_motion_problem
from counterpoise.spacetime.optimize.judge import Judged, judge_candidate
from counterpoise.spacetime.optimize.refine import refined
from counterpoise.spacetime.optimize.spheres import BodySphere, drawn_shapes, shapes_of_feet, spheres_on


def foot_pose(ankle: float, toe: float) -> Array:
    """Standing, with the right ankle and toes at these angles [degrees]."""
    human = character("human")
    at = {joint.name: joint.qpos.start for joint in human.joints}
    q = human.neutral.copy()
    q[at["ankle_right"]], q[at["toe_right"]] = np.radians([ankle, toe])
    return q


def lowest_of(human: Character, q: Array, spheres: list[BodySphere]) -> float:
    """The height of the lowest of some spheres of the right foot [m]."""
    at, turns = body_frames(human, q[None])
    heights = []
    for b in spheres:
        body = human.body_id(b.body)
        if b.body.endswith("right"):
            heights.append(at[0, body, 2] + spatial.rotate(turns[0, body], np.array(b.position))[2] - b.radius)
    return float(min(heights))


def judged(q: Array, *contacts: Touch) -> Judged:
    """What the judge finds in a motion that stays in one pose."""
    problem = build_motion_problem(character("human"), [Key(0.0, q), Key(0.4, q)], contacts, 0.4, rate=10.0)
    return judge_candidate(problem, problem.start)


def grounded(found: Judged, body: str) -> float:
    """How deep the judge finds a body in the ground [m]."""
    return max((f.size for f in found.faults if f.kind == "ground" and f.what.startswith(f"{body} is")), default=0.0)


@pytest.fixture(scope="module")
def toes_in_the_ground() -> Array:
    """A right foot in the air whose colliding shapes clear the ground by half a millimetre; its drawn toes do not."""
    human, q = character("human"), foot_pose(30.0, 50.0)
    solid = [*spheres_on(human, [f.name for f in human.feet]), *shapes_of_feet(human)]
    q[2] += 5e-4 - lowest_of(human, q, solid)
    return q


def test_toes_that_are_only_drawn_are_seen_in_the_ground(toes_in_the_ground: Array):
    human = character("human")
    dynamics = InverseDynamics(human, 1.0)
    data, m = dynamics.pose(toes_in_the_ground), dynamics.model
    toes = [g for g in range(m.ngeom) if m.body(int(m.geom_bodyid[g])).name == "toes_right"]
    depth = -min(lowest(m, data, g) for g in toes)  # by MuJoCo's own shapes
    assert 3e-3 < depth < 5e-3
    found = judged(toes_in_the_ground)  # in the air
    assert grounded(found, "toes_right") == pytest.approx(depth, abs=1e-4)
    assert found.places and found.sunk and {b.body for b in found.sunk} == {"toes_right"}


def test_what_was_found_in_the_ground_is_kept_off_it_from_then_on(toes_in_the_ground: Array):
    q, human = toes_in_the_ground, character("human")
    problem = build_motion_problem(human, [Key(0.0, q), Key(0.4, q)], [], 0.4, rate=10.0)
    assert set(problem.drawn) == set(drawn_shapes(human)) and not set(problem.drawn) & set(problem.clear)
    found = judge_candidate(problem, problem.start)
    finer, x = refined(problem, problem.start, found.places, found.sunk)
    assert set(found.sunk) <= set(finer.clear) and not set(found.sunk) & set(finer.drawn)
    labels = {label for block in finer.blocks if block.name == "ground" for label in block.labels}
    assert "toes_right" in labels
    again = judge_candidate(finer, x)
    assert grounded(again, "toes_right") == pytest.approx(grounded(found, "toes_right"), abs=1e-5)  # nothing moved yet


def test_a_foot_held_by_its_heel_may_not_sink_with_its_ball():
    """A contact excuses what it holds, not the rest of the body that it holds."""
    human, q = character("human"), foot_pose(25.0, 0.0)  # pitched about the ankle: the ball goes down
    heels = [b for b in spheres_on(human, ["foot_right"]) if b.name.startswith("heel")]
    q[2] -= lowest_of(human, q, heels)
    ball = [b for b in spheres_on(human, ["foot_right"]) if b.name.startswith("ball")]
    depth = -lowest_of(human, q, ball)
    assert depth > 0.03
    found = judged(q, Touch("foot_right", 0.0, 0.4, how="heel"))
    assert grounded(found, "foot_right") == pytest.approx(depth, abs=5e-3)  # keys are brought onto contacts a little


def test_flat_feet_are_not_in_the_ground_they_stand_on():
    human = character("human")
    found = judged(human.neutral, Touch("foot_left", 0.0, 0.4), Touch("foot_right", 0.0, 0.4))
    assert not [f for f in found.faults if f.kind == "ground"]
