"""Joint limits: ranges for hinges and slides, a swing cone and a twist range for ball joints.

A ball joint's orientation q is split about the bone axis a (Macchietto 2008, section 6.2):

    q rest^-1 = q_swing q_twist,   q_twist = exp(phi a0),   q_swing takes a0 to a',   a0 = rest a,   a' = q a.

`rest` is the middle of the range, so that the decomposition's singularity (a' = -a0) lies far outside the cone.
The cone is an intersection of half spaces, n_i . a' <= k_i: a convex spherical polygon when every k_i is 0, and
faces on small circles where a joint reaches further than a half sphere (the shoulder).

Every limit is one row g(q) <= 0 in radians (metres for slides), smooth, with an exact gradient:

    hinge   q - high, low - q        swing   asin(n . a') - asin(k)        twist   phi - high, low - phi.
"""

from counterpoise.character.limits.ball import BallLimit, limit_from_json, limit_to_json
from counterpoise.character.limits.cones import cone_from_corners, face_through
from counterpoise.character.limits.joint import JointLimits
from counterpoise.character.limits.kernels import fill_ball_rows

__all__ = [
    "BallLimit", "JointLimits", "cone_from_corners", "face_through", "fill_ball_rows", "limit_from_json",
    "limit_to_json",
]  # fmt: skip
