"""What a claim and its composite resource copy from each other, as pure rules.

A requirement is a claim of the first design: it keeps the engine's fields in `spec.infrastructure`, as does
the infrastructure that it binds to.

The claim comes first: its labels, annotations and spec become a server-side apply of the composite resource,
so what a user removes from the claim is removed there too. The claim gets what only the composite resource
has: its name, the Composition and revision it got, its external name, its status.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from crossply.compose.engine_field_paths import INFRASTRUCTURE, LEGACY, Machinery
from crossply.compose.object_metadata import (
    CLAIM_NAME_LABEL,
    CLAIM_NAMESPACE_LABEL,
    annotations_of,
    controller_of,
    finalizers_of,
    labels_of,
    name_of,
    namespace_of,
)
from crossply.kinds.composition import WATCHED_REFS
from crossply.values import Object
from crossply.values.merge_patch import merge_patch_to

EXTERNAL_NAME = "crossplane.io/external-name"
FINALIZER = "finalizer.apiextensions.crossplane.io"

_NOT_COPIED = frozenset(
    {
        "compositionRevisionRef",
        "compositeDeletePolicy",
        "resourceRef",
        "resourceRefs",
        "claimRef",
        "writeConnectionSecretToRef",
    }
)


class Binding(NamedTuple):
    """Where a claim and its composite resource, each in its spec, keep what binds them."""

    machinery: Machinery
    claim_ref: str
    """The field by which the composite resource refers to its claim."""
    not_copied: frozenset[str]
    """The engine's fields of a claim that are not handed down."""


CLAIM = Binding(LEGACY, "claimRef", _NOT_COPIED)
REQUIREMENT = Binding(
    INFRASTRUCTURE,
    "requirementRef",
    frozenset({"compositionRevisionRef", "resourceRef", "writeConnectionSecretToRef"}),
)

_ENGINE_STATUS = frozenset({"conditions", "connectionDetails", "claimConditionTypes", WATCHED_REFS})


def spec_of(obj: Object | None) -> Object:
    """The spec; empty where there is none."""
    spec = obj.get("spec") if obj is not None else None
    return spec if isinstance(spec, dict) else {}


def engine_fields(obj: Object | None, binding: Binding) -> Object:
    """The engine's fields in the spec, among others where they lie in the spec itself."""
    fields: object = obj
    for key in binding.machinery.path:
        fields = fields.get(key) if isinstance(fields, dict) else None
    return fields if isinstance(fields, dict) else {}


def referenced_name(claim: Object, binding: Binding = CLAIM) -> str:
    """The name of the composite resource that a claim refers to; empty when it refers to none."""
    return binding.machinery.name_in(claim, "resourceRef")


def reference_to_claim(claim: Object) -> Object:
    """How a composite resource refers to its claim."""
    return {
        "apiVersion": claim["apiVersion"],
        "kind": claim["kind"],
        "namespace": namespace_of(claim),
        "name": name_of(claim),
    }


def claim_reference(xr: Object | None, binding: Binding = CLAIM) -> Object | None:
    """The reference to its claim that a composite resource has."""
    ref = engine_fields(xr, binding).get(binding.claim_ref)
    return ref if isinstance(ref, dict) else None


def owner_elsewhere(claim: Object, xr: Object | None, binding: Binding = CLAIM) -> str:
    """Whose the composite resource is instead, in words; empty when it is this claim's or free.

    A composite resource that has a controller is part of something else: no claim may bind, change or delete
    it, also when its reference names the claim.
    """
    controller = controller_of(xr) if xr is not None else None
    if controller is not None:
        return f'controlled by {controller.get("kind") or "<none>"} "{controller.get("name") or "<none>"}"'
    ref = claim_reference(xr, binding)
    if ref is None or all(ref.get(key) == value for key, value in reference_to_claim(claim).items()):
        return ""
    return f'bound to claim "{ref.get("name") or "<none>"}" in namespace "{ref.get("namespace") or "<none>"}"'


def guarded(desired: Object, xr: Object) -> Object:
    """The desired composite resource with the version that was read, when it was still unbound."""
    preconditions = {key: xr["metadata"][key] for key in ("uid", "resourceVersion")}
    return {**desired, "metadata": {**desired["metadata"], **preconditions}}


def desired_composite(
    claim: Object,
    xr: Object | None,
    type_: tuple[str, str],
    name: str,
    *,
    enforced: bool,
    binding: Binding = CLAIM,
) -> Object:
    """Everything the claim wants of its composite resource: the body of a server-side apply."""
    annotations = _without_reserved(annotations_of(claim))
    external_name = annotations_of(xr or {}).get(EXTERNAL_NAME)
    if external_name:
        annotations[EXTERNAL_NAME] = external_name
    labels = _without_reserved(labels_of(claim))
    labels[CLAIM_NAME_LABEL] = name_of(claim)
    labels[CLAIM_NAMESPACE_LABEL] = namespace_of(claim)
    metadata: Object = {"name": name, "labels": labels}
    if annotations:
        metadata["annotations"] = annotations
    copied = _copied_fields(claim, xr, binding, enforced)
    fields = {**copied, binding.claim_ref: reference_to_claim(claim)}
    return {
        "apiVersion": type_[0],
        "kind": type_[1],
        "metadata": metadata,
        "spec": _spec_with(claim, binding, fields),
    }


