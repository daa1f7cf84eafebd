"""Reading and writing the XML of a model: numbers in attributes, frames, the reach of shapes, default classes."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.arrays import Array
from counterpoise.character.shapes.solid import read_primitive
from counterpoise.spatial import compose, inverse, multiply, to_matrix

Frame = tuple[Array, Array]  # position, quaternion

UP = np.array([0.0, 0.0, 1.0])
IDENTITY = np.array([1.0, 0.0, 0.0, 0.0])


def numbers(element: Element, key: str, default: ArrayLike) -> Array:
    """The numbers of an attribute, or the default."""
    text = element.get(key)
    return np.array(default, float) if text is None else np.array(text.split(), float)


def put(element: Element, key: str, values: ArrayLike) -> None:
    """Writes numbers into an attribute with all digits."""
    element.set(key, " ".join(repr(float(x) + 0.0) for x in np.atleast_1d(np.asarray(values, float))))


def local_frame(body: Element) -> Frame:
    """A body's frame in its parent's, in the zero pose."""
    return numbers(body, "pos", np.zeros(3)), numbers(body, "quat", IDENTITY)


def place_frame(body: Element, over: Frame, frame: Frame) -> None:
    """Puts a body at `frame` (world, zero pose), as a child of a parent at `over`."""
    position, turn = compose(inverse(over), frame)
    put(body, "pos", position)
    put(body, "quat", turn)


def reach(body: Element, direction: Array) -> float:
    """How far a body's shapes reach from its origin along `direction` [m]; of a mesh only its place counts."""
    far = 0.0
    for geom in body.findall("geom"):
        place, frame = numbers(geom, "pos", np.zeros(3)), to_matrix(numbers(geom, "quat", IDENTITY))
        solid = read_primitive(geom.get("type", "sphere"), numbers(geom, "size", np.zeros(3)), place, frame)
        far = max(far, float(place @ direction if solid is None else solid.reach(direction)))
    return far


def walk(top: Element) -> Iterator[tuple[Element, Element]]:
    """(parent, body) for every body below `top`, parents first, in the model's order."""
    waiting = [(top, body) for body in reversed(top.findall("body"))]
    while waiting:
        host, body = waiting.pop()
        yield host, body
        waiting.extend((body, child) for child in reversed(body.findall("body")))


def write_out_defaults(tree: Element) -> None:
    """Gives every element the attributes of its default class, so that the classes can be removed."""
    classes: dict[str, dict[str, dict[str, str]]] = {"main": {}}
    waiting = [(default, "main") for default in tree.findall("default")]
    while waiting:
        element, above = waiting.pop(0)
        name = element.get("class", "main")
        known = {tag: dict(values) for tag, values in classes[above].items()}
        for part in element:
            if part.tag != "default":
                known.setdefault(part.tag, {}).update({k: v for k, v in part.attrib.items() if k != "class"})
        classes[name] = known
        waiting.extend((child, name) for child in element.findall("default"))
    todo: list[tuple[Element, str]] = [(section, "main") for section in tree if section.tag != "default"]
    while todo:
        element, inherited = todo.pop()
        inner = element.attrib.pop("childclass", inherited)
        own = element.attrib.pop("class", inherited)
        for key, value in classes[own].get(element.tag, {}).items():
            element.attrib.setdefault(key, value)
        todo.extend((child, inner) for child in element)


def flatten_frames(world: Element) -> None:
    """Applies `frame` elements to the elements they hold and removes them."""
    hosts = [world, *(e for e in world.iter("body"))]
    for host in hosts:
        while (frame := host.find("frame")) is not None:
            position, turn = local_frame(frame)
            at = list(host).index(frame)
            host.remove(frame)
            for offset, part in enumerate(list(frame)):
                put(part, "pos", compose((position, turn), (numbers(part, "pos", np.zeros(3)), IDENTITY))[0])
                if part.tag == "joint":
                    put(part, "axis", to_matrix(turn) @ numbers(part, "axis", UP))
                elif part.tag == "light":
                    put(part, "dir", to_matrix(turn) @ numbers(part, "dir", -UP))
                else:
                    put(part, "quat", multiply(turn, numbers(part, "quat", IDENTITY)))
                host.insert(at + offset, part)


__all__ = [
    "IDENTITY", "UP", "Frame", "flatten_frames", "local_frame", "numbers", "place_frame", "put", "reach", "walk",
    "write_out_defaults",
]  # fmt: skip
