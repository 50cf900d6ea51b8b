"""Between JSON of the API and the dataclasses of a provider."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from crossply.provider.credential_types import Credentials, SecretData
from crossply.provider.field_annotations import SecretValue
from crossply.provider.field_model import (
    AnyValue,
    Choice,
    CredentialsField,
    Field,
    FieldType,
    ListOf,
    MapOf,
    Reference,
    Scalar,
    Secret,
    SecretDataField,
    Struct,
)
from crossply.provider.provider_declaration_errors import UnexpectedValue

Path: TypeAlias = tuple[str | int, ...]
"""JSON field names and indices of lists."""

PYTHON_TYPES: dict[str, Any] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
}


class FieldAt(NamedTuple):
    """A field, and the path of the object that it is in."""

    path: Path
    field: Field

    @property
    def value_path(self) -> Path:
        """Where the field's own value is."""
        return (*self.path, self.field.json_name)


class Lookups(NamedTuple):
    """What is not in the JSON itself: values of Secrets by the path of their field, and credentials."""

    secrets: Mapping[Path, str] = {}
    credentials: Mapping[Path, Credentials] = {}
    secret_data: Mapping[Path, SecretData] = {}
    allow_missing: bool = False
    """Required fields that are missing become None: a resource that is only observed need not set them."""


def find_fields(struct: Struct, value: Any, kind: type[FieldType], path: Path = ()) -> Iterator[FieldAt]:
    """All fields of a type (`Reference`, `Secret`, `CredentialsField`) that this value has room for."""
    if not isinstance(value, Mapping):
        return
    for field in struct:
        if isinstance(field.type, kind):
            yield FieldAt(path, field)
        for inner_path, inner in _inner_structs(field.type, value.get(field.json_name)):
            place = (*path, field.json_name, *inner_path)
            yield from find_fields(inner, _at(value[field.json_name], inner_path), kind, place)


def _inner_structs(field_type: FieldType, value: Any) -> Iterator[tuple[Path, Struct]]:
    if isinstance(field_type, Struct) and isinstance(value, Mapping):
        yield (), field_type
    elif isinstance(field_type, ListOf) and isinstance(value, list):
        for index, item in enumerate(value):
            for path, struct in _inner_structs(field_type.item, item):
                yield (index, *path), struct
    elif isinstance(field_type, MapOf) and isinstance(value, Mapping):
        for key, item in value.items():
            for path, struct in _inner_structs(field_type.value, item):
                yield (key, *path), struct


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value[step]
    return value


def decode(struct: Struct, value: Mapping[str, Any], lookups: Lookups = Lookups(), path: Path = ()) -> Any:  # noqa: B008
    """An instance of the struct's dataclass. Unknown JSON fields are left out; null counts as absent."""
    if not isinstance(value, Mapping):
        raise UnexpectedValue(f"{_dotted(path)} is not an object")
    return struct.cls(**{field.name: _decode_field(field, value, lookups, path) for field in struct})


def _decode_field(field: Field, value: Mapping[str, Any], lookups: Lookups, path: Path) -> Any:
    place = (*path, field.json_name)
    if isinstance(field.type, Secret):
        json: Any = lookups.secrets.get(place)
    elif isinstance(field.type, SecretDataField):
        json = lookups.secret_data.get(place)
    elif isinstance(field.type, CredentialsField):
        json = lookups.credentials.get(place)
    else:
        json = value.get(field.json_name)
    if json is not None:
        return _decode_value(field.type, json, lookups, place)
    if field.is_required and not lookups.allow_missing:
        raise UnexpectedValue(f"{_dotted(place)} is required", hint=f"set {_dotted(place)}")
    return field.default


