"""The tree below a claim, an XR or any other resource, by their references.

A claim leads to its XR, an XR to what it composed, and if connection secrets are requested, each to its own.
"""

from __future__ import annotations

import asyncio
from typing import Any

from crossply.resource_tree.node import REFUSED, Node, Problem, Reference
from crossply.resource_tree.object_reader import Reader
from crossply.values import Object

DEEPEST = 64
MOST = 20_000
"""More resources than this are not shown; references may lead in circles."""

_CHILDLESS = (
    ("", "Secret"),
    ("apiextensions.crossplane.io", "Usage"),
    ("apiextensions.crossplane.io", "EnvironmentConfig"),
)


class Trees:
    """Loads what is below resources."""

    def __init__(self, reader: Reader, secrets: bool) -> None:
        self._reader = reader
        self._secrets = secrets
        self._loaded = 0

    async def grow(self, root: Node) -> None:
        """Load all that is below a resource."""
        self._loaded = 0
        await self._expand(root, (root.reference,))

    async def _expand(self, node: Node, above: tuple[Reference, ...]) -> None:
        references = child_references(node, self._secrets)
        children = await asyncio.gather(*(self._child(reference, above) for reference in references))
        node.children = sorted(children, key=_order)

    async def _child(self, reference: Reference, above: tuple[Reference, ...]) -> Node:
        self._loaded += 1
        if self._loaded > MOST or len(above) > DEEPEST:
            return Node(reference.stub(), None, Problem(REFUSED, "too many resources, not loaded", {}))
        node = await self._reader.get(reference)
        if node.problem is None and node.reference not in above:
            await self._expand(node, (*above, node.reference))
        return node


def child_references(node: Node, secrets: bool) -> list[Reference]:
    """The references of a claim or XR, optionally with its connection secret."""
    reference = node.reference
    spec = node.object.get("spec")
    if (node.group, reference.kind) in _CHILDLESS or not isinstance(spec, dict):
        return []
    spec = {**spec, **_first_design(spec)}
    secret = _secret(spec) if secrets else []
    if isinstance(spec.get("resourceRef"), dict):
        # A claim: its secret is always in its own namespace, its XR in none.
        own = [entry._replace(namespace=reference.namespace) for entry in secret]
        return [_reference(spec["resourceRef"]), *own]
    modern = spec.get("crossplane")
    references = _references(modern.get("resourceRefs")) if isinstance(modern, dict) else []
    references += _references(spec.get("resourceRefs")) + secret
    # What a namespaced XR composes is in its namespace, without its saying so.
    return [
        child if child.namespace else child._replace(namespace=reference.namespace) for child in references
    ]


def _first_design(spec: Object) -> Object:
    """The engine's fields of infrastructure, its requirements, and applications, called as elsewhere."""
    for key in ("infrastructure", "application"):
        fields = spec.get(key)
        if isinstance(fields, dict) and not fields.keys().isdisjoint(("composedRefs", "resourceRef")):
            return {**fields, "resourceRefs": fields.get("composedRefs")}
    return {}


def _references(value: Any) -> list[Reference]:
    return (
        [_reference(entry) for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
    )


def _reference(entry: Object) -> Reference:
    keys = ("apiVersion", "kind", "name", "namespace")
    return Reference(*(value if isinstance(value := entry.get(key), str) else "" for key in keys))


def _secret(spec: Object) -> list[Reference]:
    written = spec.get("writeConnectionSecretToRef")
    if not isinstance(written, dict):
        return []
    return [_reference({**written, "apiVersion": "v1", "kind": "Secret"})]


def _order(node: Node) -> str:
    reference = node.reference
    return reference.api_version + reference.kind + reference.name
