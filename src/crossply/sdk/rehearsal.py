"""A request made of plain dicts, as tests have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crossply.compose import messages
from crossply.sdk.plain import plain
from crossply.values.protobuf_struct import to_wire


def request_of(
    xr: Mapping[str, Any],
    observed: Mapping[str, Mapping[str, Any]],
    desired: Mapping[str, Mapping[str, Any]],
    *,
    required_resources: Mapping[str, Sequence[Mapping[str, Any]]] | None,
    required_schemas: Mapping[str, Mapping[str, Any]] | None,
    input: Mapping[str, Any] | None,  # noqa: A002 - the protocol's own word
    context: Mapping[str, Any] | None,
    credentials: Mapping[str, Mapping[str, bytes]] | None,
) -> messages.Request:
    """The request that an engine would send."""
    return messages.Request(
        messages.State(_resource(xr), _resources(observed)),
        messages.State(None, _resources(desired)),
        input=_object(input),
        context=_object(context),
        credentials=credentials,
        required_resources={
            name: tuple(map(_resource, items)) for name, items in (required_resources or {}).items()
        },
        required_schemas={name: _object(schema) for name, schema in (required_schemas or {}).items()},
    )


def _resources(values: Mapping[str, Mapping[str, Any]]) -> dict[str, messages.Resource]:
    return {name: _resource(value) for name, value in values.items()}


def _resource(value: Mapping[str, Any]) -> messages.Resource:
    return messages.Resource(to_wire(plain(value)))


def _object(value: Mapping[str, Any] | None) -> Any:
    return None if value is None else to_wire(plain(value))
