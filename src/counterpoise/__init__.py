"""Counterpoise: optimisation-based and physics-based character animation.

    import counterpoise as cp

    human = cp.character("human", height=1.75, mass=73.0)
    rec = cp.simulate(human, cp.HoldPose(), seconds=2.0, disturbances=[cp.Push("thorax", (60, 0, 0), 0.5, 0.1)])
    cp.filmstrip(rec, path="push.png")

Names are loaded when they are first used, so that importing the package is quick. The rooms `character` and
`simulate` can be called: they are also the functions of those names.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from counterpoise.character import BallLimit as BallLimit
    from counterpoise.character import Character as Character
    from counterpoise.character import ContactPoint as ContactPoint
    from counterpoise.character import Foot as Foot
    from counterpoise.character import Joint as Joint
    from counterpoise.character import JointLimits as JointLimits
    from counterpoise.character import State as State
    from counterpoise.character.library import character as character
    from counterpoise.character.library import characters as characters
    from counterpoise.character.loading import load_character as load_character
    from counterpoise.character.snapshot import Snapshot as Snapshot
    from counterpoise.control import Action as Action
    from counterpoise.control import Balance as Balance
    from counterpoise.control import BalanceTuning as BalanceTuning
    from counterpoise.control import Controller as Controller
    from counterpoise.control import Drag as Drag
    from counterpoise.control import HoldPose as HoldPose
    from counterpoise.control import MomentumBalance as MomentumBalance
    from counterpoise.control import MomentumTuning as MomentumTuning
    from counterpoise.control import Passive as Passive
    from counterpoise.control import Stand as Stand
    from counterpoise.control import StandTuning as StandTuning
    from counterpoise.control import WholeBody as WholeBody
    from counterpoise.control import WholeBodyTuning as WholeBodyTuning
    from counterpoise.control import build_whole_body as build_whole_body
    from counterpoise.control import solve_whole_body as solve_whole_body
    from counterpoise.errors import CounterpoiseError as CounterpoiseError
    from counterpoise.fleet import convert_files as convert_files
    from counterpoise.motion import Keyframe as Keyframe
    from counterpoise.motion import Motion as Motion
    from counterpoise.motion import keyframed as keyframed
    from counterpoise.motion import pose_from_joints as pose_from_joints
    from counterpoise.motion import reference_motion as reference_motion
    from counterpoise.motion import reference_motions as reference_motions
    from counterpoise.motion.contacts import ContactWindow as ContactWindow
    from counterpoise.motion.contacts import find_contacts as find_contacts
    from counterpoise.motion.files.hub import read_motion as read_motion
    from counterpoise.motion.retarget.transfer import RetargetReport as RetargetReport
    from counterpoise.motion.retarget.transfer import RetargetTuning as RetargetTuning
    from counterpoise.motion.retarget.transfer import retarget as retarget
    from counterpoise.motion.retarget.transfer import retarget_with_report as retarget_with_report
    from counterpoise.objectives import Contact as Contact
    from counterpoise.objectives import Footing as Footing
    from counterpoise.objectives import JointStops as JointStops
    from counterpoise.objectives import MinimumTorque as MinimumTorque
    from counterpoise.objectives import Momentum as Momentum
    from counterpoise.objectives import Objective as Objective
    from counterpoise.objectives import Setpoint as Setpoint
    from counterpoise.objectives import Surface as Surface
    from counterpoise.objectives import Target as Target
    from counterpoise.objectives import TrackPose as TrackPose
    from counterpoise.objectives import along as along
    from counterpoise.objectives import faded as faded
    from counterpoise.objectives import moving_surface as moving_surface
    from counterpoise.pose import AboveGround as AboveGround
    from counterpoise.pose import Aim as Aim
    from counterpoise.pose import Balanced as Balanced
    from counterpoise.pose import CenterOfMass as CenterOfMass
    from counterpoise.pose import Couple as Couple
    from counterpoise.pose import Curve as Curve
    from counterpoise.pose import FixJoint as FixJoint
    from counterpoise.pose import Lock as Lock
    from counterpoise.pose import OnCurve as OnCurve
    from counterpoise.pose import OnPlane as OnPlane
    from counterpoise.pose import Orient as Orient
    from counterpoise.pose import Pin as Pin
    from counterpoise.pose import Pose as Pose
    from counterpoise.pose import PoseDrag as PoseDrag
    from counterpoise.pose import PoseTuning as PoseTuning
    from counterpoise.pose import Posture as Posture
    from counterpoise.pose import Reach as Reach
    from counterpoise.pose import build_pose_problem as build_pose_problem
    from counterpoise.pose import solve_pose as solve_pose
    from counterpoise.pose.animate import animate as animate
    from counterpoise.pose.animate import animate_with_report as animate_with_report
    from counterpoise.pose.keys import animate_keys as animate_keys
    from counterpoise.pose.keys import animate_keys_with_report as animate_keys_with_report
    from counterpoise.pose.paths import Path as Path
    from counterpoise.pose.planar import PlanarDrag as PlanarDrag
    from counterpoise.pose.planar import solve_planar as solve_planar
    from counterpoise.render import Camera as Camera
    from counterpoise.render import filmstrip as filmstrip
    from counterpoise.render import still as still
    from counterpoise.render.video import video as video
    from counterpoise.simulate import Platform as Platform
    from counterpoise.simulate import Push as Push
    from counterpoise.simulate import Recording as Recording
    from counterpoise.simulate import Session as Session
    from counterpoise.simulate import Sine as Sine
    from counterpoise.simulate import Spring as Spring
    from counterpoise.simulate import World as World
    from counterpoise.simulate import push_schedule as push_schedule
    from counterpoise.simulate import random_pushes as random_pushes
    from counterpoise.simulate.loop import simulate as simulate
    from counterpoise.simulate.replay import replay as replay
    from counterpoise.spacetime import Apart as Apart
    from counterpoise.spacetime import Apex as Apex
    from counterpoise.spacetime import CheckReport as CheckReport
    from counterpoise.spacetime import CheckTuning as CheckTuning
    from counterpoise.spacetime import Clear as Clear
    from counterpoise.spacetime import ContactForces as ContactForces
    from counterpoise.spacetime import Cycle as Cycle
    from counterpoise.spacetime import Effort as Effort
    from counterpoise.spacetime import Facing as Facing
    from counterpoise.spacetime import FixResult as FixResult
    from counterpoise.spacetime import FixTuning as FixTuning
    from counterpoise.spacetime import Key as Key
    from counterpoise.spacetime import Moment as Moment
    from counterpoise.spacetime import MotionProblem as MotionProblem
    from counterpoise.spacetime import Place as Place
    from counterpoise.spacetime import Result as Result
    from counterpoise.spacetime import Stunt as Stunt
    from counterpoise.spacetime import Taste as Taste
    from counterpoise.spacetime import TorqueLimit as TorqueLimit
    from counterpoise.spacetime import Touch as Touch
    from counterpoise.spacetime import aggregate_force as aggregate_force
    from counterpoise.spacetime import aggregate_force_derivatives as aggregate_force_derivatives
    from counterpoise.spacetime import build_motion_problem as build_motion_problem
    from counterpoise.spacetime import check_motion as check_motion
    from counterpoise.spacetime import fix_motion as fix_motion
    from counterpoise.spacetime import joint_torque_derivatives as joint_torque_derivatives
    from counterpoise.spacetime import joint_torques as joint_torques
    from counterpoise.spacetime import optimize_motion as optimize_motion
    from counterpoise.spacetime import read_stunt as read_stunt
    from counterpoise.spacetime import solve_motion as solve_motion

__version__ = "0.1.0"

_HOMES = {
    "character": ("BallLimit", "Character", "ContactPoint", "Foot", "Joint", "JointLimits", "State"),
    "character.library": ("characters",),
    "character.loading": ("load_character",),
    "character.snapshot": ("Snapshot",),
    "control": (
        "Action", "Balance", "BalanceTuning", "Drag", "MomentumBalance", "MomentumTuning",
        "Controller", "HoldPose", "Passive", "Stand", "StandTuning", "WholeBody", "WholeBodyTuning", "build_whole_body",
        "solve_whole_body",
    ),
    "errors": ("CounterpoiseError",),
    "fleet": ("convert_files",),
    "motion": ("Keyframe", "Motion", "keyframed", "pose_from_joints", "reference_motion", "reference_motions"),
    "objectives": (
        "Contact", "Footing", "JointStops", "MinimumTorque", "Momentum", "Objective", "Setpoint", "Surface", "Target",
        "TrackPose", "along", "faded", "moving_surface",
    ),
    "motion.contacts": ("ContactWindow", "find_contacts"),
    "motion.files.hub": ("read_motion",),
    "motion.retarget": ("RetargetReport", "RetargetTuning", "retarget", "retarget_with_report"),
    "pose": (
        "AboveGround", "Aim", "Balanced", "CenterOfMass", "Couple", "Curve", "FixJoint", "Lock", "OnCurve", "OnPlane",
        "Orient", "Pin", "Pose", "PoseDrag", "PoseTuning", "Posture", "Reach", "build_pose_problem", "solve_pose",
    ),
    "pose.animate": ("animate", "animate_with_report"),
    "pose.keys": ("animate_keys", "animate_keys_with_report"),
    "pose.paths": ("Path",),
    "pose.planar": ("PlanarDrag", "solve_planar"),
    "render": ("Camera", "filmstrip", "still", "video"),
    "simulate": (
        "Platform", "Push", "Recording", "Session", "Sine", "Spring", "World", "push_schedule", "random_pushes",
        "replay",
    ),
    "spacetime": (
        "Apart", "Apex", "CheckReport", "CheckTuning", "Clear", "ContactForces", "Cycle", "Effort", "Facing",
        "FixResult", "FixTuning", "Key", "Moment", "MotionProblem", "Place", "Result", "Stunt", "Taste",
        "TorqueLimit", "Touch", "aggregate_force", "aggregate_force_derivatives", "build_motion_problem",
        "check_motion", "fix_motion", "joint_torque_derivatives", "joint_torques", "optimize_motion", "read_stunt",
        "solve_motion",
    ),
}  # fmt: skip
_WHERE = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = {
    room: room
    for room in (
        "character",
        "control",
        "experiments",
        "features",
        "fleet",
        "measure",
        "motion",
        "objectives",
        "pose",
        "render",
        "simulate",
        "spacetime",
        "spatial",
    )
}
_ROOMS["editing"] = "character.editing"  # part of a room, but a word of its own

__all__ = ["__version__", "character", "simulate", *sorted(_WHERE)]


def __getattr__(name: str) -> Any:
    home = _WHERE.get(name)
    if home is not None:
        value = getattr(import_module(f"{__name__}.{home}"), name)
    elif name in _ROOMS:
        value = import_module(f"{__name__}.{_ROOMS[name]}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_WHERE, *_ROOMS})
