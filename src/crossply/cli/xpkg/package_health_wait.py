"""Waiting until an installed or updated package is healthy."""

from __future__ import annotations

import asyncio
from typing import Any

from crossply.cli.framework.command import Flag
from crossply.cli.xpkg.cluster_errors import PackageCommandError
from crossply.kube.client import Client
from crossply.kube.kind import Kind

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
