"""Skeleton animation read from any glTF 2.0 file: joints, their rest pose, and their movement at even frames."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue, CounterpoiseError, unknown_name
from counterpoise.files import Refused, one_line
from counterpoise.motion.files import gltf_tracks as tracks
from counterpoise.motion.files.axes import into_ours
from counterpoise.motion.files.glb import Document, indices
from counterpoise.motion.files.gltf_nodes import NodeTree
from counterpoise.motion.files.names import unique_names
from counterpoise.motion.skeleton import MAX_JOINTS, Clip, Skeleton

GENERATOR = "Counterpoise"
SAME_SCALE = 1e-3  # relative difference of scales that count as equal
MAX_PLACE = 1e9  # [m]
MAX_ENDS = 64  # of one node
ENDS = "counterpoise_ends"  # in a node's extras: where limbs end, as written by this program


def read_clip(
    path: str | os.PathLike[str],
    *,
    rate: float | None = None,
    animation: int | str | None = None,
    skin: int | str | None = None,
    forward: str | None = None,
) -> Clip:
    """Reads the skeleton of a glTF or GLB file and one of its animations, in metres, z up, x forward.

    Joints are those of the largest skin (or of `skin`) and of all skins that share joints with it; without a skin, the
    nodes that are animated. `animation` is a name or an index; the first if none is given. Frames are `rate` a second;
    if none is given, the rate is guessed from the keys. `forward` is the file's axis that the figure faces ("z", "x",
    ...); guessed if not given, and x in files written here.
    """
    if rate is not None and not (np.isfinite(rate) and 0.0 < rate <= 100_000.0):
        raise BadValue(f"a rate is a positive number of frames a second, not {rate!r}", rate=rate)
    source = Path(path)
    try:
        return _read(Document(source), source, rate, animation, skin, forward)
    except FileNotFoundError:
        raise BadFile(f"no file {str(path)!r}", path=str(path)) from None
    except (OSError, Refused) as error:
        why = one_line(error)
        raise BadFile(f"{str(path)!r} is not a glTF file this program can read: {why}", path=str(path)) from None


def _read(
    doc: Document,
    source: Path,
    rate: float | None,
    animation: int | str | None,
    skin: int | str | None,
    forward: str | None,
) -> Clip:
    tree = NodeTree(doc)
    animations, skins = doc.items("animations"), doc.items("skins")
    if not animations:
        raise Refused("it holds no animation")
    which = 0 if animation is None else _pick(animations, animation, "animation", source)
    channels = tracks.channels_of(doc, which)
    if not channels:
        raise Refused(f"/animations/{which} moves no node")
    if skins:
        chosen = _skin_joints(doc, tree, None if skin is None else _pick(skins, skin, "skin", source))
    elif skin is not None:
        raise Refused("it has no skin")
    else:
        chosen = [c.node for c in channels if c.path != "scale"]
    joints = tree.closed(chosen)
    if not joints:
        raise Refused("it has no joint")
    if len(joints) > MAX_JOINTS:
        raise Refused(f"it has {len(joints)} joints, more than the {MAX_JOINTS} this program reads")
    above = tree.above(joints)
    needed = above.union(joints)
    used = [c for c in channels if c.node in needed]
    shared = {c.input: tracks.key_times(doc, c) for c in {c.input: c for c in used}.values()}
    if not used:
        raise Refused(f"/animations/{which} moves none of the skin's joints")
    at, rate, guessed = tracks.frame_times(doc, which, list(shared.values()), rate)
    if len(at) * (len(joints) + len(above)) > max(tracks.MAX_CELLS, doc.size):
        raise Refused(f"{len(at)} frames of {len(joints)} joints are too many for a file of this size")
    names = [_named(a, f"animation {i}") for i, a in enumerate(animations)]
    remarks = [f"rate guessed from the keys: {rate:.6g} frames/s"] if guessed else []
    if len(names) > 1:
        remarks.append(f"animation {names[which]!r} read, one of {len(names)}")
    name = animations[which].get("name")
    try:
        skeleton, rotations, translations = _Movement(doc, tree, joints, used, shared, at).clip_parts()
        raw = Clip(skeleton, rate, rotations, translations, names[which] if name else source.stem)
    except BadValue as error:
        raise Refused(f"its clip is not valid: {one_line(error)}") from error
    if forward is None and doc.root["asset"].get("generator") == GENERATOR:
        forward = "x"
    clip, axes = into_ours(raw, "m", "y", forward, remarks)
    notes = {
        "format": "glb" if doc.binary else "gltf",
        "remarks": tuple(remarks),
        "rate": rate,
        **axes,
        "animation": names[which],
        "animations": tuple(names),
        "start": float(at[0]),
        "skins": len(skins),
    }
    return replace(clip, notes=notes)


def read_joints(doc: Document, tree: NodeTree) -> tuple[list[int], tuple[str, ...]]:
    """Returns the nodes that `read_clip` takes as joints where nothing is chosen, and their names in the clip."""
    if doc.items("skins"):
        joints = tree.closed(_skin_joints(doc, tree, None))
    else:
        joints = tree.closed([c.node for c in tracks.channels_of(doc, 0) if c.path != "scale"])
    return joints, unique_names([_named(tree.nodes[node], f"node_{node}") for node in joints])


class RestedNodes:
    """Nodes at rest: where those above the joints are in the world, and by how much each scales what is below."""

    def __init__(self, doc: Document, tree: NodeTree, joints: list[int]) -> None:
        made = _Movement(doc, tree, joints, [], {}, np.zeros(1))
        made.clip_parts()
        self.tree, self.joints, self.rests, self.sizes = tree, joints, made.rests, made.sizes


class _Movement:
    """Values of the needed nodes at every frame, gathered into a skeleton and its clip."""

    def __init__(
        self,
        doc: Document,
        tree: NodeTree,
        joints: list[int],
        channels: list[tracks.Channel],
        inputs: dict[int, Array],  # key times by accessor
        at: Array,
    ) -> None:
        self.doc, self.tree, self.joints, self.at = doc, tree, joints, at
        self.mine = {node: i for i, node in enumerate(joints)}
        self.channels: dict[int, dict[str, tuple[tracks.Channel, Array]]] = {}
        for channel in channels:
            self.channels.setdefault(channel.node, {})[channel.path] = (channel, inputs[channel.input])
        self.carriers = {int(tree.parent[j]) for j in joints if tree.parent[j] >= 0} | tree.above(joints)
        self.frames: dict[int, tuple[Array, Array]] = {}  # of nodes above the roots: world places and turns
        self.rests: dict[int, tuple[Array, Array]] = {}
        self.sizes: dict[int, float] = {-1: 1.0}  # accumulated scale

    def clip_parts(self) -> tuple[Skeleton, Array, Array]:
        """Returns the skeleton at rest, and rotations and translations of its joints, in the file's axes."""
        f, n = len(self.at), len(self.joints)
        moves, turns = np.empty((f, n, 3)), np.empty((f, n, 4))
        offsets, rest = np.empty((n, 3)), np.empty((n, 4))
        tree, above = self.tree, self.tree.above(self.joints)
        ends: list[tuple[int, tuple[float, float, float]]] = []
        for node in tree.order:
            if node not in above and node not in self.mine:
                continue
            parent = int(tree.parent[node])
            size = self.sizes[parent]
            move, turn, scale = tree.rest(node)
            here = size * self._values(node, "translation", move), self._values(node, "rotation", turn)
            still = size * move, np.roll(turn, 1)
            here = here[0], np.roll(here[1], 1, axis=-1)
            self.sizes[node] = size * self._scale(node, scale) if node in self.carriers else size
            if parent in above:
                here = spatial.compose(self.frames[parent], here)
                still = spatial.compose(self.rests[parent], still)
            if node in above:
                self.frames[node], self.rests[node] = here, still
                continue
            i = self.mine[node]
            moves[:, i], turns[:, i] = here
            offsets[i], rest[i] = still
            ends += [(i, end) for end in _ends(tree.nodes[node], self.sizes[node])]
        if not (np.abs(moves) < MAX_PLACE).all():
            raise Refused(f"its joints are further away than {MAX_PLACE:g} m")
        parents = tuple(self.mine.get(int(tree.parent[node]), -1) for node in self.joints)
        names = unique_names([_named(tree.nodes[node], f"node_{node}") for node in self.joints])
        skeleton = Skeleton(names, parents, offsets, spatial.normalize(rest), tuple(ends))
        return skeleton, spatial.align_signs(spatial.normalize(turns)), moves

    def _values(self, node: int, path: str, still: Array) -> Array:
        found = self.channels.get(node, {}).get(path)
        if found is None:
            return np.broadcast_to(still, (len(self.at), len(still)))
        channel, times = found
        return tracks.sample(times, tracks.key_values(self.doc, channel, len(times)), channel, self.at)

    def _scale(self, node: int, scale: Array) -> float:
        """Returns the one factor by which a node scales its descendants."""
        where = f"/nodes/{node}"
        found = self.channels.get(node, {}).get("scale")
        if found is not None:
            channel, times = found
            values = tracks.key_values(self.doc, channel, len(times))
            keys = values[1::3] if channel.mode == "CUBICSPLINE" else values
            scale = keys[0]
            if np.abs(keys - scale).max() > SAME_SCALE * np.abs(scale).max():
                raise Refused(f"{where}: its scale changes in time, which bones of a skeleton cannot do; bake it first")
        size = float(scale.mean())
        if not 1e-6 < size < 1e6 or np.abs(scale - size).max() > SAME_SCALE * size:
            raise Refused(
                f"{where}/scale {scale.round(6).tolist()} distorts or mirrors its descendants; a scale must be "
                "positive and the same in all directions: apply it in the program the file came from"
            )
        return size


