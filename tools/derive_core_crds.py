"""Derive the CRDs of Crossplane's own kinds, structure only, from the manifests of a release.

Usage: python tools/derive_core_crds.py DIRECTORY_OF_CRDS > src/crossply/control/definitions/core_crds.json
Descriptions are dropped: only types, formats, defaults, list keys, rules and columns are facts of the API.
"""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

from crossply.values.yaml import load

INCLUDED = frozenset(
    {
        "compositeresourcedefinitions.apiextensions.crossplane.io",
        "compositions.apiextensions.crossplane.io",
        "compositionrevisions.apiextensions.crossplane.io",
        "environmentconfigs.apiextensions.crossplane.io",
        "managedresourceactivationpolicies.apiextensions.crossplane.io",
        "managedresourcedefinitions.apiextensions.crossplane.io",
        "usages.apiextensions.crossplane.io",
        "usages.protection.crossplane.io",
        "clusterusages.protection.crossplane.io",
        "functions.pkg.crossplane.io",
        "functionrevisions.pkg.crossplane.io",
        "configurations.pkg.crossplane.io",
        "configurationrevisions.pkg.crossplane.io",
        "providers.pkg.crossplane.io",
        "providerrevisions.pkg.crossplane.io",
        "deploymentruntimeconfigs.pkg.crossplane.io",
        "imageconfigs.pkg.crossplane.io",
        "locks.pkg.crossplane.io",
    }
)


TEXT: dict[str, Any] = {"type": "string"}
LABELS = {"type": "object", "additionalProperties": TEXT}
NAMED = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
STEP_FIELDS: dict[str, Any] = {
    "allowedExtraResources": {
        "type": "array",
        "items": {
            "type": "object",
            "required": ["apiVersion", "kind"],
            "properties": {
                "apiVersion": TEXT,
                "kind": TEXT,
                "name": TEXT,
                "matchName": TEXT,
                "matchLabels": LABELS,
            },
        },
    },
    "functionRevisionRef": NAMED,
    "functionRevisionSelector": {"type": "object", "properties": {"matchLabels": LABELS}},
    "inputRef": {
        "type": "object",
        "required": ["apiVersion", "kind", "name"],
        "properties": {"apiVersion": TEXT, "kind": TEXT, "name": TEXT, "namespace": TEXT},
    },
    "maxIterations": {
        "type": "integer",
        "format": "int64",
        "minimum": -1,
        "x-kubernetes-validations": [
            {"rule": "self != 0", "message": "must be -1, for no limit, or at least 1"}
        ],
    },
}
"""What a step of a pipeline may have beyond the release: fields of designs that we follow."""


def extend(crd: dict[str, Any]) -> dict[str, Any]:
    """Add our own fields, or the API server would drop them."""
    if crd["metadata"]["name"].startswith(("compositions.", "compositionrevisions.")):
        for version in crd["spec"]["versions"]:
            spec = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
            spec["properties"]["pipeline"]["items"]["properties"].update(STEP_FIELDS)
    return crd


def structure(value: Any, inside_properties: bool = False) -> Any:
    """A schema without its texts; a property that is called description stays."""
    if isinstance(value, dict):
        return {
            key: structure(member, key == "properties" and not inside_properties)
            for key, member in value.items()
            if inside_properties or key != "description" or not isinstance(member, str)
        }
    return [structure(item) for item in value] if isinstance(value, list) else value


def main() -> None:
    crds = []
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.yaml")):
        crd = load(path.read_bytes())
        if crd["metadata"]["name"] in INCLUDED:
            spec = structure(crd["spec"])
            crds.append(
                extend(
                    {
                        "apiVersion": crd["apiVersion"],
                        "kind": crd["kind"],
                        "metadata": {"name": crd["metadata"]["name"]},
                        "spec": spec,
                    }
                )
            )
    missing = INCLUDED - {crd["metadata"]["name"] for crd in crds}
    if missing:
        sys.exit(f"not found: {', '.join(sorted(missing))}")
    json.dump(crds, sys.stdout, sort_keys=True, separators=(",", ":"))
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
