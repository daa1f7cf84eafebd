"""A planar biped squats with its feet fixed to the ground (de Lasa 2011, section 3.3.3, figures 3.6 and 3.7).

The contacts of the thesis are bilateral: heel and toe neither slip nor lift, and the forces there may pull. Here the
same four points are tied to the world by MuJoCo's equality constraints, in a model of this experiment. So the physics
is independent of the controller, and the forces that the controller predicts can be compared with those that act.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mujoco
import numpy as np

from counterpoise import measure
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.mjcf import exact_xml
from counterpoise.control import WholeBody, WholeBodyTuning, solve_whole_body
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.features import ComPosition, JointValue
from counterpoise.objectives import (
    Contact,
    Footing,
    MinimumTorque,
    Objective,
    Setpoint,
    SmallAccelerations,
    SmallForces,
    TrackPose,
)
from counterpoise.simulate.recording import Recording
from counterpoise.simulate.world import World

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WEIGHTS = {  # alpha of CoM, trunk, posture: figure 3.7
    "W0": (10.0, 10.0, 0.1),
    "W1": (50.0, 10.0, 0.1),
    "W2": (50.0, 50.0, 0.1),
    "W3": (100.0, 50.0, 0.1),
    "W4": (100.0, 100.0, 0.1),
}
BILATERAL = Footing(bilateral=True)
OBJECTIVES = ("contact", "com", "trunk", "posture")


@dataclass(frozen=True)
class BipedSquatSettings:
    """The body is the thesis's table 3.1; it does not give this example's gains, nor how deep and fast it squats."""

    depth: float = setting(0.25, "m", "how far the CoM goes down")
    lean: float = setting(0.3, "rad", "how far the trunk leans forward at the bottom")
    period: float = setting(2.5, "s", "of one squat")
    squats: int = setting(2, "", "how many")
    stiffness: float = setting(100.0, "1/s^2", "k_p of CoM, trunk and posture; k_v = 2 sqrt(k_p)")
    contact_stiffness: float = setting(400.0, "1/s^2", "k_p of the contact points: Baumgarte stabilisation")
    regularisation: float = setting(0.01, "", "alpha of all unknowns, when weighted")
    rate: float = setting(1000.0, "Hz", "control and physics")
    weighted: bool = setting(True, "", "also by weights, figure 3.7")


def run(settings: BipedSquatSettings, lab: Lab) -> Outcome:
    """Squats by strict priorities (figure 3.6), then by each set of weights (figure 3.7)."""
    biped = nailed_biped()
    seconds = settings.period * settings.squats
    com, trunk, posture = objectives(biped, settings)
    contact = Contact(stiffness=settings.contact_stiffness, axes="xz")
    world = World(ground=False, timestep=1.0 / settings.rate)
    tuning = WholeBodyTuning(torque_limits=False, force_weight=1e-6)

    def simulated(name: str, levels: list[list[Objective]]) -> Recording:
        control = WholeBody(levels, BILATERAL, rate=settings.rate, tuning=tuning)
        return lab.simulate(name, biped, control, seconds, world=world, start=biped.state(start_pose(biped)))

    strict_levels: list[list[Objective]] = [[contact], [com], [trunk], [posture]]
    strict = simulated("strict", strict_levels)
    others: dict[str, Recording] = {}
    if settings.weighted:
        for name, (a1, a2, a3) in WEIGHTS.items():
            small = settings.regularisation
            together: list[Objective] = [com.weighing(a1), trunk.weighing(a2), posture.weighing(a3)]
            together += [
                MinimumTorque(relative=True, weight=small), SmallAccelerations(weight=small), SmallForces(weight=small)
            ]  # fmt: skip
            others[name] = simulated(name, [[contact], together])

    asked = references(biped, settings, strict.time)
    forces = predicted_forces(strict, strict_levels, tuning)
    claims = [*_strict_claims(strict, asked, settings), _force_claim(strict, forces)]
    facts: dict[str, object] = {"strict": _errors(strict, asked)}
    plots = {"squat": _figure_36(strict, asked, forces)}
    if others:
        away = {name: _apart(strict, rec) for name, rec in others.items()}
        facts["apart_from_strict"] = away
        facts |= {name: _errors(rec, asked) for name, rec in others.items()}
        claims.append(_weight_claim(away))
        plots["weights"] = _figure_37(strict, others, asked)
    film = Film(
        "strict", azimuth=-75.0, elevation=6.0, times=np.linspace(0.0, settings.period, 7).tolist(),
        overlays={"com": True, "cop": False, "forces": False}, camera="fixed", panel=(260, 420),
    )  # fmt: skip
    return Outcome(tuple(claims), plots, film, facts)


def objectives(character: Character, settings: BipedSquatSettings) -> tuple[Setpoint, Setpoint, TrackPose]:
    """Returns the objectives of CoM, trunk and posture, each with its reference."""
    k = settings.stiffness
    com = Setpoint(ComPosition(), lambda t: com_path(character, settings, t), axes="xz", stiffness=k, name="com")
    trunk = Setpoint(JointValue(character, "root_pitch"), lambda t: trunk_path(settings, t), stiffness=k, name="trunk")
    return com, trunk, TrackPose(start_pose(character), stiffness=k, root_weight=1.0)


def com_path(character: Character, settings: BipedSquatSettings, time: float) -> tuple[Array, Array, Array]:
    """Returns the CoM's reference and its two derivatives: down by `depth` and up again, as a cosine."""
    x, z = _com_at_start(character)
    s, ds, dds = _dip(settings, time)
    d = settings.depth
    return np.array([x, z - d * s]), np.array([0.0, -d * ds]), np.array([0.0, -d * dds])


