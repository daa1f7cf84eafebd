"""Walk: from a disturbed start, at a speed, then faster and with longer arms, measured and drawn."""

from dataclasses import replace

import counterpoise as cp

human = cp.character("human")
session = cp.Session(human, cp.Walk(speed=0.8), start=cp.disturbed_start(human, seed=1), keep=None)
session.advance(4.0)

session.controller = replace(session.controller, speed=1.2)  # every number can change while it walks
recording = session.advance(4.0)
found = cp.measure.gait(recording, start=6.0)
print(f"{found.speed:.2f} m/s, steps of {found.step_length:.2f} m and {found.step_time:.2f} s")
print(f"heel strike {found.heel_strike:.0f} deg, double support {100 * found.double_support:.0f} %")

session.character = human.rescaled({"arms": 1.3})  # and so can the body
session.advance(2.0)
session.controller = replace(session.controller, speed=0.0)
session.advance(2.0)
print(f"went {session.state.q[0]:.1f} m")

cp.filmstrip(recording, times=[6.0 + 0.15 * k for k in range(8)], path="walk.png", size=(150, 220), azimuth=-90)
