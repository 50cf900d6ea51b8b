"""An index of roles and bindings by subject, kept current by watching the store.

The index reads everything at startup and applies the store's events from then on, so that a decision never
parses an object. `generation` increases with each change, for those who cache results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from crossply.apiserver.auth.rbac.rules import GROUP, Rule, parse_rules
from crossply.apiserver.auth.system_users_and_groups import account_username
from crossply.apiserver.endpoints.request_info import User
from crossply.values import Object
from crossply.values.goquote import quote

ROLES = f"roles.{GROUP}"
CLUSTER_ROLES = f"clusterroles.{GROUP}"
ROLE_BINDINGS = f"rolebindings.{GROUP}"
CLUSTER_ROLE_BINDINGS = f"clusterrolebindings.{GROUP}"
RESOURCES = (CLUSTER_ROLES, ROLES, CLUSTER_ROLE_BINDINGS, ROLE_BINDINGS)

RoleKey = tuple[str, str]
"""The namespace and name of a role; a ClusterRole has no namespace."""
SubjectKey = tuple[str, str]
"""`User` or `Group`, and the name. A service account is the user it acts as."""


class Entry(Protocol):
    """An object in the store."""

    @property
    def key(self) -> tuple[str, str, str]: ...

    @property
    def data(self) -> bytes: ...


class Event(Entry, Protocol):
    """A change in the store."""

    @property
    def type(self) -> str:
        """ADDED, MODIFIED or DELETED."""


class RoleStore(Protocol):
    """The part of the store that the index needs."""

    def list(self, resource: str, namespace: str = "") -> Any: ...

    def subscribe(self, resource: str, callback: Callable[[Any], None]) -> Callable[[], None]: ...


class CompiledRole:
    """The rules of a role, indexed by resource."""

    __slots__ = ("_by_resource", "rules", "url_rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.url_rules = tuple(rule for rule in rules if rule.urls)
        # By resource alone: groups times resources may be too many.
        self._by_resource: dict[str, list[tuple[frozenset[str], Rule]]] = {}
        for rule in rules:
            groups = frozenset(rule.api_groups)
            for resource in rule.resources:
                self._by_resource.setdefault(resource, []).append((groups, rule))

    def rules_about(self, groups: Iterable[str], resources: tuple[str, ...]) -> Iterator[Rule]:
        """The rules about any of these resources in any of these groups."""
        for resource in resources:
            for known, rule in self._by_resource.get(resource, ()):
                if not known.isdisjoint(groups):
                    yield rule


@dataclass(frozen=True, slots=True)
class Grant:
    """A binding, seen from one of its subjects."""

    binding: str
    namespace: str
    """The namespace of the binding; empty for a ClusterRoleBinding."""
    role_kind: str
    role_name: str
    order: int
    subject: str
    """The subject as messages name it."""

    @property
    def role(self) -> RoleKey | None:
        """The key of the granted role; None if the reference is invalid."""
        return role_key(self.role_kind, self.namespace, self.role_name)

    def __str__(self) -> str:
        if self.namespace:
            name = quote(f"{self.binding}/{self.namespace}")
            return f"RoleBinding {name} of {self.role_kind} {quote(self.role_name)} to {self.subject}"
        name = quote(self.binding)
        return f"ClusterRoleBinding {name} of {self.role_kind} {quote(self.role_name)} to {self.subject}"


class RoleIndex:
    """All roles and bindings."""

    def __init__(self) -> None:
        self.generation = 0
        self._roles: dict[RoleKey, CompiledRole] = {}
        # Namespace ("" for the cluster), subject, binding: three levels, so that a binding can be
        # removed without searching the others.
        self._grants: dict[str, dict[SubjectKey, dict[str, Grant]]] = {}
        self._subjects: dict[tuple[str, str], list[SubjectKey]] = {}

    def watch(self, store: RoleStore) -> Callable[[], None]:
        """Add what the store has and watch for changes; returns a function that stops watching."""
        stops = [store.subscribe(resource, self.apply) for resource in RESOURCES]
        for resource in RESOURCES:
            for entry in store.list(resource):
                self._put(entry.key, orjson.loads(entry.data))
        self.generation += 1

        def stop() -> None:
            for unsubscribe in stops:
                unsubscribe()

        return stop

    def apply(self, event: Event) -> None:
        """Apply an event."""
        if event.type == "DELETED":
            self._remove(event.key)
        else:
            self._put(event.key, orjson.loads(event.data))
        self.generation += 1

    def role(self, key: RoleKey | None) -> CompiledRole | None:
        return None if key is None else self._roles.get(key)

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """The grants of a user: those of the cluster, then those of the namespace."""
        yield from self._grants_in("", user)
        if namespace:
            yield from self._grants_in(namespace, user)

    def _grants_in(self, namespace: str, user: User) -> list[Grant]:
        by_subject = self._grants.get(namespace)
        if by_subject is None:
            return []
        # Several subjects of one binding may match; the first one counts.
        grants: dict[str, Grant] = dict(by_subject.get(("User", user.name), ()))
        for group in user.groups:
            for name, grant in by_subject.get(("Group", group), {}).items():
                known = grants.get(name)
                if known is None or grant.order < known.order:
                    grants[name] = grant
        return [grants[name] for name in sorted(grants)]

    def _put(self, key: tuple[str, str, str], body: Object) -> None:
        resource, namespace, name = key
        if resource in (ROLES, CLUSTER_ROLES):
            self._roles[namespace, name] = CompiledRole(parse_rules(body))
            return
        self._remove(key)
        by_subject = self._grants.setdefault(namespace, {})
        keys = self._subjects.setdefault((namespace, name), [])
        for subject, grant in _grants_of(namespace, name, body):
            by_subject.setdefault(subject, {}).setdefault(name, grant)
            keys.append(subject)

    def _remove(self, key: tuple[str, str, str]) -> None:
        resource, namespace, name = key
        if resource in (ROLES, CLUSTER_ROLES):
            self._roles.pop((namespace, name), None)
            return
        by_subject = self._grants.get(namespace, {})
        for subject in self._subjects.pop((namespace, name), ()):
            grants = by_subject.get(subject, {})
            grants.pop(name, None)
            if not grants:
                by_subject.pop(subject, None)
        if not by_subject:
            self._grants.pop(namespace, None)


def role_key(kind: str, namespace: str, name: str) -> RoleKey | None:
    """The role that a binding in `namespace` refers to; a ClusterRoleBinding cannot grant a Role."""
    if kind == "ClusterRole":
        return "", name
    return (namespace, name) if kind == "Role" and namespace else None


def _grants_of(namespace: str, name: str, binding: Object) -> Iterator[tuple[SubjectKey, Grant]]:
    role = binding.get("roleRef") or {}
    for order, subject in enumerate(binding.get("subjects") or ()):
        key = subject_key(subject, namespace)
        if key is None:
            continue
        description = _describe(subject, namespace)
        yield key, Grant(name, namespace, role.get("kind", ""), role.get("name", ""), order, description)


def subject_key(subject: Object, namespace: str) -> SubjectKey | None:
    """The key of a binding's subject; None if it is invalid."""
    kind, name = subject.get("kind"), subject.get("name", "")
    if kind in ("User", "Group"):
        return kind, name
    home = subject.get("namespace") or namespace
    if kind == "ServiceAccount" and home:
        return "User", account_username(home, name)
    return None


def _describe(subject: Object, namespace: str) -> str:
    name = subject.get("name", "")
    if subject["kind"] == "ServiceAccount":
        name = f"{name}/{subject.get('namespace') or namespace}"
    return f"{subject['kind']} {quote(name)}"
