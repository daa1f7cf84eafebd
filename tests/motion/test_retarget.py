"""Retargeting: laws that hold for every figure, odd skeletons, and stories with captured clips."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

import mujoco
import numpy as np
import pytest

import counterpoise as cp
from counterpoise import spatial
from counterpoise.character.anatomy import anatomy_of
from counterpoise.character.anatomy_by_name import read_name
from counterpoise.character.kinematics import body_frames, dof_lists, tree_of
from counterpoise.motion.contacts import ContactWindow, find_contacts
from counterpoise.motion.retarget import RetargetTuning
from counterpoise.motion.retarget.cost import frame_cost
from counterpoise.motion.retarget.tangents import smooth_poses

CLIPS = Path(__file__).resolve().parents[3] / "shared" / "mocap"
CAST = ("child", "asymmetric", "insectoid", "chicken", "ostrich", "dinosaur")

needs_clips = pytest.mark.skipif(not CLIPS.is_dir(), reason="the captured clips are not on this machine")


@pytest.fixture(scope="module")
def squat() -> cp.Motion:
    return cp.reference_motion("squat", cp.character("human"))


@pytest.fixture(scope="module")
def kick() -> cp.Motion:
    return cp.reference_motion("front_kick", cp.character("human"))


@pytest.fixture(scope="module")
def walk() -> cp.Motion:
    if not CLIPS.is_dir():
        pytest.skip("the captured clips are not on this machine")
    return cp.read_motion(CLIPS / "02_01.bvh")


@lru_cache(maxsize=3)
def take(name: str) -> cp.Motion:
    return cp.read_motion(CLIPS / f"{name}.bvh")


def clip(name: str, first: int = 0, last: int = 0) -> cp.Motion:
    motion = take(name)
    return motion.slice(motion.times[first], motion.times[last]) if last else motion


def apart(a: cp.Motion, b: cp.Motion) -> float:
    """The largest difference of two motions of one figure [m, rad]."""
    return float(np.abs(a.character.difference(a.poses, b.poses)).max())


def places(motion: cp.Motion, names: list[tuple[str, tuple[float, float, float]]]) -> np.ndarray:
    """World places (n, points, 3) of points on bodies, asked of MuJoCo itself."""
    model = motion.character.model
    data = mujoco.MjData(model)
    out = np.empty((len(motion), len(names), 3))
    for k, q in enumerate(motion.poses):
        data.qpos[:] = q
        mujoco.mj_kinematics(model, data)
        for i, (body, local) in enumerate(names):
            b = model.body(body).id
            out[k, i] = data.xpos[b] + data.xmat[b].reshape(3, 3) @ np.array(local)
    return out


def soles(motion: cp.Motion) -> dict[str, np.ndarray]:
    """The paths of every contact point, by name."""
    points = motion.character.contact_points
    found = places(motion, [(p.body, p.position) for p in points])
    return {p.name: found[:, i] for i, p in enumerate(points)}


def within(motion: cp.Motion, window: ContactWindow) -> slice:
    first = int(np.searchsorted(motion.times, window.start - 1e-9))
    return slice(first, int(np.searchsorted(motion.times, window.end + 1e-9)))


def check_contacts(made: cp.Motion, report: cp.RetargetReport, still: float = 2e-3) -> None:
    """Human-like soles: heels stand in heel windows, toes in ball windows, nothing anywhere below the ground."""
    paths = soles(made)
    assert min(path[:, 2].min() for path in paths.values()) > -2e-3
    for window in report.contacts:
        side = window.foot.removeprefix("foot_")
        held = [p for name, p in paths.items() if name.startswith("heel" if window.part == "heel" else "toe")]
        held = [p for name, p in paths.items() if any(p is h for h in held) and name.endswith(side)]
        assert held
        for path in held:
            part = path[within(made, window)]
            assert np.ptp(part[:, :2], axis=0).max() < still, window
            assert np.abs(part[:, 2]).max() < still, window


def check_limits(made: cp.Motion) -> None:
    for q in made.poses:
        assert made.character.limits.values(q).max(initial=-1.0) < 1e-6


# ---------------------------------------------------------------------------------------------------------- laws


def test_kinematics_agree_with_mujoco(cast):
    rng = np.random.default_rng(3)
    q = cast.integrate(np.repeat(cast.neutral[None], 5, axis=0), 0.4 * rng.normal(size=(5, cast.nv)))
    at, turns = body_frames(cast, q)
    data = mujoco.MjData(cast.model)
    for k in range(5):
        data.qpos[:] = q[k]
        mujoco.mj_kinematics(cast.model, data)
        assert np.abs(at[k] - data.xpos).max() < 1e-12
        assert np.abs(spatial.to_matrix(turns[k]) - data.xmat.reshape(-1, 3, 3)).max() < 1e-12


def test_the_gradient_of_a_frame_agrees_with_differences(human):
    """Directions, twists, places, ground, limits and the reference, all at once, by central differences."""
    rng = np.random.default_rng(4)
    tree, above = tree_of(human), dof_lists(human)
    q = human.integrate(human.neutral, 0.5 * rng.normal(size=human.nv))
    wanted = spatial.normalize(rng.normal(size=(3, 4)))
    bodies = np.array([human.body_id(n) for n in ("thorax", "forearm_left", "foot_right")])
    axes = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])
    aims = (bodies, axes, np.array([[1.0, 0.7], [1.0, 0.2], [0.5, 0.5]]))
    points = (bodies, rng.normal(size=(3, 3)), np.array([3.0, 0.0, 3.0]), np.array([0.1, 0.0, 0.3]))
    aside = rng.normal(size=(3, 3)) - [0.0, 0.0, 3.0]
    n, nv = len(tree[0]), human.nv
    everything = human.limits.ball_tables(np.arange(nv))
    rows = len(everything[5]) + 2 * len(everything[0])

    def cost(pose: np.ndarray, full: bool) -> tuple[float, np.ndarray]:
        xpos, xmat, xquat = np.zeros((n, 3)), np.zeros((n, 9)), np.zeros((n, 4))
        xmat[0, 0] = xmat[0, 4] = xmat[0, 8] = xquat[0, 0] = 1.0
        H, g = np.zeros((nv, nv)), np.zeros(nv)
        limits = (np.zeros(rows), np.zeros((rows, 3)), np.zeros(rows, np.int64))
        value = frame_cost(
            pose, tree, above, aims, wanted, points, aside, np.array([2.0, 1.0, 0.0]), np.full(nv, 0.3), human.neutral,
            everything, (5.0, 0.01), (xpos, xmat, xquat, np.zeros((nv, 6))), np.zeros(nv), limits, full, H, g,
        )  # fmt: skip
        for over, slope, dof in zip(*limits, strict=True):  # the step adds these; their slopes are checked here
            g[dof : dof + 3] += 25.0 * max(over, 0.0) * slope
        return value, g

    _, g = cost(q, True)
    step = 1e-6
    slopes = np.array(
        [(cost(human.integrate(q, e), False)[0] - cost(human.integrate(q, -e), False)[0]) / (2 * step)
         for e in step * np.eye(nv)]
    )  # fmt: skip
    assert np.abs(slopes - g).max() < 1e-4 * (1.0 + np.abs(g).max())


def test_smoothing_has_no_lag(human):
    """A motion that is even in time stays even; a steady turn stays as it is."""
    tree = tree_of(human)
    t = np.linspace(-1.0, 1.0, 41)
    direction = np.random.default_rng(5).normal(size=human.nv)
    weights = np.exp(-0.5 * (np.arange(-4, 5) / 2.0) ** 2)
    even = human.integrate(np.repeat(human.neutral[None], 41, axis=0), np.cos(3 * t)[:, None] * direction)
    calm = smooth_poses(even, np.array([0, 41]), weights, tree[5], tree[6], tree[7])
    assert np.abs(human.difference(calm, calm[::-1])).max() < 1e-12
    knee = human.joint("knee_left").qpos.start
    steady = np.repeat(human.neutral[None], 41, axis=0)
    steady[:, knee] = 0.5 + 0.3 * t
    calm = smooth_poses(steady, np.array([0, 41]), weights, tree[5], tree[6], tree[7])
    assert np.abs(calm[:, knee] - steady[:, knee]).max() < 1e-12


@pytest.mark.parametrize("name", ["squat", "butterfly", "twist"])
def test_onto_itself_nothing_changes(human, name):
    motion = cp.reference_motion(name, human)
    assert apart(motion, cp.retarget(motion, human)) < 0.02


def test_the_mirror_image_gives_the_mirror_image(kick, human):
    child = cp.character("child")
    assert apart(cp.retarget(kick, child).mirrored(), cp.retarget(kick.mirrored(), child)) < 1e-6


def test_time_place_and_heading_do_not_matter(kick):
    child = cp.character("child")
    made = cp.retarget(kick, child)
    later = cp.retarget(kick.shifted(5.0), child)
    assert later.start == pytest.approx(kick.start + 5.0)
    assert np.abs(later.poses - made.poses).max() < 1e-9
    turned = cp.retarget(kick.placed((0.0, 0.0), 2.0), child)
    moved = cp.retarget(kick.placed((3.0, -1.0)), child)
    start = cp.retarget(kick, child).poses[0, :2]
    assert apart(made.placed((0.0, 0.0), 2.0).placed(tuple(turned.poses[0, :2] - _turned(start, 2.0))), turned) < 1e-5
    assert apart(made.placed((3.0, -1.0)), moved) < 1e-5


def _turned(xy: np.ndarray, yaw: float) -> np.ndarray:
    z = complex(*xy) * np.exp(1j * yaw)
    return np.array([z.real, z.imag])


def test_twice_is_the_same(squat):
    child = cp.character("child")
    assert np.array_equal(cp.retarget(squat, child).poses, cp.retarget(squat, child).poses)


@pytest.mark.parametrize("name", ["human", *CAST])
def test_the_cast_squats_on_its_feet(squat, name):
    who = cp.character(name)
    made, report = cp.retarget_with_report(squat, who)
    check_limits(made)
    size = who.height / 1.75
    paths = soles(made)
    assert len(paths) > 0
    for path in paths.values():  # the reference keeps its soles where they are, all the time
        assert np.ptp(path, axis=0).max() < 2e-3 * size
        assert np.abs(path[:, 2]).max() < 2e-3 * size
    hips = places(made, [(who.root, (0.0, 0.0, 0.0))])[:, 0, 2]
    source = places(squat, [("pelvis", (0.0, 0.0, 0.0))])[:, 0, 2]
    assert hips.min() < 0.9 * hips[0]  # it does go down, when the source does
    assert abs(int(hips.argmin()) - int(source.argmin())) <= 6 or np.ptp(hips[int(source.argmin())] - hips.min()) < 1e-3
    assert report.speed[1] < 2.0


def test_limb_directions_are_the_sources(kick):
    """Thigh, shank, upper arm and forearm of a child point where the human's do, measured between joints."""
    child = cp.character("child")
    made = cp.retarget(kick, child)
    bones = [(f"{a}_{s}", f"{b}_{s}") for s in ("left", "right") for a, b in (
        ("thigh", "shank"), ("shank", "foot"), ("upper_arm", "forearm"), ("forearm", "hand"))]  # fmt: skip
    for start, end in bones:
        ways = []
        for motion in (kick, made):
            at = places(motion, [(start, (0.0, 0.0, 0.0)), (end, (0.0, 0.0, 0.0))])
            way = at[:, 1] - at[:, 0]
            ways.append(way / np.linalg.norm(way, axis=1)[:, None])
        error = np.degrees(np.arccos(np.clip(np.sum(ways[0] * ways[1], axis=1), -1.0, 1.0)))
        assert np.median(error) < 1.0, (start, end)


