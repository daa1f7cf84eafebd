"""Paths go through their points at the speed asked for, fit shaky strokes with few points, and can be edited."""

from __future__ import annotations

import numpy as np
import pytest

from counterpoise.errors import BadValue, UnknownName
from counterpoise.pose.paths import Path

POINTS = np.array([(0.0, 0.0, 1.0), (0.6, 0.3, 1.0), (0.7, 0.8, 1.4), (0.0, 1.0, 1.6)])


def speeds(path: Path, count: int = 1000) -> tuple[np.ndarray, np.ndarray]:
    t = np.linspace(path.start, path.end, count + 1)
    return 0.5 * (t[1:] + t[:-1]), np.linalg.norm(np.diff(path.at(t), axis=0), axis=1) / np.diff(t)


@pytest.mark.parametrize("speed", ["constant", "ease", "ease_in", "ease_out", lambda u: u**1.5])
def test_a_path_passes_its_points_at_its_times(speed):
    for path in (
        Path.through("h", POINTS, 2.0, speed=speed, start=1.0),
        Path.through("h", POINTS, times=[0, 1, 1.5, 4]),
    ):
        np.testing.assert_allclose(path.at(path.times), POINTS, atol=1e-5)
        np.testing.assert_allclose(path.at([path.start - 1.0, path.end + 1.0]), POINTS[[0, -1]], atol=1e-12)
        assert path.at(path.start).shape == (3,)
        np.testing.assert_array_equal(path.velocity([path.start - 1.0, path.end + 1.0]), 0.0)


def test_constant_speed_is_constant():
    path = Path.through("h", POINTS, duration=2.0)
    _, v = speeds(path)
    np.testing.assert_allclose(v, path.length / 2.0, rtol=1e-3)


@pytest.mark.parametrize(
    ("speed", "slope"),
    [
        ("ease", lambda u: 30 * u**2 * (1 - u) ** 2),
        ("ease_in", lambda u: 3 * u**2),
        (lambda u: u**2, lambda u: 2 * u),
        (lambda u: float(u) ** 2, lambda u: 2 * u),  # a function of plain numbers will do
    ],
)
def test_speed_profiles_are_honoured(speed, slope):
    path = Path.through("h", POINTS, duration=2.0, speed=speed, start=0.5)
    t, v = speeds(path)
    np.testing.assert_allclose(v, slope((t - 0.5) / 2.0) * path.length / 2.0, atol=0.01 * v.max())
    np.testing.assert_allclose(np.linalg.norm(path.velocity(t), axis=1), v, atol=1e-3 * v.max())


def test_velocity_is_the_derivative():
    for path in (
        Path.through("h", POINTS, times=[0, 1, 1.5, 4]),
        Path.through("h", POINTS, duration=3.0, speed="ease"),
    ):
        t, h = np.linspace(path.start + 0.1, path.end - 0.1, 50), 1e-5
        np.testing.assert_allclose(path.velocity(t), (path.at(t + h) - path.at(t - h)) / (2 * h), atol=1e-4)


def eight(t: np.ndarray) -> np.ndarray:
    return np.stack([0.3 + 0.2 * np.cos(2 * t), 0.3 * np.sin(2 * t), 1.2 + 0.1 * np.sin(4 * t)], axis=1)


@pytest.mark.parametrize("noise", [0.0005, 0.002, 0.008])
def test_a_stroke_is_fitted_through_its_noise_with_few_points(noise):
    rng = np.random.default_rng(3)
    t = np.sort(rng.uniform(0.0, 3.0, 300))
    path = Path.from_stroke("h", np.column_stack([t, eight(t) + rng.normal(0.0, noise, (300, 3))]))
    fine = np.linspace(t[5], t[-5], 500)
    error = np.sqrt(np.mean((path.at(fine) - eight(fine)) ** 2))
    assert error < 0.55 * noise + 2e-4  # nearer to what was meant than the samples are
    assert len(path.points) <= 20
    assert path.start == t[0] and path.end == t[-1]


def test_pauses_and_duplicates_survive():
    rng = np.random.default_rng(1)
    t = np.sort(rng.uniform(0.0, 3.0, 300))
    t[100] = t[101]  # two samples of one moment
    x = np.interp(t, [0.0, 1.0, 2.0, 3.0], [0.0, 0.5, 0.5, 1.0])
    samples = np.stack([x, 0 * t, 1 + 0 * t], axis=1) + rng.normal(0.0, 0.001, (300, 3))
    samples[150:154] = samples[150]  # a device that repeats itself
    path = Path.from_stroke("h", samples, times=t)
    still = np.linspace(1.15, 1.85, 50)
    assert np.ptp(path.at(still)[:, 0]) < 0.004
    assert np.linalg.norm(path.velocity(still), axis=1).mean() < 0.03
    assert Path.from_stroke("h", [(0, 0, 0, 1), (1, 0, 0, 1)]).length == pytest.approx(0.0, abs=1e-12)
    assert len(Path.from_stroke("h", samples, times=t, smoothing=0.05).points) <= 4