def _decode_value(field_type: FieldType, json: Any, lookups: Lookups, path: Path) -> Any:
    if isinstance(field_type, Scalar):
        return _decode_scalar(field_type.name, json, path)
    if isinstance(field_type, Choice):
        return _decode_choice(field_type, json, path)
    if isinstance(field_type, Struct):
        return decode(field_type, json, lookups, path)
    if isinstance(field_type, ListOf):
        items = enumerate(_expect(list, json, path))
        return [_decode_value(field_type.item, item, lookups, (*path, index)) for index, item in items]
    if isinstance(field_type, MapOf):
        pairs = _expect(dict, json, path).items()
        return {key: _decode_value(field_type.value, item, lookups, (*path, key)) for key, item in pairs}
    if isinstance(field_type, Reference) and field_type.is_list:
        items = enumerate(_expect(list, json, path))
        return [_decode_scalar("string", item, (*path, index)) for index, item in items]
    if isinstance(field_type, Secret):
        return SecretValue(json)
    return _decode_scalar("string", json, path) if isinstance(field_type, Reference) else json


def _decode_scalar(name: str, json: Any, path: Path) -> Any:
    if name in ("integer", "number") and isinstance(json, float) and json.is_integer():
        json = int(json)
    if not isinstance(json, PYTHON_TYPES[name]) or (isinstance(json, bool) and name != "boolean"):
        raise UnexpectedValue(f"{_dotted(path)} is not of type {name}")
    return float(json) if name == "number" else json


def _decode_choice(choice: Choice, json: Any, path: Path) -> Any:
    value = _decode_scalar(choice.name, json, path)
    if value not in choice.values:
        raise UnexpectedValue(f"{_dotted(path)} is not one of {', '.join(map(str, choice.values))}")
    return choice.enum(value) if choice.enum else value


def _expect(cls: type, json: Any, path: Path) -> Any:
    if not isinstance(json, cls):
        raise UnexpectedValue(f"{_dotted(path)} is not a {'list' if cls is list else 'map'}")
    return json


def encode(struct: Struct, value: Any) -> dict[str, Any]:
    """The JSON of a dataclass, or of a mapping by Python names. None and secrets are left out."""
    json = {}
    for field in struct:
        present = value.get(field.name) if isinstance(value, Mapping) else getattr(value, field.name, None)
        if present is not None and not isinstance(field.type, (Secret, SecretDataField, CredentialsField)):
            json[field.json_name] = encode_value(field.type, present)
    return json


def encode_value(field_type: FieldType, value: Any) -> Any:
    """The JSON of one value. Raises `UnexpectedValue` where it is not of the declared type."""
    if isinstance(field_type, Struct):
        if not isinstance(value, Mapping) and not dataclasses.is_dataclass(value):
            raise UnexpectedValue(f"{type(value).__name__} is not a {field_type.cls.__name__}")
        return encode(field_type, value)
    if isinstance(field_type, ListOf):
        return [encode_value(field_type.item, item) for item in _expect_items(value)]
    if isinstance(field_type, Reference) and field_type.is_list:
        return [_encode_scalar("string", item) for item in _expect_items(value)]
    if isinstance(field_type, MapOf):
        return {str(key): encode_value(field_type.value, item) for key, item in dict(value).items()}
    if isinstance(field_type, Choice):
        return _encode_choice(field_type, value)
    if isinstance(field_type, AnyValue):
        return value
    return _encode_scalar(field_type.name if isinstance(field_type, Scalar) else "string", value)


def _expect_items(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)):
        raise UnexpectedValue(f"{type(value).__name__} is not a list")
    return list(value)


def _encode_choice(choice: Choice, value: Any) -> Any:
    json = value.value if isinstance(value, Enum) else value
    if json not in choice.values:
        raise UnexpectedValue(f"{json!r} is not one of {', '.join(map(str, choice.values))}")
    return json


def _encode_scalar(name: str, value: Any) -> Any:
    if name == "string" and isinstance(value, str):
        return str(value)
    if isinstance(value, PYTHON_TYPES[name]) and (name == "boolean" or not isinstance(value, bool)):
        return float(value) if name == "number" else value
    raise UnexpectedValue(f"{type(value).__name__} is not of type {name}")


def _dotted(path: Path) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.lstrip(".") or "the value"
