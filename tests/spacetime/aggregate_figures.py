"""Figures and frames for the laws of aggregate force: the library's cast, and one with every odd thing at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from counterpoise.character import Character
from counterpoise.character.library import character

# two hinges with anchors off the origin, a slide and a ball on one body, welded bodies (two deep, one on the world),
# rest angles, tilted frames and inertias, and a free root beside a fixed one
ODD = """
<mujoco model="odd"><compiler angle="radian"/><worldbody>
  <body name="post" pos="0.3 0.1 0.2" euler="0.3 0.2 -0.4">
    <inertial pos="0.1 0 0.2" mass="3" diaginertia="0.1 0.2 0.15"/>
    <body name="crank" pos="0 0.2 0.4" euler="0.5 -0.3 0.2">
      <joint name="a" type="hinge" axis="1 2 -1" pos="0.1 0.05 -0.1" ref="0.3" armature="0.2"/>
      <joint name="b" type="slide" axis="0.2 1 0.4" pos="0.2 0 0" ref="-0.1"/>
      <joint name="d" type="hinge" axis="0 0 1" pos="0 0.3 0" damping="2" stiffness="5"/>
      <joint name="c" type="ball" pos="-0.1 0.1 0.05" armature="0.05"/>
      <inertial pos="0.05 -0.1 0.02" mass="1.3" fullinertia="0.03 0.02 0.04 0.004 -0.003 0.002"/>
      <body name="tray" pos="0.2 0.1 0" euler="0.1 0.7 0.3">
        <inertial pos="0 0 0.1" mass="0.4" diaginertia="2e-3 3e-3 2e-3"/>
        <body name="cup" pos="0 0.1 0.1" euler="-0.4 0 0">
          <inertial pos="0.02 0 0" mass="0.2" diaginertia="1e-3 1e-3 1e-3"/>
          <body name="spoon" pos="0.1 0 0.1"><joint name="e" type="ball"/>
            <inertial pos="0 0.1 0" mass="0.1" diaginertia="1e-3 2e-4 1e-3"/></body></body></body>
      <body name="arm" pos="-0.2 0.3 0.1" euler="0 0.6 0.1"><joint name="f" type="hinge" axis="0 1 0"/>
        <inertial pos="0.1 0 0.1" euler="0.3 0.2 0.1" mass="0.7" diaginertia="0.01 0.02 0.015"/></body>
    </body></body>
  <body name="ball" pos="1 0 1" euler="0.2 0.3 0"><freejoint name="g"/>
    <inertial pos="0.1 0.2 -0.1" mass="2" diaginertia="0.05 0.06 0.07"/>
    <body name="tail" pos="0 0 0.3"><joint name="h" type="slide" axis="1 0 1"/>
      <inertial pos="0 0.1 0" mass="0.5" diaginertia="0.01 0.01 0.02"/></body></body>
</worldbody></mujoco>
"""


@lru_cache
def odd() -> Character:
    return Character.from_mjcf(ODD)


def figure(name: str) -> Character:
    return odd() if name == "odd" else character(name)


def frames(body: Character, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Poses all over the manifold, velocities and accelerations: (n, nq), (n, nv), (n, nv)."""
    rng = np.random.default_rng(seed)
    q = body.integrate(np.array(body.model.qpos0), 0.8 * rng.normal(size=(n, body.nv)))
    return q, 1.5 * rng.normal(size=(n, body.nv)), 4.0 * rng.normal(size=(n, body.nv))
