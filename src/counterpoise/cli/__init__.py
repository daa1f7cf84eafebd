"""The command line: thin verbs over the same public functions that Python uses."""

# the verbs, in the order they are listed
from counterpoise.cli import demo, characters, simulating, walking, replaying, posing, drawing, converting  # isort: skip
from counterpoise.cli import checking, fixing, optimizing, performing, playing, studio, experimenting  # isort: skip
from counterpoise.cli.app import app, main

__all__ = [
    "app", "characters", "checking", "converting", "demo", "drawing", "experimenting", "fixing", "main", "optimizing",
    "performing", "playing", "posing", "replaying", "simulating", "studio", "walking",
]  # fmt: skip
