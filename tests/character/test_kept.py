"""What is kept with a character stays with it."""

from __future__ import annotations

import pickle

import numpy as np

import counterpoise as cp


def test_a_character_can_be_sent_to_another_process():
    """What is kept with it stays behind."""
    human = cp.character("human")
    cp.simulate(human, cp.Stand(), 0.01)
    assert human.kept
    sent = pickle.loads(pickle.dumps(human))
    assert sent.kept == {} and np.array_equal(sent.neutral, human.neutral) and sent.joint_names == human.joint_names
