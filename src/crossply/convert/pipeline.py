"""Resource templates of a Composition become the input of function-patch-and-transform.

Up to Crossplane 1.x the engine itself patched and transformed (`mode: Resources`, the default then). The
function needs some fields that the engine defaulted; they are filled in.
"""

from __future__ import annotations

from typing import Any

from crossply.convert.conversion_result import ConversionError, Converted, Move, Path, require_composition
from crossply.kinds.composition_defaults import PIPELINE, composition_mode
from crossply.values import Object

FUNCTION = "function-patch-and-transform"
STEP = "patch-and-transform"
_INPUT: Path = ("spec", "pipeline", 0, "input")
_MOVES: tuple[Move, ...] = (
    (("spec", "resources"), (*_INPUT, "resources")),
    (("spec", "patchSets"), (*_INPUT, "patchSets")),
    (("spec", "environment", "patches"), (*_INPUT, "environment", "patches")),
)


def resources_to_pipeline(composition: Object, function: str) -> Converted | None:
    """A Composition with one step that patches and transforms; None when it has no templates to move.

    Container functions have no counterpart in a pipeline, so they stay in `spec.functions`.
    """
    spec = require_composition(composition)
    if composition_mode(spec) == PIPELINE or not _has_templates(spec):
        return None
    step = {"step": STEP, "functionRef": {"name": function or FUNCTION}, "input": _input(spec)}
    moved = ("mode", "resources", "patchSets", "environment", "pipeline")
    new_spec = {key: value for key, value in spec.items() if key not in moved}
    environment = _without_patches(spec.get("environment"))
    if environment:
        new_spec["environment"] = environment
    value = {**composition, "spec": {**new_spec, "mode": PIPELINE, "pipeline": [step]}}
    return Converted(value, (_MOVES,))


def _has_templates(spec: Object) -> bool:
    return not spec.get("functions") or any(spec.get(field) for field in ("resources", "environment"))


def _input(spec: Object) -> Object:
    function_input: Object = {"apiVersion": "pt.fn.crossplane.io/v1beta1", "kind": "Resources"}
    environment = spec.get("environment")
    if isinstance(environment, dict) and "patches" in environment:
        patches = objects_in(environment, "patches", "spec.environment")
        function_input["environment"] = {"patches": [explicit_patch(patch) for patch in patches]}
    if spec.get("patchSets") is not None:
        function_input["patchSets"] = [_patch_set(entry) for entry in objects_in(spec, "patchSets", "spec")]
    if spec.get("resources") is not None:
        templates = objects_in(spec, "resources", "spec")
        function_input["resources"] = [
            explicit_template(entry, index) for index, entry in enumerate(templates)
        ]
    return function_input


def _patch_set(entry: Object) -> Object:
    return {
        **entry,
        "patches": [explicit_patch(patch) for patch in objects_in(entry, "patches", "patchSets")],
    }


def _without_patches(environment: Any) -> Object:
    if not isinstance(environment, dict):
        return {}
    return {key: value for key, value in environment.items() if key != "patches"}


def objects_in(value: Object, key: str, place: str) -> list[Object]:
    """A list of objects, or an error that says which field is none."""
    items = value.get(key) or []
    if not isinstance(items, list) or not all(isinstance(entry, dict) for entry in items):
        raise ConversionError(f"{place}.{key} is not a list of objects")
    return items


FROM_COMPOSITE = "FromCompositeFieldPath"
_TRANSFORMS = ("math", "string", "map", "match", "convert")
_MATH_TYPES = {"clampMin": "ClampMin", "clampMax": "ClampMax", "multiply": "Multiply"}
_STRING_TYPES = {"fmt": "Format", "convert": "Convert", "regexp": "Regexp", "join": "Join"}
_DETAIL_TYPES = {
    "value": "FromValue",
    "fromFieldPath": "FromFieldPath",
    "fromConnectionSecretKey": "FromConnectionSecretKey",
}


def explicit_template(template: Object, index: int) -> Object:
    """A resource template with a name, and with explicit patches and connection details."""
    explicit = {**template, "name": template.get("name") or f"resource-{index}"}
    if isinstance(template.get("base"), dict):
        explicit["base"] = _base(template["base"])
    if isinstance(template.get("patches"), list):
        explicit["patches"] = [explicit_patch(patch) for patch in template["patches"]]
    if isinstance(template.get("connectionDetails"), list):
        explicit["connectionDetails"] = [_explicit_detail(detail) for detail in template["connectionDetails"]]
    return explicit


def _base(base: Object) -> Object:
    """A base without a metadata that is null: the function cannot write into that."""
    return {key: value for key, value in base.items() if key != "metadata" or value is not None}


def explicit_patch(patch: Any) -> Any:
    """A patch that says its type, the types of its transforms and its policy."""
    if not isinstance(patch, dict):
        return patch
    explicit = {**patch, "type": patch.get("type") or FROM_COMPOSITE}
    if isinstance(patch.get("policy"), dict):
        explicit["policy"] = _policy(patch["policy"])
    if isinstance(patch.get("transforms"), list):
        explicit["transforms"] = [_explicit_transform(transform) for transform in patch["transforms"]]
    return explicit


def _policy(policy: Object) -> Object:
    """Merge options became one word."""
    options = policy.get("mergeOptions")
    fields = {key: value for key, value in policy.items() if key != "mergeOptions"}
    if isinstance(options, dict):
        force = "" if options.get("keepMapValues") else "Force"
        append = "AppendArrays" if options.get("appendSlice") else ""
        fields["toFieldPath"] = f"{force}MergeObjects{append}"
    return fields


def _explicit_transform(transform: Any) -> Any:
    if not isinstance(transform, dict):
        return transform
    present = [name for name in _TRANSFORMS if transform.get(name) is not None]
    kind = transform.get("type") or (present[0] if present else None)
    explicit = {**transform, "type": kind} if kind else dict(transform)
    for name, types in (("math", _MATH_TYPES), ("string", _STRING_TYPES)):
        if kind == name and isinstance(transform.get(name), dict):
            explicit[name] = _typed(transform[name], types)
    return explicit


def _explicit_detail(detail: Any) -> Any:
    if not isinstance(detail, dict):
        return detail
    explicit = _typed(detail, _DETAIL_TYPES)
    key = detail.get("fromConnectionSecretKey")
    if not explicit.get("name") and explicit.get("type") == "FromConnectionSecretKey" and key:
        explicit["name"] = key
    return explicit


def _typed(value: Object, types: dict[str, str]) -> Object:
    """The value with an explicit type, by default inferred from its fields."""
    if value.get("type"):
        return dict(value)
    for field, name in types.items():
        if value.get(field) is not None:
            return {**value, "type": name}
    return dict(value)
