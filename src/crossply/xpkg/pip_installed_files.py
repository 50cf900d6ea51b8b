"""The files that pip installed into a directory, without what is different on every machine."""

from __future__ import annotations

import os

_UNSTABLE = ("direct_url.json", "REQUESTED", "INSTALLER")
"""Files that say how and from where something was installed: from another directory on every machine."""


def stable_files(site: str) -> list[str]:
    """All files below a directory that are the same everywhere: relative paths, in order; without scripts."""
    files = []
    for directory, _, names in os.walk(site):
        inside = os.path.relpath(directory, site)
        if inside.split(os.sep)[0] == "bin":
            continue
        files += [os.path.normpath(os.path.join(inside, name)) for name in names if name not in _UNSTABLE]
    return sorted(files)


def stable_content(site: str, path: str) -> bytes:
    """The content of a file; of a RECORD without the files that are left out."""
    with open(os.path.join(site, path), "rb") as file:
        data = file.read()
    if os.path.basename(path) != "RECORD":
        return data
    lines = [line for line in data.splitlines() if not _is_left_out(line)]
    return b"\n".join(sorted(lines)) + b"\n"


def _is_left_out(line: bytes) -> bool:
    path = line.rsplit(b",", 2)[0].decode("utf-8", "replace")
    return os.path.basename(path) in _UNSTABLE or "bin/" in path[:15] or "__pycache__" in path
