"""Resources that a function reads, and those that it desires.

Both behave like dicts. They are decoded on first access, so checking the readiness of one of a hundred
resources costs only that one.
"""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, KeysView, Mapping, MutableMapping, ValuesView
from typing import Any

from crossply.compose.function_messages import READY_FALSE, READY_TRUE, READY_UNSPECIFIED
from crossply.sdk.author_value_conversion import fields_of, plain
from crossply.sdk.failures import ValueRefused
from crossply.sdk.request_interface import Condition, IncomingRequest, ResourcePart, conditions_of
from crossply.values import Object
from crossply.values.deepcopy import deepcopy
from crossply.values.protobuf_struct import StructError

_READY = {READY_UNSPECIFIED: None, READY_TRUE: True, READY_FALSE: False}
_AS_NUMBER = {None: READY_UNSPECIFIED, True: READY_TRUE, False: READY_FALSE}


class Resource(Mapping[str, Any]):
    """A resource that can be read: `xr["spec"]["region"]`, `xr.name`, `xr.at("spec.size", 1)`.

    It is a copy. Changing what is inside it changes nothing else.
    """

    __slots__ = ("_incoming", "_opened", "_part")

    def __init__(self, incoming: IncomingRequest, part: Any) -> None:
        self._incoming = incoming
        self._part = part
        self._opened: Object | None = None

    @property
    def _fields(self) -> Object:
        if self._opened is None:
            self._opened = self._incoming.open(self._incoming.unpack(self._part).frozen)
        return self._opened

    def __getitem__(self, key: str) -> Any:
        return self._fields[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __len__(self) -> int:
        return len(self._fields)

    def __contains__(self, key: object) -> bool:
        return key in self._fields

    def __eq__(self, other: object) -> bool:
        return self._fields == (other._fields if isinstance(other, Resource) else other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._fields!r})"

    def keys(self) -> KeysView[str]:
        """The names of its fields."""
        return self._fields.keys()

    def values(self) -> ValuesView[Any]:
        """The values of its fields."""
        return self._fields.values()

    def items(self) -> ItemsView[str, Any]:
        """Its fields."""
        return self._fields.items()

    def to_dict(self) -> Object:
        """A deep copy as a plain dict."""
        copied: Object = deepcopy(self._fields)
        return copied

    def at(self, path: str, default: Any = None) -> Any:
        """The value at a field path such as `spec.subnets[0].id`, or the default."""
        from crossply.values.field_path import PathNotFound, get

        try:
            return get(self._fields, path)
        except PathNotFound:
            return default

    @property
    def api_version(self) -> str:
        """Its apiVersion."""
        return str(self._fields.get("apiVersion") or "")

    @property
    def kind(self) -> str:
        """Its kind."""
        return str(self._fields.get("kind") or "")

    @property
    def name(self) -> str:
        """The name in its metadata."""
        metadata = (self._opened or self._fields).get("metadata")
        return str(metadata.get("name") or "") if isinstance(metadata, dict) else ""

    @property
    def namespace(self) -> str:
        """The namespace in its metadata."""
        metadata = self._fields.get("metadata")
        return str(metadata.get("namespace") or "") if isinstance(metadata, dict) else ""

    @property
    def metadata(self) -> Object:
        """Its metadata."""
        return self._section("metadata")

    @property
    def labels(self) -> Object:
        """Its labels."""
        return self._section("metadata", "labels")

    @property
    def annotations(self) -> Object:
        """Its annotations."""
        return self._section("metadata", "annotations")

    @property
    def spec(self) -> Object:
        """Its spec."""
        return self._section("spec")

    @property
    def status(self) -> Object:
        """Its status."""
        return self._section("status")

    def _section(self, *names: str) -> Object:
        section = self._fields
        for name in names:
            inner = section.get(name)
            section = inner if isinstance(inner, dict) else {}
        return section

    @property
    def connection(self) -> Mapping[str, bytes]:
        """Its connection details."""
        return self._incoming.unpack(self._part).connection

    def condition(self, type: str) -> Condition:  # noqa: A002 - the API's own word
        """One of its status conditions."""
        return Condition.of(type, self._conditions().get(type))

    def _conditions(self) -> Mapping[str, Object]:
        if self._opened is None:
            return self._incoming.conditions(self._part)
        status = self._opened.get("status")
        return conditions_of(status.get("conditions") if isinstance(status, dict) else None)

    def is_ready(self) -> bool:
        """Whether its condition Ready is True."""
        ready = self._conditions().get("Ready")
        return ready is not None and ready.get("status") == "True"


