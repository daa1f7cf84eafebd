"""A stunt read from TOML says what it says: figures, poses, times, contacts, wishes; and every mistake has its line."""

from __future__ import annotations

import tomllib
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from counterpoise import spatial
from counterpoise.character.library import character
from counterpoise.errors import BadFile, CounterpoiseError
from counterpoise.motion import Motion, reference_motion
from counterpoise.spacetime.optimize import Apart, Apex, Clear, Cycle, Effort, Facing, Place, TorqueLimit
from counterpoise.spacetime.optimize.moments import Moment, seconds
from counterpoise.spacetime.stunt import read_stunt
from counterpoise.spacetime.stunt.lines import lines_of

STUNTS = sorted((Path(__file__).resolve().parents[2] / "examples" / "stunts").glob("*.toml"))
START = "duration = 1.0\n[[key]]\ntime = 0\nrest = true\n"


def only_key(text: str) -> np.ndarray:
    stunt = read_stunt(f"duration = 1.0\n[[key]]\ntime = 0.5\n{text}\n")
    (key,) = stunt.keys
    return np.array(key.pose)


def sole(body, q):
    shot = body.snapshot(body.state(q))
    points = [shot.position(p.body, p.position) for p in body.contact_points]
    return np.mean(points, axis=0)


# ------------------------------------------------------------------------------------------------------------- lines


@pytest.mark.parametrize("path", STUNTS, ids=lambda p: p.stem)
def test_every_entry_of_an_example_has_the_line_it_stands_in(path: Path):
    text = path.read_text()
    lines, rows = lines_of(text), text.splitlines()

    def walk(value, at):
        if isinstance(value, dict):
            for key, inner in value.items():
                path = (*at, key)
                assert key in rows[lines[path] - 1], f"{path} is not in line {lines[path]}"
                walk(inner, path)
        elif isinstance(value, list):
            for i, inner in enumerate(value):
                if isinstance(inner, dict):
                    assert lines[(*at, i)] > 0
                walk(inner, (*at, i))

    walk(tomllib.loads(text), ())


def test_lines_survive_all_that_toml_allows():
    text = (
        "a = 1 # [not] = a table\n"  # 1
        '\'b c\'.d = """x\n[[no]]\ny = 2\n""""\n'  # 2-5
        "list = [ 1, # one\n  { x = 1, y = [2,\n 3] },\n]\n"  # 6-9
        "[ t . u ]\n"  # 10
        'v = "say \\"hi\\" # no"\n'  # 11
        "[[many]]\nz = 1\n[[many]]\n[many.inner]\nw = '''\n'\n'''\n[[many.more]]\nk = 2024-01-01\n"  # 12-19
    )
    data, lines = tomllib.loads(text), lines_of(text)
    assert data["many"][1]["more"][0]["k"].year == 2024
    expected = {
        ("a",): 1, ("b c", "d"): 2, ("list",): 6, ("list", 0): 6, ("list", 1): 7, ("list", 1, "x"): 7,
        ("list", 1, "y", 1): 8, ("t", "u"): 10, ("t", "u", "v"): 11, ("many", 0): 12, ("many", 0, "z"): 13,
        ("many", 1): 14, ("many", 1, "inner"): 15, ("many", 1, "inner", "w"): 16, ("many", 1, "more", 0, "k"): 20,
    }  # fmt: skip
    assert {k: lines.get(k) for k in expected} == expected


# ----------------------------------------------------------------------------------------------------------- reading


def test_a_figure_is_named_with_its_size_or_read_from_a_file(tmp_path):
    assert read_stunt(START).character is character("human")
    small = read_stunt("character = { name = 'human', height = 1.5, mass = 50 }\n" + START).character
    assert small.height == pytest.approx(1.5, rel=0.01) and small.mass == pytest.approx(50.0)
    (tmp_path / "body.xml").write_text(character("human").to_mjcf())
    (tmp_path / "s.toml").write_text("character = 'body.xml'\n" + START)
    assert read_stunt(tmp_path / "s.toml").character.joint_names == character("human").joint_names
    assert read_stunt(tmp_path / "s.toml").name == "s"


