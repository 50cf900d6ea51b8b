"""A small world on a real API server for `trace` to look at: XRs, a claim, composed resources, packages."""

from __future__ import annotations

import asyncio
from typing import Any

from crossply.kube.client import Client
from crossply.kube.discovery import Discovery
from crossply.kube.kind import Kind
from tests.support.server_process import DEFINITION, Server

Object = dict[str, Any]
NAMESPACE = "town"
LONG = "cannot compose resources: the end of this sentence is what a reader of a narrow table gets to see"
WHEN = "2024-01-01T00:00:00Z"
ACME, PKG = "acme.test/v1", "pkg.crossplane.io/v1"
PACKAGE_KINDS = ("Configuration", "Function", "Provider")


def definition(
    kind: str,
    group: str = "acme.test",
    scope: str = "Namespaced",
    versions: tuple[str, ...] = ("v1",),
    **names: Any,
) -> Object:
    singular = kind.lower()
    names = {"kind": kind, "plural": f"{singular}s", "singular": singular, "listKind": f"{kind}List", **names}
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    shape = {"openAPIV3Schema": anything}
    # A Lock has no status subresource; what the others have is written with them.
    served = [
        {"name": name, "served": True, "storage": name == versions[0], "schema": shape} for name in versions
    ]
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{names['plural']}.{group}"},
        "spec": {"group": group, "names": names, "scope": scope, "versions": served},
    }


DEFINITIONS = [
    definition("Shop", versions=("v1", "v1beta1"), shortNames=["sp"]),
    definition("Shelf", plural="shelves"),
    definition("Stall"),
    definition("XStall", scope="Cluster"),
    definition("Shop", group="other.test", plural="otherworldlyshops", singular="otherworldlyshop"),
    *[definition(kind, "pkg.crossplane.io", "Cluster") for kind in PACKAGE_KINDS],
    *[definition(f"{kind}Revision", "pkg.crossplane.io", "Cluster") for kind in PACKAGE_KINDS],
    definition("Lock", "pkg.crossplane.io", "Cluster", ("v1beta1",)),
    definition("DeploymentRuntimeConfig", "pkg.crossplane.io", "Cluster", ("v1beta1",)),
]


def condition(name: str, status: str, reason: str = "", message: str = "") -> Object:
    entry = {"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": WHEN}
    return {key: value for key, value in entry.items() if value}


SYNCED, READY = condition("Synced", "True", "ReconcileSuccess"), condition("Ready", "True", "Available")
CREATING = condition("Ready", "False", "Creating", "waiting for wood")


def resource(kind: str, name: str, *conditions: Object, namespace: str = NAMESPACE, **rest: Any) -> Object:
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **rest.pop("metadata", {})}
    status = {"status": {"conditions": list(conditions)}} if conditions else {}
    return {"apiVersion": ACME, "kind": kind, "metadata": metadata, **status, **rest}


def composed(kind: str, name: str, *conditions: Object, **rest: Any) -> Object:
    annotations = {"crossplane.io/composition-resource-name": f"the-{name}"}
    return resource(kind, name, *conditions, metadata={"annotations": annotations}, **rest)


def to(kind: str, name: str, api_version: str = ACME, **rest: str) -> Object:
    return {"apiVersion": api_version, "kind": kind, "name": name, **rest}


def refs(*references: Object) -> Object:
    return {"crossplane": {"resourceRefs": list(references)}}


