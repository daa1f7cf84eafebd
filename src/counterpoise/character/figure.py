"""Drawing a body: segments, joints and shapes, put together with MuJoCo's MjSpec.

A figure is drawn in its zero pose, every segment's frame aligned with the world (x forward, y left, z up), so that
left and right are mirror images in y and a joint's axis means the same everywhere. `finish` makes a Character of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.ball_tendons import add_ball_limit
from counterpoise.character.limits import BallLimit, limit_to_json
from counterpoise.character.physics import (
    CONTACT_FRICTION,
    LIMIT_SOLIMP,
    LIMIT_SOLREF,
    TISSUE_DENSITY,
    make_contact,
    new_spec,
)
from counterpoise.errors import BadValue, unknown_name

Vector = tuple[float, float, float]

LEFT_TINT = (0.184, 0.498, 0.722, 1.0)  # cool
RIGHT_TINT = (0.878, 0.475, 0.227, 1.0)  # warm
MIDDLE_TINT = (0.886, 0.867, 0.831, 1.0)


@dataclass(frozen=True)
class Hinge:
    name: str
    axis: Vector
    range: tuple[float, float] | None  # [rad]
    torque: float  # [N m], the largest the joint can give
    damping: float = 0.5  # [N m s/rad], passive
    armature: float = 0.01  # [kg m^2]


@dataclass(frozen=True)
class Universal:
    """Two hinges that meet at a right angle."""

    name: str
    first: tuple[str, Vector, tuple[float, float], float]  # suffix, axis, range [rad], torque [N m]
    second: tuple[str, Vector, tuple[float, float], float]
    damping: float = 0.5  # [N m s/rad]
    armature: float = 0.01  # [kg m^2]


@dataclass(frozen=True)
class Ball:
    name: str
    limit: BallLimit | None
    torque: float  # [N m]
    damping: float = 1.0  # [N m s/rad]
    armature: float = 0.01  # [kg m^2]


@dataclass(frozen=True)
class Slide:
    name: str
    axis: Vector
    range: tuple[float, float] | None  # [m]
    force: float  # [N]
    damping: float = 0.0  # [N s/m]


@dataclass(frozen=True)
class Free:
    name: str = "root"


JointSpec = Hinge | Universal | Ball | Slide | Free


@dataclass(frozen=True)
class Shape:
    """One geom of a segment, in the segment's frame."""

    kind: str  # capsule, sphere, ellipsoid, box
    size: tuple[float, ...]  # MuJoCo's: radius, half-axes or half-sides [m]
    position: Vector = (0.0, 0.0, 0.0)
    end: Vector | None = None  # capsules run from position to end
    tint: tuple[float, float, float, float] | None = None
    pitch: float = 0.0  # [rad], about y
    collides: bool = True


def capsule(start: Sequence[float], end: Sequence[float], radius: float, **more: Any) -> Shape:
    return Shape("capsule", (radius,), _vector(start), _vector(end), **more)


def sphere(position: Sequence[float], radius: float, **more: Any) -> Shape:
    return Shape("sphere", (radius,), _vector(position), **more)


def ellipsoid(position: Sequence[float], radii: Sequence[float], **more: Any) -> Shape:
    return Shape("ellipsoid", _vector(radii), _vector(position), **more)


def box(position: Sequence[float], half: Sequence[float], **more: Any) -> Shape:
    return Shape("box", _vector(half), _vector(position), **more)


@dataclass
class Segment:
    name: str
    parent: str | None
    at: Vector  # joint position in the parent's frame
    joints: tuple[JointSpec, ...]
    shapes: tuple[Shape, ...]
    mass: float  # [kg]
    com: Vector | None = None  # else the shapes' own
    gyration: tuple[Vector, float] | None = None  # bone direction, radius across it [m]
    inertia: tuple[float, ...] | None = None  # xx yy zz xy xz yz about the CoM; else from the shapes


