"""The roles and bindings of the store, parsed once and arranged by the subject they speak to.

The index reads everything at the start and follows the store's events from then on, so a decision never
parses an object. `generation` grows with each change: who keeps an answer can tell when to ask again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import orjson

from crossply.apiserver.auth.identities import account_username
from crossply.apiserver.auth.rbac.rules import GROUP, Rule, parse_rules
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
    """What the store says of an object."""

    @property
    def key(self) -> tuple[str, str, str]:
        """The resource, namespace and name."""

    @property
    def data(self) -> bytes:
        """The object."""


class Event(Entry, Protocol):
    """What the store says of a change."""

    @property
    def type(self) -> str:
        """ADDED, MODIFIED or DELETED."""


class RoleStore(Protocol):
    """The part of the store that the index needs."""

    def list(self, resource: str, namespace: str = "") -> Any:
        """The entries of a resource."""

    def subscribe(self, resource: str, callback: Callable[[Any], None]) -> Callable[[], None]:
        """Have every later change told."""


class CompiledRole:
    """The rules of a role, found by API group and resource."""

    __slots__ = ("_by_resource", "rules", "url_rules")

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = rules
        self.url_rules = tuple(rule for rule in rules if rule.urls)
        # By resource alone: groups times resources may be more than the memory holds.
        self._by_resource: dict[str, list[tuple[frozenset[str], Rule]]] = {}
        for rule in rules:
            groups = frozenset(rule.api_groups)
            for resource in rule.resources:
                self._by_resource.setdefault(resource, []).append((groups, rule))

    def rules_about(self, groups: Iterable[str], resources: tuple[str, ...]) -> Iterator[Rule]:
        """The rules that speak of any of these resources in any of these groups."""
        for resource in resources:
            for known, rule in self._by_resource.get(resource, ()):
                if not known.isdisjoint(groups):
                    yield rule


@dataclass(frozen=True, slots=True)
class Grant:
    """A binding as one of its subjects sees it."""

    binding: str
    namespace: str
    """Where the binding is; empty for a ClusterRoleBinding."""
    role_kind: str
    role_name: str
    order: int
    subject: str
    """The subject as messages name it."""

    @property
    def role(self) -> RoleKey | None:
        """The key of the role that is granted; None when the reference can mean no role."""
        return role_key(self.role_kind, self.namespace, self.role_name)

    def __str__(self) -> str:
        if self.namespace:
            name = quote(f"{self.binding}/{self.namespace}")
            return f"RoleBinding {name} of {self.role_kind} {quote(self.role_name)} to {self.subject}"
        name = quote(self.binding)
        return f"ClusterRoleBinding {name} of {self.role_kind} {quote(self.role_name)} to {self.subject}"


class RoleIndex:
    """All roles and bindings, kept current."""

    def __init__(self) -> None:
        self.generation = 0
        self._roles: dict[RoleKey, CompiledRole] = {}
        # Namespace ("" for the cluster), subject, binding: three levels, so that a binding that goes is
        # found again without looking through the others.
        self._grants: dict[str, dict[SubjectKey, dict[str, Grant]]] = {}
        self._subjects: dict[tuple[str, str], list[SubjectKey]] = {}

    def watch(self, store: RoleStore) -> Callable[[], None]:
        """Take in what the store has and every later change; returns the way to stop."""
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
        """Take in one change."""
        if event.type == "DELETED":
            self._remove(event.key)
        else:
            self._put(event.key, orjson.loads(event.data))
        self.generation += 1

    def role(self, key: RoleKey | None) -> CompiledRole | None:
        """A role by its key."""
        return None if key is None else self._roles.get(key)

    def grants(self, user: User, namespace: str) -> Iterator[Grant]:
        """What bindings give a user: those of the cluster, then those of the namespace."""
        yield from self._grants_in("", user)
        if namespace:
            yield from self._grants_in(namespace, user)

    def _grants_in(self, namespace: str, user: User) -> list[Grant]:
        by_subject = self._grants.get(namespace)
        if by_subject is None:
            return []
        # Several subjects of one binding may apply; the first of them stands for it.
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
    """The role that a binding in `namespace` refers to; a binding of the cluster cannot grant a Role."""
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
    """Who a binding's subject is; None when it is nobody."""
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