class World:
    """A server with kinds and, one by one, objects."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.kubeconfig = server.kubeconfig

    def prepare(self) -> World:
        async def prepare(client: Client) -> None:
            await client.create(
                Kind("", "v1", "Namespace", "namespaces", False), {"metadata": {"name": NAMESPACE}}
            )
            for crd in DEFINITIONS:
                await client.create(DEFINITION, crd)
            await _served(client)

        self.run(prepare)
        return self

    def put(self, *objects: Object) -> list[Object]:
        """Create objects."""

        async def put(client: Client) -> list[Object]:
            discovery = Discovery(client)
            return [
                await client.create(await discovery.kind_for(obj["apiVersion"], obj["kind"]), obj)
                for obj in objects
            ]

        return self.run(put)

    def run(self, case: Any) -> Any:
        async def connected() -> Any:
            async with Client(self.server.config) as client:
                return await case(client)

        return asyncio.run(connected())


async def _served(client: Client) -> None:
    """Wait until the last definition is served."""
    for _ in range(200):
        discovery = Discovery(client)
        await discovery.refresh()
        if ("pkg.crossplane.io/v1beta1", "DeploymentRuntimeConfig") in discovery._by_kind:
            return
        await asyncio.sleep(0.05)
    raise TimeoutError("the definitions are not served")


def fill(world: World) -> World:
    core = {"apiVersion": "v1", "metadata": {"name": "paint", "namespace": NAMESPACE}}
    config = {**core, "kind": "ConfigMap", "data": {"colour": "red & <blue>"}}
    secret = {**core, "kind": "Secret", "metadata": {"name": "keys", "namespace": NAMESPACE}}
    written = {"writeConnectionSecretToRef": {"name": "keys"}}
    failed = condition("Synced", "False", "ReconcileError", LONG)
    world.put(
        config,
        secret,
        resource(
            "Shop",
            "corner",
            SYNCED,
            READY,
            spec=refs(to("Shelf", "b"), to("Shelf", "a"), to("ConfigMap", "paint", "v1")),
        ),
        composed("Shelf", "a", SYNCED, READY, spec=written),
        composed("Shelf", "b", SYNCED, CREATING),
        resource(
            "Shop", "ruin", failed, CREATING, spec=refs(to("Shelf", "gone"), to("Lamp", "l", "light.test/v1"))
        ),
        resource("Shop", "mirror", SYNCED, READY, spec=refs(to("Shop", "mirror"))),
        resource("Shop", "new", spec={"size": 1}),
        resource(
            "Stall",
            "claim",
            SYNCED,
            condition("Ready", "False", "Waiting"),
            spec={"resourceRef": to("XStall", "xr"), **written},
        ),
        resource(
            "XStall",
            "xr",
            SYNCED,
            CREATING,
            namespace="",
            spec={"resourceRefs": [to("Shelf", "b", namespace=NAMESPACE), to("Shelf", "nowhere")]},
        ),
    )
    put_packages(world)
    return world


def put_packages(world: World) -> None:
    healthy = (
        condition("Installed", "True", "ActivePackageRevision"),
        condition("Healthy", "True", "HealthyPackageRevision"),
    )
    sick = (healthy[0], condition("Healthy", "False", "UnhealthyPackageRevision", "no such image"))
    package(world, "Configuration", "suite", "v2.0.0", healthy, old="v1.0.0")
    package(world, "Function", "maker", "v0.1.0", healthy, spec={"runtimeConfigRef": {"name": "small"}})
    package(world, "Provider", "sky", "v3.0.0", sick)
    dependencies = [
        {"apiVersion": PKG, "kind": "Function", "package": "reg.test/acme/maker"},
        {"type": "Provider", "package": "reg.test/acme/sky"},
        {"type": "Function", "package": "reg.test/acme/never-came"},
    ]
    duplicates = [{"type": "Function", "package": "reg.test/acme/maker"}]
    locked = [lock_entry("suite", dependencies), lock_entry("sky", duplicates), lock_entry("maker", [])]
    world.put(
        {
            "apiVersion": "pkg.crossplane.io/v1beta1",
            "kind": "Lock",
            "metadata": {"name": "lock"},
            "packages": locked,
        },
        {
            "apiVersion": "pkg.crossplane.io/v1beta1",
            "kind": "DeploymentRuntimeConfig",
            "metadata": {"name": "small"},
        },
    )


def lock_entry(name: str, dependencies: list[Object]) -> Object:
    return {"name": f"{name}-now", "source": f"reg.test/acme/{name}", "dependencies": dependencies}


def package(
    world: World,
    kind: str,
    name: str,
    tag: str,
    conditions: tuple[Object, ...],
    old: str = "",
    spec: Object | None = None,
) -> None:
    image = f"reg.test/acme/{name}"
    status = {"currentRevision": f"{name}-now", "conditions": list(conditions)}
    described = {"package": f"{image}:{tag}", **(spec or {})}
    [obj] = world.put(
        {"apiVersion": PKG, "kind": kind, "metadata": {"name": name}, "spec": described, "status": status}
    )
    owner = {
        "apiVersion": PKG,
        "kind": kind,
        "name": name,
        "uid": obj["metadata"]["uid"],
        "controller": True,
    }
    for state, version, suffix in (("Inactive", old, "old"), ("Active", tag, "now")):
        if version:
            labels = {"pkg.crossplane.io/package": name}
            metadata = {"name": f"{name}-{suffix}", "labels": labels, "ownerReferences": [owner]}
            revision = {"apiVersion": PKG, "kind": f"{kind}Revision", "metadata": metadata}
            status = {"conditions": list(conditions[1:])}
            world.put(
                {**revision, "spec": {"image": f"{image}:{version}", "desiredState": state}, "status": status}
            )
