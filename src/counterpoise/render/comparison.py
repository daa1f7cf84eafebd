"""Two motions in one picture: side by side, or the second as a line figure over the first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from counterpoise.arrays import Ints
from counterpoise.errors import BadValue
from counterpoise.progress import Watch, watching
from counterpoise.render import palette
from counterpoise.render.camera import AZIMUTH, ELEVATION, Camera
from counterpoise.render.draw import Picture, checked_size, draw
from counterpoise.render.overlays import trail
from counterpoise.render.pictures import GAP, MAX_MOMENTS, PICTURES, checked_path, labelled, write_picture
from counterpoise.render.raycast import EMISSIVE, ON_TOP
from counterpoise.render.scene import DrawnScene, joined
from counterpoise.render.stage import CameraPath, DrawnStage
from counterpoise.render.take import Take
from counterpoise.render.video import MOST_PIXELS, VIDEOS, frame_times, write_video
from counterpoise.threads import in_order

LINE: palette.RGBA = (*palette.PUSH[:3], 1.0)  # colour of the line figure
PALE = 0.5  # how much paler the figure under the lines is
LINE_RADIUS = 0.012  # [m] for a figure 1.75 m tall
USUAL_HEIGHT = 1.75  # [m]
WAYS = ("beside", "over")
PANEL = (300, 400)  # [pixels] of a moment in a filmstrip
HALF = (640, 540)  # [pixels] of one figure in a video


class Comparison:
    """Two takes drawn by one camera; their times begin together."""

    def __init__(self, first: Take, second: Take, way: str = "beside", names: tuple[str, str] = ("A", "B")) -> None:
        if way not in WAYS:
            raise BadValue(f"two motions are drawn 'beside' each other, or one 'over' the other; got {way!r}")
        first, second = _from_zero(first), _from_zero(second)
        self.way, self.names = way, names
        self.stages = DrawnStage(first), DrawnStage(second)
        self.end = float(max(first.times[-1], second.times[-1]))
        self._both = DrawnStage(replace(first, ghost=second))
        self._lines = _bones(second)

    @property
    def panels(self) -> int:
        """Pictures of one moment."""
        return 2 if self.way == "beside" else 1

    def camera(self, size: tuple[int, int], azimuth: float, elevation: float) -> CameraPath:
        """Returns the camera that follows the first figure and sees both."""
        return CameraPath(self._both, "track", size[0] / size[1], azimuth, elevation)

    def scenes(self, time: float) -> list[tuple[DrawnScene, str]]:
        """Returns what one moment shows, with its label: one scene of each figure, or one of both."""
        if self.way == "beside":
            return [
                (stage.scene(time), f"{name}   {time:.2f} s")
                for name, stage in zip(self.names, self.stages, strict=True)
            ]
        stage = self.stages[0]
        pale = stage.solids(time, "moving").faded(PALE)
        scene = joined([stage.solids(time, "scenery"), pale, *stage.overlays(time)]).with_default_ground()
        scene = joined([scene, self.line_figure(time)])
        return [(scene, f"{self.names[0]}, lines: {self.names[1]}   {time:.2f} s")]

    def moment(self, time: float, camera: CameraPath, size: tuple[int, int], dither: bool = False) -> list[Picture]:
        """Returns the pictures of one moment: one of each figure, or one of both."""
        view = camera.camera(time)
        return [labelled(draw(scene, view, size, dither=dither), label) for scene, label in self.scenes(time)]

    def line_figure(self, time: float) -> DrawnScene:
        """Returns the bones of the second figure as lines that are seen through everything."""
        stage = self.stages[1]
        data = stage.posed(time)
        centre = stage.corners(time)
        radius = LINE_RADIUS * float(np.clip(np.ptp(centre[:, 2]) / USUAL_HEIGHT, 0.4, 4.0))
        parts = [trail(np.array([data.xpos[a], data.xpos[b]]), LINE, radius) for a, b in self._lines]
        lines = joined(parts)
        return replace(lines, flags=np.full(len(lines), EMISSIVE | ON_TOP))


def comparison_picture(
    comparison: Comparison,
    path: str | Path | None = None,
    count: int = 8,
    size: tuple[int, int] = PANEL,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
) -> Picture:
    """Returns a filmstrip: the first motion in the upper row, the second below it, or both in one row."""
    target = checked_path(path, PICTURES) if path is not None else None
    if not 1 <= count <= MAX_MOMENTS:
        raise BadValue(f"count must lie in 1 .. {MAX_MOMENTS} moments, got {count}", given=count)
    width, height = checked_size(size)
    camera = comparison.camera((width, height), azimuth, elevation)
    rows = comparison.panels
    sheet = np.full((rows * (height + GAP) - GAP, count * (width + GAP) - GAP, 3), 255, dtype=np.uint8)
    for k, time in enumerate(np.linspace(0.0, comparison.end, count)):
        for row, picture in enumerate(comparison.moment(float(time), camera, (width, height))):
            top, left = row * (height + GAP), k * (width + GAP)
            sheet[top : top + height, left : left + width] = picture
    if target is not None:
        write_picture(sheet, target)
    return sheet


def comparison_video(
    comparison: Comparison,
    path: str | Path,
    fps: float = 30.0,
    speed: float = 1.0,
    size: tuple[int, int] = HALF,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    progress: Watch | None = None,
) -> Path:
    """Writes a video with both motions; `size` is that of one figure's picture. Returns the path."""
    target = checked_path(path, VIDEOS)
    if not (0 < fps <= 1000 and 0 < speed <= 1e6):
        raise BadValue(f"fps (0 .. 1000) and speed must be positive, got {fps} and {speed}", fps=fps, speed=speed)
    width, height = (side + side % 2 for side in checked_size(size))
    camera = comparison.camera((width, height), azimuth, elevation)
    times = frame_times(0.0, comparison.end, fps, speed)
    mp4 = target.suffix.lower() == ".mp4"

    def panels_of(moment: tuple[list[tuple[DrawnScene, str]], Camera]) -> list[tuple[Picture, str]]:
        scenes, view = moment
        return [(draw(scene, view, (width, height), dither=mp4), label) for scene, label in scenes]

    def frames() -> Iterator[Picture]:
        shown = ((comparison.scenes(float(time)), camera.camera(float(time))) for time in times)
        at_once = max(1, MOST_PIXELS // (comparison.panels * width * height))
        for k, panels in enumerate(in_order(panels_of, shown, at_once)):
            yield np.concatenate([labelled(picture, label) for picture, label in panels], axis=1)
            if not reporter.report("drawing", (k + 1) / len(times)):
                return  # what is drawn is kept

    with watching(progress) as reporter:
        write_video(frames(), target, fps, (comparison.panels * width, height))
    return target


def _from_zero(take: Take) -> Take:
    """The same take with times from 0 s on."""
    return take if take.times[0] == 0.0 else replace(take, times=np.asarray(take.times) - take.times[0], arrows=None)


def _bones(take: Take) -> Ints:
    """Pairs of bodies (n, 2), parent and child, between which a line is drawn."""
    model = take.model
    pairs = [(int(model.body_parentid[b]), b) for b in range(1, model.nbody) if model.body_parentid[b] != 0]
    return np.array(pairs, np.int64).reshape(-1, 2)
