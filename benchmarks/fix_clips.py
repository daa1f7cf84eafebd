"""Whether `fix` mends every captured clip, by an outsider's measure (`fix_outsider.py`), not by its own contacts.

Bars: feet skate less than 1 cm/s in what a person would call contact, forces from nowhere are cut fivefold or below 2%
of body weight, bodies move less than 3 cm on average (beside the height by which the whole motion is put on the
ground), and 25 frames are fixed in a second of processor time. Every third clip, by name, was kept out of sight while
the numbers of `FixTuning` were chosen; the shares are given apart.

    uv run python benchmarks/fix_clips.py                         # about ten minutes on one core
    uv run python benchmarks/fix_clips.py values.json 02_01 16_01 # some clips; keeps what was measured, and reads it
    uv run python benchmarks/fix_clips.py slid.json --slid        # copies whose feet slide, and half as fast
    uv run python benchmarks/fix_clips.py held.json --held        # clips with props that were not captured, named
    uv run python benchmarks/fix_clips.py found.json --find       # the same clips: `fix` finds what is held by itself
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from broken_copies import slid
from check import HOLDS
from fix_outsider import floor_of, judged, rms

import counterpoise as cp
from counterpoise.spacetime.check import HeldBody
from counterpoise.spacetime.fix import fix_motion

CLIPS = Path(__file__).resolve().parents[2] / "shared" / "mocap"
RATES = {"75": 60.0, "88": 60.0}  # [1/s] by subject: their files say 120, and bodies in them fall with 4 g
UNSEEN_PROPS = tuple(Path(name).stem for name in HOLDS)  # a bar, chairs, steps that were not captured
MAX_SKATE, MAX_NOWHERE, MIN_CUT, MAX_CHANGE, MIN_RATE = 0.01, 0.02, 5.0, 0.03, 25.0
SLID = {" slid": slid, " slid, half speed": lambda motion: slid(motion).retimed(0.5)}  # at 20 and 10 cm/s
Values = dict[str, dict[str, float]]


def main() -> None:
    files = sorted([*CLIPS.glob("*.bvh"), *CLIPS.glob("*.amc")])
    if not files:
        raise SystemExit(f"no clips in {CLIPS}")
    held_out = {path.name for path in files[2::3]}
    kept = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    values: Values = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
    held, find = "--held" in sys.argv, "--find" in sys.argv
    given = [name for name in sys.argv[2:] if not name.startswith("--")]
    names = given or (list(UNSEEN_PROPS) if held or find else [])
    copies = SLID if "--slid" in sys.argv else {"": lambda motion: motion}
    chosen = sorted((p for p in files if not names or p.stem in names), key=lambda path: path.stat().st_size)
    if any(path.name + copy not in values for path in chosen for copy in copies):
        fix_motion(cp.read_motion(files[0], skip_rest_frame=True, start=0.5, end=1.0))  # compile
    for path, copy in ((path, copy) for path in chosen for copy in copies):
        if path.name + copy not in values:
            holds = [HeldBody(body) for body in HOLDS[path.name]] if held else []
            fixed_motions = None if kept is None or copy else kept.with_suffix("")
            values[path.name + copy] = measured(path, copies[copy], "find" if find else holds, fixed_motions)
            print(path.name + copy, file=sys.stderr, flush=True)
            if kept is not None:
                kept.write_text(json.dumps(values))
    print_table({path.name + copy: values[path.name + copy] for path in sorted(chosen) for copy in copies}, held_out)


def measured(
    path: Path, changed: Callable[[cp.Motion], cp.Motion], holds: Sequence[HeldBody] | Literal["find"] = (),
    folder: Path | None = None,
) -> dict[str, float]:  # fmt: skip
    """What an outsider finds in a clip, or in a copy of it, before and after its fix.

    The fixed motion is kept in a `folder`. What `fix` took for held, the outsider takes for held, for as long.
    """
    subject = path.name.split("_")[0]
    rate = {"rate": RATES[subject]} if subject in RATES else {}
    motion = changed(cp.read_motion(path, skip_rest_frame=True, **rate))
    began = time.process_time()
    result = fix_motion(motion, holds=holds)
    seconds = time.process_time() - began
    held = [(hold.body, hold.start, hold.end) for hold in result.holds]
    before, after = judged(motion, floor_of(motion), held=held), judged(result.motion, held=held)
    if folder is not None:
        folder.mkdir(exist_ok=True)
        result.motion.write(folder / f"{path.stem}{'_amc' if path.suffix == '.amc' else ''}.npz")
    return {
        "frames": len(motion), "rate": len(motion) / seconds, "lift": result.lift, "change": result.change,
        "skate before": before.skate, "skate": after.skate, "nowhere before": rms(before.nowhere),
        "nowhere": rms(after.nowhere), "slide": float(np.hypot(*result.slide)),
        "unheld before": rms(judged(motion, floor_of(motion)).nowhere) if held else rms(before.nowhere),
        "given back": sum(s.end - s.start for s in result.given_back) / motion.duration,
    }  # fmt: skip


def beyond(v: dict[str, float]) -> list[str]:
    """The bars that a clip misses."""
    cut = v["nowhere before"] / max(v["nowhere"], 1e-9)
    bars = {
        "skate": not v["skate"] > MAX_SKATE,  # nan: no foot is in contact
        "force": v["nowhere"] < MAX_NOWHERE or cut >= MIN_CUT,
        "change": v["change"] < MAX_CHANGE,
        "speed": v["rate"] >= MIN_RATE,
    }
    return [name for name, ok in bars.items() if not ok]


def print_table(values: Values, held_out: set[str]) -> None:
    print("| clip | skate [cm/s] | from nowhere [% of weight] | moved [cm] | raised [cm] | frames/s | misses |")
    print("|---|---|---|---|---|---|---|")
    for name, v in values.items():
        file, _, copy = name.partition(" ")
        marks = [*beyond(v), *(["something is not shown"] if Path(file).stem in UNSEEN_PROPS else [])]
        if v["given back"] > 0.0:
            marks.append(f"{v['given back']:.0%} given back")
        title = " ".join([Path(file).stem, *(["(.amc)"] if file.endswith("amc") else []), *([copy] if copy else [])])
        title += "*" if file in held_out else ""
        skates = " → ".join(f"{100 * x:.1f}" if np.isfinite(x) else "-" for x in (v["skate before"], v["skate"]))
        print(
            f"| {title} | {skates} | {100 * v['nowhere before']:.1f} → {100 * v['nowhere']:.1f} "
            f"| {100 * v['change']:.1f} | {100 * v['lift']:.1f} | {v['rate']:.0f} | {', '.join(marks)} |"
        )
    for title, names in (
        ("seen in tuning", [n for n in values if n.partition(" ")[0] not in held_out]),
        ("held out (*)", [n for n in values if n.partition(" ")[0] in held_out]),
    ):
        if names:
            shares = {
                bar: sum(bar not in beyond(values[n]) for n in names) for bar in ("skate", "force", "change", "speed")
            }
            whole = sum(not beyond(values[n]) for n in names)
            told = ", ".join(f"{bar} {count}" for bar, count in shares.items())
            print(f"\n{title}: {whole} of {len(names)} meet all bars ({told})")


if __name__ == "__main__":
    main()
