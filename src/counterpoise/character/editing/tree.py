"""Changes of a figure's tree: segments removed, renamed, mirrored onto the other side."""

from __future__ import annotations

import copy
from xml.etree.ElementTree import Element

import numpy as np

from counterpoise.character.editing.checks import check_name
from counterpoise.character.editing.draft import Draft
from counterpoise.character.editing.parts import check_joint_name
from counterpoise.character.editing.text import IDENTITY, UP, Frame, numbers, place_frame, put
from counterpoise.character.figure import LEFT_TINT, RIGHT_TINT
from counterpoise.character.rescale import segment_groups
from counterpoise.character.roles import other_side, side_of
from counterpoise.errors import BadValue

MIRROR = np.diag([1.0, -1.0, 1.0])
_SINGULAR = {"arm": "arms", "leg": "legs"}


def remove(draft: Draft, name: str, branch: bool) -> None:
    """Removes a segment; its children go to its parent and stay where they are in the zero pose."""
    body = draft.body(name)
    parent = draft.parent[name]
    children = draft.children(name)
    if not parent and children and not branch:
        raise BadValue(
            f"{name!r} is the root and {len(children)} segments hang from it; reroot the figure first, "
            f"for instance to {children[0]!r}",
            children=tuple(children),
        )
    host = draft.bodies[parent] if parent else draft.world
    gone = draft.branch(name) if branch else [name]
    at = list(host).index(body)
    if not branch:
        over = draft.frame(parent) if parent else (np.zeros(3), IDENTITY)
        for offset, child in enumerate(children):
            element = draft.bodies[child]
            place_frame(element, over, draft.frame(child))
            body.remove(element)
            host.insert(at + offset, element)
            draft.parent[child] = parent
    host.remove(body)
    draft.forget(gone)
    if not draft.bodies:
        draft.roles["root"] = ""


def rename_segment(draft: Draft, old: str, new: str) -> None:
    """Renames a segment everywhere."""
    body = draft.body(old)
    check_name(new, "segment", draft.bodies)
    body.set("name", new)
    draft.bodies = {new if n == old else n: b for n, b in draft.bodies.items()}
    draft.parent = {new if n == old else n: new if p == old else p for n, p in draft.parent.items()}
    taken = {g.get("name") for b in draft.bodies.values() for g in b.findall("geom")}
    geoms: dict[str, str] = {}
    for geom in body.findall("geom"):
        label = geom.get("name", "")
        fresh = new + label.removeprefix(old)
        if label.startswith(f"{old}_") and fresh not in taken:
            geom.set("name", fresh)
            geoms[label] = fresh
    for element in draft.tree.iter():
        for key in ("body1", "body2", "target"):
            if element.get(key) == old:
                element.set(key, new)
        for key in ("geom", "geom1", "geom2"):
            if element.get(key) in geoms:
                element.set(key, geoms[element.get(key, "")])
    roles = draft.roles
    roles["root"] = new if roles["root"] == old else roles["root"]
    roles["hands"] = [new if h == old else h for h in roles["hands"]]
    for key in ("drawn", "origins"):
        roles[key] = {new if n == old else n: v for n, v in roles[key].items()}
    if "order" in roles:
        roles["order"] = [new if n == old else n for n in roles["order"]]
    for foot in roles["feet"]:
        if foot["body"] == old:
            foot["body"], foot["side"] = new, side_of(new)
            foot["name"] = new if foot["name"] == old else foot["name"]
        for point in foot["points"]:
            point["body"] = new if point["body"] == old else point["body"]
    draft.moved()


def rename_joint(draft: Draft, old: str, new: str) -> None:
    """Renames a joint (both rows of a universal) everywhere."""
    joint = draft.source.joint(old)
    if joint.dofs.start < draft.source.root_dofs.stop:
        raise BadValue(f"{old!r} carries the root and must keep its name")
    check_joint_name(draft, new)
    names = {part: new + part.removeprefix(old) for part in joint.parts}
    taken = draft.joint_names()
    if clash := [n for n in names.values() if n in taken]:
        raise BadValue(f"there is already a joint {clash[0]!r}; choose another name")
    for element in draft.tree.iter("joint"):
        for key in ("name", "joint"):
            if element.get(key) in names:
                element.set(key, names[element.get(key, "")])
    names[old] = new
    draft.stance = {names.get(n, n): q for n, q in draft.stance.items()}
    for key in ("torque", "balls"):
        draft.roles[key] = {names.get(n, n): v for n, v in draft.roles[key].items()}
    for actuator in draft.roles.get("actuators", ()):
        actuator["joint"] = names.get(actuator["joint"], actuator["joint"])