def test_there_and_back_again(squat, human):
    child = cp.character("child")
    assert apart(squat, cp.retarget(cp.retarget(squat, child), human)) < 0.02


def test_a_loop_stays_a_loop(squat):
    made = cp.retarget(squat.as_loop(), cp.character("child"))
    assert made.loop
    assert made.duration == pytest.approx(squat.duration)
    start, end = made.sample(made.end - 1e-4), made.sample(made.end + 1e-4)
    assert np.abs(start.v - end.v).max() < 0.05


# ------------------------------------------------------------------------------------------------------ contacts


def test_contacts_of_a_kick_are_found(kick):
    """One foot stands all the time; the other leaves once and comes back."""
    windows = find_contacts(kick)
    per = {foot: [w for w in windows if w.foot == foot and w.part == "ball"] for foot in ("foot_left", "foot_right")}
    counts = sorted(len(each) for each in per.values())
    assert counts == [1, 2]
    standing = next(each[0] for each in per.values() if len(each) == 1)
    assert standing.start <= kick.start + 0.1
    assert standing.end >= kick.end - 0.1


def test_a_lifted_still_foot_is_no_contact(human):
    raised = cp.Keyframe(1.0, {"hip_left": (0.0, -1.2, 0.0), "knee_left": 1.4}, hold=1.5)
    motion = cp.keyframed(human, [cp.Keyframe(0.0, {}, hold=0.3), raised, cp.Keyframe(3.5, {})], rate=60.0)
    left = [w for w in find_contacts(motion) if w.foot == "foot_left"]
    assert left
    assert all(w.end < 1.0 or w.start > 2.4 for w in left)


