"""Loads the resource tree of one resource, or those of all resources of a kind."""

from __future__ import annotations

from typing import NamedTuple

from crossply.compose.ready_and_synced_conditions import first_few
from crossply.kube.client import Client
from crossply.kube.failures import KubeError
from crossply.kube.kind import Kind
from crossply.resource_tree.composite_tree import Trees
from crossply.resource_tree.node import NOT_FOUND, Node, Problem, Reference, Trace
from crossply.resource_tree.object_reader import Reader
from crossply.resource_tree.package_tree import Choice, Packages
from crossply.resource_tree.reconciling_provider import Origins
from crossply.resource_tree.request_failures import discovery_failure
from crossply.resource_tree.served_kinds import Kinds
from crossply.resource_tree.trace_target import Target, TraceError
from crossply.values.goquote import quote

_VERIFY = "(verify context, namespace, and that the resource exists)"


class TraceOptions(NamedTuple):
    """What of a tree is loaded, and how many objects at a time."""

    namespace: str
    """Where the target is; "" is the namespace of the client's configuration."""
    concurrency: int
    connection_secrets: bool
    packages: Choice
    origins: bool = False
    """Whether to find out why no controller reconciles what is not ready."""
    ready_origins: bool = False
    """And what was ready before its Provider stopped."""


async def loading_for(client: Client, target: Target, options: TraceOptions) -> Loading:
    """Find the kind of the target and return its loader."""
    kinds = Kinds(client)
    try:
        kind = await kinds.named(target.type)
    except KubeError as problem:
        reason = discovery_failure(problem, client.config.server)
        raise TraceError(f"cannot get mapping for resource: {reason}", hint=problem.hint) from None
    if kind is None:
        word = quote(target.type.partition(".")[0])
        raise TraceError(
            f"cannot get mapping for resource: the server doesn't have a resource type {word}",
            hint=kinds.question(target.type) or "kubectl api-resources lists the types that it has",
        )
    namespace = (options.namespace or client.config.namespace) if kind.namespaced else ""
    reader = Reader(client, kinds, options.concurrency)
    reference = Reference(kind.api_version, kind.kind, target.name, namespace)
    origins = Origins(reader, options.ready_origins) if options.origins else None
    return Loading(reader, kind, reference, _trees(reader, reference, options), origins)


def _trees(reader: Reader, root: Reference, options: TraceOptions) -> Trees | Packages:
    if Node(root.stub()).is_package:
        return Packages(reader, options.packages)
    return Trees(reader, options.connection_secrets)


class Loading:
    """A root, or all of a kind, and the way to load what is below."""

    def __init__(
        self,
        reader: Reader,
        kind: Kind,
        root: Reference,
        trees: Trees | Packages,
        origins: Origins | None = None,
    ) -> None:
        self.reader = reader
        self._origins = origins
        self._kind = kind
        self._root = root
        self._trees = trees

    async def load_one(self) -> Trace:
        """The tree of one resource."""
        root = await self.reader.get(self._root)
        if root.problem:
            raise await self._missing(root.problem)
        await self._grow(root)
        return Trace([root], is_list=False)

    async def reload(self) -> Node | None:
        """The current tree; None after its root was deleted."""
        root = await self.reader.get(self._root)
        if root.problem and root.problem.sort == NOT_FOUND:
            return None
        if root.problem:
            raise TraceError(f"cannot get requested resource: {root.problem.message}")
        await self._grow(root)
        return root

    async def load_all(self) -> Trace:
        """The trees of all resources of the kind."""
        try:
            roots = await self.reader.everything(self._kind, self._root.namespace)
        except TraceError as problem:
            raise problem.within(self._error_prefix("<all>")) from None
        for root in roots:
            await self._grow(root)
        return Trace(roots, is_list=True, empty_hint="" if roots else self._none())

    def _none(self) -> str:
        if not self._kind.namespaced:
            return ""
        namespace = quote(self._root.namespace)
        return (
            f"there is no {self._kind.kind} in the namespace {namespace}: name another with -n; "
            f"kubectl get {self._kind.resource} -A lists those of all namespaces"
        )

    async def _grow(self, root: Node) -> None:
        _, kind, name, namespace = root.reference
        try:
            await self._trees.grow(root)
        except TraceError as problem:
            prefix = f"cannot get resource tree: kind={kind} name={name} namespace={namespace} {_VERIFY}"
            raise problem.within(prefix) from None
        if self._origins is not None:
            await self._origins.add(root)

    async def _has_namespace(self) -> bool:
        """Whether the namespace of the root exists, as far as that may be read."""
        namespace = self._root.namespace
        if not self._kind.namespaced or not namespace:
            return True
        namespace_node = await self.reader.get(Reference("v1", "Namespace", namespace))
        return namespace_node.problem is None or namespace_node.problem.sort != NOT_FOUND

    async def _other_namespaces(self) -> list[str]:
        """The namespaces that have a resource of this kind and name, as far as they may be listed."""
        if not self._kind.namespaced:
            return []
        fields = f"metadata.name={self._root.name}"
        try:
            nodes = await self.reader.everything(self._kind, "", fields=fields, metadata_only=True)
        except TraceError:
            return []
        return [str(node.metadata.get("namespace")) for node in nodes]

    async def _missing(self, problem: Problem) -> TraceError:
        message = f"{self._error_prefix(self._root.name)}: {problem.message}"
        return TraceError(message, hint=await self._place_hint() if problem.sort == NOT_FOUND else "")

    async def _place_hint(self) -> str:
        """Where the root may be, which is not where it was looked for."""
        namespaces = await self._other_namespaces()
        if len(namespaces) == 1:
            return f"it is in namespace {namespaces[0]}: use -n {namespaces[0]}"
        if namespaces:
            return f"it is in namespaces {first_few(namespaces)}: use -n with one of them"
        if not await self._has_namespace():
            return f"there is no namespace {quote(self._root.namespace)}: kubectl get namespaces lists them"
        place = f" -n {self._root.namespace}" if self._root.namespace else ""
        return f"crossply trace {self._kind.resource}{place} lists what is there"

    def _error_prefix(self, name: str) -> str:
        identity = f"kind={self._root.kind} name={name} namespace={self._root.namespace}"
        return f"cannot get requested resource: {identity} {_VERIFY}"
