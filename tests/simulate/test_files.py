"""Recordings on disk: there and back, and every way a file can be wrong; and every wrong thing said to `simulate`."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.control import Action, HoldPose, Passive
from counterpoise.errors import BadFile, BadValue, CounterpoiseError, UnknownName
from counterpoise.files import write_archive
from counterpoise.simulate import Platform, Push, Recording, Sine, World, push_schedule, random_pushes, replay, simulate

NAMES = (
    "time", "qpos", "qvel", "torque", "external", "model_mjb", "timestep", "meta",
    "contact_start", "contact_bodies", "contact_point", "contact_force", "tick",
)  # fmt: skip


class Noted:
    """Holds still and takes notes, of numbers and of words; says nothing at odd ticks."""

    rate = 200.0

    def begin(self, who: Character) -> int:
        return 0

    def act(self, snapshot: Any, memory: int) -> Action:
        notes = {"phase": "up" if memory % 4 else "down", "height": float(snapshot.com[2])} if memory % 2 == 0 else {}
        return Action(np.zeros(snapshot.character.nv), memory + 1, notes)


@pytest.fixture(scope="module")
def recording() -> Recording:
    who = character("planar_biped")
    return simulate(who, Noted(), 0.05, disturbances=[Push("trunk", (10.0, 0.0, 0.0), 0.01, 0.02)], seed=5)


@pytest.fixture(scope="module")
def saved(recording: Recording, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "good.npz"
    recording.save(path)
    return path


def refused(path: Path | str) -> str:
    """Load what must not load; the message, which is one line and names the file."""
    with pytest.raises(BadFile) as caught:
        Recording.load(path)
    message = str(caught.value)
    assert "\n" not in message and Path(path).name in message
    return message


def with_arrays(recording: Recording, path: Path, **changes: Any) -> Path:
    """The recording's file with some arrays replaced, or left out (None)."""
    arrays = {**recording.arrays(), **changes}
    write_archive(path, {name: np.asarray(values) for name, values in arrays.items() if values is not None})
    return path


def with_meta(recording: Recording, path: Path, **changes: Any) -> Path:
    meta = {**json.loads(str(recording.arrays()["meta"])), **changes}
    meta = {key: value for key, value in meta.items() if value is not None}
    return with_arrays(recording, path, meta=np.array(json.dumps(meta)))


# -- there and back -------------------------------------------------------------------------------------------------
def test_what_is_saved_comes_back(recording: Recording, saved: Path):
    again = Recording.load(saved)
    assert again.fingerprint() == recording.fingerprint()
    for name in ("time", "qpos", "qvel", "torque", "external", "ticks"):
        assert np.array_equal(getattr(again, name), getattr(recording, name)), name
        with pytest.raises(ValueError):
            getattr(again, name)[...] = 0.0
    for name in ("start", "bodies", "point", "force"):
        assert np.array_equal(getattr(again.contacts, name), getattr(recording.contacts, name)), name
    assert set(again.notes) == set(recording.notes) == {"phase", "height", "clamped"}
    assert list(again.notes["phase"][:4]) == ["down", "", "up", ""]
    assert np.isnan(again.notes["height"][1]) and again.notes["height"][0] == recording.notes["height"][0]
    assert dict(again.meta) == dict(recording.meta) and again.meta["seed"] == 5
    assert again.status == "finished" and len(again) == 51 and again.timestep == 0.001
    assert again.character.name == "planar_biped"
    assert np.array_equal(again.character.neutral, recording.character.neutral)
    assert replay(again).worst_error == 0.0


def test_saving_what_was_loaded_gives_the_same_bytes(saved: Path, tmp_path: Path):
    Recording.load(saved).save(tmp_path / "again.npz")
    assert (tmp_path / "again.npz").read_bytes() == saved.read_bytes()


def test_timings_are_kept_only_when_asked_for(recording: Recording, tmp_path: Path):
    recording.save(tmp_path / "timed.npz", timings=True)
    again = Recording.load(tmp_path / "timed.npz")
    assert np.array_equal(again.tick_seconds, recording.tick_seconds) and len(again.tick_seconds) == 10
    assert again.fingerprint() == recording.fingerprint()


def test_different_runs_have_different_fingerprints(recording: Recording):
    other = simulate(recording.character, Noted(), 0.05, seed=5)
    assert other.fingerprint() != recording.fingerprint()


