"""Character: what a body is. A compiled MuJoCo model, frozen, with the names an animator uses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.ball_tendons import LIMIT_GROUP
from counterpoise.character.joints import Joint, read_joints
from counterpoise.character.limits import JointLimits, limit_from_json
from counterpoise.character.mirror import Mirror
from counterpoise.character.mjcf import TEXT_NAME, attach_roles, exact_xml
from counterpoise.character.roles import (
    ContactPoint,
    Foot,
    Roles,
    left_right_pairs,
    roles_from_json,
    roles_to_json,
)
from counterpoise.character.shapes import drawn_in, world_reach
from counterpoise.character.standing import standing_pose
from counterpoise.errors import BadFile, BadValue, MissingRole, unknown_name

if TYPE_CHECKING:
    from counterpoise.character.snapshot import Snapshot
    from counterpoise.character.state import State


_FOREIGN = re.compile(
    r"<include\b|<plugin\b|<extension\b|\b(?:content_)?(?:file|meshdir|texturedir|assetdir)\w*\s*=\s*[\"'][^\"']+"
)

STRONG = 100.0  # [N m], torque limit of a joint nobody has said anything about


@dataclass(frozen=True, eq=False)
class Character:
    """A body: its physics (`model`, the body alone in an empty world) and its parts by name.

    Frozen: changing a body (`rescaled`) returns a new one. `to_mjcf()` gives a text that plain MuJoCo loads and that
    `Character.from_mjcf` reads back with all its roles.
    """

    name: str
    model: mujoco.MjModel
    joints: tuple[Joint, ...]
    roles: Roles
    limits: JointLimits
    neutral: Array  # (nq,), standing, soles at z = 0, middle of the support at the origin
    torque_limit: Array  # (nv,) [N m]; zero on the root's rows
    parameters: Mapping[str, Any]  # what the library built it from
    mjcf: str
    kept: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)  # see character/kept.py

    # -- identity -----------------------------------------------------------------------------------------------
    @staticmethod
    def from_mjcf(text: str) -> Character:
        """Read back what `to_mjcf` wrote; a foreign MJCF has its roles guessed, as `load_character` does."""
        if (foreign := _FOREIGN.search(text)) is not None:
            raise BadFile(f"a model text must stand alone; this one asks for another file: {foreign.group(0)!r}")
        try:
            spec = mujoco.MjSpec.from_string(text)
        except (ValueError, RuntimeError) as error:
            raise BadFile(f"not a model MuJoCo can read: {_first_line(error)}") from None
        for entry in spec.texts:
            if entry.name == TEXT_NAME:
                try:
                    roles = json.loads(entry.data)
                    if roles["format"] != 1:
                        raise BadFile(f"roles of format {roles['format']}; this version reads format 1")
                    return finish(spec, roles, text=text if "neutral" in roles else None)
                except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
                    if isinstance(error, BadFile | BadValue | MissingRole):
                        raise
                    raise BadFile(f"the roles written in this model are damaged: {error!r}") from None
        from counterpoise.character.loading import character_from_spec

        return character_from_spec(spec, spec.modelname)

    def to_mjcf(self) -> str:
        """The body as MJCF text: limits, masses and contacts included, roles in a custom text element."""
        return self.mjcf

    def spec(self) -> mujoco.MjSpec:
        """A fresh, editable MjSpec of the body."""
        return mujoco.MjSpec.from_string(self.mjcf)

    def __repr__(self) -> str:
        return (
            f"Character({self.name!r}: {self.mass:.1f} kg, {self.height:.2f} m, {len(self.segments)} segments, "
            f"{self.nv} DOF, {len(self.feet)} feet)"
        )

    # -- sizes --------------------------------------------------------------------------------------------------
    @property
    def nq(self) -> int:
        return int(self.model.nq)

    @property
    def nv(self) -> int:
        return int(self.model.nv)

    @cached_property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.model.body_mass.sum())

    @cached_property
    def gravity(self) -> float:
        """Size of the gravity the body was built for [m/s^2]; 9.81 unless its file says otherwise."""
        return float(np.linalg.norm(self.model.opt.gravity))

    @cached_property
    def weight(self) -> float:
        """Mass times gravity [N]."""
        return self.mass * self.gravity

    @cached_property
    def height(self) -> float:
        """From the lowest to the highest point of the body in its neutral pose [m]."""
        return body_height(self.model, self.neutral)

    # -- parts --------------------------------------------------------------------------------------------------
    @property
    def root(self) -> str:
        """The root segment."""
        return self.roles.root

    @property
    def feet(self) -> tuple[Foot, ...]:
        return self.roles.feet

    @property
    def hands(self) -> tuple[str, ...]:
        return self.roles.hands

    @cached_property
    def segments(self) -> tuple[str, ...]:
        """Names of the bodies, root first."""
        return tuple(self.model.body(b).name for b in range(1, self.model.nbody))

    @cached_property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """(left, right) segments."""
        return left_right_pairs(list(self.segments))

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        return tuple(joint.name for joint in self.joints)

    def joint(self, name: str) -> Joint:
        for joint in self.joints:
            if joint.name == name:
                return joint
        raise unknown_name("joint", name, self.joint_names, self.name)

    def body_id(self, name: str) -> int:
        """MuJoCo's index of a segment."""
        index = self._body_ids.get(name)
        if index is None:
            raise unknown_name("body", name, self.segments, self.name)
        return index

    def foot(self, name: str) -> Foot:
        for foot in self.feet:
            if name in (foot.name, foot.body):
                return foot
        raise unknown_name("foot", name, (f.name for f in self.feet), self.name)

    def need_feet(self, what: str) -> None:
        """Say clearly that `what` cannot be done without feet."""
        if not self.feet:
            raise MissingRole(
                f"{what} needs feet, and {self.name!r} has none; tell load_character(..., feet=[...]) which they are",
                character=self.name,
            )

    @cached_property
    def contact_points(self) -> tuple[ContactPoint, ...]:
        """The contact points of all feet, in order."""
        return tuple(point for foot in self.feet for point in foot.points)

    @cached_property
    def root_dofs(self) -> slice:
        """The rows of v that no motor drives: six of a free root, three of a planar one, none of a fixed one."""
        return slice(0, _root_width(self.joints))

    @property
    def floating(self) -> bool:
        return self.root_dofs.stop > 0

    @cached_property
    def _body_ids(self) -> dict[str, int]:
        return {self.model.body(b).name: b for b in range(1, self.model.nbody)}

    # -- poses on the manifold ------------------------------------------------------------------------------------
    def difference(self, start: ArrayLike, end: ArrayLike) -> Array:
        """The tangent vector (..., nv) that takes pose `start` to pose `end` in unit time."""
        from counterpoise.character.manifold import difference

        return difference(self.layout, self.nv, start, end)

    def integrate(self, pose: ArrayLike, tangent: ArrayLike) -> Array:
        """The pose (..., nq) reached from `pose` along `tangent` in unit time."""
        from counterpoise.character.manifold import integrate

        return integrate(self.layout, pose, tangent)

    def mirror_pose(self, q: ArrayLike) -> Array:
        """The left-right mirror image of poses (..., nq)."""
        return self._mirror.pose(q)

    def mirror_velocity(self, v: ArrayLike) -> Array:
        """The left-right mirror image of velocities (..., nv)."""
        return self._mirror.velocity(v)

    @cached_property
    def _mirror(self) -> Mirror:
        return Mirror(self.model, self.joints)

    @cached_property
    def quaternions(self) -> Ints:
        """(balls, 4): where quaternions lie in q."""
        starts = [joint.qpos.stop - 4 for joint in self.joints if joint.kind in ("free", "ball")]
        return np.array([[at, at + 1, at + 2, at + 3] for at in starts], np.int64).reshape(-1, 4)

    @cached_property
    def layout(self) -> Ints:
        """(njnt, 3): MuJoCo joint type, qpos address, dof address."""
        m = self.model
        return np.ascontiguousarray(np.stack([m.jnt_type, m.jnt_qposadr, m.jnt_dofadr], axis=1), dtype=np.int64)

    def check_pose(self, q: ArrayLike, what: str = "pose") -> Array:
        """`q` as a checked array with unit quaternions; the border where poses are greeted."""
        pose = np.array(q, float)
        if pose.shape != (self.nq,):
            raise BadValue(f"a {what} of {self.name!r} has {self.nq} numbers; got shape {pose.shape}")
        if not np.isfinite(pose).all():
            raise BadValue(f"this {what} holds NaN or infinity at {np.flatnonzero(~np.isfinite(pose)).tolist()}")
        if len(self.quaternions):
            turns = pose[self.quaternions]
            lengths = np.sqrt(np.square(turns).sum(axis=1))
            if lengths.min() < 1e-6:
                named = [joint.name for joint in self.joints if joint.kind in ("free", "ball")]
                raise BadValue(f"the quaternion of joint {named[int(np.argmin(lengths))]!r} in this {what} is zero")
            pose[self.quaternions] = turns / lengths[:, None]
        return pose

    # -- states -------------------------------------------------------------------------------------------------
    def state(self, q: ArrayLike | None = None, v: ArrayLike | None = None, time: float = 0.0) -> State:
        """A state of this body; the neutral pose at rest where nothing is said."""
        from counterpoise.character.state import State

        pose = self.neutral if q is None else self.check_pose(q)
        velocity = np.zeros(self.nv) if v is None else np.array(v, float)
        if velocity.shape != (self.nv,) or not np.isfinite(velocity).all():
            raise BadValue(f"a velocity of {self.name!r} is {self.nv} finite numbers; got shape {velocity.shape}")
        return State(pose, velocity, float(time))

    def snapshot(self, state: State | None = None) -> Snapshot:
        """Kinematics and dynamics at one state (the neutral one where nothing is said)."""
        from counterpoise.character.snapshot import take_snapshot

        return take_snapshot(self, state if state is not None else self.state())

    def rescaled(
        self, lengths: Mapping[str, float] | None = None, masses: Mapping[str, float] | None = None
    ) -> Character:
        """A new body with other proportions: factors by segment, by side ("left") or by group ("arms", "legs", "all").

        A segment's length factor scales its shape and where its children hang; its mass stays unless `masses` says
        otherwise; inertia follows both (mass factor times length factor squared).
        """
        from counterpoise.character.rescale import rescaled

        return rescaled(self, lengths or {}, masses or {})

    def with_segment(self, name: str, parent: str | None = None, **options: Any) -> Character:
        """A new body with one more segment; see `editing.add_segment`."""
        from counterpoise.character.editing.edits import build_on

        return build_on(self).segment(name, parent, **options).character()

    def without_segment(self, segment: str, branch: bool = False) -> Character:
        """A new body without a segment: its children go to its parent, or away with it (`branch`)."""
        from counterpoise.character.editing.edits import remove_segment

        return remove_segment(self, segment, branch)

    def renamed(self, old: str, new: str) -> Character:
        """A new body in which a segment or joint has another name."""
        from counterpoise.character.editing.edits import rename

        return rename(self, old, new)

    def rerooted(self, segment: str) -> Character:
        """A new body of the same shape that hangs from another segment; see `editing.reroot`."""
        from counterpoise.character.editing.edits import reroot

        return reroot(self, segment)


