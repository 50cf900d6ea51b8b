"""What a cluster of Crossplane's has: composite resources of four kinds, sixty in all, and Usages.

A `Box` is composed by patch-and-transform, a `Tale` by a function that only its package has, a `Crate` is a
claim with a connection secret, and a `Climate` takes a value from an EnvironmentConfig.
"""

from __future__ import annotations

from typing import NamedTuple

from crossply.kube.kind import Kind
from crossply.values import Object
from tests.support.takeover.function_host import SIZE_FUNCTION

GROUP = "takeover.example.org"
NAMESPACE = "team"
_EXTENSIONS = "apiextensions.crossplane.io"
DEFINITION = Kind(_EXTENSIONS, "v2", "CompositeResourceDefinition", "compositeresourcedefinitions", False)
LEGACY_DEFINITION = DEFINITION._replace(version="v1")
COMPOSITION = Kind(_EXTENSIONS, "v1", "Composition", "compositions", False)
ENVIRONMENT = Kind(_EXTENSIONS, "v1beta1", "EnvironmentConfig", "environmentconfigs", False)
USAGE = Kind("protection.crossplane.io", "v1beta1", "Usage", "usages", True)
BOX = Kind(GROUP, "v1", "Box", "boxes", True)
TALE = Kind(GROUP, "v1", "Tale", "tales", True)
CLIMATE = Kind(GROUP, "v1", "Climate", "climates", True)
CRATE = Kind(GROUP, "v1", "Crate", "crates", True)
XCRATE = Kind(GROUP, "v1", "XCrate", "xcrates", False)
KINDS = (BOX, TALE, CLIMATE, CRATE)
"""What users create."""
COUNT = 15
"""Of each kind."""
_TEXT = {"type": "string"}


class Member(NamedTuple):
    """One composite resource or claim."""

    kind: Kind
    name: str


def members() -> list[Member]:
    """All of them."""
    return [Member(kind, f"{kind.kind.lower()}-{number}") for kind in KINDS for number in range(COUNT)]


def body_of(member: Member, size: str = "small") -> Object:
    """A composite resource or claim as its user writes it."""
    spec: Object = {"size": size}
    if member.kind is CRATE:
        spec["writeConnectionSecretToRef"] = {"name": f"{member.name}-connection"}
    return {
        "apiVersion": member.kind.api_version,
        "kind": member.kind.kind,
        "metadata": {"name": member.name, "namespace": NAMESPACE},
        "spec": spec,
    }


def definitions() -> list[tuple[Kind, Object]]:
    """The definitions of the four kinds, each with the version of the API that it is written in."""
    modern = [
        (DEFINITION, _definition(DEFINITION, kind, {"scope": "Namespaced"})) for kind in (BOX, TALE, CLIMATE)
    ]
    names = {"kind": CRATE.kind, "plural": CRATE.plural}
    legacy = _definition(
        LEGACY_DEFINITION, XCRATE, {"claimNames": names, "connectionSecretKeys": ["password"]}
    )
    return [*modern, (LEGACY_DEFINITION, legacy)]


def _definition(written_as: Kind, kind: Kind, more: Object) -> Object:
    spec = {"type": "object", "properties": {"size": _TEXT}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    version = {"name": "v1", "served": True, "referenceable": True, "schema": schema}
    names = {"kind": kind.kind, "plural": kind.plural}
    return {
        "apiVersion": written_as.api_version,
        "kind": written_as.kind,
        "metadata": {"name": kind.resource},
        "spec": {"group": GROUP, "names": names, "versions": [version], **more},
    }


def compositions(note: str = "first") -> list[Object]:
    """The Compositions; `note` is something that they put into what they compose."""
    environment = {
        "apiVersion": "environmentconfigs.fn.crossplane.io/v1beta1",
        "kind": "Input",
        "spec": {"environmentConfigs": [{"type": "Reference", "ref": {"name": "weather"}}]},
    }
    region = {"type": "FromEnvironmentFieldPath", "fromFieldPath": "region", "toFieldPath": "data.region"}
    secret = {"name": "password", "type": "FromFieldPath", "fromFieldPath": "data.size"}
    return [
        _composition(BOX, _patched(note)),
        _composition(TALE, {"step": "tell", "functionRef": {"name": SIZE_FUNCTION}}),
        _composition(
            CLIMATE,
            {
                "step": "environment",
                "functionRef": {"name": "function-environment-configs"},
                "input": environment,
            },
            _patched(note, patches=(region,)),
        ),
        _composition(XCRATE, _patched(note, details=(secret,), namespace=NAMESPACE)),
    ]


def _composition(kind: Kind, *pipeline: Object) -> Object:
    return {
        "apiVersion": COMPOSITION.api_version,
        "kind": COMPOSITION.kind,
        "metadata": {"name": kind.plural},
        "spec": {
            "compositeTypeRef": {"apiVersion": kind.api_version, "kind": kind.kind},
            "mode": "Pipeline",
            "pipeline": list(pipeline),
        },
    }


def _patched(
    note: str, patches: tuple[Object, ...] = (), details: tuple[Object, ...] = (), namespace: str = ""
) -> Object:
    base: Object = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"note": note}}
    if namespace:
        base["metadata"] = {"namespace": namespace}
    size = {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.size", "toFieldPath": "data.size"}
    resource: Object = {
        "name": "map",
        "base": base,
        "patches": [size, *patches],
        "readinessChecks": [{"type": "None"}],
    }
    if details:
        resource["connectionDetails"] = list(details)
    kind = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources"}
    return {
        "step": "patch",
        "functionRef": {"name": "function-patch-and-transform"},
        "input": {**kind, "resources": [resource]},
    }


def environment() -> Object:
    """The source of the climate."""
    return {
        "apiVersion": ENVIRONMENT.api_version,
        "kind": ENVIRONMENT.kind,
        "metadata": {"name": "weather"},
        "data": {"region": "north"},
    }


PROTECTED = Member(BOX, "box-0")
"""May not be deleted, by a Usage that gives a reason."""


def usages() -> list[Object]:
    """One with a reason, and one with a using resource."""
    of = {"apiVersion": BOX.api_version, "kind": BOX.kind}
    by = {"apiVersion": TALE.api_version, "kind": TALE.kind, "resourceRef": {"name": "tale-1"}}
    return [
        _usage(
            "reasoned", {"of": {**of, "resourceRef": {"name": PROTECTED.name}}, "reason": "it is precious"}
        ),
        _usage("used", {"of": {**of, "resourceRef": {"name": "box-1"}}, "by": by}),
    ]


def _usage(name: str, spec: Object) -> Object:
    return {
        "apiVersion": USAGE.api_version,
        "kind": USAGE.kind,
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": spec,
    }
