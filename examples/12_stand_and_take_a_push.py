"""Stand: a human squats, is pushed half-way down, keeps its feet and finishes; then harder pushes, in place."""

import counterpoise as cp
from counterpoise import measure
from counterpoise.control.stand import Stand

human = cp.character("human")

# it follows a motion; the motion's clock slows while there is trouble and catches up after
squat = cp.reference_motion("squat", human)
stand = Stand(squat)
push = cp.Push("thorax", (150, 0, 0), start=0.8, duration=0.1)
rec = cp.simulate(human, stand, squat.duration + 1.0, start=stand.ready(human), disturbances=[push])
print(
    rec, "fell" if measure.fell(rec) else "stood", f"at most {rec.notes['tracking'].max():.2f} rad rms from the squat"
)

# in place: as many times what ankles alone could bear, forward
limit = measure.ankle_limit(human, "thorax", direction=0.0)
for rho in (0.8, 1.3):
    push = cp.Push("thorax", (rho * limit.impulse / 0.1, 0, 0), start=0.3, duration=0.1)
    one = cp.simulate(human, Stand(), 2.4, disturbances=[push])
    took = measure.survival(one, push_end=0.4, bar=measure.Bar(seconds=2.0))
    print(f"rho {rho}: {push.force[0]:.0f} N, survived {took.survived}, feet moved {1e3 * took.foot:.1f} mm")

# soft in the joints, and lower
soft = cp.simulate(human, Stand(compliance=0.8, height=0.85), 1.0)
print(f"soft and low: CoM at {measure.com(soft)[-1, 2]:.3f} m")
cp.filmstrip(one, times=[0.3, 0.5, 0.7, 0.9, 1.2, 2.4], path="push.png", size=(240, 340))
