"""The command line: thin verbs over the same public functions that Python uses."""

from counterpoise.cli import running, posing, drawing  # isort: skip  # the verbs, in the order they are listed
from counterpoise.cli.app import app, main

__all__ = ["app", "drawing", "main", "posing", "running"]
