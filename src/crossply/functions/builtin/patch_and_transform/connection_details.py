"""Connection details of composed resources, and the Secret that holds those of a modern XR.

Crossplane 2 writes no connection secret for a modern XR (one with `spec.crossplane`), so the function
composes one from the details that it collected.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from crossply.compose.function_messages import READY_TRUE, Resource
from crossply.functions.builtin.patch_and_transform.dialect import Dialect, patch_type
from crossply.functions.builtin.patch_and_transform.errors import FAILURES, Failure, fail_with, wrap
from crossply.functions.builtin.patch_and_transform.object_fields import (
    metadata_text,
    reader,
    set_metadata_text,
)
from crossply.functions.builtin.patch_and_transform.patches import Apply, compile_apply
from crossply.values import Object
from crossply.values.gojson import dumps
from crossply.values.goquote import utf8

Secret = Mapping[str, bytes]
ExtractDetails = Callable[[Object, Secret], dict[str, bytes]]
_Detail = Callable[[Object, Secret], bytes | None]


def compile_connection_details(details: list[Object]) -> ExtractDetails | None:
    """Compile details into a closure that reads them from an observed resource and its connection secret."""
    if not details:
        return None
    compiled = [(detail["name"], _detail(detail)) for detail in details]

    def extract_details(observed: Object, secret: Secret) -> dict[str, bytes]:
        collected = {}
        for name, detail in compiled:
            value = detail(observed, secret)
            if value is not None:
                collected[name] = value
        return collected

    return extract_details


def _detail(detail: Object) -> _Detail:
    if detail["type"] == "FromValue":
        value = utf8(detail["value"])
        return lambda _observed, _secret: value
    if detail["type"] == "FromConnectionSecretKey":
        key = detail["fromConnectionSecretKey"]
        return lambda _observed, secret: secret.get(key)
    return _from_field(detail["fromFieldPath"])


def _from_field(path: str) -> _Detail:
    read = reader(path)

    def detail(observed: Object, _secret: Secret) -> bytes | None:
        # The field may exist later, so no error is worth reporting.
        try:
            value: Any = read(observed)
            return utf8(value if type(value) is str else dumps(value))
        except FAILURES:
            return None

    return detail


class SecretPatch(NamedTuple):
    """A patch of the reference to the connection secret."""

    type: str
    is_optional: bool
    apply: Apply


class CompiledSecretReference(NamedTuple):
    """`writeConnectionSecretToRef` of the input."""

    name: str
    namespace: str
    patches: tuple[SecretPatch, ...]


class _Reference(NamedTuple):
    name: str
    namespace: str


def compile_secret_reference(settings: Object, dialect: Dialect) -> CompiledSecretReference:
    patches = tuple(
        _secret_patch(index, patch, dialect) for index, patch in enumerate(settings.get("patches", []))
    )
    return CompiledSecretReference(settings.get("name", ""), settings.get("namespace", ""), patches)


def _secret_patch(index: int, patch: Object, dialect: Dialect) -> SecretPatch:
    kind = patch_type(patch)
    policy = patch.get("policy", {}).get("fromFieldPath", "Optional")
    if kind == "FromCompositeFieldPath":
        return SecretPatch(kind, policy == "Optional", compile_apply(patch, dialect))
    if kind == "CombineFromComposite":
        return SecretPatch(kind, False, _combine_apply(patch, dialect))
    return SecretPatch(kind, False, fail_with(f"unsupported patch type {kind} at index {index}"))


def _combine_apply(patch: Object, dialect: Dialect) -> Apply:
    """This patch is not validated. It fails where the published function would crash."""
    combine = patch.get("combine")
    if combine is None:
        return fail_with("combine is required by type CombineFromComposite")
    strategy = combine.get("strategy", "")
    if strategy != "string":
        return fail_with(f"combine strategy {strategy} is not supported")
    if "string" not in combine:
        return fail_with("given combine strategy string requires configuration")
    return compile_apply(patch, dialect)


def is_modern(xr: Object) -> bool:
    """Whether the XR has no connection secret of its own."""
    spec = xr.get("spec")
    return type(spec) is dict and "crossplane" in spec


def compose_secret(
    xr: Object, details: Mapping[str, bytes], reference_settings: CompiledSecretReference
) -> Resource:
    """Compose the secret; raise Failure when the patches of its reference fail."""
    try:
        reference = _patched(xr, _reference(xr, reference_settings), reference_settings.patches)
    except FAILURES as error:
        raise wrap(
            "cannot compose connection secret: cannot generate connection secret reference", error
        ) from None
    secret: Object = {"apiVersion": "v1", "kind": "Secret"}
    set_metadata_text(secret, "name", reference.name)
    set_metadata_text(secret, "namespace", reference.namespace)
    secret["data"] = {key: b2a_base64(value, newline=False).decode() for key, value in details.items()}
    secret["type"] = "connection.crossplane.io/v1alpha1"
    return Resource(secret, {}, READY_TRUE)


def _reference(xr: Object, reference_settings: CompiledSecretReference) -> _Reference:
    """The reference of the XR, else of the input, else one derived from the XR's name."""
    own = _own_reference(xr.get("spec"))
    if own is not None:
        return own
    if reference_settings.name or reference_settings.namespace:
        return _Reference(reference_settings.name, reference_settings.namespace)
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
    # Patches require an object with a kind.
    target: Object = {"apiVersion": "v1", "kind": "SecretReference", **reference._asdict()}
    for index, patch in enumerate(patches):
        try:
            patch.apply(xr, target)
        except FAILURES as error:
            if not patch.is_optional:
                raise _wrap_patch_error(patch, index, error) from None
    name, namespace = target.get("name"), target.get("namespace")
    return _Reference(
        name if isinstance(name, str) else reference.name,
        namespace if isinstance(namespace, str) else reference.namespace,
    )


def _wrap_patch_error(patch: SecretPatch, index: int, error: Exception) -> Failure:
    prefix = "cannot apply connection secret patches"
    if patch.type in ("FromCompositeFieldPath", "CombineFromComposite"):
        prefix = f"{prefix}: cannot apply patch type {patch.type} at index {index}"
    return wrap(prefix, error)
