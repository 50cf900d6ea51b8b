"""Random inputs of function-patch-and-transform."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from crossply.compose.function_messages import Request, Resource, State
from crossply.functions.field_provenance import ENVIRONMENT_KEY

TEXTS = ("spec.a", "spec.b", "spec.nested.x", "spec.deep.er.z", "spec.missing", "metadata.labels.team")
OBJECTS = ("spec.nested", "spec.tags", "spec.deep")
NUMBERS = ("spec.n", "spec.nested.n")
LISTS = ("spec.words", "spec.items")
TEXT_TARGETS = (
    "spec.a",
    "spec.obj.x",
    "spec.new.q",
    "spec.list[0]",
    "spec.list[4]",
    "spec.items[*].v",
    "spec.b",
)
OBJECT_TARGETS = ("spec.obj", "spec.new", "spec.merged.deeper")

BASE = {
    "apiVersion": "example.org/v1",
    "kind": "Part",
    "spec": {"a": "base", "obj": {"x": "1", "y": "2"}, "list": ["p", "q"], "items": [{"v": 1.0}, {"v": 2.0}]},
}
_OBSERVED = {
    "apiVersion": "example.org/v1",
    "kind": "Part",
    "metadata": {"name": "one-x", "namespace": "ns"},
    "status": {"id": "i-1", "size": 4.0},
}
_TEXT_TRANSFORMS: tuple[list[dict[str, Any]], ...] = (
    [],
    [],
    [{"type": "string", "string": {"type": "Format", "fmt": "pre-%s"}}],
    [{"type": "string", "string": {"type": "Convert", "convert": "ToUpper"}}],
    [
        {
            "type": "match",
            "match": {
                "patterns": [{"type": "literal", "literal": "alpha", "result": "first"}],
                "fallbackValue": "other",
            },
        }
    ],
    [
        {"type": "string", "string": {"type": "Convert", "convert": "ToSha256"}},
        {"type": "string", "string": {"type": "TrimPrefix", "trim": "a"}},
    ],
)
_POLICIES: tuple[dict[str, str], ...] = ({}, {}, {"fromFieldPath": "Required"}, {"fromFieldPath": "Optional"})
_MERGES: tuple[dict[str, str], ...] = (
    {},
    {"toFieldPath": "MergeObjects"},
    {"toFieldPath": "MergeObjectsAppendArrays"},
    {"toFieldPath": "ForceMergeObjects"},
)


@st.composite
def from_composite(
    draw: st.DrawFn, kind: str = "FromCompositeFieldPath", *, merges: bool = True
) -> dict[str, Any]:
    without: tuple[dict[str, Any], ...] = (
        {},
        {"mergeOptions": {"keepMapValues": True}},
        {"mergeOptions": {}},
    )
    merge = _MERGES if merges else without
    append = {"toFieldPath": "ForceMergeObjectsAppendArrays"}
    if draw(st.booleans()):
        target = draw(st.sampled_from(TEXT_TARGETS))
        transforms = draw(st.sampled_from(_TEXT_TRANSFORMS))
        source, policy = draw(st.sampled_from(TEXTS)), draw(st.sampled_from(_POLICIES))
    elif draw(st.booleans()):
        source, target, transforms = draw(st.sampled_from(OBJECTS)), draw(st.sampled_from(OBJECT_TARGETS)), []
        policy = {**draw(st.sampled_from(_POLICIES)), **draw(st.sampled_from(merge))}
    elif draw(st.booleans()):
        source, target, policy = draw(st.sampled_from(NUMBERS)), "spec.count", {}
        transforms = [{"type": "math", "math": {"type": "Multiply", "multiply": 3.0}}]
    else:
        source, target, transforms = draw(st.sampled_from(LISTS)), "spec.list", []
        policy = draw(st.sampled_from(({}, append if merges else {"mergeOptions": {"appendSlice": True}})))
    patch = {"type": kind, "fromFieldPath": source, "toFieldPath": target, "transforms": transforms}
    return {**patch, "policy": policy} if policy else patch


@st.composite
def combine(draw: st.DrawFn) -> dict[str, Any]:
    variables = draw(st.lists(st.sampled_from(TEXTS + NUMBERS), min_size=2, max_size=2))
    return {
        "type": "CombineFromComposite",
        "combine": {
            "strategy": "string",
            "variables": [{"fromFieldPath": path} for path in variables],
            "string": {"fmt": "%v+%v"},
        },
        "toFieldPath": draw(st.sampled_from(("spec.a", "spec.combined", "metadata.labels.both"))),
        "policy": draw(st.sampled_from(({"fromFieldPath": "Optional"}, {"fromFieldPath": "Required"}))),
    }


_OTHERS = (
    {"type": "PatchSet", "patchSetName": "common"},
    {"type": "ToCompositeFieldPath", "fromFieldPath": "status.id", "toFieldPath": "status.id"},
    {"type": "FromEnvironmentFieldPath", "fromFieldPath": "given", "toFieldPath": "spec.given"},
    {"type": "FromEnvironmentFieldPath", "fromFieldPath": "made", "toFieldPath": "spec.made"},
    {"type": "FromEnvironmentFieldPath", "fromFieldPath": "made", "toFieldPath": "spec.a"},
    {"type": "ToEnvironmentFieldPath", "fromFieldPath": "status.id", "toFieldPath": "made.from"},
)
_ENVIRONMENT = (
    {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.b", "toFieldPath": "made.b"},
    {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.missing", "toFieldPath": "made.b"},
    {"type": "ToCompositeFieldPath", "fromFieldPath": "made", "toFieldPath": "status.made"},
    {"type": "FromCompositeFieldPath", "fromFieldPath": "spec.nested", "toFieldPath": "made.all"},
)


@st.composite
def inputs(draw: st.DrawFn) -> dict[str, Any]:
    patch = st.one_of(from_composite(), from_composite(), combine(), st.sampled_from(_OTHERS))
    resources = [
        {"name": name, "base": BASE, "patches": draw(st.lists(patch, max_size=6))} for name in ("one", "two")
    ]
    return {
        "apiVersion": "pt.fn.crossplane.io/v1beta1",
        "kind": "Resources",
        "patchSets": [
            {"name": "common", "patches": draw(st.lists(from_composite(), min_size=1, max_size=2))}
        ],
        "environment": {"patches": draw(st.lists(st.sampled_from(_ENVIRONMENT), max_size=3))},
        "resources": resources,
    }


def request_for(
    function_input: dict[str, Any],
    xr: dict[str, Any],
    required: dict[str, tuple[Resource, ...]] | None = None,
) -> Request:
    context = {ENVIRONMENT_KEY: {"given": "g", "made": {"old": "o"}}}
    return Request(
        State(Resource(xr), {"one": Resource(_OBSERVED)}),
        State(),
        input=function_input,
        context=context,
        required_resources=required or {},
    )
