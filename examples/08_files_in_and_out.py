"""A motion goes out as BVH and as a table, comes back on a body built from the file, and onto another figure."""

from pathlib import Path

import numpy as np

import counterpoise as cp

human = cp.character("human")
squat = cp.reference_motion("squat", human)

# Out: another frame rate, centimetres, only some of the body
squat.write("squat.bvh", rate=30, units="cm")
squat.write("trunk.bvh", rate=30, bodies=["pelvis", "thorax", "head"])
squat.write("squat.csv", rate=10)
print(Path("squat.csv").read_text().splitlines()[0][:60], "...")

# In: the file's own skeleton becomes a character; what the format leaves open is guessed, with a remark
motion = cp.read_motion("squat.bvh")
print(motion.character)
for line in motion.source.remarks:
    print(" ", line)

# A part of it goes back with the file's own names, channels, offsets and units
motion.slice(0.5, 2.0).write("part.bvh")
first, again = (Path(name).read_text().split("MOTION")[0] for name in ("squat.bvh", "part.bvh"))
print("the same hierarchy:", first == again)

# A table belongs to a character
table = cp.read_motion("squat.csv", human)
print("largest difference:", np.abs(table.poses - squat.sample(table.times).q).max())

cp.filmstrip(motion, count=4, size=(200, 300), path="squat.png")
