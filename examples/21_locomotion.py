"""Locomotion: pushed while it stands, it steps; then it goes to a place, and runs."""

from dataclasses import replace

import counterpoise as cp

human = cp.character("human")
push = cp.Push("thorax", (600.0, 0.0, 0.0), start=0.5, duration=0.1)
caught = cp.simulate(human, cp.Locomotion(), 3.5, disturbances=[push])
print(f"60 N s: {max(caught.notes['steps']):.0f} steps, then it {caught.notes['phase'][-1]}s")
cp.filmstrip(
    caught, times=[0.4 + 0.2 * k for k in range(10)], path="caught.png", columns=5, size=(170, 220), azimuth=-90
)

session = cp.Session(human, cp.Locomotion(to=(2.0, 1.0)), keep=None)
session.advance(6.0)
print(f"at {session.state.q[0]:.1f}, {session.state.q[1]:.1f} m")

session.controller = replace(session.controller, to=None, speed=2.5)  # it walks, then runs
session.advance(6.0)
print(f"{session.state.v[0]:.1f} m/s")
