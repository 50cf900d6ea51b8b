"""The definition of a recorded run's kind as users write it, as far as rendering needs it.

Its schema admits everything: the recorded composite resource has its defaults already.
"""

from __future__ import annotations

from crossply.kinds.definition import Definition, Names
from crossply.values import Object

_OPEN = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


def definition_manifest(definition: Definition) -> Object:
    """A CompositeResourceDefinition that is parsed to this one."""
    schema = {"type": "object", "properties": {"spec": _OPEN, "status": _OPEN}}
    spec: Object = {
        "group": definition.group,
        "scope": definition.scope,
        "names": _names(definition.names),
        "versions": [
            {
                "name": version.name,
                "served": version.served,
                "referenceable": version.referenceable,
                "schema": {"openAPIV3Schema": schema},
            }
            for version in definition.versions
        ],
    }
    if definition.claim_names is not None:
        spec["claimNames"] = _names(definition.claim_names)
    if definition.connection_secret_keys:
        spec["connectionSecretKeys"] = list(definition.connection_secret_keys)
    return {
        "apiVersion": "apiextensions.crossplane.io/v2",
        "kind": "CompositeResourceDefinition",
        "metadata": {"name": definition.name},
        "spec": spec,
    }


def _names(names: Names) -> Object:
    fields = {
        "kind": names.kind,
        "plural": names.plural,
        "singular": names.singular,
        "listKind": names.list_kind,
    }
    return {key: value for key, value in fields.items() if value}