def test_several_figures_come_back_in_their_places(tmp_path: Path):
    figures = [character("chicken"), character("chicken")]
    recording = simulate(figures, None, 0.02, world=World(platform=Platform(x=(Sine(0.1, 1.0),))))
    recording.save(tmp_path / "two.npz")
    again = Recording.load(tmp_path / "two.npz")
    assert again.places == recording.places and len(again.figures) == 2
    assert [p.prefix for p in again.places] == ["chicken/", "chicken2/"]
    assert np.array_equal(again.positions(1), recording.positions(1))
    assert np.array_equal(
        again.motion_of(1).q if hasattr(again.motion_of(1), "q") else again.positions(1), again.positions(1)
    )


def test_the_file_is_plain_numpy(saved: Path, recording: Recording):
    with np.load(saved, allow_pickle=False) as arrays:
        for name in ("time", "qpos", "qvel", "torque", "external", "model_mjb", "timestep", "meta"):
            assert name in arrays.files
        assert np.array_equal(arrays["qpos"], recording.qpos)
        assert json.loads(str(arrays["meta"]))["format"] == "counterpoise-recording"


# -- files that are not recordings ------------------------------------------------------------------------------------
def test_a_file_cut_short_anywhere_is_refused(saved: Path, tmp_path: Path):
    whole = saved.read_bytes()
    cuts = np.unique(np.concatenate([[0, 1, 2, 4, 21, 22, 30], np.linspace(0, len(whole) - 1, 60).astype(int)]))
    for cut in cuts:
        (tmp_path / "cut.npz").write_bytes(whole[:cut])
        refused(tmp_path / "cut.npz")


FLIPS = """
import sys, random
from counterpoise.errors import BadFile
from counterpoise.simulate import Recording, replay
whole = bytearray(open(sys.argv[1], "rb").read())
draw, taken = random.Random(1), 0
for trial in range(100):
    damaged = bytearray(whole)
    for _ in range(draw.choice([1, 1, 2, 16])):
        damaged[draw.randrange(len(damaged))] ^= 1 << draw.randrange(8)
    open("flipped.npz", "wb").write(damaged)
    try:
        Recording.load("flipped.npz")
        taken += 1
    except BadFile as error:
        assert "\\n" not in str(error)
print(taken)
"""


def test_random_damage_never_crashes(saved: Path, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", FLIPS, str(saved)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    assert int(done.stdout) < 10  # flips in a zip's own dates and flags change nothing that is read


MODELS = """
import sys, random, numpy
from counterpoise.errors import BadFile
from counterpoise.files import write_archive
from counterpoise.simulate import Recording
if sys.platform == "linux":  # a wish for many gigabytes fails at once
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
with numpy.load(sys.argv[1]) as f:
    arrays = {k: f[k] for k in f.files}
draw = random.Random(2)
model = arrays["model_mjb"].tobytes()
kinds = ["cut", "head", "body", "ints", "empty", "noise", "giant"]
for trial in range(70):
    damaged, kind = bytearray(model), kinds[trial % len(kinds)]
    if kind == "cut":
        damaged = damaged[: draw.randrange(len(damaged))]
    elif kind == "head":
        damaged[draw.randrange(400)] ^= 1 << draw.randrange(8)
    elif kind == "body":
        for _ in range(50):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
    elif kind == "ints":
        at = 4 * draw.randrange(len(damaged) // 4)
        damaged[at : at + 4] = draw.choice([2**31 - 1, 2**32 - 1, 2**31, 1]).to_bytes(4, "little")
    elif kind == "empty":
        damaged = bytearray()
    elif kind == "giant":  # a count in the head, by a high bit
        damaged[20 + 8 * draw.choice((0, 2, 6, 7, 10, 16, 18, 35)) + draw.choice((2, 3, 4))] ^= 0x20
    else:
        damaged = bytearray(draw.randbytes(draw.randrange(2000)))
    print(trial, kind, flush=True)
    write_archive("model.npz", {**arrays, "model_mjb": numpy.frombuffer(bytes(damaged), numpy.uint8)})
    try:
        Recording.load("model.npz")
    except BadFile as error:
        assert "\\n" not in str(error)
print("survived")
"""


def test_a_damaged_compiled_model_never_crashes(saved: Path, tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-c", MODELS, str(saved)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=900,
        check=False,
    )
    last = done.stdout.split("\n")[-3:]
    assert done.returncode == 0 and "survived" in done.stdout, (done.returncode, last, done.stderr[-1500:])


def test_other_formats_versions_and_mujocos_are_refused(recording: Recording, tmp_path: Path):
    path = tmp_path / "r.npz"
    assert "format" in refused(with_meta(recording, path, format="counterpoise-motion"))
    assert "format" in refused(with_meta(recording, path, format=None))
    assert "version" in refused(with_meta(recording, path, version=99))
    assert "version" in refused(with_meta(recording, path, version=None))
    assert "MuJoCo 2.1.0" in refused(with_meta(recording, path, mujoco="2.1.0"))
    refused(with_meta(recording, path, mujoco=None))
    refused(with_meta(recording, path, mujoco=3))


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "7", '"x"', "{}", "[" * 100_000, '{"format": 1}', '{"format": NaN}']
)
def test_damaged_meta_is_refused(recording: Recording, tmp_path: Path, text: str):
    refused(with_arrays(recording, tmp_path / "r.npz", meta=np.array(text)))