def test_a_floating_clip_is_brought_to_the_ground(squat):
    child = cp.character("child")
    high = cp.Motion(squat.character, squat.times, squat.poses + np.eye(squat.character.nq)[2] * 0.07)
    made, report = cp.retarget_with_report(high, child)
    assert report.floor == pytest.approx(0.07, abs=0.005)
    assert apart(made, cp.retarget(squat, child)) < 1e-3
    kept, report = cp.retarget_with_report(high, child, floor=None, contacts=None)
    assert report.floor == 0.0
    assert min(path[:, 2].min() for path in soles(kept).values()) > 0.02
    assert cp.retarget_with_report(high, child, floor=0.07)[1].floor == 0.07


def test_contacts_can_be_told_or_left(squat):
    child = cp.character("child")
    told = [ContactWindow("foot_left", "heel", 0.5, 1.5), ContactWindow("foot_left", "ball", 0.5, 1.5)]
    _, report = cp.retarget_with_report(squat, child, contacts=told)
    assert {(w.foot, w.part) for w in report.contacts} == {("foot_left", "heel"), ("foot_left", "ball")}
    assert all(abs(w.start - 0.5) < 0.02 and abs(w.end - 1.5) < 0.02 for w in report.contacts)
    assert cp.retarget_with_report(squat, child, contacts=None)[1].contacts == ()


