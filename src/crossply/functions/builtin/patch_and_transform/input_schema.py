"""The fields of `pt.fn.crossplane.io/v1beta1 Resources`, and of a Composition in `mode: Resources`.

The names of Go types appear only in messages of the decoder.
"""

from __future__ import annotations

from crossply.functions.builtin.patch_and_transform.input_decoder import (
    AnyValue,
    Boolean,
    FieldType,
    FreeMap,
    Integer,
    ListOf,
    String,
    Struct,
)

_TEXT = String()
_INTEGER = Integer("int64")
_ANY = AnyValue()

_MATH = Struct(
    "v1beta1.MathTransform",
    {
        "type": String("v1beta1.MathTransformType"),
        "multiply": _INTEGER,
        "clampMin": _INTEGER,
        "clampMax": _INTEGER,
    },
)
_PATTERN = Struct(
    "v1beta1.MatchTransformPattern",
    {
        "type": String("v1beta1.MatchTransformPatternType"),
        "literal": _TEXT,
        "regexp": _TEXT,
        "result": _ANY,
    },
)
_MATCH = Struct(
    "v1beta1.MatchTransform",
    {
        "patterns": ListOf(_PATTERN),
        "fallbackValue": _ANY,
        "fallbackTo": String("v1beta1.MatchFallbackTo"),
    },
)
_STRING = Struct(
    "v1beta1.StringTransform",
    {
        "type": String("v1beta1.StringTransformType"),
        "fmt": _TEXT,
        "convert": String("v1beta1.StringConversionType"),
        "trim": _TEXT,
        "regexp": Struct("v1beta1.StringTransformRegexp", {"match": _TEXT, "group": Integer("int")}),
        "join": Struct("v1beta1.StringTransformJoin", {"separator": _TEXT}),
        "replace": Struct("v1beta1.StringTransformReplace", {"search": _TEXT, "replace": _TEXT}),
    },
)
_CONVERT = Struct(
    "v1beta1.ConvertTransform",
    {"toType": String("v1beta1.TransformIOType"), "format": String("v1beta1.ConvertTransformFormat")},
)
_TRANSFORM = Struct(
    "v1beta1.Transform",
    {
        "type": String("v1beta1.TransformType"),
        "math": _MATH,
        "map": FreeMap("v1beta1.MapTransform"),
        "match": _MATCH,
        "string": _STRING,
        "convert": _CONVERT,
    },
)
_COMBINE = Struct(
    "v1beta1.Combine",
    {
        "variables": ListOf(Struct("v1beta1.CombineVariable", {"fromFieldPath": _TEXT})),
        "strategy": String("v1beta1.CombineStrategy"),
        "string": Struct("v1beta1.StringCombine", {"fmt": _TEXT}),
    },
)
_POLICY = Struct(
    "v1beta1.PatchPolicy",
    {
        "fromFieldPath": String("v1beta1.FromFieldPathPolicy"),
        "toFieldPath": String("v1beta1.ToFieldPathPolicy"),
    },
)
_PATCH: dict[str, FieldType] = {
    "type": String("v1beta1.PatchType"),
    "fromFieldPath": _TEXT,
    "toFieldPath": _TEXT,
    "combine": _COMBINE,
    "transforms": ListOf(_TRANSFORM),
    "policy": _POLICY,
}
# Only patches of a resource may name a patch set: patch sets do not nest.
_COMPOSED_PATCH = Struct("v1beta1.ComposedPatch", {**_PATCH, "patchSetName": _TEXT})
_PATCH_SET = Struct(
    "v1beta1.PatchSet", {"name": _TEXT, "patches": ListOf(Struct("v1beta1.PatchSetPatch", _PATCH))}
)
_CONNECTION_DETAIL = Struct(
    "v1beta1.ConnectionDetail",
    {
        "name": _TEXT,
        "type": String("v1beta1.ConnectionDetailType"),
        "fromConnectionSecretKey": _TEXT,
        "fromFieldPath": _TEXT,
        "value": _TEXT,
    },
)
_READINESS_CHECK = Struct(
    "v1beta1.ReadinessCheck",
    {
        "type": String("v1beta1.ReadinessCheckType"),
        "fieldPath": _TEXT,
        "matchString": _TEXT,
        "matchInteger": _INTEGER,
        "matchCondition": Struct(
            "v1beta1.MatchConditionReadinessCheck",
            {"type": String("v2.ConditionType"), "status": String("v1.ConditionStatus")},
        ),
    },
)
_TEMPLATE = Struct(
    "v1beta1.ComposedTemplate",
    {
        "name": _TEXT,
        "base": _ANY,
        "patches": ListOf(_COMPOSED_PATCH),
        "connectionDetails": ListOf(_CONNECTION_DETAIL),
        "readinessChecks": ListOf(_READINESS_CHECK),
    },
)
_ENVIRONMENT = Struct("v1beta1.Environment", {"patches": ListOf(Struct("v1beta1.EnvironmentPatch", _PATCH))})
_SECRET = Struct(
    "v1beta1.WriteConnectionSecretToRef",
    {
        "name": _TEXT,
        "namespace": _TEXT,
        "patches": ListOf(Struct("v1beta1.ConnectionSecretPatch", _PATCH)),
    },
)
_METADATA = Struct(
    "v1.ObjectMeta",
    {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "resourceVersion"), _TEXT),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp", "finalizers"), _ANY),
        **dict.fromkeys(("managedFields", "ownerReferences"), _ANY),
        **dict.fromkeys(("labels", "annotations"), FreeMap("map[string]string")),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _INTEGER),
        "uid": String("types.UID"),
    },
)

RESOURCES = Struct(
    "v1beta1.Resources",
    {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": _METADATA,
        "patchSets": ListOf(_PATCH_SET),
        "environment": _ENVIRONMENT,
        "resources": ListOf(_TEMPLATE),
        "writeConnectionSecretToRef": _SECRET,
    },
)
"""The input of function-patch-and-transform."""


def _open_field(schema: FieldType) -> FieldType:
    """The same type with unknown fields dropped, as an API server prunes them."""
    if isinstance(schema, ListOf):
        return ListOf(_open(schema.item))
    return _open(schema) if isinstance(schema, Struct) else schema


def _open(schema: Struct) -> Struct:
    fields = {name: _open_field(field) for name, field in schema.fields.items()}
    go_type = schema.go_type.replace("v1beta1.", "v1.")
    if go_type == "v1.PatchPolicy":
        fields["mergeOptions"] = _MERGE_OPTIONS
        del fields["toFieldPath"]
    return Struct(go_type, fields, is_open=True)


_MERGE_OPTIONS = Struct(
    "v1.MergeOptions", {"keepMapValues": Boolean("bool"), "appendSlice": Boolean("bool")}, is_open=True
)


def native_resources() -> Struct:
    """The templates of a Composition in `mode: Resources`, where all patches have the same fields."""
    patch_set = Struct("v1.PatchSet", {"name": _TEXT, "patches": ListOf(_COMPOSED_PATCH)})
    fields: dict[str, FieldType] = {"patchSets": ListOf(patch_set), "resources": ListOf(_TEMPLATE)}
    return _open(Struct("v1.CompositionSpec", fields))


def native_resources_and_environment() -> Struct:
    """The templates together with the patches of the environment."""
    return Struct(
        "v1.CompositionSpec",
        {**native_resources().fields, "environment": _open(_ENVIRONMENT)},
        is_open=True,
    )
