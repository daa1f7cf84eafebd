"""Game loop: a figure stands in frames of 1/60 s, is pushed while it runs, and hands its body poses to a mesh."""

from dataclasses import replace

import numpy as np

import counterpoise as cp

FRAME = 1.0 / 60.0  # [s]

human = cp.character("human")
session = cp.Session(human, cp.Stand(), keep=2.0)  # the last two seconds of recording are kept

# a mesh of one point a body, 5 cm above its origin, skinned by matrices: world from body times body from rest
rest = session.matrices()
vertices = rest[:, :, 3] + np.array([0.0, 0.0, 0.05, 0.0])
to_body = np.linalg.inv(rest)

for frame in range(150):
    if frame == 30:  # input arrives at any time
        session.disturbances = [cp.Push("thorax", (180, 0, 0), session.time, 0.1)]
    if frame == 90:
        session.controller = replace(session.controller, height=0.85)
    session.advance(FRAME)
    skinned = np.einsum("bij,bjk,bk->bi", session.matrices(), to_body, vertices)[:, :3]
    if frame % 30 == 0:
        head = skinned[session.body_names.index("head")]
        print(f"t = {session.time:.3f} s, {1e3 * session.remainder:+.2f} ms over, head at {head.round(3)}")

# what happened lately, in one file that plain MuJoCo repeats
(kept,) = session.recordings
kept.save("lately.npz")
print(kept, "fell" if cp.measure.fell(kept) else "stood", "replay error", cp.replay(kept).worst_error)
