"""The command line: thin verbs over the same public functions that Python uses."""

# the verbs, in the order they are listed
from counterpoise.cli import running, posing, drawing, converting, checking, fixing, optimizing, experimenting  # isort: skip
from counterpoise.cli.app import app, main

__all__ = [
    "app",
    "checking",
    "converting",
    "drawing",
    "experimenting",
    "fixing",
    "main",
    "optimizing",
    "posing",
    "running",
]
