"""The plan of the next three steps of a body that has been pushed: footholds, times, what they cost, and a picture."""

import counterpoise as cp

human = cp.character("human")
rest = human.state()
velocity = rest.v.copy()
velocity[:2] = 0.9, -0.5  # pushed forward and to the right [m/s]
plan = cp.steps_ahead(human.snapshot(human.state(rest.q, velocity)))
for foot, place, time in zip(plan.feet, plan.footholds, plan.landing_times, strict=True):
    print(f"{('left', 'right')[foot]:5} foot lands at {place[0]:5.2f}, {place[1]:5.2f} m after {time:.2f} s")
print("it costs", {name: round(cost, 3) for name, cost in plan.costs.items() if cost > 0.001})
cp.plot_plan(plan, "plan.png")

dear = cp.plan.PlanCosts(time=60.0)  # steps keep their usual time
plan = cp.steps_ahead(human.snapshot(human.state(rest.q, velocity)), costs=dear)
print("with usual times they land after", plan.landing_times.round(2), "s")
