"""Which names a definition gets: those it wants, unless another kind of its group has them."""

from __future__ import annotations

from typing import NamedTuple

from crossply.apiserver.apiextensions.crd_conditions import Condition, find
from crossply.apiserver.registry.resources import Registry
from crossply.values import Object

_NOT_ACCEPTED = Condition("Established", "False", "NotAccepted", "not all names are accepted")
NO_CONFLICTS = Condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")


class Taken(NamedTuple):
    """The names in use in a group: of resources, and of kinds."""

    resources: frozenset[str]
    kinds: frozenset[str]


class Naming(NamedTuple):
    """The outcome: the names accepted, and the condition that says whether these are all."""

    names: Object
    condition: Condition


def taken_names(accepted: list[Object], registry: Registry, group: str) -> Taken:
    """The names that definitions of a group have been given, and those of built-in kinds in it."""
    resources, kinds = set(), set()
    for names in accepted:
        resources |= {names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())}
        kinds |= {names.get("kind"), names.get("listKind")}
    for resource in registry.all():
        if resource.group == group and not resource.custom:
            resources |= {resource.names.plural, resource.names.singular, *resource.names.short_names}
            kinds |= {resource.names.kind, resource.names.list_kind}
    return Taken(frozenset(filter(None, resources)), frozenset(filter(None, kinds)))


def accept_names(definition: Object, taken: Taken) -> Naming:
    """Give a definition the names that are free; of several conflicts the last one is told."""
    wanted = definition["spec"]["names"]
    held = (definition.get("status") or {}).get("acceptedNames") or {}
    names, told = dict(held), NO_CONFLICTS
    for key, reason, used in (
        ("plural", "PluralConflict", taken.resources),
        ("singular", "SingularConflict", taken.resources),
        ("shortNames", "ShortNamesConflict", taken.resources),
        ("kind", "KindConflict", taken.kinds),
        ("listKind", "ListKindConflict", taken.kinds),
    ):
        clashes = _clashes(wanted.get(key), held.get(key), used)
        if clashes:
            told = Condition("NamesAccepted", "False", reason, _sentence(clashes))
        else:
            names[key] = wanted.get(key)
    names["categories"] = wanted.get("categories")
    return Naming(_written(names), told)


def _clashes(wanted: str | list[str] | None, held: str | list[str] | None, used: frozenset[str]) -> list[str]:
    if isinstance(wanted, list):
        return [name for name in wanted if name not in (held or ()) and name in used]
    return [wanted] if wanted and wanted != held and wanted in used else []


def _sentence(clashes: list[str]) -> str:
    told = list(dict.fromkeys(f'"{name}" is already in use' for name in clashes))
    return told[0] if len(told) == 1 else f"[{', '.join(told)}]"


def _written(names: Object) -> Object:
    kept = {key: value for key, value in names.items() if value}
    return {"plural": "", "kind": "", **kept}


def established(definition: Object, accepted: bool, bundle_is_right: bool) -> Condition:
    """Whether the kind is served. Once it is, it stays so, whatever happens to its names."""
    held = find(definition, "Established")
    if held is not None and held.get("status") == "True":
        return Condition("Established", "True", held.get("reason") or "", held.get("message") or "")
    if not accepted:
        return _NOT_ACCEPTED if held is None else Condition(*_told(held))
    if not bundle_is_right:
        detail = "The conversion webhook CABundle is invalid"
        return Condition("Established", "False", "InvalidCABundle", detail)
    return Condition("Established", "True", "InitialNamesAccepted", "the initial names have been accepted")


def _told(held: Object) -> tuple[str, str, str, str]:
    return "Established", held.get("status") or "", held.get("reason") or "", held.get("message") or ""
