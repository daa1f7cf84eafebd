"""The published experiments, each a small file with its settings, run and claims; and the demo."""

from counterpoise.experiments.base import (
    Claim,
    Experiment,
    Film,
    Lab,
    Outcome,
    experiments,
    find_experiment,
    setting,
)
from counterpoise.experiments.demo import DemoResult, push_the_cast, push_the_human, run_demo
from counterpoise.experiments.runner import Report, run_experiment

__all__ = [
    "Claim", "DemoResult", "Experiment", "Film", "Lab", "Outcome", "Report", "experiments",
    "find_experiment", "push_the_cast", "push_the_human", "run_demo", "run_experiment", "setting",
]  # fmt: skip
