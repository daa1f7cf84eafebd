"""What a run writes down row by row: states, inputs, and the contacts of every step.

The rows stand in blocks. A log that keeps only the last rows uses its oldest block again, so its memory does not grow.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array
from counterpoise.simulate.reading import is_sound, read_step, write_state
from counterpoise.simulate.recording import Contacts

FIRST_CAPACITY = 1024  # contacts a block has memory for at the start


class LogBlock:
    """Arrays with one row a step, filled while the simulation runs."""

    def __init__(self, model: mujoco.MjModel, rows: int) -> None:
        self.first = 0  # the step of the first row; after the last one there is room for the state at the end
        self.warm_start = np.zeros(model.nv)  # qacc_warmstart before the first step
        self.qpos, self.qvel = np.zeros((rows + 1, model.nq)), np.zeros((rows + 1, model.nv))
        self.torque, self.external = np.zeros((rows + 1, model.nv)), np.zeros((rows + 1, model.nbody, 6))
        self.contact_count, self.contacts = np.zeros(rows, np.int64), 0  # of each row; of all rows so far
        self.bodies = np.empty((FIRST_CAPACITY, 2), np.int32)
        self.point, self.force = np.empty((FIRST_CAPACITY, 3)), np.empty((FIRST_CAPACITY, 3))
        self._geom_body = np.array(model.geom_bodyid, np.int32)
        self.external_used = False

    def write_external(self, row: int, external: Array) -> None:
        self.external[row] = external
        self.external_used = True

    def finish(self, row: int, qpos: Array, qvel: Array, data: mujoco.MjData) -> bool:
        """Adds the contacts that carried force in the step of this row. Returns whether the new state is sound."""
        found = data.ncon
        if found == 0:
            return is_sound(qpos, qvel)
        contact, first = data.contact, self.contacts
        if first + found > len(self.point):
            self._grow(first + found)
        count = read_step(
            qpos, qvel, contact.efc_address, contact.dim, contact.frame, contact.geom, contact.pos, data.efc_force,
            self._geom_body, first, self.bodies, self.point, self.force,
        )  # fmt: skip
        if count < 0:
            return False
        self.contact_count[row] = count
        self.contacts = first + count
        return True

    def clear(self) -> None:
        """Empties the block, to be filled again. States and torques are overwritten row by row."""
        self.contact_count[:], self.contacts = 0, 0
        if self.external_used:
            self.external[:], self.external_used = 0.0, False

    @property
    def nbytes(self) -> int:
        """The memory of its arrays [bytes]."""
        return sum(value.nbytes for value in vars(self).values() if isinstance(value, np.ndarray))

    def _grow(self, rows: int) -> None:
        """Makes room for `rows` contacts, or for twice as many as before."""
        rows = max(rows, 2 * len(self.point))
        self.bodies, self.point, self.force = (
            np.concatenate([old, np.empty((rows - len(old), old.shape[1]), old.dtype)])
            for old in (self.bodies, self.point, self.force)
        )


@dataclass(frozen=True)
class LoggedRows:
    """Consecutive rows of a log; the last row is the final state, without inputs."""

    qpos: Array
    qvel: Array
    torque: Array
    external: Array
    contacts: Contacts


class RunLog:
    """The rows of a run in blocks of `block_rows`: all of them, or at least the last `keep` rows."""

    def __init__(self, model: mujoco.MjModel, block_rows: int, keep: int | None = None) -> None:
        self.model, self.block_rows, self.keep = model, block_rows, keep
        self.block = LogBlock(model, block_rows)  # the one being written
        self.row = -1  # the last row written in it
        self._begun = -1
        self._last: tuple[LogBlock, int, int] | None = None  # where the contacts of the last step are
        self._blocks = deque([self.block])

    @property
    def first(self) -> int:
        """The oldest step that is still there."""
        return self._blocks[0].first

    @property
    def first_warm_start(self) -> Array:
        """MuJoCo's `qacc_warmstart` before the oldest step."""
        return self._blocks[0].warm_start

    @property
    def nbytes(self) -> int:
        """The memory of all blocks [bytes]."""
        return sum(block.nbytes for block in self._blocks)

    def begin_row(self, step: int, data: mujoco.MjData) -> None:
        """Begins the row of a step."""
        row = step - self.block.first
        if row == self.block_rows:
            self._next_block(step)
            row = 0
        if row == 0:
            self.block.warm_start[:] = data.qacc_warmstart
        self.row, self._begun = -1, row  # nothing is written yet

    def write_row(self, qpos: Array, qvel: Array, torque: Array) -> None:
        """Writes the state before the step and the torques of the step into the row that was begun."""
        block, row = self.block, self._begun
        write_state(block.qpos, block.qvel, block.torque, row, qpos, qvel, torque)
        self.row = row

    def write_external(self, external: Array) -> None:
        self.block.write_external(self._begun, external)

    def finish_row(self, qpos: Array, qvel: Array, data: mujoco.MjData) -> bool:
        """Reads the contacts of the step that was made. Returns whether the state after it is sound."""
        block, first = self.block, self.block.contacts
        sound = block.finish(self.row, qpos, qvel, data)
        if sound:
            self._last = block, first, block.contacts
        return sound

    def last_contacts(self) -> tuple[NDArray[np.int32], Array, Array] | None:
        """Bodies, places and forces of the contacts in the last step, as views; None before the first step."""
        if self._last is None:
            return None
        block, first, end = self._last
        return block.bodies[first:end], block.point[first:end], block.force[first:end]

    def final_state(self, done: int, data: mujoco.MjData) -> tuple[Array, Array]:
        """Returns q and v of the whole world after `done` steps.

        A step that was interrupted or diverged has already written the state before it; that one stays the last.
        """
        if self.block.first + self.row == done:
            return self.block.qpos[self.row], self.block.qvel[self.row]
        return data.qpos, data.qvel

    def rows(self, first: int, done: int, data: mujoco.MjData, over: bool = False) -> LoggedRows:
        """Returns the rows of the steps from `first` until `done` steps were complete, and the final state.

        They are copies. Where the run is `over`, nothing more is written, and one block serves as it is.
        """
        if over and len(self._blocks) == 1 and self.block.first == first:
            return self._whole_block(done, data)
        count, m = done - first, self.model
        qpos, qvel = np.empty((count + 1, m.nq)), np.empty((count + 1, m.nv))
        torque, external = np.empty((count + 1, m.nv)), np.empty((count + 1, m.nbody, 6))
        contact_count = np.zeros(count + 2, np.int64)
        parts: list[tuple[NDArray[np.int32], Array, Array]] = []
        for block in self._blocks:
            here = slice(max(first - block.first, 0), min(done - block.first, self.block_rows))
            if here.start >= here.stop:
                continue
            there = slice(here.start + block.first - first, here.stop + block.first - first)
            qpos[there], qvel[there] = block.qpos[here], block.qvel[here]
            torque[there], external[there] = block.torque[here], block.external[here]
            contact_count[there.start + 1 : there.stop + 1] = block.contact_count[here]
            begin = int(block.contact_count[: here.start].sum())
            used = slice(begin, begin + int(block.contact_count[here].sum()))
            parts.append((block.bodies[used], block.point[used], block.force[used]))
        qpos[-1], qvel[-1] = self.final_state(done, data)
        torque[-1], external[-1] = 0.0, 0.0
        parts = parts or [(self.block.bodies[:0], self.block.point[:0], self.block.force[:0])]
        bodies, point, force = (np.concatenate(column) for column in zip(*parts, strict=True))
        return LoggedRows(qpos, qvel, torque, external, Contacts(contact_count.cumsum(), bodies, point, force))

    def _whole_block(self, done: int, data: mujoco.MjData) -> LoggedRows:
        """Returns the rows of the only block, as they stand there, with the final state after them."""
        block = self.block
        count = done - block.first
        block.qpos[count], block.qvel[count] = self.final_state(done, data)
        block.torque[count] = 0.0
        if block.external_used:
            block.external[count] = 0.0
        ends, used = block.contact_count[:count].cumsum(), int(block.contact_count[:count].sum())
        contacts = Contacts(
            np.concatenate([[0], ends, [used]]), block.bodies[:used].copy(), block.point[:used].copy(),
            block.force[:used].copy(),
        )  # fmt: skip
        rows = slice(count + 1)
        return LoggedRows(block.qpos[rows], block.qvel[rows], block.torque[rows], block.external[rows], contacts)

    def _next_block(self, step: int) -> None:
        """Begins a new block at a step: the oldest one, where enough newer rows are there, or one more."""
        free: LogBlock | None = None
        while self.keep is not None and len(self._blocks) > 1 and step - self._blocks[1].first >= self.keep:
            free = self._blocks.popleft()
        if free is None:
            free = LogBlock(self.model, self.block_rows)
        free.clear()
        free.first = step
        self.block = free
        self._blocks.append(free)
