"""The body as the kernels of this room see it: one link for each joint, numbers only.

The frame of a link sits at the anchor of its joint. Hinges turn about the frame's z axis, slides move along it. The
frame of a ball has the axes of its body. A free joint is two links: one that moves along the world's axes, and a ball
on it. Bodies without joints belong to the link that carries them, so welded bodies cost no time. Parents come before
children.
"""

from __future__ import annotations

from typing import NamedTuple

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character import Character
from counterpoise.character.kept import kept_with_character

FREE, BALL, SLIDE, HINGE = 0, 1, 2, 3  # kinds of links, as MuJoCo numbers joints; a free one only moves in translation
PARENT, KIND, FIRST_Q, FIRST_V, SUMS_LINK, SUMS_PARENT = range(6)  # columns of `links`
OFFSET, REST, MASS, CENTRE, LINK_INERTIA, SUBTREE_MASS = 9, 12, 13, 14, 17, 23  # first columns of `numbers`
NUMBERS = 24


class LinkTables(NamedTuple):
    """What the kernels read; see `link_tables`. All arrays are read-only."""

    # (links, 6): parent link (-1: world), kind, first of q, first of v, the link that holds the sums of the body, and
    # the one to which the sums of its subtree are added (-1: world)
    links: Ints
    # (links, 24): rotation (9) and offset (3) [m] in the parent link, value of q at rest, mass [kg], centre of mass (3)
    # [m], inertia about it (xx xy xz yy yz zz) [kg m^2], mass of the subtree [kg]
    numbers: Array
    dof_link: Ints  # (nv,): the link that a degree of freedom moves
    fixed: Array  # (4,): mass and first moment of bodies that cannot move [kg, kg m]
    gravity: Array  # (3,) [m/s^2]
    body_link: Ints  # (nbody,): the link that carries a body (-1: world)
    body_frame: Array  # (nbody, 12): rotation (9) and offset (3) [m] of the body in its link
    armature: Array  # (nv,) [kg m^2] or [kg]


class _LinkTree(NamedTuple):
    """The links of a model, without masses."""

    links: list[tuple[int, int, int, int]]  # parent link, kind, first of q, first of v
    fixed: list[tuple[Array, Array, float]]  # rotation and offset in the parent link, value at rest
    carrier: list[int]  # for each link the last link of the parent body
    last: list[int]  # for each link the last link of its own body
    dof_link: Ints  # (nv,)
    body_link: Ints  # (nbody,)
    rotation: Array  # (nbody, 3, 3) of the body in its link
    offset: Array  # (nbody, 3) [m]


@kept_with_character
def link_tables(character: Character) -> LinkTables:
    """Returns the tables of a character."""
    return build_link_tables(character.model)


def build_link_tables(m: mujoco.MjModel) -> LinkTables:
    """Reads links, inertias and body frames from a compiled model."""
    tree = _read_tree(m)
    n = len(tree.links)
    masses, moments, inertias = _link_masses(m, tree)
    numbers = np.zeros((n, NUMBERS))
    for i, (rotation, offset, rest) in enumerate(tree.fixed):
        centre = moments[i] / masses[i] if masses[i] > 0.0 else np.zeros(3)
        J = inertias[i] - _point_inertia(masses[i], centre)
        numbers[i, :OFFSET], numbers[i, OFFSET:REST], numbers[i, REST] = rotation.ravel(), offset, rest
        numbers[i, MASS], numbers[i, CENTRE:LINK_INERTIA] = masses[i], centre
        numbers[i, LINK_INERTIA:SUBTREE_MASS] = J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]
    below = masses[:n].copy()
    for i in range(n - 1, -1, -1):
        if tree.last[i] == i and tree.carrier[i] >= 0:
            below[tree.carrier[i]] += below[i]
    numbers[:, SUBTREE_MASS] = below[tree.last]
    rows = [(*link, tree.last[i], tree.carrier[i]) for i, link in enumerate(tree.links)]
    made = LinkTables(
        np.array(rows, np.int64).reshape(n, 6),
        numbers,
        tree.dof_link,
        np.array([masses[n], *moments[n]]),
        np.array(m.opt.gravity),
        tree.body_link,
        np.concatenate([tree.rotation.reshape(-1, 9), tree.offset], axis=1),
        np.array(m.dof_armature),
    )
    for table in made:
        table.flags.writeable = False
    return made