@lru_cache(maxsize=8)
def _com_at_start(character: Character) -> tuple[float, float]:
    x, _, z = character.snapshot(character.state(start_pose(character))).com
    return float(x), float(z)


def start_pose(character: Character, bend: float = 0.3) -> Array:
    """Returns an upright pose on flat feet with bent knees: with straight knees the CoM could not rise."""
    q = character.neutral.copy()
    for side in ("left", "right"):
        for joint, share in (("hip", -1.0), ("knee", 2.0), ("ankle", -1.0)):
            q[character.joint(f"{joint}_{side}").qpos] = share * bend
    q[character.joint("root_pitch").qpos] = 0.0
    q[character.joint("root_z").qpos] -= character.snapshot(character.state(q)).contact_position[:, 2].min()
    return q


def trunk_path(settings: BipedSquatSettings, time: float) -> tuple[Array, Array, Array]:
    """Returns the trunk's reference [rad] and its two derivatives: leaning forward with the squat."""
    s, ds, dds = _dip(settings, time)
    return np.array([settings.lean * s]), np.array([settings.lean * ds]), np.array([settings.lean * dds])


def _dip(settings: BipedSquatSettings, time: float) -> tuple[float, float, float]:
    """A cosine from 0 to 1 and back, once a period, and its two derivatives."""
    w = 2.0 * np.pi / settings.period
    return 0.5 * (1.0 - np.cos(w * time)), 0.5 * w * np.sin(w * time), 0.5 * w * w * np.cos(w * time)


def nailed_biped() -> Character:
    """Returns de Lasa's biped with heel and toe of both feet tied to the ground."""
    biped = character("planar_biped")
    spec = biped.spec()
    places = biped.snapshot(biped.state(start_pose(biped))).contact_position
    for point, place in zip(biped.contact_points, places, strict=True):
        spec.body(point.body).add_site(name=f"{point.name}_nail", pos=list(point.position))
        spec.worldbody.add_site(name=f"{point.name}_ground", pos=place.tolist())
        tie = spec.add_equality(
            name=f"{point.name}_tie", type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=f"{point.name}_nail", name2=f"{point.name}_ground",
        )  # fmt: skip
        tie.solref = [0.002, 1.0]
        tie.solimp = [0.9999, 0.9999, 0.001, 0.5, 2.0]
    spec.compile()
    return Character.from_mjcf(exact_xml(spec))


def references(character: Character, settings: BipedSquatSettings, times: Array) -> Array:
    """Returns (n, 3): CoM forward and up [m], trunk [rad], as commanded."""
    return np.array([[*com_path(character, settings, t)[0], *trunk_path(settings, t)[0]] for t in times])


def _actual(rec: Recording) -> Array:
    """(n, 3): CoM forward and up [m], trunk [rad], as simulated."""
    pitch = rec.positions()[:, rec.character.joint("root_pitch").qpos]
    return np.column_stack([measure.com(rec)[:, [0, 2]], pitch])


def _errors(rec: Recording, asked: Array) -> dict[str, float]:
    """The largest errors of CoM [m] and trunk [rad]."""
    left = np.abs(_actual(rec) - asked)
    return {"com": float(left[:, :2].max()), "trunk": float(left[:, 2].max())}


def _apart(strict: Recording, rec: Recording) -> dict[str, float]:
    """The rms differences between a weighted run and the strict one."""
    gap = _actual(rec) - _actual(strict)
    return {"com": float(np.sqrt(np.mean(gap[:, :2] ** 2))), "trunk": float(np.sqrt(np.mean(gap[:, 2] ** 2)))}


