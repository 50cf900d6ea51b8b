"""Reads the objects of a resource tree. A failure becomes a node with a problem."""

from __future__ import annotations

import asyncio

import orjson

from crossply.kube.client import Client
from crossply.kube.failures import KubeError, Unreachable
from crossply.kube.kind import Kind
from crossply.kube.list_options import Selection
from crossply.resource_tree.node import NOT_FOUND, NOT_SERVED, REFUSED, Node, Problem, Reference
from crossply.resource_tree.request_failures import failure
from crossply.resource_tree.served_kinds import Kinds
from crossply.resource_tree.trace_target import TraceError
from crossply.values import Object
from crossply.values.api_version import split_api_version
from crossply.values.goquote import quote

DEFAULT_CONCURRENCY = 5


class Reader:
    """Reads objects with limited concurrency."""

    def __init__(self, client: Client, kinds: Kinds, concurrency: int) -> None:
        self._client = client
        self._kinds = kinds
        self._room = asyncio.Semaphore(concurrency if concurrency > 0 else DEFAULT_CONCURRENCY)

    async def get(self, reference: Reference) -> Node:
        """The object, or the reference with the reason why there is none."""
        async with self._room:
            try:
                kind = await self._kinds.called(reference.api_version, reference.kind)
            except KubeError as problem:
                return Node(reference.stub(), None, self._refused(problem, None, reference))
            if kind is None:
                return Node(reference.stub(), None, not_served(reference))
            unaskable = _unaskable(kind, reference)
            return Node(reference.stub(), kind, unaskable) if unaskable else await self._ask(kind, reference)

    async def _ask(self, kind: Kind, reference: Reference) -> Node:
        try:
            live = await self._client.get(kind, reference.name, reference.namespace)
        except KubeError as problem:
            return Node(reference.stub(), kind, self._refused(problem, kind, reference))
        if live is None:
            return Node(reference.stub(), kind, _not_found(kind, reference))
        return Node(live, kind)

    async def kind(self, api_version: str, kind: str) -> Kind | None:
        """How the server serves a kind; None where it does not."""
        return await self._kinds.called(api_version, kind)

    async def everything(
        self, kind: Kind, namespace: str, labels: str = "", metadata_only: bool = False, fields: str = ""
    ) -> list[Node]:
        """Everything of a kind in a namespace."""
        selection = Selection(namespace, labels, fields, metadata_only)
        try:
            async with self._room:
                listed = await self._client.list_selected(kind, selection)
        except KubeError as problem:
            url = f"{self._client.config.server}{kind.path(namespace)}"
            raise TraceError(failure(problem, url), hint=problem.hint) from None
        return [Node(orjson.loads(item), kind) for item in listed.items]

    async def revisions(self, package: Reference) -> list[Node]:
        """The revisions of a package, oldest first."""
        of = Reference("pkg.crossplane.io/v1", f"{package.kind}Revision", "")
        kind = await self._kinds.called(of.api_version, of.kind)
        if kind is None:
            raise TraceError(not_served(of).message)
        nodes = await self.everything(kind, "", f"pkg.crossplane.io/package={package.name}")
        return sorted(nodes, key=lambda node: str(node.metadata.get("creationTimestamp") or ""))

    def _refused(self, problem: KubeError, kind: Kind | None, reference: Reference) -> Problem:
        path = kind.path(reference.namespace, reference.name) if kind else "/api?timeout=32s"
        url = f"{self._client.config.server}{path}"
        message = failure(problem, url)
        if isinstance(problem, Unreachable):
            return Problem(REFUSED, message, {"Op": "Get", "URL": url, "Err": {}})
        shown = _status(message, problem.reason, _details(kind, reference), problem.status)
        return Problem(REFUSED, message, shown)


def not_served(reference: Reference) -> Problem:
    """The problem of a kind that the server does not have."""
    group, version = split_api_version(reference.api_version)
    sentence = f"no matches for kind {quote(reference.kind)} in version {quote(reference.api_version)}"
    shown = {"GroupKind": {"Group": group, "Kind": reference.kind}, "SearchedVersions": [version]}
    return Problem(NOT_SERVED, sentence, shown)


def _not_found(kind: Kind, reference: Reference) -> Problem:
    message = f"{kind.resource} {quote(reference.name)} not found"
    return Problem(NOT_FOUND, message, _status(message, "NotFound", _details(kind, reference), 404))


def _unaskable(kind: Kind, reference: Reference) -> Problem | None:
    """What Go's client refuses to ask."""
    if not reference.name:
        return Problem(REFUSED, "resource name may not be empty", {})
    if kind.namespaced and not reference.namespace:
        return Problem(REFUSED, "an empty namespace may not be set when a resource name is provided", {})
    return None


def _details(kind: Kind | None, reference: Reference) -> Object:
    if kind is None:
        return {}
    return {"name": reference.name, **({"group": kind.group} if kind.group else {}), "kind": kind.plural}


def _status(message: str, reason: str, details: Object, code: int) -> Object:
    """A refusal as Go writes it: the server's Status."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
        "reason": reason,
        "details": details,
        "code": code,
    }
    return {"ErrStatus": status}
