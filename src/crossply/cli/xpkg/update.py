"""`crossply xpkg update`: update a package in a control plane."""

from __future__ import annotations

from crossply.cli.framework.command import Command, Invocation
from crossply.cli.xpkg.cluster_client import IMPERSONATION, MANAGER, cluster
from crossply.cli.xpkg.cluster_errors import package_write
from crossply.cli.xpkg.install_target import KINDS, arguments, as_arguments, name_of
from crossply.cli.xpkg.package_health_wait import WAIT, wait_until_healthy


def run(invocation: Invocation) -> int:
    """Change the image of the package."""
    import asyncio

    name = name_of(invocation)
    asyncio.run(_update(invocation, name))
    invocation.stdout.write(f"{invocation['kind']}/{name} updated\n")
    return 0


async def _update(invocation: Invocation, name: str) -> None:
    kind, image = KINDS[invocation["kind"]], invocation["package"]
    prefix = f"cannot update {invocation['kind']}/{name}"
    async with cluster(invocation) as client:
        async with package_write(prefix, f"crossply xpkg install {as_arguments(invocation)}"):
            await client.patch_merge(kind, name, {"spec": {"package": image}}, manager=MANAGER)
        if invocation["wait"]:
            await wait_until_healthy(client, kind, name, image, invocation["wait"])


COMMAND = Command(
    "update",
    "Update a package in a control plane.",
    run,
    arguments=arguments("update"),
    flags=(WAIT, *IMPERSONATION),
    description="The cluster is the one that KUBECONFIG or ~/.kube/config names.",
    examples=("crossply xpkg update function registry.example.org/team/function-x:v1.1.0 --wait=1m",),
)
