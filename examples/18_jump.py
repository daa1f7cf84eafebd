"""Jump: planned by spacetime optimisation, done by a simulated body from a disturbed start, measured, drawn."""

import counterpoise as cp

human = cp.character("human")

# the first plan takes some seconds; it is kept with the body and on disk, so the second time costs nothing
jump = cp.Jump(height=0.15, forward=0.3)
plan = cp.plan_jump(human, jump.wish)
print(f"planned: {plan.motion.duration:.2f} s in {plan.motion.phases} phases {plan.note}")

start = cp.disturbed_start(human, seed=1)  # joints off by 0.03 rad, moving a little
recording = cp.simulate(human, jump, seconds=4.5, start=start)

for flight in cp.measure.jumps(recording):
    print(f"in the air from {flight.takeoff:.2f} to {flight.landing:.2f} s")
    print(f"rise {flight.rise:.3f} m, {flight.forward:.2f} m forward, {flight.side:+.2f} m to the side")
    print(f"landing peak {flight.peak:.1f} body weights, {flight.steps} steps, still after {flight.stood:.2f} s")
print("fell" if cp.measure.fell(recording) else "stands")

cp.filmstrip(recording, times=[0.3, 0.7, 1.0, 1.2, 1.4, 1.7, 2.5], path="jump.png", size=(150, 230))
