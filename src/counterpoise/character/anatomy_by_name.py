"""Limbs by the names of bodies, as many programs write them.

Known are `LeftUpLeg`, `mixamorig:LeftUpLeg`, `thigh_l`, `Bip01 L Thigh`, `lfemur`, `L_Knee`, `thigh_left` and the like.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterpoise.character.anatomy import Anatomy

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
_OTHER_WORDS = "twist roll ik pole end nub site helper ctrl control target eye jaw hair finger fingers"
_IGNORED = frozenset(_OTHER_WORDS.split())  # a name with one of these words is none of the parts
_PREFIX = re.compile(
    r"^(?:.*[:|])?(?:bip\s*0*\d*|cc_base|character\d*|def|org|mch|j_bip|jbip|ragdoll|valvebiped)?", re.I
)
_WORDS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
SIDES = ("left", "right")


def read_name(name: str) -> tuple[str, str, str]:
    """Returns (slot, side, number) of a body's name: 'LeftUpLeg' -> ('thigh', 'left', ''); slot is "" if unknown."""
    plain = _PREFIX.sub("", name, count=1)
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
            continue  # c and m stand for "in the middle"
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


def limbs_by_name(at: Anatomy) -> dict[str, tuple[int, ...]]:
    """Returns the bodies of every limb ("leg_left", "arm2_right", "trunk", ...) found by the names of bodies."""
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
                    if kind == "arm":  # of a wrist and a hand below it, the hand counts
                        tip = tip[-1:]
                    limbs[f"{end}{tag}_{side}"] = tuple(tip[:1] + tip[-1:] if len(tip) > 1 else tip)
                collar = [b for b in at.path(top)[1:] if slots[b][0] == "clavicle" and slots[b][1] == side]
                if collar:
                    limbs[f"clavicle{tag}_{side}"] = tuple(collar[:1])
    hips = carrier_of_legs(at, limbs)
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
    """Returns those of `bodies` that lie on the longest line from top to tip, in this order."""
    best: list[int] = []
    for body in bodies:
        line = [b for b in reversed(at.path(body)) if b in bodies]
        if len(line) > len(best):
            best = line
    return best


def carrier_of_legs(at: Anatomy, limbs: Mapping[str, Sequence[int]]) -> int:
    """Returns the body that carries the legs, their nearest common ancestor; the root if there are no legs."""
    tops = [bodies[0] for limb, bodies in limbs.items() if limb.startswith("leg")]
    if not tops:
        return min(1, len(at.names) - 1)
    shared = [b for b in at.path(at.parents[tops[0]]) if all(b in at.path(top) for top in tops)]
    return shared[0] if shared else 1
