"""The Go types of a Composition's spec, which decide the bytes that a revision's hash is made of.

The fields that only the designs have are optional, so a Composition without them hashes as in Crossplane.
"""

from __future__ import annotations

from crossply.kinds.composition import CompositionError
from crossply.kinds.composition_defaults import spec_with_defaults
from crossply.kinds.gostructs import (
    INT64,
    RAW,
    STRING,
    DecodeError,
    Field,
    list_of,
    map_of,
    round_trip,
    struct,
    text,
)
from crossply.values import Object

_REQUIRED_STRING = Field(STRING, optional=False)
_OPTIONAL_STRING = Field(STRING, pointer=True)
_STRING_MAP = Field(map_of(STRING))
_RAW = Field(RAW, pointer=True)


def decode_spec(composition: Object) -> Object:
    """The spec of a Composition as it would be stored: with its defaults, without unknown fields."""
    try:
        spec: Object = round_trip(composition, _COMPOSITION)["spec"]
    except DecodeError as problem:
        raise CompositionError(str(problem)) from None
    return spec_with_defaults(spec, composition.get("spec") or {})


_NAME_REF = {"name": _REQUIRED_STRING}
_TYPE_REF = struct("TypeReference", {"apiVersion": _REQUIRED_STRING, "kind": _REQUIRED_STRING})
_SECRET_REF = struct("SecretReference", {"name": _REQUIRED_STRING, "namespace": _REQUIRED_STRING})
_CREDENTIALS = struct(
    "FunctionCredentials",
    {
        "name": _REQUIRED_STRING,
        "source": Field(text("v1.FunctionCredentialsSource"), optional=False),
        "secretRef": Field(_SECRET_REF, pointer=True),
    },
)
_RESOURCE = struct(
    "RequiredResourceSelector",
    {
        "requirementName": _REQUIRED_STRING,
        "apiVersion": _REQUIRED_STRING,
        "kind": _REQUIRED_STRING,
        "namespace": _OPTIONAL_STRING,
        "name": _OPTIONAL_STRING,
        "matchLabels": _STRING_MAP,
    },
)
_SCHEMA = struct(
    "RequiredSchemaSelector",
    {"requirementName": _REQUIRED_STRING, "apiVersion": _REQUIRED_STRING, "kind": _REQUIRED_STRING},
)
_REQUIREMENTS = struct(
    "FunctionRequirements",
    {"requiredResources": Field(list_of(_RESOURCE)), "requiredSchemas": Field(list_of(_SCHEMA))},
)
_STEP = struct(
    "PipelineStep",
    {
        "step": _REQUIRED_STRING,
        "functionRef": Field(struct("FunctionReference", _NAME_REF), optional=False),
        "input": _RAW,
        "credentials": Field(list_of(_CREDENTIALS)),
        "requirements": Field(_REQUIREMENTS, pointer=True),
        "inputRef": _RAW,
        "functionRevisionRef": Field(struct("FunctionRevisionReference", _NAME_REF), pointer=True),
        "functionRevisionSelector": Field(
            struct("LabelSelector", {"matchLabels": _STRING_MAP}), pointer=True
        ),
        "maxIterations": Field(INT64, pointer=True),
        "allowedExtraResources": Field(list_of(RAW), pointer=True),
    },
)
_SPEC = struct(
    "CompositionSpec",
    {
        "compositeTypeRef": Field(_TYPE_REF, optional=False),
        "mode": Field(text("v1.CompositionMode"), optional=False),
        "pipeline": Field(list_of(_STEP)),
        "writeConnectionSecretsToNamespace": _OPTIONAL_STRING,
        "patchSets": Field(list_of(RAW)),
        "resources": Field(list_of(RAW)),
        "environment": _RAW,
        "functions": Field(list_of(RAW)),
        "from": Field(_TYPE_REF, pointer=True),
        "to": Field(list_of(RAW)),
        "reclaimPolicy": _OPTIONAL_STRING,
    },
)
_COMPOSITION = struct("Composition", {"spec": Field(_SPEC, optional=False)})
