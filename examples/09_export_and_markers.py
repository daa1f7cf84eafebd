"""A kick goes out for Blender and comes back; then it is captured by virtual markers and found again from them."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np

import counterpoise as cp
from counterpoise.motion.files.markers import Markers
from counterpoise.pose.marker_labels import placements
from counterpoise.pose.markers import fit_markers

human = cp.character("human")
kick = cp.reference_motion("front_kick", human)

# Out: skeleton, body and animation in one file; a part of it at another rate
kick.write("kick.glb")
kick.write("legs.gltf", rate=24, bodies=["pelvis", "thigh_right", "shank_right", "foot_right"])
if find_spec("pxr"):  # pip install 'counterpoise[usd]'
    kick.write("kick.usdc")
print(*(f"{path.name}: {path.stat().st_size} bytes" for path in sorted(Path().glob("*.[gu][ls]*"))), sep="\n")

# In: a character of its own, built from the file
again = cp.read_motion("kick.glb")
print(again)

# Markers on a taller person, as a camera system would see them: 1 mm of noise, one hidden for a while
person = human.rescaled(lengths={"all": 1.05})
true = cp.reference_motion("front_kick", person).resampled(100)
labels = ["LFHD", "RFHD", "LBHD", "RBHD", "C7", "T10", "CLAV", "STRN"]
labels += [s + p for s in "LR" for p in ("SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN", "ASI", "PSI", "THI", "KNE")]
labels += [s + p for s in "LR" for p in ("TIB", "ANK", "HEE", "TOE", "MT5")]
places, _ = placements(labels, person, None)
snapshots = [person.snapshot(person.state(q)) for q in true.poses]
seen = np.array([[s.position(body, point) for body, point in places.values()] for s in snapshots])
seen += 0.001 * np.random.default_rng(0).normal(size=seen.shape)
seen[100:112, labels.index("RKNE")] = np.nan

fit = fit_markers(Markers(tuple(labels), 100.0, seen, name="captured kick"), human)
print(fit, *fit.remarks, sep="\n")
print(f"height {fit.character.height:.3f} m; it was {person.height:.3f} m")
cp.filmstrip(fit.motion, count=5, size=(200, 300), path="kick.png")
