"""A first Composition for a definition: its composite resources are ready when what they compose is."""

from __future__ import annotations

from crossply.convert.conversion_result import ConversionError
from crossply.kinds.definition_go_types import DefinitionDecodeError, decode_xrd
from crossply.values import Object

AUTO_READY = "crossplane-contrib-function-auto-ready"
AUTO_READY_PACKAGE = "xpkg.crossplane.io/crossplane-contrib/function-auto-ready"


def composition_for(definition: Object, name: str, plural: str) -> Object:
    """A Composition with one step; `name` comes before the plural in its name, if it is not empty."""
    spec = _spec_of(definition)
    group, names = spec["group"], spec["names"]
    for value, field in ((group, "group"), (names["kind"], "names.kind")):
        if not value:
            raise ConversionError(f"XRD spec.{field} is required")
    words = [word for word in (name, plural or names["plural"], group) if word]
    return {
        "apiVersion": "apiextensions.crossplane.io/v1",
        "kind": "Composition",
        "metadata": {"name": ".".join(words).lower()},
        "spec": {
            "compositeTypeRef": {"apiVersion": f"{group}/{_version(spec)}", "kind": names["kind"]},
            "mode": "Pipeline",
            "pipeline": [{"step": AUTO_READY, "functionRef": {"name": AUTO_READY}}],
        },
    }


def plural_in(definition: Object) -> str:
    """The plural that a definition gives to its kind."""
    plural: str = _spec_of(definition)["names"]["plural"]
    return plural.lower()


def _spec_of(definition: Object) -> Object:
    try:
        spec: Object = decode_xrd(definition)["spec"]
    except DefinitionDecodeError as problem:
        cause = "error unmarshaling JSON: while decoding JSON"
        # Here Crossplane reads every definition as one of version 2.
        sentence = str(problem).replace("of type v1.CompositeResource", "of type v2.CompositeResource")
        raise ConversionError(f"failed to unmarshal XRD: {cause}: {sentence}") from None
    return spec


def _version(spec: Object) -> str:
    for version in spec.get("versions") or []:
        if version["served"] and version["referenceable"]:
            name: str = version["name"]
            return name
    raise ConversionError(
        "no served and referenceable version found in XRD", hint="set served and referenceable on a version"
    )
