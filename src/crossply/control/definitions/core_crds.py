"""The CRDs of the kinds that make a control plane.

Most are Crossplane's own (`core_crds.json`, derived from a release). Some of these get fields here that only
we have, or that Crossplane once had; the definitions of the first design are here entirely.
"""

from __future__ import annotations

import importlib.resources
from functools import cache

import orjson

from crossply.control.definitions.cluster_scoped_crd_template import cluster_crd
from crossply.control.definitions.container_config_crd import container_config_crd
from crossply.control.definitions.container_function_schema import container_functions
from crossply.control.kinds import (
    APPLICATION_DEFINITION,
    COMPOSITION,
    CONFIGURATION,
    DEFINITION,
    FUNCTION,
    INFRASTRUCTURE_DEFINITION,
    PROVIDER,
    PUBLICATION,
    REVISION,
)
from crossply.kinds.composition_defaults import PIPELINE, RESOURCES, TEMPLATE_FIELDS
from crossply.kube.kind import Kind
from crossply.schema.crd_crossplane_fields import (
    age_column,
    choice,
    column,
    conditions,
    name_ref,
    text,
    texts,
)
from crossply.values import Object
from crossply.values.deepcopy import deepcopy

_ANYTHING: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_ANY_OBJECTS: Object = {"type": "array", "items": _ANYTHING}
_TYPE_REF = texts("apiVersion", "kind", required=("apiVersion", "kind"))
_IMMUTABLE = {"rule": "self == oldSelf", "message": "Value is immutable"}
_HAS_TEMPLATES = "(" + " || ".join(f"has(self.{field})" for field in TEMPLATE_FIELDS) + ")"
_NO_PIPELINE = "an array of pipeline steps is required in Pipeline mode"
_NO_RESOURCES = "an array of resources is required in Resources mode"
_REGISTRY_WITH_DOT = r"[^\\.\\/]+(\\.[^\\.\\/]+)+"
_LOCAL_REGISTRY = r"localhost|[^\\.\\/]+:[0-9]+"
_ACCOUNT_REF = texts("namespace", "name", required=("namespace", "name"))


_FIRST_VERSION, _FUNCTIONS_VERSION = "v1alpha1", "v2alpha1"
_ACTIVE_LIMIT = {
    "rule": "!has(self.activeRevisionLimit) || !has(self.revisionHistoryLimit) || "
    "self.revisionHistoryLimit == 0 || self.activeRevisionLimit <= self.revisionHistoryLimit",
    "message": "activeRevisionLimit must not be greater than revisionHistoryLimit",
    "fieldPath": ".activeRevisionLimit",
}


def core_crds() -> list[Object]:
    """All of them."""
    data = importlib.resources.files(__package__).joinpath("core_crds.json").read_bytes()
    crds: list[Object] = orjson.loads(data)
    for crd in crds:
        extend(crd)
    return [
        *crds,
        _definition(INFRASTRUCTURE_DEFINITION),
        _definition(APPLICATION_DEFINITION),
        _publication(),
        container_config_crd(),
    ]


def extend(crd: Object) -> None:
    """Add to one of Crossplane's CRDs, in place, what only we have; once is as good as twice."""
    extension = _EXTENSIONS.get(crd["metadata"]["name"])
    if extension is not None:
        extension(crd)


def extended(crd: Object) -> Object:
    """A CRD as a control plane has it after it added what only we have; one of another form is as it was."""
    copy: Object = deepcopy(crd)
    try:
        extend(copy)
    except (AttributeError, KeyError, IndexError, TypeError):
        # It has the name of one of Crossplane's, and not its fields.
        return crd
    return copy


def composition_pipeline() -> Object:
    """The schema of the steps of a pipeline."""
    (composition,) = [crd for crd in core_crds() if crd["metadata"]["name"] == COMPOSITION.resource]
    pipeline: Object = _spec_of(composition["spec"]["versions"][0])["properties"]["pipeline"]
    return pipeline


@cache
def core_names() -> frozenset[str]:
    """What they are called."""
    return frozenset(crd["metadata"]["name"] for crd in core_crds())


