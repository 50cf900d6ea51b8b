"""Which hooks apply: the conditions of observed resources, held against those that a matcher names.

A matcher chooses resources by patterns of their names and says how many of them must have how many of its
conditions. What the groups of a message's pattern captured is kept for the messages that the hook writes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.messages import Request
from crossply.functions.builtin.extra_resources import CONTEXT_KEY
from crossply.values import Object
from crossply.values.gotypes import go_type
from crossply.values.regexp import RegexpError, compile_go

Groups = dict[str, str]

_COMPOSITE = "function-status-transformer.reserved-keys.composite-resource"


class MatchError(Exception):
    """A matcher cannot be applied. It never leaves the function: it becomes a condition."""


class Observed(NamedTuple):
    """What matchers may look at: the XR, and other objects by the names that patterns see."""

    composite: Object
    resources: dict[str, Object]
    extra: dict[str, Object]


def observed_in(request: Request, with_extra: bool) -> Observed:
    """What a request shows; the extra resources are read from the context only if they are wanted."""
    composite = request.observed.composite
    found = {name: resource.object for name, resource in request.observed.resources.items()}
    extra = _extra_resources(request.context or {}) if with_extra else {}
    return Observed(composite.object if composite else {}, found, extra)


def matched(matcher: Object, observed: Observed) -> Groups | None:
    """What the patterns of a matcher captured, or None if it does not match."""
    chosen = _chosen(matcher, observed)
    conditions = matcher.get("conditions", [])
    if not chosen or not conditions:
        return None
    return _WAYS.get(matcher.get("type", ""), _all_match_all)(conditions, chosen)


def _chosen(matcher: Object, observed: Observed) -> list[Object]:
    """The objects that a matcher looks at, in the order of their names."""
    names: Object = {}
    candidates = observed.resources
    if matcher.get("includeExtraResources"):
        candidates = {**candidates, **observed.extra}
    for index, each in enumerate(matcher.get("resources", ())):
        problem = f"cannot compile resource key regex, resourcesIndex: {index}"
        pattern = _pattern(each.get("name", ""), problem)
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
        found = [_condition_groups(condition, obj) for condition in conditions]
        if all(groups is None for groups in found):
            return None
        for groups in found:
            captured.update(groups or {})
    return captured


def _all_match_all(conditions: list[Object], objects: list[Object]) -> Groups | None:
    captured: Groups = {}
    return captured if all(_matches_all(conditions, obj, captured) for obj in objects) else None


_WAYS = {
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


def _condition_groups(wanted: Object, obj: Object) -> Groups | None:
    found = _condition(obj, wanted.get("type", ""))
    for field in ("reason", "status"):
        if field in wanted and wanted[field] != found.get(field, ""):
            return None
    if "message" not in wanted:
        return {}
    pattern = _pattern(wanted["message"], "cannot compile message regex")
    match = pattern.search(_text(found.get("message")))
    if match is None:
        return None
    names = {number: name for name, number in pattern.groupindex.items()}
    return {names.get(number, ""): match[number] or "" for number in range(1, pattern.groups + 1)}


def _condition(obj: Object, kind: str) -> Object:
    """The first condition of a type; one that is not there has the status Unknown."""
    status = obj.get("status")
    conditions = status.get("conditions") if isinstance(status, dict) else None
    for each in conditions if isinstance(conditions, list) else ():
        if isinstance(each, dict) and each.get("type") == kind:
            return each
    return {"status": "Unknown"}


def _pattern(text: str, problem: str) -> Any:
    try:
        return compile_go(text)
    except RegexpError as error:
        raise MatchError(f"{problem}: {error}") from None


def _extra_resources(context: Object) -> dict[str, Object]:
    """The extra resources in the context, named `extra-resource.INTO.GROUP.KIND.NAMESPACE.NAME`."""
    into = context.get(CONTEXT_KEY, {})
    if not isinstance(into, dict):
        raise MatchError(f"unexpected extra-resources type: {go_type(into)}")
    found: dict[str, Object] = {}
    for name, items in into.items():
        if not isinstance(items, list):
            raise MatchError(f"unexpected extra-resources value type for {name}: {go_type(items)}")
        for index, obj in enumerate(items):
            if not isinstance(obj, dict):
                kind = go_type(obj)
                raise MatchError(f"unexpected extra-resources value type for {name} [{index}]: {kind}")
            found[_extra_name(name, obj)] = obj
    return found


def _extra_name(into: str, obj: Object) -> str:
    metadata = obj.get("metadata")
    about = metadata if isinstance(metadata, dict) else {}
    group, slash, _ = _text(obj.get("apiVersion")).partition("/")
    parts = (_text(obj.get("kind")), _text(about.get("namespace")), _text(about.get("name")))
    return ".".join(("extra-resource", into, group if slash else "", *parts))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
