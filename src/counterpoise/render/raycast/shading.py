"""The colours that a batch of rays sees: floor, solids, haze, see-through surfaces and markers."""

from __future__ import annotations

import numpy as np

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import fast_kernel
from counterpoise.render.raycast.tables import (
    AXES,
    BOUNCE,
    BOX,
    CHECKED,
    COLOUR,
    CONTRAST,
    DIRECTION,
    DISTANCE,
    EMISSIVE,
    FLAGS,
    FLAT,
    GROUND_DARK,
    GROUND_LIGHT,
    HAZE,
    HORIZON,
    KEY,
    KIND,
    LIGHT,
    LIT,
    NORM,
    NORMAL,
    OPEN,
    PLANE,
    PLANES,
    POINT,
    POSITION,
    RIM,
    SHINE,
    SKY,
    SOLID,
    SQUARE,
    ZENITH,
    Int,
)
from counterpoise.render.raycast.vectors import along


@fast_kernel
def checker(u: float, v: float, wu: float, wv: float) -> float:
    """Returns a unit checker averaged over a box of half widths wu, wv: 0 to 1."""
    u, v, wu, wv = 0.5 * u, 0.5 * v, 0.5 * max(wu, 1e-6), 0.5 * max(wv, 1e-6)
    a = abs(u - wu - np.floor(u - wu) - 0.5) - abs(u + wu - np.floor(u + wu) - 0.5)
    b = abs(v - wv - np.floor(v - wv) - 0.5) - abs(v + wv - np.floor(v + wv) - 0.5)
    return 0.5 - 0.5 * (0.5 * a / wu) * (0.5 * b / wv)


@fast_kernel
def floor_mix(rays: Array, j: int, V: Array, planes: Array, k: int) -> float:
    """Returns the floor's checker where ray j meets plane k, averaged over the pixel's footprint."""
    scale = 1.0 / V[SQUARE]
    dx, dy, dz = rays[j, DIRECTION], rays[j, DIRECTION + 1], rays[j, DIRECTION + 2]
    nx, ny, nz = planes[k, 3, 0], planes[k, 3, 1], planes[k, 3, 2]
    ax, ay, az = planes[k, 1, 0] * scale, planes[k, 1, 1] * scale, planes[k, 1, 2] * scale
    bx, by, bz = planes[k, 2, 0] * scale, planes[k, 2, 1] * scale, planes[k, 2, 2] * scale
    qx, qy, qz = (
        rays[j, POINT] - planes[k, 0, 0],
        rays[j, POINT + 1] - planes[k, 0, 1],
        rays[j, POINT + 2] - planes[k, 0, 2],
    )
    # how far the point on the ground moves for one pixel right and one pixel down
    level = 1.0 / (nx * dx + ny * dy + nz * dz)
    right = along(V, AXES, nx, ny, nz) * level
    down = along(V, AXES + 3, nx, ny, nz) * level
    rx, ry, rz = V[AXES] - right * dx, V[AXES + 1] - right * dy, V[AXES + 2] - right * dz
    ex, ey, ez = V[AXES + 3] - down * dx, V[AXES + 4] - down * dy, V[AXES + 5] - down * dz
    stretch = 0.5 * rays[j, DISTANCE] * rays[j, NORM]
    wu = (abs(rx * ax + ry * ay + rz * az) + abs(ex * ax + ey * ay + ez * az)) * stretch
    wv = (abs(rx * bx + ry * by + rz * bz) + abs(ex * bx + ey * by + ez * bz)) * stretch
    return checker(qx * ax + qy * ay + qz * az, qx * bx + qy * by + qz * bz, wu, wv)


