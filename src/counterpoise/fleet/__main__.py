"""A worker process, `python -m counterpoise.fleet module:function`: a task a line in, an answer a line out."""

from __future__ import annotations

import json
import os
import signal
import sys

from counterpoise.fleet.workers import attempt


def main(function: str) -> None:
    """Answer tasks until no more come."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who started it decides
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # leaves through every `finally`
    with os.fdopen(os.dup(1), "wb") as out:
        os.dup2(2, 1)  # what libraries print is no answer
        for line in sys.stdin.buffer:
            task, arguments = json.loads(line)
            answer = attempt(function, task, arguments)
            told = {"task": task, "value": answer.value, "error": answer.error}
            out.write(json.dumps(told).encode() + b"\n")
            out.flush()


if __name__ == "__main__":
    main(sys.argv[1])
