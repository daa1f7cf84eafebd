"""Names and colours in forms that other programs accept."""

from __future__ import annotations


def unique_names(names: list[str]) -> tuple[str, ...]:
    """Returns the names, with numbers added where they repeat."""
    taken, counts = set(names), dict.fromkeys(names, 1)
    seen: set[str] = set()
    out = []
    for name in names:
        fresh = name
        while fresh in seen or (fresh != name and fresh in taken):
            counts[name] += 1
            fresh = f"{name}_{counts[name]}"
        seen.add(fresh)
        out.append(fresh)
    return tuple(out)


def identifier(name: str) -> str:
    """Returns a name that USD accepts: letters, digits and underscores, not beginning with a digit."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in name.strip())[:60]
    return kept if kept and not kept[0].isdigit() else f"_{kept}"


def linear_light(c: float) -> float:
    """Returns the linear value of an sRGB value (IEC 61966-2-1)."""
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def clean_name(name: str) -> str:
    """Returns a name of at most 60 printable characters, without those that have a meaning in paths."""
    kept = "".join(c if c.isprintable() and c not in '/\\:*?"<>|' else "_" for c in name.strip())
    return kept[:60].strip() or "unnamed"


__all__ = ["clean_name", "identifier", "linear_light", "unique_names"]
