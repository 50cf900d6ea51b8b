"""A Provider of a few kinds, and the controllers of ManagedResourceDefinitions."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import AsyncIterator
from typing import Any

import orjson

from crossply.control.controller_context import Plane, plane_for
from crossply.control.kinds import MANAGED_DEFINITION, PROVIDER, PROVIDER_REVISION
from crossply.control.managed_definitions.controllers import managed_definition_controllers
from crossply.control.managed_definitions.definition_informer import acquire_definitions
from crossply.control.package_manager.establisher import Established, Establisher
from crossply.control.package_manager.managed_definitions import Conversion, definitions_of
from crossply.kube.client import Client
from crossply.kube.core_kinds import CRD
from crossply.values import Object
from tests.support.control.runtimes import eventually
from tests.support.e2e.packages import crd

CONVERTS = Conversion(enabled=True)
SAFELY = Conversion(enabled=True, safe_start=True)


@contextlib.asynccontextmanager
async def definitions_controlled(client: Client) -> AsyncIterator[Plane]:
    """The controllers of definitions and policies, without a policy."""
    async with Client(client.config) as own:
        plane = plane_for(own)
        controllers = managed_definition_controllers(plane)
        async with plane.informers:
            for controller in controllers:
                controller.start()
            try:
                yield plane
            finally:
                for controller in controllers:
                    await controller.stop()
                await plane.recorder.settle()


class InstalledProvider:
    """A Provider with revisions of its own; it establishes one kind, Bucket, by default."""

    def __init__(self, client: Client, plane: Plane, ns: str) -> None:
        self.client, self.plane = client, plane
        self.package = f"p{secrets.token_hex(4)}"
        self.group = f"{self.package}.example.org"
        self.crd = crd(self.group)
        self.name = str(self.crd["metadata"]["name"])
        self.establisher = Establisher(plane, ns)
        self.provider: Object = {}

    async def revision(self, number: int = 1, state: str = "Active") -> Object:
        """A revision as the package manager makes it."""
        spec: Object = {"package": "registry.example.org/p:v1", "revisionActivationPolicy": "Manual"}
        if not self.provider:
            self.provider = await self.client.create(PROVIDER, _body(PROVIDER, self.package, spec))
        owner = {
            "apiVersion": PROVIDER.api_version,
            "kind": PROVIDER.kind,
            "name": self.package,
            "uid": self.provider["metadata"]["uid"],
            "controller": True,
        }
        spec = {"image": f"registry.example.org/p:v{number}", "desiredState": state, "revision": number}
        body = _body(PROVIDER_REVISION, f"{self.package}-{number}", spec)
        body["metadata"] |= {
            "labels": {"pkg.crossplane.io/package": self.package},
            "ownerReferences": [owner],
        }
        return await self.client.create(PROVIDER_REVISION, body)

    async def establish(
        self, revision: Object, *objects: Object, conversion: Conversion = CONVERTS
    ) -> Established:
        """Establish CRDs for a revision."""
        data = [orjson.dumps(obj) for obj in objects or (self.crd,)]
        known = acquire_definitions(self.plane.informers)
        await known.synced.wait()
        await eventually(lambda: self._informer_is_current(known, revision))
        conversion = conversion._replace(existing=definitions_of(known, revision))
        return await self.establisher.establish(revision, data, conversion)

    async def _informer_is_current(self, known: Any, revision: Object) -> bool:
        """Whether the informer has every definition that there is."""
        listed = await self.client.list(MANAGED_DEFINITION)
        return all(known.get("", orjson.loads(data)["metadata"]["name"]) for data in listed.items)

    async def until_established(self, reason: str = "EstablishedManagedResource") -> Object:
        """The definition once it has this condition."""

        async def established() -> Object | None:
            definition = await self.client.get(MANAGED_DEFINITION, self.name)
            conditions = ((definition or {}).get("status") or {}).get("conditions") or ()
            generation = (definition or {"metadata": {}})["metadata"].get("generation")
            for condition in conditions:
                if condition["reason"] == reason and condition["observedGeneration"] == generation:
                    return definition
            return None

        definition: Object = await eventually(established)
        return definition

    async def until_crd(self, check: Any = bool) -> Object:
        """The CRD once it passes a check."""

        async def checked() -> Object | None:
            live = await self.client.get(CRD, self.name)
            return live if live is not None and check(live) else None

        live: Object = await eventually(checked)
        return live


def _body(kind: Any, name: str, spec: Object) -> Object:
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name},
        "spec": spec,
    }


def with_field(definition: Object, field: str) -> Object:
    """A CRD with one more field in its spec."""
    changed: Object = orjson.loads(orjson.dumps(definition))
    schema = changed["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    schema["properties"]["spec"].setdefault("properties", {})[field] = {"type": "string"}
    return changed


def fields_of(definition: Object) -> set[str]:
    """The fields of its spec."""
    schema = definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    return set(schema["properties"]["spec"].get("properties") or ())
