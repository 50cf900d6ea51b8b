"""Files that may never end: pipes, sockets and devices."""

from __future__ import annotations

import os


def is_pipe_or_device(path: str) -> bool:
    """Return whether reading a path may never end. What users name may be one; what is found may not."""
    return os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
