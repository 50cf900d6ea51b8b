"""The messages of Go's typed decoder for a Composition, Function, Secret or XRD of the wrong type.

Ordinary files never come here: `inputs` looks first, and imports this when something is odd.
"""

from __future__ import annotations

from typing import Any

from crossply.kinds.composition_go_types import decode_spec
from crossply.kinds.fields import KindError
from crossply.kinds.gostructs import (
    BOOL,
    INT64,
    RAW,
    STRING,
    DecodeError,
    Field,
    GoType,
    PlainError,
    json_kind,
    list_of,
    map_of,
    round_trip,
    struct,
    text,
)
from crossply.manifests.files import SourceError
from crossply.values import Object
from crossply.values.gobase64 import Base64Error, decode
from crossply.values.yaml import Document

_DECODING = "error unmarshaling JSON: while decoding JSON"


def as_function(document: Document, purpose: str) -> Object:
    """The Function in a document, as Crossplane would read it."""
    return _typed(document, _FUNCTION, purpose)


def as_secret(document: Document, purpose: str) -> Object:
    """The Secret in a document, as Crossplane would read it."""
    return _typed(document, _SECRET, purpose)


def check_composition(document: Document, purpose: str, ours: str = "") -> None:
    """Raise what Crossplane says when it cannot read the document as a Composition.

    `ours` is what we have to say of the same mistake; it becomes the hint.
    """
    _typed(document, _COMPOSITION, purpose)
    try:
        decode_spec(document.value or {})
    except KindError as problem:
        raise _refusal(document, problem, purpose, ours) from None


def check_definition(document: Document, purpose: str) -> None:
    """Raise Crossplane's error if the document is not an XRD."""
    from crossply.kinds.definition_go_types import decode_xrd

    try:
        decode_xrd(document.value)
    except KindError as problem:
        raise _refusal(document, problem, purpose) from None


def _typed(document: Document, go_type: GoType, purpose: str) -> Object:
    try:
        decoded: Object = round_trip(document.value, go_type)
    except DecodeError as problem:
        raise _refusal(document, problem, purpose) from None
    return decoded


def _refusal(document: Document, problem: Exception, purpose: str, ours: str = "") -> SourceError:
    field = ".".join(str(problem).partition("struct field ")[2].partition(" ")[0].split(".")[1:])
    line = document.locate(tuple(field.split("."))) if field else None
    return SourceError(
        f"{purpose}: {_DECODING}: {problem}",
        place=f"{document.source}:{line or document.line}",
        hint=ours or (f"correct the type of {field}" if field else getattr(problem, "hint", "")),
    )


class _NotBase64(PlainError):
    hint = Base64Error.hint


def _secret_bytes(value: Any) -> Any:
    if value is not None and not isinstance(value, str):
        raise DecodeError(json_kind(value), "[]uint8")
    try:
        decode(value or "")
    except Base64Error as problem:
        raise _NotBase64(str(problem)) from None
    return value


_STRING_MAP = Field(map_of(STRING))
_METADATA = struct(
    "ObjectMeta",
    {
        "name": Field(STRING, optional=False),
        **dict.fromkeys(("generateName", "namespace", "resourceVersion"), Field(STRING)),
        "uid": Field(text("types.UID")),
        "generation": Field(INT64),
        "labels": _STRING_MAP,
        "annotations": _STRING_MAP,
        "finalizers": Field(list_of(STRING)),
        "ownerReferences": Field(list_of(RAW, "[]v1.OwnerReference")),
    },
)
_HEAD = {"apiVersion": Field(STRING), "kind": Field(STRING), "metadata": Field(_METADATA, optional=False)}
_COMPOSITION = struct("Composition", {**_HEAD, "spec": Field(RAW)})
_FUNCTION_SPEC = struct(
    "FunctionSpec",
    {
        "package": Field(STRING, optional=False),
        "packagePullPolicy": Field(text("v1.PullPolicy"), pointer=True),
        "revisionActivationPolicy": Field(text("v1.RevisionActivationPolicy"), pointer=True),
        "revisionHistoryLimit": Field(INT64, pointer=True),
        "skipDependencyResolution": Field(BOOL, pointer=True),
        "ignoreCrossplaneConstraints": Field(BOOL, pointer=True),
        "commonLabels": _STRING_MAP,
    },
)
_FUNCTION = struct("Function", {**_HEAD, "spec": Field(_FUNCTION_SPEC)})
_SECRET = struct(
    "Secret",
    {
        **_HEAD,
        "data": Field(map_of(GoType("[]uint8", _secret_bytes))),
        "stringData": _STRING_MAP,
        "type": Field(text("v1.SecretType")),
        "immutable": Field(BOOL, pointer=True),
    },
)
