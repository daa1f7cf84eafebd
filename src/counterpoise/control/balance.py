"""Balance: standing by strict priorities (de Lasa 2011, section 4.1, tables 4.1 and 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.character.character import Character
from counterpoise.character.kept import kept_with_character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.feet import bearing_points, with_lifted
from counterpoise.control.limbs import limbs_of
from counterpoise.control.reference import MotionReference, PoseReference, ReferenceSample, prepare_reference
from counterpoise.control.standing_body import com_above_lowest_part, gravity_vector, limp_torque, standing_body
from counterpoise.control.support import Support, clamp_force, planted_support
from counterpoise.control.whole_body import WholeBodyMemory, solve_whole_body
from counterpoise.control.whole_body_problem import WholeBodyTuning
from counterpoise.errors import BadValue
from counterpoise.features import ComPosition
from counterpoise.motion.motion import Motion
from counterpoise.objectives import Contact, Footing, JointStops, Momentum, Objective, Setpoint, TrackPose, take_stance
from counterpoise.objectives.footing import force_unit

LOWEST_SQUAT = 0.65  # [standing CoM heights] no request is lower, whatever the joints allow
Height = float | Callable[[float], float]


@dataclass(frozen=True)
class BalanceTuning:
    """Gains, weights and limits. omega^2 = g / (height of the CoM, standing), so that they scale with the body.

    Damping is critical everywhere. Weights of the last level are relative to 1 of every joint.
    """

    com_stiffness: float = 6.0  # [omega^2] k_p of the CoM over the ground
    height_stiffness: float = 6.0  # [omega^2] k_p of its height
    com_limit: float = 0.7  # [g] largest acceleration asked of the CoM, over the ground and up
    least_force: float = 0.2  # [body weights] of the ground
    most_force: float = 1.8  # [body weights]
    grip: float = 0.9  # share of the friction that the CoM may use
    momentum_gain: float = 10.0  # [1/s] of the angular momentum
    momentum_weight: float = 0.3
    pose_stiffness: float = 20.0  # [omega^2] "other" of table 4.2
    ankle_share: float = 0.25  # of it for ankles: 500 of 2000
    arm_share: float = 0.125  # of it for limbs that end in a hand: 250 of 2000
    upright_weight: float = 3.0  # of the root's orientation
    leg_weight: float = 0.1  # of joints between the root and the feet, which must be free to keep the balance
    com_margin: float = 0.3  # [half widths of the support] between the CoM's goal and the edge
    contact_stiffness: float = 80.0  # [omega^2]
    stop_weight: float = 30.0  # of joint limits
    top_speed: float = 18.0  # [rad/s] of any joint
    height_reach: float = 0.95  # largest request, as a share of the way from the lowest CoM to the highest
    height_speed: float = 0.25  # [standing CoM height x omega] fastest change of a requested height
    com_weight: float = 1e3  # of the CoM in the last level, where priorities are not strict
    fallen: float = 0.45  # [standing CoM heights] a CoM less than this above the lowest part means a fall
    limp_damping: float = 0.02  # [s] of the joints after a fall, in torque limits per rad/s

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not (np.isfinite(value) and value >= 0.0):
                raise BadValue(f"BalanceTuning.{name} is a number >= 0; got {value!r}")
        if not (self.least_force < 1.0 < self.most_force and self.height_reach <= 1.0):
            raise BadValue(
                f"least_force < 1 < most_force [body weights] and height_reach <= 1; got {self.least_force}, "
                f"{self.most_force}, {self.height_reach}"
            )


@dataclass(frozen=True, eq=False)
class BalanceMemory:
    """What one tick leaves for the next."""

    reference: PoseReference | MotionReference
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    height: float | None = None  # [m] asked for at the last tick, above the support
    time: float = 0.0  # [s]
    fallen: bool = False


@dataclass(frozen=True, eq=False)
class Balance:
    """Stands by strict priorities.

    First the feet stay planted. Then the CoM goes to its goal over the feet and to its height. Then the angular
    momentum is damped, and the joints return to the reference and brake before their limits. Torque limits always hold.

    `height` asks for a height of the CoM above the ground [m], a number or a function of time. A request out of reach
    is cut to what the body can do; the recording's note `height` holds the result. `strict=False` puts the CoM into the
    last level, with a large weight, instead of above it. `extra` are objectives of the last level.
    """

    reference: ArrayLike | Motion | None = None  # a pose (nq,), a Motion, None: neutral
    height: Height | None = None  # [m]; None: the reference's
    extra: Sequence[Objective] = ()
    footing: Footing = field(default_factory=Footing)
    strict: bool = True
    rate: float = 500.0  # [Hz]
    tuning: BalanceTuning = field(default_factory=BalanceTuning)

    def __post_init__(self) -> None:
        if not 0.0 < self.rate < np.inf:
            raise BadValue(f"a controller's rate is positive [Hz]; got {self.rate!r}")
        if self.height is not None and not callable(self.height):
            try:
                finite = bool(np.isfinite(float(self.height)))
            except (TypeError, ValueError):
                finite = False
            if not finite:
                raise BadValue(f"height is a number [m], a function of time, or None; got {self.height!r}")
        for one in self.extra:
            if not isinstance(one, Objective):
                raise BadValue(f"extra holds objectives such as Drag(...) or Setpoint(...); got {one!r}")

    def begin(self, character: Character) -> BalanceMemory:
        reference = self._prepare(character)
        if self.height is not None:
            reachable_heights(character)  # found now rather than in the first tick
        return BalanceMemory(reference)

    def act(self, snapshot: Snapshot, memory: BalanceMemory) -> Action:
        character, t = snapshot.character, self.tuning
        body = standing_body(character)
        if memory.fallen or com_above_lowest_part(snapshot) < t.fallen * body.height:
            torque = limp_torque(snapshot, t.limp_damping)
            return Action(torque, replace(memory, fallen=True), {"status": "fallen"})
        known = memory.reference
        if known.given is not self.reference or known.character is not character:
            known = self._prepare(character)
        reference = known.at(snapshot.time)
        footing = with_lifted(self.footing, reference.lifted)
        support = planted_support(take_stance(snapshot, footing, memory.solver.footing))
        height, rising = self._height(snapshot, reference, support, memory)
        contact = (Contact(stiffness=t.contact_stiffness * body.omega_squared),)
        com = self._com(snapshot, reference, support, height, rising)
        momentum, pose, stops = _last_level(character, t)
        pose = pose.aimed(reference=reference.q, velocity=reference.v, acceleration=reference.a)
        last: tuple[Objective, ...] = (momentum, pose, stops, *self.extra)
        levels = (contact, com, last) if self.strict else (contact, (*(c.weighing(t.com_weight) for c in com), *last))
        solution = solve_whole_body(snapshot, [one for one in levels if one], footing, _TUNING, memory.solver)
        after = BalanceMemory(known, solution.memory, height, snapshot.time)
        return Action(solution.torque, after, {**solution.notes(), "height": height})

    def _prepare(self, character: Character) -> PoseReference | MotionReference:
        return prepare_reference(character, self.reference, self.footing.surface, "Balance")

    def _com(
        self, s: Snapshot, reference: ReferenceSample, support: Support | None, height: float, rising: float
    ) -> tuple[Objective, ...]:
        """Returns E_com over the ground and E_com of the height, clamped to what contacts can give; () in the air."""
        if support is None:
            return ()
        t, character = self.tuning, s.character
        offset = support.centre - reference.points[bearing_points(character, reference.lifted)].mean(axis=0)
        goal = support.inside(reference.com + offset, t.com_margin * support.half_width)
        goal[2] = support.centre[2] + height
        k = np.array([t.com_stiffness, t.com_stiffness, t.height_stiffness]) * standing_body(character).omega_squared
        velocity, acceleration = reference.com_velocity.copy(), reference.com_acceleration.copy()
        if self.height is not None:
            velocity[2], acceleration[2] = rising, 0.0
        rate = support.velocity + velocity - s.com_velocity
        wanted = k * (goal - s.com) + 2.0 * np.sqrt(k) * rate + support.acceleration + acceleration
        unit, gravity, mass = force_unit(character), gravity_vector(character), character.mass
        most = t.com_limit * unit / mass
        along = float(np.hypot(wanted[0], wanted[1]))
        if along > most:
            wanted[:2] *= most / along
        wanted[2] = min(max(wanted[2], -most), most)
        force = clamp_force(
            mass * (wanted - gravity), support.normal, unit, t.least_force, t.most_force, t.grip * self.footing.friction
        )
        a = force / mass + gravity
        return (
            Setpoint(_COM, s.com[:2], acceleration=a[:2], stiffness=0.0, axes="xy", name="balance"),
            Setpoint(_COM, s.com[2:], acceleration=a[2:], stiffness=0.0, axes="z", name="height"),
        )

    def _height(
        self, s: Snapshot, reference: ReferenceSample, support: Support | None, memory: BalanceMemory
    ) -> tuple[float, float]:
        """Returns the height above the support asked for now [m], and its rate: the request, within reach and speed."""
        character, t = s.character, self.tuning
        if self.height is None:
            bearing = bearing_points(character, reference.lifted)
            return float(reference.com[2] - reference.points[bearing, 2].mean()), 0.0
        low, high = reachable_heights(character)
        asked = float(self.height(s.time) if callable(self.height) else self.height)
        if not np.isfinite(asked):
            raise BadValue(f"the height asked of Balance at {s.time:.3f} s is {asked!r}; it is a finite number [m]")
        asked = min(max(asked, low), low + t.height_reach * (high - low))
        ground = 0.0 if support is None else float(support.centre[2])
        before = float(s.com[2]) - ground if memory.height is None else memory.height
        body = standing_body(character)
        fastest = t.height_speed * body.height * body.omega  # [m/s]
        elapsed = max(s.time - memory.time, 0.0)
        now = min(max(asked, before - fastest * elapsed), before + fastest * elapsed)
        return now, (now - before) / elapsed if elapsed > 0.0 else 0.0


@kept_with_character
def _last_level(character: Character, t: BalanceTuning) -> tuple[Momentum, TrackPose, JointStops]:
    """Returns E_AM, which damps rotations; E_pose without its reference, ankles and arms softer; and joint stops."""
    k = t.pose_stiffness * standing_body(character).omega_squared
    limbs, feet = limbs_of(character), {foot.body for foot in character.feet}
    softer = {joint.name: k * t.ankle_share for joint in character.joints if joint.body in feet}
    softer |= {name: k * t.arm_share for name in limbs.arms}
    weights = {"": 1.0, **dict.fromkeys(limbs.legs, t.leg_weight)}
    return (
        Momentum("angular", gain=t.momentum_gain, weight=t.momentum_weight),
        TrackPose(None, {"": k, **softer}, weights=weights, root_weight=t.upright_weight),
        JointStops(top_speed=t.top_speed, weight=t.stop_weight),
    )


@kept_with_character
def reachable_heights(character: Character) -> tuple[float, float]:
    """Returns the lowest and highest CoM above the ground [m] with the soles as in the neutral pose, within limits.

    Found by posing: the CoM is drawn down to the ground and up to twice its height.
    """
    from counterpoise.pose import CenterOfMass, Lock, Pin, solve_pose

    rest = character.snapshot()
    ground = float(rest.contact_position[:, 2].mean())
    bodies = list(dict.fromkeys(point.body for point in character.contact_points))
    planted = [constraint for body in bodies for constraint in (Pin(body), Lock(body))]
    heights = []
    for z in (ground, ground + 2.0 * (float(rest.com[2]) - ground)):
        pose = solve_pose(character, [CenterOfMass((rest.com[0], rest.com[1], z))], planted)
        heights.append(float(character.snapshot(character.state(pose.q)).com[2]) - ground)
    return max(min(heights), LOWEST_SQUAT * standing_body(character).height), max(heights)


_COM, _TUNING = ComPosition(), WholeBodyTuning()
