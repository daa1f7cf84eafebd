"""De Lasa's three examples: the bodies are his, the laws hold, and his claims are met."""

from __future__ import annotations

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.experiments import Lab, run_experiment
from counterpoise.experiments.biped_squat import BipedSquatSettings, nailed_biped, start_pose
from counterpoise.experiments.biped_squat import run as squat
from counterpoise.experiments.chain_eight import eight, strong_chain


def test_the_chain_is_the_thesiss(rng):
    """0.7 m, 10 kg, 0.41 kg m^2 a link: its mass matrix against the textbook's sums over planar links."""
    who = strong_chain(4, 0.7, 10.0)
    q, v = rng.uniform(-1, 1, 4), np.zeros(4)
    angle = np.cumsum(q)
    M = np.zeros((4, 4))
    for link in range(4):  # J of each link's middle; x = sin, z = cos of the angle from upright
        J = np.zeros((2, 4))
        for part in range(link + 1):
            length = 0.7 if part < link else 0.35
            J[:, : part + 1] += length * np.array([[np.cos(angle[part])], [-np.sin(angle[part])]])
        M += 10.0 * J.T @ J
        spin = (np.arange(4) <= link).astype(float)
        M += 10.0 * 0.7**2 / 12.0 * np.outer(spin, spin)
    assert np.allclose(who.snapshot(who.state(q, v)).M, M, atol=1e-9)
    assert pytest.approx(0.41, abs=0.002) == 10.0 * 0.7**2 / 12.0


def test_the_biped_is_table_31():
    who, m = nailed_biped(), nailed_biped().model
    table = {"trunk": (55.47, (0.0, 0.325), 3.670), "thigh": (8.18, (0.0, -0.191), 0.166),
             "shank": (3.81, (0.0, -0.191), 0.068), "foot": (1.19, (0.07, -0.035), 0.001)}  # fmt: skip
    for name in who.segments:
        mass, (x, z), inertia = table[name.split("_")[0]]
        b = who.body_id(name)
        assert m.body_mass[b] == pytest.approx(mass) and np.allclose(m.body_ipos[b][[0, 2]], (x, z))
        R = spatial.to_matrix(m.body_iquat[b])
        pitching = (R @ np.diag(m.body_inertia[b]) @ R.T)[1, 1]
        assert pitching == pytest.approx(inertia, rel=1e-6)
    assert who.mass == pytest.approx(81.82, abs=0.02) and who.nv == 9 and m.neq == 4
    assert np.allclose(who.snapshot(who.state(start_pose(who))).contact_position[:, 2], 0.0, atol=1e-3)


def test_the_eights_derivatives_are_its_own():
    for t in (0.0, 0.7, 3.1):
        h = 1e-5
        y, dy, ddy = eight(0.5, t)
        assert np.allclose(y, [0.5 * np.sin(t), 0.5 * np.sin(2 * t)])
        assert np.allclose(dy, (eight(0.5, t + h)[0] - eight(0.5, t - h)[0]) / (2 * h), atol=1e-8)
        assert np.allclose(ddy, (eight(0.5, t + h)[1] - eight(0.5, t - h)[1]) / (2 * h), atol=1e-8)


def test_the_eight_begins_as_claimed():
    facts = run_experiment("chain-eight", settings={"seconds": 1.5}).outcome.facts
    assert facts["c1"] < 1e-8 and facts["c0"] < 1e-10 and facts["c2_median"] > 1.0


def test_by_weights_the_two_objectives_of_the_chain_fight():
    """Section 3.4: no weights achieve both; the CoM's residual is no longer zero."""
    facts = run_experiment("chain-eight", settings={"seconds": 0.5, "method": "weighted"}).outcome.facts
    assert facts["c1"] > 1.0


def test_a_quick_squat_is_tracked_and_its_forces_are_predicted():
    outcome = squat(BipedSquatSettings(period=1.5, squats=1, weighted=False), Lab())
    assert outcome.holds, [claim for claim in outcome.claims if not claim.holds]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chain-eight", "chain-passive", "biped-squat"])
def test_every_claim_of_the_thesis_holds(name: str):
    report = run_experiment(name)
    assert report.outcome.holds, [claim for claim in report.outcome.claims if not claim.holds]
    for recording in report.recordings.values():
        assert cp.replay(recording).exact
