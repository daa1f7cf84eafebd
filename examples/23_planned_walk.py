"""A stride made by spacetime optimisation, closed by Cycle, as the style of a walk: its posture by phase."""

import math

import counterpoise as cp

human = cp.character("human")
STRIDE, WAY = 1.1, 1.15  # [s], [m]


def pose(phase: float):
    """A rough key: legs and arms swing against each other; phase 0 is the landing of the left foot."""
    swing = math.cos(2.0 * math.pi * phase)
    lift = [max(0.0, math.sin(2.0 * math.pi * (phase - when))) for when in (0.62, 0.12)]
    q = cp.pose_from_joints(
        human,
        {
            "hip_left": (0.05, -0.36 * swing - 0.05, 0.0), "hip_right": (-0.05, 0.36 * swing - 0.05, 0.0),
            "knee_left": 0.2 + 0.5 * lift[0], "knee_right": 0.2 + 0.5 * lift[1],
            "shoulder_left": (0.08, 0.45 * swing, 0.0), "shoulder_right": (-0.08, -0.45 * swing, 0.0),
            "elbow_left": 0.35, "elbow_right": 0.35,
        },
    )  # fmt: skip
    q[0], q[2] = WAY * phase, human.neutral[2] - 0.04
    return q


keys = [cp.Key(STRIDE * phase, pose(phase), soft=300.0) for phase in (0.0, 0.25, 0.5, 0.75, 1.0)]
contacts = [
    cp.Touch("foot_left", 0.0, 0.66, roll=0.14),
    cp.Touch("foot_right", 0.0, 0.11, how="toe"),
    cp.Touch("foot_right", 0.55, STRIDE),
]
wishes = [cp.Cycle((WAY, 0.0))]  # cp.TorqueLimit() would keep it within its strength: here only the posture is used
stride = cp.optimize_motion(human, keys, contacts, STRIDE, wishes=wishes, rate=20.0)
print(stride.report())

loop = stride.motion.as_loop(blend=0.1, travel=True)
style = cp.gait_from(loop)
recording = cp.simulate(human, cp.Walk(style=style), 6.0, start=cp.disturbed_start(human, seed=1))
found = cp.measure.gait(recording, 3.0)
print(f"planned {style.speed:.2f} m/s, walks at {found.speed:.2f} m/s in steps of {found.step_length:.2f} m")
cp.filmstrip(loop, times=[STRIDE * k / 8 for k in range(8)], path="planned.png", size=(150, 200), azimuth=-90)
cp.filmstrip(recording, times=[4.0 + 0.14 * k for k in range(8)], path="walked.png", size=(150, 200), azimuth=-90)
