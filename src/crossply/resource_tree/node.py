"""A node of a resource tree: an object, or the problem of reading it; and its children that are not ready."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from crossply.compose.ready_condition_cause import MARK
from crossply.values import Object
from crossply.values.api_version import api_group

if TYPE_CHECKING:
    from crossply.kube.kind import Kind

NOT_FOUND, NOT_SERVED, REFUSED = "not found", "not served", "refused"
RESOURCE_NAME = "crossplane.io/composition-resource-name"
PACKAGES = ("Configuration", "Function", "Provider")
_PACKAGE_GROUP = "pkg.crossplane.io"
_RUNTIME_CONFIGS = ("ControllerConfig", "DeploymentRuntimeConfig")
_NAMED = re.compile(r"Unready resources: (.+)", re.DOTALL)
_OTHERS = re.compile(r"(?:and )?\d+ more")
_WORKLOADS = ("DaemonSet", "Deployment", "Job", "CronJob", "Pod", "ReplicaSet", "StatefulSet")
_WORKLOAD_GROUPS = ("", "apps", "batch")


class Reference(NamedTuple):
    api_version: str
    kind: str
    name: str
    namespace: str = ""

    @property
    def label(self) -> str:
        """The display name: `Kind/name (namespace)`."""
        return f"{self.kind}/{self.name}" + (f" ({self.namespace})" if self.namespace else "")

    def stub(self) -> Object:
        """An object with only apiVersion, kind and metadata."""
        names = {"name": self.name, "namespace": self.namespace}
        metadata = {key: value for key, value in names.items() if value}
        return {"apiVersion": self.api_version, "kind": self.kind, "metadata": metadata}


class Problem(NamedTuple):
    """Why a resource is not there."""

    sort: str
    message: str
    shown: Object
    """The same as JSON and YAML output show it."""


class Condition(NamedTuple):
    """The condition of a resource; without it, all is empty."""

    status: str = ""
    reason: str = ""
    message: str = ""


class Origin(NamedTuple):
    """Why no controller reconciles a resource."""

    why: str
    command: str = ""
    """What to run next; empty where the resource itself says more."""
    provider: str = ""
    """The Provider that would reconcile it, where one is known."""


class Node:
    """A resource with those below it."""

    __slots__ = ("children", "kind", "object", "origin", "problem")

    def __init__(self, obj: Object, kind: Kind | None = None, problem: Problem | None = None) -> None:
        self.object = obj
        self.kind = kind
        """How the server serves it; None where it does not."""
        self.problem = problem
        self.origin: Origin | None = None
        """Why no controller reconciles it, where that is known."""
        self.children: list[Node] = []

    @property
    def metadata(self) -> Object:
        """Its metadata, empty where there are none."""
        metadata = self.object.get("metadata")
        return metadata if isinstance(metadata, dict) else {}

    @property
    def reference(self) -> Reference:
        """What it is called."""
        return Reference(
            str(self.object.get("apiVersion") or ""),
            str(self.object.get("kind") or ""),
            str(self.metadata.get("name") or ""),
            str(self.metadata.get("namespace") or ""),
        )

    @property
    def group(self) -> str:
        """The API group, empty for the core's."""
        return api_group(self.reference.api_version)

    @property
    def label(self) -> str:
        """The display name: `Kind/name (namespace)`."""
        return self.reference.label

    @property
    def deleting(self) -> bool:
        """Whether it is being deleted."""
        return self.metadata.get("deletionTimestamp") is not None

    @property
    def is_package(self) -> bool:
        """Whether it is a Provider, a Configuration or a Function."""
        return self.group == _PACKAGE_GROUP and self.reference.kind in PACKAGES

    @property
    def is_package_revision(self) -> bool:
        """Whether it is a revision of a package."""
        return self.group == _PACKAGE_GROUP and self.reference.kind in [
            f"{kind}Revision" for kind in PACKAGES
        ]

    @property
    def is_runtime_config(self) -> bool:
        return self.group == _PACKAGE_GROUP and self.reference.kind in _RUNTIME_CONFIGS

    def condition(self, name: str) -> Condition:
        """One of its conditions. As when Go decodes them, one that is not well formed spoils them all."""
        status = self.object.get("status")
        conditions = status.get("conditions") if isinstance(status, dict) else None
        if not isinstance(conditions, list) or not all(_well_formed(entry) for entry in conditions):
            return Condition()
        for entry in conditions:
            if entry.get("type") == name:
                return Condition(*(entry.get(key) or "" for key in Condition._fields))
        return Condition()

    def walk(self) -> Iterator[Node]:
        """Itself and everything below it."""
        yield self
        for child in self.children:
            yield from child.walk()


class Trace(NamedTuple):
    """One tree, or the trees of all resources of a kind."""

    roots: list[Node]
    is_list: bool
    empty_hint: str = ""
    """Where to look for more, if nothing was found."""


def _well_formed(entry: object) -> bool:
    if not isinstance(entry, dict):
        return False
    return all(isinstance(entry.get(key) or "", str) for key in ("type", *Condition._fields))


def unready_children(node: Node) -> list[Node]:
    """The composed resources without a Ready condition that an XR's message names."""
    ready = node.condition("Ready")
    message = ready.message.partition(f"; {MARK}")[0]
    named = _NAMED.match(message) if ready.status == "False" else None
    if named is None:
        return []
    parts = [part.strip() for part in named[1].split(",")]
    names = {part.removeprefix("and ") for part in parts if not _OTHERS.fullmatch(part)}
    return [
        child
        for child in node.children
        if not child.problem and not child.condition("Ready").status and _resource_name(child) in names
    ]


def why_unready(node: Node) -> str:
    """What is known about a resource that is not ready and has no Ready condition."""
    status = node.object.get("status")
    kind = node.reference.kind
    if not status and node.group in _WORKLOAD_GROUPS and kind in _WORKLOADS:
        return (
            f"it has no status: no controller for {kind}s has reported on it, "
            "and the control plane of crossply up has none"
        )
    if not status:
        return "it has no Ready condition and no status: nothing has reported on its readiness"
    for name in ("Available", "Progressing", "Complete", "Healthy"):
        condition = node.condition(name)
        if condition.status == "False":
            message = ": ".join(part for part in (condition.reason, condition.message) if part)
            return f"its {name} condition is False{': ' if message else ''}{message}"
    return "it has no Ready condition, and the pipeline does not report it as ready"


def _resource_name(node: Node) -> str:
    annotations = node.metadata.get("annotations")
    return str(annotations.get(RESOURCE_NAME) or "") if isinstance(annotations, dict) else ""
