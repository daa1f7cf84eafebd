"""Every example of the folder is also a scene: what scenes say about motions, bodies, objectives and plans."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterpoise as cp
from counterpoise.features import ComPosition, PointPosition

EXAMPLES = Path(__file__).parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("[0-9][0-9]_*.py"))
STAND = '[controller]\nkind = "stand"\n[simulation]\nseconds = 0.3\n'


@pytest.mark.parametrize("name", NAMES)
def test_every_example_is_said_as_a_scene(name: str):
    scene = cp.read_scene(EXAMPLES / "scenes" / f"{name}.toml")
    assert scene.motions or scene.controllers or scene.steps


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_scenes_of_examples_run_and_write_their_files(name: str, tmp_path: Path):
    scene = cp.read_scene(EXAMPLES / "scenes" / f"{name}.toml")
    run = scene.run(tmp_path)
    if name == "23_planned_walk":  # its toes are too weak for the stride, of which only the posture is used
        assert run.outcomes["main"].status == "solved with exceptions" and not run.fallen
    else:
        assert run.ok, run.report()
    if name == "13_check":  # it shows what is not clean
        assert [key for key, report in run.outcomes.items() if report.clean] == ["main"]
    wanted = [*scene.output.files.values(), *(one["file"] for one in scene.output.motions.values())]
    assert all((tmp_path / file).stat().st_size > 0 for file in wanted)


def test_a_fall_is_that_of_the_example():
    scene = cp.read_scene(EXAMPLES / "scenes" / "01_drop_a_human.toml")
    run = cp.apply_edit(scene, cp.scene.SetSimulation({"seconds": 0.3})).run()
    human, push = cp.character("human", height=1.75, mass=73.0), cp.Push("thorax", (60, 20, 0), 0.1, 0.2)
    alone = cp.simulate(human, cp.Passive(), seconds=0.3, disturbances=[push])
    assert run.recording is not None and run.recording.fingerprint() == alone.fingerprint()


def test_a_body_and_its_controller_change_while_they_are_simulated(tmp_path: Path):
    text = STAND + "[[change]]\ntime = 0.2\nlengths = { arms = 1.3 }\ncontroller = { compliance = 0.6 }\n"
    run = cp.read_scene(text + '[output]\nrecording = "run.npz"\n').run(tmp_path)
    human = cp.character("human")
    session = cp.Session(human, cp.read_scene(STAND).controllers["main"].plain, keep=None)
    session.advance(0.2)
    session.character = human.rescaled({"arms": 1.3})
    session.controller = cp.Stand(compliance=0.6)
    session.advance(0.1)
    assert [one.duration for one in run.recordings] == pytest.approx([0.2, 0.1])
    assert [one.fingerprint() for one in run.recordings] == [one.fingerprint() for one in session.recordings]
    assert "simulated 0.30 s" in run.report() and run.ok
    whole = run.motion_of(0)
    assert whole.duration == pytest.approx(0.3) and whole.character is run.scene.character()
    assert {path.name for path in run.files.values()} == {"run.npz", "run_2.npz"}


def test_the_motion_of_a_scene_with_changes_is_a_stunt():
    text = (
        (EXAMPLES / "stunts" / "standing_jump.toml").read_text()
        + STAND
        + "[[change]]\ntime = 0.1\nlengths = { all = 1.1 }\n"
    )
    assert len(cp.read_stunt(text + "[steps_ahead]\n").keys) == len(cp.read_scene(text).motion().keys) == 3


def test_the_body_of_another_figure_changes():
    text = STAND.replace("0.3", "0.1") + '[characters.b]\nname = "child"\n[controllers.b]\ncharacter = "b"\n'
    text += 'kind = "stand"\nplace = [0, 1]\n[[change]]\ncharacter = "b"\ntime = 0.05\nmasses = { all = 1.5 }\n'
    run = cp.read_scene(text).run()
    before, after = (one.figures for one in run.recordings)
    assert after[0].mass == pytest.approx(before[0].mass) and after[1].mass == pytest.approx(1.5 * before[1].mass)


def test_a_motion_is_made_from_another_one():
    text = 'of = "squat"\n[motions.a]\nof = "main"\nfrom = 0.5\nto = 1.5\nmirrored = true\nspeed = 2.0\n'
    text += '[motions.b]\nof = "a"\nshift = [0, 0, 0.1]\ndrift = [0.2, 0, 0]\n'
    run = cp.read_scene(text).run()
    squat = cp.reference_motion("squat", cp.character("human"))
    wanted = squat.slice(0.5, 1.5).mirrored().retimed(2.0)
    a, b = run.motions["a"], run.motions["b"]
    assert np.array_equal(a.poses, wanted.poses) and np.array_equal(a.times, wanted.times)
    moved = b.poses[:, :3] - a.poses[:, :3]
    assert np.allclose(moved[:, 2], 0.1) and np.allclose(moved[:, 0], 0.2 * (a.times - a.times[0]))


def test_a_motion_goes_onto_another_body_and_is_found_from_markers():
    text = (
        'of = "squat"\nto = 0.3\n[characters.bird]\nname = "chicken"\n[motions.bird]\ncharacter = "bird"\nof = "main"\n'
    )
    text += '[motions.seen]\nof = "main"\nmarkers = { rate = 30, noise = 0.0005 }\n'
    run = cp.read_scene(text).run()
    assert run.motions["bird"].character.name == "chicken"
    seen, main = run.motions["seen"], run.motions["main"]
    knee = main.character.joint("knee_left").qpos
    assert np.abs(seen.poses[:, knee] - main.sample(seen.times).q[:, knee]).max() < 0.05  # [rad]


def test_paths_are_followed_and_goals_reached():
    lamp = cp.read_scene(EXAMPLES / "scenes" / "06_drag_and_strokes.toml")
    motion = lamp.plain_motion()
    path = lamp.motion().paths.paths[0]
    for time in (0.0, 0.7, 2.0):
        shot = motion.character.snapshot(motion.character.state(motion.sample(time).q))
        assert np.abs(shot.position("head") - path.at(time)).max() < 5e-3  # [m]: the lamp also aims
    cast = cp.read_scene(EXAMPLES / "scenes" / "07_pose_the_cast.toml")
    pose = cast.plain_motion()
    shot = pose.character.snapshot(pose.character.state(pose.poses[0]))
    assert np.abs(shot.position("hand_right") - [0.4, -0.3, 1.2]).max() < 1e-3


def test_objectives_in_levels_are_those_of_the_library():
    text = '[controller]\nkind = "objectives"\n[[controller.objective]]\nkind = "contact"\n'
    text += '[[controller.objective]]\nkind = "setpoint"\nlevel = 2\nfeature = "com"\nstiffness = 60\n'
    text += (
        '[[controller.objective]]\nkind = "setpoint"\nlevel = 3\nfeature = "place of hand_left"\nby = [0.1, 0, 0.1]\n'
    )
    text += 'from = 0.05\n[[controller.objective]]\nkind = "posture"\nlevel = 4\nstiffness = 200\n'
    run = cp.read_scene(text + "[simulation]\nseconds = 0.2\n").run()
    human = cp.character("human")
    start = human.snapshot(cp.simulate(human, cp.Passive(), 0.001).state(0))
    hand = PointPosition("hand_left")

    def levels(snapshot, time, memory):
        reach = [[cp.Setpoint(hand, hand.value(start) + [0.1, 0.0, 0.1])]] if time >= 0.05 else []
        com = cp.Setpoint(ComPosition(), start.com, stiffness=60.0)
        return [[cp.Contact()], [com], *reach, [cp.TrackPose(stiffness=200.0)]]

    alone = cp.simulate(human, cp.WholeBody(levels), 0.2)
    assert run.recording is not None and np.abs(run.recording.state().q - alone.state().q).max() < 1e-6


def test_the_next_steps_are_those_of_the_library():
    run = cp.read_scene("[steps_ahead]\nvelocity = [0.9, -0.5]\n").run()
    human = cp.character("human")
    v = human.state().v.copy()
    v[:2] = 0.9, -0.5
    plan = cp.steps_ahead(human.snapshot(human.state(human.state().q, v)))
    assert run.plan is not None and np.array_equal(run.plan.footholds, plan.footholds)
    assert run.report().count("foot lands at") == 3


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('of = "squad"\n', 1, "did you mean 'squat'?"),
        ('of = "squat"\n[[key]]\ntime = 0\n', 2, "keep either that or keys"),
        ('of = "squat"\nphysics = "optimize"\n', 2, "keys are optimised"),
        ("mirrored = true\n", 1, "name it by of"),
        ('of = "squat"\nrepeat = 0\n', 2, "whole number from 1"),
        ('[motions.a]\nof = "b"\n[motions.b]\nof = "squat"\n', 2, "no motion before this one"),
        (
            '[[path]]\nbody = "hand_lft"\npoints = [[0, 0, 1], [0, 0, 2]]\nduration = 1.0\n',
            2,
            "did you mean 'hand_left'?",
        ),
        ('[[path]]\nbody = "hand_left"\npoints = [[0, 0, 1], [0, 0, 2]]\n', 1, "`duration`"),
        ('[[goal]]\nkind = "reach"\nbody = "hand_left"\n', 1, "target"),
        (STAND + "[[change]]\ntime = 1.0\n", 5, "lengths = { arms = 1.3 }"),
        (STAND + "[[change]]\ntime = 1.0\nlengths = { wings = 2 }\n", 7, "wings"),
        (STAND + "[[change]]\ntime = 1.0\ncontroller = { hight = 1 }\n", 7, "did you mean 'height'?"),
        ("[[change]]\ntime = 1.0\nlengths = { arms = 2 }\n", 1, "has no controller"),
        ('[controller]\nkind = "objectives"\n', 1, "at least one"),
        (
            '[controller]\nkind = "objectives"\n[[controller.objective]]\nkind = "target"\nfeature = "com"\n',
            3,
            "needs time",
        ),
        (
            '[controller]\nkind = "objectives"\n[[controller.objective]]\nkind = "setpoint"\nfeature = "hand"\n',
            5,
            "place of BODY",
        ),
        ('[controller]\nkind = "walk"\nfollow = "squat"\nstyle = "sad"\n', 4, "keep one"),
        ("[steps_ahead]\nsteps = 0\n", 2, "how many are planned"),
        ('[output.motions]\nmain = "x.mp3"\n', 2, "a motion is written to a file"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, words: str):
    with pytest.raises(cp.errors.BadFile, match=f"scene:{line}: ") as caught:
        cp.read_scene(text)
    assert words in str(caught.value)
