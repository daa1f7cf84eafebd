"""Every figure of the cast reaches for something with what it has: a hand, a small arm, a beak."""

import numpy as np

import counterpoise as cp

for entry in cp.characters():
    who = cp.character(entry.name)
    if not who.segments:
        print(f"{entry.name:13s} has no segments yet: nothing to pose")
        continue
    stays = [wish for foot in who.feet for wish in (cp.Pin(foot.body), cp.Lock(foot.body))]
    if who.hands:
        tip, way = who.hands[-1], (0.12, 0.0, 0.22)  # up and forward
    elif "head" in who.segments:
        tip, way = "head", (0.12, 0.0, -0.2)  # peck
    else:
        tip, way = (who.root, (0.0, 0.0, -0.07)) if who.feet else (who.segments[-1], (0.3, 0.0, -0.2))
    place = who.snapshot().position(tip) + who.height * np.array(way)
    goals = [cp.Reach(tip, place)]
    if "head" in who.segments and tip.startswith("hand"):
        goals.append(cp.Aim("head", axis=(1.0, 0.0, 0.0), at=place))  # and looks at it
    pose = cp.solve_pose(who, goals, stays)
    missed = ", ".join(f"{name} off by {size:.0e}" for name, size in pose.residuals.items())
    print(f"{entry.name:13s} {pose.status:11s} {missed}; feet by {max(pose.violations.values(), default=0.0):.0e}")
    cp.still(pose.motion, path=f"pose_{entry.name}.png", size=(320, 360), caption=f"{entry.name}: {pose.status}")
