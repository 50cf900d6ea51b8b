"""Loads what causes are looked up in. What the caller may not read stays empty, and is noted."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable, Sequence

import orjson

from crossply.compose.object_metadata import uid_of
from crossply.diagnosis.evidence import Evidence
from crossply.diagnosis.managed_rules import config_groups
from crossply.diagnosis.root_cause_search import Finding
from crossply.kinds.composition_revision import COMPOSITION_NAME
from crossply.kinds.definition import Definition, ServiceAccount, parse_definition
from crossply.kinds.fields import KindError
from crossply.kube.client import Client
from crossply.kube.core_kinds import EVENT, SERVICE_ACCOUNT
from crossply.kube.failures import Forbidden, KubeError
from crossply.kube.list_options import Selection
from crossply.resource_tree.node import Node, Reference
from crossply.resource_tree.object_reader import Reader
from crossply.values import Object

_EXTENSIONS = "apiextensions.crossplane.io"
_USAGES = (
    ("protection.crossplane.io/v1beta1", "Usage"),
    ("protection.crossplane.io/v1beta1", "ClusterUsage"),
    (f"{_EXTENSIONS}/v1beta1", "Usage"),
)
_SELECTED = frozenset({"Composition", "CompositionRevision"})
_STEP = re.compile(r'pipeline step "([^"]+)"')
_MOST_ABOUT = 10
_FORBIDDEN = 403
"""The maximum number of resources whose events are loaded."""

PackageLog = Callable[[str, str], Awaitable[Sequence[str]]]
"""The last lines that a package wrote, by its kind (provider or function) and its name."""


class EvidenceLoader:
    """Loads evidence with the rights of the user."""

    def __init__(self, client: Client, reader: Reader, log: PackageLog) -> None:
        self._client = client
        self._reader = reader
        self._log = log
        self.unread: dict[str, None] = {}
        """The kinds that the caller may not read."""

    async def definition_of(self, node: Node) -> Definition | None:
        """The definition of an XR; None for what is no XR."""
        if node.kind is None or node.problem:
            return None
        reference = Reference(f"{_EXTENSIONS}/v1", "CompositeResourceDefinition", node.kind.resource)
        definition_node = await self._reader.get(reference)
        if _is_forbidden(definition_node):
            self.unread[reference.kind] = None
        if definition_node.problem:
            return None
        try:
            return parse_definition(definition_node.object)
        except KindError:
            return None

    async def load(self, xr: Node, definition: Definition | None, findings: Sequence[Finding]) -> Evidence:
        """What there is about an XR and the causes that were found below it."""
        nodes = {id(node): node for finding in findings for node in (finding.node, finding.parent)}
        usages, events, compositions, functions, configs, account = await asyncio.gather(
            asyncio.gather(*(self._all(*kind) for kind in _USAGES)),
            self._events([xr, *nodes.values()]),
            self._all(f"{_EXTENSIONS}/v1", "Composition"),
            self._all("pkg.crossplane.io/v1", "Function"),
            self._provider_configs(findings),
            self._absent_account(definition, findings),
        )
        evidence = Evidence(
            events=events,
            definition=definition,
            compositions=compositions,
            functions={str(function["metadata"]["name"]): function for function in functions},
            provider_configs=configs,
            usages=[usage for listed in usages for usage in listed],
            absent_account=account,
        )
        revisions = await self._revisions(xr.object, evidence)
        unread = not _SELECTED.isdisjoint(self.unread)
        evidence = evidence._replace(revisions=revisions, knows_compositions=not unread)
        return evidence._replace(logs=await self._logs(xr.object, findings, evidence))

    async def _revisions(self, xr: Object, evidence: Evidence) -> list[Object]:
        name = evidence.machinery.name_in(xr, "compositionRef")
        if not name or evidence.definition is None:
            return []
        return await self._all(f"{_EXTENSIONS}/v1", "CompositionRevision", f"{COMPOSITION_NAME}={name}")

    async def _events(self, nodes: Iterable[Node]) -> dict[str, list[Object]]:
        about = list({uid: node for node in nodes if (uid := uid_of(node.object))}.items())[:_MOST_ABOUT]
        listed = await asyncio.gather(*(self._events_of(uid, node) for uid, node in about))
        return {uid: events for (uid, _), events in zip(about, listed, strict=True)}

    async def _events_of(self, uid: str, node: Node) -> list[Object]:
        selection = Selection(node.reference.namespace or "default", fields=f"involvedObject.uid={uid}")
        try:
            listed = await self._client.list_selected(EVENT, selection)
        except KubeError as problem:
            return self._nothing(EVENT.kind, problem)
        events = [orjson.loads(item) for item in listed.items]
        return sorted(events, key=lambda event: str(event.get("lastTimestamp") or ""), reverse=True)

    async def _provider_configs(self, findings: Sequence[Finding]) -> list[Object]:
        configs: list[Object] = []
        for finding in findings:
            if config_groups([finding.cause]):
                version = finding.node.reference.api_version
                for kind in ("ProviderConfig", "ClusterProviderConfig"):
                    configs += await self._all(version, kind)
        return configs

    async def _absent_account(
        self, definition: Definition | None, findings: Sequence[Finding]
    ) -> ServiceAccount | None:
        account = None if definition is None else definition.service_account
        if account is None or not findings:
            return None
        try:
            found = await self._client.get(SERVICE_ACCOUNT, account.name, account.namespace)
        except KubeError as problem:
            self._nothing(SERVICE_ACCOUNT.kind, problem)
            return None
        return account if found is None else None

    async def _logs(
        self, xr: Object, findings: Sequence[Finding], evidence: Evidence
    ) -> dict[str, Sequence[str]]:
        packages = set()
        for finding in findings:
            node, origin = finding.node, finding.node.origin
            if origin and origin.provider:
                packages.add(("provider", origin.provider))
            if node.is_package:
                packages.add((node.reference.kind.lower(), node.reference.name))
            for step in _STEP.findall(finding.cause.sentence):
                packages.add(("function", evidence.function_of(xr, step)))
        named = sorted(package for package in packages if package[1])
        logs = await asyncio.gather(*(self._log(*package) for package in named))
        return {f"{kind}/{name}": lines for (kind, name), lines in zip(named, logs, strict=True) if lines}

    async def _all(self, api_version: str, kind: str, labels: str = "") -> list[Object]:
        try:
            served = await self._reader.kind(api_version, kind)
            if served is None:
                return []
            listed = await self._client.list_selected(served, Selection("", labels))
        except KubeError as problem:
            return self._nothing(kind, problem)
        return [{**orjson.loads(item), "apiVersion": api_version, "kind": kind} for item in listed.items]

    def _nothing(self, kind: str, problem: KubeError) -> list[Object]:
        if isinstance(problem, Forbidden):
            self.unread[kind] = None
        return []


def _is_forbidden(node: Node) -> bool:
    """Whether the API server did not let the caller read a resource."""
    status = node.problem.shown.get("ErrStatus") if node.problem else None
    return isinstance(status, dict) and status.get("code") == _FORBIDDEN


def leave_out_forbidden(root: Node) -> list[str]:
    """Take what could not be read for lack of rights out of a tree; returns the names of it.

    A resource without a controller stays: that is known from its kind.
    """
    left_out = []
    for child in root.children:
        if _is_forbidden(child):
            left_out.append(child.label)
            if child.origin:
                child.problem = None
        left_out += leave_out_forbidden(child)
    root.children = [child for child in root.children if not _is_forbidden(child)]
    return left_out
