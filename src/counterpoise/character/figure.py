"""Drawing a body: segments, joints and shapes put together with MuJoCo's MjSpec, and finished into a Character.

A figure is drawn in its zero pose, every segment's frame aligned with the world (x forward, y left, z up), so that
left and right are mirror images in y and a joint's axis means the same everywhere.

Ball limits become native MuJoCo constraints, so that an exported model keeps them: each face n . a' <= k of a swing
cone is a spatial tendon between the bone's tip (distance r along a', from the joint) and a point R n of the parent,
|r a' - R n|^2 = r^2 + R^2 - 2 r R (n . a'), whose length has a lower limit; each end of the twist range, which is
linear in
the rotation matrix, (R_zy - R_yz) cos(phi) - (R_yy + R_zz) sin(phi) <= 0 about the bone, is a tendon of two such
branches with r << R, where length is linear in the dot product.
"""

from __future__ import annotations

import ctypes
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.limits import BallLimit, cone_from_corners
from counterpoise.errors import BadValue, unknown_name

Vector = tuple[float, float, float]

LEFT_TINT = (0.184, 0.498, 0.722, 1.0)  # cool
RIGHT_TINT = (0.878, 0.475, 0.227, 1.0)  # warm
MIDDLE_TINT = (0.886, 0.867, 0.831, 1.0)
SWING_ARMS = (0.1, 1.0)  # r, R of the swing tendons [m]
TWIST_ARMS = (0.02, 4.0)  # r, R of the twist tendons [m]
LIMIT_GROUP = 5  # group of the sites and tendons that hold ball limits: never drawn
TEXT_NAME = "counterpoise"  # the custom text element that carries roles in MJCF

# Contact: soft enough to be quiet at 1 kHz, stiff enough that a standing foot sinks by a fraction of a millimetre.
CONTACT_SOLREF = (0.01, 1.0)
CONTACT_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)
LIMIT_SOLREF = (0.002, 1.0)
LIMIT_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)


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
    name: str
    first: tuple[str, Vector, tuple[float, float], float]  # suffix, axis, range [rad], torque [N m]
    second: tuple[str, Vector, tuple[float, float], float]
    damping: float = 0.5
    armature: float = 0.01


@dataclass(frozen=True)
class Ball:
    name: str
    limit: BallLimit | None
    torque: float
    damping: float = 1.0
    armature: float = 0.01


@dataclass(frozen=True)
class Slide:
    name: str
    axis: Vector
    range: tuple[float, float] | None  # [m]
    force: float  # [N]
    damping: float = 0.0


@dataclass(frozen=True)
class Free:
    name: str = "root"


JointSpec = Hinge | Universal | Ball | Slide | Free


@dataclass(frozen=True)
class Shape:
    """One geom of a segment, in the segment's frame."""

    kind: str  # capsule, sphere, ellipsoid, box
    size: tuple[float, ...]
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
    mass: float
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
    soft: list[tuple[str, str]] = field(default_factory=list)  # pairs whose flesh gives way: they do not collide

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
        if parent is not None and parent not in (s.name for s in self.segments):
            raise unknown_name("segment", parent, (s.name for s in self.segments), self.name)
        if not mass > 0.0:
            raise BadValue(f"segment {name!r} needs a positive mass; got {mass}", mass=mass)
        listed = tuple(joints) if isinstance(joints, Sequence) else (joints,)
        self.segments.append(Segment(name, parent, _vector(at), listed, tuple(shapes), float(mass), **more))

    def foot(self, name: str, body: str, side: str, points: Sequence[tuple[str, str, Sequence[float]]]) -> None:
        """A foot and its contact points: (name, body, place in that body's frame)."""
        listed = [{"name": p, "body": b, "position": [float(x) for x in at]} for p, b, at in points]
        self.feet.append({"name": name, "body": body, "side": side, "points": listed})

    def weigh_to(self, mass: float) -> None:
        """Scale all masses so that the whole figure weighs `mass` [kg]."""
        factor = mass / sum(segment.mass for segment in self.segments)
        for segment in self.segments:
            segment.mass *= factor

    def spec(self) -> tuple[mujoco.MjSpec, dict[str, Any]]:
        """The MuJoCo specification and the roles that belong to it."""
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
        """Give each segment its mass, centre and inertia: the shapes' own, scaled to the table."""
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


def new_spec(name: str) -> mujoco.MjSpec:
    """An empty model with the house's physics: 1 kHz, implicitfast, elliptic cones, no silent reset."""
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    spec.compiler.boundmass = 0.0
    set_physics(spec)
    return spec


