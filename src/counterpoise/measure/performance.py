"""How far a performed motion was done, and how well: what `Perform` notes in a recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from counterpoise.errors import BadValue
from counterpoise.measure.balance import fell
from counterpoise.simulate.recording import Recording

Grade = Literal["performed", "performed in part", "performed, then fell", "fell"]
WHOLE = 1.0 - 1e-6  # share of a motion that counts as all of it


@dataclass(frozen=True)
class Performance:
    """What came of a motion that a simulated body performed."""

    grade: Grade
    done: float  # how far it came in the motion before a fall, 0 to 1
    stands: bool  # at the end of the recording
    tracking: float  # [rad] rms of the joints' distance from the motion while it was performed
    cause: str  # of a fall; empty where there is none
    left_out: float = 0.0  # share of the motion before `done` that was left out, because it had to step


def performance(recording: Recording, figure: int = 0) -> Performance:
    """Returns how far a motion was performed. The recording is one of `Perform`."""
    notes = recording.notes
    if "stage" not in notes:
        raise BadValue("this recording is not one of Perform: it does not say how much of a motion was done")
    on = np.asarray(notes["stage"] == "perform")
    share = np.asarray(notes["done"][on], float) if on.any() else np.zeros(0)  # it may fall before it begins
    errors = np.asarray(notes["tracking"][on], float)
    done = min(float(share.max()), 1.0) if len(share) else 0.0
    left = np.asarray(notes["left_out"][on], float) if "left_out" in notes else np.zeros(0)
    fall = fell(recording, figure)
    stands = not fall and notes["stage"][-1] == "stand" and recording.status == "finished"
    causes = [str(text) for text in notes.get("cause", ()) if isinstance(text, str) and text]
    cause = "" if stands else causes[-1] if causes else f"{fall.reason} at {fall.time:.2f} s" if fall else ""
    whole = done >= WHOLE
    grade: Grade = (
        ("performed" if whole else "performed in part") if stands else "performed, then fell" if whole else "fell"
    )
    return Performance(
        grade,
        1.0 if whole else done,
        stands,
        float(np.sqrt(np.mean(errors**2))) if len(errors) else 0.0,
        cause,
        float(left.max()) if len(left) else 0.0,
    )
