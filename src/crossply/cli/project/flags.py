"""The flags of commands that work on a project."""

from __future__ import annotations

from crossply.cli.framework.command import Flag
from crossply.project import PROJECT_FILE

PROJECT_FILE_FLAG = Flag(
    "project-file",
    "Path to project definition file.",
    short="f",
    kind="string",
    default=PROJECT_FILE,
)
CACHE_DIR_FLAG = Flag(
    "cache-dir",
    "Directory for cached xpkg package contents.",
    kind="string",
    env="CROSSPLANE_XPKG_CACHE",
)
