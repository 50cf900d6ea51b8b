"""The program that starts a container: crun, or else runc."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import NamedTuple

from crossply.containers.failures import NoContainerEngine
from crossply.containers.settings import CRUN, ENGINE_VARIABLE, ENGINES

_SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")
"""Where runc is on some systems, and where ordinary users do not look."""


class Engine(NamedTuple):
    """One of the engines, installed."""

    name: str
    path: str

    def command(self, key: str) -> list[str]:
        """How it runs a container; the launcher knows the directories."""
        # Control groups are ours: an engine that may not make them says nothing, and holds no limit.
        options = ["--cgroup-manager=disabled"] if self.name == CRUN else ["--rootless=true"]
        run = ["run", "--bundle", "{bundle}", "--pid-file", "{bundle}/pid", key]
        return [self.path, "--root", "{state}", *options, *run]


def find_engine(chosen: str, environ: Mapping[str, str]) -> Engine:
    """The requested engine, or the first that is installed."""
    chosen = chosen or environ.get(ENGINE_VARIABLE, "")
    if chosen and chosen not in ENGINES:
        raise NoContainerEngine(f"{chosen} is no container engine", hint=f"use {' or '.join(ENGINES)}")
    for name in (chosen,) if chosen else ENGINES:
        path = _find(name, environ)
        if path:
            return Engine(name, path)
    missing = f"{chosen} is not" if chosen else f"neither {' nor '.join(ENGINES)} is"
    raise NoContainerEngine(f"{missing} installed")


def engine_installed(environ: Mapping[str, str]) -> bool:
    """Return whether containers can be started at all."""
    chosen = environ.get(ENGINE_VARIABLE, "")
    return any(_find(name, environ) for name in ([chosen] if chosen in ENGINES else ENGINES))


def _find(name: str, environ: Mapping[str, str]) -> str:
    path = os.pathsep.join([environ.get("PATH", os.defpath), *_SYSTEM])
    return shutil.which(name, path=path) or ""
