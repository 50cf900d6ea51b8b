"""Matchers of hooks: they compare conditions of observed resources with expected ones.

A matcher selects resources by patterns of their names, and says how many of them must have how many of its
conditions. Groups that message patterns capture are returned for the messages of the hook.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.function_messages import Request
from crossply.functions.builtin.extra_resources import CONTEXT_KEY
from crossply.functions.reply_limits import check_deadline, current_limits, within_deadline
from crossply.values import Object
from crossply.values.go_type_names import go_type
from crossply.values.regexp import RegexpError, compile_go

Groups = dict[str, str]

_COMPOSITE = "function-status-transformer.reserved-keys.composite-resource"


class MatchError(Exception):
    """A matcher is invalid. It never leaves the function: it becomes a condition."""


class Observed(NamedTuple):
    """What matchers see: the XR, and other objects by the names that patterns match."""

    composite: Object
    resources: dict[str, Object]
    extra: dict[str, Object]


def read_observed(request: Request, with_extra: bool) -> Observed:
    """The observed objects of a request; extra resources are read from the context only on demand."""
    composite = request.observed.composite
    resources = {name: resource.object for name, resource in request.observed.resources.items()}
    extra = _extra_resources(request.context or {}) if with_extra else {}
    return Observed(composite.object if composite else {}, resources, extra)


def match_groups(matcher: Object, observed: Observed) -> Groups | None:
    """The groups that patterns captured, or None when the matcher does not match."""
    chosen = _select_resources(matcher, observed)
    conditions = matcher.get("conditions", [])
    if not chosen or not conditions:
        return None
    return _MATCH_TYPES.get(matcher.get("type", ""), _all_match_all)(conditions, chosen)


def _select_resources(matcher: Object, observed: Observed) -> list[Object]:
    """The objects that a matcher selects, ordered by name."""
    names: Object = {}
    candidates = observed.resources
    if matcher.get("includeExtraResources"):
        candidates = {**candidates, **observed.extra}
    for index, resource in enumerate(within_deadline(matcher.get("resources", ()))):
        error = f"cannot compile resource key regex, resourcesIndex: {index}"
        pattern = _pattern(resource.get("name", ""), error)
        names.update((name, obj) for name, obj in candidates.items() if pattern.search(name))
    if matcher.get("includeCompositeAsResource"):
        names[_COMPOSITE] = observed.composite
    return [names[name] for name in sorted(names)]


def _any_matches_any(conditions: list[Object], objects: list[Object]) -> Groups | None:
    for obj in objects:
        for condition in conditions:
            groups = _condition_groups(condition, obj)
            if groups is not None:
                return groups
    return None


def _any_matches_all(conditions: list[Object], objects: list[Object]) -> Groups | None:
    captured: Groups = {}
    for obj in objects:
        if _matches_all(conditions, obj, captured):
            return captured
    return None


def _all_match_any(conditions: list[Object], objects: list[Object]) -> Groups | None:
    captured: Groups = {}
    for obj in objects:
        matches = [_condition_groups(condition, obj) for condition in conditions]
        if all(groups is None for groups in matches):
            return None
        for groups in matches:
            captured.update(groups or {})
    return captured


def _all_match_all(conditions: list[Object], objects: list[Object]) -> Groups | None:
    captured: Groups = {}
    return captured if all(_matches_all(conditions, obj, captured) for obj in objects) else None


_MATCH_TYPES = {
    "AnyResourceMatchesAnyCondition": _any_matches_any,
    "AnyResourceMatchesAllConditions": _any_matches_all,
    "AllResourcesMatchAnyCondition": _all_match_any,
    "AllResourcesMatchAllConditions": _all_match_all,
}


def _matches_all(conditions: list[Object], obj: Object, captured: Groups) -> bool:
    for condition in conditions:
        groups = _condition_groups(condition, obj)
        if groups is None:
            return False
        captured.update(groups)
    return True


def _condition_groups(expected: Object, obj: Object) -> Groups | None:
    check_deadline(current_limits())
    condition = _condition(obj, expected.get("type", ""))
    for field in ("reason", "status"):
        if field in expected and expected[field] != condition.get(field, ""):
            return None
    if "message" not in expected:
        return {}
    pattern = _pattern(expected["message"], "cannot compile message regex")
    match = pattern.search(_text(condition.get("message")))
    if match is None:
        return None
    names = {number: name for name, number in pattern.groupindex.items()}
    return {names.get(number, ""): match[number] or "" for number in range(1, pattern.groups + 1)}


def _condition(obj: Object, kind: str) -> Object:
    """The first condition of a type. A missing one is Unknown, or without a status where there are none."""
    status = obj.get("status")
    conditions = status.get("conditions") or [] if isinstance(status, dict) else None
    if not isinstance(conditions, list):
        return {}
    for condition in conditions:
        if isinstance(condition, dict) and condition.get("type") == kind:
            return condition
    return {"status": "Unknown"}


def _pattern(text: str, context: str) -> Any:
    try:
        return compile_go(text)
    except RegexpError as error:
        raise MatchError(f"{context}: {error}") from None


def _extra_resources(context: Object) -> dict[str, Object]:
    """The extra resources in the context, by `extra-resource.INTO.GROUP.KIND.NAMESPACE.NAME`."""
    into = context.get(CONTEXT_KEY, {})
    if not isinstance(into, dict):
        raise MatchError(f"unexpected extra-resources type: {go_type(into)}")
    resources: dict[str, Object] = {}
    for name, items in into.items():
        if not isinstance(items, list):
            raise MatchError(f"unexpected extra-resources value type for {name}: {go_type(items)}")
        for index, obj in enumerate(items):
            if not isinstance(obj, dict):
                kind = go_type(obj)
                raise MatchError(f"unexpected extra-resources value type for {name} [{index}]: {kind}")
            resources[_extra_name(name, obj)] = obj
    return resources


def _extra_name(into: str, obj: Object) -> str:
    metadata = obj.get("metadata")
    metadata_ = metadata if isinstance(metadata, dict) else {}
    group, slash, _ = _text(obj.get("apiVersion")).partition("/")
    parts = (_text(obj.get("kind")), _text(metadata_.get("namespace")), _text(metadata_.get("name")))
    return ".".join(("extra-resource", into, group if slash else "", *parts))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
