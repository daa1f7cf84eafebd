"""Draw a desk lamp in the plane, drag it by its head, then let it follow a stroke recorded with a shaking hand."""

import numpy as np

import counterpoise as cp
from counterpoise.character.editing import add_segment, empty_figure

lamp = empty_figure("lamp", planar=True)
lamp = add_segment(lamp, "lower", length=0.45, angle=-0.5, pinned=True, limits=(-1.5, 1.5))
lamp = add_segment(lamp, "upper", "lower", length=0.45, angle=1.2, limits=(-0.1, 2.6))
lamp = add_segment(lamp, "head", "upper", length=0.18, angle=1.0, limits=(-1.6, 1.9))
print(lamp)

# Dragging: one pose after another; nothing jumps, and the base stays where it is.
drag = cp.PoseDrag(lamp)
here = lamp.snapshot().position("head")
for k in range(1, 31):
    pose = drag.to([cp.Reach("head", here + k * np.array([-0.006, 0.0, -0.004]))])
print("dragged 0.2 m down and back:", pose)

# A stroke: a lying eight at uneven times, with a tremble of 3 mm and a pause at its end.
rng = np.random.default_rng(6)
t = np.sort(rng.uniform(0.0, 3.0, 240))
phase = 2.0 * np.pi * np.minimum(t / 2.5, 1.0)
samples = np.stack([0.45 + 0.16 * np.sin(phase), 0.0 * t, 0.45 + 0.09 * np.sin(2.0 * phase)], axis=1)
samples[:, [0, 2]] += rng.normal(0.0, 0.003, (len(t), 2))
stroke = cp.Path.from_stroke("head", samples, times=t)
print(f"{len(t)} samples became", stroke)

# It can be edited: a control point moved up, and the way run through again at an even speed.
edited = stroke.moved(2, stroke.points[2] + (0.0, 0.0, 0.05)).with_speed("ease", duration=2.0)

# The lamp follows both, and always shines downwards (its head was drawn pointing along its x axis).
shine = cp.Aim("head", axis=(1.0, 0.0, -0.1), along=(0.3, 0.0, -1.0), weight=0.1)
for name, path in (("stroke", stroke), ("edited", edited)):
    motion = cp.animate(lamp, [path], goals=[shine], rate=60)
    print(name, motion)
    cp.filmstrip(
        motion, count=8, path=f"lamp_{name}.png", size=(200, 240), azimuth=-90.0, elevation=5.0, camera="fixed"
    )
