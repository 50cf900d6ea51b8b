"""What a step's input may look like: the fields of `pt.fn.crossplane.io/v1beta1 Resources`, and of the
templates that a Composition in `mode: Resources` holds.

The names of Go types appear in messages of the decoder, nowhere else.
"""

from __future__ import annotations

from crossply.functions.builtin.patch_and_transform.decode import (
    Anything,
    Flag,
    Items,
    Pairs,
    Shape,
    Struct,
    Text,
    Whole,
)

_TEXT = Text()
_WHOLE = Whole("int64")
_ANYTHING = Anything()

_MATH = Struct(
    "v1beta1.MathTransform",
    {
        "type": Text("v1beta1.MathTransformType"),
        "multiply": _WHOLE,
        "clampMin": _WHOLE,
        "clampMax": _WHOLE,
    },
)
_PATTERN = Struct(
    "v1beta1.MatchTransformPattern",
    {
        "type": Text("v1beta1.MatchTransformPatternType"),
        "literal": _TEXT,
        "regexp": _TEXT,
        "result": _ANYTHING,
    },
)
_MATCH = Struct(
    "v1beta1.MatchTransform",
    {
        "patterns": Items(_PATTERN),
        "fallbackValue": _ANYTHING,
        "fallbackTo": Text("v1beta1.MatchFallbackTo"),
    },
)
_STRING = Struct(
    "v1beta1.StringTransform",
    {
        "type": Text("v1beta1.StringTransformType"),
        "fmt": _TEXT,
        "convert": Text("v1beta1.StringConversionType"),
        "trim": _TEXT,
        "regexp": Struct("v1beta1.StringTransformRegexp", {"match": _TEXT, "group": Whole("int")}),
        "join": Struct("v1beta1.StringTransformJoin", {"separator": _TEXT}),
        "replace": Struct("v1beta1.StringTransformReplace", {"search": _TEXT, "replace": _TEXT}),
    },
)
_CONVERT = Struct(
    "v1beta1.ConvertTransform",
    {"toType": Text("v1beta1.TransformIOType"), "format": Text("v1beta1.ConvertTransformFormat")},
)
_TRANSFORM = Struct(
    "v1beta1.Transform",
    {
        "type": Text("v1beta1.TransformType"),
        "math": _MATH,
        "map": Pairs("v1beta1.MapTransform"),
        "match": _MATCH,
        "string": _STRING,
        "convert": _CONVERT,
    },
)
_COMBINE = Struct(
    "v1beta1.Combine",
    {
        "variables": Items(Struct("v1beta1.CombineVariable", {"fromFieldPath": _TEXT})),
        "strategy": Text("v1beta1.CombineStrategy"),
        "string": Struct("v1beta1.StringCombine", {"fmt": _TEXT}),
    },
)
_POLICY = Struct(
    "v1beta1.PatchPolicy",
    {"fromFieldPath": Text("v1beta1.FromFieldPathPolicy"), "toFieldPath": Text("v1beta1.ToFieldPathPolicy")},
)
_PATCH: dict[str, Shape] = {
    "type": Text("v1beta1.PatchType"),
    "fromFieldPath": _TEXT,
    "toFieldPath": _TEXT,
    "combine": _COMBINE,
    "transforms": Items(_TRANSFORM),
    "policy": _POLICY,
}
# Only a resource's own patch may name a set: sets cannot hold sets.
_COMPOSED_PATCH = Struct("v1beta1.ComposedPatch", {**_PATCH, "patchSetName": _TEXT})
_PATCH_SET = Struct(
    "v1beta1.PatchSet", {"name": _TEXT, "patches": Items(Struct("v1beta1.PatchSetPatch", _PATCH))}
)
_CONNECTION_DETAIL = Struct(
    "v1beta1.ConnectionDetail",
    {
        "name": _TEXT,
        "type": Text("v1beta1.ConnectionDetailType"),
        "fromConnectionSecretKey": _TEXT,
        "fromFieldPath": _TEXT,
        "value": _TEXT,
    },
)
_READINESS_CHECK = Struct(
    "v1beta1.ReadinessCheck",
    {
        "type": Text("v1beta1.ReadinessCheckType"),
        "fieldPath": _TEXT,
        "matchString": _TEXT,
        "matchInteger": _WHOLE,
        "matchCondition": Struct(
            "v1beta1.MatchConditionReadinessCheck",
            {"type": Text("v2.ConditionType"), "status": Text("v1.ConditionStatus")},
        ),
    },
)
_TEMPLATE = Struct(
    "v1beta1.ComposedTemplate",
    {
        "name": _TEXT,
        "base": _ANYTHING,
        "patches": Items(_COMPOSED_PATCH),
        "connectionDetails": Items(_CONNECTION_DETAIL),
        "readinessChecks": Items(_READINESS_CHECK),
    },
)
_ENVIRONMENT = Struct("v1beta1.Environment", {"patches": Items(Struct("v1beta1.EnvironmentPatch", _PATCH))})
_SECRET = Struct(
    "v1beta1.WriteConnectionSecretToRef",
    {
        "name": _TEXT,
        "namespace": _TEXT,
        "patches": Items(Struct("v1beta1.ConnectionSecretPatch", _PATCH)),
    },
)
_METADATA = Struct(
    "v1.ObjectMeta",
    {
        **dict.fromkeys(("name", "generateName", "namespace", "selfLink", "resourceVersion"), _TEXT),
        **dict.fromkeys(("creationTimestamp", "deletionTimestamp", "finalizers"), _ANYTHING),
        **dict.fromkeys(("managedFields", "ownerReferences"), _ANYTHING),
        **dict.fromkeys(("labels", "annotations"), Pairs("map[string]string")),
        **dict.fromkeys(("generation", "deletionGracePeriodSeconds"), _WHOLE),
        "uid": Text("types.UID"),
    },
)