def set_physics(spec: mujoco.MjSpec, timestep: float = 0.001) -> None:
    """The house's integrator, cones and gravity; a NaN shows as NaN instead of resetting the world."""
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10.0
    spec.option.gravity = [0.0, 0.0, -9.81]
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)


def exact_xml(spec: mujoco.MjSpec) -> str:
    """The specification as MJCF with all seventeen digits, so that reading it back gives the same body to the last bit.

    MuJoCo writes six digits unless its library is told otherwise; where that switch is missing, six it is.
    """
    try:
        library = ctypes.CDLL(next(str(p) for p in sorted(Path(mujoco.__file__).parent.glob("*mujoco*.[sd]*"))))
        digits, set_digits = library._mjPRIVATE__get_xml_precision, library._mjPRIVATE__set_xml_precision
    except (AttributeError, OSError, StopIteration):
        return str(spec.to_xml())
    before = int(digits())
    set_digits(17)
    try:
        return str(spec.to_xml())
    finally:
        set_digits(before)


def attach_roles(spec: mujoco.MjSpec, roles: dict[str, Any]) -> None:
    """Write the roles into the model as a custom text, replacing any that are there."""
    for text in list(spec.texts):
        if text.name == TEXT_NAME:
            spec.delete(text)
    spec.add_text(name=TEXT_NAME, data=json.dumps(roles, separators=(",", ":"), sort_keys=True))


def swing_cone(
    axis: Sequence[float],
    corners: Sequence[tuple[float, float]],
    twist: tuple[float, float],
    side: float = 1.0,
    rest: tuple[float, float] | None = None,
) -> BallLimit:
    """A ball limit from corners (pitch, roll) in degrees: the bone swung forward by pitch, then outward by roll.

    For a bone along -z pitch carries it forward, for one along +z the trunk bows forward. `side` is +1 for the left
    limb and -1 for the right; `twist` in degrees is meant for the left and is mirrored for the right.
    """
    axis_ = np.asarray(axis, float)
    directions = np.array([swung(axis_, pitch, roll * side) for pitch, roll in corners])
    normals, offsets = cone_from_corners(directions)
    return ball_limit(axis_, normals, offsets, twist, side, rest)


def ball_limit(
    axis: ArrayLike,
    normals: Array,
    offsets: Array,
    twist: tuple[float, float],
    side: float = 1.0,
    rest: tuple[float, float] | None = None,
) -> BallLimit:
    """A ball limit from its cone's faces; `twist` [deg] and `rest` (pitch, roll) [deg] are mirrored for side -1."""
    low, high = np.radians(twist) * side
    middle = np.array([1.0, 0, 0, 0])
    if rest is not None:
        middle = _swing_quaternion(np.asarray(axis, float), rest[0], rest[1] * side)
    return BallLimit(np.asarray(axis, float), middle, normals, offsets, (min(low, high), max(low, high)))


def swung(axis: Array, pitch: float, roll: float) -> Array:
    """The bone direction after swinging it forward by `pitch` and to the left by `roll` [deg]."""
    p, r = np.radians(pitch), np.radians(roll)
    along, forward, left = axis, np.array([1.0, 0, 0]), np.array([0, 1.0, 0])
    if abs(axis @ forward) > 0.9:  # a bone lying fore and aft (a tail): pitch lifts it
        forward = np.array([0, 0, 1.0])
    elif abs(axis @ left) > 0.9:  # a bone lying sideways (a wing): roll lifts it
        left = np.array([0, 0, 1.0])
    return np.cos(r) * (np.cos(p) * along + np.sin(p) * forward) + np.sin(r) * left


def _swing_quaternion(axis: Array, pitch: float, roll: float) -> Array:
    end = swung(axis, pitch, roll)
    q = np.concatenate(([1.0 + axis @ end], np.cross(axis, end)))
    return q / np.linalg.norm(q)


def oval(forward: float, back: float, side: float) -> list[tuple[float, float]]:
    """Corners of an oval cone: how far the bone may swing forward, backward and to each side [deg]."""
    d = 0.71
    return [
        (forward, 0), (d * forward, d * side), (0, side), (-d * back, d * side),
        (-back, 0), (-d * back, -d * side), (0, -side), (d * forward, -d * side),
    ]  # fmt: skip


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
        density=1000.0,
    )
    geom.size = list(shape.size) + [0.0] * (3 - len(shape.size))
    if shape.end is not None:
        geom.fromto = [*shape.position, *shape.end]
    else:
        geom.pos = shape.position
        geom.quat = [np.cos(shape.pitch / 2), 0.0, np.sin(shape.pitch / 2), 0.0]
    geom.friction = [1.0, 0.005, 0.0001]
    geom.solref, geom.solimp = list(CONTACT_SOLREF), list(CONTACT_SOLIMP)
    if not shape.collides:
        geom.contype = geom.conaffinity = 0
    elif planar:  # meets the ground and other bodies; in the plane its own segments pass each other
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


