"""Proportions of the human body: D. Winter, Biomechanics and Motor Control of Human Movement, table 4.1 and figure 4.1.

M is body mass, H height, L segment length. Thorax, abdomen and pelvis share the trunk's 0.288 H.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SegmentTable:
    mass: float  # of M
    length: float  # of H
    com: float | None = None  # from the proximal end, of L
    gyration: float | None = None  # about the CoM, across the bone, of L


WINTER = {
    "hand": SegmentTable(0.006, 0.108, 0.506, 0.297),
    "forearm": SegmentTable(0.016, 0.146, 0.430, 0.303),
    "upper_arm": SegmentTable(0.028, 0.186, 0.436, 0.322),
    "foot": SegmentTable(0.0145, 0.152, 0.50, 0.475),
    "shank": SegmentTable(0.0465, 0.246, 0.433, 0.302),
    "thigh": SegmentTable(0.100, 0.245, 0.433, 0.323),
    "head": SegmentTable(0.081, 0.182, None, 0.495),
    "thorax": SegmentTable(0.216, 0.134),
    "abdomen": SegmentTable(0.139, 0.088),
    "pelvis": SegmentTable(0.142, 0.066),
}
FOOT_HEIGHT = 0.039  # of H
FOOT_BREADTH = 0.055  # of H
SHOULDER_HALF_WIDTH = 0.129  # of H, to the outside of the shoulder
HIP_HALF_WIDTH = 0.0955  # of H, to the outside of the hip
TOES_MASS = 0.12  # of the foot's
TOES_LENGTH = 0.28  # of the foot's

STANDARD_HEIGHT = 1.75  # [m] of the person the numbers below belong to
STANDARD_MASS = 73.0  # [kg]

# Torque limits of that person, who is strong [N m], and passive joint damping [N m s/rad].
STRENGTH = {
    "hip": 250.0, "knee": 250.0, "ankle_pitch": 180.0, "ankle_roll": 100.0, "toe": 20.0, "waist": 250.0,
    "spine": 200.0, "neck": 50.0, "shoulder": 100.0, "elbow": 70.0, "wrist": 15.0,
}  # fmt: skip
DAMPING = {
    "hip": 2.0, "knee": 1.0, "ankle": 1.0, "toe": 0.3, "waist": 10.0, "spine": 10.0, "neck": 1.0,
    "shoulder": 0.8, "elbow": 0.4, "wrist": 0.2,
}  # fmt: skip
ARMATURE = {"wrist": 0.004, "toe": 0.004}  # [kg m^2]; 0.01 elsewhere