def test_joints_are_degrees_and_a_name_without_a_side_means_both():
    body = character("human")
    q = only_key("joints = { knee_left = 60, elbow = 90, hip = [10, -20, 5], wrist_right_roll = 12 }")
    assert q[body.joint("knee_left").qpos] == pytest.approx(np.radians(60))
    assert q[body.joint("knee_right").qpos] == pytest.approx(body.neutral[body.joint("knee_right").qpos])
    assert q[body.joint("elbow_right").qpos] == pytest.approx(np.radians(90))
    left, right = q[body.joint("hip_left").qpos], q[body.joint("hip_right").qpos]
    assert np.allclose(spatial.log(left), np.radians([10, -20, 5]))
    assert np.allclose(spatial.log(right), np.radians([-10, -20, -5]))  # the mirror image
    assert q[body.joint("wrist_right").qpos][1] == pytest.approx(np.radians(12))


def test_a_pose_is_put_where_asked():
    body = character("human")
    assert np.allclose(sole(body, only_key("feet = [0.7, 0.2]\npose = 'crouch'")), (0.7, 0.2, 0.0), atol=1e-3)
    assert np.allclose(only_key("place = [1.0, 2.0, 1.5]")[:3], (1, 2, 1.5))
    assert np.allclose(only_key("place = [1.0, 2.0]")[:3], (1, 2, body.neutral[2]))
    q = only_key("com = [0.1, 0.2, 1.3]\nfacing = 90")
    shot = body.snapshot(body.state(q))
    assert np.allclose(shot.com, (0.1, 0.2, 1.3))
    forward = shot.body_rotation[body.body_id(body.root)][:, 0]
    assert forward[1] > 0.99
    q = only_key("pose = 'hang'\nturn = { axis = 'y', degrees = 90 }\nhands = [0, 0, 2.6]")
    shot = body.snapshot(body.state(q))
    assert abs(shot.position("hand_left")[2] - 2.6) < 0.05
    assert shot.position("foot_left")[0] < -1.5  # turned forward over: the feet are behind the bar
    assert np.allclose(only_key("turn = [0, 30, 0]"), only_key("turn = { axis = [0, 2, 0], degrees = 30 }"))


def test_poses_come_from_motions_files_and_the_files_own_names(tmp_path):
    body = character("human")
    squat = reference_motion("squat", body)
    assert np.allclose(only_key("pose = 'squat@0.5'"), squat.sample(0.5 * squat.duration).q)
    squat.save(tmp_path / "m.npz")
    (tmp_path / "s.toml").write_text(START + "pose = 'm.npz@1.0'\n[[key]]\ntime = 1\npose = 'm.npz'\n")
    first, last = read_stunt(tmp_path / "s.toml").keys
    assert np.allclose(first.pose, squat.sample(1.0).q) and np.allclose(last.pose, squat.sample(squat.end).q)
    text = "duration = 1\n[pose.low]\nlike = 'crouch'\njoints = { elbow = 45 }\n[[key]]\ntime = 0\npose = 'low'\n"
    (key,) = read_stunt(text + "mirror = true\n").keys
    assert np.asarray(key.pose)[body.joint("elbow_left").qpos] == pytest.approx(np.radians(45))


