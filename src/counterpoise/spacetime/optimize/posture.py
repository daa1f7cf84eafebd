"""What a motion is drawn to where nothing else is asked: its reference, and a sense of posture.

A body prefers its neutral pose, which is in the comfortable middle of its joints, and an upright trunk. Where the first
guess is upside down, as in a somersault, it is not drawn upright. A motion with a reference has that one's posture.
"""

from __future__ import annotations

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.spacetime.optimize.evaluation import MotionEvaluation
from counterpoise.spacetime.optimize.keys import coordinates
from counterpoise.spacetime.optimize.request import Taste
from counterpoise.spacetime.optimize.starting_point import StartingPoint
from counterpoise.spacetime.optimize.weights import inertia_weights, weights

UP = np.array([0.0, 0.0, 1.0])
UPRIGHT_SHARE = 3.0  # weight of the root's tilt beside a joint's


def nearness(start: StartingPoint, e: MotionEvaluation, taste: Taste) -> tuple[Array, Array]:
    """Returns the weights (knots, nv) of the coordinates that a motion is drawn to, and these (knots, nv)."""
    guess, base = start.guess, e.base.quaternion[: start.frames.knots]
    q = guess.sample(np.clip(start.knot_times, guess.start, guess.end)).q
    near = np.tile(weights(start.character, taste)[1], (start.frames.knots, 1))
    goal = coordinates(start.character, base, q)
    if taste.posture == 0.0 or start.request.reference is not None or not start.character.floating:
        return near, goal
    own, ease = _posture(start, q, taste)
    at_ease = coordinates(start.character, base, ease)
    total = near + own
    return total, np.where(total > 0.0, (near * goal + own * at_ease) / np.maximum(total, 1e-300), goal)


def _posture(start: StartingPoint, q: Array, taste: Taste) -> tuple[Array, Array]:
    """Weights (knots, nv) of the posture, and poses (knots, nq) at ease: neutral joints, the guess's root upright."""
    character = start.character
    share = taste.posture * inertia_weights(character, taste.heft)
    ease = np.tile(character.neutral, (len(q), 1))
    own = np.tile(share, (len(q), 1))
    for joint in character.joints:
        if joint.name in taste.joints:
            own[:, joint.dofs] = taste.posture * taste.joints[joint.name]
        if joint.kind == "free":
            own[:, joint.dofs] = 0.0
            turn, place = q[:, joint.qpos][:, 3:], q[:, joint.qpos][:, :3]
            up = spatial.rotate(turn, spatial.rotate(spatial.conjugate(character.neutral[joint.qpos][3:]), UP))
            straight = spatial.multiply(spatial.from_two_vectors(up, np.broadcast_to(UP, up.shape)), turn)
            ease[:, joint.qpos] = np.concatenate([place, straight], axis=1)
            tilt = taste.posture * UPRIGHT_SHARE * np.clip(up[:, 2], 0.0, 1.0) ** 2
            own[:, joint.dofs.start + 3 : joint.dofs.stop] = tilt[:, None]
    return own, ease
