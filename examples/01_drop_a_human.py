"""A human goes limp and falls; the recording is checked by plain MuJoCo and drawn as a filmstrip."""

import counterpoise as cp

human = cp.character("human", height=1.75, mass=73.0)
fall = cp.simulate(human, cp.Passive(), seconds=1.5, disturbances=[cp.Push("thorax", (60, 20, 0), 0.1, 0.2)])

print(fall)
print("fell:", cp.measure.fell(fall))
print("replay difference:", cp.replay(fall).final_error)
cp.filmstrip(fall, count=6, size=(200, 300), path="fall.png")
