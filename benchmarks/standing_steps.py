"""What `Stand` survives when it may step (`Stand(step=True)`), beside `Stand` in place.

Rows: pushes in mid-step (150 N x 0.1 s at the thorax in a random direction, while the clip has a foot in the air);
whole clips that begin in a step or are one; pushes at limbs; eight pushes one second apart on bodies of three sizes;
single pushes at trunk and head. A run falls, or stands at its end, some seconds after the last push or the clip.

    uv run python benchmarks/standing_steps.py [air] [clips] [limbs] [series] [trunk] [map] [--seed 0] [--runs 26]
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from standing_clips import MOCAP, WINDOWS, window

import counterpoise as cp
from counterpoise.experiments.upright import scaled_blow

AFTER = 4.0  # [s] after the last push or the end of a clip
SIZES = ((1.52, 48.0), (1.75, 73.0), (1.95, 120.0))  # [m, kg]
LIFTS = tuple(w for w in WINDOWS if w[3] in (
    "one-hand toe touch", "side bends, steps", "onto one leg, and balance", "leg circle, right", "leg circles, left",
    "high front kicks and steps", "high front kick 3", "high front kick 7",
))  # fmt: skip
WHOLE = (("141_13", 1, 368), ("143_13", 1, 581), ("83_09", 185, 451))  # begin in a step, or are one

Row = tuple[str, cp.Character, cp.Motion | None, list[cp.Push], float]  # what, body, reference, pushes, seconds


def survives(
    body: cp.Character, reference: cp.Motion | None, pushes: list[cp.Push], seconds: float, step: bool
) -> tuple[bool, float, float, float]:
    """Whether it stands at the end; steps taken, the largest delay of the clock [s], and the share of the time spent
    stepping and coming back."""
    stand = cp.Stand(reference=reference, step=step)
    rec = cp.simulate(body, stand, seconds, start=stand.ready(body), disturbances=pushes)
    fell = bool((rec.notes["status"] == "fallen").any())
    if reference is None:  # in a clip a hand may touch the ground
        fell = fell or cp.measure.fell(rec).fell
    clock = rec.notes["clock"].astype(float)
    end = np.inf if reference is None else reference.duration
    behind = float((np.minimum(rec.ticks, end) - np.minimum(clock, end)).max()) if reference is not None else 0.0
    if not step:
        return not fell, 0.0, behind, 0.0
    return (
        not fell,
        float(np.nanmax(rec.notes["steps"].astype(float))),
        behind,
        float((rec.notes["stage"] != "stand").mean()),
    )


def in_the_air(human: cp.Character, seed: int, runs: int) -> Iterator[Row]:
    """Pushes at random moments at which a clip has a foot in the air."""
    rng = np.random.default_rng(seed)
    for number in range(runs):
        file, first, last, what = LIFTS[number % len(LIFTS)]
        motion = window(human, file, first, last)
        rehearsal = cp.Stand(reference=motion).rehearsed(human)
        rows = [i for i, k in enumerate(rehearsal.pattern) if rehearsal.patterns[k].lifted]
        rows = [i for i in rows if i * 0.01 < motion.duration - 0.1]
        when, way = 0.01 * rows[int(rng.integers(len(rows)))], rng.uniform(0.0, 2.0 * np.pi)
        push = cp.Push("thorax", (150.0 * np.cos(way), 150.0 * np.sin(way), 0.0), when, 0.1)
        name = f"{what}, {when:.2f} s, {np.degrees(way):.0f} deg"
        yield name, human, motion, [push], motion.duration + AFTER


def whole_clips(human: cp.Character, seed: int, runs: int) -> Iterator[Row]:
    for file, first, last in WHOLE:
        motion = window(human, file, first, last)
        yield f"{file} ({motion.duration:.1f} s)", human, motion, [], motion.duration + AFTER


def limbs(human: cp.Character, seed: int, runs: int) -> Iterator[Row]:
    """Pushes of rho 1.3 at a forearm and a thigh; even seeds: the left ones."""
    side = ("left", "right")[seed % 2]
    for part in ("forearm", "thigh"):
        for way in np.arange(0.0, 360.0, 45.0):
            push = scaled_blow(human, f"{part}_{side}", float(way), 1.3, 0.3)
            yield f"{part} {side}, {way:.0f} deg", human, None, [push], 0.4 + AFTER


def series(human: cp.Character, seed: int, runs: int) -> Iterator[Row]:
    """Eight pushes of rho 1.2 at the thorax in random directions, one second apart."""
    for size, mass in SIZES:
        body = cp.character("human", height=size, mass=mass)
        rng = np.random.default_rng(seed)
        ways = rng.uniform(0.0, 360.0, 8)
        pushes = [scaled_blow(body, "thorax", float(way), 1.2, 0.3 + k) for k, way in enumerate(ways)]
        yield f"{size} m, {mass:.0f} kg, eight pushes, seed {seed}", body, None, pushes, 8.3 + AFTER


def trunk(human: cp.Character, seed: int, runs: int) -> Iterator[Row]:
    """Pushes of rho 1.5 and 2.5, `runs` in all: part, body and direction by seed."""
    rng = np.random.default_rng(seed)
    for _ in range(runs):
        size, mass = SIZES[int(rng.integers(3))]
        part = ("thorax", "pelvis", "head", "abdomen")[int(rng.integers(4))]
        way, rho = float(rng.uniform(0.0, 360.0)), (1.5, 2.5)[int(rng.integers(2))]
        body = cp.character("human", height=size, mass=mass)
        push = scaled_blow(body, part, way, rho, 0.3)
        yield f"{part}, rho {rho}, {way:.0f} deg, {mass:.0f} kg", body, None, [push], 0.4 + AFTER


def push_map(human: cp.Character, seed: int, runs: int) -> Iterator[Row]:
    """Pushes at the thorax in eight directions, turned a little by seed, of rho 1 to 5."""
    turn = float(np.random.default_rng(seed).uniform(0.0, 45.0))
    for way in np.arange(0.0, 360.0, 45.0) + turn:
        for rho in (1.0, 1.6, 2.4, 3.2, 4.0, 5.0):
            push = scaled_blow(human, "thorax", float(way), rho, 0.3)
            yield f"thorax, {way:.0f} deg, rho {rho}", human, None, [push], 0.4 + AFTER


KINDS = {"air": in_the_air, "clips": whole_clips, "limbs": limbs, "series": series, "trunk": trunk, "map": push_map}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", default=list(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=int, default=26)
    parser.add_argument("--only-steps", action="store_true", help="leave out the runs in place")
    asked = parser.parse_args()
    human = cp.character("human")
    if not MOCAP.exists():
        asked.kinds = [kind for kind in asked.kinds if kind not in ("air", "clips")]
    for kind in asked.kinds:
        stays, stands, count = 0, 0, 0
        print(f"\n| {kind} | in place | with steps | steps | behind | away from the reference |")
        print("|---|---|---|---|---|---|")
        for what, body, reference, pushes, seconds in KINDS[kind](human, asked.seed, asked.runs):
            place = "" if asked.only_steps else survives(body, reference, pushes, seconds, step=False)[0]
            ok, steps, behind, away = survives(body, reference, pushes, seconds, step=True)
            count, stays, stands = count + 1, stays + bool(place), stands + ok
            words = {True: "stands", False: "falls", "": ""}
            print(
                f"| {what} | {words[place]} | {words[ok]} | {steps:.0f} | {behind:.2f} s | {100 * away:.0f} % |",
                flush=True,
            )
        print(f"{kind}: in place {stays}, with steps {stands} of {count}", flush=True)


if __name__ == "__main__":
    main()
