"""De Lasa's balance: heights by request, limits kept, the order of its levels."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.character import Character
from counterpoise.control.balance import Balance, BalanceTuning, reachable_heights
from counterpoise.control.support import planted_support
from counterpoise.errors import BadValue, MissingRole
from counterpoise.measure.balance import fell, foot_slip
from counterpoise.measure.mechanics import com
from counterpoise.objectives import take_stance

FAST = cp.World(timestep=0.002)


def test_stands_and_replays(human: Character) -> None:
    rec = cp.simulate(human, Balance(), 1.5, disturbances=[cp.Push("thorax", (120, 0, 0), 0.2, 0.1)], world=FAST)
    assert not fell(rec) and max(foot_slip(rec).values()) < 0.01
    assert (np.abs(rec.torque) <= human.torque_limit + 1e-9).all()
    assert set(rec.notes["status"]) == {"solved"}
    assert cp.replay(rec).exact


def test_heights_in_reach_are_those_of_poses(human: Character) -> None:
    low, high = reachable_heights(human)
    standing = float(human.snapshot().com[2])
    assert 0.6 * standing < low < 0.7 * standing  # what a squat can be
    assert standing < high < 1.15 * standing  # knees straight, arms up


def test_the_com_goes_to_the_height_that_is_asked_for(human: Character) -> None:
    rec = cp.simulate(human, Balance(height=0.85), 1.5, world=FAST)
    assert abs(float(com(rec)[-1, 2]) - 0.85) < 0.005 and not fell(rec)


@pytest.mark.slow
@pytest.mark.parametrize("asked", [0.05, 3.0])
def test_a_height_out_of_reach_is_cut_to_what_the_body_can_do(human: Character, asked: float) -> None:
    rec = cp.simulate(human, Balance(height=asked), 3.0)
    low, high = reachable_heights(human)
    end = float(com(rec)[-1, 2])
    assert not fell(rec) and low - 0.01 < end < high + 0.01
    assert abs(end - float(rec.notes["height"][-1])) < 0.03
    assert abs(end - (low if asked < low else high)) < 0.03


@pytest.mark.slow
def test_knee_bends_by_height_alone(human: Character) -> None:
    def height(time: float) -> float:
        return 0.95 - 0.28 * float(np.sin(2.0 * time)) ** 2

    rec = cp.simulate(human, Balance(height=height), 4.0)
    track = com(rec)[rec.time > 1.0, 2]
    wanted = np.array([height(t) for t in rec.time[rec.time > 1.0]])
    assert not fell(rec) and np.abs(track - wanted).max() < 0.06 and max(foot_slip(rec).values()) < 0.05


def test_the_com_is_above_momentum_and_pose(human: Character, rng: np.random.Generator) -> None:
    """Making the last level ask for something else leaves the CoM's acceleration as it is."""
    v = np.concatenate([[0.2, 0.1, 0.0], np.zeros(human.nv - 3)])
    s = human.snapshot(human.state(human.neutral, v))
    drag = cp.Drag("hand_left", path=(1.0, 1.0, 1.0), weight=5.0)
    residuals = []
    for controller in (Balance(), Balance(extra=(drag,)), Balance(tuning=BalanceTuning(momentum_weight=0.0))):
        notes = controller.act(s, controller.begin(human)).notes
        residuals.append((float(notes["residual contact"]), float(notes["residual balance"])))
    assert np.ptp(residuals, axis=0).max() < 1e-9  # what soles that are not quite level leave is the same every time
    assert np.max(residuals) < 1e-3


def test_targets_stay_within_what_the_ground_can_give(human: Character) -> None:
    """Thrown sideways at 5 m/s, the CoM is asked for no more than friction and the force limits allow."""
    v = np.concatenate([[0.0, 5.0, 3.0], np.zeros(human.nv - 3)])
    s = human.snapshot(human.state(human.neutral, v))
    controller = Balance()
    reference = controller.begin(human).reference
    support = planted_support(take_stance(s, controller.footing))
    over, up = controller._com(s, reference.at(0.0), support, float(s.com[2]), 0.0)
    a = np.append(over.rows(s).b, up.rows(s).b) + s.com_drift
    force = a + [0.0, 0.0, human.gravity]
    assert 0.2 * human.gravity - 1e-6 <= force[2] <= 1.8 * human.gravity
    assert np.hypot(force[0], force[1]) <= 0.9 * 0.8 * force[2] + 1e-9


def test_in_the_air_and_upside_down_nothing_breaks(human: Character) -> None:
    q = human.neutral.copy()
    q[2] += 1.0
    q[3:7] = (0.0, 1.0, 0.0, 0.0)
    rec = cp.simulate(human, Balance(), 0.9, start=human.state(q), world=FAST)
    assert rec.status == "finished" and np.isfinite(rec.qpos).all()
    assert "fallen" in set(rec.notes["status"])


def test_bad_input_is_refused(human: Character) -> None:
    with pytest.raises(MissingRole, match="feet"):
        Balance().begin(cp.character("chain"))
    with pytest.raises(BadValue, match="height"):
        Balance(height="high")  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="finite"):
        cp.simulate(human, Balance(height=lambda t: float("nan")), 0.01)
    with pytest.raises(BadValue, match="extra"):
        Balance(extra=("head",))  # type: ignore[arg-type]
    with pytest.raises(BadValue, match="BalanceTuning"):
        BalanceTuning(com_stiffness=-1.0)
