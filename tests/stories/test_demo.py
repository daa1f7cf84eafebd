"""The demo, short and whole."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from counterpoise import measure
from counterpoise.errors import CounterpoiseError
from counterpoise.experiments import demo, demo_locomotion, run_demo
from counterpoise.progress import Progress
from counterpoise.simulate import Recording, disturbed_start

FILES = ["cast.npz", "demo.mp4", "filmstrip.png", "jump.npz", "locomotion.npz", "recording.npz", "walk.npz"]


def check_folder(folder: Path, seconds: float) -> None:
    assert sorted(p.name for p in folder.iterdir()) == FILES
    names = ("recording.npz", "walk.npz", "cast.npz", "jump.npz", "locomotion.npz")
    human, walk, cast, jump, going = (Recording.load(folder / name) for name in names)
    whole = human.duration + walk.duration + cast.duration + jump.duration + going.duration
    assert whole == pytest.approx(seconds, abs=0.01)
    assert [who.name for who in cast.figures] == list(demo.CAST) and len(human.figures) == 1
    picture = Image.open(folder / "filmstrip.png").convert("L")
    assert picture.width > 1000 and picture.getextrema()[1] - picture.getextrema()[0] > 100


def test_a_short_demo_leaves_its_files(tmp_path: Path):
    stages: dict[str, float] = {}
    result = run_demo(tmp_path / "demo", lambda p: stages.__setitem__(p.stage, p.share), seconds=0.2)
    check_folder(tmp_path / "demo", 0.2)
    assert result.replay_error == 0.0 and len(result.facts) == 7
    assert all(len(row) == len(demo.FACTS) for row in result.facts)
    own = {stage: share for stage, share in stages.items() if stage.startswith("simulating ") or stage == "drawing"}
    assert all(share == pytest.approx(1.0) for share in own.values()) and len(own) == 6


def test_pushes_are_as_hard_for_one_body_as_for_another(human):
    """Rho is the same for all; what a body of twice the size can take is far more than twice the force."""
    from counterpoise.character.library import character

    child = character("child")
    pushes = {who.name: demo.scaled_push(who, 0.0, 1.3, 0.4) for who in (human, child)}
    rho = {
        who.name: measure.ankle_limit(who, "thorax", 0.0).rho(float(np.linalg.norm(pushes[who.name].impulse)))
        for who in (human, child)
    }
    assert rho["human"] == pytest.approx(1.3) and rho["child"] == pytest.approx(1.3)
    assert pushes["human"].force[0] > 2.5 * pushes["child"].force[0] > 0.0


def test_a_length_beyond_the_demo_is_refused(tmp_path: Path):
    with pytest.raises(CounterpoiseError, match="lasts up to"):
        run_demo(tmp_path / "demo", seconds=99.0)
    assert not (tmp_path / "demo").exists()


def test_ctrl_c_keeps_what_was_simulated(tmp_path: Path):
    def stop(progress: Progress) -> bool:
        return progress.share < 0.5 or progress.stage != "simulating a human"

    with pytest.raises(KeyboardInterrupt):
        run_demo(tmp_path / "demo", stop, seconds=0.5)
    kept = Recording.load(tmp_path / "demo" / "recording.npz")
    assert kept.status == "interrupted" and 0.1 < kept.duration < 0.4
    assert not (tmp_path / "demo" / "demo.mp4").exists()


@pytest.mark.slow
def test_the_whole_demo_leaves_everybody_on_their_feet(tmp_path: Path):
    result = run_demo(tmp_path / "demo")
    check_folder(tmp_path / "demo", demo.SECONDS)
    assert [row[-1] for row in result.facts] == ["stands"] * 7
    assert demo.jump_words(result.jump).endswith("stands")
    assert demo.walk_words(result.walk).endswith("walks")
    went = demo_locomotion.go_words(result.locomotion)
    assert went.endswith("stands") and "runs from" in went
    (flight,) = measure.jumps(result.jump)
    assert abs(flight.turn - demo.JUMP_TWIST) < 10.0 and abs(flight.rise - demo.JUMP_HEIGHT) < 0.03
    human = result.recording
    last = demo.BLOWS[-1][0] + 0.1
    took = measure.survival(human, last, measure.Bar(seconds=human.duration - last))
    assert took.survived, took.why
    shoulder = human.character.joint("shoulder_left").dofs
    turned = np.linalg.norm(human.qvel[:, shoulder], axis=1).sum() * human.timestep
    assert turned > np.pi  # the arms windmilled
    assert demo.push_the_human(0.6).fingerprint() == demo.push_the_human(0.6).fingerprint()


@pytest.mark.slow
def test_the_last_act_never_falls(human):
    for seed in range(20):
        went = demo_locomotion.go_words(demo_locomotion.go_about(start=disturbed_start(human, seed)))
        assert went.endswith("stands") and "runs from" in went, f"seed {seed}: {went}"
