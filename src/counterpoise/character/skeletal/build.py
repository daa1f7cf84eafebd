"""Builds a character on a bare skeleton: a file gives joints and offsets, this adds shapes, masses, feet and strength.

Every joint becomes a segment of the same name, so names and hierarchy are kept. The root is free, every other joint is
a ball, with three slides before it where the file moves the joint. Segments are capsules along the bones with masses
from `flesh`; joints without length become light bodies of 2 cm.

`model.qpos0` is exactly the skeleton at rest. `neutral` is the stance (the rest pose, or a pose given) with its soles
on the ground.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.feet import guess_feet
from counterpoise.character.figure import LEFT_TINT, MIDDLE_TINT, RIGHT_TINT
from counterpoise.character.finish import finish
from counterpoise.character.physics import CONTACT_SOLIMP, CONTACT_SOLREF, new_spec
from counterpoise.character.roles import ContactPoint, Foot, Roles, Side, roles_to_json
from counterpoise.character.skeletal.flesh import Flesh, FleshShape, flesh_of
from counterpoise.character.skeletal.parts import read_parts
from counterpoise.character.skeletal.tree import End, JointTree, sides_in, straightened, tree_of
from counterpoise.defaults import GROUND_FRICTION
from counterpoise.errors import BadValue

MAX_COLLIDING = 120  # joints; the segments of a figure with more do not collide with each other
NEIGHBOURS = 3  # segments that are at most this many joints apart do not collide
_TINTS = {"left": LEFT_TINT, "right": RIGHT_TINT, "middle": MIDDLE_TINT}


def character_from_skeleton(
    name: str,
    names: Sequence[str],
    parents: Sequence[int],
    offsets: ArrayLike,
    rest: ArrayLike | None = None,
    ends: Sequence[End] = (),
    *,
    stance: ArrayLike | None = None,
    moving: Sequence[int] = (),
    mass: float | None = None,
    remarks: Sequence[str] = (),
) -> Character:
    """Builds a character on a tree of joints (z up, x forward, metres; one root, every parent before its children).

    `offsets` (n, 3) and `rest` (n, 4) place each joint in its parent's frame; `ends` (joint, offset) say where limbs
    end. `stance` (n, 4) is a pose, parent from joint, in which the figure stands upright, if its rest pose does not.
    `moving` joints may also slide. `mass` [kg] is estimated from the height unless it is given. `remarks` are put
    before what is guessed here, in `character.roles.guessed`.
    """
    tree = tree_of(names, parents, offsets, rest, ends, stance)
    parts = read_parts(tree.names, tree.parents, tree.offsets)
    tree = straightened(tree, parts)
    flesh = flesh_of(tree, parts, mass)
    spec = new_spec(name)
    torque: dict[str, float] = {}
    joint_names = _joint_names(tree.names)
    bodies: list[Any] = []
    for i, parent in enumerate(tree.parents):
        host = spec.worldbody if parent < 0 else bodies[parent]
        body = host.add_body(name=tree.names[i], pos=tree.offsets[i], quat=tree.rest[i])
        bodies.append(body)
        if parent < 0:
            body.add_freejoint(name="root")
        else:
            _add_joints(body, joint_names[i], flesh.strength[i], flesh.damping[i], i in set(moving), torque)
        for shape in flesh.shapes[i]:
            trunk = parts.humanoid and parts.limbs[i] < 0
            _add_shape(body, shape, tree, i, "middle" if trunk else parts.sides[i])
    model = _compile(spec)
    data, neutral = _standing(model, tree)
    feet, how = _feet(model, data, tree, flesh)
    neutral[:3] -= _ground_point(model, data, feet)
    if len(tree.names) <= MAX_COLLIDING:
        _exclude_touching(spec, model, neutral)
    person = "as a person" if parts.humanoid else "by volume"
    guessed = (*remarks, how, f"mass {person}: {flesh.mass:.1f} kg at {flesh.height:.2f} m")
    hands = tuple(tree.names[i] for i in parts.hands)
    roles = {
        "format": 1,
        "name": name,
        **roles_to_json(Roles(tree.names[0], tuple(feet), hands, guessed)),
        "torque": torque,
        "balls": {},
        "parameters": {},
        "neutral": neutral.tolist(),
    }
    return finish(spec, roles)


def _joint_names(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the names of the joints: those of their segments, except 'root', which is the free joint's."""
    return tuple(name if name != "root" else "root_joint" for name in names)


# ------------------------------------------------------------------------------------------------ MuJoCo elements


