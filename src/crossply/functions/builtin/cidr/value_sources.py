"""The values that parameters of function-cidr refer to: in the XR, in desired resources, in the context."""

from __future__ import annotations

from typing import Any

from crossply.compose.function_messages import Request
from crossply.functions.builtin.cidr.gjson_array_query import PathSyntaxError
from crossply.functions.builtin.cidr.gjson_path import ABSENT, lookup
from crossply.functions.builtin.patch_and_transform.object_fields import text_field
from crossply.functions.reply_limits import within_deadline
from crossply.kinds.gostructs import (
    JSON_STRING,
    DecodeError,
    Field,
    GoType,
    integer,
    list_of,
    round_trip,
    struct,
)
from crossply.values import Object
from crossply.values.field_path import PathError, get, get_string
from crossply.values.protobuf_struct import from_wire

_INT = integer("int", 64)
_BITS = list_of(_INT)
_ITEMS = list_of(JSON_STRING)
_PREFIXES = list_of(
    struct(
        "MultiPrefix",
        {"prefix": Field(JSON_STRING), "newBits": Field(_BITS), "offset": Field(_INT)},
        package="v1beta1",
    )
)
_PART = 256
_DESIRED_XR = "desired.composite.resource."
_DESIRED_RESOURCES = "desired.resources."
_CONTEXT = "context."


class SourceError(Exception):
    """A parameter refers to a value that is missing or has the wrong type."""


class Sources:
    """What the parameters of one request can refer to."""

    def __init__(self, request: Request) -> None:
        composite = request.observed.composite
        self._request = request
        self._xr: Object = composite.object if composite else {}

    @property
    def kind(self) -> str:
        """The kind of the XR, for messages."""
        return text_field(self._xr, "kind")

    @property
    def xr_type(self) -> Object:
        """The apiVersion and kind of the XR, empty where it has none."""
        return {name: text_field(self._xr, name) for name in ("apiVersion", "kind")}

    def text(self, path: str) -> str:
        return _text(self._xr, path)

    def integer(self, path: str) -> int:
        """A number without its fraction."""
        try:
            value = from_wire(get(self._xr, path))
        except PathError as error:
            raise SourceError(str(error)) from None
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SourceError(f"{path}: not a (int64) number")
        return int(value)

    def bits(self, path: str) -> list[int]:
        """Numbers of bits."""
        return self._decoded(path, _BITS)

    def items(self, path: str) -> list[str]:
        """Texts, of which only the number counts."""
        return self._decoded(path, _ITEMS)

    def prefixes(self, path: str) -> list[Object]:
        """Prefixes with how to split them."""
        return self._decoded(path, _PREFIXES)

    def _decoded(self, path: str, go_type: GoType) -> list[Any]:
        try:
            value = get(self._xr, path)
            # A long list takes seconds: the deadline is checked after each part of it.
            parts = (
                [value[start : start + _PART] for start in range(0, len(value), _PART)]
                if isinstance(value, list)
                else [value]
            )
            return [
                item for part in within_deadline(parts) for item in round_trip(from_wire(part), go_type) or ()
            ]
        except PathError as error:
            raise SourceError(str(error)) from None
        except DecodeError as error:
            raise SourceError(f"cannot unmarshal value from JSON: {error}") from None

    def prefix(self, path: str) -> str:
        """The prefix at a field of the XR, of a desired resource, or of the context."""
        if path.startswith("desired.composite."):
            return self._desired_composite_prefix(path)
        if path.startswith(_DESIRED_RESOURCES):
            return self._desired_resource_prefix(path)
        if path.startswith("desired."):
            return ""
        if path.startswith(_CONTEXT):
            return self._context_prefix(path.removeprefix(_CONTEXT))
        try:
            return self.text(path)
        except SourceError as error:
            raise SourceError(f"cannot get prefix from field {path} for {self.kind}: {error}") from None

    def _desired_composite_prefix(self, path: str) -> str:
        composite = self._request.desired.composite
        xr = composite.object if composite else {}
        try:
            return _text(xr, path.replace(_DESIRED_XR, "", 1))
        except SourceError as error:
            kind = xr.get("kind", "")
            raise SourceError(f"cannot get prefix from field {path} for {kind}: {error}") from None

    def _desired_resource_prefix(self, path: str) -> str:
        name, field = _split_name(path.removeprefix(_DESIRED_RESOURCES))
        resource = self._request.desired.resources.get(name)
        if resource is None:
            raise SourceError(f"No composed resource with name {name} found for field {path}")
        try:
            return _text(resource.object, field.removeprefix("resource."))
        except SourceError as error:
            raise SourceError(
                f"cannot get prefix for resource with name {name} from field {path}: {error}"
            ) from None

    def _context_prefix(self, path: str) -> str:
        context = self._request.context
        if context is None:
            raise SourceError("No context available")
        try:
            value = lookup(context, path)
        except PathSyntaxError as error:
            raise SourceError(f"Failed to extract value for {path} from json context: {error}") from None
        if value is ABSENT:
            raise SourceError(f"Failed to extract value for {path} from json context")
        return value if isinstance(value, str) else ""


def _text(obj: Object, path: str) -> str:
    try:
        return get_string(obj, path)
    except PathError as error:
        raise SourceError(str(error)) from None


def _split_name(path: str) -> tuple[str, str]:
    """The name of a resource, in which periods are quoted, and the path after it."""
    name, is_quoted = "", False
    for position, char in enumerate(path):
        if char == "'":
            is_quoted = not is_quoted
        elif char == "." and not is_quoted:
            return name, path[position + 1 :]
        else:
            name += char
    return name, ""
