"""Which names of a definition are accepted: those that no other kind of its group uses."""

from __future__ import annotations

from typing import NamedTuple

from crossply.apiserver.apiextensions.condition_list import Condition, find
from crossply.apiserver.registry.resources import Registry
from crossply.values import Object

_NOT_ACCEPTED = Condition("Established", "False", "NotAccepted", "not all names are accepted")
NO_CONFLICTS = Condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")


class UsedNames(NamedTuple):
    """The names in use in a group: of resources, and of kinds."""

    resources: frozenset[str]
    kinds: frozenset[str]


class Naming(NamedTuple):
    """The accepted names, and the NamesAccepted condition."""

    names: Object
    condition: Condition


def used_names(accepted: list[Object], registry: Registry, group: str) -> UsedNames:
    """The names that other definitions and built-in kinds of a group use."""
    resources, kinds = set(), set()
    for names in accepted:
        resources |= {names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())}
        kinds |= {names.get("kind"), names.get("listKind")}
    for resource in registry.all():
        if resource.group == group and not resource.custom:
            resources |= {resource.names.plural, resource.names.singular, *resource.names.short_names}
            kinds |= {resource.names.kind, resource.names.list_kind}
    return UsedNames(frozenset(filter(None, resources)), frozenset(filter(None, kinds)))


def accept_names(definition: Object, names_in_use: UsedNames) -> Naming:
    """Accept the names that are free; the condition reports the last of several conflicts."""
    requested = definition["spec"]["names"]
    accepted = (definition.get("status") or {}).get("acceptedNames") or {}
    names, condition = dict(accepted), NO_CONFLICTS
    for key, reason, used in (
        ("plural", "PluralConflict", names_in_use.resources),
        ("singular", "SingularConflict", names_in_use.resources),
        ("shortNames", "ShortNamesConflict", names_in_use.resources),
        ("kind", "KindConflict", names_in_use.kinds),
        ("listKind", "ListKindConflict", names_in_use.kinds),
    ):
        clashes = _clashes(requested.get(key), accepted.get(key), used)
        if clashes:
            condition = Condition("NamesAccepted", "False", reason, _sentence(clashes))
        else:
            names[key] = requested.get(key)
    names["categories"] = requested.get("categories")
    return Naming(_written(names), condition)


def _clashes(
    requested: str | list[str] | None, accepted: str | list[str] | None, used: frozenset[str]
) -> list[str]:
    if isinstance(requested, list):
        return [name for name in requested if name not in (accepted or ()) and name in used]
    return [requested] if requested and requested != accepted and requested in used else []


def _sentence(clashes: list[str]) -> str:
    sentences = list(dict.fromkeys(f'"{name}" is already in use' for name in clashes))
    return sentences[0] if len(sentences) == 1 else f"[{', '.join(sentences)}]"


def _written(names: Object) -> Object:
    non_empty = {key: value for key, value in names.items() if value}
    return {"plural": "", "kind": "", **non_empty}


def established(definition: Object, accepted: bool, bundle_is_right: bool) -> Condition:
    """The Established condition. Once it is true it stays so, whatever happens to the names."""
    current = find(definition, "Established")
    if current is not None and current.get("status") == "True":
        return Condition("Established", "True", current.get("reason") or "", current.get("message") or "")
    if not accepted:
        return _NOT_ACCEPTED if current is None else Condition(*_fields(current))
    if not bundle_is_right:
        detail = "The conversion webhook CABundle is invalid"
        return Condition("Established", "False", "InvalidCABundle", detail)
    return Condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")


def _fields(condition: Object) -> tuple[str, str, str, str]:
    return (
        "Established",
        condition.get("status") or "",
        condition.get("reason") or "",
        condition.get("message") or "",
    )