def test_moments_are_shared_and_contacts_fan_out():
    stunt = read_stunt(
        START
        + "[[contact]]\npart = 'feet'\nto = 'off'\nfriction = 0.5\n"
        + "[[contact]]\npart = ['hand_left', 'hand_right']\nfrom = 'off'\nheight = 0.9\n"
        + "place = [[0.5, 0.2], [0.5, -0.2]]\n"
        + "[moments]\noff = { at = 0.4, between = [0.3, 0.5] }\n"
    )
    a, b, c, d = stunt.contacts
    assert isinstance(a.end, Moment) and a.end is b.end is c.start is d.start
    assert (a.end.low, a.end.high, seconds(a.end)) == (0.3, 0.5, 0.4)
    assert a.how == "flat" and c.how == "point" and a.friction == 0.5 and d.end == 1.0
    assert list(c.place) == [0.5, 0.2] and np.allclose(c.surface.origin, (0, 0, 0.9))
    slope = read_stunt(START + "[[contact]]\npart = 'feet'\nslope = 10\ntowards = 90\n").contacts[0].surface
    assert slope.normal[1] == pytest.approx(-np.sin(np.radians(10))) and slope.normal[0] == pytest.approx(
        0.0, abs=1e-12
    )
    moving = read_stunt(START + "[[contact]]\npart = 'feet'\nvelocity = [0.5, 0, 0]\n").contacts[0].surface
    assert np.allclose(moving(2.0).origin, (1.0, 0, 0)) and np.allclose(moving(2.0).velocity, (0.5, 0, 0))


def test_a_part_touches_with_one_point_or_with_several():
    head = START + "[[contact]]\npart = 'foot_left'\nhow = 'point'\n"
    (one,) = read_stunt(head + "point = [0.1, 0.02, -0.07]\n").contacts
    (edge,) = read_stunt(head + "point = [[-0.04, 0.02, -0.07], [0.12, 0.03, -0.07]]\n").contacts
    assert np.shape(one.point) == (3,) and np.shape(edge.point) == (2, 3) and edge.point[1][0] == 0.12


def test_every_kind_of_wish_is_read():
    stunt = read_stunt(
        "strength = false\napart = false\n"
        + START
        + "[[wish]]\nkind = 'apex'\ntime = 0.5\nheight = 1.4\nsense = 'at least'\n"
        + "[[wish]]\nkind = 'place'\ntime = 0.5\nbody = 'hand_left'\nz = 1.8\nwithin = 0.02\n"
        + "[[wish]]\nkind = 'facing'\ntime = 1.0\ndegrees = 90\n"
        + "[[wish]]\nkind = 'clear'\nbodies = 'feet'\nheight = 0.3\nfrom = 0.4\nto = 0.6\n"
        + "[[wish]]\nkind = 'apart'\nbodies = ['forearm', 'hand_left']\nothers = 'thigh'\nroom = 0.01\nto = 0.6\n"
        + "[[wish]]\nkind = 'torque'\njoints = 'knee'\nshare = 0.8\n"
        + "[[wish]]\nkind = 'effort'\njoints = ['elbow_left']\nweight = 2\n"
        + "[[wish]]\nkind = 'cycle'\ntravel = [0.4, 'free']\n"
        + "[taste]\nnear = 2\nheft = 0\njoints = { neck = 4, knee = 0.5 }\n"
    )
    apex, place, facing, clear, apart, torque, effort, cycle = stunt.wishes
    assert isinstance(apex, Apex) and apex.sense == "at least" and apex.height == 1.4
    assert isinstance(place, Place) and list(place.position) == [None, None, 1.8] and place.within == 0.02
    assert isinstance(facing, Facing) and facing.yaw == pytest.approx(np.pi / 2)
    assert isinstance(clear, Clear) and list(clear.bodies) == ["foot_left", "foot_right"]
    assert isinstance(apart, Apart) and list(apart.bodies) == ["forearm_left", "forearm_right", "hand_left"]
    assert list(apart.others) == ["thigh_left", "thigh_right"] and apart.room == 0.01
    assert (apart.start, apart.end) == (0.0, 0.6)
    assert isinstance(torque, TorqueLimit) and list(torque.joints) == ["knee_left", "knee_right"]
    assert isinstance(effort, Effort) and effort.weight == 2.0
    assert isinstance(cycle, Cycle) and list(cycle.travel) == [0.4, None]
    assert stunt.taste.near == 2.0 and stunt.taste.joints == {"neck": 4.0, "knee_left": 0.5, "knee_right": 0.5}


