"""The verb walk: a report, a recording, exit codes 0, 1 and 2."""

from __future__ import annotations

import json

import pytest

import counterpoise as cp


def test_a_walk_is_measured_and_saved(say):
    code, out, err = say("walk", "--speed", "0.8", "--seconds", "5", "--out", "walk.npz", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["walks"] and found["gait"]["steps"] >= 2
    assert found["gait"]["step_length"] > 0.2 and found["gait"]["flight"] == 0.0
    assert cp.Recording.load("walk.npz").fingerprint() == found["fingerprint"]


def test_a_walker_that_is_knocked_over_ends_with_code_1(say):
    code, out, _ = say("walk", "--push", "thorax:0,2500,0@1+0.2", "--seconds", "3")
    assert code == 1 and "no; " in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--style", "proudd"), "proud"),
        (("--speed", "-1"), "speed"),
        (("--speed", "8"), "m/s"),
        (("--speed", "1", "--step", "0.5", "--time", "0.5"), "two of"),
        (("--character", "chain"), "left and a right foot"),
        (("--style", "missing.bvh"), "missing.bvh"),
    ],
)
def test_bad_wishes_end_with_code_2(say, words, message):
    code, _, err = say("walk", *words)
    assert code == 2 and message in err and "Traceback" not in err
