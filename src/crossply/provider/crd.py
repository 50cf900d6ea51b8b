"""The CustomResourceDefinitions of a provider: of its managed kinds and of its configuration."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.kube.kind import Kind
from crossply.provider.crd_schema import SchemaWriter, is_set_rule
from crossply.provider.field_model import CredentialsField, Field, Struct
from crossply.provider.managed_kind import ManagedKind, ProviderConfigKinds
from crossply.schema.crd_crossplane_fields import (
    age_column,
    choice,
    column,
    condition_columns,
    conditions,
    text,
    texts,
)
from crossply.values import Object

READY_COLUMN_FIRST = list(reversed(condition_columns()))
EXTERNAL_NAME_PATH = r".metadata.annotations.crossplane\.io/external-name"
POLICIES = ("Observe", "Create", "Update", "Delete", "LateInitialize", "*")
MAY_WRITE = " || ".join(f"'{policy}' in self.managementPolicies" for policy in ("*", "Create", "Update"))


def crds_of(kinds: Iterable[ManagedKind]) -> list[Object]:
    """The CRDs of kinds and of the configurations that they use, each once."""
    crds = {}
    for kind in kinds:
        crds[kind.kind.resource] = managed_crd(kind)
        for crd in config_crds(kind.config) if kind.config else ():
            crds[crd["metadata"]["name"]] = crd
    return [crds[name] for name in sorted(crds)]


def managed_crd(kind: ManagedKind) -> Object:
    """The CRD of a managed kind."""
    columns = [*READY_COLUMN_FIRST, column("EXTERNAL-NAME", EXTERNAL_NAME_PATH), age_column()]
    schema = _object_schema(kind.description or f"A managed resource of kind {kind.kind.kind}.")
    schema["properties"] |= {"spec": _managed_spec(kind), "status": _managed_status(kind)}
    schema["required"] = ["spec"]
    names = {**_names(kind.kind, kind.categories)}
    if kind.short_names:
        names["shortNames"] = list(kind.short_names)
    return _crd(kind.kind, names, schema, columns, {"status": {}})


def _managed_spec(kind: ManagedKind) -> Object:
    namespaced = kind.kind.namespaced
    parameters = SchemaWriter(namespaced=namespaced).struct(kind.parameters, is_top=True)
    rules = [_required_rule(field) for field in kind.parameters if field.is_required]
    return {
        "description": f"The desired state of a {kind.kind.kind}.",
        "type": "object",
        "required": ["forProvider"],
        "properties": {
            "forProvider": {"description": "The parameters of the external resource.", **parameters},
            **({} if namespaced else {"deletionPolicy": _deletion_policy()}),
            "managementPolicies": _management_policies(),
            **({"providerConfigRef": _config_ref(kind.config, namespaced)} if kind.config else {}),
            "writeConnectionSecretToRef": _connection_secret_ref(namespaced),
            **_spec_fields(kind),
        },
        **({"x-kubernetes-validations": rules} if rules else {}),
    }


def _required_rule(field: Field) -> Object:
    """A parameter is required unless the resource is only observed, as in published providers."""
    return {
        "rule": f"!({MAY_WRITE}) || {is_set_rule(field, 'self.forProvider')}",
        "message": f"spec.forProvider.{field.json_names()[0]} is a required parameter",
    }


def _management_policies() -> Object:
    return {
        "description": "What the provider may do with the external resource.",
        "type": "array",
        "items": choice(*POLICIES),
        "default": ["*"],
    }


def _deletion_policy() -> Object:
    return {
        "description": "What happens to the external resource when this one is deleted.",
        **choice("Orphan", "Delete", default="Delete"),
    }


def _spec_fields(kind: ManagedKind) -> Object:
    """What a kind has in its spec beside forProvider."""
    if kind.spec is None:
        return {}
    properties: Object = SchemaWriter(namespaced=kind.kind.namespaced).struct(kind.spec)["properties"]
    return properties


def _config_ref(config: ProviderConfigKinds, namespaced: bool) -> Object:
    kinds = ("ClusterProviderConfig", "ProviderConfig") if namespaced else (config.cluster.kind,)
    schema = texts("kind", "name", required=("kind", "name"))
    schema["properties"]["kind"] = choice(*kinds)
    if not namespaced:
        schema["properties"]["kind"]["default"] = kinds[0]
    return {
        "description": "The configuration by which the external system is reached.",
        **schema,
        "default": {"kind": config.cluster.kind, "name": "default"},
    }


def _connection_secret_ref(namespaced: bool) -> Object:
    names = ("name",) if namespaced else ("name", "namespace")
    return {
        "description": "The Secret to which connection details are written.",
        **texts(*names, required=names),
    }


def _managed_status(kind: ManagedKind) -> Object:
    at_provider: Object = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if kind.observed:
        writer = SchemaWriter(namespaced=kind.kind.namespaced, has_required=False)
        at_provider = writer.struct(kind.observed)
    return {
        "description": f"The observed state of a {kind.kind.kind}.",
        "type": "object",
        "properties": {
            "atProvider": {"description": "The external resource as it was observed.", **at_provider},
            "conditions": conditions(),
            "lastHandledReconcileAt": {
                "description": "The last value of crossplane.io/reconcile-requested-at that was handled.",
                **text(),
            },
            "observedGeneration": {
                "description": "The metadata.generation that was last reconciled.",
                "type": "integer",
                "format": "int64",
            },
        },
    }


def config_crds(config: ProviderConfigKinds) -> list[Object]:
    """The CRDs of a provider's configuration, in both scopes, and of its usages."""
    return [
        *(_config_crd(config, kind) for kind in config.configs),
        *(_usage_crd(kind) for kind in config.usages),
    ]


