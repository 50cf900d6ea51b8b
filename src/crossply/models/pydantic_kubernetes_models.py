"""Pydantic models of the types that Kubernetes itself has: metadata, and the kinds that it serves."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.models.kubernetes_type_packages import (
    ANYTHING,
    LIST,
    META_PACKAGE,
    SCALAR,
    FieldType,
    TypedClass,
    TypedPackage,
    kubernetes_packages,
)
from crossply.models.pydantic_models import HEADER, IMPORTS, field_text, path_of, relative_import

_SCALARS = {
    **dict.fromkeys(("string", "bytes"), "str"),
    **dict.fromkeys(("v1.Time", "v1.MicroTime"), "_p.AwareDatetime"),
    **dict.fromkeys(("int32", "int64"), "int"),
    "bool": "bool",
    "float64": "float",
    "intstr.IntOrString": "_t.Union[int, str]",
    "resource.Quantity": "_t.Union[int, float, str]",
}
_OTHER_META = META_PACKAGE.replace(".apis.meta.", ".apis.core.meta.")
"""Where the models of the kinds of Kubernetes have metadata, too."""


def metadata_files() -> dict[str, str]:
    """The module of metadata, which all other models use."""
    [package] = [package for package in kubernetes_packages() if package.name == META_PACKAGE]
    return {path_of(package.name): _module_text(package)}


def kubernetes_files() -> dict[str, str]:
    """The modules of all groups and versions."""
    files = {path_of(package.name): _module_text(package) for package in kubernetes_packages()}
    alias_header = f"{HEADER}\n{relative_import(_OTHER_META, META_PACKAGE, 'v1')}\n"
    names = [
        cls.name
        for package in kubernetes_packages()
        if package.name == META_PACKAGE
        for cls in package.classes
    ]
    lines = "".join(f"{name} = v1.{name}\n" for name in names)
    return {**files, path_of(_OTHER_META): f"{alias_header}\n{lines}"}


def _module_text(package: TypedPackage) -> str:
    imported: dict[str, str] = {}
    classes = ["\n".join(_class(cls, package.name, imported)) + "\n" for cls in package.classes]
    imports = [relative_import(package.name, name, alias) for name, alias in sorted(imported.items())]
    return HEADER + IMPORTS + "".join(f"{line}\n" for line in imports) + "\n\n" + "\n\n".join(classes)


def _class(cls: TypedClass, package: str, imported: dict[str, str]) -> Iterator[str]:
    yield f"class {cls.name}(_p.BaseModel):"
    if not cls.fields:
        yield "    pass"
    for field, field_type in cls.fields.items():
        constant = cls.constant(field)
        annotation = f"_t.Literal[{constant!r}]" if constant else _type(field_type, package, imported)
        yield f"    {field_text(field, f'_t.Optional[{annotation}]', constant or None)}"


def _type(field_type: FieldType, package: str, imported: dict[str, str]) -> str:
    """A type as Python has it; modules that it is from are noted."""
    if field_type.inner is not None:
        inner = _type(field_type.inner, package, imported)
        return f"list[{inner}]" if field_type.shape == LIST else f"dict[str, {inner}]"
    if field_type.shape in (SCALAR, ANYTHING):
        return _SCALARS.get(field_type.name, "_t.Any")
    if field_type.package == package:
        return field_type.name
    alias = "".join(field_type.package.rsplit(".", 2)[1:])
    imported[field_type.package] = alias
    return f"{alias}.{field_type.name}"
