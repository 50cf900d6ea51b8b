"""The input of function-kro: `kind: ResourceGraph` of `kro.fn.crossplane.io/v1alpha1`."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request
from crossply.functions.builtin.input_decoder import (
    OBJECT,
    InputError,
    array,
    decode,
    mapping,
    struct,
    text,
)
from crossply.values import Object

__all__ = ["InputError", "read_input"]


def _raw(value: Any) -> Any:
    """Any JSON, which is validated later."""
    return value


_TEXTS = array("[]string", text(), "")
_SELECTOR = struct(
    "v1.LabelSelector",
    {
        "matchLabels": mapping("map[string]string", text(), ""),
        "matchExpressions": array(
            "[]v1.LabelSelectorRequirement",
            struct(
                "v1.LabelSelectorRequirement",
                {"key": text(), "operator": text("v1.LabelSelectorOperator"), "values": _TEXTS},
            ),
            {},
        ),
    },
)
_EXTERNAL = struct(
    "v1alpha1.ExternalRef",
    {
        "apiVersion": text(),
        "kind": text(),
        "metadata": struct(
            "v1alpha1.ExternalRefMetadata",
            {"name": text(), "namespace": text(), "selector": _SELECTOR},
        ),
    },
)
_RESOURCE = struct(
    "v1alpha1.Resource",
    {
        "id": text(),
        "template": _raw,
        "externalRef": _EXTERNAL,
        "readyWhen": _TEXTS,
        "includeWhen": _TEXTS,
        "forEach": array("[]v1alpha1.ForEachDimension", mapping("v1alpha1.ForEachDimension", text(), ""), {}),
    },
)
_GO_TYPE = "v1alpha1.ResourceGraph"
_INPUT = struct(
    _GO_TYPE, {**OBJECT, "status": _raw, "resources": array("[]*v1alpha1.Resource", _RESOURCE, {})}
)


def read_input(request: Request) -> Object:
    """The decoded input. An external reference has all of the fields that Go writes."""
    decoded = decode(request, _INPUT, _GO_TYPE)
    return {
        "status": decoded.get("status") or {},
        "resources": [_completed(resource) for resource in decoded.get("resources", [])],
    }


def _completed(resource: Object) -> Object:
    external = resource.get("externalRef")
    if external is None:
        return {"id": "", **resource}
    reference = {"apiVersion": "", "kind": "", "metadata": {}, **external}
    metadata = {name: value for name, value in reference["metadata"].items() if value != ""}
    return {"id": "", **resource, "externalRef": {**reference, "metadata": metadata}}
