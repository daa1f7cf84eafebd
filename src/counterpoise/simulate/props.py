"""Props: loose balls and boxes of a world, which lie, fall, roll, and are pushed or thrown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import mujoco
import numpy as np
from numpy.typing import ArrayLike

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.physics import CONTACT_SOLIMP, CONTACT_SOLREF
from counterpoise.defaults import GROUND_FRICTION
from counterpoise.errors import BadValue, unknown_name

Three = tuple[float, float, float]
SHAPES = ("ball", "box")
SMALLEST, LARGEST = 0.02, 10.0  # [m] of a prop along each axis
LIGHTEST, HEAVIEST = 0.001, 10_000.0  # [kg]
FASTEST = 60.0  # [m/s] of a throw: a faster prop would pass through a limb within one step
BOUNCE_FREQUENCY = 200.0  # [rad/s] of the spring of a contact that bounces
LEAST_BOUNCE, MOST_BOUNCE = math.exp(-2.0), 0.95  # share of the speed that a prop keeps when it bounces
BISECTIONS = 40
PRIORITY = 2  # in contacts: friction and bounce of a prop count, not those of what it touches
ROLLING = 0.02  # coefficient of rolling friction, in radii
TWISTING = 0.005  # [m] coefficient of torsional friction
COLOURS = {"ball": (0.851, 0.396, 0.259, 1.0), "box": (0.737, 0.596, 0.420, 1.0)}


@dataclass(frozen=True)
class Prop:
    """A loose body. `place` is its centre; with `velocity` it is thrown.

    cp.Prop("ball", 0.2, mass=1.0, place=(1.5, 0, 1.2), velocity=(-6, 0, 1)) is a ball of 20 cm on its way.
    """

    shape: Literal["ball", "box"]
    size: float | Three  # [m] of a ball its diameter, of a box its length, width and height
    mass: float  # [kg]
    place: Three  # [m]
    turn: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)  # quaternion w, x, y, z
    velocity: Three = (0.0, 0.0, 0.0)  # [m/s]
    spin: Three = (0.0, 0.0, 0.0)  # [rad/s], world frame
    friction: float = GROUND_FRICTION
    bounce: float = 0.0  # share of the speed that it keeps when it hits something; below 0.14 as 0

    def __post_init__(self) -> None:
        if self.shape not in SHAPES:
            raise unknown_name("shape of a prop", self.shape, SHAPES)
        given = np.ravel(np.asarray(self.size, float))
        wanted = "its diameter" if self.shape == "ball" else "its length, width and height"
        if self.shape == "ball" and len(given) == 1:
            given = np.repeat(given, 3)
        fits = len(given) == 3 and bool(np.all((given >= SMALLEST) & (given <= LARGEST)))
        if not fits or (self.shape == "ball" and np.ptp(given) > 0.0):
            raise BadValue(f"the size of a {self.shape} is {wanted}, {SMALLEST:g} to {LARGEST:g} m; got {self.size!r}")
        _set(self, "size", given)
        for name, what in (("place", "m"), ("velocity", "m/s"), ("spin", "rad/s")):
            _set(self, name, _numbers(getattr(self, name), 3, f"the {name} of a prop [{what}]"))
        turn = _numbers(self.turn, 4, "the turn of a prop, a quaternion w, x, y, z,")
        if not np.linalg.norm(turn) > 0.0:
            raise BadValue("the turn of a prop is a quaternion w, x, y, z; all of it is zero")
        _set(self, "turn", turn / np.linalg.norm(turn))
        if not LIGHTEST <= self.mass <= HEAVIEST:
            raise BadValue(f"the mass of a prop is {LIGHTEST:g} to {HEAVIEST:g} kg; got {self.mass!r}")
        if not (np.isfinite(self.friction) and self.friction >= 0.0):
            raise BadValue(f"the friction of a prop is a number, 0 or more; got {self.friction!r}")
        if not 0.0 <= self.bounce <= MOST_BOUNCE:
            raise BadValue(f"the bounce of a prop is 0 to {MOST_BOUNCE:g}; got {self.bounce!r}")

    @property
    def extent(self) -> Three:
        """Its size along its own axes [m]."""
        assert isinstance(self.size, tuple)
        return self.size


@dataclass(frozen=True)
class PropPlace:
    """Where the coordinates of a prop are in the world's model."""

    qpos: slice  # place, then the quaternion
    dofs: slice  # velocity, then the spin in its own frame
    body: int


