"""Motions and recordings as columns with names, and as pandas and xarray have them (extra `tables`)."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from typing import Any

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.errors import BadValue

UNITS = {"time": "s", "com_x": "m", "com_y": "m", "com_z": "m"}


def joint_columns(character: Character, values: Iterable[tuple[str, Array]]) -> dict[str, Array]:
    """Returns rows of coordinates ("q", (n, nq)) and of degrees of freedom (other kinds, (n, nv)) by joint, (n,) each.

    A joint of several numbers has a column for each: `q:hip_left.0`.
    """
    out: dict[str, Array] = {}
    kinds = list(values)
    for joint in character.joints:
        for kind, rows in kinds:
            part = rows[:, joint.qpos if kind == "q" else joint.dofs]
            several = part.shape[1] > 1
            names = [f"{kind}:{joint.name}.{k}" if several else f"{kind}:{joint.name}" for k in range(part.shape[1])]
            out |= dict(zip(names, part.T, strict=True))
    return out


def data_frame(columns: dict[str, Array]) -> Any:
    """Returns columns as a pandas DataFrame."""
    _needs("pandas", "data frames")
    import pandas

    return pandas.DataFrame(columns)


def data_set(columns: dict[str, Array]) -> Any:
    """Returns columns as an xarray Dataset with the coordinate `time`: a variable for every other column."""
    _needs("xarray", "data sets")
    import xarray

    rest = {
        name: ("time", values, {"units": UNITS[name]} if name in UNITS else {})
        for name, values in columns.items()
        if name != "time"
    }
    return xarray.Dataset(rest, coords={"time": ("time", columns["time"], {"units": UNITS["time"]})})


class TableMethods:
    """A base for motions: their columns."""

    character: Character
    times: Array
    poses: Array

    def columns(self) -> dict[str, Array]:
        """Returns the frames by name, (n,) each: time, CoM, coordinates and velocities by joint."""
        from counterpoise.character.track import follow

        com = follow(self.character, self.poses).com
        out = {"time": self.times, **{f"com_{axis}": com[:, k] for k, axis in enumerate("xyz")}}
        velocities = self.sample(self.times).v  # type: ignore[attr-defined]  # motions have it
        return out | joint_columns(self.character, (("q", self.poses), ("v", velocities)))

    def table(self) -> Any:
        """Returns `columns` as a pandas DataFrame (extra `tables`)."""
        return data_frame(self.columns())

    def xarray(self) -> Any:
        """Returns `columns` as an xarray Dataset over time (extra `tables`)."""
        return data_set(self.columns())


def _needs(package: str, what: str) -> None:
    if find_spec(package) is None:
        raise BadValue(
            f"{what} need the package '{package}': pip install 'counterpoise[tables]'; columns() does not",
            package=package,
        )