# ------------------------------------------------------------------------------------------------------------- mirror


def limb_top(draft: Draft, name: str) -> str:
    """The uppermost segment of a limb: a segment itself, or `arm_left`, `legs_right`, ..."""
    if name in draft.bodies:
        return name
    word, _, side = str(name).rpartition("_")
    members = segment_groups(draft.source).get(f"{_SINGULAR.get(word, word)}_{side}", ())
    tops = [m for m in members if draft.parent[m] not in members]
    if len(tops) > 1:
        raise BadValue(f"{name!r} is more than one limb; mirror one of: {', '.join(tops)}")
    if not tops:
        draft.body(name)
    return tops[0]


def mirror(draft: Draft, name: str, replace: bool) -> None:
    """Adds a limb's mirror image (y -> -y, the plane through the root's origin) on the other side."""
    top = limb_top(draft, name)
    members = draft.branch(top)
    twins = {m: other_side(m) for m in members}
    if draft.parent[top] == "" or any(side_of(m) == "middle" or m == t for m, t in twins.items()):
        plain = next((m for m in members if side_of(m) == "middle"), top)
        raise BadValue(
            f"a limb to mirror has a side in every name, and {plain!r} has none; rename it to {plain + '_left'!r}"
        )
    there = [t for t in twins.values() if t in draft.bodies]
    if there and not replace:
        raise BadValue(f"{there[0]!r} exists already; pass replace=True to replace it", there=tuple(there))
    if both := set(there) & set(members):
        raise BadValue(f"{top!r} holds both sides, {min(both)!r} among them; mirror one side of it")
    over = top
    while over := draft.parent[over]:
        if over in there:
            raise BadValue(f"{top!r} hangs from {over!r}, which its mirror image would replace")
    for twin in there:
        if twin in draft.bodies:
            remove(draft, twin, branch=True)
    host_name = other_side(draft.parent[top])
    host_name = host_name if host_name in draft.bodies else draft.parent[top]
    middle = float(draft.frame(draft.roles["root"])[0][1])
    frames = {m: _mirrored(draft.frame(m), middle) for m in members}
    joints = _twin_joints(draft, members)
    clone = copy.deepcopy(draft.bodies[top])
    draft.bodies[host_name].append(clone)
    place_frame(clone, draft.frame(host_name), frames[top])
    for element in clone.iter():
        _rename_twin(element, joints, draft)
    _twin_roles(draft, twins, joints)
    for body in clone.iter("body"):
        draft.bodies[body.get("name", "")] = body
    for member, twin in twins.items():
        draft.parent[twin] = host_name if member == top else twins[draft.parent[member]]
        draft.carry(twin, MIRROR, np.zeros(3))
    for source, twin in joints.items():
        _settle_twin(draft, source, twin)
    _twin_excludes(draft, twins)
    draft.moved()


def _mirrored(frame: Frame, middle: float) -> Frame:
    position, turn = frame
    return position * (1.0, -1.0, 1.0) + np.array([0.0, 2.0 * middle, 0.0]), turn * (1.0, -1.0, 1.0, -1.0)


def _twin_joints(draft: Draft, members: list[str]) -> dict[str, str]:
    taken = draft.joint_names()
    out: dict[str, str] = {}
    for member in members:
        for joint in draft.bodies[member].findall("joint"):
            name = joint.get("name", "")
            twin = other_side(name)
            if twin == name or twin in taken:
                twin = f"{name}_{side_of(other_side(member))}"
            out[name] = twin
    return out


