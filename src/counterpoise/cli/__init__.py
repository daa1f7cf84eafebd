"""The command line: thin verbs over the same public functions that Python uses."""

# the verbs, in the order they are listed
from counterpoise.cli import demo, doctoring, characters, simulating, replaying, posing, drawing  # isort: skip
from counterpoise.cli import converting, checking, fixing, comparing, optimizing, performing, walking, going  # isort: skip
from counterpoise.cli import playing, studio, experimenting, sweeping  # isort: skip
from counterpoise.cli.app import app, main

__all__ = [
    "app", "characters", "checking", "comparing", "converting", "demo", "doctoring", "drawing", "experimenting",
    "fixing", "going", "main", "optimizing", "performing", "playing", "posing", "replaying", "simulating", "studio",
    "sweeping", "walking",
]  # fmt: skip
