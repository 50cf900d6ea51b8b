"""The state that all parts of a running server share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol

from crossply.apiserver.apiextensions.customresourcedefinition_strategy import DEFINITIONS, DefinitionStrategy
from crossply.apiserver.builtin import strategy_for
from crossply.apiserver.endpoints.call import Call
from crossply.apiserver.endpoints.replies import Reply
from crossply.apiserver.endpoints.request_info import RequestInfo, User
from crossply.apiserver.event_loop_offloading import Background
from crossply.apiserver.registry.apply_scopes import Scopes
from crossply.apiserver.registry.custom_resource_strategy import CustomStrategy
from crossply.apiserver.registry.strategy import Strategy
from crossply.apiserver.registry.write_locks import WriteLocks
from crossply.apiserver.served_resources import Registry, Resource, Version
from crossply.apiserver.storage import Store
from crossply.apiserver.stored_object_codec import DecodedObjects
from crossply.values import Object
from crossply.values.bounded_cache import SharedCache
from crossply.values.timestamps import format_timestamp


class Admission(Protocol):
    """What may change or refuse a write: webhooks and policies."""

    async def mutate(self, call: Call, operation: str, obj: Object, old: Object | None) -> Object:
        """The object after mutating admission."""
        ...

    async def validate(self, call: Call, operation: str, obj: Object | None, old: Object | None) -> None:
        """Raise a StatusError to refuse the write."""
        ...


class NoAdmission:
    async def mutate(self, call: Call, operation: str, obj: Object, old: Object | None) -> Object:
        return obj

    async def validate(self, call: Call, operation: str, obj: Object | None, old: Object | None) -> None: ...


Handler = Callable[["ServerContext", Call], Awaitable[Reply]]
Page = Callable[["ServerContext", RequestInfo, Mapping[str, str]], Awaitable[Reply]]
Deleter = Callable[["ServerContext", Call, str, Any], Awaitable[tuple[Object, bool]]]
Guard = Callable[[Call, Object, Object | None], None]
Authorize = Callable[[User, RequestInfo], None]
"""Raises the Forbidden error unless the user may make the request."""
Settle = Callable[[str], Awaitable[None]]
Convert = Callable[[Resource, list[Object], str], Awaitable[list[Object]]]


CUSTOM_STRATEGIES_BYTES = 16 << 20
"""Of JSON schemas whose strategies are kept; their rules are compiled."""


def now() -> datetime:
    """The time, to the second, as in Kubernetes' timestamps."""
    return datetime.now(UTC).replace(microsecond=0)


@dataclass(slots=True)
class ServerContext:
    store: Store
    registry: Registry
    scopes: Scopes = field(default_factory=Scopes)
    admission: Admission = field(default_factory=NoAdmission)
    clock: Callable[[], datetime] = now
    convert_by_webhook: Convert | None = None
    handlers: dict[tuple[str, str], Handler] = field(default_factory=dict)
    """Handlers of what is not stored: by resource key (or * for all) and subresource (or "")."""
    deleters: dict[str, Deleter] = field(default_factory=dict)
    """Kinds with a deletion of their own, by resource key."""
    guards: list[Guard] = field(default_factory=list)
    """Further checks of every write; each raises a StatusError to refuse it."""
    background: Background = field(default_factory=Background)
    write_locks: WriteLocks = field(default_factory=WriteLocks)
    decoded: DecodedObjects = field(default_factory=DecodedObjects)
    authorize: Authorize | None = None
    """Authorizes requests within a request; None allows everything."""
    after_write: dict[str, Settle] = field(default_factory=dict)
    """What to wait for after a write, by resource key."""
    pages: dict[str, Page] = field(default_factory=dict)
    """Handlers of non-resource URLs, by path prefix."""
    _strategies: dict[Version, Strategy] = field(default_factory=dict)
    _custom_strategies: SharedCache[Version, Strategy] = field(
        default_factory=lambda: SharedCache(CUSTOM_STRATEGIES_BYTES)
    )

    def strategy(self, resource: Resource, version: Version) -> Strategy:
        """The strategy of a resource at a version; those of custom resources are kept while they are used."""
        if resource.custom:
            make = partial(CustomStrategy, resource, version)
            return self._custom_strategies.get(version, make, version.schema_size)
        known = self._strategies.get(version)
        if known is None:
            is_definition = resource.key == DEFINITIONS
            known = DefinitionStrategy(resource) if is_definition else strategy_for(resource)
            self._strategies[version] = known
        return known

    def timestamp(self) -> str:
        """The current time as a timestamp."""
        return format_timestamp(self.clock())
