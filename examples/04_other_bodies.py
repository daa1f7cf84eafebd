"""Other proportions, another program's model, and one's own limits: every body is a Character."""

import numpy as np

import counterpoise as cp

human = cp.character("human")
giant = human.rescaled(lengths={"legs": 1.4, "arms": 1.3}, masses={"legs": 2.0})
print(human, "->", giant)

with open("human.xml", "w") as file:
    file.write(giant.to_mjcf())
again = cp.load_character("human.xml")
print("read back:", again, "standing on", [foot.name for foot in again.feet])

snapshot = giant.snapshot()
print(
    "CoM",
    snapshot.com.round(3),
    "mass matrix",
    snapshot.M.shape,
    "momentum matrix",
    snapshot.momentum_matrix.shape,
)

high = cp.pose_from_joints(giant, {"shoulder_left": (0.0, 2.8, 0.0)})  # arm far behind the back
name, excess = giant.limits.worst(high)
print(f"{name} is exceeded by {np.degrees(excess):.0f} degrees")
print("after clamping:", giant.limits.worst(giant.limits.clamp(high))[1] <= 1e-9)
