"""PhaseJump: de Lasa's own jump, a state machine over the objectives of balance (2011, section 4.2, table 4.1).

    stand -> compress -> thrust -> ascent -> descent -> impact -> rise -> stand

Levels are those of table 4.1: contact; CoM over the support and its height; angular momentum, pose and, in the air, the
ankles as seen from the CoM. Heights change by `Target`, as in the thesis. In the air contact and CoM are off. The
ground is the plane z = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array
from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.limbs import limbs_of
from counterpoise.control.standing_body import com_above_lowest_part, limp_torque, standing_body
from counterpoise.control.whole_body import WholeBodyMemory, solve_whole_body
from counterpoise.errors import BadValue, unknown_name
from counterpoise.features import ComPosition
from counterpoise.features.com import PositionFromCom
from counterpoise.objectives import Contact, Footing, JointStops, Momentum, Objective, Setpoint, Target, TrackPose

Phase = Literal["stand", "compress", "thrust", "ascent", "descent", "impact", "rise", "fallen"]
STYLES = ("plain", "scissor", "split")
LIMP_DAMPING = 0.02  # [torque limits per rad/s] after a fall
_COM = ComPosition()


@dataclass(frozen=True)
class PhaseTuning:
    """The parameters of the machine, for a body whose CoM stands 1 m high.

    The thesis gives alpha_ankle and the ratios of the pose's gains. `crouch`, `leave` and `momentum_weight` were chosen
    among 20 combinations, by undisturbed jumps straight up; deeper crouches jump higher and tumble.
    """

    wait: float = 0.4  # [s] before the compression
    crouch: float = 0.85  # [standing CoM heights] at the end of the compression
    compress_time: float = 0.5  # [s]
    leave: float = 0.97  # [standing CoM heights] at which the ascent begins: legs are still bent, soles flat
    near: float = 0.01  # [standing CoM heights] below that, at which it begins already
    longest_thrust: float = 0.7  # [s]
    stopped: float = 0.03  # [m/s] a CoM that falls slower than this after impact has stopped
    rise_time: float = 1.0  # [s] from the lowest point after impact to standing
    ankle_weight: float = 10.0  # alpha_ankle (section 4.2)
    ankle_stiffness: float = 200.0  # [1/s^2]
    com_stiffness: float = 6.0  # [omega^2]
    com_limit: float = 7.0  # [m/s^2] over the ground
    height_limit: float = 25.0  # [m/s^2]
    pose_stiffness: float = 20.0  # [omega^2] "other" of table 4.2
    ankle_share: float = 0.25  # of it: 500 of 2000
    arm_share: float = 0.125  # of it: 250 of 2000
    momentum_gain: float = 10.0  # [1/s]
    momentum_weight: float = 1.0
    spin_gain: float = 2.0  # of the angular momentum that a twist needs: so much is asked for
    forward_shift: float = 0.12  # [m] of the CoM for each metre of a jump forward, in the thrust
    forward_lead: float = 0.35  # of velocity / omega by which the ankles are ahead of the CoM in the air
    swing: float = 0.45  # [rad] of the ankles about the CoM in a scissor kick or a split
    reach: float = 0.9  # [standing CoM heights] of the ankles below the CoM in the air, less their own height
    fallen: float = 0.45  # [standing CoM heights] a CoM less than this above the lowest part means a fall


@dataclass(frozen=True, eq=False)
class PhaseMemory:
    """What one tick leaves for the next."""

    phase: Phase = "stand"
    since: float = 0.0  # [s] when the phase began
    start: float = 0.0  # [m] height of the CoM when it began
    heading: float = 0.0  # [rad] of the root
    done: bool = False  # whether it has jumped
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)


@dataclass(frozen=True, eq=False)
class PhaseJump:
    """Jumps once: `height` [m] of the CoM above standing, `forward` [m], `twist` [deg], a style."""

    height: float = 0.2
    forward: float = 0.0
    twist: float = 0.0
    style: str = "plain"
    rate: float = 500.0  # [Hz]
    tuning: PhaseTuning = field(default_factory=PhaseTuning)

    def __post_init__(self) -> None:
        if not (np.isfinite((self.height, self.forward, self.twist)).all() and self.height > 0.0):
            raise BadValue(f"a jump has a height > 0 and finite forward and twist; got {self!r}")
        if self.style not in STYLES:
            raise unknown_name("style of a jump", self.style, STYLES)

    def begin(self, character: Character) -> PhaseMemory:
        character.need_feet("a jump")
        return PhaseMemory()

    def act(self, snapshot: Snapshot, memory: PhaseMemory) -> Action:
        now = self._advance(snapshot, memory)
        if now.phase == "fallen":
            return Action(limp_torque(snapshot, LIMP_DAMPING), now, {"status": "fallen", "stage": "fallen"})
        flies = now.phase in ("ascent", "descent")
        last = (*self._last(snapshot, now), *(self._ankles(snapshot) if flies else ()))
        levels: tuple[tuple[Objective, ...], ...] = (
            (last,) if flies else (_contact(snapshot), self._com(snapshot, now), last)
        )
        solution = solve_whole_body(snapshot, levels, _footing(snapshot, flies), None, now.solver)
        notes = {**solution.notes(), "stage": now.phase}
        return Action(solution.torque, replace(now, solver=solution.memory), notes)

    # -- the machine -------------------------------------------------------------------------------------------------

    def _advance(self, s: Snapshot, m: PhaseMemory) -> PhaseMemory:
        """Returns the memory with the phase of this tick; phases follow the CoM's state and contacts (figure 4.3)."""
        t, size, pace = self.tuning, standing_body(s.character).height, self._pace(s)
        yaw = _yaw(s)
        m = replace(m, heading=m.heading + math.remainder(yaw - m.heading, 2.0 * math.pi))
        z, v = float(s.com[2]), float(s.momentum[5]) / s.character.mass
        low = float(s.contact_position[:, 2].min())
        for_now = s.time - m.since
        if m.phase == "fallen" or com_above_lowest_part(s) < t.fallen * size:
            following: Phase = "fallen"
        elif m.phase == "stand" and not m.done and s.time >= t.wait:
            following = "compress"
        elif m.phase == "compress" and for_now > t.compress_time * pace:
            following = "thrust"
        elif m.phase == "thrust" and (
            z > (t.leave - t.near) * size or low > 0.01 * size or for_now > t.longest_thrust * pace
        ):
            following = "ascent"
        elif m.phase == "ascent" and v < 0.0:
            following = "descent"
        elif m.phase == "descent" and low < 0.004 * size:
            following = "impact"
        elif m.phase == "impact" and v > -t.stopped:
            following = "rise"
        elif m.phase == "rise" and for_now > 1.5 * t.rise_time * pace:
            following = "stand"
        else:
            return m
        return replace(m, phase=following, since=s.time, start=z, done=m.done or following == "ascent")

    # -- objectives --------------------------------------------------------------------------------------------------

    def _com(self, s: Snapshot, m: PhaseMemory) -> tuple[Objective, ...]:
        """Returns E_com over the support and E_com of the height: a target with a time of arrival."""
        t, body, pace = self.tuning, standing_body(s.character), self._pace(s)
        size = body.height
        goal = s.contact_position.mean(axis=0)[:2]
        if m.phase == "thrust" and self.forward:
            goal = goal + t.forward_shift * self.forward * np.array([math.cos(m.heading), math.sin(m.heading)])
        over = Setpoint(
            _COM, goal, stiffness=t.com_stiffness * body.omega_squared, limit=t.com_limit, axes="xy", name="balance"
        )
        arrival, speed = m.since + t.compress_time * pace, 0.0
        if m.phase == "compress":
            height = t.crouch * size
        elif m.phase == "thrust":
            height, speed = t.leave * size, self._takeoff_speed(s)
            arrival = m.since + max(2.0 * (height - m.start) / speed, 0.05)
        elif m.phase == "rise":
            height, arrival = size, m.since + t.rise_time * pace
        else:
            k = t.com_stiffness * body.omega_squared
            up = Setpoint(_COM, [size], stiffness=k, limit=t.height_limit, axes="z", name="height")
            return over, up
        if arrival - s.time < 0.02:
            k = t.com_stiffness * body.omega_squared
            return over, Setpoint(_COM, [height], [speed], stiffness=k, axes="z", name="height")
        up_to = Target(_COM, [height], arrival, velocity=[speed], limit=t.height_limit, axes="z", name="height")
        return over, up_to

    def _last(self, s: Snapshot, m: PhaseMemory) -> tuple[Objective, ...]:
        """Returns E_AM, with a vertical reference in the thrust of a twist, and E_pose."""
        momentum, pose, stops = _last_level(s.character, self.tuning)
        if m.phase == "thrust" and self.twist:
            flight = 2.0 * self._takeoff_speed(s) / s.character.gravity
            inertia = float(s.momentum_matrix[2, 5])  # about the vertical, the root upright
            spin = self.tuning.spin_gain * inertia * math.radians(self.twist) / flight
            momentum = replace(momentum, value=(0.0, 0.0, spin))
        q = np.array(s.character.neutral)
        turn = spatial.exp(np.array([0.0, 0.0, m.heading]))
        q[:3], q[3:7] = s.q[:3], spatial.multiply(turn, q[3:7])
        return momentum, pose.aimed(reference=q), stops

    def _ankles(self, s: Snapshot) -> tuple[Objective, ...]:
        """Returns E_ankle: the feet at a fixed place below the CoM; swung apart and back for a style."""
        t, body = self.tuning, standing_body(s.character)
        v = s.momentum[3:] / s.character.mass
        apex = max(0.0, 1.0 - abs(float(v[2])) / max(self._takeoff_speed(s), 1e-6))
        lead = t.forward_lead * v[:2] / body.omega
        yaw = _yaw(s)
        facing = spatial.exp(np.array([0.0, 0.0, yaw]))
        out: list[Objective] = []
        rest = s.character.snapshot()
        for i, foot in enumerate(sorted(s.character.feet, key=lambda foot: foot.side != "left")):
            away = (rest.position(foot.body) - rest.com) * np.array([1.0, 1.0, t.reach])
            sign = 1.0 if i == 0 else -1.0
            if self.style == "scissor":
                away = spatial.rotate(spatial.exp(np.array([0.0, -sign * t.swing * apex, 0.0])), away)
            elif self.style == "split":
                away = spatial.rotate(spatial.exp(np.array([sign * t.swing * apex, 0.0, 0.0])), away)
            goal = spatial.rotate(facing, away) + np.array([lead[0], lead[1], 0.0])
            feature = PositionFromCom(foot.body)
            out.append(
                Setpoint(feature, goal, stiffness=t.ankle_stiffness, weight=t.ankle_weight, name=f"ankle {foot.name}")
            )
        return tuple(out)

    def _takeoff_speed(self, s: Snapshot) -> float:
        """Returns the speed that leads from the take-off height to the top of the jump [m/s]."""
        size = standing_body(s.character).height
        climb = self.height - (self.tuning.leave - 1.0) * size
        return math.sqrt(2.0 * s.character.gravity * max(climb, 0.02 * size))

    def _pace(self, s: Snapshot) -> float:
        return math.sqrt(standing_body(s.character).height)


@kept_with_character
def _last_level(character: Character, t: PhaseTuning) -> tuple[Momentum, TrackPose, JointStops]:
    k = t.pose_stiffness * standing_body(character).omega_squared
    limbs, feet = limbs_of(character), {foot.body for foot in character.feet}
    softer = {joint.name: k * t.ankle_share for joint in character.joints if joint.body in feet}
    softer |= {name: k * t.arm_share for name in limbs.arms}
    return (
        Momentum("angular", gain=t.momentum_gain, weight=t.momentum_weight),
        TrackPose(None, {"": k, **softer}, root_weight=1.0),
        JointStops(weight=10.0),
    )


def _contact(s: Snapshot) -> tuple[Objective, ...]:
    return (Contact(stiffness=80.0 * standing_body(s.character).omega_squared),)


def _footing(s: Snapshot, flies: bool) -> Footing:
    """Returns the footing of a phase: every foot planted, or none."""
    lifted = tuple(foot.name for foot in s.character.feet) if flies else ()
    return Footing(lifted=lifted, fall=0.002, lose=0.002, rise=0.02, strength=2.0)


def _yaw(s: Snapshot) -> float:
    R: Array = s.rotation(s.character.root)
    return math.atan2(float(R[1, 0]), float(R[0, 0]))