def _spec_of(version: Object) -> Object:
    spec: Object = version["schema"]["openAPIV3Schema"]["properties"]["spec"]
    return spec


def _extend_definition(crd: Object) -> None:
    for version in crd["spec"]["versions"]:
        _spec_of(version)["properties"]["serviceAccountRef"] = _ACCOUNT_REF


def _extend_composition(crd: Object) -> None:
    """Let a Composition have templates instead of a pipeline, and be written as the designs write it.

    Version v1alpha1 is that of the first design, v2alpha1 that of the designs of functions.
    """
    version = crd["spec"]["versions"][0]
    spec = _spec_of(version)
    _add_templates(spec)
    # Not for revisions, which users do not write: an invalid one must still accept a status that says so.
    spec["properties"]["functions"] = container_functions()
    spec.pop("required", None)
    spec["x-kubernetes-validations"] = [
        {
            "rule": "has(self.compositeTypeRef) || has(self.from)",
            "message": "a Composition says which composite resources it is for",
            "reason": "FieldValueRequired",
            "fieldPath": ".compositeTypeRef",
        },
        {"rule": "!has(self.mode) || self.mode != 'Pipeline' || has(self.pipeline)", "message": _NO_PIPELINE},
        {
            "rule": f"!has(self.mode) || self.mode != 'Resources' || {_HAS_TEMPLATES}",
            "message": _NO_RESOURCES,
        },
        {"rule": f"has(self.mode) || has(self.pipeline) || {_HAS_TEMPLATES}", "message": _NO_PIPELINE},
    ]
    served = {version["name"] for version in crd["spec"]["versions"]}
    designs = (_first_version(version), {**version, "name": _FUNCTIONS_VERSION, "storage": False})
    crd["spec"]["versions"] += [version for version in designs if version["name"] not in served]


def _first_version(version: Object) -> Object:
    """The version in which templates were what a Composition has."""
    first: Object = orjson.loads(orjson.dumps(version))
    _spec_of(first)["x-kubernetes-validations"][-1]["message"] = _NO_RESOURCES
    columns = [
        column("XR-KIND", ".spec.from.kind"),
        column("XR-APIVERSION", ".spec.from.apiVersion"),
        age_column(),
    ]
    return {**first, "name": _FIRST_VERSION, "storage": False, "additionalPrinterColumns": columns}


def _extend_revision(crd: Object) -> None:
    for version in crd["spec"]["versions"]:
        _add_templates(_spec_of(version))
        _spec_of(version).pop("x-kubernetes-validations", None)


def _extend_function(crd: Object) -> None:
    """Let several revisions of a Function be active."""
    _allow_local_registries(crd)
    for version in crd["spec"]["versions"]:
        spec = _spec_of(version)
        spec["properties"]["activeRevisionLimit"] = {
            "type": "integer",
            "format": "int64",
            "minimum": 1,
            "default": 1,
        }
        rules = spec.setdefault("x-kubernetes-validations", [])
        if _ACTIVE_LIMIT not in rules:
            rules.append(_ACTIVE_LIMIT)


def _extend_package(crd: Object) -> None:
    """Of all other packages one revision is active."""
    _allow_local_registries(crd)
    for version in crd["spec"]["versions"]:
        _spec_of(version)["properties"]["activeRevisionLimit"] = {
            "type": "integer",
            "format": "int64",
            "x-kubernetes-validations": [
                {"rule": "self == 1", "message": "only a Function can have more than one active revision"}
            ],
        }


def _allow_local_registries(crd: Object) -> None:
    """Let a registry have no dot in its name where it has a port, as `localhost:5000` has."""
    for version in crd["spec"]["versions"]:
        either = f"({_REGISTRY_WITH_DOT}|{_LOCAL_REGISTRY})"
        for check in _spec_of(version)["properties"]["package"].get("x-kubernetes-validations", ()):
            check["rule"] = check["rule"].replace(f"^{_REGISTRY_WITH_DOT}", f"^{either}")


