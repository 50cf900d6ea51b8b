"""Compares the cluster as it is with the cluster as planned, from a composite resource down.

What a composite resource is made of is what its references name: those it has now, and those it would have.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from crossply.compose.connection_secret import secret_place
from crossply.compose.object_metadata import (
    RESOURCE_NAME_ANNOTATION,
    annotations_of,
    name_of,
    namespace_of,
    text_in,
)
from crossply.control.claims.claim_kind_controller import binding_of
from crossply.control.claims.sync import referenced_name
from crossply.control.composites.composite_kind_controller import kind_of
from crossply.control.controller_context import Plane
from crossply.control.planning.api_urls import ObjectKey, key_of
from crossply.control.planning.dry_run_store import DryRunStore
from crossply.control.planning.field_changes import Field, Unknown, fields_between
from crossply.control.planning.governed_kinds import Governed, GovernedKinds
from crossply.kube.core_kinds import SECRET
from crossply.kube.discovery import UnknownKind
from crossply.kube.kind import Kind
from crossply.values import Object

Action = Literal["create", "change", "delete", "none"]
CREATE: Action = "create"
CHANGE: Action = "change"
DELETE: Action = "delete"
NONE: Action = "none"


@dataclass(slots=True)
class Node:
    """One object: what would become of it, why, and what is below it."""

    key: ObjectKey
    obj: Object
    action: Action
    is_composite: bool = False
    resource: str = ""
    """Its name in the pipeline that composes it."""
    fields: tuple[Field, ...] = ()
    reason: str = ""
    """Why it goes, or why nothing happens."""
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    error: str = ""
    hint: str = ""
    children: list[Node] = field(default_factory=list)

    @property
    def is_changing(self) -> bool:
        """Whether it, or anything below it, would change."""
        return self.action != NONE or any(child.is_changing for child in self.children)

    def walk(self) -> list[Node]:
        """It and all below it."""
        return [self, *(node for child in self.children for node in child.walk())]


class Pair:
    """An object in both worlds."""

    __slots__ = ("after", "before")

    def __init__(self, before: Object | None, after: Object | None) -> None:
        self.before = before
        self.after = after

    @property
    def either(self) -> Object | None:
        """The object, wherever it is."""
        return self.after if self.after is not None else self.before


class Forest:
    """Builds the trees of one plan; each object is in one of them only."""

    def __init__(self, plane: Plane, store: DryRunStore, kinds: GovernedKinds, concurrency: int) -> None:
        self._plane = plane
        self._store = store
        self._kinds = kinds
        self._room = asyncio.Semaphore(concurrency)
        self.unknown = Unknown()
        self.visited: set[ObjectKey] = set()

    async def tree(self, key: ObjectKey, kind: Kind, resource: str = "", going: str = "") -> Node | None:
        """An object and all below it; `going` names the owner that it goes with."""
        if key in self.visited:
            return None
        self.visited.add(key)
        pair = await self._pair(key, kind)
        if going:
            pair.after = None
        if pair.either is None:
            return None
        node = self._node(key, pair, resource)
        if node.action == DELETE:
            node.reason = f"goes with {going}" if going else ""
        governed = self._kinds.at(key)
        if governed is not None:
            node.is_composite = not governed.is_claim
            await self._grow(node, governed, pair)
        return node

    async def leaf(self, key: ObjectKey, governed: Governed) -> Node | None:
        """A composite resource alone: what is below it does not change."""
        if key in self.visited:
            return None
        self.visited.add(key)
        pair = await self._pair(key, governed.kind)
        if pair.either is None:
            return None
        node = self._node(key, pair, "")
        node.is_composite = True
        return node

    def _node(self, key: ObjectKey, pair: Pair, resource: str) -> Node:
        obj = pair.either
        assert obj is not None
        if pair.before is None:
            self.unknown.note(obj)
            action = CREATE
        else:
            action = DELETE if pair.after is None else NONE
        fields = fields_between(pair.before, pair.after)
        if action == NONE and fields:
            action = CHANGE
        return Node(key, obj, action, resource=resource, fields=fields)

    async def _pair(self, key: ObjectKey, kind: Kind) -> Pair:
        known = self._store.known(key)
        if known is not None:
            return Pair(known.before, known.now)
        async with self._room:
            live = await self._plane.as_controller.get(kind, key.name, key.namespace)
        return Pair(live, live)

    async def _grow(self, node: Node, governed: Governed, pair: Pair) -> None:
        going = f"{governed.kind.kind}/{node.key.name}" if node.action == DELETE else ""
        if governed.is_claim:
            await self._grow_claim(node, governed, pair, going)
            return
        before, after = (_references(governed, obj) for obj in (pair.before, pair.after))
        for reference in {**before, **after}.values():
            child = await self._child(reference, namespace_of(node.obj), going)
            if child is None:
                continue
            if child.action == CREATE and node.action == CREATE:
                self.unknown.note_generated(child.obj)
            if child.action == DELETE and not going:
                child.reason = "the pipeline no longer composes it"
            node.children.append(child)
        await self._add_secret(node, pair, going)

    async def _grow_claim(self, node: Node, governed: Governed, pair: Pair, going: str) -> None:
        kind = kind_of(governed.definition)
        for obj in (pair.after, pair.before):
            name = referenced_name(obj, binding_of(governed.definition)) if obj is not None else ""
            child = await self.tree(key_of(kind, name), kind, going=going) if name else None
            if child is not None:
                if child.action == CREATE:
                    self.unknown.note_name(child.obj, f"{node.key.name}-")
                node.children.append(child)
        await self._add_secret(node, pair, going)

    async def _child(self, reference: Object, home: str, going: str) -> Node | None:
        api_version, kind_name = text_in(reference, "apiVersion"), text_in(reference, "kind")
        try:
            kind = await self._plane.discovery.kind_for(api_version, kind_name)
        except UnknownKind:
            return None
        key = key_of(kind, text_in(reference, "name"), home or text_in(reference, "namespace"))
        pair = await self._pair(key, kind)
        resource = annotations_of(pair.either or {}).get(RESOURCE_NAME_ANNOTATION, "")
        return await self.tree(key, kind, resource, going)

    async def _add_secret(self, node: Node, pair: Pair, going: str) -> None:
        """The connection secret, where one would be written."""
        namespace, name = secret_place(pair.either or {})
        key = key_of(SECRET, name, namespace)
        if not name or (self._store.known(key) is None and not going):
            return
        child = await self.tree(key, SECRET, "connection secret", going)
        if child is not None:
            node.children.append(child)

    async def rest(self) -> list[Node]:
        """Everything else that would change."""
        nodes = []
        for key in self._store.written():
            known = self._store.known(key)
            if key in self.visited or known is None:
                continue
            self.visited.add(key)
            node = self._node(key, Pair(known.before, known.now), "")
            if node.action != NONE:
                nodes.append(node)
        return nodes


def _references(governed: Governed, xr: Object | None) -> dict[tuple[str, ...], Object]:
    """What a composite resource refers to."""
    listed = governed.machinery.read(xr, governed.machinery.references) if xr is not None else None
    references = [
        reference for reference in listed or () if isinstance(reference, dict) and reference.get("name")
    ]
    return {tuple(text_in(reference, key) for key in _REFERENCE): reference for reference in references}


_REFERENCE = ("apiVersion", "kind", "namespace", "name")


def label_of(node: Node) -> str:
    """The object as people name it."""
    namespace = namespace_of(node.obj)
    name = f"{namespace}/{name_of(node.obj)}" if namespace else name_of(node.obj)
    return f"{text_in(node.obj, 'kind')} {name}"
