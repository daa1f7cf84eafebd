"""Check: is a motion possible? A squat is; lifted, slid, slowed down in the air or leaning too far, it is not."""

from dataclasses import replace

import numpy as np

import counterpoise as cp
from counterpoise.render.check_plot import plot_check
from counterpoise.spacetime.check import CheckTuning, check_motion

human = cp.character("human")
squat = cp.reference_motion("squat", human)
print("as it is:", check_motion(squat).verdict)


def moved(motion, x=0.0, z=0.0):
    poses = np.array(motion.poses)
    poses[:, 0] += x
    poses[:, 2] += z
    return replace(motion, poses=poses)


report = check_motion(moved(squat, z=0.05))
print("\nlifted by 5 cm:", report.verdict)
print("with the floor fitted:", check_motion(moved(squat, z=0.05), tuning=CheckTuning(floor="fit")).ok)

slid = moved(squat, x=0.2 * squat.times)
report = check_motion(slid)
print(f"\nslid: {report.finding('skate').value:.0f} cm/s, worst {report.finding('skate').worst:.0f}")

# thrown up with the gravity of the moon: a residual force has to carry most of the weight
t = squat.times
up = moved(squat, z=np.maximum(0.0, 1.2 * (t - 0.5) - 0.5 * 1.62 * (t - 0.5) ** 2) * (t > 0.5))
report = check_motion(up)
for flight in report.flights:
    print(f"\nin the air {flight.start:.2f}-{flight.end:.2f} s: falls with {flight.gravity:.1f} m/s^2,", end=" ")
    print(f"residual force {100 * flight.force:.0f}% of the weight")
print(f"violation {report.violation:.2f} body weights; most loaded joint: {report.strength[0].joint}")
plot_check(report, "check.png")