def test_a_wish_about_torques_that_names_no_joints_means_all():
    asked = "apart = false\n" + START + "[[wish]]\nkind = 'torque'\n[[wish]]\nkind = 'effort'\nweight = 2\n"
    torque, effort = read_stunt(asked).wishes
    assert isinstance(torque, TorqueLimit) and torque.joints is None and torque.share == 1.0 and not torque.optional
    assert isinstance(effort, Effort) and effort.joints is None and effort.weight == 2.0


def test_a_body_has_its_own_strength_and_stays_out_of_itself_unless_the_stunt_says_otherwise():
    torque, apart = read_stunt(START).wishes
    assert isinstance(torque, TorqueLimit) and torque.joints is None and torque.optional
    assert isinstance(apart, Apart) and apart.bodies is None
    assert read_stunt("strength = false\napart = false\n" + START).wishes == ()
    weak = read_stunt("apart = false\n" + START + "[[wish]]\nkind = 'torque'\njoints = 'knee'\nshare = 0.5\n").wishes
    assert [w.joints and list(w.joints) for w in weak] == [["knee_left", "knee_right"], None]


def test_a_wish_to_keep_apart_that_names_no_bodies_means_all():
    wishes = read_stunt(
        "strength = false\n"
        + START
        + "[[wish]]\nkind = 'apart'\n[[wish]]\nkind = 'apart'\nbodies = 'all'\nfrom = 'off'\n"
        + "[[wish]]\nkind = 'apart'\nbodies = ['hands', 'hand']\nothers = 'feet'\n"
        + "[moments]\noff = 0.4\n[[contact]]\npart = 'feet'\nto = 'off'\n"
    ).wishes
    first, second, third = wishes
    for wish in (first, second):
        assert isinstance(wish, Apart) and wish.bodies is None and wish.others is None and wish.room == 0.0
    assert isinstance(second.start, Moment) and second.start.name == "off" and second.end is None
    assert list(third.bodies) == ["hand_left", "hand_right"] and list(third.others) == ["foot_left", "foot_right"]


def test_without_a_word_the_whole_figure_stays_above_the_ground():
    assert read_stunt(START).clear is None
    assert read_stunt("clear = []\n" + START).clear == ()
    assert read_stunt("clear = ['feet', 'head']\n" + START).clear == ("foot_left", "foot_right", "head")


def test_fine_stretches_have_knots_of_their_own():
    """Counted in the timeline that is built from them: intervals a second, as asked, and as usual elsewhere."""
    stunt = read_stunt(
        "rate = 20\n" + START + "[[fine]]\nfrom = 'off'\nto = 'on'\nrate = 50\n[[fine]]\nto = 0.1\nrate = 100\n"
        "[[contact]]\npart = 'feet'\nto = 'off'\n[[contact]]\npart = 'feet'\nfrom = 'on'\n"
        "[moments]\noff = { at = 0.4, between = [0.3, 0.5] }\non = 0.8\n"
    )
    assert stunt.fine == ((0.4, 0.8, 50.0), (0.0, 0.1, 100.0))
    timeline = stunt.problem().timeline
    knots = np.concatenate(
        [t + p.breaks[:-1] * (u - t) for p, (t, u) in zip(timeline.phases, pairwise(timeline.times), strict=True)]
    )
    for start, end, rate in ((0.0, 0.1, 100), (0.1, 0.4, 20), (0.4, 0.8, 50), (0.8, 1.0, 20)):
        assert ((knots > start - 1e-9) & (knots < end - 1e-9)).sum() == round((end - start) * rate)
    assert read_stunt(START + "[[fine]]\nfrom = 0.7\nrate = 50\n").fine == ((0.7, 1.0, 50.0),)


# ------------------------------------------------------------------------------------------------------ no time to move


