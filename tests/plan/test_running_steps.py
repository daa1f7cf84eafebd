"""The bouncing point mass: its closed forms beside an integration, its footholds beside scipy's optimum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import minimize

from counterpoise.defaults import GRAVITY
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

G = GRAVITY
STANCE, FLIGHT, LANDING, TAKEOFF = 0.25, 0.1, 0.95, 0.96  # [s, s, m, m]
NOTHING = np.zeros((2, 5))


def steady() -> np.ndarray:
    out = np.empty(4)
    steady_bump(STANCE, FLIGHT, LANDING, TAKEOFF, G, out)
    return out


def mapped(added: np.ndarray = NOTHING, side: float = 1.0) -> np.ndarray:
    bump, out = steady(), np.empty((2, 6))
    stance_map(bump[:2], STANCE, 0.0, LANDING, bump[2], G, added, side, out)
    return out


@pytest.mark.parametrize("u0", [0.0, 0.35, 0.8])
def test_the_bounce_goes_where_an_integration_says(u0):
    size, skew, z, rate = 21.0, 4.0, 0.93, -0.4

    def fall(t: float, y: np.ndarray) -> list[float]:
        return [y[1], bump_force(size, skew, u0 + t / STANCE) - G]

    found = solve_ivp(fall, (0.0, (1.0 - u0) * STANCE), [z, rate], rtol=1e-10, atol=1e-12).y[:, -1]
    assert bounce_height(size, skew, STANCE, u0, z, rate, 1.0, G) == pytest.approx(found[0], abs=1e-8)
    assert bounce_speed(size, skew, STANCE, u0, rate, 1.0, G) == pytest.approx(found[1], abs=1e-7)


def test_a_steady_bounce_repeats_itself():
    size, skew, down, up = steady()
    assert bounce_height(size, skew, STANCE, 0.0, LANDING, down, 1.0, G) == pytest.approx(TAKEOFF, abs=1e-6)
    assert bounce_speed(size, skew, STANCE, 0.0, down, 1.0, G) == pytest.approx(up, abs=1e-5)
    assert time_to_height(TAKEOFF, up, LANDING, G) == pytest.approx(FLIGHT, abs=1e-9)
    assert min(bump_force(size, skew, u) for u in np.linspace(0.0, 1.0, 101)) > -1e-9


def test_a_bump_is_the_best_of_all():
    usual, end, weights = steady()[:2], np.array([TAKEOFF, 0.4]), np.array([4.0, 0.1, 1e-5, 2e-5])
    for u0, z, rate in ((0.0, 0.97, -0.9), (0.3, 0.9, -0.2), (0.7, 0.92, 0.5), (0.0, 0.93, 0.4)):
        out = np.empty(2)
        cost = fit_bump(STANCE, u0, z, rate, end, usual, weights, G, out)

        def price(x: np.ndarray, u0: float = u0, z: float = z, rate: float = rate) -> float:
            high = bounce_height(x[0], x[1], STANCE, u0, z, rate, 1.0, G) - end[0]
            fast = bounce_speed(x[0], x[1], STANCE, u0, rate, 1.0, G) - end[1]
            return float(weights @ [high**2, fast**2, (x[0] - usual[0]) ** 2, (x[1] - usual[1]) ** 2])

        assert cost == pytest.approx(price(out), rel=1e-9, abs=1e-12)
        within = [
            {"type": "ineq", "fun": lambda x, sign=sign: 0.55 * x[0] + sign * x[1]} for sign in (1.0, -1.0)
        ]  # where the force stays positive
        best = minimize(price, out + [0.5, -0.2], constraints=within, method="SLSQP", options={"ftol": 1e-14})
        assert cost <= best.fun * (1.0 + 1e-4) + 1e-9


def test_a_hard_landing_takes_a_longer_stance():
    limits, weights = np.array([0.8, 1.25, 2.8 * G]), np.array([5.0, 0.1, 1e-5, 2e-5, 0.1, 1e-3])
    end, usual = np.array([TAKEOFF, steady()[3]]), steady()[:2]
    soft = choose_stance(STANCE, LANDING, steady()[2], end, usual, weights, limits, G)
    hard = choose_stance(STANCE, 0.88, -1.4, end, usual, weights, limits, G)
    assert soft == pytest.approx(STANCE, rel=0.03)
    assert hard > soft


def test_the_map_of_a_stance_is_what_an_integration_says():
    added = np.array([[2.0, 1.0, -1.0, -2.0, 0.5], [0.3, 0.0, -0.2, 0.1, 0.4]])
    size, skew, down, _ = steady()
    x, v, p0, p1 = -0.2, 2.5, 0.03, 0.14
    for axis, side in ((0, 1.0), (1, -1.0)):

        def move(t: float, y: np.ndarray, axis: int = axis, side: float = side) -> list[float]:
            u = t / STANCE
            force = bump_force(size, skew, u) / bounce_height(size, skew, STANCE, 0.0, LANDING, down, u, G)
            more = added[axis, min(int(5.0 * u), 4)] * (side if axis else 1.0)
            return [y[1], force * (y[0] - p0 - (p1 - p0) * u) + more]

        found = solve_ivp(move, (0.0, STANCE), [x, v], rtol=1e-9, atol=1e-11, max_step=1e-3).y[:, -1]
        whole = mapped(added, side)
        assert whole[:, :4] @ [x, v, p0, p1] + whole[:, 4 + axis] == pytest.approx(found, abs=2e-3)
    assert mapped()[:, :4] @ [x, v, p0, p1] == pytest.approx(mapped()[:, :4] @ [x + 1, v, p0 + 1, p1 + 1] - [1, 0])


def test_a_steady_run_keeps_its_speed_and_sways_evenly():
    whole, first, last = mapped(np.full((2, 5), 0.7)), 0.03, 0.14
    lead = steady_lead(whole, 2.5, first, last)
    assert whole[1, :5] @ [0.0, 2.5, lead + first, lead + last, 1.0] == pytest.approx(2.5, abs=1e-9)
    plain, width = mapped(), 0.07
    swayed = np.empty(2)
    steady_sway(plain, width, FLIGHT, swayed)
    speed, place = swayed  # at the landing of the left foot, which is at half the width
    out = plain[:, :4] @ [place, speed, 0.5 * width, 0.5 * width]
    assert out[1] == pytest.approx(-speed, abs=1e-9)
    assert out[0] + FLIGHT * out[1] == pytest.approx(-place, abs=1e-9)
    assert speed > 0.0 and abs(place) < 0.5 * width


def test_footholds_are_the_optimum_that_scipy_finds():
    here, later = mapped()[:, [0, 1, 2, 3, 4, 5]], mapped(np.full((2, 5), 0.5))
    now, pressure, flights = np.array([-0.1, 2.2]), np.array([0.05, 0.14]), np.array([0.11, 0.1])
    speeds, leads, sole = np.array([2.4, 2.5, 2.6]), np.array([0.2, 0.21]), np.array([0.03, 0.14])
    added = np.array([[0.01, 0.05], [0.02, 0.1], [0.02, 0.1]])
    weights = np.array([0.3, 1.0, 0.5, 0.6, 3.0])

    def price(x: np.ndarray) -> float:
        d, u1, u2 = x
        to = here[:, :4] @ [*now, pressure[0] + d, pressure[1] + d] + added[0]
        land = to[0] + flights[0] * to[1]
        to1 = later[:, :4] @ [land, to[1], u1 + sole[0], u1 + sole[1]] + added[1]
        land1 = to1[0] + flights[1] * to1[1]
        to2 = later[:, :4] @ [land1, to1[1], u2 + sole[0], u2 + sole[1]] + added[2]
        off = [to[1] - speeds[0], to1[1] - speeds[1], to2[1] - speeds[2]]
        places = [u1 - land - leads[0], u2 - land1 - leads[1]]
        return float(weights[:3] @ np.square(off) + weights[3] * np.sum(np.square(places)) + weights[4] * d * d)

    for shifts, reach in (((-1.0, 1.0), (-2.0, 2.0)), ((-0.002, 0.002), (-2.0, 2.0)), ((-1.0, 1.0), (-0.1, 0.1))):
        out = np.empty(7)
        choose_footholds(
            now, pressure, here, later, flights, speeds, leads, sole, np.array(shifts), np.array(reach), added, weights,
            out,
        )  # fmt: skip
        assert shifts[0] <= out[0] <= shifts[1] and reach[0] - 1e-12 <= out[1] - out[3] <= reach[1] + 1e-12
        if reach[1] < 1.0:  # a bound of one foothold: with shift and foothold as they are, the second is the best
            best = minimize(lambda u, d=out[0], u1=out[1]: price(np.array([d, u1, u[0]])), [out[2]], tol=1e-12)
        else:
            best = minimize(price, out[:3] + 0.01, bounds=[shifts, (None, None), (None, None)], tol=1e-12)
        assert price(out[:3]) <= best.fun + 1e-7
