"""Installs CRDs in a cluster, and waits until objects of them can be written."""

from __future__ import annotations

import asyncio
import time

from crossply.errors import CrossplyError
from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.core_kinds import CRD
from crossply.values import Object
from crossply.values.yaml import read_documents

MANAGER = "crossply-provider"
PATIENCE = 30.0
"""Seconds until a CRD must be established."""


class CRDsNotInstalled(CrossplyError):
    """The CRDs of a provider could not be installed in the cluster."""

    code = "CP-577"


def read_crds(paths: list[str]) -> list[Object]:
    """The CRDs in files, each of which may have several; blank documents are skipped."""
    crds = []
    for path in paths:
        with open(path, "rb") as file:
            crds += [document.value for document in read_documents(file.read(), path)]
    return crds


async def install_crds(config: ClusterConfig, crds: list[Object]) -> None:
    """Apply CRDs, and wait until they are served."""
    async with Client(config) as client:
        for crd in crds:
            await client.apply(CRD, crd, MANAGER)
        for crd in crds:
            await _wait_until_established(client, crd["metadata"]["name"])


async def _wait_until_established(client: Client, name: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        crd = await client.get(CRD, name)
        conditions = {
            condition["type"]: condition
            for condition in ((crd or {}).get("status") or {}).get("conditions") or ()
        }
        if conditions.get("Established", {}).get("status") == "True":
            return
        if time.monotonic() > deadline:
            message = (
                conditions.get("NamesAccepted", {}).get("message") or "the API server did not establish it"
            )
            raise CRDsNotInstalled(
                f"CRD {name} is not served: {message}", hint=f"kubectl describe crd {name}"
            )
        await asyncio.sleep(0.1)
