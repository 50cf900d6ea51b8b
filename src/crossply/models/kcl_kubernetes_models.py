"""Models in KCL of the kinds that Kubernetes itself serves. Every field is optional."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.models.kcl_models import HEADER
from crossply.models.kcl_names import property_name
from crossply.models.kubernetes_type_packages import (
    ANYTHING,
    LIST,
    MAP,
    SCALAR,
    FieldType,
    TypedClass,
    TypedPackage,
    kubernetes_packages,
)

_SCALARS = {
    **dict.fromkeys(("string", "bytes", "v1.Time", "v1.MicroTime"), "str"),
    **dict.fromkeys(("int32", "int64"), "int"),
    "bool": "bool",
    "float64": "float",
    "intstr.IntOrString": "int | str",
    "resource.Quantity": "int | float | str",
}


def kubernetes_files() -> dict[str, str]:
    """The files of the models by their paths in the package of models: one for each group and version."""
    return {_path(package.name): _package_text(package) for package in kubernetes_packages()}


def _path(package: str) -> str:
    return f"{package.replace('.', '/')}/types.k"


def _package_text(package: TypedPackage) -> str:
    imported: dict[str, str] = {}
    schemas = ["\n".join(_schema(cls, package.name, imported)) + "\n" for cls in package.classes]
    imports = [f"import {path} as {alias}\n" for path, alias in sorted(imported.items())]
    return HEADER + "".join(imports) + "\n\n" + "\n\n".join(schemas)


def _schema(cls: TypedClass, package: str, imported: dict[str, str]) -> Iterator[str]:
    yield f"schema {cls.name}:"
    if not cls.fields:
        yield "    [...str]: any"
    for field, field_type in cls.fields.items():
        constant = cls.constant(field)
        if constant:
            yield f'    {field}: "{constant}" = "{constant}"'
        else:
            yield f"    {property_name(field)}?: {_type(field_type, package, imported)}"


def _type(field_type: FieldType, package: str, imported: dict[str, str]) -> str:
    """A type as KCL has it; packages that it is from are noted."""
    if field_type.inner is not None:
        inner = _type(field_type.inner, package, imported)
        return {LIST: f"[{inner}]", MAP: f"{{str:{inner}}}"}[field_type.shape]
    if field_type.shape in (SCALAR, ANYTHING):
        return _SCALARS.get(field_type.name, "any")
    if field_type.package == package:
        return field_type.name
    alias = "".join(field_type.package.rsplit(".", 2)[1:])
    imported[field_type.package] = alias
    return f"{alias}.{field_type.name}"