def aimed(prop: Prop, target: ArrayLike, speed: float, gravity: ArrayLike) -> Prop:
    """Returns the prop thrown so that its centre passes a target: about `speed` [m/s], with its fall allowed for."""
    goal = _numbers(target, 3, "the target of a throw [m]")
    if not (np.isfinite(speed) and 0.0 < speed <= FASTEST):
        raise BadValue(f"the speed of a throw is above 0 and at most {FASTEST:g} m/s; got {speed!r}")
    way = goal - np.asarray(prop.place)
    time = max(float(np.linalg.norm(way)), 1e-3) / speed
    velocity = way / time - 0.5 * time * np.asarray(gravity, float)
    too_fast = float(np.linalg.norm(velocity)) / FASTEST
    return moved(prop, velocity=velocity if too_fast <= 1.0 else velocity / too_fast)


def moved(prop: Prop, **changes: Any) -> Prop:
    """Returns the prop elsewhere, or at another velocity."""
    values: dict[str, Any] = {name: tuple(np.asarray(value, float).tolist()) for name, value in changes.items()}
    return replace(prop, **values)


def add_props(spec: mujoco.MjSpec, props: Sequence[Prop]) -> None:
    """Adds props to a specification, each a body with a free joint, where they begin."""
    kinds = {"ball": mujoco.mjtGeom.mjGEOM_SPHERE, "box": mujoco.mjtGeom.mjGEOM_BOX}
    for number, prop in enumerate(props):
        half = 0.5 * np.asarray(prop.extent)
        body = spec.worldbody.add_body(name=f"prop_{number}", pos=prop.place, quat=prop.turn)
        body.add_freejoint(name=f"prop_{number}")
        geom = body.add_geom(
            name=f"prop_{number}", type=kinds[prop.shape], size=half, mass=prop.mass, rgba=COLOURS[prop.shape],
            contype=1, conaffinity=1, condim=6, priority=PRIORITY,
            friction=[prop.friction, TWISTING, ROLLING * float(half.min())],
        )  # fmt: skip
        geom.solref = list(_stiffness(prop.bounce))
        geom.solimp = list(CONTACT_SOLIMP)


def prop_places(count: int, first_q: int, first_v: int, first_body: int) -> tuple[PropPlace, ...]:
    """Returns where props are in a model in which they come last."""
    return tuple(
        PropPlace(
            slice(first_q + 7 * k, first_q + 7 * k + 7), slice(first_v + 6 * k, first_v + 6 * k + 6), first_body + k
        )
        for k in range(count)
    )


def write_velocity(prop: Prop, place: PropPlace, qvel: Array) -> None:
    """Writes the velocity with which a prop begins."""
    turn = np.asarray(prop.turn)
    qvel[place.dofs] = np.concatenate([prop.velocity, spatial.rotate(spatial.conjugate(turn), np.asarray(prop.spin))])


def prop_now(prop: Prop, place: PropPlace, qpos: Array, qvel: Array) -> Prop:
    """Returns a prop as it is in a state of the model: elsewhere, at another velocity."""
    q, v = qpos[place.qpos], qvel[place.dofs]
    return moved(prop, place=q[:3], turn=q[3:], velocity=v[:3], spin=spatial.rotate(q[3:], v[3:]))


def describe_props(props: Sequence[Prop], places: Sequence[PropPlace]) -> list[dict[str, Any]]:
    """Returns what a recording notes of its props: what they are, and where their coordinates begin."""
    return [
        {"shape": prop.shape, "size": list(prop.extent), "mass": prop.mass, "qpos": place.qpos.start}
        for prop, place in zip(props, places, strict=True)
    ]


def _stiffness(bounce: float) -> tuple[float, float]:
    """Returns MuJoCo's solref (1 / (z w) [s], z) of a contact after which a share e of the speed is left.

    It is a spring and a damper of frequency w and damping ratio z that never pull:
    e = exp(-z / s (pi - atan2(2 z s, 1 - 2 z^2))), s = sqrt(1 - z^2) (Schwager and Poeschel, 2007). With z = 1 it is
    exp(-2); contacts that bounce less are like all others.
    """
    if bounce <= LEAST_BOUNCE:
        return CONTACT_SOLREF
    low, high = 0.0, 1.0
    for _ in range(BISECTIONS):
        z = 0.5 * (low + high)
        s = math.sqrt(1.0 - z * z)
        left = math.exp(-z / s * (math.pi - math.atan2(2.0 * z * s, 1.0 - 2.0 * z * z)))
        low, high = (z, high) if left > bounce else (low, z)
    return 1.0 / (z * BOUNCE_FREQUENCY), z


def _numbers(values: ArrayLike, count: int, what: str) -> Array:
    array = np.ravel(np.asarray(values, float))
    if array.shape != (count,) or not np.isfinite(array).all():
        raise BadValue(f"{what} is {count} finite numbers; got {values!r}")
    return array


def _set(prop: Prop, name: str, values: Array) -> None:
    object.__setattr__(prop, name, tuple(float(v) for v in values))
