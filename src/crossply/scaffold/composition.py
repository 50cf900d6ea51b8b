"""A first Composition, which composes a ConfigMap with the values of the XR, and its functions.yaml."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.values import Object
from crossply.values.yaml import dump

RESOURCE = "settings"


def composition_text(crd: Object, xr: Object) -> str:
    """A Composition for the kind of a CRD, of which `xr` is an example."""
    spec = crd["spec"]
    return dump(
        {
            "apiVersion": "apiextensions.crossplane.io/v1",
            "kind": "Composition",
            "metadata": {"name": f"{spec['names']['plural']}.{spec['group']}"},
            "spec": {
                "compositeTypeRef": {"apiVersion": xr["apiVersion"], "kind": xr["kind"]},
                "mode": "Pipeline",
                "pipeline": [
                    _composing(_template(xr, namespaced=spec.get("scope") == "Namespaced")),
                    {"step": "ready", "functionRef": {"name": "function-auto-ready"}},
                ],
            },
        }
    )


def _composing(template: Object) -> Object:
    resources = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources", "resources": [template]}
    return {
        "step": "compose",
        "functionRef": {"name": "function-patch-and-transform"},
        "input": resources,
    }


def _template(xr: Object, *, namespaced: bool) -> Object:
    base: Object = {"apiVersion": "v1", "kind": "ConfigMap"}
    if not namespaced:
        base["metadata"] = {"namespace": "default"}
    return {
        "name": RESOURCE,
        "base": base,
        "patches": [_patch("metadata.name", "name"), *(_patch(f"spec.{key}", key) for key in _shown(xr))],
        "readinessChecks": [{"type": "None"}],
    }


def _shown(xr: Object) -> list[str]:
    """The fields of the spec whose values can be shown, and whose names are simple."""
    return [
        key
        for key, value in xr["spec"].items()
        if isinstance(value, str | int | float) and key.isidentifier() and key != "name"
    ]


def _patch(source: str, key: str) -> Object:
    to_text = {"type": "string", "string": {"type": "Format", "fmt": "%v"}}
    return {"fromFieldPath": source, "toFieldPath": f"data.{key}", "transforms": [to_text]}


_PUBLISHED = "xpkg.crossplane.io/crossplane-contrib"
VERSIONS = {"function-patch-and-transform": "v0.9.0", "function-auto-ready": "v0.5.0"}
"""The functions that new Compositions use; all of them are built in."""


def functions_text(names: Iterable[str] = VERSIONS) -> str:
    """A functions.yaml with published functions."""
    return "---\n".join(
        f"""\
apiVersion: pkg.crossplane.io/v1
kind: Function
metadata:
  name: {name}
spec:
  package: {_PUBLISHED}/{name}:{VERSIONS[name]}
"""
        for name in names
    )
