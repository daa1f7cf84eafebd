"""Draft: a figure being edited, its model as an XML tree and its roles as plain data.

The tree is the character's text with default classes and frames written into the elements, so that each element is
complete and a branch can be moved anywhere. The tendons of ball limits are removed and added again at the end
(`Draft.character`). Motors, sensors and key poses belong to the simulation and are dropped.

Everything in a segment's frame is moved by one function, `Draft.carry`: x -> A x + d with A orthogonal. A shift
moves a frame's origin, a rotation turns a limb, a reflection mirrors it.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterable
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.ball_tendons import LIMIT_GROUP, add_ball_limit
from counterpoise.character.character import Character
from counterpoise.character.editing.text import (
    IDENTITY,
    UP,
    Frame,
    flatten_frames,
    local_frame,
    numbers,
    put,
    reach,
    walk,
    write_out_defaults,
)
from counterpoise.character.finish import finish
from counterpoise.character.limits import BallLimit, limit_from_json, limit_to_json
from counterpoise.character.mjcf import TEXT_NAME
from counterpoise.character.roles import roles_to_json
from counterpoise.character.shapes import solids_in, world_reach
from counterpoise.errors import BadValue, unknown_name
from counterpoise.files import one_line
from counterpoise.spatial import compose, conjugate, from_matrix, to_matrix

_ALTERNATIVES = re.compile(r"\b(fromto|euler|axisangle|xyaxes|zaxis|fullinertia|degree)\b")  # to pos, quat, radians
_DROPPED = ("keyframe", "actuator", "sensor", "equality", "default")
_PLACED = ("body", "geom", "site", "camera", "light")


class Draft:
    """A character being edited. The functions of `editing` change it, then return its `character()`.

    It adds to a character's roles: `planar`; `drawn`, the direction of each bone made by these functions; `origins`,
    where the frame of a former root began; `order`, the order of the segments before the first reroot.
    """

    def __init__(self, source: Character) -> None:
        text = source.to_mjcf()
        if _ALTERNATIVES.search(re.sub(r"<text\b.*?</text>", "", text, flags=re.DOTALL)):
            spec = source.spec()
            spec.compile()
            text = spec.to_xml()
        self.source = source
        self.tree = ElementTree.fromstring(text)
        self.roles = _take_roles(self.tree, source)
        write_out_defaults(self.tree)
        world = self.tree.find("worldbody")
        self.world = world if world is not None else ElementTree.SubElement(self.tree, "worldbody")
        flatten_frames(self.world)
        self._strip()
        self.bodies: dict[str, Element] = {}
        self.parent: dict[str, str] = {}  # "" is the world
        for host, body in walk(self.world):
            self.bodies[body.get("name", "")] = body
            self.parent[body.get("name", "")] = host.get("name", "") if host is not self.world else ""
            for number, joint in enumerate(body.findall("joint")):
                if not joint.get("name"):
                    joint.set("name", f"{body.get('name')}_joint{number}")
        self.stance = _stance(self.roles, source.model)
        self._frames: dict[str, Frame] | None = None

    # -- asking ---------------------------------------------------------------------------------------------------
    @property
    def planar(self) -> bool:
        """Whether the figure lies in the x-z plane: as it was begun, else whether all its joints stay in that plane."""
        if "planar" in self.roles:
            return bool(self.roles["planar"])
        if not self.bodies:
            return str(self.roles["name"]) == "planar"
        for name, body in self.bodies.items():
            R = to_matrix(self.frame(name)[1])
            for joint in body.findall("joint"):
                kind = joint.get("type", "hinge")
                along = abs(float((R @ numbers(joint, "axis", UP))[1]))
                if (
                    kind in ("free", "ball")
                    or (kind == "hinge" and along < 0.999)
                    or (kind == "slide" and along > 1e-3)
                ):
                    return False
        return True

    def body(self, name: object) -> Element:
        """A segment's element; an unknown name raises an error with the nearest one."""
        found = self.bodies.get(name) if isinstance(name, str) else None
        if found is None:
            raise unknown_name("segment", name, self.bodies, str(self.roles["name"]))
        return found

    def children(self, name: str) -> list[str]:
        return [child.get("name", "") for child in self.bodies[name].findall("body")]

    def branch(self, name: str) -> list[str]:
        """The segment and all that hangs from it."""
        return [name, *(body.get("name", "") for _, body in walk(self.bodies[name]))]

    def joint_names(self) -> set[str]:
        return {j.get("name", "") for body in self.bodies.values() for j in body.findall("joint")}

    def frame(self, name: str) -> Frame:
        """Where a segment's frame is in the world, in the zero pose."""
        if self._frames is None:
            self._frames = {}
            for host, body in walk(self.world):
                over = (np.zeros(3), IDENTITY) if host is self.world else self._frames[host.get("name", "")]
                self._frames[body.get("name", "")] = compose(over, local_frame(body))
        return self._frames[name]

    def bone(self, name: str) -> tuple[Array, float]:
        """Direction (segment's frame) and length of a segment, from its joint to its far end.

        A segment made here has a known direction and ends where its shape ends. Any other ends at the joint of its only
        child, or it runs from its joint through its centre of mass.
        """
        body = self.bodies[name]
        drawn = self.roles["drawn"].get(name)
        if drawn is not None:
            direction = np.array(drawn, float)
            return direction, reach(body, direction)
        places = {tuple(np.round(numbers(c, "pos", np.zeros(3)), 6)) for c in body.findall("body")} - {(0.0, 0.0, 0.0)}
        if len(places) == 1:
            end = np.array(places.pop())
            return end / np.linalg.norm(end), float(np.linalg.norm(end))
        inertial = body.find("inertial")
        centre = numbers(inertial, "pos", np.zeros(3)) if inertial is not None else np.zeros(3)
        size = float(np.linalg.norm(centre))
        direction = centre / size if size > 1e-6 else to_matrix(self.frame(name)[1]).T @ UP
        return direction, max(reach(body, direction), 2.0 * size)

    # -- changing -------------------------------------------------------------------------------------------------
    def add_body(self, name: str, parent: str, place: ArrayLike) -> Element:
        """A new, empty segment, its frame aligned with the world in the zero pose."""
        host = self.bodies[parent] if parent else self.world
        over = self.frame(parent) if parent else (np.zeros(3), IDENTITY)
        body = ElementTree.SubElement(host, "body", name=name)
        put(body, "pos", place)
        put(body, "quat", conjugate(over[1]))
        self.bodies[name], self.parent[name] = body, parent
        if self._frames is not None:
            self._frames[name] = compose(over, local_frame(body))
        return body

    def moved(self) -> None:
        """Must be called after frames have moved."""
        self._frames = None

    def recentre(self, name: str, place: ArrayLike) -> None:
        """Puts the origin of a segment's frame at `place` (its own frame); nothing moves in the world."""
        position, turn = local_frame(self.bodies[name])
        put(self.bodies[name], "pos", compose((position, turn), (place, IDENTITY))[0])
        self.carry(name, np.eye(3), -np.asarray(place, float))

    def carry(self, name: str, A: Array, shift: Array) -> None:
        """Moves everything in a segment's frame by x -> A x + shift; a reflection A mirrors it in y."""
        flip = float(np.linalg.det(A))

        def turned(q: Array) -> Array:
            return q * (1.0, -1.0, 1.0, -1.0) if flip < 0.0 else from_matrix(A @ to_matrix(q))

        for part in self.bodies[name]:
            kind = part.get("type", "hinge") if part.tag == "joint" else ""
            if kind == "free":
                continue
            if part.tag in ("inertial", "joint", *_PLACED):
                put(part, "pos", A @ numbers(part, "pos", np.zeros(3)) + shift)
            if kind == "ball":
                self._carry_ball(part, A, flip)
            elif kind:
                put(part, "axis", (flip if kind == "hinge" else 1.0) * (A @ numbers(part, "axis", UP)))
            elif part.tag == "light":
                put(part, "dir", A @ numbers(part, "dir", -UP))
            elif part.tag != "body" or flip < 0.0:
                put(part, "quat", turned(numbers(part, "quat", IDENTITY)))
        for point in self._points(name):
            point["position"] = (A @ np.array(point["position"], float) + shift).tolist()
        if name in self.roles["drawn"]:
            self.roles["drawn"][name] = (A @ np.array(self.roles["drawn"][name])).tolist()
        if name in self.roles["origins"]:
            self.roles["origins"][name] = (A @ np.array(self.roles["origins"][name]) + shift).tolist()
        self.moved()

    def stretch(self, name: str, direction: Array, factor: float) -> None:
        """Moves a segment's children and contact points along its bone by a factor; its shape stays."""
        S = np.eye(3) + (factor - 1.0) * np.outer(direction, direction)
        for part in self.bodies[name]:
            if part.tag in ("body", "site", "camera", "light"):
                put(part, "pos", S @ numbers(part, "pos", np.zeros(3)))
        for point in self._points(name):
            point["position"] = (S @ np.array(point["position"], float)).tolist()
        if name in self.roles["origins"]:
            self.roles["origins"][name] = (S @ np.array(self.roles["origins"][name])).tolist()
        self.moved()

    def set_ball(self, name: str, limit: BallLimit | None) -> None:
        """Sets or removes the limit of a ball joint."""
        self.roles["balls"].pop(name, None)
        if limit is not None:
            self.roles["balls"][name] = limit_to_json(limit)

    def forget(self, names: Iterable[str]) -> None:
        """Removes segments that have left the tree from roles, stance, contacts and tendons."""
        gone = set(names)
        parts: dict[str, set[str]] = {"joint": set(), "geom": set(), "site": set()}
        for name in gone:
            for part in self.bodies[name]:
                if part.tag in parts and part.get("name"):
                    parts[part.tag].add(part.get("name", ""))
            del self.bodies[name], self.parent[name]
            self.roles["drawn"].pop(name, None)
            self.roles["origins"].pop(name, None)
        for joint in parts["joint"]:
            self.stance.pop(joint, None)
            self.roles["balls"].pop(joint, None)
        known = self.joint_names()
        self.roles["torque"] = {
            n: t for n, t in self.roles["torque"].items() if n in known or any(k.startswith(f"{n}_") for k in known)
        }
        for foot in self.roles["feet"]:
            foot["points"] = [p for p in foot["points"] if p["body"] not in gone]
        self.roles["feet"] = [f for f in self.roles["feet"] if f["body"] not in gone and f["points"]]
        for key in ("hands", "order"):
            if key in self.roles:
                self.roles[key] = [n for n in self.roles[key] if n not in gone]
        self._drop("contact", lambda e: {e.get("body1"), e.get("body2")} & gone)
        self._drop("contact", lambda e: {e.get("geom1"), e.get("geom2")} & parts["geom"])
        for tag, lost in parts.items():
            self._drop("tendon", lambda e, tag=tag, lost=lost: any(part.get(tag) in lost for part in e))
        self.moved()

    # -- finishing ------------------------------------------------------------------------------------------------
    def spec(self) -> mujoco.MjSpec:
        """The draft as a specification, ball limits included."""
        try:
            spec = mujoco.MjSpec.from_string(ElementTree.tostring(self.tree, encoding="unicode"))
        except (ValueError, RuntimeError) as error:
            raise BadValue(f"MuJoCo cannot build this body: {one_line(error)}") from None
        except RecursionError:
            raise BadValue(f"a chain of {len(self.bodies)} segments is too deep for an MJCF file") from None
        for name, limit in self.roles["balls"].items():
            add_ball_limit(spec, spec.joint(name).parent, name, limit_from_json(limit))
        return spec

    def compiled(self, spec: mujoco.MjSpec | None = None) -> mujoco.MjModel:
        """The draft's model as it stands."""
        try:
            return (spec if spec is not None else self.spec()).compile()
        except (ValueError, RuntimeError) as error:
            raise BadValue(f"MuJoCo cannot build this body: {one_line(error)}") from None

    def character(self, neutral: ArrayLike | None = None) -> Character:
        """The finished figure. Its neutral pose is computed from its stance unless one is given."""
        spec = self.spec()
        model = self.compiled(spec)
        stance = np.array(model.qpos0, float)
        for name, value in self.stance.items():
            stance[_qpos(model, model.joint(name).id)] = value
        if "planar" in self.roles and not self.roles["feet"]:
            _set_down(model, stance)
        roles = copy.deepcopy(self.roles)
        roles.pop("neutral", None)
        roles["stance"] = stance.tolist()
        if neutral is not None:
            roles["neutral"] = np.asarray(neutral, float).tolist()
        return finish(spec, roles)

    # -- inside ---------------------------------------------------------------------------------------------------
    def _points(self, name: str) -> list[dict[str, Any]]:
        return [p for foot in self.roles["feet"] for p in foot["points"] if p["body"] == name]

    def _carry_ball(self, joint: Element, A: Array, flip: float) -> None:
        stored = self.roles["balls"].get(joint.get("name", ""))
        if stored is None:
            return
        limit = limit_from_json(stored)
        rest = np.concatenate((limit.rest[:1], flip * (A @ limit.rest[1:])))
        low, high = limit.twist if flip > 0.0 else (-limit.twist[1], -limit.twist[0])
        self.set_ball(
            joint.get("name", ""), BallLimit(A @ limit.axis, rest, limit.normals @ A.T, limit.offsets, (low, high))
        )

    def _drop(self, section: str, gone: Any) -> None:
        for host in self.tree.findall(section):
            for part in list(host):
                if gone(part):
                    host.remove(part)

    def _strip(self) -> None:
        for tag in _DROPPED:
            for section in self.tree.findall(tag):
                self.tree.remove(section)
        held = str(LIMIT_GROUP)
        self._drop("tendon", lambda e: e.get("group") == held)
        for _, body in walk(self.world):
            for site in body.findall("site"):
                if site.get("group") == held:
                    body.remove(site)


