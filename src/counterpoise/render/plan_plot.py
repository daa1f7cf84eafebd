"""The picture of a plan of steps: from above and from the side."""

from __future__ import annotations

import math
import os

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.transforms import Affine2D

from counterpoise.plan import FootstepPlan
from counterpoise.render import palette
from counterpoise.render.plots import style_axis, write_plot

SIDES = (palette.LEFT, palette.RIGHT)
NAMES = ("left", "right")
ROOM = 0.12  # [m] around what is drawn
ROUNDED = 0.7  # of the half width of a sole: its corners
WIDTH, SIDE_TALL, LEAST_TALL, MOST_TALL = 7.5, 2.8, 1.8, 7.0  # [in] of the picture and its panels
LEG_FROM = 0.05  # [m] above the ground, the ankle


def plot_plan(plan: FootstepPlan, path: str | os.PathLike[str] | None = None) -> Figure:
    """Draws soles, CoM, capture point and centre of pressure of a plan; written to `path` if one is given.

    The upper panel is seen from above, the lower one from the right side, both along the heading of the first landing.
    """
    low, high = _extent(plan)
    tall = min(max(WIDTH * float((high - low)[1] / (high - low)[0]), LEAST_TALL), MOST_TALL)  # [in] seen from above
    drawing = Figure(figsize=(WIDTH, tall + SIDE_TALL), layout="constrained")
    above, side = drawing.subplots(2, 1, height_ratios=(tall, SIDE_TALL))
    _draw_above(above, plan)
    _draw_side(side, plan)
    above.set_xlim(low[0], high[0])
    above.set_ylim(low[1], high[1])
    above.set_aspect("equal", adjustable="box")
    side.set_xlim(low[0], high[0])
    above.set_title(
        f"{plan.problem.count} steps, cost {plan.cost:.2g}; landings after "
        + ", ".join(f"{time:.2f}" for time in plan.landing_times)
        + " s",
        fontsize=9,
    )
    handles, labels = above.get_legend_handles_labels()
    above.legend(handles, labels, fontsize=8, frameon=False, ncols=4, loc="upper center", bbox_to_anchor=(0.5, -0.06))
    if path is not None:
        write_plot(drawing, path)
    return drawing


def _extent(plan: FootstepPlan) -> tuple[np.ndarray, np.ndarray]:
    """Returns the least and the largest place that is drawn, seen along the heading."""
    feet = np.array([place for _, place, _, _ in _stood(plan)])
    soles = plan.problem.frame.soles
    lines = [_along(plan, places) for places in (plan.path.pressure, plan.path.capture, plan.path.com)]
    ends = np.array([float(soles[:, 2].max()), float(soles[:, 3].max())])
    seen = np.vstack([feet - np.array([-soles[:, 0].min(), ends[1]]), feet + ends, *lines])
    return seen.min(axis=0) - ROOM, seen.max(axis=0) + ROOM


def _along(plan: FootstepPlan, places: np.ndarray) -> np.ndarray:
    """Returns places of the world as seen from the stance foot, along the heading."""
    c, s = math.cos(plan.problem.heading), math.sin(plan.problem.heading)
    turned: np.ndarray = (places - plan.problem.origin) @ np.array([[c, -s], [s, c]])
    return turned


def _stood(plan: FootstepPlan) -> list[tuple[int, np.ndarray, float, str]]:
    """Returns (foot, place, turn, label) of the stance foot, the swinging foot now, and every landing."""
    q = plan.problem
    first = int(plan.feet[0])
    yaw = math.atan2(q.steps[0, 13] or q.steps[0, 11], q.steps[0, 12] or q.steps[0, 10])
    feet = [(1 - first, np.zeros(2), yaw, "stands"), (first, q.start[4:6], yaw, "now")]
    for k, place in enumerate(_along(plan, plan.footholds)):
        feet.append((int(plan.feet[k]), place, float(q.steps[k, 4]), f"{plan.landing_times[k]:.2f} s"))
    return feet


def _draw_above(axis: Axes, plan: FootstepPlan) -> None:
    frame, route = plan.problem.frame, plan.path
    for foot, place, yaw, label in _stood(plan):
        heel, _, front, half = frame.soles[foot].tolist()
        lands = label not in ("stands", "now")
        sole = FancyBboxPatch(
            (heel, -half), front - heel, 2.0 * half, boxstyle=f"round,pad=0,rounding_size={ROUNDED * half}",
            facecolor=palette.mixed(SIDES[foot], palette.GROUND, 0.75 if label == "now" else 0.35),
            edgecolor=SIDES[foot], linewidth=1.2, linestyle=":" if label == "now" else "-",
        )  # fmt: skip
        sole.set_transform(Affine2D().rotate(yaw).translate(*place) + axis.transData)
        axis.add_patch(sole)
        axis.annotate(
            label if not lands else f"{NAMES[foot]}, {label}", (place[0] + 0.5 * (heel + front), place[1]),
            ha="center", va="center", fontsize=7, color=palette.INK, zorder=5,
        )  # fmt: skip
    pressure, capture, com = (_along(plan, places) for places in (route.pressure, route.capture, route.com))
    axis.plot(*pressure.T, color=palette.COP, linewidth=1.4, label="centre of pressure")
    axis.plot(*capture.T, color=palette.PUSH, linewidth=1.2, linestyle="--", label="capture point")
    axis.plot(*com.T, color=palette.COM, linewidth=2.0, label="CoM")
    axis.plot(*com[0], "o", color=palette.COM, markersize=6, label="now")
    style_axis(axis, "to the left [m]")


def _draw_side(axis: Axes, plan: FootstepPlan) -> None:
    frame, route = plan.problem.frame, plan.path
    gravity = frame.leg / frame.clock**2
    height = gravity / frame.omega**2
    com, capture, pressure = (_along(plan, places)[:, 0] for places in (route.com, route.capture, route.pressure))
    axis.axhline(0.0, color=palette.SCENERY, linewidth=0.8)
    feet = _stood(plan)
    now = [0.0, 0.0, *plan.landing_times.tolist()]
    for (foot, place, _, label), time in zip(feet, now, strict=True):
        heel, _, front, _ = frame.soles[foot].tolist()
        axis.plot([place[0] + heel, place[0] + front], [0.0, 0.0], color=SIDES[foot], linewidth=4.0, alpha=0.8,
                  solid_capstyle="round")  # fmt: skip
        at = float(np.interp(time, route.times, com))
        axis.plot(
            [place[0], at], [LEG_FROM, height], color=SIDES[foot], linewidth=1.2, alpha=0.3 if label == "now" else 0.8
        )
    for k, time in enumerate(plan.landing_times.tolist()):  # the rear leg when the next foot lands
        foot, place, _, _ = feet[0] if k == 0 else feet[k + 1]
        at = float(np.interp(time, route.times, com))
        axis.plot([place[0], at], [LEG_FROM, height], color=SIDES[foot], linewidth=1.2, linestyle=":", alpha=0.8)
    axis.plot(com, np.full(len(com), height), color=palette.COM, linewidth=2.0)
    axis.plot(com[0], height, "o", color=palette.COM, markersize=6)
    axis.plot(capture, np.full(len(capture), 0.5 * LEG_FROM), color=palette.PUSH, linewidth=1.2, linestyle="--")
    axis.plot(pressure, np.full(len(pressure), -0.5 * LEG_FROM), color=palette.COP, linewidth=1.4)
    axis.set_ylim(-2.0 * LEG_FROM, 1.2 * height)
    style_axis(axis, "height [m]")
    axis.set_xlabel("along the heading [m]", fontsize=9)
