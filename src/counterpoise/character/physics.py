"""The physics all bodies share: MuJoCo's solver settings, contact and limit stiffness, default strength and friction.

These are the numbers to turn if bodies should be softer, slipperier or stronger. MuJoCo describes a soft constraint by
solref = (time constant [s], damping ratio) and solimp = (impedance at zero depth, impedance at full depth, that depth
[m], midpoint of the rise, power of the rise).
"""

from __future__ import annotations

import mujoco

from counterpoise.defaults import GRAVITY, GROUND_FRICTION

TIMESTEP = 0.001  # [s] of the simulation
FRICTION_RATIO = 10.0  # stiffness of friction over that of the normal force: feet do not creep
CONTACT_FRICTION = (GROUND_FRICTION, 0.005, 0.0001)  # sliding [1], torsional [m], rolling [m]
DEFAULT_TORQUE_LIMIT = 100.0  # [N m] of a joint whose strength is not given
TISSUE_DENSITY = 1000.0  # [kg/m^3] of the shapes of a figure, before they are scaled to its segments' masses

# Contact: soft enough to be quiet at 1 kHz, stiff enough that a standing foot sinks by a fraction of a millimetre.
CONTACT_SOLREF = (0.01, 1.0)
CONTACT_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)
# Joint limits: five times quicker than contact.
LIMIT_SOLREF = (0.002, 1.0)
LIMIT_SOLIMP = (0.95, 0.99, 0.001, 0.5, 2.0)


def new_spec(name: str) -> mujoco.MjSpec:
    """An empty model with these settings; angles in radians, no least mass."""
    spec = mujoco.MjSpec()
    spec.modelname = name
    spec.compiler.degree = False
    spec.compiler.boundmass = 0.0
    set_physics(spec)
    return spec


def set_physics(spec: mujoco.MjSpec, timestep: float = TIMESTEP) -> None:
    """Sets integrator (implicitfast), friction cones (elliptic) and gravity.

    MuJoCo's automatic reset is switched off: a NaN shows as NaN.
    """
    spec.option.timestep = timestep
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = FRICTION_RATIO
    spec.option.gravity = [0.0, 0.0, -GRAVITY]
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)


def make_contact(geom: mujoco.MjsGeom) -> None:
    """Gives a geom the contact stiffness of all bodies."""
    geom.solref, geom.solimp = list(CONTACT_SOLREF), list(CONTACT_SOLIMP)
