"""Kinds that exist in the dry run only, or are different there: their definitions are among the files.

The API server knows nothing of them, so objects of these kinds are defaulted, pruned and validated here, by
the schema that the definition would bring.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.object_metadata import name_of
from crossply.control.planning.api_urls import ObjectPath
from crossply.kube.failures import Invalid
from crossply.schema.cel_object_validation import RuleChecker
from crossply.schema.defaults import apply_defaults
from crossply.schema.prune import prune
from crossply.schema.unsupported_schema_keywords import normalized
from crossply.schema.validation import as_json, validate
from crossply.values import Object


class DryRunSchema(NamedTuple):
    """The schema of one version of a kind."""

    kind: str
    group: str
    schema: Object
    rules: RuleChecker

    def filled(self, obj: Object) -> Object:
        """The object as the API server would store it; Invalid where it would refuse it."""
        complete = prune(apply_defaults(obj, self.schema), self.schema)
        errors = [*validate(as_json(complete), self.schema), *self.rules.check(complete)]
        if not errors:
            return complete
        messages = ", ".join(map(str, errors))
        messages = f"[{messages}]" if len(errors) > 1 else messages
        raise Invalid(f'{self.kind}.{self.group} "{name_of(obj)}" is invalid: {messages}', status=422)


class DryRunKinds:
    """The CustomResourceDefinitions that would be new, or other than they are."""

    def __init__(self) -> None:
        self._crds: dict[tuple[str, str], Object] = {}
        self._shapes: dict[tuple[str, str, str], DryRunSchema | None] = {}

    def note(self, before: Object | None, crd: Object | None) -> None:
        """Note a definition as it is and as it would be."""
        if crd is None or (before is not None and before.get("spec") == crd.get("spec")):
            return
        spec = crd["spec"]
        self._crds[spec["group"], spec["names"]["plural"]] = crd
        self._shapes.clear()

    def has(self, address: ObjectPath) -> bool:
        """Whether a kind is one of these."""
        return (address.group, address.plural) in self._crds

    def shape(self, address: ObjectPath) -> DryRunSchema | None:
        """The schema of a kind; None where it has none."""
        key = (address.group, address.version, address.plural)
        if key not in self._shapes:
            self._shapes[key] = self._new_shape(address)
        return self._shapes[key]

    def _new_shape(self, address: ObjectPath) -> DryRunSchema | None:
        spec = self._crds[address.group, address.plural]["spec"]
        for version in spec["versions"]:
            schema = (version.get("schema") or {}).get("openAPIV3Schema")
            if version["name"] == address.version and schema is not None:
                schema = normalized(schema)
                return DryRunSchema(spec["names"]["kind"], spec["group"], schema, RuleChecker(schema))
        return None

    def discovered(self, document: Object) -> Object:
        """The server's answer to which kinds it serves, with these among them."""
        if document.get("kind") != "APIGroupDiscoveryList":
            return document
        groups = [self._group(crd["spec"]) for crd in self._crds.values()]
        return {**document, "items": [*document["items"], *groups]}

    def _group(self, spec: Object) -> Object:
        names = spec["names"]
        resource: dict[str, Any] = {
            "resource": names["plural"],
            "responseKind": {"kind": names["kind"]},
            "scope": "Namespaced" if spec.get("scope") == "Namespaced" else "Cluster",
        }
        served = [version["name"] for version in spec["versions"] if version.get("served")]
        versions = [{"version": name, "resources": [resource]} for name in served]
        return {"metadata": {"name": spec["group"]}, "versions": versions}
