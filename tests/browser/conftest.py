"""A studio of its own for each test that asks for one, and a headless Chromium. Run by `.ci/browser`."""

from __future__ import annotations

import base64
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update",
    "--disable-sync", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
]  # fmt: skip
SIZE = {"width": 1280, "height": 720}
PATIENCE = 300_000  # [ms] the first run compiles kernels
PICTURES = os.environ.get("STUDIO_PICTURES", "")  # a folder: pictures for the documentation are written there

DROP = """files => {
  const data = new DataTransfer();
  for (const [name, text] of files) {
    data.items.add(new File([Uint8Array.from(atob(text), c => c.charCodeAt(0))], name));
  }
  document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
}"""

playwright_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: use .ci/browser")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of this folder need Chromium."""
    if shutil.which("chromium") is None:
        for item in items:
            if "tests/browser" in str(item.path):
                item.add_marker(pytest.mark.skip(reason="there is no chromium"))


@dataclass
class Studio:
    """A running studio: its process, its address, its folder."""

    process: subprocess.Popen[str]
    address: str
    folder: Path

    def kill(self) -> None:
        """Ends it as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


Starter = Callable[..., Studio]


@pytest.fixture
def start_studio(tmp_path: Path) -> Iterator[Starter]:
    """Starts `counterpoise studio` in a folder; all that were started are ended."""
    running: list[Studio] = []

    def start(*arguments: str, folder: Path = tmp_path) -> Studio:
        command = [sys.executable, "-m", "counterpoise.cli", "studio", "--no-open", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder)
        assert process.stdout is not None
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line
        running.append(Studio(process, found.group(0), folder))
        return running[-1]

    yield start
    for studio in running:
        if studio.process.poll() is None:
            studio.process.terminate()
            studio.process.wait(300)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with playwright_api.sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield chromium
        chromium.close()


class Page:
    """A page of the studio, with the few words that tests speak."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.errors: list[str] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))

    def ask(self, expression: str) -> Any:
        """Returns the value of an expression on the page; `studio` is what main.js shows to tests."""
        return self.page.evaluate(expression)

    def until(self, expression: str, why: str = "", seconds: float = 300.0) -> Any:
        """Waits until an expression on the page is true, and returns it."""
        for _ in range(round(seconds / 0.05)):
            found = self.ask(expression)
            if found:
                return found
            self.page.wait_for_timeout(50)
        said = self.ask("studio.stats.troubles")
        raise AssertionError(f"{why or expression} did not come; the page says {said!r}")

    @property
    def scene(self) -> Any:
        return self.ask("studio.state.scene")

    def send(self, command: dict[str, Any]) -> None:
        """Does what a button would: sends a command."""
        self.page.evaluate("command => studio.send(command)", command)

    def drawn(self, pictures: int = 2) -> None:
        """Waits until so many pictures were drawn after now."""
        steps = f"let n = {pictures}; const next = () => n-- > 0 ? requestAnimationFrame(next) : done(); next();"
        self.ask(f"new Promise(done => {{ {steps} }})")

    def settle(self) -> None:
        """Waits until the server has answered the last pointer message, and that is drawn."""
        posed = "!studio.dragging.held?.moved || studio.state.live?.running"
        self.until(f"{posed} || (studio.stats.last?.seq ?? 0) >= studio.dragging.seq", "the pose at the pointer")
        self.drawn()

    def answered(self) -> None:
        """Waits until the server has shown the pose at the playhead, after all that was asked before."""
        self.ask("window.before = studio.lastJoints; studio.send({ type: 'look_at', time: studio.state.time }); 0")
        self.until("studio.lastJoints !== window.before", "the pose at the playhead")
        self.drawn()

    def still(self, expression: str) -> Any:
        """Waits until an expression is the same in two pictures that follow each other. Returns it."""
        last = self.ask(expression)
        for _ in range(600):
            self.drawn(1)
            now = self.ask(expression)
            if now == last:
                return now
            last = now
        raise AssertionError(f"{expression} does not come to rest")

    def change(self, action: Callable[[], Any], why: str = "a new revision") -> Any:
        """Waits for the new scene that an action makes. Returns it."""
        before = self.scene["revision"]
        action()
        self.until(f"studio.state.scene.revision > {before}", why)
        self.until("Number(document.body.dataset.revision) >= studio.state.scene.revision", "its frames")
        return self.scene

    def drag(self, body: str, dx: float, dy: float, steps: int = 20, release: bool = True) -> None:
        """Drags the dot of a body by pixels."""
        x, y = self.ask(f"studio.spotOf('{body}')")
        self.page.mouse.move(x, y)
        self.page.mouse.down()
        for k in range(1, steps + 1):
            self.page.mouse.move(x + dx * k / steps, y + dy * k / steps)
            self.page.wait_for_timeout(16)  # the pace of a hand: recorded paths have their times from it
        self.settle()
        if release:
            self.page.mouse.up()

    def drop(self, *files: tuple[str, bytes]) -> None:
        """Drops files on the page."""
        given = [[name, base64.b64encode(data).decode()] for name, data in files]
        self.page.evaluate(DROP, given)

    def tab(self, name: str) -> None:
        self.page.click(f"#tab_{name}")

    def toast(self, words: str) -> None:
        """Waits for a sentence at the bottom of the page, also one that is gone again."""
        self.until(f"studio.said.some(one => one.includes({words!r}))", f"the sentence {words!r}")

    def picture(self, name: str) -> None:
        """Takes a picture for the documentation, where it is asked for."""
        if PICTURES:
            self.drawn(10)
            self.page.screenshot(path=str(Path(PICTURES) / f"{name}.png"))


Opener = Callable[..., Page]


@pytest.fixture
def open_page(browser: Any) -> Iterator[Opener]:
    """Opens a page of a studio and waits until the figure is there. It must end without an error in its console."""
    pages: list[Page] = []

    def open_one(studio: Studio, size: dict[str, int] = SIZE, new: bool = False) -> Page:
        context = browser.new_context(viewport=size, accept_downloads=True)
        if not new:  # a person who has seen the tour
            context.add_init_script("localStorage.setItem('toured', 'yes')")
        raw = context.new_page()
        raw.set_default_timeout(PATIENCE)
        page = Page(raw)
        raw.goto(studio.address)
        raw.wait_for_selector("body[data-revision]", timeout=PATIENCE)
        page.until("studio.figure.bones.length > 0 && studio.stats.frames > 0")
        page.drawn()
        pages.append(page)
        return page

    yield open_one
    for page in pages:
        page.page.context.close()
        assert not page.errors, page.errors
