"""The three fits of a retargeting: directions alone; then with the feet in their places; then near the second fit.

The third stays near the second, smoothed over a few frames on both sides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.kinematics import FREE, SLIDE, body_frames, dof_lists, tree_of
from counterpoise.motion.contacts import FootMarker, leg_length
from counterpoise.motion.retarget.body_contacts import balls_off_soles, find_body_contacts, hold_places
from counterpoise.motion.retarget.first_guess import first_guess
from counterpoise.motion.retarget.fit import fit_frames
from counterpoise.motion.retarget.foot_plan import FootPlan, plan_feet
from counterpoise.motion.retarget.leaps import better_of_two, has_leaps, led_over, source_speed
from counterpoise.motion.retarget.links import Pairing
from counterpoise.motion.retarget.reaching import from_hips, hands_from_shoulders
from counterpoise.motion.retarget.soles import led_feet
from counterpoise.motion.retarget.steady import believable_feet, steady_legs, without_leaps
from counterpoise.motion.retarget.tangents import smooth_poses
from counterpoise.motion.retarget.turns import wanted_turns, with_hinges

FIRST_FIT_WEIGHT = 30.0  # [1/m] of hips and reached ankles in the first fit, for a leg of 0.9 m
FIRST_FIT_STEPS = 60  # most steps of a frame
ROOT_REST_WEIGHT = 1e-4  # [1/m, 1/rad] of the root's rest pose: hardly any
REACHED_SWING_SHARE = 0.3  # of the weight of a foot in the air, for a foot below a reached ankle
FIRST_TOLERANCE, LAST_TOLERANCE = 1e-4, 1e-5  # [rad, m] steps at which a frame ends
MAX_FLATTENING = np.radians(60.0)  # [rad] a foot that stands further from flat is left as it is
OUTSIDE = 1e-9  # [rad, m] a pose that breaks a limit by more is moved back


@dataclass(frozen=True)
class RetargetTuning:
    """Weights and times of retargeting; weights of places are for a leg of 0.9 m and scale with size."""

    hips: float = 4.0  # [1/m] of the scaled place of the hips, against [1/rad] of directions
    stance: float = 300.0  # [1/m] of a foot on the ground
    swing: float = 8.0  # [1/m] of a foot in the air
    body_stance: float = 100.0  # [1/m] of a hand or knee on the ground
    ground: float = 400.0  # [1/m] of points that must not sink into the ground
    limit: float = 100.0  # [1/rad] of cones and twists of ball joints ...
    inside: float = 0.003  # [rad] ... and how far inside them joints are kept
    rest: float = 0.02  # [1/rad] of the rest pose, for a joint that follows the source ...
    idle: float = 0.5  # ... for one that follows nothing ...
    fold: float = 0.4  # ... and for the joints of a leg of which only the ankle follows the source
    smooth: float = 0.15  # [1/rad] of the smoothed pose in the last fit ...
    steady: float = 15.0  # [1/m] ... and of the smoothed place of the root
    span: float = 0.02  # [s] over which poses are smoothed (one standard deviation)
    hands: float = 0.0  # [1/m] of hands at places scaled by the length of the arms, from between the shoulders
    steps: int = 12  # most Gauss-Newton steps a frame
    leap: float = 2.0  # a joint faster than this times the source's fastest ...
    leap_speed: float = 2.0  # [rad/s] ... and this has leapt, and is fitted from both sides
    bridge: tuple[float, ...] = (10.0, 30.0, 100.0)  # [1/rad] of the curve that leads over a leap, until none is left


class Refit:
    """One retargeting: what is asked of every frame, and the fits."""

    def __init__(
        self, pairing: Pairing, times: Array, cuts: Ints, places: Array, turns: Array, markers: Sequence[FootMarker],
        flags: Flags, ground: float, size: float, tuning: RetargetTuning,
    ) -> None:  # fmt: skip
        self.tuning, self.times, self.cuts = tuning, times, cuts
        self.pairing = with_hinges(pairing, places, turns)
        self.target, self.character = pairing.target, pairing.target.character
        self.unit = leg_length(self.target) / 0.9
        self.captured = wanted_turns(self.pairing, places, turns)  # as the source has it
        calm = without_leaps(self.captured, times, cuts)
        self.wanted = steady_legs(self.pairing, calm, times, cuts)  # as the fits ask for it
        feet = led_feet(pairing.target, markers, flags)
        self.soles = [sole for sole, _ in feet]
        self.stands = [stand for _, stand in feet]
        self._flatten_feet()
        self.wanted = believable_feet(self.pairing, self.wanted, times, cuts)
        hips = places[:, pairing.source.hips].copy()
        hips[:, :2] = hips[0, :2] + size * (hips[:, :2] - hips[0, :2])
        hips[:, 2] = size * (hips[:, 2] - ground)
        self.hips = hips
        self.body_contacts = find_body_contacts(pairing, places, times, cuts, ground)
        self.limit = tuning.leap * source_speed(pairing.source, _followed(pairing), turns, times) + tuning.leap_speed
        self._points(places, turns)

    def _flatten_feet(self) -> None:
        """Turns the wanted rotations of feet so that, on average, a foot is flat while heel and ball stand."""
        up = np.array([0.0, 0.0, 1.0])
        for k, link in enumerate(self.pairing.links):
            if not link.limb.startswith("foot"):
                continue
            sole = next((i for i, s in enumerate(self.soles) if s.body in self.target.limbs[link.limb]), None)
            if sole is None:
                continue
            heel, ball = self.stands[sole]
            flat = heel & ball if link.body == self.soles[sole].body else ball
            if flat.sum() < 3:
                continue
            now = spatial.rotate(spatial.conjugate(self.wanted[flat, k]), up).mean(axis=0)
            rest = spatial.rotate(spatial.conjugate(self.target.turns[link.body]), up)
            if now @ rest < np.cos(MAX_FLATTENING) * np.linalg.norm(now):
                continue
            self.wanted[:, k] = spatial.multiply(self.wanted[:, k], spatial.from_two_vectors(rest, now))

    def _points(self, places: Array, turns: Array) -> None:
        """Lists the points of the fits: hips, reached ankles, hands, contact points of the soles, balls of the body."""
        bodies, local = [self.target.hips], [np.zeros(3)]
        asked = [self.hips]
        for point in self.pairing.reached:
            bodies.append(point.ankle)
            local.append(np.zeros(3))
            asked.append(self.hips + from_hips(self.pairing, point, places, turns))
        self.first_hand = len(bodies)
        self.hands = hands_from_shoulders(self.pairing, places) if self.tuning.hands > 0.0 else []
        for body, _, _ in self.hands:
            bodies.append(body)
            local.append(np.zeros(3))
        self.first_contact = len(bodies)
        for sole in self.soles:
            bodies += sole.bodies.tolist()
            local += list(sole.locals)
        self.first_ball = len(bodies)
        self.balls = balls_off_soles(self.target, [int(b) for sole in self.soles for b in sole.bodies])
        bodies += self.balls.bodies.tolist()
        local += list(self.balls.locals)
        self.point_bodies = np.array(bodies, dtype=np.int64)
        self.point_locals = np.array(local, dtype=np.float64).reshape(-1, 3)
        self.asked = np.stack(asked, axis=1)  # (n, hips and reached ankles, 3)

    def run(self) -> tuple[Array, FootPlan]:
        """Returns poses (n, nq) and where the feet were asked to be."""
        t, n = self.tuning, len(self.times)
        neutral = np.repeat(self.character.neutral[None], n, axis=0)
        count = len(self.point_bodies)
        places, pulls = np.zeros((n, count, 3)), np.zeros((n, count))
        places[:, : self.asked.shape[1]] = self.asked
        pulls[:, : self.first_hand] = FIRST_FIT_WEIGHT / self.unit
        first = np.zeros(n, dtype=np.int64)
        first[self.cuts[:-1]] = 1
        guess = neutral.copy()
        tie = self._tie(t.rest)
        drawn = self._from_both_sides(guess, places, pulls, tie, neutral)
        plan = self._plan(drawn, places, pulls)
        guess = drawn.copy()
        if self.character.joints and self.character.joints[0].kind == "free":
            guess[:, :3] += plan.shift
        ground = t.ground / self.unit
        walked = self._fit(guess, first, places, pulls, ground, tie, neutral, t.steps, FIRST_TOLERANCE, 1.0)
        walked = self._led_over(walked, places, pulls, ground)
        tie = self._tie(t.smooth)
        tie[self.character.root_dofs] = self._root_tie()
        calm = self._smoothed(walked)
        made = self._fit(walked, first, places, pulls, ground, tie, calm, t.steps, LAST_TOLERANCE, 1.0)
        return self._inside(self._led_over(self._inside(made), places, pulls, ground)), plan

    def _from_both_sides(self, guess: Array, places: Array, pulls: Array, tie: Array, neutral: Array) -> Array:
        """Returns the first fit; where it leaps, it is fitted backwards too, and the better of both is taken."""
        n = len(self.times)

        def fitted(way: int, starts: Ints) -> Array:
            first, begin = np.zeros(n, dtype=np.int64), guess.copy()
            for f in starts:
                first[f] = 1
                asked = {link.body: self.wanted[f, k] for k, link in enumerate(self.pairing.links)}
                begin[f] = first_guess(self.target, asked, self.hips[f])
            found = self._fit(
                begin[::way], first[::way].copy(), places[::way].copy(), pulls[::way].copy(), 0.0, tie, neutral,
                FIRST_FIT_STEPS, FIRST_TOLERANCE, 0.0, self.wanted[::way],
            )  # fmt: skip
            return np.asarray(found[::way])

        forwards = fitted(1, self.cuts[:-1])
        if not has_leaps(self.character, forwards, self.times, self.cuts, self.limit):
            return forwards
        backwards = fitted(-1, self.cuts[1:] - 1)
        errors = self._direction_errors(forwards), self._direction_errors(backwards)
        return better_of_two(self.character, forwards, backwards, errors, self.times, self.cuts, self.limit)

    def _direction_errors(self, poses: Array) -> Array:
        """The weighted squared direction errors of each frame (n,) [rad^2]."""
        _, turns = body_frames(self.character, poses)
        out = np.zeros(len(poses))
        for k, link in enumerate(self.pairing.links):
            now, then = (spatial.rotate(R, link.axis) for R in (turns[:, link.body], self.wanted[:, k]))
            out += link.weight[0] ** 2 * np.arccos(np.clip((now * then).sum(axis=1), -1.0, 1.0)) ** 2
        return out

    def _led_over(self, poses: Array, places: Array, pulls: Array, ground: float) -> Array:
        """Returns poses with leaps led over: fitted near a smooth curve, or the curve itself if that still leaps."""
        out = poses
        for weight in self.tuning.bridge:
            curve, spans = led_over(self.character, out, self.times, self.cuts, self.limit)
            if not spans:
                return out
            tie = np.full(self.character.nv, weight)
            tie[self.character.root_dofs] = self._root_tie()
            out = out.copy()
            for on in spans:
                first = np.zeros(on.stop - on.start, dtype=np.int64)
                first[0] = 1
                out[on] = self._fit(
                    curve[on], first, places[on], pulls[on], ground, tie, curve[on], self.tuning.steps, LAST_TOLERANCE,
                    1.0, self.wanted[on],
                )  # fmt: skip
        return led_over(self.character, out, self.times, self.cuts, self.limit)[0]

    def _plan(self, drawn: Array, places: Array, pulls: Array) -> FootPlan:
        """Returns the plan of the feet from the first fit; fills places and weights of points for the other two."""
        t = self.tuning
        frames = body_frames(self.character, drawn)
        plan = plan_feet(self.soles, self.stands, self.times, self.cuts, *frames, leg_length(self.target))
        places[:, 0] = self.asked[:, 0] + plan.shift
        places[:, self.first_contact : self.first_ball] = plan.places
        for k, (_, shoulders, way) in enumerate(self.hands, start=self.first_hand):
            places[:, k] = frames[0][:, shoulders].mean(axis=1) + plan.shift + way
            pulls[:, k] = t.hands / self.unit
        pulls[:, 0] = t.hips / self.unit
        pulls[:, 1 : self.first_hand] = 0.0
        ends = {point.ankle for point in self.pairing.reached}
        shares = [REACHED_SWING_SHARE if s.body in ends else 1.0 for s in self.soles for _ in s.bodies]
        swing = np.array([t.swing * share for share in shares])
        pulls[:, self.first_contact : self.first_ball] = (swing + (t.stance - swing) * plan.firmness) / self.unit
        for ball, on, place, firm in hold_places(self.body_contacts, self.balls, self.times, *frames, plan.shift):
            places[on, self.first_ball + ball] = place
            pulls[on, self.first_ball + ball] = t.body_stance * firm / self.unit
        return plan

    def _smoothed(self, poses: Array) -> Array:
        dt = float(np.median(np.diff(self.times))) if len(self.times) > 1 else 1.0
        reach = max(1, int(np.ceil(2.5 * self.tuning.span / dt)))
        weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) * dt / self.tuning.span) ** 2)
        tree = tree_of(self.character)
        return smooth_poses(poses, self.cuts, weights, tree[5], tree[6], tree[7])

    def _fit(
        self, guess: Array, first: Ints, places: Array, pulls: Array, ground: float, tie: Array, reference: Array,
        most: int, tolerance: float, follow: float, wanted: Array | None = None,
    ) -> Array:  # fmt: skip
        tree, above = tree_of(self.character), dof_lists(self.character)
        links = self.pairing.links
        aims = (
            np.array([link.body for link in links], dtype=np.int64),
            np.array([link.axis for link in links], dtype=np.float64).reshape(-1, 3),
            np.array([link.weight for link in links], dtype=np.float64).reshape(-1, 2),
        )
        floors, levels = np.zeros(len(self.point_bodies)), np.zeros(len(self.point_bodies))
        floors[self.first_contact :] = ground
        levels[self.first_ball :] = self.balls.radii
        limits = self.character.limits
        every = np.arange(self.character.nv, dtype=np.int64)
        poses, _ = fit_frames(
            np.ascontiguousarray(guess), first, tree, above, aims,
            np.ascontiguousarray(self.wanted if wanted is None else wanted),
            (self.point_bodies, self.point_locals, floors, levels), places, pulls, tie, np.ascontiguousarray(reference),
            (limits.range_qpos, limits.range_dof, limits.range_low, limits.range_high), limits.ball_tables(every),
            (self.tuning.limit, self.tuning.inside), most, tolerance, follow,
        )  # fmt: skip
        return poses

    def _tie(self, led: float) -> Array:
        """Returns the weights (nv,) of the reference pose: `led` where joints follow the source, more for idle ones."""
        model = self.character.model
        leading = {link.body for link in self.pairing.links}
        leading |= {b for point in self.pairing.reached for b in self.target.limbs[point.limb]}
        tie = np.empty(self.character.nv)
        for dof in range(self.character.nv):
            tie[dof] = led if int(model.dof_bodyid[dof]) in leading else self.tuning.idle
        for point in self.pairing.reached:
            for body in self.target.limbs[point.limb]:
                start = int(model.body_dofadr[body])
                tie[start : start + int(model.body_dofnum[body])] = max(led, self.tuning.fold)
        tie[self.character.root_dofs] = ROOT_REST_WEIGHT
        return tie

    def _root_tie(self) -> Array:
        """Returns the weights of the root's smoothed pose, by dof: places and rotations [1/m, 1/rad]."""
        model, t = self.character.model, self.tuning
        places, turns = t.steady / self.unit, 3.0 * t.smooth
        out: list[float] = []
        for joint in range(model.njnt):
            if int(model.jnt_dofadr[joint]) < self.character.root_dofs.stop:
                kind = int(model.jnt_type[joint])
                out += [places] * 3 + [turns] * 3 if kind == FREE else [places if kind == SLIDE else turns]
        return np.array(out, dtype=np.float64)

    def _inside(self, poses: Array) -> Array:
        """Returns the poses with those that break a limit moved back inside."""
        limits = self.character.limits
        out = poses.copy()
        for f in range(len(out)):
            if len(limits) and limits.values(out[f]).max() > OUTSIDE:
                out[f] = limits.clamp(out[f])
        return out


def _followed(pairing: Pairing) -> set[int]:
    """The bodies of the source that some body of the target follows."""
    return {body for link in pairing.links for body in link.sources} | {
        body for point in pairing.reached for body in pairing.source.limbs.get(point.limb, ())
    }
