"""The laws of MomentumBalance: what the joints and the centre of pressure should do (Macchietto 2008, 2009).

    tracking  a_des = k_t (q_r - q) + d_t (v_r - v) + a_r, stiffer past joint limits               (2009, 11; 2008, 6.5)
    linear    L'_des = m (k_l (c_r - c) + d_l (c_r' - c') + c_r''), clamped so that f is in the cone (2009, 5-7, 15, 16)
    angular   H'_des = (p_des - c) x (L'_des - m g), p_des by p'' = k_h (p_r - p) - d_h p'                  (2009, 8-10)
    2008      H'_des = 0, weighed by the distance from the CoP to the centroidal moment pivot             (5.15 to 5.17)

The linear and angular laws are in momentum_balance.py, with forces and moments from support.py.
"""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import kernel


@kernel
def tracking_law(
    error: Array, v: Array, v_ref: Array, a_ref: Array, stiffness: Array, damping: Array, beyond: Array, stiffen: float
) -> Array:
    """Returns a_des = k_t (q_r - q) + d_t (v_r - v) + a_r (2009, eq. 11), stiffer past joint limits (2008, 6.5, 6.6).

    k' = k + l e, with e the violation of swing cone and twist together. Damping grows with its root, so that the
    damping ratio stays.
    """
    out = np.empty(len(error))
    for j in range(len(error)):
        more = np.sqrt(1.0 + stiffen * beyond[j])
        out[j] = stiffness[j] * more * more * error[j] + damping[j] * more * (v_ref[j] - v[j]) + a_ref[j]
    return out


@kernel
def beyond_limits(values: Array, columns: Ints, nv: int, margin: float) -> Array:
    """Returns (nv,) how far the joint of each row is past `margin` [rad] before its limits, cones and twists summed."""
    out = np.zeros(nv)
    for i in range(len(values)):
        over = values[i] + margin
        if over > 0.0:
            for k in range(3):
                if columns[i, k] >= 0:
                    out[columns[i, k]] += over
    return out


def pressure_law(now: Array, rate: Array, wanted: Array, stiffness: float, damping: float, ahead: float) -> Array:
    """Returns p_des: p'' = k_h (p_r - p) - d_h p' integrated over `ahead` seconds (2009, eq. 8)."""
    acceleration = stiffness * (wanted - now) - damping * rate
    return now + ahead * (rate + ahead * acceleration)
