"""`crossply dependency clean-cache`: remove generated models and cached packages."""

from __future__ import annotations

import os

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.project.flags import CACHE_DIR_FLAG, PROJECT_FILE_FLAG
from crossply.manifests.file_io import remove_folder
from crossply.project.dependency_entries import ProjectDependencyError
from crossply.project.dependency_fetcher import cache_directory
from crossply.project.folder import ProjectFolder, open_project
from crossply.project.model_folders import remove_schemas


def run(invocation: Invocation) -> int:
    """Remove models, then packages."""
    folder = open_project(invocation["project-file"])
    cache = cache_directory(invocation["cache-dir"])
    if not invocation["keep-packages"]:
        _check(cache, folder)
    remove_schemas(folder)
    if not invocation["keep-packages"]:
        remove_folder(cache, "cannot remove xpkg cache")
    invocation.stdout.write("Schema cache cleaned\n")
    return 0


def _check(cache: str, folder: ProjectFolder) -> None:
    """Refuse to remove a directory that is obviously not a cache."""
    for directory in (folder.root, os.path.expanduser("~"), os.getcwd()):
        if f"{os.path.realpath(directory)}/".startswith(f"{os.path.realpath(cache).rstrip('/')}/"):
            raise ProjectDependencyError(
                f"will not remove {cache}: {directory} is in it",
                hint="--cache-dir is a directory of packages only",
            )


COMMAND = Command(
    "clean-cache",
    "Remove generated models and cached packages of a project.",
    run,
    flags=(
        PROJECT_FILE_FLAG,
        CACHE_DIR_FLAG,
        Flag("keep-packages", "Keep cached xpkg package contents; remove only generated schemas."),
    ),
    description=(
        "Removes the project's schemas folder and the whole package cache, including the "
        "packages of other\n"
        "projects. `crossply dependency update-cache` fetches what this project needs again."
    ),
    examples=("crossply dependency clean-cache", "crossply dependency clean-cache --keep-packages"),
)
