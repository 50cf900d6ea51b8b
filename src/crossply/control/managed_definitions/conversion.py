"""CRDs of a Provider become ManagedResourceDefinitions, and those become CRDs again; pure.

A definition has the name and the spec of the CRD that it stands for, and says whether that CRD is there.
"""

from __future__ import annotations

from crossply.compose.object_metadata import controller_of, name_of, owner_reference
from crossply.control.kinds import MANAGED_DEFINITION
from crossply.kube.core_kinds import CRD
from crossply.values import Object

ACTIVE, INACTIVE = "Active", "Inactive"
_NOT_MANAGED = frozenset(
    {"ProviderConfig", "ClusterProviderConfig", "ProviderConfigUsage", "ClusterProviderConfigUsage"}
)
"""Kinds that a Provider is configured with; they are no managed resources."""
_FIELDS = ("group", "names", "scope", "conversion", "preserveUnknownFields")
_NAMES = ("kind", "plural", "singular", "listKind", "shortNames", "categories")
_VERSION_FIELDS = (
    "name",
    "deprecated",
    "deprecationWarning",
    "schema",
    "subresources",
    "additionalPrinterColumns",
    "selectableFields",
)
_ALWAYS = ("served", "storage")


def is_managed(obj: Object) -> bool:
    """Whether an object of a Provider's package is a CRD that a definition is to stand for."""
    if obj["kind"] != CRD.kind:
        return False
    names = (obj.get("spec") or {}).get("names") or {}
    return names.get("kind") not in _NOT_MANAGED


def definition_of(crd: Object, state: str | None) -> Object:
    """The definition of a CRD; without a state it is inactive unless a policy or a user activates it."""
    spec = dict(crd["spec"])
    if state is not None:
        spec["state"] = state
    head = {"apiVersion": MANAGED_DEFINITION.api_version, "kind": MANAGED_DEFINITION.kind}
    return {**head, "metadata": crd["metadata"], "spec": spec}


def crd_of(definition: Object) -> Object:
    """The CRD that a definition stands for, owned by it and controlled by who controls the definition."""
    spec = _present(definition["spec"], _FIELDS)
    spec["names"] = _present(spec["names"], _NAMES)
    versions = [_version(version) for version in definition["spec"]["versions"]]
    spec["versions"] = sorted(versions, key=lambda version: str(version["name"]))
    owners = [owner_reference(definition, controller=False)]
    controller = controller_of(definition)
    if controller is not None:
        owners.append(controller)
    metadata = {"name": name_of(definition), "ownerReferences": owners}
    return {"apiVersion": CRD.api_version, "kind": CRD.kind, "metadata": metadata, "spec": spec}


def _version(version: Object) -> Object:
    return {**_present(version, _VERSION_FIELDS), **{key: bool(version.get(key)) for key in _ALWAYS}}


def _present(fields: Object, keys: tuple[str, ...]) -> Object:
    """The fields with a value: a server would take an empty one as desired."""
    return {key: fields[key] for key in keys if fields.get(key) not in (None, "", [], False)}
