"""Two keyframes make a wave; it is mirrored, looped, saved, and followed by a simulated figure."""

import counterpoise as cp

human = cp.character("human")
up = cp.pose_from_joints(human, {"shoulder_left": (2.0, 0.0, 0.0), "elbow_left": 0.6})
out = cp.pose_from_joints(human, {"shoulder_left": (2.3, 0.0, 0.0), "elbow_left": 1.4})
wave = cp.keyframed(
    human,
    [cp.Keyframe(0.0, human.neutral), cp.Keyframe(0.8, up), cp.Keyframe(1.2, out), cp.Keyframe(1.6, up)],
)
other = wave.mirrored()
sample = wave.sample(0.5)
print(wave, "moves its elbow at", f"{sample.v[human.joint('elbow_left').dofs][0]:.2f} rad/s")

other.save("wave.npz")
run = cp.simulate(human, cp.HoldPose(cp.Motion.load("wave.npz")), seconds=1.6)
cp.filmstrip(run, count=4, size=(200, 300), path="wave.png")

squat = cp.reference_motion("squat", human)
print(squat, "lowers the pelvis by", f"{squat.poses[0, 2] - squat.poses[:, 2].min():.2f} m")
