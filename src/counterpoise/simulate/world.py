"""World: ground with friction and tilt, terrain, platform, props, gravity; and the model made of it and its figures.

The platform is a heavy body on three slides and three hinges. It is driven by forces, so it carries what stands on it
by friction, and its motion is part of the recorded inputs: plain MuJoCo can replay it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.mjcf import TEXT_NAME
from counterpoise.character.physics import CONTACT_SOLIMP, CONTACT_SOLREF, set_physics
from counterpoise.defaults import GRAVITY, GROUND_FRICTION
from counterpoise.errors import BadValue
from counterpoise.simulate.props import Prop, PropPlace, add_props, prop_places
from counterpoise.simulate.terrain_geoms import add_terrain
from counterpoise.terrain import Terrain

AXES = ("x", "y", "z", "roll", "pitch", "yaw")
MOST_PROPS = 100  # loose bodies of one world
INTEGRATORS = {
    "implicitfast": mujoco.mjtIntegrator.mjINT_IMPLICITFAST,
    "implicit": mujoco.mjtIntegrator.mjINT_IMPLICIT,
    "euler": mujoco.mjtIntegrator.mjINT_EULER,
    "rk4": mujoco.mjtIntegrator.mjINT_RK4,
}


@dataclass(frozen=True)
class Sine:
    """One component of an axis's motion: amplitude sin(2 pi frequency t + phase)."""

    amplitude: float  # [m or rad]
    frequency: float  # [Hz]
    phase: float = 0.0  # [rad]


@dataclass(frozen=True)
class Platform:
    """A moving floor. Each of its six axes is a sum of sines, faded in over `ease` seconds. Its top is at z = 0."""

    x: tuple[Sine, ...] = ()
    y: tuple[Sine, ...] = ()
    z: tuple[Sine, ...] = ()
    roll: tuple[Sine, ...] = ()
    pitch: tuple[Sine, ...] = ()
    yaw: tuple[Sine, ...] = ()
    half_size: tuple[float, float] = (1.5, 1.5)  # [m]
    ease: float = 0.5  # [s]

    def __post_init__(self) -> None:
        for axis in AXES:
            given = getattr(self, axis)
            sines = (given,) if isinstance(given, Sine) else tuple(given)
            for sine in sines:
                if not isinstance(sine, Sine) or not np.isfinite([sine.amplitude, sine.frequency, sine.phase]).all():
                    raise BadValue(f"platform axis {axis!r} is a sequence of finite Sine(...); got {given!r}")
            object.__setattr__(self, axis, sines)
        if not self.ease > 0.0 or not all(0.0 < s < 1e4 for s in self.half_size):
            raise BadValue(f"a platform needs ease > 0 and a positive half_size; got {self.ease}, {self.half_size}")

    def pose(self, time: float) -> Array:
        """Returns (6,): x, y, z [m], roll, pitch, yaw [rad] at `time`."""
        s = min(max(time / self.ease, 0.0), 1.0)
        ramp = s * s * s * (10.0 - 15.0 * s + 6.0 * s * s)
        turns = 2.0 * np.pi * time
        return ramp * np.array(
            [sum(w.amplitude * np.sin(turns * w.frequency + w.phase) for w in getattr(self, axis)) for axis in AXES],
            float,
        )


