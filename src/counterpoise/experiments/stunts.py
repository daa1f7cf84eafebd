"""New stunts need only keyframes and contacts: a jump of asked distance and height, a twist, a cartwheel, a vault."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.library import character
from counterpoise.character.shapes import end_of
from counterpoise.errors import unknown_name
from counterpoise.experiments.base import Claim, Experiment, Film, Lab, Outcome, setting
from counterpoise.experiments.key_poses import bent, com_of, flat_footed, middle, moved, standing_at
from counterpoise.experiments.scenery import take_with, with_scenery
from counterpoise.experiments.staging import (
    SMOOTH_JOINTS,
    StagedStunt,
    apart_claim,
    course_of,
    figures_of,
    strength_claim,
    timed,
    valid_claim,
)
from counterpoise.experiments.standing_jump import FEET, JOINTS
from counterpoise.measure.outsider import judge_motion, judge_torques
from counterpoise.objectives.surface import Surface
from counterpoise.spacetime.optimize import Apex, Clear, Key, Place, Result, Touch
from counterpoise.spacetime.stunt.poses import named_pose

FINGER = 0.01  # [m] half the thickness of a finger: its end is this far above what it presses on
MAX_SINK = 2e-3  # [m] largest depth in the ground or a box
SINK_RATE = 120.0  # [Hz] at which depths are measured
ROLL_ANGLE = math.radians(25.0)  # round a foot's edge, to the point it is held at while it rolls
STUNTS = ("jump", "twist", "cartwheel", "vault")
STRENGTH = {"cartwheel": 2.5}  # on fingertips: at a person's strength the pelvis would stay at knee height
AZIMUTHS = {"jump": -80.0, "twist": -80.0, "cartwheel": 10.0, "vault": -70.0}  # [deg]


@dataclass(frozen=True)
class StuntsSettings:
    only: str = setting("all", "", "one of jump, twist, cartwheel, vault; or all")
    distance: float = setting(1.4, "m", "of the jump")
    apex: float = setting(1.25, "m", "height of the CoM at the top of the jump")
    turn: float = setting(180.0, "deg", "of the twist in the air")
    box: float = setting(0.8, "m", "height of the box to vault over")
    strength: float = setting(1.0, "", "share of each joint's strength that may be used")


def long_jump(character: Character, settings: StuntsSettings) -> StagedStunt:
    """Returns a jump: stand, crouch, land in a crouch, stand. The last key gives the distance, an Apex the height."""
    up, down, end = 0.7, 1.2, 2.0
    here = float(middle(character, np.asarray(character.neutral), FEET)[0])
    there = here + settings.distance
    crouch = flat_footed(character, here, hip=-1.4, knee=1.4, ankle=-0.55, waist=0.2, shoulder=0.6, elbow=0.3)
    land = flat_footed(character, there, hip=-1.4, knee=1.3, ankle=-0.3, waist=0.2, shoulder=-0.9, elbow=0.3)
    keys = (
        Key(0.0, character.neutral, rest=True, name="stand"),
        Key(0.385, crouch, soft=1.0, name="crouch"),
        Key(down + 0.25, land, soft=1.0, name="land"),
        Key(end, standing_at(character, np.asarray(character.neutral), there), rest=True, name="stand again"),
    )
    touches = [Touch(f, 0.0, up) for f in FEET] + [Touch(f, down, end) for f in FEET]
    fine = ((up - 0.2, up, 40.0), (up, down, 80.0), (down, down + 0.15, 40.0))
    apart = [Place(h, 0.95, (None, y, None), within=0.1) for h, y in (("hand_left", 0.25), ("hand_right", -0.25))]
    return StagedStunt(
        character, keys, tuple(touches), end, (Apex(0.95, settings.apex), *apart), joints=JOINTS, fine=fine, apart=True
    )


def twist(character: Character, settings: StuntsSettings) -> StagedStunt:
    """Returns a jump on the spot whose last key faces the other way; a soft key in the air gives the sense of rotation.

    Half-way round the feet are beside each other, so that the legs do not pass through each other.
    """
    up, down, end = 0.6, 1.1, 1.8
    turn = math.radians(settings.turn)
    stand = standing_at(character, np.asarray(character.neutral), 0.0)
    crouch = flat_footed(character, 0.0, hip=-1.2, knee=1.3, ankle=-0.4, waist=0.2, shoulder=0.3, elbow=0.3)
    origin = (0.0, 0.0, 0.0)
    keys = (
        Key(0.0, stand, rest=True, name="stand"),
        Key(0.33, crouch, soft=1.0, name="crouch"),
        Key(0.85, moved(character, stand, origin, (0, 0, 0.3), (0, 0, 0.5 * turn)), soft=1.0, name="half-way round"),
        Key(1.35, moved(character, crouch, origin, origin, (0, 0, turn)), soft=1.0, name="land"),
        Key(end, moved(character, stand, origin, origin, (0, 0, turn)), rest=True, name="stand again"),
    )
    touches = [Touch(f, 0.0, up) for f in FEET] + [Touch(f, down, end) for f in FEET]
    fine = ((up - 0.2, up, 40.0), (up, down, 50.0), (down, down + 0.15, 40.0))
    side = 0.16 * np.array([-math.sin(0.5 * turn), math.cos(0.5 * turn)])  # of the left foot from the middle
    apart = [Place(f, 0.85, (*(s * side), None), within=0.08) for f, s in zip(FEET, (1.0, -1.0), strict=True)]
    return StagedStunt(character, keys, tuple(touches), end, tuple(apart), joints=JOINTS, fine=fine, apart=True)


def cartwheel(character: Character, settings: StuntsSettings) -> StagedStunt:
    """Returns a cartwheel to the left: left hand, right hand, right foot, left foot; feet roll over their edges."""
    end, edge, soft = 2.7, 0.25, 30.0
    feet, hands, landed = (-0.2, 0.2), (0.75, 1.2), (1.75, 2.2)  # [m] along y, as the parts touch
    wide = bent(character, shoulder=(2.4, 0.0, 0.0), hip=(0.25, 0.0, 0.0), elbow=0.1)
    star = bent(character, shoulder=(2.4, 0.0, 0.0), hip=(0.35, 0.0, 0.0), elbow=0.1)
    start, stop = (standing_at(character, wide, 0.0, sum(y) / 2) for y in (feet, landed))
    begin, finish = com_of(character, start)[1], com_of(character, stop)[1]
    over = moved(character, star, (0, 0, 0), (0, 0, 0), (-math.pi, 0.0, 0.0))
    over = moved(character, over, _tips(character, over), (0.0, sum(hands) / 2, 0.0))

    def tilted(share: float) -> Array:
        place = (0.0, begin + (finish - begin) * share, 0.8)
        return moved(character, star, com_of(character, star), place, (-2.0 * math.pi * share, 0.0, 0.0))

    keys = (
        Key(0.0, start, rest=True, name="stand"),
        Key(0.9, tilted(0.25), soft=soft, name="a quarter"),
        Key(1.25, over, soft=soft, name="on the hands"),
        Key(1.6, tilted(0.75), soft=soft, name="three quarters"),
        Key(end, stop, rest=True, name="stand again"),
    )
    touches = []
    for foot, leaves, lands in ((FEET[1], 0.7, 1.5), (FEET[0], 1.0, 1.75)):
        off, on = round(leaves - edge, 6), round(lands + edge, 6)
        (left, rise), (right, _) = (_edge(character, foot, side) for side in (1.0, -1.0))
        near = Surface(origin=(0.0, 0.0, rise))
        touches += [
            Touch(foot, 0.0, off),
            Touch(foot, off, leaves, "point", point=left, surface=near, name=f"{foot} rolling off"),
            Touch(foot, lands, on, "point", point=right, surface=near, name=f"{foot} rolling on"),
            Touch(foot, on, end),
        ]
    for hand, (first, last), y in (("hand_left", (0.9, 1.4), hands[0]), ("hand_right", (1.1, 1.65), hands[1])):
        touches.append(Touch(hand, first, last, "point", point=_tip(character, hand), place=(0.05, y, FINGER)))
    joints = {**SMOOTH_JOINTS, "wrist_left": 3.0, "wrist_right": 3.0, "knee_left": 2.0, "knee_right": 2.0}
    return StagedStunt(
        character, keys, tuple(touches), end, joints=joints, fine=((0.5, 2.0, 30.0),), apart=True,
        clear=(*FEET, "hand_left", "hand_right", "head"),
    )  # fmt: skip


def vault(character: Character, settings: StuntsSettings) -> StagedStunt:
    """Returns a vault from standing: hands on the box, legs through between the arms, standing on the other side."""
    box, end, soft = settings.box, 2.3, 100.0
    before, behind = -0.8, 0.7
    push, on, off, down = 0.7, 0.9, 1.25, 1.55
    load, land, tuck = (named_pose(name, character) for name in ("load", "land", "tuck"))

    def leaning(pitch: float, shoulder: float) -> Array:
        q = bent(character, tuck, shoulder=(0.2, shoulder, 0.0), elbow=0.17)
        q = moved(character, q, (0, 0, 0), (0, 0, 0), (0.0, pitch, 0.0))
        return moved(character, q, _tips(character, q), (0.0, 0.0, box))

    keys = (
        Key(0.0, standing_at(character, np.asarray(character.neutral), before), rest=True, name="stand"),
        Key(0.35, standing_at(character, load, before), soft=0.2 * soft, name="crouch"),
        Key(push - 0.1, standing_at(character, land, before), soft=0.2 * soft, name="arms forward"),
        Key(on + 0.05, leaning(0.8, -0.87), soft=soft, name="onto the box"),
        Key(off - 0.03, leaning(0.26, 0.0), soft=soft, name="over it"),
        Key(down + 0.2, standing_at(character, land, behind), soft=soft, name="land"),
        Key(end, standing_at(character, np.asarray(character.neutral), behind), rest=True, name="stand again"),
    )
    hands = ("hand_left", "hand_right")
    top = Surface(origin=(0.0, 0.0, box + FINGER))
    touches = [Touch(f, 0.0, push) for f in FEET]
    touches += [
        Touch(h, on, off, "point", point=_tip(character, h), place=(0.0, y), surface=top)
        for h, y in zip(hands, (0.25, -0.25), strict=True)
    ]
    touches += [Touch(f, down, end) for f in FEET]
    wishes = (
        Clear(FEET, box + 0.03, on + 0.1, off + 0.07, name="feet over the box"),
        Clear((*hands, "forearm_left", "forearm_right"), box + 0.04, push - 0.1, on - 0.06, name="hands above it"),
        Clear(hands, box + FINGER, off + 0.01, off + 0.12, name="hands over its edge"),
    )
    fine = (
        (push - 0.2, push, 30.0), (push, on, 80.0), (on, off, 30.0), (off, down, 60.0), (down, down + 0.2, 30.0)
    )  # fmt: skip
    return StagedStunt(
        character, keys, tuple(touches), end, wishes, joints={}, smooth=1.0, fine=fine,
        scenery=({"box": ((0, 0, 0.5 * box), (0.15, 0.45, 0.5 * box))},),
    )  # fmt: skip


BUILDERS = {"jump": long_jump, "twist": twist, "cartwheel": cartwheel, "vault": vault}


def build(character: Character, name: str, settings: StuntsSettings) -> StagedStunt:
    """Returns one of the stunts, with the strength it may use."""
    return replace(BUILDERS[name](character, settings), strength=settings.strength * STRENGTH.get(name, 1.0))


def run(settings: StuntsSettings, lab: Lab) -> Outcome:
    """Solves each stunt from its keys and contacts, and judges it."""
    if settings.only != "all" and settings.only not in STUNTS:
        raise unknown_name("stunt", settings.only, ("all", *STUNTS))
    human = character("human")
    chosen = STUNTS if settings.only == "all" else (settings.only,)
    claims: list[Claim] = []
    films, facts, motions = {}, {}, {}
    for number, name in enumerate(chosen):
        lab.report("stunts", number / len(chosen))
        stunt = build(human, name, settings)
        result, seconds = timed(stunt)
        judged = judge_motion(result)
        keys = len(stunt.keys)
        claims.append(
            valid_claim(f"{name}: {keys} keys and {len(stunt.touches)} contacts suffice", result, seconds, judged)
        )
        claims.append(_asked(human, name, result, settings))
        claims.append(strength_claim(judge_torques(result), stunt.strength or np.inf))
        claims.append(apart_claim(result))
        deep, which = into_scenery(stunt, result)
        claims.append(
            Claim(
                "nothing sinks into the ground" + (" or the box" if stunt.scenery else ""),
                f"{1e3 * max(judged.sink, 0.0):.1f} mm ({judged.sunk})"
                + (f", {1e3 * deep:.1f} mm{which}" if stunt.scenery else ""),
                max(judged.sink, deep) < MAX_SINK,
            )
        )
        films[name] = Film(
            "", take=take_with(human, result.motion, stunt.scenery), azimuth=AZIMUTHS[name], count=16, columns=8,
            panel=(180, 230), speed=0.5,
        )  # fmt: skip
        facts[name] = figures_of(result, seconds, judged) | {"into scenery": deep}
        motions[name] = result.motion
    lab.report("stunts", 1.0)
    return Outcome(tuple(claims), {}, None, facts, films, {}, motions)


def _asked(character: Character, name: str, result: Result, settings: StuntsSettings) -> Claim:
    """The claim that the motion does what was asked for."""
    t = np.linspace(0.0, float(result.curve.times[-1]), 500)
    q = np.asarray(result.sample(t).q)
    if name == "jump":
        c = course_of(character, t, q)
        high = float(c.com[:, 2].max())
        far = float(middle(character, q[-1], FEET)[0] - middle(character, q[0], FEET)[0])
        return Claim(
            f"it goes {settings.distance:g} m far and {settings.apex:g} m high", f"{far:.3f} m, {high:.3f} m",
            abs(high - settings.apex) < 0.01 and abs(far - settings.distance) < 0.01,
        )  # fmt: skip
    if name == "twist":
        flight = result.problem.timeline.times[1:3]
        yaw = np.unwrap(spatial.yaw(q[:, 3:7]))
        air = (t >= flight[0]) & (t <= flight[1])
        turned, aloft = (float(np.degrees(y[-1] - y[0])) for y in (yaw, yaw[air]))
        return Claim(
            f"it turns by {settings.turn:g} deg, most of it in the air", f"{turned:.0f} deg, {aloft:.0f} of them aloft",
            abs(turned - settings.turn) < 1.0 and aloft > 0.5 * settings.turn,
        )  # fmt: skip
    if name == "cartwheel":
        up = np.array([character.snapshot(character.state(p)).rotation("pelvis")[2, 2] for p in q])
        return Claim(
            "the body goes once over the hands", f"pelvis upside down to {np.degrees(np.arccos(up.min())):.0f} deg",
            bool(up.min() < -0.7),
        )  # fmt: skip
    feet = np.array([[character.snapshot(character.state(p)).position(f) for f in FEET] for p in q])
    above = feet[(np.abs(feet[:, :, 0]) < 0.15).any(axis=1)][:, :, 2].min()
    return Claim(
        "the feet pass over the box", f"ankles never below {above:.2f} m above a box of {settings.box:g} m",
        bool(above > settings.box),
    )  # fmt: skip


def into_scenery(stunt: StagedStunt, result: Result) -> tuple[float, str]:
    """Returns the largest depth of any body in the scenery [m], by MuJoCo's distances, and which, when."""
    model = with_scenery(stunt.character, stunt.scenery)
    data = mujoco.MjData(model)
    bodies, fixed = np.flatnonzero(model.geom_bodyid > 0), np.flatnonzero(model.geom_bodyid == 0)
    deepest, which = 0.0, ""
    for t in np.arange(0.0, float(result.curve.times[-1]), 1.0 / SINK_RATE):
        data.qpos[:] = result.sample(float(t)).q
        mujoco.mj_kinematics(model, data)
        for shape in fixed:
            for body in bodies:
                gap = mujoco.mj_geomDistance(model, data, int(body), int(shape), 0.1, None)
                if -gap > deepest:
                    deepest, which = -gap, f" ({model.body(int(model.geom_bodyid[body])).name} at {t:.2f} s)"
    return deepest, which


