"""A corner of the control plane for one scenario: a namespace, an API group, helpers that read and wait."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import orjson

from crossply.kube.client import Client
from crossply.kube.config import ClusterConfig
from crossply.kube.failures import KubeError, NotServed
from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.chart_installation import CLUSTER_ROLE, allowing, composing, may_compose
from tests.support.e2e.traffic import request_counts
from tests.support.patience import PATIENCE

DEFINITION = Kind(
    "apiextensions.crossplane.io", "v1", "CompositeResourceDefinition", "compositeresourcedefinitions", False
)
COMPOSITION = Kind("apiextensions.crossplane.io", "v1", "Composition", "compositions", False)
FUNCTION = Kind("pkg.crossplane.io", "v1", "Function", "functions", False)
CRD = Kind("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False)
CONFIG_MAP = Kind("", "v1", "ConfigMap", "configmaps", True)
EVENT = Kind("", "v1", "Event", "events", True)
NAMESPACE = Kind("", "v1", "Namespace", "namespaces", False)
SECRET = Kind("", "v1", "Secret", "secrets", True)

PATCH_AND_TRANSFORM = "function-patch-and-transform"
_PACKAGE = "xpkg.crossplane.io/crossplane-contrib/function-patch-and-transform:v0.10.0"
_TEXT = {"type": "string"}
_SCHEMA = {
    "type": "object",
    "properties": {
        "spec": {"type": "object", "properties": {"size": _TEXT, "mode": _TEXT}},
        "status": {"type": "object", "properties": {"size": _TEXT}},
    },
}


class Scenario:
    """What one test has, named by its id so that tests do not meet."""

    def __init__(self, client: Client, id_: str) -> None:
        self.client = client
        self.id = id_
        self.group = f"{id_}.example.org"
        self.api_version = f"{self.group}/v1"
        self.xrs = Kind(self.group, "v1", "XDb", "xdbs", False)
        self.claims = Kind(self.group, "v1", "Db", "dbs", True)

    @classmethod
    async def begin(cls, client: Client, id_: str) -> Scenario:
        scenario = cls(client, id_)
        await client.create(NAMESPACE, {"metadata": {"name": id_}})
        await scenario.function(PATCH_AND_TRANSFORM, _PACKAGE)
        return scenario

    async def end(self) -> None:
        """Delete everything without waiting: endless failures would disturb tests that count requests.

        The namespace stays: deleting it would make a real cluster list all kinds, other scenarios' too.
        """
        for kind in (DEFINITION, COMPOSITION, FUNCTION):
            for data in (await self.client.list(kind)).items:
                obj = orjson.loads(data)
                name = obj["metadata"]["name"]
                if kind is DEFINITION and name.endswith(f".{self.group}"):
                    await self._empty(obj["spec"])
                if name.endswith(f".{self.group}") or name.startswith(self.id):
                    await self._leave(kind, name)

    async def _empty(self, spec: Object) -> None:
        """Delete the composite resources of a definition; namespaced ones would keep it."""
        [version] = [version["name"] for version in spec["versions"] if version["referenceable"]]
        names, namespaced = spec["names"], spec["scope"] == "Namespaced"
        kind = Kind(spec["group"], version, names["kind"], names["plural"], namespaced)
        with contextlib.suppress(KubeError):  # it may not be served at all
            for data in (await self.client.list(kind)).items:
                metadata = orjson.loads(data)["metadata"]
                await self._leave(kind, metadata["name"], metadata.get("namespace", ""))

    async def _leave(self, kind: Kind, name: str, namespace: str = "") -> None:
        with contextlib.suppress(KubeError):  # a Usage may protect it
            await self.client.delete(kind, name, namespace)

    async def function(self, name: str, package: str = "", **annotations: str) -> None:
        """Install a function."""
        body: Object = {"apiVersion": FUNCTION.api_version, "kind": "Function", "spec": {"package": package}}
        await self.client.apply(
            FUNCTION, {**body, "metadata": {"name": name, "annotations": annotations}}, "test"
        )

    async def grant(self, kind: Kind) -> None:
        """Let the control plane compose a kind, as the role of a provider does."""
        role = composing(allowing([kind.group], [kind.plural, f"{kind.plural}/status"]), name=kind.resource)
        await self.client.apply(CLUSTER_ROLE, role, "test")
        if await self.client.get(CLUSTER_ROLE, "crossplane") is not None:
            # Roles are aggregated shortly after they were written.
            await self.eventually(lambda: may_compose(self.client, kind))

    async def offer(self, **spec: Any) -> None:
        """Define XDb with its claim Db, and wait until both are served."""
        names = {"kind": self.xrs.kind, "plural": self.xrs.plural}
        version = {
            "name": "v1",
            "served": True,
            "referenceable": True,
            "schema": {"openAPIV3Schema": _SCHEMA},
        }
        await self.client.apply(
            DEFINITION,
            {
                "apiVersion": DEFINITION.api_version,
                "kind": DEFINITION.kind,
                "metadata": {"name": self.xrs.resource},
                "spec": {
                    "group": self.group,
                    "names": names,
                    "claimNames": {"kind": self.claims.kind, "plural": self.claims.plural},
                    "versions": [version],
                    **spec,
                },
            },
            "test",
        )
        await self.until(DEFINITION, self.xrs.resource, condition("Established", "True"))
        await self.until(DEFINITION, self.xrs.resource, condition("Offered", "True"))

    async def compose(self, *pipeline: Object, name: str = "", **spec: Any) -> None:
        """Apply a Composition of these steps."""
        type_ = {"apiVersion": self.api_version, "kind": self.xrs.kind}
        await self.client.apply(
            COMPOSITION,
            {
                "apiVersion": COMPOSITION.api_version,
                "kind": COMPOSITION.kind,
                "metadata": {"name": name or self.id},
                "spec": {"compositeTypeRef": type_, "mode": "Pipeline", "pipeline": list(pipeline), **spec},
            },
            "test",
        )

    def config_map(self, ready: bool = True, **fields: Any) -> Object:
        """A step that composes one ConfigMap with the size of the composite resource."""
        return {
            "step": "compose",
            "functionRef": {"name": PATCH_AND_TRANSFORM},
            "input": {
                "apiVersion": "pt.fn.crossplane.io/v1beta1",
                "kind": "Resources",
                "resources": [
                    {
                        "name": "settings",
                        "base": {
                            "apiVersion": "v1",
                            "kind": "ConfigMap",
                            "metadata": {"namespace": self.id},
                        },
                        "patches": [
                            {
                                "type": "FromCompositeFieldPath",
                                "fromFieldPath": "spec.size",
                                "toFieldPath": "data.size",
                            },
                            {
                                "type": "ToCompositeFieldPath",
                                "fromFieldPath": "data.size",
                                "toFieldPath": "status.size",
                            },
                        ],
                        "readinessChecks": [_check(ready)],
                        **fields,
                    }
                ],
            },
        }

    async def claim(self, name: str, spec: Object | None = None, **metadata: Any) -> Object:
        """Apply a claim."""
        body = {
            "apiVersion": self.api_version,
            "kind": self.claims.kind,
            "metadata": {"name": name, "namespace": self.id, **metadata},
            "spec": spec or {},
        }
        return await self.client.apply(self.claims, body, "test")

    async def claim_that_is(self, name: str, check: Callable[[Object], Any]) -> Object:
        """The claim, once it passes a check."""
        return await self.until(self.claims, name, check)

    async def composite_of(self, claim: Object) -> Object:
        """The composite resource that a claim refers to."""
        xr = await self.client.get(self.xrs, claim["spec"]["resourceRef"]["name"])
        assert xr is not None
        return xr

    async def eventually(self, check: Callable[[], Awaitable[Any]], seconds: float = PATIENCE) -> Any:
        """What a check gives, once it gives anything."""
        end = time.monotonic() + seconds
        while not (result := await check()):
            assert time.monotonic() < end, "it never came to be"
            await asyncio.sleep(0.05)
        return result

    async def until(
        self, kind: Kind, name: str, check: Callable[[Object], Any], seconds: float = PATIENCE
    ) -> Object:
        """The object, once it passes a check."""
        end = time.monotonic() + seconds
        obj = None
        while time.monotonic() < end:
            obj = await self.client.get(kind, name, self.id)
            if obj is not None and check(obj):
                return obj
            await asyncio.sleep(0.05)
        if obj is not None:
            obj["metadata"].pop("managedFields", None)
        raise AssertionError(f"never so: {kind.kind} {name}: {orjson.dumps(obj).decode()}")

    async def until_gone(self, kind: Kind, name: str, seconds: float = PATIENCE) -> None:
        """Wait until an object does not exist, perhaps because its kind does not any more."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            try:
                if await self.client.get(kind, name, self.id) is None:
                    return
            except NotServed:
                return
            await asyncio.sleep(0.05)
        raise AssertionError(f"still there: {kind.kind} {name}")

    async def until_none(self, kind: Kind, seconds: float = PATIENCE) -> None:
        """Wait until there is no object of a kind."""
        end = time.monotonic() + seconds
        while (await self.client.list(kind)).items:
            assert time.monotonic() < end, f"still some: {kind.kind}"
            await asyncio.sleep(0.05)

    async def writes(self, resource: str = "") -> int:
        """How many requests wrote objects of this scenario's group, by anybody.

        Only accepted requests count: a client repeats one after a conflict, or when the server is not ready.
        """
        return sum(n for key, n in (await self.write_counts(resource)).items() if key[-1].startswith("2"))

    async def settled_writes(self, more_than: int = -1) -> int:
        """As `writes`, when there were more than so many and for a second no others.

        A server counts a request some time after its answer.
        """
        async with asyncio.timeout(PATIENCE):
            while (count := await self.writes()) <= more_than:
                await asyncio.sleep(0.05)
            before = -1
            while count != before:
                await asyncio.sleep(1)
                before, count = count, await self.writes()
        return count

    async def write_counts(self, resource: str = "") -> Counter[tuple[str, ...]]:
        """How many requests to write there were, by resource, subresource, verb and status code."""
        counts: Counter[tuple[str, ...]] = Counter()
        for labels, count in await request_counts(self.client):
            is_read = labels["verb"] in ("GET", "LIST", "WATCH")
            if labels["group"] == self.group and not is_read and labels["resource"].startswith(resource):
                counts[tuple(labels[name] for name in ("resource", "subresource", "verb", "code"))] += count
        return counts

    async def events(self, about: Object) -> set[tuple[str, str, str]]:
        """Type, reason and message of every event about an object."""
        namespace = about["metadata"].get("namespace", "default")
        listed = [orjson.loads(data) for data in (await self.client.list(EVENT, namespace)).items]
        uid = about["metadata"]["uid"]
        return {(e["type"], e["reason"], e["message"]) for e in listed if e["involvedObject"]["uid"] == uid}


@contextlib.asynccontextmanager
async def scenario_on(config: ClusterConfig) -> AsyncIterator[Scenario]:
    """A scenario with names of its own on an API server; what it made is deleted at its end."""
    async with Client(config) as client:
        scenario = await Scenario.begin(client, f"t{secrets.token_hex(4)}")
        yield scenario
        await scenario.end()


def condition(type_: str, status: str, reason: str = "") -> Callable[[Object], bool]:
    """A check for a condition."""

    def check(obj: Object) -> bool:
        for status_condition in (obj.get("status") or {}).get("conditions") or ():
            if status_condition["type"] == type_:
                return bool(
                    status_condition["status"] == status and reason in ("", status_condition["reason"])
                )
        return False

    return check


def _check(ready: bool) -> Object:
    if ready:
        return {"type": "None"}
    return {"type": "MatchString", "fieldPath": "data.ready", "matchString": "yes"}
