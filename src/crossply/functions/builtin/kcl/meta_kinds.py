"""Objects of the group `meta.krm.kcl.dev`: connection details, conditions, events, context, requirements."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from crossply.compose.function_messages import ResourceSelector
from crossply.compose.object_metadata import text_in
from crossply.functions.builtin.go_struct_decoder import (
    Member,
    Struct,
    StructError,
    TypeMismatch,
    read_map,
    read_structs,
    text,
    texts,
)
from crossply.functions.builtin.kcl.response_state import META_VERSION, Outcome, OutputRefused
from crossply.kinds.gostructs import json_kind
from crossply.values import Object
from crossply.values.gobase64 import decode_prefix
from crossply.values.goquote import quote


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeMismatch(value, "bool")
    return value


_TARGET = Member(text("resource.BindingTarget"), "target")
_CONDITION = Struct(
    "resource.ConditionResource",
    {"target": _TARGET, "force": Member(_flag, "force")},
    {
        "condition": Struct(
            "resource.Condition",
            {
                "type": Member(text(), "condition.type"),
                "status": Member(text("v1.ConditionStatus"), "condition.status"),
                "reason": Member(text(), "condition.reason"),
                "message": Member(text(), "condition.message"),
            },
        )
    },
)
_EVENT = Struct(
    "resource.CreateEvent",
    {"target": _TARGET},
    {
        "event": Struct(
            "resource.Event",
            {
                "type": Member(text("resource.EventType"), "event.type"),
                "reason": Member(text(), "event.reason"),
                "message": Member(text(), "event.message"),
            },
        )
    },
)
_SELECTOR = {
    "apiVersion": Member(text(), "apiVersion"),
    "kind": Member(text(), "kind"),
    "matchLabels": Member(texts, "matchLabels"),
}
_EXTRA = Struct(
    "resource.ExtraResourcesRequirement",
    {
        **_SELECTOR,
        "matchName": Member(text(), "matchName"),
        "matchNamespace": Member(text(), "matchNamespace"),
    },
)
_REQUIRED = Struct(
    "resource.RequiredResourcesRequirement",
    {**_SELECTOR, "name": Member(text(), "name"), "namespace": Member(text(), "namespace")},
)


def apply(obj: Object, outcome: Outcome) -> None:
    """Apply an object of the meta group; raises OutputRefused."""
    kind = text_in(obj, "kind")
    if kind not in _KINDS:
        raise OutputRefused(
            f"invalid kind {quote(kind)} for apiVersion {quote(META_VERSION)} - "
            "must be CompositeConnectionDetails or ExtraResources"
        )
    _KINDS[kind](obj, outcome)


def _connection_details(obj: Object, outcome: Outcome) -> None:
    """Add connection details; data that is not made of strings is ignored, as by the published function."""
    data = obj.get("data")
    if isinstance(data, dict) and all(isinstance(value, str) for value in data.values()):
        outcome.details.update((key, decode_prefix(value)) for key, value in data.items())


def _extra_resources(obj: Object, outcome: Outcome) -> None:
    for name, requirement in _requirements(obj, _EXTRA, "extra"):
        if name in outcome.extra_selectors:
            raise OutputRefused(f"duplicate extra resource key {quote(name)}")
        outcome.extra_selectors[name] = _selector(requirement, "matchName", "matchNamespace")


def _required_resources(obj: Object, outcome: Outcome) -> None:
    for name, requirement in _requirements(obj, _REQUIRED, "required"):
        if name in outcome.selectors:
            raise OutputRefused(f"duplicate required resource key {quote(name)}")
        outcome.selectors[name] = _selector(requirement, "name", "namespace")


def _requirements(obj: Object, struct: Struct, word: str) -> list[tuple[str, Object]]:
    with _purpose(f"cannot get {word} resources requirements"):
        go_type = f"resource.{word.capitalize()}ResourcesRequirements"
        requirements = read_map(_field(obj, "requirements"), go_type) or {}
        names = sorted(requirements)
        return list(zip(names, read_structs([requirements[name] for name in names], struct), strict=True))


def _selector(requirement: Object, name_key: str, namespace_key: str) -> ResourceSelector:
    """A selector by name, or by labels where there is no name."""
    name = requirement.get(name_key) or None
    return ResourceSelector(
        requirement.get("apiVersion", ""),
        requirement.get("kind", ""),
        name,
        None if name else requirement.get("matchLabels", {}),
        requirement.get(namespace_key) or None,
    )


def _conditions(obj: Object, outcome: Outcome) -> None:
    with _purpose("cannot get condition resources"):
        conditions = _list(_field(obj, "conditions"), "resource.ConditionResources")
        outcome.conditions = _overlaid(outcome.conditions, read_structs(conditions, _CONDITION))


def _events(obj: Object, outcome: Outcome) -> None:
    with _purpose("cannot get event resources"):
        events = _list(_field(obj, "events"), "resource.EventResources")
        outcome.events = _overlaid(outcome.events, read_structs(events, _EVENT))


def _overlaid(before: list[Object], after: list[Object]) -> list[Object]:
    """The later list. Go decodes it over the earlier one: what an item lacks is that of the earlier one."""
    earlier = [*before, *([{}] * len(after))]
    return [_merged(earlier[index], item) for index, item in enumerate(after)]


def _merged(before: Object, after: Object) -> Object:
    nested = {
        key: _merged(before[key], value)
        for key, value in after.items()
        if isinstance(value, dict) and isinstance(before.get(key), dict)
    }
    return {**before, **after, **nested}


def _context(obj: Object, outcome: Outcome) -> None:
    with _purpose("cannot get context resource"):
        data = read_map(_field(obj, "data"), "map[string]interface {}") or {}
    outcome.context = {**outcome.context, **data}


_KINDS = {
    "CompositeConnectionDetails": _connection_details,
    "ExtraResources": _extra_resources,
    "RequiredResources": _required_resources,
    "Conditions": _conditions,
    "Events": _events,
    "Context": _context,
}


@contextmanager
def _purpose(purpose: str) -> Iterator[None]:
    try:
        yield
    except StructError as error:
        raise OutputRefused(f"{purpose}: {error}") from None
    except _NoSuchField as error:
        raise OutputRefused(f"{purpose}: {error}: no such field") from None


class _NoSuchField(Exception):
    """An object lacks the one field that its kind is about."""


def _field(obj: Object, key: str) -> Any:
    if key not in obj:
        raise _NoSuchField(key)
    return obj[key]


def _list(value: Any, go_type: str) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise StructError(f"json: cannot unmarshal {json_kind(value)} into Go value of type {go_type}")
    return value or []
