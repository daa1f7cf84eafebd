"""Springs at the joints hold a pose while the floor sways and someone pushes; plots show what it took."""

import counterpoise as cp

chicken = cp.character("chicken")
floor = cp.Platform(x=(cp.Sine(0.02, 0.5),), pitch=(cp.Sine(0.02, 0.8),))
run = cp.simulate(
    chicken,
    cp.HoldPose(),
    seconds=2.0,
    world=cp.World(platform=floor),
    disturbances=[cp.Push("thorax", (3, 0, 0), 1.0, 0.1)],
)

told = cp.measure.summary(run)
print(f"stood: {not told.fall}, largest torque {100 * told.peak_torque_share:.0f} % of its limit")
run.plot("com", "cop", "torque:knee_left", "push", path="sway.png")
run.save("sway.npz")
print("read back:", cp.Recording.load("sway.npz"))