def predicted_forces(rec: Recording, levels: list[list[Objective]], tuning: WholeBodyTuning, every: int = 10) -> Array:
    """Returns (m, 5): time, size of the force on left heel and toe, and the sums of all vertical and forward forces."""
    out = []
    for k in range(0, len(rec) - 1, every):
        solution = solve_whole_body(rec.character.snapshot(rec.state(k)), levels, BILATERAL, tuning)
        f = solution.force
        out.append([rec.time[k], *np.linalg.norm(f[:2], axis=1), f[:, 2].sum(), f[:, 0].sum()])
    return np.array(out)


def _strict_claims(rec: Recording, asked: Array, settings: BipedSquatSettings) -> list[Claim]:
    errors = _errors(rec, asked)
    top = {name: float(rec.notes[f"residual {name}"].max()) for name in OBJECTIVES}
    return [
        Claim(
            "CoM position and trunk orientation are accurately tracked",
            f"largest errors: CoM {1e3 * errors['com']:.2f} mm, trunk {1e3 * errors['trunk']:.2f} mrad",
            errors["com"] < 0.02 * settings.depth and errors["trunk"] < 0.02 * max(settings.lean, 0.1),
        ),
        Claim(
            "residuals of all tasks but the last, full-rank one are zero to machine tolerance",
            ", ".join(f"{name} {top[name]:.1e}" for name in OBJECTIVES),
            max(top[name] for name in OBJECTIVES[:-1]) < 1e-6 and top["posture"] > 1e-2,
        ),
    ]


def _force_claim(rec: Recording, forces: Array) -> Claim:
    """Compares the predicted vertical force with that of the simulated CoM, m (c'' + g)."""
    character, rows = rec.character, np.searchsorted(rec.time, forces[:, 0])
    up = measure.momentum(rec)[:, 5]
    rows = rows[(rows > 0) & (rows < len(rec) - 1)]
    actual = (up[rows + 1] - up[rows]) / rec.timestep + character.weight
    predicted = forces[np.isin(np.searchsorted(rec.time, forces[:, 0]), rows), 3]
    gap = float(np.abs(actual - predicted).max() / character.weight)
    return Claim(
        "the predicted contact forces are those that act",
        f"vertical sum within {100 * gap:.2f} % of body weight of m (c'' + g) as simulated", gap < 0.02,
    )  # fmt: skip


def _weight_claim(away: dict[str, dict[str, float]]) -> Claim:
    com, trunk = [a["com"] for a in away.values()], [a["trunk"] for a in away.values()]
    distances = ", ".join(f"{name} {1e3 * a['com']:.2f} mm / {1e3 * a['trunk']:.2f} mrad" for name, a in away.items())
    return Claim(
        "as weights are increased, the weighted solution converges to the prioritised one",
        f"rms distance of CoM / trunk from the strict run: {distances}",
        com[-1] < min(0.5 * com[0], 1.02 * min(com)) and trunk[-1] < min(0.5 * trunk[0], 1.02 * min(trunk)),
    )


def _figure_36(rec: Recording, asked: Array, forces: Array) -> Figure:
    from counterpoise.experiments.plotting import Panel, panels

    actual, character = _actual(rec), rec.character
    joints = {j: rec.torque[:-1, character.joint(f"{j}_left").dofs.start] for j in ("hip", "knee", "ankle")}
    rows = [
        Panel("CoM [m]", rec.time, {"forward": actual[:, 0], "up": actual[:, 1], "commanded": asked[:, 0],
                                    "_up": asked[:, 1]}, ("commanded", "_up")),
        Panel("trunk [rad]", rec.time, {"actual": actual[:, 2], "commanded": asked[:, 2]}, ("commanded",)),
        Panel("left leg [N m]", rec.time[:-1], joints),
        Panel("left foot [N]", forces[:, 0], {"heel": forces[:, 1], "toe": forces[:, 2]}),
        Panel("residuals", rec.ticks, {n: rec.notes[f"residual {n}"] for n in OBJECTIVES}, logarithmic=True),
    ]  # fmt: skip
    return panels(rows, "squatting by strict priorities")


def _figure_37(strict: Recording, others: dict[str, Recording], asked: Array) -> Figure:
    from counterpoise.experiments.plotting import Panel, panels

    everyone = {**others, "strict": strict}
    names = ("CoM forward [m]", "CoM up [m]", "trunk [rad]")
    rows = [
        Panel(
            title, strict.time, {**{n: _actual(r)[:, i] for n, r in everyone.items()}, "commanded": asked[:, i]},
            ("commanded",),
        )
        for i, title in enumerate(names)
    ]  # fmt: skip
    return panels(rows, "the same by weights (figure 3.7)", height=2.2)


EXPERIMENT = Experiment(
    name="biped-squat",
    summary="a planar biped squats on bilateral contacts, by priorities and by five sets of weights",
    source="de Lasa 2011, sections 3.3.3 and 3.4, figures 3.6 and 3.7",
    settings=BipedSquatSettings,
    run=run,
)
