"""What the parts of a skeleton are: hips, trunk, head, and on each side a leg with its foot and an arm with its hand.

Parts are read from names in the habits of many programs (`LeftUpLeg`, `mixamorig:LeftUpLeg`, `thigh_l`,
`Bip01 L Thigh`, `lfemur`, `L_Knee`, `thigh_left`). Where names tell nothing, the shape does: feet are the lowest ends,
the head is the highest, arms are what is left in pairs, and of a limb the two longest bones in a row are its upper and
lower part.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.kinematics import body_frames

SLOTS: dict[str, frozenset[str]] = {
    slot: frozenset(words.split())
    for slot, words in {
        "hips": "hips hip pelvis root cog hipscenter centre center reference",
        "link": "hipjoint",
        "thigh": "upleg thigh femur upperleg legupper hip uleg",
        "shank": "leg shin calf shank tibia lowerleg leglower lowleg knee lleg",
        "tarsus": "tarsus hock metatarsus horselink",
        "foot": "foot ankle paw hoof",
        "toe": "toe toes toebase ball",
        "clavicle": "clavicle collar collarbone scapula shoulderblade",
        "shoulder": "shoulder",  # a clavicle where there is an upper arm too, else the upper arm
        "upperarm": "arm upperarm uparm humerus shldr armupper wing",
        "forearm": "forearm lowerarm lowarm radius ulna elbow armlower",
        "hand": "hand wrist palm",
        "spine": "spine lowerback upperback back thorax chest upperchest torso abdomen waist trunk belly ribcage "
        "lumbar stomach sternum body",
        "neck": "neck lowerneck upperneck",
        "head": "head skull",
    }.items()
}
_SIDED = ("link", "thigh", "shank", "tarsus", "foot", "toe", "clavicle", "shoulder", "upperarm", "forearm", "hand")
_IGNORED = frozenset(
    [
        "twist",
        "roll",
        "ik",
        "pole",
        "end",
        "nub",
        "site",
        "helper",
        "ctrl",
        "control",
        "target",
        "eye",
        "jaw",
        "hair",
        "finger",
        "fingers",
    ]
)
_NAMESPACES = re.compile(
    r"^(?:.*[:|])?(?:bip\s*0*\d*|cc_base|character\d*|def|org|mch|j_bip|jbip|ragdoll|valvebiped)?", re.I
)
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A character's skeleton at rest (its neutral pose) and what its bodies are."""

    character: Character
    names: tuple[str, ...]  # of bodies, the world first
    parents: tuple[int, ...]
    places: Array  # (bodies, 3) at rest, world
    turns: Array  # (bodies, 4) at rest, world
    hips: int
    limbs: Mapping[str, tuple[int, ...]]  # "trunk", "head", "leg_left", "foot_left", "arm2_right", ... -> bodies
    how: str  # "names", "shape" or both

    @cached_property
    def size(self) -> float:
        """The largest extent at rest [m]; never zero."""
        return float(max(np.ptp(self.places[1:], axis=0).max(), 1e-6)) if len(self.names) > 1 else 1.0

    def path(self, body: int) -> list[int]:
        """From the body up to the top of the tree."""
        out = []
        while body > 0:
            out.append(body)
            body = self.parents[body]
        return out

    def chain(self, limb: str) -> tuple[int, ...]:
        """A limb's bodies and, after them, those of the limb that hangs on it."""
        after = {"leg": "foot", "arm": "hand", "clavicle": "arm", "trunk": "head"}
        kind, _, side = limb.partition("_")
        stem = kind.rstrip("0123456789")
        follow = after.get(stem)
        name = f"{follow}{kind[len(stem) :]}_{side}" if side else follow
        rest = self.limbs.get(name, ()) if name is not None else ()
        return (*self.limbs[limb], *rest)

    def ancestors(self, body: int) -> set[int]:
        return set(self.path(body)[1:])


def bone_of(at: Anatomy, chain: Sequence[int], index: int) -> Array:
    """The direction (3,) at rest, world, of a chain's bone: to the next body that lies elsewhere, or its own middle."""
    start = at.places[chain[index]]
    for later in chain[index + 1 :]:
        way = at.places[later] - start
        if np.linalg.norm(way) > 1e-3 * at.size:
            return np.asarray(way / np.linalg.norm(way))
    body = chain[index]
    model = at.character.model
    way = spatial.rotate(at.turns[body], model.body_ipos[body])
    if np.linalg.norm(way) > 1e-3 * at.size:
        return np.asarray(way / np.linalg.norm(way))
    came = start - at.places[at.parents[body]]
    length = float(np.linalg.norm(came))
    return came / length if at.parents[body] > 0 and length > 1e-6 * at.size else np.array([0.0, 0.0, 1.0])