# ------------------------------------------------------------------------------------------------------- mapping


@pytest.mark.parametrize(
    ("name", "slot", "side"),
    [
        ("LeftUpLeg", "thigh", "left"), ("mixamorig:RightUpLeg", "thigh", "right"), ("thigh_l", "thigh", "left"),
        ("Bip01 R Thigh", "thigh", "right"), ("lfemur", "thigh", "left"), ("rtibia", "shank", "right"),
        ("L_Knee", "shank", "left"), ("calf_r", "shank", "right"), ("LeftToeBase", "toe", "left"),
        ("DEF-forearm.L", "forearm", "left"), ("J_Bip_R_LowerArm", "forearm", "right"), ("rwrist", "hand", "right"),
        ("RightShoulder", "shoulder", "right"), ("clavicle_l", "clavicle", "left"), ("spine_02", "spine", ""),
        ("J_Bip_C_Spine", "spine", ""), ("LowerBack", "spine", ""), ("neck_01", "neck", ""), ("Head", "head", ""),
        ("LHipJoint", "link", "left"), ("hip", "hips", ""), ("l_hip", "thigh", "left"), ("lfoot", "foot", "left"),
        ("leftupleg", "thigh", "left"), ("hand_right", "hand", "right"),
        ("upperarm_twist_01_l", "", "left"), ("LeftHandIndex1", "", ""), ("rock", "", ""), ("leg", "", ""),
    ],
)  # fmt: skip
def test_names_are_read(name, slot, side):
    found = read_name(name)
    assert found[0] == slot
    if slot:
        assert found[1] == side


def nameless(who: cp.Character) -> cp.Character:
    for i, segment in enumerate(who.segments):
        who = who.renamed(segment, f"b{i}")
    for i, joint in enumerate(who.joints):
        if joint.kind != "free" and not joint.name.startswith("b"):
            who = who.renamed(joint.name, f"j{i}")
    return who


