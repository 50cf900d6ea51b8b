"""The types that Kubernetes itself has, sorted into the packages of its OpenAPI documents.

They are made of the types as Go declares them. Those do not say what is required. A type is in the package of
the kinds that use it: in `core` if one there does. Metadata has its own package.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crossply.schema.builtin_go_types import GoTypes, go_types
from crossply.values.api_version import split_api_version

META_PACKAGE = "io.k8s.apimachinery.pkg.apis.meta.v1"
LIST, MAP, REFERENCE, SCALAR, ANYTHING = "list", "map", "reference", "scalar", "anything"
_META_TYPES = tuple(
    f"v1.{name}"
    for name in (
        *("ObjectMeta", "ListMeta", "OwnerReference", "ManagedFieldsEntry", "LabelSelector", "Condition"),
        *("LabelSelectorRequirement", "FieldSelectorRequirement", "GroupVersionKind", "DeleteOptions"),
    )
)
_SELF_DECODED = ("intstr.IntOrString", "resource.Quantity", "v1.Time", "v1.MicroTime")
_NUMBERS_AND_TEXTS = ("string", "bytes", "int32", "int64", "bool", "float64")
_REFERENCE_TEXT = re.compile(r"v\d\w*\.\w+#*")


class FieldType(NamedTuple):
    """The type of a field."""

    shape: str
    name: str = ""
    """The Go type of a scalar, or the class that a reference means."""
    package: str = ""
    inner: FieldType | None = None


class TypedClass(NamedTuple):
    """A type with fields."""

    name: str
    fields: dict[str, FieldType]
    api_version: str = ""
    """Of a kind."""
    kind: str = ""

    def constant(self, field: str) -> str:
        """The only value that a field of a kind has; empty for other fields."""
        return {"apiVersion": self.api_version, "kind": self.kind}.get(field, "")


class TypedPackage(NamedTuple):
    """The types of one group and version."""

    name: str
    classes: list[TypedClass]


class _Kind(NamedTuple):
    api_version: str
    name: str
    type: str
    package: str


def kubernetes_packages() -> list[TypedPackage]:
    """All packages, that of metadata first."""
    table = go_types()
    kinds = _kinds(table)
    homes = _homes(table, kinds)
    by_type = {(kind.package, kind.type): kind for kind in kinds}
    packages: dict[str, list[TypedClass]] = {}
    for name, package in homes.items():
        fields = {field: _type(text, table, homes) for field, text in _fields(table, name).items()}
        kind = by_type.get((package, name))
        constants = (kind.api_version, kind.name) if kind is not None else ("", "")
        packages.setdefault(package, []).append(TypedClass(_class_name(name), fields, *constants))
    return [TypedPackage(name, sorted(classes)) for name, classes in packages.items()]


def _kinds(table: GoTypes) -> list[_Kind]:
    kinds = []
    for key, type_name in table.kinds.items():
        api_version, _, name = key.partition(" ")
        group, version = split_api_version(api_version)
        package = f"io.k8s.api.{group.partition('.')[0] or 'core'}.{version}"
        kinds.append(_Kind(api_version, name, type_name, package))
    # Types of core are first: what others use of them, they import.
    return sorted(kinds, key=lambda kind: (".core." not in kind.package, kind.package, kind.name))


def _homes(table: GoTypes, kinds: list[_Kind]) -> dict[str, str]:
    """The package of every type that a kind has in it."""
    homes = {name: META_PACKAGE for root in _META_TYPES for name in _reached(table, root)}
    for kind in kinds:
        homes.setdefault(kind.type, kind.package)
    for kind in kinds:
        for name in _reached(table, kind.type):
            homes.setdefault(name, kind.package)
    return homes


def _reached(table: GoTypes, root: str) -> list[str]:
    """A type, and all that it has in it."""
    reached: dict[str, None] = {}
    pending = [root]
    while pending:
        name = pending.pop()
        if name not in reached and isinstance(table.types.get(name), dict):
            reached[name] = None
            texts = _fields(table, name).values()
            pending += [match for text in texts for match in _REFERENCE_TEXT.findall(text)]
    return list(reached)


def _fields(table: GoTypes, name: str) -> dict[str, str]:
    fields = table.types[name]
    return fields if isinstance(fields, dict) else {}


def _type(text: str, table: GoTypes, homes: dict[str, str]) -> FieldType:
    """The type of a text: `Embedded>T`, `[]T`, `{}T`, `Name=T`, `Name:scalar` or the name of a type."""
    text = text.rpartition(">")[2]
    if text.startswith(("[]", "{}")):
        return FieldType(LIST if text[0] == "[" else MAP, inner=_type(text[2:], table, homes))
    _, separator, underlying = text.partition("=")
    if separator:
        return _type(underlying, table, homes)
    name = text.rpartition(":")[2]
    if name in _NUMBERS_AND_TEXTS or name in _SELF_DECODED:
        return FieldType(SCALAR, name)
    if name in homes and isinstance(table.types.get(name), dict):
        return FieldType(REFERENCE, _class_name(name), homes[name])
    return FieldType(ANYTHING)


def _class_name(name: str) -> str:
    return name.partition(".")[2].rstrip("#")
