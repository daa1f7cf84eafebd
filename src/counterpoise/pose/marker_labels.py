"""Places of the usual capture labels on a human figure: Plug-in Gait, Vicon and CMU names, left and right.

Places are in the segment's frame of a figure 1.75 m tall (x forward, y left, z up, arms hanging, palms inward), a
marker's radius off the skin. Fitting starts from them and moves them to agree with the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue, unknown_name

TABLE_HEIGHT = 1.75  # [m] of the figure whose places the tables give
MIN_MARKERS = 3  # for a fit
Place = tuple[str, tuple[float, float, float]]

_MIDDLE: dict[str, Place] = {
    "ARIEL": ("head", (0.016, 0.0, 0.335)),
    "C7": ("thorax", (-0.085, 0.0, 0.235)),
    "T10": ("thorax", (-0.122, 0.0, 0.060)),
    "CLAV": ("thorax", (0.085, 0.0, 0.205)),
    "STRN": ("thorax", (0.128, 0.0, 0.075)),
    "RBAK": ("thorax", (-0.115, -0.080, 0.150)),
    "LBAK": ("thorax", (-0.115, 0.080, 0.150)),
    "SACR": ("pelvis", (-0.115, 0.0, 0.085)),
}
_LEFT: dict[str, Place] = {  # of the left side; the right is its mirror image
    "FHD": ("head", (0.095, 0.055, 0.235)),
    "BHD": ("head", (-0.070, 0.055, 0.235)),
    "SHO": ("thorax", (0.0, 0.185, 0.262)),
    "UPA": ("upper_arm", (0.0, 0.052, -0.160)),
    "ELB": ("upper_arm", (0.0, 0.048, -0.325)),
    "MELB": ("upper_arm", (0.0, -0.048, -0.325)),
    "FRM": ("forearm", (0.0, 0.042, -0.130)),
    "WRA": ("forearm", (0.042, 0.0, -0.250)),  # the thumb's side
    "WRB": ("forearm", (-0.042, 0.0, -0.250)),
    "THM": ("hand", (0.055, 0.0, -0.065)),
    "FIN": ("hand", (0.0, 0.030, -0.090)),
    "ASI": ("pelvis", (0.100, 0.120, 0.080)),
    "PSI": ("pelvis", (-0.110, 0.050, 0.085)),
    "THI": ("thigh", (0.0, 0.082, -0.230)),
    "KNE": ("thigh", (0.0, 0.066, -0.431)),
    "MKNE": ("thigh", (0.0, -0.066, -0.431)),
    "TIB": ("shank", (0.0, 0.058, -0.200)),
    "ANK": ("shank", (0.0, 0.050, -0.433)),
    "MED": ("shank", (0.0, -0.050, -0.433)),
    "HEE": ("foot", (-0.078, 0.0, -0.040)),
    "TOE": ("foot", (0.115, 0.0, -0.005)),
    "MT5": ("foot", (0.105, 0.055, -0.045)),
    "MT1": ("foot", (0.115, -0.050, -0.035)),
}
_SYNONYMS = {  # other words for the same places
    "UPPERARM": "UPA", "ARM": "UPA", "FA": "FRM", "FRA": "FRM", "IWR": "WRA", "OWR": "WRB", "WRI": "WRB",
    "IHAND": "THM", "OHAND": "FIN", "FWT": "ASI", "BWT": "PSI", "THIGH": "THI", "KNEE": "KNE", "SHN": "TIB",
    "SHANK": "TIB", "ANKLE": "ANK", "MMAL": "MED", "MANK": "MED", "KNM": "MKNE", "ELBM": "MELB", "HEEL": "HEE",
    "FIFTHMET": "MT5", "FIRSTMET": "MT1", "SHOULDER": "SHO", "ELBOW": "ELB", "MT2": "TOE", "MT23": "TOE",
}  # fmt: skip


def place_of(label: str) -> Place | None:
    """Returns segment and place of a label, whatever its case and subject prefix ('Anna:LASI'); None if unknown."""
    word = label.split(":")[-1].strip().upper().replace("_", "").replace(" ", "")
    if word in _MIDDLE:
        return _MIDDLE[word]
    if word[:1] not in ("L", "R"):
        return None
    part = _SYNONYMS.get(word[1:], word[1:])
    if part not in _LEFT:
        return None
    segment, (x, y, z) = _LEFT[part]
    left = word[0] == "L"
    if segment not in ("head", "thorax", "pelvis"):
        segment = f"{segment}_{'left' if left else 'right'}"
    return segment, (x, y if left else -y, z)


def placements(
    labels: Sequence[str], character: Character, given: Mapping[str, object] | None
) -> tuple[dict[str, tuple[str, Array]], tuple[str, ...]]:
    """Returns segment and place of every label that has one, in the order of the data, and the labels without.

    `given` maps labels to a body or to (body, point in its frame). It replaces the table of usual labels, and all its
    labels must be in the data.
    """
    if given is not None:
        for label in given:
            if label not in labels:
                raise unknown_name("marker", label, labels)
        found = {label: _placed(label, given[label], character) for label in labels if label in given}
    else:
        found = {}
        size = character.height / TABLE_HEIGHT
        taken: set[str] = set()
        for label in labels:
            known = place_of(label)
            short = label.split(":")[-1].upper()
            if known is not None and known[0] in character.segments and short not in taken:
                taken.add(short)
                found[label] = (known[0], size * np.array(known[1]))
    if len(found) < MIN_MARKERS:
        raise BadValue(
            f"fitting needs at least {MIN_MARKERS} markers whose place on {character.name!r} is known; "
            f"of {_listed(labels)} {len(found)} are: give placement={{label: (body, point)}}",
            labels=tuple(labels),
        )
    return found, tuple(label for label in labels if label not in found)


def _placed(label: str, value: object, character: Character) -> tuple[str, Array]:
    """Returns the body and the place of a marker as they were given; raises where they are not."""
    body, point = (value, (0.0, 0.0, 0.0)) if isinstance(value, str) else _pair(label, value)
    character.body_id(str(body))
    at = np.array(point, dtype=np.float64)
    if at.shape != (3,) or not np.isfinite(at).all():
        raise BadValue(f"the place of marker {label!r} is 3 finite numbers [m], not {point!r}")
    return str(body), at


def _pair(label: str, value: object) -> tuple[object, object]:
    if isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    raise BadValue(f"marker {label!r} sits on a body or at (body, point), not {value!r}")


def _listed(labels: Iterable[str]) -> str:
    names = list(labels)
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


__all__ = ["Place", "place_of", "placements"]
