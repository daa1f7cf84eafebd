"""FBX: skeletons and their movement, read by ufbx (extra `fbx`); writing is in `fbx_write`, without any package.

Joints are the file's bones; in a file without bones, its animated nodes. They are read in metres and y up, whatever the
program wrote. Meshes that follow joints are kept with the motion (`fbx_meshes`), and written again to GLB and USD. ufbx
is met in another process (`fbx_process`).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags
from counterpoise.errors import BadFile, BadValue, CounterpoiseError, unknown_name
from counterpoise.files import Refused, one_line
from counterpoise.motion.files import fbx_process
from counterpoise.motion.files.axes import into_ours
from counterpoise.motion.files.fbx_meshes import bound_meshes
from counterpoise.motion.files.fbx_write import CENTIMETRES, CREATOR, write_clip
from counterpoise.motion.files.names import unique_names
from counterpoise.motion.skeleton import MAX_DEPTH, MAX_JOINTS, Clip, Skeleton

MAX_BYTES = 2 << 30
MAX_PLACE = 1e6  # [m]
SAME_SCALE = 1e-3  # relative difference of scales that count as equal
MAX_ENDS = 64  # of one node
STILL = 1e-9  # [m, 1] smaller changes count as none


def read_clip(
    path: str | os.PathLike[str],
    *,
    rate: float | None = None,
    animation: int | str | None = None,
    forward: str | None = None,
) -> Clip:
    """Reads the skeleton of an FBX file and one of its animations (takes), in metres, z up, x forward.

    `animation` is a name or an index; the longest if none is given. Frames are `rate` a second; those of the file if
    none is given. `forward` is the axis that the figure faces with y up ("z", "x", ...); guessed if not given.
    """
    if rate is not None and not (np.isfinite(rate) and 0.0 < rate <= 100_000.0):
        raise BadValue(f"a rate is a positive number of frames a second, not {rate!r}", rate=rate)
    source = Path(path)
    try:
        if not source.is_file():
            raise FileNotFoundError if not source.exists() else Refused("it is not an ordinary file")
        if source.stat().st_size > MAX_BYTES:
            raise Refused(f"it is larger than {MAX_BYTES >> 30} GB")
        return _clip_of(*_read(source, animation, rate), source, forward)
    except FileNotFoundError:
        raise BadFile(f"no file {str(path)!r}", path=str(path)) from None
    except (OSError, Refused) as error:
        why = one_line(error)
        raise BadFile(f"{str(path)!r} is not an FBX file this program can read: {why}", path=str(path)) from None


def _read(source: Path, animation: int | str | None, rate: float | None) -> tuple[dict[str, Any], Array, memoryview]:
    """Returns what the file says, transforms (frames + 1, nodes, 10), the last of them at rest, and bytes of meshes."""
    program = str(Path(fbx_process.__file__).resolve())
    words = [sys.executable, "-P", program, str(source.resolve()), json.dumps(animation), json.dumps(rate)]
    done = subprocess.run(words, capture_output=True, check=False)
    line, _, rest = done.stdout.partition(b"\n")
    if done.returncode != 0 or not line:
        raise Refused("the reader crashed on it")
    head: dict[str, Any] = json.loads(line)
    if "error" in head:
        raise Refused(head["error"])
    if "unknown" in head:
        wanted, names = head["unknown"], head["animations"]
        if isinstance(wanted, str):
            raise unknown_name("animation", wanted, names, source.name)
        raise CounterpoiseError(f"{source.name!r} has {len(names)} animation(s), from 0; there is no {wanted!r}")
    shape = head["frames"] + 1, len(head["names"]), 10
    size = 8 * int(np.prod(shape))
    return head, np.frombuffer(rest[:size], "<f8").reshape(shape), memoryview(rest)[size:]


def _clip_of(head: dict[str, Any], numbers: Array, rest: memoryview, source: Path, forward: str | None) -> Clip:
    stacks, which = head["animations"], head["animation"]
    name, rate = stacks[which], float(head["rate"])
    joints, order = _joints(head, np.ptp(numbers, axis=0).max(axis=1) > STILL)
    try:
        skeleton, rotations, translations, sizes = _movement(head, numbers, joints, order)
        mine = {node: k for k, node in enumerate(joints)}
        meshes, remarks = bound_meshes(head, rest, mine, sizes, skeleton)
        raw = Clip(skeleton, rate, rotations, translations, _clean(name, source.stem), meshes=meshes)
    except BadValue as error:
        raise Refused(f"its clip is not valid: {one_line(error)}") from error
    if len(stacks) > 1:
        remarks.append(f"animation {name!r} read, one of {len(stacks)}")
    if forward is None and head["creator"].startswith(CREATOR):
        forward = "x"
    clip, axes = into_ours(raw, "m", "y", forward, remarks)
    notes = {
        "format": "fbx", "remarks": tuple(remarks), "rate": rate, **axes, "animation": name,
        "animations": tuple(stacks), "start": float(head["start"]),
    }  # fmt: skip
    return replace(clip, notes=notes)


def _joints(head: dict[str, Any], moved: Flags) -> tuple[list[int], list[int]]:
    """Returns the nodes that are joints, and all nodes, parents first.

    Joints are the bones and the nodes between them; without bones, all nodes that are animated.
    """
    parents, n = head["parents"], len(head["parents"])
    ways = [_way_up(k, parents) for k in range(n)]
    chosen = {k for k in range(n) if head["bones"][k]} or {k for k in range(n) if moved[k] and parents[k] >= 0}
    if not chosen:
        raise Refused("it has no bones, and no node that moves")
    for k in list(chosen):
        above = [one for one in ways[k] if one in chosen]
        if above:
            chosen.update(ways[k][: ways[k].index(above[0])])
    if len(chosen) > MAX_JOINTS:
        raise Refused(f"it has {len(chosen)} joints, more than the {MAX_JOINTS} this program reads")
    order = sorted(range(n), key=lambda k: (len(ways[k]), k))
    return [k for k in order if k in chosen], order


def _way_up(node: int, parents: list[int]) -> list[int]:
    """The nodes above a node, nearest first."""
    way: list[int] = []
    while (node := parents[node]) >= 0:
        way.append(node)
        if len(way) > MAX_DEPTH + 1:
            raise Refused(f"its nodes are more than {MAX_DEPTH} deep")
    return way


def _movement(
    head: dict[str, Any], numbers: Array, joints: list[int], order: list[int]
) -> tuple[Skeleton, Array, Array, dict[int, float]]:
    """Returns the skeleton at rest, rotations and translations of its joints, in metres and y up; scales of nodes."""
    parents, mine = head["parents"], {node: k for k, node in enumerate(joints)}
    needed = set(joints).union(*(_way_up(node, parents) for node in joints))
    size: dict[int, float] = {-1: 1.0}  # of the frame of each node
    placed: dict[int, tuple[Array, Array]] = {}  # of nodes above the joints: their world frames
    moves, turns = np.empty((len(numbers), len(joints), 3)), np.empty((len(numbers), len(joints), 4))
    ends: list[tuple[int, tuple[float, float, float]]] = []
    for node in order:
        if node not in needed:
            continue
        parent, label = parents[node], _clean(head["names"][node], f"node_{node}")
        own, scale = _checked(numbers[:, node], label)
        here = size[parent] * own[:, :3], spatial.normalize(own[:, 3:7])
        size[node] = size[parent] * scale
        if parent in placed:
            here = spatial.compose(placed[parent], here)
        if node not in mine:
            placed[node] = here
            continue
        moves[:, mine[node]], turns[:, mine[node]] = here
        ends += [(mine[node], end) for end in _ends(head["ends"][node], size[node])]
    if not (np.abs(moves) < MAX_PLACE).all():
        raise Refused(f"its joints are further away than {MAX_PLACE:g} m")
    names = unique_names([_clean(head["names"][node], f"node_{node}") for node in joints])
    skeleton = Skeleton(names, tuple(mine.get(parents[node], -1) for node in joints), moves[-1], turns[-1], tuple(ends))
    return skeleton, spatial.align_signs(turns[:-1]), moves[:-1], size


def _checked(numbers: Array, label: str) -> tuple[Array, float]:
    """Returns the transforms of a node and its scale; raises Refused where bones cannot have them."""
    if not np.isfinite(numbers).all():
        raise Refused(f"node {label!r} has numbers that are not finite")
    scales = numbers[:-1, 7:]
    size = float(scales[0].mean())
    if not 1e-6 < size < 1e6 or np.abs(scales - size).max() > SAME_SCALE * size:
        raise Refused(
            f"node {label!r} is distorted, mirrored, or scaled over time, which bones cannot be: apply or bake its "
            "scale in the program the file came from"
        )
    if (np.linalg.norm(numbers[:, 3:7], axis=1) < 1e-3).any():
        raise Refused(f"node {label!r} has a rotation of length zero")
    return numbers, size


def _ends(text: str, size: float) -> list[tuple[float, float, float]]:
    """Returns where limbs end at a node [m], as written by this program, in centimetres."""
    try:
        given = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return []
    out: list[tuple[float, float, float]] = []
    for end in given[:MAX_ENDS] if isinstance(given, list) else []:
        good = isinstance(end, list) and len(end) == 3 and all(isinstance(x, int | float) for x in end)
        if good and all(abs(x) < 1e6 for x in end):
            x, y, z = (size * float(c) / CENTIMETRES for c in end)
            out.append((x, y, z))
    return out


def _clean(name: str, otherwise: str) -> str:
    """Returns a printable name, without the file's name space (mixamorig:Hips)."""
    words = "".join(c if c.isprintable() else " " for c in name[:200]).split()
    return " ".join(words).rpartition(":")[2] or otherwise


__all__ = ["read_clip", "write_clip"]
