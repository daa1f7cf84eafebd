"""How `Stand` follows captured clips: falls, errors, delay, and how calm its torques are.

Reads the clips of `../shared/mocap` (CMU), retargets windows in which a person stands to the human, and follows each
once, and once pushed by 150 N x 0.1 s at the thorax in the middle. Prints the table of docs/standing.md. With `--found`
the windows are those that `found_windows` finds in all clips, less those of the table.

    uv run python benchmarks/standing_clips.py [--pushed] [--found] [--step]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy.signal import welch

import counterpoise as cp

MOCAP = Path(__file__).resolve().parents[2] / "shared" / "mocap"
WINDOWS = (  # file, frames (120 a second), what it shows
    ("13_29", 457, 1200, "twist"),
    ("13_29", 1201, 1908, "arm circles"),
    ("13_29", 1909, 2688, "one-hand toe touch"),
    ("13_29", 2689, 3792, "side bends, steps"),
    ("13_29", 3793, 4584, "squats"),
    ("02_05", 1, 1852, "punches"),
    ("49_19", 1, 957, "onto one leg, and balance"),
    ("42_01", 1, 583, "stretches"),
    ("42_01", 584, 710, "leg circle, right"),
    ("42_01", 747, 1042, "leg circles, left"),
    ("144_09", 500, 1400, "high front kicks and steps"),
    ("144_09", 592, 705, "high front kick 3"),
    ("144_09", 1645, 1768, "high front kick 7"),
    ("26_11", 1, 549, "bend and lift"),
    ("115_03", 1, 452, "pick up a box"),
    ("118_08", 1, 245, "before a jump"),
    ("132_24", 1, 255, "before hops"),
    ("143_13", 402, 580, "hold a basket"),
)
DIRECTIONS = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))


SLOW = 0.3  # [m/s] of the hips over the ground
LEAST, MOST = 120, 360  # [frames] of a window that is found


def found_windows() -> list[tuple[str, int, int, str]]:
    """Windows in which the hips are slow, the longest of each clip, that do not overlap with the table's."""
    out = []
    for path in sorted(MOCAP.glob("*.bvh")):
        clip = cp.read_motion(path)
        path_of_hips = clip.poses[1:, :2]  # the first frame is a T-pose
        smooth = np.apply_along_axis(np.convolve, 0, path_of_hips, np.full(25, 0.04), "valid")
        slow = np.linalg.norm(np.gradient(smooth, axis=0), axis=1) * clip.rate < SLOW
        slow = np.concatenate([np.zeros(13, bool), slow, np.zeros(13, bool)])
        for file, first, last, _ in WINDOWS:
            if file == path.stem:
                slow[first : last + 1] = False
        ends = np.flatnonzero(np.diff(np.concatenate([[0], slow.astype(int), [0]])))
        spells = sorted(zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True), key=lambda s: s[0] - s[1])
        if spells and spells[0][1] - spells[0][0] >= LEAST:
            first, last = spells[0]
            out.append((path.stem, first, min(last, first + MOST), "found"))
    return out


def window(human: cp.Character, file: str, first: int, last: int) -> cp.Motion:
    """A window of a clip, retargeted, that begins at 0 s."""
    clip = cp.read_motion(MOCAP / f"{file}.bvh")
    cut = clip.slice(clip.times[first], clip.times[min(last, len(clip) - 1)])
    return cp.retarget(cut.shifted(-cut.start), human)


def follow(human: cp.Character, motion: cp.Motion, push: cp.Push | None = None, step: bool = False) -> dict[str, float]:
    """Of one run: fall [s] or nan, errors [deg], delay [s], torque change [limits a tick], power above 20 Hz."""
    stand = cp.Stand(reference=motion, step=step)
    rec = cp.simulate(
        human, stand, motion.duration, start=stand.ready(human), disturbances=[] if push is None else [push]
    )
    limp = np.flatnonzero(rec.notes["status"] == "fallen")
    ticks = max(limp[0], 2) if len(limp) else len(rec.ticks)
    clock = rec.notes["clock"][:ticks].astype(float)
    rows = np.searchsorted(rec.time, rec.ticks[:ticks:10] + 1e-9)
    error = human.difference(rec.qpos[np.minimum(rows, len(rec.time) - 1)], motion.sample(clock[::10]).q)
    angles = np.stack([np.linalg.norm(error[:, j.dofs], axis=1) for j in human.joints if j.kind != "free"])
    torque = rec.torque[::2][:ticks, 6:]
    changes = np.abs(np.diff(torque, axis=0)) / human.torque_limit[6:]
    rates, power = welch(torque, fs=stand.rate, nperseg=len(torque), axis=0)
    return {
        "fall": rec.ticks[limp[0]] if len(limp) else np.nan,
        "median": float(np.degrees(np.median(angles))),
        "p95": float(np.degrees(np.percentile(angles, 95))),
        "behind": float((rec.ticks[:ticks] - clock).max()),
        "chatter": float(np.percentile(changes, 99, axis=0).max()),
        "above 20 Hz": float(100.0 * power[rates > 20.0].sum() / power.sum()),
    }


def main() -> None:
    human = cp.character("human")
    pushed = "--pushed" in sys.argv
    print("| clip | fall | median joint error | 95 % | behind | p99 torque change a tick | power above 20 Hz |")
    print("|---|---|---|---|---|---|---|")
    for number, (file, first, last, what) in enumerate(found_windows() if "--found" in sys.argv else WINDOWS):
        motion = window(human, file, first, last)
        x, y = DIRECTIONS[number % 4]
        push = cp.Push("thorax", (150.0 * x, 150.0 * y, 0.0), 0.5 * motion.duration, 0.1) if pushed else None
        try:
            f = follow(human, motion, push, "--step" in sys.argv)
        except cp.CounterpoiseError as error:
            print(f"| {what} ({file}) | {error} |")
            continue
        fall = "no" if np.isnan(f["fall"]) else f"{f['fall']:.1f} s"
        print(
            f"| {what} ({file}, {motion.duration:.1f} s) | {fall} | {f['median']:.1f} deg | {f['p95']:.0f} deg | "
            f"{f['behind']:.2f} s | {f['chatter']:.3f} | {f['above 20 Hz']:.1f} % |",
            flush=True,
        )


if __name__ == "__main__":
    main()
