"""The defaults of a Composition's spec: its mode, and `compositeTypeRef` of the first design.

Crossplane 1.x defaulted `mode` to `Resources`, Crossplane 2 defaults it to `Pipeline`. So the other fields
decide: a Composition with resource templates or container functions is in mode `Resources`, any other in mode
`Pipeline`.
"""

from __future__ import annotations

from crossply.values import Object

PIPELINE = "Pipeline"
RESOURCES = "Resources"
TEMPLATE_FIELDS = ("resources", "to", "functions")
"""Fields of a spec that only mode `Resources` has; `to` is the first design's name for `resources`."""


def composition_mode(spec: Object) -> str:
    """The mode of the spec of a Composition or CompositionRevision, as written or else by its fields."""
    written = spec.get("mode")
    if written:
        return str(written)
    templates = [spec[field] for field in TEMPLATE_FIELDS if spec.get(field) is not None]
    # An empty list of templates says nothing beside a pipeline.
    return RESOURCES if any(templates) or (templates and not spec.get("pipeline")) else PIPELINE


def spec_with_defaults(spec: Object, written: Object) -> Object:
    """The spec with its mode, and with the first design's `from` also as `compositeTypeRef`.

    `spec` is what a Go type holds of `written`, which also has the empty lists.
    """
    filled = {**spec, "mode": composition_mode(written)}
    type_ref = spec.get("compositeTypeRef")
    if spec.get("from") and not (isinstance(type_ref, dict) and any(type_ref.values())):
        filled["compositeTypeRef"] = spec["from"]
    return filled


def with_defaults(obj: Object, written: Object) -> Object:
    """A Composition with the defaults of its spec (see `spec_with_defaults`); any other object as it is."""
    if obj.get("kind") != "Composition":
        return obj
    return {**obj, "spec": spec_with_defaults(obj["spec"], written.get("spec") or {})}
