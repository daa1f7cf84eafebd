"""`doctor` tells what works, and what to do about the rest; `warmup` compiles what is missing."""

from __future__ import annotations

import json
from contextlib import nullcontext
from importlib.metadata import version

import pytest

from counterpoise import kernel_cache, kernels
from counterpoise.errors import UnknownName
from counterpoise.experiments import doctor, warming
from counterpoise.progress import watching


def test_doctor_finds_everything_in_order(say):
    code, out, err = say("doctor", "--json")
    found = {one["name"]: one for one in json.loads(out)}
    assert code == 0, err
    assert {"python", "folder", "kernels", "physics", "ipopt", "pictures", "video", "browser"} <= set(found)
    for name in ("python", "folder", "kernels", "physics", "ipopt", "pictures", "video"):
        assert found[name]["state"] == "ok", found[name]
    for package, (extra, _) in doctor.EXTRAS.items():
        assert found[package]["state"] == "ok" or f"counterpoise[{extra}]" in found[package]["cure"]
    code, out, _ = say("doctor")
    assert code == 0 and "ipopt" in out


def test_what_is_broken_is_told_with_a_cure(say, monkeypatch):
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", "/nowhere/ffmpeg")
    code, out, _ = say("doctor", "--json")
    broken = [one for one in json.loads(out) if one["state"] == "broken"]
    assert code == 1 and [one["name"] for one in broken] == ["video"] and "imageio-ffmpeg" in broken[0]["cure"]


@pytest.mark.parametrize("compiles", [True, False])
def test_doctor_says_why_shipped_kernels_are_not_used(say, monkeypatch, tmp_path, compiles: bool):
    here = kernels.compiled_target()[0]
    right = {"python": kernel_cache.PYTHON, "numba": version("numba"), "target": (here, "x"), "needs": ()}
    for wrong, expected in (
        ({"numba": "0.1.2"}, "numba 0.1.2 (here"), ({"python": "py27"}, "Python py27"),
        ({"target": ("vax", "x")}, f"the system vax (here {here})"), ({"needs": ("avx9",)}, "a processor with avx9"),
    ):  # fmt: skip
        other = kernel_cache.ShippedKernels(tmp_path, **{**right, **wrong})
        monkeypatch.setattr(kernel_cache, "shipped_kernels", lambda other=other: other)
        monkeypatch.setattr(kernels, "count_compilations", lambda: nullcontext(["one"] if compiles else []))
        found = {one["name"]: one for one in json.loads(say("doctor", "--json")[1])}["kernels"]
        assert found["state"] == "ok" and expected in found["detail"]
        cured = "pip install numba==0.1.2" in found["cure"]
        assert cured == (compiles and "numba" in wrong) and ("counterpoise warmup" in found["cure"]) == compiles
    assert kernel_cache.ShippedKernels(tmp_path, **right).lack(version("numba"), here, {}) is None


def test_a_warm_up_of_one_part_reports_its_share():
    seen: list[tuple[str, float]] = []
    warming.warm_up(lambda part, share: seen.append((part, share)), ["pictures", "perform"])
    assert [part for part, _ in seen] == ["perform", "pictures", "ready"] and seen[-1][1] == 1.0
    assert warming.warm_up(None, ["pictures"]).kernels == ()  # nothing is left to compile
    with pytest.raises(UnknownName, match="did you mean 'pictures'"):
        warming.warm_up(None, ["picture"])


def test_a_warm_up_shows_one_bar_and_can_be_stopped(monkeypatch):
    parts = [("first", 1.0, lambda: None), ("second", 3.0, lambda: watching_part(seen)), ("third", 1.0, lambda: None)]
    seen: list[object] = []
    monkeypatch.setattr(warming, "PARTS", parts)
    with watching(lambda now: seen.append(now)):
        assert warming.warm_up(lambda part, share: part != "third") == warming.WarmUp((), finished=False)
    assert seen == ["worked"]  # what a part reports is not shown


def watching_part(seen: list[object]) -> None:
    with watching() as reporter:
        reporter.report("inside", 0.5)
    seen.append("worked")


@pytest.mark.slow
def test_the_whole_warm_up_runs(say):
    """Every part of it, and once more: then nothing is left to compile."""
    code, _, err = say("warmup")
    assert code == 0 and "Traceback" not in err, err
    code, out, err = say("warmup")
    assert code == 0 and "everything was compiled already" in out and "checking" not in err, (out, err)
