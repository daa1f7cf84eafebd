"""A human walks at many speeds, from many disturbed starts; how natural is it?"""

from __future__ import annotations

from dataclasses import dataclass

from counterpoise.character.library import character
from counterpoise.control.walk import Walk
from counterpoise.errors import BadValue
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.walking import Test, WalkRuns, gait_plot, run_walks

SPEED_ERROR = 0.05
DRIFT = 0.02  # [m] beside the line, for every metre walked
MOST_SPIN = 0.023  # [mass x speed x leg length] about the vertical: four captured walks have 0.009 to 0.023
PERSONS_TRANSPORT = 0.3  # metabolic cost of a person's walk, in weight x distance
NATURAL: dict[str, Test] = {  # at 1.2 m/s; ranges of people
    "stance knee": lambda g: g.stance_knee <= 0.35,
    "heel strike": lambda g: 10.0 <= g.heel_strike <= 25.0,
    "heel-off": lambda g: g.toe_off >= 20.0,
    "double support": lambda g: 0.15 <= g.double_support <= 0.30,
    "CoM amplitude": lambda g: 0.03 <= g.com_amplitude <= 0.06,
    "arms against legs": lambda g: g.arm_leg <= -0.85,
    "angular momentum": lambda g: g.spin <= MOST_SPIN,
    "slip": lambda g: g.slip < 0.005,
    "torque change": lambda g: g.torque_change <= 40.0,
}


@dataclass(frozen=True)
class WalkSettings:
    """Each start is measured from 5 s on."""

    speeds: str = setting("0.4, 0.8, 1.2, 1.6", "m/s", "speeds, separated by commas")
    seconds: float = setting(60.0, "s", "of each walk")
    starts: int = setting(20, "", "random starts of each speed: joints off by 0.03 rad, 0.1 rad/s, root 0.04 m/s (sd)")


def run(settings: WalkSettings, lab: Lab) -> Outcome:
    """Walks at each speed from every start."""
    human = character("human")
    try:
        speeds = [float(text) for text in settings.speeds.split(",")]
    except ValueError:
        raise BadValue(f"speeds are numbers separated by commas; got {settings.speeds!r}") from None
    runs, claims = [], []
    for speed in speeds:
        one = run_walks(lab, f"{speed:g} m/s", human, Walk(speed=speed), settings.seconds, settings.starts)
        runs.append(one)
        tests: dict[str, Test] = {
            "speed": lambda g, v=speed: abs(g.speed / v - 1.0) <= SPEED_ERROR,  # type: ignore[misc]
            "drift": lambda g: g.drift <= DRIFT * g.distance,
        }
        text = f"{speed:g} m/s asked, for {settings.seconds:g} s: within 5 %, at most 0.2 m of drift in 10 m"
        claims.append(one.claim(text, tests))
        if speed == 1.2:
            text = (
                "1.2 m/s looks like a person: mean stance knee at most 0.35 rad, heel strike 10-25 deg, foot leaves at "
                "20 deg or more, double support 15-30 %, CoM 3-6 cm up and down, arms against legs (r <= -0.85), "
                f"angular momentum about the vertical at most {MOST_SPIN:g} mass x speed x leg length, slip below 0.5 "
                "cm/s, leg torques change by at most 40 N m a tick (99th percentile)"
            )
            claims.append(_with_cost(one.claim(text, NATURAL), one))
    columns = {
        "speed [m/s]": lambda g: g.speed,
        "drift [cm in 10 m]": lambda g: 1e3 * g.drift / g.distance,
        "stance knee [rad]": lambda g: g.stance_knee,
        "heel strike [deg]": lambda g: g.heel_strike,
        "heel rise [deg]": lambda g: g.heel_rise,
        "CoM [cm]": lambda g: 100.0 * g.com_amplitude,
        "cost of transport": lambda g: g.transport,
    }
    film = Film(runs[-1].name, azimuth=-90.0, count=16, columns=8, panel=(170, 220))
    plot = gait_plot(runs, columns, f"{settings.starts} starts each, {settings.seconds:g} s")
    return Outcome(tuple(claims), {"walk": plot}, film, {one.name: one.facts() for one in runs})


def _with_cost(claim: Claim, runs: WalkRuns) -> Claim:
    """Returns a claim that also reports angular momentum and cost of transport, the latter beside a person's."""
    if not runs.walked:
        return claim
    spin = max(g.spin for g in runs.walked)
    cost = sum(g.transport for g in runs.walked) / len(runs.walked)
    words = f"angular momentum {spin:.3f} at most; cost of transport {cost:.2f} (a person: {PERSONS_TRANSPORT:g})"
    return Claim(claim.text, f"{claim.measured}; {words}", claim.holds)


EXPERIMENT = Experiment(
    name="walk",
    summary="a human walks at 0.4 to 1.6 m/s from many starts; speed, drift, and how natural it is",
    source="de Lasa 2011, section 4.3; bars are ours",
    settings=WalkSettings,
    run=run,
)