@pytest.mark.parametrize(
    "figures",
    [
        None, [], {}, 7, "x", [None], [{}], [{"mjcf": "<mujoco"}], [{"mjcf": "<mujoco/>"}],
        [{"mjcf": 3, "qpos": [0, 9], "dofs": [0, 9], "bodies": [1, 8], "prefix": ""}],
    ],
)  # fmt: skip
def test_damaged_figures_are_refused(recording: Recording, tmp_path: Path, figures: Any):
    refused(with_meta(recording, tmp_path / "r.npz", figures=figures))


@pytest.mark.parametrize(
    "key, value",
    [("qpos", [-1, 8]), ("qpos", [1, 10]), ("qpos", [0, 8]), ("qpos", ["a", "b"]), ("qpos", [0, 9, 0]), ("qpos", []),
     ("dofs", [0, 10**9]), ("bodies", [2, 9]), ("bodies", None), ("mjcf", "<robot/>"), ("mjcf", "")],
)  # fmt: skip
def test_figures_that_do_not_fit_are_refused(recording: Recording, tmp_path: Path, key: str, value: Any):
    figure = {**json.loads(str(recording.arrays()["meta"]))["figures"][0], key: value}
    refused(with_meta(recording, tmp_path / "r.npz", figures=[figure]))


@pytest.mark.parametrize("name", NAMES)
def test_missing_and_misshapen_arrays_are_refused(recording: Recording, tmp_path: Path, name: str):
    path, array = tmp_path / "r.npz", recording.arrays()[name]
    assert name in refused(with_arrays(recording, path, **{name: None}))
    refused(with_arrays(recording, path, **{name: array[None]}))
    if array.ndim and name != "tick":
        refused(with_arrays(recording, path, **{name: array[:-1]}))
        refused(with_arrays(recording, path, **{name: array[:0]}))
    if array.ndim > 1:
        refused(with_arrays(recording, path, **{name: array[:, :-1]}))
    refused(with_arrays(recording, path, **{name: array.astype(complex) if array.dtype.kind in "fi" else np.ones(3)}))