@pytest.mark.parametrize("name", ["human", "child", "asymmetric"])
def test_a_body_without_meaningful_names_is_read_by_its_shape(name):
    named, bare = cp.character(name), nameless(cp.character(name))
    known, found = anatomy_of(named), anatomy_of(bare)
    assert found.how == "shape"
    assert found.hips == known.hips
    for limb in ("trunk", "head", "leg_left", "leg_right", "foot_left", "arm_left", "arm_right", "hand_right"):
        assert found.limbs[limb] == known.limbs[limb], limb


def test_without_names_the_same_motion_comes_out(squat, human):
    bare = nameless(human)
    from_bare = cp.retarget(cp.Motion(bare, squat.times, squat.poses), cp.character("child"))
    assert apart(from_bare, cp.retarget(squat, cp.character("child"))) < 1e-6


def test_what_is_told_wins(squat, human):
    told = {"head": None, "forearm_left": "forearm_right", "elbow_right": "elbow_left"}
    made, report = cp.retarget_with_report(squat, cp.character("child"), mapping=told)
    assert "head" in report.idle
    assert report.mapped["forearm_left"] == "forearm_right"
    assert report.mapped["forearm_right"] == "forearm_left"
    neck = made.character.joint("neck").qpos
    assert np.abs(made.poses[:, neck] - made.character.neutral[neck]).max() < 1e-3


def test_spare_arms_rest_or_follow(kick):
    insect = cp.character("insectoid")
    elbow = insect.joint("elbow2_left").qpos
    motion = cp.reference_motion("butterfly", cp.character("human"))
    assert np.ptp(cp.retarget(motion, insect).poses[:, elbow]) < 0.02
    following, report = cp.retarget_with_report(motion, insect, spare="follow")
    assert report.mapped["forearm2_left"] == "forearm_left"
    shoulder = insect.joint("shoulder2_left").qpos
    assert np.ptp(following.poses[:, shoulder], axis=0).max() > 0.1


def test_hands_can_be_asked_to_scaled_places(human):
    """With a firm wish, the hands of an asymmetric figure come nearer to where scaled hands would be."""
    motion, who = cp.reference_motion("butterfly", human), cp.character("asymmetric")

    def miss(made: cp.Motion) -> float:
        names = [("upper_arm_left", (0.0, 0.0, 0.0)), ("upper_arm_right", (0.0, 0.0, 0.0)),
                 ("hand_left", (0.0, 0.0, 0.0)), ("hand_right", (0.0, 0.0, 0.0))]  # fmt: skip
        theirs, ours = places(motion, names), places(made, names)
        gap_theirs = theirs[:, 2] - theirs[:, 3]
        gap_ours = ours[:, 2] - ours[:, 3]
        scale = np.linalg.norm(gap_ours, axis=1).mean() / np.linalg.norm(gap_theirs, axis=1).mean()
        return float(np.linalg.norm(gap_ours - scale * gap_theirs, axis=1).mean())

    free = cp.retarget(motion, who)
    firm = cp.retarget(motion, who, tuning=RetargetTuning(hands=20.0))
    assert miss(firm) < 0.6 * miss(free)


# ------------------------------------------------------------------------------------------------ odd skeletons

LINK = '<geom type="capsule" size=".02" fromto="0 0 0 0 0 .3"/>'
ODD = {
    "a chain": f'<body name="x"><freejoint/>{LINK}<body name="y" pos="0 0 .3"><joint type="ball"/>{LINK}'
    f'<body name="z" pos="0 0 .3"><joint type="ball"/>{LINK}</body></body></body>',
    "one hinge": f'<body name="q"><joint type="hinge" axis="0 1 0"/>{LINK}</body>',
    "a box": '<body name="q"><freejoint/><geom type="box" size=".1 .1 .1"/></body>',
    "a slide": f'<body name="q"><joint type="slide" axis="1 0 0"/>{LINK}</body>',
    "zero lengths": f'<body name="x"><freejoint/>{LINK}<body name="y"><joint type="ball"/>{LINK}'
    f'<body name="z"><joint type="ball"/>{LINK}</body></body></body>',
    "a star": '<body name="x"><freejoint/><geom type="sphere" size=".05"/>'
    + "".join(
        f'<body name="ray{i}" pos="{0.1 * np.cos(a):.3f} {0.1 * np.sin(a):.3f} 0"><joint type="ball"/>'
        f'<geom type="capsule" size=".01" fromto="0 0 0 {0.3 * np.cos(a):.3f} {0.3 * np.sin(a):.3f} 0"/></body>'
        for i, a in enumerate(np.linspace(0.0, 5.0, 5))
    )
    + "</body>",
}


