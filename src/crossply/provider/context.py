"""The context in which a provider's methods are called, beside the parameters of the managed resource."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from crossply.compose.object_metadata import (
    annotations_of,
    is_being_deleted,
    labels_of,
    name_of,
    namespace_of,
    uid_of,
)
from crossply.values import Object

EXTERNAL_NAME = "crossplane.io/external-name"
_log = logging.getLogger("crossply.provider")


class Context:
    """A managed resource during one reconcile.

    `external_name` is the name of the external resource. `create` may set it where the external system
    chooses the name; it is saved after `create`, also if that fails.
    """

    def __init__(
        self,
        resource: Object,
        client: Any = None,
        log: logging.Logger | logging.LoggerAdapter[Any] = _log,
        read_connection: Callable[[], Awaitable[Mapping[str, bytes] | None]] | None = None,
    ) -> None:
        self._resource = resource
        self.external_name = annotations_of(resource).get(EXTERNAL_NAME, "")
        self.client = client
        """What `connect` returned."""
        self.log = log
        self._read_connection = read_connection

    @property
    def resource(self) -> Object:
        """The managed resource itself, which must not be changed."""
        return self._resource

    @property
    def name(self) -> str:
        """The name of the managed resource."""
        return name_of(self._resource)

    @property
    def namespace(self) -> str:
        """The namespace of the managed resource; empty where its kind is cluster scoped."""
        return namespace_of(self._resource)

    @property
    def uid(self) -> str:
        """The UID of the managed resource."""
        return uid_of(self._resource)

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the managed resource."""
        return labels_of(self._resource)

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the managed resource."""
        return annotations_of(self._resource)

    @property
    def is_being_deleted(self) -> bool:
        """Whether the managed resource is being deleted."""
        return is_being_deleted(self._resource)

    @property
    def observed(self) -> Mapping[str, Any]:
        """`status.atProvider` as the last reconcile wrote it; empty before the first."""
        observed: Mapping[str, Any] = (self._resource.get("status") or {}).get("atProvider") or {}
        return observed

    def refresh(self, resource: Object) -> None:
        """Go on with a later version of the managed resource; the kit does so between two calls."""
        self._resource = resource

    async def connection_details(self) -> Mapping[str, bytes] | None:
        """The content of the connection Secret: empty where it does not exist, None where none is named."""
        return None if self._read_connection is None else await self._read_connection()

    def __repr__(self) -> str:
        place = f"{self.namespace}/{self.name}" if self.namespace else self.name
        return f"<Context of {place}, external name {self.external_name!r}>"
