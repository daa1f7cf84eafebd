"""TSID's control tick on the hinged humanoid; run by `hierarchy.py --tsid PYTHON` in an environment that has tsid.

Both feet in rigid contact (four points each, hard), CoM, spin and posture weighted, torque limits: computeProblemData,
solve and getActuatorForces of one tick at a time, at rest with small random velocities.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import pinocchio as pin
from tsid import tsid_pywrap as tsid  # the wheel's own __init__ lies one folder too deep

TICKS, REPLAYS = 300, 5


def main() -> None:
    folder = Path(sys.argv[1])
    model = pin.buildModelFromUrdf(str(folder / "hinged.urdf"), pin.JointModelFreeFlyer())
    robot = tsid.RobotWrapper(model, tsid.FLOATING_BASE_SYSTEM, False)
    q = pin.neutral(model)
    q[7:] = np.loadtxt(folder / "rest.txt")[: model.nq - 7]
    q[2] = 0.96
    control = tsid.InverseDynamicsFormulationAccForce("tsid", robot, False)
    control.computeProblemData(0.0, q, np.zeros(model.nv))
    data = control.data()
    corners = np.array([[-0.05, -0.05, 0.12, 0.12], [-0.04, 0.04, -0.04, 0.04], [-0.07] * 4])
    kept = []
    for name in ("l_foot", "r_foot"):
        contact = tsid.Contact6d(f"contact_{name}", robot, name, corners, np.array([0.0, 0.0, 1.0]), 0.8, 1.0, 2000.0)
        contact.setKp(100 * np.ones(6))
        contact.setKd(20 * np.ones(6))
        contact.setReference(robot.framePosition(data, model.getFrameId(name)))
        control.addRigidContact(contact, 1e-5, 1.0, 0)
        kept.append(contact)
    com = tsid.TaskComEquality("com", robot)
    com.setKp(60 * np.ones(3))
    com.setKd(12 * np.ones(3))
    control.addMotionTask(com, 1e3, 1, 0.0)
    goal = tsid.TrajectorySample(3)
    goal.value(robot.com(data))
    com.setReference(goal)
    posture = tsid.TaskJointPosture("posture", robot)
    posture.setKp(60 * np.ones(robot.na))
    posture.setKd(14 * np.ones(robot.na))
    control.addMotionTask(posture, 1.0, 1, 0.0)
    rest = tsid.TrajectorySample(robot.na)
    rest.value(q[7:])
    posture.setReference(rest)
    spin = tsid.TaskAMEquality("spin", robot)
    spin.setKp(5 * np.ones(3))
    spin.setKd(np.zeros(3))
    control.addMotionTask(spin, 1.0, 1, 0.0)
    still = tsid.TrajectorySample(3)
    still.value(np.zeros(3))
    still.derivative(np.zeros(3))
    spin.setReference(still)
    limits = tsid.TaskActuationBounds("limits", robot)
    limits.setBounds(-200 * np.ones(robot.na), 200 * np.ones(robot.na))
    control.addActuationTask(limits, 1.0, 0, 0.0)
    solver = tsid.SolverHQuadProgFast("solver")
    solver.resize(control.nVar, control.nEq, control.nIn)
    rng = np.random.default_rng(0)
    speeds = 0.05 * rng.standard_normal((TICKS, model.nv))
    best, failed = np.full(TICKS, np.inf), 0
    for _ in range(REPLAYS):
        for i, v in enumerate(speeds):
            began = time.process_time_ns()
            problem = control.computeProblemData(0.0, q, v)
            found = solver.solve(problem)
            control.getActuatorForces(found)
            best[i] = min(best[i], (time.process_time_ns() - began) * 1e-3)
            failed += int(found.status) != 0
    times = {"median_us": np.median(best), "p99_us": np.percentile(best, 99), "max_us": best.max()}
    print(json.dumps({**{k: float(v) for k, v in times.items()}, "failed": failed}))


if __name__ == "__main__":
    main()
