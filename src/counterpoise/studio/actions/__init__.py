"""What each command does, one module for each part of the page. Importing this package fills the table of handlers."""

from counterpoise.studio.actions import files, jobs, keys, libraries, live, posing

__all__ = ["files", "jobs", "keys", "libraries", "live", "posing"]
