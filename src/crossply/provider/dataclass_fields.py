"""Reads the annotations of a dataclass into fields, and refuses what a CRD cannot express."""

from __future__ import annotations

import dataclasses
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

from crossply.provider.credential_types import Credentials, SecretData
from crossply.provider.field_annotations import (
    CONSTRAINTS_OF,
    Constraint,
    Doc,
    ImmutableMark,
    JsonName,
    Ref,
    SecretValue,
)
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
    all_fields,
    camel_case,
)
from crossply.provider.provider_declaration_errors import InvalidDeclaration

SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean"}
SUPPORTED = (
    "use str, int, float, bool, list[T], dict[str, T], a dataclass, Literal, an Enum, Ref[Kind], "
    "SecretValue, or one of these with `| None`"
)
IMMUTABLE_LIST = "the API server cannot match old and new items; make the whole list Immutable"


class UndeclaredName:
    """Stands for a name in an annotation that is not defined yet: a kind that comes later in its module."""

    module = ""


class _Annotation(NamedTuple):
    """A type without its outer `Annotated` and `| None`, and their metadata."""

    core: Any
    marks: tuple[Any, ...]
    is_optional: bool

    def mark(self, cls: type) -> Any:
        return next((mark for mark in self.marks if isinstance(mark, cls)), None)


def read_struct(cls: type, namespace: Mapping[str, Any], outer: tuple[type, ...] = ()) -> Struct:
    """The fields of a dataclass. Names in its annotations are also looked up in the namespace."""
    if not dataclasses.is_dataclass(cls):
        raise InvalidDeclaration(f"{cls.__qualname__} is not a dataclass", hint="write @dataclass above it")
    if cls in outer:
        raise InvalidDeclaration(f"{cls.__qualname__} contains itself, which a CRD cannot describe")
    hints = _type_hints(cls, namespace)
    fields = tuple(
        _read_field(cls, field, hints[field.name], namespace, (*outer, cls))
        for field in dataclasses.fields(cls)
    )
    _refuse_clashes(cls, fields)
    return Struct(cls, fields, docstring(cls))


def _type_hints(cls: type, namespace: Mapping[str, Any]) -> dict[str, Any]:
    names = {**namespace, **vars(cls), cls.__name__: cls}
    while True:
        try:
            return get_type_hints(cls, localns=names, include_extras=True)
        except NameError as error:
            if not error.name or error.name in names:
                raise InvalidDeclaration(f"{cls.__qualname__}: {error}") from error
            names[error.name] = type(error.name, (UndeclaredName,), {"module": cls.__module__})
        except (TypeError, SyntaxError) as error:
            raise InvalidDeclaration(f"{cls.__qualname__}: {error}") from error


def _read_field(
    cls: type,
    field: dataclasses.Field[Any],
    hint: Any,
    namespace: Mapping[str, Any],
    outer: tuple[type, ...],
) -> Field:
    place = f"{cls.__qualname__}.{field.name}"
    if not field.init:
        raise InvalidDeclaration(f"{place} has init=False, so users cannot set it")
    annotation = _unwrap(hint, place)
    name, doc = annotation.mark(JsonName), annotation.mark(Doc)
    field_type = _read_type(annotation, place, namespace, outer)
    is_immutable = annotation.mark(ImmutableMark) is not None
    if is_immutable and isinstance(field_type, AnyValue):
        raise InvalidDeclaration(f"{place}: a value without a schema cannot be Immutable")
    return Field(
        name=field.name,
        json_name=name.name if name else camel_case(field.name),
        type=field_type,
        is_optional=annotation.is_optional,
        make_default=_default_maker(field),
        is_immutable=is_immutable,
        description=doc.text if doc else "",
    )


def _default_maker(field: dataclasses.Field[Any]) -> Callable[[], Any] | None:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory
    if field.default is not dataclasses.MISSING:
        default = field.default
        return lambda: default
    return None


def _unwrap(hint: Any, place: str) -> _Annotation:
    marks: list[Any] = []
    is_optional = False
    while True:
        if get_origin(hint) is Annotated:
            hint, *metadata = get_args(hint)
            marks += metadata
        elif get_origin(hint) in (Union, types.UnionType):
            members = [member for member in get_args(hint) if member is not type(None)]
            if len(members) != 1:
                raise InvalidDeclaration(f"{place}: {_shown(hint)} has more than one type", hint=SUPPORTED)
            is_optional, hint = True, members[0]
        else:
            return _Annotation(hint, tuple(marks), is_optional)


def _read_inner(hint: Any, place: str, namespace: Mapping[str, Any], outer: tuple[type, ...]) -> FieldType:
    """The type of a list's items or of a dict's values."""
    annotation = _unwrap(hint, place)
    if annotation.is_optional:
        raise InvalidDeclaration(f"{place}: an item cannot be None")
    if annotation.mark(ImmutableMark) is not None:
        raise InvalidDeclaration(f"{place}: only a whole field can be Immutable, not its items")
    if annotation.core is SecretValue:
        raise InvalidDeclaration(f"{place}: a list or dict of SecretValue is not supported")
    return _read_type(annotation, place, namespace, outer)


