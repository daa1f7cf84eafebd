"""Leaps and sunk limbs in retargeted captures: every clip on every figure, against the source's own speeds.

    OMP_NUM_THREADS=1 uv run python benchmarks/retarget_speeds.py [--clips FOLDER] [--models FOLDER] [--only 02_01]

The bar: no joint of the target is faster than 3 times the source's fastest joint plus 2 rad/s. Fingers, thumbs and
toes, which captures hardly see, do not count in the source, nor do speeds above 25 rad/s, where a capture has leapt
itself. Depths are of all shapes but those of feet, below the ground.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import counterpoise as cp
from counterpoise import spatial
from counterpoise.arrays import Array, Ints
from counterpoise.character.kinematics import body_frames
from counterpoise.character.shapes import spheres_of
from counterpoise.motion.motion import Motion

FIGURES = ("human", "child", "ostrich", "chicken", "insectoid", "g1")
FACTOR, PLUS = 3.0, 2.0  # of the source's fastest, and [rad/s] besides
LEAP = 25.0  # [rad/s] no part of a body turns faster
UNSEEN = ("finger", "thumb", "toe")
CUT_SHARE = 0.5  # of the joints that are faster than LEAP where a clip is cut


def joint_speeds(motion: Motion) -> tuple[Array, tuple[str, ...]]:
    """Returns how fast each joint but the root turns from frame to frame (n - 1, joints) [rad/s], and names."""
    q, dt = motion.poses, np.diff(motion.times)[:, None]
    columns, names = [], []
    for joint in motion.character.joints:
        own = q[:, joint.qpos]
        if joint.kind == "hinge":
            columns.append(np.abs(np.diff(own[:, 0])))
        elif joint.kind == "ball":
            columns.append(np.linalg.norm(spatial.difference(own[:-1], own[1:]), axis=-1))
        else:
            continue
        names.append(joint.name)
    return np.stack(columns, axis=1) / dt, tuple(names)


def fastest(motion: Motion) -> float:
    """Returns the speed of the source's fastest joint [rad/s], without its leaps and those that captures hardly see."""
    speeds, names = joint_speeds(motion)
    own = speeds[:, [not any(part in name.lower() for part in UNSEEN) for name in names]]
    return float(own[own <= LEAP].max(initial=0.0))


def deepest(motion: Motion) -> tuple[float, str]:
    """Returns how deep any shape but those of the feet is below the ground [m], and the body."""
    character = motion.character
    soles = {character.body_id(p.body) for f in character.feet for p in f.points}
    places, turns = body_frames(character, motion.poses)
    worst, which = 0.0, ""
    for body in range(1, character.model.nbody):
        if body in soles:
            continue
        for local, radius in spheres_of(character).on(body):
            z = (places[:, body] + spatial.rotate(turns[:, body], np.asarray(local)))[:, 2] - radius
            if -z.min() > worst:
                worst, which = float(-z.min()), str(character.model.body(body).name)
    return worst, which


def main() -> None:
    shared = Path(__file__).resolve().parents[2] / "shared"
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--clips", type=Path, default=shared / "mocap")
    asked.add_argument("--models", type=Path, default=shared / "models")
    asked.add_argument("--only", nargs="*", default=None)
    asked.add_argument("--figures", nargs="*", default=list(FIGURES))
    given = asked.parse_args()
    clips = sorted(p for p in given.clips.glob("*.bvh") if given.only is None or p.stem in given.only)
    rows: dict[str, list[tuple[float, float, float, str]]] = {}
    for name in given.figures:
        file = given.models / f"{name}.xml"
        character = cp.load_character(file) if file.is_file() else cp.character(name)
        for path in clips:
            source = cp.read_motion(path, skip_rest_frame=True)
            made = cp.retarget(source, character)
            speeds, names = joint_speeds(made)
            cut: Ints = np.flatnonzero((joint_speeds(source)[0] > LEAP).mean(axis=1) > CUT_SHARE)
            speeds[cut] = 0.0
            frame, joint = np.unravel_index(int(speeds.argmax()), speeds.shape)
            bar = FACTOR * fastest(source) + PLUS
            deep, body = deepest(made)
            top = float(speeds[frame, joint])
            rows.setdefault(name, []).append((top / bar, top, deep, path.stem))
            mark = "LEAP" if top > bar else ""
            print(
                f"{name:10s} {path.stem:8s} fastest {top:6.1f} rad/s {names[joint]:28s} at {frame:5d}  bar {bar:5.1f}"
                f"  deep {1e3 * deep:5.0f} mm {body:14s} {mark}",
                flush=True,
            )
    print("\n| figure | clips | over the bar | worst, of the bar | deepest part [mm] (clip) | more than 10 mm deep |")
    print("|---|---|---|---|---|---|")
    for name, found in rows.items():
        over, worst = [r for r in found if r[0] > 1.0], max(found)
        deep = max(found, key=lambda r: r[2])
        sunk = sum(r[2] > 0.01 for r in found)
        print(
            f"| {name} | {len(found)} | {len(over)} | {worst[0]:.2f} ({worst[3]}, {worst[1]:.0f} rad/s) "
            f"| {1e3 * deep[2]:.0f} ({deep[3]}) | {sunk} |"
        )


if __name__ == "__main__":
    main()
