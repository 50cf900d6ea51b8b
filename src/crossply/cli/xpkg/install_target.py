"""The package and the cluster of `xpkg install` and `xpkg update`."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from crossply.cli.framework.command import Argument, Flag, Invocation
from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.failures import AlreadyExists, Conflict, KubeError, NotFound, NotServed, Unreachable
from crossply.kube.kind import Kind

KINDS = {
    "provider": Kind("pkg.crossplane.io", "v1", "Provider", "providers", False),
    "configuration": Kind("pkg.crossplane.io", "v1", "Configuration", "configurations", False),
    "function": Kind("pkg.crossplane.io", "v1", "Function", "functions", False),
}
LOCK = Kind("pkg.crossplane.io", "v1beta1", "Lock", "locks", False)
MANAGER = "crossply"
TIMEOUT_SECONDS = 10.0


class PackageCommandError(CrossplyError):
    """A package could not be installed or updated in the cluster."""

    code = "CP-594"


def arguments(verb: str) -> tuple[Argument, ...]:
    """The arguments of both commands."""
    return (
        Argument(
            "kind",
            f'The kind of package to {verb}. One of "provider", "configuration", or "function".',
            choices=tuple(KINDS),
        ),
        Argument("package", "The package image: registry, repository, and tag or digest."),
        Argument("name", "The name of the package. Derived from the repository by default.", optional=True),
    )


IMPERSONATION = (
    Flag("context", "The context of the kubeconfig to use.", kind="string", hidden=True),
    Flag("as", "Username to impersonate for the operation.", kind="string"),
    Flag(
        "as-group",
        "Group to impersonate for the operation. Repeatable.",
        kind="strings",
        placeholder="AS-GROUP",
        separator="",
    ),
    Flag("as-uid", "UID to impersonate for the operation.", kind="string"),
)


def name_of(invocation: Invocation) -> str:
    """The name argument, or a name derived from the repository."""
    from crossply.xpkg.dns_names import to_dns_label
    from crossply.xpkg.image_reference import parse

    if invocation["name"]:
        return str(invocation["name"])
    try:
        return to_dns_label(parse(invocation["package"], strict=True).repository)
    except CrossplyError as problem:
        raise problem.within("invalid package image identifier") from None


@contextlib.asynccontextmanager
async def cluster(invocation: Invocation) -> AsyncIterator[Client]:
    """A client for the cluster of the user."""
    from crossply.cli.framework.cluster_configuration import configuration

    async with Client(configuration(invocation)) as client:
        yield client


def as_arguments(invocation: Invocation) -> str:
    """The arguments of this command, for a command line of the other one."""
    return " ".join(filter(None, (invocation[key] for key in ("kind", "package", "name"))))


@contextlib.asynccontextmanager
async def package_write(prefix: str, instead: str) -> AsyncIterator[None]:
    """Bound a write in time, and say why it was refused; `instead` as in `cluster_error`."""
    try:
        async with asyncio.timeout(TIMEOUT_SECONDS):
            yield
    except (KubeError, Conflict) as problem:
        raise cluster_error(problem, prefix, instead) from None
    except TimeoutError:
        raise PackageCommandError(f"{prefix}: context deadline exceeded") from None


def cluster_error(problem: KubeError | Conflict, prefix: str, instead: str = "") -> CrossplyError:
    """A refusal of the cluster, with what to do about it.

    `instead` is the command for a package that exists already, or that does not exist yet.
    """
    is_missing = isinstance(problem, NotFound) and not isinstance(problem, NotServed)
    if instead and (is_missing or isinstance(problem, AlreadyExists)):
        return PackageCommandError(f"{prefix}: {problem}", hint=instead)
    if isinstance(problem, NotFound):
        hint = "is this a cluster with Crossplane or Crossply? It does not know the kinds of packages"
        return PackageCommandError(f"{prefix}: {problem}", hint=hint)
    if isinstance(problem, Unreachable):
        return PackageCommandError(f"{prefix}: {problem}", hint="is the cluster running?")
    return PackageCommandError(f"{prefix}: {problem}")


WAIT = Flag(
    "wait",
    "How long to wait for the package to be healthy before returning. The command doesn't wait by default.",
    short="w",
    kind="duration",
    default="0s",
)


async def wait_until_healthy(client: Client, kind: Kind, name: str, image: str, seconds: float) -> None:
    """Poll until the requested version of the package is healthy."""
    message = ""
    try:
        async with asyncio.timeout(seconds):
            while True:
                package: dict[str, Any] = await client.get(kind, name) or {}
                status = package.get("status") or {}
                unhealthy = [
                    condition
                    for condition in status.get("conditions") or ()
                    if condition.get("status") != "True"
                ]
                message = next(
                    (str(condition["message"]) for condition in unhealthy if condition.get("message")),
                    message,
                )
                if status.get("currentIdentifier", image) == image and _is_healthy(status):
                    return
                await asyncio.sleep(0.3)
    except TimeoutError:
        reason = f": {message}" if message else ""
        raise PackageCommandError(
            f"Package did not become ready: context deadline exceeded{reason}",
            hint=f"crossply trace {kind.kind.lower()} {name} shows how far it is",
        ) from None


def _is_healthy(status: dict[str, Any]) -> bool:
    conditions = status.get("conditions") or ()
    return any(
        condition.get("type") == "Healthy" and condition.get("status") == "True" for condition in conditions
    )
