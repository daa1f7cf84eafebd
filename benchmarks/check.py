"""Whether `check` tells broken motion from real motion: captured clips, and copies of them broken in known ways.

Every clip of ../shared/mocap is checked as it is and in nine broken copies (`broken_copies.py`). The limits of the
findings about physics are set by one rule: SAFETY times the value that QUANTILE of the captures do not exceed. A clip
and its copies are judged by limits from the other clips only. The last table gives the limits from all clips; the
defaults of `CheckTuning` are these, rounded.

    uv run python benchmarks/check.py                 # about ten minutes on one core
    uv run python benchmarks/check.py values.json     # keeps what was measured there, and reads it where it exists
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import sys
from pathlib import Path

import numpy as np
from broken_copies import COPIES, half_mirrored

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.kinematics import body_frames
from counterpoise.spacetime.check import CheckReport, HeldBody, check_motion
from counterpoise.spacetime.check.frames import frames_of_motion
from counterpoise.spacetime.check.support import find_support

CLIPS = Path(__file__).resolve().parents[2] / "shared" / "mocap"
RATES = {"75": 60.0, "88": 60.0}  # [1/s] by subject: their files say 120, and bodies in them fall with 4 g
HOLDS = {  # what was not captured: a bar, chairs, steps
    "43_02.bvh": ("LeftHand", "RightHand"),
    "75_17.bvh": ("Hips",),
    "111_10.bvh": ("Hips",),
    "143_17.bvh": ("LeftFoot", "RightFoot"),
    "83_09.bvh": ("LeftFoot", "RightFoot"),
}
CALIBRATED = ("force", "leap", "flight", "spin", "strength")  # `carried` and `lean` have limits by their meaning
QUANTILE = 0.9
SAFETY = {name: 2.0 for name in CALIBRATED} | {"strength": 1.5}  # strength has a meaning of its own: 100%
ON_THE_GROUND = ("49_06.bvh", "138_04.bvh")  # a cartwheel and a march whose hands and turned feet hover in the file
JUMP_HEIGHT, JUMP_TIME = 0.04, 0.1  # [m], [s] a clip leaves the ground if its lowest point is this high for this long
TRAVEL = 0.3  # [m] a clip travels if its root does
LOPSIDED = 0.03  # [m] a clip is lopsided if in its middle it is further than this from its mirror image, rms over mass
ONLY_WHERE = {  # copies of other clips hardly break physics: a calm motion may well be played faster
    "2x fast": "leaves the ground", "2x slow": "leaves the ground", "frozen root": "travels",
    "second half mirrored": "lopsided",
}  # fmt: skip
UNCLEAN = ("feet slid", "tilted floor")  # kinds that leave physics possible
Values = dict[str, dict[str, dict[str, float]]]  # clip -> kind -> finding -> value


def main() -> None:
    files = sorted([*CLIPS.glob("*.bvh"), *CLIPS.glob("*.amc")])
    if not files:
        raise SystemExit(f"no clips in {CLIPS}")
    kept = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    values: Values = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    for path in files:
        if path.name not in values:
            values[path.name] = measured(path)
            print(path.name, file=sys.stderr, flush=True)
            if kept is not None:
                kept.write_text(json.dumps(values))
    print_table(values)


def measured(path: Path) -> dict[str, dict[str, float]]:
    """The findings of a clip and of its broken copies."""
    subject = path.name.split("_")[0]
    rate = {"rate": RATES[subject]} if subject in RATES else {}
    motion = cp.read_motion(path, skip_rest_frame=True, **rate)
    holds = [HeldBody(body) for body in HOLDS.get(path.name, ())]
    out = {"as it is": found(check_motion(motion, holds=holds))}
    in_air = path.name not in ON_THE_GROUND and leaves_ground(motion) > 0.0
    marks = {"leaves the ground": float(in_air), "travels": travels(motion), "lopsided": lopsided(motion)}
    out["as it is"] |= marks
    for kind, broken in COPIES.items():
        out[kind] = found(check_motion(broken(motion), holds=holds))
    return out


def found(report: CheckReport) -> dict[str, float]:
    return {f.name: f.value for f in report.findings} | {"clean": float(report.clean)}


def leaves_ground(motion: cp.Motion) -> float:
    """1 where all points of all shapes are off the ground for a while."""
    tuning = cp.CheckTuning(floor="fit")
    frames = frames_of_motion(motion, tuning.smooth)
    lowest = find_support(motion, frames, None, (), tuning).heights.min(axis=1)
    longest = run = 0
    for up in lowest > JUMP_HEIGHT:
        run = run + 1 if up else 0
        longest = max(longest, run)
    return float(longest > JUMP_TIME * frames.rate)


def travels(motion: cp.Motion) -> float:
    return float(np.linalg.norm(np.ptp(motion.poses[:, :3], axis=0)) > TRAVEL)


def lopsided(motion: cp.Motion) -> float:
    """1 where the pose at which the second half is mirrored differs from its mirror image."""
    middle, mass = len(motion) // 2, np.asarray(motion.character.model.body_mass)
    poses = np.stack([motion.poses[middle], half_mirrored(motion).poses[middle]])
    at, turns = body_frames(motion.character, poses)
    centres = at + spatial.rotate(turns, np.asarray(motion.character.model.body_ipos))
    apart = np.sum((centres[1] - centres[0]) ** 2, axis=-1)
    return float(np.sqrt(mass @ apart / mass.sum()) > LOPSIDED)


def limits_from(captures: list[dict[str, float]]) -> dict[str, float]:
    out = {"carried": 0.0, "lean": cp.CheckTuning().max_lean}
    for name in CALIBRATED:
        known = [capture[name] for capture in captures if name in capture]
        out[name] = SAFETY[name] * float(np.quantile(known, QUANTILE))
    return out


def beyond(values: dict[str, float], limits: dict[str, float]) -> list[str]:
    return [name for name, limit in limits.items() if values.get(name, 0.0) > limit]


def print_table(values: Values) -> None:
    others = {clip: [v["as it is"] for c, v in values.items() if c != clip] for clip in values}
    limits = {clip: limits_from(rest) for clip, rest in others.items()}
    failed = {clip: beyond(v["as it is"], limits[clip]) for clip, v in values.items()}
    wrong = {clip: why for clip, why in failed.items() if why}
    print("| kind | clips | called impossible | clean | missed |\n|---|---|---|---|---|")
    clean = sum(v["as it is"]["clean"] for v in values.values())
    print(f"| as captured | {len(values)} | {share(len(wrong), len(values))} | {share(clean, len(values))} | |")
    for kind in COPIES:
        for where in (ONLY_WHERE.get(kind, ""), "other") if kind in ONLY_WHERE else ("",):
            free = [c for c in values if c not in HOLDS]
            if where:
                mark = ONLY_WHERE[kind]
                free = [c for c in free if bool(values[c]["as it is"][mark]) == (where == mark)]
            missed = [c for c in free if not beyond(values[c][kind], limits[c])]
            clean = sum(values[c][kind]["clean"] for c in free)
            name = kind + (f" ({where})" if where else "") + (" (physics allows it)" if kind in UNCLEAN else "")
            named = ", ".join(Path(c).stem for c in missed) if len(missed) <= 6 else f"{len(missed)} clips"
            print(
                f"| {name} | {len(free)} | {share(len(free) - len(missed), len(free))} | {share(clean, len(free))} "
                f"| {named} |"
            )
    print("\ncaptures called impossible: " + "; ".join(f"{c} ({', '.join(why)})" for c, why in wrong.items()))
    final = limits_from([v["as it is"] for v in values.values()])
    spread = {n: [limits[c][n] for c in values] for n in CALIBRATED}
    print("\n| finding | limit from all | limits, one clip left out |\n|---|---|---|")
    for name in CALIBRATED:
        print(f"| {name} | {final[name]:.0f} | {min(spread[name]):.0f} to {max(spread[name]):.0f} |")


def share(part: float, whole: int) -> str:
    return f"{part:.0f} ({part / whole:.0%})" if whole else "-"


if __name__ == "__main__":
    main()
