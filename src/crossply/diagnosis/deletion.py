"""What blocks the deletion of a resource: finalizers, Usages, and what it composed that is stuck."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from crossply.diagnosis.root_cause_search import kubectl
from crossply.provenance.field_managers import managers_of
from crossply.resource_tree.node import NOT_FOUND, Node, Reference
from crossply.values import Object
from crossply.values.api_version import api_group

_REMOVED_BY = {
    "finalizer.apiextensions.crossplane.io": "the control plane removes it when the XR is deleted",
    "composite.apiextensions.crossplane.io": "the control plane removes it at its next reconcile of the XR",
    "finalizer.managedresource.crossplane.io": "the Provider removes it when the external resource is gone",
    "usage.apiextensions.crossplane.io": "the control plane removes it when the using resource is gone",
    "in-use.crossplane.io": "the Provider removes it when no resource uses the ProviderConfig",
    "foregroundDeletion": "the garbage collector removes it when its dependents are gone",
    "orphan": "the garbage collector removes it when its dependents are orphaned",
}


class Blocker(NamedTuple):
    """Something that has to happen before a resource is deleted."""

    ref: Reference
    sentence: str
    since: str
    """When the deletion was requested, RFC 3339; empty where it was not."""
    command: str


def deletion_blockers(root: Node, usages: Sequence[Object]) -> list[Blocker]:
    """What blocks a deletion that is under way, the deepest first; else only what would refuse one."""
    blockers = (
        [blocker for node in _deepest_first(root) for blocker in _finalizers(node)] if root.deleting else []
    )
    for node in root.walk():
        if not node.problem and (node is root or node.deleting or root.deleting):
            blockers += (_usage(node, usage) for usage in usages if _protects(usage, node))
    return blockers


def _deepest_first(node: Node) -> Iterator[Node]:
    for child in node.children:
        yield from _deepest_first(child)
    yield node


def _finalizers(node: Node) -> Iterator[Blocker]:
    if node.problem or not node.deleting:
        return
    since = str(node.metadata.get("deletionTimestamp") or "")
    for index, finalizer in enumerate(node.metadata.get("finalizers") or ()):
        remover = _REMOVED_BY.get(str(finalizer)) or _foreign_remover(node.object, index)
        sentence = f"finalizer {finalizer}: {remover}"
        if node.origin and not str(finalizer).startswith(("foreground", "orphan")):
            provider = node.origin.provider
            sentence += f"; Provider {provider} is not running" if provider else f"; {node.origin.why}"
        waits = [child.label for child in node.children if _is_left(child)]
        if finalizer == "foregroundDeletion" and waits:
            sentence += f"; still there: {', '.join(waits[:3])}"
        command = (node.origin.command if node.origin else "") or kubectl("describe", node)
        yield Blocker(node.reference, sentence, since, command)


def _foreign_remover(obj: Object, index: int) -> str:
    """Who has to remove a finalizer that is not ours: the field manager that added it."""
    managers = managers_of(obj).of(("metadata", "finalizers", index))
    if not managers:
        return "the controller that added it has to remove it"
    return f"added by {managers[0].manager}, which has to remove it"


def _is_left(child: Node) -> bool:
    return child.problem is None or child.problem.sort != NOT_FOUND


def _usage(node: Node, usage: Object) -> Blocker:
    metadata, spec = usage["metadata"], usage.get("spec") or {}
    by, reason = spec.get("by") or {}, spec.get("reason")
    name = (by.get("resourceRef") or {}).get("name") or "what its selector selects"
    user = f"{by.get('kind')}/{name} uses it" if by else "nobody may delete it"
    label = f"{usage['kind']}/{metadata['name']}"
    sentence = f"{label} protects it: {user}" + (f" ({reason})" if reason else "")
    place = f" -n {metadata['namespace']}" if metadata.get("namespace") else ""
    kind = f"{usage['kind'].lower()}s.{api_group(usage['apiVersion'])}"
    return Blocker(
        node.reference,
        sentence,
        str(metadata.get("creationTimestamp") or ""),
        f"kubectl describe {kind} {metadata['name']}{place}",
    )


def _protects(usage: Object, node: Node) -> bool:
    """Whether a Usage is about a resource; one that only selects is resolved into a name first."""
    of = (usage.get("spec") or {}).get("of") or {}
    name = (of.get("resourceRef") or {}).get("name")
    namespace = usage["metadata"].get("namespace") or (of.get("resourceRef") or {}).get("namespace") or ""
    reference = node.reference
    if (api_group(str(of.get("apiVersion") or "")), of.get("kind")) != (node.group, reference.kind):
        return False
    return name == reference.name and namespace in ("", reference.namespace)
