"""The Go types of a CompositeResourceDefinition, which decide what of it survives and what is an error.

Both API versions are decoded as v1, as Crossplane does; version 2 has no field that version 1 has not.
"""

from __future__ import annotations

from crossply.kinds.fields import KindError
from crossply.kinds.gostructs import (
    BOOL,
    INT32,
    INT64,
    RAW,
    STRING,
    DecodeError,
    Field,
    GoType,
    list_of,
    map_of,
    round_trip,
    struct,
    text,
)
from crossply.values import Object


class DefinitionDecodeError(KindError):
    """A definition has a field of the wrong type."""

    code = "CP-412"


def decode_xrd(xrd: Object) -> Object:
    """A CompositeResourceDefinition as Crossplane would read it: typed, and without unknown fields."""
    try:
        decoded: Object = round_trip(xrd, _XRD)
    except DecodeError as problem:
        raise DefinitionDecodeError(str(problem)) from None
    return decoded


def _required(go_type: GoType) -> Field:
    return Field(go_type, optional=False)


def _pointer(go_type: GoType) -> Field:
    return Field(go_type, pointer=True)


_STRINGS = Field(list_of(STRING))
_STRING_MAP = Field(map_of(STRING))

NAMES = struct(
    "CustomResourceDefinitionNames",
    {
        "plural": _required(STRING),
        "singular": Field(STRING),
        "shortNames": _STRINGS,
        "kind": _required(STRING),
        "listKind": Field(STRING),
        "categories": _STRINGS,
    },
)

PRINTER_COLUMN = struct(
    "CustomResourceColumnDefinition",
    {
        "name": _required(STRING),
        "type": _required(STRING),
        "format": Field(STRING),
        "description": Field(STRING),
        "priority": Field(INT32),
        "jsonPath": _required(STRING),
    },
)

_SERVICE = struct(
    "ServiceReference",
    {
        "namespace": _required(STRING),
        "name": _required(STRING),
        "path": _pointer(STRING),
        "port": _pointer(INT32),
    },
)
_CLIENT_CONFIG = struct(
    "WebhookClientConfig",
    {"url": _pointer(STRING), "service": _pointer(_SERVICE), "caBundle": Field(text("[]uint8"))},
)
_WEBHOOK = struct(
    "WebhookConversion",
    {"clientConfig": _pointer(_CLIENT_CONFIG), "conversionReviewVersions": _required(list_of(STRING))},
)
CONVERSION = struct(
    "CustomResourceConversion",
    {"strategy": _required(text("v1.ConversionStrategyType")), "webhook": _pointer(_WEBHOOK)},
)

_SCALE = struct(
    "CustomResourceSubresourceScale",
    {
        "specReplicasPath": _required(STRING),
        "statusReplicasPath": _required(STRING),
        "labelSelectorPath": _pointer(STRING),
    },
)
_SUBRESOURCES = struct("CompositeResourceDefinitionVersionSubresources", {"scale": _pointer(_SCALE)})
_SCHEMA = struct("CompositeResourceValidation", {"openAPIV3Schema": Field(RAW)})

_VERSION = struct(
    "CompositeResourceDefinitionVersion",
    {
        "name": _required(STRING),
        "referenceable": _required(BOOL),
        "served": _required(BOOL),
        "deprecated": _pointer(BOOL),
        "deprecationWarning": _pointer(STRING),
        "schema": _pointer(_SCHEMA),
        "additionalPrinterColumns": Field(list_of(PRINTER_COLUMN)),
        "subresources": _pointer(_SUBRESOURCES),
    },
)

_COMPOSITION_REF = struct("CompositionReference", {"name": _required(STRING)})
_SELECTOR_REQUIREMENT = struct(
    "LabelSelectorRequirement",
    {
        "key": _required(STRING),
        "operator": _required(text("v1.LabelSelectorOperator")),
        "values": _STRINGS,
    },
)
_SELECTOR = struct(
    "LabelSelector",
    {"matchLabels": _STRING_MAP, "matchExpressions": Field(list_of(_SELECTOR_REQUIREMENT))},
)

_SPEC = struct(
    "CompositeResourceDefinitionSpec",
    {
        "group": _required(STRING),
        "names": _required(NAMES),
        "scope": _pointer(text("v1.CompositeResourceScope")),
        "claimNames": _pointer(NAMES),
        "connectionSecretKeys": _STRINGS,
        "defaultCompositeDeletePolicy": _pointer(text("v1.CompositeDeletePolicy")),
        "defaultCompositionRef": _pointer(_COMPOSITION_REF),
        "defaultCompositionRevisionSelector": _pointer(_SELECTOR),
        "defaultCompositionUpdatePolicy": _pointer(text("v1.UpdatePolicy")),
        "enforcedCompositionRef": _pointer(_COMPOSITION_REF),
        "versions": _required(list_of(_VERSION)),
        "conversion": _pointer(CONVERSION),
        "metadata": _pointer(
            struct(
                "CompositeResourceDefinitionSpecMetadata",
                {"labels": _STRING_MAP, "annotations": _STRING_MAP},
            )
        ),
    },
)

_METADATA = struct(
    "ObjectMeta",
    {
        "name": Field(STRING),
        "generateName": Field(STRING),
        "namespace": Field(STRING),
        "uid": Field(text("types.UID")),
        "resourceVersion": Field(STRING),
        "generation": Field(INT64),
        "labels": _STRING_MAP,
        "annotations": _STRING_MAP,
        "finalizers": _STRINGS,
        "creationTimestamp": Field(RAW),
        "deletionTimestamp": Field(RAW),
        "ownerReferences": Field(list_of(RAW)),
    },
)

_XRD = struct(
    "CompositeResourceDefinition",
    {
        "apiVersion": Field(STRING),
        "kind": Field(STRING),
        "metadata": _required(_METADATA),
        "spec": _required(_SPEC),
        "status": Field(RAW),
    },
)
