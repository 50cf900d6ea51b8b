"""The fields of a dataclass as the API shows them: `dataclass_fields` reads, `decode` and `crd` walk them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from crossply.provider.field_annotations import Constraint


class Scalar(NamedTuple):
    """A text, number or boolean."""

    name: str
    """Its type in a schema: string, integer, number or boolean."""
    constraints: tuple[Constraint, ...] = ()


class Choice(NamedTuple):
    """One of a few texts or integers."""

    name: str
    values: tuple[str | int, ...]
    enum: type[Enum] | None = None


class ListOf(NamedTuple):
    """A list."""

    item: FieldType
    constraints: tuple[Constraint, ...] = ()


class MapOf(NamedTuple):
    """Values by names that users choose."""

    value: FieldType


class AnyValue(NamedTuple):
    """Any JSON, or any JSON object."""

    is_object: bool


class Reference(NamedTuple):
    """The external name of a resource of another kind, or a list of such names."""

    target: type
    """A managed class, or the placeholder of one that is declared later."""
    is_list: bool = False


class Secret(NamedTuple):
    """A value from a key of a Secret."""


class SecretDataField(NamedTuple):
    """All keys of a Secret."""


class CredentialsField(NamedTuple):
    """Where credentials come from."""


@dataclass(frozen=True)
class Field:
    """One field of a dataclass."""

    name: str
    """In Python."""
    json_name: str
    type: FieldType
    is_optional: bool = False
    """It may be None."""
    make_default: Callable[[], Any] | None = None
    """Returns the value where none is given; None where one is required."""
    is_immutable: bool = False
    description: str = ""

    @property
    def is_required(self) -> bool:
        """Users must give a value."""
        return self.make_default is None and not self.is_optional

    @property
    def default(self) -> Any:
        """The value where none is given."""
        return self.make_default() if self.make_default else None

    @property
    def ref_name(self) -> str:
        """The JSON field that names what a reference refers to: ownerRef, or ownerRefs for a list."""
        is_list = isinstance(self.type, Reference) and self.type.is_list
        return f"{singular(self.json_name)}Refs" if is_list else f"{self.json_name}Ref"

    @property
    def selector_name(self) -> str:
        """The JSON field that selects what a reference refers to."""
        is_list = isinstance(self.type, Reference) and self.type.is_list
        return f"{singular(self.json_name) if is_list else self.json_name}Selector"

    @property
    def secret_ref_name(self) -> str:
        """The JSON field that names the Secret of a value."""
        return f"{self.json_name}SecretRef"

    def json_names(self) -> tuple[str, ...]:
        """All JSON fields that stand for this one."""
        if isinstance(self.type, Reference):
            return self.json_name, self.ref_name, self.selector_name
        if isinstance(self.type, (Secret, SecretDataField)):
            return (self.secret_ref_name,)
        return (self.json_name,)


@dataclass(frozen=True)
class Struct:
    """A dataclass and its fields, in their order."""

    cls: type
    fields: tuple[Field, ...]
    description: str = ""

    def __iter__(self) -> Iterator[Field]:
        return iter(self.fields)

    def field(self, name: str) -> Field | None:
        """The field with this Python name."""
        return next((field for field in self.fields if field.name == name), None)


FieldType: TypeAlias = (
    Scalar
    | Choice
    | ListOf
    | MapOf
    | AnyValue
    | Reference
    | Secret
    | SecretDataField
    | CredentialsField
    | Struct
)


def singular(name: str) -> str:
    """A plural without its ending: owners → owner, policies → policy."""
    if name.endswith("ies"):
        return f"{name[:-3]}y"
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else name


def camel_case(name: str) -> str:
    """A Python name as the API writes it: force_destroy → forceDestroy. A trailing underscore is dropped."""
    first, *rest = name.strip("_").split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in rest)


def all_fields(field_type: FieldType) -> Iterator[Field]:
    """The fields of a struct and of everything in it."""
    if isinstance(field_type, Struct):
        for field in field_type:
            yield field
            yield from all_fields(field.type)
    elif isinstance(field_type, ListOf):
        yield from all_fields(field_type.item)
    elif isinstance(field_type, MapOf):
        yield from all_fields(field_type.value)
