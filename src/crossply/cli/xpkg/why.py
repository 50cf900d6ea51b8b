"""`crossply xpkg why`: show which packages depend on a package, and on which versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Argument, Command, Flag, Invocation
from crossply.errors import CrossplyError
from crossply.kube.kind import Kind

if TYPE_CHECKING:
    from crossply.xpkg.dependencies import Locked

LOCK = Kind("pkg.crossplane.io", "v1beta1", "Lock", "locks", False)


def run(invocation: Invocation) -> int:
    """Read the Lock of the cluster, ask the registry for versions, and write the tree."""
    import asyncio

    from crossply.xpkg.dependents_tree import why

    packages, tags = asyncio.run(_known(invocation))
    lines = why(packages, _source(invocation["package"], packages), tags)
    invocation.stdout.write("\n".join(lines) + "\n")
    return 0


def _source(source: str, packages: list[Locked]) -> str:
    """The source of a package: given in full, by its last part, or by the package's name."""
    for package in packages:
        if source in (package.source, package.name) or package.source.endswith(f"/{source}"):
            return package.source
    return source


async def _known(invocation: Invocation) -> tuple[list[Locked], list[str]]:
    from crossply.cli.xpkg.cluster_client import cluster
    from crossply.cli.xpkg.cluster_errors import cluster_error
    from crossply.kube.failures import KubeError
    from crossply.xpkg.dependencies import read_lock

    try:
        async with cluster(invocation) as client:
            packages = read_lock(await client.get(LOCK, "lock") or {})
    except KubeError as problem:
        raise cluster_error(problem, "cannot read the Lock") from None
    if invocation["offline"]:
        return packages, []
    return packages, await _tags(invocation, _source(invocation["package"], packages))


async def _tags(invocation: Invocation, source: str) -> list[str]:
    """The tags of a package; none if the registry does not respond."""
    from crossply.xpkg.image_pull import tags
    from crossply.xpkg.image_reference import parse
    from crossply.xpkg.user_image_pull import session

    try:
        async with session(invocation, "") as registries:
            return await tags(registries, parse(source))
    except CrossplyError as problem:
        invocation.log(f"the versions of {source} are not known: {problem}")
        return []


COMMAND = Command(
    "why",
    "Show which packages depend on a package, and on which versions.",
    run,
    arguments=(
        Argument("package", "The package: its source without a tag, the end of it, or its name in the Lock."),
    ),
    flags=(
        Flag("offline", "Do not query the registry for available versions."),
        Flag("context", "The context of the kubeconfig to use.", short="c", kind="string"),
        Flag("as", "Username to impersonate for the operation.", kind="string", hidden=True),
        Flag("as-group", "Group to impersonate for the operation.", kind="strings", hidden=True),
        Flag("as-uid", "UID to impersonate for the operation.", kind="string", hidden=True),
    ),
    description=(
        "Reads the Lock of the control plane and shows the packages that depend on a package, "
        "with the\n"
        "versions that each accepts, up to those that were installed directly. Constraints that "
        "the installed\n"
        "version does not satisfy are marked. The last line shows a version that satisfies all "
        "constraints."
    ),
    examples=(
        "crossply xpkg why function-x",
        "crossply xpkg why registry.example.org/team/function-x --offline",
    ),
)