@dataclass
class Figure:
    """A body being drawn. `segment` and `foot` add to it; `finish` compiles it."""

    name: str
    planar: bool = False
    segments: list[Segment] = field(default_factory=list)
    feet: list[dict[str, Any]] = field(default_factory=list)
    hands: list[str] = field(default_factory=list)
    nominal: dict[str, Any] = field(default_factory=dict)  # joint -> angle(s) or rotation vector of the stance wanted
    parameters: dict[str, Any] = field(default_factory=dict)
    soft: list[tuple[str, str]] = field(default_factory=list)  # pairs of segments that do not collide: soft tissue

    def segment(
        self,
        name: str,
        parent: str | None,
        at: Sequence[float],
        joints: JointSpec | Sequence[JointSpec],
        shapes: Sequence[Shape],
        mass: float,
        **more: Any,
    ) -> None:
        """Adds a segment of `mass` [kg], its joints `at` a place in the parent's frame [m]; `more` as in `Segment`."""
        if parent is not None and parent not in (s.name for s in self.segments):
            raise unknown_name("segment", parent, (s.name for s in self.segments), self.name)
        if not mass > 0.0:
            raise BadValue(f"segment {name!r} needs a positive mass; got {mass}", mass=mass)
        listed = tuple(joints) if isinstance(joints, Sequence) else (joints,)
        self.segments.append(Segment(name, parent, _vector(at), listed, tuple(shapes), float(mass), **more))

    def foot(self, name: str, body: str, side: str, points: Sequence[tuple[str, str, Sequence[float]]]) -> None:
        """Adds a foot and its contact points: (name, body, place in that body's frame [m])."""
        listed = [{"name": p, "body": b, "position": [float(x) for x in at]} for p, b, at in points]
        self.feet.append({"name": name, "body": body, "side": side, "points": listed})

    def weigh_to(self, mass: float) -> None:
        """Scales all masses so that their sum is `mass` [kg]."""
        factor = mass / sum(segment.mass for segment in self.segments)
        for segment in self.segments:
            segment.mass *= factor

    def spec(self) -> tuple[mujoco.MjSpec, dict[str, Any]]:
        """Returns the MuJoCo specification and the roles that belong to it."""
        spec = new_spec(self.name)
        torque: dict[str, float | list[float]] = {}
        balls: dict[str, Any] = {}
        bodies: dict[str, Any] = {}
        for segment in self.segments:
            parent = spec.worldbody if segment.parent is None else bodies[segment.parent]
            body = parent.add_body(name=segment.name, pos=segment.at)
            bodies[segment.name] = body
            for joint in segment.joints:
                _add_joint(spec, body, joint, torque, balls)
            tint = _tint(segment.name)
            for number, shape in enumerate(segment.shapes):
                _add_shape(body, f"{segment.name}_{number}", shape, shape.tint or tint, self.planar)
        for first, second in self.soft:
            spec.add_exclude(bodyname1=first, bodyname2=second)
        self._weigh(spec, bodies)
        roles: dict[str, Any] = {
            "format": 1,
            "name": self.name,
            "root": self.segments[0].name if self.segments else "",
            "feet": self.feet,
            "hands": self.hands,
            "torque": torque,
            "balls": balls,
            "parameters": self.parameters,
        }
        return spec, roles

    def _weigh(self, spec: mujoco.MjSpec, bodies: dict[str, Any]) -> None:
        """Gives each segment its mass, centre and inertia: those of its shapes, scaled to the segment's mass."""
        model = spec.compile()
        for segment in self.segments:
            body, compiled = bodies[segment.name], model.body(segment.name)
            shape_mass = float(compiled.mass[0])
            rotation = np.zeros(9)
            mujoco.mju_quat2Mat(rotation, compiled.iquat)
            R = rotation.reshape(3, 3)
            inertia = R @ np.diag(compiled.inertia) @ R.T * (segment.mass / shape_mass)
            if segment.gyration is not None:
                inertia = _stretch_across(inertia, segment.mass, *segment.gyration)
            if segment.inertia is not None:
                xx, yy, zz, xy, xz, yz = segment.inertia
                inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            body.explicitinertial = True
            body.mass = segment.mass
            body.ipos = compiled.ipos if segment.com is None else np.array(segment.com)
            body.fullinertia = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]


