"""Editing: each edit does what it says on the compiled model, to a new figure; a drawn figure is a full Character."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterpoise.character import BallLimit, Character
from counterpoise.character import editing as ed
from counterpoise.character.library import character
from counterpoise.character.loading import load_character
from counterpoise.control import HoldPose, Passive
from counterpoise.errors import BadValue, CounterpoiseError, MissingRole, UnknownName
from counterpoise.simulate import simulate

FOREIGN = """<mujoco><default><geom rgba="1 0 0 1"/><joint damping="1" axis="0 1 0"/><default class="leg">
<geom type="capsule" size="0.05"/><joint axis="1 0 0"/><default class="sub"><joint damping="3"/></default></default>
</default><worldbody><frame pos="0 0 1" euler="0 30 0"><body name="a"><freejoint/>
<geom type="box" size=".1 .1 .1" euler="10 20 30"/>
<body name="b" childclass="leg" pos="0 0 -.1"><joint name="j1" pos="0.02 0 0.01"/><geom fromto="0 0 0 0 0 -.3"/>
<frame pos="0.1 0 0"><site name="s"/><body name="c" pos="0 0 -.3" euler="0 0 20">
<joint name="j2" class="sub" axis="0 1 0" range="-40 60"/><joint name="j3" axis="0 0 1" pos="0 0 .02"/>
<geom fromto="0 0 0 0 0 -.3"/><geom class="main" size=".1"/></body></frame></body></body></frame></worldbody>
<keyframe><key qpos="0 0 1 1 0 0 0 0.1 0.2 0.3"/></keyframe></mujoco>"""


def data_at(who: Character, q: np.ndarray | None = None) -> mujoco.MjData:
    data = mujoco.MjData(who.model)
    data.qpos[:] = who.model.qpos0 if q is None else q
    mujoco.mj_forward(who.model, data)
    return data


def place(who: Character, body: str, q: np.ndarray | None = None) -> np.ndarray:
    return np.array(data_at(who, q).xpos[who.body_id(body)])


def matter(who: Character, q: np.ndarray) -> dict[str, np.ndarray]:
    """Centre, orientation, mass and the middle of the shapes of each body in the world."""
    data, m = data_at(who, q), who.model
    out = {}
    for name in who.segments:
        b = who.body_id(name)
        shapes = [data.geom_xpos[g] for g in range(m.ngeom) if m.geom_bodyid[g] == b]
        out[name] = np.concatenate([data.xipos[b], data.xmat[b], [m.body_mass[b]], np.mean(shapes, axis=0)])
    return out


def apart(a: dict[str, np.ndarray], b: dict[str, np.ndarray]) -> float:
    assert a.keys() == b.keys()
    return max(float(np.abs(a[n] - b[n]).max()) for n in a)


def random_pose(who: Character, seed: int = 0, spread: float = 0.4) -> np.ndarray:
    return who.integrate(who.neutral, spread * np.random.default_rng(seed).normal(size=who.nv))


def three_links(**first: object) -> Character:
    return (
        ed.build("arm", planar=True)
        .segment("upper", length=0.4, **first)
        .segment("fore", length=0.3, angle=0.5, limits=(-0.5, 2.5), joint_name="elbow")
        .segment("hand", length=0.1, angle=-0.2, mass=0.4, torque=5.0)
        .character()
    )


def one_armed() -> Character:
    return (
        ed.build("walker")
        .segment("trunk", length=0.5, radius=(0.15, 0.1), shape="box")
        .segment("arm_left", "trunk", length=0.3, direction=(0, 1, -0.5), at=(0, 0.18, 0.45), joint="ball",
                 limits=ed.Oval(60, 40, 50, twist=(-20, 60)), joint_name="shoulder_left")
        .segment("fore_left", length=0.25, direction=(0.2, 0.7, -0.7), axis=(0.3, 1, 0.5), limits=(-0.3, 2.0))
        .segment("hand_left", length=0.1, joint="universal", limits=((-0.5, 0.3), (-0.2, 0.9)), torque=4.0)
        .segment("thigh_left", "trunk", length=0.4, direction=(0, 0, -1), at=(0, 0.1, 0), joint="universal")
        .segment("foot_left", "thigh_left", length=0.2, direction=(1, 0, 0), shape="box", radius=(0.05, 0.03))
        .hands("hand_left")
        .feet("foot_left")
        .character()
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------------ from nothing


def test_a_planar_figure_is_drawn_from_nothing():
    who = character("planar")
    who = ed.add_segment(who, "shin", length=0.4, angle=0.3)
    who = ed.add_segment(who, "thigh", "shin", length=0.5, angle=-0.5, limits=(-2.0, 0.1), mass=7.0)
    assert [j.name for j in who.joints] == ["root_x", "root_z", "root_pitch", "thigh_joint"]
    assert who.root == "shin" and who.root_dofs == slice(0, 3) and who.torque_limit[3] == 100.0
    shin = np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    assert np.allclose(place(who, "thigh"), 0.4 * shin, atol=1e-6)
    thigh = np.array([np.sin(-0.2), 0.0, np.cos(-0.2)])
    assert np.allclose(ed.segment_line(who, "thigh")[1], 0.4 * shin + 0.5 * thigh, atol=1e-5)
    assert who.model.body("thigh").mass[0] == pytest.approx(7.0)
    assert who.model.joint("thigh_joint").range == pytest.approx([-2.0, 0.1])
    lowest = min(float(z) for z in data_at(who, who.neutral).geom_xpos[:, 2])
    assert who.floating and lowest > 0.0  # set down on the ground, not in it
    # an angle counts as the hinge's own coordinate does
    other = ed.set_angle(who, "thigh", -0.9)
    q = np.array(who.model.qpos0)
    q[3] = -0.4
    assert apart({n: v[:3] for n, v in matter(who, q).items()},
                 {n: v[:3] for n, v in matter(other, other.model.qpos0).items()}) < 1e-5  # fmt: skip


@pytest.mark.parametrize("pinned", [True, False])
def test_three_links_are_posed_saved_and_simulated(pinned: bool, tmp_path: Path):
    who = three_links(pinned=pinned, at=(0, 0, 1.2))
    assert who.nv == (3 if pinned else 5) and not who.feet
    assert who.joint("elbow").kind == "hinge" and who.torque_limit[-1] == 5.0
    path = tmp_path / "arm.xml"
    path.write_text(who.to_mjcf())
    again = load_character(path)
    assert again.roles == who.roles and np.array_equal(again.neutral, who.neutral)
    assert again.limits.names == who.limits.names
    assert apart(matter(who, random_pose(who)), matter(again, random_pose(who))) == 0.0
    more = ed.add_segment(again, "finger", "hand", length=0.05)  # and goes on being drawn
    assert more.nv == who.nv + 1
    recording = simulate(who, HoldPose() if pinned else Passive(), 0.3)
    assert np.isfinite(recording.state().q).all()
    if pinned:
        assert np.abs(recording.state().q - who.neutral).max() < 0.1


@pytest.mark.parametrize("shape", ["capsule", "box", "ellipsoid", "sphere"])
def test_mass_and_inertia_are_those_of_water_in_that_shape(shape: str):
    who = ed.add_segment(ed.empty_figure(), "part", length=0.4, shape=shape, direction=(0.3, 0.5, 0.8))
    spec = who.spec()
    for body in spec.bodies:
        body.explicitinertial = False
    for geom in spec.geoms:
        geom.density = 1000.0
    solid = spec.compile()
    assert who.model.body_mass[1] == pytest.approx(solid.body_mass[1], rel=1e-4)
    assert np.allclose(np.sort(who.model.body_inertia[1]), np.sort(solid.body_inertia[1]), rtol=1e-4)
    assert np.allclose(who.model.body_ipos[1], solid.body_ipos[1], atol=1e-6)
    start, end = ed.segment_line(who, "part")
    assert np.linalg.norm(end - start) == pytest.approx(0.4, abs=1e-5)


def test_every_kind_of_joint_and_place():
    who = ed.add_segment(ed.empty_figure("thing"), "trunk", length=1.0)
    assert who.joints[0].kind == "free" and who.root_dofs.stop == 6
    for kind, at, expected in (
        ("hinge", None, 1.0), ("universal", "base", 0.0), ("ball", 0.25, 0.25), ("slide", (0, 0, 0.7), 0.7),
        ("fixed", "end", 1.0),
    ):  # fmt: skip
        who = ed.add_segment(who, kind, "trunk", length=0.2, joint=kind, at=at, direction=(0, 1, 0))
        assert place(who, kind)[2] == pytest.approx(expected)
    assert [j.kind for j in who.joints] == ["free", "hinge", "universal", "ball", "slide"]
    assert np.allclose(who.model.joint("slide_joint").axis, [0, 1, 0])
    assert np.allclose(data_at(who).xmat, np.eye(3).reshape(-1))  # frames aligned with the world


def test_a_long_chain_is_built_at_once():
    builder = ed.build("worm", planar=True)
    for i in range(200):
        builder = builder.segment(f"s{i}", length=0.1, angle=0.05)
    worm = builder.character()
    assert len(worm.segments) == 200 and worm.nv == 202
    end = sum(0.1 * np.array([np.sin(0.05 * k), 0.0, np.cos(0.05 * k)]) for k in range(1, 200))
    assert np.allclose(place(worm, "s199"), end, atol=1e-4)


# -------------------------------------------------------------------------------------------------------- small edits


def test_length_mass_and_shape():
    who = three_links(pinned=True)
    longer = ed.set_length(who, "upper", 0.6)
    assert np.allclose(place(longer, "fore"), [0, 0, 0.6], atol=1e-6)
    assert np.allclose(place(longer, "hand") - place(who, "hand"), [0, 0, 0.2], atol=1e-6)
    assert longer.mass == pytest.approx(who.mass) and np.allclose(place(who, "fore"), [0, 0, 0.4])
    assert longer.model.geom("upper_0").size[0] == pytest.approx(who.model.geom("upper_0").size[0])
    heavy = ed.set_mass(who, "fore", 9.0)
    assert heavy.model.body("fore").mass[0] == pytest.approx(9.0)
    factor = 9.0 / who.model.body("fore").mass[0]
    assert np.allclose(heavy.model.body("fore").inertia, factor * who.model.body("fore").inertia, rtol=1e-4)
    boxed = ed.set_shape(who, "hand", "box", radius=(0.04, 0.02))
    assert boxed.model.geom("hand_0").type[0] == mujoco.mjtGeom.mjGEOM_BOX
    assert np.allclose(boxed.model.geom("hand_0").size, [0.02, 0.04, 0.05]) and boxed.mass == pytest.approx(who.mass)
    short = ed.set_length(who, "upper", 0.01)  # thinner than it is long
    assert np.linalg.norm(np.subtract(*ed.segment_line(short, "upper"))) == pytest.approx(0.01, abs=1e-6)


def test_library_segments_are_edited_too(human: Character):
    longer = ed.set_length(human, "thigh_left", 0.5)
    assert np.linalg.norm(longer.model.body("shank_left").pos) == pytest.approx(0.5, abs=1e-5)
    assert longer.feet and longer.mass == pytest.approx(human.mass, rel=1e-4)
    tail = human.with_segment("tail", "pelvis", length=0.5, direction=(-1, 0, 0), at=(-0.1, 0, 0), joint="ball")
    assert len(tail.segments) == 19 and tail.nv == human.nv + 3
    assert np.abs(tail.snapshot().contact_position[:, 2]).max() < 1e-3
    assert tail.limits.names == human.limits.names
    bent = ed.set_angle(human, "forearm_left", direction=(1, 0, 0))
    elbow = bent.model.body("forearm_left")
    assert np.allclose(bent.model.body("hand_left").pos, [0.2555, 0, 0], atol=2e-2) and np.allclose(
        elbow.quat, [1, 0, 0, 0]
    )


def test_removing_gives_the_children_to_the_parent(human: Character):
    without = ed.remove_segment(human, "thorax")
    for name in without.segments:
        assert np.allclose(place(without, name), place(human, name), atol=1e-5), name
    assert without.mass == pytest.approx(human.mass - human.model.body("thorax").mass[0], rel=1e-5)
    assert without.model.body(int(without.model.body("upper_arm_left").parentid[0])).name == "abdomen"
    assert "spine" not in without.limits.balls and "shoulder_left" in without.limits.balls
    legless = human.without_segment("thigh_left", branch=True)
    assert [f.name for f in legless.feet] == ["foot_right"] and len(legless.segments) == 14
    gone = ed.remove_segment(ed.add_segment(ed.empty_figure(), "a"), "a")
    assert gone.segments == () and gone.root == "" and ed.add_segment(gone, "b").root == "b"
    with pytest.raises(BadValue, match=r"root.*reroot"):
        ed.remove_segment(human, "pelvis")


def test_names_follow(human: Character):
    who = (
        human.renamed("foot_left", "paw_left").renamed("ankle_left", "pastern_left").renamed("hip_left", "haunch_left")
    )
    assert who.foot("paw_left").points[0].body == "paw_left" and "foot_left" not in who.segments
    assert who.joint("pastern_left").kind == "universal"
    assert "haunch_left.swing0" in who.limits.names and "hip_left" not in who.limits.balls
    assert np.array_equal(who.torque_limit, human.torque_limit) and np.array_equal(who.neutral, human.neutral)
    assert {who.model.tendon(t).name.split(".")[0] for t in range(who.model.ntendon)} >= {"haunch_left"}
    rooted = human.renamed("pelvis", "hips")
    assert rooted.root == "hips"


def test_limits_are_set_and_taken_away(human: Character):
    who = ed.set_limits(human, "knee_left", (0.2, 1.0))
    assert who.model.joint("knee_left").range == pytest.approx([0.2, 1.0])
    assert who.limits.values(who.neutral).max() <= 1e-9
    free = ed.set_limits(who, "knee_left", None)
    assert "knee_left.low" not in free.limits.names
    both = ed.set_limits(human, "ankle_left", ((-0.3, 0.3), None))
    assert both.model.joint(human.joint("ankle_left").parts[0]).range == pytest.approx([-0.3, 0.3])
    round_ = ed.set_limits(human, "shoulder_left", ed.Oval(30, twist=(-10, 10)))
    limit = round_.limits.balls["shoulder_left"]
    assert np.degrees(limit.twist) == pytest.approx([-10, 10])
    for swing, inside in ((25, True), (35, False)):
        q = np.array([np.cos(np.radians(swing) / 2), 0, -np.sin(np.radians(swing) / 2), 0])
        assert (limit.violation(q)[0] <= 0.0) == inside
    assert "shoulder_left" not in ed.set_limits(human, "shoulder_left", None).limits.balls
    given_ = BallLimit(limit.axis, limit.rest, limit.normals, limit.offsets, (-0.1, 0.2))
    assert ed.set_limits(human, "shoulder_left", given_).limits.balls["shoulder_left"].twist == (-0.1, 0.2)


def test_feet_and_hands_are_named():
    who = one_armed()
    assert who.hands == ("hand_left",) and len(who.foot("foot_left").points) == 4
    assert np.abs(who.snapshot().contact_position[:, 2]).max() < 1e-3
    other = ed.set_feet(ed.set_hands(who, []), [])
    assert other.feet == () and other.hands == ()
    flat = ed.build("p", planar=True).segment("leg", length=0.5).segment("foot", at="base", angle=1.5708).feet("foot")
    assert len(flat.character().foot("foot").points) == 2


# -------------------------------------------------------------------------------------------------------------- mirror


def test_a_one_armed_figure_becomes_symmetric():
    who = one_armed()
    twin = ed.mirror_limb(ed.mirror_limb(who, "arm_left"), "thigh_left")
    assert {f"{n}_right" for n in ("arm", "fore", "hand", "thigh", "foot")} <= set(twin.segments)
    assert twin.hands == ("hand_left", "hand_right") and [f.side for f in twin.feet] == ["left", "right"]
    assert twin.torque_limit[twin.joint("hand_right_joint").dofs] == pytest.approx([4.0, 4.0])
    q = random_pose(twin, 3)
    here, there = matter(twin, q), matter(twin, twin.mirror_pose(q))
    for left, right in twin.pairs:
        assert np.allclose(here[left][:3] * (1, -1, 1), there[right][:3], atol=1e-5)
    values = dict(zip(twin.limits.names, twin.limits.values(q), strict=True))
    image = dict(zip(twin.limits.names, twin.limits.values(twin.mirror_pose(q)), strict=True))
    for joint in ("shoulder", "fore", "hand"):
        mine = sorted(v for n, v in values.items() if n.startswith(joint) and "left" in n)
        its = sorted(v for n, v in image.items() if n.startswith(joint) and "right" in n)
        assert np.allclose(mine, its, atol=1e-4) and mine
    com = twin.snapshot().com
    assert abs(com[1]) < 1e-4 and np.abs(twin.difference(twin.neutral, twin.mirror_pose(twin.neutral))).max() < 1e-3


def same_pose(before: Character, after: Character, q: np.ndarray) -> np.ndarray:
    """q, for a figure with the same joints in another order."""
    out = np.array(after.neutral)
    for joint in before.joints:
        out[after.joint(joint.name).qpos] = q[joint.qpos]
    return out


@pytest.mark.parametrize("limb", ["arm", "leg"])
def test_a_human_gets_its_right_limb_back(human: Character, limb: str):
    top = {"arm": "upper_arm_right", "leg": "thigh_right"}[limb]
    q = random_pose(human, 1)
    for back in (
        ed.mirror_limb(ed.remove_segment(human, top, branch=True), f"{limb}_left"),
        ed.mirror_limb(human, f"{limb}_left", replace=True),
    ):
        same = same_pose(human, back, q)
        assert apart(matter(human, q), matter(back, same)) < 1e-5
        assert np.allclose(sorted(human.limits.values(q)), sorted(back.limits.values(same)), atol=1e-5)
        assert [f.name for f in back.feet] == [f.name for f in human.feet] and len(back.contact_points) == 12
        assert apart(matter(human, human.neutral), matter(back, back.neutral)) < 1e-3


def test_what_cannot_be_mirrored_says_why(human: Character):
    with pytest.raises(BadValue, match="replace=True"):
        ed.mirror_limb(human, "upper_arm_left")
    with pytest.raises(BadValue, match="rename it to 'head_left'"):
        ed.mirror_limb(human, "head")


# -------------------------------------------------------------------------------------------------------------- reroot

REROOTS = (
    ("human", "hand_left"), ("human", "foot_right"), ("human", "thorax"), ("dinosaur", "head"), ("ostrich", "head"),
    ("planar_biped", "foot_left"), ("insectoid", "forearm2_left"),
)  # fmt: skip


def foreign() -> Character:
    return Character.from_mjcf(FOREIGN)


def check_reroot(who: Character, segment: str) -> None:
    after = ed.reroot(who, segment)
    assert after.root == segment == after.segments[0] and set(after.segments) == set(who.segments)
    assert after.mass == pytest.approx(who.mass, rel=1e-9) and set(after.joint_names) == set(who.joint_names)
    assert apart(matter(who, who.neutral), matter(after, after.neutral)) < 2e-5
    back = ed.reroot(after, who.root)
    assert back.segments == who.segments and back.joint_names == who.joint_names
    for seed in range(3):
        q = random_pose(who, seed)
        moved = ed.rerooted_pose(who, after, q)
        assert apart(matter(who, q), matter(after, moved)) < 2e-5
        returned = ed.rerooted_pose(after, back, moved)
        assert np.abs(who.difference(q, returned)).max() < 1e-5
        assert apart(matter(who, q), matter(back, returned)) < 2e-5
        assert np.allclose(inner_inertia(who, q), inner_inertia(after, moved), rtol=2e-4, atol=1e-8)
        for row, value in zip(who.limits.names, who.limits.values(q), strict=True):
            assert back.limits.values(returned)[back.limits.names.index(row)] == pytest.approx(value, abs=2e-5)
            if ".swing" not in row and ".twist" not in row:  # ranges keep their coordinates
                assert after.limits.values(moved)[after.limits.names.index(row)] == pytest.approx(value, abs=2e-5)
    for joint in who.joints:
        now = after.joint(joint.name)
        torque = dict(zip(now.parts, after.torque_limit[now.dofs], strict=False))
        for part, limit in zip(joint.parts, who.torque_limit[joint.dofs], strict=False):
            assert torque[part] == limit


def inner_inertia(who: Character, q: np.ndarray) -> np.ndarray:
    """Eigenvalues of the inertia the joints feel with the root free: M_jj - M_jr M_rr^-1 M_rj, whatever the root is."""
    M, r = who.snapshot(who.state(q)).M, who.root_dofs.stop
    return np.linalg.eigvalsh(M[r:, r:] - M[r:, :r] @ np.linalg.solve(M[:r, :r], M[:r, r:]))


@pytest.mark.parametrize(("name", "segment"), REROOTS)
def test_rerooting_keeps_the_figure(name: str, segment: str):
    check_reroot(character(name), segment)


def test_rerooting_a_foreign_body_with_classes_frames_and_shifted_joints():
    who = foreign()
    assert apart(matter(who, who.neutral), matter(ed.set_hands(who, []), who.neutral)) < 2e-5  # written out, the same
    check_reroot(who, "c")
    check_reroot(who, "b")


def test_rerooted_cones_hold_what_they_can(human: Character):
    """Twist exactly; swing exactly at the middle of the twist; the pose it stands in always."""
    after = ed.reroot(human, "thorax")
    assert after.limits.values(after.neutral).max() <= 1e-9
    names = [n for n in human.limits.names if n.startswith(("waist", "spine"))]
    rng = np.random.default_rng(4)
    for _ in range(30):
        q = human.limits.clamp(random_pose(human, int(rng.integers(1000)), 0.6))
        exact = np.array(q)
        for joint in ("waist", "spine"):
            limit, part = human.limits.balls[joint], human.joint(joint).qpos
            _, twist = limit.split(q[part])
            axis = limit.axis  # take the twist to the middle of its range
            half = 0.5 * (0.5 * sum(limit.twist) - twist)
            a0 = np.concatenate(([np.cos(half)], np.sin(half) * axis))
            mujoco.mju_mulQuat(exact[part], q[part], a0)
        for pose, rows in ((q, [n for n in names if "twist" in n]), (exact, names)):
            before = dict(zip(human.limits.names, human.limits.values(pose), strict=True))
            moved = ed.rerooted_pose(human, after, pose)
            now = dict(zip(after.limits.names, after.limits.values(moved), strict=True))
            for row in rows:
                ends = {"twist_low": "twist_high", "twist_high": "twist_low"}
                stem, end = row.split(".")
                assert now[f"{stem}.{ends.get(end, end)}"] == pytest.approx(before[row], abs=1e-6)


def test_a_rerooted_figure_falls_in_the_same_way():
    who = character("planar_biped")
    after = ed.reroot(who, "foot_left")
    q = np.array(who.neutral)
    q[1] += 1.0
    ends = []
    for body, pose in ((who, q), (after, ed.rerooted_pose(who, after, q))):
        recording = simulate(body, Passive(), 0.3, start=body.state(pose))
        ends.append({n: v[:3] for n, v in matter(body, recording.state().q).items()})
    assert apart(*ends) < 1e-3


def test_a_pin_moves_along():
    who = three_links(pinned=True, at=(0, 0, 1))
    after = ed.reroot(who, "hand", at="end")
    assert after.segments == ("hand", "fore", "upper") and not after.floating and after.nv == 3
    assert apart(matter(who, who.neutral), matter(after, after.neutral)) < 2e-5
    tip = ed.segment_line(who, "hand")[1]
    for seed in range(3):
        data = data_at(after, random_pose(after, seed))
        assert np.allclose(data.xpos[1], tip, atol=1e-5)
    chain = character("chain")
    assert apart(matter(chain, chain.neutral), matter(chain.rerooted("link3"), chain.neutral)) < 2e-5


# ------------------------------------------------------------------------------------------------------------- history


def test_history_goes_back_and_forth():
    start = ed.History(character("planar"))
    one = start.do(ed.add_segment, "a", length=0.5)
    two = one.do(ed.add_segment, "b", "a", length=0.2)
    assert two.edits == ("add_segment a", "add_segment b a")
    assert two.undo().present is one.present and two.undo().undo().present is start.present
    assert two.undo().redo().present is two.present
    fork = two.undo().do(ed.set_length, "a", 0.7)
    assert not fork.future and two.present.segments == ("a", "b")
    with pytest.raises(CounterpoiseError, match="nothing to undo"):
        start.undo()
    with pytest.raises(CounterpoiseError, match="nothing to redo"):
        two.redo()
    with pytest.raises(UnknownName):
        two.do(ed.remove_segment, "c")
    assert two.present.segments == ("a", "b")


# ------------------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, 1e9, "long", None, True])
def test_sizes_that_cannot_be_are_refused(bad: object):
    who = three_links()
    for edit in (
        lambda: ed.add_segment(who, "x", "hand", length=bad),
        lambda: ed.set_length(who, "hand", bad),
        lambda: ed.set_mass(who, "hand", bad),
        lambda: ed.set_shape(who, "hand", "box", (bad, 0.1)),
        lambda: ed.add_segment(who, "x", "hand", mass=bad if bad is not None else -1),
    ):
        with pytest.raises(BadValue):
            edit()


CURES: list[tuple[Callable[[Character], object], type[Exception], str]] = [
    (lambda w: ed.add_segment(w, "x", "hnd"), UnknownName, "did you mean 'hand'"),
    (lambda w: ed.add_segment(w, "hand", "fore"), BadValue, "already a segment 'hand'"),
    (lambda w: ed.add_segment(w, "x"), BadValue, "hang from"),
    (lambda w: ed.add_segment(w, "x", "hand", joint="ball"), BadValue, "planar"),
    (lambda w: ed.add_segment(w, "x", "hand", joint="weld"), UnknownName, "fixed"),
    (lambda w: ed.add_segment(w, "x", "hand", shape="cone"), UnknownName, "shape"),
    (lambda w: ed.add_segment(w, "x", "hand", limits=(1.0, -1.0)), BadValue, "low < high"),
    (lambda w: ed.add_segment(w, "x", "hand", limits=(np.nan, 1.0)), BadValue, "finite"),
    (lambda w: ed.add_segment(w, "x", "hand", direction=(0, 1, 0)), BadValue, "plane"),
    (lambda w: ed.add_segment(w, "x", "hand", direction=(0, 0, 0)), BadValue, "zero"),
    (lambda w: ed.add_segment(w, "x", "hand", angle=np.nan), BadValue, "angle"),
    (lambda w: ed.add_segment(w, "x", "hand", at="side"), UnknownName, "place"),
    (lambda w: ed.add_segment(w, "x", "hand", at=1.5), BadValue, "fraction"),
    (lambda w: ed.add_segment(w, "x", "hand", radius=1.0), BadValue, "half its length"),
    (lambda w: ed.add_segment(w, "x", "hand", joint_name="elbow"), BadValue, "already a joint"),
    (lambda w: ed.add_segment(w, "x", "hand", joint_name="root_x2"), BadValue, "no motor"),
    (lambda w: ed.add_segment(w, "a/\x00", "hand"), BadValue, "name"),
    (lambda w: ed.add_segment(w, "x", "hand", pinned=True), BadValue, "first segment"),
    (lambda w: ed.add_segment(ed.empty_figure(), "x", "hand"), UnknownName, "no segment at all"),
    (lambda w: ed.remove_segment(w, "upper"), BadValue, "reroot"),
    (lambda w: ed.rename(w, "hand", "fore"), BadValue, "already"),
    (lambda w: ed.rename(w, "elbow", "hand_joint"), BadValue, "already"),
    (lambda w: ed.rename(w, "elbw", "knee"), UnknownName, "did you mean 'elbow'"),
    (lambda w: ed.rename(w, "root_x", "slider"), BadValue, "carries the root"),
    (lambda w: ed.set_limits(w, "elbow", (2.0, 1.0)), BadValue, "low < high"),
    (lambda w: ed.set_limits(w, "root_z", (0.0, 1.0)), BadValue, "root"),
    (lambda w: ed.set_limits(w, "elbow", ed.Oval(30)), BadValue, "two numbers"),
    (lambda w: ed.set_angle(w, "hand"), BadValue, "one of the two"),
    (lambda w: ed.set_shape(w, "hand", "blob"), UnknownName, "shape"),
    (lambda w: ed.reroot(w, "hnd"), UnknownName, "did you mean 'hand'"),
    (lambda w: ed.set_feet(w, ["foot"]), UnknownName, "body 'foot'"),
    (lambda w: ed.mirror_limb(w, "hand"), BadValue, "rename"),
    (lambda w: w.with_segment("x", "hand", lenght=1.0), UnknownName, "did you mean 'length'"),
    (lambda w: ed.rerooted_pose(w, character("chain"), w.neutral), BadValue, "segments differ"),
]


@pytest.mark.parametrize("number", range(len(CURES)))
def test_an_error_brings_the_cure(number: int):
    edit, kind, words = CURES[number]
    who = three_links()
    before = who.to_mjcf()
    with pytest.raises(kind, match=words):
        edit(who)
    assert who.to_mjcf() == before


BARE = """<mujoco><worldbody><body name="a"><freejoint/><geom size="0.1"/><body name="b" pos="0 0 -1"><joint name="j"/>
<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body></body></worldbody></mujoco>"""


def test_a_segment_without_a_shape_is_no_foot():
    with pytest.raises(MissingRole, match="no shape"):
        ed.set_feet(Character.from_mjcf(BARE), ["b"])


# ---------------------------------------------------------------------------------------------------- any edits at all

NAMES = ("a", "b_left", "c_left", "d", "e_right", "b_right")
EDITS = ("add", "remove", "rename", "length", "angle", "limits", "mass", "shape", "reroot", "mirror", "feet", "rescale")


def one_edit(who: Character, what: str, i: int, j: int, k: int) -> Character:
    known = who.segments or NAMES
    name, other, value = known[i % len(known)], NAMES[j % 6], 0.05 + (k % 40) / 20.0
    kind = ("hinge", "universal", "ball", "slide", "fixed")[k % 5]
    kind = "hinge" if i % 2 else kind  # planar figures take few others
    limits = {"hinge": (-value, value), "ball": ed.Oval(20 + k % 50)}.get(kind)
    joint = who.joint_names[i % len(who.joint_names)] if who.joint_names else "none"
    edits: dict[str, Callable[[], Character]] = {
        "add": lambda: ed.add_segment(who, other, name, value, value, joint=kind, limits=limits),
        "remove": lambda: ed.remove_segment(who, name, branch=bool(k % 2)),
        "rename": lambda: ed.rename(who, name, other),
        "length": lambda: ed.set_length(who, name, value),
        "angle": lambda: ed.set_angle(who, name, value),
        "limits": lambda: ed.set_limits(who, joint, (-value, 1.0) if k % 3 else None),
        "mass": lambda: ed.set_mass(who, name, value),
        "shape": lambda: ed.set_shape(who, name, ("capsule", "box", "ellipsoid", "sphere")[k % 4]),
        "reroot": lambda: ed.reroot(who, name, at="end" if k % 3 == 0 else None),
        "mirror": lambda: ed.mirror_limb(who, name, replace=bool(k % 2)),
        "feet": lambda: ed.set_feet(who, [name]),
        "rescale": lambda: who.rescaled(lengths={name: value}),
    }
    return edits[what]()


@settings(max_examples=60)
@given(st.booleans(), st.lists(st.tuples(st.sampled_from(EDITS), *[st.integers(0, 10**6)] * 3), max_size=9))
def test_any_edits_give_a_figure_or_say_why_not(planar: bool, script: list[tuple[str, int, int, int]]):
    who = ed.build("any", planar).segment("a").segment("b_left", length=0.2, angle=1.0).character()
    for what, i, j, k in script:
        try:
            who = one_edit(who, what, i, j, k)
        except CounterpoiseError:
            continue
        assert who.neutral.shape == (who.nq,) and np.isfinite(who.neutral).all()
        assert len(who.limits) == 0 or who.limits.values(who.neutral).max() < 1e-6
        assert set(who.hands) | {f.body for f in who.feet} <= set(who.segments)
        assert who.segments == () or who.root == who.segments[0]
    assert Character.from_mjcf(who.to_mjcf()).segments == who.segments
