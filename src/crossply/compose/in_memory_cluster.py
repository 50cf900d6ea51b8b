"""Objects in memory that answer the engine's questions, as a cluster would.

`render` and `test` read required resources, credentials and schemas from here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from crossply.compose.connection_secret import decode_data
from crossply.compose.effect_driver import Handlers
from crossply.compose.effects import (
    Call,
    FetchObject,
    FetchResources,
    FetchSchema,
    FetchSecret,
    IsNamespaced,
)
from crossply.compose.errors import ComposeError
from crossply.compose.function_messages import Request, ResourceSelector, Response, SchemaSelector, Snapshot
from crossply.compose.object_metadata import labels_of, name_of, namespace_of, text_in
from crossply.compose.selection import labels_match
from crossply.kinds.composition import ObjectRef, Step
from crossply.values import Object
from crossply.values.api_version import api_group

CallFunction = Callable[[Step, Request], Response]


class NotFound(ComposeError):
    """A required object does not exist."""

    code = "CP-214"
    hint = "pass it to render, for example with --required-resources or --function-credentials"


class InMemoryCluster:
    """A fixed set of objects and OpenAPI documents; `definitions` loads those of more kinds when needed."""

    __slots__ = ("_definitions", "_objects", "_schemas", "_secrets")

    def __init__(
        self,
        objects: Iterable[Object],
        secrets: Iterable[Object] = (),
        schemas: Sequence[Object] = (),
        definitions: Callable[[], Sequence[Object]] = tuple,
    ) -> None:
        # A later object replaces an earlier one of the same identity, as a second apply would.
        self._objects = {_identity(obj): Snapshot(obj) for obj in objects}
        self._secrets = {(namespace_of(secret), name_of(secret)): secret for secret in secrets}
        self._schemas = schemas
        self._definitions = definitions

    def serve_earlier_configs(self) -> None:
        """Serve EnvironmentConfigs of v1alpha1, the version of Crossplane 1.11 to 1.17, as v1beta1, too."""
        for (version, kind, *_), snapshot in list(self._objects.items()):
            if (version, kind) == _EARLIER_CONFIGS:
                served = {**snapshot.object, "apiVersion": _CONFIGS}
                self._objects.setdefault(_identity(served), Snapshot(served))

    def select(self, selector: ResourceSelector) -> list[Snapshot]:
        """The selected objects, sorted by namespace and name."""
        if selector.match_name is not None:
            key = (selector.api_version, selector.kind, selector.namespace or "", selector.match_name)
            return [self._objects[key]] if key in self._objects else []
        selected = [s for s in self._objects.values() if _is_selected(s.object, selector)]
        return sorted(selected, key=lambda s: f"{namespace_of(s.object)}/{name_of(s.object)}")

    def other_versions(self, selector: ResourceSelector) -> list[str]:
        """The API versions in which there are objects that are selected but for the version of their kind."""
        group = api_group(selector.api_version)
        versions = {api_version for api_version, kind, _, _ in self._objects if kind == selector.kind}
        others = (
            selector._replace(api_version=api_version)
            for api_version in sorted(versions - {selector.api_version})
            if api_group(api_version) == group
        )
        return [other.api_version for other in others if self.select(other)]

    def get(self, ref: ObjectRef) -> Object:
        """The object that is referred to."""
        snapshot = self._objects.get((ref.api_version, ref.kind, ref.namespace, ref.name))
        if snapshot is None:
            raise NotFound(f'{ref.kind} "{ref.name}" not found')
        return snapshot.object

    def secret_data(self, namespace: str, name: str) -> dict[str, bytes]:
        """The decoded data of a Secret."""
        secret = self._secrets.get((namespace, name))
        if secret is None:
            snapshot = self._objects.get(("v1", "Secret", namespace, name))
            if snapshot is None:
                raise NotFound(f'Secret "{name}" not found')
            secret = snapshot.object
        return decode_data(secret)

    def schema(self, selector: SchemaSelector) -> Object | None:
        """The OpenAPI schema of a kind, from a document or a definition; None when neither has it."""
        from crossply.schema.kind_openapi_schema_lookup import defined_schema, find_schema, is_definition

        for document in self._schemas:
            schema = find_schema(_dig(document, "components", "schemas"), selector.api_version, selector.kind)
            if schema is not None:
                return schema
        objects = (snapshot.object for snapshot in self._objects.values())
        definitions = [*self._definitions(), *(obj for obj in objects if is_definition(obj))]
        return defined_schema(definitions, selector.api_version, selector.kind)


class InMemoryReads:
    """Answers the engine's questions, and notes which resources and schemas were required."""

    __slots__ = ("_call", "_cluster", "required_resources", "required_schemas")

    def __init__(self, cluster: InMemoryCluster, call: CallFunction) -> None:
        self._cluster = cluster
        self._call = call
        self.required_resources: list[ResourceSelector] = []
        self.required_schemas: list[SchemaSelector] = []

    def handlers(self) -> Handlers:
        call, cluster = self._call, self._cluster
        return {
            Call: lambda effect: call(effect.step, effect.request),
            FetchResources: self._fetch_resources,
            FetchSchema: self._fetch_schema,
            FetchSecret: lambda fetch: cluster.secret_data(fetch.namespace, fetch.name),
            FetchObject: lambda fetch: cluster.get(fetch.ref),
            # Without an API server every kind is taken to be namespaced.
            IsNamespaced: lambda _: True,
        }

    def _fetch_resources(self, fetch: FetchResources) -> list[Snapshot]:
        self.required_resources.append(fetch.selector)
        return self._cluster.select(fetch.selector)

    def _fetch_schema(self, fetch: FetchSchema) -> Object | None:
        self.required_schemas.append(fetch.selector)
        return self._cluster.schema(fetch.selector)

    def version_hint(self) -> str:
        """What to do about resources that were required and exist in another version only."""
        for selector in self.required_resources:
            others = [] if self._cluster.select(selector) else self._cluster.other_versions(selector)
            if others:
                sought = selector.kind
                if selector.match_name is not None:
                    sought = f'{selector.kind} "{selector.match_name}"'
                return f"{sought} is there in apiVersion {others[0]}; use {selector.api_version}"
        return ""


_CONFIGS = "apiextensions.crossplane.io/v1beta1"
_EARLIER_CONFIGS = ("apiextensions.crossplane.io/v1alpha1", "EnvironmentConfig")


def _identity(obj: Object) -> tuple[str, str, str, str]:
    return text_in(obj, "apiVersion"), text_in(obj, "kind"), namespace_of(obj), name_of(obj)


def _is_selected(obj: Object, selector: ResourceSelector) -> bool:
    if (text_in(obj, "apiVersion"), text_in(obj, "kind")) != (selector.api_version, selector.kind):
        return False
    if selector.namespace and namespace_of(obj) != selector.namespace:
        return False
    return labels_match(selector.match_labels or {}, labels_of(obj))


def _dig(document: Any, *path: str) -> Object:
    for key in path:
        document = document.get(key) if isinstance(document, dict) else None
    return document if isinstance(document, dict) else {}