def finish(
    spec: mujoco.MjSpec, roles: dict[str, Any], nominal: Mapping[str, Any] | None = None, text: str | None = None
) -> Character:
    """Compile a specification into a Character: limits, overlaps, the neutral pose, and its text.

    `text` is given when the specification was just read from a finished character's: it is then kept as it is.
    """
    model = _compile(spec)
    if len(set(model.body_rootid[1:].tolist())) > 1:
        raise BadValue(f"a character is one tree of bodies; this model has {len(set(model.body_rootid[1:].tolist()))}")
    joints = read_joints(model)
    limits = _read_limits(model, roles.get("balls", {}))
    parts = roles_from_json(roles)
    root_width = _root_width(joints)
    stance = roles.get("stance")
    if "neutral" in roles:
        neutral = np.array(roles["neutral"], float)
        if neutral.shape != (model.nq,) or not np.isfinite(neutral).all():
            raise BadFile(f"the neutral pose written in this model has {neutral.size} numbers, not {model.nq}")
    else:
        if stance is None:
            stance = _apply_nominal(model, joints, nominal or {}).tolist()
        free = bool(joints) and joints[0].kind == "free"
        wanted = limits.clamp(stance)
        neutral = standing_pose(model, wanted, parts.feet, limits, root_width, free)
        _exclude_overlaps(spec, model, neutral)
    if text is None:
        attach_roles(spec, {**roles, **roles_to_json(parts), "neutral": neutral.tolist(), "stance": stance})
        _compile(spec)
        text = exact_xml(spec)  # the text is the body: what is simulated, saved and exported agree
        model = _compile(_parsed(text))
    neutral.flags.writeable = False
    return Character(
        name=str(roles["name"]),
        model=model,
        joints=joints,
        roles=parts,
        limits=_read_limits(model, roles.get("balls", {})),
        neutral=neutral,
        torque_limit=_torque_limits(joints, roles.get("torque", {}), model.nv, root_width),
        parameters=dict(roles.get("parameters", {})),
        mjcf=text,
    )


