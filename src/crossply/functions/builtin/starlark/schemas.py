"""schema() and field(): constructors of dicts that check what they are called with."""

from __future__ import annotations

from collections.abc import Iterable

from crossply.functions.builtin.starlark.language.arguments import (
    ANY,
    BOOL,
    STRING,
    Signature,
    optional,
)
from crossply.functions.builtin.starlark.language.comparison import equal
from crossply.functions.builtin.starlark.language.failures import EvalError
from crossply.functions.builtin.starlark.language.spelling import edit_distance
from crossply.functions.builtin.starlark.language.values import (
    ApplicationValue,
    AttrDict,
    Builtin,
    Value,
    to_repr,
    type_name,
)
from crossply.values.goquote import quote

_TYPES = ("bool", "dict", "float", "int", "list", "string")


def _check_type(value: Value) -> str:
    if isinstance(value, Schema):
        return ""
    if not isinstance(value, str):
        return f"type= must be a string or schema, got {type_name(value)}"
    if value and value not in _TYPES:
        return f"invalid type {quote(value)}; valid types: {', '.join(_TYPES)}"
    return ""


_FIELD = Signature(
    "field",
    optional("type", _check_type, ""),
    optional("required", BOOL, False),
    optional("default", ANY, None),
    optional("enum", ANY, None),
    optional("doc", STRING, ""),
    optional("items", ANY, None),
)


