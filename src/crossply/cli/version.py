"""`crossply version`: print the versions of this program and of the control plane in the cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from crossply.cli.framework.command import Command, Flag, Invocation
from crossply.errors import CrossplyError
from crossply.version import __version__

if TYPE_CHECKING:
    from crossply.kube.client import Client
    from crossply.values import Object

TIMEOUT_SECONDS = 30.0
_VERSION_LABEL = "app.kubernetes.io/version"
_SELECTORS = ("app=crossplane", "app.kubernetes.io/name=crossply")
"""Labels of the Deployments of Crossplane and of Crossply."""
_EMBEDDED = "+crossply-"
"""Stands between the version of Kubernetes and ours in what the embedded API server reports."""


class ServerVersionUnknown(CrossplyError):
    """The version of the control plane could not be determined."""

    code = "CP-565"
    hint = "crossply version --client needs no server"


def run(invocation: Invocation) -> int:
    """Print both versions; without a server that answers the exit code is 1."""
    invocation.stdout.write(f"Client Version: v{__version__}\n")
    if invocation["client"]:
        return 0
    import asyncio

    try:
        version = asyncio.run(_server_version(invocation))
    except CrossplyError as problem:
        raise ServerVersionUnknown(f"unable to get crossplane version: {problem}") from None
    except TimeoutError:
        raise ServerVersionUnknown(
            f"unable to get crossplane version: no answer within {TIMEOUT_SECONDS:.0f} s"
        ) from None
    invocation.stdout.write(f"Server Version: {version}\n")
    return 0


async def _server_version(invocation: Invocation) -> str:
    import asyncio

    from crossply.cli.framework.cluster_configuration import cluster_configuration
    from crossply.kube.client import Client
    from crossply.kube.failures import KubeError
    from crossply.resource_tree.request_failures import failure

    config = cluster_configuration("", invocation.environ)
    async with asyncio.timeout(TIMEOUT_SECONDS), Client(config) as client:
        try:
            return await server_version(client)
        except KubeError as problem:
            url = f"{client.config.server}/apis/apps/v1/deployments"
            raise ServerVersionUnknown(f"could not fetch deployments: {failure(problem, url)}") from None


async def server_version(client: Client) -> str:
    """The version of the control plane, with a leading v; raises ServerVersionUnknown where there is none."""
    return await _deployed_version(client) or await _embedded_version(client)


async def _deployed_version(client: Client) -> str | None:
    import orjson

    from crossply.kube.kind import Kind

    deployments = Kind("apps", "v1", "Deployment", "deployments", True)
    for selector in _SELECTORS:
        listed = await client.list(deployments, label_selector=selector)
        for item in listed.items:
            version = version_of(orjson.loads(item))
            if version:
                return version
    return None


def version_of(deployment: Object) -> str | None:
    """The version of a Deployment from its label or its image's tag; with a leading v."""
    labels = deployment["metadata"].get("labels") or {}
    version = labels.get(_VERSION_LABEL) or _image_tag(deployment)
    return f"v{version.removeprefix('v')}" if version else None


def _image_tag(deployment: Object) -> str | None:
    from crossply.xpkg.image_reference import parse

    for container in deployment["spec"]["template"]["spec"]["containers"][:1]:
        return parse(container["image"]).tag or None
    return None


async def _embedded_version(client: Client) -> str:
    """The version of the API server itself, where it is that of `crossply up` or `crossply apiserver`."""
    import orjson

    reply = await client.request("GET", "/version")
    reported = str(orjson.loads(reply.data).get("gitVersion", ""))
    if _EMBEDDED not in reported:
        raise ServerVersionUnknown("Crossplane version or image tag not found")
    return f"v{reported.rpartition(_EMBEDDED)[2]}"


COMMAND = Command(
    "version",
    "Print the versions of the client and the server.",
    run,
    flags=(Flag("client", "If true, shows client version only (no server required)."),),
    description=(
        "The server is the control plane in the cluster of the kubeconfig: the Deployment of "
        "Crossply or\n"
        "Crossplane, or the API server of crossply up. The exit code is 1 if none responds."
    ),
    examples=("crossply version", "crossply version --client"),
)
