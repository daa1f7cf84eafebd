"""Videos of takes: mp4 through ffmpeg's own program, gif and webp through Pillow."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image

from counterpoise.arrays import Array
from counterpoise.errors import BadFile, BadValue
from counterpoise.files import whole_file
from counterpoise.progress import Watch, watching
from counterpoise.render.camera import AZIMUTH, ELEVATION, Camera
from counterpoise.render.draw import Picture, checked_size, draw
from counterpoise.render.pictures import checked_path, labelled
from counterpoise.render.scene import DrawnScene, Look
from counterpoise.render.sources import as_take
from counterpoise.render.stage import CameraPath, DrawnStage
from counterpoise.threads import in_order

VIDEOS = (".mp4", ".gif", ".webp")
MOST_PIXELS = 1 << 24  # of all pictures that are drawn at once, each of which takes 23 bytes


def frame_times(start: float, end: float, fps: float, speed: float = 1.0) -> Array:
    """Returns the time of every frame [s]: start, start + speed / fps, ... up to the end."""
    frames = np.arange(int((end - start) * fps / speed + 1e-9) + 1, dtype=float)
    return start + frames * (speed / fps)


def video(
    take: Any,
    path: str | Path,
    fps: float = 30.0,
    size: tuple[int, int] = (960, 540),
    camera: str | Camera | Callable[[float], Camera] = "track",
    speed: float = 1.0,
    start: float | None = None,
    end: float | None = None,
    azimuth: float = AZIMUTH,
    elevation: float = ELEVATION,
    caption: str = "",
    clock: bool = False,
    look: Look | None = None,
    samples: int = 8,
    progress: Watch | None = None,
) -> Path:
    """Writes a video; the suffix chooses mp4, gif or webp. Returns the path.

    Frame k shows time start + k speed / fps. `camera` is 'track', 'fixed', a Camera, or a function of time.
    `progress` gets a report after every frame. The file appears under its name only when it is complete. A falsy answer
    completes it with the frames drawn so far; so does Ctrl-C, which then raises KeyboardInterrupt.
    """
    subject = as_take(take)
    target = checked_path(path, VIDEOS)
    if not (0 < fps <= 1000 and 0 < speed <= 1e6):
        raise BadValue(f"fps (0 .. 1000) and speed must be positive, got {fps} and {speed}", fps=fps, speed=speed)
    first, last = float(subject.times[0]), float(subject.times[-1])
    first, last = first if start is None else start, last if end is None else end
    if not first <= last:
        raise BadValue(f"end {last:g} s lies before start {first:g} s", start=first, end=last)
    times = frame_times(first, last, fps, speed)
    mp4 = target.suffix.lower() == ".mp4"
    width, height = (side + side % 2 if mp4 else side for side in checked_size(size))  # H.264 wants even sides
    stage = DrawnStage(subject, look)
    view = camera
    if not callable(view):
        view = CameraPath(stage, view, width / height, azimuth, elevation).camera

    def frames() -> Iterator[Picture]:
        scenes = ((stage.scene(moment), view(moment)) for moment in times)
        for k, (moment, picture) in enumerate(zip(times, drawn(scenes, (width, height), samples, mp4), strict=True)):
            words = "   ".join(([caption] if caption else []) + ([f"{moment:.2f} s"] if clock else []))
            yield labelled(picture, words) if words else picture
            if not reporter.report("drawing", (k + 1) / len(times), f"frame {k + 1} of {len(times)}"):
                return

    with watching(progress) as reporter:
        write_video(frames(), target, fps, (width, height))
    if reporter.interrupted:
        raise KeyboardInterrupt
    return target


def drawn(
    scenes: Iterable[tuple[DrawnScene, Camera]], size: tuple[int, int], samples: int, dither: bool
) -> Iterator[Picture]:
    """Yields the pictures of scenes in order, drawn on all cores: each as `draw` alone would draw it."""
    at_once = max(1, MOST_PIXELS // (size[0] * size[1]))
    return in_order(lambda one: draw(*one, size, samples, dither), scenes, at_once)


def write_video(frames: Iterable[Picture], path: str | Path, fps: float, size: tuple[int, int]) -> None:
    """Encodes frames (height, width, 3) of bytes. Ctrl-C keeps those so far, then raises KeyboardInterrupt."""
    target = checked_path(path, VIDEOS)
    interrupt: KeyboardInterrupt | None = None
    with whole_file(target) as part:
        reel = ENCODERS[target.suffix.lower()](part, fps, size)
        try:
            for frame in frames:
                reel.add(frame)
        except KeyboardInterrupt as stop:
            interrupt = stop
        except BaseException:
            reel.drop()
            raise
        if not reel.count:
            reel.drop()
            raise interrupt or BadValue(f"no frames to write into {target.name!r}", path=str(target))
        reel.finish()
    if interrupt is not None:
        raise interrupt


class Encoder(Protocol):
    """Writes a video: frames are added, then it is finished or dropped."""

    @property
    def count(self) -> int: ...

    def add(self, frame: Picture) -> None: ...

    def finish(self) -> None: ...

    def drop(self) -> None: ...


class Mp4:
    """H.264 in yuv420p, written by ffmpeg frame by frame. Equal frames give equal files."""

    def __init__(self, part: Path, fps: float, size: tuple[int, int]) -> None:
        import imageio_ffmpeg  # here, so that stills need no ffmpeg

        options = ["-crf", "18", "-preset", "faster", "-threads", "2", "-movflags", "+faststart"]
        options += ["-map_metadata", "-1", "-fflags", "+bitexact", "-flags:v", "+bitexact"]
        self.count, self._part = 0, part
        self._writer = imageio_ffmpeg.write_frames(
            str(part),
            size,
            fps=fps,
            codec="libx264",
            pix_fmt_in="rgb24",
            pix_fmt_out="yuv420p",
            quality=None,
            macro_block_size=1,
            output_params=options,
            ffmpeg_log_level="error",
        )
        self._writer.send(None)

    def add(self, frame: Picture) -> None:
        try:
            self._writer.send(np.ascontiguousarray(frame))
        except OSError as problem:
            raise BadFile(f"ffmpeg stopped writing {self._part.name!r}: {problem}", path=str(self._part)) from problem
        self.count += 1

    def finish(self) -> None:
        self._writer.close()
        if not self._part.exists() or not self._part.stat().st_size:
            raise BadFile(f"ffmpeg wrote nothing into {self._part.name!r}; is the disk full?", path=str(self._part))

    def drop(self) -> None:
        self._writer.close()


class Gif:
    """One palette for all frames and no dither, so that what does not move does not flicker. Frames are in memory."""

    def __init__(self, part: Path, fps: float, size: tuple[int, int]) -> None:
        self.part, self.fps, self.images = part, fps, list[Image.Image]()

    @property
    def count(self) -> int:
        return len(self.images)

    def add(self, frame: Picture) -> None:
        self.images.append(Image.fromarray(frame))

    def finish(self) -> None:
        shown = sorted({round(k) for k in np.linspace(0, len(self.images) - 1, 6)})
        sample = _palette_sample(np.concatenate([np.asarray(self.images[k]) for k in shown]))
        table = sample.quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
        flat = [image.quantize(palette=table, dither=Image.Dither.NONE) for image in self.images]
        shown_for = _durations(len(flat), self.fps, 10)
        flat[0].save(self.part, save_all=True, append_images=flat[1:], duration=shown_for, loop=0)

    def drop(self) -> None:
        self.images.clear()


class Webp(Gif):
    """Lossy animated webp. Frames are in memory."""

    def finish(self) -> None:
        first, *rest = self.images
        shown_for = _durations(self.count, self.fps, 1)
        first.save(self.part, save_all=True, append_images=rest, duration=shown_for, loop=0, quality=88)


ENCODERS: dict[str, Callable[[Path, float, tuple[int, int]], Encoder]] = {
    ".mp4": Mp4,
    ".gif": Gif,
    ".webp": Webp,
}


def _palette_sample(pixels: Picture) -> Image.Image:
    """The pixels (h, w, 3) with more of their vivid colours, so that small markers keep theirs."""
    vivid = pixels[np.ptp(pixels, axis=2) > 50]
    kinds = np.unique(vivid >> 3 << 3, axis=0)
    if len(kinds):
        pixels = np.concatenate([pixels, np.resize(kinds, (-(-len(pixels) // 4), *pixels.shape[1:]))])
    return Image.fromarray(pixels)


def _durations(count: int, fps: float, step: int) -> list[int]:
    """Milliseconds of each frame in multiples of `step`, rounded so that the sum does not drift."""
    edges = [step * round(k * 1000 / fps / step) for k in range(count + 1)]
    return [max(step, b - a) for a, b in itertools.pairwise(edges)]