def _add_joints(body: Any, name: str, torque: float, damping: float, slides: bool, torques: dict[str, float]) -> None:
    if slides:
        for letter, axis in zip("xyz", np.eye(3), strict=True):
            added = body.add_joint(name=f"{name}.{letter}", type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
            added.damping[0], torques[f"{name}.{letter}"] = 10.0 * damping, 10.0 * torque
    added = body.add_joint(name=name, type=mujoco.mjtJoint.mjJNT_BALL)
    added.damping[0], added.armature = damping, 0.01
    torques[name] = torque


def _add_shape(body: Any, shape: FleshShape, tree: JointTree, joint: int, side: Side) -> None:
    kind = {"capsule": "CAPSULE", "sphere": "SPHERE", "box": "BOX"}[shape.kind]
    number = len(body.geoms)
    geom = body.add_geom(
        name=f"{tree.names[joint]}_{number}", type=getattr(mujoco.mjtGeom, f"mjGEOM_{kind}"), rgba=list(_TINTS[side])
    )
    geom.size = [*shape.size, *[0.0] * (3 - len(shape.size))]
    geom.mass = shape.mass
    if shape.end is not None:
        geom.fromto = [0.0, 0.0, 0.0, *shape.end]
    if shape.place is not None:
        geom.pos = shape.place
    if shape.turn is not None:
        geom.quat = shape.turn
    geom.friction = [GROUND_FRICTION, 0.005, 0.0001]  # sliding, and MuJoCo's defaults for torsion and rolling
    geom.solref, geom.solimp = list(CONTACT_SOLREF), list(CONTACT_SOLIMP)
    if not shape.collides:
        geom.contype = geom.conaffinity = 0
    elif len(tree.names) > MAX_COLLIDING:  # collides with the ground and other figures only
        geom.contype = 0


def _compile(spec: mujoco.MjSpec) -> mujoco.MjModel:
    try:
        return spec.compile()
    except (ValueError, RuntimeError) as error:
        raise BadValue(f"MuJoCo cannot build this body: {' '.join(str(error).split())}") from None


def _standing(model: mujoco.MjModel, tree: JointTree) -> tuple[mujoco.MjData, Array]:
    """Returns the kinematics of the stance and its pose (nq,)."""
    q = np.array(model.qpos0)
    for i, name in enumerate(tree.names):
        address = int(model.jnt_qposadr[model.body(name).jntadr[0] + model.body(name).jntnum[0] - 1])
        if i == 0:
            q[address + 3 : address + 7] = tree.stance[0]
        else:
            q[address : address + 4] = spatial.multiply(spatial.conjugate(tree.rest[i]), tree.stance[i])
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    return data, q


def _feet(model: mujoco.MjModel, data: mujoco.MjData, tree: JointTree, flesh: Flesh) -> tuple[list[Foot], str]:
    """Returns the feet (by name with their soles, otherwise the lowest leaves of the tree) and how they were found."""
    if not flesh.soles and len(tree.names) > MAX_COLLIDING:
        return [], f"no feet: no joint has such a name, and {len(tree.names)} joints are too many for a guess"
    if not flesh.soles:
        return guess_feet(model, data, None)
    places = sides_in(tree)
    feet = []
    for ankle, points in flesh.soles.items():
        name = tree.names[ankle]
        side = flesh.parts.sides[ankle] if flesh.parts.sides[ankle] != "middle" else places[ankle]
        contacts = tuple(
            ContactPoint(f"{name}_{k}", tree.names[joint], (float(p[0]), float(p[1]), float(p[2])))
            for k, (joint, p) in enumerate(points)
        )
        feet.append(Foot(name, name, side, contacts))
    return feet, f"feet by name: {', '.join(foot.name for foot in feet)}"


def _ground_point(model: mujoco.MjModel, data: mujoco.MjData, feet: Sequence[Foot]) -> Array:
    """Returns the centre of the contact points at the height of the lowest; under the root if there are no feet."""
    places = [
        data.xpos[model.body(p.body).id] + data.xmat[model.body(p.body).id].reshape(3, 3) @ np.array(p.position)
        for foot in feet
        for p in foot.points
    ]
    if not places:
        return np.array([*data.xpos[1, :2], float(data.xpos[1:, 2].min())])
    return np.array([*np.mean(places, axis=0)[:2], np.min(places, axis=0)[2]])


def _exclude_touching(spec: mujoco.MjSpec, model: mujoco.MjModel, neutral: Array) -> None:
    """Excludes collisions of segments that touch at rest or standing, and of neighbours: the shapes are only rough."""
    pairs: set[tuple[int, int]] = set()
    data = mujoco.MjData(model)
    for pose in (model.qpos0, neutral):
        data.qpos[:] = pose
        mujoco.mj_fwdPosition(model, data)
        pairs |= {_pair(*(int(model.geom_bodyid[g]) for g in contact.geom)) for contact in data.contact}
    above = [int(p) for p in model.body_parentid]
    beside: list[set[int]] = [set() for _ in above]
    for b, parent in enumerate(above):
        if parent > 0:
            beside[b].add(parent)
            beside[parent].add(b)
    for b in range(1, model.nbody):
        near = {b}
        for _ in range(NEIGHBOURS):
            near = near.union(*(beside[k] for k in near))
        pairs |= {_pair(b, k) for k in near if k != b}
    for first, second in sorted(pairs):
        if above[second] != first:  # parent and child do not collide in MuJoCo
            spec.add_exclude(bodyname1=model.body(first).name, bodyname2=model.body(second).name)


def _pair(first: int, second: int) -> tuple[int, int]:
    return min(first, second), max(first, second)


__all__ = ["character_from_skeleton"]
