"""`crossply xpkg install`: install a package in a control plane."""

from __future__ import annotations

from typing import Any

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.cli.xpkg.cluster_client import IMPERSONATION, MANAGER, cluster
from crossply.cli.xpkg.cluster_errors import PackageCommandError, package_write
from crossply.cli.xpkg.install_target import KINDS, arguments, as_arguments, name_of
from crossply.cli.xpkg.package_health_wait import WAIT, wait_until_healthy
from crossply.values import Object


def run(invocation: Invocation) -> int:
    import asyncio

    package = package_object(invocation)
    asyncio.run(_install(invocation, package))
    invocation.stdout.write(f"{invocation['kind']}/{package['metadata']['name']} created\n")
    return 0


def package_object(invocation: Invocation) -> Object:
    """The package as the flags describe it."""
    kind = KINDS[invocation["kind"]]
    spec: dict[str, Any] = {
        "package": invocation["package"],
        "revisionActivationPolicy": "Manual" if invocation["manual-activation"] else "Automatic",
        "revisionHistoryLimit": invocation["revision-history-limit"] or 0,
    }
    if invocation["package-pull-secrets"]:
        spec["packagePullSecrets"] = [{"name": name} for name in invocation["package-pull-secrets"]]
    if invocation["runtime-config"]:
        if kind.kind == "Configuration":
            raise PackageCommandError("package kind *v1.Configuration does not support runtime configuration")
        spec["runtimeConfigRef"] = {
            "apiVersion": "pkg.crossplane.io/v1beta1",
            "kind": "DeploymentRuntimeConfig",
            "name": invocation["runtime-config"],
        }
    metadata = {"name": name_of(invocation)}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}


async def _install(invocation: Invocation, package: Object) -> None:
    kind = KINDS[invocation["kind"]]
    async with cluster(invocation) as client:
        async with package_write("cannot create package", f"crossply xpkg update {as_arguments(invocation)}"):
            await client.create(kind, package, MANAGER)
        if invocation["wait"]:
            name, image = package["metadata"]["name"], package["spec"]["package"]
            await wait_until_healthy(client, kind, name, image, invocation["wait"])


COMMAND = Command(
    "install",
    "Install a package in a control plane.",
    run,
    arguments=arguments("install"),
    flags=(
        Flag(
            "runtime-config",
            "Install the package with a runtime configuration (for example a DeploymentRuntimeConfig).",
            kind="string",
            placeholder="NAME",
        ),
        Flag(
            "manual-activation",
            "Require the new package's first revision to be manually activated.",
            short="m",
        ),
        Flag(
            "package-pull-secrets",
            "A comma-separated list of secrets to pull the package with.",
            kind="strings",
            placeholder="NAME",
        ),
        Flag(
            "revision-history-limit",
            "Number of package revisions that can exist before garbage collection.",
            short="r",
            kind="int",
            placeholder="LIMIT",
        ),
        WAIT,
        *IMPERSONATION,
    ),
    description="The cluster is the one that KUBECONFIG or ~/.kube/config names.",
    examples=(
        "crossply xpkg install function registry.example.org/team/function-x:v1.0.0 --wait=1m",
        "crossply xpkg install configuration registry.example.org/team/platform:v2.1.0 platform",
    ),
)
