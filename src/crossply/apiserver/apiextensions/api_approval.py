"""The api-approved.kubernetes.io annotation that definitions in Kubernetes' own groups must have."""

from __future__ import annotations

import urllib.parse

from crossply.schema.field_errors import INVALID, REQUIRED, FieldError
from crossply.values import Object

ANNOTATION = "api-approved.kubernetes.io"
_PLACE = f"metadata.annotations[{ANNOTATION}]"
_SEE = "see https://github.com/kubernetes/enhancements/pull/1111"


def is_protected(group: str) -> bool:
    """Whether a group belongs to the Kubernetes community."""
    return group in ("k8s.io", "kubernetes.io") or group.endswith((".k8s.io", ".kubernetes.io"))


def approval_state(definition: Object) -> str:
    """Missing, Bypassed, Approved or Invalid."""
    annotation = _annotation(definition)
    if not annotation:
        return "Missing"
    if annotation.startswith("unapproved"):
        return "Bypassed"
    try:
        parts = urllib.parse.urlsplit(annotation)
    except ValueError:
        return "Invalid"
    return "Approved" if parts.scheme and parts.netloc else "Invalid"


def _annotation(definition: Object) -> str:
    annotations = (definition.get("metadata") or {}).get("annotations") or {}
    return str(annotations.get(ANNOTATION) or "")


def approval_sentence(definition: Object) -> str:
    """The message of the condition."""
    annotation = _annotation(definition)
    requirement = f'protected groups must have approval annotation "{ANNOTATION}"'
    return {
        "Missing": f"{requirement}, {_SEE}",
        "Bypassed": f'not approved: "{annotation}"',
        "Approved": f"approved in {annotation}",
        "Invalid": f'{requirement} with either a URL or a reason starting with "unapproved", {_SEE}',
    }[approval_state(definition)]


def check_approval(new: Object, old: Object | None) -> list[FieldError]:
    """Validate the annotation; a state that was accepted before stays valid."""
    state = approval_state(new)
    if not is_protected(new["spec"].get("group") or "") or (old is not None and approval_state(old) == state):
        return []
    if state == "Missing":
        return [FieldError(REQUIRED, _PLACE, "", approval_sentence(new))]
    if state == "Invalid":
        return [FieldError(INVALID, _PLACE, _annotation(new), approval_sentence(new))]
    return []
