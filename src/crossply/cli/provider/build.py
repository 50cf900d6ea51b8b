"""`crossply provider build`: build the package of a provider in Python."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.provider.crd_generation import DIRECTORY, directory_of, write_crds
from crossply.errors import CrossplyError
from crossply.manifests.file_io import in_go_words
from crossply.xpkg.user_image_pull import error_prefix

if TYPE_CHECKING:
    from crossply.xpkg.image import Image


class ProviderBuildError(CrossplyError):
    """The package of a provider could not be written."""

    code = "CP-579"


def run(invocation: Invocation) -> int:
    """Write the CRDs, then build the package."""
    import tempfile

    from crossply.provider.provider_directory import python_packages
    from crossply.xpkg.archive_writer import write_archive
    from crossply.xpkg.image import digest
    from crossply.xpkg.provider_image import build_provider

    directory = directory_of(invocation["directory"])
    packages = python_packages(directory)
    crds = write_crds(directory)
    invocation.stderr.write(f"wrote {len(crds)} CRDs to {os.path.relpath(os.path.dirname(crds[0]))}\n")
    if invocation["crds-only"]:
        return 0
    with tempfile.TemporaryDirectory(prefix="crossply-") as scratch:
        base, python = _base(invocation, scratch)
        with error_prefix("failed to build the package of the provider"):
            built = build_provider(directory, packages, base, python)
        path = invocation["package-file"] or os.path.join(directory, f"{built.package.name}.xpkg")
        try:
            write_archive(built.image, path)
        except OSError as problem:
            raise ProviderBuildError(f"failed to write {in_go_words('open', path, problem)}") from None
    invocation.stdout.write(f"{os.path.relpath(path)} {digest(built.image)}\n")
    return 0


def _base(invocation: Invocation, scratch: str) -> tuple[Image, str]:
    """The image with Python that the provider runs in, and its version where the image does not say."""
    from crossply.cli.xpkg.local_images import local_or_pulled, read_image
    from crossply.xpkg.image_reference import parse
    from crossply.xpkg.project_functions import ITS_PYTHON, PYTHON_IMAGE, runtime_of
    from crossply.xpkg.run_to_completion_image import plain_tarball

    if invocation["embed-runtime-image-tarball"]:
        with error_prefix("failed to load the runtime image"):
            return runtime_of(
                read_image(plain_tarball(invocation["embed-runtime-image-tarball"], scratch))
            ), ""
    name = invocation["embed-runtime-image"] or PYTHON_IMAGE
    with error_prefix(f"failed to fetch the runtime image {name}"):
        image = local_or_pulled(invocation, parse(name), scratch, invocation["architecture"] or "")
        return runtime_of(image), ITS_PYTHON if name == PYTHON_IMAGE else ""


COMMAND = Command(
    "build",
    "Build the package of a provider in Python.",
    run,
    arguments=(DIRECTORY,),
    flags=(
        Flag("crds-only", "Write the CRDs of the provider's classes to package/crds, and build nothing."),
        Flag(
            "embed-runtime-image",
            "The image with Python that the provider runs in, from a container engine or its registry. "
            "Defaults to a small image without a shell.",
            kind="string",
            placeholder="NAME",
            exclusive="runtime-image",
        ),
        Flag(
            "embed-runtime-image-tarball",
            "The image with Python as a tarball: of docker save or an OCI layout, also compressed.",
            kind="existing-file",
            placeholder="PATH",
            exclusive="runtime-image",
        ),
        Flag(
            "architecture",
            "The architecture to build for: amd64 or arm64. Defaults to that of this machine.",
            kind="string",
            placeholder="ARCH",
        ),
        Flag(
            "package-file",
            "The file to write the package to. Defaults to NAME.xpkg in the provider's directory.",
            short="o",
            kind="path",
            placeholder="PATH",
        ),
    ),
    description=(
        "Generates the CRDs in package/crds from the provider's classes, then builds a package that "
        "Crossplane\n"
        "and Crossply install: the CRDs, the examples, and an image that runs the provider with what its\n"
        "requirements.txt lists. No container engine is needed. Python packages that are installed\n"
        "together with Crossply and fit the image are copied; others come from an index (PIP_INDEX_URL).\n\n"
        "The same files always give the same package."
    ),
    examples=(
        "crossply provider build",
        "crossply provider build --crds-only",
        "crossply provider build --embed-runtime-image=docker.io/library/python:3.13-slim -o tickets.xpkg",
    ),
)