@pytest.mark.parametrize("name", ["time", "qpos", "qvel", "torque", "external"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(recording: Recording, tmp_path: Path, name: str, bad: float):
    array = recording.arrays()[name].copy()
    array.reshape(-1)[3] = bad
    assert name in refused(with_arrays(recording, tmp_path / "r.npz", **{name: array}))


def test_contacts_that_point_nowhere_are_refused(recording: Recording, tmp_path: Path):
    path, arrays = tmp_path / "r.npz", recording.arrays()
    bodies, start = arrays["contact_bodies"].copy(), arrays["contact_start"].copy()
    assert len(bodies)
    bodies[0, 0] = 10_000
    refused(with_arrays(recording, path, contact_bodies=bodies))
    bodies[0, 0] = -1
    refused(with_arrays(recording, path, contact_bodies=bodies))
    start[3] = start[-1] + 5
    refused(with_arrays(recording, path, contact_start=start))
    refused(with_arrays(recording, path, timestep=np.array(0.5)))
    refused(with_arrays(recording, path, timestep=np.array(np.nan)))


def test_time_that_does_not_run_forward_is_refused(recording: Recording, tmp_path: Path):
    refused(with_arrays(recording, tmp_path / "r.npz", time=recording.time[::-1].copy()))


def test_notes_that_do_not_fit_are_refused(recording: Recording, tmp_path: Path):
    path = tmp_path / "r.npz"
    refused(with_arrays(recording, path, **{"note:height": np.zeros(3)}))
    refused(with_arrays(recording, path, **{"note:height": np.zeros((10, 2))}))


def test_pickles_are_never_opened(recording: Recording, tmp_path: Path):
    class Bomb:
        def __reduce__(self) -> Any:
            return (open, (str(tmp_path / "boom"), "w"))

    path = tmp_path / "r.npz"
    arrays = recording.arrays()
    for name in ("qpos", "meta", "model_mjb"):
        np.savez(path, **{**arrays, name: np.array([Bomb()], dtype=object)}, allow_pickle=True)
        refused(path)
    np.savez(path, **arrays, extra=np.array([Bomb()], dtype=object), allow_pickle=True)
    Recording.load(path)  # what is not asked for is not opened
    assert not (tmp_path / "boom").exists()


def test_an_array_that_claims_to_be_giant_is_refused_before_memory_is(recording: Recording, tmp_path: Path):
    path = tmp_path / "r.npz"
    for shape in ((10**12, 9), (2**62, 4), (51, 10**10), (-1, 9), (0, 9)):
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
        _with_raw(recording, path, "qpos", header.getvalue() + b"\0" * 64)
        refused(path)
    _with_raw(recording, path, "qpos", b"\x93NUMPY\x01\x00\xff\xff{" + b"(" * 70_000)
    refused(path)
    _with_raw(recording, path, "qpos", b"not an array")
    refused(path)
    whole = io.BytesIO()
    np.save(whole, recording.qpos)
    _with_raw(recording, path, "qpos", whole.getvalue())
    Recording.load(path)
    _with_raw(recording, path, "qpos", whole.getvalue() + b"and more")
    refused(path)


def test_a_zip_bomb_is_refused(recording: Recording, tmp_path: Path):
    path = tmp_path / "r.npz"
    header = io.BytesIO()
    rows = 30_000_000
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (rows, 9)})
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        _copy_others(recording, archive, "qpos")
        with archive.open("qpos.npy", "w", force_zip64=True) as stream:
            stream.write(header.getvalue())
            for _ in range(16):  # 256 MiB of zeros, and the entry says so
                stream.write(bytes(1 << 24))
    refused(path)


def _with_raw(recording: Recording, path: Path, name: str, raw: bytes) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        _copy_others(recording, archive, name)
        archive.writestr(f"{name}.npy", raw)


def _copy_others(recording: Recording, archive: zipfile.ZipFile, without: str) -> None:
    for name, array in recording.arrays().items():
        if name != without:
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{name}.npy", buffer.getvalue())


def test_things_that_are_no_archives_are_refused(tmp_path: Path, saved: Path):
    (tmp_path / "text.npz").write_text("hello, I am a recording\n" * 100)
    (tmp_path / "empty.npz").write_bytes(b"")
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "array.npz").write_bytes(b"\x93NUMPY\x01\x00")
    for name in ("text", "empty", "folder", "array"):
        refused(tmp_path / f"{name}.npz")
    assert "no file" in refused(tmp_path / "missing.npz")
    with zipfile.ZipFile(tmp_path / "other.npz", "w") as archive:
        archive.writestr("readme.txt", "nothing here")
    refused(tmp_path / "other.npz")
    refused(saved / "inside_a_file.npz")


# -- writing ----------------------------------------------------------------------------------------------------------
def test_a_folder_that_is_not_there_is_said_so(recording: Recording, tmp_path: Path):
    with pytest.raises(BadFile, match="no folder"):
        recording.save(tmp_path / "nowhere" / "r.npz")
    (tmp_path / "taken.npz").mkdir()
    with pytest.raises(BadFile):
        recording.save(tmp_path / "taken.npz")
    assert [p.name for p in tmp_path.iterdir()] == ["taken.npz"]


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_folder_that_cannot_be_written_is_said_so(recording: Recording, tmp_path: Path):
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(BadFile, match="cannot write"):
            recording.save(tmp_path / "r.npz")
    finally:
        tmp_path.chmod(0o700)
    assert not list(tmp_path.iterdir())


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    recording: Recording, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "r.npz"
    recording.save(path)
    before = path.read_bytes()
    for error in (OSError("disk full"), KeyboardInterrupt()):

        def failing(*_: Any, error: BaseException = error, **__: Any) -> None:
            raise error

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", failing)
            with pytest.raises(BadFile if isinstance(error, OSError) else KeyboardInterrupt):
                recording.save(path)
        assert path.read_bytes() == before
        assert [p.name for p in tmp_path.iterdir()] == ["r.npz"]


