"""Balance: standing by strict priorities (de Lasa 2011, section 4.1, tables 4.1 and 4.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from counterpoise.character.character import Character
from counterpoise.character.snapshot import Snapshot
from counterpoise.control.basic import Action
from counterpoise.control.macchietto_laws import Support, clamp_force, find_support, gravity_of
from counterpoise.control.macchietto_reference import (
    ReferencePlan,
    Wish,
    arm_joints,
    bearing_points,
    has_fallen,
    leg_joints,
    limp,
    omega_squared,
    plan_reference,
    standing_height,
)
from counterpoise.control.whole_body import WholeBodyMemory, WholeBodyTuning, solve_whole_body
from counterpoise.errors import BadValue
from counterpoise.features import ComPosition
from counterpoise.motion.motion import Motion
from counterpoise.objectives import (
    Contact,
    Footing,
    JointStops,
    Momentum,
    Objective,
    Setpoint,
    TrackPose,
    take_stance,
)
from counterpoise.objectives.footing import force_unit

LOWEST = 0.65  # of the standing height of the CoM: nobody squats lower, whatever the joints allow
BESIDE = 1e3  # weight of the CoM where it stands beside momentum and pose instead of above them
Height = float | Callable[[float], float]


@dataclass(frozen=True)
class BalanceTuning:
    """Gains, weights and limits; omega^2 = g / (height of the CoM, standing), so that they scale with the body. Damping
    is critical everywhere.
    """

    com_stiffness: float = 6.0  # k_p of the CoM over the ground [omega^2]
    height_stiffness: float = 6.0  # k_p of its height [omega^2]
    com_limit: float = 0.7  # largest acceleration asked of the CoM, each of along and up [g]
    least_force: float = 0.2  # of the ground [body weights]
    most_force: float = 1.8  # [body weights]
    grip: float = 0.9  # share of the friction that the CoM may use
    momentum_gain: float = 10.0  # of the angular momentum [1/s]
    momentum_weight: float = 0.3
    pose_stiffness: float = 20.0  # "other" of table 4.2 [omega^2]
    ankle_share: float = 0.25  # of it: 500 of 2000
    arm_share: float = 0.125  # of it, for limbs that end in a hand: 250 of 2000
    upright_weight: float = 3.0  # of the root's orientation, against 1 of every joint
    leg_weight: float = 0.1  # of joints between the root and the feet: they are what a body stands with
    com_margin: float = 0.3  # [half widths of the support] kept between the CoM's goal and the edge
    contact_stiffness: float = 80.0  # [omega^2]
    stop_weight: float = 30.0  # of joint limits, against 1 of every joint
    top_speed: float = 18.0  # [rad/s] of any joint
    height_reach: float = 0.95  # share of the way from the lowest CoM to the highest that is asked for at most
    height_speed: float = 0.25  # fastest change of a requested height [standing CoM height x omega]

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

    plan: ReferencePlan
    solver: WholeBodyMemory = field(default_factory=WholeBodyMemory)
    height: float | None = None  # [m] asked for at the last tick, above the support
    time: float = 0.0  # [s]
    fallen: bool = False


@dataclass(frozen=True, eq=False)
class Balance:
    """Stand by strict priorities: the feet stay planted; then the CoM goes over its goal and to its height; then the
    angular momentum is damped, the joints return to the reference and brake before their limits. Torque limits always
    hold.

    `height` asks for a CoM height above the ground [m], a number or a function of time; what is out of reach is cut to
    what the body can do, and the recording's note `height` says what was asked for in the end. `strict=False` puts the
    CoM beside momentum and pose, with a large weight, instead of above them. `extra` are objectives of the last level.
    """

    reference: ArrayLike | Motion | None = None  # a pose (nq,), a Motion, None: neutral
    height: Height | None = None  # [m]; the reference's where nothing is said
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
        plan = plan_reference(character, self.reference, self.footing, "Balance")
        if self.height is not None:
            reachable_heights(character)  # found now rather than in the first tick
        return BalanceMemory(plan)

    def act(self, snapshot: Snapshot, memory: BalanceMemory) -> Action:
        if memory.fallen or has_fallen(snapshot):
            return Action(limp(snapshot), replace(memory, fallen=True), {"status": "fallen"})
        plan = self._plan(snapshot.character, memory)
        wish = plan.at(snapshot.time)
        footing = self.footing if not wish.lifted else replace(self.footing, lifted=wish.lifted)
        support = find_support(take_stance(snapshot, footing, memory.solver.footing))
        height, rising = self._height(snapshot, wish, support, memory)
        contact = (Contact(stiffness=self.tuning.contact_stiffness * omega_squared(snapshot.character)),)
        com = self._com(snapshot, wish, support, height, rising)
        rest = (*self._rest(snapshot.character), *self.extra)
        levels = (contact, com, rest) if self.strict else (contact, (*(c.weighing(BESIDE) for c in com), *rest))
        solution = solve_whole_body(snapshot, [one for one in levels if one], footing, _FULL, memory.solver)
        after = BalanceMemory(plan, solution.memory, height, snapshot.time)
        return Action(solution.torque, after, {**solution.notes(), "height": height})

    # ---------------------------------------------------------------------------------------------- what each line asks

    def _rest(self, who: Character) -> tuple[Objective, ...]:
        """Momentum, pose and stops, which are the same every tick: made once and kept with the body."""
        known = who.__dict__.get("_balance_rest")
        if known is None or known[0] is not self.tuning or known[1] is not self.reference:
            objectives = (self._momentum(), self._pose(who), self._stops())
            known = who.__dict__["_balance_rest"] = (self.tuning, self.reference, objectives)
        found: tuple[Objective, ...] = known[2]
        return found

    def _stops(self) -> JointStops:
        return JointStops(top_speed=self.tuning.top_speed, weight=self.tuning.stop_weight)

    def _com(
        self, s: Snapshot, wish: Wish, support: Support | None, height: float, rising: float
    ) -> tuple[Objective, ...]:
        """E_com over the ground and E_com of the height, clamped to what the contacts can give; none in the air."""
        if support is None:
            return ()
        t, who = self.tuning, s.character
        feet = support.centre - wish.points[bearing_points(who, wish.lifted)].mean(axis=0)
        goal = support.inside(wish.com + feet, t.com_margin)
        goal[2] = support.centre[2] + height
        k = np.array([t.com_stiffness, t.com_stiffness, t.height_stiffness]) * omega_squared(who)
        velocity, acceleration = wish.com_velocity.copy(), wish.com_acceleration.copy()
        if self.height is not None:
            velocity[2], acceleration[2] = rising, 0.0
        rate = support.velocity + velocity - s.com_velocity
        wanted = k * (goal - s.com) + 2.0 * np.sqrt(k) * rate + support.acceleration + acceleration
        most = t.com_limit * force_unit(who) / who.mass
        along = float(np.hypot(wanted[0], wanted[1]))
        if along > most:
            wanted[:2] *= most / along
        wanted[2] = min(max(wanted[2], -most), most)
        force = clamp_force(
            who.mass * (wanted - gravity_of(who)), support.normal, force_unit(who), t.least_force, t.most_force,
            t.grip * self.footing.friction,
        )  # fmt: skip
        a = force / who.mass + gravity_of(who)
        return (
            Setpoint(_COM, s.com[:2], acceleration=a[:2], stiffness=0.0, axes="xy", name="balance"),
            Setpoint(_COM, s.com[2:], acceleration=a[2:], stiffness=0.0, axes="z", name="height"),
        )

    def _momentum(self) -> Momentum:
        """E_AM: rotations are damped."""
        return Momentum("angular", gain=self.tuning.momentum_gain, weight=self.tuning.momentum_weight)

    def _pose(self, who: Character) -> TrackPose:
        """E_pose, ankles and arms softer than the rest (table 4.2)."""
        t = self.tuning
        k = t.pose_stiffness * omega_squared(who)
        feet = {foot.body for foot in who.feet}
        softer = {joint.name: k * t.ankle_share for joint in who.joints if joint.body in feet}
        softer |= {name: k * t.arm_share for name in arm_joints(who)}
        weights = {"": 1.0, **dict.fromkeys(leg_joints(who), t.leg_weight)}
        return TrackPose(self.reference, {"": k, **softer}, weights=weights, root_weight=t.upright_weight)

    def _height(self, s: Snapshot, wish: Wish, support: Support | None, memory: BalanceMemory) -> tuple[float, float]:
        """Height above the support asked for now [m], and its rate: the request, in reach and at a fair speed."""
        who = s.character
        if self.height is None:
            return float(wish.com[2] - wish.points[bearing_points(who, wish.lifted), 2].mean()), 0.0
        low, high = reachable_heights(who)
        share = self.tuning.height_reach
        asked = float(self.height(s.time) if callable(self.height) else self.height)
        if not np.isfinite(asked):
            raise BadValue(f"the height asked of Balance at {s.time:.3f} s is {asked!r}; it is a finite number [m]")
        asked = min(max(asked, low), low + share * (high - low))
        ground = 0.0 if support is None else float(support.centre[2])
        before = float(s.com[2]) - ground if memory.height is None else memory.height
        fastest = self.tuning.height_speed * standing_height(who) * float(np.sqrt(omega_squared(who)))  # [m/s]
        elapsed = max(s.time - memory.time, 0.0)
        now = min(max(asked, before - fastest * elapsed), before + fastest * elapsed)
        return now, (now - before) / elapsed if elapsed > 0.0 else 0.0

    def _plan(self, character: Character, memory: BalanceMemory) -> ReferencePlan:
        if memory.plan.reference is self.reference and memory.plan.character is character:
            return memory.plan
        return plan_reference(character, self.reference, self.footing, "Balance")


def reachable_heights(character: Character) -> tuple[float, float]:
    """Lowest and highest CoM above the ground [m] with the soles where the neutral pose has them, within joint limits.

    Found by posing, once a body: the CoM is drawn down to the ground and up to twice its height.
    """
    found = character.__dict__.get("_reachable_heights")
    if found is None:
        from counterpoise.pose import CenterOfMass, Lock, Pin, solve_pose

        rest = character.snapshot()
        ground = float(rest.contact_position[:, 2].mean())
        bodies = list(dict.fromkeys(point.body for point in character.contact_points))
        planted = [wish for body in bodies for wish in (Pin(body), Lock(body))]
        heights = []
        for z in (ground, ground + 2.0 * (float(rest.com[2]) - ground)):
            pose = solve_pose(character, [CenterOfMass((rest.com[0], rest.com[1], z))], planted)
            heights.append(float(character.snapshot(character.state(pose.q)).com[2]) - ground)
        lowest = max(min(heights), LOWEST * standing_height(character))
        found = character.__dict__["_reachable_heights"] = (lowest, max(heights))
    return float(found[0]), float(found[1])


_COM, _FULL = ComPosition(), WholeBodyTuning()
