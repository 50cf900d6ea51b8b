"""The kinds of tests that `up` has (`meta.dev.upbound.io`), as CRDs.

Programs that print tests import models of them.
"""

from __future__ import annotations

from crossply.values import Object

_ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_CONTEXT: Object = {"x-kubernetes-preserve-unknown-fields": True}
"""A map by key. Tests for earlier versions of `up` have an empty list there."""
_OBJECTS: Object = {"type": "array", "items": _ANYTHING}
_TEXT: Object = {"type": "string"}
_SECONDS: Object = {"type": "integer", "minimum": 1}
_FLAG: Object = {"type": "boolean"}


def _object(properties: Object, *required: str) -> Object:
    return {"type": "object", "properties": properties, "required": list(required)}


_COMPOSITION_TEST = _object(
    {
        "assertResources": _OBJECTS,
        "composition": _ANYTHING,
        "compositionPath": _TEXT,
        "context": _CONTEXT,
        "extraResources": _OBJECTS,
        "functionCredentialsPath": _TEXT,
        "observedResources": _OBJECTS,
        "timeoutSeconds": {**_SECONDS, "default": 30},
        "validate": _FLAG,
        "xr": _ANYTHING,
        "xrPath": _TEXT,
        "xrd": _ANYTHING,
        "xrdPath": _TEXT,
    },
    "timeoutSeconds",
)
_AUTO_UPGRADE = _object(
    {"channel": {"type": "string", "enum": ["None", "Patch", "Stable", "Rapid"], "default": "Stable"}}
)
_CROSSPLANE = _object(
    {
        "autoUpgrade": {**_AUTO_UPGRADE, "default": {"channel": "Stable"}},
        "state": {"type": "string", "enum": ["Running", "Paused"], "default": "Running"},
        "version": _TEXT,
    }
)
_E2E_TEST = _object(
    {
        "cleanupTimeoutSeconds": {**_SECONDS, "default": 600},
        "crossplane": _CROSSPLANE,
        "defaultConditions": {"type": "array", "items": _TEXT, "minItems": 1},
        "extraResources": _OBJECTS,
        "helmValues": _ANYTHING,
        "initResources": _OBJECTS,
        "manifests": {**_OBJECTS, "minItems": 1},
        "setupTimeoutSeconds": _SECONDS,
        "skipDelete": _FLAG,
        "timeoutSeconds": _SECONDS,
    },
    "crossplane",
    "manifests",
)
_OPERATION_TEST = _object(
    {
        "assertResources": _OBJECTS,
        "context": _CONTEXT,
        "functionCredentialsPath": _TEXT,
        "operation": _ANYTHING,
        "operationPath": _TEXT,
        "requiredResources": _OBJECTS,
        "requiredResourcesPath": _TEXT,
        "timeoutSeconds": {**_SECONDS, "default": 30},
        "watchedResource": _ANYTHING,
        "watchedResourcePath": _TEXT,
    },
    "timeoutSeconds",
)


def _crd(kind: str, spec: Object) -> Object:
    schema = _object(
        {"apiVersion": _TEXT, "kind": _TEXT, "metadata": {"type": "object"}, "spec": spec}, "spec"
    )
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.meta.dev.upbound.io"},
        "spec": {
            "group": "meta.dev.upbound.io",
            "names": {"kind": kind, "plural": f"{kind.lower()}s"},
            "scope": "Namespaced",
            "versions": [
                {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
            ],
        },
    }


TEST_KINDS = (
    _crd("CompositionTest", _COMPOSITION_TEST),
    _crd("E2ETest", _E2E_TEST),
    _crd("OperationTest", _OPERATION_TEST),
)
