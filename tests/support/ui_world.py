"""A small world for the dashboard: a definition, composite resources in every state, and what they compose.

The objects are written with their status, as controllers would have written them: no control plane runs.
"""

from __future__ import annotations

from typing import Any

from crossply.control.kinds import COMPOSITION, DEFINITION, LOCK, PROVIDER, PROVIDER_REVISION
from crossply.kube.client import Client
from crossply.kube.core_kinds import CRD, NAMESPACE
from crossply.kube.failures import NotServed
from crossply.kube.kind import Kind
from crossply.values import Object

GROUP = "shop.example.org"
NETWORK = Kind(GROUP, "v1", "Network", "networks", True)
SUBNET = Kind("cloud.example.org", "v1", "Subnet", "subnets", True)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
TRANSITION = "2026-01-02T03:04:05Z"


def condition(name: str, status: str, reason: str = "", message: str = "") -> Object:
    return {
        "type": name,
        "status": status,
        "reason": reason or name,
        "message": message,
        "lastTransitionTime": TRANSITION,
    }


READY = (condition("Synced", "True", "ReconcileSuccess"), condition("Ready", "True", "Available"))
WAITING = (
    condition("Synced", "True", "ReconcileSuccess"),
    condition("Ready", "False", "Creating", "Unready resources: subnet-a"),
)
FAILING = (condition("Synced", "False", "ReconcileError", "cannot compose resources: step one failed"),)


KINDS = (DEFINITION, COMPOSITION, PROVIDER, PROVIDER_REVISION, LOCK, NETWORK, SUBNET)


async def install_kinds(client: Client) -> None:
    """The CRDs of the dashboard's own kinds and of the world's."""
    for kind in KINDS:
        await client.create(CRD, crd(kind))
    for kind in KINDS:
        await served(client, kind)
    await client.create(DEFINITION, definition(NETWORK))


async def served(client: Client, kind: Kind) -> None:
    import asyncio

    while True:
        try:
            await client.list(kind)
            return
        except NotServed:
            await asyncio.sleep(0.05)


def crd(kind: Kind) -> Object:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource},
        "spec": {
            "group": kind.group,
            "names": {"kind": kind.kind, "plural": kind.plural, "singular": kind.kind.lower()},
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def definition(kind: Kind) -> Object:
    version = {"name": kind.version, "served": True, "referenceable": True}
    return {
        "apiVersion": DEFINITION.api_version,
        "kind": DEFINITION.kind,
        "metadata": {"name": kind.resource},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "names": {"kind": kind.kind, "plural": kind.plural},
            "versions": [version],
        },
    }


async def composite(
    client: Client,
    name: str,
    namespace: str,
    conditions: tuple[Object, ...] = READY,
    references: tuple[Object, ...] = (),
    kind: Kind = NETWORK,
    **metadata: Any,
) -> Object:
    """A composite resource with its status."""
    return await client.create(
        kind,
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": name, "namespace": namespace, **metadata},
            "spec": {"crossplane": {"resourceRefs": list(references)}},
            "status": {"conditions": list(conditions)},
        },
    )


def reference(kind: Kind, name: str) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, "name": name}


async def composed(
    client: Client,
    owner: Object,
    name: str,
    conditions: tuple[Object, ...] = READY,
    kind: Kind = SUBNET,
    resource_name: str = "",
    **content: Any,
) -> Object:
    """A resource that a composite resource composed."""
    metadata = owner["metadata"]
    return await client.create(
        kind,
        {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {
                "name": name,
                "namespace": metadata["namespace"],
                "labels": {"crossplane.io/composite": metadata["name"]},
                "annotations": {"crossplane.io/composition-resource-name": resource_name or name},
                "ownerReferences": [
                    {
                        "apiVersion": owner["apiVersion"],
                        "kind": owner["kind"],
                        "name": metadata["name"],
                        "uid": metadata["uid"],
                        "controller": True,
                    }
                ],
            },
            **({"status": {"conditions": list(conditions)}} if conditions else {}),
            **content,
        },
    )


async def namespace(client: Client, name: str) -> None:
    await client.create(NAMESPACE, {"metadata": {"name": name}})


async def provider(client: Client, name: str, *kinds: Kind) -> None:
    """A healthy Provider, with a revision that installed these kinds."""
    status = {"conditions": [condition("Installed", "True"), condition("Healthy", "True")]}
    created = await client.create(
        PROVIDER,
        {
            "apiVersion": PROVIDER.api_version,
            "kind": PROVIDER.kind,
            "metadata": {"name": name},
            "status": {**status, "currentRevision": f"{name}-1"},
        },
    )
    owner = {
        "apiVersion": PROVIDER.api_version,
        "kind": PROVIDER.kind,
        "name": name,
        "uid": created["metadata"]["uid"],
        "controller": True,
    }
    refs = [{"kind": "CustomResourceDefinition", "name": kind.resource} for kind in kinds]
    await client.create(
        PROVIDER_REVISION,
        {
            "apiVersion": PROVIDER_REVISION.api_version,
            "kind": PROVIDER_REVISION.kind,
            "metadata": {"name": f"{name}-1", "ownerReferences": [owner]},
            "spec": {"revision": 1, "desiredState": "Active"},
            "status": {**status, "objectRefs": refs},
        },
    )