@dataclass(frozen=True)
class World:
    """The ground, gravity and how time is stepped.

    Tilt is (roll, pitch) of the ground [deg]; with pitch > 0 it slopes down ahead.
    """

    ground: bool = True
    friction: float = GROUND_FRICTION
    tilt: tuple[float, float] = (0.0, 0.0)
    platform: Platform | None = None
    gravity: tuple[float, float, float] = (0.0, 0.0, -GRAVITY)  # [m/s^2]
    timestep: float = 0.001  # [s]
    integrator: str = "implicitfast"
    terrain: Terrain | None = None  # boxes, stairs, gaps, ... instead of a plane
    props: tuple[Prop, ...] = ()  # loose balls and boxes

    def __post_init__(self) -> None:
        if not (np.isfinite(self.friction) and self.friction >= 0.0):
            raise BadValue(f"friction must be a number >= 0; got {self.friction!r}")
        if not 1e-5 <= self.timestep <= 0.02:
            raise BadValue(f"a time step lies between 0.00001 and 0.02 s; got {self.timestep!r}")
        if self.integrator not in INTEGRATORS:
            raise BadValue(f"integrator is one of {', '.join(INTEGRATORS)}; got {self.integrator!r}")
        if self.platform is not None and self.integrator == "rk4":
            raise BadValue("a moving platform is driven step by step: use 'implicitfast', 'implicit' or 'euler'")
        if self.platform is not None and any(self.tilt):
            raise BadValue("tilt is for the fixed ground; a platform tilts by its own roll and pitch")
        if len(self.tilt) != 2 or not np.all(np.abs(self.tilt) < 80.0):
            raise BadValue(f"tilt is (roll, pitch) of less than 80 degrees; got {self.tilt!r}")
        if len(self.gravity) != 3 or not np.isfinite(self.gravity).all():
            raise BadValue(f"gravity is three finite numbers [m/s^2]; got {self.gravity!r}")
        object.__setattr__(self, "props", tuple(self.props))
        if not all(isinstance(prop, Prop) for prop in self.props):
            raise BadValue(f"props are Prop(...); got {self.props!r}")
        if len(self.props) > MOST_PROPS:
            raise BadValue(f"a world has at most {MOST_PROPS} props; got {len(self.props)}")
        self._check_terrain()

    def _check_terrain(self) -> None:
        if self.terrain is None:
            return
        if not isinstance(self.terrain, Terrain):
            raise BadValue(f"terrain is a Terrain([...]) of pieces; got {self.terrain!r}")
        if not self.ground:
            raise BadValue("terrain is ground: leave out ground=False, or leave out the terrain")
        if any(self.tilt):
            raise BadValue("tilt is for the plain ground; on terrain use a Ramp or a HeightField")
        if self.platform is not None:
            raise BadValue("a moving platform and terrain cannot be in one world: keep one of them")

    def height_at(self, x: float, y: float) -> float:
        """Height of the ground under a place [m]: of the terrain, or of the (tilted) plane."""
        if self.terrain is not None:
            return float(self.terrain.height(x, y))
        n = ground_normal(self.tilt)
        return float(-(n[0] * x + n[1] * y) / n[2])


@dataclass(frozen=True)
class FigurePlace:
    """Where one figure's coordinates and bodies are in the world's model."""

    prefix: str  # of its names
    qpos: slice
    dofs: slice
    bodies: slice


@dataclass(frozen=True, eq=False)
class Stage:
    """A world with its figures, compiled into one MuJoCo model."""

    world: World
    figures: tuple[Character, ...]
    model: mujoco.MjModel
    places: tuple[FigurePlace, ...]
    platform_dofs: slice
    platform_qpos: slice
    props: tuple[PropPlace, ...] = ()


def build_stage(world: World, figures: Sequence[Character]) -> Stage:
    """Puts figures into a world. The figures come first in the model, then the platform, then the props."""
    prefixes = _prefixes(figures)
    spec = _gather(figures, prefixes)
    set_physics(spec, world.timestep)
    spec.option.integrator = INTEGRATORS[world.integrator]
    spec.option.gravity = list(world.gravity)
    if world.ground:
        _add_ground(spec, world)
    if world.terrain is not None:
        add_terrain(spec, world.terrain, lambda geom: _surface(geom, world.friction))
    if world.platform is not None:
        _add_platform(spec, world, world.platform, sum(f.mass for f in figures))
    add_props(spec, world.props)
    model = spec.compile()
    places, q, v, b = [], 0, 0, 1
    for figure, prefix in zip(figures, prefixes, strict=True):
        count = figure.model.nbody - 1
        places.append(FigurePlace(prefix, slice(q, q + figure.nq), slice(v, v + figure.nv), slice(b, b + count)))
        q, v, b = q + figure.nq, v + figure.nv, b + count
    moving = world.platform is not None
    return Stage(
        world, tuple(figures), model, tuple(places),
        slice(v, v + 6) if moving else slice(0, 0), slice(q, q + 6) if moving else slice(0, 0),
        prop_places(len(world.props), q + 6 * moving, v + 6 * moving, b + moving),
    )  # fmt: skip


def has_same_dynamics(stage: mujoco.MjModel, alone: mujoco.MjModel) -> bool:
    """Returns whether MuJoCo computes the same kinematics, inertia and bias forces in a stage as for its figure alone.

    It does where the figure is the only moving thing, the gravity is the figure's own and tendons only limit joints.
    """
    if (stage.nbody, stage.nv) != (alone.nbody, alone.nv):
        return False
    if any(getattr(stage, name).any() for name in ("tendon_stiffness", "tendon_damping", "tendon_armature")):
        return False
    options = "gravity", "wind", "density", "viscosity", "disableflags", "enableflags"
    return all(np.array_equal(getattr(stage, name), getattr(alone, name)) for name in DYNAMIC_ARRAYS) and all(
        np.array_equal(getattr(stage.opt, name), getattr(alone.opt, name)) for name in options
    )