class Desired(Resource, MutableMapping[str, Any]):
    """A desired resource: `bucket["spec"]["size"] = 3`, `bucket.labels["team"] = "a"`, `bucket.ready = True`.

    Missing sections are created on assignment.
    """

    __slots__ = ("_added_sections", "_details", "_ready")

    def __init__(self, incoming: IncomingRequest, part: Any) -> None:
        self._incoming = incoming
        self._part = part
        self._ready: int | None = None
        self._opened = None
        self._details: dict[str, Any] | None = None
        self._added_sections: list[tuple[Object, str]] = []

    def __setitem__(self, key: str, value: Any) -> None:
        self._fields[key] = value

    def __delitem__(self, key: str) -> None:
        del self._fields[key]

    def put(self, path: str, value: Any) -> None:
        """Set the value at a field path such as `spec.subnets[0].id`; missing parents are created."""
        from crossply.values.field_path import set_value

        set_value(self._fields, path, value)

    def merge(self, fields: Mapping[str, Any]) -> None:
        """Merge fields into the resource: mappings are merged, other values are replaced."""
        _merge(self._fields, plain(fields))

    def _section(self, *names: str) -> Object:
        section = self._fields
        for name in names:
            inner = section.get(name)
            if type(inner) is not dict:
                inner = self._make_section(section, name, inner)
            section = inner
        return section

    def _make_section(self, within: Object, name: str, there: Any) -> Object:
        if there is None:
            self._added_sections.append((within, name))
        within[name] = section = {} if there is None else fields_of(there)
        return section

    @property
    def ready(self) -> bool | None:
        """Whether it is ready; None leaves that to a later step."""
        ready = self._incoming.unpack(self._part).ready if self._ready is None else self._ready
        return _READY.get(ready)

    @ready.setter
    def ready(self, ready: bool | None) -> None:
        if ready is not None and not isinstance(ready, bool):
            raise ValueRefused(f"ready is True, False or None, not {ready!r}")
        self._ready = _AS_NUMBER[ready]

    @property
    def connection(self) -> MutableMapping[str, Any]:
        """Its connection details: bytes, or strings, which are sent as UTF-8."""
        if self._details is None:
            self._details = dict(self._incoming.unpack(self._part).connection)
        return self._details

    def frozen(self) -> Any:
        """The encoded resource; unchanged resources are passed on as they arrived."""
        part, incoming = self._part, self._incoming
        if self._opened is None and self._details is None:
            return part if self._ready is None else incoming.with_ready(part, self._ready)
        frozen, details, ready = incoming.unpack(part)
        if self._opened is not None:
            self._drop_empty_sections()
            frozen = incoming.unpack(part_of(incoming, self._opened)).frozen
        if self._details is not None:
            details = as_bytes(self._details)
        return ResourcePart(frozen, details, ready if self._ready is None else self._ready)

    def _drop_empty_sections(self) -> None:
        for section, name in reversed(self._added_sections):
            if section.get(name) == {}:
                del section[name]
        self._added_sections.clear()

    def _conditions(self) -> Mapping[str, Object]:
        status = self._fields.get("status")
        return conditions_of(status.get("conditions") if isinstance(status, dict) else None)


def part_of(incoming: IncomingRequest, fields: Object) -> Any:
    """Encode an object as a resource; values that are not plain are converted."""
    try:
        return incoming.part(fields)
    except (StructError, TypeError, AttributeError):
        return incoming.part(plain(fields))


def as_bytes(connection: Mapping[str, Any]) -> dict[str, bytes]:
    return {
        name: value if isinstance(value, bytes) else str(value).encode() for name, value in connection.items()
    }


def _merge(store_in: Object, fields: Object) -> None:
    for key, value in fields.items():
        inner = store_in.get(key)
        if isinstance(value, dict) and isinstance(inner, dict):
            _merge(inner, value)
        else:
            store_in[key] = value