@pytest.mark.parametrize("which", ODD)
def test_odd_skeletons_take_part(squat, human, which):
    odd = cp.Character.from_mjcf(f"<mujoco><worldbody>{ODD[which]}</worldbody></mujoco>")
    there, report = cp.retarget_with_report(squat, odd)
    assert np.isfinite(there.poses).all()
    assert report.frames == len(squat)
    back = cp.retarget(there, human)
    assert np.isfinite(back.poses).all()
    check_limits(back)
    self_made = cp.retarget(there, odd, floor=None, scale=1.0)
    if which not in ("one hinge", "a slide", "a star"):  # those three can follow a human only in jerks
        assert apart(there, self_made) < 0.02


def test_planar_figures_and_pinned_chains(squat):
    for name in ("planar_biped", "chain"):
        made = cp.retarget(squat, cp.character(name))
        assert np.isfinite(made.poses).all()
        check_limits(made)
    biped = cp.retarget(squat, cp.character("planar_biped"))
    assert max(np.ptp(path, axis=0).max() for path in soles(biped).values()) < 2e-3


@pytest.mark.parametrize("frames", [1, 2, 3])
def test_very_short_motions(squat, frames):
    made = cp.retarget(cp.Motion(squat.character, squat.times[:frames], squat.poses[:frames]), cp.character("child"))
    assert len(made) == frames


def test_uneven_and_other_rates(squat):
    uneven = cp.Motion(
        squat.character, squat.times[[0, 1, 2, 40, 41, 90, 180]], squat.poses[[0, 1, 2, 40, 41, 90, 180]]
    )
    made = cp.retarget(uneven, cp.character("child"))
    assert np.allclose(np.diff(made.times), made.duration / (len(made) - 1))
    assert cp.retarget(squat, cp.character("child"), rate=30.0).rate == pytest.approx(30.0, rel=0.02)


def test_bad_wishes_bring_their_cure(squat, human):
    with pytest.raises(cp.CounterpoiseError, match="takes a Motion"):
        cp.retarget("walk.bvh", human)  # type: ignore[arg-type]
    with pytest.raises(cp.CounterpoiseError, match="goes to a Character"):
        cp.retarget(squat, "human")  # type: ignore[arg-type]
    with pytest.raises(cp.CounterpoiseError, match="did you mean 'thigh_left'"):
        cp.retarget(squat, human, mapping={"thigh_lef": "thigh_left"})
    with pytest.raises(cp.CounterpoiseError, match="did you mean 'thigh_right'"):
        cp.retarget(squat, human, mapping={"thigh_left": "thigh_rigth"})
    with pytest.raises(cp.CounterpoiseError, match="scale is a positive number"):
        cp.retarget(squat, human, scale=-1.0)
    with pytest.raises(cp.CounterpoiseError, match="floor is 'fit'"):
        cp.retarget(squat, human, floor="low")  # type: ignore[arg-type]
    with pytest.raises(cp.CounterpoiseError, match="contacts are 'detect'"):
        cp.retarget(squat, human, contacts="all")  # type: ignore[arg-type]
    with pytest.raises(cp.CounterpoiseError, match="there are: foot_left"):
        cp.retarget(squat, human, contacts=[ContactWindow("foot_middle", "heel", 0.0, 1.0)])
    with pytest.raises(cp.CounterpoiseError, match="nothing to move"):
        cp.retarget(squat, cp.character("planar"))


def test_the_report_reads_well(squat):
    _, report = cp.retarget_with_report(squat, cp.character("insectoid"))
    text = str(report)
    for word in ("thigh_left", "at rest: ", "upper_arm2_left", "direction error", "slip", "scale", "floor"):
        assert word in text