def _take_roles(tree: Element, source: Character) -> dict[str, Any]:
    roles: dict[str, Any] = {"format": 1, "name": source.name, **roles_to_json(source.roles)}
    for custom in tree.findall("custom"):
        for text in list(custom):
            if text.get("name") == TEXT_NAME:
                roles = json.loads(text.get("data") or text.text or "{}")
                custom.remove(text)
        if len(custom) == 0:
            tree.remove(custom)
    for key in ("torque", "balls", "parameters", "drawn", "origins"):
        roles.setdefault(key, {})
    return roles


def _stance(roles: dict[str, Any], model: mujoco.MjModel) -> dict[str, Array]:
    """The stance wanted, joint by joint."""
    wanted = roles.get("stance") or roles.get("neutral") or model.qpos0
    q = np.asarray(wanted, float)
    return {model.joint(j).name: q[_qpos(model, j)].copy() for j in range(model.njnt) if model.joint(j).name}


def _qpos(model: mujoco.MjModel, joint: int) -> slice:
    start = int(model.jnt_qposadr[joint])
    return slice(start, start + {0: 7, 1: 4}.get(int(model.jnt_type[joint]), 1))


def _set_down(model: mujoco.MjModel, q: Array) -> None:
    """Moves a floating figure without feet up or down (in `q`) so that its lowest point touches the ground."""
    height = next(
        (
            int(model.jnt_qposadr[j]) + (2 if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE else 0)
            for j in range(model.njnt)
            if model.jnt_type[j] == mujoco.mjtJoint.mjJNT_FREE or model.joint(j).name == "root_z"
        ),
        None,
    )
    if height is None:
        return
    data = mujoco.MjData(model)
    data.qpos[:] = q
    mujoco.mj_kinematics(model, data)
    if solids := solids_in(model):
        q[height] += float(world_reach(solids, data, np.array([0.0, 0.0, -1.0])).max())


__all__ = ["Draft"]
