"""Libraries: sets of constraints and figures that a person takes, and keeps in the folder."""

from __future__ import annotations

import re

from counterpoise.errors import BadValue, unknown_name
from counterpoise.files import whole_file
from counterpoise.scene import constraint_sets, read_constraint_set, take_constraints, write_constraint_set
from counterpoise.scene.constraint_sets import tables_of
from counterpoise.studio.commands import KeepConstraints, KeepFigure, TakeConstraints
from counterpoise.studio.events import FilesListed
from counterpoise.studio.scene_facts import CONSTRAINTS, set_names
from counterpoise.studio.takes import owner_of
from counterpoise.studio.workshop import Workshop, handles

FIGURES = "figures"  # the folder of a person's own figures
PLAIN = re.compile(r"[\w\- ]{1,60}")


@handles(TakeConstraints)
def take_set(shop: Workshop, command: TakeConstraints) -> None:
    """Adds a set to the figure in the hand, as one step of the history."""
    known, own = constraint_sets(shop.character), shop.folder.path(f"{CONSTRAINTS}/{plain(command.name)}.toml")
    if command.name not in known and not own.is_file():
        raise unknown_name("set of constraints", command.name, set_names(shop.document))
    tables = known[command.name] if command.name in known else read_constraint_set(own)
    shop.edit(take_constraints(tables, owner_of(shop, shop.document.shown.name), command.name))


@handles(KeepConstraints)
def keep_set(shop: Workshop, command: KeepConstraints) -> None:
    """Writes the constraints of the figure in the hand as a set; a set of that name is not overwritten."""
    tables = tables_of(shop.document.scene.constraints, owner_of(shop, shop.document.shown.name))
    if not tables:
        raise BadValue("the figure has no constraints yet: right click a body to add one")
    path = shop.folder.path(f"{CONSTRAINTS}/{plain(command.name)}.toml")
    if path.exists() or command.name in constraint_sets(shop.character):
        raise BadValue(f"there is already a set {command.name!r}: choose another name")
    path.parent.mkdir(exist_ok=True)
    write_constraint_set(path, tables)
    shop.say_scene()
    shop.note(f"Kept {len(tables)} constraints as {command.name!r}.")


@handles(KeepFigure)
def keep_figure(shop: Workshop, command: KeepFigure) -> None:
    """Writes the figure in the hand as MJCF; a file of that name is not overwritten."""
    path = shop.folder.path(f"{FIGURES}/{plain(command.name)}.xml")
    if path.exists():
        raise BadValue(f"there is already a figure {command.name!r} in the folder: choose another name")
    path.parent.mkdir(exist_ok=True)
    with whole_file(path) as temporary:
        temporary.write_text(shop.character.to_mjcf(), encoding="utf-8")
    shop.say(FilesListed(shop.folder.listing()))
    shop.note(f"Kept the figure as {FIGURES}/{path.name}.")


def plain(name: str) -> str:
    """Returns a name that is safe as that of a file."""
    if not PLAIN.fullmatch(name) or name != name.strip():
        raise BadValue(f"a name is made of letters, digits, spaces, - and _, at most 60; got {name!r}")
    return name
