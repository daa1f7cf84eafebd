"""Optimise a stunt: a jump from three keys and two contacts in a TOML file; then one key moved, solved from there."""

from pathlib import Path

import counterpoise as cp
from counterpoise.spacetime.stunt import read_stunt

text = (Path(__file__).parent / "stunts" / "standing_jump.toml").read_text()
stunt = read_stunt(text)
print(stunt.problem().describe())


def watch(progress):
    if progress.iteration % 5 == 0:
        stage = "making it exact" if progress.exact else "searching"
        print(f"  {progress.iteration:3d} {stage}: {progress.violation:.1e} in {progress.worst}")
    return True  # False would stop here and keep the best motion so far


jump = stunt.optimize(callback=watch)
print(jump.report())

# the landing moved on by 10 cm: the jump just found is the start
further = read_stunt(text.replace("[0.6, 0.0]", "[0.7, 0.0]")).optimize(warm=jump)
print(f"\n10 cm further: {further.status} in {further.iterations} iterations instead of {jump.iterations}")

# what nobody can do ends in a status that says why, with the nearest motion kept
impossible = read_stunt("""
duration = 0.8
key = [
  { time = 0.0, rest = true },
  { time = 0.4, joints = { knee_left = -30 }, only = "knee_left" },
  { time = 0.8, rest = true },
]
contact = [{ part = "feet" }]
""").optimize()
print(f"\na knee bent backwards: {impossible.status}: {', '.join(impossible.conflicts)}")

try:
    read_stunt(text.replace('pose = "crouch"', 'pose = "crouhc"'))
except cp.CounterpoiseError as error:
    print(f"\na mistake: {error}")

further.motion.save("jump.npz")
cp.filmstrip(further.motion, count=7, path="jump.png", size=(200, 260))