def _read_tree(m: mujoco.MjModel) -> _LinkTree:
    """Returns one link for each joint (two for a free joint), and where each body is in its link."""
    tree = _LinkTree(
        [], [], [], [], np.zeros(m.nv, np.int64), np.full(m.nbody, -1, np.int64),
        np.tile(np.eye(3), (m.nbody, 1, 1)), np.zeros((m.nbody, 3)),
    )  # fmt: skip
    links = tree.links
    for b in range(1, m.nbody):
        parent = int(m.body_parentid[b])
        link = carrier = int(tree.body_link[parent])
        R = tree.rotation[parent] @ spatial.to_matrix(m.body_quat[b])
        p = tree.offset[parent] + tree.rotation[parent] @ m.body_pos[b]
        for j in range(m.body_jntadr[b], m.body_jntadr[b] + m.body_jntnum[b]):
            kind, at, dof = int(m.jnt_type[j]), int(m.jnt_qposadr[j]), int(m.jnt_dofadr[j])
            anchor = np.array(m.jnt_pos[j])
            if kind == FREE:  # its parent is the world, and q holds its whole placement
                links.append((-1, FREE, at, dof))
                tree.fixed.append((np.eye(3), np.zeros(3), 0.0))
                tree.dof_link[dof : dof + 3] = len(links) - 1
                link, R, p, anchor = len(links) - 1, np.eye(3), np.zeros(3), np.zeros(3)
                kind, at, dof = BALL, at + 3, dof + 3
            A = np.eye(3) if kind == BALL else spatial.to_matrix(_z_to(m.jnt_axis[j]))
            links.append((link, kind, at, dof))
            tree.fixed.append((R @ A, p + R @ anchor, 0.0 if kind == BALL else float(m.qpos0[at])))
            tree.dof_link[dof : dof + (3 if kind == BALL else 1)] = len(links) - 1
            link, R, p = len(links) - 1, A.T, -A.T @ anchor
        tree.carrier.extend([carrier] * (len(links) - len(tree.carrier)))
        tree.last.extend([link] * (len(links) - len(tree.last)))
        tree.body_link[b], tree.rotation[b], tree.offset[b] = link, R, p
    return tree


def _link_masses(m: mujoco.MjModel, tree: _LinkTree) -> tuple[Array, Array, Array]:
    """Returns mass, first moment and inertia about its origin of each link; the last rows are the world's."""
    n = len(tree.links)
    masses, moments, inertias = np.zeros(n + 1), np.zeros((n + 1, 3)), np.zeros((n + 1, 3, 3))
    for b in range(1, m.nbody):
        link = tree.body_link[b]
        centre = tree.offset[b] + tree.rotation[b] @ m.body_ipos[b]
        axes = tree.rotation[b] @ spatial.to_matrix(m.body_iquat[b])
        masses[link] += m.body_mass[b]
        moments[link] += m.body_mass[b] * centre
        inertias[link] += (axes * m.body_inertia[b]) @ axes.T + _point_inertia(m.body_mass[b], centre)
    return masses, moments, inertias


def _point_inertia(mass: float, centre: Array) -> Array:
    """Returns the inertia of a point mass at `centre` about the origin of the frame."""
    return mass * (np.dot(centre, centre) * np.eye(3) - np.outer(centre, centre))


def _z_to(axis: Array) -> Array:
    """Returns a rotation that takes z to the axis."""
    if axis[2] == 1.0:
        return spatial.IDENTITY
    return spatial.from_two_vectors((0.0, 0.0, 1.0), axis)