def test_paths_are_edited_into_new_ones():
    path = Path.through("hand_left", POINTS, times=[0.0, 1.0, 2.0, 3.0], point=(0.0, 0.1, 0.0))
    moved = path.moved(1, (0.5, 0.5, 0.5))
    np.testing.assert_allclose(moved.at(1.0), 0.5)
    np.testing.assert_allclose(path.at(1.0), POINTS[1])
    more = path.with_point((0.1, 0.2, 1.5), time=2.5)
    np.testing.assert_allclose(more.at(2.5), (0.1, 0.2, 1.5))
    assert len(path.with_point((0, 0, 0)).points) == 5 and path.with_point((0, 0, 0)).end == pytest.approx(4.0)
    np.testing.assert_allclose(path.without_point(1).points, POINTS[[0, 2, 3]])
    np.testing.assert_allclose(path.reversed().at([0.0, 1.0]), path.at([3.0, 2.0]), atol=1e-12)
    np.testing.assert_allclose(path.shifted(2.0).at(3.5), path.at(1.5))
    np.testing.assert_allclose(path.translated((0, 0, 1)).at(1.5), path.at(1.5) + (0, 0, 1))
    np.testing.assert_allclose(path.retimed(6.0).at(3.0), path.at(1.5), atol=1e-12)
    np.testing.assert_allclose(path.retimed(times=[0, 2, 3, 4]).at(2.0), POINTS[1])
    mirror = path.mirrored()
    assert mirror.body == "hand_right" and mirror.point == (0.0, -0.1, 0.0)
    np.testing.assert_allclose(mirror.at(1.3), path.at(1.3) * (1, -1, 1))
    even = path.with_speed("constant")
    assert np.ptp(speeds(even)[1]) < 0.01 * even.length
    assert (even.start, even.end) == (0.0, 3.0) and even.without_point(0).end == 3.0
    assert even.with_point((0.0, 1.2, 1.8)).end == 3.0  # a longer way in the same time
    with pytest.raises(ValueError, match="read-only"):
        path.points[0] = 0.0


def test_orientations_go_along():
    turns = [(1, 0, 0, 0), (0.92, 0, 0.39, 0), (0.7, 0, 0.7, 0), (0.7, 0, 0.7, 0)]
    path = Path.through("h", POINTS, duration=2.0, turns=turns)
    np.testing.assert_allclose(path.turn_at(2.0), (np.sqrt(0.5), 0, np.sqrt(0.5), 0), atol=1e-9)
    assert len(path.goals(0.3)) == 2 and Path.through("h", POINTS, duration=2.0).turn_at(1.0) is None
    assert path.with_point((0, 0, 0), index=1).turns.shape == (5, 4)


def test_coincident_points_do_no_harm():
    still = Path.through("h", [(1, 2, 3)] * 3, duration=1.0)
    np.testing.assert_allclose(still.at([0.0, 0.5]), [(1, 2, 3)] * 2)
    np.testing.assert_array_equal(still.velocity(0.5), 0.0)
    twice = Path.through("h", [(0, 0, 0), (1, 0, 0), (1, 0, 0), (2, 1, 0)], duration=1.0)
    assert np.ptp(speeds(twice)[1]) < 0.01 * twice.length and np.all(np.diff(twice.times) > 0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Path.through("h", [(0, 0, 0)], duration=1.0),
        lambda: Path.through("h", np.full((3, 3), np.nan), duration=1.0),
        lambda: Path.through("h", [(0, 0, 0), (1e9, 0, 0)], duration=1.0),
        lambda: Path.through("h", POINTS),
        lambda: Path.through("h", POINTS, duration=1.0, times=[0, 1, 2, 3]),
        lambda: Path.through("h", POINTS, times=[0, 1, 1, 3]),
        lambda: Path.through("h", POINTS, times=[0, 1, 3]),
        lambda: Path.through("h", POINTS, times=[0, 1, 2, 3, 4]),
        lambda: Path.through("h", POINTS, times=[0, 1, 2, 1e9]),
        lambda: Path.through("h", POINTS, duration=-1.0),
        lambda: Path.through("h", POINTS, duration=1.0, speed=lambda u: u + 1),
        lambda: Path.through("h", POINTS, duration=1.0, speed=lambda u: u * np.nan),
        lambda: Path.through("h", POINTS, duration=1.0, weight=0.0),
        lambda: Path.through("h", POINTS, duration=1.0, turns=np.zeros((4, 4))),
        lambda: Path.through("h", "points", duration=1.0),
        lambda: Path.through(3, POINTS, duration=1.0),
        lambda: Path.through("h", POINTS, duration=1.0).moved(7, (0, 0, 0)),
        lambda: Path.through("h", POINTS, duration=1.0).at(np.nan),
        lambda: Path.through("h", POINTS[:2], duration=1.0).without_point(0),
        lambda: Path.from_stroke("h", [(0, 0, 0, 0)]),
        lambda: Path.from_stroke("h", [(1, 0, 0, 0), (0, 1, 1, 1)]),
        lambda: Path.from_stroke("h", np.zeros((5, 3))),
        lambda: Path.from_stroke("h", np.full((5, 4), np.inf)),
        lambda: Path.from_stroke("h", np.random.default_rng(0).normal(size=(5, 3)), times=[0, 1, 2]),
        lambda: Path.from_stroke("h", np.arange(20).reshape(5, 4), smoothing=-1.0),
    ],
)
def test_bad_paths_are_refused(make):
    with pytest.raises(BadValue):
        make()


def test_an_unknown_profile_brings_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'ease_in'"):
        Path.through("h", POINTS, duration=1.0, speed="ease-in")
