"""Is it a Composition at all? The first question of every conversion of one."""

from __future__ import annotations

from crossply.convert.moves import ConversionError
from crossply.values import Object
from crossply.values.api_version import api_group

GROUP = "apiextensions.crossplane.io"


def require_composition(obj: Object) -> Object:
    """The spec of a Composition; an error, with Crossplane's sentence, when it is something else."""
    if not obj:
        raise ConversionError("GroupVersionKind is empty", hint="give a file with a Composition")
    if group_of(obj) != GROUP:
        raise ConversionError(f"GroupVersionKind Group is not {GROUP}", hint="give a file with a Composition")
    if obj.get("kind") != "Composition":
        raise ConversionError(
            "GroupVersionKind Kind is not Composition", hint="give a file with a Composition"
        )
    spec = obj.get("spec")
    return spec if isinstance(spec, dict) else {}


def group_of(obj: Object) -> str:
    """The API group of an object; empty for the core group."""
    version = obj.get("apiVersion")
    return api_group(version) if isinstance(version, str) else ""
