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
    NOWHERE,
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

_SAME_POSE = 1e-6  # [m, rad]: poses nearer than this are one
_LOOP_PADDING = 20  # keys borrowed from the neighbouring cycles; 0.268^20 = 4e-12


@dataclass(frozen=True, eq=False)
class Motion:
    """Poses at increasing times, and the C2 curve through them.

    `sample(t)` gives q, v, a on the manifold: v and a are the analytic derivatives of the curve in
    MuJoCo's tangent coordinates (a ball joint's velocity is in the child's frame; a free root's is linear in
    the world, angular in the body). Outside its range a motion holds its end pose, or wraps if it is a loop.
    """

    character: Character
    times: Array  # (n,) [s], strictly increasing
    poses: Array  # (n, nq)
    name: str = ""
    loop: bool = False  # the last pose is the first of the next cycle
    travel: bool = False  # a loop's root goes on from where it is, and in the direction it faces
    ends: Literal["free", "natural", "rest"] = "free"  # how the curve ends; see counterpoise.motion.curves.End
    source: Source | None = None  # how the file it was read from said it

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
        self._to_sphere(poses)
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

    def _to_sphere(self, poses: Array) -> None:
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
        off = np.abs(lengths - 1.0) > 1e-15  # already unit ones keep their bits
        keys = np.where(off[..., None], spatial.normalize(keys), keys)
        poses[:, quaternions] = spatial.align_signs(keys)

    # ------------------------------------------------------------------------------------------- asking

    @property
    def start(self) -> float:
        """Time of the first frame [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Time of the last frame [s]."""
        return float(self.times[-1])

    @property
    def duration(self) -> float:
        """Time from the first frame to the last [s]."""
        return self.end - self.start

    @property
    def rate(self) -> float:
        """Frames per second, on average; 0 for a single pose."""
        return (len(self) - 1) / self.duration if len(self) > 1 else 0.0

    @property
    def smooth(self) -> bool:
        """Whether the acceleration is continuous inside; it is unless rotations leap from key to key."""
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
        """Pose, velocity and acceleration at t, a number or an array; t's shape comes first."""
        if isinstance(t, float) and math.isfinite(t):  # a controller asks for one instant, often
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
        if self._cycle == NOWHERE or not cycle.any():
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
        """Where a cycle leaves the figure."""
        return placement_between(self._layout, self.poses[0], self.poses[-1]) if self.travel else NOWHERE

    @cached_property
    def _curve(self) -> PoseCurve:
        if not self.loop:
            return PoseCurve(self._layout, self.times, self.poses, self.ends)
        n = len(self) - 1
        copies = -(-_LOOP_PADDING // n)
        times, poses = self._repeated(range(-copies, copies + 1))
        return PoseCurve(self._layout, times, poses, "natural").between(copies * n, (copies + 1) * n)

    def _repeated(self, cycles: Sequence[int]) -> tuple[Array, Array]:
        """Times and poses of whole cycles, one after the other, with the pose that ends the last."""
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
        closing = place(self._layout, self.poses[0], cycle.yaw, cycle.shift)
        return float(np.abs(self.character.difference(closing, self.poses[-1])).max(initial=0.0))

    # ------------------------------------------------------------------------------------------ changing

    def named(self, name: str) -> Motion:
        """The same motion under another name."""
        return replace(self, name=name)

    def shifted(self, seconds: float) -> Motion:
        """The same motion, later by `seconds`."""
        return replace(self, times=self.times + float(seconds))

    def retimed(self, speed: float) -> Motion:
        """The same poses at `speed` times the pace; the first frame keeps its time."""
        if not (np.isfinite(speed) and speed > 0.0):
            raise BadValue(f"a speed is a positive number, not {speed!r}; to go backwards use reversed()", speed=speed)
        return replace(self, times=self.start + (self.times - self.start) / float(speed))

    def resampled(self, rate: float) -> Motion:
        """Even frames at the rate nearest to `rate` [1/s] that keeps the first and the last frame's times."""
        if not (np.isfinite(rate) and rate > 0.0):
            raise BadValue(f"a rate is a positive number of frames per second, not {rate!r}", rate=rate)
        count = max(1, round(self.duration * rate))
        times = np.linspace(self.start, self.end, count + 1) if len(self) > 1 else self.times
        return replace(self, times=times, poses=self.sample(times).q)

    def slice(self, start: float, end: float) -> Motion:
        """The part from `start` to `end` [s], with frames at exactly these times; times stay as they are."""
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
        """The same poses from last to first."""
        return replace(self, times=self.start + (self.end - self.times[::-1]), poses=self.poses[::-1])

    def mirrored(self) -> Motion:
        """The left-right mirror image."""
        return replace(self, poses=self.character.mirror_pose(self.poses))

    def placed(self, position: tuple[float, float] = (0.0, 0.0), yaw: float = 0.0) -> Motion:
        """The motion turned by `yaw` about the vertical at the origin, then moved by `position` [m]."""
        return replace(self, poses=place(self._layout, self.poses, float(yaw), complex(*position)))

    def as_loop(self, travel: bool = False, blend: float = 0.0) -> Motion:
        """The motion as one cycle of an endless one.

        With `travel` the next cycle begins where the root is and the way it faces; otherwise where it began.
        If the poses do not meet, the last `blend` seconds lead over to the first pose.
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
        """`count` cycles one after the other; a motion that is not a loop yet must close on itself."""
        if count < 1:
            raise BadValue(f"a motion is repeated at least once, not {count} times", count=count)
        loop = self if self.loop and travel in (None, self.travel) else self.as_loop(bool(travel))
        times, poses = loop._repeated(range(int(count)))
        return replace(self, times=times, poses=poses, loop=False, travel=False)

    def concatenated(self, other: Motion, gap: float = 0.0, join: bool = False) -> Motion:
        """This motion, then `other`, which begins `gap` seconds after this one ends.

        With `join`, `other` is first carried over the floor to where this motion's root ends, facing as it
        does. Without a gap the two poses must meet.
        """
        self._check_same_body(other)
        if not (np.isfinite(gap) and gap >= 0.0):
            raise BadValue(f"a gap is a time of at least 0 s, not {gap!r}", gap=gap)
        follow = self._carried(other, self.poses[-1]) if join else other.poses
        times = other.times + (self.end + gap - other.start)
        if gap == 0.0:
            apart = float(np.abs(self.character.difference(self.poses[-1], follow[0])).max(initial=0.0))
            if apart > 1e-3:
                raise BadValue(
                    f"the motions do not meet: {apart:.3g} (m, rad) apart; give a gap [s] between them, "
                    "join=True to move the second to where the first ends, or use blended",
                    apart=apart,
                )
            times, follow = times[1:], follow[1:]
        times, poses = np.concatenate([self.times, times]), np.concatenate([self.poses, follow])
        return replace(self, times=times, poses=poses, loop=False, travel=False)

    def blended(self, other: Motion, start: float, duration: float, join: bool = False) -> Motion:
        """This motion until `start` [s], a crossfade of `duration`, then `other`, which begins at `start`.

        During the crossfade q = q_self + s (q_other - q_self) on the manifold, with s eased from 0 to 1 so
        that velocity and acceleration stay continuous.
        """
        self._check_same_body(other)
        if not (self.start <= start <= self.end or self.loop):
            raise BadValue(f"a blend starts between {self.start:g} and {self.end:g} s, not at {start:g}", start=start)
        if not (0.0 < duration <= other.duration):
            raise BadValue(f"a blend lasts more than 0 and at most {other.duration:g} s, not {duration:g}")
        if join:
            other = replace(other, poses=self._carried(other, self.sample(start).q))
        later = start - other.start  # other's clock to ours
        count = max(8, int(np.ceil(duration * max(self.rate, other.rate))))
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
        way = placement_between(self._layout, other.poses[0], onto)
        return place(self._layout, other.poses, way.yaw, way.shift)

    def _check_same_body(self, other: Motion) -> None:
        check_fits(self.character, other.character.name, other.character.nq, tuple(other.character.joint_names))

    # --------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an `.npz` file that stands alone: times, poses and the character; see `files.npz`."""
        from counterpoise.motion.files.npz import save_motion

        save_motion(self, path)

    def write(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write the motion in the format the suffix names, for other programs; see `files.hub.write_motion`."""
        from counterpoise.motion.files.hub import write_motion

        write_motion(self, path, **options)

    @staticmethod
    def load(path: str | os.PathLike[str], character: Character | None = None) -> Motion:
        """Read what `save` wrote; the character is the file's own unless one is given."""
        from counterpoise.motion.files.npz import load_motion

        return load_motion(path, character)


def check_fits(character: Character, name: str, nq: int, joints: tuple[str, ...]) -> None:
    """Refuse to mix characters whose poses mean different things."""
    if nq != character.nq:
        raise BadValue(
            f"a motion of {name!r} (nq = {nq}) does not fit {character.name!r} (nq = {character.nq})",
            nq=(nq, character.nq),
        )
    mine = tuple(character.joint_names)
    if joints != mine:
        theirs, ours = next(((a, b) for a, b in zip(joints, mine, strict=False) if a != b), (joints[-1:], mine[-1:]))
        raise BadValue(
            f"a motion of {name!r} does not fit {character.name!r}: joint {theirs!r} stands for {ours!r}",
            joints=(joints, mine),
        )


def _numbers(what: str, values: ArrayLike) -> Array:
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise BadValue(f"{what} must be an array of numbers: {error}") from error
    if not np.isfinite(array).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise BadValue(f"{what} must be finite; {what}{list(where)} is {array[where]}", index=where)
    return array