def _edge(character: Character, foot: str, side: float) -> tuple[Array, float]:
    """Two points ROLL_ANGLE round a foot's left (1) or right (-1) edge, and their height when the foot is flat.

    The edges are round (capsules): a foot that rolls about the line through these points by up to twice that angle
    never sinks, and rises by at most this height.
    """
    sole = np.array([p.position for p in character.foot(foot).points if p.body == foot and side * p.position[1] > 0.0])
    radius = float(character.model.geom_size[character.model.body_geomadr[character.body_id(foot)], 0])
    rise = radius * (1.0 - math.cos(ROLL_ANGLE))
    return sole + (0.0, side * radius * math.sin(ROLL_ANGLE), rise), rise


def _tip(character: Character, hand: str) -> Array:
    return end_of(character, character.body_id(hand))


def _tips(character: Character, pose: Array) -> Array:
    """The mean position of the fingertips."""
    s = character.snapshot(character.state(pose))
    return np.asarray(np.mean([s.position(h) + s.rotation(h) @ _tip(character, h) for h in character.hands], axis=0))


EXPERIMENT = Experiment(
    name="stunts",
    summary="a long and high jump, a twist, a cartwheel and a vault, each from a few keys and contacts",
    source="after Fang & Pollard 2004: new stunts need only keyframes and contacts",
    settings=StuntsSettings,
    run=run,
)
