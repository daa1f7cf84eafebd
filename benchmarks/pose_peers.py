"""mink, pink and placo behind one small interface: start at a pose, aim at targets, take a step.

A peer is run as its users run it and with its damping tuned (on other targets than those measured). Where it offers no
task for the position of a point alone we give it one (mink's and pink's frame tasks tie the position to the orientation
even at orientation cost zero), since that is faster and more often successful: the comparison is with the better.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Sequence
from pathlib import Path

import mink
import mujoco
import numpy as np
import pink
import pinocchio
import placo
from pose_humanoid import EFFECTORS, NAMES, Judge, urdf

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)
NAMES_OF_POINTS = list(EFFECTORS)
Target = np.ndarray | tuple[np.ndarray, np.ndarray]  # places (4, 3), or places and rotations (4, 3, 3)
TURN = 0.3  # [m/rad] weight of a rotation beside a translation: the same for all


class MinkPoint(mink.Task):
    """The position of a site, nothing else."""

    def __init__(self, site: str, damping: float) -> None:
        super().__init__(cost=np.ones(3), gain=1.0, lm_damping=damping)
        self.site, self.place = site, np.zeros(3)

    def compute_error(self, configuration: mink.Configuration) -> np.ndarray:
        return configuration.data.site(self.site).xpos - self.place

    def compute_jacobian(self, configuration: mink.Configuration) -> np.ndarray:
        J = np.zeros((3, configuration.model.nv))
        site = configuration.model.site(self.site).id
        mujoco.mj_jacSite(configuration.model, configuration.data, J, None, site)
        return J


class Mink:
    def __init__(
        self, judge: Judge, task: str, solver: str = "daqp", damping: float = 1e-12, lm: float = 0.0,
        gain: float = 0.95, pins: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.judge, self.solver, self.damping = judge, solver, damping
        self.configuration = mink.Configuration(judge.model)
        self.points, self.frames = {}, {}
        for name in NAMES_OF_POINTS:
            if name in pins or task == "point":
                self.points[name] = MinkPoint(name, 0.0 if name in pins else lm)
            else:
                turn = TURN if task == "pose" else 0.0
                self.frames[name] = mink.FrameTask(name, "site", 1.0, turn, lm_damping=lm)
        both = {**self.points, **self.frames}
        self.tasks = [both[name] for name in NAMES_OF_POINTS if name not in pins]
        self.pins = [self.points[name] for name in pins] or None
        self.limits = [mink.ConfigurationLimit(judge.model, gain=gain)]

    def start(self, q: np.ndarray) -> None:
        self.configuration.update(q.copy())

    def aim(self, target: Target) -> None:
        places, turns = target if isinstance(target, tuple) else (target, None)
        for k, name in enumerate(NAMES_OF_POINTS):
            if name in self.points:
                self.points[name].place = places[k]
            elif turns is None:
                self.frames[name].set_target(mink.SE3.from_translation(places[k]))
            else:
                turn = mink.SO3.from_matrix(turns[k])
                self.frames[name].set_target(mink.SE3.from_rotation_and_translation(turn, places[k]))

    def step(self) -> None:
        v = mink.solve_ik(
            self.configuration, self.tasks, 1.0, self.solver, damping=self.damping, limits=self.limits,
            constraints=self.pins,
        )  # fmt: skip
        self.configuration.integrate_inplace(v, 1.0)

    def q(self) -> np.ndarray:
        return self.configuration.q.copy()


class PinkPoint(pink.tasks.Task):
    """The position of a frame, nothing else."""

    def __init__(self, frame: str, damping: float) -> None:
        super().__init__(cost=np.ones(3), gain=1.0, lm_damping=damping)
        self.frame, self.place = frame, np.zeros(3)

    def compute_error(self, configuration: pink.Configuration) -> np.ndarray:
        return configuration.get_transform_frame_to_world(self.frame).translation - self.place

    def compute_jacobian(self, configuration: pink.Configuration) -> np.ndarray:
        turn = configuration.get_transform_frame_to_world(self.frame).rotation
        return turn @ configuration.get_frame_jacobian(self.frame)[:3]

    def __repr__(self) -> str:
        return f"PinkPoint({self.frame})"


class Pink:
    def __init__(
        self, judge: Judge, task: str, solver: str = "daqp", damping: float = 1e-12, lm: float = 0.0,
        gain: float = 0.5, pins: Sequence[str] = (),
    ) -> None:  # fmt: skip
        self.judge, self.solver, self.damping = judge, solver, damping
        text = urdf(judge.free)
        root = (pinocchio.JointModelFreeFlyer(),) if judge.free else ()
        self.model = pinocchio.buildModelFromXML(text, *root)
        self.at = np.array([self.model.joints[self.model.getJointId(name)].idx_q for name in NAMES])
        self.configuration = pink.Configuration(self.model, self.model.createData(), self._from(judge.rest))
        self.points, self.frames = {}, {}
        for name in NAMES_OF_POINTS:
            if name in pins or task == "point":
                self.points[name] = PinkPoint(name, 0.0 if name in pins else lm)
            else:
                self.frames[name] = pink.tasks.FrameTask(name, 1.0, TURN if task == "pose" else 0.0, lm_damping=lm)
        both = {**self.points, **self.frames}
        self.tasks = [both[name] for name in NAMES_OF_POINTS if name not in pins]
        self.pins = [self.points[name] for name in pins] or None
        self.limits = [pink.limits.ConfigurationLimit(self.model, config_limit_gain=gain)]

    def _from(self, q: np.ndarray) -> np.ndarray:
        x = pinocchio.neutral(self.model)
        x[self.at] = q[self.judge.head :]
        if self.judge.free:
            x[:3], x[3:6], x[6] = q[:3], q[4:7], q[3]
        return x

    def start(self, q: np.ndarray) -> None:
        self.configuration.update(self._from(q))

    def aim(self, target: Target) -> None:
        places, turns = target if isinstance(target, tuple) else (target, None)
        for k, name in enumerate(NAMES_OF_POINTS):
            if name in self.points:
                self.points[name].place = places[k]
            else:
                turn = np.eye(3) if turns is None else turns[k]
                self.frames[name].set_target(pinocchio.SE3(turn, places[k]))

    def step(self) -> None:
        v = pink.solve_ik(
            self.configuration, self.tasks, 1.0, self.solver, damping=self.damping, limits=self.limits,
            constraints=self.pins, safety_break=False,
        )  # fmt: skip
        self.configuration.integrate_inplace(v, 1.0)

    def q(self) -> np.ndarray:
        x = self.configuration.q
        root = np.concatenate([x[:3], x[6:7], x[3:6]]) if self.judge.free else np.empty(0)
        return np.concatenate([root, x[self.at]])


class Placo:
    def __init__(
        self, judge: Judge, task: str, folder: Path, damping: float = 1e-6, pins: Sequence[str] = (), hard: bool = False
    ) -> None:
        self.judge, self.posed = judge, task == "pose"
        path = folder / f"placo_{'free' if judge.free else 'fixed'}.urdf"
        path.write_text(urdf(judge.free), encoding="utf-8")
        self.robot = placo.RobotWrapper(str(path), placo.Flags.ignore_collisions)
        self.solver = placo.KinematicsSolver(self.robot)
        self.solver.mask_fbase(not judge.free)
        self.solver.enable_joint_limits(True)
        self.solver.enable_velocity_limits(False)
        self.tasks = []
        for name in NAMES_OF_POINTS:
            how = "hard" if hard or name in pins else "soft"
            if self.posed:
                task_ = self.solver.add_frame_task(name, np.eye(4))
                task_.configure(name, how, 1.0, TURN**2)  # placo's weights multiply squares
            else:
                task_ = self.solver.add_position_task(name, np.zeros(3))
                task_.configure(name, how, 1.0)
            self.tasks.append(task_)
        if damping > 0.0:
            self.solver.add_regularization_task(damping)

    def start(self, q: np.ndarray) -> None:
        self.robot.reset()
        if self.judge.free:
            T = np.eye(4)
            T[:3, 3] = q[:3]
            turn = np.empty(9)
            mujoco.mju_quat2Mat(turn, q[3:7])
            T[:3, :3] = turn.reshape(3, 3)
            self.robot.set_T_world_fbase(T)
        for name, angle in zip(NAMES, q[self.judge.head :], strict=True):
            self.robot.set_joint(name, angle)
        self.robot.update_kinematics()

    def aim(self, target: Target) -> None:
        places, turns = target if isinstance(target, tuple) else (target, None)
        for k, task in enumerate(self.tasks):
            if turns is None:
                task.target_world = places[k]
            else:
                T = np.eye(4)
                T[:3, :3], T[:3, 3] = turns[k], places[k]
                task.T_world_frame = T

    def step(self) -> None:
        self.solver.solve(True)
        self.robot.update_kinematics()

    def q(self) -> np.ndarray:
        joints = np.array([self.robot.get_joint(name) for name in NAMES])
        if not self.judge.free:
            return joints
        T = self.robot.get_T_world_fbase()
        root = np.zeros(7)
        root[:3] = T[:3, 3]
        mujoco.mju_mat2Quat(root[3:], np.ascontiguousarray(T[:3, :3]).ravel())
        return np.concatenate([root, joints])


def check_kinematics(judge: Judge, folder: Path) -> float:
    """All speak of the same body: the largest distance [m] between the effectors of the four models."""
    q = judge.random_pose(np.random.default_rng(1))
    wanted = judge.places(q)
    a, b = Pink(judge, "point"), Placo(judge, "point", folder)
    a.start(q)
    b.start(q)
    with_pink = [a.configuration.get_transform_frame_to_world(name).translation for name in NAMES_OF_POINTS]
    with_placo = [b.robot.get_T_world_frame(name)[:3, 3] for name in NAMES_OF_POINTS]
    back = max(np.abs(judge.places(x.q()) - wanted).max() for x in (a, b))
    return float(max(np.abs(with_pink - wanted).max(), np.abs(with_placo - wanted).max(), back))