def _read_type(
    annotation: _Annotation, place: str, namespace: Mapping[str, Any], outer: tuple[type, ...]
) -> FieldType:
    core = annotation.core
    origin, arguments = get_origin(core), get_args(core)
    if core in SCALARS:
        return Scalar(SCALARS[core], _constraints(annotation, SCALARS[core], place))
    if core in (list, Sequence) or origin in (list, Sequence):
        return _read_list(annotation, arguments, place, namespace, outer)
    _constraints(annotation, _shown(core), place)
    if core is Any or core is dict:
        return AnyValue(is_object=core is dict)
    if origin is dict:
        return _read_dict(arguments, place, namespace, outer)
    if origin is Literal:
        return _choice(arguments, None, place)
    if core is Ref or origin is Ref:
        return Reference(_target(arguments, place))
    if core is SecretValue:
        return Secret()
    if core is SecretData:
        return SecretDataField()
    if core is Credentials:
        return CredentialsField()
    return _read_class(core, place, namespace, outer)


def _read_class(core: Any, place: str, namespace: Mapping[str, Any], outer: tuple[type, ...]) -> FieldType:
    if isinstance(core, type) and issubclass(core, UndeclaredName):
        raise InvalidDeclaration(f"{place}: name {core.__name__!r} is not defined")
    if isinstance(core, type) and issubclass(core, Enum):
        return _choice(tuple(member.value for member in core), core, place)
    if isinstance(core, type) and dataclasses.is_dataclass(core):
        inner = {**namespace, **vars(sys.modules.get(core.__module__, object))}
        return read_struct(core, inner, outer)
    raise InvalidDeclaration(f"{place}: a field cannot be of type {_shown(core)}", hint=SUPPORTED)


def _read_list(
    annotation: _Annotation,
    arguments: tuple[Any, ...],
    place: str,
    namespace: Mapping[str, Any],
    outer: tuple[type, ...],
) -> FieldType:
    if not arguments:
        raise InvalidDeclaration(f"{place}: a list must say of what", hint="for example list[str]")
    item = _read_inner(arguments[0], f"{place}[]", namespace, outer)
    if any(field.is_immutable for field in all_fields(item)):
        raise InvalidDeclaration(
            f"{place}: fields of a list's items cannot be Immutable", hint=IMMUTABLE_LIST
        )
    constraints = _constraints(annotation, "array", place)
    if isinstance(item, Reference):
        return Reference(item.target, is_list=True)
    return ListOf(item, constraints)


def _read_dict(
    arguments: tuple[Any, ...], place: str, namespace: Mapping[str, Any], outer: tuple[type, ...]
) -> FieldType:
    key, value = arguments
    if key is not str:
        raise InvalidDeclaration(f"{place}: the keys of a dict must be str", hint="write dict[str, T]")
    if value is Any:
        return AnyValue(is_object=True)
    item = _read_inner(value, f"{place}[]", namespace, outer)
    if isinstance(item, Reference):
        raise InvalidDeclaration(
            f"{place}: a dict of references is not supported", hint="use list[Ref[Kind]]"
        )
    return MapOf(item)


def _choice(values: tuple[Any, ...], enum: type[Enum] | None, place: str) -> Choice:
    if values and all(isinstance(value, str) for value in values):
        return Choice("string", values, enum)
    if values and all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return Choice("integer", values, enum)
    raise InvalidDeclaration(f"{place}: choices must be all texts or all integers")


def _target(arguments: tuple[Any, ...], place: str) -> type:
    if len(arguments) != 1 or not isinstance(arguments[0], type):
        raise InvalidDeclaration(f"{place}: a reference must say to which kind", hint="for example Ref[Role]")
    return arguments[0]


def _constraints(annotation: _Annotation, schema_type: str, place: str) -> tuple[Constraint, ...]:
    allowed = CONSTRAINTS_OF.get(schema_type, ())
    constraints = tuple(mark for mark in annotation.marks if hasattr(mark, "KEYWORD"))
    for constraint in constraints:
        if not isinstance(constraint, allowed):
            name = type(constraint).__name__
            raise InvalidDeclaration(f"{place}: {name} does not apply to a value of type {schema_type}")
    return constraints


def _refuse_clashes(cls: type, fields: tuple[Field, ...]) -> None:
    owners: dict[str, str] = {}
    for field in fields:
        for json_name in field.json_names():
            other = owners.setdefault(json_name, field.name)
            if other != field.name:
                raise InvalidDeclaration(
                    f"{cls.__qualname__}: fields {other} and {field.name} both need {json_name!r} in YAML",
                    hint="rename one of them, or give it another name with JsonName",
                )


def docstring(cls: type) -> str:
    """The docstring of a class, unless it is the signature that @dataclass writes."""
    text = cls.__dict__.get("__doc__") or ""
    return "" if text.startswith(f"{cls.__name__}(") else " ".join(text.split())


def _shown(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation).replace("typing.", "")
