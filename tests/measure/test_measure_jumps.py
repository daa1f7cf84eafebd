"""Jumps measured in made-up recordings, of which everything is known: parabola, way, turn, forces, steps."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import measure, spatial
from counterpoise.errors import MissingRole
from counterpoise.simulate import Contacts, Recording

STEP = 0.001  # [s] between rows
UP, FLIGHT, SECONDS = 0.5, 0.4, 3.0  # [s] take-off, length of the flight, all


def made_up(
    body: cp.Character, forward: float = 0.0, side: float = 0.0, turn: float = 0.0, load: float = 1.0,
    slide: float = 0.0, bounce: float = 0.0,
) -> Recording:  # fmt: skip
    """A body that is carried through a jump in its neutral pose: CoM rise g T^2 / 8, way and turn linear in time.

    `load` is the ground force after landing in body weights, for 50 ms. `slide` moves the whole body along the ground
    0.1 s after landing, `bounce` is a time without force after it.
    """
    short = cp.simulate(body, None, 0.01)
    n = round(SECONDS / STEP)
    t = STEP * np.arange(n)
    q = np.tile(body.neutral, (n, 1))
    share = np.clip((t - UP) / FLIGHT, 0.0, 1.0)
    air = (t >= UP) & (t < UP + FLIGHT)
    q[:, 2] += np.where(air, 0.5 * body.gravity * (t - UP) * (UP + FLIGHT - t), 0.0)
    feet = body.snapshot().contact_position.mean(axis=0)
    for k in range(n):
        R = spatial.exp(np.array([0.0, 0.0, math.radians(turn) * share[k]]))
        offset = q[k, :3] - feet
        q[k, :2] = feet[:2] + spatial.rotate(R, offset)[:2] + share[k] * np.array([forward, side])
        q[k, 3:7] = spatial.multiply(R, q[k, 3:7])
    q[:, 0] += slide * np.clip((t - UP - FLIGHT - 0.1) / 0.05, 0.0, 1.0)
    v = np.zeros((n, body.nv))
    v[1:, :3] = np.diff(q[:, :3], axis=0) / STEP
    force = np.where(air, 0.0, 1.0)
    after = t - UP - FLIGHT
    force[(after >= -1e-9) & (after < 0.05)] = load
    force[(after > 0.1) & (after <= 0.1 + bounce)] = 0.0
    bodies, rows = [body.body_id(foot.body) for foot in body.feet], []
    for k in range(n):
        rows += [(k, b) for b in bodies if force[k] > 0.0 and k < n - 1]
    pushes = np.array([[0.0, 0.0, force[k] * body.weight / len(bodies)] for k, _ in rows])
    start = np.concatenate([[0], np.cumsum(np.bincount([k for k, _ in rows], minlength=n))])
    contacts = Contacts(start, np.array([(0, b) for _, b in rows], np.int32), np.zeros((len(rows), 3)), pushes)
    return replace(
        short, time=t, qpos=q, qvel=v, torque=np.zeros((n, body.nv)),
        external=np.zeros((n, short.model.nbody, 6)), contacts=contacts, ticks=np.empty(0), notes={},
    )  # fmt: skip


def test_a_flight_has_its_times_its_height_and_its_way(human):
    (flight,) = measure.jumps(made_up(human, forward=0.7, side=-0.2))
    assert flight.takeoff == pytest.approx(UP, abs=2 * STEP)
    assert flight.landing == pytest.approx(UP + FLIGHT, abs=2 * STEP)
    assert flight.rise == pytest.approx(human.gravity * FLIGHT**2 / 8.0, abs=2e-3)
    assert flight.forward == pytest.approx(0.7, abs=1e-6) and flight.side == pytest.approx(-0.2, abs=1e-6)
    assert flight.turn == pytest.approx(0.0, abs=1e-6)
    assert flight.clearance == pytest.approx(flight.rise, abs=5e-3)  # the pose is that of standing
    assert flight.steps == 0 and flight.stood == pytest.approx(0.0, abs=0.01)


@pytest.mark.parametrize("turn", [-90.0, 180.0, 360.0])
def test_full_turns_are_counted(human, turn):
    (flight,) = measure.jumps(made_up(human, turn=turn))
    assert flight.turn == pytest.approx(turn, abs=0.01)
    assert flight.forward == pytest.approx(0.0, abs=1e-6) and flight.side == pytest.approx(0.0, abs=1e-6)


def test_the_way_is_seen_from_where_it_faced(human):
    recording = made_up(human, forward=0.7)
    turned = np.array(recording.qpos)
    quarter = spatial.exp(np.array([0.0, 0.0, math.pi / 2.0]))
    for row in turned:
        row[:3], row[3:7] = spatial.rotate(quarter, row[:3]), spatial.multiply(quarter, row[3:7])
    (flight,) = measure.jumps(replace(recording, qpos=turned))
    assert flight.forward == pytest.approx(0.7, abs=1e-6)  # it goes left in the world, where it faces
    assert flight.side == pytest.approx(0.0, abs=1e-6)


def test_the_peak_is_that_of_the_landing_averaged_over_ten_milliseconds(human):
    (flight,) = measure.jumps(made_up(human, load=4.0))
    assert flight.peak == pytest.approx(4.0, rel=1e-6)


def test_a_foot_that_moves_after_touch_down_has_stepped(human):
    assert measure.jumps(made_up(human, slide=0.04))[0].steps == 0
    moved = measure.jumps(made_up(human, slide=0.07))[0]
    assert moved.steps == 2 and moved.stood == pytest.approx(0.15, abs=0.01)


def test_a_short_bounce_is_no_flight(human):
    assert len(measure.jumps(made_up(human, bounce=0.03))) == 1


def test_the_spread_is_the_distance_between_the_feet(human):
    soles = human.snapshot().contact_position
    left = [i for i, p in enumerate(human.contact_points) if "left" in p.body]
    right = [i for i in range(len(soles)) if i not in left]
    apart = np.linalg.norm(soles[left].mean(axis=0) - soles[right].mean(axis=0))
    assert measure.jumps(made_up(human))[0].spread == pytest.approx(apart, abs=1e-6)


def test_standing_is_no_jump(human):
    assert measure.jumps(cp.simulate(human, cp.HoldPose(), 0.3)) == ()


def test_a_body_that_lies_still_does_not_stand(human):
    recording = made_up(human)
    low = np.array(recording.qpos)
    squat = cp.reference_motion("squat", human)
    deep = squat.poses[int(np.argmin(squat.poses[:, 2]))]
    low[recording.time > UP + FLIGHT] = deep
    assert measure.jumps(replace(recording, qpos=low))[0].stood is None


def test_without_feet_there_is_nothing_to_measure():
    chain = cp.character("chain")
    with pytest.raises(MissingRole, match="feet"):
        measure.jumps(cp.simulate(chain, None, 0.01, world=cp.World(ground=False)))
