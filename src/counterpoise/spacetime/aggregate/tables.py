"""The body as the kernels of this room see it: one link per joint, numbers only.

A link's frame sits at its joint's anchor. Hinges and slides turn about or move along the frame's z axis; a ball's frame
has the axes of its body; a free joint is two links, one that moves along the world's axes and a ball on it. Bodies
without joints are part of the link that carries them, so welded bodies cost nothing. Parents come before children.
"""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakKeyDictionary

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character import Character

FREE, BALL, SLIDE, HINGE = (
    0,
    1,
    2,
    3,
)  # MuJoCo's joint types; a link of the first kind only moves, along the world's axes
UP, KIND, AT_Q, AT_V, WHOLE, ABOVE = range(6)  # columns of `links`
TURN, PLACE, REST, MASS, CENTRE, INERTIA, BELOW = 0, 9, 12, 13, 14, 17, 23  # first columns of `numbers`


class Tables(NamedTuple):
    """What the kernels read; see `tables_of`. All arrays are read-only."""

    links: (
        Ints  # (links, 6): parent link (-1: world), kind, first of q, first of v, the link that holds the body's sums,
    )
    #              and the one its subtree's sums are added to (-1: world)
    numbers: Array  # (links, 24): fixed rotation in the parent link (9) and offset (3) [m], rest value of q, mass [kg],
    #                 centre (3) [m], inertia about it (xx xy xz yy yz zz) [kg m^2], mass of the subtree [kg]
    dof_link: Ints  # (nv,): the link a degree of freedom moves
    fixed: Array  # (4,): mass and first moment of bodies that cannot move [kg, kg m]
    gravity: Array  # (3,) [m/s^2]
    body_link: Ints  # (nbody,): the link that carries a body (-1: world)
    body_frame: Array  # (nbody, 12): rotation (9) and offset (3) [m] of the body in its link
    armature: Array  # (nv,) [kg m^2] or [kg]


def tables_of(character: Character) -> Tables:
    """The tables of a character; made once and kept as long as the character is."""
    made = _MADE.get(character)
    if made is None:
        made = _MADE[character] = build_tables(character.model)
    return made


def build_tables(m: mujoco.MjModel) -> Tables:
    """Read links, inertias and body frames out of a compiled model."""
    links: list[tuple[int, int, int, int]] = []  # parent, kind, first of q, first of v
    fixed: list[tuple[Array, Array, float]] = []  # rotation and offset in the parent link, rest value
    above: list[int] = []
    last: list[int] = []  # per link: the last link of the parent body, and of its own
    dof_link = np.zeros(m.nv, np.int64)
    body_link = np.full(m.nbody, -1, np.int64)
    turn, place = np.tile(np.eye(3), (m.nbody, 1, 1)), np.zeros((m.nbody, 3))  # body in its link
    for b in range(1, m.nbody):
        parent = int(m.body_parentid[b])
        link = carrier = int(body_link[parent])
        R = turn[parent] @ spatial.to_matrix(m.body_quat[b])
        p = place[parent] + turn[parent] @ m.body_pos[b]
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            kind, at, dof = int(m.jnt_type[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            anchor = np.array(m.jnt_pos[j])
            if kind == FREE:  # its parent is the world, and its place is all in q
                links.append((-1, FREE, at, dof))
                fixed.append((np.eye(3), np.zeros(3), 0.0))
                dof_link[dof : dof + 3] = len(links) - 1
                link, R, p, anchor = len(links) - 1, np.eye(3), np.zeros(3), np.zeros(3)
                kind, at, dof = BALL, at + 3, dof + 3
            A = np.eye(3) if kind == BALL else spatial.to_matrix(_z_to(m.jnt_axis[j]))
            links.append((link, kind, at, dof))
            fixed.append((R @ A, p + R @ anchor, 0.0 if kind == BALL else float(m.qpos0[at])))
            dof_link[dof : dof + (3 if kind == BALL else 1)] = len(links) - 1
            link, R, p = len(links) - 1, A.T, -A.T @ anchor
        above += [carrier] * (len(links) - len(above))
        last += [link] * (len(links) - len(last))
        body_link[b], turn[b], place[b] = link, R, p
    n = len(links)
    masses, moments, inertias = np.zeros(n + 1), np.zeros((n + 1, 3)), np.zeros((n + 1, 3, 3))  # last: the world
    for b in range(1, m.nbody):
        link = body_link[b]
        centre = place[b] + turn[b] @ m.body_ipos[b]
        axes = turn[b] @ spatial.to_matrix(m.body_iquat[b])
        masses[link] += m.body_mass[b]
        moments[link] += m.body_mass[b] * centre
        inertias[link] += (axes * m.body_inertia[b]) @ axes.T + _spread(m.body_mass[b], centre)
    numbers = np.zeros((n, 24))
    for i, (rotation, offset, rest) in enumerate(fixed):
        centre = moments[i] / masses[i] if masses[i] > 0.0 else np.zeros(3)
        J = inertias[i] - _spread(masses[i], centre)
        numbers[i, TURN:PLACE], numbers[i, PLACE:REST], numbers[i, REST] = rotation.ravel(), offset, rest
        numbers[i, MASS], numbers[i, CENTRE:INERTIA] = masses[i], centre
        numbers[i, INERTIA:BELOW] = J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]
    below = masses[:n].copy()
    for i in range(n - 1, -1, -1):
        if last[i] == i and above[i] >= 0:
            below[above[i]] += below[i]
    numbers[:, BELOW] = below[last]
    made = Tables(
        np.array([(*link, last[i], above[i]) for i, link in enumerate(links)], np.int64).reshape(n, 6),
        numbers,
        dof_link,
        np.array([masses[n], *moments[n]]),
        np.array(m.opt.gravity),
        body_link,
        np.concatenate([turn.reshape(-1, 9), place], axis=1),
        np.array(m.dof_armature),
    )
    for table in made:
        table.flags.writeable = False
    return made


_MADE: WeakKeyDictionary[Character, Tables] = WeakKeyDictionary()


def _spread(mass: float, centre: Array) -> Array:
    """The inertia about the frame's origin of a mass point at `centre`."""
    return mass * (np.dot(centre, centre) * np.eye(3) - np.outer(centre, centre))


def _z_to(axis: Array) -> Array:
    if axis[2] == 1.0:
        return spatial.IDENTITY
    return spatial.from_two_vectors((0.0, 0.0, 1.0), axis)
