"""Validation of the sources of an environment, as Crossplane's webhook validated them."""

from __future__ import annotations

from crossply.functions.builtin.patch_and_transform.errors import FieldError, invalid, required
from crossply.values import Object


def validate_sources(sources: list[Object]) -> None:
    """Raise FieldError for the first source that is incomplete or invalid."""
    for index, source in enumerate(sources):
        path = f"environmentConfigs[{index}]"
        if source["type"] == "Reference":
            _validate_reference(source, path)
        elif source["type"] == "Selector":
            _validate_selector(source, path)
        else:
            raise invalid(f"{path}.type", source["type"], "invalid type")


def _validate_reference(source: Object, path: str) -> None:
    if "ref" not in source:
        raise required(f"{path}.ref", "ref is required")
    if not source["ref"].get("name"):
        raise required(f"{path}.ref.name", "name is required")


def _validate_selector(source: Object, path: str) -> None:
    selector = source.get("selector")
    if selector is None:
        raise required(f"{path}.selector", "selector is required")
    path = f"{path}.selector"
    if not selector.get("matchLabels"):
        raise required(f"{path}.matchLabels", "selector must have at least one match label")
    if selector["mode"] not in ("Single", "Multiple"):
        raise invalid(f"{path}.mode", selector["mode"], "must be Single or Multiple")
    for field in ("maxMatch", "minMatch"):
        if field in selector and selector["mode"] == "Single":
            raise FieldError(f"{path}.{field}: Forbidden: {field} is not supported in Single mode")
        if selector.get(field, 0) < 0:
            raise invalid(f"{path}.{field}", str(selector[field]), "must not be negative")
    for index, matcher in enumerate(selector["matchLabels"]):
        _validate_matcher(matcher, f"{path}.matchLabels[{index}]")


def _validate_matcher(matcher: Object, path: str) -> None:
    if not matcher.get("key"):
        raise required(f"{path}.key", "key is required")
    fields = {"FromCompositeFieldPath": "valueFromFieldPath", "Value": "value"}
    if matcher["type"] not in fields:
        raise invalid(f"{path}.type", matcher["type"], "invalid type")
    field = fields[matcher["type"]]
    if field not in matcher:
        raise required(f"{path}.{field}", f"{field} is required")
    if not matcher[field]:
        raise required(f"{path}.{field}", f"{field} must not be empty")
