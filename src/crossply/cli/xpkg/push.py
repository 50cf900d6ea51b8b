"""`crossply xpkg push`: push a package to a registry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.xpkg.image import Image
    from crossply.xpkg.image_reference import Reference
    from crossply.xpkg.registry_session import Registries


def run(invocation: Invocation) -> int:
    """Push the package, or an index of packages for several platforms."""
    import asyncio

    from crossply.cli.xpkg.local_images import only_package, read_image

    files = invocation["package-files"] or [only_package(os.getcwd(), "crossply xpkg push -f FILE")]
    annotations = invocation["oci-annotation"]
    images = [image._replace(annotations=annotations) for image in map(read_image, files)]
    reference = target(invocation["package"])
    digest = asyncio.run(_push(invocation, files, images, reference))
    invocation.log(f"pushed {reference} as {digest}")
    return 0


def target(text: str) -> Reference:
    """Where a package is pushed to: nothing of it is left to be guessed."""
    from crossply.values.goquote import quote
    from crossply.xpkg.image_reference import parse_tag

    try:
        return parse_tag(text, strict=True)
    except CrossplyError as problem:
        raise problem.within(f"failed to parse package tag {quote(text)}") from None


async def _push(invocation: Invocation, files: list[str], images: list[Image], reference: Reference) -> str:
    from crossply.xpkg.user_image_pull import session

    label, insecure = f"pushing {reference.repository}", invocation["insecure-skip-tls-verify"]
    async with session(invocation, label, insecure) as registries:
        return await push_package(registries, files, images, reference, invocation["oci-annotation"])


async def push_package(
    registries: Registries,
    names: list[str],
    images: list[Image],
    reference: Reference,
    annotations: dict[str, str],
) -> str:
    """Push an image, or an index of several; returns the digest. `names` are for error messages."""
    from crossply.xpkg.image_push import push_image, push_images

    try:
        if len(images) == 1:
            return (await push_image(registries, images[0], reference)).manifest.digest
        return await push_images(registries, images, reference, annotations)
    except CrossplyError as problem:
        several = f"an OCI image index of {len(names)} packages"
        subject = f"package file {names[0]}" if len(names) == 1 else several
        raise problem.within(f"failed to push {subject}") from None


COMMAND = Command(
    "push",
    "Push a package to a registry.",
    run,
    arguments=(Argument("package", "Where to push the package: registry, repository and tag."),),
    flags=(
        Flag(
            "oci-annotation",
            "An OCI manifest annotation to add to the package in key=value format. Repeatable.",
            short="a",
            kind="map",
        ),
        Flag("insecure-skip-tls-verify", "[INSECURE] Skip verifying TLS certificates."),
        Flag(
            "package-files",
            "A comma-separated list of xpkg files to push.",
            short="f",
            kind="existing-files",
            placeholder="PATH",
        ),
    ),
    description=(
        "If no files are named, pushes the only xpkg file of the current directory. Several files are\n"
        "pushed as one package for several platforms.\n\n"
        "The login for the registry is that of docker, a credential helper or podman. Registries are\n"
        "accessed over TLS. Plain HTTP is allowed for registries on this machine."
    ),
    examples=(
        "crossply xpkg push registry.example.org/team/function-x:v1.0.0",
        "crossply xpkg push -f amd64.xpkg,arm64.xpkg registry.example.org/team/function-x:v1.0.0",
    ),
)