RESOURCES = Struct(
    "v1beta1.Resources",
    {
        "apiVersion": _TEXT,
        "kind": _TEXT,
        "metadata": _METADATA,
        "patchSets": Items(_PATCH_SET),
        "environment": _ENVIRONMENT,
        "resources": Items(_TEMPLATE),
        "writeConnectionSecretToRef": _SECRET,
    },
)
"""The input of function-patch-and-transform."""


def _opened(shape: Shape) -> Shape:
    """The same shape, with fields that are not known left out, as an API server prunes them."""
    if isinstance(shape, Items):
        return Items(_open(shape.item))
    return _open(shape) if isinstance(shape, Struct) else shape


def _open(shape: Struct) -> Struct:
    fields = {name: _opened(field) for name, field in shape.fields.items()}
    go_type = shape.go_type.replace("v1beta1.", "v1.")
    if go_type == "v1.PatchPolicy":
        fields["mergeOptions"] = _MERGE_OPTIONS
        del fields["toFieldPath"]
    return Struct(go_type, fields, is_open=True)


_MERGE_OPTIONS = Struct(
    "v1.MergeOptions", {"keepMapValues": Flag("bool"), "appendSlice": Flag("bool")}, is_open=True
)


def native_resources() -> Struct:
    """The templates of a Composition in `mode: Resources`, where one kind of patch serves everywhere."""
    patch_set = Struct("v1.PatchSet", {"name": _TEXT, "patches": Items(_COMPOSED_PATCH)})
    fields: dict[str, Shape] = {"patchSets": Items(patch_set), "resources": Items(_TEMPLATE)}
    return _open(Struct("v1.CompositionSpec", fields))


def native_resources_and_environment() -> Struct:
    """The same with the patches of the environment."""
    return Struct(
        "v1.CompositionSpec",
        {**native_resources().fields, "environment": _open(_ENVIRONMENT)},
        is_open=True,
    )
