"""What the tests share: the whole cast, and a quiet, repeatable hypothesis."""

from __future__ import annotations

import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

from counterpoise.character import Character
from counterpoise.character.library import character, characters

settings.register_profile(
    "house", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("house")


def pytest_configure() -> None:
    """Hears Ctrl-C also where the shell that began the tests lets them ignore it, as it does in the background."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A law that takes `cast_name` holds for every figure of the library; `standing_name` for those with feet."""
    names = [entry.name for entry in characters()]
    if "cast_name" in metafunc.fixturenames:
        metafunc.parametrize("cast_name", [n for n in names if n != "planar"])
    if "standing_name" in metafunc.fixturenames:
        metafunc.parametrize("standing_name", [n for n in names if n not in ("planar", "chain")])


@pytest.fixture
def cast(cast_name: str) -> Character:
    return character(cast_name)


@pytest.fixture
def standing(standing_name: str) -> Character:
    return character(standing_name)


@pytest.fixture(scope="session")
def human() -> Character:
    return character("human")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20)
