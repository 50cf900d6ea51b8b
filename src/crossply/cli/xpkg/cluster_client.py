"""The client for the cluster of a command, and as whom it reads and writes there."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from crossply.cli.framework.command import Flag, Invocation
from crossply.kube.client import Client

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

MANAGER = "crossply"
"""The field manager of what commands write."""


@contextlib.asynccontextmanager
async def cluster(invocation: Invocation) -> AsyncIterator[Client]:
    """A client for the cluster of the user."""
    from crossply.cli.framework.cluster_configuration import configuration

    async with Client(configuration(invocation)) as client:
        yield client
