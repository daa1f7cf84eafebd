"""Scenes are run: motions made and optimised, controllers simulated, files written; stopped, they keep what is done."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.errors import CounterpoiseError
from counterpoise.experiments import experiments, find_experiment, run_experiment
from counterpoise.scene.experiments import experiment_text
from counterpoise.scene.running import SceneRun

SCENES = Path(__file__).parents[2] / "examples" / "scenes"
STANDING = """
character = "human"
[controller]
kind = "stand"
[simulation]
seconds = 0.3
[[push]]
body = "thorax"
force = [60, 0, 0]
start = 0.1
duration = 0.1
[output]
recording = "out/standing.npz"
"""


@pytest.mark.parametrize("path", sorted(SCENES.glob("*.toml")), ids=lambda p: p.stem)
def test_the_examples_are_scenes(path: Path):
    assert cp.read_scene(path).version == 1


def test_a_scene_simulates_what_the_call_simulates(tmp_path: Path):
    run = cp.read_scene(STANDING).run(tmp_path)
    push = cp.Push("thorax", (60, 0, 0), 0.1, 0.1)
    alone = cp.simulate(cp.character("human"), cp.Stand(), 0.3, disturbances=[push])
    assert run.recording is not None and run.recording.fingerprint() == alone.fingerprint()
    assert run.ok and run.files == {"recording": tmp_path / "out" / "standing.npz"}
    assert cp.Recording.load(run.files["recording"]).fingerprint() == alone.fingerprint()
    assert "character main (stand): as wanted" in run.report()


def test_several_characters_stand_in_one_world_at_their_places():
    scene = cp.read_scene(SCENES / "pushed.toml")
    scene = cp.apply_edit(scene, cp.scene.SetSimulation({"seconds": 0.1}))
    run = scene.run()
    assert run.recording is not None and run.figures == ("main", "child")
    tall, small = run.recording.figures
    assert tall.height > 1.7 and small.height < 1.3
    roots = [run.recording.motion_of(k).poses[0] for k in range(2)]
    assert np.allclose(roots[1][:2] - small.neutral[:2], (0.0, 1.2)) and np.allclose(roots[0], tall.neutral)


def test_keys_are_interpolated_where_no_physics_is_wanted():
    scene = cp.apply_edit(cp.read_scene(SCENES / "squat.toml"), cp.scene.SetPhysics("none"))
    run = scene.run()
    assert list(run.motions) == ["main", "plain"] and not run.outcomes and run.ok
    plain, crouch = run.motions["plain"], scene.motion("plain").keys[1].pose
    assert plain.duration == pytest.approx(1.4)
    half_a_degree = 0.0088  # [rad] feet on which keys agree to within this stay where they are
    assert np.abs(plain.sample(0.7).q - crouch).max() < half_a_degree
    assert np.array_equal(run.motions["main"].poses, plain.poses)


def test_keys_are_optimised_and_judged(tmp_path: Path):
    run = cp.read_scene(SCENES / "squat.toml").run(tmp_path)
    outcome = run.outcomes["main"]
    assert isinstance(outcome, cp.Result) and outcome.ok and run.ok
    assert sorted(p.name for p in tmp_path.iterdir()) == ["squat.bvh", "squat.png"]
    assert cp.check_motion(run.motions["main"]).possible


def test_clips_are_read_fixed_and_checked(tmp_path: Path):
    human = cp.character("human")
    squat = cp.reference_motion("squat", human).slice(0.0, 0.6)
    squat.write(tmp_path / "squat.npz")
    text = 'character = "human"\n[motions.a]\nclip = "squat.npz"\nphysics = "check"\n'
    text += '[motions.b]\nclip = "squat.npz"\nphysics = "fix"\nfrom = 0.1\nto = 0.5\n'
    run = cp.read_scene(text, tmp_path).run()
    assert np.array_equal(run.motions["a"].poses, squat.poses)
    assert run.motions["b"].duration == pytest.approx(0.4, abs=0.02)
    assert isinstance(run.outcomes["a"], cp.CheckReport) and isinstance(run.outcomes["b"], cp.FixResult)


def test_a_controller_follows_a_motion_of_the_scene():
    text = 'character = "human"\n[controller]\nkind = "hold"\nfollow = "main"\n[simulation]\nseconds = 0.05\n'
    text += '[[key]]\ntime = 0.0\n[[key]]\ntime = 1.0\npose = "dip"\n'
    scene = cp.apply_edit(cp.read_scene(text), cp.scene.SetPhysics("none"))
    recording = scene.run().recording
    assert recording is not None and recording.duration == pytest.approx(0.05)
    with pytest.raises(cp.CounterpoiseError, match="has no keys"):
        cp.read_scene('[controller]\nkind = "hold"\nfollow = "b"\n[motions.b]\n').run()


def test_a_stopped_scene_keeps_what_it_has(tmp_path: Path):
    seen: list[cp.Progress] = []

    def watch(progress: cp.Progress) -> bool:
        seen.append(progress)
        return progress.stage != "simulating" or progress.share < 0.4

    run = cp.read_scene(STANDING).run(tmp_path, watch)
    assert run.stopped and not run.ok and run.recording is not None
    assert run.recording.status == "interrupted" and 0.1 < run.recording.duration < 0.2
    assert all(0.0 <= p.share <= 1.0 for p in seen) and cp.replay(run.recording).exact


@pytest.mark.slow
@pytest.mark.parametrize("name", ["pushed", "jump_on_a_box", "long_jump"])
def test_the_examples_stand_at_the_end(name: str):
    run: SceneRun = cp.read_scene(SCENES / f"{name}.toml").run()
    assert run.ok, run.report()


def test_a_dropped_clip_brings_its_own_skeleton(tmp_path: Path):
    squat = cp.reference_motion("squat", cp.character("human")).slice(0.0, 0.3)
    squat.write(tmp_path / "clip.bvh")
    text = '[characters.actor]\nfile = "clip.bvh"\n[motions.take]\ncharacter = "actor"\nclip = "clip.bvh"\n'
    scene = cp.read_scene(text, tmp_path)
    alone = cp.read_motion(tmp_path / "clip.bvh")
    made = scene.run().motions["take"]
    assert np.array_equal(made.poses, alone.poses) and made.character is scene.character("actor")
    again = cp.apply_edit(scene, cp.scene.AddNote("kept"))
    assert again.character("actor") is scene.character("actor")  # the file has not changed: it is read once


@pytest.mark.parametrize("name", sorted(experiments()))
def test_every_experiment_is_said_as_a_scene(name: str):
    text = experiment_text(name)
    scene = cp.read_scene(text)
    found = find_experiment(name)
    assert scene.experiment is not None and scene.experiment.name == name and text.startswith(f"# {found.summary}")
    assert found.with_settings(scene.experiment.settings) == found.settings()  # all settings, as they are by default


def test_an_experiment_runs_as_on_the_command_line_with_its_settings(tmp_path: Path):
    text = '[experiment]\nname = "squat-height"\n[experiment.settings]\nbends = 1\nhold = 0.3\n'
    ran = cp.read_scene(text, tmp_path).run(tmp_path)
    alone = run_experiment("squat-height", settings={"bends": 1, "hold": 0.3})
    assert ran.experiment is not None and ran.experiment.as_json()["claims"] == alone.as_json()["claims"]
    assert ran.ok is alone.outcome.holds and (tmp_path / "counterpoise-squat-height" / "claims.json").is_file()
    assert alone.outcome.claims[0].text in ran.report()


def test_a_stopped_experiment_says_so(tmp_path: Path):
    scene = cp.read_scene('[experiment]\nname = "squat-height"\n', tmp_path)
    ran = scene.run(tmp_path, progress=lambda progress: False)
    assert ran.stopped and not ran.ok


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('[experiment]\nname = "squat-hight"\n', 2, "squat-height"),
        ('[experiment]\nname = "squat-height"\n[experiment.settings]\nbents = 1\n', 4, "bends"),
        ('[experiment]\nname = "squat-height"\n[experiment.settings]\nbends = "many"\n', 4, "a whole number"),
        ("[experiment]\n", 1, "name"),
    ],
)
def test_what_is_wrong_with_an_experiment_is_said_with_its_line(text: str, line: int, words: str):
    with pytest.raises(CounterpoiseError, match=words) as caught:
        cp.read_scene(text)
    assert f":{line}:" in str(caught.value)
