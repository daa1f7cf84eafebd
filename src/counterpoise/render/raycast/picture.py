"""One picture: a ray for every pixel, and more rays where neighbouring pixels differ."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from counterpoise.arrays import Array, Ints
from counterpoise.kernels import fast_kernel, threaded_fast_kernel
from counterpoise.render.raycast.light import lit_rays, open_rays
from counterpoise.render.raycast.rays import normal_rays, trace_rays
from counterpoise.render.raycast.setup import cell_lists, on_screen, prepare, under_light
from counterpoise.render.raycast.shading import shade_rays
from counterpoise.render.raycast.tables import BATCH, CELLS, RAY_COLUMNS, RAY_INTEGERS, TILE, Int, Meshes


@fast_kernel
def differs(colour: NDArray[np.float32], tags: Ints, row: int, col: int) -> bool:
    """Whether a pixel and one of its four neighbours show different things."""
    height, width = tags.shape
    for k in range(4):
        i = row + (k - 1 if k % 2 == 0 else 0)
        j = col + (k - 2 if k % 2 == 1 else 0)
        if i < 0 or j < 0 or i >= height or j >= width:
            continue
        if tags[i, j] != tags[row, col]:
            return True
        change = abs(colour[i, j, 0] - colour[row, col, 0]) + abs(colour[i, j, 1] - colour[row, col, 1])
        if change > (0.11 if tags[i, j] > 0 else 0.45):  # the floor pattern is smooth already
            return True
    return False


@fast_kernel
def put_pixels(
    n: Int, pixels: Ints, sums: Array, scale: float, tone: Array, dither: float, out: NDArray[np.uint8]
) -> None:
    """Writes linear colours as display bytes through the table `tone`, with a 4x4 ordered dither of half a step."""
    last = len(tone) - 1
    for j in range(n):
        row, col = pixels[j, 0], pixels[j, 1]
        i, k = row & 3, (row ^ col) & 3
        rank = ((k & 1) << 3) | ((i & 1) << 2) | (k & 2) | ((i & 2) >> 1)
        shift = 0.5 + dither * ((rank + 0.5) / 16.0 - 0.5)
        for c in range(3):
            value = max(0.0, min(1.0, sums[j, c] * scale))
            out[row, col, c] = int(min(255.0, tone[int(value * last)] + shift))


@threaded_fast_kernel
def cast_picture(
    S: Array,
    I: Ints,
    meshes: Meshes,
    V: Array,
    planes: Array,
    samples: Array,
    tone: Array,
    dither: float,
    out: NDArray[np.uint8],
) -> None:
    """Draws into `out` (height, width, 3) bytes; `samples` (k, 2) are the extra points of a pixel on an edge."""
    height, width = out.shape[0], out.shape[1]
    across, down = (width + TILE - 1) // TILE, (height + TILE - 1) // TILE
    prepare(S, I, V)
    bounds = np.empty((len(S), 4), np.int64)
    seen_start, near_start = np.empty(across * down + 1, np.int64), np.empty(across * down + 1, np.int64)
    on_screen(S, I, V, width, height, np.bool_(False), bounds)
    seen = cell_lists(bounds, across, seen_start)
    on_screen(S, I, V, width, height, np.bool_(True), bounds)
    near = cell_lists(bounds, across, near_start)
    frame, light_start = np.empty(4), np.empty(CELLS * CELLS + 1, np.int64)
    under_light(S, I, V, bounds, frame)
    light = cell_lists(bounds, np.int64(CELLS), light_start)
    stack = np.empty(128, np.int64)
    first, first_tags = np.empty((height, width, 3), np.float32), np.empty((height, width), np.int64)
    rays, met = np.empty((BATCH, RAY_COLUMNS)), np.empty((BATCH, RAY_INTEGERS), np.int64)
    points, colours, sums = np.empty((BATCH, 2)), np.empty((BATCH, 3)), np.empty((BATCH, 3))
    tags, pixels = np.empty(BATCH, np.int64), np.empty((BATCH, 2), np.int64)
    # numba compiles a kernel again for every literal number it is given: hence np.int64 and np.bool_
    for phase in range(2 if len(samples) else 1):
        for ty in range(down):
            for tx in range(across):
                n = np.int64(0)
                for row in range(ty * TILE, min(height, (ty + 1) * TILE)):
                    for col in range(tx * TILE, min(width, (tx + 1) * TILE)):
                        if phase == 0 or differs(first, first_tags, row, col):
                            pixels[n, 0], pixels[n, 1] = row, col
                            n += 1
                if n == 0:
                    continue
                tile = ty * across + tx
                sums[:n] = 0.0
                count = len(samples) if phase == 1 else 1
                for k in range(count):
                    for j in range(n):
                        points[j, 0], points[j, 1] = pixels[j, 1], pixels[j, 0]
                        if phase == 1:
                            points[j, 0] += samples[k, 0]
                            points[j, 1] += samples[k, 1]
                    s0, s1 = seen_start[tile], seen_start[tile + 1]
                    n0, n1 = near_start[tile], near_start[tile + 1]
                    trace_rays(n, rays, met, points, S, I, meshes, V, planes, seen, s0, s1, stack)
                    normal_rays(n, rays, met, S, I, meshes, planes)
                    lit_rays(n, rays, met, S, I, meshes, V, light_start, light, frame, stack)
                    open_rays(n, rays, met, S, V, near, n0, n1)
                    shade_rays(n, rays, met, S, I, V, planes, colours, tags)
                    for j in range(n):
                        for c in range(3):
                            sums[j, c] += colours[j, c]
                put_pixels(n, pixels, sums, 1.0 / count, tone, dither, out)
                if phase == 0 and len(samples):
                    for j in range(n):
                        row, col = pixels[j, 0], pixels[j, 1]
                        first_tags[row, col] = tags[j]
                        for c in range(3):
                            first[row, col, c] = colours[j, c]
