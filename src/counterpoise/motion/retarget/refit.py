"""The three fits of a retargeting: directions alone; with the feet where they belong; and again, leaning on the second
smoothed over a few frames on both sides."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from counterpoise import spatial
from counterpoise.arrays import Array, Flags, Ints
from counterpoise.character.anatomy import Anatomy
from counterpoise.character.kinematics import body_frames, dof_lists, tree_of
from counterpoise.motion.contacts import FootMarker, leg_length
from counterpoise.motion.retarget.fit import fit_frames
from counterpoise.motion.retarget.footing import Footing, Sole, plan_footing, sole_of
from counterpoise.motion.retarget.mapping import Pairing, Reach, rest_facing, wanted_turns, with_hinges
from counterpoise.motion.retarget.steady import believable_feet, steady_legs, without_leaps
from counterpoise.motion.retarget.tangents import smooth_poses


@dataclass(frozen=True)
class RetargetTuning:
    """Weights and times of retargeting; weights of places are for a leg of 0.9 m and scale with size."""

    hips: float = 4.0  # [1/m] how firmly the hips keep their scaled place, against [1/rad] of directions
    stance: float = 300.0  # [1/m] a foot on the ground
    swing: float = 8.0  # [1/m] a foot in the air
    ground: float = 400.0  # [1/m] what must not sink
    limit: float = 100.0  # [1/rad] cones and twists of ball joints ...
    inside: float = 0.003  # [rad] ... and how far inside they are kept
    rest: float = 0.02  # [1/rad] how much a led joint leans on its rest pose ...
    idle: float = 0.5  # ... and one that nothing leads ...
    fold: float = 0.4  # ... and the inside of a leg that is led by its end
    smooth: float = 0.15  # [1/rad] how much the last fit leans on the smoothed pose
    steady: float = 15.0  # [1/m] and how much the root's place does
    span: float = 0.02  # [s] over which poses are smoothed (one standard deviation)
    hands: float = 0.0  # [1/m] hands at places scaled by the length of the arms, from between the shoulders
    steps: int = 12  # most Gauss-Newton steps a frame


class Refit:
    """One retargeting under way: what is asked of every frame, and the fits."""

    def __init__(
        self, pairing: Pairing, times: Array, cuts: Ints, places: Array, turns: Array, markers: Sequence[FootMarker],
        flags: Flags, ground: float, size: float, tuning: RetargetTuning,
    ) -> None:  # fmt: skip
        self.tuning, self.times, self.cuts = tuning, times, cuts
        self.pairing = with_hinges(pairing, places, turns)
        self.target, self.character = pairing.target, pairing.target.character
        self.unit = leg_length(self.target) / 0.9
        self.told = wanted_turns(self.pairing, places, turns)  # as the source has it
        calm = without_leaps(self.told, times, cuts)
        self.wanted = steady_legs(self.pairing, calm, times, cuts)  # as it is asked for
        feet = led_feet(pairing.target, markers, flags)
        self.soles = [sole for sole, _ in feet]
        self.stands = [stand for _, stand in feet]
        self._flatten_feet()
        self.wanted = believable_feet(self.pairing, self.wanted, times, cuts)
        hips = places[:, pairing.source.hips].copy()
        hips[:, :2] = hips[0, :2] + size * (hips[:, :2] - hips[0, :2])
        hips[:, 2] = size * (hips[:, 2] - ground)
        self.hips = hips
        self._points(places, turns)

    def _flatten_feet(self) -> None:
        """Turn what feet are asked for so that, on average, they are flat while heel and ball stand."""
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
            if now @ rest < np.cos(np.radians(60.0)) * np.linalg.norm(now):
                continue
            self.wanted[:, k] = spatial.multiply(self.wanted[:, k], spatial.from_two_vectors(rest, now))

    def _points(self, places: Array, turns: Array) -> None:
        """The points of the fits: hips, the ends of legs that are led by their ends, hands, soles."""
        bodies, local = [self.target.hips], [np.zeros(3)]
        asked = [self.hips]
        for reach in self.pairing.reaches:
            bodies.append(reach.ankle)
            local.append(np.zeros(3))
            asked.append(self.hips + self._reached(reach, places, turns))
        self.led = len(bodies)
        self.hands = self._hands(places)
        for body, _, _ in self.hands:
            bodies.append(body)
            local.append(np.zeros(3))
        self.handed = len(bodies)
        for sole in self.soles:
            bodies += sole.bodies.tolist()
            local += list(sole.locals)
        self.point_bodies = np.array(bodies, dtype=np.int64)
        self.point_locals = np.array(local, dtype=np.float64).reshape(-1, 3)
        self.asked = np.stack(asked, axis=1)  # (n, hips and ends, 3)

    def _reached(self, reach: Reach, places: Array, turns: Array) -> Array:
        """From the hips to a bent leg's end: the source's leg vector, as a share of its rest length, on our own leg."""
        source, target, G = self.pairing.source, self.target, self.pairing.facing
        theirs = places[:, reach.source_ankle] - places[:, reach.source_hip]
        pelvis = spatial.multiply(turns[:, source.hips], spatial.conjugate(source.turns[source.hips]))
        rest = source.places[reach.source_ankle] - source.places[reach.source_hip]
        straight = spatial.rotate(spatial.conjugate(rest_facing(source)), rest)
        length = float(np.linalg.norm(straight))
        straight = spatial.rotate(rest_facing(source), straight * np.array([1.0, 0.0, 1.0]))
        local = spatial.rotate(spatial.conjugate(pelvis), theirs)
        swing = spatial.from_two_vectors(
            straight, np.where(np.abs(local).max(axis=1, keepdims=True) > 0, local, straight)
        )
        ours = spatial.rotate(G, target.places[reach.ankle] - target.places[reach.hip])
        share = np.linalg.norm(theirs, axis=1) / max(length, 1e-9)
        way = spatial.rotate(pelvis, spatial.rotate(swing, ours)) * share[:, None]
        hip = spatial.rotate(G, target.places[reach.hip] - target.places[target.hips])
        return spatial.rotate(pelvis, hip) + way

    def _hands(self, places: Array) -> list[tuple[int, Ints, Array]]:
        """Hands at scaled places: the body, both its shoulders, and its way from between them (n, 3)."""
        source = self.pairing.source
        found: list[tuple[int, Ints, Array]] = []
        if self.tuning.hands <= 0.0:
            return []

        def arms(at: Anatomy) -> tuple[Ints, float]:
            tops = np.array([at.limbs[f"arm_{side}"][0] for side in ("left", "right")], dtype=np.int64)
            chains = [(*at.limbs[f"arm_{side}"], at.limbs[f"hand_{side}"][0]) for side in ("left", "right")]
            steps = [np.linalg.norm(np.diff(at.places[list(chain)], axis=0), axis=1).sum() for chain in chains]
            return tops, float(np.mean(steps))

        whole = {"arm_left", "arm_right", "hand_left", "hand_right"}
        if not (whole <= set(source.limbs) and whole <= set(self.target.limbs)):
            return []
        (theirs, far), (ours, near) = arms(source), arms(self.target)
        between = places[:, theirs].mean(axis=1)
        for limb in ("hand_left", "hand_right"):
            way = (places[:, source.limbs[limb][0]] - between) * (near / max(far, 1e-9))
            found.append((self.target.limbs[limb][0], ours, way))
        return found

    def run(self) -> tuple[Array, Footing]:
        """Poses (n, nq) and what the feet were asked."""
        t, n = self.tuning, len(self.times)
        neutral = np.repeat(self.character.neutral[None], n, axis=0)
        count = len(self.point_bodies)
        places, pulls = np.zeros((n, count, 3)), np.zeros((n, count))
        places[:, : self.asked.shape[1]] = self.asked
        pulls[:, : self.led] = 30.0 / self.unit
        first = np.zeros(n, dtype=np.int64)
        first[self.cuts[:-1]] = 1
        guess = neutral.copy()
        for f in self.cuts[:-1]:
            guess[f] = self._first_guess(int(f))
        tie = self._tie(t.rest)
        drawn = self._fit(guess, first, places, pulls, 0.0, tie, neutral, 60, 1e-4, 0.0)
        frames = body_frames(self.character, drawn)
        footing = plan_footing(self.soles, self.stands, self.times, self.cuts, *frames, leg_length(self.target))
        places[:, 0] = self.asked[:, 0] + footing.shift
        places[:, self.handed :] = footing.places
        for k, (_, shoulders, way) in enumerate(self.hands, start=self.led):
            places[:, k] = frames[0][:, shoulders].mean(axis=1) + footing.shift + way
            pulls[:, k] = t.hands / self.unit
        pulls[:, 0] = t.hips / self.unit
        pulls[:, 1 : self.led] = 0.0
        ends = {reach.ankle for reach in self.pairing.reaches}
        swing = np.array([t.swing * (0.3 if s.body in ends else 1.0) for s in self.soles for _ in s.bodies])
        pulls[:, self.handed :] = (swing + (t.stance - swing) * footing.firmness) / self.unit
        guess = drawn.copy()
        if self.character.joints and self.character.joints[0].kind == "free":
            guess[:, :3] += footing.shift
        walked = self._fit(guess, first, places, pulls, t.ground / self.unit, tie, neutral, t.steps, 1e-4, 1.0)
        dt = float(np.median(np.diff(self.times))) if n > 1 else 1.0
        reach = max(1, int(np.ceil(2.5 * t.span / dt)))
        weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) * dt / t.span) ** 2)
        tree = tree_of(self.character)
        calm = smooth_poses(walked, self.cuts, weights, tree[5], tree[6], tree[7])
        tie = self._tie(t.smooth)
        tie[self.character.root_dofs] = self._root_tie()
        made = self._fit(walked, first, places, pulls, t.ground / self.unit, tie, calm, t.steps, 1e-5, 1.0)
        return self._inside(made), footing

    def _fit(
        self, guess: Array, first: Ints, places: Array, pulls: Array, ground: float, tie: Array, reference: Array,
        most: int, tolerance: float, follow: float,
    ) -> Array:  # fmt: skip
        tree, above = tree_of(self.character), dof_lists(self.character)
        links = self.pairing.links
        aims = (
            np.array([link.body for link in links], dtype=np.int64),
            np.array([link.axis for link in links], dtype=np.float64).reshape(-1, 3),
            np.array([link.weight for link in links], dtype=np.float64).reshape(-1, 2),
        )
        floors = np.zeros(len(self.point_bodies))
        floors[self.handed :] = ground
        limits = self.character.limits
        every = np.arange(self.character.nv, dtype=np.int64)
        poses, _ = fit_frames(
            np.ascontiguousarray(guess), first, tree, above, aims, np.ascontiguousarray(self.wanted),
            (self.point_bodies, self.point_locals, floors), places, pulls, tie, np.ascontiguousarray(reference),
            (limits.range_qpos, limits.range_dof, limits.range_low, limits.range_high), limits.ball_tables(every),
            (self.tuning.limit, self.tuning.inside), most, tolerance, follow,
        )  # fmt: skip
        return poses

    def _tie(self, led: float) -> Array:
        """How much each dof leans on the reference (nv,): led joints a little, idle ones more, the root not at all."""
        model = self.character.model
        leading = {link.body for link in self.pairing.links}
        leading |= {b for reach in self.pairing.reaches for b in self.target.limbs[reach.limb]}
        tie = np.empty(self.character.nv)
        for dof in range(self.character.nv):
            tie[dof] = led if int(model.dof_bodyid[dof]) in leading else self.tuning.idle
        for reach in self.pairing.reaches:
            for body in self.target.limbs[reach.limb]:
                start = int(model.body_dofadr[body])
                tie[start : start + int(model.body_dofnum[body])] = max(led, self.tuning.fold)
        root = self.character.root_dofs
        tie[root] = 1e-4
        return tie

    def _root_tie(self) -> Array:
        """How much the root leans on its smoothed self, by dof: places and turns [1/m, 1/rad]."""
        model, t = self.character.model, self.tuning
        places, turns = t.steady / self.unit, 3.0 * t.smooth
        out: list[float] = []
        for joint in range(model.njnt):
            if int(model.jnt_dofadr[joint]) < self.character.root_dofs.stop:
                kind = int(model.jnt_type[joint])
                out += [places] * 3 + [turns] * 3 if kind == 0 else [places if kind == 2 else turns]
        return np.array(out, dtype=np.float64)

    def _first_guess(self, frame: int) -> Array:
        """A pose in which every led ball joint is as it is asked to be, and every led hinge as near as it goes."""
        q = self.character.neutral.copy()
        model = self.character.model
        asked = {link.body: self.wanted[frame, k] for k, link in enumerate(self.pairing.links)}
        turns = np.zeros((model.nbody, 4))
        turns[0, 0] = 1.0
        for body in range(1, model.nbody):
            fixed = spatial.multiply(turns[model.body_parentid[body]], model.body_quat[body])
            for j in range(int(model.body_jntadr[body]), int(model.body_jntadr[body]) + int(model.body_jntnum[body])):
                kind, at = int(model.jnt_type[j]), int(model.jnt_qposadr[j])
                left = spatial.multiply(spatial.conjugate(fixed), asked[body]) if body in asked else None
                if kind == 0:
                    q[at : at + 3] = self.hips[frame]
                    if left is not None:
                        q[at + 3 : at + 7] = asked[body]
                    fixed = q[at + 3 : at + 7]
                elif kind == 1:
                    if left is not None:
                        q[at : at + 4] = left
                    fixed = spatial.multiply(fixed, q[at : at + 4])
                elif kind == 3:
                    axis = model.jnt_axis[j]
                    if left is not None:
                        _, twist = spatial.swing_twist(left, axis)
                        q[at] = model.qpos0[at] + 2.0 * np.arctan2(twist[1:] @ axis, twist[0])
                    fixed = spatial.multiply(fixed, spatial.from_axis_angle(axis, q[at] - model.qpos0[at]))
            turns[body] = fixed
        if self.target.hips != 1 and model.nbody > 1:  # the root is above the hips: carry it along
            now, _ = body_frames(self.character, q[None])
            if self.character.joints[0].kind == "free":
                q[:3] += self.hips[frame] - now[0, self.target.hips]
        return self.character.limits.clamp(q)

    def _inside(self, poses: Array) -> Array:
        """What the fit left outside a limit, brought back."""
        limits = self.character.limits
        out = poses.copy()
        for f in range(len(out)):
            if len(limits) and limits.values(out[f]).max() > 1e-9:
                out[f] = limits.clamp(out[f])
        return out


def led_feet(target: Anatomy, markers: Sequence[FootMarker], flags: Flags) -> list[tuple[Sole, tuple[Flags, Flags]]]:
    """Every foot of the target with the (heel, ball) contacts of the source's foot it follows."""
    out = []
    none = np.zeros(len(flags), dtype=bool)
    for foot in target.character.feet:
        body = target.character.body_id(foot.body)
        limb = next((name for name, bodies in target.limbs.items() if name.startswith("foot") and body in bodies), "")
        parts = {m.part: flags[:, k] for k, m in enumerate(markers) if m.foot == limb}
        out.append((sole_of(target, foot, rest_facing(target)), (parts.get("heel", none), parts.get("ball", none))))
    return out