def body_height(model: mujoco.MjModel, q: Array) -> float:
    """From the lowest to the highest point of all geoms in a pose, visual ones included [m]."""
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    drawn, up = drawn_in(model), np.array([0.0, 0.0, 1.0])
    if not drawn:
        return 0.0
    return float(world_reach(drawn, data, up).max() + world_reach(drawn, data, -up).max())


def _compile(spec: mujoco.MjSpec) -> mujoco.MjModel:
    try:
        return spec.compile()
    except (ValueError, RuntimeError) as error:
        raise BadValue(f"MuJoCo cannot build this body: {_first_line(error)}") from None


def _parsed(text: str) -> mujoco.MjSpec:
    try:
        return mujoco.MjSpec.from_string(text)
    except (ValueError, RuntimeError) as error:
        raise BadValue(f"MuJoCo cannot read this body back: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), repr(error))


def _root_width(joints: tuple[Joint, ...]) -> int:
    """Six for a free root; for a planar one the slides and hinge that carry it (the first joints, named root...)."""
    if joints and joints[0].kind == "free":
        return 6
    width = 0
    for joint in joints:
        if joint.body != joints[0].body or not joint.name.startswith("root"):
            break
        width += joint.nv
    return width


def _read_limits(model: mujoco.MjModel, balls: Mapping[str, Any]) -> JointLimits:
    ranges, cones = [], []
    for j in range(model.njnt):
        name = model.joint(j).name
        q, v = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        kind = int(model.jnt_type[j])
        scalar = kind in (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
        if scalar and model.jnt_limited[j]:
            low, high = (float(x) for x in model.jnt_range[j])
            ranges.append((name or f"joint{j}", q, v, low, high))
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL) and name in balls:
            cones.append((name, q, v, limit_from_json(balls[name])))
    return JointLimits(model.nq, model.nv, ranges, cones)


def _torque_limits(joints: tuple[Joint, ...], told: Mapping[str, Any], nv: int, root: int) -> Array:
    limit = np.full(nv, STRONG)
    for joint in joints:
        if joint.name in told:
            limit[joint.dofs] = told[joint.name]
    limit[:root] = 0.0
    limit.flags.writeable = False
    return limit


def _apply_nominal(model: mujoco.MjModel, joints: tuple[Joint, ...], nominal: Mapping[str, Any]) -> Array:
    q = np.array(model.qpos0, float)
    for joint in joints:
        if joint.name not in nominal:
            continue
        value = np.atleast_1d(np.asarray(nominal[joint.name], float))
        if joint.kind == "ball":
            angle = float(np.linalg.norm(value))
            axis = value / angle if angle > 0.0 else np.array([1.0, 0.0, 0.0])
            mujoco.mju_axisAngle2Quat(q[joint.qpos], axis, angle)
        elif joint.kind == "free":
            turn = np.zeros(4)
            angle = float(np.linalg.norm(value))
            mujoco.mju_axisAngle2Quat(turn, value / max(angle, 1e-300), angle)
            q[joint.qpos.start + 3 : joint.qpos.stop] = turn
        else:
            q[joint.qpos] = value
    return q


def _exclude_overlaps(spec: mujoco.MjSpec, model: mujoco.MjModel, neutral: Array) -> None:
    """Near relatives whose shapes overlap in the zero or neutral pose always do: they may not collide."""
    already = {tuple(sorted((e.bodyname1, e.bodyname2))) for e in spec.excludes}
    data = mujoco.MjData(model)
    found: set[tuple[str, str]] = set()
    for pose in (model.qpos0, neutral):
        data.qpos[:] = pose
        mujoco.mj_fwdPosition(model, data)
        for contact in data.contact:
            b1, b2 = (int(model.geom_bodyid[g]) for g in contact.geom)
            if b1 and b2 and contact.dist < 0.003 and _kinship(model, b1, b2) <= 3:
                first, second = sorted((model.body(b1).name, model.body(b2).name))
                found.add((first, second))
    for first, second in sorted(found - already):
        spec.add_exclude(bodyname1=first, bodyname2=second)


def _kinship(model: mujoco.MjModel, b1: int, b2: int) -> int:
    """Number of joints between two bodies along the tree."""

    def line(body: int) -> list[int]:
        out = [body]
        while body > 0:
            body = int(model.body_parentid[body])
            out.append(body)
        return out

    first, second = line(b1), line(b2)
    shared = next(b for b in first if b in second)
    return first.index(shared) + second.index(shared)


__all__ = ["LIMIT_GROUP", "Character", "finish"]
