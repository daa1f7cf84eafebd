"""Every verb takes every file; two motions in one picture, and how far they are apart."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import counterpoise as cp
from counterpoise.measure import compare_motions

STAIRS = "[[stairs]]\nstart = [0.4, 0.0]\nsteps = 3\n"


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    human = cp.character("human")
    squat = cp.reference_motion("squat", human).slice(0.0, 0.4)
    for suffix in ("bvh", "glb", "npz"):
        squat.write(folder / f"squat.{suffix}", rate=30.0)
    poses = np.array(squat.poses)
    poses[:, 0] += 0.03
    replace(squat, poses=poses).write(folder / "moved.npz")
    cp.simulate(human, cp.HoldPose(), 0.2).save(folder / "run.npz")
    return folder


@pytest.mark.parametrize("name", ["squat.bvh", "squat.glb", "squat.npz", "run.npz", "squat"])
def test_render_and_plot_take_every_file(say, clips: Path, name: str):
    source = str(clips / name) if "." in name else name
    code, _, err = say("render", source, "-o", "a.png", "--count", "2", "--size", "60x80")
    assert code == 0, err
    assert Image.open("a.png").size == (126, 80)
    code, out, err = say("plot", source, "com", "--json")
    assert code == 0, err
    assert set(json.loads(out)["CoM"]) >= {"x", "y", "z", "time"}
    assert say("plot", source, "com", "com_velocity", "-o", "b.png")[0] == 0


def test_a_motion_has_no_forces_to_plot(say, clips: Path):
    code, _, err = say("plot", str(clips / "squat.bvh"), "cop")
    assert code == 2 and "recorded in a simulation" in err
    listed = say("plot", str(clips / "squat.bvh"), "--list")[1]
    assert "com" in listed and "torque" not in listed and "cop" not in listed.split()


@pytest.mark.parametrize("name", ["squat.bvh", "squat.glb", "run.npz"])
def test_simulate_follows_every_file(say, clips: Path, name: str):
    for behaviour in ("stand", "hold"):
        code, _, err = say("simulate", behaviour, "-r", str(clips / name), "-t", "0.05")
        assert code == 0, err


def test_differences_are_what_was_changed(say, clips: Path):
    a, b = str(clips / "squat.npz"), str(clips / "moved.npz")
    code, out, err = say(
        "compare", a, b, "--json", "-o", "pair.png", "--count", "2", "--size", "60x80", "--plot", "p.svg"
    )
    assert code == 0, err
    told = json.loads(out)
    assert told["rms_distance"] == pytest.approx(0.03, abs=1e-6)
    assert told["worst_com"] == pytest.approx(0.03, abs=1e-6)
    assert told["rms_angle"] < 1e-4
    assert Image.open("pair.png").size == (126, 166) and Path("p.svg").stat().st_size > 1000
    code, out, _ = say("compare", a, b, "--overlay", "-o", "over.gif", "--fps", "5", "--size", "60x80")
    assert code == 0 and "distance [cm]" in out and Image.open("over.gif").size == (60, 80)


def test_the_line_figure_shows_where_the_other_is(say, clips: Path):
    a, b = str(clips / "squat.npz"), str(clips / "moved.npz")
    pictures = []
    for other in (a, b):
        assert say("compare", a, other, "--overlay", "-o", "o.png", "--count", "1", "--size", "200x300")[0] == 0
        pictures.append(np.asarray(Image.open("o.png")).astype(int))
    violet = [(p[..., 0] - p[..., 1] > 25) & (p[..., 2] - p[..., 1] > 25) for p in pictures]
    assert violet[0].sum() > 300 and violet[1].sum() > 300 and (violet[0] != violet[1]).sum() > 100


def test_motions_of_other_bodies_share_nothing_and_say_so():
    human, chain = cp.character("human"), cp.character("chain")
    here = cp.Motion(chain, [0.0, 0.1], np.array([chain.neutral, chain.neutral]))
    apart = compare_motions(cp.reference_motion("squat", human), here)
    assert apart.bodies == () and np.isnan(apart.rms_place) and np.isfinite(apart.com).all()


def test_terrain_and_bars_are_drawn(say, clips: Path):
    Path("stairs.toml").write_text(STAIRS, encoding="utf-8")
    sizes = ["--time", "0", "--size", "120x120"]
    assert say("render", str(clips / "squat.bvh"), "-o", "bare.png", *sizes)[0] == 0
    assert say("render", str(clips / "squat.bvh"), "-o", "with.png", "--terrain", "stairs.toml", *sizes)[0] == 0
    bars = Path(__file__).resolve().parents[2] / "examples" / "stunts" / "monkey_bars.toml"
    assert say("render", "human", "-o", "bars.png", "--terrain", str(bars), "--size", "120x120")[0] == 0
    assert say("render", "human", "-o", "none.png", "--size", "120x120")[0] == 0
    for one, other in (("bare", "with"), ("bars", "none")):
        a, b = (np.asarray(Image.open(f"{name}.png")).astype(int) for name in (one, other))
        assert (np.abs(a - b).max(axis=2) > 20).mean() > 0.01


def test_hands_on_one_line_share_a_bar():
    from counterpoise.render.props import bars_of, bars_scene

    def hand(x: float, y: float) -> cp.Touch:
        return cp.Touch("hand_left", 0.0, 1.0, "bar", (x, y, 2.4))

    bars = bars_of([hand(0.0, 0.2), hand(0.0, -0.2), hand(0.4, 0.2), cp.Touch("foot_left", 0.0, 1.0)])
    assert len(bars) == 2 and np.linalg.norm(bars[0].end - bars[0].start) == pytest.approx(0.4 + 0.7)
    assert len(bars_scene(bars)) == 6  # two bars on two posts each


def test_fix_films_before_and_after(say, clips: Path):
    code, _, err = say("fix", str(clips / "squat.bvh"), "-o", "fixed.bvh", "--video", "film.png")
    assert code in (0, 1), err
    assert Image.open("film.png").size[1] == 806
