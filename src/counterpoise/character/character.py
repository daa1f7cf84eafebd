"""Character: what a body is. A compiled MuJoCo model, frozen, with the names an animator uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array, Ints
from counterpoise.character.joints import Joint, root_width
from counterpoise.character.limits import JointLimits
from counterpoise.character.mirror import Mirror
from counterpoise.character.roles import ContactPoint, Foot, Roles, left_right_pairs
from counterpoise.character.shapes import drawn_height
from counterpoise.errors import BadValue, MissingRole, unknown_name

if TYPE_CHECKING:
    from counterpoise.character.snapshot import Snapshot
    from counterpoise.character.state import State


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
    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: everything but what is kept, which they work out anew."""
        return {**self.__dict__, "kept": {}}

    @staticmethod
    def from_mjcf(text: str) -> Character:
        """Reads back what `to_mjcf` wrote. The roles of any other MJCF are guessed, as `load_character` does."""
        from counterpoise.character.finish import character_from_mjcf

        return character_from_mjcf(text)

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
    @cached_property
    def nq(self) -> int:
        return int(self.model.nq)

    @cached_property
    def nv(self) -> int:
        return int(self.model.nv)

    @cached_property
    def mass(self) -> float:
        """Total mass [kg]."""
        return float(self.model.body_mass.sum())

    @cached_property
    def gravity(self) -> float:
        """Size of the gravity in the body's model [m/s^2]."""
        return float(np.linalg.norm(self.model.opt.gravity))

    @cached_property
    def weight(self) -> float:
        """Mass times gravity [N]."""
        return self.mass * self.gravity

    @cached_property
    def height(self) -> float:
        """From the lowest to the highest point of the body as it is drawn, in its neutral pose [m]."""
        return drawn_height(self.model, self.neutral)

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
        """Raises MissingRole, with `what` in the message, if the character has no feet."""
        if not self.feet:
            raise MissingRole(
                f"{what} needs feet, and {self.name!r} has none; "
                + ("name them: load_character(..., feet=[...])" if self.model.ngeom else "its links have no shapes"),
                character=self.name,
            )

    @cached_property
    def contact_points(self) -> tuple[ContactPoint, ...]:
        """The contact points of all feet, in order."""
        return tuple(point for foot in self.feet for point in foot.points)

    @cached_property
    def root_dofs(self) -> slice:
        """The rows of v that no motor drives: six of a free root, three of a planar one, none of a fixed one."""
        return slice(0, root_width(self.joints))

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
        """Returns `q` as an array (nq,) with unit quaternions; raises BadValue if it is no pose of this body."""
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

    # -- actuators ----------------------------------------------------------------------------------------------
    def actuator_controls(self, torque: ArrayLike, state: State | None = None) -> Array:
        """The controls (nu,) of the actuators in the body's file that give joint torques (nv,), for `data.ctrl`.

        A motor needs the torque alone; a servo also the state, at every step. Controls keep to their ranges. Torques of
        joints without actuators are left out. Other actuators (muscles, tendons) raise BadValue.
        """
        from counterpoise.character.actuators import actuator_controls

        return actuator_controls(self, torque, state)

    # -- states -------------------------------------------------------------------------------------------------
    def state(self, q: ArrayLike | None = None, v: ArrayLike | None = None, time: float = 0.0) -> State:
        """A state of this body; by default the neutral pose, at rest."""
        from counterpoise.character.state import State

        pose = self.neutral if q is None else self.check_pose(q)
        velocity = np.zeros(self.nv) if v is None else np.array(v, float)
        if velocity.shape != (self.nv,) or not np.isfinite(velocity).all():
            raise BadValue(f"a velocity of {self.name!r} is {self.nv} finite numbers; got shape {velocity.shape}")
        return State(pose, velocity, float(time))

    def snapshot(self, state: State | None = None) -> Snapshot:
        """Kinematics and dynamics at one state; by default the neutral pose, at rest."""
        from counterpoise.character.snapshot import take_snapshot

        return take_snapshot(self, state if state is not None else self.state())

    def rescaled(
        self, lengths: Mapping[str, float] | None = None, masses: Mapping[str, float] | None = None
    ) -> Character:
        """A new body with other proportions: factors by segment, by side ("left") or by group ("arms", "legs", "all").

        A segment's length factor scales its shape and the places of its children. Its mass changes only by `masses`.
        Its inertia is multiplied by the mass factor and by the square of the length factor.
        """
        from counterpoise.character.rescale import rescaled

        return rescaled(self, lengths or {}, masses or {})

    def with_segment(self, name: str, parent: str | None = None, **options: Any) -> Character:
        """A new body with one more segment; see `editing.add_segment`."""
        from counterpoise.character.editing.builder import build_on

        return build_on(self).segment(name, parent, **options).character()

    def without_segment(self, segment: str, branch: bool = False) -> Character:
        """A new body without a segment; its children go to its parent, or are removed too (`branch`)."""
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
