"""What the world is like where nobody says otherwise."""

GRAVITY = 9.81  # [m/s^2], downwards
GROUND_FRICTION = 1.0  # of the simulated ground
PLANNED_FRICTION = 0.8  # of the cones in which contact forces are planned: less than the ground's, as a margin
