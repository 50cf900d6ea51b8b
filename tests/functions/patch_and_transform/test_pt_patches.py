"""Patches: where values come from, where they go, and what happens when a field is not there."""

from __future__ import annotations

from typing import Any

import pytest

from crossply.compose.function_messages import READY_FALSE, READY_TRUE, State
from crossply.values.protobuf_struct import to_wire
from tests.support.functions.patch_and_transform import (
    BASE,
    FATAL,
    WARNING,
    XR,
    Object,
    desired_object,
    messages,
    observed,
    resource,
    run_input,
    run_patch,
    run_templates,
    severities,
    xr,
)


def combine(fmt: str, *variables: str) -> Object:
    return {
        "strategy": "string",
        "variables": [{"fromFieldPath": variable} for variable in variables],
        "string": {"fmt": fmt},
    }


def test_a_value_goes_to_the_same_path_by_default() -> None:
    response = run_patch({"fromFieldPath": "spec.size"}, composite=xr(size="big"))
    assert desired_object(response)["spec"] == {"size": "big"}


def test_a_null_is_a_value() -> None:
    response = run_patch({"fromFieldPath": "spec.a", "toFieldPath": "spec.b"}, composite=xr(a=None))
    assert desired_object(response)["spec"] == {"b": None}


def test_patches_from_an_observed_resource_go_to_the_desired_composite() -> None:
    patches = [
        {"type": "ToCompositeFieldPath", "fromFieldPath": "status.ip", "toFieldPath": "status.address"},
        {
            "type": "CombineToComposite",
            "toFieldPath": "status.url",
            "combine": combine("%s:%d", "status.ip", "status.ip"),
        },
    ]
    template = {"name": "one", "base": BASE, "patches": patches}
    response = run_templates(template, exists={"one": resource(observed(status={"ip": "10.1"}))})
    assert response.desired is not None
    assert response.desired.composite is not None
    assert response.desired.composite.object["status"] == {"address": "10.1", "url": "10.1:%!d(string=10.1)"}


def test_patches_from_a_resource_wait_until_it_exists() -> None:
    response = run_patch({"type": "ToCompositeFieldPath", "fromFieldPath": "status.ip"})
    assert not response.results
    assert desired_object(response) == BASE


def test_the_composite_desired_by_earlier_steps_is_preserved() -> None:
    desired = State(resource({"status": {"a": {"x": 1}}}, {"k": b"v"}, READY_TRUE))
    template = {
        "name": "one",
        "base": BASE,
        "patches": [
            {"type": "ToCompositeFieldPath", "fromFieldPath": "status.y", "toFieldPath": "status.a.y"}
        ],
    }
    response = run_templates(template, desired=desired, exists={"one": resource(observed(status={"y": 2}))})
    assert response.desired is not None
    composite = response.desired.composite
    assert composite is not None
    assert composite.object["status"] == {"a": {"x": 1, "y": 2}}
    assert composite.connection_details == {"k": b"v"}
    assert desired.composite is not None
    assert desired.composite.object == {"status": {"a": {"x": 1}}}, "the request is not written to"


def test_a_patch_set_takes_the_place_of_the_patch_that_names_it() -> None:
    function_input = {
        "patchSets": [{"name": "s", "patches": [{"fromFieldPath": "spec.b", "toFieldPath": "spec.x"}]}],
        "resources": [
            {
                "name": "one",
                "base": BASE,
                "patches": [
                    {"fromFieldPath": "spec.a", "toFieldPath": "spec.x"},
                    {"type": "PatchSet", "patchSetName": "s"},
                    {
                        "fromFieldPath": "spec.x",
                        "toFieldPath": "spec.y",
                        "policy": {"fromFieldPath": "Required"},
                    },
                ],
            }
        ],
    }
    response = run_input(function_input, composite=xr(a=1, b=2))
    assert "patch at index 2 has" in messages(response)[0]
    assert desired_object(run_input(function_input, composite=xr(a=1, b=2, x=3)))["spec"] == {"x": 2, "y": 3}


def test_a_patch_set_that_is_not_there_stops_the_run() -> None:
    response = run_patch({"type": "PatchSet", "patchSetName": "nope"})
    assert severities(response) == [FATAL]
    assert messages(response) == ["cannot resolve PatchSets: cannot find PatchSet by name nope"]