def _skin_joints(doc: Document, tree: NodeTree, skin: int | None) -> list[int]:
    """Returns the joints of a skin (the largest if none is given) and of the skins that share joints with it."""
    lists: list[list[int]] = []
    for i, entry in enumerate(doc.items("skins")):
        lists.append(indices(entry, f"/skins/{i}", "joints", len(tree.nodes)))
        if not lists[-1]:
            raise Refused(f"/skins/{i}/joints is empty")
    if skin is not None:
        return lists[skin]
    largest = max(lists, key=lambda joints: len(joints))
    out = dict.fromkeys(largest)  # in order, each once
    waiting = [joints for joints in lists if joints is not largest]
    while near := [joints for joints in waiting if not out.keys().isdisjoint(joints)]:
        waiting = [joints for joints in waiting if out.keys().isdisjoint(joints)]
        for joints in near:
            out.update(dict.fromkeys(joints))
    return list(out)


def _pick(entries: list[dict[str, Any]], wanted: int | str, what: str, source: Path) -> int:
    """Returns the index of the entry with this name or index."""
    names = [_named(entry, f"{what} {i}") for i, entry in enumerate(entries)]
    if isinstance(wanted, str):
        if wanted not in names:
            raise unknown_name(what, wanted, names, source.name)
        return names.index(wanted)
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 0 <= wanted < len(entries):
        raise CounterpoiseError(f"{source.name!r} has {len(entries)} of {what}, counted from 0; there is no {wanted!r}")
    return wanted


def _ends(node: dict[str, Any], size: float) -> list[tuple[float, float, float]]:
    """Returns where limbs end at a node [m], from its extras."""
    extras = node.get("extras")
    given = extras.get(ENDS) if isinstance(extras, dict) else None
    out: list[tuple[float, float, float]] = []
    for end in given[:MAX_ENDS] if isinstance(given, list) else []:
        good = isinstance(end, list) and len(end) == 3 and all(isinstance(x, int | float) for x in end)
        if good and all(abs(x) < 1e6 for x in end):
            x, y, z = (size * float(c) for c in end)
            out.append((x, y, z))
    return out


def _named(entry: dict[str, Any], otherwise: str) -> str:
    """Returns the printable name of an entry, or `otherwise`."""
    name = entry.get("name")
    clean = (
        " ".join("".join(c if c.isprintable() else " " for c in name[:200]).split()) if isinstance(name, str) else ""
    )
    return clean or otherwise


__all__ = ["ENDS", "GENERATOR", "RestedNodes", "read_clip", "read_joints"]
