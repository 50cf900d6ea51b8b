"""The RBAC decision about a request, and the rules of a user.

Permissions only add up, so the first rule that allows ends the search. The roles of a user, and decisions
that do not depend on the object's name, are cached until a role or binding changes: most requests take one
look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from crossply.apiserver.auth.rbac.forbidden_errors import denied, resolution_problems
from crossply.apiserver.auth.rbac.role_index import CompiledRole, Grant, RoleIndex, RoleStore, role_key
from crossply.apiserver.auth.rbac.rules import ALL, Rule, allows, spellings
from crossply.apiserver.auth.system_users_and_groups import MASTERS
from crossply.apiserver.endpoints.request_info import RequestInfo, User

_K = TypeVar("_K")
_V = TypeVar("_V")
_MOST_CACHED = 4096
_Question = tuple[str, tuple[str, ...], str, str, str, str, str]
"""User, groups, namespace, verb, API group, resource and subresource."""


class _Holdings(NamedTuple):
    """The roles of a user in a namespace."""

    granted: list[tuple[Grant, CompiledRole]]
    missing: list[Grant]
    """Bindings to roles that do not exist."""


@dataclass(frozen=True, slots=True)
class Decision:
    """Whether a request is allowed, and why."""

    allowed: bool
    reason: str = ""


_PRIVILEGED = Decision(True)


class Authorizer:
    """Decides whether a user may do something, by the current roles and bindings."""

    def __init__(self, index: RoleIndex | None = None) -> None:
        self._index = index or RoleIndex()
        self._decisions: dict[_Question, Decision] = {}
        self._holdings: dict[tuple[str, tuple[str, ...], str], _Holdings] = {}
        self._cached_generation = -1

    @classmethod
    def watching(cls, store: RoleStore) -> Authorizer:
        """An authorizer that watches the roles and bindings of a store."""
        authorizer = cls()
        authorizer.stop = authorizer._index.watch(store)
        return authorizer

    stop: Callable[[], None] = staticmethod(lambda: None)
    """Stop watching the store."""

    @property
    def generation(self) -> int:
        """Increases with every change of a role or binding; watches then check access again."""
        return self._index.generation

    def require(self, user: User, info: RequestInfo) -> None:
        """Raise the Forbidden error unless the user may do this."""
        decision = self.authorize(user, info)
        if not decision.allowed:
            raise denied(user, info, decision.reason)

    def authorize(self, user: User, info: RequestInfo) -> Decision:
        if MASTERS in user.groups:
            return _PRIVILEGED
        if self._cached_generation != self._index.generation:
            self._forget()
        key = (user.name, user.groups, info.namespace, info.verb, info.group, info.resource, info.subresource)
        known = self._decisions.get(key) if info.resource else None
        return known if known is not None else self._decide(user, info, key)

    def _decide(self, user: User, info: RequestInfo, key: _Question) -> Decision:
        for grant, rule in self._candidates(user, info):
            if allows(rule, info):
                decision = Decision(True, f"RBAC: allowed by {grant}")
                if info.resource and not rule.resource_names:
                    _bounded(self._decisions)[key] = decision
                return decision
        problems = resolution_problems(self.missing_roles(user, info.namespace))
        return Decision(False, f"RBAC: {problems}" if problems else "")

    def rules_for(self, user: User, namespace: str) -> list[Rule]:
        """Every rule of a user in a namespace ("" for the cluster)."""
        return [rule for _, role in self._holdings_of(user, namespace).granted for rule in role.rules]

    def role_rules(self, kind: str, namespace: str, name: str) -> tuple[Rule, ...] | None:
        """The rules of the role that a binding in `namespace` refers to, or None."""
        role = self._index.role(role_key(kind, namespace, name))
        return None if role is None else role.rules

    def missing_roles(self, user: User, namespace: str) -> list[Grant]:
        """The bindings of a user to roles that do not exist, which make `rules_for` incomplete."""
        return self._holdings_of(user, namespace).missing

    def _candidates(self, user: User, info: RequestInfo) -> Iterator[tuple[Grant, Rule]]:
        resources = spellings(info.resource, info.subresource)
        groups = (info.group, ALL)
        for grant, role in self._holdings_of(user, info.namespace).granted:
            rules = role.rules_about(groups, resources) if info.resource else role.url_rules
            for rule in rules:
                yield grant, rule

    def _holdings_of(self, user: User, namespace: str) -> _Holdings:
        if self._cached_generation != self._index.generation:
            self._forget()
        key = (user.name, user.groups, namespace)
        known = self._holdings.get(key)
        if known is None:
            known = _bounded(self._holdings)[key] = self._resolve(user, namespace)
        return known

    def _resolve(self, user: User, namespace: str) -> _Holdings:
        grants = [(grant, self._index.role(grant.role)) for grant in self._index.grants(user, namespace)]
        granted = [(grant, role) for grant, role in grants if role is not None]
        return _Holdings(granted, [grant for grant, role in grants if role is None])

    def _forget(self) -> None:
        self._decisions.clear()
        self._holdings.clear()
        self._cached_generation = self._index.generation


def _bounded(memory: dict[_K, _V]) -> dict[_K, _V]:
    """The cache, emptied if it is full."""
    if len(memory) >= _MOST_CACHED:
        memory.clear()
    return memory
