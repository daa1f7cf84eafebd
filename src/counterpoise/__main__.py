"""`counterpoise` and `python -m counterpoise`: the command line. Ctrl-C ends it with 130 from the first moment on."""

from __future__ import annotations

import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130  # exit code


def main() -> NoReturn:
    """Loads the verbs, which takes a second or two, and runs the one that was typed."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:  # else Ctrl-C is ignored, or somebody else's
        signal.signal(signal.SIGINT, _leave)
    from counterpoise.cli import main as run

    signal.signal(signal.SIGINT, usual)
    run()


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    """Ends the process at once: nothing has begun."""
    print("counterpoise: stopped", file=sys.stderr, flush=True)
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    main()
