"""Running: a bouncing point mass plans the steps, the whole body follows."""

from __future__ import annotations
