"""`crossply xpkg update`: have the control plane install another version of a package."""

from __future__ import annotations

from crossply.cli.spec import Command, Invocation
from crossply.cli.xpkg_cluster import (
    IMPERSONATION,
    KINDS,
    MANAGER,
    PATIENCE,
    PackageCommandError,
    arguments,
    cluster,
    name_of,
    told,
)
from crossply.kube.failures import KubeError


def run(invocation: Invocation) -> int:
    """Change the image of the package."""
    import asyncio

    name = name_of(invocation)
    asyncio.run(_update(invocation, name))
    invocation.stdout.write(f"{invocation['kind']}/{name} updated\n")
    return 0


async def _update(invocation: Invocation, name: str) -> None:
    import asyncio

    kind = KINDS[invocation["kind"]]
    patch = {"spec": {"package": invocation["package"]}}
    try:
        async with cluster(invocation) as client, asyncio.timeout(PATIENCE):
            await client.patch_merge(kind, name, patch, manager=MANAGER)
    except KubeError as problem:
        raise told(problem, f"cannot update {invocation['kind']}/{name}") from None
    except TimeoutError:
        story = f"cannot update {invocation['kind']}/{name}"
        raise PackageCommandError(f"{story}: context deadline exceeded") from None


COMMAND = Command(
    "update",
    "Update a package in a control plane.",
    run,
    arguments=arguments("update"),
    flags=IMPERSONATION,
    description="The cluster is the one that KUBECONFIG or ~/.kube/config names.",
    examples=("crossply xpkg update function registry.example.org/team/function-x:v1.1.0",),
)
