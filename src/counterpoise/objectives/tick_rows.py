"""The rows of a whole tick by one kernel, for levels as controllers of every tick have them.

Objectives have records (contact, CoM, momentum, places and orientations of bodies, relaxed joints); others may be in
the last level, and their `rows` are written after all records. The last level holds one posture, and at most one
JointStops and one Clearance; no other objective is one-sided. For other levels `write_tick` returns None, and they are
written objective by objective: a test checks that both ways give the same solution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.character.snapshot_layout import snapshot_parts
from counterpoise.character.tables import tables_of
from counterpoise.kernels import kernel
from counterpoise.objectives.base import DiagonalRows, Objective, Rows, most_rows
from counterpoise.objectives.clearance import LEVEL_GROUND, Clearance, clearance_rows, corners_off_feet
from counterpoise.objectives.footing import Stance, surface_rows
from counterpoise.objectives.posture import TrackPose
from counterpoise.objectives.stops import JointStops, stop_rows
from counterpoise.objectives.writing import HELD_POINTS, RELAXED, BlockFull, add_posture, write_records
from counterpoise.quick import quick

Levels = tuple[tuple[Objective, ...], ...]
OF_MANY_ROWS = (HELD_POINTS, RELAXED)  # kinds of records; others have three rows at most


@dataclass(slots=True)
class TickRows:
    """Where the objectives of a tick are in a block of rows, and what has no rows in it."""

    names: list[str]  # of the objectives in the block
    betas: Array  # roots of their weights; there is room for two more
    spans: Ints  # first row of each, and the end; there is room for two more
    starts: list[int]  # first row of each strict level, and of the last level
    end: int  # the row after all
    weight: Array  # (nv,) of the posture, and the least weight
    target: Array  # (nv,) the accelerations that the weighted postures ask for
    posture: tuple[str, DiagonalRows]
    one_sided: list[tuple[Objective, Rows]]  # of the last level


@dataclass(slots=True)
class _Sorted:
    """The objectives of a tick by how they are written."""

    names: list[str]
    numbers: list[float]  # of the records, one after the other
    count: int  # of the records
    most: int  # rows that they can have
    starts: list[int]  # records before the end of each strict level
    others: list[Objective]  # without a record
    posture: TrackPose
    stops: JointStops | None
    clear: Clearance | None


def write_tick(
    levels: Levels, snapshot: Snapshot, stance: Stance | None, A: Array, b: Array, least_weight: float
) -> TickRows | None:
    """Writes the rows of a tick into the block (A, b); None where the levels are not of this kind.

    `least_weight` is that of every acceleration in the last level.
    """
    found = _sort(levels, snapshot, stance)
    if found is None:
        return None
    if found.most > len(b):
        raise BlockFull
    character, posture, stops, clear = snapshot.character, found.posture, found.stops, found.clear
    nv = character.nv
    total = found.count + len(found.others)
    betas, spans = np.empty(total + 2), np.zeros(total + 3, np.int64)  # and of two one-sided objectives
    weight, target, own_target = np.empty(nv), np.empty(nv), np.empty(nv)
    if stance is None:
        points = len(character.contact_points)
        held, goal = np.zeros(points, np.bool_), np.empty((points, 3))
        goal_v, goal_a, ground = goal, goal, LEVEL_GROUND
    else:
        held, goal, goal_v, goal_a = stance.memory.held, stance.goal, stance.goal_velocity, stance.goal_acceleration
        ground = surface_rows(stance.footing, character, snapshot.time)
    k_p, k_v, own = posture.gains(character)
    posture.check(character)
    q, v, a = posture.sample(character, snapshot.time)
    ref = snapshot if clear is None or clear.reference is None else clear.reference
    state = snapshot.state
    stop_A, stop_b, clear_A, clear_b, end = _write_all(
        np.array(found.numbers), found.count, A, b, spans[1:], betas, snapshot.flat, held, goal, goal_v, goal_a,
        state.q, state.v, q, v, a, k_p, k_v, own, posture.weight, least_weight, weight, target, own_target,
        stops is not None, _stop_numbers(stops), clear is not None and clear.obstacles is None, _clear_numbers(clear),
        ref.flat, ground,
        *_tables(character),
    )  # fmt: skip
    names = found.names
    for objective in found.others:
        beta = math.sqrt(objective.weight)
        end += objective.write(snapshot, stance, A, b, end, beta)
        betas[len(names)] = beta
        names.append(objective.name)
        spans[len(names)] = end
    one_sided: list[tuple[Objective, Rows]] = []
    if stops is not None:
        one_sided.append((stops, quick(Rows, A=stop_A, b=stop_b, on="acceleration", at_most=True)))
    if clear is not None and clear.obstacles is not None:
        one_sided.append((clear, clear.rows(snapshot, stance)))
    elif clear is not None:
        one_sided.append((clear, quick(Rows, A=clear_A, b=clear_b, on="acceleration", at_most=True)))
    rows = quick(DiagonalRows, target=own_target, weight=own, on="acceleration", at_most=False)
    starts = [int(spans[i]) for i in found.starts]
    return TickRows(names, betas, spans, starts, end, weight, target, (posture.name, rows), one_sided)


@kept_with_character
def _tables(character: Character) -> tuple[Any, ...]:
    """Returns what `_write_all` needs to know about a character."""
    limits, corners = character.limits, corners_off_feet(character)
    return (
        character.layout, character.root_dofs.stop, limits.range_qpos, limits.range_dof, limits.range_low,
        limits.range_high, limits.ball_q, limits.ball_v, limits.ball_axis, limits.ball_rest, limits.ball_normals,
        limits.ball_offsets, limits.ball_faces, limits.ball_twist, corners.body, corners.place, corners.axes,
        corners.radius, tables_of(character).ancestors,
    )  # fmt: skip


def _sort(levels: Levels, snapshot: Snapshot, stance: Stance | None) -> _Sorted | None:
    """Returns the objectives of a tick by how they are written; None where they are not of this kind."""
    names: list[str] = []
    numbers: list[float] = []
    starts, others, count, most, last = [0], list[Objective](), 0, 0, len(levels) - 1
    posture: TrackPose | None = None
    stops: JointStops | None = None
    clear: Clearance | None = None
    for number, level in enumerate(levels):
        for objective in level:
            weight = objective.weight
            if weight == 0.0:
                continue
            kind = type(objective)
            if kind is TrackPose and number == last and posture is None:
                posture = objective  # type: ignore[assignment]
            elif kind is JointStops and number == last and stops is None and clear is None:
                stops = objective  # type: ignore[assignment]
            elif kind is Clearance and number == last and clear is None:
                clear = objective  # type: ignore[assignment]
            elif objective.at_most or objective.posture:
                return None
            else:
                record = objective.record(snapshot, stance, 1.0 if weight == 1.0 else math.sqrt(weight))
                if record is None and number == last:
                    others.append(objective)
                elif record is None:
                    return None
                else:
                    numbers += record
                    count += 1
                    most += 3 if record[0] not in OF_MANY_ROWS else most_rows(record, snapshot)
                    names.append(objective.name)
        if number < last:
            starts.append(count)
    if posture is None:
        return None
    return _Sorted(names, numbers, count, most, starts, others, posture, stops, clear)


def _stop_numbers(stops: JointStops | None) -> tuple[float, float, float, float]:
    """Returns deceleration, settling time, margin and top speed."""
    if stops is None:
        return 1.0, 1.0, 0.0, 1.0
    top = math.inf if stops.top_speed is None else stops.top_speed
    return stops.deceleration, stops.settle, stops.margin, top


def _clear_numbers(clear: Clearance | None) -> tuple[float, float, float, bool, float, float, float]:
    """Returns deceleration, settling time, margin, whether there is a reference, and how far it is moved."""
    if clear is None:
        return 1.0, 1.0, 0.0, False, 0.0, 0.0, 0.0
    x, y, z = np.asarray(clear.moved, float).tolist()
    return clear.deceleration, clear.settle, clear.margin, clear.reference is not None, x, y, z


@kernel
def _write_all(
    records: Array, count: int, A: Array, b: Array, ends: Ints, betas: Array, flat: Array, held: Flags, goal: Array,
    goal_v: Array, goal_a: Array, q: Array, v: Array, q_ref: Array, v_ref: Array, a_ref: Array, k_p: Array, k_v: Array,
    own: Array, alpha: float, least: float, weight: Array, target: Array, own_target: Array, with_stops: bool,
    stop: tuple[float, float, float, float], with_clear: bool,
    clear: tuple[float, float, float, bool, float, float, float], ref_flat: Array, ground: Array,
    layout: Ints, root: int, range_q: Ints, range_v: Ints, low: Array, high: Array, ball_q: Ints, ball_v: Ints,
    axis: Array, rest: Array, normals: Array, offsets: Array, face_start: Ints, twist: Array, body: Ints, centre: Array,
    axes: Array, radius: Array, ancestors: Array,
) -> tuple[Array, Array, Array, Array, int]:  # fmt: skip
    """Writes records and posture. Returns A and b of the stops, those of the clearance, and the row after all."""
    nbody, nv = ancestors.shape
    end = write_records(records, count, A, b, 0, ends, betas, flat, ancestors, held, goal, goal_v, goal_a)
    for j in range(nv):
        weight[j], target[j] = least, 0.0
    add_posture(weight, target, alpha, layout, q, q_ref, v, v_ref, a_ref, k_p, k_v, own, own_target)
    for j in range(nv):
        target[j] /= weight[j]
    stop_A, stop_b = np.empty((0, nv)), np.empty(0)
    if with_stops:
        stop_A, stop_b = stop_rows(
            q, v, root, range_q, range_v, low, high, ball_q, ball_v, axis, rest, normals, offsets, face_start, twist,
            stop[0], stop[1], stop[2], stop[3],
        )  # fmt: skip
    clear_A, clear_b = np.empty((0, nv)), np.empty(0)
    if with_clear:
        s = snapshot_parts(flat, nv, nbody, len(held))
        r = snapshot_parts(ref_flat, nv, nbody, len(held))
        moved = np.array([clear[4], clear[5], clear[6]])
        clear_A, clear_b = clearance_rows(
            body, centre, axes, radius, ground, s.body_position, s.body_rotation.reshape(nbody, 3, 3), s.body_velocity,
            s.body_drift, s.com, s.motion_vectors, ancestors, r.body_position, r.body_rotation.reshape(nbody, 3, 3),
            moved, clear[3], clear[0], clear[1], clear[2],
        )  # fmt: skip
    return stop_A, stop_b, clear_A, clear_b, end
