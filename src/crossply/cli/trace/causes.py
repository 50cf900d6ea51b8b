"""Why a resource is not ready: the descendants that cause it, and the command to run next.

A claim waits for its XR, and an XR for what it composed; what is shown is where the waiting ends. A resource
that could not be synced is a cause of its own, whatever is below it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crossply.cli.framework.printing import harmless
from crossply.resource_tree.node import NOT_FOUND, NOT_SERVED, Node, Trace
from crossply.resource_tree.unready_children import unready_children, why_unready

MOST_SHOWN = 5
_PAUSED = "crossplane.io/paused"


class Cause(NamedTuple):
    """A resource that others wait for, why, and what to do about it."""

    node: Node
    why: str
    command: str


def explain(trace: Trace) -> str:
    """Say what is wrong and what to do; nothing where all is well."""
    causes_by_node: dict[tuple[str, ...], Cause] = {}
    for root in trace.roots:
        for cause in causes(root):
            causes_by_node.setdefault((*cause.node.reference, cause.why), cause)
    if not causes_by_node:
        return ""
    lines = ["Not ready because of:"]
    for cause in list(causes_by_node.values())[:MOST_SHOWN]:
        why = " ".join(harmless(cause.why).split())
        lines += [f"  {harmless(cause.node.label)}: {why}", f"    next: {harmless(cause.command)}"]
    if len(causes_by_node) > MOST_SHOWN:
        lines.append(f"  and {len(causes_by_node) - MOST_SHOWN} more")
    return "".join(f"{line}\n" for line in lines)


def causes(root: Node) -> list[Cause]:
    """The causes in one tree, in its order."""
    if not root.condition("Ready").status and (root.origin or _expects_a_controller(root)):
        return [_cause(root, root, "nothing has reconciled it yet")]
    return list(_below(root, root))


def _below(node: Node, parent: Node) -> Iterator[Cause]:
    unready = unready_children(node)
    deeper = []
    for child in node.children:
        below = list(_below(child, node))
        if not below and (child in unready or child.origin):
            below = [_cause(child, node, "" if child.origin else why_unready(child))]
        deeper += below
    why = _failure(node) or ("" if deeper else _waiting(node))
    if why:
        yield _cause(node, parent, why)
    yield from deeper


def _failure(node: Node) -> str:
    """What is wrong with the resource itself."""
    if node.problem and node.problem.sort == NOT_SERVED:
        advice = "" if node.origin else "; install its CRD or the provider that brings it"
        return f"{node.problem.message}{advice}"
    if node.problem:
        return node.problem.message
    for condition in (node.condition("Synced"), node.condition("Installed")):
        if condition.status == "False":
            return _condition_text(condition.reason, condition.message)
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
            return (
                _condition_text(condition.reason, condition.message)
                or f"its {name} condition is {condition.status}"
            )
    return ""


def _condition_text(reason: str, message: str) -> str:
    return ": ".join(part for part in (reason, message) if part)


def _expects_a_controller(node: Node) -> bool:
    """Whether conditions are missed: on an XR or a claim, not on a ConfigMap."""
    spec = node.object.get("spec")
    if node.problem or node.object.get("status") or not isinstance(spec, dict) or "." not in node.group:
        return False
    return not node.group.endswith(("k8s.io", "crossplane.io"))


def _cause(node: Node, parent: Node, why: str) -> Cause:
    """A cause, with why nobody reconciles the resource."""
    origin = node.origin.why if node.origin else ""
    return Cause(node, "; ".join(part for part in (why, origin) if part), _next_command(node, parent))


def _next_command(node: Node, parent: Node) -> str:
    if node.origin and node.origin.command:
        return node.origin.command
    if node.problem and node.problem.sort == NOT_SERVED:
        return f"kubectl api-resources --api-group={node.group}"
    if node.problem and node.problem.sort == NOT_FOUND:
        # It has no events itself; those of what should have made it tell why it is not there.
        return _kubectl("describe", parent)
    annotations = node.metadata.get("annotations")
    if isinstance(annotations, dict) and annotations.get(_PAUSED) == "true":
        return f"{_kubectl('annotate', node)} {_PAUSED}-"
    return _kubectl("describe", node)


def _kubectl(verb: str, node: Node) -> str:
    reference = node.reference
    word = node.kind.resource if node.kind else reference.kind
    place = f" -n {reference.namespace}" if reference.namespace else ""
    return f"kubectl {verb} {word} {reference.name}{place}"
