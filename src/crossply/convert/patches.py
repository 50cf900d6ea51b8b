"""What the engine of old took for granted, said: the types of patches, transforms and connection details, the
names of templates, and how a patch meets what is already there.
"""

from __future__ import annotations

from typing import Any

from crossply.values import Object

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
    found = {**template, "name": template.get("name") or f"resource-{index}"}
    if isinstance(template.get("base"), dict):
        found["base"] = _base(template["base"])
    if isinstance(template.get("patches"), list):
        found["patches"] = [explicit_patch(patch) for patch in template["patches"]]
    if isinstance(template.get("connectionDetails"), list):
        found["connectionDetails"] = [_explicit_detail(detail) for detail in template["connectionDetails"]]
    return found


def _base(base: Object) -> Object:
    """A base without a metadata that is null: the function cannot write into that."""
    return {key: value for key, value in base.items() if key != "metadata" or value is not None}


def explicit_patch(patch: Any) -> Any:
    """A patch that says its type, the types of its transforms and its policy."""
    if not isinstance(patch, dict):
        return patch
    found = {**patch, "type": patch.get("type") or FROM_COMPOSITE}
    if isinstance(patch.get("policy"), dict):
        found["policy"] = _policy(patch["policy"])
    if isinstance(patch.get("transforms"), list):
        found["transforms"] = [_explicit_transform(transform) for transform in patch["transforms"]]
    return found


def _policy(policy: Object) -> Object:
    """Merge options became one word."""
    options = policy.get("mergeOptions")
    found = {key: value for key, value in policy.items() if key != "mergeOptions"}
    if isinstance(options, dict):
        force = "" if options.get("keepMapValues") else "Force"
        append = "AppendArrays" if options.get("appendSlice") else ""
        found["toFieldPath"] = f"{force}MergeObjects{append}"
    return found


def _explicit_transform(transform: Any) -> Any:
    if not isinstance(transform, dict):
        return transform
    given = [name for name in _TRANSFORMS if transform.get(name) is not None]
    kind = transform.get("type") or (given[0] if given else None)
    found = {**transform, "type": kind} if kind else dict(transform)
    for name, types in (("math", _MATH_TYPES), ("string", _STRING_TYPES)):
        if kind == name and isinstance(transform.get(name), dict):
            found[name] = _typed(transform[name], types)
    return found


def _explicit_detail(detail: Any) -> Any:
    if not isinstance(detail, dict):
        return detail
    found = _typed(detail, _DETAIL_TYPES)
    key = detail.get("fromConnectionSecretKey")
    if not found.get("name") and found.get("type") == "FromConnectionSecretKey" and key:
        found["name"] = key
    return found


def _typed(value: Object, types: dict[str, str]) -> Object:
    """The value with the type that its fields speak of, unless it says its type itself."""
    if value.get("type"):
        return dict(value)
    for field, name in types.items():
        if value.get(field) is not None:
            return {**value, "type": name}
    return dict(value)
