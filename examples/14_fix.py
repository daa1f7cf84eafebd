"""Fix: the least change that makes a motion possible. A squat that slides and floats stands still again."""

from dataclasses import replace

import numpy as np

import counterpoise as cp
from counterpoise.render.fix_plot import plot_fix
from counterpoise.spacetime.fix import FixTuning, fix_motion

human = cp.character("human")
squat = cp.reference_motion("squat", human)
times = np.arange(0.0, 1.5, 1.0 / 120.0)
poses = np.array(squat.sample(times).q)
poses[:, 0] += 0.02 * np.sin(2.0 * times)  # it slides ...
poses[:, 1] += 0.002 * np.sin(25.0 * times)  # ... jitters ...
poses[:, 2] += 0.02  # ... and floats
bad = replace(squat, times=times, poses=poses, loop=False, travel=False, name="slid squat")

result = fix_motion(bad, progress=lambda progress: None)
print(result.summary)
for name in ("skate", "float", "force"):
    was, now = result.before.finding(name), result.after.finding(name)
    print(f"{name}: {was.value:.2g} -> {now.value:.2g} {was.unit}")
print("windows:", [(round(w.start, 2), round(w.end, 2), w.steps) for w in result.windows])

# with the floor at the height where the feet usually stand, nothing has to come down
there = fix_motion(bad, tuning=FixTuning(floor="fit"))
print(f"floor at {100 * there.after.floor:.1f} cm: moved {1000 * there.change:.1f} mm, not {1000 * result.change:.1f}")

result.motion.write("fixed.bvh")
plot_fix(result, bad, "fix.png")
