"""Processes that the studio starts end with it, also where it was killed and could not end them itself."""

from __future__ import annotations

import multiprocessing
import os
import threading


def end_with_parent() -> None:
    """Ends this process as soon as the one that started it is gone. Called first in a process of the studio."""
    parent = multiprocessing.parent_process()
    if parent is None:  # nobody started it: a test calls the function itself
        return

    def wait() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, name="studio parent", daemon=True).start()
