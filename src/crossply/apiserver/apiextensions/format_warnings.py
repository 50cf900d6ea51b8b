"""Warnings for `format` values that kube-apiserver does not validate."""

from __future__ import annotations

from collections.abc import Iterator

from crossply.apiserver.apiextensions.schema_survey import survey
from crossply.apiserver.apiextensions.structural_validation import children
from crossply.schema.field_errors import quote
from crossply.values import Object

_OF_TEXTS = frozenset(
    {
        *(
            "bsonobjectid",
            "uri",
            "email",
            "hostname",
            "ipv4",
            "ipv6",
            "cidr",
            "mac",
            "uuid",
            "uuid3",
            "uuid4",
        ),
        *(
            "uuid5",
            "isbn",
            "isbn10",
            "isbn13",
            "creditcard",
            "ssn",
            "hexcolor",
            "rgbcolor",
            "byte",
            "password",
        ),
        *("date", "duration", "datetime", "k8sshortname", "k8slongname"),
    }
)
_OF_NUMBERS = {"integer": ("int32", "int64"), "number": ("float", "double")}


def definition_warnings(new: Object, old: Object | None) -> list[str]:
    """The warnings for a definition; formats that it had before are not reported again."""
    known = set(_unknown_formats(old)) if old is not None else set()
    fresh = [name for name in _unknown_formats(new) if name not in known]
    return [f"unrecognized format {quote(name)}" for name in dict.fromkeys(fresh)]


def _unknown_formats(definition: Object) -> Iterator[str]:
    for version in definition["spec"].get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        if schema is not None and not _has_known_formats(schema):
            yield from _in_schema(schema)


def _has_known_formats(schema: Object) -> bool:
    """Whether a schema is known to have no other formats, without another walk over it."""
    known = survey(schema)
    return known.is_plain and all(_is_known(form, kind) for kind, form in known.formats)


def _in_schema(schema: Object) -> Iterator[str]:
    form = schema.get("format")
    if form and not _is_known(form, schema.get("type") or ""):
        yield form
    for child in children(schema):
        yield from _in_schema(child)


def _is_known(form: str, kind: str) -> bool:
    if kind in ("", "string"):
        return form.replace("-", "") in _OF_TEXTS
    return form in _OF_NUMBERS.get(kind, ())
