"""A worker process, `python -m counterpoise.fleet module:function`: reads a task a line, writes an answer a line."""

from __future__ import annotations

import json
import os
import signal
import sys

from counterpoise.fleet.workers import attempt


def main(function: str) -> None:
    """Does tasks until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started it decides when to stop
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # runs every `finally`
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what libraries print must not mix with answers
        for line in sys.stdin.buffer:
            task, arguments = json.loads(line)
            answer = attempt(function, task, arguments)
            line_out = {"task": task, "value": answer.value, "error": answer.error}
            out.write(json.dumps(line_out).encode() + b"\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
