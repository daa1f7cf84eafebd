"""The part of reading FBX that meets ufbx: a program of its own, so that a file that crashes it costs one message.

`python fbx_process.py FILE ANIMATION RATE` writes a line of JSON (names, parents, bones, times, ...), then the
transforms of all nodes at every frame and at rest, ten numbers each: place, quaternion w, x, y, z, scale. On a bad file
the line is {"error": ...}.
"""

from __future__ import annotations

import json
import math
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

MAX_NODES = 20_000
MAX_DEPTH = 200
MAX_CELLS = 20_000_000  # frames times nodes
MAX_MEMORY = 8 << 30  # [bytes] of this process, where the system can hold it to that
ENDS = "counterpoise_ends"


def main(path: str, animation: str, rate: str) -> None:
    """Reads a file and writes what is in it to standard output."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # Windows, or a lower limit already
    try:
        head, numbers = read_scene(path, json.loads(animation), json.loads(rate))
    except Exception as error:  # the package raises one kind for every problem
        head, numbers = {"error": f"{error}" or type(error).__name__}, np.zeros(0)
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + np.ascontiguousarray(numbers, "<f8").tobytes())


def read_scene(path: str, animation: int | str | None, rate: float | None) -> tuple[dict[str, Any], Any]:
    """Returns what the file says, and transforms (frames + 1, nodes, 10), the last of them at rest."""
    ufbx: Any = import_module("ufbx")
    scene = ufbx.load_memory(
        Path(path).read_bytes(), ignore_geometry=True, ignore_embedded=True, load_external_files=False,
        target_axes=ufbx.axes_right_handed_y_up, target_unit_meters=1.0, node_depth_limit=MAX_DEPTH,
        space_conversion=ufbx.SpaceConversion.MODIFY_GEOMETRY,
        inherit_mode_handling=ufbx.InheritModeHandling.COMPENSATE,
        pivot_handling=ufbx.PivotHandling.ADJUST_TO_PIVOT,
        file_format=ufbx.FileFormat.FBX, no_format_from_content=True, no_format_from_extension=True,
    )  # fmt: skip
    stacks, nodes = list(scene.anim_stacks), list(scene.nodes)
    names = [stack.name for stack in stacks]
    if not stacks:
        raise ValueError("it holds no animation")
    if len(nodes) > MAX_NODES:
        raise ValueError(f"it has {len(nodes)} nodes, more than the {MAX_NODES} this program reads")
    spans = [(float(stack.time_begin), float(stack.time_end)) for stack in stacks]
    head: dict[str, Any] = {"creator": scene.metadata.creator, "animations": names}
    if animation is None:
        lengths = [end - begin if math.isfinite(end - begin) else -1.0 for begin, end in spans]
        which = lengths.index(max(lengths))
    elif animation in names or (isinstance(animation, int) and 0 <= animation < len(names)):
        which = names.index(animation) if isinstance(animation, str) else animation
    else:
        return {**head, "unknown": animation}, np.zeros(0)
    begin, end = spans[which]
    given = float(scene.settings.frames_per_second)
    used = given if rate is None else rate
    if not (math.isfinite(begin) and math.isfinite(end) and end >= begin and math.isfinite(used) and 0.0 < used <= 1e5):
        raise ValueError(f"its animation goes from {begin!r} to {end!r} s at {given!r} frames a second")
    count = (end - begin) * used + 1.0
    if count * len(nodes) > MAX_CELLS:
        raise ValueError(f"{count:.0f} frames of {len(nodes)} nodes are too many")
    times = [begin + k / used for k in range(int(count + 1e-6))]
    stack = stacks[which]
    parents = []
    for node in nodes:
        parent = node.parent
        parents.append(-1 if parent is None else int(parent.typed_id))
    head |= {
        "animation": which, "start": begin, "rate": used, "frames": len(times), "parents": parents,
        "names": [node.name[:200] for node in nodes], "bones": [node.bone is not None for node in nodes],
        "ends": [_text_property(ufbx, node) for node in nodes],
    }  # fmt: skip
    numbers = np.empty((len(times) + 1, len(nodes), 10))
    anim = stack.anim
    for k, node in enumerate(nodes):
        for row, time in enumerate(times):
            numbers[row, k] = _ten(ufbx.evaluate_transform(anim, node, time))
        numbers[-1, k] = _ten(node.local_transform)
    return head, numbers


def _text_property(ufbx: Any, node: Any) -> str:
    """The text under ENDS of a node; "" without one. Objects are held while they are used: the package does not."""
    properties = node.props
    found = ufbx.find_prop(properties, ENDS)
    return "" if found is None else str(found.value_str)[:10_000]


def _ten(transform: Any) -> tuple[float, ...]:
    move, turn, scale = transform.translation, transform.rotation, transform.scale
    return move.x, move.y, move.z, turn.w, turn.x, turn.y, turn.z, scale.x, scale.y, scale.z


if __name__ == "__main__":
    main(*sys.argv[1:4])
