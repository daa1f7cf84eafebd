"""The benchmark's body: a humanoid of 40 hinges with human limits, as MJCF (ours, mink) and as URDF (pink, placo).

One table says it all; several hinges of a segment act in the order given. Lengths in metres, angles in degrees.
Left-hand joints are written down; the right side is the mirror image (x- and z-hinges change sign).
"""

from __future__ import annotations

from dataclasses import dataclass

import mujoco
import numpy as np

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
HEIGHT = 0.96  # [m] of the pelvis
WEIGHT = 1.6  # [kg] of every segment: only kinematics count here


@dataclass(frozen=True)
class Hinge:
    name: str
    axis: str
    low: float  # [deg]
    high: float
    rest: float


@dataclass(frozen=True)
class Segment:
    name: str
    parent: str
    offset: tuple[float, float, float]  # [m] from the parent's origin
    hinges: tuple[Hinge, ...]


def _trunk() -> list[Segment]:
    return [
        Segment("lumbar", "pelvis", (0.0, 0.0, 0.11), (
            Hinge("lumbar_y", "y", -20, 50, 4), Hinge("lumbar_x", "x", -25, 25, 0),
            Hinge("lumbar_z", "z", -25, 25, 0))),
        Segment("thorax", "lumbar", (0.0, 0.0, 0.17), (
            Hinge("thorax_y", "y", -20, 35, 2), Hinge("thorax_x", "x", -20, 20, 0),
            Hinge("thorax_z", "z", -35, 35, 0))),
        Segment("head", "thorax", (0.0, 0.0, 0.29), (
            Hinge("neck_z", "z", -70, 70, 0), Hinge("neck_y", "y", -40, 50, 0))),
    ]  # fmt: skip


def _left() -> list[Segment]:
    return [
        Segment("scapula", "thorax", (0.0, 0.04, 0.23), (
            Hinge("scapula_z", "z", -20, 25, 0), Hinge("scapula_x", "x", -8, 35, 3))),
        Segment("upper_arm", "scapula", (0.0, 0.16, 0.0), (
            Hinge("shoulder_y", "y", -140, 60, -20), Hinge("shoulder_x", "x", -95, 95, -55),
            Hinge("shoulder_z", "z", -95, 70, -5))),
        Segment("forearm", "upper_arm", (0.0, 0.29, 0.0), (
            Hinge("elbow_z", "z", -145, 0, -35), Hinge("forearm_y", "y", -85, 85, 0))),
        Segment("hand", "forearm", (0.0, 0.26, 0.0), (
            Hinge("wrist_x", "x", -70, 75, 0), Hinge("wrist_z", "z", -20, 35, 0))),
        Segment("thigh", "pelvis", (0.0, 0.095, -0.06), (
            Hinge("hip_y", "y", -120, 25, -18), Hinge("hip_x", "x", -25, 45, 2), Hinge("hip_z", "z", -35, 45, 0))),
        Segment("shin", "thigh", (0.0, 0.0, -0.42), (Hinge("knee_y", "y", 0, 145, 34),)),
        Segment("foot", "shin", (0.0, 0.0, -0.41), (
            Hinge("ankle_y", "y", -45, 30, -16), Hinge("ankle_x", "x", -25, 25, -2))),
        Segment("toe", "foot", (0.13, 0.0, -0.07), (Hinge("toe_y", "y", -50, 35, 0),)),
    ]  # fmt: skip


def _side(segment: Segment, side: str) -> Segment:
    """`l_` as written, `r_` mirrored in the x-z plane."""
    flip = side == "r"
    x, y, z = segment.offset
    hinges = []
    for h in segment.hinges:
        low, high, rest = (-h.high, -h.low, -h.rest) if flip and h.axis != "y" else (h.low, h.high, h.rest)
        hinges.append(Hinge(f"{side}_{h.name}", h.axis, low, high, rest))
    trunk = segment.parent in ("pelvis", "thorax")
    parent = segment.parent if trunk else f"{side}_{segment.parent}"
    return Segment(f"{side}_{segment.name}", parent, (x, -y if flip else y, z), tuple(hinges))


SEGMENTS = [*_trunk(), *(_side(segment, side) for side in "lr" for segment in _left())]
EFFECTORS: dict[str, tuple[str, tuple[float, float, float]]] = {
    "l_grip": ("l_hand", (0.0, 0.09, 0.0)),
    "r_grip": ("r_hand", (0.0, -0.09, 0.0)),
    "l_tip": ("l_toe", (0.05, 0.0, 0.0)),
    "r_tip": ("r_toe", (0.05, 0.0, 0.0)),
}
HANDS, FEET = ("l_grip", "r_grip"), ("l_tip", "r_tip")


def _depth_first(parent: str) -> list[Hinge]:
    return [h for s in SEGMENTS if s.parent == parent for h in (*s.hinges, *_depth_first(s.name))]


HINGES = _depth_first("pelvis")  # MuJoCo's order
NAMES = [h.name for h in HINGES]
LOW, HIGH, REST = (np.radians([getattr(h, what) for h in HINGES]) for what in ("low", "high", "rest"))
assert len(HINGES) == 40 and (LOW <= REST).all() and (REST <= HIGH).all()


