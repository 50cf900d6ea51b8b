"""What an API server fills into the templates of a Composition in `mode: Resources`."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.functions.builtin.patch_and_transform.field_errors import duplicate, invalid, required
from crossply.values import Object

_DETAIL_TYPES = {
    "value": "FromValue",
    "fromConnectionSecretKey": "FromConnectionSecretKey",
    "fromFieldPath": "FromFieldPath",
}


def complete(given: Object) -> None:
    """Fill in defaults, in place, and raise FieldError where they cannot help."""
    resources = given.get("resources", [])
    _name(resources)
    for index, template in enumerate(resources):
        if "base" not in template:
            raise required(f"resources[{index}].base", "base is required")
        for detail in template.get("connectionDetails", []):
            _complete_detail(detail)
        for check in template.get("readinessChecks", []):
            _complete_check(check)
    for transform in _transforms(given):
        _complete_transform(transform)


def _name(resources: list[Object]) -> None:
    """Templates without a name are known by their place, but only if none has a name."""
    if not any(template.get("name") for template in resources):
        for index, template in enumerate(resources):
            template["name"] = f"resource-{index}"
    seen = set()
    for index, template in enumerate(resources):
        name, path = template.get("name", ""), f"resources[{index}].name"
        if not name:
            raise invalid(
                path, name, "cannot mix named and anonymous resources, all resources must have a name or none"
            )
        if name in seen:
            raise duplicate(path, name)
        seen.add(name)


def _transforms(given: Object) -> Iterator[Object]:
    for holder in (*given.get("patchSets", []), *given.get("resources", []), given.get("environment", {})):
        for patch in holder.get("patches", []):
            yield from patch.get("transforms", [])


def _complete_transform(transform: Object) -> None:
    _default_type(transform.get("math"), "Multiply")
    _default_type(transform.get("string"), "Format")
    for pattern in transform.get("match", {}).get("patterns", []):
        _default_type(pattern, "literal")


def _default_type(settings: Object | None, kind: str) -> None:
    if settings is not None:
        settings["type"] = settings.get("type") or kind


def _complete_detail(detail: Object) -> None:
    if not detail.get("type"):
        kinds = [kind for field, kind in _DETAIL_TYPES.items() if field in detail]
        detail["type"] = kinds[0] if kinds else ""
    if detail["type"] == "FromConnectionSecretKey" and not detail.get("name"):
        detail["name"] = detail.get("fromConnectionSecretKey", "")


def _complete_check(check: Object) -> None:
    if check.get("type") == "MatchCondition":
        condition = check.setdefault("matchCondition", {})
        condition["type"] = condition.get("type") or "Ready"
        condition["status"] = condition.get("status") or "True"
