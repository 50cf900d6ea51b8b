"""The field types of review objects; a wrong type is refused as by Go's JSON decoder."""

from __future__ import annotations

from typing import Any

from crossply.apiserver.endpoints.metadata_decoding import METADATA_FIELDS
from crossply.apiserver.endpoints.status_errors import StatusError, bad_request
from crossply.values import Object

Fields = dict[str, "str | tuple[str, Fields]"]
"""The Go type of each field, or the name and fields of a struct."""

_SELECTOR: Fields = {"rawSelector": "string", "requirements": "[]object"}
_ATTRIBUTES: Fields = {
    "resourceAttributes": (
        "ResourceAttributes",
        {
            **dict.fromkeys(
                ("namespace", "verb", "group", "version", "resource", "subresource", "name"), "string"
            ),
            "fieldSelector": ("FieldSelectorAttributes", _SELECTOR),
            "labelSelector": ("LabelSelectorAttributes", _SELECTOR),
        },
    ),
    "nonResourceAttributes": ("NonResourceAttributes", {"path": "string", "verb": "string"}),
}
_SUBJECT: Fields = {
    **_ATTRIBUTES,
    "user": "string",
    "groups": "[]string",
    "extra": "map[string]v1.ExtraValue",
    "uid": "string",
}
_REFERENCE: Fields = dict.fromkeys(("kind", "apiVersion", "name", "uid"), "string")
_SPECS: dict[str, tuple[str, Fields]] = {
    "TokenReview": ("TokenReviewSpec", {"token": "string", "audiences": "[]string"}),
    "TokenRequest": (
        "TokenRequestSpec",
        {
            "audiences": "[]string",
            "expirationSeconds": "int64",
            "boundObjectRef": ("BoundObjectReference", _REFERENCE),
        },
    ),
    "SubjectAccessReview": ("SubjectAccessReviewSpec", _SUBJECT),
    "LocalSubjectAccessReview": ("SubjectAccessReviewSpec", _SUBJECT),
    "SelfSubjectAccessReview": ("SelfSubjectAccessReviewSpec", _ATTRIBUTES),
    "SelfSubjectRulesReview": ("SelfSubjectRulesReviewSpec", {"namespace": "string"}),
    "SelfSubjectReview": ("SelfSubjectReview", {}),
}
_METADATA: tuple[str, Fields] = (
    "ObjectMeta",
    dict.fromkeys(("name", "namespace", "uid", "generateName"), "string"),
)


def check_types(kind: str, body: Object) -> None:
    _check_struct(kind, "metadata", body.get("metadata"), *_METADATA)
    _check_struct(kind, "spec", body.get("spec"), *_SPECS[kind])


def known_fields(kind: str, body: Object) -> Object:
    """A review without unknown fields."""
    known: Object = {name: body[name] for name in ("kind", "apiVersion") if name in body}
    if (metadata := body.get("metadata")) is not None:
        known["metadata"] = {name: value for name, value in metadata.items() if name in METADATA_FIELDS}
    if (spec := body.get("spec")) is not None:
        known["spec"] = _known(spec, _SPECS[kind][1])
    return known


def _known(value: Object, fields: Fields) -> Object:
    known: Object = {}
    for name, member in value.items():
        go_type = fields.get(name)
        if isinstance(go_type, tuple) and member is not None:
            known[name] = _known(member, go_type[1])
        elif go_type is not None:
            known[name] = member
    return known


def _check_struct(kind: str, path: str, value: Any, struct: str, fields: Fields) -> None:
    if value is None:
        return
    if not isinstance(value, dict):
        raise _mismatch(kind, value, f"{kind}.{path}", f"v1.{struct}")
    for field, go_type in fields.items():
        member = value.get(field)
        if isinstance(go_type, tuple):
            _check_struct(kind, f"{path}.{field}", member, *go_type)
        elif member is not None and not _fits(member, go_type):
            raise _mismatch(kind, member, f"{struct}.{path}.{field}", go_type)


def _fits(value: Any, go_type: str) -> bool:
    if go_type == "string":
        return isinstance(value, str)
    if go_type == "int64":
        return isinstance(value, int) and not isinstance(value, bool)
    if go_type.startswith("[]"):
        item = str if go_type == "[]string" else dict
        return isinstance(value, list) and all(isinstance(member, item) for member in value)
    return isinstance(value, dict) and all(_fits(member, "[]string") for member in value.values())


def _mismatch(kind: str, value: Any, field: str, go_type: str) -> StatusError:
    names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return bad_request(
        f'{kind} in version "v1" cannot be handled as a {kind}: json: cannot unmarshal {names[type(value)]} '
        f"into Go struct field {field} of type {go_type}"
    )
