"""How a body walks, from its recording alone: speed, steps, feet, knees, arms, and what it costs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.character import Character
from counterpoise.character.track import Track, follow, point_path
from counterpoise.control.walk.walking_body import WalkingBody, walking_body
from counterpoise.errors import BadValue
from counterpoise.measure.balance import foot_forces, weight_of
from counterpoise.simulate.recording import Recording

SAMPLE_TIME = 0.004  # [s] between the rows that are looked at
LOADED = 0.03  # [body weights] a foot with less force than this is in the air
SHORTEST = 0.04  # [s] contacts and gaps shorter than this do not count
FLAT_PITCH = 0.03  # [rad] a sole is flat below this
MUSCLE_PUSH, MUSCLE_BRAKE = 0.25, 1.2  # efficiencies of positive and negative work (Margaria 1968)


@dataclass(frozen=True)
class Gait:
    """Means over a stretch of a walk. Angles in degrees; pitch is positive where the heel is higher than the toe."""

    seconds: float
    distance: float  # [m] of the CoM, along the way from its first to its last place
    speed: float  # [m/s]
    drift: float  # [m] largest distance of the CoM's landing places from the line along the heading
    steps: int
    step_length: float  # [m] from foot to foot at landing
    step_time: float  # [s] from landing to landing
    step_height: float  # [m] by which the lowest point of the sole rises in a swing
    step_width: float  # [m] between the feet, across the way
    double_support: float  # share of the time
    flight: float  # share of the time
    stance_knee: float  # [rad] mean bend in single support
    heel_strike: float  # [deg] toe up at landing
    heel_rise: float  # [deg] of the rear foot when the other one lands
    toe_off: float  # [deg] when a foot leaves
    com_amplitude: float  # [m] up and down, in a step
    arm_leg: float  # correlation of a hand with the foot of its side, along the way; NaN without hands
    slip: float  # [m/s] mean speed of flat, loaded soles
    torque_change: float  # [N m] of leg joints from tick to tick at 500 Hz, 99th percentile
    spin: float  # largest angular momentum about the vertical, in mass x speed x leg length
    transport: float  # metabolic cost: work over efficiency, in weight x distance (a person: about 0.3)


def gait(recording: Recording, start: float = 0.0, heading: float = 0.0, figure: int = 0) -> Gait:
    """Returns how a figure walks from a time `start` [s] on. `heading` [rad] is the direction asked for."""
    character = recording.figures[figure]
    body = walking_body(character)
    every = max(1, round(SAMPLE_TIME / recording.timestep))
    rows = np.arange(recording.row_at(start), len(recording), every)
    if len(rows) * SAMPLE_TIME < 2.0 * body.leg_time:
        raise BadValue(f"gait needs two steps or more; {recording.duration - start:.2f} s are left after {start:g} s")
    time = recording.time[rows]
    track = follow(character, recording.positions(figure)[rows], recording.velocities(figure)[rows])
    forces = foot_forces(recording, figure)
    on = np.array([loaded(forces[leg.foot][rows, 2], weight_of(recording, figure), time) for leg in body.legs])
    landings = sorted((int(k), i) for i in range(2) for k in np.flatnonzero(on[i][1:] & ~on[i][:-1]) + 1)
    landings = [mark for k, mark in enumerate(landings) if k == 0 or landings[k - 1][1] != mark[1]]
    if len(landings) < 3:
        raise BadValue(f"gait needs two steps or more; {len(landings)} landings after {start:g} s")
    feet = _Feet(character, body, track, recording.positions(figure)[rows], on)
    span = slice(landings[0][0], landings[-1][0] + 1)
    com = track.com
    way = com[span][-1, :2] - com[span][0, :2]
    duration = float(time[span][-1] - time[span][0])
    distance = float(np.hypot(*way))
    ahead = way / max(distance, 1e-9)
    leaves = [
        (int(k), i) for i in range(2) for k in np.flatnonzero(~on[i][1:] & on[i][:-1]) if span.start < k < span.stop
    ]
    single = on[0] != on[1]
    knee = np.concatenate([feet.knee[i][on[i] & single] for i in range(2)])
    return Gait(
        duration, distance, distance / duration, _drift(com, landings, heading), len(landings) - 1,
        float(np.mean([abs(_between(feet, k, i) @ ahead) for k, i in landings])),
        float(np.mean([time[b] - time[a] for (a, _), (b, _) in pairwise(landings)])),
        float(np.mean(feet.rises(landings))),
        float(np.mean([abs(_across(_between(feet, k, i), ahead)) for k, i in landings])),
        float(np.mean(on[0][span] & on[1][span])), float(np.mean(~on[0][span] & ~on[1][span])), float(np.mean(knee)),
        float(-np.degrees(np.mean([feet.pitch[i][max(k - 1, 0)] for k, i in landings]))),
        float(np.degrees(np.mean([feet.pitch[1 - i][k] for k, i in landings]))),
        float(np.degrees(np.mean([feet.pitch[i][k] for k, i in leaves]))) if leaves else math.nan,
        float(np.mean([np.ptp(com[a:b, 2]) for (a, _), (b, _) in pairwise(landings)])),
        _arm_leg(character, track, feet, ahead, span), _slip(feet, on, time, span),
        _torque_change(recording, body, figure, rows[span]),
        _spin(track, character, body, distance / duration, span),
        _transport(recording, figure, rows[span], distance),
    )  # fmt: skip


class _Feet:
    """Places, pitch and knees of both feet along a track."""

    def __init__(self, character: Character, body: WalkingBody, track: Track, q: Array, on: Flags) -> None:
        self.on, self.body = on, body
        self.ankle = np.array([point_path(character, track, leg.body, leg.ankle) for leg in body.legs])
        self.pitch, self.low, self.middle, self.knee = [], [], [], []
        for leg in body.legs:
            turned = track.rotations[:, character.body_id(leg.body)] @ leg.unturn
            self.pitch.append(np.arcsin(np.clip(-turned[:, 2, 0], -1.0, 1.0)))
            points = [character.contact_points[i] for i in leg.points]
            paths = np.array([point_path(character, track, p.body, p.position) for p in points])
            self.low.append(paths[:, :, 2].min(axis=0))
            rear = [n for n, i in enumerate(leg.points) if i in leg.heel or i in leg.ball]
            self.middle.append(paths[rear].mean(axis=0))
            self.knee.append(leg.knee_sign * (q[:, leg.knee_at] - leg.knee_straight))

    def rises(self, landings: list[tuple[int, int]]) -> list[float]:
        """Returns how high the sole was in the swing before every landing [m]; not of a swing whose begin is unseen."""
        out = []
        for k, i in landings:
            air = k - 1
            while air > 0 and not self.on[i][air]:
                air -= 1
            if self.on[i][air]:
                out.append(float(self.low[i][air : k + 1].max()))
        return out


def loaded(load: Array, weight: float, time: Array) -> Flags:
    """Returns when a foot carries load; short contacts and gaps are left out."""
    on = load > LOADED * weight
    shortest = max(1, round(SHORTEST / float(time[1] - time[0])))
    for value in (True, False):
        edges = [0, *(np.flatnonzero(on[1:] != on[:-1]) + 1).tolist(), len(on)]
        for a, b in pairwise(edges):
            if on[a] != value and b - a < shortest and a > 0 and b < len(on):
                on[a:b] = value
    return on


def _between(feet: _Feet, row: int, foot: int) -> Array:
    """Returns the way from the other foot to a foot, (2,) [m]."""
    return np.asarray((feet.middle[foot][row] - feet.middle[1 - foot][row])[:2])


def _across(v: Array, ahead: Array) -> float:
    return float(ahead[0] * v[1] - ahead[1] * v[0])


def _drift(com: Array, landings: list[tuple[int, int]], heading: float) -> float:
    """Returns the largest distance, from the line along the heading, of the CoM's mean place in a stride."""
    line = np.array([math.cos(heading), math.sin(heading)])
    middles = [com[a:b, :2].mean(axis=0) for (a, _), (b, _) in zip(landings, landings[2:], strict=False)]
    if not middles:
        return 0.0
    return max(abs(_across(place - middles[0], line)) for place in middles)