# --------------------------------------------------------------------------------------------------------- names


def read_name(name: str) -> tuple[str, str, str]:
    """(slot, side, number) of a body's name; slot is "" where it says nothing: 'LeftUpLeg' -> ('thigh', 'left', '')."""
    plain = _NAMESPACES.sub("", name, count=1)
    words = [w.lower() for w in _WORDS.findall(plain)]
    side, rest, number = "", [], ""
    for word in words:
        if word in ("left", "l") and not side:
            side = "left"
        elif word in ("right", "r") and not side:
            side = "right"
        elif word.isdigit():
            number = number or word
        elif len(word) == 1 and word in "cm" and len(words) > 1:
            continue  # "in the middle"
        else:
            rest.append(word)
    if any(word in _IGNORED for word in rest):
        return "", side, number
    key = "".join(rest)
    slot = _slot(key, side)
    if not slot and not side and key[:1] in "lr":
        slot = _slot(key[1:], "left")
        if slot in _SIDED:
            return slot, "left" if key[0] == "l" else "right", number
        slot = ""
    for word in ("left", "right"):  # "leftupleg", "handright": no capitals to tell words apart
        if not slot and not side and (key.startswith(word) or key.endswith(word)):
            slot, side = _slot(key.removeprefix(word).removesuffix(word), word), word
    if slot in _SIDED and not side:
        return "", side, number
    return slot, side if slot in _SIDED else "", number


def _slot(key: str, side: str) -> str:
    if key == "hip":
        return "thigh" if side else "hips"
    for slot, words in SLOTS.items():
        if key in words:
            return slot
    return ""


# ------------------------------------------------------------------------------------------------------- anatomy


@kept_with_character
def anatomy_of(character: Character) -> Anatomy:
    """The anatomy of a character, worked out once."""
    model = character.model
    places, turns = (x[0] for x in body_frames(character, character.neutral[None]))
    names = tuple(model.body(b).name for b in range(model.nbody))
    parents = tuple(int(p) for p in model.body_parentid)
    bare = Anatomy(character, names, parents, places, turns, min(1, model.nbody - 1), {}, "")
    by_name = _limbs_by_name(bare)
    if any(limb.startswith("leg") for limb in by_name):
        how, limbs = "names", by_name
        shaped = _limbs_by_shape(bare)
        for kind in ("arm", "head"):  # a part whose names say nothing may still be seen, if nothing else claims it
            claimed = {b for bodies in limbs.values() for b in bodies}
            for limb, bodies in shaped.items():
                if limb.split("_")[0] == kind and limb not in limbs and not claimed & set(bodies):
                    limbs[limb], how = bodies, "names and shape"
    else:
        limbs, how = _limbs_by_shape(bare), "shape"
        if not any(limb.startswith("leg") for limb in limbs) and by_name:
            limbs, how = by_name, "names"
    return Anatomy(character, names, parents, places, turns, _hips(bare, limbs), limbs, how)


def _hips(at: Anatomy, limbs: Mapping[str, Sequence[int]]) -> int:
    """The body that carries the legs: their nearest common ancestor; without legs, the root."""
    tops = [bodies[0] for limb, bodies in limbs.items() if limb.startswith("leg")]
    if not tops:
        return min(1, len(at.names) - 1)
    shared = [b for b in at.path(at.parents[tops[0]]) if all(b in at.path(top) for top in tops)]
    return shared[0] if shared else 1


