"""Any motion as a plan: its contacts are found, and its CoM and angular momentum made possible with them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.character.character import Character
from counterpoise.character.snapshot import take_snapshot
from counterpoise.character.state import State
from counterpoise.control.perform.fitted_poses import fit_poses
from counterpoise.control.perform.planned_motion import ROW_STEP, PlannedMotion, fill_plan
from counterpoise.control.perform.point_contacts import ContactPhases, find_point_contacts
from counterpoise.control.perform.possible_path import PathTuning, PossiblePath, find_possible_path
from counterpoise.errors import BadValue
from counterpoise.motion.motion import Motion
from counterpoise.objectives.surface import LEVEL
from counterpoise.spacetime.check.frames import CheckedFrames, frames_of_motion

SMOOTH = 0.02  # [s] width of the smoothing of poses; see `frames_of_motion`
FALL_SMOOTH = 0.03  # [s] the same for the acceleration that tells a flight
ROUNDS = 2  # the path is found for the motion, and again for the poses that were fitted to it
INSIDE = 1e-7  # [s] rows at the ends of a phase are read this far inside of it


def plan_of_motion(motion: Motion, tuning: PathTuning | None = None) -> PlannedMotion:
    """Returns a motion of a body with feet on level ground as a plan that its contacts can give.

    The feet's contacts are found: points that are low and slow. The path of CoM and angular momentum is the nearest
    one that these contacts can give, and the poses are fitted to it.
    """
    body = motion.character
    body.need_feet("a motion that is performed")
    if motion.loop:
        raise BadValue("a motion that repeats has no end: perform a part of it, motion.slice(start, end)")
    if len(motion) < 2:
        raise BadValue("a single pose is no motion to perform: use Stand(reference=pose)")
    t = tuning or PathTuning()
    motion = motion.shifted(-motion.start)
    frames = frames_of_motion(motion, SMOOTH)
    points = _points(body, frames.raw)
    phases = find_point_contacts(frames, points, _fall(frames_of_motion(motion, FALL_SMOOTH)))
    places = _places(frames.times, points, phases)
    for _ in range(ROUNDS):
        path = _path(body, frames, phases, places, t)
        poses = fit_poses(body, frames.q, path.at(frames.times)[0][:, 0], points)
        frames = frames_of_motion(replace(motion, times=frames.times, poses=poses), SMOOTH)
    return _plan(body, frames, phases, places, path)


def _points(body: Character, poses: Array) -> Array:
    """Returns the places of the contact points in every frame, (n, p, 3)."""
    still = np.zeros(body.nv)
    return np.array([take_snapshot(body, State(q, still)).contact_position for q in poses])


def _fall(frames: CheckedFrames) -> Array:
    """Returns the vertical acceleration of the CoM in every frame, (n,)."""
    body, out = frames.character, np.empty(len(frames))
    for i in range(len(frames)):
        s = take_snapshot(body, State(frames.q[i], frames.v[i]))
        out[i] = (s.momentum_matrix[5] @ frames.a[i] + s.momentum_drift[5]) / body.mass
    return out


def _places(times: Array, points: Array, phases: ContactPhases) -> Array:
    """Returns where every contact point usually is in each phase, (phases, p, 3)."""
    out = np.empty((len(phases.pushing), *points.shape[1:]))
    for k, (start, end) in enumerate(pairwise(phases.ends)):
        during = (times >= start - INSIDE) & (times <= end + INSIDE)
        if not during.any():
            during[np.argmin(np.abs(times - 0.5 * (start + end)))] = True
        out[k] = np.median(points[during], axis=0)
    return out


def _path(body: Character, frames: CheckedFrames, phases: ContactPhases, places: Array, t: PathTuning) -> PossiblePath:
    """Returns the possible path nearest to the frames' own."""
    own = np.empty((len(frames), 9))
    for i in range(len(frames)):
        s = take_snapshot(body, State(frames.q[i], frames.v[i]))
        own[i] = np.concatenate([s.com, s.momentum[3:] / body.mass, s.momentum[:3]])
    times, phase = [phases.ends[:1]], []
    for k, (start, end) in enumerate(pairwise(phases.ends)):
        count = max(1, int(np.ceil((end - start) / t.step)))
        times.append(np.linspace(start, end, count + 1)[1:])
        phase += [k] * count
    at = np.concatenate(times)
    wanted = np.stack([np.interp(at, frames.times, column) for column in own.T], axis=1)
    bearing: list[Ints] = [np.flatnonzero(phases.pushing[k]).astype(np.int64) for k in phase]
    return find_possible_path(body, at, bearing, places[phase], wanted, t)


def _plan(
    body: Character, frames: CheckedFrames, phases: ContactPhases, places: Array, path: PossiblePath
) -> PlannedMotion:
    """Returns the plan: poses of the frames, CoM and angular momentum of the path, bearing points where they are."""
    samples, rows = [], []
    for start, end in pairwise(phases.ends):
        t = np.linspace(start, end, max(2, int(np.ceil((end - start) / ROW_STEP)) + 1))
        k = np.clip(np.searchsorted(frames.times, t, side="right") - 1, 0, len(frames) - 2)
        u = ((t - frames.times[k]) / (frames.times[k + 1] - frames.times[k]))[:, None]
        q = body.integrate(frames.q[k], u * body.difference(frames.q[k], frames.q[k + 1]))
        v, a = ((1.0 - u) * x[k] + u * x[k + 1] for x in (frames.v, frames.a))
        samples.append((q, v, a))
        rows.append(np.clip(t, start + INSIDE, end - INSIDE))
    surfaces = ((LEVEL,) * len(body.feet),) * len(phases.pushing)
    grips = np.zeros(len(body.feet), bool)
    plan = fill_plan(body, phases.ends, phases.pushing, surfaces, grips, samples)
    com, spin = path.at(np.concatenate(rows))
    points = plan.points.copy()
    for phase, held in enumerate(phases.held):
        own = slice(plan.first[phase], plan.first[phase + 1])
        points[own, 0, held] = places[phase, held]
        points[own, 1:, held] = 0.0
    return replace(plan, com=com, spin=spin, points=points, held=phases.held)
