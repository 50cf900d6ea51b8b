"""Why a resource is not ready: the resources of its tree that cause it, and the command to run next.

A claim waits for its XR, and an XR for what it composed; the cause is where the waiting ends. A resource that
could not be synced is a cause of its own, whatever is below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crossply.compose.object_metadata import PAUSED_ANNOTATION, is_paused
from crossply.diagnosis.model import Cause
from crossply.resource_tree.node import NOT_FOUND, NOT_SERVED, Condition, Node, unready_children, why_unready

_PROVIDERS = "providers.pkg.crossplane.io"


class Finding(NamedTuple):
    """A cause, with its rank among several."""

    cause: Cause
    node: Node
    parent: Node
    """What refers to the node; the node itself at the root."""
    is_failure: bool
    """Something went wrong; else it only waits."""
    depth: int


def find_cause(root: Node) -> Cause | None:
    """The deepest cause in a tree: failures before what merely waits; None where all is well."""
    findings = deepest_first(root)
    return findings[0].cause if findings else None


def in_tree_order(root: Node) -> list[Finding]:
    """All causes in a tree, in its order."""
    return list(_find(root))


def deepest_first(root: Node) -> list[Finding]:
    """All causes in a tree, that which explains the others first."""
    return sorted(_find(root), key=lambda finding: (not finding.is_failure, -finding.depth))


def _find(root: Node) -> Iterator[Finding]:
    if not root.condition("Ready").status and (root.origin or _expects_a_controller(root)):
        yield make_finding(root, root, "nothing has reconciled it yet", bool(root.origin), 0)
        return
    findings = list(_below(root, root, 0))
    if not findings and root.origin:
        findings = [make_finding(root, root, "", True, 0)]
    yield from findings


def _below(node: Node, parent: Node, depth: int) -> Iterator[Finding]:
    unready = () if node.deleting else unready_children(node)
    deeper: list[Finding] = []
    for child in node.children:
        below = list(_below(child, node, depth + 1))
        if not below and (child in unready or child.origin):
            why = "" if child.origin else why_unready(child)
            below = [make_finding(child, node, why, bool(child.origin), depth + 1)]
        deeper += filter(_holds_up_deletion, below) if node.deleting else below
    failure = _failure(node)
    why = failure or ("" if deeper else _waiting(node))
    if why:
        yield make_finding(node, parent, why, bool(failure or node.origin), depth)
    yield from deeper


def _holds_up_deletion(finding: Finding) -> bool:
    """Whether what is above may wait for it to be deleted: it need not become ready, or exist."""
    node = finding.node
    is_gone = node.problem is not None and node.problem.sort == NOT_FOUND
    return node.deleting or (finding.is_failure and not is_gone)


def _failure(node: Node) -> str:
    """What is wrong with the resource itself."""
    if node.problem and node.problem.sort == NOT_SERVED:
        advice = "" if node.origin else "; install its CRD or the provider that brings it"
        return f"{node.problem.message}{advice}"
    if node.problem:
        return node.problem.message
    for condition in (node.condition("Synced"), node.condition("Installed")):
        if condition.status == "False":
            return _condition_text(condition)
    return ""


def _waiting(node: Node) -> str:
    """What a resource waits for besides its children."""
    if node.deleting:
        finalizers = ", ".join(map(str, node.metadata.get("finalizers") or ()))
        return (
            f"it is being deleted, and waits for its finalizers: {finalizers}"
            if finalizers
            else "it is being deleted"
        )
    for name in ("Healthy", "Ready"):
        condition = node.condition(name)
        if condition.status in ("False", "Unknown"):
            return _condition_text(condition) or f"its {name} condition is {condition.status}"
    return ""


def _condition_text(condition: Condition) -> str:
    return ": ".join(part for part in (condition.reason, condition.message) if part)


def _expects_a_controller(node: Node) -> bool:
    """Whether conditions are missed: on an XR or a claim, not on a ConfigMap."""
    spec = node.object.get("spec")
    if node.problem or node.object.get("status") or not isinstance(spec, dict) or "." not in node.group:
        return False
    return not node.group.endswith(("k8s.io", "crossplane.io"))


def make_finding(node: Node, parent: Node, why: str, is_failure: bool, depth: int) -> Finding:
    """A cause, with why no controller reconciles the resource."""
    origin = node.origin.why if node.origin else ""
    sentence = "; ".join(part for part in (why, origin) if part)
    evidence, since = _conditions(node)
    cause = Cause(sentence, evidence, next_command(node, parent), node.reference, since)
    return Finding(cause, node, parent, is_failure, depth)


def _conditions(node: Node) -> tuple[tuple[str, ...], str]:
    """The conditions that are not true, each in a line, and since when the first of them is not."""
    status = node.object.get("status")
    entries = status.get("conditions") if isinstance(status, dict) else None
    lines, since = [], ""
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict) and entry.get("status") in ("False", "Unknown"):
            text = ": ".join(str(entry[key]) for key in ("reason", "message") if entry.get(key))
            lines.append(f"condition {entry.get('type')} is {entry['status']}: {text}".removesuffix(": "))
            since = since or str(entry.get("lastTransitionTime") or "")
    if not since and node.deleting:
        since = str(node.metadata["deletionTimestamp"])
    return tuple(lines), since


def next_command(node: Node, parent: Node) -> str:
    """A command that shows more about a resource, or fixes it."""
    if node.origin and node.origin.command:
        return node.origin.command
    return _special_command(node) or kubectl("describe", _describable(node, parent))


def explain_command(finding: Finding) -> str:
    """The same, where `crossply explain` has not run yet: it says more than `kubectl describe`."""
    node, parent = finding.node, finding.parent
    origin = node.origin
    if origin and origin.command:
        return f"crossply explain {_PROVIDERS}/{origin.provider}" if origin.provider else origin.command
    special = _special_command(node)
    if special:
        return special
    shown = _describable(node, parent)
    word, reference = shown.kind.resource if shown.kind else _type_of(shown), shown.reference
    place = f" -n {reference.namespace}" if reference.namespace else ""
    return f"crossply explain {word}/{reference.name}{place}"


def _special_command(node: Node) -> str:
    """A command for what is wrong with a resource; empty where only looking at one helps."""
    if node.problem and node.problem.sort == NOT_SERVED:
        return f"kubectl api-resources --api-group={node.group}"
    if is_paused(node.object):
        return f"{kubectl('annotate', node)} {PAUSED_ANNOTATION}-"
    return ""


def _describable(node: Node, parent: Node) -> Node:
    """What to look at: what does not exist has no events; those of its creator say why."""
    return parent if node.problem and node.problem.sort == NOT_FOUND else node


def _type_of(node: Node) -> str:
    return f"{node.reference.kind}.{node.group}" if node.group else node.reference.kind


def kubectl(verb: str, node: Node) -> str:
    """A kubectl command for a resource."""
    return f"kubectl {verb} {kubectl_name(node)}"


def kubectl_name(node: Node) -> str:
    """The words by which kubectl finds a resource."""
    reference = node.reference
    word = node.kind.resource if node.kind else reference.kind
    place = f" -n {reference.namespace}" if reference.namespace else ""
    return f"{word} {reference.name}{place}"