def _limbs_by_name(at: Anatomy) -> dict[str, tuple[int, ...]]:
    read = [("", "", "")] + [read_name(name) for name in at.names[1:]]
    uppers = {side for slot, side, _ in read if slot == "upperarm"}
    slots = [
        (("clavicle" if side in uppers else "upperarm") if slot == "shoulder" else slot, side, number)
        for slot, side, number in read
    ]
    limbs: dict[str, tuple[int, ...]] = {}
    chain_of = {"leg": ("thigh", "shank", "tarsus"), "arm": ("upperarm", "forearm")}
    ends = {"leg": ("foot", ("foot", "toe")), "arm": ("hand", ("hand",))}
    for kind, parts in chain_of.items():
        for side in SIDES:
            tops = [b for b, (slot, s, _) in enumerate(slots) if slot == parts[0] and s == side]
            tops = [b for b in tops if not any(t in tops for t in at.ancestors(b))]
            tops.sort(key=lambda b: (slots[b][2] or "1", b))
            for number, top in enumerate(tops):
                below = [b for b in range(len(slots)) if slots[b][1] == side and (b == top or top in at.ancestors(b))]
                chain = _one_line(at, [b for b in below if slots[b][0] in parts])
                end, wanted = ends[kind]
                tip = _one_line(at, [b for b in below if slots[b][0] in wanted])
                if kind == "leg" and not tip and len(chain) < 2:
                    continue
                tag = f"{number + 1}" if number else ""
                limbs[f"{kind}{tag}_{side}"] = tuple(chain)
                if tip:
                    if kind == "arm":  # "wrist" then "hand": the hand turns with the last
                        tip = tip[-1:]
                    limbs[f"{end}{tag}_{side}"] = tuple(tip[:1] + tip[-1:] if len(tip) > 1 else tip)
                collar = [b for b in at.path(top)[1:] if slots[b][0] == "clavicle" and slots[b][1] == side]
                if collar:
                    limbs[f"clavicle{tag}_{side}"] = tuple(collar[:1])
    hips = _hips(at, limbs)
    carries = [limbs[limb][0] for limb in limbs if limb.startswith("arm")]
    spine = [b for b, (slot, _, _) in enumerate(slots) if slot == "spine" and b != hips and hips in at.path(b)]
    if carries:
        spine = [b for b in spine if any(b in at.ancestors(top) for top in carries)]
    spine = _one_line(at, spine)
    if spine:
        limbs["trunk"] = tuple(spine)
    heads = [b for b, (slot, _, _) in enumerate(slots) if slot == "head"]
    if heads:
        neck = [b for b in at.ancestors(heads[0]) if slots[b][0] == "neck"]
        limbs["head"] = tuple(sorted(neck, key=lambda b: len(at.path(b)))) + (heads[0],)
    return limbs


def _one_line(at: Anatomy, bodies: Sequence[int]) -> list[int]:
    """Of some bodies those on the longest line from top to tip, in order; of two at one place the lower one."""
    best: list[int] = []
    for body in bodies:
        line = [b for b in reversed(at.path(body)) if b in bodies]
        if len(line) > len(best):
            best = line
    return best


# --------------------------------------------------------------------------------------------------------- shape


def _limbs_by_shape(at: Anatomy) -> dict[str, tuple[int, ...]]:
    count = len(at.names)
    if count < 2:
        return {}
    children = {b: [c for c in range(1, count) if at.parents[c] == b] for b in range(count)}
    leaves = [b for b in range(1, count) if not children[b]]
    model = at.character.model
    tips = at.places + spatial.rotate(at.turns, 2.0 * np.asarray(model.body_ipos))
    feet = _feet_by_shape(at, leaves, tips)
    limbs: dict[str, tuple[int, ...]] = {}
    hips = 1
    if len(feet) >= 2:
        shared = [b for b in at.path(feet[0]) if all(b in at.path(f) for f in feet)]
        hips = shared[0] if shared else 1
        for limb, foot in _pairs(at, feet, tips, "leg").items():
            known = {at.character.body_id(f.body) for f in at.character.feet}
            end = _leaf_below(foot, children)
            line = _solid_line(at, hips, end, tips)
            cut = next((i for i, b in enumerate(line) if b in known and i > 0), None)
            if cut is None:
                cut = min(_longest_two(at, line, tips) + 2, max(len(line) - 1, 1))
            lengths = _lengths(at, line, tips)[:cut]
            start = next((i for i, x in enumerate(lengths) if x > 0.45 * max(lengths)), 0)  # after a stub at the hip
            limbs[limb] = tuple(line[start:cut])
            if line[cut:]:
                limbs[limb.replace("leg", "foot")] = tuple(line[cut : cut + 2])
    taken = {b for bodies in limbs.values() for b in bodies}
    others = [b for b in leaves if not taken & set(at.path(b))]
    if not others:
        return limbs
    if not limbs:  # no legs: the longest line is all there is
        longest = max(others, key=lambda b: len(at.path(b)))
        line = _solid_line(at, 1, longest, tips)
        return {"trunk": tuple(line)} if line else {}
    head = max(others, key=lambda b: (round(float(tips[b, 2]) / at.size, 3), -abs(float(tips[b, 1]))))
    upward = _solid_line(at, hips, head, tips)
    width = 0.02 * at.size
    sided = [b for b in others if b != head and abs(tips[b, 1] - at.places[hips, 1]) > width]
    arms: dict[str, list[int]] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mine = [b for b in sided if sign * (tips[b, 1] - at.places[hips, 1]) > 0.0]
        if mine:
            best = max(mine, key=lambda b: float(np.linalg.norm(tips[b] - at.places[_leaving(at, b, upward)])))
            arms[side] = [_leaving(at, best, upward), best]
    if not upward:
        return limbs
    if arms:
        knots = [upward.index(knot) for knot, _ in arms.values() if knot in upward]
        chest = max(knots, default=len(upward) - 2)
    else:
        chest = max(len(upward) - 2, 0)
    limbs["trunk"] = tuple(upward[: chest + 1])
    if upward[chest + 1 :]:
        limbs["head"] = tuple(upward[chest + 1 :])
    for side, (knot, leaf) in arms.items():
        line = _solid_line(at, knot, leaf, tips)
        if not line:
            continue
        start = _longest_two(at, line, tips)
        limbs[f"arm_{side}"] = tuple(line[start : start + 2])
        if line[start + 2 :]:
            limbs[f"hand_{side}"] = (line[start + 2],)
        if start:
            limbs[f"clavicle_{side}"] = (line[start - 1],)
    return {limb: bodies for limb, bodies in limbs.items() if bodies}