def _config_crd(config: ProviderConfigKinds, kind: Kind) -> Object:
    schema = _object_schema(config.description or f"A {kind.kind} says how the external system is reached.")
    schema["required"] = ["spec"]
    schema["properties"] |= {
        "spec": SchemaWriter(namespaced=kind.namespaced).struct(_without_docstring(config.spec)),
        "status": {
            "type": "object",
            "properties": {
                "conditions": conditions(),
                "users": {
                    "description": "How many resources use this configuration.",
                    "type": "integer",
                    "format": "int64",
                },
            },
        },
    }
    columns = [age_column()]
    for field in config.spec:
        if isinstance(field.type, CredentialsField):
            path = f".spec.{field.json_name}.secretRef.name"
            columns.append({**column("SECRET-NAME", path), "priority": 1})
    return _crd(kind, _names(kind, ("crossplane", "provider")), schema, columns[:2], {"status": {}})


def _without_docstring(struct: Struct) -> Struct:
    return Struct(struct.cls, struct.fields)


def _usage_crd(kind: Kind) -> Object:
    config = kind.kind.removesuffix("Usage")
    resource = ("apiVersion", "kind", "name")
    schema = _object_schema(f"A {kind.kind} says that a managed resource uses a {config}.")
    schema["required"] = ["providerConfigRef", "resourceRef"]
    schema["properties"] |= {
        "providerConfigRef": texts("kind", "name", required=("kind", "name")),
        "resourceRef": texts(*resource, "uid", required=resource),
    }
    columns = [
        age_column(),
        column("CONFIG-NAME", ".providerConfigRef.name"),
        column("RESOURCE-KIND", ".resourceRef.kind"),
        column("RESOURCE-NAME", ".resourceRef.name"),
    ]
    return _crd(kind, _names(kind, ("crossplane", "provider")), schema, columns, {})


def _object_schema(description: str) -> Object:
    properties = {"apiVersion": text(), "kind": text(), "metadata": {"type": "object"}}
    return {"description": description, "type": "object", "properties": properties}


def _names(kind: Kind, categories: tuple[str, ...]) -> Object:
    return {
        "kind": kind.kind,
        "listKind": f"{kind.kind}List",
        "plural": kind.plural,
        "singular": kind.kind.lower(),
        "categories": list(categories),
    }


def _crd(kind: Kind, names: Object, schema: Object, columns: list[Object], subresources: Object) -> Object:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": kind.resource},
        "spec": {
            "group": kind.group,
            "names": names,
            "scope": "Namespaced" if kind.namespaced else "Cluster",
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": subresources,
                    "additionalPrinterColumns": columns,
                }
            ],
        },
    }