@pytest.mark.parametrize(
    ("policy", "there", "value", "result", "why"),
    [
        ("Replace", {"a": 1, "b": 2}, {"a": 3}, {"a": 3}, "nothing stays"),
        (
            "MergeObjects",
            {"a": 1, "l": [1]},
            {"a": 3, "l": [2], "c": 4},
            {"a": 1, "l": [1], "c": 4},
            "what is there wins",
        ),
        (
            "MergeObjects",
            {"a": 0, "b": ""},
            {"a": 3, "b": "x"},
            {"a": 3, "b": "x"},
            "unless it is a zero value",
        ),
        (
            "MergeObjectsAppendArrays",
            {"l": [1]},
            {"l": [1, 2]},
            {"l": [1, 1, 2]},
            "inner lists add up, doubles and all",
        ),
        (
            "ForceMergeObjects",
            {"a": 1, "b": {"x": 1}},
            {"b": {"y": 2}},
            {"a": 1, "b": {"x": 1, "y": 2}},
            "objects unite",
        ),
        (
            "ForceMergeObjectsAppendArrays",
            [1, 2],
            [2, 3],
            [1, 2, 3],
            "at the path itself only new elements are added",
        ),
        ("AppendArray", ["a"], ["a", {"n": 1}], ["a", {"n": 1}], "an old name for it"),
    ],
)
def test_a_policy_decides_how_values_meet(policy: str, there: Any, value: Any, result: Any, why: str) -> None:
    patch = {"fromFieldPath": "spec.v", "policy": {"toFieldPath": policy}}
    response = run_patch(patch, base={**BASE, "spec": {"v": there}}, composite=xr(v=value))
    assert desired_object(response)["spec"]["v"] == result, why


def test_a_wildcard_writes_to_every_place_that_is_there() -> None:
    base = {**BASE, "spec": {"rules": [{"cidr": "x"}, {"port": 1}, {"cidr": "y"}]}}
    response = run_patch(
        {"fromFieldPath": "spec.net", "toFieldPath": "spec.rules[*].cidr"},
        base=base,
        composite=xr(net="10/8"),
    )
    assert desired_object(response)["spec"]["rules"] == [{"cidr": "10/8"}, {"port": 1}, {"cidr": "10/8"}]


def test_every_place_of_a_wildcard_gets_its_own_copy() -> None:
    patches = [
        {"fromFieldPath": "spec.tags", "toFieldPath": "spec.l[*]"},
        {"fromFieldPath": "spec.x", "toFieldPath": "spec.l[0].x"},
    ]
    template = {"name": "one", "base": {**BASE, "spec": {"l": [1, 2]}}, "patches": patches}
    response = run_templates(template, composite=xr(tags={"a": 1}, x=5))
    assert desired_object(response)["spec"]["l"] == [{"a": 1, "x": 5}, {"a": 1}]


def test_a_wildcard_that_leads_nowhere_stops_the_run() -> None:
    base = {**BASE, "spec": {"l": [{}]}}
    response = run_patch(
        {"fromFieldPath": "spec.v", "toFieldPath": "spec.l[*].x"}, base=base, composite=xr(v=1)
    )
    assert messages(response) == [
        'cannot render composed resource "one" "FromCompositeFieldPath" patch at index 0: '
        "cannot expand ToFieldPath spec.l[*].x"
    ]


def test_indexes_create_lists_and_numbers_keep_their_type() -> None:
    response = run_patch({"fromFieldPath": "spec.v", "toFieldPath": "spec.l[1].n"}, composite=xr(v=3))
    assert response.desired is not None
    assert response.desired.resources["one"].object["spec"] == {"l": [None, {"n": 3.0}]}
    assert type(response.desired.resources["one"].object["spec"]["l"][1]["n"]) is float


@pytest.mark.parametrize(
    ("patch", "problem"),
    [
        ({"fromFieldPath": "spec.s.x", "toFieldPath": "spec.o"}, "spec.s: not an object"),
        (
            {"fromFieldPath": "spec[", "toFieldPath": "spec.o"},
            "cannot parse path \"spec[\": unterminated '[' at position 4",
        ),
        (
            {"fromFieldPath": "spec.s", "toFieldPath": "kind.x"},
            "cannot patch to object: kind is not an object",
        ),
        (
            {"fromFieldPath": "spec.s", "toFieldPath": "a[2000]"},
            "cannot patch to object: index 2000 is greater than max allowed index 1024",
        ),
        (
            {"fromFieldPath": "spec.e", "toFieldPath": "kind"},
            "cannot patch to object: Object 'Kind' is missing in "
            '\'{"apiVersion":"rds.example.org/v1","kind":""}\'',
        ),
    ],
)
def test_a_patch_that_cannot_work_stops_the_run(patch: Object, problem: str) -> None:
    desired = State(None, {"earlier": resource(BASE)})
    response = run_patch(patch, composite=xr(s="text", e=""), desired=desired)
    assert severities(response) == [FATAL]
    assert messages(response)[0].endswith(f'"FromCompositeFieldPath" patch at index 0: {problem}')
    assert response.desired == desired, "what earlier steps want is passed on as it came"
    assert response.context is None


