"""The verbs jump and perform: a report, files, exit codes 0, 1 and 2."""

from __future__ import annotations

import json

import pytest

import counterpoise as cp

HOP = """
character = "human"
duration = 0.9
rate = 20
[[key]]
time = 0.0
rest = true
[[key]]
time = 0.9
rest = true
[[contact]]
part = "feet"
"""  # it stands: the cheapest stunt there is


def test_a_jump_reports_what_it_did_and_stands(say):
    code, out, err = say("jump", "--height", "0.1", "--seed", "2", "--out", "jump.npz", "--json")
    assert code == 0, err
    found = json.loads(out)
    (flight,) = found["flights"]
    assert found["stands"] and found["asked"]["height"] == 0.1 and abs(flight["rise"] - 0.1) < 0.03
    assert flight["steps"] == 0 and 1.0 < flight["peak"] < 6.0 and flight["stood"] < 2.0
    again = cp.Recording.load("jump.npz")
    assert again.fingerprint() == found["fingerprint"]


def test_a_jump_that_is_knocked_over_ends_with_code_1_and_says_why(say):
    code, out, _ = say("jump", "--height", "0.1", "--push", "thorax:900,0,0@0.9+0.15", "--seconds", "2.5")
    assert code == 1
    assert "no; fell at" in out and "last event" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--style", "splitt"), "did you mean 'split'"),
        (("--height", "-1"), "height >= 0"),
        (("--times", "0"), "1 to 1000"),
        (("--onto", "0.3"), "needs a way to go"),
        (("--onto", "0.3", "--forward", "0.1"), "need more than"),
        (("--push", "thorax"), "BODY:FX,FY,FZ@START+DURATION"),
        (("--out", "jump.txt"), "must end in .bvh"),
        (("--character", "humen"), "did you mean 'human'"),
        (("--character", "chain"), "feet"),
    ],
)
def test_bad_input_is_one_line_and_code_2(say, words, message):
    code, out, err = say("jump", *words)
    assert code == 2 and not out and message in err and len(err.strip().splitlines()) == 1


def test_a_stunt_is_performed(say, tmp_path):
    (tmp_path / "hop.toml").write_text(HOP, encoding="utf-8")
    code, out, err = say("perform", "hop.toml", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["stands"] and found["flights"] == [] and found["stage"] == "stand"


def test_a_stunt_that_is_not_there_is_code_2(say):
    code, _, err = say("perform", "nothing.toml")
    assert code == 2 and "nothing.toml" in err


def test_two_terrains_are_one_too_many(say, tmp_path):
    box = "\n[[box]]\ncenter = [2.0, 0.0]\nsize = [1.0, 1.0]\nheight = 0.2\n"
    (tmp_path / "hop.toml").write_text(HOP + box, encoding="utf-8")
    (tmp_path / "box.toml").write_text(box, encoding="utf-8")
    code, _, err = say("perform", "hop.toml", "--terrain", "box.toml")
    assert code == 2 and "leave out --terrain" in err


def test_a_clip_is_performed_by_a_figure(say, tmp_path):
    import counterpoise as cp

    cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.6).write(tmp_path / "clip.npz")
    code, out, err = say("perform", "clip.npz", "--seconds", "0.9", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert found["stands"] and found["performance"]["grade"] == "performed" and found["performance"]["done"] == 1.0


@pytest.mark.parametrize(
    "words, message",
    [
        (("clip.bvh",), "clip.bvh"),
        (("squat", "--strength", "0.5"), "for stunts"),
        (("squat", "--terrain", "box.toml"), "for stunts"),
        (("hop.toml", "--character", "human"), "--character is for clips"),
        (("squats",), "did you mean 'squat'"),
    ],
)
def test_what_does_not_fit_a_clip_or_a_stunt_is_refused(say, tmp_path, words, message):
    (tmp_path / "hop.toml").write_text(HOP, encoding="utf-8")
    code, out, err = say("perform", *words)
    assert code == 2 and not out and message in err and len(err.strip().splitlines()) == 1
