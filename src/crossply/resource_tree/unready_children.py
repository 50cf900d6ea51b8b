"""The composed resources without a Ready condition that an XR waits for.

Only the message of the XR's Ready condition names them, as the Composition calls them.
"""

from __future__ import annotations

import re

from crossply.compose.ready_condition_cause import MARK
from crossply.resource_tree.node import RESOURCE_NAME, Node

_NAMED = re.compile(r"Unready resources: (.+)", re.DOTALL)
_OTHERS = re.compile(r"(?:and )?\d+ more")
_WORKLOADS = ("DaemonSet", "Deployment", "Job", "CronJob", "Pod", "ReplicaSet", "StatefulSet")
_WORKLOAD_GROUPS = ("", "apps", "batch")


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