def _gather(figures: Sequence[Character], prefixes: Sequence[str]) -> mujoco.MjSpec:
    """One specification with all figures; a single figure keeps its names."""
    bodies = [figure.spec() for figure in figures]
    for body in bodies:
        for text in list(body.texts):
            if text.name == TEXT_NAME:
                body.delete(text)
    if len(bodies) == 1:
        return bodies[0]
    spec = mujoco.MjSpec()
    spec.modelname = "world"
    spec.compiler.degree = False
    spec.compiler.boundmass = 0.0
    set_physics(spec)  # the same as the figures have, so that attaching them changes nothing
    for body, prefix in zip(bodies, prefixes, strict=True):
        spec.attach(body, prefix=prefix, frame=spec.worldbody.add_frame())
    return spec


def _prefixes(figures: Sequence[Character]) -> list[str]:
    """Prefixes of the figures' names: none for a single figure; 'human/', 'chicken/', 'human2/' for several."""
    if len(figures) == 1:
        return [""]
    seen: dict[str, int] = {}
    out = []
    for figure in figures:
        seen[figure.name] = seen.get(figure.name, 0) + 1
        out.append(f"{figure.name}{seen[figure.name] if seen[figure.name] > 1 else ''}/")
    return out


def ground_normal(tilt: tuple[float, float]) -> Array:
    roll, pitch = np.radians(tilt)
    return np.array([np.sin(pitch) * np.cos(roll), -np.sin(roll), np.cos(pitch) * np.cos(roll)])


def _add_ground(spec: mujoco.MjSpec, world: World) -> None:
    drop = -1.0 if world.platform is not None else 0.0  # below a platform there is a floor to fall onto
    if world.terrain is not None:
        drop = world.terrain.floor
    normal = ground_normal(world.tilt)
    axis = np.cross([0.0, 0.0, 1.0], normal)
    quat = np.concatenate(([1.0 + normal[2]], axis))
    ground = spec.worldbody.add_geom(
        name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 0.1], pos=[0, 0, drop],
        quat=quat / np.linalg.norm(quat), rgba=[0.8, 0.8, 0.8, 1],
    )  # fmt: skip
    _surface(ground, world.friction)


def _surface(geom: object, friction: float) -> None:
    geom.friction = [friction, 0.005, 0.0001]  # type: ignore[attr-defined]
    geom.priority = 1  # type: ignore[attr-defined]  # its friction counts, not that of the figure
    geom.solref, geom.solimp = list(CONTACT_SOLREF), list(CONTACT_SOLIMP)  # type: ignore[attr-defined]


def _add_platform(spec: mujoco.MjSpec, world: World, platform: Platform, carried: float) -> None:
    thick = 0.05
    body = spec.worldbody.add_body(name="platform")
    ways = {
        "x": (1, 0, 0),
        "y": (0, 1, 0),
        "z": (0, 0, 1),
        "roll": (1, 0, 0),
        "pitch": (0, 1, 0),
        "yaw": (0, 0, 1),
    }
    order = ("x", "y", "z", "yaw", "pitch", "roll")
    for axis in order:
        kind = mujoco.mjtJoint.mjJNT_SLIDE if axis in "xyz" else mujoco.mjtJoint.mjJNT_HINGE
        body.add_joint(name=f"platform_{axis}", type=kind, axis=ways[axis])
    top = body.add_geom(
        name="platform", type=mujoco.mjtGeom.mjGEOM_BOX, size=[*platform.half_size, thick], pos=[0, 0, -thick],
        mass=1000.0 * max(carried, 1.0), rgba=[0.55, 0.60, 0.66, 1],
    )  # fmt: skip
    _surface(top, world.friction)


PLATFORM_ORDER = np.array([0, 1, 2, 5, 4, 3])  # from (x, y, z, roll, pitch, yaw) to the order of its joints
DYNAMIC_ARRAYS = (  # of a MuJoCo model: what its kinematics, inertia and bias forces depend on
    "body_parentid", "body_pos", "body_quat", "body_ipos", "body_iquat", "body_mass", "body_inertia", "body_gravcomp",
    "jnt_type", "jnt_qposadr", "jnt_dofadr", "jnt_bodyid", "jnt_pos", "jnt_axis", "jnt_stiffness", "qpos0",
    "qpos_spring", "dof_bodyid", "dof_armature", "dof_damping",
)  # fmt: skip
