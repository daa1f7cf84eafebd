"""Captured jumps, hops, kicks and a dance, fixed and performed by a simulated body: the table of docs/perform.md.

A clip is done where the performance reaches its end without a fall; it stands where the body is calm on its feet two
seconds later. Where the body must step, it goes on in the clip later, and a part of the clip is left out. Clips are
those of ../shared/mocap; files of subjects 75 and 88 are read with 60 frames a second.

    uv run python benchmarks/clips_performed.py [NAME ...]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import counterpoise as cp
from counterpoise.control.perform import plan_of_motion, prepare_clip

CLIPS = Path(__file__).resolve().parents[2] / "shared" / "mocap"
NAMES = {  # what the index says
    "16_01.bvh": "jump up", "16_05.bvh": "jump forward", "118_08.bvh": "jump", "02_04.amc": "jump, balance",
    "75_09.bvh": "jump, full turn", "83_56.bvh": "hop, half turn", "132_24.bvh": "hops on one foot",
    "74_03.bvh": "kick", "144_09.bvh": "high kick", "05_03.bvh": "dance",
}  # fmt: skip
SLOWER = {"75_09.bvh": 60.0}  # [frames/s]
PART = {"144_09.bvh": (592, 825)}  # frames: one kick of twelve
AFTER, AFTER_STEPS = 2.0, 10.0  # [s] simulated after the clip, and where it stepped and goes on later


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=list(NAMES))
    parser.add_argument("--clips", type=Path, default=CLIPS)
    given = parser.parse_args()
    human = cp.character("human")
    print("| clip | [s] | after fix | came to | left out | stands | tracking rms [deg] | what happened |")
    print("|---|---|---|---|---|---|---|---|")
    done_clips = stood = 0
    for name in given.names:
        options = {"rate": SLOWER.get(name), "frames": PART.get(name)}
        clip = cp.read_motion(given.clips / name, skip_rest_frame=True, **options)
        fixed = prepare_clip(clip, human)
        plan = plan_of_motion(fixed.motion)
        controller = cp.Perform(plan, wait=0.0)
        start = controller.ready(human)
        recording = cp.simulate(human, controller, plan.duration + AFTER, start=start)
        if recording.notes["stage"][-1] not in ("stand", "fallen"):
            recording = cp.simulate(human, controller, plan.duration + AFTER_STEPS, start=start)
        shown = cp.measure.performance(recording)
        done_clips, stood = done_clips + (shown.done >= 1.0), stood + shown.stands
        print(
            f"| {NAMES.get(name, '')} {Path(name).stem} | {plan.duration:.1f} | "
            f"{'possible' if fixed.after.possible else 'not possible'} | {100.0 * shown.done:.0f}% | "
            f"{100.0 * shown.left_out:.0f}% | "
            f"{'yes' if shown.stands else 'no'} | {np.degrees(shown.tracking):.1f} | {shown.cause or ''} |",
            flush=True,
        )
    print(f"\n{done_clips} of {len(given.names)} done to the end, {stood} stand")


if __name__ == "__main__":
    main()