def _rename_twin(element: Element, joints: dict[str, str], draft: Draft) -> None:
    name = element.get("name")
    if element.tag == "joint":
        element.set("name", joints.get(name or "", name or ""))
    elif name:
        element.set("name", other_side(name) if other_side(name) != name else f"{name}_mirrored")
    for tint, image in ((LEFT_TINT, RIGHT_TINT), (RIGHT_TINT, LEFT_TINT)):
        if element.tag == "geom" and np.allclose(numbers(element, "rgba", [0.5, 0.5, 0.5, 1.0]), tint, atol=1e-3):
            put(element, "rgba", image)
            break
    if mesh := element.get("mesh"):
        element.set("mesh", _mirrored_mesh(draft, mesh))


def _mirrored_mesh(draft: Draft, name: str) -> str:
    label = f"{name}@mirrored"
    for asset in draft.tree.findall("asset"):
        meshes = {m.get("name"): m for m in asset.findall("mesh")}
        if name in meshes and label not in meshes:
            image = copy.deepcopy(meshes[name])
            image.set("name", label)
            put(image, "scale", numbers(image, "scale", np.ones(3)) * (1.0, -1.0, 1.0))
            asset.append(image)
    return label


def _twin_roles(draft: Draft, twins: dict[str, str], joints: dict[str, str]) -> None:
    """Copies the roles of a limb under the names of its twin, not yet mirrored."""
    roles = draft.roles
    for key in ("drawn", "origins"):
        roles[key] |= {twins[n]: list(v) for n, v in roles[key].items() if n in twins}
    roles["hands"] += [twins[h] for h in roles["hands"] if h in twins]
    stems = {
        n: other_side(n) for n in roles["torque"] if n not in joints and any(j.startswith(f"{n}_") for j in joints)
    }
    for key in ("torque", "balls"):
        known = {**stems, **joints}
        roles[key] |= {known[n]: copy.deepcopy(v) for n, v in roles[key].items() if n in known}
    for foot in [f for f in roles["feet"] if f["body"] in twins]:
        image = copy.deepcopy(foot)
        image["body"] = twins[foot["body"]]
        image["name"], image["side"] = other_side(foot["name"]), side_of(image["body"])
        image["points"] = [p for p in image["points"] if p["body"] in twins]
        for point in image["points"]:
            point["name"], point["body"] = other_side(point["name"]), twins[point["body"]]
        roles["feet"].append(image)


def _settle_twin(draft: Draft, source: str, twin: str) -> None:
    """Reverses a mirrored hinge or slide, and its range, if its axis points against the original's."""
    joint = next(j for b in draft.bodies.values() for j in b.findall("joint") if j.get("name") == twin)
    original = next(j for b in draft.bodies.values() for j in b.findall("joint") if j.get("name") == source)
    stance = draft.stance.get(source)
    if joint.get("type") == "ball":
        if stance is not None:
            draft.stance[twin] = stance * (1.0, -1.0, 1.0, -1.0)
        return
    sign = 1.0
    if float(numbers(joint, "axis", UP) @ numbers(original, "axis", UP)) < 0.0:
        sign = -1.0
        put(joint, "axis", -numbers(joint, "axis", UP))
        for key in ("ref", "springref"):
            if joint.get(key):
                put(joint, key, -numbers(joint, key, [0.0]))
        if joint.get("range"):
            put(joint, "range", -numbers(joint, "range", [0.0, 0.0])[::-1])
    if stance is not None:
        draft.stance[twin] = sign * stance


def _twin_excludes(draft: Draft, twins: dict[str, str]) -> None:
    for contact in draft.tree.findall("contact"):
        for exclude in contact.findall("exclude"):
            pair = [exclude.get("body1", ""), exclude.get("body2", "")]
            if any(body in twins for body in pair):
                image = [twins.get(b, other_side(b) if other_side(b) in draft.bodies else b) for b in pair]
                known = {frozenset((e.get("body1"), e.get("body2"))) for e in contact.findall("exclude")}
                if frozenset(image) not in known and len(set(image)) == 2:
                    contact.append(_exclude(image[0], image[1]))


def _exclude(first: str, second: str) -> Element:
    return Element("exclude", {"body1": first, "body2": second})


__all__ = ["mirror", "remove", "rename_joint", "rename_segment"]
