"""A passive chain swings: bounded torques make the whip appear (Fang & Pollard 2004, discussion)."""

from __future__ import annotations

import math
import time as clock
from dataclasses import dataclass

import mujoco
import numpy as np

from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control import Passive
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.chains import raised_chain
from counterpoise.experiments.scenery import rows_of
from counterpoise.render.take import Take
from counterpoise.simulate.world import World
from counterpoise.spacetime.optimize import Key, Result, Taste, TorqueLimit, optimize_motion

BASE = 1.6  # [m] height of the chain's base
STRENGTH = 10.0  # [N m] of its joints, which scales the torques
TIMESTEP = 5e-4  # [s] of the simulation


@dataclass(frozen=True)
class PassiveChainWhipSettings:
    links: int = setting(4, "", "links of the chain")
    length: float = setting(0.35, "m", "of a link")
    link_mass: float = setting(1.0, "kg", "of a link")
    seconds: float = setting(1.1, "s", "how long it swings")
    limit: float = setting(0.01, "N m", "largest torque of any joint, where torques are bounded")
    rate: float = setting(100.0, "1/s", "knots a second")


def whip_chain(settings: PassiveChainWhipSettings) -> Character:
    """Returns the library's chain, its base raised, with joints of a known strength."""
    return raised_chain(settings.links, settings.length, settings.link_mass, BASE, STRENGTH)


def swing(character: Character, settings: PassiveChainWhipSettings, bounded: bool) -> Result:
    """Solves a swing from rest, level and straight, weakly drawn to the other side; with or without torque bounds."""
    start, end = np.zeros(character.nq), np.zeros(character.nq)
    start[0], end[0] = 0.5 * math.pi, math.pi + 0.9
    keys = (Key(0.0, start, rest=True), Key(settings.seconds, end, soft=0.1))
    wishes = (TorqueLimit([j.name for j in character.joints], limit=settings.limit),) if bounded else ()
    return optimize_motion(
        character,
        keys,
        (),
        settings.seconds,
        wishes=wishes,
        rate=settings.rate,
        taste=Taste(smooth=0.01, heft=0.0, posture=0.0),
    )


def simulated(lab: Lab, character: Character, start: Array, seconds: float, times: Array) -> Array:
    """Simulates the same chain let go, in small steps. Returns its poses at the given times."""
    world = World(ground=False, timestep=TIMESTEP, integrator="rk4")
    rec = lab.simulate("let go", character, Passive(), seconds + TIMESTEP, world=world, start=character.state(start))
    return np.stack([np.interp(times, rec.time, rec.qpos[:, k]) for k in range(character.nq)], axis=1)


def torques(character: Character, result: Result, times: Array) -> Array:
    """Returns (n, joints) [N m], by MuJoCo's inverse dynamics on the exact curve."""
    m = character.model
    d = mujoco.MjData(m)
    s = result.sample(times)
    out = []
    for q, v, a in zip(s.q, s.v, s.a, strict=True):
        d.qpos[:], d.qvel[:], d.qacc[:] = q, v, a
        mujoco.mj_inverse(m, d)
        out.append(d.qfrc_inverse.copy())
    return np.array(out)


