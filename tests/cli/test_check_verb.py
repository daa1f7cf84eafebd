"""`counterpoise check`: an answer in words, in JSON and in a picture, and an exit code pipelines can trust."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from counterpoise.character.library import character
from counterpoise.control.stand import Stand
from counterpoise.motion import Motion, reference_motion
from counterpoise.simulate.loop import simulate


def lifted(height: float) -> Motion:
    squat = reference_motion("squat", character("human"))
    poses = np.array(squat.poses)
    poses[:, 2] += height
    return replace(squat, poses=poses)


def test_a_good_motion_leaves_with_zero(say):
    code, out, _ = say("check", "squat")
    assert code == 0
    assert "Physically possible" in out and "skate" in out and "penetration" in out


def test_a_floating_one_is_possible_but_not_clean_and_is_told_why(say, tmp_path):
    lifted(0.05).save(tmp_path / "up.npz")
    code, out, _ = say("check", "up.npz", "--plot", "up.png")
    assert code == 0
    assert "not clean" in out and "float 5.0 cm" in out and "--floor fit" in out
    code, out, _ = say("check", "up.npz", "--clean", "--json")
    told = json.loads(out)
    assert code == 1 and told["possible"] and told["ok"] and not told["clean"]
    with Image.open(tmp_path / "up.png") as picture:
        assert picture.width > 800 and len(picture.convert("RGB").getcolors(1 << 24)) > 50
    assert say("check", "up.npz", "--clean", "--floor", "fit")[0] == 0
    assert say("check", "up.npz", "--clean", "--max-float", "6")[0] == 0


def test_an_impossible_one_leaves_with_one_and_the_body_is_named(say, tmp_path):
    lifted(0.3).save(tmp_path / "up.npz")
    code, out, _ = say("check", "up.npz", "--json")
    told, human = json.loads(out), character("human")
    assert code == 1 and not told["possible"] and "Not physically possible" in told["verdict"]
    assert told["height"] == pytest.approx(human.height) and told["mass"] == pytest.approx(human.mass)
    assert f"{human.height:.2f} m tall" in told["verdict"]
    assert {f["name"] for f in told["findings"] if f["physics"]} >= {"carried", "leap", "force"}


def test_a_bvh_moves_its_own_skeleton_or_one_that_is_named(say, tmp_path):
    lifted(0.0).write(tmp_path / "squat.bvh")
    code, out, _ = say("check", "squat.bvh", "--floor", "fit", "--json")
    own = json.loads(out)
    assert own["character"] == "squat" and own["frame_count"] == len(lifted(0.0))
    assert own["violation"] < 0.02 and code == (0 if own["ok"] else 1)
    code, out, _ = say("check", "squat.bvh", "--character", "human", "--json", "--frames")
    named = json.loads(out)
    assert named["character"] == "human" and named["violation"] < 0.05
    assert len(named["by_frame"]["violation"]) == named["frame_count"]


def test_a_recording_is_a_motion_too(say, tmp_path):
    simulate(character("human"), Stand(), 0.6).save(tmp_path / "stand.npz")
    code, out, _ = say("check", "stand.npz", "--json")
    told = json.loads(out)
    assert code == 0 and told["ok"] and told["violation"] < 0.02
    code, _, err = say("check", "stand.npz", "--figure", "3")
    assert code == 2 and "1 figure(s)" in err


def test_holding_on_is_said_in_a_phrase(say, tmp_path):
    lifted(1.0).save(tmp_path / "hang.npz")
    code, out, _ = say("check", "hang.npz", "--json")
    told = json.loads(out)
    assert code == 1 and "something that is not shown carries" in told["verdict"]
    assert [c["start"] for c in told["carried"]] == [0.0] and told["carried"][0]["weight"] == pytest.approx(
        1.0, abs=0.1
    )
    assert say("check", "hang.npz", "--max-carried", "9")[0] == 0
    _, out, _ = say("check", "hang.npz", "--hold", "hand_left@0+9", "--hold", "hand_right", "--json")
    assert json.loads(out)["violation"] < 0.25
    code, _, err = say("check", "hang.npz", "--hold", "hand_left@now")
    assert code == 2 and "BODY@START+DURATION" in err


@pytest.mark.parametrize(
    ("words", "cure"),
    [
        (["nothing.bvh"], "no file"),
        (["squad"], "did you mean 'squat'"),
        (["squat", "--plot", "squat.doc"], "must end in"),
        (["squat", "--max-skate", "-1"], "at least 0"),
        (["squat", "--floor", "low"], "needs a number"),
        (["squat", "--set", "height=1.5"], "--character"),
        (["squat", "--hold", "left_hand"], "did you mean 'hand_left'"),
    ],
)
def test_a_mistake_is_one_line_and_two(say, words: list[str], cure: str):
    code, out, err = say("check", *words)
    assert code == 2 and out == ""
    assert cure in err and len(err.strip().splitlines()) == 1
