"""The flags of commands that work on a project."""

from __future__ import annotations

from crossply.cli.framework.command import Flag

PROJECT_FILE_FLAG = Flag(
    "project-file",
    "Path to project definition file: crossplane-project.yaml, or else upbound.yaml.",
    short="f",
    kind="string",
    placeholder='"crossplane-project.yaml"',
)
CACHE_DIR_FLAG = Flag(
    "cache-dir",
    "Directory for cached xpkg package contents.",
    kind="string",
    env="CROSSPLANE_XPKG_CACHE",
)
