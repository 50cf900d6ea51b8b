"""Inputs are compiled once, and the function answers any request and never changes it."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from crossply.compose.function_messages import Request, State
from crossply.functions.builtin.patch_and_transform import compiled_input_cache
from crossply.functions.builtin.patch_and_transform.compiled_input import copier
from crossply.functions.builtin.patch_and_transform.compiled_input_cache import CompiledInputCache
from crossply.functions.builtin.patch_and_transform.dialect import FUNCTION
from crossply.functions.builtin.patch_and_transform.function import run
from crossply.functions.builtin.patch_and_transform.resources_mode import run_native
from crossply.functions.builtin.patch_and_transform.text_formatting import formatter
from crossply.values.goformat import sprintf
from crossply.values.protobuf_struct import encode_struct, to_wire
from tests.support.functions.patch_and_transform import BASE, XR, messages, resource, run_input, xr

INPUT: dict[str, Any] = {
    "resources": [{"name": "one", "base": BASE, "patches": [{"fromFieldPath": "spec.a"}]}]
}


def test_the_same_input_is_compiled_once() -> None:
    cache = CompiledInputCache(FUNCTION)
    assert cache.get(INPUT) is cache.get(INPUT)


def test_an_equal_input_is_compiled_once_and_a_lookalike_is_not() -> None:
    cache = CompiledInputCache(FUNCTION)
    compiled = cache.get(INPUT)
    assert cache.get(copy.deepcopy(INPUT)) is compiled
    one, true = ({"resources": [{"name": "a", "base": {"kind": "K", "n": n}}]} for n in (1.0, True))
    assert cache.get(one) is not cache.get(true)


def test_the_error_of_an_invalid_input_is_cached_too() -> None:
    cache = CompiledInputCache(FUNCTION)
    nonsense: dict[str, Any] = {"resources": []}
    assert isinstance(cache.get(nonsense), str)
    assert cache.get(nonsense) is cache.get(nonsense)


def test_the_number_of_cached_inputs_is_limited() -> None:
    cache = CompiledInputCache(FUNCTION)
    inputs = [
        {"resources": [{"name": f"r-{n}", "base": BASE}]} for n in range(compiled_input_cache.MAX_INPUTS + 10)
    ]
    first = cache.get(inputs[0])
    for function_input in inputs:
        cache.get(function_input)
    assert len(cache._compiled_inputs) == compiled_input_cache.MAX_INPUTS
    assert cache.get(inputs[0]) is not first


def test_the_bytes_of_cached_inputs_are_limited() -> None:
    cache = CompiledInputCache(FUNCTION)
    large = [{"resources": [{"name": f"r-{n}", "base": {**BASE, "spec": "x" * 3_000_000}}]} for n in range(9)]
    patches = [{"type": "PatchSet", "patchSetName": "many"}] * 300
    many = {"name": "many", "patches": [{"fromFieldPath": "spec.a"}] * 100}
    dense = [
        {"patchSets": [many], "resources": [{"name": f"r-{n}", "base": BASE, "patches": patches}]}
        for n in range(9)
    ]
    for inputs in (large, dense):
        for function_input in inputs:
            assert not isinstance(cache.get(function_input), str)
        assert 0 < len(cache._compiled_inputs) < len(inputs)
        assert cache.get(inputs[-1]) is cache.get(inputs[-1])


def test_runs_do_not_share_their_output() -> None:
    base = {**BASE, "spec": {"l": [{"a": {}}]}}
    function_input = to_wire(
        {
            "resources": [
                {
                    "name": "one",
                    "base": base,
                    "patches": [{"fromFieldPath": "spec.v", "toFieldPath": "spec.l[0].a.v"}],
                }
            ]
        }
    )
    first, second = (run(Request(State(resource(xr(v=value))), input=function_input)) for value in ("x", "y"))
    assert first.desired is not None
    assert second.desired is not None
    assert first.desired.resources["one"].object["spec"] == {"l": [{"a": {"v": "x"}}]}
    assert second.desired.resources["one"].object["spec"] == {"l": [{"a": {"v": "y"}}]}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**6), 10**6)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab.", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4))
def test_a_copier_copies_deeply(value: dict[str, Any]) -> None:
    copied = copier(value)()
    assert copied == value
    assert encode_struct(copied) == encode_struct(value)
    for key, inner in value.items():
        if isinstance(inner, dict | list):
            assert copied[key] is not inner


@given(st.text("%svd-a[1]", max_size=12), st.lists(json_values, min_size=1, max_size=3))
def test_a_prepared_format_equals_the_format(text: str, values: list[Any]) -> None:
    assert formatter(text, len(values))(values) == sprintf(text, values)


PATHS = [
    "spec.a",
    "spec.a.b",
    "spec.l[0]",
    "spec.l[*]",
    "spec.l[*].b",
    "spec",
    "kind",
    "a[",
    "",
    "metadata.name",
    "status",
]
TYPES = [
    "FromCompositeFieldPath",
    "ToCompositeFieldPath",
    "FromEnvironmentFieldPath",
    "ToEnvironmentFieldPath",
    "CombineFromComposite",
    "CombineToEnvironment",
    "PatchSet",
    "Nope",
    "",
]
POLICIES = st.fixed_dictionaries(
    {},
    optional={
        "fromFieldPath": st.sampled_from(["Required", "Optional"]),
        "toFieldPath": st.sampled_from(["MergeObjects", "AppendArray", "ForceMergeObjects"]),
        "mergeOptions": st.just({"appendSlice": True}),
    },
)
TRANSFORMS = [
    {"type": "string", "string": {"type": "Convert", "convert": "ToJson"}},
    {"type": "string", "string": {"type": "Convert", "convert": "FromBase64"}},
    {"type": "convert", "convert": {"toType": "int64"}},
    {"type": "math", "math": {"type": "Multiply", "multiply": 3}},
    {"type": "match", "match": {"patterns": [{"type": "regexp", "regexp": ".", "result": {"a": [1]}}]}},
]
COMBINE = {"strategy": "string", "variables": [{"fromFieldPath": "spec.a"}], "string": {"fmt": "%s"}}
patches = st.fixed_dictionaries(
    {
        "type": st.sampled_from(TYPES),
        "fromFieldPath": st.sampled_from(PATHS),
        "toFieldPath": st.sampled_from(PATHS),
    },
    optional={
        "policy": POLICIES,
        "combine": st.just(COMBINE),
        "transforms": st.lists(st.sampled_from(TRANSFORMS), max_size=2),
    },
)
specs = st.fixed_dictionaries({}, optional={"a": json_values, "l": json_values})


@settings(max_examples=300, deadline=None)
@given(st.lists(patches, max_size=3), specs, specs, specs, st.booleans())
def test_the_function_responds_to_any_request(
    template_patches: list[Any], composite: Any, base: Any, there: Any, exists: bool
) -> None:
    template = {"name": "one", "base": {**BASE, "spec": base}, "patches": template_patches}
    observed = State(
        resource(xr(**composite)),
        {"one": resource({**BASE, "spec": there, "status": there})} if exists else {},
    )
    for function in (run, run_native):
        request = Request(observed, input=to_wire({"resources": [template]}), context={"k": "v"})
        before = copy.deepcopy((request.observed, request.desired, request.input, request.context))
        response = function(request)
        assert (request.observed, request.desired, request.input, request.context) == before
        for composed in () if response.desired is None else response.desired.resources.values():
            assert _doubles_only(composed.object)
            encode_struct(composed.object)


@settings(max_examples=200, deadline=None)
@given(json_values)
def test_the_function_answers_any_input(value: Any) -> None:
    for shape in ({"resources": value}, {"resources": [value]}, {"patchSets": value}, {"environment": value}):
        for function in (run, run_native):
            assert messages(run_input(shape, composite=XR, function=function))


def _doubles_only(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_doubles_only, value.values()))
    if isinstance(value, list):
        return all(map(_doubles_only, value))
    return type(value) is not int
