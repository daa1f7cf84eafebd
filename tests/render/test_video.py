"""Videos read back: as many frames, as large, at the right times; nothing half-written."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import imageio_ffmpeg
import numpy as np
import pytest
from figure import figure, walking
from PIL import Image

from counterpoise import threads
from counterpoise.errors import BadValue
from counterpoise.render import Camera, Comparison, Take, comparison_video, draw, video, write_video
from counterpoise.render.camera import AZIMUTH, ELEVATION
from counterpoise.render.raycast.picture import cast_picture
from counterpoise.render.stage import DrawnStage
from counterpoise.render.video import drawn, frame_times


@pytest.fixture(scope="module")
def take() -> Take:
    model = figure()
    return Take(model, *walking(model, duration=0.5, rate=30))


def test_mp4_round_trip(take: Take, tmp_path: Path) -> None:
    done: list[float] = []
    path = video(take, tmp_path / "walk.mp4", fps=20, size=(97, 65), progress=lambda p: done.append(p.share))
    reader = imageio_ffmpeg.read_frames(str(path))
    facts = next(reader)
    frames = list(reader)
    assert facts["size"] == (98, 66)  # H.264 wants even sides
    assert facts["fps"] == 20
    assert len(frames) == 11
    assert done == [k / 11 for k in range(1, 12)]
    assert [p.name for p in tmp_path.iterdir()] == ["walk.mp4"]


def test_mp4_is_the_same_every_time(take: Take, tmp_path: Path) -> None:
    one = video(take, tmp_path / "a.mp4", fps=10, size=(64, 48)).read_bytes()
    assert one == video(take, tmp_path / "b.mp4", fps=10, size=(64, 48)).read_bytes()


@pytest.mark.parametrize("suffix", [".gif", ".webp"])
def test_gif_and_webp_round_trip(take: Take, tmp_path: Path, suffix: str) -> None:
    path = video(take, tmp_path / f"walk{suffix}", fps=15, size=(80, 60), camera="fixed", clock=True)
    with Image.open(path) as image:
        assert image.size == (80, 60)
        assert image.n_frames == 8
        total = 0
        for k in range(8):
            image.seek(k)
            image.load()
            total += image.info["duration"]
    assert total == pytest.approx(8 / 15 * 1000, abs=11)


def test_speed_sets_how_many_frames() -> None:
    assert len(frame_times(0, 1, 30)) == 31
    assert len(frame_times(0, 1, 30, speed=0.5)) == 61
    assert frame_times(2, 3, 10, speed=2.0) == pytest.approx([2.0, 2.2, 2.4, 2.6, 2.8, 3.0])


def test_unknown_suffix_names_what_is_accepted(take: Take, tmp_path: Path) -> None:
    with pytest.raises(BadValue, match=r"\.mp4, \.gif, \.webp"):
        video(take, tmp_path / "walk.avi")


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".webp"])
def test_a_failure_leaves_what_was_there(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"walk{suffix}"
    path.write_bytes(b"the older one")

    def frames() -> Iterator[np.ndarray]:
        for _ in range(3):
            yield np.zeros((48, 64, 3), np.uint8)
        raise ArithmeticError("lost")

    with pytest.raises(ArithmeticError, match="lost"):
        write_video(frames(), path, 10, (64, 48))
    assert path.read_bytes() == b"the older one"
    assert list(tmp_path.iterdir()) == [path]


def test_no_frames_no_file(tmp_path: Path) -> None:
    with pytest.raises(BadValue, match="no frames"):
        write_video(iter(()), tmp_path / "empty.mp4", 10, (64, 48))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".webp"])
def test_an_interrupt_keeps_the_frames_so_far(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"walk{suffix}"

    def frames() -> Iterator[np.ndarray]:
        for k in range(4):
            picture = np.zeros((48, 64, 3), np.uint8)
            picture[:, : 10 + 10 * k] = 200
            yield picture
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_video(frames(), path, 10, (64, 48))
    assert list(tmp_path.iterdir()) == [path]
    if suffix == ".mp4":
        assert imageio_ffmpeg.count_frames_and_secs(str(path))[0] == 4
    else:
        with Image.open(path) as image:
            assert image.n_frames == 4


def test_pictures_of_several_cores_are_those_of_one(take: Take, monkeypatch) -> None:
    monkeypatch.setattr(threads, "cores", lambda: 4)
    stage, camera = DrawnStage(take), Camera.orbit((0, 0, 1), 4.0)
    scenes = [(stage.scene(time), camera) for time in np.linspace(0.0, 0.5, 9)]
    pictures = list(drawn(iter(scenes), (64, 48), 4, True))
    alone = [draw(scene, camera, (64, 48), 4, True) for scene, _ in scenes]
    assert len(pictures) == 9 and all(np.array_equal(a, b) for a, b in zip(pictures, alone, strict=True))
    assert not np.array_equal(pictures[0], pictures[-1])


def test_other_threads_run_while_a_picture_is_drawn() -> None:
    assert cast_picture.targetoptions["nogil"]  # type: ignore[attr-defined]


@pytest.mark.parametrize("way", ["beside", "over"])
def test_a_film_of_two_motions_has_the_pictures_of_its_moments(take: Take, tmp_path: Path, monkeypatch, way: str):
    monkeypatch.setattr(threads, "cores", lambda: 3)
    pair, size = Comparison(take, take, way), (48, 64)
    film = comparison_video(pair, tmp_path / "film.gif", fps=10, size=size)
    camera = pair.camera(size, AZIMUTH, ELEVATION)
    moments = [pair.moment(float(time), camera, size) for time in frame_times(0.0, pair.end, 10)]
    write_video([np.concatenate(m, axis=1) for m in moments], tmp_path / "alone.gif", 10, (pair.panels * 48, 64))
    assert len(moments) == 6 and film.read_bytes() == (tmp_path / "alone.gif").read_bytes()
