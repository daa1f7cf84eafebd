"""The nodes of a glTF file as a tree: parents, the nodes between chosen ones, and rest poses."""

from __future__ import annotations

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.files import Refused
from counterpoise.motion.files.glb import Document, indices, vector


class NodeTree:
    """The nodes of a file: their parents, and their rest poses."""

    def __init__(self, doc: Document) -> None:
        self.nodes = doc.items("nodes")
        n = len(self.nodes)
        if not n:
            raise Refused("it has no nodes")
        self.parent = np.full(n, -1, dtype=np.int64)
        self.children: list[list[int]] = []
        for i, node in enumerate(self.nodes):
            self.children.append(indices(node, f"/nodes/{i}", "children", n))
            for child in self.children[-1]:
                if self.parent[child] >= 0 or child == i:
                    raise Refused(f"/nodes/{i}/children: node {child} has two parents, or is its own child")
                self.parent[child] = i
        self.order = self._depth_first()

    def _depth_first(self) -> list[int]:
        """Returns all nodes, parents first; raises Refused if nodes form a circle."""
        out: list[int] = []
        stack = [int(i) for i in np.flatnonzero(self.parent < 0)[::-1]]
        while stack:
            node = stack.pop()
            out.append(node)
            stack += reversed(self.children[node])
        if len(out) < len(self.nodes):
            lost = min(set(range(len(self.nodes))) - set(out))
            raise Refused(f"/nodes/{lost} is its own ancestor: the nodes form a circle")
        return out

    def closed(self, chosen: list[int]) -> list[int]:
        """Returns the chosen nodes, all nodes between two of them, and their lowest common ancestor.

        Parents come first; the given order is kept if it does so.
        """
        shared = self._shared(chosen)
        picked, above, beneath = (np.zeros(len(self.nodes), bool) for _ in range(3))  # above, beneath a picked node
        picked[chosen] = True
        if shared >= 0:
            picked[shared] = True
        for node in self.order:
            if self.parent[node] >= 0:
                beneath[node] = beneath[self.parent[node]] or picked[self.parent[node]]
        for node in reversed(self.order):
            if self.parent[node] >= 0 and (above[node] or picked[node]):
                above[self.parent[node]] = True
        found = [node for node in self.order if picked[node] or (above[node] and beneath[node])]
        place = {node: i for i, node in enumerate(chosen)}
        if len(place) == len(found) and all(place.get(int(self.parent[j]), -1) < place[j] for j in found):
            return list(place)
        return found

    def _shared(self, chosen: list[int]) -> int:
        """Returns the lowest common ancestor of the chosen nodes, which may be one of them; -1 if there is none."""
        count = np.zeros(len(self.nodes), dtype=np.int64)
        count[chosen] = 1
        many = int(count.sum())
        for node in reversed(self.order):
            if self.parent[node] >= 0:
                count[self.parent[node]] += count[node]
        full = [node for node in self.order if count[node] == many]
        return full[-1] if full else -1

    def above(self, joints: list[int]) -> set[int]:
        """Returns the ancestors of the joints that are no joints."""
        out: set[int] = set()
        mine = set(joints)
        for joint in joints:
            node = int(self.parent[joint])
            while node >= 0 and node not in mine and node not in out:
                out.add(node)
                node = int(self.parent[node])
        return out

    def rest(self, node: int) -> tuple[Array, Array, Array]:
        """Returns translation (3,), rotation (x, y, z, w) and scale (3,) of a node without animation."""
        entry, where = self.nodes[node], f"/nodes/{node}"
        if "matrix" in entry:
            return _taken_apart(vector(entry, where, "matrix", (0.0,) * 16).reshape(4, 4).T, where)
        turn = vector(entry, where, "rotation", (0.0, 0.0, 0.0, 1.0))
        if np.linalg.norm(turn) < 1e-3:
            raise Refused(f"{where}/rotation has no length")
        move = vector(entry, where, "translation", (0.0, 0.0, 0.0))
        return move, turn / np.linalg.norm(turn), vector(entry, where, "scale", (1.0, 1.0, 1.0))


def _taken_apart(M: Array, where: str) -> tuple[Array, Array, Array]:
    """Returns translation, rotation and scale of a matrix; raises Refused if it shears or mirrors."""
    if np.abs(M[3] - [0.0, 0.0, 0.0, 1.0]).max() > 1e-6:
        raise Refused(f"{where}/matrix is not a rigid motion with scale: its last row is {M[3].tolist()}")
    scale = np.linalg.norm(M[:3, :3], axis=0)
    if scale.min() < 1e-9:
        raise Refused(f"{where}/matrix has no size in some direction")
    R = M[:3, :3] / scale
    if np.linalg.det(R) < 0.0:
        raise Refused(f"{where}/matrix mirrors its descendants")
    if np.abs(R.T @ R - np.eye(3)).max() > 1e-3:
        raise Refused(f"{where}/matrix shears its descendants")
    return M[:3, 3], np.roll(spatial.from_matrix(R), -1), scale
