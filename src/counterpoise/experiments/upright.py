"""What the standing experiments share: pushes, errors against the reference, and plots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.motion.motion import Motion
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.recording import Recording

if TYPE_CHECKING:
    from counterpoise.experiments.plotting import Panel


def blow(body: str, direction: float, force: float, start: float, duration: float = 0.1) -> Push:
    """Returns a horizontal push at a body's CoM; `direction` is in degrees from forward, counter-clockwise."""
    a = math.radians(direction)
    return Push(body, (force * math.cos(a), force * math.sin(a), 0.0), start, duration)


def scaled_blow(
    character: Character, body: str, direction: float, rho: float, start: float, duration: float = 0.1
) -> Push:
    """Returns a horizontal push of `rho` times what ankles alone could take there (MATH: rho)."""
    return blow(
        body, direction, rho * measure.ankle_limit(character, body, direction).impulse / duration, start, duration
    )


def trunk_of(character: Character) -> str:
    """Returns the name of the thorax or of a similar body; the root if there is none."""
    known = [name for name in ("thorax", "trunk", "torso", "chest") if name in character.segments]
    return known[0] if known else character.root


def reference_poses(recording: Recording, reference: Motion | None) -> Array:
    """Returns (n, nq): the reference's pose for every row of a recording, at the reference's own time."""
    if reference is None:
        return np.tile(recording.positions()[0], (len(recording), 1))
    clock = recording.notes.get("clock")
    times = recording.time if clock is None else np.interp(recording.time, recording.ticks, clock)
    return np.asarray(reference.sample(times).q)


def joint_errors(recording: Recording, reference: Motion | None = None) -> Array:
    """Returns (n,) [rad]: the rms error of the joints against the reference."""
    character, q = recording.character, recording.positions()
    wanted = reference_poses(recording, reference)
    errors = np.array([character.difference(a, b)[character.root_dofs.stop :] for a, b in zip(q, wanted, strict=True)])
    return np.sqrt(np.mean(errors**2, axis=1))


def ended(recording: Recording) -> str:
    """Returns how a recording ended, as text: stood, or fell when and how."""
    fall = measure.fell(recording)
    return f"fell at {fall.time:.2f} s ({fall.reason})" if fall.fell else "stood to the end"


def largest_slip(recording: Recording) -> float:
    """Returns the largest path that a foot slid [m]."""
    return max(measure.foot_slip(recording).values())


def story_panels(recording: Recording, reference: Motion | None = None) -> list[Panel]:
    """Returns panels of CoM, angular momentum, alarm and errors against the reference."""
    from counterpoise.experiments.plotting import Panel

    com, H = measure.com(recording), measure.momentum(recording)[:, :3]
    rows = [
        Panel("CoM [m]", recording.time, {"forward": com[:, 0], "left": com[:, 1]}),
        Panel("ang. momentum\n[kg m²/s]", recording.time, {n: H[:, i] for i, n in enumerate(("roll", "pitch", "yaw"))}),
        Panel("joints off by\n[rad rms]", recording.time, {"joints": joint_errors(recording, reference)}, low=0.0),
    ]
    if "alarm" in recording.notes:
        rows.insert(2, Panel("alarm", recording.ticks, {"alarm": recording.notes["alarm"]}, low=0.0))
    return rows