class Field(ApplicationValue):
    """What field() returns."""

    type_name = "field"

    def __init__(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> None:
        self.type, self.required, self.default, self.enum, self.doc, self.items_ = _FIELD.bind(args, kwargs)
        if self.items_ is not None:
            if not isinstance(self.items_, Schema):
                raise EvalError(f"field: items= must be a schema, got {type_name(self.items_)}")
            if self.type != "list":
                raise EvalError('field: items= is only valid when type="list"')
        if self.enum is not None and not isinstance(self.enum, list):
            raise EvalError(f"field: enum must be a list, got {type_name(self.enum)}")
        if self.required and self.default is not None:
            raise EvalError("field: required and default are mutually exclusive")

    def attribute(self, name: str) -> Value:
        kind = self.type.name if isinstance(self.type, Schema) else self.type
        values = {
            "type": kind,
            "required": self.required,
            "default": self.default,
            "enum": self.enum,
            "doc": self.doc,
        }
        return values[name]

    def attribute_names(self) -> list[str]:
        return ["default", "doc", "enum", "required", "type"]

    def text(self) -> str:
        kind = self.attribute("type")
        parts = [f"type={kind}"] if kind else []
        parts += [f"items={self.items_.name}"] if self.items_ is not None else []
        parts += ["required"] if self.required else []
        parts += [f"default={to_repr(self.default)}"] if self.default is not None else []
        parts += [f"enum={to_repr(self.enum)}"] if self.enum is not None else []
        return f"<field {' '.join(parts)}>" if parts else "<field>"

    def problem(self, path: str, value: Value) -> str:
        """What is wrong with a value that is no dict of a schema; empty for nothing."""
        kind = type_name(value)
        if self.type and kind != self.type:
            return f"{path}: expected {self.type}, got {kind} ({to_repr(value)})"
        if self.enum is not None and not any(equal(value, allowed) for allowed in self.enum):
            return f"{path}: value {to_repr(value)} not in enum {to_repr(self.enum)}"
        return ""


class SchemaDict(AttrDict):
    """A dict that a schema made. What is assigned to it is checked, too."""

    __slots__ = ("schema",)

    def __init__(self, schema: Schema, values: Iterable[tuple[str, Value]]) -> None:
        super().__init__(values)
        self.schema = schema

    @property
    def schema_name(self) -> str:
        return self.schema.name

    def check_assignment(self, key: Value, value: Value) -> None:
        if isinstance(key, str):
            self.schema.check_assignment(key, value)


class Schema(ApplicationValue):
    """What schema() returns: a constructor."""

    type_name = "schema"
    is_callable = True

    def __init__(self, name: str, doc: str, fields: dict[str, Field]) -> None:
        self.name, self.doc, self.fields = name, doc, fields

    def attribute(self, name: str) -> Value:
        return {"name": self.name, "doc": self.doc, "fields": dict(self.fields)}[name]

    def attribute_names(self) -> list[str]:
        return ["doc", "fields", "name"]

    def text(self) -> str:
        return f"<schema {self.name}>"

    def call(self, args: tuple[Value, ...], kwargs: dict[str, Value]) -> SchemaDict:
        if args:
            raise EvalError(f"{self.name}: unexpected positional arguments")
        result, problems = self.checked(kwargs, "")
        if problems:
            plural = "" if len(problems) == 1 else "s"
            lines = "\n- ".join(problems)
            raise EvalError(f"{self.name}: {len(problems)} validation error{plural}:\n- {lines}")
        return result

    def checked(self, values: dict[Value, Value], prefix: str) -> tuple[SchemaDict, list[str]]:
        """The dict of the values, with defaults, and everything that is wrong with them."""
        checked_dict, problems = SchemaDict(self, ()), []
        for key, value in values.items():
            path = f"{prefix}.{key}" if prefix else str(key)
            field = self.fields.get(key)
            if field is None:
                problems.append(self._unknown(path, str(key)))
            elif value is not None:
                result, wrong = _checked_value(field, path, value)
                problems += wrong
                if not wrong:
                    dict.__setitem__(checked_dict, key, result)
            else:
                problems += self._absent(field, key, path, checked_dict)
        for name, field in self.fields.items():
            if name not in values:
                problems += self._absent(field, name, f"{prefix}.{name}" if prefix else name, checked_dict)
        return checked_dict, problems

    def _absent(self, field: Field, name: str, path: str, checked_dict: SchemaDict) -> list[str]:
        """Fill in the default of a field that is not set, or report that it is required."""
        if field.required:
            return [f"{path}: required field missing"]
        if field.default is not None:
            dict.__setitem__(checked_dict, name, field.default)
        return []

    def _unknown(self, path: str, name: str) -> str:
        near = _suggestion(name, list(self.fields))
        if near:
            return f"{path}: unknown field (did you mean {quote(near)}?)"
        return f"{path}: unknown field; valid fields: {', '.join(self.fields)}"

    def check_assignment(self, name: str, value: Value) -> None:
        """Refuse an assignment to a field that does not fit it."""
        field = self.fields.get(name)
        if field is None:
            raise EvalError(f"{self.name}: {self._unknown(name, name)}")
        if value is None:
            return
        _, problems = _checked_value(field, name, value)
        if problems:
            raise EvalError(f"{self.name}.{problems[0]}")


def _checked_value(field: Field, path: str, value: Value) -> tuple[Value, list[str]]:
    if isinstance(field.type, Schema):
        return _checked_dict(field.type, path, value)
    if field.items_ is None:
        problem = field.problem(path, value)
        return value, [problem] if problem else []
    if not isinstance(value, list):
        return value, [f"{path}: expected list, got {type_name(value)}"]
    items, problems = [], []
    for index, item in enumerate(value):
        checked_item, wrong = _checked_dict(field.items_, f"{path}[{index}]", item)
        items.append(checked_item)
        problems += wrong
    return items, problems


def _checked_dict(schema: Schema, path: str, value: Value) -> tuple[Value, list[str]]:
    if isinstance(value, SchemaDict):
        return value, []
    if value.__class__ is not dict:
        return value, [f"{path}: expected {schema.name} or dict, got {type_name(value)}"]
    return schema.checked(value, path)


def _suggestion(name: str, known: list[str]) -> str:
    """The known name that is spelt most like another; empty if none is."""
    best, best_distance = "", max(1, len(name) // 3) + 1
    for candidate in known:
        distance = edit_distance(name, candidate)
        if distance < best_distance:
            best, best_distance = candidate, distance
    return best


def _schema(args: tuple[Value, ...], kwargs: dict[str, Value]) -> Schema:
    if len(args) != 1:
        raise EvalError(f"schema: requires exactly 1 positional argument (name), got {len(args)}")
    (name,) = args
    if not isinstance(name, str):
        raise EvalError(f"schema: name must be a string, got {type_name(name)}")
    fields, doc = {}, ""
    for key, value in kwargs.items():
        if key == "doc":
            if not isinstance(value, str):
                raise EvalError(f"schema: doc must be a string, got {type_name(value)}")
            doc = value
        elif not isinstance(value, Field):
            raise EvalError(f"schema: field {quote(key)} value must be a field(), got {type_name(value)}")
        else:
            fields[key] = value
    return Schema(name, doc, fields)


BUILTINS = {"schema": Builtin("schema", _schema), "field": Builtin("field", Field)}
