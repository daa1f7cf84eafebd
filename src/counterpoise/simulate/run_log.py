"""What a run writes down row by row: states, inputs, and the contacts of every step."""

from __future__ import annotations

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.simulate.reading import gather_contacts
from counterpoise.simulate.recording import Contacts

FIRST_CAPACITY = 1024  # contacts there is memory for at the start


class RunLog:
    """Arrays with one row a step, filled while the simulation runs."""

    def __init__(self, model: mujoco.MjModel, rows: int) -> None:
        self.qpos, self.qvel = np.zeros((rows, model.nq)), np.zeros((rows, model.nv))
        self.torque, self.external = np.zeros((rows, model.nv)), np.zeros((rows, model.nbody, 6))
        self._last_state = -1  # row of the last state written
        self._contact_count, self._contacts = np.zeros(rows, np.int64), 0  # of each row; of all rows so far
        self._bodies = np.empty((FIRST_CAPACITY, 2), np.int32)
        self._point, self._force = np.empty((FIRST_CAPACITY, 3)), np.empty((FIRST_CAPACITY, 3))
        self._geom_body = np.array(model.geom_bodyid, np.int32)

    def write_state(self, k: int, qpos: Array, qvel: Array) -> None:
        self.qpos[k], self.qvel[k] = qpos, qvel
        self._last_state = k

    def read_contacts(self, k: int, data: mujoco.MjData) -> None:
        """Adds the contacts that carried force in step k."""
        if data.ncon == 0:
            return
        contact, first = data.contact, self._contacts
        if first + data.ncon > len(self._point):
            self._grow(first + data.ncon)
        count = gather_contacts(
            contact.efc_address, contact.dim, contact.frame, contact.geom, contact.pos, data.efc_force,
            self._geom_body, first, self._bodies, self._point, self._force,
        )  # fmt: skip
        self._contact_count[k] = count
        self._contacts = first + count

    def close(self, done: int, qpos: Array, qvel: Array) -> None:
        """Ends the log after `done` steps: row `done` holds the last state, and no inputs.

        A step that was interrupted or diverged has already written the state before it; that one stays the last.
        """
        if self._last_state < done:
            self.write_state(done, qpos, qvel)
        self.torque[done:], self.external[done:] = 0.0, 0.0

    def contacts(self, done: int) -> Contacts:
        """The contacts of the first `done` steps."""
        rows = done + 1
        count = np.where(np.arange(rows) < done, self._contact_count[:rows], 0)
        start = np.concatenate([[0], np.cumsum(count)]).astype(np.int64)
        used = slice(int(start[-1]))
        return Contacts(start, self._bodies[used].copy(), self._point[used].copy(), self._force[used].copy())

    def _grow(self, rows: int) -> None:
        """Makes room for `rows` contacts, or for twice as many as before."""
        rows = max(rows, 2 * len(self._point))
        self._bodies, self._point, self._force = (
            np.concatenate([old, np.empty((rows - len(old), old.shape[1]), old.dtype)])
            for old in (self._bodies, self._point, self._force)
        )
