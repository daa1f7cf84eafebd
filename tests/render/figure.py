"""A humanoid of 22 bodies to draw, with a platform, a loose block and a height field."""

from __future__ import annotations

import mujoco
import numpy as np

LIMB = """
<body name="{s}thigh" pos="0 {y} -0.05"><joint name="hip_y_{w}" axis="0 1 0"/>
 <joint name="hip_x_{w}" axis="1 0 0"/>
 <geom type="capsule" fromto="0 0 0 0 0 -0.40" size="0.068"/>
 <body name="{s}shin" pos="0 0 -0.42"><joint name="knee_{w}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.37" size="0.046"/>
  <geom type="ellipsoid" pos="-0.015 0 -0.12" size="0.048 0.046 0.11"/>
  <body name="{s}foot" pos="0 0 -0.41"><joint name="ankle_{w}" axis="0 1 0"/>
   <geom type="box" pos="0.045 0 -0.035" size="0.095 0.042 0.025"/>
   <body name="{s}toes" pos="0.14 0 -0.04"><joint name="toe_{w}" axis="0 1 0"/>
    <geom type="capsule" fromto="0.01 -0.025 0 0.01 0.025 0" size="0.02"/></body></body></body></body>
"""
ARM = """
<body name="{s}clavicle" pos="0 {yc} 0.20"><geom type="capsule" fromto="0 0 0 0 {dy} 0" size="0.045"/>
<body name="{s}upper_arm" pos="0 {dy} 0"><joint name="shoulder_y_{w}" axis="0 1 0"/>
 <joint name="shoulder_x_{w}" axis="1 0 0"/>
 <geom type="capsule" fromto="0 0 0 0 0 -0.28" size="0.042"/>
 <body name="{s}forearm" pos="0 0 -0.29"><joint name="elbow_{w}" axis="0 1 0"/>
  <geom type="capsule" fromto="0 0 0 0 0 -0.23" size="0.034"/>
  <body name="{s}hand" pos="0 0 -0.27"><joint name="wrist_{w}" axis="0 1 0"/>
   <geom type="ellipsoid" pos="0 0 -0.05" size="0.035 0.018 0.07"/></body></body></body></body>
"""


def _sided(text: str, side: str) -> str:
    sign = 1 if side == "left" else -1
    filled = text.format(s="@", w=side, y=0.09 * sign, yc=0.06 * sign, dy=0.13 * sign)
    for part in ("thigh", "shin", "foot", "toes", "clavicle", "upper_arm", "forearm", "hand"):
        filled = filled.replace(f"@{part}", f"{part}_{side}")
    return filled


def figure_xml(world: str = '<geom type="plane" size="0 0 1"/>', assets: str = "", copies: int = 1) -> str:
    """MJCF of `copies` figures side by side in a world of extra elements."""
    figures = ""
    for k in range(copies):
        body = f"""
<body name="pelvis" pos="0 {k} 0.96"><freejoint/>
 <geom type="ellipsoid" size="0.095 0.145 0.10"/>
 <body name="abdomen" pos="0 0 0.10"><joint name="waist_y" axis="0 1 0"/><joint name="waist_z" axis="0 0 1"/>
  <geom type="ellipsoid" size="0.085 0.125 0.09" pos="0 0 0.03"/>
  <body name="chest" pos="0 0 0.14"><joint name="chest_y" axis="0 1 0"/>
   <geom type="ellipsoid" size="0.105 0.16 0.16" pos="0 0 0.10"/>
   <body name="neck" pos="0 0 0.25"><geom type="capsule" fromto="0 0 0 0 0 0.06" size="0.045"/>
    <body name="head" pos="0 0 0.10"><joint name="head_z" axis="0 0 1"/>
     <geom type="ellipsoid" size="0.088 0.072 0.108" pos="0.012 0 0.08"/>
     <geom type="sphere" size="0.02" pos="0.1 0 0.07"/></body></body>
   {_sided(ARM, "left")}{_sided(ARM, "right")}</body></body>
 {_sided(LIMB, "left")}{_sided(LIMB, "right")}
</body>"""
        if k:
            for word in ("name=",):
                body = body.replace(f'{word}"', f'{word}"f{k}_')
        figures += body
    return f"""<mujoco><compiler angle="radian"/><asset>{assets}</asset>
<default><joint damping="1"/></default><worldbody>{world}{figures}</worldbody></mujoco>"""


def figure(**options: object) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(figure_xml(**options))  # type: ignore[arg-type]


def walking(model: mujoco.MjModel, duration: float = 2.0, rate: float = 60.0) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) and qpos (n, nq) of a made-up walk: not physics, only something that moves."""
    times = np.arange(int(duration * rate) + 1) / rate
    qpos = np.tile(model.qpos0, (len(times), 1))
    phase = 2 * np.pi * times
    qpos[:, 0] = 1.2 * times
    qpos[:, 2] = 0.93 + 0.015 * np.cos(2 * phase)

    def put(name: str, values: np.ndarray) -> None:
        qpos[:, model.joint(name).qposadr[0]] = values

    for side, shift in (("left", 0.0), ("right", np.pi)):
        swing = np.sin(phase + shift)
        put(f"hip_y_{side}", -0.5 * swing - 0.05)
        put(f"knee_{side}", 0.35 + 0.45 * np.cos(phase + shift) * (np.cos(phase + shift) > 0))
        put(f"ankle_{side}", -0.15 + 0.2 * swing)
        put(f"shoulder_y_{side}", 0.55 * swing)
        put(f"shoulder_x_{side}", np.full(len(times), 0.12 if side == "left" else -0.12))
        put(f"elbow_{side}", -0.5 + 0.2 * swing)
    put("waist_z", 0.12 * np.sin(phase))
    return times, qpos


RICH_WORLD = """
<geom type="plane" size="0 0 1"/>
<geom type="box" pos="1.3 0.2 0.15" size="0.35 0.5 0.15"/>
<geom type="cylinder" pos="0.2 1.1 0.3" size="0.14 0.3"/>
<geom type="hfield" hfield="bumps" pos="-0.3 2.6 0.01"/>
<geom type="mesh" mesh="gem" rgba=".75 .3 .4 1" pos="1.25 0.1 0.46"/>
<body name="block" pos="0.55 -0.55 0.12" euler="0 0 0.5">
 <geom type="box" size="0.12 0.12 0.12" rgba="0.25 0.6 0.5 1"/>
</body>
"""


def rich_assets() -> str:
    y, x = np.mgrid[0:40, 0:60]
    heights = 0.5 + 0.25 * np.sin(x / 4.0) * np.cos(y / 5.0) + 0.25 * np.sin((x + y) / 7.0)
    heights = (heights - heights.min()) / np.ptp(heights)
    data = " ".join(f"{h:.4f}" for h in heights.ravel())
    gem = "0 0 0.16  0 0 -0.16  0.14 0 0  -0.14 0 0  0 0.14 0  0 -0.14 0"
    return (
        f'<hfield name="bumps" nrow="40" ncol="60" size="1.6 0.9 0.35 0.05" elevation="{data}"/>'
        f'<mesh name="gem" vertex="{gem}"/>'
    )