def _vector(values: Sequence[float]) -> Vector:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def _tint(name: str) -> tuple[float, float, float, float]:
    if name.endswith("_left"):
        return LEFT_TINT
    return RIGHT_TINT if name.endswith("_right") else MIDDLE_TINT


def _add_shape(body: Any, name: str, shape: Shape, tint: Sequence[float], planar: bool) -> None:
    kinds = {"capsule": "CAPSULE", "sphere": "SPHERE", "ellipsoid": "ELLIPSOID", "box": "BOX"}
    geom = body.add_geom(
        name=name,
        type=getattr(mujoco.mjtGeom, f"mjGEOM_{kinds[shape.kind]}"),
        rgba=list(tint),
        density=TISSUE_DENSITY,
    )
    geom.size = list(shape.size) + [0.0] * (3 - len(shape.size))
    if shape.end is not None:
        geom.fromto = [*shape.position, *shape.end]
    else:
        geom.pos = shape.position
        geom.quat = [np.cos(shape.pitch / 2), 0.0, np.sin(shape.pitch / 2), 0.0]
    geom.friction = list(CONTACT_FRICTION)
    make_contact(geom)
    if not shape.collides:
        geom.contype = geom.conaffinity = 0
    elif planar:  # touches the ground and other bodies, but segments of a planar figure pass each other
        geom.contype = 0


def _add_joint(spec: mujoco.MjSpec, body: Any, joint: JointSpec, torque: dict[str, Any], balls: dict[str, Any]) -> None:
    match joint:
        case Free():
            body.add_freejoint(name=joint.name)
        case Hinge():
            _add_scalar(body, mujoco.mjtJoint.mjJNT_HINGE, joint.name, joint.axis, joint.range, joint)
            torque[joint.name] = joint.torque
        case Slide():
            added = body.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_SLIDE, axis=joint.axis)
            added.damping[0] = joint.damping
            if joint.range is not None:
                added.limited, added.range = 1, joint.range
            torque[joint.name] = joint.force
        case Universal():
            for suffix, axis, span, _ in (joint.first, joint.second):
                _add_scalar(body, mujoco.mjtJoint.mjJNT_HINGE, f"{joint.name}_{suffix}", axis, span, joint)
            torque[joint.name] = [joint.first[3], joint.second[3]]
        case Ball():
            added = body.add_joint(name=joint.name, type=mujoco.mjtJoint.mjJNT_BALL)
            added.damping[0], added.armature = joint.damping, joint.armature
            torque[joint.name] = joint.torque
            if joint.limit is not None:
                add_ball_limit(spec, body, joint.name, joint.limit)
                balls[joint.name] = limit_to_json(joint.limit)


def _add_scalar(
    body: Any, kind: Any, name: str, axis: Vector, span: tuple[float, float] | None, joint: Hinge | Universal
) -> None:
    added = body.add_joint(name=name, type=kind, axis=axis)
    added.damping[0], added.armature = joint.damping, joint.armature
    added.solref_limit, added.solimp_limit = list(LIMIT_SOLREF), list(LIMIT_SOLIMP)
    if span is not None:
        added.limited, added.range = 1, span


def _stretch_across(inertia: Array, mass: float, bone: Vector, radius: float) -> Array:
    """The inertia scaled across the bone so that its mean is mass radius^2; along the bone it stays the shapes'."""
    u = np.array(bone) / np.linalg.norm(bone)
    along = float(u @ inertia @ u)
    mean = 0.5 * (float(np.trace(inertia)) - along)
    factor = float(np.sqrt(mass * radius**2 / mean))
    S = factor * np.eye(3) + (1.0 - factor) * np.outer(u, u)
    return S @ inertia @ S