def run(settings: PassiveChainWhipSettings, lab: Lab) -> Outcome:
    """Solves both chains, computes their torques, and compares the passive one with a simulation."""
    from counterpoise.experiments.plotting import Panel, panels

    chain = whip_chain(settings)
    lab.report("chains", 0.0)
    began = clock.process_time()
    passive = swing(chain, settings, True)
    seconds = clock.process_time() - began
    free = swing(chain, settings, False)
    lab.report("chains", 1.0)
    t = np.linspace(0.0, settings.seconds, 500)
    truth = simulated(lab, chain, np.asarray(passive.sample(0.0).q), settings.seconds, t)
    found, stiff = np.asarray(passive.sample(t).q), np.asarray(free.sample(t).q)
    work = {"bounded": torques(chain, passive, t), "free": torques(chain, free, t)}
    tip = {"bounded": _tip(settings, found), "free": _tip(settings, stiff), "simulated": _tip(settings, truth)}
    bend = {"bounded": float(np.abs(found[:, 1:]).max()), "free": float(np.abs(stiff[:, 1:]).max())}
    off = float(np.linalg.norm(tip["bounded"] - tip["simulated"], axis=1).max())
    speed = {name: np.linalg.norm(np.gradient(path, t, axis=0), axis=1) for name, path in tip.items()}
    claims = (
        Claim(
            "without torque information no whipping motion is seen, and torques are needed at the joints",
            f"links bend by {np.degrees(bend['free']):.1f} deg, torques up to {np.abs(work['free']).max():.1f} N m",
            bend["free"] < 0.02 and bool(np.abs(work["free"]).max() > 1.0),
        ),
        Claim(
            "with all torques bounded near zero the whip appears",
            f"links bend by {np.degrees(bend['bounded']):.0f} deg with torques of "
            f"{np.sqrt(np.mean(work['bounded'] ** 2)):.3f} N m rms, between the knots too; the tip reaches "
            f"{speed['bounded'].max():.1f} m/s against {speed['free'].max():.1f}",
            bool(passive.exact and bend["bounded"] > 0.5 and speed["bounded"].max() > 1.5 * speed["free"].max()),
        ),
        Claim(
            "(ours) it is the motion of the chain let go in a simulator",
            f"tips at most {1e3 * off:.0f} mm apart over a path of "
            f"{np.linalg.norm(np.diff(tip['simulated'], axis=0), axis=1).sum():.1f} m; "
            f"{passive.iterations} iterations, {seconds:.2f} s, largest violation {passive.worst:.0e}",
            off < 0.1,
        ),
    )
    plot = panels(
        [
            Panel("speed of the tip [m/s]", t, {"torques bounded": speed["bounded"], "not bounded": speed["free"],
                  "simulated": speed["simulated"]}, ("simulated",)),
            Panel("bend between links [rad]", t, {f"link {k + 1}": found[:, k] for k in range(1, chain.nv)}),
            Panel("largest torque [N m]", t, {n: np.abs(w).max(axis=1) for n, w in work.items()}, logarithmic=True),
        ],
        "a chain from level and at rest",
    )  # fmt: skip
    moments = np.linspace(0.0, settings.seconds, 12).tolist()
    picture = rows_of(
        {
            "torques not bounded": (Take(chain.model, free.motion.times, free.motion.poses), moments),
            f"torques below {settings.limit:g} N m": (
                Take(chain.model, passive.motion.times, passive.motion.poses), moments
            ),
        },
        (900, 520), -90.0,
    )  # fmt: skip
    facts = {
        "bend": bend, "tip_error": off, "tip_speed": {n: float(v.max()) for n, v in speed.items()},
        "iterations": passive.iterations, "seconds": seconds, "worst": passive.worst,
    }  # fmt: skip
    film = Film(
        "", take=Take(chain.model, passive.motion.times, passive.motion.poses), azimuth=-90.0, elevation=4.0, count=10,
        camera="fixed", panel=(200, 240), speed=0.3, columns=10,
    )  # fmt: skip
    return Outcome(
        claims, {"whip": plot}, film, facts, {}, {"passive_chain_whip": picture},
        {"passive": passive.motion, "stiff": free.motion},
    )  # fmt: skip


def _tip(settings: PassiveChainWhipSettings, poses: Array) -> Array:
    """(n, 2) path of the free end; joints turn about y, links point up at zero."""
    angles = np.cumsum(poses, axis=1)
    return settings.length * np.stack([np.sin(angles).sum(axis=1), np.cos(angles).sum(axis=1)], axis=1)


EXPERIMENT = Experiment(
    name="passive-chain-whip",
    summary="a chain swings with its torques bounded near zero, and the whip appears; without bounds it does not",
    source="Fang & Pollard 2004, section 4",
    settings=PassiveChainWhipSettings,
    run=run,
)
