"""Derive the CustomResourceDefinitions of a definition.

`composite_crd` makes the CRD of the composite resource, `claim_crd` that of its claim. The definition goes
through Crossplane's types first (`kinds.definition_go_types`), then each version is assembled
(`crd_version_assembly`) with the machinery of its scope (`crd_crossplane_fields`). Kinds of the first
design have their own module.
"""

from __future__ import annotations

from collections.abc import Callable

from crossply.kinds.application_and_infrastructure_definitions import FIRST_DESIGN
from crossply.kinds.definition import default_scope
from crossply.kinds.definition_go_types import decode_xrd
from crossply.schema.crd_crossplane_fields import (
    LEGACY,
    NAMESPACED,
    claim_columns,
    claim_spec,
    composite_columns,
    composite_spec,
    status,
)
from crossply.schema.crd_version_assembly import CrdError, crd_head, crd_version, empty_status
from crossply.values import Object

__all__ = ["ClaimNamesError", "CrdError", "claim_crd", "composite_crd", "crds_of", "offers_claim"]

_CRD_SCOPES = {NAMESPACED: "Namespaced", "Cluster": "Cluster", LEGACY: "Cluster"}


class ClaimNamesError(CrdError):
    """A definition offers a claim whose names are missing or clash with the composite resource's."""

    code = "CP-421"
    hint = "give spec.claimNames a kind and a plural of its own"


def crds_of(xrd: Object) -> list[Object]:
    """The CRD of the composite resource, and that of the claim when one is offered."""
    crds = [composite_crd(xrd)]
    if offers_claim(xrd):
        crds.append(claim_crd(xrd))
    return crds


def offers_claim(xrd: Object) -> bool:
    """Whether a definition also defines a claim."""
    return "claimNames" in decode_xrd(xrd)["spec"]


def composite_crd(xrd: Object) -> Object:
    """The CRD of the composite resource that a definition defines."""
    if isinstance(xrd, dict) and xrd.get("kind") in FIRST_DESIGN:
        from crossply.schema.infrastructure_definition_crds import definition_crd

        return definition_crd(xrd)
    typed = decode_xrd(xrd)
    spec = typed["spec"]
    scope = spec.get("scope", default_scope(xrd))
    prefix = ".spec" if scope == LEGACY else ".spec.crossplane"

    def version(defined: Object) -> Object:
        machinery = composite_spec(scope, spec.get("defaultCompositionUpdatePolicy"))
        return crd_version(defined, machinery, status(scope), composite_columns(prefix))

    return {
        **_head(typed["metadata"].get("name", ""), typed),
        "spec": {
            "group": spec["group"],
            "names": _with_category(spec["names"], "composite"),
            "scope": _CRD_SCOPES.get(scope, ""),
            "versions": _versions(typed, "Composite Resource", version),
            **_conversion(spec),
        },
        "status": empty_status(),
    }


def claim_crd(xrd: Object) -> Object:
    """The CRD of the claim that a definition offers."""
    typed = decode_xrd(xrd)
    spec = typed["spec"]
    names = spec.get("claimNames")
    _check_claim_names(names, spec["names"])

    def version(defined: Object) -> Object:
        machinery = claim_spec(spec.get("defaultCompositeDeletePolicy"))
        return crd_version(defined, machinery, status(LEGACY), claim_columns())

    return {
        **_head(f"{names['plural']}.{spec['group']}", typed),
        "spec": {
            "group": spec["group"],
            "names": _with_category(names, "claim"),
            "scope": "Namespaced",
            "versions": _versions(typed, "Composite Resource Claim", version),
            **_conversion(spec),
        },
        "status": empty_status(),
    }


def _check_claim_names(names: Object | None, composite: Object) -> None:
    problem = "missing names" if names is None else _clash(names, composite)
    if problem:
        raise ClaimNamesError(f"invalid resource claim names: {problem}")


def _clash(names: Object, composite: Object) -> str:
    for key in ("kind", "plural", "singular", "listKind"):
        name = names.get(key)
        # Kind and plural are always there, so two empty ones clash as well.
        if name is not None and name == composite.get(key):
            return f'"{name}" conflicts with composite resource name'
    return ""


def _versions(typed: Object, owner: str, version: Callable[[Object], Object]) -> list[Object]:
    try:
        return [version(defined) for defined in typed["spec"]["versions"] or ()]
    except CrdError as problem:
        name = typed["metadata"].get("name", "")
        raise CrdError(f'cannot generate CRD for "{owner}" "{name}": {problem}') from None


def _head(name: str, typed: Object) -> Object:
    owner = {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "CompositeResourceDefinition",
        "name": typed["metadata"].get("name", ""),
        "uid": typed["metadata"].get("uid", ""),
    }
    extra = typed["spec"].get("metadata", {})
    labels = {**typed["metadata"].get("labels", {}), **extra.get("labels", {})}
    return crd_head(name, owner, labels, extra.get("annotations", {}))


def _with_category(names: Object, category: str) -> Object:
    return {**names, "categories": [*names.get("categories", ()), category]}


def _conversion(spec: Object) -> Object:
    return {"conversion": spec["conversion"]} if "conversion" in spec else {}
