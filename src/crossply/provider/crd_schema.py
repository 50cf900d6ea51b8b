"""The OpenAPI schema of a struct's fields, with the CEL rules of references and immutable values.

Values that are read from elsewhere look as those of crossplane-runtime: `ownerRef` and `ownerSelector`,
`passwordSecretRef`, `credentials`.
"""

from __future__ import annotations

from typing import Any

from crossply.provider.decode import encode_value
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
from crossply.schema.crd_crossplane_fields import choice, text, texts
from crossply.values import Object

RESERVED_IN_CEL = {
    *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
    *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
}


def cel_name(name: str) -> str:
    """The name of a field as CEL writes it."""
    if name in RESERVED_IN_CEL:
        return f"__{name}__"
    for character, word in (("__", "underscores"), (".", "dot"), ("-", "dash"), ("/", "slash")):
        name = name.replace(character, f"__{word}__")
    return name


class SchemaWriter:
    """Schemas of the fields of one kind, whose scope decides what references may name."""

    def __init__(self, *, namespaced: bool, has_required: bool = True) -> None:
        self._namespaced = namespaced
        self._has_required = has_required
        """A status has no required fields, so that what an older version wrote stays valid."""

    def struct(self, struct: Struct, *, is_top: bool = False) -> Object:
        """The schema of an object. At the top, required fields are left to rules of the resource's spec."""
        properties: Object = {}
        rules: list[Object] = []
        for field in struct:
            properties |= self._properties(field)
            if field.is_immutable:
                rules.append(_not_removable_rule(field))
            if field.is_required and isinstance(field.type, Reference) and not is_top:
                rules.append(
                    {
                        "rule": is_set_rule(field, "self"),
                        "message": f"{field.json_name} is required",
                    }
                )
        required = [field.json_names()[0] for field in struct if _is_in_required(field)]
        return {
            **_description(struct.description),
            "type": "object",
            **({"required": required} if required and self._has_required and not is_top else {}),
            "properties": properties,
            **({"x-kubernetes-validations": rules} if rules else {}),
        }

    def _properties(self, field: Field) -> Object:
        """The JSON fields that stand for a field."""
        if isinstance(field.type, Secret):
            schema = _described(
                self._secret_ref(), field.description or "A key of a Secret that has the value."
            )
            return {field.secret_ref_name: _immutable(field, schema)}
        if isinstance(field.type, SecretDataField):
            schema = texts(
                "name", "namespace", required=("name",) if self._namespaced else ("name", "namespace")
            )
            return {field.secret_ref_name: _described(schema, field.description or "A Secret.")}
        schema = _immutable(field, _described(self.of(field.type), field.description))
        if not isinstance(field.type, Reference):
            return {field.json_name: schema | _default(field)}
        target = field.type.target.__name__
        reference = _described(self._reference(), f"Reference to a {target} whose external name is used.")
        if field.type.is_list:
            reference = {
                "description": f"References to {target} objects whose external names are used.",
                "type": "array",
                "items": self._reference(),
            }
        selector = _described(self._selector(), f"Selects the {target} to refer to.")
        return {field.json_name: schema, field.ref_name: reference, field.selector_name: selector}

    def of(self, field_type: FieldType) -> Object:
        """The schema of a type."""
        if isinstance(field_type, Struct):
            return self.struct(field_type)
        if isinstance(field_type, ListOf):
            return {"type": "array", "items": self.of(field_type.item), **_keywords(field_type.constraints)}
        if isinstance(field_type, MapOf):
            return {"type": "object", "additionalProperties": self.of(field_type.value)}
        if isinstance(field_type, Reference) and field_type.is_list:
            return {"type": "array", "items": text()}
        if isinstance(field_type, Choice):
            return {"type": field_type.name, "enum": list(field_type.values)}
        if isinstance(field_type, CredentialsField):
            return self._credentials()
        if isinstance(field_type, AnyValue):
            kind = {"type": "object"} if field_type.is_object else {}
            return {**kind, "x-kubernetes-preserve-unknown-fields": True}
        return _scalar(field_type) if isinstance(field_type, Scalar) else text()

    def _reference(self) -> Object:
        names = ("name", "namespace") if self._namespaced else ("name",)
        schema = texts(*names, required=("name",))
        schema["properties"]["policy"] = _policy()
        return schema

    def _selector(self) -> Object:
        return {
            "type": "object",
            "properties": {
                "matchControllerRef": {
                    "description": "Select only objects with the same controller as this one.",
                    "type": "boolean",
                },
                "matchLabels": {
                    "description": "Select objects with these labels.",
                    "type": "object",
                    "additionalProperties": text(),
                },
                **({"namespace": text()} if self._namespaced else {}),
                "policy": _policy(),
            },
        }

    def _secret_ref(self) -> Object:
        names = ("key", "name") if self._namespaced else ("key", "name", "namespace")
        return texts(*names, required=names)

    def _credentials(self) -> Object:
        required = ("key", "name") if self._namespaced else ("key", "name", "namespace")
        return {
            "type": "object",
            "required": ["source"],
            "properties": {
                "source": {
                    "description": "Where the credentials come from.",
                    **choice("None", "Secret", "InjectedIdentity", "Environment", "Filesystem"),
                },
                "secretRef": _described(
                    texts("key", "name", "namespace", required=required), "A key of a Secret that has them."
                ),
                "env": _described(
                    texts("name", required=("name",)), "A variable of the provider's environment."
                ),
                "fs": _described(texts("path", required=("path",)), "A file that the provider can read."),
            },
        }


def is_set_rule(field: Field, prefix: str) -> str:
    """The CEL rule that a field is set, by one of its names."""
    return " || ".join(f"has({prefix}.{cel_name(name)})" for name in field.json_names())


def _is_in_required(field: Field) -> bool:
    return field.is_required and not isinstance(field.type, Reference)


def _immutable(field: Field, schema: Object) -> Object:
    if not field.is_immutable:
        return schema
    rule = {"rule": "self == oldSelf", "message": f"{field.json_name} is immutable"}
    return {**schema, "x-kubernetes-validations": [*schema.get("x-kubernetes-validations", ()), rule]}


def _not_removable_rule(field: Field) -> Object:
    """A value that is set cannot be removed: rules of the field itself are not evaluated then."""
    name = cel_name(field.json_names()[0])
    return {
        "rule": f"!has(oldSelf.{name}) || has(self.{name})",
        "message": f"{field.json_name} is immutable",
    }


def _default(field: Field) -> Object:
    """The default that the API server fills in. An empty list or map is left out, which means the same."""
    if field.default is None or (field.default in ([], {}) and not isinstance(field.type, Struct)):
        return {}
    return {"default": encode_value(field.type, field.default)}


def _scalar(scalar: Scalar) -> Object:
    form = {"integer": "int64", "number": "double"}.get(scalar.name)
    return {"type": scalar.name, **({"format": form} if form else {}), **_keywords(scalar.constraints)}


def _keywords(constraints: tuple[Any, ...]) -> Object:
    return {constraint.KEYWORD: constraint.value for constraint in constraints}


def _policy() -> Object:
    return {
        "type": "object",
        "properties": {
            "resolution": {
                "description": "Whether it is an error that nothing is found.",
                **choice("Required", "Optional", default="Required"),
            },
            "resolve": {
                "description": "Resolve only where the field is not set (default), or at every reconcile.",
                **choice("Always", "IfNotPresent"),
            },
        },
    }


def _described(schema: Object, description: str) -> Object:
    return {**schema, **_description(description)}


def _description(description: str) -> Object:
    return {"description": description} if description else {}
