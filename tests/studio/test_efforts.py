"""Heat on joints: the torques of what was simulated, optimised or checked, as shares of strength."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterpoise.character.library import character
from counterpoise.control import Stand
from counterpoise.motion import reference_motion
from counterpoise.scene.contents import EFFORTS_ENDING
from counterpoise.simulate import Push, simulate
from counterpoise.spacetime import check_motion
from counterpoise.studio.efforts import Efforts, efforts_of_check, efforts_of_recordings, read_efforts

HUMAN = character("human")


def test_a_recording_has_the_largest_share_of_each_joint() -> None:
    push = Push("thorax", (60.0, 0.0, 0.0), 0.05, 0.1)
    recording = simulate(HUMAN, Stand(), seconds=0.3, disturbances=[push])
    found = efforts_of_recordings([recording], 0, 60.0)
    row = int(np.abs(recording.time - (recording.time[0] + found.times[9])).argmin())
    ankle = HUMAN.joint("ankle_left")
    share = np.abs(recording.torque[row, ankle.dofs]) / np.asarray(HUMAN.torque_limit)[ankle.dofs]
    assert found.shares[9, HUMAN.segments.index("foot_left")] == pytest.approx(share.max())
    assert found.shares.max() > 0.05 and not found.shares[:, HUMAN.segments.index("pelvis")].any()


def test_a_check_knows_the_efforts_of_a_squat() -> None:
    """The knees work hardest when the hips are lowest; between check and drawing nothing is lost."""
    squat = reference_motion("squat", HUMAN)
    report = check_motion(squat)
    found = efforts_of_check(report, HUMAN)
    knee = np.nan_to_num(found.shares[:, HUMAN.segments.index("shank_left")])
    low = float(squat.times[int(squat.poses[:, 2].argmin())] - squat.times[0])
    assert knee.max() > 3.0 * knee[: len(knee) // 10].max(initial=0.0) and knee.max() > 0.1
    assert abs(found.times[int(knee.argmax())] - low) < 0.35
    known = report.frames.known
    assert np.nanmax(found.shares[known]) == pytest.approx(report.frames.torque[known].max())


def test_efforts_are_kept_beside_a_take(tmp_path: Path) -> None:
    made = Efforts(np.array([0.0, 0.1]), np.array([[0.1, 0.2, 0.3], [0.4, np.nan, 1.2]]))
    made.save(tmp_path / f"take{EFFORTS_ENDING}")
    found = read_efforts(tmp_path / "take.npz", 3)
    assert found is not None and np.array_equal(found.shares, made.shares, equal_nan=True)
    assert read_efforts(tmp_path / "take.npz", 4) is None and read_efforts(tmp_path / "other.npz", 3) is None
    packed = np.frombuffer(made.pack()[8:], "<f4")
    assert made.pack()[:8] == (2).to_bytes(4, "little") + (3).to_bytes(4, "little")
    assert np.allclose(packed, [0.0, 0.1, 0.1, 0.2, 0.3, 0.4, 0.0, 1.2])