def _feet_by_shape(at: Anatomy, leaves: Sequence[int], tips: Array) -> list[int]:
    """The feet the character knows of, else the lowest ends, if they hang clearly below the root."""
    known = [at.character.body_id(f.body) for f in at.character.feet]
    if len(known) >= 2:
        return known
    low = min(float(tips[b, 2]) for b in leaves)
    tall = max(float(np.ptp(tips[1:, 2])), 1e-9)
    found = [b for b in leaves if tips[b, 2] - low < 0.15 * tall and at.places[1, 2] - tips[b, 2] > 0.25 * tall]
    return found if len(found) >= 2 else []


def _pairs(at: Anatomy, ends: Sequence[int], tips: Array, kind: str) -> dict[str, int]:
    """Ends named by side (left is where y is larger) and, where there are several pairs, numbered from the front."""
    middle = float(np.mean([tips[b, 1] for b in ends]))
    named: dict[str, int] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        mine = [b for b in ends if sign * (tips[b, 1] - middle) > 0.0]
        for number, body in enumerate(sorted(mine, key=lambda b: -float(tips[b, 0]))):
            named[f"{kind}{number + 1 if number else ''}_{side}"] = body
    if not named:  # all in one plane: in the order they come
        for number, body in enumerate(ends[:2]):
            named[f"{kind}_{SIDES[number]}"] = body
    return named


def _leaf_below(body: int, children: Mapping[int, Sequence[int]]) -> int:
    while children[body]:
        body = children[body][0]
    return body


def _leaving(at: Anatomy, leaf: int, line: Sequence[int]) -> int:
    """Where the way up from a leaf meets a line of bodies."""
    return next((b for b in at.path(leaf) if b in line), line[-1] if line else 1)


def _solid_line(at: Anatomy, start: int, end: int, tips: Array) -> list[int]:
    """The bodies after `start` down to `end`, without those that have no length."""
    line = list(reversed(at.path(end)))
    line = line[line.index(start) + 1 :] if start in line else line
    lengths = _lengths(at, line, tips)
    branches = {b for b in line if sum(parent == b for parent in at.parents) > 1}
    return [b for b, length in zip(line, lengths, strict=True) if length > 0.01 * at.size or b == end or b in branches]


def _lengths(at: Anatomy, line: Sequence[int], tips: Array) -> list[float]:
    ends = [at.places[b] for b in line[1:]] + ([tips[line[-1]]] if line else [])
    return [float(np.linalg.norm(e - at.places[b])) for b, e in zip(line, ends, strict=True)]


def _longest_two(at: Anatomy, line: Sequence[int], tips: Array) -> int:
    """Where in a line of bodies the two longest neighbours begin; of nearly equal ones those further out."""
    lengths = _lengths(at, line, tips)
    if len(lengths) < 3:
        return 0
    return int(np.argmax([(a + b) * (1.0 + 0.1 * i) for i, (a, b) in enumerate(pairwise(lengths))]))
