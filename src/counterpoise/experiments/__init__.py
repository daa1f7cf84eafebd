"""Experiments: set-up, run, claim. So far the demo."""

from counterpoise.experiments.demo import DemoResult, drop_the_cast, run_demo

__all__ = ["DemoResult", "drop_the_cast", "run_demo"]
