"""One squat on the whole cast: retargeting keeps directions, contacts and limits, and says what it could not keep."""

import counterpoise as cp

human = cp.character("human")
squat = cp.reference_motion("squat", human)  # or cp.read_motion("squats.bvh")

for name in ("child", "asymmetric", "insectoid", "chicken", "ostrich", "dinosaur"):
    who = cp.character(name)
    made, report = cp.retarget_with_report(squat, who)
    slip = 1e3 * max(report.slip.values())
    worst = max(report.directions, key=lambda limb: report.directions[limb][0])
    print(
        f"{name:11s} scale {report.scale:.2f}  {len(report.contacts)} contacts, slip {slip:.3f} mm, "
        f"worst limb {worst} {report.directions[worst][0]:.1f} deg, at rest: {', '.join(report.idle) or 'nothing'}"
    )
    cp.still(made, time=1.2, path=f"retarget_{name}.png", size=(280, 320), caption=name)

print()
print(cp.retarget_with_report(squat, cp.character("insectoid"), spare="follow")[1])  # what follows what

# A part can be told what to follow, or to stay at rest.
quiet = cp.retarget(squat, cp.character("child"), mapping={"head": None, "upper_arm_left": "upper_arm_right"})
print(quiet)
