"""The Secret that holds a modern XR's connection details.

Crossplane 2 writes no connection secret for a modern XR (one with `spec.crossplane`), so the function
composes one from the details that it collected.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Mapping
from typing import Any, NamedTuple

from crossply.compose.messages import READY_TRUE, Resource
from crossply.functions.builtin.patch_and_transform.dialect import Dialect
from crossply.functions.builtin.patch_and_transform.failure import REASONS, Failure, failing, wrap
from crossply.functions.builtin.patch_and_transform.identity import metadata_text, set_metadata_text
from crossply.functions.builtin.patch_and_transform.patch_types import patch_type
from crossply.functions.builtin.patch_and_transform.patches import Apply, make_apply
from crossply.values import Object


class SecretPatch(NamedTuple):
    """A patch of the reference that names the secret."""

    type: str
    is_optional: bool
    apply: Apply


class SecretPlan(NamedTuple):
    """Where the input wants the secret to be."""

    name: str
    namespace: str
    patches: tuple[SecretPatch, ...]


class _Reference(NamedTuple):
    name: str
    namespace: str


def make_secret_plan(wanted: Object, dialect: Dialect) -> SecretPlan:
    """Make the plan from the input's `writeConnectionSecretToRef`."""
    patches = tuple(_patch(index, patch, dialect) for index, patch in enumerate(wanted.get("patches", [])))
    return SecretPlan(wanted.get("name", ""), wanted.get("namespace", ""), patches)


def _patch(index: int, patch: Object, dialect: Dialect) -> SecretPatch:
    kind = patch_type(patch)
    policy = patch.get("policy", {}).get("fromFieldPath", "Optional")
    if kind == "FromCompositeFieldPath":
        return SecretPatch(kind, policy == "Optional", make_apply(patch, dialect))
    if kind == "CombineFromComposite":
        return SecretPatch(kind, False, _combine(patch, dialect))
    return SecretPatch(kind, False, failing(f"unsupported patch type {kind} at index {index}"))


def _combine(patch: Object, dialect: Dialect) -> Apply:
    """Nobody validated this patch; where the original would crash, it fails."""
    combine = patch.get("combine")
    if combine is None:
        return failing("combine is required by type CombineFromComposite")
    strategy = combine.get("strategy", "")
    if strategy != "string":
        return failing(f"combine strategy {strategy} is not supported")
    if "string" not in combine:
        return failing("given combine strategy string requires configuration")
    return make_apply(patch, dialect)


def is_modern(xr: Object) -> bool:
    """Tell whether an XR is of the kind that has no connection secret of its own."""
    spec = xr.get("spec")
    return type(spec) is dict and "crossplane" in spec


def compose_secret(xr: Object, details: Mapping[str, bytes], plan: SecretPlan) -> Resource:
    """Compose the secret, or raise Failure when the patches of its reference fail."""
    try:
        reference = _patched(xr, _reference(xr, plan), plan.patches)
    except REASONS as reason:
        raise wrap(
            "cannot compose connection secret: cannot generate connection secret reference", reason
        ) from None
    secret: Object = {"apiVersion": "v1", "kind": "Secret"}
    set_metadata_text(secret, "name", reference.name)
    set_metadata_text(secret, "namespace", reference.namespace)
    secret["data"] = {key: b2a_base64(value, newline=False).decode() for key, value in details.items()}
    secret["type"] = "connection.crossplane.io/v1alpha1"
    return Resource(secret, {}, READY_TRUE)


def _reference(xr: Object, plan: SecretPlan) -> _Reference:
    """What the XR itself asks for, else what the input asks for, else a name made of the XR's."""
    own = _own_reference(xr.get("spec"))
    if own is not None:
        return own
    if plan.name or plan.namespace:
        return _Reference(plan.name, plan.namespace)
    return _Reference(f"{metadata_text(xr, 'name')}-connection", metadata_text(xr, "namespace"))


def _own_reference(spec: Any) -> _Reference | None:
    if type(spec) is not dict or "writeConnectionSecretToRef" not in spec:
        return None
    reference = spec["writeConnectionSecretToRef"]
    if reference is None:
        return _Reference("", "")
    if type(reference) is not dict:
        return None
    texts = [reference.get(field) or "" for field in _Reference._fields]
    return _Reference(*texts) if all(type(text) is str for text in texts) else None


def _patched(xr: Object, reference: _Reference, patches: tuple[SecretPatch, ...]) -> _Reference:
    # Patches work on objects, and objects have a kind.
    target: Object = {"apiVersion": "v1", "kind": "SecretReference", **reference._asdict()}
    for index, patch in enumerate(patches):
        try:
            patch.apply(xr, target)
        except REASONS as reason:
            if not patch.is_optional:
                raise _explained(patch, index, reason) from None
    name, namespace = target.get("name"), target.get("namespace")
    return _Reference(
        name if isinstance(name, str) else reference.name,
        namespace if isinstance(namespace, str) else reference.namespace,
    )


def _explained(patch: SecretPatch, index: int, reason: Exception) -> Failure:
    said = "cannot apply connection secret patches"
    if patch.type in ("FromCompositeFieldPath", "CombineFromComposite"):
        said = f"{said}: cannot apply patch type {patch.type} at index {index}"
    return wrap(said, reason)
