"""Typed models of kinds: the classes of a structural schema.

An object with properties is a class, one with additional properties a dict, an array a list. What a schema
leaves open is Any. `dataclass_models` writes the classes down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from crossply.compose.object_metadata import name_of, text_in
from crossply.manifests.files import SourceError
from crossply.models.python_names import class_name, field_name, kind_name, literal
from crossply.schema.definition_crds import composite_crd
from crossply.values import Object

DEEPEST = 40
"""What is deeper in a schema is not a class any more."""

ANYTHING = "Any"
_SCALARS = {"string": "str", "integer": "int", "number": "float", "boolean": "bool"}
_PRESERVE = "x-kubernetes-preserve-unknown-fields"


class Type(NamedTuple):
    """The type of a value: a scalar or class by its annotation, a list or dict by its item type."""

    annotation: str
    shape: str = "scalar"
    """scalar, class, list or dict."""
    inner: Type | None = None
    nullable: bool = False


class Attribute(NamedTuple):
    """A field of a class."""

    key: str
    name: str
    type: Type
    required: bool
    description: str = ""
    default: Any = None
    """The value that the API server fills in; None where it does not."""


class Model(NamedTuple):
    """A class."""

    name: str
    description: str
    attributes: tuple[Attribute, ...]
    rest: str = ""
    """The name of the field for what the schema does not know, where it is kept."""


class KindModel(NamedTuple):
    """The classes of one version of a kind; the first is the kind itself."""

    group: str
    version: str
    kind: str
    models: tuple[Model, ...]


def models_in(
    definition: Object, used_names: dict[tuple[str, str], set[str]], place: str = ""
) -> list[KindModel]:
    """The models of what an XRD or a CRD defines; `taken` are the names of classes that there are."""
    crd = (
        composite_crd(definition)
        if text_in(definition, "kind") == "CompositeResourceDefinition"
        else definition
    )
    try:
        return models_of(crd, used_names)
    except (KeyError, TypeError, AttributeError) as problem:
        raise SourceError(
            f'cannot read the {text_in(definition, "kind")} "{name_of(definition)}": {problem}',
            place=place,
            hint="check it with crossply validate, or kubectl apply --dry-run=server",
        ) from None


def models_of(crd: Object, used_names: dict[tuple[str, str], set[str]] | None = None) -> list[KindModel]:
    """The classes of every served version of a CustomResourceDefinition.

    `taken` are the names of classes that the modules of groups and versions have already.
    """
    used_names = {} if used_names is None else used_names
    spec = crd["spec"]
    kinds = []
    for version in spec["versions"]:
        if version.get("served") is False:
            continue
        schema = (version.get("schema") or {}).get("openAPIV3Schema") or {}
        reading = _Reading(used_names.setdefault((spec["group"], version["name"]), set()))
        kind = spec["names"]["kind"]
        reading.add_kind(kind, f"{spec['group']}/{version['name']}", schema)
        kinds.append(KindModel(spec["group"], version["name"], kind, tuple(reading.models)))
    return kinds


class _Reading:
    """Reads one schema; the names of its classes are unique."""

    __slots__ = ("_names", "models")

    def __init__(self, names: set[str]) -> None:
        self._names = names
        self.models: list[Model] = []

    def add_kind(self, kind: str, api_version: str, schema: Object) -> None:
        constants = {"apiVersion": api_version, "kind": kind}
        # Definitions say little about metadata, and the API server keeps all of it.
        properties = {**(schema.get("properties") or {}), "metadata": {"type": "object"}}
        for key, value in constants.items():
            properties[key] = {"type": "string", "enum": [value], "default": value}
        ordered = {key: properties[key] for key in ("apiVersion", "kind", "metadata")} | properties
        description = schema.get("description") or f"A {kind} of {api_version}."
        self._class(
            kind_name(kind, self._names), {**schema, "description": description, "properties": ordered}, 0
        )

    def _class(self, name: str, schema: Object, depth: int) -> str:
        self._names.add(name)
        position = len(self.models)
        required = schema.get("required") or []
        attributes: list[Attribute] = []
        for key, inner in schema["properties"].items():
            attributes.append(self._attribute(name, key, inner, key in required, attributes, depth))
        rest = ""
        if schema.get(_PRESERVE):
            rest = field_name("rest", {attribute.name for attribute in attributes})
        model = Model(name, str(schema.get("description") or ""), tuple(attributes), rest)
        self.models.insert(position, model)
        return name

    def _attribute(
        self, owner: str, key: str, schema: Object, required: bool, others: list[Attribute], depth: int
    ) -> Attribute:
        name = field_name(key, {attribute.name for attribute in others})
        default = schema.get("default")
        return Attribute(
            key=key,
            name=name,
            type=self._type(owner, key, schema, depth + 1),
            required=required and default is None,
            description=str(schema.get("description") or ""),
            default=default,
        )

    def _type(self, owner: str, key: str, schema: Object, depth: int) -> Type:
        plain_type = self._plain_type(owner, key, schema, depth)
        return plain_type._replace(nullable=True) if schema.get("nullable") is True else plain_type

    def _plain_type(self, owner: str, key: str, schema: Object, depth: int) -> Type:
        if schema.get("x-kubernetes-int-or-string"):
            return Type("int | str")
        kind = schema.get("type")
        if depth > DEEPEST or kind not in (*_SCALARS, "array", "object"):
            return Type(ANYTHING)
        if kind == "array":
            inner = self._type(owner, f"{key}-item", _object(schema.get("items")), depth + 1)
            return Type(f"list[{annotation(inner)}]", "list", inner)
        if kind == "object":
            return self._object_type(owner, key, schema, depth)
        return Type(_literal(schema) or _SCALARS[kind])

    def _object_type(self, owner: str, key: str, schema: Object, depth: int) -> Type:
        if schema.get("properties"):
            return Type(self._class(class_name(owner, key, self._names), schema, depth), "class")
        values = schema.get("additionalProperties")
        if isinstance(values, dict):
            inner = self._type(owner, f"{key}-value", values, depth + 1)
            return Type(f"dict[str, {annotation(inner)}]", "dict", inner)
        return Type("dict[str, Any]", "dict", Type(ANYTHING))


def annotation(type_: Type) -> str:
    """A type as it is written, with None where that is a value of it."""
    may_be_none = type_.nullable and type_.annotation != ANYTHING
    return f"{type_.annotation} | None" if may_be_none else type_.annotation


def _literal(schema: Object) -> str:
    """The values of an enum; empty where there is none that Literal can hold."""
    values = [value for value in schema.get("enum") or () if value is not None]
    if not values or not all(isinstance(value, str | int) for value in values):
        return ""
    return f"Literal[{', '.join(dict.fromkeys(map(literal, values)))}]"


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}
