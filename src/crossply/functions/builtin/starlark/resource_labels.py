"""The labels and the external name that Resource() gives a resource."""

from __future__ import annotations

from typing import Any

from crossply.functions.builtin.starlark.language.arguments import MISSING
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.values import Value, type_name
from crossply.functions.builtin.starlark.response_builtins import Collected
from crossply.values import Object
from crossply.values.goquote import quote

RESOURCE_NAME = "function-starlark.crossplane.io/resource-name"
"""The label by which a Usage selects a composed resource."""
_EXTERNAL_NAME = "crossplane.io/external-name"
_COMPOSITE = "crossplane.io/composite"
_CLAIM = ("crossplane.io/claim-name", "crossplane.io/claim-namespace")


def add_external_name(obj: Object, external_name: Value, name: str, collected: Collected) -> None:
    """Set the annotation; a warning reports one that the body had."""
    if not isinstance(external_name, str):
        raise EvalError(
            f"Resource({quote(name)}): external_name must be string, got {type_name(external_name)}"
        )
    if not external_name:
        raise EvalError(f"Resource({quote(name)}): external_name must not be empty")
    annotations = _nested(_nested(obj, "metadata"), "annotations")
    if _EXTERNAL_NAME in annotations:
        before = _text(annotations[_EXTERNAL_NAME])
        collected.add_event(
            "Warning",
            f"Resource {quote(name)}: external_name kwarg {quote(external_name)} overrides annotation "
            f"{quote(before)}",
        )
    annotations[_EXTERNAL_NAME] = external_name


def add_labels(obj: Object, labels: Value, composite: Object, name: str, collected: Collected) -> None:
    """Add the labels of the XR, those of the call, and the name of the resource.

    Those of the call win over those of the XR, and these over those of the body. `labels=None` adds only the
    name of the resource.
    """
    if labels is not None:
        _add_labels(obj, labels, composite, name, collected)
    _nested(_nested(obj, "metadata"), "labels")[RESOURCE_NAME] = name


def _add_labels(obj: Object, labels: Value, composite: Object, name: str, collected: Collected) -> None:
    own = _labels_of(composite)
    present = _nested(_nested(obj, "metadata"), "labels") if own or labels is not MISSING else {}
    for key, value in own.items():
        if key in present:
            before = _text(present[key])
            collected.add_event(
                "Warning",
                f"Resource {quote(name)}: body label {quote(key)}={quote(before)} overridden by "
                f"auto-injected {quote(value)}",
            )
        present[key] = value
    if labels is MISSING:
        return
    if not isinstance(labels, dict):
        raise EvalError(f"Resource({quote(name)}): labels must be dict or None, got {type_name(labels)}")
    for key, value in labels.items():
        for part, kind in ((key, "key"), (value, "value")):
            if not isinstance(part, str):
                raise EvalError(
                    f"Resource({quote(name)}): labels {kind} must be string, got {type_name(part)}"
                )
        if key in own:
            collected.add_event(
                "Warning",
                f"Resource {quote(name)}: labels= kwarg {quote(key)}={quote(value)} overrides auto-injected "
                f"{quote(own[key])}",
            )
        present[key] = value


def _labels_of(composite: Object) -> dict[str, str]:
    """The labels that refer to an XR and its claim."""
    metadata = composite.get("metadata")
    if not isinstance(metadata, dict):
        return {}
    labels = metadata.get("labels")
    labels = labels if isinstance(labels, dict) else {}
    values = {_COMPOSITE: metadata.get("name"), **{key: labels.get(key) for key in _CLAIM}}
    return {key: value for key, value in values.items() if isinstance(value, str) and value}


def _nested(obj: Object, key: str) -> Object:
    """The object in a field, which is created where there is none."""
    if not isinstance(obj.get(key), dict):
        obj[key] = {}
    nested: Object = obj[key]
    return nested


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
