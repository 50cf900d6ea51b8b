"""`crossply xpkg push`: put a package into a registry."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from crossply.cli.spec import Argument, Command, Flag, Invocation
from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.packages.image import Image
    from crossply.packages.references import Reference


def run(invocation: Invocation) -> int:
    """Push the package, or an index of packages for several platforms."""
    import asyncio

    from crossply.cli.xpkg_images import only_package, read_image
    from crossply.packages.references import parse_tag
    from crossply.values.goquote import quote

    files = invocation["package-files"] or [only_package(os.getcwd())]
    annotations = invocation["oci-annotation"]
    images = [image._replace(annotations=annotations) for image in map(read_image, files)]
    try:
        reference = parse_tag(invocation["package"], strict=True)
    except CrossplyError as problem:
        raise problem.within(f"failed to parse package tag {quote(invocation['package'])}") from None
    digest = asyncio.run(_push(invocation, files, images, reference))
    invocation.log(f"pushed {reference} as {digest}")
    return 0


async def _push(invocation: Invocation, files: list[str], images: list[Image], reference: Reference) -> str:
    from crossply.cli.xpkg_images import session
    from crossply.packages.pushing import push_image, push_images

    what, insecure = f"pushing {reference.repository}", invocation["insecure-skip-tls-verify"]
    async with session(invocation, what, insecure) as registries:
        try:
            if len(images) == 1:
                return (await push_image(registries, images[0], reference)).manifest.digest
            return await push_images(registries, images, reference, invocation["oci-annotation"])
        except CrossplyError as problem:
            what = (
                f"package file {files[0]}"
                if len(files) == 1
                else f"an OCI image index of {len(files)} packages"
            )
            raise problem.within(f"failed to push {what}") from None


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
        "The package is the only xpkg file of the directory unless files are named. Several files are\n"
        "pushed as one package for several platforms.\n\n"
        "The login for the registry is that of docker, a credential helper or podman. Registries on\n"
        "this machine are spoken to without TLS where they have none."
    ),
    examples=(
        "crossply xpkg push registry.example.org/team/function-x:v1.0.0",
        "crossply xpkg push -f amd64.xpkg,arm64.xpkg registry.example.org/team/function-x:v1.0.0",
    ),
)
