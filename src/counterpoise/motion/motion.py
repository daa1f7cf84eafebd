"""Motion: the movement of one character as data."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.errors import BadValue
from counterpoise.motion.curves import ease
from counterpoise.motion.poses import (
    NO_TRAVEL,
    Placement,
    PoseCurve,
    PoseLayout,
    Sample,
    layout_of,
    place,
    place_tangent,
    placement_between,
)
from counterpoise.motion.skeleton import Source
from counterpoise.motion.tables import TableMethods
from counterpoise.motion.timed import Timed

_SAME_POSE = 1e-6  # [m, rad] poses that differ by less are the same
_MEETING = 1e-3  # [m, rad] motions whose poses differ by less can be joined without a gap
_LOOP_PADDING = 20  # keys taken from the neighbouring cycles: a key's influence falls by 0.268 per key, to 4e-12
_MIN_BLEND_FRAMES = 8


@dataclass(frozen=True, eq=False)
class Motion(Timed, TableMethods):
    """Poses at increasing times, and the C2 curve through them.

    `sample(t)` returns q, v, a on the manifold: v and a are the analytic derivatives of the curve in MuJoCo's tangent
    coordinates (a ball joint's velocity is in the child's frame; a free root's is linear in the world, angular in the
    body). Outside its range a motion holds its end pose, or repeats if it is a loop.
    """

    character: Character
    times: Array  # (n,) [s], strictly increasing
    poses: Array  # (n, nq)
    name: str = ""
    loop: bool = False  # the last pose is the first of the next cycle
    travel: bool = False  # each cycle of a loop begins where the root ended, and in the direction it faced
    ends: Literal["free", "natural", "rest"] = "free"  # how the curve ends; see counterpoise.motion.spline_fit.End
    source: Source | None = None  # what is kept of the file it was read from

    def __post_init__(self) -> None:
        times, poses = _numbers("times", self.times), _numbers("poses", self.poses)
        nq = self.character.nq
        if times.ndim != 1 or len(times) == 0:
            raise BadValue(f"times have shape (n,) with n >= 1, not {times.shape}", shape=times.shape)
        if poses.shape != (len(times), nq):
            expected = (len(times), nq)
            raise BadValue(
                f"poses of {self.character.name!r} here have shape {expected}, not {poses.shape}",
                shape=poses.shape,
                expected=expected,
            )
        steps = np.diff(times)
        if np.any(steps <= 0.0):
            i = int(np.argmax(steps <= 0.0)) + 1
            raise BadValue(f"times must increase; frame {i} at {times[i]:g} s follows {times[i - 1]:g} s", frame=i)
        self._normalize(poses)
        times.flags.writeable = poses.flags.writeable = False
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "poses", poses)
        if self.ends not in ("free", "natural", "rest"):
            raise BadValue(f"ends are 'free', 'natural' or 'rest', not {self.ends!r}", ends=self.ends)
        if self.loop:
            gap = self._gap(self._cycle)
            if len(times) < 2 or gap > 1e3 * _SAME_POSE:
                raise BadValue(
                    f"a loop needs its last pose equal to its first; they are {gap:.3g} (m, rad) apart: "
                    "close it with as_loop(blend=...)",
                    gap=gap,
                )

    def _normalize(self, poses: Array) -> None:
        """Gives quaternions length 1, and signs that do not change from frame to frame."""
        quaternions = self._layout.quaternions
        keys = poses[:, quaternions]  # (n, nrot, 4)
        lengths = np.linalg.norm(keys, axis=-1)
        if np.any(lengths < 1e-3):
            frame, which = np.unravel_index(int(np.argmin(lengths)), lengths.shape)
            raise BadValue(
                f"frame {frame} has a quaternion of length {lengths[frame, which]:.2g} at "
                f"q[{quaternions[which, 0]}]; a rotation needs length 1",
                frame=int(frame),
            )
        off = np.abs(lengths - 1.0) > 1e-15  # unit quaternions stay exactly as they are
        keys = np.where(off[..., None], spatial.normalize(keys), keys)
        poses[:, quaternions] = spatial.align_signs(keys)

    # ------------------------------------------------------------------------------------------- values

    @property
    def rate(self) -> float:
        """Frames per second, on average; 0 for a single pose."""
        return (len(self) - 1) / self.duration if len(self) > 1 else 0.0

    @property
    def smooth(self) -> bool:
        """Whether the acceleration is continuous; it is, unless rotations of neighbouring keys are far apart."""
        return bool(self._curve.smooth.all())

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        kind = ", loop" if self.loop else ""
        return (
            f"Motion({self.name or 'unnamed'!r} of {self.character.name!r}: "
            f"{len(self)} frames, {self.duration:g} s{kind})"
        )

    def sample(self, t: ArrayLike) -> Sample:
        """Returns pose, velocity and acceleration at t, a number or an array; the shape of t comes first."""
        if isinstance(t, float) and math.isfinite(t):  # quick way for controllers, which ask for single instants
            found = self._sample_cycles(np.array([t])) if self.loop else self._curve(np.array([t]))
            return Sample(found.q[0], found.v[0], found.a[0])
        at = np.array(t, dtype=np.float64, order="C")
        flat = at.reshape(-1)
        if not np.isfinite(flat).all():
            raise BadValue("a time to sample at must be a finite number [s]")
        found = self._sample_cycles(flat) if self.loop else self._curve(flat)
        if at.ndim == 0:
            return Sample(found.q[0], found.v[0], found.a[0])
        if at.ndim == 1:
            return found
        return Sample(*(x.reshape(*at.shape, -1) for x in found))

    def _sample_cycles(self, t: Array) -> Sample:
        cycle = np.floor((t - self.start) / self.duration)
        inside = self._curve(np.clip(t - cycle * self.duration, self.start, self.end))
        if self._cycle == NO_TRAVEL or not cycle.any():
            return inside
        yaw, shift = self._cycle.repeated(cycle)
        layout = self._layout
        return Sample(
            place(layout, inside.q, yaw, shift),
            place_tangent(layout, inside.v, yaw),
            place_tangent(layout, inside.a, yaw),
        )

    @cached_property
    def _layout(self) -> PoseLayout:
        return layout_of(self.character)

    @cached_property
    def _cycle(self) -> Placement:
        """How far a cycle moves the root over the floor."""
        return placement_between(self._layout, self.poses[0], self.poses[-1]) if self.travel else NO_TRAVEL

    @cached_property
    def _curve(self) -> PoseCurve:
        if not self.loop:
            return PoseCurve(self._layout, self.times, self.poses, self.ends)
        n = len(self) - 1
        copies = -(-_LOOP_PADDING // n)
        times, poses = self._repeated(range(-copies, copies + 1))
        return PoseCurve(self._layout, times, poses, "natural").between(copies * n, (copies + 1) * n)

    def _repeated(self, cycles: Sequence[int]) -> tuple[Array, Array]:
        """Returns times and poses of whole cycles, one after the other, with the last pose of the last cycle."""
        times, poses = [], []
        for k in cycles:
            yaw, shift = self._cycle.repeated(np.array(k))
            times.append(self.times[:-1] + k * self.duration)
            poses.append(place(self._layout, self.poses[:-1], float(yaw), complex(shift)))
        k = cycles[-1] + 1
        yaw, shift = self._cycle.repeated(np.array(k))
        times.append(self.times[:1] + k * self.duration)
        poses.append(place(self._layout, self.poses[:1], float(yaw), complex(shift)))
        joined = np.concatenate(poses)
        quaternions = self._layout.quaternions
        joined[:, quaternions] = spatial.align_signs(joined[:, quaternions])
        return np.concatenate(times), joined

    def _gap(self, cycle: Placement) -> float:
        """Returns how far the last pose is from the first of the next cycle [m, rad]."""
        closing = place(self._layout, self.poses[0], cycle.yaw, cycle.shift)
        return float(np.abs(self.character.difference(closing, self.poses[-1])).max(initial=0.0))

    # ------------------------------------------------------------------------------------------ changing

    def named(self, name: str) -> Motion:
        """Returns the motion under another name."""
        return replace(self, name=name)

    def shifted(self, seconds: float) -> Motion:
        """Returns the motion, later by `seconds`."""
        return replace(self, times=self.times + float(seconds))

    def retimed(self, speed: float) -> Motion:
        """Returns the same poses, `speed` times as fast; the first frame keeps its time."""
        if not (np.isfinite(speed) and speed > 0.0):
            raise BadValue(f"a speed is a positive number, not {speed!r}; to go backwards use reversed()", speed=speed)
        return replace(self, times=self.start + (self.times - self.start) / float(speed))

    def resampled(self, rate: float) -> Motion:
        """Returns even frames at the rate nearest to `rate` [1/s] that keeps the times of the first and last frame."""
        if not (np.isfinite(rate) and rate > 0.0):
            raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
        count = max(1, round(self.duration * rate))
        times = np.linspace(self.start, self.end, count + 1) if len(self) > 1 else self.times
        return replace(self, times=times, poses=self.sample(times).q)

    def slice(self, start: float, end: float) -> Motion:
        """Returns the part from `start` to `end` [s], with frames at exactly these times; times stay as they are."""
        first, last = (self.start, self.end) if not self.loop else (-np.inf, np.inf)
        if not (first - 1e-9 <= start < end <= last + 1e-9):
            raise BadValue(
                f"a slice needs {self.start:g} <= start < end <= {self.end:g} s, not {start:g} ... {end:g}",
                start=start,
                end=end,
            )
        keys = self.times
        if self.loop:
            cycles = range(
                int(np.floor((start - self.start) / self.duration)),
                int(np.floor((end - self.start) / self.duration)) + 1,
            )
            keys, _ = self._repeated(cycles)
        room = 1e-6 * max(self.duration / len(self), 1e-9)
        inner = keys[(keys > start + room) & (keys < end - room)]
        times = np.concatenate([[start], inner, [end]])
        poses = self.sample(np.clip(times, first, last)).q
        return replace(self, times=times, poses=poses, loop=False, travel=False, ends="free")

    def reversed(self) -> Motion:
        """Returns the same poses from last to first."""
        return replace(self, times=self.start + (self.end - self.times[::-1]), poses=self.poses[::-1])

    def mirrored(self) -> Motion:
        """Returns the left-right mirror image."""
        return replace(self, poses=self.character.mirror_pose(self.poses))

    def placed(self, position: tuple[float, float] = (0.0, 0.0), yaw: float = 0.0) -> Motion:
        """Returns the motion turned by `yaw` [rad] about the vertical at the origin, then moved by `position` [m]."""
        return replace(self, poses=place(self._layout, self.poses, float(yaw), complex(*position)))

    def as_loop(self, travel: bool = False, blend: float = 0.0) -> Motion:
        """Returns the motion as one cycle of an endless loop.

        With `travel` the next cycle begins where the root ends and in the direction it faces; otherwise where it began.
        If first and last pose differ, the last `blend` seconds lead over to the first pose.
        """
        if len(self) < 2:
            raise BadValue("a loop needs at least two frames", frames=len(self))
        open_ended = replace(self, loop=False, travel=travel)
        cycle = open_ended._cycle
        gap = open_ended._gap(cycle)
        closing = place(self._layout, self.poses[0], cycle.yaw, cycle.shift)
        poses = self.poses.copy()
        if gap > _SAME_POSE:
            if not 0.0 < blend <= self.duration:
                raise BadValue(
                    f"the last pose is {gap:.3g} (m, rad) from the first: give as_loop a blend of up to "
                    f"{self.duration:g} s to close it",
                    gap=gap,
                )
            weight = ease(1.0 - (self.end - self.times) / blend, "smoother")
            poses = self.character.integrate(poses, weight[:, None] * self.character.difference(poses[-1], closing))
        poses[-1] = closing
        return replace(self, poses=poses, loop=True, travel=travel)

    def looped(self, count: int, travel: bool | None = None) -> Motion:
        """Returns `count` cycles one after the other; a motion that is not a loop must end in its first pose."""
        if count < 1:
            raise BadValue(f"a motion is repeated at least once, not {count} times", count=count)
        loop = self if self.loop and travel in (None, self.travel) else self.as_loop(bool(travel))
        times, poses = loop._repeated(range(int(count)))
        return replace(self, times=times, poses=poses, loop=False, travel=False)

    def concatenated(self, other: Motion, gap: float = 0.0, join: bool = False) -> Motion:
        """Returns this motion, then `other`, which begins `gap` seconds after this one ends.

        With `join`, `other` is first moved over the floor to where this motion's root ends, facing as it does. Without
        a gap the last pose of the first and the first pose of the second must be the same.
        """
        self._check_same_body(other)
        if not (np.isfinite(gap) and gap >= 0.0):
            raise BadValue(f"a gap is a time of at least 0 s, not {gap!r}", gap=gap)
        follow = self._carried(other, self.poses[-1]) if join else other.poses
        times = other.times + (self.end + gap - other.start)
        if gap == 0.0:
            apart = float(np.abs(self.character.difference(self.poses[-1], follow[0])).max(initial=0.0))
            if apart > _MEETING:
                raise BadValue(
                    f"the motions do not meet: {apart:.3g} (m, rad) apart; give a gap [s] between them, "
                    "join=True to move the second to where the first ends, or use blended",
                    apart=apart,
                )
            times, follow = times[1:], follow[1:]
        times, poses = np.concatenate([self.times, times]), np.concatenate([self.poses, follow])
        return replace(self, times=times, poses=poses, loop=False, travel=False)

    def blended(self, other: Motion, start: float, duration: float, join: bool = False) -> Motion:
        """Returns this motion until `start` [s], a crossfade of `duration` [s], then `other`, which begins at `start`.

        During the crossfade q = q_self + s (q_other - q_self) on the manifold, with s eased from 0 to 1, so that
        velocity and acceleration are continuous.
        """
        self._check_same_body(other)
        if not (self.start <= start <= self.end or self.loop):
            raise BadValue(f"a blend starts between {self.start:g} and {self.end:g} s, not at {start:g}", start=start)
        if not (0.0 < duration <= other.duration):
            raise BadValue(f"a blend lasts more than 0 and at most {other.duration:g} s, not {duration:g}")
        if join:
            other = replace(other, poses=self._carried(other, self.sample(start).q))
        later = start - other.start  # from the times of `other` to ours
        count = max(_MIN_BLEND_FRAMES, int(np.ceil(duration * max(self.rate, other.rate))))
        within = np.linspace(start, start + duration, count + 1)
        mine, theirs = self.sample(within).q, other.sample(within - later).q
        weight = ease((within - start) / duration, "smoother")[:, None]
        mixed = self.character.integrate(mine, weight * self.character.difference(mine, theirs))
        room = 0.25 * duration / count
        before, after = self.times < start - room, other.times + later > start + duration + room
        times = np.concatenate([self.times[before], within, other.times[after] + later])
        poses = np.concatenate([self.poses[before], mixed, other.poses[after]])
        return replace(self, times=times, poses=poses, loop=False, travel=False, ends="free")

    def _carried(self, other: Motion, onto: Array) -> Array:
        """Returns the poses of `other`, moved over the floor so that the first stands where the pose `onto` does."""
        way = placement_between(self._layout, other.poses[0], onto)
        return place(self._layout, other.poses, way.yaw, way.shift)

    def _check_same_body(self, other: Motion) -> None:
        check_fits(self.character, other.character.name, other.character.nq, tuple(other.character.joint_names))

    # --------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an `.npz` file with times, poses and the character; see `files.npz`."""
        from counterpoise.motion.files.npz import save_motion

        save_motion(self, path)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Writes the motion for other programs, in the format of the suffix; see `files.hub.write_motion`."""
        from counterpoise.motion.files.hub import write_motion

        write_motion(self, path, **options)

    def to_glb(self, rate: float | None = None) -> bytes:
        """Returns the motion as GLB bytes, the same that `write` puts into a `.glb` file."""
        from counterpoise.motion.files.glb_bytes import motion_glb

        return motion_glb(self, rate)

    @staticmethod
    def load(path: str | os.PathLike[str], character: Character | None = None) -> Motion:
        """Reads what `save` wrote; the character is the file's own unless one is given."""
        from counterpoise.motion.files.npz import load_motion

        return load_motion(path, character)


def check_fits(character: Character, name: str, nq: int, joints: tuple[str, ...]) -> None:
    """Raises BadValue if poses of a character with these joints mean something else on `character`."""
    if nq != character.nq:
        raise BadValue(
            f"a motion of {name!r} (nq = {nq}) does not fit {character.name!r} (nq = {character.nq})",
            nq=(nq, character.nq),
        )
    mine = tuple(character.joint_names)
    if joints != mine:
        theirs, ours = next(((a, b) for a, b in zip(joints, mine, strict=False) if a != b), (joints[-1:], mine[-1:]))
        raise BadValue(
            f"a motion of {name!r} does not fit {character.name!r}: joint {theirs!r} stands where {ours!r} should be",
            joints=(joints, mine),
        )


def _numbers(what: str, values: ArrayLike) -> Array:
    """Returns the values as an array of finite numbers."""
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} must be an array of numbers: {error}") from error
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadValue(f"{what} must be finite; {what}{list(where)} is {array[where]}", index=where)
    return array