def _numbers(values: tuple[float, ...]) -> str:
    return " ".join(f"{v:.12g}" for v in values)


def mjcf(free: bool) -> str:
    def segment(name: str, offset: tuple[float, float, float], hinges: tuple[Hinge, ...]) -> str:
        out = f'<body name="{name}" pos="{_numbers(offset)}">'
        if name == "pelvis" and free:
            out += '<freejoint name="root"/>'
        out += f'<inertial pos="0 0 0" mass="{WEIGHT}" diaginertia="0.02 0.02 0.02"/>'
        for h in hinges:
            span = f"{np.radians(h.low):.15g} {np.radians(h.high):.15g}"
            out += f'<joint name="{h.name}" axis="{_numbers(AXES[h.axis])}" limited="true" range="{span}"/>'
        for site, (body, place) in EFFECTORS.items():
            out += f'<site name="{site}" pos="{_numbers(place)}"/>' if body == name else ""
        return out + "".join(segment(s.name, s.offset, s.hinges) for s in SEGMENTS if s.parent == name) + "</body>"

    body = segment("pelvis", (0.0, 0.0, HEIGHT), ())
    return f'<mujoco model="hinged"><compiler angle="radian"/><worldbody>{body}</worldbody></mujoco>'


def urdf(free: bool) -> str:
    out = ['<robot name="hinged">']

    def link(name: str, mass: float) -> None:
        inertia = f'<inertia ixx="{mass / 80:g}" iyy="{mass / 80:g}" izz="{mass / 80:g}" ixy="0" ixz="0" iyz="0"/>'
        out.append(f'<link name="{name}"><inertial><mass value="{mass:g}"/>{inertia}</inertial></link>')

    def joint(name: str, kind: str, parent: str, child: str, offset: tuple[float, ...], extra: str = "") -> None:
        ends = f'<parent link="{parent}"/><child link="{child}"/><origin xyz="{_numbers(offset)}" rpy="0 0 0"/>'
        out.append(f'<joint name="{name}" type="{kind}">{ends}{extra}</joint>')

    if not free:
        link("ground", WEIGHT)
        joint("stand", "fixed", "ground", "pelvis", (0.0, 0.0, HEIGHT))
    link("pelvis", WEIGHT)
    for s in SEGMENTS:
        before = s.parent
        for i, h in enumerate(s.hinges):
            last = i == len(s.hinges) - 1
            after = s.name if last else f"{s.name}_between_{i}"
            link(after, WEIGHT if last else 1e-4)
            span = f'lower="{np.radians(h.low):.15g}" upper="{np.radians(h.high):.15g}"'
            extra = f'<axis xyz="{_numbers(AXES[h.axis])}"/><limit {span} effort="1000" velocity="1000"/>'
            joint(h.name, "revolute", before, after, s.offset if i == 0 else (0.0, 0.0, 0.0), extra)
            before = after
    for site, (body, place) in EFFECTORS.items():
        link(site, 1e-4)
        joint(f"{site}_mount", "fixed", body, site, place)
    return "\n".join([*out, "</robot>"])


class Judge:
    """Where a pose puts the four effectors; every method's poses go through it, in MuJoCo's coordinates."""

    def __init__(self, free: bool) -> None:
        self.free = free
        self.model = mujoco.MjModel.from_xml_string(mjcf(free))
        self.data = mujoco.MjData(self.model)
        self.head = self.model.nq - 40
        self.sites = [self.model.site(name).id for name in EFFECTORS]
        self.rest = np.concatenate([[0.0, 0.0, HEIGHT, 1.0, 0.0, 0.0, 0.0] if free else [], REST])

    def places(self, q: np.ndarray) -> np.ndarray:
        """Positions of the effectors; (4, 3) [m]."""
        self.data.qpos[:] = q
        mujoco.mj_kinematics(self.model, self.data)
        return self.data.site_xpos[self.sites].copy()

    def frames(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Positions (4, 3) and rotations (4, 3, 3)."""
        return self.places(q), self.data.site_xmat[self.sites].reshape(4, 3, 3).copy()

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Of the positions; (12, nv)."""
        self.places(q)
        mujoco.mj_comPos(self.model, self.data)
        J = np.zeros((12, self.model.nv))
        for k, site in enumerate(self.sites):
            mujoco.mj_jacSite(self.model, self.data, J[3 * k : 3 * k + 3], None, site)
        return J

    def beyond_limits(self, q: np.ndarray) -> float:
        """The largest violation of a limit [rad]."""
        joints = q[self.head :]
        return float(max(0.0, (LOW - joints).max(), (joints - HIGH).max()))

    def random_pose(self, rng: np.random.Generator) -> np.ndarray:
        q = self.rest.copy()
        q[self.head :] = rng.uniform(LOW, HIGH)
        if self.free:
            q[:3] += rng.uniform(-0.3, 0.3, 3)
            axis = rng.normal(size=3)
            mujoco.mju_axisAngle2Quat(q[3:7], axis / np.linalg.norm(axis), rng.uniform(0.0, 0.6))
        return q
