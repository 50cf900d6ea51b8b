"""The result of a conversion: the new object, which fields moved where, and which were left out."""

from __future__ import annotations

from typing import NamedTuple

from crossply.errors import CrossplyError
from crossply.values import Object
from crossply.values.api_version import api_group

Path = tuple[str | int, ...]
Move = tuple[Path, Path]
"""Everything below the first path is below the second one now."""


class ConversionError(CrossplyError):
    """An object cannot be converted: it is of another kind, or lacks what the conversion needs."""

    code = "CP-460"


class Converted(NamedTuple):
    """A converted object. The moves of several conversions in a row are kept in their order."""

    value: Object
    rounds: tuple[tuple[Move, ...], ...] = ()
    left_out: tuple[str, ...] = ()
    """The fields that the new form has no place for."""

    def then(self, later: Converted) -> Converted:
        """The result of this conversion and of a later one together."""
        left_out = (*self.left_out, *later.left_out)
        return Converted(later.value, (*self.rounds, *later.rounds), left_out)


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
