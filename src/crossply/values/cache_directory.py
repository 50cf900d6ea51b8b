"""Where caches of images and modules are unless the user says otherwise."""

from __future__ import annotations

import os
from collections.abc import Mapping


def cache_directory(environ: Mapping[str, str], name: str) -> str:
    """The directory of a cache, which is trusted: it is in no place where other users could make it first."""
    cache = environ.get("XDG_CACHE_HOME") or os.path.join(environ.get("HOME") or _home(), ".cache")
    return os.path.join(cache, "crossply", name)


def _home() -> str:
    """The home of the user, for services whose environment has none."""
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return "/var/tmp"  # a user without a name has a container of its own
