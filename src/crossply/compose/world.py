"""Objects in memory that answer the engine's questions, as a cluster would.

`render`, `test` and `plan` look here for required resources, credentials and schemas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from crossply.compose.errors import ComposeError
from crossply.compose.messages import ResourceSelector, SchemaSelector, Snapshot
from crossply.compose.metadata import labels_of, name_of, namespace_of, text_in
from crossply.compose.selection import labels_match
from crossply.kinds.composition import ObjectRef
from crossply.values import Object
from crossply.values.gobase64 import decode

_GVK = "x-kubernetes-group-version-kind"
_MOST_NODES = 250_000
"""The most nodes of one schema with its references resolved: about a second's work."""


class NotFound(ComposeError):
    """An object that is needed is not there."""

    code = "CP-214"
    hint = "give it to render, for example with --required-resources or --function-credentials"


class World:
    """A fixed set of objects and OpenAPI documents."""

    __slots__ = ("_objects", "_schemas", "_secrets")

    def __init__(
        self, objects: Iterable[Object], secrets: Iterable[Object] = (), schemas: Sequence[Object] = ()
    ) -> None:
        # A later object replaces an earlier one of the same identity, as a second apply would.
        self._objects = {_identity(obj): Snapshot(obj) for obj in objects}
        self._secrets = {(namespace_of(secret), name_of(secret)): secret for secret in secrets}
        self._schemas = schemas

    def select(self, selector: ResourceSelector) -> list[Snapshot]:
        """The selected objects, sorted by namespace and name."""
        if selector.match_name is not None:
            key = (selector.api_version, selector.kind, selector.namespace or "", selector.match_name)
            return [self._objects[key]] if key in self._objects else []
        found = [s for s in self._objects.values() if _is_selected(s.object, selector)]
        return sorted(found, key=lambda s: f"{namespace_of(s.object)}/{name_of(s.object)}")

    def other_versions(self, selector: ResourceSelector) -> list[str]:
        """The API versions in which there are objects that are selected but for the version of their kind."""
        group = _group(selector.api_version)
        versions = {api_version for api_version, kind, _, _ in self._objects if kind == selector.kind}
        others = (
            selector._replace(api_version=each)
            for each in sorted(versions - {selector.api_version})
            if _group(each) == group
        )
        return [each.api_version for each in others if self.select(each)]

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
        """The OpenAPI schema of a kind, with its references resolved; None when no document has it."""
        for document in self._schemas:
            schemas = _dig(document, "components", "schemas")
            for schema in schemas.values():
                if _describes(schema, selector):
                    return _resolved(schema, schemas, selector.kind)
        return None


def decode_data(secret: Object) -> dict[str, bytes]:
    """The data of a Secret as bytes."""
    data = secret.get("data")
    if not isinstance(data, dict):
        return {}
    return {key: decode(value) for key, value in data.items() if isinstance(value, str)}


def _identity(obj: Object) -> tuple[str, str, str, str]:
    return text_in(obj, "apiVersion"), text_in(obj, "kind"), namespace_of(obj), name_of(obj)


def _group(api_version: str) -> str:
    return api_version.rpartition("/")[0]


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


def _describes(schema: Any, selector: SchemaSelector) -> bool:
    """A schema that several kinds share describes none of them."""
    kinds = schema.get(_GVK) if isinstance(schema, dict) else None
    if not isinstance(kinds, list) or len(kinds) != 1 or not isinstance(kinds[0], dict):
        return False
    group, _, version = selector.api_version.rpartition("/")
    wanted: Mapping[str, str] = {"group": group, "version": version, "kind": selector.kind}
    return all(kinds[0].get(key, "") == value for key, value in wanted.items())


def _resolved(schema: Object, schemas: Object, kind: str) -> Object:
    """The schema with every `$ref` replaced by what it names; a reference to itself is left empty.

    Schemas that refer to others twice, and those to others twice, grow without end: they are refused.
    """
    left = _MOST_NODES

    def resolve(part: Any, open_names: tuple[str, ...]) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise RecursionError
        if isinstance(part, list):
            return [resolve(item, open_names) for item in part]
        if not isinstance(part, dict):
            return part
        ref = part.get("$ref")
        if not isinstance(ref, str):
            return {key: resolve(value, open_names) for key, value in part.items()}
        name = ref.rpartition("/")[2]
        return {} if name in open_names else resolve(schemas.get(name, {}), (*open_names, name))

    try:
        resolved: Object = resolve(schema, ())
    except RecursionError:
        raise ComposeError(
            f"the OpenAPI schema of {kind} is too large: it refers to too many others",
            hint="give render only the documents of the kinds that functions ask for",
        ) from None
    return resolved
