"""Plans of few numbers, ahead of the body: a point mass that bounces from foot to foot."""

from __future__ import annotations