@pytest.mark.parametrize("duration", ["0", "0.0", "-1", "0.05"])
def test_a_duration_that_leaves_no_time_is_read_and_what_it_leaves_out_is_said(duration: str):
    text = next(p for p in STUNTS if p.stem == "long_jump").read_text()
    rows = text.splitlines()
    stunt = read_stunt(text.replace("duration = 2.0", f"duration = {duration}"))
    assert seconds(stunt.duration) == float(duration) and len(stunt.keys) == 1
    assert [type(w) for w in stunt.wishes] == [TorqueLimit, Apart]  # what names no time holds all the time
    assert [(t.part, t.start, t.end) for t in stunt.contacts] == [("foot_left", 0.0, 0.1), ("foot_right", 0.0, 0.1)]
    messages = [c.split(" (line ") for c in stunt.conflicts]
    where = {int(rest.split(")")[0]): (head, rest) for head, rest in messages}
    for line, (head, rest) in where.items():
        assert rows[line - 1].startswith(head) and (" s is after the end" in rest or "after the end: it is cut" in rest)
    cut = [line for line, (_, rest) in where.items() if rest.endswith("cut")]
    assert len(cut) == 1 and 'to = "takeoff"' in rows[cut[0] + 1]
    left_out = sum(row in ("[[key]]", "[[contact]]") or row.startswith(("[[wish]]", "[[fine]]")) for row in rows) - 4
    assert len(where) - 1 == left_out


def test_two_exact_poses_where_there_is_no_time_between_are_in_conflict():
    stunt = read_stunt("duration = 0\n[[key]]\ntime = 0\n[[key]]\ntime = 0\nfeet = [1, 0]\n")
    (messages,) = stunt.conflicts
    assert len(stunt.keys) == 1 and "line 4" in messages and "line 2" in messages and "both exact at 0 s" in messages


def test_where_every_key_lies_after_the_end_the_first_is_brought_there():
    stunt = read_stunt("duration = 0\n[[key]]\ntime = 0.8\nfeet = [1, 0]\n[[key]]\ntime = 0.5\npose = 'crouch'\n")
    (key,) = stunt.keys
    assert key.time == 0.1 and np.allclose(key.pose, only_key("pose = 'crouch'"))
    assert "line 5" in stunt.conflicts[0] and "0.5 s is after the end: it is moved there" in stunt.conflicts[0]
    assert "line 2" in stunt.conflicts[1] and "0.8 s is after the end: it is left out" in stunt.conflicts[1]


def test_a_name_does_not_hide_the_time_of_a_key_in_conflict():
    stunt = read_stunt(START + "[[key]]\ntime = 0.4\njoints = { knee_left = -40 }\nname = 'oops'\nonly = 'knee'\n")
    messages = " ".join(stunt.problem().conflicts)
    assert "oops" in messages and "0.4 s" in messages and "knee_left" in messages


