"""Standing from the command line and from Python: follow, be pushed, keep the feet; and mistakes with their cure."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import counterpoise as cp
from counterpoise import cli, measure
from counterpoise.control.stand import Stand
from counterpoise.simulate import Recording


@pytest.fixture
def say(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["counterpoise", *words])
        with pytest.raises(SystemExit) as leave:
            cli.main()
        told = capsys.readouterr()
        return int(leave.value.code or 0), told.out, told.err

    return run


def test_stand_takes_a_push_from_the_command_line_and_the_recording_replays(say, tmp_path):
    code, out, err = say(
        "simulate", "stand", "--push", "thorax:200,0,0@0.3+0.1", "-t", "2.0", "-o", "run.npz", "--json"
    )
    told = json.loads(out)
    assert code == 0 and told["fell"] is False and told["clamped"] == 0, err
    assert max(told["slip"].values()) < 0.01
    rec = Recording.load(tmp_path / "run.npz")
    assert cp.replay(rec).final_error == 0.0
    assert np.abs(rec.torques()).max(axis=0)[6:].max() > 1.0 and (rec.torques()[:, :6] == 0.0).all()
    com = measure.com(rec)
    assert np.linalg.norm(com[-1] - com[0]) < 0.02 < np.linalg.norm(com - com[0], axis=1).max() + 0.02


def test_a_reference_by_name_sets_the_length_and_is_followed(say, human):
    code, out, err = say("simulate", "stand", "--reference", "squat", "-o", "squat.npz", "--json")
    assert code == 0, err
    squat = cp.reference_motion("squat", human)
    assert json.loads(out)["seconds"] == pytest.approx(squat.duration + 0.5)
    rec = Recording.load("squat.npz")
    apart = human.difference(rec.positions()[::50], squat.sample(rec.time[::50]).q)[:, 6:]
    assert np.degrees(np.median(np.abs(apart))) < 3.0
    assert measure.com(rec)[:, 2].min() < 0.9 * measure.com(rec)[0, 2]  # it did go down


def test_a_motion_file_of_another_body_is_carried_over(say, human):
    child = cp.character("child")
    cp.reference_motion("butterfly", child, speed=2.0).save("child.npz")
    code, out, err = say("simulate", "stand", "--reference", "child.npz", "-t", "1.0", "-o", "out.npz", "--json")
    assert code == 0 and json.loads(out)["figure"] == "human" and json.loads(out)["fell"] is False, err
    rec = Recording.load("out.npz")
    hand = human.body_id("hand_left")
    heights = [human.snapshot(rec.state(k)).body_position[hand][2] for k in range(0, len(rec), 50)]
    assert max(heights) > heights[0] + 0.4  # the arms went up


def test_compliance_and_height_reach_the_figure(say):
    heights = {}
    for height in ("0.8", "0.9"):
        code, out, _ = say("simulate", "stand", "--height", height, "-t", "1.2", "-o", "low.npz", "--json")
        assert code == 0 and json.loads(out)["fell"] is False
        heights[height] = measure.com(Recording.load("low.npz"))[-1, 2]
    assert heights["0.9"] - heights["0.8"] == pytest.approx(0.1, abs=0.02)
    code, out, _ = say("simulate", "stand", "--compliance", "1", "-t", "1.5", "--json")
    assert code == 1 and json.loads(out)["fell"] is True  # limp figures fall


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["stnd"], "did you mean 'stand'"),
        (["stand", "-c", "chain"], "needs feet"),
        (["stand", "--reference", "squatt"], "did you mean 'squat'"),
        (["stand", "--reference", "nowhere.bvh"], "nowhere.bvh"),
        (["stand", "--push", "thorx:80,0,0@0.05+0.05"], "did you mean 'thorax'"),
        (["stand", "--compliance", "2"], "from 0 (stiff) to 1 (limp)"),
        (["stand", "--height", "-1"], "positive"),
        (["hold", "--height", "0.5"], "is for 'stand'"),
        (["passive", "--compliance", "0.1"], "is for 'stand'"),
    ],
)
def test_mistakes_are_one_line_with_the_cure(say, words, says):
    code, out, err = say("simulate", *words, "-t", "0.1")
    assert code == 2 and out == "" and len(err.strip().splitlines()) == 1
    assert says in err


def test_a_figure_let_go_in_the_air_falls_without_harm(say):
    code, out, err = say("simulate", "stand", "--lift", "0.6", "-t", "1.0", "--json")
    assert code == 1 and json.loads(out)["status"] == "finished", err


@pytest.mark.slow
@pytest.mark.parametrize("direction", [0.0, 90.0, 180.0, 270.0])
def test_a_push_beyond_the_ankles_is_survived_in_place(human, direction):
    limit = measure.ankle_limit(human, "thorax", direction)
    force = 1.25 * limit.impulse / 0.1
    way = np.array([np.cos(np.radians(direction)), np.sin(np.radians(direction)), 0.0])
    rec = cp.simulate(human, Stand(), 3.5, disturbances=[cp.Push("thorax", tuple(force * way), 0.3, 0.1)])
    took = measure.survival(rec, 0.4)
    assert took.survived, took.why
