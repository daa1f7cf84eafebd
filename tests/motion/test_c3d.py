"""C3D: files written by ezc3d are read back, and markers put on a moving figure give its motion again."""

from __future__ import annotations

import random
import struct
import tracemalloc
from pathlib import Path

import mujoco
import numpy as np
import pytest

from counterpoise.character.library import character
from counterpoise.character.rescale import segment_groups
from counterpoise.errors import BadFile, BadValue, CounterpoiseError
from counterpoise.motion import Motion, reference_motion
from counterpoise.motion.files.c3d import read_markers
from counterpoise.motion.files.markers import Markers, gaps
from counterpoise.pose.marker_labels import place_of, placements
from counterpoise.pose.marker_size import Calibration
from counterpoise.pose.markers import fit_markers

ezc3d = pytest.importorskip("ezc3d", reason="ezc3d is not installed")

LABELS = (
    "LFHD", "RFHD", "LBHD", "RBHD", "C7", "T10", "CLAV", "STRN", "RBAK",
    *(side + part for side in "LR" for part in (
        "SHO", "UPA", "ELB", "FRM", "WRA", "WRB", "FIN", "ASI", "PSI", "THI", "KNE", "TIB", "ANK", "HEE", "TOE", "MT5",
    )),
)  # fmt: skip


def write_c3d(path: Path, labels, rate: float, places: np.ndarray, units: str = "mm", **more) -> Path:
    """Places (f, m, 3) in the file's units, NaN where unseen, with some analog samples between."""
    file = ezc3d.c3d()
    point = file["parameters"]["POINT"]
    point["RATE"]["value"], point["LABELS"]["value"], point["UNITS"]["value"] = [rate], tuple(labels), (units,)
    for name, value in more.items():
        file.add_parameter("POINT", name, value)
    f, m, _ = places.shape
    file["data"]["points"] = np.concatenate([places.transpose(2, 1, 0), np.ones((1, m, f))])
    residuals = np.where(np.isfinite(places[..., 0]), 0.5, -1.0).T[None]
    file["data"]["meta_points"]["residuals"] = residuals
    file["data"]["meta_points"]["camera_masks"] = np.zeros((7, m, f), bool)
    analog = file["parameters"]["ANALOG"]
    analog["RATE"]["value"], analog["LABELS"]["value"] = [4 * rate], ("force", "emg")
    file["data"]["analogs"] = np.random.default_rng(0).normal(size=(1, 2, 4 * f))
    file.write(str(path))
    return path


def random_places(frames: int = 30, markers: int = 5) -> np.ndarray:
    places = np.random.default_rng(1).normal(size=(frames, markers, 3)) * 1000
    places[5:9, 2] = places[0, 4] = np.nan
    return places


# -------------------------------------------------------------------------------------------------------- reading


def test_markers_are_read_as_written(tmp_path: Path):
    places = random_places()
    path = write_c3d(tmp_path / "a.c3d", ("A", "Anna:B", "C c", "D", "E"), 120.0, places)
    markers = read_markers(path)
    judge = ezc3d.c3d(str(path))["data"]["points"][:3].transpose(2, 1, 0) * 1e-3
    assert markers.labels == ("A", "Anna:B", "C c", "D", "E") and markers.rate == 120.0
    assert np.array_equal(np.isnan(markers.places), np.isnan(places))
    assert np.nanmax(np.abs(markers.places - judge)) == 0.0


@pytest.mark.parametrize(
    ("units", "up", "scale", "turn"),
    [
        ("m", "+Z", 1.0, np.eye(3)),
        ("cm", "+Y", 0.01, np.eye(3)[[2, 0, 1]]),
        ("mm", "+X", 0.001, np.eye(3)[[1, 2, 0]]),
        ("in", "-Z", 0.0254, np.diag([1.0, -1.0, -1.0])),
    ],
)
def test_units_and_axes_are_the_files_own(tmp_path: Path, units: str, up: str, scale: float, turn: np.ndarray):
    places = random_places() * (0.001 / scale)
    path = write_c3d(tmp_path / "a.c3d", "ABCDE", 50.0, places, units, X_SCREEN="+X", Y_SCREEN=up)
    found = read_markers(path)
    assert np.nanmax(np.abs(found.places - scale * places @ turn.T)) < 1e-5
    axis = {"+X": [1, 0, 0], "+Y": [0, 1, 0], "+Z": [0, 0, 1], "-Z": [0, 0, -1]}[up]
    assert np.allclose(turn @ axis, [0, 0, 1]) and np.linalg.det(turn) == pytest.approx(1.0)
    given = read_markers(path, units="mm", up="z")
    assert np.nanmax(np.abs(given.places - 0.001 * places)) < 1e-5
    assert any("in the file" in word for word in found.notes["remarks"])


