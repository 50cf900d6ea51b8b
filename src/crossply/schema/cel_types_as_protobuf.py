"""Check expressions against declared types.

The evaluator takes plain data and knows no object types, so expressions are checked a second time with
each object declared as a protobuf message: a field that the schema does not have is then an error before
anything runs. A type that protobuf cannot say (a list of lists) is left unchecked there.
"""

from __future__ import annotations

from typing import Any

from crossply.schema.cel_types import Declared

_PACKAGE = "crossply.cel"
_DYNAMIC = {
    "dyn": ".google.protobuf.Value",
    "list": ".google.protobuf.ListValue",
    "map": ".google.protobuf.Struct",
    "timestamp": ".google.protobuf.Timestamp",
    "duration": ".google.protobuf.Duration",
}
_MOST_FIELDS = 18_000


def checked_type(declared: Declared) -> tuple[Any, Any]:
    """Return a CEL type for a declared one and the descriptor pool that defines it."""
    file = _File()
    result = file.cel_type(declared)
    return result, file.pool()


class _File:
    """The messages for one declared type, numbered in the order in which they are met."""

    def __init__(self) -> None:
        from google.protobuf import descriptor_pb2

        self._field_type = descriptor_pb2.FieldDescriptorProto
        self._file = descriptor_pb2.FileDescriptorProto(
            name="declared.proto",
            package=_PACKAGE,
            syntax="proto2",
            dependency=[f"google/protobuf/{name}.proto" for name in ("struct", "timestamp", "duration")],
        )

    def cel_type(self, declared: Declared) -> Any:
        from cel_expr_python import cel

        if declared.kind == "object":
            return cel.Type(self._message(declared).lstrip("."))
        if declared.kind == "list" and declared.element:
            return cel.Type.List(self.cel_type(declared.element))
        if declared.kind == "map" and declared.element:
            return cel.Type.Map(cel.Type.STRING, self.cel_type(declared.element))
        return getattr(cel.Type, declared.kind.upper())

    def pool(self) -> Any:
        from google.protobuf import descriptor_pool, duration_pb2, struct_pb2, timestamp_pb2

        pool = descriptor_pool.DescriptorPool()
        for module in (struct_pb2, timestamp_pb2, duration_pb2):
            pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
        pool.AddSerializedFile(self._file.SerializeToString())
        return pool

    def _message(self, declared: Declared) -> str:
        name = f"T{len(self._file.message_type)}"
        message = self._file.message_type.add(name=name)
        for number, (escaped, _, member) in enumerate(declared.fields[:_MOST_FIELDS], start=1):
            field = message.field.add(name=escaped, number=number, json_name=f"j{number}")
            if member.kind == "map" and member.element:
                self._map_field(message, field, member.element, f".{_PACKAGE}.{name}")
            elif member.kind == "list" and member.element:
                self._type(field, member.element)
                field.label = self._field_type.LABEL_REPEATED
            else:
                self._type(field, member)
        return f".{_PACKAGE}.{name}"

    def _map_field(self, message: Any, field: Any, element: Declared, owner: str) -> None:
        entry_name = "".join(_words(field.name)) + "Entry"
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        key = entry.field.add(name="key", number=1)
        key.type, key.label = self._field_type.TYPE_STRING, self._field_type.LABEL_OPTIONAL
        self._type(entry.field.add(name="value", number=2), element)
        field.type, field.label = self._field_type.TYPE_MESSAGE, self._field_type.LABEL_REPEATED
        field.type_name = f"{owner}.{entry_name}"

    def _type(self, field: Any, declared: Declared) -> None:
        kinds = self._field_type
        field.label = kinds.LABEL_OPTIONAL
        scalar = {
            "string": kinds.TYPE_STRING,
            "int": kinds.TYPE_INT64,
            "double": kinds.TYPE_DOUBLE,
            "bool": kinds.TYPE_BOOL,
            "bytes": kinds.TYPE_BYTES,
        }.get(declared.kind)
        field.type = kinds.TYPE_MESSAGE if scalar is None else scalar
        if declared.kind == "object":
            field.type_name = self._message(declared)
        elif scalar is None:
            field.type_name = _DYNAMIC[declared.kind]


def _words(name: str) -> list[str]:
    # protoc's rule for the name of a map's entry: what follows an underscore is a capital, the rest stays.
    return [word[:1].upper() + word[1:] for word in name.split("_")]
