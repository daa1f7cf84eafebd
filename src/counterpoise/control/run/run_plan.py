"""The plan of a run at one tick: the bounce, the next footholds, the centre of pressure now."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.control.run.run_state import RunMemory
from counterpoise.control.run.run_tuning import RunTuning
from counterpoise.control.walk.seen import SeenBody
from counterpoise.control.walk.walking_body import SIGN, walking_body
from counterpoise.kernels import kernel
from counterpoise.plan.bounce import (
    bounce_height,
    bounce_speed,
    bump_force,
    choose_stance,
    fit_bump,
    steady_bump,
    time_to_height,
)
from counterpoise.plan.running_steps import choose_footholds
from counterpoise.plan.stance_map import stance_map, steady_lead, steady_sway

LEAST_FLIGHT = 0.02  # [s] of a plan


class RunShape(NamedTuple):
    """The steady step of a speed."""

    stance: float  # [s]
    flight: float  # [s]
    landing: float  # [m] height of the CoM
    takeoff: float  # [m]
    highest: float  # [m] of the CoM at which a foot can land as far ahead as it is planned to


class RunPlan(NamedTuple):
    """Times in seconds from now; places in the world."""

    acceleration: Array  # (3,) of the CoM [m/s^2]; without a foot on the ground that of a free fall
    pressure: Array  # (2,) the centre of pressure now
    shift: Array  # (2,) of it from its usual place
    stance_left: float
    left: float  # until the next foot lands
    foothold: Array  # (2,) where its ankle will be, the foot flat
    later_left: float  # until the foot after it lands
    later_foothold: Array  # (2,)
    landing_com: Array  # (2,) where the CoM will be at the next landing
    takeoff: Array  # (2,) height and vertical speed of the CoM at take-off that the plan expects [m, m/s]
    speeds: Array  # (2,) along the heading at this take-off and the next one that the plan expects [m/s]


class _RunTables(NamedTuple):
    """Numbers of a body and a tuning, in metres and seconds."""

    g: float
    sole: Array  # (2, 4) of each foot: heel, ball and front, ahead of the ankle; half width [m]
    pressure: Array  # (2,) [soles]
    width: float  # [m]
    reach: Array  # (4,) least lead along; largest across, along, and to the other side [m]
    bounce: Array  # (6,) weights
    steps: Array  # (5,) weights
    limits: Array  # (3,) shares of a usual stance's time, strongest force [m/s^2]


@kept_with_character
def _run_tables(character: Character, t: RunTuning) -> _RunTables:
    body = walking_body(character)
    unit, rate = body.hips_height, body.leg_speed
    g = rate**2 / unit
    sole = np.array([[leg.heel_at, leg.ball_at, leg.front_at, leg.half_width] for leg in body.legs])
    return _RunTables(
        g, sole, np.array([t.first_pressure, t.last_pressure]),
        t.width * unit, np.array([t.least_lead, t.across_lead, t.most_lead, t.crossing]) * unit,
        np.array([t.height_weight / unit**2, t.speed_weight / rate**2, t.size_weight / g**2, t.skew_weight / g**2,
                  t.stance_weight, t.strong_weight / g**2]),
        np.array([t.now_weight / rate**2, t.next_weight / rate**2, t.later_weight / rate**2, t.place_weight / unit**2,
                  t.shift_weight / unit**2]),
        np.array([t.shortest_stance, t.longest_stance, t.strongest * g]),
    )  # fmt: skip


@kept_with_character
def _plain_tables(character: Character, t: RunTuning) -> tuple[Any, ...]:
    """Returns a _RunTables as a plain tuple, which kernels read faster than a named one."""
    return tuple(_run_tables(character, t))


def run_shape(speed: float, ahead: float, character: Character, t: RunTuning) -> RunShape:
    """Returns the step at a speed [m/s], as people take it. The next foot lands `ahead` of the CoM [m]."""
    body = walking_body(character)
    share = min(max(speed / body.leg_speed, t.slowest), t.fastest) - 1.0
    whole = (t.step_time + t.step_time_slope * share) * body.leg_time
    flight = min(max(t.flight + t.flight_slope * share, t.least_flight), t.most_flight) * whole
    stance, leg = whole - flight, body.legs[0]
    sole = leg.front_at - leg.heel_at
    lead = 0.5 * speed * stance - leg.heel_at - 0.5 * (t.first_pressure + t.last_pressure) * sole
    hips = leg.ankle_height + math.sqrt(max((t.landing_length * leg.longest) ** 2 - lead**2, 0.0))
    landing = min(hips + t.com_above_hips * body.hips_height, t.highest * body.hips_height)
    out = min(ahead + t.hips_behind * body.hips_height, 0.8 * leg.longest)
    hips = leg.ankle_height + math.sqrt((t.reach_length * leg.longest) ** 2 - out**2)
    highest = hips + t.com_above_hips * body.hips_height
    return RunShape(stance, flight, landing, landing + t.rise * body.hips_height, highest)


def stance_time(z: float, rate: float, shape: RunShape, character: Character, t: RunTuning) -> float:
    """Returns the duration of a stance that begins with the CoM at a height and a vertical speed [s]."""
    at, usual = _run_tables(character, t), np.empty(4)
    steady_bump(shape.stance, shape.flight, shape.landing, shape.takeoff, at.g, usual)
    end = np.array([shape.takeoff, usual[3]])
    return float(choose_stance(shape.stance, z, rate, end, usual[:2], at.bounce, at.limits, at.g))


def plan_run(
    m: RunMemory, seen: SeenBody, shape: RunShape, wish: Array, released: bool, character: Character, t: RunTuning
) -> RunPlan:
    """Returns the plan of a run that is under way. `wish` is the speed along and across the heading and how fast
    the heading turns [m/s, rad/s]."""
    assert m.time is not None
    flying = m.phase == "flight"
    times = np.array([m.time - m.began, m.duration, *shape, m.landing, m.late])
    found = _plan(
        m.stance, SIGN[m.stance], flying, released, m.heading, float(seen.yaw[m.stance]), times, wish, m.added,
        seen.com, seen.velocity, seen.flat[m.stance], 1.0 if t.hops else -1.0, _plain_tables(character, t),
    )  # fmt: skip
    return RunPlan(
        found[0:3], found[3:5], found[5:7], float(found[7]), float(found[8]), found[9:11], float(found[11]),
        found[12:14], found[14:16], found[16:18], found[18:20],
    )  # fmt: skip


@kernel
def _plan(
    stance: int, side: float, flying: bool, released: bool, heading: float, yaw: float, times: Array, wish: Array,
    added: Array, com: Array, velocity: Array, foot: Array, same: float, tables: tuple[Any, ...],
) -> Array:  # fmt: skip
    """Returns the numbers of a RunPlan, (20,).

    `times` are the time since the landing and this stance's duration, the five numbers of a RunShape, the height of the
    landing that ends a flight under way, and by how much feet land late. `same` is 1 where the same foot lands again
    (a hop), -1 where feet take turns.
    """
    t = _RunTables(*tables)
    g, landing, takeoff = t.g, times[4], times[5]
    gone, duration, steady_time, steady_flight = times[0], times[1], times[2], times[3]
    c, s = math.cos(heading), math.sin(heading)
    usual = np.empty(4)
    steady_bump(steady_time, steady_flight, landing, takeoff, g, usual)
    steady = np.empty((2, 6))
    stance_map(usual[:2], steady_time, 0.0, landing, usual[2], g, added, side, steady)
    here = np.zeros((2, 6))
    here[0, 0] = here[1, 1] = 1.0
    bump, out = np.zeros(2), np.empty(20)
    z, rate, force, left = com[2], velocity[2], 0.0, 0.0
    heel, ball, front, half = t.sole[stance, 0], t.sole[stance, 1], t.sole[stance, 2], t.sole[stance, 3]
    first, last = heel + t.pressure[0] * (front - heel), heel + t.pressure[1] * (front - heel)
    reference = last
    if not flying:
        u = min(max(gone / duration, 0.0), 1.0)
        left = duration * (1.0 - u)
        end = np.array([takeoff, usual[3]])
        fit_bump(duration, u, z, rate, end, usual[:2], t.bounce[:4], g, bump)
        force = min(max(bump_force(bump[0], bump[1], u), 0.0), t.limits[2])
        stance_map(bump, duration, u, z, rate, g, added, side, here)
        end[0] = bounce_height(bump[0], bump[1], duration, u, com[2], velocity[2], 1.0, g)
        rate = bounce_speed(bump[0], bump[1], duration, u, velocity[2], 1.0, g)
        z = end[0]
        reference = first + (last - first) * u
        if released:
            reference = max(reference, ball)
    out[16], out[17] = z, rate
    if flying:
        flight = time_to_height(z, rate, min(times[7], times[6]), g)
    else:
        flight = max(time_to_height(z, rate, min(min(landing, z), times[6]), g), LEAST_FLIGHT)
    # along the heading, from the stance foot
    ax, ay = math.cos(yaw - heading), math.sin(yaw - heading)
    dx, dy = com[0] - foot[0], com[1] - foot[1]
    place = np.array([c * dx + s * dy, c * dy - s * dx])
    speed = np.array([c * velocity[0] + s * velocity[1], c * velocity[1] - s * velocity[0]])
    flights = np.array([max(flight + times[8], 0.0), max(steady_flight + times[8], 0.0)])
    sway = np.empty(2)
    steady_sway(steady, t.width, steady_flight, sway)
    found = np.empty((2, 7))
    for k in range(2):
        axis = ax if k == 0 else ay
        pressure = np.array([reference * axis, last * axis])
        sole, shifts, reach = np.zeros(2), np.empty(2), np.empty(2)
        speeds, leads = np.empty(3), np.empty(2)
        if k == 0:
            sole[0], sole[1] = first, last
            shifts[0] = (ball if released else heel) - reference
            shifts[1] = front - reference
            speeds[:] = wish[0]
            leads[:] = steady_lead(steady, speed[0], first, last)
            reach[0], reach[1] = t.reach[0], t.reach[2]
        else:
            shifts[0], shifts[1] = -half, half
            lands = same * side  # the side of the foot that lands: no farther across than this
            reach[0] = -t.reach[3] if lands > 0.0 else -t.reach[1]
            reach[1] = t.reach[1] if lands > 0.0 else t.reach[3]
            reach -= wish[0] * wish[2] / g * landing  # on a curve both feet land farther out
            for i in range(3):  # it leaves the left foot to the right
                ahead = left + i * (flight + steady_time)
                speeds[i] = (
                    (same * side if i % 2 == 0 else side) * sway[0] + wish[1] + wish[0] * math.sin(wish[2] * ahead)
                )
            for i in range(2):
                at = same * side if i % 2 == 0 else side  # side of the foot that lands
                leads[i] = at * (0.5 * t.width - sway[1])
                leads[i] += wish[1] * (1.0 - steady[1, 1]) / (steady[1, 2] + steady[1, 3])
                leads[i] += wish[0] * wish[2] * (steady_time + steady_flight) / (steady[1, 2] + steady[1, 3])
        more = np.empty((3, 2))
        for i in range(2):
            more[0, i] = here[i, 4 + k]
            more[1, i] = steady[i, 4] if k == 0 else same * steady[i, 5]
            more[2, i] = steady[i, 4 + k]
        if flying:
            shifts[:] = 0.0
        choose_footholds(
            np.array([place[k], speed[k]]), pressure, here, steady, flights, speeds, leads, sole, shifts, reach, more,
            t.steps, found[k],
        )  # fmt: skip
    shift = found[:, 0]
    px, py = reference * ax + shift[0], reference * ay + shift[1]
    out[0] = out[1] = 0.0
    out[2] = force - g
    if not flying:
        ux, uy = force / com[2] * (place[0] - px), force / com[2] * (place[1] - py)
        out[0], out[1] = c * ux - s * uy, s * ux + c * uy
    _in_world(px, py, foot, c, s, out[3:5])
    out[5], out[6] = shift[0], shift[1]
    out[18], out[19] = found[0, 4], found[0, 6]
    out[7], out[8] = left, left + flight
    _in_world(found[0, 1], found[1, 1], foot, c, s, out[9:11])
    out[11] = left + flight + steady_time + steady_flight
    _in_world(found[0, 2], found[1, 2], foot, c, s, out[12:14])
    _in_world(found[0, 3], found[1, 3], foot, c, s, out[14:16])
    return out


@kernel
def _in_world(x: float, y: float, origin: Array, c: float, s: float, out: Array) -> None:
    """Fills the place in the world."""
    out[0], out[1] = origin[0] + c * x - s * y, origin[1] + s * x + c * y
