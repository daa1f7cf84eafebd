"""The verb go: a report, a recording, exit codes 0, 1 and 2."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import counterpoise as cp


def test_a_push_is_caught_and_saved(say):
    code, out, err = say(
        "go", "--push", "thorax:500,0,0@0.4+0.1", "--seconds", "3", "--out", "go.npz", "--plan", "plan.png", "--json"
    )
    assert code == 0, err
    assert Path("plan.png").read_bytes()[:4] == b"\x89PNG" and json.loads(out)["files"]["plan"] == "plan.png"
    found = json.loads(out)
    assert found["on_its_feet"] and found["steps"] >= 1 and found["doing"] == "stands"
    assert cp.Recording.load("go.npz").fingerprint() == found["fingerprint"]


def test_one_that_is_knocked_over_ends_with_code_1(say):
    code, out, _ = say("go", "--push", "thorax:0,4000,0@0.4+0.2", "--seconds", "2.5")
    assert code == 1 and "no; " in out


def test_a_ball_is_dodged_and_hits_one_that_is_blind(say):
    ball = ("go", "--throw", "5.6,0,1.3:7", "--seconds", "1.2", "--json")
    found, hit = (json.loads(say(*ball, *more)[1]) for more in ((), ("--blind",)))
    assert found["on_its_feet"] and found["touched"] == [] and len(hit["touched"]) == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--to", "here"), "X,Y"),
        (("--to", "1,nan"), "X,Y"),
        (("--style", "proudd"), "proud"),
        (("--gait", "hop"), "hop_left"),
        (("--width", "-1"), "width"),
        (("--plan-at", "1"), "--plan plan.png"),
        (("--plan", "plan.png", "--plan-at", "99"), "from 0 to 8 s"),
        (("--plan", "plan.txt"), "plan.txt"),
        (("--throw", "6,0:7"), "X,Y,Z:SPEED"),
        (("--throw", "6,0,1:fast"), "number"),
        (("--throw", "6,0,1:-3"), "speed of a throw"),
        (("--post", "3"), "--post takes a place X,Y"),
        (("--jump", "0.3"), "AT:HEIGHT"),
        (("--jump", "2:high"), "number"),
        (("--jump", "2:0.3,0.1,0.2"), "a height and a way forward"),
        (("--jump", "2:-0.3"), "height >= 0"),
    ],
)
def test_bad_wishes_end_with_code_2(say, words, message):
    code, _, err = say("go", *words)
    assert code == 2 and message in err and "Traceback" not in err
