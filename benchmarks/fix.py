"""How the time of a fix grows with the length of the clip, on one core, beside the same problem solved whole.

Processor time. The clip is cut to several lengths and fixed in windows, as `fix_motion` does. The peers solve the same
rows with all frames in one window: with the same banded factorisation, and, for lengths that a dense matrix allows,
with LAPACK's dense Cholesky. `matrix` is the largest normal matrix; growth is the exponent of time over length.

    uv run python benchmarks/fix.py            # ../shared/mocap/13_29.bvh, or made motion where there is none
    uv run python benchmarks/fix.py clip.bvh
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solveh_banded

import counterpoise as cp
from counterpoise.spacetime.fix import FixTuning, fix_motion
from counterpoise.spacetime.fix import physics as fix_physics

CLIP = Path(__file__).resolve().parents[2] / "shared" / "mocap" / "13_29.bvh"
SECONDS = (1.2, 2.4, 4.8, 9.6, 19.2, 38.2)
WHOLE, DENSE = 20.0, 2.5  # [s] the longest that the peers are given
ONE = 1e4  # [s] a window longer than any clip
Solve = Callable[..., np.ndarray]


def clip() -> cp.Motion:
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else CLIP
    if path.exists():
        return cp.read_motion(path, skip_rest_frame=True)
    squat = cp.reference_motion("squat", cp.character("human"))
    times = np.arange(0.0, SECONDS[-1], 1.0 / 120.0)
    poses = np.array(squat.sample(np.mod(times, squat.duration)).q)
    poses[:, 0] += 0.02 * np.sin(2.0 * times)
    return cp.Motion(squat.character, times, poses, name="squats that slide")


def written_out(band: np.ndarray) -> np.ndarray:
    """The lower triangle of a matrix given by its lower band (width, n)."""
    n = band.shape[1]
    full = np.zeros((n, n))
    for k in range(len(band)):
        full[np.arange(k, n), np.arange(n - k)] = band[k, : n - k]
    return full


def timed(motion: cp.Motion, window: float, dense: bool) -> tuple[float, float]:
    """Processor time [s] and the size of the largest normal matrix [MB]."""
    largest = 0

    def solve(band: np.ndarray, right: np.ndarray, **options: object) -> np.ndarray:
        nonlocal largest
        A = written_out(band) if dense else band
        largest = max(largest, A.nbytes)
        if dense:
            return np.asarray(cho_solve(cho_factor(A, lower=True, overwrite_a=True), right))
        return np.asarray(solveh_banded(band, right, **options))

    own: Solve = fix_physics.solveh_banded
    fix_physics.solveh_banded = solve
    try:
        began = time.process_time()
        fix_motion(motion, tuning=FixTuning(window=window))
        return time.process_time() - began, 1e-6 * largest
    finally:
        fix_physics.solveh_banded = own


def growth(rows: list[tuple[int, float]]) -> float:
    """The exponent p of time ~ frames^p, by least squares over the longer half of the lengths (at least three)."""
    some = np.log(np.array(rows[-max(3, len(rows) // 2 + 1) :]))
    return float(np.polyfit(some[:, 0], some[:, 1], 1)[0])


def main() -> None:
    whole = clip()
    fix_motion(whole.slice(whole.start, whole.start + 1.0))  # compile
    peers = (
        ("windows", FixTuning().window, False, np.inf),
        ("one window", ONE, False, WHOLE),
        ("dense", ONE, True, DENSE),
    )
    lengths = [s for s in SECONDS if s < whole.duration + 1.0]
    print(f"{whole.name}: {'':12} {'frames':>7} {'seconds':>8} {'frames/s':>9} {'of ours':>8} {'matrix [MB]':>12}")
    taken: dict[str, list[tuple[int, float]]] = {name: [] for name, *_ in peers}
    for seconds in lengths:
        part = whole.slice(whole.start, min(whole.start + seconds, whole.end))
        for name, window, dense, longest in peers:
            if seconds > longest:
                continue
            spent, size = timed(part, window, dense)
            taken[name].append((len(part), spent))
            ours = taken["windows"][-1][1]
            row = f"{len(part):7d} {spent:8.1f} {len(part) / spent:9.0f} {spent / ours:8.2f} {size:12.0f}"
            print(f"{name:{len(whole.name) + 14}} {row}", flush=True)
    for name, rows in taken.items():
        if len(rows) > 1:
            print(f"{name}: time grows with the length to the power of {growth(rows):.2f}")


if __name__ == "__main__":
    main()
