"""The fields of `pt.fn.crossplane.io/v1beta1 Resources`, and of a Composition in `mode: Resources`.

The names of Go types appear only in messages of the decoder.
"""

from __future__ import annotations

from collections.abc import Callable

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


def conditional_resources() -> Struct:
    """The input of function-conditional-patch-and-transform: conditions of the step and of resources."""
    template = Struct(_TEMPLATE.go_type, {**_TEMPLATE.fields, "condition": _TEXT})
    fields: dict[str, FieldType] = {"condition": _TEXT, "resources": ListOf(template)}
    # The published function ignores unknown fields.
    return _opened(Struct(RESOURCES.go_type, {**RESOURCES.fields, **fields}))


def _opened(schema: Struct, open_struct: Callable[[Struct], Struct] | None = None) -> Struct:
    """The same type with unknown fields dropped, also in the structs in it."""
    inner = open_struct or _opened
    fields: dict[str, FieldType] = {}
    for name, field in schema.fields.items():
        if isinstance(field, ListOf):
            fields[name] = ListOf(inner(field.item))
        else:
            fields[name] = inner(field) if isinstance(field, Struct) else field
    return Struct(schema.go_type, fields, is_open=True)


def _open(schema: Struct) -> Struct:
    """The same type as an API server prunes it."""
    fields = _opened(schema, _open).fields
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
    fields: dict[str, FieldType] = {
        "patchSets": ListOf(patch_set),
        "resources": ListOf(_TEMPLATE),
        "environment": _ENVIRONMENT,
    }
    return _open(Struct("v1.CompositionSpec", fields))


_LABEL_MATCHER = Struct(
    "v1.EnvironmentSourceSelectorLabelMatcher",
    {
        "type": String("v1.EnvironmentSourceSelectorLabelMatcherType"),
        "key": _TEXT,
        "valueFromFieldPath": _TEXT,
        "fromFieldPathPolicy": String("v1.FromFieldPathPolicy"),
        "value": _TEXT,
    },
)
_ENVIRONMENT_SELECTOR = Struct(
    "v1.EnvironmentSourceSelector",
    {
        "mode": String("v1.EnvironmentSourceSelectorModeType"),
        "maxMatch": Integer("uint64"),
        "minMatch": Integer("uint64"),
        "sortByFieldPath": _TEXT,
        "matchLabels": ListOf(_LABEL_MATCHER),
    },
)
_ENVIRONMENT_SOURCE = Struct(
    "v1.EnvironmentSource",
    {
        "type": String("v1.EnvironmentSourceType"),
        "ref": Struct("v1.EnvironmentSourceReference", {"name": _TEXT}),
        "selector": _ENVIRONMENT_SELECTOR,
    },
)
ENVIRONMENT_CONFIGURATION = _opened(
    Struct(
        "v1.EnvironmentConfiguration",
        {
            "defaultData": FreeMap("map[string]v1.JSON"),
            "environmentConfigs": ListOf(_ENVIRONMENT_SOURCE),
            "policy": Struct(
                "v1.Policy",
                {"resolve": String("v1.ResolvePolicy"), "resolution": String("v1.ResolutionPolicy")},
            ),
        },
    )
)
"""What selects the environment of a Composition in `mode: Resources`. Its patches are decoded elsewhere."""
