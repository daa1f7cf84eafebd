"""Figures drawn by hand: a planar one from nothing, edited and undone; one in space, mirrored, rerooted, simulated."""

import numpy as np

import counterpoise as cp
from counterpoise.character import editing as ed

# A planar hopper, one edit at a time; every step can be taken back.
history = ed.History(cp.character("planar"))
history = history.do(ed.add_segment, "trunk", length=0.5, mass=8.0)
history = history.do(ed.add_segment, "thigh", "trunk", 0.35, 2.6, at="base", limits=(-1.5, 1.5), joint_name="hip")
history = history.do(ed.add_segment, "shank", "thigh", 0.35, 0.9, limits=(-0.6, 2.0), joint_name="knee")
history = history.do(ed.add_segment, "foot", "shank", 0.22, -1.9, limits=(-0.8, 0.8), joint_name="ankle")
history = history.do(ed.set_length, "shank", 0.6)
print(history.present, "after", len(history.edits), "edits")
history = history.undo().do(ed.set_feet, ["foot"])
hopper = history.present
print(hopper, "stands on", [point.name for point in hopper.contact_points])
print("it holds its pose:", cp.simulate(hopper, cp.HoldPose(), seconds=0.5))

# A walker in space: half of it is drawn, the other half mirrored; all segments are compiled at once.
half = (
    ed.build("walker")
    .segment("trunk", length=0.5, radius=(0.16, 0.1), shape="box", mass=25.0)
    .segment("head", length=0.25, shape="ellipsoid", radius=0.09, joint="ball", limits=ed.Oval(40, twist=(-60, 60)))
    .segment("arm_left", "trunk", length=0.5, direction=(0, 0.2, -1), at=(0, 0.21, 0.45), joint="ball",
             limits=ed.Oval(80, 40, 60), joint_name="shoulder_left")
    .segment("leg_left", "trunk", length=0.7, direction=(0, 0, -1), at=(0, 0.1, 0), joint="universal",
             limits=((-1.2, 0.6), (-0.4, 0.4)), joint_name="hip_left")
    .segment("foot_left", length=0.24, direction=(1, 0, 0), shape="box", radius=(0.05, 0.02), limits=(-0.6, 0.6))
    .feet("foot_left")
    .hands("arm_left")
    .character()
)  # fmt: skip
walker = ed.mirror_limb(ed.mirror_limb(half, "arm_left"), "leg_left")
print(walker, "feet", [foot.name for foot in walker.feet], "hands", walker.hands)

# The same body, hanging from its hand: the shape stays, the tree turns round.
swinging = ed.reroot(walker, "arm_right", at="end")
pose = ed.rerooted_pose(walker, swinging, walker.neutral)
shift = np.linalg.norm(walker.snapshot().com - swinging.snapshot().com)
print("root", walker.root, "->", swinging.root, f"| centre of mass moved by {shift:.1e} m")
print("limits kept:", swinging.limits.worst(pose)[1] <= 0.0)

fall = cp.simulate(swinging, cp.Passive(), seconds=0.5)
print("it falls:", fall)

with open("walker.xml", "w") as file:
    file.write(swinging.to_mjcf())
print("read back:", cp.load_character("walker.xml"))
