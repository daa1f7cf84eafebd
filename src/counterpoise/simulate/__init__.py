"""Simulation: worlds, disturbances, the loop, recordings and their replay."""

from counterpoise.rooms import answer_calls
from counterpoise.simulate.disturbances import Disturbance, Push, push_schedule, random_pushes
from counterpoise.simulate.loop import simulate
from counterpoise.simulate.props import Prop, aimed
from counterpoise.simulate.recording import Contacts, Recording
from counterpoise.simulate.replay import ReplayReport, replay
from counterpoise.simulate.session import Session
from counterpoise.simulate.springs import Spring
from counterpoise.simulate.start import disturbed_start
from counterpoise.simulate.world import Platform, Sine, World

__all__ = [
    "Contacts", "Disturbance", "Platform", "Prop", "Push", "Recording", "ReplayReport", "Session", "Sine", "Spring",
    "World", "aimed", "disturbed_start", "push_schedule", "random_pushes", "replay", "simulate",
]  # fmt: skip

answer_calls(__name__, "counterpoise.simulate.loop", "simulate")
