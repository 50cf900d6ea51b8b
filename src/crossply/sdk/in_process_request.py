"""A request of the engine in this process: plain data, which the engine continues to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crossply.compose import function_messages
from crossply.sdk import struct_cache as struct_cache
from crossply.sdk.author_value_conversion import plain
from crossply.sdk.request_interface import ResourcePart, ResponseDraft, StateParts, conditions_of
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire, read_chunk, to_wire


class InProcessRequest:
    """A request as plain data."""

    __slots__ = ("_request",)

    def __init__(self, request: function_messages.Request) -> None:
        self._request = request

    @property
    def tag(self) -> function_messages.Request:
        """The request itself: its tag is computed on demand."""
        return self._request

    @property
    def capabilities(self) -> tuple[int, ...]:
        return self._request.capabilities

    @property
    def observed(self) -> StateParts:
        return StateParts(*self._request.observed)

    @property
    def desired(self) -> StateParts:
        return StateParts(*self._request.desired)

    def unpack(self, part: function_messages.Resource | ResourcePart) -> ResourcePart:
        if isinstance(part, ResourcePart):
            return part
        return ResourcePart(part.object, part.connection_details, part.ready)

    def open(self, frozen: Object) -> Object:
        opened: Object = from_wire(frozen)
        return opened

    def conditions(self, part: function_messages.Resource) -> Mapping[str, Object]:
        status = part.object.get("status")
        return conditions_of(status.get("conditions") if isinstance(status, dict) else None)

    def with_ready(
        self, part: function_messages.Resource | ResourcePart, ready: int
    ) -> function_messages.Resource | ResourcePart:
        return part._replace(ready=ready)

    def part(self, fields: Object) -> function_messages.Resource:
        """Encode and decode the object, so that values that cannot be sent are refused here, too."""
        sent = struct_cache.write_resource(fields)
        return function_messages.Resource(
            struct_cache.read_as_sent(sent[read_chunk(sent, 1, len(sent))[0] :])
        )

    def input(self) -> Object | None:
        return _copy(self._request.input)

    def context(self) -> Object | None:
        return _copy(self._request.context)

    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        return self._request.credentials

    def required(self) -> Mapping[str, Sequence[Any]]:
        return {**self._request.extra_resources, **self._request.required_resources}

    def schemas(self) -> Mapping[str, Object | None]:
        return {name: _copy(schema) for name, schema in self._request.required_schemas.items()}

    def finish(self, draft: ResponseDraft) -> function_messages.Response:
        composite, resources = draft.desired
        return draft.rest._replace(
            desired=function_messages.State(
                None if composite is None else _message(composite),
                {name: _message(part) for name, part in resources.items()},
            ),
            context=self._request.context if draft.context is None else to_wire(draft.context),
        )


def _copy(value: Object | None) -> Object | None:
    return None if value is None else from_wire(value)


def _message(part: function_messages.Resource | ResourcePart) -> function_messages.Resource:
    return function_messages.Resource(*part) if isinstance(part, ResourcePart) else part


def build_request(
    xr: Mapping[str, Any],
    observed: Mapping[str, Mapping[str, Any]],
    desired: Mapping[str, Mapping[str, Any]],
    *,
    required_resources: Mapping[str, Sequence[Mapping[str, Any]]] | None,
    required_schemas: Mapping[str, Mapping[str, Any]] | None,
    input: Mapping[str, Any] | None,  # noqa: A002 - the protocol's own word
    context: Mapping[str, Any] | None,
    credentials: Mapping[str, Mapping[str, bytes]] | None,
) -> function_messages.Request:
    """A request from plain dicts, as an engine would send it."""
    return function_messages.Request(
        function_messages.State(_resource(xr), _resources(observed)),
        function_messages.State(None, _resources(desired)),
        input=_object(input),
        context=_object(context),
        credentials=credentials,
        required_resources={
            name: tuple(map(_resource, items)) for name, items in (required_resources or {}).items()
        },
        required_schemas={name: _object(schema) for name, schema in (required_schemas or {}).items()},
    )


def _resources(values: Mapping[str, Mapping[str, Any]]) -> dict[str, function_messages.Resource]:
    return {name: _resource(value) for name, value in values.items()}


def _resource(value: Mapping[str, Any]) -> function_messages.Resource:
    return function_messages.Resource(to_wire(plain(value)))


def _object(value: Mapping[str, Any] | None) -> Any:
    return None if value is None else to_wire(plain(value))
