"""Everyone can install it: by the lock file, all it needs has wheels for the common systems and Pythons."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from packaging.tags import Tag, compatible_tags, cpython_tags, mac_platforms
from packaging.utils import parse_wheel_filename

LOCK = Path(__file__).resolve().parents[1] / "uv.lock"
PYTHONS = ((3, 11), (3, 12), (3, 13), (3, 14))
OLDEST_GLIBC = 28  # 2.28, of 2018
OLDEST_MACOS = (14, 0)


@dataclass(frozen=True)
class System:
    """A system someone works on, in the words of markers and of wheels."""

    name: str
    platforms: tuple[str, ...]  # of wheels, best first
    sys_platform: str
    platform_system: str
    machine: str

    def environment(self, python: tuple[int, int]) -> dict[str, str]:
        version = ".".join(map(str, python))
        return {
            "python_version": version, "python_full_version": f"{version}.4", "sys_platform": self.sys_platform,
            "platform_system": self.platform_system, "platform_machine": self.machine,
            "os_name": "nt" if self.sys_platform == "win32" else "posix", "implementation_name": "cpython",
            "platform_python_implementation": "CPython", "extra": "",
        }  # fmt: skip

    def tags(self, python: tuple[int, int]) -> frozenset[Tag]:
        interpreter = f"cp{python[0]}{python[1]}"
        own = cpython_tags(python, [interpreter], self.platforms)
        return frozenset([*own, *compatible_tags(python, interpreter, self.platforms)])


def linux(machine: str) -> System:
    glibc = tuple(f"manylinux_2_{minor}_{machine}" for minor in range(OLDEST_GLIBC, 16, -1))
    return System(f"Linux {machine}", (*glibc, f"manylinux2014_{machine}"), "linux", "Linux", machine)


SYSTEMS = (
    System("Windows", ("win_amd64",), "win32", "Windows", "AMD64"),
    System("macOS arm64", tuple(mac_platforms(OLDEST_MACOS, "arm64")), "darwin", "Darwin", "arm64"),
    linux("x86_64"),
    linux("aarch64"),
)


@cache
def packages() -> dict[str, list[dict[str, Any]]]:
    out: dict[str, list[dict[str, Any]]] = {}
    for package in tomllib.loads(LOCK.read_text(encoding="utf-8"))["package"]:
        out.setdefault(package["name"], []).append(package)
    return out


def needed(environment: dict[str, str], *groups: str) -> Iterator[dict[str, Any]]:
    """The locked packages that installing Counterpoise brings in, without itself; also those of dependency groups."""
    (ours,) = packages()["counterpoise"]
    left, seen = list(ours["dependencies"]), set()
    left += [need for group in groups for need in ours["dev-dependencies"][group] if need["name"] != "counterpoise"]
    while left:
        need = left.pop()
        if "marker" in need and not Marker(need["marker"]).evaluate(environment):
            continue
        (package,) = (
            p for p in packages()[need["name"]] if need.get("version", p["version"]) == p["version"]
        )  # one version a package in one environment
        if (key := (package["name"], package["version"])) not in seen:
            seen.add(key)
            left += package.get("dependencies", [])
            yield package


def installable(package: dict[str, Any], tags: frozenset[Tag]) -> bool:
    names = (wheel["url"].rsplit("/", 1)[-1] for wheel in package.get("wheels", ()))
    return any(parse_wheel_filename(name)[3] & tags for name in names)


@pytest.mark.parametrize("python", PYTHONS, ids=lambda v: f"{v[0]}.{v[1]}")
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_everything_needed_has_a_wheel(system: System, python: tuple[int, int]):
    brought = list(needed(system.environment(python)))
    assert {"numpy", "casadi", "mujoco", "contourpy"} <= {p["name"] for p in brought}  # also what matplotlib needs
    tags = system.tags(python)
    assert not [f"{p['name']} {p['version']}" for p in brought if not installable(p, tags)]


@pytest.mark.parametrize("python", PYTHONS, ids=lambda v: f"{v[0]}.{v[1]}")
@pytest.mark.parametrize("system", SYSTEMS, ids=lambda s: s.name)
def test_what_the_tests_need_has_a_wheel_or_is_plain_python(system: System, python: tuple[int, int]):
    tags = system.tags(python)
    brought = needed(system.environment(python), "dev")
    assert {p["name"] for p in brought if not installable(p, tags)} <= {"bvh"}  # one file of Python


def test_a_package_without_wheels_would_be_found():
    (casadi,) = packages()["casadi"]
    windows = SYSTEMS[0].tags((3, 12))
    only_linux = [wheel for wheel in casadi["wheels"] if "linux" in wheel["url"]]
    assert installable(casadi, windows) and only_linux
    assert not installable({**casadi, "wheels": only_linux}, windows)