# ---------------------------------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("text", "line", "cure"),
    [
        ("duration = 1.0\nspeed = 2\n" + START[15:], 2, "no entry 'speed'"),
        (START + "pos = 'neutral'\n", 5, "did you mean 'pose'"),
        (START + "pose = 'crouhc'\n", 5, "did you mean 'crouch'"),
        (START + "pose = 'squat@2'\n", 5, "from 0 to 1"),
        (START + "pose = 'gone.npz@1'\n", 5, "no file"),
        (START + "joints = { knee_lft = 3 }\n", 5, "did you mean 'knee_left'"),
        (START + "joints = { knee_left = 'bent' }\n", 5, "degrees"),
        (START + "feet = [0, 0]\nplace = [1, 1]\n", 5, "keep one"),
        (START + "facing = 'left'\n", 5, "facing is degrees"),
        (START + "turn = { axis = 'w', degrees = 3 }\n", 5, '"x", "y", "z"'),
        (START + "[[key]]\npose = 'T'\n", 5, "has no time"),
        (START + "[[key]]\ntime = 1.5\n", 6, "runs from 0 to 1 s"),
        (START + "[[key]]\ntime = 'off'\n", 6, "no moment 'off'"),
        (START + "[[key]]\ntime = 0.0\n", 5, "line 2 are both exact at 0 s"),
        (START + "[[key]]\ntime = 1\nturn = [0, 0, 300]\n", 7, "more than 180 degrees"),
        (START + "soft = -1\n", 5, "positive weight"),
        (START + "rest = 'yes'\n", None, "overwrite"),
        (START + "only = ['knees']\n", 5, "did you mean 'knee'"),
        (START + "[[contact]]\npart = 'left_foot'\n", 6, "did you mean 'foot_left'"),
        (START + "[[contact]]\npart = 'hand_left'\nhow = 'flat'\n", 7, "no foot 'hand_left'"),
        (START + "[[contact]]\npart = 'feet'\nhow = 'flta'\n", 7, "did you mean 'flat'"),
        (START + "[[contact]]\npart = 'feet'\nfrom = 0.6\nto = 0.4\n", 8, "ends after it begins"),
        (START + "[[contact]]\npart = 'feet'\nto = 3\n", 7, "lies outside"),
        (START + "[[contact]]\npart = 'hands'\nhow = 'bar'\n", 5, "needs place"),
        (START + "[[contact]]\npart = 'feet'\nplace = [0, 0]\n", 7, "for each of"),
        (START + "[[contact]]\npart = 'foot_left'\nplace = [0]\n", 7, "[x, y]"),
        (START + "[[contact]]\npart = 'hand_left'\npoint = [[0, 0, 0], [1, 0]]\n", 7, "got [1, 0]"),
        (START + "[[contact]]\npart = 'hand_left'\nhow = 'bar'\nplace = [0, 0, 2]\npoint = [[0, 0, 0]]\n", 9,
         "point is"),
        (START + "[[contact]]\npart = 'feet'\naxis = 'y'\n", 7, "is for contacts that are bar"),
        (START + "[[contact]]\npart = 'feet'\nfriction = -1\n", 7, "0 or more"),
        (START + "[[contact]]\npart = 'foot_left'\nto = 0.5\n[[contact]]\npart = 'foot_right'\nfrom = 0.51\n",
         10, "0.02 s"),
        (START + "[contact]\npart = 'feet'\n", 5, "[[contact]]"),
        (START + "[[wish]]\nkind = 'apx'\n", 6, "did you mean 'apex'"),
        (START + "[[wish]]\nkind = 'apex'\ntime = 0.5\n", 5, "has no height"),
        (START + "[[wish]]\nkind = 'place'\ntime = 0.5\nbody = 'com'\n", 5, "at least one of x, y, z"),
        (START + "[[wish]]\nkind = 'torque'\njoints = 'knee'\nlimit = 0\n", 5, "positive"),
        (START + "[[wish]]\nkind = 'apart'\nbodies = 'thihg'\n", 7, "did you mean 'thigh'"),
        (START + "[[wish]]\nkind = 'apart'\nbodies = []\n", 7, "names of bodies"),
        (START + "[[wish]]\nkind = 'apart'\nbodies = 'hands'\nothers = ['thigh', 'hand_left']\n", 8, "on both sides"),
        (START + "[[wish]]\nkind = 'apart'\nbodies = 'thigh'\nothers = 'shank_lef'\n", 8, "did you mean 'shank_left'"),
        (START + "[[wish]]\nkind = 'apart'\nbodies = 'thigh_left'\nothers = 'foot_left'\n", 8, "next to each other"),
        (START + "[[wish]]\nkind = 'apart'\nroom = -0.1\n", 7, "0 or more"),
        (START + "[[wish]]\nkind = 'apart'\nfrom = 0.6\nto = 0.4\n", 8, "ends after it begins"),
        (START + "[[wish]]\nkind = 'apart'\nto = 3\n", 7, "lies outside"),
        (START + "[[wish]]\nkind = 'apart'\nother = 'thigh'\n", 7, "did you mean 'others'"),
        (START + "[taste]\nsmoth = 1\n", 6, "did you mean 'smooth'"),
        (START + "[taste]\njoints = { nek = 1 }\n", 6, "did you mean 'neck'"),
        (START + "[moments]\noff = { at = 0.4, between = [0.5, 0.6] }\n", 6, "low <= at <= high"),
        (START + "[moments]\noff = 0.4\n", 6, "no contact begins or ends"),
        (START + "[moments]\noff = 4\n", 6, "lies outside"),
        ("rate = 0\n" + START, 1, "from 1 to 1000"),
        ("rate = 1e9\n" + START, 1, "from 1 to 1000"),
        (START + "[[fine]]\nfrom = 0.2\nto = 0.4\n", 5, "has no rate"),
        (START + "[[fine]]\nfrom = 0.2\nto = 0.4\nrate = 'many'\n", 8, "knots a second"),
        (START + "[[fine]]\nfrom = 0.2\nto = 0.4\nrate = 1e6\n", 8, "from 1 to 1000"),
        (START + "[[fine]]\nfrom = 0.4\nto = 0.2\nrate = 50\n", 7, "ends after it begins"),
        (START + "[[fine]]\nfrom = 1.0\nrate = 50\n", 6, "ends after it begins"),
        (START + "[[fine]]\nto = 3\nrate = 50\n", 6, "runs from 0 to 1 s"),
        (START + "[[fine]]\nto = 'landing'\nrate = 50\n", 6, "no moment 'landing'"),
        (START + "[[fine]]\nto = 'off'\nrate = 50\n[moments]\noff = 0.4\n", 6, "'off' does not: give seconds"),
        (START + "[[fine]]\nrats = 50\nrate = 50\n", 6, "did you mean 'rate'"),
        (START + "[[fine]]\nto = 0.5\nrate = 50\n\n[[fine]]\nfrom = 0.4\nrate = 60\n", 10,
         "line 5 overlap from 0.4 s to 0.5 s"),
        (START + "[fine]\nrate = 50\n", 5, "[[fine]]"),
        ("duration = 'long'\n" + START[15:], 1, "no moment 'long'"),
        ("[[key]]\ntime = 0\n", 1, "has no duration"),
        ("duration = 1.0\n", 1, "at least one [[key]]"),
        ("character = 'humn'\n" + START, 1, "did you mean 'human'"),
        ("character = { name = 'human', hight = 2 }\n" + START, 1, "did you mean 'height'"),
        ("character = { name = 'human', height = -2 }\n" + START, 1, "positive number"),
        ("reference = 'squatt'\n" + START, 1, "did you mean 'squat'"),
        ("clear = ['hnd_left']\n" + START, 1, "did you mean 'hand_left'"),
        (START + "pose = \n", 5, "invalid value"),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line_and_its_cure(text: str, line: int | None, cure: str):
    with pytest.raises(BadFile) as raised:
        read_stunt(text)
    message = str(raised.value)
    assert cure in message
    assert message.startswith(f"stunt:{line}: ") if line is not None else "stunt:5" in message


def test_a_file_that_is_none_says_so(tmp_path):
    with pytest.raises(BadFile, match="no file"):
        read_stunt(tmp_path / "no.toml")
    (tmp_path / "b.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadFile, match="is not text"):
        read_stunt(tmp_path / "b.toml")
    (tmp_path / "c.toml").write_text("duration = 1\n\n[[kee]]\n")
    with pytest.raises(BadFile, match=r"c\.toml:3: no entry 'kee' in the file; did you mean 'key'"):
        read_stunt(tmp_path / "c.toml")


def test_any_cut_of_a_file_is_read_or_refused_politely():
    """Whatever is left out, what comes back is a stunt or an error with a line, never a stumble."""
    text = next(p for p in STUNTS if p.stem == "vault").read_text()
    rows = text.splitlines()
    for k in range(len(rows)):
        cut = "\n".join(rows[:k] + rows[k + 1 :])
        try:
            read_stunt(cut + "\n")
        except CounterpoiseError as error:
            assert "line" in error.evidence or "stunt:" in str(error)


@pytest.mark.parametrize("path", STUNTS, ids=lambda p: p.stem)
def test_every_example_is_read_and_its_problem_built(path: Path):
    stunt = read_stunt(path)
    problem = stunt.problem()
    assert problem.variables > 500 and not problem.conflicts
    assert isinstance(problem.guess, Motion)
    assert stunt.name in path.read_text()
