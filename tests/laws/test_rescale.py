"""Other proportions: what was asked for changes, as asked, and nothing else does."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from counterpoise.character import Character
from counterpoise.character.library import character
from counterpoise.control import HoldPose
from counterpoise.errors import BadValue, UnknownName
from counterpoise.simulate import simulate

ARMS = tuple(f"{s}_{side}" for s in ("upper_arm", "forearm", "hand") for side in ("left", "right"))
LEGS = tuple(f"{s}_{side}" for s in ("thigh", "shank", "foot", "toes") for side in ("left", "right"))


def inertia_of(who: Character, body: str) -> np.ndarray:
    """About its own centre, body axes."""
    b = who.model.body(body)
    R = np.zeros(9)
    mujoco.mju_quat2Mat(R, b.iquat)
    return R.reshape(3, 3) @ np.diag(b.inertia) @ R.reshape(3, 3).T


def check(before: Character, after: Character, lengths: dict[str, float], masses: dict[str, float]) -> None:
    """Every segment against its own factors (by segment name, 1 where nothing is said)."""
    m, n = before.model, after.model
    for body in before.segments:
        s, w = lengths.get(body, 1.0), masses.get(body, 1.0)
        a, b = m.body(body), n.body(body)
        assert b.mass[0] == pytest.approx(w * a.mass[0], rel=1e-4), body
        assert np.allclose(b.ipos, s * a.ipos, rtol=1e-4, atol=1e-6), body
        scale = np.abs(inertia_of(before, body)).max() * w * s * s
        assert np.abs(inertia_of(after, body) - w * s * s * inertia_of(before, body)).max() < 1e-4 * scale, body
        parent = m.body(int(a.parentid[0])).name
        assert np.allclose(b.pos, lengths.get(parent, 1.0) * a.pos, rtol=1e-4, atol=1e-6), body
        for g in range(m.ngeom):
            if m.geom_bodyid[g] == a.id:
                twin = n.geom(m.geom(g).name)
                assert np.allclose(twin.size, s * m.geom_size[g], rtol=1e-4, atol=1e-6), body
                assert np.allclose(twin.pos, s * m.geom_pos[g], rtol=1e-4, atol=1e-5), body
    for old, new in zip(before.contact_points, after.contact_points, strict=True):
        assert np.allclose(new.position, lengths.get(old.body, 1.0) * np.array(old.position), rtol=1e-6)


def stands(who: Character) -> None:
    snap = who.snapshot()
    assert np.abs(snap.contact_position[:, 2]).max() < 1e-3
    assert who.limits.values(who.neutral).max() <= 1e-9
    support = snap.contact_position[:, :2]
    assert np.all(support.min(axis=0) < snap.com[:2]) and np.all(snap.com[:2] < support.max(axis=0))


CASES = {
    "one segment": ({"forearm_left": 1.3}, {}, {"forearm_left": 1.3}, {}),
    "one mass": ({}, {"head": 2.0}, {}, {"head": 2.0}),
    "arms": ({"arms": 1.4}, {"arms": 0.5}, dict.fromkeys(ARMS, 1.4), dict.fromkeys(ARMS, 0.5)),
    "legs": ({"legs": 0.7}, {"legs": 1.5}, dict.fromkeys(LEGS, 0.7), dict.fromkeys(LEGS, 1.5)),
    "one side's arm": (
        {"arms_left": 1.5}, {}, {n: 1.5 for n in ARMS if n.endswith("left")}, {},
    ),
    "a group and a segment of it": (
        {"arms": 1.2, "hand_left": 1.5}, {}, {**dict.fromkeys(ARMS, 1.2), "hand_left": 1.8}, {},
    ),
    "trunk": ({"trunk": 1.2}, {"trunk": 1.1}, dict.fromkeys(("pelvis", "abdomen", "thorax"), 1.2),
              dict.fromkeys(("pelvis", "abdomen", "thorax"), 1.1)),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_segments_are_as_long_and_as_heavy_as_asked(human: Character, case: str):
    lengths, masses, expected_lengths, expected_masses = CASES[case]
    before = human.to_mjcf()
    after = human.rescaled(lengths=lengths, masses=masses)
    check(human, after, expected_lengths, expected_masses)
    stands(after)
    assert human.to_mjcf() == before  # the original is as it was
    assert human.mass == pytest.approx(73.0, rel=0.01)


def test_all_scales_the_whole_body(standing: Character):
    after = standing.rescaled(lengths={"all": 1.25}, masses={"all": 1.25**3})
    assert after.mass == pytest.approx(1.25**3 * standing.mass, rel=1e-4)
    assert after.height == pytest.approx(1.25 * standing.height, rel=0.01)
    stands(after)


def test_sides_are_groups_too(human: Character):
    after = human.rescaled(lengths={"left": 1.05}, masses={"left": 1.2})
    left = {n: 1.05 for n in human.segments if n.endswith("_left")}
    check(human, after, left, {n: 1.2 for n in left})
    stands(after)


def test_doing_nothing_changes_nothing(standing: Character):
    same = standing.rescaled()
    check(standing, same, {}, {})
    assert np.abs(standing.difference(standing.neutral, same.neutral)).max() < 1e-3
    assert np.array_equal(same.torque_limit, standing.torque_limit)


def test_limits_hold_at_the_new_places(human: Character):
    """Rows are the same; the tendons that hold them have moved with their joints."""
    after = human.rescaled(lengths={"thorax": 1.3, "upper_arm_left": 0.8, "thigh_right": 1.2})
    assert after.limits.names == human.limits.names
    rng = np.random.default_rng(0)
    for _ in range(20):
        q = human.integrate(human.neutral, 0.8 * rng.normal(size=human.nv))
        assert np.allclose(after.limits.values(q), human.limits.values(q), atol=2e-5)
        slack = []
        for who in (human, after):
            data = mujoco.MjData(who.model)
            data.qpos[:] = q
            mujoco.mj_fwdPosition(who.model, data)
            lengths = data.ten_length - who.model.tendon_range[:, 0]
            slack.append({who.model.tendon(t).name: lengths[t] for t in range(who.model.ntendon)})
        assert slack[0].keys() == slack[1].keys()
        assert max(abs(slack[0][t] - slack[1][t]) for t in slack[0]) < 1e-4


def test_a_rescaled_body_is_a_character_like_any_other(human: Character):
    after = human.rescaled(lengths={"legs": 1.2}, masses={"head": 1.5})
    again = Character.from_mjcf(after.to_mjcf())
    assert np.array_equal(again.neutral, after.neutral) and again.roles == after.roles
    twice = after.rescaled(lengths={"legs": 1 / 1.2}, masses={"head": 1 / 1.5})
    assert twice.mass == pytest.approx(human.mass, rel=1e-4)
    assert twice.height == pytest.approx(human.height, rel=1e-3)
    recording = simulate(after, HoldPose(), 1.0)
    contact = recording.contacts
    lift = np.array([contact.force[contact.at(k)][:, 2].sum() for k in range(800, 1000)])
    assert lift.mean() == pytest.approx(9.81 * after.mass, rel=0.01)
    assert np.linalg.norm(after.snapshot(recording.state()).com - after.snapshot().com) < 0.02


def test_names_that_are_not_there_get_the_nearest(human: Character):
    for given, meant in (("l_thigh", "thigh_left"), ("leggs", "legs"), ("LeftHand", "hand_left")):
        with pytest.raises(UnknownName, match=f"did you mean '{meant}'"):
            human.rescaled(lengths={given: 1.1})
        with pytest.raises(UnknownName, match=f"did you mean '{meant}'"):
            human.rescaled(masses={given: 1.1})
    with pytest.raises(UnknownName):
        character("ostrich").rescaled(lengths={"hands": 1.1})


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, 1e9, "long", None])
def test_factors_that_cannot_be_are_refused(human: Character, bad: object):
    with pytest.raises(BadValue):
        human.rescaled(lengths={"legs": bad})
    with pytest.raises(BadValue):
        human.rescaled(masses={"legs": bad})


def test_joints_and_sites_off_the_origin_stay_on_their_segments(tmp_path):
    """A hinge away from its body's origin stays at its place on the scaled parent, a site on its segment."""
    from counterpoise.character.loading import load_character

    text = """<mujoco><worldbody><body name="base"><freejoint/><geom size=".1" mass="2"/>
      <body name="arm" pos=".3 0 0"><joint name="hinge" axis="0 1 0" pos="-.1 0 0"/><geom size=".05" mass="1"/>
      <site name="tip" pos=".2 0 0"/></body></body></worldbody></mujoco>"""
    path = tmp_path / "arm.xml"
    path.write_text(text)
    who = load_character(path)
    long = who.rescaled(lengths={"base": 2.0, "arm": 3.0})
    body, joint = long.model.body("arm"), long.model.joint("hinge")
    assert np.allclose(body.pos + joint.pos, (0.4, 0.0, 0.0))  # the hinge: 0.2 from the base, doubled
    assert np.allclose(long.model.site("tip").pos, (0.6, 0.0, 0.0))
