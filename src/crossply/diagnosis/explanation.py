"""All that `explain` says about one resource, and what triggers the next reconcile of an XR, and when."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from crossply.compose.engine_field_paths import Machinery
from crossply.compose.object_metadata import PAUSED_ANNOTATION, annotations_of, is_paused
from crossply.diagnosis.cause_details import refine
from crossply.diagnosis.composition_selection_reason import Selection, explain_selection
from crossply.diagnosis.deletion import Blocker, deletion_blockers
from crossply.diagnosis.evidence import Evidence
from crossply.diagnosis.evidence_loader import EvidenceLoader, PackageLog, leave_out_forbidden
from crossply.diagnosis.model import Cause
from crossply.diagnosis.root_cause_search import Finding, deepest_first, make_finding
from crossply.kinds.composition import WATCHED_REFS
from crossply.kube.client import Client
from crossply.resource_tree.node import Node, Reference, unready_children, why_unready
from crossply.resource_tree.object_reader import Reader
from crossply.values import Object
from crossply.values.backoff import RetryPauses
from crossply.values.durations import parse_duration

_MOST_CAUSES = 5
_POLL = "crossplane.io/poll-interval"
_MOST_NAMES = 5


class Explanation(NamedTuple):
    """Why a resource is as it is."""

    ref: Reference
    state: str
    cause: Cause | None = None
    others: tuple[Cause, ...] = ()
    """Further causes, which may go away with the first."""
    selection: Selection | None = None
    wakeups: tuple[str, ...] = ()
    blockers: tuple[Blocker, ...] = ()
    """What blocks its deletion, or would."""
    unread: tuple[str, ...] = ()
    """What the caller may not read: resources of the tree, and kinds."""


async def explain_resource(client: Client, reader: Reader, root: Node, log: PackageLog) -> Explanation:
    """Explain a resource whose tree is loaded, with the origins of its kinds."""
    loader = EvidenceLoader(client, reader, log)
    left_out = leave_out_forbidden(root)
    findings = deepest_first(root) or await _unready_in_its_owner(reader, root)
    findings = findings[:_MOST_CAUSES]
    xr = _composite(root)
    definition = await loader.definition_of(xr)
    evidence = await loader.load(xr, definition, findings)
    causes = []
    for finding in findings:
        about = await _about(loader, finding, xr, evidence, findings)
        causes.append(refine(finding.cause, finding.node, finding.parent, about))
    # An XR and what it could not compose have the same cause.
    causes = list({cause.sentence: cause for cause in reversed(causes)}.values())[::-1]
    explanation = Explanation(
        root.reference,
        describe_state(root, bool(causes)),
        causes[0] if causes else None,
        tuple(causes[1:]),
        blockers=tuple(deletion_blockers(root, evidence.usages)),
        unread=(*left_out, *loader.unread),
    )
    if definition is None:
        return explanation
    is_failed = xr.condition("Synced").status == "False"
    return explanation._replace(
        selection=explain_selection(
            xr.object, evidence.machinery, definition, evidence.compositions, evidence.revisions
        )
        if evidence.knows_compositions
        else None,
        wakeups=() if root.deleting else next_reconcile(xr.object, evidence.machinery, is_failed),
    )


async def _about(
    loader: EvidenceLoader, finding: Finding, xr: Node, evidence: Evidence, findings: list[Finding]
) -> Evidence:
    """The evidence about the XR that a cause belongs to: a nested one has its own Composition."""
    for owner in (finding.node, finding.parent):
        if owner is xr:
            return evidence
        definition = await loader.definition_of(owner)
        if definition is not None:
            return await loader.load(owner, definition, findings)
    return evidence


async def _unready_in_its_owner(reader: Reader, root: Node) -> list[Finding]:
    """A composed resource without a Ready condition is not ready where its XR says so."""
    for reference in root.metadata.get("ownerReferences") or ():
        if reference.get("controller"):
            place = root.reference.namespace
            owner = Reference(reference["apiVersion"], reference["kind"], reference["name"], place)
            parent = await reader.get(owner)
            parent.children = [root]
            if root in unready_children(parent):
                return [make_finding(root, parent, why_unready(root), False, 1)]
    return []


def _composite(root: Node) -> Node:
    """The XR of a claim; any other resource is its own."""
    spec = root.object.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("resourceRef"), dict) and root.children:
        return next((child for child in root.children if child.reference.kind != "Secret"), root)
    return root


def describe_state(node: Node, has_cause: bool) -> str:
    """The state of a resource in a few words."""
    if node.deleting:
        return f"is being deleted since {node.metadata['deletionTimestamp']}"
    if is_paused(node.object):
        return "is paused"
    package = node.is_package or node.is_package_revision
    names = ("Installed", "Healthy") if package else ("Synced", "Ready")
    statuses = {name: status for name in names if (status := node.condition(name).status)}
    statuses = statuses or {name: node.condition(name).status for name in _condition_types(node)}
    wrong = [f"{name} is {status}" for name, status in statuses.items() if status != "True"]
    if wrong and statuses.get("Ready") == "True":
        return f"is ready, but {', '.join(wrong)}"
    if wrong:
        return f"is not {'healthy' if package else 'ready'}: {', '.join(wrong)}"
    if has_cause and statuses:
        return f"was {' and '.join(statuses).lower()} when that was last reported"
    if has_cause:
        return "is not ready"
    if not statuses:
        return "exists and reports no conditions: nothing is wrong"
    return f"is {' and '.join(statuses).lower()}: nothing is wrong"


def _condition_types(node: Node) -> list[str]:
    status = node.object.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    entries = conditions if isinstance(conditions, list) else ()
    return [str(entry.get("type")) for entry in entries if isinstance(entry, dict)]


def next_reconcile(xr: Object, machinery: Machinery, is_failed: bool) -> tuple[str, ...]:
    """The events that wake it, the soonest first."""
    annotations = annotations_of(xr)
    if is_paused(xr):
        return (f"nothing: it is paused until the annotation {PAUSED_ANNOTATION} is removed",)
    lines = []
    circuit = _condition(xr, "Responsive")
    if circuit.get("status") == "False":
        reason = str(circuit.get("message") or circuit.get("reason") or "")
        lines.append(f"the circuit breaker is open, so events are held back: {reason}")
    if is_failed:
        pauses = RetryPauses()
        lines.append(
            f"a retry: after a failure within {pauses.first:g} s, then later each time, "
            f"at most {pauses.longest:g} s apart"
        )
    lines.append("an edit of it, or of its Composition")
    lines += _watched_lines(xr, machinery)
    poll = annotations.get(_POLL, "")
    if _is_duration(poll):
        lines.append(f"a poll every {poll} (annotation {_POLL})")
    elif not is_failed:
        lines.append("a response of a function that expires (its TTL), else nothing: it does not poll")
    return tuple(lines)


def _watched_lines(xr: Object, machinery: Machinery) -> list[str]:
    lines = []
    composed = machinery.read(xr, machinery.references)
    if isinstance(composed, list) and composed:
        lines.append(f"a change of what it composed: {_listed(_names_of(composed))}")
    status = xr.get("status")
    watched = status.get(WATCHED_REFS) if isinstance(status, dict) else None
    if isinstance(watched, list) and watched:
        lines.append(f"a change of resources that its functions require: {_listed(_names_of(watched))}")
    return lines


def _names_of(references: Sequence[object]) -> list[str]:
    return [
        f"{reference.get('kind')}/{reference.get('name')}"
        for reference in references
        if isinstance(reference, dict)
    ]


def _listed(names: Sequence[str]) -> str:
    more = f", and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more


def _is_duration(text: str) -> bool:
    try:
        return parse_duration(text) > 0
    except ValueError:
        return False


def _condition(obj: Object, name: str) -> Object:
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for entry in conditions if isinstance(conditions, list) else ():
        if isinstance(entry, dict) and entry.get("type") == name:
            return entry
    return {}
