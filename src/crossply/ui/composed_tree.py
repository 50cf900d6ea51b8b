"""The tree below a resource, from what the dashboard has in memory: for its tree and graph.

Children in the same state are grouped ("Subnet ×12"), nested composite resources are opened on demand. Which
nodes are open is part of the address, so that every state of the page is a link.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field

from crossply.compose.object_metadata import RESOURCE_NAME_ANNOTATION, annotations_of
from crossply.kube.failures import KubeError
from crossply.resource_tree.composite_tree import child_references
from crossply.resource_tree.node import Node, Reference
from crossply.ui.cluster_view import ClusterView
from crossply.ui.kind_informer import KindView
from crossply.ui.object_state_and_row import HIDDEN, MISSING, ORDER, PRESENT, Row, row_of
from crossply.values import Object
from crossply.values.api_version import api_group

MOST_NODES = 3000
MOST_READS = 100
GROUPED_FROM = 4
"""So many children of one kind in one state are shown as one line."""
_ABSENT = Row("", "", "", MISSING, 0.0, 0.0, "", "")


@dataclass(slots=True)
class TreeNode:
    """A line of the tree: a resource, or a group of them."""

    id: str
    reference: Reference
    row: Row
    resource_name: str = ""
    """What the Composition calls it."""
    number: int = 1
    """How many resources the line stands for."""
    can_open: bool = False
    is_open: bool = False
    children: list[TreeNode] = field(default_factory=list)

    @property
    def group(self) -> str:
        return api_group(self.reference.api_version)


class TreeBuilder:
    """Builds one tree, with at most MOST_NODES lines."""

    def __init__(
        self, view: ClusterView, opened: Collection[str], text: str = "", ungrouped: bool = False
    ) -> None:
        """With `ungrouped`, every node is open."""
        self._view = view
        self._opened = opened
        self._text = text.lower()
        self._is_flat = bool(text) or ungrouped
        self._left = MOST_NODES
        self._reads = MOST_READS
        self.kinds: set[str] = set()
        """The resources that the tree is made of."""

    @property
    def is_cut(self) -> bool:
        return self._left <= 0

    async def build(self, obj: Object, row: Row) -> TreeNode:
        """The tree of an object; with a text, only what matches it and what is above that."""
        reference = Node(obj).reference
        root = TreeNode(node_id(reference), reference, row, can_open=True, is_open=True)
        root.children = await self._children(obj, (reference,))
        return root

    async def _children(self, obj: Object, above: tuple[Reference, ...]) -> list[TreeNode]:
        references = child_references(Node(obj), False)
        if len(above) > 16:
            return []
        shown = references[: max(self._left, 0)]
        self._left -= len(references)
        loaded = await asyncio.gather(*(self._node(reference, above) for reference in shown))
        nodes = [node for node in loaded if node is not None]
        nodes.sort(key=lambda node: (ORDER.index(node.row.state), node.reference))
        return nodes if self._is_flat else list(self._grouped(nodes, above[-1]))

    async def _node(self, reference: Reference, above: tuple[Reference, ...]) -> TreeNode | None:
        view = await self._view.composed_started(reference.api_version, reference.kind)
        if view is not None:
            self.kinds.add(view.kind.resource)
            if not view.kind.namespaced:
                reference = reference._replace(namespace="")
        row, obj = await self._load_row(view, reference)
        identity = node_id(reference)
        node = TreeNode(identity, reference, row)
        if obj is not None:
            node.resource_name = annotations_of(obj).get(RESOURCE_NAME_ANNOTATION, "")
            node.can_open = bool(child_references(Node(obj), False)) and reference not in above
            node.is_open = node.can_open and (identity in self._opened or self._is_flat)
            if node.is_open:
                node.children = await self._children(obj, (*above, reference))
        if self._text and not node.children and not self._matches(node):
            return None
        return node

    async def _load_row(self, view: KindView | None, reference: Reference) -> tuple[Row, Object | None]:
        """The row and the object; one that is not in memory, or not labelled as composed, is read alone."""
        row = row_in(view, reference)
        if view is None or view.refused:
            return row, None
        if row.state != MISSING:
            return row, view.object(reference.namespace, reference.name)
        if view.synced and not view.selection.labels:
            return row, None
        if self._reads <= 0:
            return (row if view.synced else row._replace(state=PRESENT, reason="is being read")), None
        self._reads -= 1
        try:
            obj = await self._view.client.get(view.kind, reference.name, reference.namespace)
        except KubeError:
            return row, None
        return (row, None) if obj is None else (row_of(obj), obj)

    def _matches(self, node: TreeNode) -> bool:
        words = (node.reference.kind, node.reference.name, node.resource_name, node.row.state)
        return any(self._text in word.lower() for word in words)

    def _grouped(self, nodes: list[TreeNode], parent: Reference) -> Iterable[TreeNode]:
        keys = [(node.reference.kind, node.group, node.row.state) for node in nodes]
        sizes = Counter(keys)
        groups: dict[tuple[str, str, str], TreeNode] = {}
        for key, node in zip(keys, nodes, strict=True):
            if sizes[key] < GROUPED_FROM or node.can_open:
                yield node
                continue
            if key not in groups:
                groups[key] = self._group(node, parent, sizes[key])
                yield groups[key]
            if groups[key].is_open:
                groups[key].children.append(node)

    def _group(self, first: TreeNode, parent: Reference, number: int) -> TreeNode:
        identity = node_id(first.reference, f"{parent} ×{first.row.state}")
        reference = first.reference._replace(name="")
        row = first.row._replace(name="", uid="")
        is_open = identity in self._opened
        return TreeNode(identity, reference, row, number=number, can_open=True, is_open=is_open)


def row_in(view: KindView | None, reference: Reference) -> Row:
    """The row of a referenced resource, or one that says why there is none."""
    if view is None:
        reason = f"the kind {reference.kind} in {reference.api_version} is not served"
        return _ABSENT._replace(namespace=reference.namespace, name=reference.name, reason=reason)
    if view.refused:
        reason = f"you may not list {view.kind.resource}"
        return _ABSENT._replace(
            namespace=reference.namespace, name=reference.name, state=HIDDEN, reason=reason
        )
    row = view.row(reference.namespace, reference.name)
    if row is None:
        return _ABSENT._replace(
            namespace=reference.namespace, name=reference.name, reason="it does not exist"
        )
    return row


def node_id(reference: Reference, salt: str = "") -> str:
    """A short name of a node, for addresses and ids of elements."""
    text = "\0".join((*reference, salt))
    return hashlib.blake2s(text.encode(errors="replace"), digest_size=5).hexdigest()
