"""Which names of a definition are accepted: those that no other kind of its group uses."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import NamedTuple

from crossply.apiserver.apiextensions.condition_list import Condition, find
from crossply.apiserver.served_resources import Registry
from crossply.values import Object

_NAMES = ("plural", "singular", "shortNames", "kind", "listKind")
_NOT_ACCEPTED = Condition("Established", "False", "NotAccepted", "not all names are accepted")
NO_CONFLICTS = Condition("NamesAccepted", "True", "NoConflicts", "no conflicts found")


class UsedNames(NamedTuple):
    """The names in use in a group: of resources, and of kinds."""

    resources: Container[str]
    kinds: Container[str]


class Naming(NamedTuple):
    """The accepted names, and the NamesAccepted condition."""

    names: Object
    condition: Condition


class NameIndex:
    """Which definitions use which names. Looking a name up takes as long with thousands of them."""

    def __init__(self) -> None:
        self._users: dict[tuple[str, bool, str], set[str]] = {}
        """Definitions by group, whether it is the name of a kind, and the name."""
        self._names: dict[str, list[tuple[str, bool, str]]] = {}

    def put(self, definition: str, group: str, accepted: Object) -> None:
        """Note the accepted names of a definition in place of those that it had."""
        self.remove(definition)
        names = [(group, False, name) for name in _resource_names(accepted)]
        names += [(group, True, name) for name in _kind_names(accepted)]
        # One name can be both the plural and the singular.
        names = self._names[definition] = list(dict.fromkeys(names))
        for key in names:
            self._users.setdefault(key, set()).add(definition)

    def remove(self, definition: str) -> None:
        for key in self._names.pop(definition, ()):
            users = self._users[key]
            users.discard(definition)
            if not users:
                del self._users[key]

    def used(self, definition: str, group: str, accepted: Object, registry: Registry) -> UsedNames:
        """The names that a definition cannot have: of others and of built-in kinds, and its own."""
        resources, kinds = set(_resource_names(accepted)), set(_kind_names(accepted))
        for resource in registry.in_group(group):
            if not resource.custom:
                names = resource.names
                resources |= {names.plural, names.singular, *names.short_names}
                kinds |= {names.kind, names.list_kind}
        return UsedNames(
            _Names(resources, self._users, (group, False), definition),
            _Names(kinds, self._users, (group, True), definition),
        )


class _Names:
    """Some names, and those that other definitions use."""

    __slots__ = ("_definition", "_names", "_place", "_users")

    def __init__(
        self,
        names: set[str],
        users: Mapping[tuple[str, bool, str], set[str]],
        place: tuple[str, bool],
        definition: str,
    ) -> None:
        self._names = names
        self._users = users
        self._place = place
        self._definition = definition

    def __contains__(self, name: object) -> bool:
        if not isinstance(name, str) or not name:
            return False
        return name in self._names or bool(self._users.get((*self._place, name), set()) - {self._definition})


def _resource_names(names: Object) -> Iterator[str]:
    yield from filter(None, (names.get("plural"), names.get("singular"), *(names.get("shortNames") or ())))


def _kind_names(names: Object) -> Iterator[str]:
    yield from filter(None, (names.get("kind"), names.get("listKind")))


def has_requested_names(definition: Object) -> bool:
    """Whether a definition has all names that it requests, so that nothing is to be decided."""
    accepted = (definition.get("status") or {}).get("acceptedNames") or {}
    requested = definition["spec"]["names"]
    return bool(_written({key: requested.get(key) for key in (*_NAMES, "categories")}) == accepted)


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
    requested: str | list[str] | None, accepted: str | list[str] | None, used: Container[str]
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
