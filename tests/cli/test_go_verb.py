"""The verb go: a report, a recording, exit codes 0, 1 and 2."""

from __future__ import annotations

import json

import pytest

import counterpoise as cp


def test_a_push_is_caught_and_saved(say):
    code, out, err = say("go", "--push", "thorax:500,0,0@0.4+0.1", "--seconds", "3", "--out", "go.npz", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["on_its_feet"] and found["steps"] >= 1 and found["doing"] == "stands"
    assert cp.Recording.load("go.npz").fingerprint() == found["fingerprint"]


def test_one_that_is_knocked_over_ends_with_code_1(say):
    code, out, _ = say("go", "--push", "thorax:0,4000,0@0.4+0.2", "--seconds", "2.5")
    assert code == 1 and "no; " in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "here"), "X,Y"),
        (("--to", "1,nan"), "X,Y"),
        (("--style", "proudd"), "proud"),
        (("--width", "-1"), "width"),
    ],
)
def test_bad_wishes_end_with_code_2(say, words, message):
    code, _, err = say("go", *words)
    assert code == 2 and message in err and "Traceback" not in err
