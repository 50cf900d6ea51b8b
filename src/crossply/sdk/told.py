"""A request of the engine in this process: plain data, which the engine goes on using."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crossply.compose import messages
from crossply.sdk import remembered
from crossply.sdk.arrival import Draft, Parts, Piece, conditions_of
from crossply.values import Object
from crossply.values.protobuf_struct import from_wire, read_chunk, to_wire


class Told:
    """A request as plain data."""

    __slots__ = ("_request",)

    def __init__(self, request: messages.Request) -> None:
        self._request = request

    @property
    def tag(self) -> messages.Request:
        """The request itself: its tag is computed when somebody needs it."""
        return self._request

    @property
    def capabilities(self) -> tuple[int, ...]:
        """What the engine says it can do."""
        return self._request.capabilities

    @property
    def observed(self) -> Parts:
        """What there is."""
        return Parts(*self._request.observed)

    @property
    def desired(self) -> Parts:
        """What the steps before want."""
        return Parts(*self._request.desired)

    def piece(self, part: messages.Resource | Piece) -> Piece:
        """A resource of the parts."""
        if isinstance(part, Piece):
            return part
        return Piece(part.object, part.connection_details, part.ready)

    def open(self, frozen: Object) -> Object:
        """An object of the function's own."""
        opened: Object = from_wire(frozen)
        return opened

    def conditions(self, part: messages.Resource) -> Mapping[str, Object]:
        """The status conditions of a resource."""
        status = part.object.get("status")
        return conditions_of(status.get("conditions") if isinstance(status, dict) else None)

    def with_ready(self, part: messages.Resource | Piece, ready: int) -> messages.Resource | Piece:
        """The same resource, ready or not."""
        return part._replace(ready=ready)

    def part(self, fields: Object) -> messages.Resource:
        """A copy as the wire would show it: what cannot be sent is refused here, too."""
        sent = remembered.write_resource(fields)
        return messages.Resource(remembered.read_as_sent(sent[read_chunk(sent, 1, len(sent))[0] :]))

    def input(self) -> Object | None:
        """The input of the step."""
        return _copy(self._request.input)

    def context(self) -> Object | None:
        """What the steps before told each other."""
        return _copy(self._request.context)

    def credentials(self) -> Mapping[str, Mapping[str, bytes]]:
        """The data of the step's credentials."""
        return self._request.credentials

    def required(self) -> Mapping[str, Sequence[Any]]:
        """The resources that were asked for."""
        return {**self._request.extra_resources, **self._request.required_resources}

    def schemas(self) -> Mapping[str, Object | None]:
        """The schemas that were asked for."""
        return {name: _copy(schema) for name, schema in self._request.required_schemas.items()}

    def finish(self, draft: Draft) -> messages.Response:
        """The response as plain data."""
        composite, resources = draft.desired
        return draft.rest._replace(
            desired=messages.State(
                None if composite is None else _message(composite),
                {name: _message(part) for name, part in resources.items()},
            ),
            context=self._request.context if draft.context is None else to_wire(draft.context),
        )


def _copy(value: Object | None) -> Object | None:
    return None if value is None else from_wire(value)


def _message(part: messages.Resource | Piece) -> messages.Resource:
    return messages.Resource(*part) if isinstance(part, Piece) else part
