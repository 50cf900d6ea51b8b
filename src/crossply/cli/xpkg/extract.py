"""`crossply xpkg extract`: write the YAML of a package to a file, in the format of Crossplane's cache."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation, UsageError
from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.xpkg.image import Image

_ENDING = ".gz"
_CHOOSE = "crossply xpkg extract --from-xpkg FILE"


class ExtractUsage(UsageError):
    """`xpkg extract` was called without a package."""

    code = "CP-592"
    exit_code = 1


class ExtractError(CrossplyError):
    """The content of a package could not be written."""

    code = "CP-593"


def run(invocation: Invocation) -> int:
    """Find the package, and write its content."""
    import tempfile

    from crossply.xpkg.package_stream_extraction import stream_of

    with tempfile.TemporaryDirectory(prefix="crossply-") as directory:
        image = _image(invocation, directory)
        try:
            stream = stream_of(image)
        except CrossplyError as problem:
            raise problem.within("failed to open package stream file") from None
    _write(os.path.splitext(os.path.normpath(invocation["output"]))[0] + _ENDING, stream)
    return 0


def _image(invocation: Invocation, directory: str) -> Image:
    from crossply.cli.xpkg.local_images import from_daemon, only_package, read_image
    from crossply.xpkg.image_reference import parse
    from crossply.xpkg.user_image_pull import pull_content

    package = invocation["package"] or ""
    try:
        if invocation["from-xpkg"]:
            path = os.path.normpath(package or only_package(os.getcwd(), _CHOOSE))
        elif not package:
            raise ExtractUsage("must provide package tag if fetching from registry or daemon")
        else:
            reference = parse(package, strict=True)
    except ExtractUsage:
        raise
    except CrossplyError as problem:
        prefix = "" if invocation["from-xpkg"] else "package tag is not a valid reference: "
        raise ExtractUsage(f"{prefix}{problem}", hint=problem.hint) from None
    try:
        if invocation["from-xpkg"]:
            return read_image(path)
        if invocation["from-daemon"]:
            return from_daemon(invocation, reference, directory)
        return pull_content(invocation, reference, directory)
    except CrossplyError as problem:
        raise problem.within("failed to fetch package from remote") from None


def _write(path: str, stream: bytes) -> None:
    from crossply.xpkg.layer_writer import compressed

    try:
        with open(path, "wb") as file:
            file.write(compressed(stream))
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise ExtractError(f"failed to create output file: open {path}: {reason}") from None


COMMAND = Command(
    "extract",
    "Extract the content of a package.",
    run,
    arguments=(
        Argument(
            "package",
            "The package to extract: a fully qualified OCI image, or a path with --from-xpkg.",
            optional=True,
        ),
    ),
    flags=(
        Flag("from-daemon", "Fetch the image from the Docker daemon."),
        Flag(
            "from-xpkg",
            "Extract a local xpkg file. If package isn't specified, implies the only one in the current "
            "directory.",
        ),
        Flag(
            "output",
            "Package output file. Extension must be .gz.",
            short="o",
            kind="string",
            default="out.gz",
        ),
    ),
    description=(
        "Writes the YAML of a package, compressed, as Crossplane's package cache holds it. The package\n"
        "comes from a registry, or from a file with --from-xpkg."
    ),
    examples=(
        "crossply xpkg extract registry.example.org/team/configuration:v1.0.0 -o configuration.gz",
        "crossply xpkg extract --from-xpkg configuration.xpkg",
    ),
)
