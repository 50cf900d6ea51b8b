"""What every part of a running server shares."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from crossply.apiserver.apiextensions.crd_strategy import DEFINITIONS, DefinitionStrategy
from crossply.apiserver.background import Background
from crossply.apiserver.builtin import strategy_for
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.object_codec import DecodedObjects
from crossply.apiserver.registry.managed_fields import Scopes
from crossply.apiserver.registry.resources import Registry, Resource, Version
from crossply.apiserver.registry.strategy import CustomStrategy, Strategy
from crossply.apiserver.registry.write_locks import WriteLocks
from crossply.apiserver.storage import Store
from crossply.values import Object
from crossply.values.timestamps import format_timestamp


class Admission(Protocol):
    """Who else has a say in a write: webhooks and policies."""

    async def mutate(self, call: Call, operation: str, obj: Object, old: Object | None) -> Object:
        """The object as mutating admission wants it."""
        ...

    async def validate(self, call: Call, operation: str, obj: Object | None, old: Object | None) -> None:
        """Refuse the write, or let it pass."""
        ...


class NoAdmission:
    """Nobody else has a say."""

    async def mutate(self, call: Call, operation: str, obj: Object, old: Object | None) -> Object:
        """The object as it is."""
        return obj

    async def validate(self, call: Call, operation: str, obj: Object | None, old: Object | None) -> None:
        """Let everything pass."""


Handler = Callable[["ServerContext", Call], Awaitable[Reply]]
Page = Callable[["ServerContext", RequestInfo, Mapping[str, str]], Awaitable[Reply]]
Deleter = Callable[["ServerContext", Call, str, Any], Awaitable[tuple[Object, bool]]]
Guard = Callable[[Call, Object, Object | None], None]
Authorize = Callable[[User, RequestInfo], None]
"""Raises the Forbidden error unless the user may make the request."""
Settle = Callable[[str], Awaitable[None]]
Convert = Callable[[Resource, list[Object], str], Awaitable[list[Object]]]


def now() -> datetime:
    """The time, to the second, as Kubernetes stamps objects."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(slots=True)
class ServerContext:
    """The running server's shared parts."""

    store: Store
    registry: Registry
    scopes: Scopes = field(default_factory=Scopes)
    admission: Admission = field(default_factory=NoAdmission)
    clock: Callable[[], datetime] = now
    convert_by_webhook: Convert | None = None
    handlers: dict[tuple[str, str], Handler] = field(default_factory=dict)
    """Who answers what is not stored: by resource key (or * for all) and subresource (or nothing)."""
    deleters: dict[str, Deleter] = field(default_factory=dict)
    """Kinds whose deletion is special, by resource key."""
    guards: list[Guard] = field(default_factory=list)
    """Further checks of every write; each raises a StatusError to refuse it."""
    background: Background = field(default_factory=Background)
    write_locks: WriteLocks = field(default_factory=WriteLocks)
    decoded: DecodedObjects = field(default_factory=DecodedObjects)
    authorize: Authorize | None = None
    """Decides about requests within a request; None allows everything."""
    after_write: dict[str, Settle] = field(default_factory=dict)
    """What to wait for after an object of a resource was written, by resource key."""
    pages: dict[str, Page] = field(default_factory=dict)
    """Who answers paths that are not about objects, by the beginning of the path."""
    _strategies: dict[int, tuple[Version, Strategy]] = field(default_factory=dict)

    def strategy(self, resource: Resource, version: Version) -> Strategy:
        """What is special about a resource at a version; made once."""
        known = self._strategies.get(id(version))
        if known is None or known[0] is not version:
            if resource.custom:
                strategy: Strategy = CustomStrategy(resource, version)
            elif resource.key == DEFINITIONS:
                strategy = DefinitionStrategy(resource)
            else:
                strategy = strategy_for(resource)
            known = self._strategies[id(version)] = (version, strategy)
        return known[1]

    def timestamp(self) -> str:
        """Now, as objects show it."""
        return format_timestamp(self.clock())