def handmade(order: int, whole: bool, places: np.ndarray, told: bool = False) -> bytes:
    """A C3D file by hand, in number formats ezc3d does not write; `told`: parameters repeat what the header says."""
    e = ">" if order == 86 else "<"
    f, m, _ = places.shape

    def real(x: float) -> bytes:
        if order != 85:
            return struct.pack(f"{e}f", x)
        raw = struct.pack("<f", 4.0 * x)  # DEC: a fourth, halves swapped
        return raw[2:] + raw[:2]

    scale = 0.1 if whole else -1.0
    head = bytearray(512)
    head[0], head[1] = 2, 0x50
    head[2:10] = struct.pack(f"{e}4H", m, 0, 1, f)
    head[12:16], head[16:18], head[20:24] = real(scale), struct.pack(f"{e}H", 3), real(100.0)
    parameters = bytearray(512)
    parameters[2], parameters[3] = 1, order
    labels = "".join(f"M{i:<3}" for i in range(m)).encode()
    body = bytes([255, 2, 4, m]) + labels + b"\0"
    records = [b"\x05\xffPOINT" + struct.pack(f"{e}H", 3) + b"\0"]
    records.append(b"\x06\x01LABELS" + struct.pack(f"{e}H", 2 + len(body)) + body)
    counts = {b"USED": struct.pack(f"{e}H", m), b"FRAMES": struct.pack(f"{e}H", f)}
    for name, value in {**counts, b"SCALE": real(scale), b"RATE": real(100.0)}.items() if told else ():
        kind = bytes([2 if name in counts else 4, 0])
        record = bytes([len(name), 1]) + name + struct.pack(f"{e}H", 5 + len(value))
        records.append(record + kind + value + b"\0")
    text = b"".join(records) + b"\0\0"
    parameters[4 : 4 + len(text)] = text
    data = b""
    for frame in places:
        for point in frame:
            if whole:
                data += struct.pack(f"{e}4h", *np.round(point / scale).astype(int), 0)
            else:
                data += b"".join(real(float(x)) for x in point) + real(0.0)
    return bytes(head) + bytes(parameters) + data


@pytest.mark.parametrize("order", [84, 85, 86])
@pytest.mark.parametrize("whole", [False, True])
def test_every_number_format(tmp_path: Path, order: int, whole: bool):
    places = np.random.default_rng(2).normal(size=(6, 4, 3)) * 500
    (tmp_path / "bare.c3d").write_bytes(handmade(order, whole, places))
    (tmp_path / "a.c3d").write_bytes(handmade(order, whole, places, told=True))
    found = read_markers(tmp_path / "a.c3d")
    assert np.array_equal(read_markers(tmp_path / "bare.c3d").places, found.places)
    assert found.labels == ("M0", "M1", "M2", "M3") and found.rate == pytest.approx(100.0)
    assert np.abs(found.places - 1e-3 * places).max() < (6e-5 if whole else 1e-6)
    if order != 86:  # which ezc3d does not read
        judge = ezc3d.c3d(str(tmp_path / "a.c3d"))["data"]["points"][:3].transpose(2, 1, 0)
        assert np.abs(1e-3 * judge - found.places).max() < 1e-6