@fast_kernel
def shade_rays(
    n: Int, rays: Array, met: Ints, S: Array, I: Ints, V: Array, planes: Array, colours: Array, tags: Ints
) -> None:
    """Writes the linear colours (n, 3) seen along the rays, and tags (n,) that identify what was met."""
    for j in range(n):
        dx, dy, dz = rays[j, DIRECTION], rays[j, DIRECTION + 1], rays[j, DIRECTION + 2]
        best, what, plane = rays[j, DISTANCE], met[j, SOLID], met[j, PLANE]
        # the backdrop: at the horizon the colour into which the ground fades
        rise = max(0.0, min(1.0, dz * 1.6))
        rise = rise * (2.0 - rise)
        hr = V[HORIZON] + (V[ZENITH] - V[HORIZON]) * rise
        hg = V[HORIZON + 1] + (V[ZENITH + 1] - V[HORIZON + 1]) * rise
        hb = V[HORIZON + 2] + (V[ZENITH + 2] - V[HORIZON + 2]) * rise
        r, g, b = hr, hg, hb
        tag = 0
        if what >= 0 or plane >= 0:
            nx, ny, nz = rays[j, NORMAL], rays[j, NORMAL + 1], rays[j, NORMAL + 2]
            facing = -(nx * dx + ny * dy + nz * dz)
            shine, rim = V[SHINE], V[RIM]
            haze = best / V[HAZE]
            haze = haze * haze
            haze = haze * haze / (1.0 + haze * haze)
            glow = False
            if plane >= 0:
                mix = floor_mix(rays, j, V, planes, plane)
                r = V[GROUND_DARK] + (V[GROUND_LIGHT] - V[GROUND_DARK]) * mix
                g = V[GROUND_DARK + 1] + (V[GROUND_LIGHT + 1] - V[GROUND_DARK + 1]) * mix
                b = V[GROUND_DARK + 2] + (V[GROUND_LIGHT + 2] - V[GROUND_DARK + 2]) * mix
                shine = rim = 0.0
                tag = -1 - plane
            else:
                r, g, b = S[what, COLOUR], S[what, COLOUR + 1], S[what, COLOUR + 2]
                glow = I[what, FLAGS] & EMISSIVE != 0
                tag = 1 + what
                if I[what, FLAGS] & CHECKED:
                    pixel = np.sqrt(along(V, AXES, V[AXES], V[AXES + 1], V[AXES + 2]))
                    w = 0.5 * best * rays[j, NORM] * pixel / (V[SQUARE] * max(0.15, abs(facing)))
                    x, y = rays[j, FLAT], rays[j, FLAT + 1]
                    if I[what, KIND] == BOX:  # the squares of the floor, in the world
                        x, y = x + S[what, POSITION], y + S[what, POSITION + 1]
                        mix = 1.0 - checker(x / V[SQUARE], y / V[SQUARE], w, w)
                    else:
                        mix = checker(x / V[SQUARE], y / V[SQUARE], w, w)
                    mix = 1.0 - V[CONTRAST] * mix
                    r, g, b = r * mix, g * mix, b * mix
                    shine = rim = 0.0
                    tag = -PLANES - what
                haze *= 0.6
            if glow:
                tone = 0.72 + 0.33 * facing
                r, g, b = r * tone, g * tone, b * tone
            else:
                lit, free = rays[j, LIT], rays[j, OPEN]
                key = max(along(V, LIGHT + 6, nx, ny, nz), 0.0) * lit * (0.6 + 0.4 * free)
                sky = 0.5 + 0.5 * nz
                r *= key * V[KEY] + free * (V[BOUNCE] + (V[SKY] - V[BOUNCE]) * sky)
                g *= key * V[KEY + 1] + free * (V[BOUNCE + 1] + (V[SKY + 1] - V[BOUNCE + 1]) * sky)
                b *= key * V[KEY + 2] + free * (V[BOUNCE + 2] + (V[SKY + 2] - V[BOUNCE + 2]) * sky)
                if shine > 0.0 or rim > 0.0:
                    ax, ay, az = V[LIGHT + 6] - dx, V[LIGHT + 7] - dy, V[LIGHT + 8] - dz
                    half = max(ax * nx + ay * ny + az * nz, 0.0) / np.sqrt(ax * ax + ay * ay + az * az)
                    for _ in range(5):
                        half = half * half
                    edge = 1.0 - facing
                    add = shine * half * lit + rim * edge * edge * edge * free * sky
                    r, g, b = r + add, g + add, b + add
            r, g, b = r + (hr - r) * haze, g + (hg - g) * haze, b + (hb - b) * haze
        for layer in range(1, 3):
            i, t = met[j, SOLID + layer], rays[j, DISTANCE + layer]
            if i < 0 or (layer == 1 and t >= best):
                continue
            k = NORMAL + 3 * layer
            nx, ny, nz = rays[j, k], rays[j, k + 1], rays[j, k + 2]
            facing = -(nx * dx + ny * dy + nz * dz)
            cover = S[i, COLOUR + 3]
            if layer == 1:
                tone = 0.675 + 0.3 * max(0.0, along(V, LIGHT + 6, nx, ny, nz)) + 0.125 * nz
                edge = 1.0 - max(facing, 0.0)
                cover = min(1.0, cover * (0.8 + 1.1 * edge * edge))
            else:
                tone = 0.72 + 0.33 * facing
                if t > min(best, rays[j, DISTANCE + 1]):
                    cover *= 0.8
            r += (S[i, COLOUR] * tone - r) * cover
            g += (S[i, COLOUR + 1] * tone - g) * cover
            b += (S[i, COLOUR + 2] * tone - b) * cover
            tag += (1 + i) << (16 * layer)
        colours[j, 0], colours[j, 1], colours[j, 2] = min(r, 1.0), min(g, 1.0), min(b, 1.0)
        tags[j] = tag
