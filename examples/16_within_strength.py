"""A jump within a person's strength: torques limited, limbs off each other, forces told, a key moved, and checked."""

from dataclasses import replace

import numpy as np

import counterpoise as cp

human = cp.character("human")
squat = cp.reference_motion("squat", human)
feet = ("foot_left", "foot_right")
end = human.neutral.copy()
end[0] += 0.5
keys = [
    cp.Key(0.0, human.neutral, rest=True),
    cp.Key(0.35, squat.sample(0.5 * squat.duration).q, soft=10.0, name="crouch"),
    cp.Key(1.6, end, rest=True),
]
contacts = [cp.Touch(f, 0.0, 0.6) for f in feet] + [cp.Touch(f, 1.0, 1.6) for f in feet]
fine = [(0.4, 0.6, 40.0), (0.6, 1.0, 50.0), (1.0, 1.2, 40.0)]  # more knots where much happens

easy = cp.optimize_motion(human, keys, contacts, 1.6, rate=20.0, fine=fine)
print("any torques:", easy.strains()[0])
print("check says:", cp.check_motion(easy.motion).verdict)

wishes = [cp.TorqueLimit(), cp.Apart()]
jump = cp.optimize_motion(human, keys, contacts, 1.6, rate=20.0, fine=fine, wishes=wishes)
print("\nlimited:", jump.strains()[0])
print("check says:", cp.check_motion(jump.motion).verdict)

push = [c for c in jump.forces() if c.times[0] == 0.0]
most = max(float(sum(c.total[k, 2] for c in push)) for k in range(len(push[0].times)))
print(f"the ground pushes with up to {most:.0f} N, {most / (human.mass * 9.81):.1f} times the weight")

further = end.copy()
further[0] += 0.1
again = cp.optimize_motion(
    human, [*keys[:2], replace(keys[2], pose=further)], contacts, 1.6, rate=20.0, fine=fine, wishes=wishes, warm=jump
)
print(f"\n10 cm further: {again.status} in {again.iterations} iterations ({jump.iterations} from scratch)")
assert jump.ok and again.ok and jump.strains()[0].share < 1.001
assert np.isclose(again.sample(1.6).q[0] - jump.sample(1.6).q[0], 0.1)
