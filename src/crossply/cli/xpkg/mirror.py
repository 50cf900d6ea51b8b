"""`crossply xpkg mirror`: copy a package and its dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.errors import CrossplyError

if TYPE_CHECKING:
    from crossply.xpkg.mirror import Sink
    from crossply.xpkg.registry_session import Registries

_LAYOUT = "oci:"


class MirrorError(CrossplyError):
    """A package could not be copied."""

    code = "CP-596"


def run(invocation: Invocation) -> int:
    """Find all packages, and copy one after the other."""
    import asyncio
    import tempfile

    with tempfile.TemporaryDirectory(prefix="crossply-") as directory:
        asyncio.run(_mirror(invocation, directory))
    return 0


async def _mirror(invocation: Invocation, directory: str) -> None:
    from crossply.xpkg.image_reference import parse
    from crossply.xpkg.mirror import MirrorItem, closure, copy
    from crossply.xpkg.user_image_pull import session

    root = parse(invocation["package"])
    async with session(invocation, f"mirroring {root.repository}") as registries:
        sink = _sink(registries, invocation["target"])
        alone = invocation["skip-dependencies"]
        packages = [MirrorItem(root)] if alone else await closure(registries, root, directory)
        for package in packages:
            digest = await copy(registries, package.reference, sink, directory)
            requester = f" (required by {package.by})" if package.by else ""
            invocation.stdout.write(f"{package.reference} {digest}{requester}\n")
            invocation.stdout.flush()


def _sink(registries: Registries, target: str) -> Sink:
    from crossply.xpkg.mirror import LayoutSink, RegistrySink

    if not target.startswith(_LAYOUT):
        return RegistrySink(registries, target.rstrip("/"))
    try:
        return LayoutSink(target.removeprefix(_LAYOUT))
    except OSError as problem:
        reason = (problem.strerror or str(problem)).lower()
        raise MirrorError(f"cannot write to {target.removeprefix(_LAYOUT)}: {reason}") from None


COMMAND = Command(
    "mirror",
    "Copy a package and its dependencies to another registry, or to a directory.",
    run,
    arguments=(
        Argument("package", "The package image: registry, repository, and tag or digest."),
        Argument("target", "A registry with an optional repository prefix, or oci:DIRECTORY."),
    ),
    flags=(Flag("skip-dependencies", "Copy only this package."),),
    description=(
        "Copies packages unchanged, for all platforms and with signatures: digests stay the "
        "same. For each\n"
        "dependency the highest version that satisfies its constraint is copied. An ImageConfig "
        "with\n"
        "rewriteImage makes a control plane use the copies.\n"
        "\n"
        "Prints a line for each copied package: its name, its digest, and which package depends "
        "on it."
    ),
    examples=(
        "crossply xpkg mirror registry.example.org/team/platform:v1.0.0 registry.internal/mirror",
        "crossply xpkg mirror registry.example.org/team/platform:v1.0.0 oci:./packages",
    ),
)
