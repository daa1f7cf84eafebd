"""How long every long call goes on after it was told to stop, in seconds of the processor.

    uv run python benchmarks/stopping.py [optimise fix check animate convert simulate replay scene sweep]

Each call is stopped at several of its reports. "after" is from the answer that stops it to its return, "between" the
longest time between two reports, which is how long Ctrl-C may have to wait before it is seen. The bar is 0.5 s.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import counterpoise as cp
from counterpoise.errors import Stopped
from counterpoise.fleet import sweep
from counterpoise.fleet.converting import convert_files
from counterpoise.motion.keyframes import Keyframe
from counterpoise.pose.keys import animate_keys
from counterpoise.progress import Progress

SHARES = (0.0, 0.3, 0.7)  # of the reports, at which a call is stopped
STUNTS = Path(__file__).parents[1] / "examples" / "stunts"

human = cp.character("human")
squat = cp.reference_motion("squat", human)
slid = np.array(squat.poses)
slid[:, 0] += 0.05 * np.sin(5.0 * squat.times)
skating = cp.Motion(human, squat.times, slid, name="skating")
crouch = squat.sample(0.5 * squat.duration).q


def calls(folder: Path) -> dict[str, Callable[[Any], Any]]:
    """Every long call by name, as a function of who watches."""
    keys = [Keyframe(0.0, human.neutral), Keyframe(0.8, crouch), Keyframe(1.6, human.neutral)]
    stunt = cp.read_stunt(STUNTS / "standing_jump.toml")
    scene = cp.read_scene('of = "squat"\nphysics = "check"\n[controller]\nkind = "stand"\n')
    recording = cp.simulate(human, cp.Stand(), 1.0)
    for k in range(4):
        skating.write(folder / f"skating_{k}.bvh")
    return {
        "optimise": lambda watch: stunt.optimize(callback=watch),
        "fix": lambda watch: cp.fix_motion(skating, progress=watch),
        "check": lambda watch: cp.check_motion(skating, progress=watch),
        "animate": lambda watch: animate_keys(human, keys, progress=watch),
        "convert": lambda watch: convert_files(folder, folder / "out", to="glb", progress=watch, jobs=1, force=True),
        "simulate": lambda watch: cp.simulate(human, cp.Stand(), 2.0, progress=watch),
        "replay": lambda watch: cp.replay(recording, progress=watch),
        "scene": lambda watch: scene.run(progress=watch),
        "sweep": lambda watch: sweep(_task, {"k": list(range(40))}, progress=watch, jobs=1),
    }


def _task(k: int) -> dict[str, float]:
    return {"sum": float(np.sin(np.arange(200000.0) + k).sum())}


def stopped_at(call: Callable[[Any], Any], number: int | None) -> tuple[float, float, int]:
    """Returns the seconds after the stop, the longest between two reports, and how many reports there were."""
    seen: list[float] = [time.process_time()]

    def watch(progress: Progress) -> bool:
        seen.append(time.process_time())
        return number is None or len(seen) <= number

    with contextlib.suppress(Stopped):
        call(watch)
    now = time.process_time()
    gaps = np.diff([*seen, now])
    return now - seen[-1], float(gaps[1:].max(initial=0.0)), len(seen) - 1


def main() -> None:
    """One line a call."""
    with tempfile.TemporaryDirectory() as place:
        print(f"{'':10} reports  after [s]  between [s]")
        known = calls(Path(place))
        for name in sys.argv[1:] or known:
            call = known[name]
            _, between, reports = stopped_at(call, None)
            after = max(stopped_at(call, max(1, round(share * reports)))[0] for share in SHARES)
            print(f"{name:10} {reports:7d}  {after:9.3f}  {between:11.3f}", flush=True)


if __name__ == "__main__":
    main()
