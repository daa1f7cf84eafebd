"""The actuators of the file a body came from: how strong they make its joints, and which controls give a torque.

A character has torques at its joints and no actuators. Its file may have some. With gear G (dofs, actuators), forces f
and the control u of each actuator,

    tau = G f,    f = gain u                       a motor
    tau = G f,    f = gain u + b0 + b1 l + b2 dl   a servo; l is its length, G^T q, and dl = G^T v

`actuator_controls` solves this for u. Where several actuators drive one joint, each gives its share by strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.joints import Joint
from counterpoise.errors import BadValue

if TYPE_CHECKING:
    from counterpoise.character.character import Character
    from counterpoise.character.state import State

Range = tuple[float, float]
UNBOUNDED: Range = (-np.inf, np.inf)
_AT_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_TARGETS = {
    int(mujoco.mjtTrn.mjTRN_TENDON): "a tendon",
    int(mujoco.mjtTrn.mjTRN_SITE): "a site",
    int(mujoco.mjtTrn.mjTRN_BODY): "a body",
    int(mujoco.mjtTrn.mjTRN_SLIDERCRANK): "a slider-crank",
}
_WIDTHS = {int(mujoco.mjtJoint.mjJNT_FREE): 6, int(mujoco.mjtJoint.mjJNT_BALL): 3}  # dofs; one of all others


@dataclass(frozen=True)
class Actuator:
    """One actuator of the file."""

    name: str
    kind: str  # "motor", "servo" (its force depends on the joint's state too), or in words what else it is
    joint: str  # the MuJoCo joint it drives; "" if it drives something else
    gear: tuple[float, ...]  # one number for each dof of the joint
    gain: float  # force for one unit of control
    bias: tuple[float, float, float]  # b0, b1, b2 of a servo
    control: int  # index of its control in `ctrl`
    controls: int = 1  # the number of its controls
    control_range: Range = UNBOUNDED
    force_range: Range = UNBOUNDED

    @property
    def forces(self) -> Range:
        """The smallest and largest force it can give, as far as its ranges say."""
        low, high = self.force_range
        if self.kind == "motor" and np.isfinite(self.control_range).all():
            ends = sorted(self.gain * u for u in self.control_range)
            low, high = max(low, ends[0]), min(high, ends[1])
        return low, high

    @property
    def strength(self) -> float:
        """The force it can give in both directions; in its only direction if it has one."""
        return weaker_side(self.forces)


def weaker_side(limits: Range) -> float:
    """Returns the size of a range about zero: of its shorter side, or of its only side."""
    low, high = limits
    return float(min(-low, high)) if low < 0.0 < high else float(max(abs(low), abs(high)))


def read_actuators(model: mujoco.MjModel) -> tuple[Actuator, ...]:
    """Returns all actuators of a model, in its order."""
    return tuple(_read(model, i) for i in range(model.nactuator))


def _read(model: mujoco.MjModel, i: int) -> Actuator:
    target, joint, width = int(model.actuator_trntype[i]), "", 0
    if target in _AT_JOINT:
        at = int(model.actuator_trnid[i, 0])
        joint, width = model.joint(at).name, _WIDTHS.get(int(model.jnt_type[at]), 1)
    low, high = (float(x) for x in model.actuator_ctrlrange[i]) if model.actuator_ctrllimited[i] else UNBOUNDED
    weak, strong = (float(x) for x in model.actuator_forcerange[i]) if model.actuator_forcelimited[i] else UNBOUNDED
    b = [float(x) for x in model.actuator_biasprm[i, :3]]
    return Actuator(
        name=model.actuator(i).name or f"actuator {i}",
        kind=_kind(model, i),
        joint=joint,
        gear=tuple(float(x) for x in model.actuator_gear[i, :width]),
        gain=float(model.actuator_gainprm[i, 0]),
        bias=(b[0], b[1], b[2]),
        control=int(model.actuator_ctrladr[i]),
        controls=int(model.actuator_ctrlnum[i]),
        control_range=(low, high),
        force_range=(weak, strong),
    )


def _kind(model: mujoco.MjModel, i: int) -> str:
    target = int(model.actuator_trntype[i])
    if target not in _AT_JOINT:
        return f"an actuator of {_TARGETS.get(target, 'something else')}"
    if int(model.actuator_dyntype[i]) != int(mujoco.mjtDyn.mjDYN_NONE):
        return "an actuator with activation dynamics"
    if int(model.actuator_gaintype[i]) != int(mujoco.mjtGain.mjGAIN_FIXED) or int(model.actuator_ctrlnum[i]) != 1:
        return "an actuator whose gain varies"
    if float(model.actuator_gainprm[i, 0]) == 0.0:
        return "an actuator without gain"
    bias = int(model.actuator_biastype[i])
    if bias == int(mujoco.mjtBias.mjBIAS_NONE):
        return "motor"
    return "servo" if bias == int(mujoco.mjtBias.mjBIAS_AFFINE) else "an actuator with a bias of its own"


# ---------------------------------------------------------------------------------------------------------- strength


def joint_strengths(
    model: mujoco.MjModel, actuators: Sequence[Actuator], joints: Sequence[Joint]
) -> tuple[dict[str, list[float]], list[str]]:
    """Returns torque limits [N m, N] by joint, one for each dof, and the names of joints that have none.

    The smaller counts of the joint's `actuatorfrcrange` and the sum of what its actuators can give.
    """
    limits: dict[str, list[float]] = {}
    unknown = []
    for joint in joints:
        found = [x for part in joint.parts for x in _part_strengths(model, actuators, part)]
        if np.isfinite(found).all():
            limits[joint.name] = found
        else:
            unknown.append(joint.name)
    return limits, unknown


def _part_strengths(model: mujoco.MjModel, actuators: Sequence[Actuator], part: str) -> list[float]:
    """Returns the torque limit of each dof of one MuJoCo joint; infinite where nothing is given."""
    j = model.joint(part).id
    width = _WIDTHS.get(int(model.jnt_type[j]), 1)
    own = weaker_side(tuple(model.jnt_actfrcrange[j])) if model.jnt_actfrclimited[j] else np.inf
    mine = [a for a in actuators if a.joint == part]
    out = []
    for dof in range(width):
        driven = sum(abs(a.gear[dof]) * a.strength for a in mine if a.gear[dof] != 0.0)
        limit = min(own if own > 0.0 else np.inf, driven if driven > 0.0 else np.inf)
        out.append(float(limit))
    return out


def add_rotors(spec: mujoco.MjSpec, model: mujoco.MjModel) -> None:
    """Gives joints the armature and damping of their actuators, which leave the body: gear^2 of each."""
    for i in range(model.nactuator):
        if int(model.actuator_trntype[i]) not in _AT_JOINT:
            continue
        joint = spec.joint(model.joint(int(model.actuator_trnid[i, 0])).name)
        if joint is None or int(joint.type) in _WIDTHS:
            continue
        square = float(model.actuator_gear[i, 0]) ** 2
        joint.armature = float(joint.armature) + square * float(model.actuator_armature[i])
        damping = np.array(joint.damping, float)
        damping[0] += square * float(model.actuator_damping[i])
        joint.damping = damping


# ---------------------------------------------------------------------------------------------------------- controls


def actuator_controls(character: Character, torque: ArrayLike, state: State | None = None) -> Array:
    """Returns the controls (nu,) of the file's actuators that give joint torques (nv,); see `Character`'s method."""
    tau, actuators = np.asarray(torque, float), character.roles.actuators
    if tau.shape != (character.nv,) or not np.isfinite(tau).all():
        raise BadValue(f"torques of {character.name!r} are {character.nv} finite numbers; got shape {tau.shape}")
    if not actuators:
        raise BadValue(f"the file of {character.name!r} has no actuators; its torques can be applied as qfrc_applied")
    controls = np.zeros(max(a.control + a.controls for a in actuators))
    model = character.model
    starts = {model.joint(j).name: j for j in range(model.njnt)}
    for joint in dict.fromkeys(a.joint for a in actuators):
        group = [a for a in actuators if a.joint == joint]
        if joint and joint not in starts:  # of another figure in the file
            continue
        for one in group:
            _check_kind(one, state)
        at = int(model.jnt_dofadr[starts[joint]])
        for one, force in zip(group, _shared_forces(group, tau[at : at + len(group[0].gear)]), strict=True):
            if one.kind == "servo" and state is not None:
                q = int(model.jnt_qposadr[starts[joint]])
                force -= one.bias[0] + one.gear[0] * (one.bias[1] * state.q[q] + one.bias[2] * state.v[at])
            controls[one.control] = np.clip(force / one.gain, *one.control_range)
    return controls


def _check_kind(actuator: Actuator, state: State | None) -> None:
    if actuator.kind == "motor":
        return
    if actuator.kind == "servo" and len(actuator.gear) == 1:
        if state is None:
            raise BadValue(
                f"actuator {actuator.name!r} is a servo, not a motor: its force depends on the state; "
                "give it: actuator_controls(torque, state)",
                actuator=actuator.name,
            )
        return
    kind = "a servo of a ball joint" if actuator.kind == "servo" else actuator.kind
    raise BadValue(
        f"actuator {actuator.name!r} is {kind}, not a motor: no control gives a torque; replace it by a <motor>, or "
        "apply the torques as qfrc_applied",
        actuator=actuator.name,
    )


def _shared_forces(group: Sequence[Actuator], tau: Array) -> Array:
    """Returns the forces of the actuators of one joint, least in proportion to their strengths."""
    G = np.array([a.gear for a in group], float).T  # (dofs, actuators)
    strengths = np.array([a.strength for a in group])
    scale = strengths if np.isfinite(strengths).all() and (strengths > 0.0).all() else np.ones(len(group))
    return np.asarray(scale * (np.linalg.pinv(G * scale) @ tau))


# -------------------------------------------------------------------------------------------------------------- JSON


def actuator_to_json(actuator: Actuator) -> dict[str, Any]:
    out = {**vars(actuator), "gear": list(actuator.gear), "bias": list(actuator.bias)}
    for key in ("control_range", "force_range"):
        out[key] = [x if np.isfinite(x) else None for x in getattr(actuator, key)]
    return out


def actuator_from_json(data: dict[str, Any]) -> Actuator:
    def limits(key: str) -> Range:
        low, high = data[key]
        return (-np.inf if low is None else float(low), np.inf if high is None else float(high))

    b = [float(x) for x in data["bias"]]
    return Actuator(
        str(data["name"]), str(data["kind"]), str(data["joint"]), tuple(float(x) for x in data["gear"]),
        float(data["gain"]), (b[0], b[1], b[2]), int(data["control"]), int(data["controls"]), limits("control_range"),
        limits("force_range"),
    )  # fmt: skip
