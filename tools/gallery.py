"""Writes docs/gallery.md: the best pictures, each with the command that makes it anew and the page that explains it.

uv run python tools/gallery.py
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGE = DOCS / "gallery.md"
HEAD = """# Gallery

Every picture was made by this program. Below each stands the command that makes it anew, with its numbers, and the
page that says what was measured. Written by `tools/gallery.py`.
"""


class Shown(NamedTuple):
    """A picture of the gallery."""

    image: str
    caption: str
    command: str
    page: str


def experiment(name: str) -> str:
    return f"counterpoise experiment run {name}"


SECTIONS: dict[str, tuple[Shown, ...]] = {
    "Simulated: standing, walking, running": (
        Shown(
            "locomotion.gif",
            "Pushed, it steps; it walks, runs, turns and stops, by one controller",
            "uv run python tools/moving_picture.py",
            "locomotion.md",
        ),
        Shown("caught_push.png", "60 N s from behind, caught by a step", experiment("pushed-steps"), "locomotion.md"),
        Shown("walk.png", "A walk at 1.2 m/s", experiment("walk"), "walking.md"),
        Shown(
            "walk_styles.png",
            "Sneaking; sad; a chicken by the same controller",
            experiment("walk-styles"),
            "walking.md",
        ),
        Shown("walk_stairs.png", "Five stairs, a foot on each", experiment("terrain-walks"), "walking.md"),
        Shown("windmill_film.png", "Arms and trunk catch a push", experiment("windmill"), "standing_experiments_a.md"),
        Shown(
            "grapple_film.png",
            "A creature with four arms, struck and tied down",
            experiment("grapple"),
            "standing_experiments_a.md",
        ),
        Shown(
            "morphologies_film.png",
            "Other bodies, the same objectives",
            experiment("morphologies"),
            "standing_experiments_a.md",
        ),
    ),
    "Planned, then performed by a simulated body": (
        Shown(
            "jump_twist_360.png", "A full turn: the plan above, the body below", experiment("twist-jumps"), "perform.md"
        ),
        Shown("jump_split.png", "A split in the air", experiment("splits"), "perform.md"),
        Shown("jump_onto.png", "Onto a box", experiment("jumps"), "perform.md"),
        Shown(
            "performed_vault.png",
            "A vault over a box of 0.8 m",
            "counterpoise perform examples/stunts/vault.toml",
            "perform.md",
        ),
        Shown(
            "performed_clip.png",
            "A captured jump, done on the body's own strength",
            "counterpoise perform clip.bvh",
            "perform.md",
        ),
        Shown(
            "scene_box.png",
            "A scene of thirty lines",
            "counterpoise play examples/scenes/jump_on_a_box.toml",
            "scene.md",
        ),
    ),
    "Whole motions from keys and contacts": (
        Shown(
            "dismount_strength_film.png",
            "A dismount from the high bar, within a person's strength",
            experiment("dismount"),
            "spacetime_experiments.md",
        ),
        Shown("optimize_vault.png", "A vault", "counterpoise optimize examples/stunts/vault.toml", "optimize.md"),
        Shown(
            "stunt_cartwheel.png",
            "A cartwheel",
            "counterpoise optimize examples/stunts/cartwheel.toml",
            "spacetime_experiments.md",
        ),
        Shown("monkey_bars_film.png", "Hand over hand", experiment("monkey-bars"), "spacetime_experiments.md"),
    ),
    "Captured motion": (
        Shown(
            "retarget_cast.png", "One capture on many bodies", "uv run python tools/retarget_pictures.py", "retarget.md"
        ),
        Shown(
            "fix_jump.png",
            "A captured jump before and after it is made possible",
            "counterpoise fix clip.bvh -o fixed.bvh",
            "fix.md",
        ),
        Shown(
            "check_jump.png",
            "What a motion needs, and what the ground can give",
            "counterpoise check clip.bvh",
            "check.md",
        ),
        Shown(
            "standing_steps.png",
            "Pushed hard, it steps, and stands as before",
            "counterpoise simulate stand --step --push thorax:60,420,0@0.5+0.1 --png steps.png",
            "standing.md",
        ),
        Shown(
            "standing_clip.png",
            "A captured toe touch, followed by a simulated body",
            experiment("exercise"),
            "standing.md",
        ),
    ),
    "Figures and the studio": (
        Shown("smooth.png", "The smooth body", "counterpoise render squat -o squat.png --smooth", "render.md"),
        Shown(
            "terrain.png",
            "A gap, stones, rough ground, a ramp, stairs, boxes",
            experiment("terrain-walks"),
            "terrain.md",
        ),
        Shown(
            "studio_pose.png", "A hand is dragged in the browser; feet stay pinned", "counterpoise studio", "studio.md"
        ),
        Shown("studio_optimise.png", "A jump of three keys is optimised", "counterpoise studio", "studio.md"),
    ),
}


def gallery() -> str:
    """Returns the page."""
    parts = [HEAD]
    for title, pictures in SECTIONS.items():
        parts.append(f"## {title}\n")
        for one in pictures:
            page = f"[{one.page.removesuffix('.md').replace('_', ' ')}]({one.page})"
            parts.append(f"![{one.caption}](images/{one.image})\n\n{one.caption}: `{one.command}`, {page}.\n")
    return "\n".join(parts)


def main() -> None:
    PAGE.write_text(gallery(), encoding="utf-8", newline="\n")
    print(f"wrote {PAGE.relative_to(DOCS.parent)}")


if __name__ == "__main__":
    main()
