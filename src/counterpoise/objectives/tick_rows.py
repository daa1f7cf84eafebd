"""The rows of a whole tick by one kernel, for levels as controllers of every tick have them.

Objectives have records (contact, CoM, momentum, places and orientations of bodies, relaxed joints); others may be in
the last level, and their `rows` are written after all records. The last level holds one posture, and at most one
JointStops and one Clearance; no other objective is one-sided. For other levels `sort_tick` returns None, and they are
written objective by objective: a test checks that both ways give the same solution.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, overload

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.snapshot_layout import snapshot_parts
from counterpoise.character.tables import tables_of
from counterpoise.kernels import kernel
from counterpoise.objectives.base import Objective, most_rows
from counterpoise.objectives.clearance import Clearance, clearance_rows, corners_off_feet
from counterpoise.objectives.footing import Stance
from counterpoise.objectives.posture import TrackPose
from counterpoise.objectives.stops import JointStops, stop_rows
from counterpoise.objectives.writing import HELD_POINTS, RELAXED, add_posture, write_records

Levels = tuple[tuple[Objective, ...], ...]
END, STOPS, CLEARED = 0, 1, 2  # places in `marks`
OF_MANY_ROWS = (HELD_POINTS, RELAXED)  # kinds of records; others have three rows at most


@dataclass(slots=True)
class SortedTick:
    """The objectives of a tick by how they are written."""

    names: tuple[str, ...]  # of the records, then of the others, the posture, the stops and the clearance
    numbers: Array  # of the records, one after the other
    count: int  # of the records
    most: int  # rows that they can have
    starts: Ints  # records before the end of each strict level
    others: Sequence[Objective]  # without a record
    posture_weight: float
    followed: tuple[Any, ...]  # the posture's reference (q, v, a), and k_p, k_v and weight of every row
    stops: JointStops | None
    clear: Clearance | None


class SortedLevels(Sequence[tuple[Objective, ...]]):
    """Levels that a controller has sorted itself, because only their references change from tick to tick.

    The compiled calls read `tick`. The objectives are made when somebody asks for them: the general solver, a test, a
    person who looks at the problem. Both say the same.
    """

    def __init__(self, tick: SortedTick, make: Callable[[], Levels]) -> None:
        self.tick, self._make = tick, make

    @cached_property
    def objectives(self) -> Levels:
        """The levels, as tuples of objectives."""
        return self._make()

    def __len__(self) -> int:
        return len(self.objectives)

    @overload
    def __getitem__(self, index: int) -> tuple[Objective, ...]: ...
    @overload
    def __getitem__(self, index: slice) -> Levels: ...
    def __getitem__(self, index: int | slice) -> tuple[Objective, ...] | Levels:
        return self.objectives[index]


@kept_with_character
def tick_tables(character: Character) -> tuple[Any, ...]:
    """Returns what `write_tick_rows` needs to know about a character, in the order of its arguments."""
    limits, corners = character.limits, corners_off_feet(character)
    return (
        character.layout, character.root_dofs.stop, limits.range_qpos, limits.range_dof, limits.range_low,
        limits.range_high, limits.ball_q, limits.ball_v, limits.ball_axis, limits.ball_rest, limits.ball_normals,
        limits.ball_offsets, limits.ball_faces, limits.ball_twist, corners.body, corners.place, corners.axes,
        corners.radius, tables_of(character).ancestors,
    )  # fmt: skip


def sort_tick(levels: Levels | SortedLevels, snapshot: Snapshot, stance: Stance | None) -> SortedTick | None:
    """Returns the objectives of a tick by how they are written; None where they are not of this kind."""
    if type(levels) is SortedLevels:
        return levels.tick
    names: list[str] = []
    numbers: list[float] = []
    starts, others, most, last = [0], list[Objective](), 0, len(levels) - 1
    posture: TrackPose | None = None
    stops: JointStops | None = None
    clear: Clearance | None = None
    for number, level in enumerate(levels):
        for objective in level:
            weight = objective.weight
            if weight == 0.0:
                continue
            record = objective.record(snapshot, stance, 1.0 if weight == 1.0 else math.sqrt(weight))
            if record is not None:
                numbers += record
                most += 3 if record[0] not in OF_MANY_ROWS else most_rows(record, snapshot)
                names.append(objective.name)
                continue
            kind = type(objective)
            if number < last or objective.on != "acceleration":
                return None
            if kind is TrackPose and posture is None:
                posture = objective  # type: ignore[assignment]
            elif kind is JointStops and stops is None and clear is None:
                stops = objective  # type: ignore[assignment]
            elif kind is Clearance and clear is None:
                clear = objective  # type: ignore[assignment]
            elif objective.at_most or objective.posture:
                return None
            else:
                others.append(objective)
        if number < last:
            starts.append(len(names))
    if posture is None:
        return None
    character, count = snapshot.character, len(names)
    posture.check(character)
    names += [one.name for one in (*others, posture, stops, clear) if one is not None]
    return SortedTick(
        tuple(names), np.array(numbers), count, most, np.array(starts, np.int64), others, posture.weight,
        (*posture.sample(character, snapshot.time), *posture.gains(character)), stops, clear,
    )  # fmt: skip


def stop_numbers(stops: JointStops | None) -> tuple[float, float, float, float]:
    """Returns deceleration, settling time, margin and top speed."""
    if stops is None:
        return 1.0, 1.0, 0.0, 1.0
    top = math.inf if stops.top_speed is None else stops.top_speed
    return stops.deceleration, stops.settle, stops.margin, top


def clear_numbers(clear: Clearance | None) -> tuple[float, float, float, bool, float, float, float]:
    """Returns deceleration, settling time, margin, whether there is a reference, and how far it is moved."""
    if clear is None:
        return 1.0, 1.0, 0.0, False, 0.0, 0.0, 0.0
    x, y, z = (clear.moved if type(clear.moved) is np.ndarray else np.asarray(clear.moved, float)).tolist()
    return clear.deceleration, clear.settle, clear.margin, clear.reference is not None, x, y, z


@kernel
def write_tick_rows(
    records: Array, count: int, A: Array, b: Array, C: Array, d: Array, spans: Ints, betas: Array, starts: Ints,
    marks: Ints, flat: Array, held: Flags, goal: Array, goal_v: Array, goal_a: Array, q: Array, v: Array, q_ref: Array,
    v_ref: Array, a_ref: Array, k_p: Array, k_v: Array, own: Array, alpha: float, least: float, posture: Array,
    with_stops: bool, stop: tuple[float, float, float, float], with_clear: bool,
    clear: tuple[float, float, float, bool, float, float, float], ref_flat: Array, ground: Array, layout: Ints,
    root: int, range_q: Ints, range_v: Ints, low: Array, high: Array, ball_q: Ints, ball_v: Ints, axis: Array,
    rest: Array, normals: Array, offsets: Array, face_start: Ints, twist: Array, body: Ints, centre: Array, axes: Array,
    radius: Array, ancestors: Array,
) -> None:  # fmt: skip
    """Writes records into (A, b), stops and then clearance into (C, d), and the posture.

    Rows of `posture`: the weights with the least weight, the targets that these ask for, the posture's own targets.
    `starts` holds the number of records before each level, and is filled with the number of rows. Fills the END of the
    rows, -1 where one of the blocks is too small, and the number of STOPS and of CLEARED rows in `marks`.
    """
    nbody, nv = ancestors.shape
    end = write_records(records, count, A, b, 0, spans[1:], betas, flat, ancestors, held, goal, goal_v, goal_a)
    spans[0] = 0
    for i in range(len(starts)):
        starts[i] = spans[starts[i]]
    weight, target = posture[0], posture[1]
    for j in range(nv):
        weight[j], target[j] = least, 0.0
    add_posture(weight, target, alpha, layout, q, q_ref, v, v_ref, a_ref, k_p, k_v, own, posture[2])
    for j in range(nv):
        target[j] /= weight[j]
    stops = cleared = 0
    if with_stops:
        stop_A, stop_b = stop_rows(
            q, v, root, range_q, range_v, low, high, ball_q, ball_v, axis, rest, normals, offsets, face_start, twist,
            stop[0], stop[1], stop[2], stop[3],
        )  # fmt: skip
        stops = len(stop_b)
        if stops <= len(d):
            C[:stops], d[:stops] = stop_A, stop_b
    if with_clear:
        s = snapshot_parts(flat, nv, nbody, len(held))
        r = snapshot_parts(ref_flat, nv, nbody, len(held))
        moved = np.array([clear[4], clear[5], clear[6]])
        clear_A, clear_b = clearance_rows(
            body, centre, axes, radius, ground, s.body_position, s.body_rotation.reshape(nbody, 3, 3), s.body_velocity,
            s.body_drift, s.com, s.motion_vectors, ancestors, r.body_position, r.body_rotation.reshape(nbody, 3, 3),
            moved, clear[3], clear[0], clear[1], clear[2],
        )  # fmt: skip
        cleared = len(clear_b)
        if stops + cleared <= len(d):
            C[stops : stops + cleared], d[stops : stops + cleared] = clear_A, clear_b
    marks[END], marks[STOPS], marks[CLEARED] = end if stops + cleared <= len(d) else -1, stops, cleared
