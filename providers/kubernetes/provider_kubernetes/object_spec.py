"""The fields of an Object's spec that stand beside forProvider."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Literal

from crossply.provider import Doc

Policy = Literal["SuccessfulCreate", "DeriveFromObject", "AllTrue", "DeriveFromCelQuery"]


@dataclass
class DependsOn:
    """An object that must exist: another Object, unless apiVersion and kind say otherwise."""

    name: str
    api_version: str = "kubernetes.crossplane.io/v1alpha2"
    kind: str = "Object"
    namespace: str | None = None


@dataclass
class PatchesFrom:
    """An object of the control plane, and the field of it that is copied into the manifest."""

    name: str
    field_path: str
    api_version: str = "kubernetes.crossplane.io/v1alpha2"
    kind: str = "Object"
    namespace: str | None = None


@dataclass
class Reference:
    """What the Object depends on."""

    depends_on: DependsOn | None = None
    patches_from: PatchesFrom | None = None
    to_field_path: Annotated[
        str | None, Doc("Where the value goes in the manifest; by default the path that it comes from.")
    ] = None

    @property
    def target(self) -> DependsOn | PatchesFrom | None:
        return self.patches_from or self.depends_on


@dataclass
class Readiness:
    """When the Object is ready."""

    policy: Policy = "SuccessfulCreate"
    cel_query: Annotated[str, Doc("A CEL expression about `object`, for the policy DeriveFromCelQuery.")] = ""


@dataclass
class ConnectionDetail:
    """A field of an object in the cluster that becomes a key of the connection Secret."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    namespace: str = ""
    field_path: str = ""
    to_connection_secret_key: str = ""
    uid: str | None = None
    resource_version: str | None = None


@dataclass
class ObjectSpec:
    """What an Object's spec has beside forProvider."""

    references: list[Reference] = field(default_factory=list)
    readiness: Readiness = field(default_factory=Readiness)
    connection_details: list[ConnectionDetail] = field(default_factory=list)
    watch: Annotated[bool, Doc("Accepted and without effect: objects are observed at intervals.")] = False