def _add_templates(spec: Object) -> None:
    # No default: what else is in the spec decides (see `composition_mode`), which a schema cannot express.
    mode = {**spec["properties"]["mode"], **choice(PIPELINE, RESOURCES)}
    spec["properties"]["mode"] = {key: value for key, value in mode.items() if key != "default"}
    spec["properties"].update(
        {
            "resources": _ANY_OBJECTS,
            "patchSets": _ANY_OBJECTS,
            "environment": _ANYTHING,
            "functions": _ANY_OBJECTS,
            "from": {**_TYPE_REF, "x-kubernetes-validations": [_IMMUTABLE]},
            "to": _ANY_OBJECTS,
            "reclaimPolicy": choice("Delete", "Retain"),
        }
    )


def _definition(kind: Kind) -> Object:
    composition_ref = texts("apiVersion", "kind", "name", required=("name",))
    properties: Object = {
        "crdSpecTemplate": _spec_template(),
        "serviceAccountRef": _ACCOUNT_REF,
        "defaultComposition": composition_ref,
        "forceComposition": composition_ref,
    }
    if kind is INFRASTRUCTURE_DEFINITION:
        properties["connectionDetails"] = {"type": "array", "items": text(), "x-kubernetes-list-type": "set"}
    name_rule = {
        "rule": "self.metadata.name == "
        "self.spec.crdSpecTemplate.names.plural + '.' + self.spec.crdSpecTemplate.group",
        "message": "the name must be the plural and the group of the kind that is defined",
    }
    spec = {"type": "object", "required": ["crdSpecTemplate"], "properties": properties}
    return _crd(kind, spec, "Established", [name_rule])


def _spec_template() -> Object:
    names = texts("plural", "singular", "kind", "listKind", required=("plural", "kind"))
    for key in ("shortNames", "categories"):
        names["properties"][key] = {"type": "array", "items": text()}
    return {
        "type": "object",
        "required": ["group", "version", "names"],
        "properties": {
            "group": {**text(), "x-kubernetes-validations": [_IMMUTABLE]},
            "version": text(),
            "names": {**names, "x-kubernetes-validations": [_IMMUTABLE]},
            "validation": {"type": "object", "properties": {"openAPIV3Schema": _ANYTHING}},
            "additionalPrinterColumns": _ANY_OBJECTS,
        },
    }


def _publication() -> Object:
    properties = {"infrastructureDefinitionReference": name_ref(), "infrastructureDefinitionRef": name_ref()}
    return _crd(PUBLICATION, {"type": "object", "properties": properties}, "Offered", [])


def _crd(kind: Kind, spec: Object, condition: str, rules: list[Object]) -> Object:
    type_ref = texts("apiVersion", "kind")
    controllers = {"compositeResourceType": type_ref, "compositeResourceClaimType": type_ref}
    status = {"conditions": conditions(), "controllers": {"type": "object", "properties": controllers}}
    schema: Object = {
        "type": "object",
        "required": ["spec"],
        "properties": {"spec": spec, "status": {"type": "object", "properties": status}},
    }
    if rules:
        schema["x-kubernetes-validations"] = rules
    columns = [
        column(condition.upper(), f".status.conditions[?(@.type=='{condition}')].status"),
        age_column(),
    ]
    return cluster_crd(kind, schema, columns)


def _extend_environment_config(crd: Object) -> None:
    """Serve the version that EnvironmentConfigs had up to Crossplane 1.17, with the same fields."""
    versions = crd["spec"]["versions"]
    if all(version["name"] != _FIRST_VERSION for version in versions):
        versions.append({**versions[0], "name": _FIRST_VERSION, "storage": False})


_EXTENSIONS = {
    "environmentconfigs.apiextensions.crossplane.io": _extend_environment_config,
    DEFINITION.resource: _extend_definition,
    COMPOSITION.resource: _extend_composition,
    REVISION.resource: _extend_revision,
    FUNCTION.resource: _extend_function,
    CONFIGURATION.resource: _extend_package,
    PROVIDER.resource: _extend_package,
}
