"""`crossply xpkg build`: build a package from a directory of files."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.errors import CrossplyError
from crossply.xpkg.user_image_pull import error_prefix

if TYPE_CHECKING:
    from crossply.xpkg.image import Image


_RUNTIME = "failed to get runtime base image options"


class BuildError(CrossplyError):
    """A package could not be built or written."""

    code = "CP-590"


def run(invocation: Invocation) -> int:
    """Build the package and write it."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="crossply-") as directory:
        return _build(invocation, _with_project(invocation, _runtime(invocation, directory)))


def _build(invocation: Invocation, base: Image) -> int:
    from crossply.xpkg.archive_writer import write_archive
    from crossply.xpkg.image import digest
    from crossply.xpkg.package_build import BuildPlan, build, default_file

    plan = BuildPlan(invocation["package-root"], invocation["examples-root"], invocation["ignore"], base)
    with error_prefix("failed to build package"):
        built = build(plan)
        if invocation["from-oci-tarball"] and built.package.kind != "Function":
            raise BuildError(
                f"a {built.package.kind} cannot be made of an image that runs to completion",
                hint="--from-oci-tarball is for Functions",
            )
    path = invocation["package-file"] or default_file(plan.root, built, digest(built.image))
    try:
        write_archive(built.image, path)
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise BuildError(f"failed to create package file: open {path}: {reason}") from None
    invocation.log(f"xpkg saved output={os.path.relpath(path)}")
    return 0


def _with_project(invocation: Invocation, base: Image) -> Image:
    """The runtime image with the Python project in it, if one is given."""
    from crossply.xpkg.python_project_image import with_project

    if not invocation["python-project"]:
        return base
    if not base.layers:
        raise BuildError(
            "a Python project needs an image with Python to run in",
            hint="name one with --embed-runtime-image or --embed-runtime-image-tarball",
        )
    with error_prefix("failed to build the runtime of the Python project"):
        return with_project(base, invocation["python-project"])


def _runtime(invocation: Invocation, directory: str) -> Image:
    """The embedded runtime image, or an empty image."""
    from crossply.cli.xpkg.local_images import local_or_pulled, read_image
    from crossply.xpkg.image import EMPTY
    from crossply.xpkg.image_reference import parse
    from crossply.xpkg.run_to_completion_image import from_tarball, plain_tarball

    tarball, name = invocation["embed-runtime-image-tarball"], invocation["embed-runtime-image"]
    if invocation["from-oci-tarball"]:
        with error_prefix(f"{_RUNTIME}: failed to load runtime tarball"):
            return from_tarball(invocation["from-oci-tarball"], directory)
    if tarball:
        with error_prefix(f"{_RUNTIME}: failed to load runtime tarball"):
            return read_image(plain_tarball(tarball, directory))
    if not name:
        return EMPTY
    with error_prefix(f"{_RUNTIME}: failed to parse runtime image reference"):
        reference = parse(name)
    with error_prefix(f"{_RUNTIME}: failed to pull runtime image"):
        return local_or_pulled(invocation, reference, directory)


COMMAND = Command(
    "build",
    "Build a package from a directory of files.",
    run,
    flags=(
        Flag(
            "embed-runtime-image",
            "An OCI image to embed in the package as its runtime, from a container engine or its registry.",
            kind="string",
            placeholder="NAME",
            exclusive="runtime-image",
        ),
        Flag(
            "embed-runtime-image-tarball",
            "An image tarball to embed in the package as its runtime: of docker save or an OCI layout, also "
            "compressed.",
            kind="existing-file",
            placeholder="PATH",
            exclusive="runtime-image",
        ),
        Flag(
            "examples-root",
            "A directory of example YAML files to include in the package.",
            short="e",
            kind="path",
            default="./examples",
        ),
        Flag(
            "from-oci-tarball",
            "An OCI image tarball of a program that reads a RunFunctionRequest in JSON on standard input and "
            "writes a RunFunctionResponse on standard output. It is run once for each call.",
            kind="existing-file",
            placeholder="PATH",
            exclusive="runtime-image",
        ),
        Flag(
            "ignore",
            "Comma-separated file paths, relative to --package-root, to exclude from the package. "
            "Wildcards are supported; directories cannot be excluded.",
            kind="strings",
            placeholder="PATH",
        ),
        Flag(
            "package-file",
            "The file to write the package to. Defaults to a generated file name in --package-root.",
            short="o",
            kind="path",
            placeholder="PATH",
        ),
        Flag(
            "package-root",
            "The directory that contains the package's crossplane.yaml file.",
            short="f",
            kind="existing-dir",
            default=".",
        ),
        Flag(
            "python-project",
            "The directory of a Python project to run in the embedded runtime image. The image "
            "then only needs Python.",
            kind="existing-dir",
            placeholder="DIR",
        ),
    ),
    description=(
        "A package is an OCI image that contains a Configuration, a Function or a Provider. crossplane.yaml\n"
        "describes it; all other YAML files below the directory are its content.\n\n"
        "Function and Provider packages can embed the image of their runtime, so that one image both\n"
        "installs and runs them. No container engine is needed. The same files always give the same package."
    ),
    examples=(
        "crossply xpkg build",
        "crossply xpkg build -f package --embed-runtime-image-tarball=runtime.tar -o function.xpkg",
        "crossply xpkg build --from-oci-tarball=function.tgz",
        "crossply xpkg build -f package --python-project=. --embed-runtime-image=docker.io/library/python:3",
    ),
)
