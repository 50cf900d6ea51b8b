"""The kinds of the first design in a scenario: infrastructure that is defined, published, required."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.e2e.scenario import CRD, Scenario, condition

_GROUP = "apiextensions.crossplane.io"
INFRASTRUCTURE_DEFINITION = Kind(
    _GROUP, "v1alpha1", "InfrastructureDefinition", "infrastructuredefinitions", False
)
APPLICATION_DEFINITION = Kind(_GROUP, "v1alpha1", "ApplicationDefinition", "applicationdefinitions", False)
PUBLICATION = Kind(_GROUP, "v1alpha1", "InfrastructurePublication", "infrastructurepublications", False)
COMPOSITION = Kind(_GROUP, "v1alpha1", "Composition", "compositions", False)

DETAILS = ("username", "endpoint")
OFFERED = condition("Offered", "True", "WatchingCompositeResourceClaim")
READY = condition("Ready", "True")


class FirstDesign:
    """An infrastructure kind `Sql` made of a `Server`, and an application kind `Blog`."""

    def __init__(self, scenario: Scenario) -> None:
        self.s = scenario
        group = scenario.group
        self.sqls = Kind(group, "v1alpha1", "Sql", "sqls", False)
        self.requirements = Kind(group, "v1alpha1", "SqlRequirement", "sqlrequirements", True)
        self.blogs = Kind(group, "v1alpha1", "Blog", "blogs", True)
        self.servers = Kind(f"cloud.{group}", "v1", "Server", "servers", False)

    async def serve_servers(self) -> None:
        """The kind that a provider would bring."""
        anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        schema = {"type": "object", "properties": {"spec": anything, "status": anything}}
        version = {
            "name": "v1",
            "served": True,
            "storage": True,
            "schema": {"openAPIV3Schema": schema},
            "subresources": {"status": {}},
        }
        names = {"kind": "Server", "plural": "servers"}
        spec = {"group": self.servers.group, "scope": "Cluster", "names": names, "versions": [version]}
        await self.apply(CRD, self.servers.resource, spec)
        await self.s.grant(self.servers)
        await self.s.until(CRD, self.servers.resource, condition("Established", "True"))

    async def define_sql(self, **spec: Any) -> None:
        """Define Sql, and wait until it is served."""
        template = self.template(self.sqls, region="string", storageGB="int")
        body = {"crdSpecTemplate": template, "connectionDetails": list(DETAILS), **spec}
        await self.apply(INFRASTRUCTURE_DEFINITION, self.sqls.resource, body)
        await self.s.until(INFRASTRUCTURE_DEFINITION, self.sqls.resource, established)

    async def define_blog(self, **spec: Any) -> None:
        """Define Blog, and wait until it is served."""
        template = self.template(self.blogs, title="string")
        await self.apply(APPLICATION_DEFINITION, self.blogs.resource, {"crdSpecTemplate": template, **spec})
        await self.s.until(APPLICATION_DEFINITION, self.blogs.resource, established)

    async def publish(self) -> None:
        """Publish Sql, and wait until SqlRequirement is served."""
        reference = {"infrastructureDefinitionReference": {"name": self.sqls.resource}}
        await self.apply(PUBLICATION, self.sqls.resource, reference)
        await self.s.until(PUBLICATION, self.sqls.resource, OFFERED)

    def template(self, kind: Kind, **fields: str) -> Object:
        properties = {name: {"type": type_} for name, type_ in fields.items()}
        return {
            "group": kind.group,
            "version": kind.version,
            "names": {"kind": kind.kind, "plural": kind.plural},
            "validation": {"openAPIV3Schema": {"type": "object", "properties": properties}},
        }

    async def compose_sql(self, name: str = "", **spec: Any) -> None:
        """A Composition of one Server, with the secret that its provider writes."""
        base = {
            "apiVersion": self.servers.api_version,
            "kind": "Server",
            "spec": {"writeConnectionSecretToRef": {"namespace": self.s.id}},
        }
        server = {
            "base": base,
            "patches": [
                {
                    "fromFieldPath": "spec.storageGB",
                    "toFieldPath": "spec.storageMB",
                    "transforms": [MULTIPLY],
                },
                {
                    "fromFieldPath": "metadata.uid",
                    "toFieldPath": "spec.writeConnectionSecretToRef.name",
                    "transforms": [{"type": "string", "string": {"fmt": "%s-server"}}],
                },
            ],
            "connectionDetails": [
                {"name": "username", "fromConnectionSecretKey": "admin"},
                {"fromConnectionSecretKey": "endpoint"},
            ],
        }
        await self.compose(self.sqls, name, **{"to": [server], **spec})

    async def compose(self, kind: Kind, name: str = "", **spec: Any) -> None:
        """A Composition as the first design writes it."""
        source = {"apiVersion": kind.api_version, "kind": kind.kind}
        await self.apply(COMPOSITION, name or f"{self.s.id}-{kind.plural}", {"from": source, **spec})

    async def apply(self, kind: Kind, name: str, spec: Object, namespace: str = "") -> Object:
        """Apply an object that is nothing but its spec."""
        metadata = {"name": name, **({"namespace": namespace} if namespace else {})}
        body = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, "spec": spec}
        return await self.s.client.apply(kind, body, "test")

    async def require(self, name: str = "mine", **infrastructure: Any) -> None:
        """Apply a requirement."""
        spec = {"region": "west", "storageGB": 10, "infrastructure": infrastructure}
        await self.apply(self.requirements, name, spec, self.s.id)

    async def provide(self, sql: Object) -> None:
        """Do what a provider does for the server of a Sql: write its secret, and call it ready."""
        [reference] = sql["spec"]["infrastructure"]["composedRefs"]
        server = await self.s.until(self.servers, reference["name"], lambda obj: True)
        place = server["spec"]["writeConnectionSecretToRef"]
        await self.s.client.create(
            SECRET, {"metadata": place, "stringData": {"admin": "root", "endpoint": "here", "other": "x"}}
        )
        ready = {"type": "Ready", "status": "True", "reason": "Up", "lastTransitionTime": _LONG_AGO}
        await self.s.client.update_status(self.servers, {**server, "status": {"conditions": [ready]}})

    async def bound(self, name: str = "mine") -> Object:
        """The Sql that a requirement is bound to, once it has composed something."""
        requirement = await self.s.until(self.requirements, name, lambda obj: sql_name(obj))
        return await self.s.until(
            self.sqls, sql_name(requirement), lambda sql: engine(sql).get("composedRefs")
        )


async def complete_design(s: Scenario, **composition: Any) -> FirstDesign:
    """All that is needed before something is required."""
    design = FirstDesign(s)
    await design.serve_servers()
    await design.define_sql()
    await design.publish()
    await design.compose_sql(**composition)
    return design


def established(definition: Object) -> bool:
    """Whether a definition, as it is now, is in force."""
    generation = definition["metadata"]["generation"]
    generations = [
        status_condition.get("observedGeneration")
        for status_condition in (definition.get("status") or {}).get("conditions", ())
    ]
    return generation in generations and condition("Established", "True")(definition)


def engine(obj: Object) -> Object:
    """The engine's fields of infrastructure or of a requirement."""
    infrastructure: Object = (obj.get("spec") or {}).get("infrastructure") or {}
    return infrastructure


def sql_name(requirement: Object) -> str:
    """The name of the infrastructure that a requirement refers to."""
    return str((engine(requirement).get("resourceRef") or {}).get("name", ""))


def synced_false(*words: str) -> Callable[[Object], bool]:
    """A check that an object is out of sync, with these words in the message."""

    def check(obj: Object) -> bool:
        synced = [
            status_condition
            for status_condition in (obj.get("status") or {}).get("conditions", ())
            if status_condition["type"] == "Synced"
        ]
        return any(
            status_condition["status"] == "False"
            and all(word in status_condition["message"] for word in words)
            for status_condition in synced
        )

    return check


def text(secret: Object, key: str) -> str:
    """What a Secret has under a key."""
    return base64.b64decode(secret["data"][key]).decode()


MULTIPLY = {"type": "math", "math": {"multiply": 1024}}
SECRET = Kind("", "v1", "Secret", "secrets", True)
_LONG_AGO = "2020-01-01T00:00:00Z"
