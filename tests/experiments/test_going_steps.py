"""How many steps a recording of `Locomotion` has."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from counterpoise.experiments.going import steps_taken


@pytest.mark.parametrize(
    ("notes", "steps"), [([0, 0, 1, 1, 2, 3], 3), ([0, 1, 2, 2, 0, 0, 1, 2], 4), ([np.nan, 0, 1], 1), ([0, 0], 0)]
)
def test_steps_are_counted_over_every_time_it_stands_in_between(notes, steps):
    assert steps_taken(SimpleNamespace(notes={"steps": np.array(notes, float)})) == steps