# -- wrong words to `simulate` ----------------------------------------------------------------------------------------
def test_a_push_on_no_body_offers_the_nearest(human: Character):
    for given, meant in (("chest", None), ("l_foot", "foot_left"), ("LeftHand", "hand_left"), ("thorx", "thorax")):
        with pytest.raises(UnknownName) as caught:
            simulate(human, None, 0.1, disturbances=[Push(given, (1.0, 0.0, 0.0), 0.0, 0.1)])
        assert f"no body {given!r} in 'human'" in str(caught.value)
        if meant:
            assert f"did you mean {meant!r}?" in str(caught.value)
            assert meant in caught.value.evidence["known"]


class Gives:
    """A controller that answers anything."""

    rate = 500.0

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def begin(self, who: Character) -> None:
        return None

    def act(self, snapshot: Any, memory: Any) -> Any:
        return self.answer(snapshot)


@pytest.mark.parametrize(
    "answer",
    [
        lambda s: Action(np.full(s.character.nv, np.nan)),
        lambda s: Action(np.full(s.character.nv, np.inf)),
        lambda s: Action(np.zeros(3)),
        lambda s: Action(np.zeros((s.character.nv, 1))),
        lambda s: np.zeros(s.character.nv),
        lambda s: None,
    ],
)
def test_torques_that_are_none_are_refused(human: Character, answer: Any):
    with pytest.raises(BadValue, match="Gives"):
        simulate(human, Gives(answer), 0.1)


@pytest.mark.parametrize("seconds", [0.0, -1.0, np.nan, np.inf])
def test_a_run_takes_a_positive_time(human: Character, seconds: float):
    with pytest.raises(BadValue, match="seconds"):
        simulate(human, None, seconds)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: World(friction=-0.1), lambda: World(friction=np.nan), lambda: World(timestep=0.0),
        lambda: World(timestep=1.0), lambda: World(timestep=np.nan), lambda: World(integrator="rk5"),
        lambda: World(tilt=(90.0, 0.0)), lambda: World(tilt=(np.nan, 0.0)), lambda: World(tilt=(1.0,)),
        lambda: World(gravity=(0.0, np.nan, 0.0)), lambda: World(gravity=(0.0, -9.81)),
        lambda: World(platform=Platform(), integrator="rk4"), lambda: World(platform=Platform(), tilt=(1.0, 0.0)),
        lambda: Platform(x=(Sine(np.nan, 1.0),)), lambda: Platform(x=(0.1, 1.0)), lambda: Platform(ease=0.0),
        lambda: Platform(half_size=(0.0, 1.0)),
        lambda: Push("head", (1.0, 2.0), 0.0, 0.1), lambda: Push("head", (np.nan, 0.0, 0.0), 0.0, 0.1),
        lambda: Push("head", (1.0, 0.0, 0.0), 0.0, 0.0), lambda: Push("head", (1.0, 0.0, 0.0), np.nan, 0.1),
        lambda: Push("head", (1.0, 0.0, 0.0), 0.0, 0.1, point=(0.0, 0.0)),
        lambda: push_schedule("head", [(1.0,)], 0.0, 1.0), lambda: random_pushes("head", (5.0, 1.0), 10.0),
        lambda: random_pushes("head", 5.0, 10.0, every=(0.0, 0.0)), lambda: random_pushes("head", -5.0, 10.0),
        lambda: HoldPose(stiffness=-1.0), lambda: HoldPose(rate=0.0), lambda: HoldPose(damping=np.nan),
    ],
)  # fmt: skip
def test_worlds_and_pushes_that_cannot_be_are_refused(wrong: Any):
    with pytest.raises(BadValue):
        wrong()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda who: simulate(who, None, 0.1, start=character("chicken").state()),
        lambda who: simulate(who, None, 0.1, start=[who.state(), who.state()]),
        lambda who: simulate(who, [Passive(), Passive()], 0.1),
        lambda who: simulate([], None, 0.1),
        lambda who: simulate(who, "stand", 0.1),
        lambda who: simulate(who, object(), 0.1),
        lambda who: simulate(who, Passive(rate=0.0), 0.1),
        lambda who: simulate(who, Passive(rate=np.nan), 0.1),
        lambda who: simulate(who, HoldPose(pose=np.zeros(3)), 0.1),
        lambda who: simulate(who, HoldPose(pose=np.full(who.nq, np.nan)), 0.1),
        lambda who: simulate(who, None, 0.1, disturbances=[Push("head", (1.0, 0, 0), 0.0, 0.1, figure=1)]),
    ],
)
def test_starts_and_controllers_that_do_not_fit_are_refused(human: Character, wrong: Any):
    with pytest.raises(CounterpoiseError):
        wrong(human)
