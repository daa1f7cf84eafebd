"""The experiment stunts-performed: a stunt is planned, performed and judged."""

from __future__ import annotations

import pytest

from counterpoise.errors import BadFile, UnknownName
from counterpoise.experiments import run_experiment


def test_a_landing_is_performed_from_disturbed_starts():
    report = run_experiment("stunts-performed", settings={"starts": 1, "first": 7, "only": "landing"})
    (claim,) = report.outcome.claims
    assert claim.holds and "1 of 1 stand" in claim.measured and "replays exact" in claim.measured
    assert report.outcome.facts["landing"]["tracking"][0] < 8.0


def test_what_is_not_there_is_named():
    with pytest.raises(BadFile, match=r"there is no stunt 'nowhere/landing\.toml'"):
        run_experiment("stunts-performed", settings={"only": "landing", "folder": "nowhere"})
    with pytest.raises(UnknownName, match="standing jump"):
        run_experiment("stunts-performed", settings={"only": "standing jmp"})
