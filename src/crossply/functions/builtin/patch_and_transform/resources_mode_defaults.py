"""Defaults that an API server sets in the templates of a Composition in `mode: Resources`."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.functions.builtin.patch_and_transform.errors import duplicate, invalid, required
from crossply.values import Object

_DETAIL_TYPES = {
    "value": "FromValue",
    "fromConnectionSecretKey": "FromConnectionSecretKey",
    "fromFieldPath": "FromFieldPath",
}


def set_defaults(decoded: Object) -> None:
    """Set defaults in place; raise FieldError for what has none."""
    resources = decoded.get("resources", [])
    _name(resources)
    for index, template in enumerate(resources):
        if "base" not in template:
            raise required(f"resources[{index}].base", "base is required")
        for detail in template.get("connectionDetails", []):
            _default_detail(detail)
        for check in template.get("readinessChecks", []):
            _default_check(check)
    for transform in _transforms(decoded):
        _default_transform(transform)


def set_environment_defaults(settings: Object) -> None:
    """Set the defaults of an environment's sources, in place."""
    for source in settings.get("environmentConfigs", []):
        source["type"] = source.get("type") or "Reference"
        selector = source.get("selector", {})
        selector["mode"] = selector.get("mode") or "Single"
        selector["sortByFieldPath"] = selector.get("sortByFieldPath") or "metadata.name"
        for matcher in selector.get("matchLabels", []):
            matcher["type"] = matcher.get("type") or "FromCompositeFieldPath"
            matcher["fromFieldPathPolicy"] = matcher.get("fromFieldPathPolicy") or "Required"


def _name(resources: list[Object]) -> None:
    """Name templates by their index, unless any of them has a name."""
    if not any(template.get("name") for template in resources):
        for index, template in enumerate(resources):
            template["name"] = f"resource-{index}"
    names = set()
    for index, template in enumerate(resources):
        name, path = template.get("name", ""), f"resources[{index}].name"
        if not name:
            raise invalid(
                path, name, "cannot mix named and anonymous resources, all resources must have a name or none"
            )
        if name in names:
            raise duplicate(path, name)
        names.add(name)


def _transforms(decoded: Object) -> Iterator[Object]:
    for owner in (
        *decoded.get("patchSets", []),
        *decoded.get("resources", []),
        decoded.get("environment", {}),
    ):
        for patch in owner.get("patches", []):
            yield from patch.get("transforms", [])


def _default_transform(transform: Object) -> None:
    _default_type(transform.get("math"), "Multiply")
    _default_type(transform.get("string"), "Format")
    for pattern in transform.get("match", {}).get("patterns", []):
        _default_type(pattern, "literal")


def _default_type(settings: Object | None, kind: str) -> None:
    if settings is not None:
        settings["type"] = settings.get("type") or kind


def _default_detail(detail: Object) -> None:
    if not detail.get("type"):
        kinds = [kind for field, kind in _DETAIL_TYPES.items() if field in detail]
        detail["type"] = kinds[0] if kinds else ""
    if detail["type"] == "FromConnectionSecretKey" and not detail.get("name"):
        detail["name"] = detail.get("fromConnectionSecretKey", "")


def _default_check(check: Object) -> None:
    if check.get("type") == "MatchCondition":
        condition = check.setdefault("matchCondition", {})
        condition["type"] = condition.get("type") or "Ready"
        condition["status"] = condition.get("status") or "True"
