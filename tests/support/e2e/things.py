"""Composite resources of any scope in a scenario: the kind Thing, its Compositions, and what it composes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import orjson

from crossply.compose.function_messages import READY_TRUE, Request, Resource, Response, State
from crossply.kinds.composition_revision import composition_hash, revision_name
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.scenario import COMPOSITION, CONFIG_MAP, CRD, DEFINITION, Scenario, condition
from tests.support.patience import PATIENCE

DEFINITION_V2 = Kind(
    "apiextensions.crossplane.io", "v2", "CompositeResourceDefinition", "compositeresourcedefinitions", False
)
REVISION = Kind("apiextensions.crossplane.io", "v1", "CompositionRevision", "compositionrevisions", False)
RESOURCE_NAME = "crossplane.io/composition-resource-name"

READY = condition("Ready", "True", "Available")
CREATING = condition("Ready", "False", "Creating")
SYNCED = condition("Synced", "True", "ReconcileSuccess")
FAILED = condition("Synced", "False", "ReconcileError")

_TEXT = {"type": "string"}
_SPEC = {"size": _TEXT, "mode": _TEXT, "count": {"type": "integer"}}
_STATUS = {"size": _TEXT, "mode": _TEXT, "count": {"type": "integer"}}
SCHEMA: Object = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": _SPEC},
        "status": {"type": "object", "properties": _STATUS},
    },
}
OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Things:
    """One kind of composite resource, as a user of it sees it."""

    def __init__(self, s: Scenario, scope: str = "Namespaced", kind: str = "Thing") -> None:
        self.s = s
        self.scope = scope
        self.kind = Kind(s.group, "v1", kind, f"{kind.lower()}s", scope == "Namespaced")

    @classmethod
    async def defined(
        cls, s: Scenario, scope: str = "Namespaced", kind: str = "Thing", **spec: Any
    ) -> Things:
        """Define the kind and wait until its composite resources are looked after."""
        things = cls(s, scope, kind)
        await things.define(**spec)
        await things.established()
        return things

    async def define(self, **spec: Any) -> Object:
        """Apply the definition."""
        kind = DEFINITION if self.scope == "LegacyCluster" else DEFINITION_V2
        version = {"name": "v1", "served": True, "referenceable": True, "schema": {"openAPIV3Schema": SCHEMA}}
        body = {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {"name": self.kind.resource},
            "spec": {
                "scope": self.scope,
                "group": self.kind.group,
                "names": {"kind": self.kind.kind, "plural": self.kind.plural},
                "versions": [version],
                **spec,
            },
        }
        return await self.s.client.apply(kind, body, "test")

    async def established(self) -> Object:
        """The definition, once its kind is served and controlled."""
        return await self.s.until(DEFINITION, self.kind.resource, condition("Established", "True"))

    async def compose(self, *pipeline: Object, name: str = "", **metadata: Any) -> Object:
        """Apply a Composition of these steps, and wait until XRs can follow it."""
        body = {
            "apiVersion": COMPOSITION.api_version,
            "kind": COMPOSITION.kind,
            "metadata": {"name": name or self.s.id, **metadata},
            "spec": {
                "compositeTypeRef": {"apiVersion": self.kind.api_version, "kind": self.kind.kind},
                "mode": "Pipeline",
                "pipeline": list(pipeline),
            },
        }
        composition = await self.s.client.apply(COMPOSITION, body, "test")
        revision = revision_name(composition["metadata"]["name"], composition_hash(composition))
        await self.s.until(REVISION, revision, condition("ValidPipeline", "True"))
        return composition

    def body(self, name: str = "mine", spec: Object | None = None, **metadata: Any) -> Object:
        """A composite resource."""
        placed = {"namespace": self.s.id} if self.kind.namespaced else {}
        return {
            "apiVersion": self.kind.api_version,
            "kind": self.kind.kind,
            "metadata": {"name": name, **placed, **metadata},
            "spec": spec or {},
        }

    async def apply(self, name: str = "mine", spec: Object | None = None, **metadata: Any) -> Object:
        """Apply a composite resource."""
        return await self.s.client.apply(self.kind, self.body(name, spec, **metadata), "test")

    async def change(self, name: str, patch: Object) -> Object:
        """Change a composite resource by a merge patch."""
        return await self.s.client.patch_merge(self.kind, name, patch, self.namespace)

    @property
    def namespace(self) -> str:
        """Where composite resources of this kind are."""
        return self.s.id if self.kind.namespaced else ""

    async def until(self, name: str, *checks: Callable[[Object], Any]) -> Object:
        """The composite resource, once it passes all checks at the same time."""

        def passes(xr: Object) -> bool:
            return all(check({"status": {}, **xr}) for check in checks)

        return await self.s.until(self.kind, name, passes)

    async def get(self, name: str = "mine") -> Object | None:
        """The composite resource as it is."""
        return await self.s.client.get(self.kind, name, self.namespace)

    async def delete(self, name: str = "mine") -> None:
        """Delete it and wait until it is gone."""
        await self.s.client.delete(self.kind, name, self.namespace)
        await self.s.until_gone(self.kind, name)

    def of_engine(self, xr: Object) -> Object:
        """The part of its spec that the engine and the user share."""
        spec: Object = xr["spec"] if self.scope == "LegacyCluster" else xr["spec"].get("crossplane") or {}
        return spec

    def engine_spec(self, **fields: Any) -> Object:
        """A spec with fields for the engine."""
        return fields if self.scope == "LegacyCluster" else {"crossplane": fields}

    def references(self, xr: Object) -> list[Object]:
        """Its composed resources."""
        references: list[Object] = self.of_engine(xr).get("resourceRefs") or []
        return references

    async def composed(self, xr: Object, kind: Kind = CONFIG_MAP) -> dict[str, Object]:
        """The objects of a kind that the composite resource controls, by their names in the pipeline."""
        uid = xr["metadata"]["uid"]
        objects = [orjson.loads(data) for data in (await self.s.client.list(kind, self.s.id)).items]
        return {
            obj["metadata"]["annotations"][RESOURCE_NAME]: obj
            for obj in objects
            if any(ref["uid"] == uid for ref in obj["metadata"].get("ownerReferences") or ())
        }


def message_of(obj: Object, type_: str = "Synced") -> str:
    """The message of a condition."""
    [entry] = [candidate for candidate in obj["status"]["conditions"] if candidate["type"] == type_]
    message: str = entry.get("message", "")
    return message


def failing(text: str) -> Callable[[Object], bool]:
    """A check for a failure with this message."""
    return lambda xr: FAILED(xr) and text in message_of(xr)


def _separately(events: set[tuple[str, str, str]]) -> set[tuple[str, str, str]]:
    return {
        (type_, reason, part) for type_, reason, message in events for part in message.split("; ")
    } | events


async def until_event_recorded(s: Scenario, about: Object, type_: str, reason: str, message: str) -> None:
    """Wait until an event about an object is recorded, perhaps together with others of its kind."""
    end = time.monotonic() + PATIENCE
    while (type_, reason, message) not in (events := _separately(await s.events(about))):
        assert time.monotonic() < end, f"never told: {reason} {message!r}, only {sorted(events)}"
        await asyncio.sleep(0.05)


async def custom_kind(s: Scenario, kind: str = "Bucket", namespaced: bool = True) -> Kind:
    """A kind that stands for what a provider would bring; its requests are counted by `Scenario.writes`."""
    created = Kind(s.group, "v1", kind, f"{kind.lower()}s", namespaced)
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": OPEN, "status": OPEN}}},
        "subresources": {"status": {}},
    }
    body = {
        "apiVersion": CRD.api_version,
        "kind": CRD.kind,
        "metadata": {"name": created.resource},
        "spec": {
            "group": created.group,
            "names": {"kind": kind, "plural": created.plural},
            "scope": "Namespaced" if namespaced else "Cluster",
            "versions": [version],
        },
    }
    await s.client.apply(CRD, body, "test")
    await s.grant(created)
    await s.until(CRD, created.resource, condition("Established", "True"))
    return created


def config_map(**fields: Any) -> Object:
    """A ConfigMap for a function to desire."""
    return {"apiVersion": "v1", "kind": "ConfigMap", **fields}


def desiring(request: Request, *, context: Object | None = None, **objects: Object) -> Response:
    """An answer that adds ready resources to the desired state."""
    desired_resources = {name: Resource(obj, ready=READY_TRUE) for name, obj in objects.items()}
    desired = State(request.desired.composite, {**request.desired.resources, **desired_resources})
    return Response(desired, context=context if context is not None else request.context)
