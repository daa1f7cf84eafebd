"""What the standing experiments share: controllers in turn on one memory, and what a recording says about standing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.stand import Stand
from counterpoise.motion.motion import Motion
from counterpoise.simulate.disturbances import Push
from counterpoise.simulate.recording import Recording

if TYPE_CHECKING:
    from counterpoise.experiments.plotting import Panel


@dataclass(frozen=True, eq=False)
class InTurn:
    """Stand, changed while it stands: each part takes over at its time and goes on with the other's memory."""

    parts: Sequence[tuple[float, Stand]]  # from when [s], what; the first is there from the start

    @property
    def rate(self) -> float:
        return self.parts[0][1].rate

    def begin(self, character: Character) -> Any:
        return self.parts[0][1].begin(character)

    def act(self, snapshot: Snapshot, memory: Any) -> Action:
        now = [stand for start, stand in self.parts if snapshot.time >= start - 1e-9] or [self.parts[0][1]]
        return now[-1].act(snapshot, memory)


def blow(body: str, direction: float, force: float, start: float, duration: float = 0.1) -> Push:
    """A horizontal push at a body's CoM, `direction` in degrees from forward, counter-clockwise."""
    a = math.radians(direction)
    return Push(body, (force * math.cos(a), force * math.sin(a), 0.0), start, duration)


def trunk_of(character: Character) -> str:
    """The thorax, or the nearest to it that a figure has: else its root."""
    known = [name for name in ("thorax", "trunk", "torso", "chest") if name in character.segments]
    return known[0] if known else character.root


def reference_poses(recording: Recording, reference: Motion | None) -> Array:
    """(n, nq): where the reference's clock was at every row of a recording."""
    if reference is None:
        return np.tile(recording.positions()[0], (len(recording), 1))
    clock = recording.notes.get("clock")
    times = recording.time if clock is None else np.interp(recording.time, recording.ticks, clock)
    return np.asarray(reference.sample(times).q)


def joint_errors(recording: Recording, reference: Motion | None = None) -> Array:
    """(n,) [rad]: root of the mean square of how far the joints are from the reference."""
    character, q = recording.character, recording.positions()
    wanted = reference_poses(recording, reference)
    errors = np.array([character.difference(a, b)[character.root_dofs.stop :] for a, b in zip(q, wanted, strict=True)])
    return np.sqrt(np.mean(errors**2, axis=1))


def ended(recording: Recording) -> str:
    """In words: stood, or fell when and how."""
    fall = measure.fell(recording)
    return f"fell at {fall.time:.2f} s ({fall.reason})" if fall.fell else "stood to the end"


def largest_slip(recording: Recording) -> float:
    """[m] path that the foot that slid most slid."""
    return max(measure.foot_slip(recording).values())


def solver_troubles(recording: Recording) -> int:
    """Ticks whose solver did not say 'solved'."""
    status = recording.notes.get("status")
    return 0 if status is None else int(np.sum(status != "solved"))


def story_panels(recording: Recording, reference: Motion | None = None) -> list[Panel]:
    """CoM over the ground, angular momentum, alarm and distance from the reference: the story of most runs here."""
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