def add_ball_limit(spec: mujoco.MjSpec, body: Any, name: str, limit: BallLimit) -> None:
    """Hold a ball joint inside its cone and twist range by tendons with a shortest length."""
    parent = body.parent
    anchor = np.array(body.pos, float)
    frame = np.zeros(9)
    mujoco.mju_quat2Mat(frame, np.array(body.quat, float))
    J = frame.reshape(3, 3)  # joint frame in the parent's

    def site(host: Any, label: str, place: Array) -> str:
        host.add_site(name=f"{name}.{label}", pos=place, group=LIMIT_GROUP, size=[0.005, 0.005, 0.005])
        return f"{name}.{label}"

    def tendon(label: str, branches: list[tuple[str, str]], shortest: float) -> None:
        added = spec.add_tendon(name=f"{name}.{label}", limited=1, range=[shortest, 1e3], group=LIMIT_GROUP)
        added.solref_limit, added.solimp_limit = list(LIMIT_SOLREF), list(LIMIT_SOLIMP)
        added.rgba = [0, 0, 0, 0]
        for number, (inner, outer) in enumerate(branches):
            if number:
                added.wrap_pulley(1.0)
            added.wrap_site(inner)
            added.wrap_site(outer)

    r, R = SWING_ARMS
    tip = site(body, "tip", r * limit.axis)
    for i, (normal, offset) in enumerate(zip(limit.normals, limit.offsets, strict=True)):
        pole = site(parent, f"swing{i}", anchor + J @ (R * normal))
        tendon(f"swing{i}", [(tip, pole)], float(np.sqrt(r * r + R * R - 2 * r * R * offset)))

    low, high = limit.twist
    if high - low >= np.pi:  # the two half planes would cut into the range itself
        return
    r, R = TWIST_ARMS
    rest = np.zeros(9)
    mujoco.mju_quat2Mat(rest, np.array(limit.rest))
    Q = rest.reshape(3, 3)
    x = Q @ limit.axis
    y = np.cross(x, np.eye(3)[int(np.argmin(np.abs(x)))])
    y /= np.linalg.norm(y)
    z = np.cross(x, y)
    inner = [site(body, label, r * (Q.T @ way)) for label, way in (("across_y", y), ("across_z", z))]
    for label, sign, angle in (("twist_high", 1.0, high), ("twist_low", -1.0, low)):
        c, s = np.cos(angle), np.sin(angle)
        ways = [sign * (c * z - s * y), sign * (-c * y - s * z)]
        poles = [site(parent, f"{label}_{n}", anchor + J @ (R * way)) for n, way in enumerate(ways)]
        tendon(label, list(zip(inner, poles, strict=True)), 2.0 * float(np.hypot(r, R)))


def remove_ball_limits(spec: mujoco.MjSpec) -> None:
    """Take away the tendons and sites of all ball limits, to be drawn anew."""
    for tendon in list(spec.tendons):
        if tendon.group == LIMIT_GROUP:
            spec.delete(tendon)
    for site in list(spec.sites):
        if site.group == LIMIT_GROUP:
            spec.delete(site)


def limit_to_json(limit: BallLimit) -> dict[str, Any]:
    return {
        "axis": limit.axis.tolist(),
        "rest": limit.rest.tolist(),
        "normals": limit.normals.tolist(),
        "offsets": limit.offsets.tolist(),
        "twist": list(limit.twist),
    }


def limit_from_json(data: dict[str, Any]) -> BallLimit:
    low, high = data["twist"]
    return BallLimit(
        np.array(data["axis"], float),
        np.array(data["rest"], float),
        np.array(data["normals"], float).reshape(-1, 3),
        np.array(data["offsets"], float),
        (float(low), float(high)),
    )


def _stretch_across(inertia: Array, mass: float, bone: Vector, radius: float) -> Array:
    """Scale the inertia across the bone so that its mean is mass radius^2; along the bone it stays the shape's."""
    u = np.array(bone) / np.linalg.norm(bone)
    along = float(u @ inertia @ u)
    mean = 0.5 * (float(np.trace(inertia)) - along)
    factor = float(np.sqrt(mass * radius**2 / mean))
    S = factor * np.eye(3) + (1.0 - factor) * np.outer(u, u)
    return S @ inertia @ S