# ----------------------------------------------------------------------------------------------- captured stories

WINDOWS = [
    ("13_29", 3793, 4584), ("49_19", 270, 957), ("42_01", 584, 710), ("42_01", 747, 1042), ("02_01", 0, 0),
    ("16_01", 0, 0),
]  # fmt: skip
LONG = [
    ("144_09", 592, 705),
    ("144_09", 1645, 1768),
    ("02_05", 0, 0),
    ("13_29", 0, 0),
    ("144_09", 0, 0),
    ("42_01", 0, 0),
    ("43_02", 0, 0),
    ("49_19", 0, 0),
]
SQUAT_LIMIT = 3.5  # [deg]: there ankles and waist are at their limits in half the frames


@needs_clips
@pytest.mark.parametrize(
    ("name", "first", "last"), [*WINDOWS, *(pytest.param(*w, marks=pytest.mark.slow) for w in LONG)]
)
def test_captured_clips_on_the_human(human, name, first, last):
    motion = clip(name, first, last)
    made, report = cp.retarget_with_report(motion, human)
    assert len(made) == len(motion)
    check_contacts(made, report)
    check_limits(made)
    assert report.speed[1] < 2.0
    for limb in ("arm_left", "arm_right", "leg_left", "leg_right"):
        most = SQUAT_LIMIT if first == 3793 else 3.0
        assert report.directions[limb][0] < most, limb
    if name != "43_02":
        assert report.contacts


@needs_clips
def test_captured_bones_point_where_they_pointed(walk, human):
    """Measured between joints of the file's own skeleton and of the human, without any of retargeting's own numbers."""
    made = cp.retarget(walk, human)
    bones = {
        ("LeftUpLeg", "LeftLeg"): ("thigh_left", "shank_left"), ("LeftLeg", "LeftFoot"): ("shank_left", "foot_left"),
        ("RightUpLeg", "RightLeg"): ("thigh_right", "shank_right"),
        ("RightLeg", "RightFoot"): ("shank_right", "foot_right"),
        ("LeftArm", "LeftForeArm"): ("upper_arm_left", "forearm_left"),
        ("RightForeArm", "RightHand"): ("forearm_right", "hand_right"),
    }  # fmt: skip
    for theirs, ours in bones.items():
        ways = []
        for motion, names in ((walk, theirs), (made, ours)):
            at = places(motion, [(n, (0.0, 0.0, 0.0)) for n in names])
            ways.append((at[:, 1] - at[:, 0]) / np.linalg.norm(at[:, 1] - at[:, 0], axis=1)[:, None])
        error = np.degrees(np.arccos(np.clip(np.sum(ways[0] * ways[1], axis=1), -1.0, 1.0)))
        assert np.median(error) < 3.0, ours


@needs_clips
def test_the_walk_goes_as_far_as_its_legs_are_long(walk, human):
    made, report = cp.retarget_with_report(walk, human)
    gone = np.linalg.norm(made.poses[-1, :2] - made.poses[1, :2])
    source = np.linalg.norm(walk.poses[-1, :2] - walk.poses[1, :2])
    assert gone == pytest.approx(report.scale * source, rel=0.03)


@needs_clips
@pytest.mark.slow
@pytest.mark.parametrize("name", CAST)
def test_the_whole_cast_does_a_captured_squat(name):
    who = cp.character(name)
    motion = clip("13_29", 3793, 4100)
    made, report = cp.retarget_with_report(motion, who)
    check_limits(made)
    assert max(report.slip.values()) < 2e-3
    assert max(report.height.values()) < 2e-3
    assert report.lowest > -2e-3


@needs_clips
def test_from_the_library_to_a_file_skeleton_and_back(walk, squat, human):
    made, report = cp.retarget_with_report(squat, walk.character)
    assert max(median for median, _ in report.directions.values()) < 1.0
    assert apart(squat, cp.retarget(made, human)) < 0.12


@needs_clips
@pytest.mark.slow
def test_a_nameless_captured_skeleton(walk, human):
    bare = nameless(walk.character)
    made = cp.retarget(cp.Motion(bare, walk.times, walk.poses), human)
    assert apart(made, cp.retarget(walk, human)) < 1e-3