def _arm_leg(character: Character, track: Track, feet: _Feet, ahead: Array, span: slice) -> float:
    hips = point_path(character, track, feet.body.hips_body, feet.body.hips)[:, :2]
    found = []
    for hand in character.hands:
        side = 0 if "left" in hand else 1
        a = (track.bodies[span, character.body_id(hand), :2] - hips[span]) @ ahead
        b = (feet.ankle[side][span, :2] - hips[span]) @ ahead
        if np.std(a) > 1e-6 and np.std(b) > 1e-6:
            found.append(float(np.corrcoef(a, b)[0, 1]))
    return float(np.mean(found)) if found else math.nan


def _slip(feet: _Feet, on: Flags, time: Array, span: slice) -> float:
    speeds = []
    for i in range(2):
        flat = on[i] & (np.abs(feet.pitch[i]) < FLAT_PITCH)
        flat[: span.start], flat[span.stop :] = False, False
        edges = [0, *(np.flatnonzero(flat[1:] != flat[:-1]) + 1).tolist(), len(flat)]
        for a, b in pairwise(edges):
            if flat[a] and b - a > 5:
                moved = float(np.hypot(*(feet.middle[i][b - 1] - feet.middle[i][a])[:2]))
                speeds.append(moved / float(time[b - 1] - time[a]))
    return float(np.mean(speeds)) if speeds else 0.0


def _torque_change(recording: Recording, body: WalkingBody, figure: int, rows: Ints) -> float:
    every = max(1, round(0.002 / recording.timestep))
    torque = recording.torques(figure)[rows[0] : rows[-1] : every]
    character = recording.figures[figure]
    legs = np.concatenate([np.arange(character.nv)[character.joint(name).dofs] for name in body.limbs.legs])
    return float(np.percentile(np.abs(np.diff(torque[:, legs], axis=0)), 99))


def _spin(track: Track, character: Character, body: WalkingBody, speed: float, span: slice) -> float:
    unit = character.mass * max(speed, 1e-9) * body.hips_height
    return float(np.abs(track.momentum[span, 2]).max()) / unit


def _transport(recording: Recording, figure: int, rows: Ints, distance: float) -> float:
    part = slice(int(rows[0]), int(rows[-1]))
    power = recording.torques(figure)[part] * recording.velocities(figure)[part]
    work = np.maximum(power, 0.0).sum() / MUSCLE_PUSH + np.maximum(-power, 0.0).sum() / MUSCLE_BRAKE
    return float(work * recording.timestep / (weight_of(recording, figure) * max(distance, 1e-9)))
