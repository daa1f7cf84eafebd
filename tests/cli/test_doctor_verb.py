"""`doctor` tells what works, and what to do about the rest; `warmup` compiles what is missing."""

from __future__ import annotations

import json

import pytest

from counterpoise.errors import UnknownName
from counterpoise.experiments import doctor, warming


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


def test_a_warm_up_of_one_part_reports_its_share():
    seen: list[tuple[str, float]] = []
    warming.warm_up(lambda part, share: seen.append((part, share)), ["pictures", "perform"])
    assert [part for part, _ in seen] == ["perform", "pictures", "ready"] and seen[-1][1] == 1.0
    assert warming.warm_up(None, ["pictures"]).kernels == ()  # nothing is left to compile
    with pytest.raises(UnknownName, match="did you mean 'pictures'"):
        warming.warm_up(None, ["picture"])
