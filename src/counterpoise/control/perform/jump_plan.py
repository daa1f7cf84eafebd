"""A jump as keys, contacts and wishes for the spacetime optimiser: height, way, turn, style, and what is landed on.

Times scale with the square root of the body's size, lengths with its size. Torques are planned within a share of the
strength and forces within narrower friction cones than the ground allows: feedback needs the rest.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.control.limbs import limbs_of
from counterpoise.control.standing_body import standing_body
from counterpoise.errors import BadValue, unknown_name
from counterpoise.objectives.surface import Surface
from counterpoise.spacetime.optimize import (
    Apart,
    Apex,
    Clear,
    Key,
    Moment,
    Place,
    Requirement,
    Taste,
    TorqueLimit,
    Touch,
)
from counterpoise.spacetime.stunt.poses import named_pose
from counterpoise.spacetime.stunt.stunt import Stunt

TOES_RISE = 0.06  # [standing CoM heights] of the CoM on tiptoe
BENT = 0.06  # [standing CoM heights] legs that can grow longer than this stand bent
EARLIEST_ON_TOES = 0.3  # of the time on tiptoe: by so much the take-off may be earlier
MOST_DISTANCE = 20.0  # [m] that can be asked for, up or along: more is most likely a typing error
MOST_TWIST = 3600.0  # [deg]
STYLES = ("plain", "tuck", "scissor", "split")


@dataclass(frozen=True)
class JumpWish:
    """What a jump should be. Lengths [m], the twist [deg]."""

    height: float = 0.3  # rise of the CoM above that of standing, over the higher of the two grounds
    forward: float = 0.0
    side: float = 0.0  # to the left
    twist: float = 0.0  # [deg] to the left
    style: str = "plain"
    onto: float = 0.0  # height of the ground landed on, above that of the start; negative: down from a box

    def __post_init__(self) -> None:
        numbers = (self.height, self.forward, self.side, self.twist, self.onto)
        if not np.isfinite(numbers).all() or self.height < 0.0:
            raise BadValue(f"a jump has a height >= 0 and finite forward, side, twist and onto; got {self!r}")
        for name, value in zip(("height", "forward", "side", "twist", "onto"), numbers, strict=True):
            most = MOST_TWIST if name == "twist" else MOST_DISTANCE
            if abs(value) > most:
                unit = "deg" if name == "twist" else "m"
                raise BadValue(f"{name} = {value:g} {unit} is out of range for a jump: at most {most:g} {unit}")
            object.__setattr__(self, name, float(value))  # 90 and 90.0 are one wish, with one plan
        if self.style not in STYLES:
            raise unknown_name("style of a jump", self.style, STYLES)


@dataclass(frozen=True)
class JumpPlanTuning:
    """Times, shares and weights of planned jumps, for a body whose CoM stands 1 m high."""

    load_time: float = 0.42  # [s] of the deepest crouch
    takeoff_time: float = 0.75  # [s]
    freedom: float = 0.12  # [s] by which take-off and landing may move
    land_time: float = 0.22  # [s] from landing to the deepest point
    stand_time: float = 1.1  # [s] from landing to standing
    toes: float = 0.12  # [s] before take-off in which the feet stand on their toes; 0: flat until take-off
    toe_iterations: int = 120  # most of the search for that
    toe_cost: float = 1.4  # [flat-footed costs] a jump from the toes that costs more is not used: it is thrown
    toe_speed: float = 0.1  # share of the take-off speed with which it must rise already as it comes onto its toes
    strength: float = 0.85  # share of the strength that is planned
    trunk_strength: float = 0.6  # the same of the joints between the limbs
    friction: float = 0.6
    sole: float = 0.8  # share of the sole on which forces are planned
    room: float = 0.03  # [m] between arms and legs
    load_weight: float = 8.0  # of the crouch before the jump
    land_weight: float = 2.0  # of the crouch after it
    turn_weight: float = 20.0  # of the poses in a twist
    tuck_weight: float = 100.0
    rate: float = 20.0  # [1/s] knots
    ground_rate: float = 30.0  # [1/s] near take-off and landing
    flight_rate: float = 45.0  # [1/s] in the air
    quick_flight_rate: float = 80.0  # [1/s] in a twist of more than `quick_twist`
    quick_twist: float = 270.0  # [deg]
    scissor: tuple[float, float] = (0.40, -0.35)  # [m] feet before and behind
    tuck: float = 0.65  # [m] of the soles below the CoM at the top of a tuck, at most
    tuck_time: float = 0.05  # [s] for which they are
    split: float = 0.48  # [m] each foot to its side
    hand_height: float = 0.1  # [m] of the hands above the ground after landing
    clearance: float = 0.03  # [m] of the feet over the edge of a box
    soles: float = 0.08  # [m] of the soles off the ground at the top, where legs that stand bent could only stretch
    soles_time: float = 0.08  # [s] for which they are
    edge: float = 0.2  # share of the way between the grounds at which the edge of a box is, when it jumps down
    across_time: float = 0.1  # [s] after the top, when the feet are across that edge
    across_within: float = 0.06  # [m] of their place then


@dataclass(frozen=True, eq=False)
class _Times:
    """When things happen in a jump [s]."""

    load: float
    takeoff: Moment
    top: float
    landing: Moment
    low: float
    end: float
    pace: float  # sqrt of the size: times scale with it


def jump_stunt(character: Character, wish: JumpWish, tuning: JumpPlanTuning | None = None) -> Stunt:
    """Returns the jump as a stunt that `optimize` makes a motion of. It starts and ends in the neutral pose."""
    t = tuning or JumpPlanTuning()
    character.need_feet("a jump")
    size = standing_body(character).height
    box, base = max(wish.onto, 0.0), max(-wish.onto, 0.0)
    top = size + max(base, box) + wish.height
    times = _times(character, t, size, top, base, box)
    twist = math.radians(wish.twist)
    place = np.array([wish.forward, wish.side, box])
    crouch = _pose_or(character, "load", "crouch"), _pose_or(character, "land", "crouch")
    keys = [
        Key(0.0, placed(character, character.neutral, (0.0, 0.0, base)), rest=True),
        Key(times.load, placed(character, crouch[0], (0.0, 0.0, base)), soft=t.load_weight),
        *_air_keys(character, wish, t, times, top),
        Key(times.low, placed(character, crouch[1], place, twist), soft=t.land_weight),
        Key(times.end, placed(character, character.neutral, place, twist), rest=True),
    ]
    fast = abs(wish.twist) > t.quick_twist
    flight_rate = (t.quick_flight_rate if fast else t.flight_rate) / times.pace
    up, down = times.takeoff.at, times.landing.at
    fine = (
        (up - 0.25 * times.pace, up, t.ground_rate / times.pace),
        (up, down, flight_rate),
        (down, down + 0.3 * times.pace, t.ground_rate / times.pace),
    )
    return Stunt(
        name="jump", character=character, keys=tuple(keys), contacts=_contacts(character, t, times, base, box),
        duration=times.end, wishes=tuple(_wishes(character, wish, t, times, top, base, box, size)),
        rate=t.rate / times.pace, fine=fine, taste=Taste(posture=0.0),
    )  # fmt: skip


def _times(character: Character, t: JumpPlanTuning, size: float, top: float, base: float, box: float) -> _Times:
    g, pace = character.gravity, math.sqrt(size)
    leave = base + (1.0 + (TOES_RISE if t.toes > 0.0 else 0.0)) * size
    up = math.sqrt(2.0 * g * max(top - leave, 0.05 * size))
    down = math.sqrt(2.0 * g * max(top - (box + 0.88 * size), 0.05 * size))
    start = t.takeoff_time * pace
    land = start + (up + down) / g
    free = t.freedom * pace
    return _Times(
        load=t.load_time * pace,
        takeoff=Moment(start, start - min(free, EARLIEST_ON_TOES * t.toes * pace or free), start + free, "take-off"),
        top=start + up / g,
        landing=Moment(land, land - free, land + free, "landing"),
        low=land + t.land_time * pace,
        end=land + t.stand_time * pace,
        pace=pace,
    )


def _air_keys(character: Character, wish: JumpWish, t: JumpPlanTuning, times: _Times, top: float) -> list[Key]:
    """Returns the soft keys in the air: turned poses of a twist, the pose of a style."""
    keys = []
    up, flight = times.takeoff.at, times.landing.at - times.takeoff.at
    count = max(1, int(abs(wish.twist) // 100)) if wish.twist else 0
    for i in range(count):
        share = (i + 1) / (count + 1)
        pose = facing(named_pose("straight", character), math.radians(wish.twist * share))
        pose[:3] = wish.forward * share, wish.side * share, top - 0.02
        keys.append(Key(up + share * flight, pose, soft=t.turn_weight))
    middle = wish.forward / 2.0, wish.side / 2.0, top
    if wish.style == "split" and character.hands:
        arms = limbs_of(character).arms
        keys.append(Key(times.top, named_pose("T", character), only=arms, root=False, soft=t.turn_weight))
    if wish.style == "tuck":
        pose = facing(named_pose("tuck", character), math.radians(wish.twist / 2.0))
        pose[:3] = middle
        keys.append(Key(times.top, pose, soft=t.tuck_weight))
    return keys


def _contacts(character: Character, t: JumpPlanTuning, times: _Times, base: float, box: float) -> tuple[Touch, ...]:
    """Returns every foot on the ground until take-off and from landing on."""
    out = []
    floor, goal = Surface((0.0, 0.0, base)), Surface((0.0, 0.0, box))
    roll = times.takeoff.at - t.toes * times.pace
    for foot in character.feet:
        if t.toes > 0.0:
            out.append(Touch(foot.name, 0.0, roll, surface=floor, friction=t.friction, sole=t.sole))
            out.append(Touch(foot.name, roll, times.takeoff, "toe", surface=floor, friction=t.friction))
        else:
            out.append(Touch(foot.name, 0.0, times.takeoff, surface=floor, friction=t.friction, sole=t.sole))
        out.append(Touch(foot.name, times.landing, times.end, surface=goal, friction=t.friction, sole=t.sole))
    return tuple(replace(one, name=f"{one.label} {i}", roll=0.0, land=0.0) for i, one in enumerate(out))


def _wishes(
    character: Character, wish: JumpWish, t: JumpPlanTuning, times: _Times, top: float, base: float, box: float,
    size: float,
) -> list[Requirement]:  # fmt: skip
    limbs = limbs_of(character)
    out: list[Requirement] = [Apex(times.top, top), TorqueLimit(share=t.strength), Apart()]
    trunk = [
        joint.name
        for joint in character.joints
        if joint.kind != "free" and joint.name not in (*limbs.arms, *limbs.legs)
    ]
    carrying = [name for name in trunk if name not in limbs.others]
    if carrying:
        out.append(TorqueLimit(joints=carrying, share=t.trunk_strength))
    feet, hands = [foot.name for foot in character.feet], list(character.hands)
    if limbs.arms:
        arms, legs = ([character.joint(name).body for name in names] for names in (limbs.arms, limbs.legs))
        out.append(Apart(arms, legs, room=t.room * size))
        out.append(Clear(hands, box + t.hand_height * size, start=times.landing))
    if wish.style == "tuck":
        out += _tucked_feet(character, wish, t, times, top, size)
    elif leg_stretch(character) > BENT * size:
        during, over = t.soles_time * times.pace, max(base, box) + t.soles * size
        out.append(Clear(feet, over, times.top - 0.5 * during, times.top + 0.5 * during))
    if wish.style in ("scissor", "split"):
        out += _spread_feet(character, wish, t, times, size)
    if box > 0.05 * size:
        over = box + t.clearance * size
        out.append(Clear(feet, over, times.top - 0.06 * times.pace, times.landing.at - 0.14 * times.pace))
        if hands:
            low = box + t.hand_height * size
            out.append(Clear(hands, low, times.takeoff.at - 0.17 * times.pace, times.takeoff.at + 0.05 * times.pace))
    if base > 0.05 * size:
        over, across = base + t.clearance * size, times.top + t.across_time * times.pace
        out.append(Clear(feet, over, times.takeoff.at + 0.1 * times.pace, across))
        out += _across_edge(character, wish, t, across, size)
    return out


def _across_edge(
    character: Character, wish: JumpWish, t: JumpPlanTuning, across: float, size: float
) -> list[Requirement]:
    """Returns that the feet are across the edge of the box before they go down beside it."""
    distance = math.hypot(wish.forward, wish.side)
    rest = character.snapshot()
    soles = rest.contact_position[:, :2]
    middle = soles.mean(axis=0)
    way = np.array([wish.forward, wish.side]) / max(distance, 1e-9)
    left, along_way = np.array([-way[1], way[0]]), (soles - middle) @ way
    room = distance - float(np.ptp(along_way))
    if room <= 0.0 or wish.twist != 0.0:  # in a twist nobody knows where which foot is
        return []
    edge, within = float(along_way.max()) + t.edge * room, t.across_within * size
    out: list[Requirement] = []
    for foot in character.feet:
        ankle = rest.position(foot.body)[:2] - middle
        heel = float(along_way.min() - ankle @ way)
        x, y = ((edge + within - heel) * way + float(ankle @ left) * left).tolist()
        out.append(Place(foot.body, across, (x, y, None), within=within))
    return out


def _tucked_feet(
    character: Character, wish: JumpWish, t: JumpPlanTuning, times: _Times, top: float, size: float
) -> list[Requirement]:
    """Returns that the feet are high at the top of a tuck, and below the hips: legs apart would be easier."""
    during = t.tuck_time * times.pace
    feet = [foot.name for foot in character.feet]
    out: list[Requirement] = [Clear(feet, top - t.tuck * size, times.top - 0.5 * during, times.top + 0.5 * during)]
    rest, across = character.snapshot(), math.radians(wish.twist / 2.0)
    for foot in character.feet:
        aside = float(rest.position(foot.body)[1])
        if abs(math.sin(across)) < 1e-6:  # seen along the way; a tuck with a twist is held together by its key alone
            out.append(Place(foot.body, times.top, (None, wish.side / 2.0 + aside, None), within=0.05 * size))
    return out


def _spread_feet(
    character: Character, wish: JumpWish, t: JumpPlanTuning, times: _Times, size: float
) -> list[Requirement]:
    """Returns the places of the feet at the top of a scissor kick or a split."""
    if len(character.feet) != 2:
        raise BadValue(f"a {wish.style} jump needs two feet; {character.name!r} has {len(character.feet)}")
    out: list[Requirement] = []
    for i, foot in enumerate(sorted(character.feet, key=lambda foot: foot.side != "left")):
        if wish.style == "scissor":
            where: tuple[float | None, ...] = (wish.forward / 2.0 + t.scissor[i] * size, None, None)
        else:
            where = (None, wish.side / 2.0 + (t.split if i == 0 else -t.split) * size, None)
        out.append(Place(foot.body, times.top, where, within=0.05 * size))
    return out


def leg_stretch(character: Character) -> float:
    """Returns by how much the legs can be longer than in the neutral pose, from hip to foot [m]; the least of all feet.

    By so much the body rises without leaving the ground, so that on bent legs a low jump may be no jump.
    """
    rest, parent, out = character.snapshot(), character.model.body_parentid, math.inf
    root = character.body_id(character.root)
    for foot in character.feet:
        chain = [character.body_id(foot.body)]
        while int(parent[chain[-1]]) not in (root, 0):
            chain.append(int(parent[chain[-1]]))
        places = rest.body_position[chain]
        links = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())
        out = min(out, links - float(np.linalg.norm(places[-1] - places[0])))
    return out


def placed(character: Character, q: Array, feet: Array | tuple[float, float, float], yaw: float = 0.0) -> Array:
    """Returns a pose turned by `yaw` [rad] and moved so that the middle of its soles is at `feet` (3,)."""
    out = facing(q, yaw)
    soles = character.snapshot(character.state(out)).contact_position
    out[:2] += np.asarray(feet)[:2] - soles[:, :2].mean(axis=0)
    out[2] += feet[2] - soles[:, 2].min()
    return out


def facing(q: Array, yaw: float) -> Array:
    """Returns a pose turned by `yaw` [rad] about the vertical through its root."""
    out = np.array(q)
    out[3:7] = spatial.multiply(spatial.exp(np.array([0.0, 0.0, yaw])), out[3:7])
    return out


def _pose_or(character: Character, name: str, without_hands: str) -> Array:
    return named_pose(name if character.hands else without_hands, character)
