"""Computes the status of a definition from its spec and the names in use."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.apiextensions.accepted_names import UsedNames, accept_names, established
from crossply.apiserver.apiextensions.api_approval import approval_sentence, approval_state, is_protected
from crossply.apiserver.apiextensions.condition_list import (
    Condition,
    find,
    is_true,
    says,
    with_condition,
    without_condition,
)
from crossply.apiserver.apiextensions.conversion_validation import is_ca_bundle
from crossply.apiserver.apiextensions.structural_validation import check_structural, unsupported_problem
from crossply.values import Object

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
PENDING = Condition(
    "Terminating",
    "True",
    "InstanceDeletionPending",
    "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
)
IN_PROGRESS = Condition(
    "Terminating", "True", "InstanceDeletionInProgress", "CustomResource deletion is in progress"
)
COMPLETED = Condition("Terminating", "False", "InstanceDeletionCompleted", "removed all instances")
NEVER_ESTABLISHED = Condition("Terminating", "False", "NeverEstablished", "resource was never established")
_APPROVAL_REASONS = {
    "Missing": ("False", "MissingAnnotation"),
    "Bypassed": ("False", "UnapprovedAnnotation"),
    "Approved": ("True", "ApprovedAnnotation"),
    "Invalid": ("False", "InvalidAnnotation"),
}


def settled(definition: Object, used: UsedNames, now: str) -> Object:
    """The definition with its computed status; the same object if nothing changes."""
    names, accepted = accept_names(definition, used)
    conditions = [
        accepted,
        established(definition, accepted.status == "True", _has_right_bundle(definition)),
        *filter(None, [_approval(definition), _structure(definition)]),
    ]
    changed = definition
    if ((definition.get("status") or {}).get("acceptedNames") or {}) != names:
        changed = {**definition, "status": {**(definition.get("status") or {}), "acceptedNames": names}}
    for condition in conditions:
        if not says(changed, condition):
            changed = with_condition(changed, condition, now)
    if find(changed, "NonStructuralSchema") and conditions[-1].type != "NonStructuralSchema":
        changed = without_condition(changed, "NonStructuralSchema")
    return changed


def is_served(definition: Object) -> bool:
    return is_true(definition, "Established") or is_true(definition, "NamesAccepted")


def is_terminating(definition: Object) -> bool:
    return bool(definition["metadata"].get("deletionTimestamp")) or is_true(definition, "Terminating")


def awaits_cleanup(definition: Object) -> bool:
    """Whether instances must be removed before the definition can be."""
    metadata = definition["metadata"]
    return bool(metadata.get("deletionTimestamp")) and FINALIZER in (metadata.get("finalizers") or ())


def marked_for_deletion(definition: Object, now: str) -> Object:
    """The definition marked for deletion, with the finalizer that waits for its instances."""
    metadata = {"deletionTimestamp": now, **definition["metadata"]}
    finalizers = list(metadata.get("finalizers") or ())
    if FINALIZER not in finalizers:
        finalizers.append(FINALIZER)
    marked = {**definition, "metadata": {**metadata, "finalizers": finalizers}}
    return with_condition(marked, PENDING, now)


def without_finalizer(definition: Object) -> Object:
    """The definition after its instances are removed."""
    metadata = dict(definition["metadata"])
    remaining = [finalizer for finalizer in metadata.pop("finalizers", None) or () if finalizer != FINALIZER]
    if remaining:
        metadata["finalizers"] = remaining
    return {**definition, "metadata": metadata}


def _has_right_bundle(definition: Object) -> bool:
    webhook = (definition["spec"].get("conversion") or {}).get("webhook") or {}
    bundle = (webhook.get("clientConfig") or {}).get("caBundle")
    return not bundle or is_ca_bundle(bundle)


def _approval(definition: Object) -> Condition | None:
    if not is_protected(definition["spec"].get("group") or ""):
        return None
    status, reason = _APPROVAL_REASONS[approval_state(definition)]
    return Condition("KubernetesAPIApprovalPolicyConformant", status, reason, approval_sentence(definition))


def note_structural(definition: Object) -> None:
    """Remember that the schemas of a definition were validated: what depends on it need not do it again."""
    _remember(_generation_of(definition), None)


def _structure(definition: Object) -> Condition | None:
    """The NonStructuralSchema condition, computed once per generation of a definition.

    Writes are validated before, so an established definition without the condition has structural schemas.
    """
    if is_true(definition, "Established") and find(definition, "NonStructuralSchema") is None:
        return None
    generation = _generation_of(definition)
    if generation in _looked_at:
        return _looked_at[generation]
    return _remember(generation, _check_structure(definition))


def _generation_of(definition: Object) -> tuple[str, Any]:
    metadata = definition["metadata"]
    return str(metadata.get("uid") or ""), metadata.get("generation")


def _remember(generation: tuple[str, Any], condition: Condition | None) -> Condition | None:
    if generation[0]:
        if len(_looked_at) >= _MOST_LOOKED_AT:
            _looked_at.clear()
        _looked_at[generation] = condition
    return condition


_MOST_LOOKED_AT = 1000
_looked_at: dict[tuple[str, Any], Condition | None] = {}
"""Results by uid and generation; another spec has another generation."""


def _check_structure(definition: Object) -> Condition | None:
    """New definitions with non-structural schemas are refused, but restored ones may have some."""
    errors = []
    for index, version in enumerate(definition["spec"].get("versions") or ()):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is None:
            continue
        problem = unsupported_problem(schema)
        if problem:
            message = f"failed to check validation schema for version {version.get('name')}: {problem}"
            return Condition("NonStructuralSchema", "Unknown", "StructuralError", message)
        errors += check_structural(schema, f"spec.versions[{index}].schema.openAPIV3Schema")
    if not errors:
        return None
    sentences = list(map(str, errors))
    message = sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"
    return Condition("NonStructuralSchema", "True", "Violations", message)