REQUIRED = {"fromFieldPath": "spec.nope", "toFieldPath": "spec.x", "policy": {"fromFieldPath": "Required"}}


def test_a_new_resource_waits_for_a_field_it_requires() -> None:
    response = run_patch(REQUIRED)
    assert severities(response) == [WARNING]
    assert messages(response) == [
        'not adding new composed resource "one" to desired state because "FromCompositeFieldPath" '
        "patch at index 0 "
        "has 'policy.fromFieldPath: Required': spec.nope: no such field"
    ]
    assert response.desired is not None
    assert response.desired.resources == {}
    assert response.desired.composite is not None
    assert response.desired.composite.ready == READY_FALSE


def test_a_resource_that_exists_does_not_wait() -> None:
    response = run_patch(REQUIRED, exists={"one": resource(observed())})
    assert messages(response) == [
        'cannot render composed resource "one" "FromCompositeFieldPath" patch at index 0: ignoring '
        "'policy.fromFieldPath: Required' because 'to' resource already exists: spec.nope: no such field"
    ]
    assert desired_object(response)["metadata"] == {"name": "db-x7"}


def test_a_combined_patch_needs_all_its_variables() -> None:
    patch = {
        "type": "CombineFromComposite",
        "toFieldPath": "spec.n",
        "combine": combine("%s-%s", "spec.a", "spec.b"),
    }
    assert desired_object(run_patch(patch, composite=xr(a="x"))) == BASE
    assert desired_object(run_patch(patch, composite=xr(a="x", b="y")))["spec"] == {"n": "x-y"}


def test_settings_of_a_combined_patch_are_only_judged_when_it_runs() -> None:
    patch = {
        "type": "CombineFromComposite",
        "toFieldPath": "spec.n",
        "combine": combine("%s", "spec.a"),
        "transforms": [{"type": "string", "string": {}}],
    }
    assert not run_patch(patch).results
    assert messages(run_patch(patch, composite=xr(a="x")))[0].endswith(
        "string transform could not resolve: type  is not supported for string transform type"
    )


def test_a_template_without_base_continues_the_resource_of_an_earlier_step() -> None:
    earlier = to_wire({**BASE, "spec": {"a": 1}})
    desired = State(None, {"one": resource(earlier, ready=READY_TRUE)})
    template = {"name": "one", "patches": [{"fromFieldPath": "spec.b"}]}
    response = run_templates(template, composite=xr(b=2), desired=desired)
    assert desired_object(response)["spec"] == {"a": 1, "b": 2}
    assert response.desired is not None
    assert response.desired.resources["one"].ready == 0, "it is for this step to say whether it is ready"
    assert earlier["spec"] == {"a": 1}


def test_a_template_without_base_needs_an_earlier_step() -> None:
    assert messages(run_templates({"name": "one"})) == [
        'composed resource "one" has no base template, and was not produced by a previous Function '
        "in the pipeline"
    ]


@pytest.mark.parametrize(
    ("base", "problem"),
    [
        ({"apiVersion": "v1", "a": "<"}, 'Object \'Kind\' is missing in \'{"a":"<","apiVersion":"v1"}\''),
        ("text", "json: cannot unmarshal string into Go value of type map[string]interface {}"),
    ],
)
def test_a_base_must_be_an_object_with_a_kind(base: Any, problem: str) -> None:
    response = run_templates({"name": "one", "base": base})
    assert messages(response) == [f'cannot parse base template of composed resource "one": {problem}']


def test_an_existing_resource_keeps_its_name_and_a_name_of_the_base_does_not_count() -> None:
    base = {**BASE, "metadata": {"name": "wish", "namespace": "there", "labels": {"a": "b"}}}
    response = run_templates({"name": "one", "base": base}, exists={"one": resource(observed())})
    assert desired_object(response)["metadata"] == {"name": "db-x7", "labels": {"a": "b"}}


def test_an_answer_lives_for_a_minute_and_carries_the_tag() -> None:
    response = run_templates({"name": "one", "base": BASE})
    assert response.ttl == 60 * 1_000_000_000
    assert response.tag.tag == "tag"  # type: ignore[union-attr]
    assert response.desired is not None
    assert response.desired.composite is not None
    assert response.desired.composite.object == {"apiVersion": XR["apiVersion"], "kind": XR["kind"]}


def test_resources_of_other_steps_pass_through() -> None:
    other = resource({"apiVersion": "v1", "kind": "ConfigMap"}, ready=READY_TRUE)
    response = run_templates({"name": "one", "base": BASE}, desired=State(None, {"other": other}))
    assert response.desired is not None
    assert response.desired.resources["other"] is other
