"""Objectives in strict levels: a human stands, takes a push, and reaches out with a hand without losing its balance."""

import counterpoise as cp
from counterpoise.features import ComPosition, PointPosition

human = cp.character("human")
start = human.snapshot()
hand = PointPosition("hand_left")
goal = hand.value(start) + [0.35, 0.1, 0.45]


def levels(snapshot, time, memory):
    """What is wanted now; the hand comes in at 0.8 s and must not disturb what stands above it."""
    reach = []
    if time >= 0.8:
        due = cp.Target(hand, goal, time=1.4, limit=40.0, name="hand")
        reach = [[due if time < 1.4 else cp.Setpoint(hand, goal, name="hand")]]
    return [
        [cp.Contact(), cp.JointStops()],
        [cp.Setpoint(ComPosition(), start.com, stiffness=60.0, limit=7.0)],
        *reach,
        [cp.Momentum("angular", gain=20.0, weight=20.0), cp.TrackPose(stiffness={"": 200.0, "shoulder": 40.0})],
    ]


controller = cp.WholeBody(levels, tuning=cp.WholeBodyTuning(fade=0.1))
rec = cp.simulate(human, controller, seconds=2.0, disturbances=[cp.Push("thorax", (120, 0, 0), 0.2, 0.1)])
left = hand.value(human.snapshot(rec.state())) - goal
print(rec, "solver:", set(rec.notes["status"]))
print(f"hand {1e3 * (left @ left) ** 0.5:.1f} mm from its goal; largest CoM residual "
      f"{rec.notes['residual centre of mass'].max():.1e} m/s^2")  # fmt: skip
rec.plot("com", "note:residual hand", "torque:shoulder_left", path="levels.png")
cp.filmstrip(rec, count=6, path="levels_film.png", size=(240, 340))