def _spec_with(obj: Object, binding: Binding, fields: Object) -> Object:
    """An object's spec with other fields for the engine."""
    if binding.machinery.path == ("spec",):
        return fields
    return {**spec_of(obj), binding.machinery.path[-1]: fields}


def _copied_fields(claim: Object, xr: Object | None, binding: Binding, enforced: bool) -> Object:
    excluded = set(binding.not_copied)
    if engine_fields(xr, binding).get("compositionUpdatePolicy") == "Manual":
        excluded.discard("compositionRevisionRef")
    if enforced:
        excluded.add("compositionRef")
    return {key: value for key, value in engine_fields(claim, binding).items() if key not in excluded}


def _without_reserved(entries: Mapping[str, str]) -> dict[str, str]:
    """Labels or annotations without those that belong to Kubernetes."""
    return {
        key: value
        for key, value in entries.items()
        if not key.partition("/")[0].endswith(("kubernetes.io", "k8s.io"))
    }


def desired_claim(
    claim: Object,
    xr: Object | None,
    type_: tuple[str, str],
    name: str,
    *,
    enforced: bool,
    binding: Binding = CLAIM,
) -> Object:
    """The claim with its finalizer, bound, and with what its composite resource was given since."""
    fields = dict(engine_fields(claim, binding))
    fields["resourceRef"] = {"apiVersion": type_[0], "kind": type_[1], "name": name}
    fields.update(_returned_fields(fields, engine_fields(xr, binding), enforced))
    metadata = dict(claim["metadata"])
    finalizers = finalizers_of(claim)
    if FINALIZER not in finalizers:
        metadata["finalizers"] = [*finalizers, FINALIZER]
    external_name = annotations_of(xr or {}).get(EXTERNAL_NAME)
    if external_name:
        metadata["annotations"] = {**annotations_of(claim), EXTERNAL_NAME: external_name}
    return {**claim, "metadata": metadata, "spec": _spec_with(claim, binding, fields)}


def _returned_fields(fields: Object, xr_fields: Object, enforced: bool) -> Object:
    """Fields of the composite resource that the claim takes over."""
    returned = []
    if enforced or not fields.get("compositionRef"):
        returned.append("compositionRef")
    if not fields.get("compositionRevisionSelector"):
        returned.append("compositionRevisionSelector")
    if xr_fields.get("compositionUpdatePolicy") == "Automatic":
        returned.append("compositionRevisionRef")
    return {key: xr_fields[key] for key in returned if xr_fields.get(key)}


def release_patch(binding: Binding) -> Object:
    """The merge patch that unbinds a composite resource."""
    labels = {CLAIM_NAME_LABEL: None, CLAIM_NAMESPACE_LABEL: None}
    return {"metadata": {"labels": labels}, "spec": binding.machinery.holding(binding.claim_ref, None)}


def is_retained(xr: Object, binding: Binding) -> bool:
    """Whether a composite resource outlives its claim."""
    return binding is REQUIREMENT and engine_fields(xr, binding).get("reclaimPolicy") == "Retain"


def claim_status(claim: Object, xr: Object) -> Object:
    """The claim's status with all that the composite resource's says; conditions stay the claim's own.

    It is a replacement: what the composite resource no longer says, the claim no longer says either.
    """
    live, reported = _status_of(claim), _status_of(xr)
    if not reported:
        return live
    status = {key: value for key, value in reported.items() if key not in _ENGINE_STATUS}
    for key in ("conditions", "connectionDetails"):
        if key in live:
            status[key] = live[key]
    return status


def _status_of(obj: Object) -> Object:
    status = obj.get("status")
    return status if isinstance(status, dict) else {}


def conditions_for_claim(xr: Object, generation: int, now: str) -> list[Object]:
    """The conditions that functions addressed to the claim, as the claim has them."""
    status = _status_of(xr)
    by_type = {
        condition.get("type"): condition
        for condition in status.get("conditions") or ()
        if isinstance(condition, dict)
    }
    return [_copied(str(type_), by_type.get(type_), generation, now) for type_ in _claim_types(status)]


def _claim_types(status: Object) -> Iterable[object]:
    types = status.get("claimConditionTypes")
    return types if isinstance(types, list) else ()


def _copied(type_: str, condition: Object | None, generation: int, now: str) -> Object:
    if condition is None:
        condition = {"status": "Unknown", "reason": "", "lastTransitionTime": now}
    copied = {"type": type_, "observedGeneration": generation}
    for key in ("status", "reason", "message", "lastTransitionTime"):
        if condition.get(key) is not None:
            copied[key] = condition[key]
    return copied


def is_ready(xr: Object) -> bool:
    """Whether the composite resource says that it is ready."""
    conditions = _status_of(xr).get("conditions") or ()
    return any(
        condition.get("type") == "Ready" and condition.get("status") == "True" for condition in conditions
    )


def difference(desired: Object, live: Object) -> Object:
    """The merge patch from the live to the desired metadata and spec; empty when they are equal."""
    parts = ("metadata", "spec")
    return merge_patch_to(
        {key: desired.get(key) or {} for key in parts}, {key: live.get(key) or {} for key in parts}
    )
