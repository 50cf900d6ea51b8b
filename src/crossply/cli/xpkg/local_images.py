"""Images on this machine, for the `xpkg` commands: in package files, and in a container engine."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Invocation
from crossply.errors import CrossplyError
from crossply.xpkg.user_image_pull import pull

if TYPE_CHECKING:
    from crossply.xpkg.image import Image
    from crossply.xpkg.image_reference import Reference


ENDING = ".xpkg"


class ImageError(CrossplyError):
    """A package file could not be found or opened."""

    code = "CP-591"


def read_image(path: str) -> Image:
    """The image in a file."""
    from crossply.xpkg.archive_reader import read_archive

    try:
        return read_archive(path)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise ImageError(f"open {path}: {reason}", hint="check the path") from None


def only_package(directory: str, choose: str) -> str:
    """The one package file in a directory; `choose` is a command line that names one of several."""
    names = sorted(name for name in os.listdir(directory) if name.endswith(ENDING))
    if not names:
        problem = "directory does not contain a compiled crossplane package"
        hint = f"build one with: crossply xpkg build, or name one: {choose}"
    elif len(names) > 1:
        problem = "directory contains multiple compiled crossplane packages"
        hint = f"name one of {', '.join(names)}: {choose}"
    else:
        return os.path.join(directory, names[0])
    raise ImageError(f"failed to find a package in current working directory: {problem}", hint=hint)


def from_daemon(invocation: Invocation, reference: Reference, directory: str) -> Image:
    """An image that a container engine on this machine has."""
    from crossply.functions.docker_engine import find_engine

    path = os.path.join(directory, "image.tar")
    find_engine(invocation.environ).save(str(reference), path)
    return read_image(path)


def local_or_pulled(
    invocation: Invocation, reference: Reference, directory: str, architecture: str = ""
) -> Image:
    """An image of a container engine where one runs that has it; else from its registry."""
    from crossply.functions.docker_engine import find_engine
    from crossply.functions.failures import ContainerEngineUnavailable

    try:
        here = find_engine(invocation.environ).has_image(str(reference))
    except ContainerEngineUnavailable:
        here = False
    if here:
        return from_daemon(invocation, reference, directory)
    return pull(invocation, reference, directory, architecture)
