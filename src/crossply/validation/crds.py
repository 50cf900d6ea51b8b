"""CRDs of extensions, checked for what every user of them needs."""

from __future__ import annotations

from crossply.errors import CrossplyError
from crossply.values import Object


class GetCrdsError(CrossplyError):
    """The CRDs of extensions could not be had or written."""

    code = "CP-597"


def complete(crd: Object) -> Object:
    """A CRD, if it says which kind it defines, and in which versions."""
    spec = crd.get("spec") or {}
    names, versions = spec.get("names") or {}, spec.get("versions") or ()
    lacking = [name for name in ("group", "versions") if not spec.get(name)]
    lacking += [] if names.get("kind") else ["names.kind"]
    lacking += [] if all(each.get("name") for each in versions) else ["versions.name"]
    if lacking:
        name = (crd.get("metadata") or {}).get("name", "")
        fields = ", ".join(f"spec.{field}" for field in lacking)
        raise GetCrdsError(f'the definition "{name}" does not define a kind: it lacks {fields}')
    return crd


def with_schemas(crd: Object) -> Object:
    """A CRD without the versions that have no schema."""
    versions = crd["spec"]["versions"]
    kept = [each for each in versions if (each.get("schema") or {}).get("openAPIV3Schema")]
    return {**crd, "spec": {**crd["spec"], "versions": kept}}
