"""Stills and filmstrips."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw, ImageFont

from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import whole_file
from counterpoise.render import palette
from counterpoise.render.camera import AZIMUTH, ELEVATION, Camera, frame_points
from counterpoise.render.draw import Picture, checked_size, draw
from counterpoise.render.scene import Look, joined
from counterpoise.render.sources import as_take
from counterpoise.render.stage import CameraPath, DrawnStage

PICTURES = (".png", ".jpg", ".jpeg", ".webp")
GAP = 6  # [pixels] between panels
MAX_MOMENTS = 200  # in a filmstrip
STROBE_FIELD_OF_VIEW = 16.0  # [deg] small, so that all moments are seen from nearly the same side
STROBE_FADE = 0.55  # how much paler the first moment of a strobe is
STROBE_DISTANCE = 0.85  # of figures in a strobe, in their mean width


def still(
    take: Any,
    time: float | None = None,
    path: str | Path | None = None,
    size: tuple[int, int] = (960, 720),
    camera: str | Camera = "frame",
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    caption: str = "",
    look: Look | None = None,
    samples: int = 8,
) -> Picture:
    """Returns one moment as bytes (height, width, 3), written to `path` if given.

    `time` is clipped to the take (None: its start). `camera` 'frame' fits the figure at this moment; 'track'
    and 'fixed' are the cameras a video would have.
    """
    subject = as_take(take)
    size = checked_size(size)
    stage = DrawnStage(subject, look)
    moment = float(np.clip(subject.times[0] if time is None else time, subject.times[0], subject.times[-1]))
    target = checked_path(path, PICTURES) if path is not None else None
    if camera == "frame":
        aspect = size[0] / size[1]
        view = frame_points(stage.corners(moment), azimuth, elevation, aspect, margin=0.12)
    else:
        view = CameraPath(stage, camera, size[0] / size[1], azimuth, elevation).camera(moment)
    picture = draw(stage.scene(moment), view, size, samples)
    if caption:
        picture = labelled(picture, caption)
    if target is not None:
        write_picture(picture, target)
    return picture


def filmstrip(
    take: Any,
    times: ArrayLike | None = None,
    count: int = 8,
    path: str | Path | None = None,
    mode: str = "panels",
    size: tuple[int, int] | None = None,
    spread: float | None = None,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    columns: int | None = None,
    camera: str | Camera = "track",
    clock: bool = True,
    look: Look | None = None,
    samples: int = 8,
) -> Picture:
    """Returns several moments in one picture: 'panels' side by side, or a 'strobe', all in one place.

    In panels `size` is that of one panel and `columns` wraps them; `camera` follows ('track'), stands still ('fixed')
    or is a Camera. In a strobe `size` is that of the whole picture, earlier moments are paler, and figures that would
    overlap are moved apart by `spread` metres a moment (None: as little as needed, 0: not at all).
    """
    subject = as_take(take)
    target = checked_path(path, PICTURES) if path is not None else None
    if times is None:
        if not 1 <= count <= MAX_MOMENTS:
            raise BadValue(f"count must lie in 1 .. {MAX_MOMENTS} moments, got {count}", given=count)
        moments = np.linspace(subject.times[0], subject.times[-1], count)
    else:
        moments = np.atleast_1d(np.asarray(times, dtype=float))
        if moments.ndim != 1 or len(moments) == 0 or not np.isfinite(moments).all():
            raise BadValue(f"times must be finite numbers [s], at least one; got {times!r}", given=times)
    size = checked_size(size) if size is not None else None
    stage = DrawnStage(subject, look)
    if mode == "panels":
        picture = _panels(stage, moments, size or (300, 460), camera, azimuth, elevation, columns, clock, samples)
    elif mode == "strobe":
        picture = _strobe(stage, moments, size, spread, azimuth, elevation, clock, samples)
    else:
        raise BadValue(f"mode must be 'panels' or 'strobe', got {mode!r}", given=mode)
    if target is not None:
        write_picture(picture, target)
    return picture


def _panels(
    stage: DrawnStage,
    moments: Array,
    size: tuple[int, int],
    camera: str | Camera,
    azimuth: float,
    elevation: float,
    columns: int | None,
    clock: bool,
    samples: int,
) -> Picture:
    camera_path = CameraPath(stage, camera, size[0] / size[1], azimuth, elevation)
    wide = min(len(moments), columns or (len(moments) if len(moments) <= 10 else 8))
    high = -(-len(moments) // wide)
    width, height = size
    sheet = np.full((high * (height + GAP) - GAP, wide * (width + GAP) - GAP, 3), 255, dtype=np.uint8)
    for k, moment in enumerate(moments):
        panel = draw(stage.scene(moment), camera_path.camera(moment), size, samples)
        if clock:
            panel = labelled(panel, f"{moment:.2f} s")
        top, left = (k // wide) * (height + GAP), (k % wide) * (width + GAP)
        sheet[top : top + height, left : left + width] = panel
    return sheet


def _strobe(
    stage: DrawnStage,
    moments: Array,
    size: tuple[int, int] | None,
    spread: float | None,
    azimuth: float,
    elevation: float,
    clock: bool,
    samples: int,
) -> Picture:
    right = np.array([-np.sin(np.radians(azimuth)), np.cos(np.radians(azimuth)), 0.0])
    clouds = [stage.corners(t) for t in moments]
    places = np.array([stage.centre(t) for t in moments]) @ right
    step = _needed_spread(places, [float(np.ptp(c @ right)) for c in clouds]) if spread is None else spread
    shifts = [step * k * right for k in range(len(moments))]
    cloud = np.concatenate([c + s for c, s in zip(clouds, shifts, strict=True)])
    if size is None:
        shape = frame_points(cloud, azimuth, elevation, 1.0, field_of_view=STROBE_FIELD_OF_VIEW)
        flat = shape.project(cloud, (1000, 1000))
        aspect = float(np.clip(np.ptp(flat[:, 0]) / max(np.ptp(flat[:, 1]), 1.0), 0.8, 3.6))
        size = (2 * round(270 * aspect), 540) if aspect < 3 else (1620, 2 * round(810 / aspect))
    view = frame_points(cloud, azimuth, elevation, size[0] / size[1], margin=0.13, field_of_view=STROBE_FIELD_OF_VIEW)
    last = max(len(moments) - 1, 1)
    parts = [stage.solids(moments[-1], "scenery")]
    for k, moment in enumerate(moments):
        figure = stage.solids(moment, "moving").moved(shifts[k])
        parts.append(figure.faded(STROBE_FADE * (1 - k / last) if len(moments) > 1 else 0.0))
        parts += [overlay.moved(shifts[k]) for overlay in stage.overlays(moment)]
    picture = draw(joined(parts).with_default_ground(), view, size, samples)
    if clock:
        for k, moment in enumerate(moments):
            flat = view.project(clouds[k] + shifts[k], size)
            place = (0.5 * (flat[:, 0].min() + flat[:, 0].max()), flat[:, 1].max() + 0.03 * size[1])
            picture = labelled(picture, f"{moment:.2f} s", at=place)
    return picture


def _needed_spread(places: Array, widths: list[float]) -> float:
    """How much further apart successive figures must stand [m] so that neighbours overlap little."""
    if len(places) < 2:
        return 0.0
    steps = np.diff(places)
    way = -1.0 if places[0] - places[-1] > max(widths) else 1.0  # to the right, unless the figure moves left
    wanted = STROBE_DISTANCE * 0.5 * (np.array(widths[1:]) + np.array(widths[:-1]))
    return way * max(0.0, float(np.max(wanted - way * steps)))


def labelled(picture: Picture, text: str, at: tuple[float, float] | None = None) -> Picture:
    """Returns the picture with a line of text: in the lower left corner, or centred at `at` (column, row)."""
    height, width = picture.shape[:2]
    image = Image.fromarray(picture)
    size = float(np.clip(round(height / 30), 11, 40))
    font = ImageFont.load_default(size)
    ink = tuple(round(255 * c) for c in palette.INK[:3])
    place = (0.75 * size, height - 0.75 * size) if at is None else at
    if at is not None:
        place = (
            float(np.clip(at[0], 2 * size, width - 2 * size)),
            float(np.clip(at[1], size, height - size)),
        )
    ImageDraw.Draw(image).text(place, text, font=font, fill=ink, anchor="ls" if at is None else "mm")
    return np.asarray(image)


def write_picture(picture: Picture, path: Path) -> None:
    """Writes a still in the format of its suffix, completely or not at all."""
    with whole_file(path) as part:
        Image.fromarray(picture).save(part, quality=93, lossless=True)  # each format ignores the options of others


def checked_path(path: str | Path, accepted: tuple[str, ...]) -> Path:
    """Returns the path if it has an accepted suffix and its folder exists; else raises an error."""
    target = Path(path)
    if target.suffix.lower() not in accepted:
        raise BadValue(
            f"cannot write {target.name!r}: the suffix chooses the format, one of {', '.join(accepted)}",
            given=target.suffix,
            accepted=accepted,
        )
    if not target.parent.is_dir():
        raise BadFile(f"no folder {str(target.parent)!r} to write {target.name!r} into; create it", path=str(path))
    return target