def test_short_gaps_are_bridged_and_told():
    t = np.arange(200) / 100
    path = np.stack([np.sin(3 * t), np.cos(2 * t), 0.3 * t**2], axis=1)
    places = np.stack([path, path + 1], axis=1)
    holed = places.copy()
    holed[50:65, 0] = holed[100:140, 0] = holed[:10, 1] = np.nan
    bridged = Markers(("A", "B"), 100.0, holed).bridged(0.2)
    assert np.abs(bridged.places[50:65, 0] - places[50:65, 0]).max() < 1e-3
    assert gaps(bridged.seen[:, 0]) == [(100, 140)] and gaps(bridged.seen[:, 1]) == [(0, 10)]
    assert bridged.notes["remarks"] == (
        "15 unseen marker frames bridged (A 15)",
        "50 unseen marker frames left open (A 40, B 10)",
    )


# -------------------------------------------------------------------------------------------------------- fitting


def body_frames(motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    model = motion.character.model
    data = mujoco.MjData(model)
    places, turns = [], []
    for q in motion.poses:
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        places.append(data.xpos.copy())
        turns.append(data.xmat.reshape(-1, 3, 3).copy())
    return np.array(places), np.array(turns)


def virtual_markers(motion: Motion, slip: float = 0.0, noise: float = 0.0, seed: int = 0) -> np.ndarray:
    """Where markers stuck on the moving figure are (f, m, 3) [m]: table places, each `slip` off in every direction."""
    rng = np.random.default_rng(seed)
    plain = character("human")
    table, _ = placements(LABELS, plain, None)
    factor = dict.fromkeys(plain.segments, 1.0)
    for group, scale in motion.character.parameters.get("lengths", {}).items():
        for segment in segment_groups(plain)[group]:
            factor[segment] *= scale
    places, turns = body_frames(motion)
    out = []
    for label in LABELS:
        segment, point = table[label]
        b = plain.body_id(segment)
        out.append(places[:, b] + turns[:, b] @ (factor[segment] * point + slip * rng.normal(size=3)))
    found = np.stack(out, axis=1)
    return found + noise * rng.normal(size=found.shape)


def joint_errors(fitted: Motion, true: Motion) -> np.ndarray:
    """(f, joints) [m]"""
    return np.linalg.norm(body_frames(fitted)[0] - body_frames(true)[0], axis=2)[:, 1:]


@pytest.fixture(scope="module")
def kick() -> Motion:
    return reference_motion("front_kick", character("human")).resampled(100.0)


def test_exact_markers_give_the_motion_back(tmp_path: Path, kick: Motion):
    path = write_c3d(tmp_path / "kick.c3d", LABELS, 100.0, 1000 * virtual_markers(kick))
    fit = fit_markers(read_markers(path), kick.character, size=False, refine=False, cutoff=None)
    assert joint_errors(fit.motion, kick).max() < 3e-4
    assert fit.rms < 5e-5 and fit.motion.name == "kick" and fit.motion.rate == pytest.approx(100.0)
    assert kick.character.limits.values(fit.motion.poses[100]).max() < 1e-6


def test_another_person_with_noise_and_gaps(tmp_path: Path):
    """Taller, longer arms, markers 5 mm off in every direction, 1 mm of noise, short and long gaps."""
    person = character("human").rescaled(lengths={"all": 1.06, "arms": 1.04, "legs": 0.98})
    true = reference_motion("front_kick", person).resampled(100.0)
    seen = virtual_markers(true, slip=0.005, noise=0.001, seed=1)
    rng = np.random.default_rng(2)
    for m in rng.integers(0, len(LABELS), 12):
        start = int(rng.integers(20, len(true) - 40))
        seen[start : start + 12, m] = np.nan
    seen[150:260, LABELS.index("RKNE")] = np.nan
    seen[:60, LABELS.index("LFIN")] = np.nan
    path = write_c3d(tmp_path / "a.c3d", [f"Person:{label}" for label in LABELS], 100.0, 1000 * seen)
    fit = fit_markers(read_markers(path), character("human"))
    errors = joint_errors(fit.motion, true)
    assert errors.mean() < 0.005 and errors.max() < 0.015
    assert fit.character.height == pytest.approx(person.height, rel=0.01)
    assert fit.factors["upper_arm_left"] == fit.factors["upper_arm_right"] == pytest.approx(1.06 * 1.04, rel=0.02)
    assert fit.factors["thigh_left"] == pytest.approx(1.06 * 0.98, rel=0.02)
    assert any("bridged" in word for word in fit.remarks) and any("left open" in word for word in fit.remarks)
    quick = np.abs(np.diff(body_frames(fit.motion)[0], n=2, axis=0))[:, 1:].max()
    plain = np.abs(np.diff(body_frames(true)[0], n=2, axis=0))[:, 1:].max()
    assert quick < plain + 0.003  # nothing jumps where markers vanish and come back


def test_a_mapping_of_ones_own_on_another_body(tmp_path: Path):
    """Markers with names of their own on an ostrich."""
    ostrich = character("ostrich")
    rng = np.random.default_rng(3)
    step = np.cumsum(0.004 * rng.normal(size=(40, ostrich.nv)), axis=0)
    poses = ostrich.integrate(ostrich.neutral, np.array([np.convolve(x, np.ones(9) / 9, "same") for x in step.T]).T)
    true = Motion(ostrich, np.arange(40) / 50, np.array([ostrich.limits.clamp(q) for q in poses]))
    placement = {f"{s}{i}": (s, 0.1 * rng.normal(size=3)) for s in ostrich.segments for i in range(3)}
    places, turns = body_frames(true)
    data = np.stack(
        [places[:, ostrich.body_id(s)] + turns[:, ostrich.body_id(s)] @ point for s, point in placement.values()],
        axis=1,
    )
    path = write_c3d(tmp_path / "a.c3d", placement, 50.0, data, "m")
    fit = fit_markers(read_markers(path), ostrich, placement, size=False, refine=False, cutoff=None)
    assert joint_errors(fit.motion, true).max() < 5e-4 and fit.ignored == ()


def test_shape_derivatives_and_rescaling_agree():
    """The calibration's rows against differences, and its points against a figure really rescaled."""
    rng = np.random.default_rng(0)
    for name in ("human", "ostrich", "planar_biped"):
        body = character(name)
        bodies, points = rng.integers(1, body.model.nbody, 12), 0.1 * rng.normal(size=(12, 3))
        calibration = Calibration(body, bodies, points)
        theta = 0.05 * rng.normal(size=calibration.count)
        theta[0] = 1.1
        q = body.integrate(body.neutral, 0.3 * rng.normal(size=body.nv))
        shape = calibration.shape(theta)
        p, J, D = calibration.rows(q, shape)
        e = 1e-6
        for j, step in enumerate(np.eye(body.nv)):
            ahead, behind = (calibration.points(body.integrate(q, s * e * step), shape) for s in (1, -1))
            assert np.abs((ahead - behind) / (2 * e) - J[:, :, j]).max() < 1e-8
        for j, step in enumerate(np.eye(calibration.count)):
            ahead, behind = (calibration.points(q, calibration.shape(theta + s * e * step)) for s in (1, -1))
            assert np.abs((ahead - behind) / (2 * e) - D[:, :, j]).max() < 1e-8
        factors = {s: float(shape.factors[body.body_id(s)]) for s in body.segments}
        other = body.rescaled(lengths=factors)
        places, turns = body_frames(Motion(other, np.zeros(1), q[None]))
        local = shape.factors[bodies, None] * points + shape.offsets
        assert np.abs(places[0, bodies] + np.einsum("mij,mj->mi", turns[0, bodies], local) - p).max() < 1e-9


def test_usual_labels_mirror():
    for label in ("LASI", "lasi", "Subject 1:LFWT", "L_ASI"):
        assert place_of(label) == ("pelvis", (0.100, 0.120, 0.080))
    segment, (x, y, z) = place_of("RKNE")  # type: ignore[misc]
    left, (a, b, c) = place_of("LKNE")  # type: ignore[misc]
    assert (segment, left) == ("thigh_right", "thigh_left") and (x, y, z) == (a, -b, c)
    assert place_of("*17") is None and place_of("LHipAngles") is None


def test_what_cannot_be_fitted_is_said(kick: Motion):
    markers = Markers(("A", "B", "C"), 100.0, np.zeros((5, 3, 3)) + 1)
    human = kick.character
    with pytest.raises(BadValue, match="placement="):
        fit_markers(markers, human)
    with pytest.raises(CounterpoiseError, match="no body 'fot'"):
        fit_markers(markers, human, {"A": "fot", "B": "head", "C": "head"})
    with pytest.raises(CounterpoiseError, match="no marker 'D'"):
        fit_markers(markers, human, {"D": "head"})
    with pytest.raises(BadValue, match="cutoff"):
        fit_markers(markers, human, cutoff=-1.0)


# -------------------------------------------------------------------------------------------------- hostile files


def test_broken_files_name_the_byte(tmp_path: Path):
    good = write_c3d(tmp_path / "good.c3d", "ABCDE", 100.0, random_places()).read_bytes()
    plain = handmade(84, False, np.ones((4, 3, 3)))

    def patched(data: bytes, at: int, new: bytes) -> bytes:
        return data[:at] + new + data[at + len(new) :]

    cases = [
        (b"", "byte 1"),
        (b"\x02\x50", "byte 1"),
        (b"junk" * 1000, "byte 1"),
        (good[:1500], "0 fit"),
        (good[:-2000], "frames of"),
        (patched(good, 0, b"\xff"), "byte 0"),
        (patched(plain, 515, b"\x00"), "byte 515"),
        (patched(plain, 2, b"\xff\xff"), "fit"),
        (patched(plain, 8, b"\xff\xff"), "frames of"),
        (patched(plain, 6, b"\x09\x00"), "byte 6"),
        (patched(plain, 2, b"\x00\x00"), "no points"),
        (patched(plain, 12, struct.pack("<f", float("nan"))), "byte 12"),
        (patched(plain, 20, struct.pack("<f", -5.0)), "byte 20"),
        (patched(plain, 16, b"\x00\x00"), "inside the header"),
        (patched(plain, 523, b"\xff\xff"), "beyond the end"),
        (patched(plain, 536, b"\x09"), "type"),
        (patched(plain, 538, b"\xff\xff"), "does not fit"),
        (patched(plain, 1024, struct.pack("<f", 1e30)), "more than 1000 m away"),
    ]
    for data, word in cases:
        (tmp_path / "bad.c3d").write_bytes(data)
        tracemalloc.start()
        with pytest.raises(BadFile) as refused:
            read_markers(tmp_path / "bad.c3d")
        assert tracemalloc.get_traced_memory()[1] < 5e6
        tracemalloc.stop()
        assert word in str(refused.value) and "bad.c3d" in str(refused.value), (word, str(refused.value))
    with pytest.raises(BadFile, match="no file"):
        read_markers(tmp_path / "nothing.c3d")


def fuzzed(tmp_path: Path, rounds: int, seed: int) -> None:
    seeds = [
        write_c3d(tmp_path / "a.c3d", "ABCDE", 100.0, random_places(6)).read_bytes(),
        handmade(85, True, np.ones((4, 3, 3))),
        handmade(86, False, np.ones((4, 3, 3))),
    ]
    rng = random.Random(seed)
    read = 0
    for _ in range(rounds):
        data = bytearray(rng.choice(seeds))
        for _ in range(rng.randint(1, 6)):
            data = data or bytearray(b"x")
            kind, at = rng.random(), rng.randrange(min(len(data), rng.choice([64, 1500, 100_000])))
            if kind < 0.7:
                data[at] = rng.choice([0, 1, 127, 128, 255, rng.randrange(256)])
            elif kind < 0.8:
                del data[at : at + rng.randint(1, 30)]
            elif kind < 0.9:
                data[at:at] = data[at : at + rng.randint(1, 30)]
            else:
                data = data[: max(1, at)]
        (tmp_path / "m.c3d").write_bytes(bytes(data))
        try:
            found = read_markers(tmp_path / "m.c3d")
        except BadFile as refused:
            assert "m.c3d" in str(refused)
            continue
        read += 1
        places = found.places[found.seen]
        assert np.isfinite(places).all() and found.rate > 0.0 and len(set(found.labels)) == len(found.labels)
        assert found.places.shape[0] * found.places.shape[1] * 8 <= len(data)
    assert 0 < read < rounds


def test_mutated_files_are_read_or_refused(tmp_path: Path):
    fuzzed(tmp_path, 400, 0)


@pytest.mark.slow
def test_ten_thousand_mutations(tmp_path: Path):
    fuzzed(tmp_path, 10_000, 1)
