"""The schema of the alpha container functions of a Composition: the entries of its `spec.functions`."""

from __future__ import annotations

from crossply.kinds.composition_container_function import NETWORK_POLICIES, PULL_POLICIES
from crossply.schema.crd_crossplane_fields import choice, text
from crossply.values import Object
from crossply.values.durations import UNITS

_OPEN: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_NUMBER = r"([0-9]+(\.[0-9]*)?|\.[0-9]+)"
_DURATION = rf"^(0|({_NUMBER}({'|'.join(UNITS)}))+)$"


def container_functions() -> Object:
    """The schema of `spec.functions`."""
    function = {
        **_OPEN,
        "required": ["name", "type", "container"],
        "properties": {
            "name": _filled(),
            "type": choice("Container"),
            "container": _container(),
            "config": _OPEN,
        },
    }
    return {
        "type": "array",
        "items": function,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["name"],
    }


def _container() -> Object:
    return {
        **_OPEN,
        "required": ["image"],
        "properties": {
            "image": _filled(),
            "imagePullPolicy": choice(*PULL_POLICIES),
            "imagePullSecrets": {"type": "array", "items": _texts("name", "namespace")},
            "network": _network(),
            "timeout": {**text(), "pattern": _DURATION},
            "resources": {**_OPEN, "properties": {"limits": _OPEN}},
            "runner": _texts("endpoint"),
        },
    }


def _network() -> Object:
    """A policy, bare or as a field of an object; a schema cannot have two types, but any values."""
    policies = list(NETWORK_POLICIES)
    return {
        "x-kubernetes-preserve-unknown-fields": True,
        "enum": [*policies, *({"policy": policy} for policy in policies), {}],
    }


def _texts(*names: str) -> Object:
    return {**_OPEN, "properties": {name: text() for name in names}}


def _filled() -> Object:
    return {**text(), "minLength": 1}
